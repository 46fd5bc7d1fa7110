//! `DualPI2`: two coupled queues, one for scalable senders with a shallow delay, one for all others.
//! ## What it does
//! Packets with ECT(1) or CE wait in the queue L, all others in C. Every `t_update` a proportional integral controller moves the base
//! probability p' by the delay's distance from `target` and by its change; the delay is that of the longer-waiting head of both queues. C
//! drops, or marks, with p'²; L marks with `coupling`·p', or where its own native AQM does: so a scalable sender in L and a classic one in C
//! have about equal windows. A weighted scheduler prefers L without starving C.
//! ## References
//! RFC 9332 (De Schepper, Briscoe & White, *Dual-queue coupled active queue management (AQM) for low latency, low loss, and scalable
//! throughput (L4S)*, 2023), appendix A; RFC 9331 §5; tc-dualpi2(8).
//! ## Differs from the document
//! `coupling`, `target`, the gains, the ramp, `limit` and the responses to overload are those of the RFC's appendix A.2; its default of
//! `tshift` and the use of both queues' delays by the controller were not confirmed. The appendix leaves the scheduler open: `wrr` gives C
//! `classic_share` of the bytes while both queues wait; `time_shifted_fifo` serves L unless the head of C has waited `tshift` longer.
//!
//! The `variant` `linux` reproduces what Linux 7.2 does, as far as the chance of single packets allows. Its defaults differ (see below). The
//! native AQM is a step that marks packets that waited longer than `step`. It decides by random numbers, where the RFC adds up probabilities,
//! and draws two for C. It touches no packet while less than two `mtu` wait. The scheduler's credit counts a packet only if the other queue
//! waits, and starts anew when both are empty. There is no `min_qlen_step`, no limit of memory besides `limit`, and no offload (GSO).
//! ## Parameters
//! `limit`: capacity of both queues, without the arriving packet; 250 ms at the link's rate; linux: 10 000 packets.
//! `target`: target delay of C; 15 ms.
//! `rtt_max`: longest expected round-trip time, from which the gains follow; 100 ms.
//! `t_update`: time between two controller steps; min(`target`, `rtt_max`/3); linux: 16 ms.
//! `alpha`: gain of the distance from `target`, per second of delay; 0.1·`t_update`/`rtt_max`²; linux: 41/256.
//! `beta`: gain of the delay's change, per second of delay; 0.3/`rtt_max`; linux: 819/256.
//! `coupling`: ratio of L's coupled probability to p' (k in the RFC); 2.
//! `native`: L's own AQM: `ramp`, `step`, or the one of the variant (`by_variant`); ramp; linux: step.
//! `ramp_min`: delay at which the ramp begins, at least the transmission time of one `mtu`; 800 µs.
//! `ramp_range`: delay from there to a certain mark; 400 µs.
//! `step`: delay above which the step marks; 1 ms.
//! `step_packets`: packets left in L above which the step marks instead; none.
//! `scheduler`: `wrr` or `time_shifted_fifo`; wrr.
//! `classic_share`: share of C in `wrr`; 1/16; linux: 10 %.
//! `tshift`: advantage of L in `time_shifted_fifo`; 50 ms.
//! `overload`: what happens when the coupled probability reaches 1: `drop` drops from both queues with p'², `overflow` marks all of L and
//! lets the queues fill; drop.
//! `drop_early`: decides at arrival instead of departure, except for the native AQM; false.
//! `l4s`: packets that wait in L: those with `ect1`, and CE, or `any` that supports ECN; ect1.
//! `mtu`: largest packet; 1500 B.
//! `variant`: `rfc`, or `linux`; rfc.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Ecn, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::qdisc::params::{VARIANT, flag};
use crate::qdisc::waiting::Waiting;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "dualpi2",
    summary: "two coupled queues: a shallow one for scalable senders (L4S), one for all others",
    reference: "RFC 9332",
    params: &[
        Param {
            name: "limit",
            kind: Kind::Limit { min: 1.0, max: 1e15 },
            default: Default::Auto,
            doc: "capacity of both queues without the arriving packet; auto: 250 ms at the link's rate, linux: 10 000 packets",
        },
        duration("target", Default::Number(0.015), "target delay of the classic queue"),
        Param {
            name: "rtt_max",
            kind: Kind::Duration { min: 1e-4, max: 1e3 },
            default: Default::Number(0.1),
            doc: "longest expected round-trip time, from which the gains follow",
        },
        Param {
            name: "t_update",
            kind: Kind::Duration { min: 1e-4, max: 1e3 },
            default: Default::Auto,
            doc: "time between two controller steps; auto: the smaller of target and rtt_max/3, linux: 16 ms",
        },
        gain("alpha", "gain of the distance from target, per second of delay; auto: 0.1·t_update/rtt_max², linux: 41/256"),
        gain("beta", "gain of the delay's change, per second of delay; auto: 0.3/rtt_max, linux: 819/256"),
        Param {
            name: "coupling",
            kind: Kind::Number { min: 0.0, max: 255.0 },
            default: Default::Number(2.0),
            doc: "ratio of the shallow queue's coupled probability to the base probability",
        },
        Param {
            name: "native",
            kind: Kind::Word(&["by_variant", "ramp", "step"]),
            default: Default::Word("by_variant"),
            doc: "AQM of the shallow queue itself; by_variant: ramp, linux: step",
        },
        duration("ramp_min", Default::Number(8e-4), "delay at which the ramp begins, at least the transmission time of one mtu"),
        duration("ramp_range", Default::Number(4e-4), "delay from there to a certain mark"),
        duration("step", Default::Number(0.001), "delay above which the step marks"),
        Param {
            name: "step_packets",
            kind: Kind::Integer { min: 0.0, max: 1e9 },
            default: Default::Auto,
            doc: "packets left in the shallow queue above which the step marks; auto: step decides",
        },
        Param {
            name: "scheduler",
            kind: Kind::Word(&["wrr", "time_shifted_fifo"]),
            default: Default::Word("wrr"),
            doc: "weighted round robin, or the head that has waited longest after an advantage of tshift",
        },
        Param {
            name: "classic_share",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Auto,
            doc: "share of the classic queue in wrr; auto: 1/16, linux: 10 %",
        },
        duration("tshift", Default::Number(0.05), "advantage of the shallow queue in time_shifted_fifo"),
        Param {
            name: "overload",
            kind: Kind::Word(&["drop", "overflow"]),
            default: Default::Word("drop"),
            doc: "when the coupled probability reaches 1: drop from both queues, or mark all and let the queues fill",
        },
        flag("drop_early", false, "decides at arrival instead of departure, except for the native AQM"),
        Param {
            name: "l4s",
            kind: Kind::Word(&["ect1", "any"]),
            default: Default::Word("ect1"),
            doc: "packets of the shallow queue: those with ECT(1) or CE, or any that supports ECN",
        },
        Param { name: "mtu", kind: Kind::Size { min: 1.0, max: 65_535.0 }, default: Default::Number(1500.0), doc: "largest packet" },
        VARIANT,
    ],
    quantities: &[
        quantity("probability", "", "probability that a packet of the classic queue is dropped or marked"),
        quantity("coupled", "", "probability by which coupling marks a packet of the shallow queue"),
        quantity("qdelay", "s", "queueing delay at the last controller step"),
        quantity("shallow", "packets", "packets in the shallow queue"),
    ],
    build: |params| Ok(Discipline::scheduled(Dualpi2::new(params))),
};

const fn duration(name: &'static str, default: Default, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 0.0, max: 1e3 }, default, doc }
}

const fn gain(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min: 0.0, max: 1e3 }, default: Default::Auto, doc }
}

/// The AQM of L itself.
#[derive(Clone, Copy, Debug)]
enum Native {
    /// From no mark at `min` to a certain one `range` later, in seconds.
    Ramp { min: f64, range: f64 },
    /// A mark above this delay.
    Step(Duration),
    /// A mark if more packets than these remain.
    Packets(u64),
}

/// How C gets its turns.
#[derive(Clone, Copy, Debug)]
enum Turns {
    /// By bytes: C's share, and the credit that L's packets give it.
    Weighted { share: f64, credit: f64 },
    /// By waiting time, after this advantage of L.
    Shifted(Duration),
}

/// One of the two queues.
#[derive(Debug, Default)]
struct Half {
    waiting: Waiting,
    /// Sum of the probabilities since the last signal.
    sum: f64,
}

impl Half {
    /// RFC 9332, `recur`: true with a frequency of `likelihood`.
    fn recur(&mut self, likelihood: f64) -> bool {
        self.sum += likelihood;
        let fires = self.sum > 1.0;
        if fires {
            self.sum -= 1.0;
        }
        fires
    }
}

/// A `DualPI2` queue.
#[derive(Debug)]
pub struct Dualpi2 {
    /// `None`: 250 ms at the link's rate, which `attach` gives.
    limit: Option<Limit>,
    target: f64,
    t_update: Duration,
    alpha: f64,
    beta: f64,
    coupling: f64,
    native: Native,
    turns: Turns,
    drops_on_overload: bool,
    drop_early: bool,
    /// Whether packets wait in L, by codepoint.
    shallow: [bool; 4],
    mtu: u64,
    linux: bool,
    l: Half,
    c: Half,
    /// The base probability p'.
    base: f64,
    /// Delay at the last step, in seconds.
    qdelay: f64,
    /// Time of the next step, set by the previous one.
    next: Moment,
}

impl Dualpi2 {
    fn new(params: &Params) -> Self {
        let linux = params.word("variant") == "linux";
        let or = |name, rfc, by_linux| params.number_or_auto(name).unwrap_or(if linux { by_linux } else { rfc });
        let seconds = |name| Duration::from_secs_f64(params.number(name));
        let (target, rtt_max, mtu) = (params.number("target"), params.number("rtt_max"), params.number("mtu") as u64);
        let t_update = or("t_update", target.min(rtt_max / 3.0).max(1e-4), 0.016);
        let ramp = match params.word("native") {
            "by_variant" => !linux,
            native => native == "ramp",
        };
        let native = if ramp {
            Native::Ramp { min: params.number("ramp_min"), range: params.number("ramp_range") }
        } else {
            params.number_or_auto("step_packets").map_or(Native::Step(seconds("step")), |packets| Native::Packets(packets as u64))
        };
        let mut queue = Self {
            limit: params.limit_or_auto("limit").or(linux.then_some(Limit::Packets(10_000))),
            target,
            t_update: Duration::from_secs_f64(t_update),
            alpha: or("alpha", 0.1 * t_update / (rtt_max * rtt_max), 41.0 / 256.0),
            beta: or("beta", 0.3 / rtt_max, 819.0 / 256.0),
            coupling: params.number("coupling"),
            native,
            turns: match params.word("scheduler") {
                "wrr" => Turns::Weighted { share: or("classic_share", 1.0 / 16.0, 0.1), credit: 0.0 },
                _ => Turns::Shifted(seconds("tshift")),
            },
            drops_on_overload: params.word("overload") == "drop",
            drop_early: params.flag("drop_early"),
            shallow: [false, true, params.word("l4s") == "any", true],
            mtu,
            linux,
            l: Half::default(),
            c: Half::default(),
            base: 0.0,
            qdelay: 0.0,
            next: Moment { at: Instant::ZERO + Duration::from_secs_f64(t_update), since: Instant::ZERO },
        };
        queue.restart_turns();
        queue
    }

    /// The first packets of C wait for some of L.
    fn restart_turns(&mut self) {
        if let Turns::Weighted { share, credit } = &mut self.turns {
            *credit = (2.0 * *share - 1.0) * self.mtu as f64;
        }
    }

    /// The coupled probability, above 1 in overload.
    fn coupled(&self) -> f64 {
        self.coupling * self.base
    }

    /// RFC 9332, `dualpi2_update`, at each time that is due.
    fn update_until(&mut self, now: Moment) {
        while self.next <= now {
            let at = self.next.at;
            let qdelay = self.l.waiting.delay(at).max(self.c.waiting.delay(at)).as_secs_f64();
            self.base += self.alpha * (qdelay - self.target) + self.beta * (qdelay - self.qdelay);
            let most = if self.drops_on_overload { 1.0 } else { (1.0 / self.coupling).min(1.0) };
            self.base = self.base.clamp(0.0, most);
            self.qdelay = qdelay;
            self.next = Moment { at: at + self.t_update, since: at };
        }
    }

    /// Whether L has the turn; `None` if both queues are empty.
    fn choose_l(&self, now: Instant) -> Option<bool> {
        match (self.l.waiting.is_empty(), self.c.waiting.is_empty()) {
            (true, true) => None,
            (false, true) => Some(true),
            (true, false) => Some(false),
            (false, false) => Some(match self.turns {
                Turns::Weighted { credit, .. } => credit <= 0.0,
                Turns::Shifted(tshift) => self.l.waiting.delay(now) + tshift >= self.c.waiting.delay(now),
            }),
        }
    }

    /// Counts a packet that leaves while the other queue waits.
    fn count_turn(&mut self, is_l: bool, contested: bool, size: Bytes) {
        if let Turns::Weighted { share, credit } = &mut self.turns
            && contested
        {
            *credit += size.0 as f64 * if is_l { *share } else { *share - 1.0 };
        }
    }

    /// The native probability of a mark for a packet of L that has waited for `sojourn`.
    fn native(&self, sojourn: Duration) -> f64 {
        let certain = match self.native {
            Native::Ramp { min, range } => {
                let excess = sojourn.as_secs_f64() - min;
                return if excess >= range { 1.0 } else { (excess / range).max(0.0) };
            }
            // One nanosecond of tolerance: the sojourn time is the difference of two rounded sums.
            Native::Step(step) => sojourn > step + Duration::NANOSECOND,
            Native::Packets(packets) => self.l.waiting.backlog().packets > packets,
        };
        f64::from(u8::from(certain))
    }

    /// RFC 9332, `dualpi2_dequeue`: the fate of a packet of C or, with its `native` probability, of L.
    fn fate(&mut self, is_l: bool, ecn: Ecn, native: f64, random: &mut Generator) -> Fate {
        if self.linux {
            return self.linux_fate(is_l, ecn, native, random);
        }
        let (coupled, classic) = (self.coupled(), self.base * self.base);
        if !is_l {
            let overload = self.drops_on_overload && coupled >= 1.0;
            return match self.c.recur(classic) {
                false => Fate::Pass,
                true if overload || ecn == Ecn::NotEct => Fate::Drop,
                true => Fate::Mark(Reason::Early),
            };
        }
        if coupled >= 1.0 && self.drops_on_overload && self.l.recur(classic) {
            return Fate::Drop;
        }
        let reason = if native > coupled { Reason::Sojourn } else { Reason::Early };
        if self.l.recur(native.max(coupled).min(1.0)) { Fate::Mark(reason) } else { Fate::Pass }
    }

    fn linux_fate(&mut self, is_l: bool, ecn: Ecn, native: f64, random: &mut Generator) -> Fate {
        let (coupled, base) = (self.coupled(), self.base);
        let overload = coupled > 1.0;
        let squared = |random: &mut Generator| random.uniform() < base && random.uniform() < base;
        let mut marks = false;
        if self.backlog().bytes >= 2 * self.mtu {
            if !is_l {
                return match squared(random) {
                    false => Fate::Pass,
                    true if overload || ecn == Ecn::NotEct => Fate::Drop,
                    true => Fate::Mark(Reason::Early),
                };
            }
            if overload && self.drops_on_overload && squared(random) {
                return Fate::Drop;
            }
            marks = overload || random.uniform() < coupled;
        }
        if marks { Fate::Mark(Reason::Early) } else { self.native_fate(native, random) }
    }

    /// The fate of a packet that coupling leaves alone, with its `native` probability of a mark.
    fn native_fate(&mut self, native: f64, random: &mut Generator) -> Fate {
        let marks = match native {
            0.0 => false,
            _ if !self.linux => self.l.recur(native),
            _ => native >= 1.0 || random.uniform() < native,
        };
        if marks { Fate::Mark(Reason::Sojourn) } else { Fate::Pass }
    }

    const fn is_l(&self, ecn: Ecn) -> bool {
        self.shallow[ecn as usize]
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Mark(Reason),
    Drop,
}

impl Fate {
    /// Reports the fate, and marks the packet. Returns whether the packet remains.
    fn befall(self, packet: &mut Packet, outcomes: &mut Outcomes) -> bool {
        match self {
            Self::Drop => outcomes.push((*packet, Outcome::Dropped(Reason::Early))),
            Self::Mark(reason) if packet.ecn != Ecn::Ce => {
                packet.ecn = Ecn::Ce;
                outcomes.push((*packet, Outcome::Marked(reason)));
            }
            Self::Mark(_) | Self::Pass => {}
        }
        self != Self::Drop
    }
}

impl Scheduler for Dualpi2 {
    fn attach(&mut self, outlet: &Outlet) {
        let Outlet { rate, .. } = *outlet;
        self.limit = self.limit.or(Some(Limit::Bytes(rate.bytes_in(Duration::from_millis(250)) as u64)));
        if let Native::Ramp { min, .. } = &mut self.native {
            *min = min.max(rate.transmission(Bytes(self.mtu)).as_secs_f64());
        }
    }

    fn enqueue(&mut self, now: Moment, mut packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.update_until(now);
        if self.limit.is_some_and(|limit| self.backlog().reaches(limit)) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        let is_l = self.is_l(packet.ecn);
        if self.drop_early && !self.fate(is_l, packet.ecn, 0.0, random).befall(&mut packet, outcomes) {
            return;
        }
        if is_l { &mut self.l } else { &mut self.c }.waiting.push(packet);
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.update_until(now);
        while let Some(is_l) = self.choose_l(now.at) {
            let (half, other) = if is_l { (&mut self.l, &self.c) } else { (&mut self.c, &self.l) };
            let contested = !other.waiting.is_empty();
            let Some(mut packet) = half.waiting.pop() else { break };
            let native = if is_l { self.native(now.at.since(packet.arrived)) } else { 0.0 };
            let fate = if self.drop_early { self.native_fate(native, random) } else { self.fate(is_l, packet.ecn, native, random) };
            if fate.befall(&mut packet, outcomes) {
                self.count_turn(is_l, contested, packet.size);
                return Dequeued::Send(packet);
            }
        }
        self.restart_turns();
        Dequeued::Empty
    }

    fn backlog(&self) -> Backlog {
        let (l, c) = (self.l.waiting.backlog(), self.c.waiting.backlog());
        Backlog { packets: l.packets + c.packets, bytes: l.bytes + c.bytes }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.base * self.base);
        out("coupled", self.coupled().min(1.0));
        out("qdelay", self.qdelay);
        out("shallow", self.l.waiting.backlog().packets as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{OUTLET, assert_close, packet};

    fn dualpi2(set: &[(&str, Value)]) -> Dualpi2 {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        let mut queue = Dualpi2::new(&params);
        queue.attach(&OUTLET);
        queue
    }

    fn word(name: &'static str, word: &str) -> (&'static str, Value) {
        (name, Value::Word(word.to_owned()))
    }

    fn at(micros: u64) -> Moment {
        Moment::now(Instant::from_nanos(1000 * micros))
    }

    /// A queue with the fates of its packets.
    struct Bench {
        queue: Dualpi2,
        random: Generator,
        outcomes: Outcomes,
    }

    impl Bench {
        fn new(set: &[(&str, Value)]) -> Self {
            Self { queue: dualpi2(set), random: Generator::derived(1, "dualpi2"), outcomes: vec![] }
        }

        fn arrive(&mut self, micros: u64, ecn: Ecn, size: u64) {
            let packet = Packet { ecn, arrived: at(micros).at, ..packet(0, 0, size) };
            self.queue.enqueue(at(micros), packet, &mut self.random, &mut self.outcomes);
        }

        fn leave(&mut self, micros: u64) -> Option<Packet> {
            self.queue.dequeue(at(micros), &mut self.random, &mut self.outcomes).packet()
        }
    }

    /// The share of packets with this fate, of many of a codepoint at the base probability of `queue`.
    fn share(queue: &mut Dualpi2, ecn: Ecn, fate: Fate) -> f64 {
        const COUNT: u32 = 100_000;
        let (is_l, mut random) = (queue.is_l(ecn), Generator::derived(2, "dualpi2"));
        let hits = (0..COUNT).filter(|_| queue.fate(is_l, ecn, 0.0, &mut random) == fate).count();
        hits as f64 / f64::from(COUNT)
    }

    /// A queue with a backlog beyond two packets, at a base probability.
    fn at_base(base: f64, set: &[(&str, Value)]) -> Dualpi2 {
        let mut queue = dualpi2(set);
        (0..4).for_each(|_| queue.c.waiting.push(packet(0, 0, 1500)));
        queue.base = base;
        queue
    }

    #[test]
    fn gains_and_period_follow_from_the_longest_round_trip() {
        let queue = dualpi2(&[]);
        // Appendix A.2: 15 ms; 0.1·15 ms/(100 ms)² = 0.15 Hz; 0.3/100 ms = 3 Hz; 250 ms of 1 B/µs.
        assert_close(queue.t_update.as_secs_f64(), 0.015, 1e-15);
        assert_close(queue.alpha, 0.15, 1e-12);
        assert_close(queue.beta, 3.0, 1e-12);
        assert_eq!(queue.limit, Some(Limit::Bytes(250_000)));
        let linux = dualpi2(&[word("variant", "linux")]);
        assert_eq!((linux.t_update.as_nanos(), linux.limit), (16_000_000, Some(Limit::Packets(10_000))));
        assert_close(linux.alpha, 0.16, 0.001);
        assert_close(linux.beta, 3.2, 0.001);
    }

    #[test]
    fn a_step_by_hand() {
        let mut bench = Bench::new(&[word("variant", "linux")]);
        // The head has waited for 25 ms at 32 ms, 10 ms more than the target, and for 9 ms at 16 ms.
        bench.arrive(7000, Ecn::NotEct, 1500);
        bench.queue.update_until(at(16_000));
        assert_close(bench.queue.base, 819.0 / 256.0 * 0.009 - 41.0 / 256.0 * 0.006, 1e-12);
        let before = bench.queue.base;
        bench.queue.update_until(at(32_000));
        assert_close(bench.queue.base - before, 41.0 / 256.0 * 0.010 + 819.0 / 256.0 * 0.016, 1e-12);
        assert_close(bench.queue.qdelay, 0.025, 1e-12);
    }

    #[test]
    fn classic_signals_are_the_square_of_half_the_scalable_ones() {
        // With k = 2, L → C: 10 % → 0.25 %, 20 % → 1 %, 50 % → 6.25 %, 100 % → 25 %.
        for variant in ["rfc", "linux"] {
            for (l, c) in [(0.1, 0.0025), (0.2, 0.01), (0.5, 0.0625), (0.999, 0.25)] {
                let mut queue = at_base(l / 2.0, &[word("variant", variant)]);
                let noise = |p: f64| if variant == "rfc" { 2e-5 } else { 4.0 * (p * (1.0 - p) / 1e5).sqrt() };
                let mark = Fate::Mark(Reason::Early);
                assert_close(share(&mut queue, Ecn::Ect1, mark), l, noise(l));
                assert_close(share(&mut queue, Ecn::NotEct, Fate::Drop), c, noise(c) + 6e-4);
                assert_close(share(&mut queue, Ecn::Ect0, mark), c, noise(c) + 6e-4);
            }
        }
    }

    #[test]
    fn overload_drops_from_both_queues_or_from_none() {
        let mark = Fate::Mark(Reason::Early);
        for variant in ["rfc", "linux"] {
            // Both queues drop p'², and L marks the rest.
            let mut queue = at_base(0.8, &[word("variant", variant)]);
            for (ecn, fate, expected) in
                [(Ecn::Ect1, Fate::Drop, 0.64), (Ecn::Ect1, mark, 0.36), (Ecn::Ect0, Fate::Drop, 0.64), (Ecn::Ect0, mark, 0.0)]
            {
                assert_close(share(&mut queue, ecn, fate), expected, 0.01);
            }
            let mut queue = at_base(0.5, &[word("variant", variant), word("overload", "overflow")]);
            for (ecn, fate, expected) in [(Ecn::Ect1, mark, 1.0), (Ecn::Ect0, mark, 0.25), (Ecn::NotEct, Fate::Drop, 0.25)] {
                assert_close(share(&mut queue, ecn, fate), expected, 0.01);
            }
        }
        // The controller stops where L's marks are certain.
        let mut bench = Bench::new(&[word("variant", "linux"), word("overload", "overflow")]);
        bench.arrive(0, Ecn::NotEct, 1500);
        bench.queue.update_until(at(2_000_000));
        assert_close(bench.queue.base, 0.5, 0.0);
    }

    #[test]
    fn the_ramp_marks_in_proportion_and_starts_above_a_packet() {
        let queue = dualpi2(&[]);
        // 1500 B take 1.5 ms: the ramp begins there, not at 0.8 ms.
        let marks = [1400, 1500, 1600, 1900, 5000].map(|micros| queue.native(Duration::from_nanos(1000 * micros)));
        for (mark, expected) in marks.iter().zip([0.0, 0.0, 0.25, 1.0, 1.0]) {
            assert_close(*mark, expected, 1e-9);
        }
    }

    #[test]
    fn the_step_marks_what_waited_longer() {
        for (waited, marked) in [(1000, false), (1001, true)] {
            let mut bench = Bench::new(&[word("native", "step")]);
            bench.queue.l.sum = 1.0;
            bench.arrive(0, Ecn::Ect1, 1000);
            assert_eq!(bench.leave(waited).unwrap().ecn == Ecn::Ce, marked);
        }
        let mut bench = Bench::new(&[word("variant", "linux"), ("step_packets", Value::Number(2.0))]);
        (0..4).for_each(|_| bench.arrive(0, Ecn::Ect1, 1000));
        // Three packets remain behind the first, two behind the second.
        assert_eq!([(); 4].map(|()| bench.leave(0).unwrap().ecn == Ecn::Ce), [true, false, false, false]);
    }

    #[test]
    fn the_classic_queue_has_its_share_of_the_bytes() {
        for (variant, share) in [("rfc", 1.0 / 16.0), ("linux", 0.1)] {
            let mut bench = Bench::new(&[word("variant", variant), ("limit", Value::Limit(Limit::Packets(100_000)))]);
            for _ in 0..10_000 {
                bench.arrive(0, Ecn::Ect1, 1000);
                bench.arrive(0, Ecn::NotEct, 1000);
            }
            let classic = (0..8000).filter(|_| bench.leave(0).unwrap().ecn == Ecn::NotEct).count();
            assert_close(classic as f64 / 8000.0, share, 0.001);
        }
    }

    #[test]
    fn a_time_shifted_fifo_serves_the_older_head_after_its_advantage() {
        let mut bench = Bench::new(&[word("scheduler", "time_shifted_fifo"), word("native", "step"), ("target", Value::Number(1.0))]);
        bench.arrive(0, Ecn::NotEct, 1000);
        bench.arrive(49_000, Ecn::Ect1, 1000);
        bench.arrive(51_000, Ecn::Ect1, 1000);
        let order = [(); 3].map(|()| bench.leave(60_000).unwrap().arrived.as_nanos() / 1_000_000);
        assert_eq!(order, [49, 0, 51]);
    }

    #[test]
    fn codepoints_choose_the_queue() {
        let shallow = |set: &[(&str, Value)]| {
            let mut bench = Bench::new(set);
            for ecn in Ecn::ALL {
                bench.arrive(0, ecn, 1000);
            }
            (bench.queue.l.waiting.backlog().packets, bench.queue.c.waiting.backlog().packets)
        };
        assert_eq!(shallow(&[]), (2, 2));
        assert_eq!(shallow(&[word("l4s", "any")]), (3, 1));
    }

    #[test]
    fn the_last_two_packets_are_left_alone_in_linux() {
        let mut bench = Bench::new(&[word("variant", "linux")]);
        bench.queue.base = 1.0;
        (0..5).for_each(|_| bench.arrive(0, Ecn::NotEct, 1500));
        assert_eq!(std::iter::from_fn(|| bench.leave(0)).count(), 2);
    }

    #[test]
    fn early_decisions_fall_at_arrival() {
        let mut bench = Bench::new(&[word("variant", "linux"), ("drop_early", Value::Bool(true))]);
        bench.queue.base = 1.0;
        (0..5).for_each(|_| bench.arrive(0, Ecn::NotEct, 1500));
        assert_eq!((bench.outcomes.len(), bench.queue.backlog().packets), (3, 2));
    }
}
