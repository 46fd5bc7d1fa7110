//! A minimal transport that drives the parts of the registry, and the ways to build parts.
#![allow(dead_code, reason = "each test file uses a different subset")]

pub(crate) mod obligations;

use std::fmt::Debug;

use ackclock_core::cc::{Avoidance, Composed, CongestionControl, InitialWindow, LossResponse, SlowStart};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, RateSample, Sent, Snapshot, Timing, Totals};
use ackclock_core::params::{Default, Kind, Param, Params, PartSpec, Quantity, Value};
use ackclock_core::units::{Bytes, Duration, Instant, Limit, Rate, Segments};

/// A part and its parameters.
pub(crate) type Part<P> = (&'static Entry<P>, Params);

/// The parts of a composed congestion control.
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

    /// Whether the part that responds to congestion, or one inside it, has the value `word` for the parameter `name`.
    pub(crate) fn responds_by(&self, name: &str, word: &str) -> bool {
        fn has(params: &Params, name: &str, word: &str) -> bool {
            params.0.iter().any(|(known, value)| match value {
                Value::Word(value) => *known == name && value == word,
                Value::Part(part) => has(&part.params, name, word),
                _ => false,
            })
        }
        has(self.loss_response.as_ref().map_or(&self.avoidance.1, |(_, params)| params), name, word)
    }

    /// Whether growth follows a time rather than the window: the time since congestion, or the round-trip time.
    pub(crate) fn grow_by_time(&self) -> bool {
        [self.slow_start.0.name, self.avoidance.0.name].iter().any(|name| ["htcp", "hybla"].contains(name))
    }

    /// Whether the loss response is `name`, or has it inside.
    pub(crate) fn has_response(&self, name: &str) -> bool {
        self.loss_response.as_ref().is_some_and(|(entry, params)| entry.name == name || has_inside(params, name))
    }

    /// Whether the slow start is `name`, or has it inside.
    pub(crate) fn has_slow_start(&self, name: &str) -> bool {
        self.slow_start.0.name == name || has_inside(&self.slow_start.1, name)
    }
}

/// Whether a part that is a parameter is `name`, or has it inside.
fn has_inside(params: &Params, name: &str) -> bool {
    params.0.iter().any(|(_, value)| matches!(value, Value::Part(part) if part.name == name || has_inside(&part.params, name)))
}

/// Events of a transport. Round-trip times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Ack { acked: u32, limited: bool, rtt: Option<u64> },
    AckInRecovery { rtt: Option<u64> },
    Congestion { timeout: bool, restart: bool, echo: bool, inflation: u32 },
    Spurious,
    Deflate(Segments),
}

/// Largest number of segments that an ACK counts for (the limit of RFC 3465).
const MAX_COUNTED: u32 = 2;
/// Bytes in a segment.
pub(crate) const SMSS: u64 = 1000;
/// The receiver's window in segments.
const RWND: Segments = 1000.0;

/// Computes the facts that a transport reports to its control.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) control: Composed,
    now: Instant,
    total: Totals,
    round: u64,
    srtt: Option<Duration>,
    pub(crate) min_rtt: Option<Duration>,
}

impl Transport {
    pub(crate) fn new(mut control: Composed) -> Self {
        control.on_established(&Established::new(Instant::ZERO, Bytes(SMSS)));
        Self { control, now: Instant::ZERO, total: Totals::default(), round: 0, srtt: None, min_rtt: None }
    }

    /// Applies `op`. Returns the window in force before it, and the segments for which an ACK counts.
    pub(crate) fn apply(&mut self, op: &Op) -> (Segments, Segments) {
        self.now += Duration::from_millis(1);
        let cwnd = self.control.window().cwnd;
        let flight_size = cwnd.min(RWND) as u32;
        match *op {
            Op::Ack { acked, limited, rtt } => {
                let ack = self.ack(acked, limited, rtt);
                self.receive(&ack);
                self.total.sent += SMSS;
                let inflight = u64::from(flight_size) * SMSS;
                self.control.on_sent(&Sent::new(self.now, SMSS).with(|sent| {
                    sent.flight_size = flight_size;
                    sent.inflight = inflight;
                    sent.snd_nxt = self.total.sent;
                    sent.total = self.total;
                    sent.app_limited = !limited;
                }));
                return (cwnd, ack.counted);
            }
            Op::AckInRecovery { rtt } => {
                let ack = self.ack(0, true, rtt).with(|ack| ack.may_grow = false);
                self.receive(&ack);
            }
            Op::Congestion { timeout, restart, echo, inflation } => {
                let cause = match (timeout, echo) {
                    (true, _) => Cause::Timeout,
                    (_, true) => Cause::EcnCe,
                    _ => Cause::DupAck,
                };
                let window = (cwnd + f64::from(inflation)).min(RWND);
                self.control.on_congestion(&CongestionEvent::new(self.now, cause, window).with(|event| {
                    event.flight_size = flight_size;
                    event.inflight = u64::from(flight_size) * SMSS;
                    event.restart = timeout || restart;
                    event.resent = inflation % 2 == 1;
                    event.min_rtt = self.min_rtt;
                }));
                return (window, 0.0);
            }
            Op::Spurious => self.control.on_spurious(self.now),
            Op::Deflate(by) => self.control.resize(-by, 1.0),
        }
        (cwnd, 0.0)
    }

    /// The control hears of an ACK, and first of the round-trip time that it has measured.
    fn receive(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let timing = Timing::new(ack.now, rtt).with(|timing| {
                timing.srtt = ack.srtt;
                timing.snd_una = ack.snd_una;
                timing.snd_nxt = ack.snd_nxt;
            });
            self.control.on_rtt(&timing, self.control.window().cwnd);
        }
        self.control.on_ack(ack);
    }

    fn ack(&mut self, acked: u32, cwnd_limited: bool, rtt: Option<u64>) -> Ack {
        let rtt = rtt.map(Duration::from_millis);
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| Duration::from_nanos((7 * srtt.as_nanos() + rtt.as_nanos()) / 8)));
            self.round += 1;
        }
        let flight_size = self.control.window().cwnd.min(RWND) as u32;
        let (outstanding, delivered) = (u64::from(flight_size) * SMSS, u64::from(acked) * SMSS);
        let sample = rtt.map(|rtt| {
            RateSample::new(
                Snapshot::default().with(|packet| {
                    packet.sent_at = self.now;
                    packet.delivered = self.total.delivered;
                    packet.inflight = outstanding;
                }),
                outstanding,
                rtt,
            )
            .with(|sample| sample.rate = Rate::from_bits_per_sec((outstanding as f64 * 8.0 / rtt.as_secs_f64().max(1e-3)) as u64))
        });
        self.total.delivered += delivered;
        Ack::new(self.now, acked, Bytes(SMSS)).with(|ack| {
            ack.counted = f64::from(acked.min(MAX_COUNTED));
            ack.cwnd_limited = cwnd_limited;
            ack.flight_size = flight_size;
            ack.inflight_before = outstanding + delivered;
            ack.inflight = outstanding;
            ack.snd_una = self.total.delivered;
            ack.snd_nxt = self.total.delivered + outstanding;
            ack.total = self.total;
            ack.sample = sample;
            ack.rtt = rtt;
            ack.srtt = self.srtt;
            ack.min_rtt = self.min_rtt;
            ack.round = self.round;
        })
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

/// Values at the bounds of `param`. Parts inside have up to `depth` levels of settings of their own.
fn extremes(param: &Param, depth: usize) -> Vec<Value> {
    let (low, high) = param.kind.bounds().unwrap_or((0.0, 0.0));
    match param.kind {
        Kind::Word(words) => words.iter().map(|&word| Value::Word(word.to_owned())).collect(),
        Kind::Limit { .. } | Kind::ByteLimit { .. } => [low as u64, high as u64].into_iter().flat_map(limits).map(Value::Limit).collect(),
        Kind::Numbers { .. } => {
            let Default::Numbers(default) = param.default else { panic!("{} has no list as default", param.name) };
            let filled = [low, high].into_iter().flat_map(|bound| [vec![bound], vec![bound; default.len()]]);
            filled.chain([vec![], vec![low, high], vec![high, low]]).map(Value::Numbers).collect()
        }
        Kind::Series(_) => [(low, low), (high, high), (low, high), (high, low)]
            .map(|(first, second)| Value::Series(vec![(0.0, first), (0.5, second)]))
            .to_vec(),
        Kind::Part(axis) => axis
            .parts()
            .iter()
            .flat_map(|part| {
                let inner = if depth == 0 { vec![Params::defaults(part.params)] } else { settings_to(part.params, depth - 1) };
                inner.into_iter().map(|params| Value::Part(PartSpec::new(part.name, params)))
            })
            .collect(),
        Kind::Parts(axis) => {
            let inside = |part: &'static ackclock_core::params::Description| match depth {
                0 => vec![Params::defaults(part.params)],
                _ => settings_to(part.params, depth - 1),
            };
            let specs = axis.parts().iter().flat_map(|part| inside(part).into_iter().map(|params| PartSpec::new(part.name, params)));
            let specs: Vec<PartSpec> = specs.collect();
            let pairs = specs.iter().map(|spec| vec![spec.clone(), specs[0].clone()]);
            pairs.chain(specs.iter().map(|spec| vec![spec.clone()])).chain([vec![]]).map(Value::Parts).collect()
        }
        Kind::Bool => vec![Value::Bool(false), Value::Bool(true)],
        _ => vec![Value::Number(low), Value::Number(high)],
    }
}

/// Parameter sets for an entry: the defaults, then each parameter at its extremes, also those of every part inside.
pub(crate) fn settings(declared: &[Param]) -> Vec<Params> {
    settings_to(declared, 1)
}

fn settings_to(declared: &[Param], depth: usize) -> Vec<Params> {
    let defaults = Params::defaults(declared);
    let mut all = vec![defaults.clone()];
    for param in declared {
        for value in extremes(param, depth) {
            let mut params = defaults.clone();
            params.set(param.name, value);
            all.push(params);
        }
    }
    all
}

/// The names of the quantities that a part declares: its own, then those of the parts inside it; each once.
pub(crate) fn declared(own: &[Quantity], declarations: &[Param], params: &Params) -> Vec<&'static str> {
    let mut names: Vec<&str> = own.iter().map(|quantity| quantity.name).collect();
    for (param, (_, value)) in declarations.iter().zip(&params.0) {
        let (Kind::Part(axis), Value::Part(inner)) = (param.kind, value) else { continue };
        let part = axis.part(inner.name).unwrap_or_else(|| panic!("{} is not registered", inner.name));
        for name in declared(part.quantities, part.params, &inner.params) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Every entry with each parameter set that it accepts.
pub(crate) fn buildable<P: ?Sized + Debug>(entries: &'static [&'static Entry<P>]) -> Vec<(&'static Entry<P>, Params)> {
    let mut ways = Vec::new();
    for entry in entries {
        for (number, params) in settings(entry.params).into_iter().enumerate() {
            match (entry.build)(&params) {
                Ok(_) => ways.push((*entry, params)),
                Err(reason) => {
                    assert!(number > 0, "{} refuses its defaults: {reason}", entry.name);
                    assert!(!reason.is_empty(), "{} refuses {params:?} without a reason", entry.name);
                }
            }
        }
    }
    ways
}
