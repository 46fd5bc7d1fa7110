//! Flows that send given packets at given times, to try a queue with the same arrivals as another.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::{Checkpoints, Connection, Counters, Datagram, Side, StreamId, Tally, Transmission};

use super::error::RunError;
use super::live::{FrameConnection, Live};
use crate::scenario::Scenario;

/// A packet of a replay.
#[derive(Clone, Copy, Debug)]
pub struct Replayed {
    /// When its sender sends it. Packets of a flow are in the order of time.
    pub at: Instant,
    /// Index of the flow.
    pub flow: usize,
    /// Size, headers included.
    pub size: u16,
    /// The ECN field.
    pub ecn: Ecn,
}

/// When a packet has arrived at its receiver, and with which ECN field; `None`: it was lost, or the run has ended before.
pub type Arrival = Option<(Instant, Ecn)>;

/// The arrivals of a replay.
#[derive(Clone, Debug, Default)]
pub struct Arrivals(Arc<Mutex<Vec<Arrival>>>);

impl Arrivals {
    /// The arrivals, in the order of the packets.
    pub fn take(&self) -> Vec<Option<(Instant, Ecn)>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Both ends of a flow that sends packets without asking for more.
#[derive(Debug)]
struct Replay {
    /// Numbers and packets.
    waiting: VecDeque<(u32, Replayed)>,
    arrivals: Arrivals,
    counters: Counters,
    delivered: u64,
    bytes: u64,
    delivered_at: Instant,
}

/// The connections of `flows` flows that send `packets`, and what arrives.
pub fn replays(packets: &[Replayed], flows: usize) -> (Vec<FrameConnection>, Arrivals) {
    let arrivals = Arrivals(Arc::new(Mutex::new(vec![None; packets.len()])));
    let connection = |flow: usize| {
        let own = (0..).zip(packets.iter().copied()).filter(|(_, packet)| packet.flow == flow);
        let (arrivals, counters) = (arrivals.clone(), Counters::default());
        let replay = Replay { waiting: own.collect(), arrivals, counters, delivered: 0, bytes: 0, delivered_at: Instant::ZERO };
        Box::new(replay) as FrameConnection
    };
    let connections = (0..flows).map(connection).collect();
    (connections, arrivals)
}

/// Sends `packets` over the links of `scenario`, each between the ends of its flow, whose own traffic does not take place. Returns the arrival
/// of each packet.
///
/// # Errors
/// As [`run`](super::run).
pub fn replay(scenario: Scenario, packets: &[Replayed]) -> Result<Vec<Arrival>, RunError> {
    let (connections, arrivals) = replays(packets, scenario.flows.len());
    let mut connections = connections.into_iter();
    let mut live = Live::new(scenario, &[], &mut |_, _| connections.next())?;
    live.advance(Instant::MAX)?;
    Ok(arrivals.take())
}

impl Connection for Replay {
    type Payload = Vec<u8>;

    fn handle(&mut self, now: Instant, _side: Side, arrived: &Datagram<Vec<u8>>) -> bool {
        self.delivered += 1;
        self.bytes += u64::from(arrived.size);
        self.delivered_at = now;
        let mut arrivals = self.arrivals.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = arrivals.get_mut(arrived.number as usize) {
            *place = Some((now, arrived.ecn));
        }
        true
    }

    fn poll_transmit(&mut self, now: Instant, side: Side) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if side == Side::Receiver || self.waiting.front()?.1.at > now {
            return None;
        }
        let (number, Replayed { size, ecn, .. }) = self.waiting.pop_front()?;
        self.counters.sent += 1;
        Some((Datagram { number, size, sent: now, ecn, echo: false, payload: None }, Transmission::New))
    }

    fn poll_timeout(&self, side: Side) -> Option<Instant> {
        if side == Side::Sender { Some(self.waiting.front()?.1.at) } else { None }
    }

    fn handle_timeout(&mut self, _now: Instant, _side: Side) {}

    fn delivered(&self, side: Side, _stream: StreamId) -> u64 {
        if side == Side::Receiver { self.bytes } else { 0 }
    }

    fn delivered_bytes(&self) -> u64 {
        self.bytes
    }

    fn tally(&mut self, end: Instant) -> Tally {
        Tally {
            counters: self.counters,
            window: None,
            delivered_bytes: self.bytes,
            delivered_packets: self.delivered,
            payload: self.bytes,
            delivered_at: self.delivered_at,
            delivered_after: Checkpoints::new(Instant::ZERO).finish(end, self.bytes),
            initial_window: None,
            limited: None,
            slow_start_exit: None,
            min_rtt: None,
            failure: None,
        }
    }
}
