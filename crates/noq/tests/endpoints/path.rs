//! A path in virtual time between two endpoints: a bottleneck towards the client, and nothing but delay back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::VecDeque;
use std::time::Duration;

/// IPv4 and UDP.
const HEADER: u64 = 28;

/// The bottleneck.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// In bit/s.
    pub(crate) rate: u64,
    /// Half of it in each direction.
    pub(crate) round_trip: Duration,
    /// Datagrams that wait, besides the one that is sent.
    pub(crate) queue: usize,
    /// Every so many datagrams one is marked, if it can be.
    pub(crate) mark: Option<u64>,
    /// Every so many datagrams one takes so much longer, and others overtake it.
    pub(crate) late: Option<(u64, Duration)>,
}

impl Path {
    /// 10 Mbit/s, 40 ms, 50 datagrams.
    pub(crate) const USUAL: Self = Self { rate: 10_000_000, round_trip: Duration::from_millis(40), queue: 50, mark: None, late: None };
}

/// A datagram with its ECN bits.
pub(crate) struct Packet {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ecn: u8,
}

/// The two directions: towards the server (0) and towards the client (1).
pub(crate) struct Link {
    path: Path,
    /// When each datagram in the queue has left.
    leaving: VecDeque<Duration>,
    arrivals: BinaryHeap<Reverse<(Duration, u64, usize)>>,
    packets: Vec<Option<Packet>>,
    passed: u64,
    /// Datagrams that found the queue full.
    pub(crate) dropped: u64,
}

impl Link {
    pub(crate) fn new(path: Path) -> Self {
        let (leaving, arrivals) = (VecDeque::new(), BinaryHeap::new());
        Self { path, leaving, arrivals, packets: Vec::new(), passed: 0, dropped: 0 }
    }

    /// A datagram leaves at `now` towards end `to`.
    pub(crate) fn send(&mut self, now: Duration, to: usize, mut packet: Packet) {
        let mut at = now;
        if to == 1 {
            while self.leaving.front().is_some_and(|left| *left <= now) {
                self.leaving.pop_front();
            }
            if self.leaving.len() > self.path.queue {
                self.dropped += 1;
                return;
            }
            self.passed += 1;
            if packet.ecn != 0 && self.path.mark.is_some_and(|every| self.passed.is_multiple_of(every)) {
                packet.ecn = 3;
            }
            let bits = 8 * (packet.bytes.len() as u64 + HEADER);
            let time = Duration::from_nanos(bits * 1_000_000_000 / self.path.rate);
            at = self.leaving.back().copied().unwrap_or(now).max(now) + time;
            self.leaving.push_back(at);
        }
        if to == 1
            && let Some((_, more)) = self.path.late.filter(|(every, _)| self.passed.is_multiple_of(*every))
        {
            at += more;
        }
        let index = self.packets.len();
        self.packets.push(Some(packet));
        self.arrivals.push(Reverse((at + self.path.round_trip / 2, index as u64, to)));
    }

    /// When the next datagram arrives.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.arrivals.peek().map(|Reverse((at, ..))| *at)
    }

    /// The datagram that arrives by `now`, and at which end.
    pub(crate) fn arrive(&mut self, now: Duration) -> Option<(usize, Packet)> {
        let Reverse((_, index, to)) = *self.arrivals.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.arrivals.pop();
        self.packets[index as usize].take().map(|packet| (to, packet))
    }
}
