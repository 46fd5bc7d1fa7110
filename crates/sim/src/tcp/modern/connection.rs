//! A connection of two `modern` ends, as the engine drives it: with a bulk transfer in one direction, or with whatever an application
//! writes at either end.

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::events::{Ack, CongestionEvent, Established};
use ackclock_core::units::{Duration, Instant, Segments};

use super::config::Config;
use super::endpoint::Endpoint;
use super::segment::{Flags, Segment, to_position};
use super::sender::Supply;
use crate::app::{Bulk, Side};
use crate::tcp::checkpoints::{CHECKPOINTS, Checkpoints};
use crate::tcp::ns2::SlowStartExit;
use crate::tcp::packet::DropNotice;

/// Segments that the application keeps ready, so that a window always finds full ones.
const AHEAD: u64 = 4;

/// What of a segment a trace shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    /// Number of the data segment; of an ACK, number of the next one expected.
    pub(crate) seq: u32,
    /// Whether it was sent before.
    pub(crate) retransmission: bool,
}

/// The control of an end that sends nothing but its FIN.
#[derive(Clone, Debug)]
struct OneSegment;

impl CongestionControl for OneSegment {
    fn on_established(&mut self, _event: &Established) {}
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, _event: &CongestionEvent) {}
    fn window(&self) -> Window {
        Window { cwnd: 1.0, ssthresh: 1.0 }
    }
    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}

/// Both ends of a flow: data goes from the first to the second, requests of an application the other way.
#[derive(Debug)]
pub(crate) struct Connection {
    ends: [Endpoint; 2],
    /// What the first end sends by itself; `None`: an application opens the connection, from its second end, and writes.
    bulk: Option<Bulk>,
    /// Data in a full segment.
    segment: u64,
    initial_sequence: u32,
    started: bool,
    /// Segments handed over.
    written: u64,
    /// Bytes delivered in order at the first end: requests.
    heard_bytes: u64,
    /// Bytes of data delivered in order at the second.
    pub(crate) delivered_bytes: u64,
    /// When the last of them were.
    pub(crate) delivered_at: Instant,
    checkpoints: Checkpoints,
    /// One past the highest position sent.
    highest: u64,
}

impl Connection {
    /// A bulk transfer that has not started; `segment`: data in a full segment.
    pub(crate) fn bulk(host: &Config, control: Box<dyn CongestionControl>, bulk: Bulk, segment: u64) -> Self {
        let mut ends = [Endpoint::open(host, control), Endpoint::listen(host, Box::new(OneSegment))];
        ends[0].sender.supply = Supply::Pulled(bulk.amount().map(|packets| packets * segment));
        Self::new(ends, Some(bulk), host.initial_sequence, segment)
    }

    /// A connection that its second end will open, with the controls of both ends.
    pub(crate) fn dormant(host: &Config, [sender, receiver]: [Box<dyn CongestionControl>; 2], segment: u64) -> Self {
        let ends = [Endpoint::listen(host, sender), Endpoint::open(host, receiver)];
        Self::new(ends, None, host.initial_sequence, segment)
    }

    fn new(ends: [Endpoint; 2], bulk: Option<Bulk>, initial_sequence: u32, segment: u64) -> Self {
        let start = bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Self {
            ends,
            bulk,
            segment,
            initial_sequence,
            started: false,
            written: 0,
            heard_bytes: 0,
            delivered_bytes: 0,
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
            highest: 1,
        }
    }

    /// Earlier connections to the peer have arrived at the initial window `learned`. Nothing changes once the SYN is sent.
    pub(crate) fn recall(&mut self, learned: Segments) {
        if !self.started {
            self.ends[0].sender.learned = Some(learned);
        }
    }

    /// The controls of both ends draw their random decisions from seeds of their own, derived from `seed`.
    pub(crate) fn seed(&mut self, seed: u64) {
        for (end, number) in self.ends.iter_mut().zip(0..) {
            end.sender.seed = seed ^ number;
        }
    }

    /// Whether [`Connection::settle`] has something to tell.
    pub(crate) fn is_first_flight_over(&self) -> bool {
        self.ends[0].sender.first.as_ref().is_some_and(|first| first.is_over())
    }

    /// The first flight is over: what the next connection to the peer shall know, if it shall know something new. `learned`: what it knows
    /// by now. To be asked once.
    pub(crate) fn settle(&mut self, learned: Option<Segments>) -> Option<Segments> {
        let sender = &mut self.ends[0].sender;
        let first = sender.first.take()?;
        sender.control.settle(&first.outcome(learned))
    }

    /// An application opens the connection. Then [`Connection::poll_transmit`] gives what to send.
    pub(crate) fn open(&mut self, now: Instant) {
        self.started = true;
        self.delivered_at = now;
        self.checkpoints = Checkpoints::new(now);
    }

    /// An application writes at one end. Then [`Connection::poll_transmit`] gives what to send.
    pub(crate) fn write(&mut self, side: Side, bytes: u64) {
        self.ends[side as usize].write(bytes);
    }

    /// An application writes no more at one end. Then [`Connection::poll_transmit`] gives what to send.
    pub(crate) fn close(&mut self, side: Side) {
        self.ends[side as usize].close();
    }

    /// The application has so many packets more. Then [`Connection::poll_transmit`] gives what to send.
    pub(crate) fn offer(&mut self, packets: u64) {
        if let Some(bulk) = &mut self.bulk {
            bulk.offer(packets);
        }
    }

    /// Bytes delivered in order so far at one end.
    pub(crate) fn delivered(&self, side: Side) -> u64 {
        match side {
            Side::Sender => self.heard_bytes,
            Side::Receiver => self.delivered_bytes,
        }
    }

    /// The end that sends data.
    pub(crate) fn sender(&self) -> &Endpoint {
        &self.ends[0]
    }

    /// Takes a segment at the end `side`; tells whether data was delivered there.
    pub(crate) fn handle_segment(&mut self, now: Instant, side: usize, segment: &Segment) -> bool {
        self.ends[side].handle_segment(now, segment);
        let (start, end) = self.ends[side].read(now, u64::MAX);
        if start == end {
            return false;
        }
        if side == 0 {
            self.heard_bytes += end - start;
            return true;
        }
        self.checkpoints.pass(now, self.delivered_bytes);
        self.delivered_bytes += end - start;
        self.delivered_at = now;
        true
    }

    /// A queue has dropped a segment of the end `side`.
    pub(crate) fn handle_notice(&mut self, now: Instant, side: usize, dropped: &DropNotice) {
        self.ends[side].handle_notice(now, dropped);
    }

    /// The start has come, or a timer of the end `side` has expired.
    pub(crate) fn handle_timeout(&mut self, now: Instant, side: usize) {
        if side == 0 && !self.started {
            self.started = true;
        } else {
            self.ends[side].handle_timeout(now);
        }
    }

    /// When [`Connection::handle_timeout`] is due at the end `side`.
    pub(crate) fn poll_timeout(&self, side: usize) -> Option<Instant> {
        if self.started { self.ends[side].poll_timeout() } else { self.bulk.map(|bulk| bulk.start).filter(|_| side == 0) }
    }

    /// The next segment that the end `side` sends, with what a trace shows of it.
    pub(crate) fn poll_transmit(&mut self, now: Instant, side: usize) -> Option<(Segment, Numbers)> {
        if !self.started {
            return None;
        }
        match self.bulk {
            Some(bulk) if side == 0 => self.hand_over(bulk, now),
            // Who hears that the other end writes no more has nothing more to say either.
            _ if self.ends[side].has_heard_fin() => self.ends[side].close(),
            _ => {}
        }
        let segment = self.ends[side].poll_transmit(now)?;
        let near = if side == 0 { self.highest } else { self.delivered_bytes + 1 };
        let wire = if side == 0 { segment.seq } else { segment.ack };
        let start = to_position(wire, self.initial_sequence, near).unwrap_or(0);
        let retransmission = side == 0 && segment.len() > 0 && start < self.highest && !segment.flags.has(Flags::SYN);
        if side == 0 {
            self.highest = self.highest.max(start + u64::from(segment.payload));
        }
        Some((segment, Numbers { seq: self.number(start), retransmission }))
    }

    /// The number of the segment that begins at `position`: the SYN has 0, the first with data 1, as with the `ns2` host.
    fn number(&self, position: u64) -> u32 {
        if position == 0 { 0 } else { ((position - 1).div_ceil(self.segment) + 1) as u32 }
    }

    /// The number of the next segment that the ACK `segment` expects.
    pub(crate) fn acknowledged(&self, segment: &Segment) -> u32 {
        self.number(to_position(segment.ack, self.initial_sequence, self.highest).unwrap_or(0))
    }

    /// The application hands over as much as keeps the sender busy, and closes after the last.
    fn hand_over(&mut self, bulk: Bulk, now: Instant) {
        while self.ends[0].unsent() < AHEAD * self.segment && bulk.offers(self.written as u32 + 1, now) {
            self.ends[0].write(self.segment);
            self.written += 1;
        }
        if bulk.is_done(self.written) {
            self.ends[0].close();
        }
    }

    /// Data segments delivered.
    pub(crate) fn delivered_segments(&self) -> u64 {
        self.delivered_bytes / self.segment
    }

    /// Bytes delivered up to each checkpoint that had passed at `end`.
    pub(crate) fn checkpoints(&mut self, end: Instant) -> [Option<u64>; CHECKPOINTS.len()] {
        self.checkpoints.finish(end, self.delivered_bytes)
    }

    /// How the first slow start ended.
    pub(crate) fn slow_start_exit(&self) -> &SlowStartExit {
        self.ends[0].slow_start_exit()
    }

    /// The last round-trip time measured.
    pub(crate) fn latest_rtt(&self) -> Option<Duration> {
        self.ends[0].latest_rtt()
    }
}
