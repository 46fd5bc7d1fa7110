//! Applications: the sources of the senders' data.
//!
//! A bulk transfer is part of its sender ([`Bulk`](ackclock_host::Bulk)). Every other application is a state machine driven by the engine,
//! without I/O like the endpoints: it receives events and returns actions. It refers to its connections by their number within it.

mod bursts;
mod client;
mod datagrams;
mod event;
mod frames;
mod pages;
mod player;
mod rows;

pub(crate) use event::{Action, Event};
pub use rows::{Media, Page, Transfer};

use ackclock_core::units::Instant;

use crate::scenario::{ApplicationKind, ApplicationSpec};
use bursts::Bursts;
use client::Client;
use datagrams::Datagrams;
use frames::Frames;
use player::Player;

/// An application that drives flows.
#[derive(Debug)]
pub(crate) enum Application {
    /// Bursts of data with pauses between them.
    Bursts(Bursts),
    /// A client that loads pages or repeats single requests.
    Client(Box<Client>),
    /// Datagrams at a constant rate.
    Datagrams(Datagrams),
    /// Frames of live video.
    Frames(Box<Frames>),
    /// A player of segments.
    Player(Box<Player>),
}

impl Application {
    /// The application of `spec` with generators derived from `seed`.
    pub(crate) fn new(spec: &ApplicationSpec, seed: u64) -> Self {
        match &spec.kind {
            ApplicationKind::OnOff(kind) => Self::Bursts(Bursts::new(spec, kind, seed)),
            ApplicationKind::Client(kind) => Self::Client(Box::new(Client::new(spec, kind, seed))),
            ApplicationKind::Datagrams(kind) => Self::Datagrams(Datagrams::new(spec, kind, seed)),
            ApplicationKind::Frames(kind) => Self::Frames(Box::new(Frames::new(spec, kind, seed))),
            ApplicationKind::Player(kind) => Self::Player(Box::new(Player::new(spec, kind))),
        }
    }

    /// Handles an event. Adds the resulting actions to `actions`.
    pub(crate) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        match self {
            Self::Bursts(bursts) => bursts.handle(now, event, actions),
            Self::Client(client) => client.handle(now, event, actions),
            Self::Datagrams(datagrams) => match event {
                Event::Wake => datagrams.handle(now, actions),
                Event::Delivered { .. } => {}
            },
            Self::Frames(frames) => frames.handle(now, event, actions),
            Self::Player(player) => player.handle(now, event, actions),
        }
    }

    /// Time of the next [`Event::Wake`].
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Bursts(bursts) => bursts.poll_timeout(),
            Self::Client(client) => client.poll_timeout(),
            Self::Datagrams(datagrams) => datagrams.poll_timeout(),
            Self::Frames(frames) => frames.poll_timeout(),
            Self::Player(player) => player.poll_timeout(),
        }
    }

    /// The transfers, the pages and the media of a run that ends at `end`.
    pub(crate) fn into_results(self, end: Instant) -> (Vec<Transfer>, Vec<Page>, Option<Media>) {
        match self {
            Self::Bursts(bursts) => (bursts.into_transfers(), Vec::new(), None),
            Self::Client(client) => {
                let (transfers, pages) = client.into_results();
                (transfers, pages, None)
            }
            Self::Datagrams(_) => Default::default(),
            Self::Frames(frames) => {
                let (transfers, media) = frames.into_results(end);
                (transfers, Vec::new(), Some(media))
            }
            Self::Player(player) => {
                let (transfers, media) = player.into_results(end);
                (transfers, Vec::new(), Some(media))
            }
        }
    }
}
