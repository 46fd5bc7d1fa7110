//! Queues side by side, of which a scheduler serves one after the other.

use std::collections::VecDeque;

use super::{Backlog, Packet};

/// One of several queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    packets: VecDeque<Packet>,
    pub(crate) backlog: Backlog,
    /// Whether it takes turns.
    in_round: bool,
}

impl Band {
    /// The packet that is next.
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }
}

/// Queues, and in which order those take turns that are not empty, or were not when they were last looked at.
#[derive(Debug)]
pub(crate) struct Bands {
    queues: Vec<Band>,
    /// The queues that take turns, the one whose turn it is first.
    round: VecDeque<usize>,
    total: Backlog,
}

impl Bands {
    /// `count` empty queues.
    pub(crate) fn new(count: usize) -> Self {
        Self { queues: vec![Band::default(); count], round: VecDeque::new(), total: Backlog::default() }
    }

    /// Queue number `index`, which is made if there are not so many yet.
    pub(crate) fn band(&mut self, index: usize) -> &Band {
        if index >= self.queues.len() {
            self.queues.resize_with(index + 1, Band::default);
        }
        &self.queues[index]
    }

    /// How many queues there are.
    pub(crate) fn count(&self) -> usize {
        self.queues.len()
    }

    /// What waits in all.
    pub(crate) fn total(&self) -> Backlog {
        self.total
    }

    /// How many queues take turns.
    pub(crate) fn active(&self) -> usize {
        self.round.len()
    }

    /// The queue whose turn it is.
    pub(crate) fn current(&self) -> Option<usize> {
        self.round.front().copied()
    }

    /// The queues that take turns, in their order.
    pub(crate) fn round(&self) -> impl Iterator<Item = (usize, &Band)> {
        self.round.iter().map(|&index| (index, &self.queues[index]))
    }

    /// Adds a packet at the end of queue `index`. If the queue took no turns, it takes the last one of the round from now on; gives whether.
    pub(crate) fn push(&mut self, index: usize, packet: Packet) -> bool {
        self.band(index);
        let band = &mut self.queues[index];
        let joins = !std::mem::replace(&mut band.in_round, true);
        if joins {
            self.round.push_back(index);
        }
        band.backlog = band.backlog.with(packet.size);
        self.total = self.total.with(packet.size);
        band.packets.push_back(packet);
        joins
    }

    /// Takes the first packet of queue `index`, which keeps its turn.
    pub(crate) fn pop(&mut self, index: usize) -> Option<Packet> {
        let band = &mut self.queues[index];
        let packet = band.packets.pop_front()?;
        band.backlog = band.backlog.without(packet.size);
        self.total = self.total.without(packet.size);
        Some(packet)
    }

    /// Lets queue `index` take no turns any more, if it is empty; gives whether it left.
    pub(crate) fn leave_if_empty(&mut self, index: usize) -> bool {
        let band = &mut self.queues[index];
        if !band.packets.is_empty() || !std::mem::take(&mut band.in_round) {
            return false;
        }
        if self.current() == Some(index) {
            self.round.pop_front();
        } else {
            self.round.retain(|&other| other != index);
        }
        true
    }

    /// Ends the turn of the current queue: it takes the last one.
    pub(crate) fn rotate(&mut self) {
        if !self.round.is_empty() {
            self.round.rotate_left(1);
        }
    }
}

/// The queue, of `count`, into which ns-2's hash puts an address, or a sum of addresses: a number modulo a large one, and that, with an
/// offset, modulo the queues.
pub(crate) const fn ns2_bucket(address: u32, (modulus, offset): (i64, i64), count: usize) -> usize {
    let address = address as i64;
    let hash = (address + (address >> 8) + !(address >> 4)) % modulus;
    (hash + offset).rem_euclid((count as u64).cast_signed()) as usize
}
