//! Both ends of a flow as sockets of a kernel.

use ackclock_core::cc::Window;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Bulk, Checkpoints, Connection, Datagram, Flight, RecoveryPhase, Side, SlowStartExit, StreamId, Tally, Transmission};
use ackclock_wire::frame::Headers;
use ackclock_wire::segment::Flags;

use crate::ends::{Ends, Order};
use crate::flow::FlowPlan;
use crate::sender::Sender;
use crate::stream::Stream;

/// Initial window of a kernel whose route sets none, in segments (RFC 6928).
const INITIAL_WINDOW: u32 = 10;

/// Both ends of a flow.
#[derive(Debug)]
pub struct KernelConnection<E> {
    ends: E,
    bulk: Option<Bulk>,
    /// Bytes of data in a full segment.
    segment: u64,
    /// Window after the handshake, by the flow's route, and the threshold that the kernel has from the start.
    first: Window,
    started: bool,
    /// Whether the bulk transfer was told to stop.
    stopped: bool,
    /// What the packets of each end show.
    streams: [Stream; 2],
    sender: Sender,
    latest_rtt: Option<Duration>,
    /// Bytes read at each end.
    read: [u64; 2],
    delivered_at: Instant,
    checkpoints: Checkpoints,
}

impl<E: Ends> KernelConnection<E> {
    /// The flow `plan` between these ends, which have its control, options, parameters and routes.
    pub fn new(plan: &FlowPlan, ends: E) -> Self {
        let &FlowPlan { bulk, segment, threshold, route, .. } = plan;
        let start = bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Self {
            ends,
            bulk,
            segment,
            first: Window { cwnd: Segments::from(route.initial_window.unwrap_or(INITIAL_WINDOW)), ssthresh: threshold },
            started: false,
            stopped: false,
            streams: [segment; 2].map(Stream::new),
            sender: Sender::new(threshold),
            latest_rtt: None,
            read: [0; 2],
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
        }
    }

    /// Reads the state of the sender's socket.
    fn observe(&mut self, now: Instant) {
        if let Some(info) = self.ends.info(now) {
            self.sender.observe(now, info);
        }
    }
}

impl<E: Ends> Connection for KernelConnection<E> {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let Some(frame) = &arrived.payload else { return false };
        self.ends.deliver(now, side, frame, arrived.ecn);
        let segment = Headers::read(frame);
        if side == Side::Sender {
            if let Some(segment) = &segment {
                self.latest_rtt = self.streams[side.index()].acknowledge(now, segment).or(self.latest_rtt);
            }
            self.observe(now);
        }
        // A pure ACK brings no data.
        if segment.is_none_or(|segment| segment.length() == 0) {
            return false;
        }
        let bytes = self.ends.read(now, side);
        if bytes > 0 && side == Side::Receiver {
            self.checkpoints.pass(now, self.delivered_bytes());
            self.delivered_at = now;
        }
        self.read[side.index()] += bytes;
        bytes > 0
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        loop {
            let frame = self.ends.sent(side)?;
            // Only TCP of IPv4 belongs to a flow.
            let Some(segment) = Headers::read(&frame) else { continue };
            let (number, kind) = self.streams[side.index()].send(now, &segment);
            let number = if side == Side::Sender { number } else { self.streams[Side::Sender.index()].expected(&segment) };
            if side == Side::Sender && kind != Transmission::Ack {
                self.sender.counters.sent += 1;
                if kind == Transmission::Retransmission {
                    self.sender.counters.retransmitted += 1;
                    // A timer may have expired, which no ACK shows.
                    self.observe(now);
                }
            }
            let datagram = Datagram {
                number,
                size: segment.size,
                sent: now,
                ecn: segment.ecn,
                echo: segment.flags.has(Flags::ECE),
                payload: Some(frame),
            };
            return Some((datagram, kind));
        }
    }

    fn answers_later(&self) -> bool {
        true
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        let bulk = self.bulk.filter(|_| side == Side::Sender)?;
        if self.started { bulk.stop.filter(|_| !self.stopped) } else { Some(bulk.start) }
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        let Some(bulk) = self.bulk else { return };
        if self.started {
            self.stopped = true;
            self.ends.order(now, side, Order::Stop);
            return;
        }
        self.started = true;
        self.ends.connect(now, side);
        let stopped = bulk.stop.is_some_and(|stop| stop <= now);
        match bulk.packets {
            _ if stopped => {}
            Some(packets) => self.ends.order(now, side, Order::Write(packets.saturating_mul(self.segment))),
            None => self.ends.order(now, side, Order::Endless),
        }
        if bulk.amount().is_some() {
            self.ends.order(now, side, Order::Close);
        }
    }

    fn open(&mut self, now: Instant) {
        self.started = true;
        self.delivered_at = now;
        self.checkpoints = Checkpoints::new(now);
        self.ends.connect(now, Side::Receiver);
    }

    fn write(&mut self, now: Instant, side: Side, _stream: StreamId, bytes: u64) {
        self.ends.order(now, side, Order::Write(bytes));
    }

    fn close(&mut self, now: Instant, side: Side, _stream: StreamId) {
        self.ends.order(now, side, Order::Close);
    }

    fn offer(&mut self, now: Instant, packets: u64) {
        self.ends.order(now, Side::Sender, Order::Write(packets.saturating_mul(self.segment)));
    }

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        self.read[side.index()]
    }

    fn delivered_bytes(&self) -> u64 {
        self.read[Side::Receiver.index()]
    }

    fn window(&self) -> Option<Window> {
        // As in a simulation, the trace begins with the flow, not with the end of its handshake.
        self.sender.window().or(Some(self.first))
    }

    fn recovery(&self) -> Option<RecoveryPhase> {
        Some(self.sender.recovery())
    }

    fn flight(&self) -> Option<Flight> {
        self.sender.flight()
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        self.sender.timing()
    }

    fn latest_rtt(&self) -> Option<Duration> {
        self.latest_rtt
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(&self.sender.exit)
    }

    fn tally(&mut self, end: Instant) -> Tally {
        self.observe(end);
        let delivered_bytes = self.delivered_bytes();
        let complete = self.bulk.and_then(|bulk| bulk.amount()).is_some_and(|packets| delivered_bytes >= packets * self.segment);
        Tally {
            counters: self.sender.counters,
            window: self.sender.window(),
            delivered_bytes,
            delivered_packets: delivered_bytes / self.segment,
            payload: delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, delivered_bytes),
            initial_window: self.sender.initial_window(),
            limited: self.sender.limited(if complete { self.delivered_at } else { end }),
            slow_start_exit: self.sender.exit.get(),
            min_rtt: self.sender.min_rtt(),
            failure: None,
        }
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
