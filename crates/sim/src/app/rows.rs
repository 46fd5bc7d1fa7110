//! Results of applications: a row for each transfer, each page, and each application of media. The index of a row is that of its application.

use ackclock_core::units::{Duration, Instant};

use crate::columns::table;
use crate::scenario::Scenario;

table! {
    /// One transfer of an application: a response, a burst, or a segment or frame of a video.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Transfer of Scenario {
        application: String => |scenario, index, _| scenario.applications[index].name.clone(), "", "name of the flow in the scenario";
        page: u32 [page], "", "number of the page, exchange, burst, segment or frame, from 0";
        object: u32 [object], "", "number of the object on its page; the root is 0";
        flow: Option<String> => |scenario, index, transfer| {
            let first = scenario.applications[index].flows.start;
            Some(scenario.flows[first + transfer.connection? as usize].name.clone())
        }, "", "connection that carried the object; null if it still waited for one at the end";
        bytes: u64 [bytes], "bytes", "size of the object";
        queued_s: Instant [queued], "s", "time at which it was queued: the page began, or its root had been parsed";
        requested_s: Option<Instant> [requested], "s", "time at which its request was assigned to a connection, which may still have to open";
        first_byte_s: Option<Instant> [first_byte], "s", "time at which its first bytes were delivered";
        completed_s: Option<Instant> [completed], "s", "time at which its last byte was delivered; null if not within the run";
        completion_time: Option<Duration> = |transfer| transfer.completion_time(), "s", "`completed_s` − `queued_s`";
    } besides {
        /// Number of its connection within the application, if assigned.
        connection: Option<u32>,
    }
}

table! {
    /// A page that a client began to load, or an exchange.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Page of Scenario {
        application: String => |scenario, index, _| scenario.applications[index].name.clone(), "", "name of the flow in the scenario";
        page: u32 [page], "", "number of the page, from 0";
        objects: u32 [objects], "", "number of its objects, with the root";
        bytes: u64 [bytes], "bytes", "total size of its objects";
        start_s: Instant [started], "s", "time at which the client began the page, before it opened a connection";
        completed_s: Option<Instant> [completed], "s", "time at which the last byte of the last object was delivered; null if not within the run";
        load_time: Option<Duration> = |page| page.load_time(), "s", "`completed_s` − `start_s`; the web latency of the paper `icw`";
    }
}

table! {
    /// An application of media: a player of segments, or a source of frames.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Media of Scenario {
        application: String => |scenario, index, _| scenario.applications[index].name.clone(), "", "name of the flow in the scenario";
        parts: u64 [parts], "", "segments that a player requested, or frames that a source sent";
        parts_complete: u64 [parts_complete], "", "segments or frames that arrived completely";
        bytes: u64 [bytes], "bytes", "total size of the complete segments or frames";
        bitrate_bps: Option<f64> [bitrate_bps], "bit/s", "mean bitrate of the complete segments; of frames, their bits per second until the source stops or the run ends. Null without any";
        switches: u64 [switches], "", "changes of the bitrate from one segment to the next, or of the target rate of frames";
        startup_time: Option<Duration> [startup_time], "s", "time from the application's start to the first picture; null if playback did not begin within the run, like the next three columns for frames";
        stalls: Option<u64> [stalls], "", "interruptions of playback because the buffer was empty, without the start-up";
        stall_time: Option<Duration> [stall_time], "s", "total length of the stalls, up to the end of the run";
        played_time: Option<Duration> [played_time], "s", "time during which the video played; with `startup_time` and `stall_time` it adds up to the time until the end of the video or of the run";
        late_share: Option<f64> [late_share], "", "share of the frames that were complete later than `deadline`, or not at all, among those whose fate is known at the end of the run; null for players";
        frame_delay_median: Option<Duration> [frame_delay_median], "s", "median of the times from the sending of a frame to its last byte, over complete frames; null for players";
        frame_delay_p95: Option<Duration> [frame_delay_p95], "s", "95th percentile of these times";
        frame_delay_p99: Option<Duration> [frame_delay_p99], "s", "99th percentile of these times";
    }
}

impl Transfer {
    /// Time from queueing to the last byte.
    pub fn completion_time(&self) -> Option<Duration> {
        Some(self.completed?.since(self.queued))
    }
}

impl Page {
    /// Time from the start to the last byte.
    pub fn load_time(&self) -> Option<Duration> {
        Some(self.completed?.since(self.started))
    }
}
