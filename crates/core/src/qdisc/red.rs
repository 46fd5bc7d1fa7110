//! RED: random early detection.
//! ## What it does
//! Maintains a moving average of the queue. Below `min_threshold` RED accepts every packet. Above it, RED drops or marks arriving packets
//! with a probability that rises to `max_p` at `max_threshold`, and with `gentle` on to 1 at twice that. `wait` spaces the drops evenly.
//! `adaptive` adjusts `max_p` slowly to hold the average midway between the thresholds.
//! ## References
//! Floyd & Jacobson, *Random early detection gateways for congestion avoidance*, 1993; Floyd, *Recommendation on using the "gentle_"
//! variant of RED*, 2000; Floyd, Gummadi & Shenker, *Adaptive RED*, 2001; RFC 3168 §7; ns-2.35, `RED`, whose defaults are used.
//! ## Differs from the document
//! As in ns-2: Early drops need more than one byte in the queue, or more than one packet in mode `packets`. The first packet after the
//! average has risen to `min_threshold` is accepted. Packets are marked only if the probability is below `mark_below`; otherwise they are
//! dropped. At probability 1, drops are still spaced and scaled by packet size, so a packet much smaller than `mean_packet` may pass. With
//! `adaptive` and `gentle`, the upper line starts at the initial `max_p`.
//! ## Parameters
//! `limit`: capacity; in mode `bytes` a packet counts as `mean_packet` bytes; 50 packets.
//! `mode`: unit of queue, average and drop spacing, bytes or packets; bytes.
//! `mean_packet`: average packet size, headers included; 500 B.
//! `min_threshold`: average at which drops begin. `auto` is half of the bytes that the link sends in `target_delay`, at least 5 packets and
//! at most a third of a given `max_threshold`.
//! `max_threshold`: average at which the probability is `max_p`; `auto` is three times `min_threshold`.
//! `target_delay`: queueing delay for which `auto` sets the thresholds; 5 ms.
//! `weight`: weight of a new sample in the average; `auto` is 1 − exp(−1/(10·T·C)). T is three times the link's propagation and
//! transmission delay, at least 100 ms; C is the link rate in packets per second.
//! `max_p`: probability at `max_threshold`; 10 % (ns-2: `linterm_` 10).
//! `gentle`: raises the probability from `max_p` to 1 between `max_threshold` and twice that, instead of jumping to 1; true.
//! `wait`: lets at least 1/p packets pass between two drops; true.
//! `ecn`: marks packets that support ECN instead of dropping them; true. In ns-2, `setbit_` is false and all are dropped.
//! `mark_below`: probability below which packets are marked; 10 % (ns-2: `mark_p_`).
//! `adaptive`: adapts `max_p`; false.
//! `interval`: time between two steps of `max_p`; 0.5 s.
//! `increase`: largest upward step; 1 %.
//! `decrease`: factor of a downward step; 0.9.
//! `top`: `max_p` at which upward steps end; 50 %.
//! `bottom`: `max_p` at which downward steps end; `auto` is 1/W, at most 1 %. W is the number of 1000 B packets that the link sends in 100
//! ms.

use crate::entry::{Entry, Quantity, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Admission, Arrival, Backlog, Discipline, Outlet, Reason, Verdict};
use crate::qdisc::params::{ECN, Measure, flag, mean_packet, mode};
use crate::rng::Generator;
use crate::units::{Instant, Limit};

/// A capacity or threshold.
const LIMIT: Kind = Kind::ByteLimit { min: 1.0, max: 1e15 };

/// RED's quantities in traces.
pub(crate) const QUANTITIES: [Quantity; 3] = [
    quantity(
        "probability",
        "",
        "probability that the average queue gives, before drops are spaced: with `wait` about two thirds of it are dropped or marked, \
         without about twice it",
    ),
    quantity("average", "bytes or packets, by `mode`", "moving average of the queue"),
    quantity("max_p", "", "probability at `max_threshold`, adjusted by `adaptive`"),
];

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "red",
    summary: "random early detection: drops with a probability that rises with the average queue",
    reference: "Floyd & Jacobson 1993; ns-2.35 RED",
    params: &PARAMS,
    quantities: &QUANTITIES,
    build: |params| Red::new(params).map(Discipline::fifo),
};

/// RED's parameters; disciplines built on RED share them.
pub(super) const PARAMS: [Param; 18] = [
    Param { name: "limit", kind: LIMIT, default: Default::Limit(Limit::Packets(50)), doc: "capacity" },
    mode("unit of queue, average and drop spacing"),
    mean_packet(500.0, "average packet size, headers included"),
    Param { name: "min_threshold", kind: LIMIT, default: Default::Auto, doc: "average at which drops begin; auto: from target_delay" },
    Param {
        name: "max_threshold",
        kind: LIMIT,
        default: Default::Auto,
        doc: "average at which the probability is max_p; auto: three times min_threshold",
    },
    Param {
        name: "target_delay",
        kind: Kind::Duration { min: 0.0, max: 1e3 },
        default: Default::Number(0.005),
        doc: "queueing delay for which auto sets the thresholds",
    },
    Param {
        name: "weight",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        default: Default::Auto,
        doc: "weight of a new sample in the average; auto: from the link",
    },
    Param {
        name: "max_p",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(0.1),
        doc: "probability at max_threshold",
    },
    flag("gentle", true, "raises the probability on to 1 at twice max_threshold"),
    flag("wait", true, "lets at least 1/p packets pass between two drops"),
    ECN,
    Param {
        name: "mark_below",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(0.1),
        doc: "probability below which packets are marked",
    },
    flag("adaptive", false, "adapts max_p (Adaptive RED)"),
    Param {
        name: "interval",
        kind: Kind::Duration { min: 0.0, max: 1e6 },
        default: Default::Number(0.5),
        doc: "time between two steps of max_p",
    },
    Param {
        name: "increase",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(0.01),
        doc: "largest upward step of max_p",
    },
    Param {
        name: "decrease",
        kind: Kind::Number { min: 0.0, max: 1.0 },
        default: Default::Number(0.9),
        doc: "factor of a downward step of max_p",
    },
    Param {
        name: "top",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Number(0.5),
        doc: "max_p at which upward steps end",
    },
    Param {
        name: "bottom",
        kind: Kind::Probability { min: 0.0, max: 1.0 },
        default: Default::Auto,
        doc: "max_p at which downward steps end; auto: from the link",
    },
];

/// Settings and state of Adaptive RED.
#[derive(Clone, Copy, Debug)]
struct Adaptation {
    interval: f64,
    increase: f64,
    decrease: f64,
    top: f64,
    bottom: Option<f64>,
    last: f64,
}

/// The probability as a function of the average.
#[derive(Clone, Copy, Debug)]
struct Curve {
    max_p: f64,
    /// The initial `max_p`, at which the upper line starts.
    first_max_p: f64,
    gentle: bool,
    wait: bool,
}

impl Curve {
    /// The probability at an `average` of at least `min`.
    fn base(&self, average: f64, min: f64, max: f64) -> f64 {
        if average < max {
            self.max_p * (average - min) / (max - min)
        } else if self.gentle && average < 2.0 * max {
            (1.0 - self.first_max_p) / max * average + 2.0 * self.first_max_p - 1.0
        } else {
            1.0
        }
    }

    /// The same probability, `count` packets after the last drop.
    fn spaced(&self, base: f64, count: f64) -> f64 {
        let spread = count * base;
        // Floyd & Jacobson §4: 1/(1/p − count) gives uniform gaps between drops; `wait` makes the gaps at least 1/p.
        match spread {
            _ if self.wait && spread < 1.0 => 0.0,
            _ if self.wait && spread < 2.0 => base / (2.0 - spread),
            _ if !self.wait && spread < 1.0 => base / (1.0 - spread),
            _ => 1.0,
        }
    }
}

/// A RED queue.
#[derive(Debug)]
pub struct Red {
    measure: Measure,
    /// Capacity in bytes or packets, like the thresholds.
    limit: f64,
    min: Option<f64>,
    max: Option<f64>,
    target_delay: f64,
    weight: Option<f64>,
    curve: Curve,
    ecn: bool,
    mark_below: f64,
    adaptation: Option<Adaptation>,
    /// Link rate in packets per second.
    packets_per_second: f64,
    average: f64,
    /// Packets since the last drop, as `count_bytes` counts bytes.
    count: f64,
    count_bytes: f64,
    /// Whether the previous packet found the average above the threshold.
    above: bool,
    probability: f64,
}

impl Red {
    pub(super) fn new(params: &Params) -> Result<Self, String> {
        let measure = Measure::new(params);
        let amount = |limit| measure.limit(limit);
        let min = params.limit_or_auto("min_threshold").map(amount);
        let max = params.limit_or_auto("max_threshold").map(amount);
        if let (Some(min), Some(max)) = (min, max)
            && min >= max
        {
            return Err(format!("min_threshold ({min}) must be below max_threshold ({max}), both in {}", params.word("mode")));
        }
        if params.number_or_auto("bottom").is_some_and(|bottom| bottom > params.number("top")) {
            return Err("bottom must not be above top".to_owned());
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
            measure,
            limit: amount(params.limit("limit")),
            min,
            max,
            target_delay: params.number("target_delay"),
            weight: params.number_or_auto("weight"),
            curve: Curve {
                max_p: params.number("max_p"),
                first_max_p: params.number("max_p"),
                gentle: params.flag("gentle"),
                wait: params.flag("wait"),
            },
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
        let unit = self.measure.unit().unwrap_or(1.0);
        // The average lies between the thresholds, 1 and 3 halves of the target: their middle is the target delay's number of packets.
        let auto = (self.target_delay * self.packets_per_second / 2.0).max(5.0) * unit;
        let min = self.min.unwrap_or_else(|| self.max.map_or(auto, |max| auto.min(max / 3.0)));
        (min, self.max.unwrap_or(3.0 * min))
    }

    /// Updates the average with a queue of `length`, after one empty sample for each packet that the link could have sent since
    /// `idle_since`.
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
        if self.average < min + part && self.curve.max_p > adaptation.bottom.unwrap_or(0.0) {
            self.curve.max_p *= adaptation.decrease;
            adaptation.last = now;
        } else if self.average > max - part && self.curve.max_p < adaptation.top {
            self.curve.max_p += adaptation.increase.min(0.25 * self.curve.max_p);
            adaptation.last = now;
        }
    }

    /// The probability for a packet of `size`; it grows with the packets since the last drop.
    fn packet_probability(&self, base: f64, size: f64) -> f64 {
        let count = self.measure.unit().map_or(self.count, |unit| libm::floor(self.count_bytes / unit));
        let probability = self.curve.spaced(base, count);
        match self.measure.unit() {
            Some(unit) if probability < 1.0 => (probability * size / unit).min(1.0),
            _ => probability,
        }
    }

    /// Decides at random on a packet that finds the average above the threshold.
    fn draw(&mut self, arrival: &Arrival, (min, max): (f64, f64), random: &mut Generator) -> Verdict {
        let base = self.curve.base(self.average, min, max);
        self.probability = base;
        let probability = self.packet_probability(base, arrival.size.0 as f64);
        if random.uniform() > probability {
            return Verdict::Accept;
        }
        self.restart_count();
        let reason = if base < 1.0 { Reason::Early } else { Reason::Forced };
        arrival.signal(self.ecn && base < self.mark_below, reason)
    }

    fn restart_count(&mut self) {
        self.count = 0.0;
        self.count_bytes = 0.0;
    }
}

impl Admission for Red {
    fn attach(&mut self, outlet: &Outlet) {
        self.packets_per_second = outlet.rate.as_bits_per_sec() as f64 / (8.0 * self.measure.mean_packet);
        let round_trip = (3.0 * (outlet.delay.as_secs_f64() + 1.0 / self.packets_per_second)).max(0.1);
        let weight = 1.0 - libm::exp(-1.0 / (10.0 * round_trip * self.packets_per_second));
        self.weight.get_or_insert(weight);
        if let Some(adaptation) = &mut self.adaptation {
            // As in ns-2: W counts packets of 1000 B, whatever `mean_packet`.
            adaptation.bottom.get_or_insert((8.0 * 1000.0 / 0.1 / outlet.rate.as_bits_per_sec() as f64).min(0.01));
        }
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        self.observe(arrival, backlog);
        self.decide(arrival, backlog, random)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.probability);
        out("average", self.average);
        out("max_p", self.curve.max_p);
    }
}

impl Red {
    /// Updates the average for an arriving packet.
    pub(super) fn observe(&mut self, arrival: &Arrival, backlog: Backlog) {
        self.sample(self.measure.backlog(backlog), arrival.now, arrival.idle_since);
        self.adapt(arrival.now.as_secs_f64());
        self.probability = 0.0;
    }

    /// Whether the average is at or above the lower threshold.
    pub(super) fn is_congested(&self) -> bool {
        self.average >= self.thresholds().0
    }

    /// Decides on the packet that has been observed.
    pub(super) fn decide(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        let length = self.measure.backlog(backlog);
        self.count += 1.0;
        self.count_bytes += arrival.size.0 as f64;
        let (min, max) = self.thresholds();
        let mut verdict = Verdict::Accept;
        if self.average >= min && length > 1.0 {
            if self.above {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::Ecn;
    use crate::testing::{arrival, assert_close};
    use crate::units::{Duration, Rate};

    /// A queue before a link of `kbits` kbit/s and 40 ms.
    fn attached(kbits: u64, set: &[(&str, Value)]) -> Red {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        let mut red = Red::new(&params).unwrap();
        red.attach(&Outlet { rate: Rate::from_bits_per_sec(1000 * kbits).unwrap(), delay: Duration::from_millis(40) });
        red
    }

    /// A queue with thresholds of 2500 B and 7500 B and a constant `average`.
    fn steady(average: f64, set: &[(&str, Value)]) -> Red {
        Red { average, weight: Some(0.0), ..attached(1500, set) }
    }

    /// The verdict on a packet of 500 B behind a backlog of `bytes`.
    fn admit(red: &mut Red, ecn: Ecn, bytes: u64) -> Verdict {
        let backlog = Backlog { packets: bytes.div_ceil(500), bytes };
        red.admit(&Arrival { ecn, ..arrival(0, 500) }, backlog, &mut Generator::derived(1, ""))
    }

    #[test]
    fn auto_follows_the_link() {
        // 1.5 Mbit/s are 375 packets of 500 B per second: T = 3·(40 ms + 1/375 s) = 128 ms, and w = 1 − exp(−1/480).
        let red = attached(1500, &[("adaptive", Value::Bool(true))]);
        assert_close(red.weight.unwrap(), 0.002_081_164_7, 1e-12);
        // 5 ms are fewer than ten packets, so the minimum of five applies; 100 ms are fewer than a hundred packets of 1000 B.
        assert_eq!(red.thresholds(), (2500.0, 7500.0));
        assert_close(red.adaptation.unwrap().bottom.unwrap(), 0.01, 0.0);
        // 45 Mbit/s are 11250 packets per second: half of 5 ms are 28.125 packets.
        let packets = [("mode", Value::Word("packets".to_owned())), ("adaptive", Value::Bool(true))];
        assert_eq!(attached(45_000, &[]).thresholds(), (14_062.5, 42_187.5));
        assert_eq!(attached(45_000, &packets).thresholds(), (28.125, 84.375));
        assert_close(attached(45_000, &packets).adaptation.unwrap().bottom.unwrap(), 1.0 / 562.5, 1e-15);
        let given = |name| attached(45_000, &[(name, Value::Limit(Limit::Packets(30)))]).thresholds();
        assert_eq!((given("min_threshold"), given("max_threshold")), ((15_000.0, 45_000.0), (5000.0, 15_000.0)));
    }

    #[test]
    fn the_probability_rises_in_two_lines_or_jumps() {
        let curve = Curve { max_p: 0.1, first_max_p: 0.1, gentle: true, wait: true };
        for (average, expected) in [(2500.0, 0.0), (5000.0, 0.05), (7500.0, 0.1), (11_250.0, 0.55), (15_000.0, 1.0), (16_000.0, 1.0)] {
            assert_close(curve.base(average, 2500.0, 7500.0), expected, 1e-12);
        }
        let steep = Curve { gentle: false, ..curve };
        assert_close(steep.base(7499.0, 2500.0, 7500.0), 0.099_98, 1e-12);
        assert_close(steep.base(7500.0, 2500.0, 7500.0), 1.0, 0.0);
        // The upper line starts at the initial max_p, however far max_p has moved.
        let adapted = Curve { max_p: 0.02, ..curve };
        assert_close(adapted.base(5000.0, 2500.0, 7500.0), 0.01, 1e-12);
        assert_close(adapted.base(11_250.0, 2500.0, 7500.0), 0.55, 1e-12);
    }

    #[test]
    fn drops_with_probability_one_are_still_spaced_and_scaled() {
        let (accept, forced) = (Verdict::Accept, Verdict::Drop(Reason::Forced));
        for (average, set) in [(15_000.0, vec![]), (7500.0, vec![("gentle", Value::Bool(false))])] {
            let mut red = steady(average, &set);
            let verdicts = [(); 3].map(|()| admit(&mut red, Ecn::Ect0, 501));
            assert_eq!(verdicts, [accept, forced, forced], "the first packet is accepted, and none is marked");
        }
        // Two packets of 500 B are less than one of 1500 B, so the count is still 0.
        let mut red = steady(45_000.0, &[("mean_packet", Value::Number(1500.0))]);
        let verdicts = [(); 5].map(|()| admit(&mut red, Ecn::NotEct, 1501));
        assert_eq!(verdicts, [accept, accept, forced, accept, accept]);
    }

    #[test]
    fn drops_are_spaced() {
        let waiting = Curve { max_p: 0.1, first_max_p: 0.1, gentle: true, wait: true };
        let hurried = Curve { wait: false, ..waiting };
        for (count, waits, hurries) in [(10.0, 0.0, 0.1), (19.0, 0.0, 1.0), (20.0, 0.05, 1.0), (30.0, 0.1, 1.0), (40.0, 1.0, 1.0)] {
            assert_close(waiting.spaced(0.05, count), waits, 1e-12);
            assert_close(hurried.spaced(0.05, count), hurries, 1e-12);
        }
        // 15 249 B count as thirty packets of 500 B. A packet of half that size has half the probability, unless the drop is certain.
        let red = Red { count: 7.0, count_bytes: 15_249.0, ..attached(1500, &[]) };
        assert_close(red.packet_probability(0.05, 250.0), 0.05, 1e-12);
        assert_close(red.packet_probability(0.5, 250.0), 1.0, 0.0);
        let packets = attached(1500, &[("mode", Value::Word("packets".to_owned()))]);
        assert_close(Red { count: 30.0, ..packets }.packet_probability(0.05, 250.0), 0.1, 1e-12);
    }

    #[test]
    fn the_average_decays_when_idle() {
        let mut red = Red { average: 4000.0, weight: Some(0.5), ..attached(1500, &[]) };
        // The link could have sent 3.75 packets in 10 ms.
        red.sample(1000.0, Instant::from_nanos(10_000_000), Some(Instant::ZERO));
        assert_close(red.average, 0.5 * (4000.0 / 8.0) + 0.5 * 1000.0, 1e-12);
        red.sample(1000.0, Instant::from_nanos(20_000_000), None);
        assert_close(red.average, 0.5 * 750.0 + 0.5 * 1000.0, 1e-12);
    }

    #[test]
    fn the_first_packet_above_the_threshold_is_accepted() {
        let (early, accept) = (Verdict::Drop(Reason::Early), Verdict::Accept);
        let mut red = steady(14_999.0, &[]);
        // Almost certain drops hit every second packet: 1/p is a little more than one.
        assert_eq!([(); 5].map(|()| admit(&mut red, Ecn::NotEct, 1000)), [accept, early, accept, early, accept]);
        assert_eq!(admit(&mut red, Ecn::NotEct, 1), accept, "one byte does not count as a queue");
        assert_eq!([(); 2].map(|()| admit(&mut red, Ecn::NotEct, 1000)), [accept, early]);
        assert_eq!([24_999, 25_000].map(|bytes| admit(&mut steady(0.0, &[]), Ecn::Ect0, bytes)), [accept, Verdict::Drop(Reason::Overflow)]);
    }

    #[test]
    fn marks_are_for_small_probabilities() {
        // Midway between the thresholds (5 %), and long enough after the last drop that the next one is certain.
        let verdict = |ecn, set: &[(&str, Value)]| admit(&mut Red { above: true, count_bytes: 1e6, ..steady(5000.0, set) }, ecn, 1000);
        assert_eq!(verdict(Ecn::Ect0, &[("mark_below", Value::Number(0.051))]), Verdict::Mark(Reason::Early));
        assert_eq!(verdict(Ecn::Ect0, &[("mark_below", Value::Number(0.05))]), Verdict::Drop(Reason::Early));
        assert_eq!(verdict(Ecn::Ect0, &[("ecn", Value::Bool(false))]), Verdict::Drop(Reason::Early));
        assert_eq!(verdict(Ecn::NotEct, &[]), Verdict::Drop(Reason::Early));
    }

    #[test]
    fn adaptive_red_steers_the_average_to_the_middle() {
        // max_p in thousandths.
        let stepped = |average, max_p, now: &[f64]| {
            let mut red = steady(average, &[("adaptive", Value::Bool(true)), ("max_p", Value::Number(max_p))]);
            for now in now {
                red.adapt(*now);
            }
            (1000.0 * red.curve.max_p).round() as u64
        };
        // Nothing changes from 2500 + 0.4·5000 = 4500 to 5500.
        assert_eq!([4499.0, 4500.0, 5500.0, 5501.0].map(|average| stepped(average, 0.1, &[0.6])), [90, 100, 100, 110]);
        // An upward step is at most a quarter of max_p and ends at 50 %; downward steps end at 1 %.
        assert_eq!([0.02, 0.49, 0.5].map(|max_p| stepped(5501.0, max_p, &[0.6])), [25, 500, 500]);
        assert_eq!([0.01, 0.02].map(|max_p| stepped(4499.0, max_p, &[0.6])), [10, 18]);
        // Two steps are more than half a second apart.
        assert_eq!(stepped(5501.0, 0.1, &[0.5]), 100);
        assert_eq!(stepped(5501.0, 0.1, &[0.6, 1.1, 1.2]), 120);
    }
}
