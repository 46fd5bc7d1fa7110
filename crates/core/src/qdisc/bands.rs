//! Parallel queues that a scheduler serves in turn.

use std::collections::VecDeque;

use super::{Backlog, Packet};

/// One of the queues.
#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    packets: VecDeque<Packet>,
    pub(crate) backlog: Backlog,
    /// Size of the first packet in bytes, 0 if the queue is empty. Stored here because every turn of a round reads it.
    pub(crate) head: u64,
    /// Whether the queue takes turns.
    in_round: bool,
}

/// Parallel queues and the order of their turns. A queue that becomes empty keeps its turn until the scheduler removes it.
#[derive(Debug)]
pub(crate) struct Bands {
    queues: Vec<Band>,
    /// The queues that take turns; the current one comes first.
    round: VecDeque<usize>,
    total: Backlog,
}

impl Bands {
    /// `count` empty queues.
    pub(crate) fn new(count: usize) -> Self {
        Self { queues: vec![Band::default(); count], round: VecDeque::new(), total: Backlog::default() }
    }

    /// Queue `index`, which is created if it does not exist.
    pub(crate) fn band(&mut self, index: usize) -> &Band {
        if index >= self.queues.len() {
            self.queues.resize_with(index + 1, Band::default);
        }
        &self.queues[index]
    }

    /// Number of queues.
    pub(crate) fn count(&self) -> usize {
        self.queues.len()
    }

    /// Backlog of all queues together.
    pub(crate) fn total(&self) -> Backlog {
        self.total
    }

    /// The queue whose turn it is.
    pub(crate) fn current(&self) -> Option<usize> {
        self.round.front().copied()
    }

    /// The queues that take turns, in order.
    pub(crate) fn round(&self) -> impl Iterator<Item = (usize, &Band)> {
        self.round.iter().map(|&index| (index, &self.queues[index]))
    }

    /// Appends a packet to queue `index`. A queue without a turn joins at the end of the round; returns whether it joined.
    pub(crate) fn push(&mut self, index: usize, packet: Packet) -> bool {
        self.band(index);
        let band = &mut self.queues[index];
        let joins = !std::mem::replace(&mut band.in_round, true);
        if joins {
            self.round.push_back(index);
        }
        if band.packets.is_empty() {
            band.head = packet.size.0;
        }
        band.backlog = band.backlog.with(packet.size);
        self.total = self.total.with(packet.size);
        band.packets.push_back(packet);
        joins
    }

    /// Removes the first packet of queue `index`, which keeps its turn.
    pub(crate) fn pop(&mut self, index: usize) -> Option<Packet> {
        let band = &mut self.queues[index];
        let packet = band.packets.pop_front()?;
        band.head = band.packets.front().map_or(0, |next| next.size.0);
        band.backlog = band.backlog.without(packet.size);
        self.total = self.total.without(packet.size);
        Some(packet)
    }

    /// Removes queue `index` from the round if the queue is empty; returns whether it was removed.
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

    /// Ends the turn of the current queue, which moves to the end of the round.
    pub(crate) fn rotate(&mut self) {
        if let Some(current) = self.round.pop_front() {
            self.round.push_back(current);
        }
    }
}

/// The queue, out of `count`, to which ns-2's hash assigns an address or a sum of addresses. `modulus` reduces the hash before `offset`
/// is added.
pub(crate) const fn ns2_bucket(address: u32, (modulus, offset): (i64, i64), count: usize) -> usize {
    let address = address as i64;
    let hash = (address + (address >> 8) + !(address >> 4)) % modulus;
    (hash + offset).rem_euclid((count as u64).cast_signed()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{handles, packet};

    fn order(bands: &Bands) -> Vec<usize> {
        bands.round().map(|(index, _)| index).collect()
    }

    #[test]
    fn queues_join_at_the_end_of_the_round() {
        let mut bands = Bands::new(2);
        let joined = [(0, 1), (1, 4), (2, 1), (3, 0)].map(|(handle, index)| bands.push(index, packet(handle, 0, 100)));
        assert_eq!(joined, [true, true, false, true]);
        assert_eq!((order(&bands), bands.round().count(), bands.count()), (vec![1, 4, 0], 3, 5));
        bands.rotate();
        assert_eq!((order(&bands), bands.current()), (vec![4, 0, 1], Some(4)));
    }

    #[test]
    fn an_empty_queue_keeps_its_turn_until_it_leaves() {
        let mut bands = Bands::new(3);
        for index in 0..3 {
            bands.push(index, packet(index as u32, 0, 100));
        }
        assert!(!bands.leave_if_empty(1), "the queue is not empty");
        bands.pop(1);
        assert_eq!(order(&bands), [0, 1, 2]);
        assert!(!bands.push(1, packet(3, 0, 100)), "the queue still takes turns");
        bands.pop(1);
        assert!(bands.leave_if_empty(1));
        assert!(!bands.leave_if_empty(1), "the queue has already left the round");
        assert_eq!((order(&bands), bands.pop(1)), (vec![0, 2], None));
        assert!(bands.push(1, packet(4, 0, 100)));
        assert_eq!(order(&bands), [0, 2, 1]);
    }

    #[test]
    fn each_queue_is_first_in_first_out_and_counts_its_packets() {
        let mut bands = Bands::new(2);
        for (handle, index, size) in [(0, 0, 100), (1, 1, 200), (2, 0, 300)] {
            bands.push(index, packet(handle, 0, size));
        }
        assert_eq!(bands.band(0).head, 100);
        assert_eq!(bands.band(0).backlog, Backlog { packets: 2, bytes: 400 });
        assert_eq!(bands.total(), Backlog { packets: 3, bytes: 600 });
        let popped = [0, 0].map(|index| bands.pop(index).unwrap());
        assert_eq!(handles(&popped), [0, 2]);
        assert_eq!((bands.total(), bands.band(0).head), (Backlog { packets: 1, bytes: 200 }, 0));
    }

    #[test]
    fn the_hash_by_hand() {
        // a + (a >> 8) + ~(a >> 4) gives −1, 0, 14, 14, 239, 240; −1 modulo 16 is 15.
        let addresses = [0, 1, 15, 16, 255, 256];
        assert_eq!(addresses.map(|address| ns2_bucket(address, (1_048_575, 0), 16)), [15, 0, 14, 14, 15, 0]);
        assert_eq!(addresses.map(|address| ns2_bucket(address, (16_777_215, 1), 10)), [0, 1, 5, 5, 0, 1]);
        // 1118481 + 4369 + ~69905 = 1052944; modulo 1048575 this is 4369 = 273·16 + 1.
        assert_eq!(ns2_bucket(0x11_1111, (1_048_575, 0), 16), 1);
    }
}
