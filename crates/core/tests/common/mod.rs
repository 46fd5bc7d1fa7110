//! A transport and a queue, as small as they can be, to drive the parts of the registry.

use std::collections::VecDeque;

use ackclock_core::cc::{Avoidance, Composed, CongestionControl, InitialWindow, LossResponse, SlowStart};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Sent};
use ackclock_core::qdisc::{Admission, Arrival, Backlog, Limit, Verdict};
use ackclock_core::registry::{Entry, Params, Value};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

/// A part and its parameters.
pub(crate) type Part<P> = (&'static Entry<P>, Params);

/// What a congestion control is composed of.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) initial_window: Part<dyn InitialWindow>,
    pub(crate) slow_start: Part<dyn SlowStart>,
    pub(crate) avoidance: Part<dyn Avoidance>,
    pub(crate) loss_response: Option<Part<dyn LossResponse>>,
    pub(crate) initial_ssthresh: Segments,
}

fn build<P: ?Sized>((entry, params): &Part<P>) -> Box<P> {
    (entry.build)(params).unwrap_or_else(|reason| panic!("{}: {reason}", entry.name))
}

impl Parts {
    pub(crate) fn compose(&self) -> Composed {
        let response = self.loss_response.as_ref().map(build);
        Composed::new(build(&self.initial_window), build(&self.slow_start), build(&self.avoidance), response, self.initial_ssthresh)
    }
}

/// What happens to a transport. Round-trip times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Ack { acked: u32, limited: bool, rtt: Option<u64> },
    AckInRecovery { rtt: Option<u64> },
    Congestion { timeout: bool, restart: bool, echo: bool, inflation: u32 },
    Spurious,
    Deflate(Segments),
}

/// Most segments an ACK counts for (RFC 3465's limit).
const MAX_COUNTED: u32 = 2;
/// The receiver's window in segments.
const RWND: Segments = 1000.0;

/// Fills in what a transport computes for its control.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) control: Composed,
    now: Instant,
    round: u64,
    srtt: Option<Duration>,
    min_rtt: Option<Duration>,
}

impl Transport {
    pub(crate) fn new(mut control: Composed) -> Self {
        control.on_established(&Established { now: Instant::ZERO, smss: Bytes(1000), syn_lost: false });
        Self { control, now: Instant::ZERO, round: 0, srtt: None, min_rtt: None }
    }

    /// Lets `op` happen; gives the window in force before it, and by how many segments an ACK counts.
    pub(crate) fn apply(&mut self, op: &Op) -> (Segments, Segments) {
        self.now += Duration::from_millis(1);
        let cwnd = self.control.window().cwnd;
        let flight_size = cwnd.min(RWND) as u32;
        match *op {
            Op::Ack { acked, limited, rtt } => {
                let ack = self.ack(acked, limited, rtt);
                self.control.on_ack(&ack);
                self.control.on_sent(&Sent { now: self.now, flight_size, retransmission: false });
                return (cwnd, ack.counted);
            }
            Op::AckInRecovery { rtt } => {
                let ack = self.ack(0, true, rtt);
                self.control.on_ack_in_recovery(&ack);
            }
            Op::Congestion { timeout, restart, echo, inflation } => {
                let cause = match (timeout, echo) {
                    (true, _) => Cause::Timeout,
                    (_, true) => Cause::EcnCe,
                    _ => Cause::DupAck,
                };
                let window = (cwnd + f64::from(inflation)).min(RWND);
                let (now, min_rtt) = (self.now, self.min_rtt);
                self.control.on_congestion(&CongestionEvent { now, cause, window, flight_size, restart: timeout || restart, min_rtt });
                return (window, 0.0);
            }
            Op::Spurious => self.control.on_spurious(self.now),
            Op::Deflate(by) => self.control.deflate(by),
        }
        (cwnd, 0.0)
    }

    fn ack(&mut self, acked: u32, cwnd_limited: bool, rtt: Option<u64>) -> Ack {
        let rtt = rtt.map(Duration::from_millis);
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| Duration::from_nanos((7 * srtt.as_nanos() + rtt.as_nanos()) / 8)));
            self.round += 1;
        }
        let flight_size = self.control.window().cwnd.min(RWND) as u32;
        let rate = rtt.and_then(|rtt| Rate::from_bits_per_sec((f64::from(flight_size) * 8e3 / rtt.as_secs_f64().max(1e-3)) as u64));
        Ack {
            now: self.now,
            acked,
            counted: f64::from(acked.min(MAX_COUNTED)),
            flight_size,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            delivery_rate: rate,
            round: self.round,
            cwnd_limited,
            ecn_echo: false,
        }
    }
}

/// The number of packets or bytes of `limit`.
pub(crate) fn amount(limit: Limit) -> f64 {
    match limit {
        Limit::Packets(number) | Limit::Bytes(number) => number as f64,
    }
}

/// Limits of `number`, in packets and in bytes.
pub(crate) fn limits(number: u64) -> [Limit; 2] {
    [Limit::Packets(number), Limit::Bytes(number)]
}

/// A queue before a link of 1 byte a microsecond.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Fifo {
    pub(crate) backlog: Backlog,
    pub(crate) accepted: usize,
    pub(crate) dropped: usize,
    /// Packets whose transmission has begun.
    pub(crate) left: usize,
    fates: Vec<Verdict>,
}

impl Fifo {
    /// Sends `packets`, each so many microseconds after the one before and so many bytes long, through a queue. Its backlog never
    /// exceeds its limit.
    pub(crate) fn run(entry: &Entry<dyn Admission>, params: &Params, packets: &[(u64, u64)]) -> Self {
        let mut queue = (entry.build)(params).unwrap_or_else(|reason| panic!("{}: {reason}", entry.name));
        let mut random = Generator::derived(1, "fifo");
        let (mut fifo, mut waiting, mut now, mut free_at) = (Self::default(), VecDeque::new(), 0, 0);
        for (index, &(gap, size)) in packets.iter().enumerate() {
            now += gap;
            while waiting.front().is_some_and(|(start, _)| *start <= now) {
                fifo.leave(waiting.pop_front().map_or(0, |(_, bytes)| bytes));
            }
            let arrival = Arrival { now: Instant::from_nanos(1000 * now), size: Bytes(size), flow: index as u32 % 3 };
            let verdict = queue.admit(&arrival, fifo.backlog, &mut random);
            fifo.fates.push(verdict);
            if verdict != Verdict::Accept {
                fifo.dropped += 1;
                continue;
            }
            fifo.accepted += 1;
            fifo.backlog = Backlog { packets: fifo.backlog.packets + 1, bytes: fifo.backlog.bytes + size };
            fifo.assert_within(entry, params);
            let start = free_at.max(now);
            free_at = start + size;
            if start == now && waiting.is_empty() { fifo.leave(size) } else { waiting.push_back((start, size)) }
        }
        fifo
    }

    fn leave(&mut self, bytes: u64) {
        self.backlog = Backlog { packets: self.backlog.packets - 1, bytes: self.backlog.bytes - bytes };
        self.left += 1;
    }

    fn assert_within(&self, entry: &Entry<dyn Admission>, params: &Params) {
        for (name, value) in &params.0 {
            let within = match value {
                Value::Limit(Limit::Packets(limit)) => self.backlog.packets <= *limit,
                Value::Limit(Limit::Bytes(limit)) => self.backlog.bytes <= *limit,
                _ => true,
            };
            assert!(within, "{}: {:?} waits, but {name} is {value:?}", entry.name, self.backlog);
        }
    }
}
