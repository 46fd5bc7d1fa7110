//! Both ends of a connection.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::Learned;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{
    Bulk, Checkpoints, Connection, Counters, Datagram, Flight, Side, SlowStartExit, StreamId, Tally, Traffic, Transmission,
};

use crate::clock::{clock, simulated};
use crate::end::End;
use crate::stack::Stack;
use crate::streams::Streams;
use crate::watch::{Sight, State};

/// Datagrams of a bulk transfer that wait for the window, at the least.
const AHEAD: u64 = 4;
/// Parts of a window in which a bulk transfer writes. A stack keeps each write until it is acknowledged, and searches them all for what
/// it sends next.
const PARTS: f64 = 16.0;

/// Both ends. The sender of a bulk transfer is the client, as it starts by itself; an application's client is the receiver.
#[derive(Debug)]
pub(crate) struct Pair<S> {
    ends: [End<S>; 2],
    streams: Streams,
    /// `None`: an application opens the connection and writes.
    bulk: Option<Bulk>,
    /// Packets that the bulk transfer has written.
    written: u64,
    /// UDP payload of a full datagram, which is a packet of a bulk transfer.
    packet: u64,
    /// Datagrams that a bulk transfer keeps ready, at the least.
    ahead: u64,
    started: bool,
    sight: Sight,
    /// The sender's control after the last event.
    state: State,
    delivered_at: Instant,
    checkpoints: Checkpoints,
}

impl<S: Stack> Pair<S> {
    /// A connection that has not started. `sight`: of the sender's control; `burst`: the datagrams that a sender passes on together.
    pub(crate) fn new(ends: [S; 2], ecn: bool, traffic: &Traffic, (packet, burst): (u64, usize), sight: Sight) -> Self {
        let bulk = match traffic {
            Traffic::Bulk(bulk) => Some(*bulk),
            Traffic::Dialogue { .. } => None,
        };
        let start = bulk.map_or(Instant::ZERO, |bulk| bulk.start);
        Self {
            ends: ends.map(|stack| End::new(stack, ecn)),
            streams: Streams::default(),
            bulk,
            written: 0,
            packet,
            ahead: AHEAD.max(4 * burst as u64),
            started: false,
            sight,
            state: State::default(),
            delivered_at: start,
            checkpoints: Checkpoints::new(start),
        }
    }

    /// Gives the sender the next packets of the bulk transfer.
    fn hand_over(&mut self, now: Instant) {
        let Some(bulk) = self.bulk else { return };
        let sender = &mut self.ends[Side::Sender.index()];
        let window = self.state.window.map_or(0.0, |window| window.cwnd);
        let ahead = self.ahead.max((window / PARTS) as u64) * self.packet;
        if sender.unsent() >= ahead / 2 {
            return;
        }
        while sender.unsent() < ahead && bulk.offers(self.written as u32 + 1, now) {
            self.written += 1;
            sender.outbox.add(StreamId::FIRST, self.packet, bulk.is_done(self.written));
        }
    }

    fn look(&mut self, side: Side) {
        if side == Side::Sender {
            self.state = self.sight.state();
        }
    }
}

impl<S: Stack> Connection for Pair<S> {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        let end = &mut self.ends[side.index()];
        let before = end.delivered();
        let delivered = end.handle(now, arrived, &self.streams);
        if side == Side::Receiver && delivered > 0 {
            self.checkpoints.pass(now, before);
            self.delivered_at = now;
        }
        self.look(side);
        delivered > 0
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if !self.started {
            return None;
        }
        if side == Side::Sender && self.ends[side.index()].is_connected() {
            self.hand_over(now);
        }
        let sent = self.ends[side.index()].poll_transmit(now, &mut self.streams);
        self.look(side);
        sent
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        if self.started {
            let timer = self.state.timer.filter(|_| side == Side::Sender);
            self.ends[side.index()].poll_timeout().into_iter().chain(timer).min()
        } else {
            self.bulk.map(|bulk| bulk.start).filter(|_| side == Side::Sender)
        }
    }

    fn handle_timeout(&mut self, now: Instant, side: Side) {
        if self.started {
            if let Some(seat) = &self.sight.seat
                && side == Side::Sender
            {
                // All that the control hears is in the time of the stack's clock.
                seat.handle_timeout(simulated(clock(now)));
            }
            self.ends[side.index()].handle_timeout(now);
            self.look(side);
        } else {
            self.started = true;
            self.ends[side.index()].connect(now);
        }
    }

    fn open(&mut self, now: Instant) {
        self.started = true;
        self.delivered_at = now;
        self.checkpoints = Checkpoints::new(now);
        self.ends[Side::Receiver.index()].connect(now);
    }

    fn write(&mut self, _now: Instant, side: Side, stream: StreamId, bytes: u64) {
        self.ends[side.index()].outbox.add(stream, bytes, false);
    }

    fn close(&mut self, _now: Instant, side: Side, stream: StreamId) {
        self.ends[side.index()].outbox.add(stream, 0, true);
    }

    fn offer(&mut self, _now: Instant, packets: u64) {
        if let Some(bulk) = &mut self.bulk {
            bulk.offer(packets);
        }
    }

    fn delivered(&self, side: Side, stream: StreamId) -> u64 {
        self.ends[side.index()].delivered_of(stream)
    }

    fn next_delivered(&self, side: Side, after: Option<StreamId>) -> Option<StreamId> {
        self.ends[side.index()].next_fresh(after)
    }

    fn delivered_bytes(&self) -> u64 {
        self.ends[Side::Receiver.index()].delivered()
    }

    fn window(&self) -> Option<Window> {
        self.state.window
    }

    fn flight(&self) -> Option<Flight> {
        self.state.flight
    }

    fn with_control(&self, visit: &mut dyn FnMut(&dyn CongestionControl)) {
        if let Some(seat) = &self.sight.seat {
            seat.with(|seat| visit(seat.control()));
        }
    }

    fn set_learned(&mut self, learned: Learned) {
        if let Some(seat) = &self.sight.seat {
            seat.with(|seat| seat.set_learned(learned));
        }
    }

    fn is_first_flight_over(&self) -> bool {
        self.sight.seat.as_ref().is_some_and(|seat| seat.with(|seat| seat.is_first_flight_over()))
    }

    fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.sight.seat.as_ref()?.with(|seat| seat.finish_first_flight(learned))
    }

    fn timing(&self) -> (Option<Duration>, Duration) {
        (self.ends[Side::Sender.index()].stack.srtt(), Duration::ZERO)
    }

    fn latest_rtt(&self) -> Option<Duration> {
        self.state.latest_rtt
    }

    fn slow_start_exit(&self) -> Option<&SlowStartExit> {
        Some(&self.state.exit)
    }

    fn tally(&mut self, end: Instant) -> Tally {
        let delivered_bytes = self.delivered_bytes();
        let state = &self.state;
        let counters = self.ends[Side::Sender.index()].counters();
        Tally {
            counters: Counters { reductions: state.reductions, timeouts: state.timeouts, cwnd_max: state.largest, ..counters },
            window: state.window,
            delivered_bytes,
            delivered_packets: delivered_bytes / self.packet,
            payload: delivered_bytes,
            delivered_at: self.delivered_at,
            delivered_after: self.checkpoints.finish(end, delivered_bytes),
            initial_window: state.initial,
            limited: None,
            slow_start_exit: state.exit.get(),
            min_rtt: state.min_rtt,
            // The end that gave up first knows why.
            failure: self.ends.iter().filter_map(End::failure).min_by_key(|(at, _)| *at).cloned(),
        }
    }
}
