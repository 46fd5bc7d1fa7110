//! Applications: what hands data to senders.
//!
//! A bulk transfer is part of its sender ([`Bulk`](ackclock_tcp::Bulk)). Every other application is a state machine that the engine drives, without I/O like the
//! endpoints: it is told what happened and answers with actions. It knows its connections by their number within it.

mod bursts;
mod client;
mod datagrams;
mod pages;
mod rows;

pub use rows::{Page, Transfer};

use ackclock_core::units::Instant;
use ackclock_tcp::Side;

use crate::scenario::{ApplicationKind, ApplicationSpec};
use bursts::Bursts;
use client::Client;
use datagrams::Datagrams;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The time that [`Application::poll_timeout`] gave has come.
    Wake,
    /// `total` bytes have been delivered so far, in order, at one end of a connection.
    Delivered {
        /// Which connection.
        connection: u32,
        /// Which end.
        side: Side,
        /// Bytes since the connection began.
        total: u64,
    },
}

/// What the engine shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The receiver of a connection opens it.
    Open(u32),
    /// One end of a connection writes so many bytes.
    Write(u32, Side, u64),
    /// One end of a connection writes no more.
    Close(u32, Side),
    /// The sender may send so many packets, or datagrams, more.
    Offer(u64),
}

/// An application that drives flows.
#[derive(Debug)]
pub(crate) enum Application {
    /// Bursts of data with pauses between them.
    Bursts(Bursts),
    /// A client that loads pages, or asks for one response after the other.
    Client(Box<Client>),
    /// Datagrams at a constant rate.
    Datagrams(Datagrams),
}

impl Application {
    /// The application of `spec` with generators derived from `seed`.
    pub(crate) fn new(spec: &ApplicationSpec, seed: u64) -> Self {
        match &spec.kind {
            ApplicationKind::OnOff(kind) => Self::Bursts(Bursts::new(spec, kind, seed)),
            ApplicationKind::Client(kind) => Self::Client(Box::new(Client::new(spec, kind, seed))),
            ApplicationKind::Datagrams(kind) => Self::Datagrams(Datagrams::new(spec, kind, seed)),
        }
    }

    /// Takes an event; what is to be done is added to `actions`.
    pub(crate) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        match self {
            Self::Bursts(bursts) => bursts.handle(now, event, actions),
            Self::Client(client) => client.handle(now, event, actions),
            Self::Datagrams(datagrams) => match event {
                Event::Wake => datagrams.handle(now, actions),
                Event::Delivered { .. } => {}
            },
        }
    }

    /// When [`Event::Wake`] is due.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Bursts(bursts) => bursts.poll_timeout(),
            Self::Client(client) => client.poll_timeout(),
            Self::Datagrams(datagrams) => datagrams.poll_timeout(),
        }
    }

    /// The transfers and pages so far.
    pub(crate) fn into_results(self) -> (Vec<Transfer>, Vec<Page>) {
        match self {
            Self::Bursts(bursts) => (bursts.into_transfers(), Vec::new()),
            Self::Client(client) => client.into_results(),
            Self::Datagrams(_) => Default::default(),
        }
    }
}
