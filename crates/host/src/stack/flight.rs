//! What a stack has sent and not heard of again.

use std::collections::VecDeque;

use ackclock_core::events::Snapshot;
use ackclock_core::units::Instant;

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// The stack's number; packets of different number spaces may share it.
    pub(super) number: u64,
    /// First position of its bytes.
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) snapshot: Snapshot,
    /// Neither delivered nor lost.
    live: bool,
}

impl Packet {
    pub(super) fn new(number: u64, start: u64, size: u64, snapshot: Snapshot) -> Self {
        Self { number, start, size, snapshot, live: true }
    }

    /// One past its last position.
    pub(super) fn end(&self) -> u64 {
        self.start + self.size
    }

    pub(super) fn sent_at(&self) -> Instant {
        self.snapshot.sent_at
    }
}

/// Packets in the order of sending.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    packets: VecDeque<Packet>,
    /// Bytes of those that are live.
    bytes: u64,
    /// Where the last packet was found: the next one usually follows.
    hint: usize,
}

impl Flight {
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += packet.size;
        self.packets.push_back(packet);
    }

    /// Bytes of the packets that are neither delivered nor lost.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        (self.bytes, self.hint) = (0, 0);
    }

    /// Takes the packet that was sent at `sent`: the one with `number`, or, if the stack does not tell it, the first of `size` bytes, or else the
    /// first.
    pub(super) fn take_sent(&mut self, sent: Instant, size: u64, number: Option<u64>) -> Option<Packet> {
        let from = match self.packets.get(self.hint) {
            Some(packet) if packet.sent_at() == sent && number.is_some_and(|number| number >= packet.number) => self.hint,
            _ => self.packets.partition_point(|packet| packet.sent_at() < sent),
        };
        let burst = || (from..self.packets.len()).take_while(|index| self.packets[*index].sent_at() == sent);
        let fits = |size: Option<u64>| {
            burst().find(|index| {
                let packet = &self.packets[*index];
                packet.live && number.is_none_or(|number| packet.number == number) && size.is_none_or(|size| packet.size == size)
            })
        };
        let index = fits(Some(size)).or_else(|| fits(None))?;
        Some(self.take(index))
    }

    /// Takes the oldest packet with `number` and `size`.
    pub(super) fn take_number(&mut self, number: u64, size: u64) -> Option<Packet> {
        let index = self.packets.iter().position(|packet| packet.live && packet.number == number && packet.size == size)?;
        Some(self.take(index))
    }

    /// Takes the oldest packet of at most `size` bytes that was sent at `latest` or before.
    pub(super) fn take_oldest(&mut self, latest: Instant, size: u64) -> Option<Packet> {
        let mut early = self.packets.iter().take_while(|packet| packet.sent_at() <= latest);
        let index = early.position(|packet| packet.live && packet.size <= size)?;
        Some(self.take(index))
    }

    fn take(&mut self, index: usize) -> Packet {
        let packet = &mut self.packets[index];
        packet.live = false;
        self.bytes -= packet.size;
        self.hint = index + 1;
        *packet
    }

    /// Takes the oldest packet if `is_over` says so of it.
    pub(super) fn take_first_if(&mut self, is_over: impl FnOnce(&Packet) -> bool) -> Option<Packet> {
        self.pass();
        self.packets.front().filter(|packet| is_over(packet))?;
        Some(self.take(0))
    }

    /// The first position that is neither delivered nor lost; `nxt`: the next one to send.
    pub(super) fn una(&mut self, nxt: u64) -> u64 {
        self.pass();
        self.packets.front().map_or(nxt, |packet| packet.start)
    }

    /// Removes the packets at the front that are not live.
    fn pass(&mut self) {
        while self.packets.front().is_some_and(|packet| !packet.live) {
            self.packets.pop_front();
            self.hint = self.hint.saturating_sub(1);
        }
    }
}
