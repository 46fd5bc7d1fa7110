//! What applications leave behind: a row for each transfer and each page. The index of a row is that of its application.

use ackclock_core::units::{Duration, Instant};

use crate::columns::table;
use crate::scenario::Scenario;

table! {
    /// One transfer of an application: a response, or a burst.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Transfer of Scenario {
        application: String => |scenario, index, _| scenario.applications[index].name.clone(), "", "the name of the flow in the scenario";
        page: u32 [page], "", "number of the page, exchange or burst, from 0 on";
        object: u32 [object], "", "number of the object on its page; the root has 0";
        flow: Option<String> => |scenario, index, transfer| {
            let first = scenario.applications[index].flows.start;
            Some(scenario.flows[first + transfer.connection? as usize].name.clone())
        }, "", "the connection that carried it; null: it still waited for one";
        bytes: u64 [bytes], "bytes", "its size";
        queued_s: Instant [queued], "s", "when it was known to be needed: the page began, or its root had been read";
        requested_s: Option<Instant> [requested], "s", "when its request was handed to a connection, which may first have to be opened";
        first_byte_s: Option<Instant> [first_byte], "s", "when the first of it was delivered";
        completed_s: Option<Instant> [completed], "s", "when the last of it was delivered; null: not in this run";
        completion_time: Option<Duration> = |transfer| transfer.completion_time(), "s", "`completed_s` − `queued_s`";
    } besides {
        /// Its connection's number within the application, once it has one.
        connection: Option<u32>,
    }
}

table! {
    /// One page that a client began to load, or one exchange.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Page of Scenario {
        application: String => |scenario, index, _| scenario.applications[index].name.clone(), "", "the name of the flow in the scenario";
        page: u32 [page], "", "its number, from 0 on";
        objects: u32 [objects], "", "objects on it, the root included";
        bytes: u64 [bytes], "bytes", "the sum of their sizes";
        start_s: Instant [started], "s", "when the client began: before it opened a connection";
        completed_s: Option<Instant> [completed], "s", "when the last byte of the last object was delivered; null: not in this run";
        load_time: Option<Duration> = |page| page.load_time(), "s", "`completed_s` − `start_s`: what the paper `icw` calls web latency";
    }
}

impl Transfer {
    /// From when it was needed to its last byte.
    pub fn completion_time(&self) -> Option<Duration> {
        Some(self.completed?.since(self.queued))
    }
}

impl Page {
    /// From when it was begun to its last byte.
    pub fn load_time(&self) -> Option<Duration> {
        Some(self.completed?.since(self.started))
    }
}
