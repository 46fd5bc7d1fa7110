//! A connection of two `modern` ends: with a bulk transfer in one direction, or with an application's data in both directions.

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::events::{Ack, CongestionEvent, Established, Learned};
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Bulk, Checkpoints, Datagram, DropNotice, Flight, RecoveryPhase, Side, SlowStartExit, StreamId, Tally, Transmission};

use super::endpoint::Endpoint;
use super::segment::{Flags, Segment, to_position};
use super::sender::Counters;
use super::settings::Config;
use super::writer::Writer;

/// Unsent segments that a bulk transfer keeps in the stream, so that the window always finds full segments.
const AHEAD: u64 = 64;

/// Unsent data of a transfer that stops at a given time, with a limited send buffer: it is sent after that time.
const UNSENT: u64 = 32 << 10;

/// The control of an end that sends only its FIN.
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

/// Both ends of a flow: data flows from the first end to the second, an application's requests flow back.
#[derive(Debug)]
pub struct Connection {
    ends: [Endpoint; 2],
    /// The bulk transfer of the first end; `None`: an application opens the connection at the second end, and writes.
    bulk: Option<Bulk>,
    /// The applications of both ends, if they wait for room in send buffers.
    writers: Option<[Writer; 2]>,
    /// Bytes of data in a full segment.
    segment: u64,
    initial_sequence: u32,
    started: bool,
    /// Segments that the bulk transfer has written.
    written: u64,
    /// Whether the bulk transfer may close the stream as soon as it has written everything.
    closes: bool,
    /// Bytes of requests delivered in order at the first end.
    heard_bytes: u64,
    /// Bytes of data delivered in order at the second end.
    delivered_bytes: u64,
    /// When data was last delivered in order at the second end.
    delivered_at: Instant,
    checkpoints: Checkpoints,
    /// One past the highest position sent.
    highest: u64,
}

impl Connection {
    /// A bulk transfer that has not started.
    pub fn bulk(host: &Config, control: Box<dyn CongestionControl>, bulk: Bulk, seed: u64) -> Self {
        let segment = host.packet_size().0;
        let mut ends = [Endpoint::open(host, control), Endpoint::listen(host, Box::new(OneSegment))];
        ends[0].pull(bulk.amount().map(|packets| packets * segment));
        let mut connection = Self::new(ends, Some(bulk), host, seed);
        if let Some([writer, _]) = &mut connection.writers {
            match bulk.packets {
                Some(packets) => writer.add(packets.saturating_mul(segment)),
                None => writer.set_endless(),
            }
            if bulk.amount().is_some() {
                writer.close();
            }
            if bulk.stop.is_some() {
                connection.ends[0].limit_unsent(UNSENT);
            }
        }
        connection
    }

    /// A connection that its second end opens later, with the controls of both ends.
    pub fn dormant(host: &Config, [sender, receiver]: [Box<dyn CongestionControl>; 2], seed: u64) -> Self {
        let ends = [Endpoint::listen(host, sender), Endpoint::open(host, receiver)];
        Self::new(ends, None, host, seed)
    }

    fn new(mut ends: [Endpoint; 2], bulk: Option<Bulk>, host: &Config, seed: u64) -> Self {
        // Each end's control has its own seed.
        for (end, number) in ends.iter_mut().zip(0..) {
            end.seed(seed ^ number);
        }
        let start = bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Self {
            ends,
            bulk,
            writers: host.send_buffer.map(|_| [(); 2].map(|()| Writer::new(!host.fin_alone))),
            segment: host.packet_size().0,
            initial_sequence: host.initial_sequence,
            started: false,
            written: 0,
            closes: !host.fin_alone,
            heard_bytes: 0,
            delivered_bytes: 0,
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
            highest: 1,
        }
    }

    /// The number of the segment that begins at `position`. As with `ns2` hosts, the SYN is 0 and the first data segment 1.
    fn number(&self, position: u64) -> u32 {
        if position == 0 { 0 } else { ((position - 1).div_ceil(self.segment) + 1) as u32 }
    }

    /// Nothing more can be sent now: the application goes on, if it waits for room in the send buffer. Returns whether it has written or
    /// closed.
    fn proceed(&mut self, now: Instant, side: Side) -> bool {
        let Some(writers) = &mut self.writers else { return false };
        let writer = &mut writers[side.index()];
        if side == Side::Sender && self.bulk.as_ref().is_some_and(|bulk| bulk.stop.is_some_and(|stop| stop <= now)) {
            writer.stop();
        }
        writer.proceed(now, &mut self.ends[side.index()])
    }

    /// The next segment of an end; none if the application cannot go on either.
    fn next_segment(&mut self, now: Instant, side: Side) -> Option<Segment> {
        loop {
            let continues = self.writers.as_ref().is_some_and(|writers| writers[side.index()].is_writing())
                && self.ends[side.index()].continues_write();
            if !continues && let Some(segment) = self.end(side).poll_transmit(now) {
                return Some(segment);
            }
            if !self.proceed(now, side) && !continues {
                return self.end_first_flight(now, side);
            }
        }
    }

    /// The application of an end closes the stream after its last byte.
    fn close_end(&mut self, side: Side) {
        match &mut self.writers {
            Some(writers) => writers[side.index()].close(),
            None => self.end(side).close(),
        }
    }

    /// The bulk transfer writes enough to keep the sender busy, and closes after its last segment.
    fn hand_over(&mut self, now: Instant) {
        let (Some(bulk), [sender, _]) = (&self.bulk, &mut self.ends) else { return };
        while sender.unsent() < AHEAD * self.segment && bulk.offers(self.written as u32 + 1, now) {
            sender.write(self.segment);
            self.written += 1;
        }
        if self.closes && bulk.is_done(self.written) {
            sender.close();
        }
    }

    /// Nothing more can be sent now: the first flight of a bulk transfer is out, and the application returns from its write.
    fn end_first_flight(&mut self, now: Instant, side: Side) -> Option<Segment> {
        if self.closes || self.writers.is_some() || side == Side::Receiver || self.bulk.is_none() || !self.ends[0].is_established() {
            return None;
        }
        self.closes = true;
        self.hand_over(now);
        self.ends[0].poll_transmit(now)
    }

    fn sender(&self) -> &Endpoint {
        &self.ends[Side::Sender.index()]
    }

    fn end(&mut self, side: Side) -> &mut Endpoint {
        &mut self.ends[side.index()]
    }
}

impl ackclock_host::Connection for Connection {
    type Payload = Segment;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Segment>) -> bool {
        let Some(segment) = &arrived.payload else { return false };
        // A queue marks the packet, not the profile's payload.
        let marked;
        let segment = if segment.ecn == arrived.ecn {
            segment
        } else {
            marked = Segment { ecn: arrived.ecn, ..*segment };
            &marked
        };
        self.end(side).handle_segment(now, segment);
        let (start, end) = self.end(side).read(now, u64::MAX);
        if start == end {
            return false;
        }
        match side {
            Side::Sender => self.heard_bytes += end - start,
            Side::Receiver => {
                self.checkpoints.pass(now, self.delivered_bytes);
                self.delivered_bytes += end - start;
                self.delivered_at = now;
            }
        }
        true
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Segment>, Transmission)> {
        if !self.started {
            return None;
        }
        let end = &mut self.ends[side.index()];
        if side == Side::Sender && self.bulk.is_some() {
            if self.writers.is_none() {
                self.hand_over(now);
            }
        } else if end.has_heard_fin() && !end.answers_before_application() {
            // When the peer has closed, this end closes too; an ACK that is due leaves before the application runs.
            self.close_end(side);
        }
        let Some(segment) = self.next_segment(now, side) else {
            if side == Side::Sender && self.bulk.as_ref().is_some_and(|bulk| bulk.stop.is_some_and(|stop| stop <= now)) {
                self.end(side).end_supply(now);
            }
            return None;
        };
        let (near, wire) = match side {
            Side::Sender => (self.highest, segment.seq),
            Side::Receiver => (self.delivered_bytes + 1, segment.ack),
        };
        let start = to_position(wire, self.initial_sequence, near).unwrap_or(0);
        let transmission = match side {
            _ if segment.is_empty() => Transmission::Ack,
            Side::Sender if start < self.highest && !segment.flags.has(Flags::SYN) => Transmission::Retransmission,
            Side::Sender | Side::Receiver => Transmission::New,
        };
        if side == Side::Sender {
            self.highest = self.highest.max(start + u64::from(segment.payload));
        }
        let (number, size) = (self.number(start), segment.wire_size() as u16);
        Some((Datagram { number, size, sent: now, ecn: segment.ecn, echo: false, payload: Some(segment) }, transmission))
    }

    fn answers_later(&self) -> bool {
        true
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        if self.started {
            self.ends[side.index()].poll_timeout()
        } else {
            self.bulk.map(|bulk| bulk.start).filter(|_| side == Side::Sender)
        }
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        if side == Side::Sender && !self.started {
            self.started = true;
        } else {
            self.end(side).handle_timeout(now);
        }
    }

    fn noticed(&self, _number: u32, _side: Side, payload: Option<&Segment>) -> Option<u32> {
        payload.filter(|segment| !segment.is_empty()).map(|segment| segment.seq)
    }

    fn handle_notice(&mut self, now: Instant, side: Side, dropped: &DropNotice) {
        self.end(side).handle_notice(now, dropped);
    }

    fn open(&mut self, now: Instant) {
        self.started = true;
        self.delivered_at = now;
        self.checkpoints = Checkpoints::new(now);
    }

    fn write(&mut self, _now: Instant, side: Side, _stream: StreamId, bytes: u64) {
        match &mut self.writers {
            Some(writers) => writers[side.index()].add(bytes),
            None => self.end(side).write(bytes),
        }
    }

    fn close(&mut self, _now: Instant, side: Side, _stream: StreamId) {
        self.close_end(side);
    }

    fn offer(&mut self, _now: Instant, packets: u64) {
        if let Some(bulk) = &mut self.bulk {
            bulk.offer(packets);
        }
        if let Some([writer, _]) = &mut self.writers {
            writer.add(packets.saturating_mul(self.segment));
        }
    }

    fn set_learned(&mut self, learned: Learned) {
        if !self.started {
            self.end(Side::Sender).set_learned(learned);
        }
    }

    fn is_first_flight_over(&self) -> bool {
        self.sender().is_first_flight_over()
    }

    fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.end(Side::Sender).finish_first_flight(learned)
    }

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        match side {
            Side::Sender => self.heard_bytes,
            Side::Receiver => self.delivered_bytes,
        }
    }

    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn window(&self) -> Option<Window> {
        Some(self.sender().window())
    }

    fn recovery(&self) -> Option<RecoveryPhase> {
        Some(self.sender().recovery())
    }

    fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        visit(self.sender().control());
    }

    fn flight(&self) -> Option<Flight> {
        Some(self.sender().flight())
    }

    fn keep_lost(&mut self) {
        self.end(Side::Sender).keep_lost();
    }

    fn next_lost(&mut self) -> Option<u32> {
        self.end(Side::Sender).next_lost().map(|position| self.number(position))
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        let (srtt, _, rto) = self.sender().timing();
        (srtt, rto)
    }

    fn latest_rtt(&self) -> Option<Duration> {
        self.sender().latest_rtt()
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(self.sender().slow_start_exit())
    }

    fn tally(&mut self, end: Instant) -> Tally {
        let delivered_after = self.checkpoints.finish(end, self.delivered_bytes);
        let sender = self.sender();
        let Counters { sent, retransmitted, timeouts, reductions, cwnd_max, .. } = sender.counters();
        let (_, min_rtt, _) = sender.timing();
        Tally {
            counters: ackclock_host::Counters { sent, retransmitted, timeouts, reductions, cwnd_max },
            window: Some(sender.window()),
            delivered_bytes: self.delivered_bytes,
            delivered_packets: self.delivered_bytes / self.segment,
            payload: self.delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after,
            initial_window: sender.initial_window(),
            limited: sender.limited(end),
            slow_start_exit: sender.slow_start_exit().get(),
            min_rtt,
            failure: None,
        }
    }
}
