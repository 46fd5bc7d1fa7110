//! RED: random early detection.
//! ## What it does
//! Keeps a moving average of the queue. Below `min_threshold` it takes every packet; from there on it drops, or marks, an arriving packet
//! with a probability that rises to `max_p` at `max_threshold`, and, if `gentle`, further to 1 at twice that. `wait` spaces the drops
//! evenly. With `adaptive` it moves `max_p` slowly, so that the average stays in the middle between the thresholds.
//! ## References
//! Floyd & Jacobson, *Random early detection gateways for congestion avoidance*, 1993; Floyd, *Recommendation on using the "gentle_"
//! variant of RED*, 2000; Floyd, Gummadi & Shenker, *Adaptive RED*, 2001; RFC 3168 §7; ns-2.35, `RED`, whose defaults these are.
//! ## Differs from the document
//! As in ns-2: chance decides only while more than one byte, or in mode `packets` more than one packet, waits; a packet that finds the
//! average above `min_threshold` for the first time is taken; marks are given only while the probability is at most `mark_below`, packets
//! are dropped above it.
//! ## Parameters
//! `limit`: capacity; in mode `bytes` a packet counts as `mean_packet` bytes; 50 packets.
//! `mode`: whether queue, average and chance count bytes or packets; bytes.
//! `mean_packet`: size of an average packet, headers included; 500 B.
//! `min_threshold`: average from which on packets are dropped; `auto` is half of what the link sends in `target_delay`, at least 5 packets.
//! `max_threshold`: average at which the probability is `max_p`; `auto` is three times `min_threshold`.
//! `target_delay`: the queueing delay that `auto` thresholds aim at; 5 ms.
//! `weight`: weight of a new sample in the average; `auto` is 1 − exp(−1/(10·T·C)), T three one-way delays of the link and at least
//! 100 ms, C the link's rate in packets per second.
//! `max_p`: probability at `max_threshold`; 10 % (ns-2: `linterm_` 10).
//! `gentle`: whether the probability rises on from `max_p` to 1 between `max_threshold` and twice that, or jumps; true.
//! `wait`: whether at least 1/p packets pass between two drops; true.
//! `ecn`: whether packets that can be are marked instead of dropped; true. ns-2's `setbit_` is false: there all are dropped.
//! `mark_below`: largest probability at which packets are marked; 10 % (ns-2: `mark_p_`).
//! `adaptive`: whether `max_p` adapts; false.
//! `interval`: time between two steps of `max_p`; 0.5 s.
//! `increase`: largest step up; 1 %.
//! `decrease`: factor of a step down; 0.9.
//! `top`: largest `max_p`; 50 %.
//! `bottom`: smallest `max_p`; `auto` is 1/W for W the packets of 100 ms of the link, and at most 1 %.

use crate::qdisc::{Admission, Arrival, Backlog, Discipline, Limit, Outlet, Reason, Verdict};
use crate::registry::{Default, Entry, Kind, Param, Params};
use crate::rng::Generator;
use crate::units::Instant;

const LIMIT: (f64, f64) = (1.0, 1e15);

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "red",
    summary: "random early detection: drops with a probability that follows the average queue",
    reference: "Floyd & Jacobson 1993; ns-2.35 RED",
    params: &[
        Param { name: "limit", kind: Kind::ByteLimit, default: Default::Limit(Limit::Packets(50)), bounds: LIMIT, doc: "capacity" },
        Param {
            name: "mode",
            kind: Kind::Word(&["bytes", "packets"]),
            default: Default::Word("bytes"),
            bounds: (0.0, 0.0),
            doc: "what queue, average and chance count",
        },
        Param {
            name: "mean_packet",
            kind: Kind::Size,
            default: Default::Number(500.0),
            bounds: (1.0, 65_535.0),
            doc: "size of an average packet, headers included",
        },
        Param {
            name: "min_threshold",
            kind: Kind::ByteLimit,
            default: Default::Auto,
            bounds: LIMIT,
            doc: "average from which on packets are dropped; auto: from target_delay",
        },
        Param {
            name: "max_threshold",
            kind: Kind::ByteLimit,
            default: Default::Auto,
            bounds: LIMIT,
            doc: "average at which the probability is max_p; auto: three times min_threshold",
        },
        Param {
            name: "target_delay",
            kind: Kind::Duration,
            default: Default::Number(0.005),
            bounds: (0.0, 1e3),
            doc: "queueing delay that auto thresholds aim at",
        },
        Param {
            name: "weight",
            kind: Kind::Number,
            default: Default::Auto,
            bounds: (0.0, 1.0),
            doc: "weight of a new sample in the average; auto: from the link",
        },
        Param {
            name: "max_p",
            kind: Kind::Probability,
            default: Default::Number(0.1),
            bounds: (0.0, 1.0),
            doc: "probability at max_threshold",
        },
        Param {
            name: "gentle",
            kind: Kind::Bool,
            default: Default::Bool(true),
            bounds: (0.0, 1.0),
            doc: "whether the probability rises on to 1 at twice max_threshold",
        },
        Param {
            name: "wait",
            kind: Kind::Bool,
            default: Default::Bool(true),
            bounds: (0.0, 1.0),
            doc: "whether at least 1/p packets pass between two drops",
        },
        Param {
            name: "ecn",
            kind: Kind::Bool,
            default: Default::Bool(true),
            bounds: (0.0, 1.0),
            doc: "whether packets that can be are marked instead of dropped",
        },
        Param {
            name: "mark_below",
            kind: Kind::Probability,
            default: Default::Number(0.1),
            bounds: (0.0, 1.0),
            doc: "largest probability at which packets are marked",
        },
        Param {
            name: "adaptive",
            kind: Kind::Bool,
            default: Default::Bool(false),
            bounds: (0.0, 1.0),
            doc: "whether max_p adapts (Adaptive RED)",
        },
        Param {
            name: "interval",
            kind: Kind::Duration,
            default: Default::Number(0.5),
            bounds: (0.0, 1e6),
            doc: "time between two steps of max_p",
        },
        Param {
            name: "increase",
            kind: Kind::Probability,
            default: Default::Number(0.01),
            bounds: (0.0, 1.0),
            doc: "largest step of max_p up",
        },
        Param {
            name: "decrease",
            kind: Kind::Number,
            default: Default::Number(0.9),
            bounds: (0.0, 1.0),
            doc: "factor of a step of max_p down",
        },
        Param { name: "top", kind: Kind::Probability, default: Default::Number(0.5), bounds: (0.0, 1.0), doc: "largest max_p" },
        Param {
            name: "bottom",
            kind: Kind::Probability,
            default: Default::Auto,
            bounds: (0.0, 1.0),
            doc: "smallest max_p; auto: from the link",
        },
    ],
    build: |params| Red::new(params).map(Discipline::fifo),
};

/// What moves `max_p`.
#[derive(Clone, Copy, Debug)]
struct Adaptation {
    interval: f64,
    increase: f64,
    decrease: f64,
    top: f64,
    bottom: Option<f64>,
    last: f64,
}

/// A RED queue.
#[derive(Debug)]
pub struct Red {
    /// Size of an average packet where bytes are counted.
    unit: Option<f64>,
    mean_packet: f64,
    /// Capacity and thresholds, in bytes or packets.
    limit: f64,
    min: Option<f64>,
    max: Option<f64>,
    target_delay: f64,
    weight: Option<f64>,
    max_p: f64,
    gentle: bool,
    wait: bool,
    ecn: bool,
    mark_below: f64,
    adaptation: Option<Adaptation>,
    /// Packets that the link sends in a second.
    packets_per_second: f64,
    average: f64,
    /// Packets and bytes since the last drop.
    count: f64,
    count_bytes: f64,
    /// Whether the last packet too found the average above the threshold.
    above: bool,
    probability: f64,
}

impl Red {
    fn new(params: &Params) -> Result<Self, String> {
        let mean_packet = params.number("mean_packet");
        let unit = (params.word("mode") == "bytes").then_some(mean_packet);
        let amount = |limit: Limit| match (limit, unit) {
            (Limit::Packets(packets), Some(unit)) => packets as f64 * unit,
            (Limit::Packets(packets), None) => packets as f64,
            (Limit::Bytes(bytes), Some(_)) => bytes as f64,
            (Limit::Bytes(bytes), None) => bytes as f64 / mean_packet,
        };
        let min = params.limit_or_auto("min_threshold").map(amount);
        let max = params.limit_or_auto("max_threshold").map(amount);
        if let (Some(min), Some(max)) = (min, max)
            && min >= max
        {
            return Err("min_threshold must be below max_threshold".to_owned());
        }
        let adaptation = Adaptation {
            interval: params.number("interval"),
            increase: params.number("increase"),
            decrease: params.number("decrease"),
            top: params.number("top"),
            bottom: params.number_or_auto("bottom"),
            last: 0.0,
        };
        Ok(Self {
            unit,
            mean_packet,
            limit: amount(params.limit("limit")),
            min,
            max,
            target_delay: params.number("target_delay"),
            weight: params.number_or_auto("weight"),
            max_p: params.number("max_p"),
            gentle: params.flag("gentle"),
            wait: params.flag("wait"),
            ecn: params.flag("ecn"),
            mark_below: params.number("mark_below"),
            adaptation: params.flag("adaptive").then_some(adaptation),
            packets_per_second: 1.0,
            average: 0.0,
            count: 0.0,
            count_bytes: 0.0,
            above: false,
            probability: 0.0,
        })
    }

    fn thresholds(&self) -> (f64, f64) {
        let unit = self.unit.unwrap_or(1.0);
        // Half of the delay's packets, since the average lies between the thresholds, of which the other is three times as large.
        let auto = (self.target_delay * self.packets_per_second / 2.0).max(5.0) * unit;
        let min = self.min.unwrap_or_else(|| self.max.map_or(auto, |max| auto.min(max / 3.0)));
        (min, self.max.unwrap_or(3.0 * min))
    }

    /// Takes the queue of `length` into the average, after as many empty samples as packets could have left since `idle_since`.
    fn sample(&mut self, length: f64, now: Instant, idle_since: Option<Instant>) {
        let weight = self.weight.unwrap_or(0.0);
        let idle = idle_since.map_or(0.0, |since| libm::floor(self.packets_per_second * now.since(since).as_secs_f64()));
        if idle > 0.0 {
            self.average *= libm::pow(1.0 - weight, idle);
        }
        self.average = (1.0 - weight) * self.average + weight * length;
    }

    /// Adaptive RED §3: additive increase, multiplicative decrease of `max_p`.
    fn adapt(&mut self, now: f64) {
        let (min, max) = self.thresholds();
        let Some(adaptation) = &mut self.adaptation else { return };
        if now <= adaptation.last + adaptation.interval {
            return;
        }
        let part = 0.4 * (max - min);
        if self.average < min + part && self.max_p > adaptation.bottom.unwrap_or(0.0) {
            self.max_p *= adaptation.decrease;
            adaptation.last = now;
        } else if self.average > max - part && self.max_p < adaptation.top {
            self.max_p += adaptation.increase.min(0.25 * self.max_p);
            adaptation.last = now;
        }
    }

    /// The probability that the average alone gives.
    fn base_probability(&self, min: f64, max: f64) -> f64 {
        if self.average < max {
            self.max_p * (self.average - min) / (max - min)
        } else if self.gentle {
            (1.0 - self.max_p) / max * self.average + 2.0 * self.max_p - 1.0
        } else {
            1.0
        }
    }

    /// The probability for a packet of `size`, which grows with the packets since the last drop.
    fn packet_probability(&self, base: f64, size: f64) -> f64 {
        let count = self.unit.map_or(self.count, |unit| libm::floor(self.count_bytes / unit));
        let spread = count * base;
        let probability = if self.wait {
            if spread < 1.0 {
                0.0
            } else if spread < 2.0 {
                base / (2.0 - spread)
            } else {
                1.0
            }
        } else if spread < 1.0 {
            base / (1.0 - spread)
        } else {
            1.0
        };
        match self.unit {
            Some(unit) if probability < 1.0 => (probability * size / unit).min(1.0),
            _ => probability,
        }
    }

    /// Chance decides on a packet that finds the average above the threshold.
    fn draw(&mut self, arrival: &Arrival, (min, max): (f64, f64), random: &mut Generator) -> Verdict {
        let base = self.base_probability(min, max).min(1.0);
        self.probability = base;
        let probability = self.packet_probability(base, arrival.size.0 as f64);
        if random.uniform() > probability {
            return Verdict::Accept;
        }
        self.restart_count();
        arrival.signal(self.ecn && base <= self.mark_below, Reason::Early)
    }

    fn restart_count(&mut self) {
        self.count = 0.0;
        self.count_bytes = 0.0;
    }
}

impl Admission for Red {
    fn attach(&mut self, outlet: &Outlet) {
        self.packets_per_second = outlet.rate.as_bits_per_sec() as f64 / (8.0 * self.mean_packet);
        let round_trip = (3.0 * (outlet.delay.as_secs_f64() + 1.0 / self.packets_per_second)).max(0.1);
        let weight = 1.0 - libm::exp(-1.0 / (10.0 * round_trip * self.packets_per_second));
        self.weight.get_or_insert(weight);
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.bottom.get_or_insert((10.0 / self.packets_per_second).min(0.01));
        }
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        let length = if self.unit.is_some() { backlog.bytes } else { backlog.packets } as f64;
        self.sample(length, arrival.now, arrival.idle_since);
        self.adapt(arrival.now.as_secs_f64());
        self.count += 1.0;
        self.count_bytes += arrival.size.0 as f64;
        let (min, max) = self.thresholds();
        self.probability = 0.0;
        let mut verdict = Verdict::Accept;
        if self.average >= min && length > 1.0 {
            let ceiling = if self.gentle { 2.0 * max } else { max };
            if self.average >= ceiling {
                self.probability = 1.0;
                self.restart_count();
                verdict = Verdict::Drop(Reason::Forced);
            } else if self.above {
                verdict = self.draw(arrival, (min, max), random);
            } else {
                self.above = true;
                self.count = 1.0;
                self.count_bytes = arrival.size.0 as f64;
            }
        } else {
            self.above = false;
        }
        if length >= self.limit {
            self.restart_count();
            verdict = Verdict::Drop(Reason::Overflow);
        }
        verdict
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.probability);
        out("average", self.average);
        out("max_p", self.max_p);
    }
}
