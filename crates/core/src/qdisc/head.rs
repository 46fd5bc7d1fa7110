//! A queue inside another one that must know its next packet before it sends it.

use super::contract::{Backlog, Dequeued, Outcomes, Packet, Scheduler};
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Moment};

/// What an inner queue would send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A packet of this size.
    Size(Bytes),
    /// As [`Dequeued::NotBefore`].
    NotBefore(Instant),
    /// Nothing waits.
    Empty,
}

/// An inner queue and its next packet. A queue that cannot name the packet in advance hands it over early, and its own backlog no longer
/// counts it.
#[derive(Debug)]
pub(crate) struct Ahead {
    pub(crate) queue: Box<dyn Scheduler>,
    held: Option<Packet>,
}

impl Ahead {
    /// `queue` with nothing handed over.
    pub(crate) fn new(queue: Box<dyn Scheduler>) -> Self {
        Self { queue, held: None }
    }

    /// What the queue sends next.
    pub(crate) fn next(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Next {
        if let Some(size) = self.held.map(|packet| packet.size).or_else(|| self.queue.head()) {
            return Next::Size(size);
        }
        match self.queue.dequeue(now, random, outcomes) {
            Dequeued::Send(packet) => {
                self.held = Some(packet);
                Next::Size(packet.size)
            }
            Dequeued::NotBefore(at) => Next::NotBefore(at),
            Dequeued::Empty => Next::Empty,
        }
    }

    /// Removes the packet that [`Self::next`] has found.
    pub(crate) fn take(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Option<Packet> {
        self.held.take().or_else(|| self.queue.dequeue(now, random, outcomes).packet())
    }

    /// The backlog, with a packet that has been handed over.
    pub(crate) fn backlog(&self) -> Backlog {
        let backlog = self.queue.backlog();
        self.held.map_or(backlog, |packet| backlog.with(packet.size))
    }
}
