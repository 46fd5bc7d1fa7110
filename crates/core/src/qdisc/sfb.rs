//! SFB: stochastic fair BLUE, which learns a drop or mark probability for each flow.
//! ## What it does
//! Packets leave first in, first out. A flow has one bin on each of `levels` levels, chosen by a hash of that level. A bin counts its
//! waiting packets and keeps a probability: `increment` is added at every arrival that finds the bin full (`target` packets), and `decrement`
//! is taken off at every arrival that finds it empty. A packet is dropped or marked with the smallest probability of its bins. A flow that
//! does not respond drives all its bins to 1, and then passes at `penalty_rate` only. Another flow keeps a small probability unless it
//! shares every bin with such flows. A packet is dropped for certain if its bins are too full.
//! ## References
//! Feng, Kandlur, Saha & Shin, *Stochastic fair blue: a queue management algorithm for enforcing fairness*, INFOCOM 2001; the same, *The
//! BLUE active queue management algorithms*, IEEE/ACM Transactions on Networking 10 (4), 2002; tc-sfb(8).
//! ## Differs from the document
//! The paper's text was not at hand: its pseudo-code was read at second hand, which drops a packet if any of its bins holds more than
//! `target`. It leaves the numbers to the operator; here they are those of tc-sfb(8). `variant` `linux` departs as Linux does, as far as
//! records of it show: a packet is dropped if all its bins hold `max` packets or more, and above a probability of a half part of the
//! packets that could be marked are dropped. The hashes have no secret, so runs do not depend on it. They change every `rehash`: a second
//! set of bins learns the new ones from `warmup` on, but only from packets of flows in the penalty box, as in Linux.
//! ## Parameters
//! `variant`: rules where Linux departs from the paper: `paper` or `linux`; paper.
//! `limit`: capacity; 1000 packets, the usual length of a device's queue in Linux.
//! `levels`, `bins`: number of levels, and of bins on each; 8 and 16.
//! `target`: packets at which a bin is full; 20.
//! `max`: packets in every bin of a flow at which `linux` drops; 25.
//! `increment`, `decrement`: steps of the probability; 0.05 % and 0.005 %.
//! `penalty_rate`: packets per second of all flows with the probability 1 together; 10. 0 lets none pass.
//! `penalty_burst`: packets that such flows may send at once; 20.
//! `rehash`: time between two changes of the hashes; 600 s.
//! `warmup`: age of the hashes from which the next ones learn; 60 s.
//! `ecn`: marks packets that support ECN instead of dropping them; true.

use std::collections::VecDeque;

use super::flow_queues::hash;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Ecn, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::{ECN, PROBABILITY, limit};
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Limit, Moment};

const fn count(name: &'static str, (min, max): (f64, f64), default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Integer { min, max }, default: Default::Number(default), doc }
}

const fn step(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Probability { min: 0.0, max: 1.0 }, default: Default::Number(default), doc }
}

const fn time(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 1e-3, max: 1e9 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "sfb",
    summary: "stochastic fair BLUE: learns a probability per flow, and holds back flows that do not respond",
    reference: "Feng, Kandlur, Saha & Shin 2001",
    params: &[
        Param {
            name: "variant",
            kind: Kind::Word(&["paper", "linux"]),
            default: Default::Word("paper"),
            doc: "the paper's rules, or those of Linux where it departs from them",
        },
        limit("limit", 1000, "capacity"),
        count("levels", (1.0, 16.0), 8.0, "number of levels of bins"),
        count("bins", (1.0, 65_536.0), 16.0, "number of bins on each level"),
        count("target", (1.0, 1e6), 20.0, "packets at which a bin is full"),
        count("max", (1.0, 1e6), 25.0, "packets in every bin of a flow at which the variant linux drops"),
        step("increment", 0.000_5, "what an arrival at a full bin adds to its probability"),
        step("decrement", 0.000_05, "what an arrival at an empty bin takes off its probability"),
        Param {
            name: "penalty_rate",
            kind: Kind::Number { min: 0.0, max: 1e9 },
            default: Default::Number(10.0),
            doc: "packets per second of all flows with the probability 1 together",
        },
        count("penalty_burst", (0.0, 1e9), 20.0, "packets that such flows may send at once"),
        time("rehash", 600.0, "time between two changes of the hashes"),
        time("warmup", 60.0, "age of the hashes from which the next ones learn"),
        ECN,
    ],
    quantities: &[PROBABILITY],
    build: |params| Ok(Discipline::scheduled(Sfb::new(params))),
};

/// A bin.
#[derive(Clone, Copy, Debug, std::default::Default)]
struct Bin {
    packets: u64,
    probability: f64,
}

/// Bins, and the number that makes their hashes differ from those of the other set.
#[derive(Clone, Debug)]
struct Set {
    bins: Vec<Bin>,
    salt: u64,
}

/// The tokens of flows with the probability 1.
#[derive(Clone, Copy, Debug)]
struct Penalty {
    rate: f64,
    burst: f64,
    tokens: f64,
    since: Instant,
}

impl Penalty {
    /// Whether a packet may pass; it takes a token.
    fn lets_pass(&mut self, now: Instant) -> bool {
        self.tokens = (self.tokens + self.rate * now.since(self.since).as_secs_f64()).min(self.burst);
        self.since = now;
        let passes = self.tokens >= 1.0;
        if passes {
            self.tokens -= 1.0;
        }
        passes
    }
}

/// An SFB queue.
#[derive(Debug)]
pub struct Sfb {
    linux: bool,
    limit: Limit,
    levels: usize,
    bins: u64,
    target: u64,
    max: u64,
    increment: f64,
    decrement: f64,
    penalty: Penalty,
    rehash: f64,
    warmup: f64,
    ecn: bool,
    /// The set in force, and the next one.
    sets: [Set; 2],
    current: usize,
    /// When the set in force came into force.
    since: Instant,
    /// Each waiting packet with the salts under which it was counted in the two sets.
    waiting: VecDeque<(Packet, [u64; 2])>,
    backlog: Backlog,
    probability: f64,
}

impl Sfb {
    fn new(params: &Params) -> Self {
        let (levels, bins) = (params.number("levels") as usize, params.number("bins") as usize);
        let burst = params.number("penalty_burst");
        let set = |salt| Set { bins: vec![Bin::default(); levels * bins], salt };
        Self {
            linux: params.word("variant") == "linux",
            limit: params.limit("limit"),
            levels,
            bins: bins as u64,
            target: params.number("target") as u64,
            max: params.number("max") as u64,
            increment: params.number("increment"),
            decrement: params.number("decrement"),
            penalty: Penalty { rate: params.number("penalty_rate"), burst, tokens: burst, since: Instant::ZERO },
            rehash: params.number("rehash"),
            warmup: params.number("warmup"),
            ecn: params.flag("ecn"),
            sets: [set(0), set(1)],
            current: 0,
            since: Instant::ZERO,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            probability: 0.0,
        }
    }

    /// The bins of `flow`, one on each level, as indices into a set with `salt`.
    fn bins_of(levels: usize, bins: u64, salt: u64, flow: u32) -> impl Iterator<Item = usize> {
        (0..levels as u64).map(move |level| {
            let bin = hash(salt << 40 | level << 32 | u64::from(flow)) % bins;
            (level * bins + bin) as usize
        })
    }

    /// Exchanges the sets if the hashes have reached their age; the former set starts anew.
    fn renew(&mut self, now: Instant) {
        if now.since(self.since).as_secs_f64() < self.rehash {
            return;
        }
        let former = &mut self.sets[self.current];
        former.salt += 2;
        former.bins.fill(Bin::default());
        self.current = 1 - self.current;
        self.since = now;
    }

    /// Learns from an arrival in set `index`. Returns the smallest probability of its bins, and the shortest and the longest of them.
    fn learn(&mut self, index: usize, flow: u32) -> (f64, u64, u64) {
        let Set { bins, salt } = &mut self.sets[index];
        let (mut probability, mut shortest, mut longest) = (1.0_f64, u64::MAX, 0);
        for bin in Self::bins_of(self.levels, self.bins, *salt, flow) {
            let bin = &mut bins[bin];
            if bin.packets == 0 {
                bin.probability = (bin.probability - self.decrement).max(0.0);
            } else if bin.packets >= self.target {
                bin.probability = (bin.probability + self.increment).min(1.0);
            }
            probability = probability.min(bin.probability);
            shortest = shortest.min(bin.packets);
            longest = longest.max(bin.packets);
        }
        (probability, shortest, longest)
    }

    /// Counts a packet of `flow` in both sets, one more or one less. A set whose hashes have changed since no longer knows the packet.
    fn count(&mut self, flow: u32, salts: [u64; 2], more: bool) {
        for (set, salt) in self.sets.iter_mut().zip(salts).filter(|(set, salt)| set.salt == *salt) {
            for bin in Self::bins_of(self.levels, self.bins, salt, flow) {
                let packets = &mut set.bins[bin].packets;
                *packets = if more { *packets + 1 } else { *packets - 1 };
            }
        }
    }

    /// The fate of an arriving packet; `None`: accepted without a mark.
    fn decide(&mut self, now: Instant, packet: &Packet, random: &mut Generator) -> Option<Outcome> {
        if self.backlog.reaches(self.limit) {
            return Some(Outcome::Dropped(Reason::Overflow));
        }
        let (probability, shortest, longest) = self.learn(self.current, packet.flow);
        self.probability = probability;
        let full = if self.linux { shortest >= self.max } else { longest > self.target };
        if full {
            return Some(Outcome::Dropped(Reason::Overflow));
        }
        if probability >= 1.0 {
            if now.since(self.since).as_secs_f64() >= self.warmup {
                self.learn(1 - self.current, packet.flow);
            }
            return (!self.penalty.lets_pass(now)).then_some(Outcome::Dropped(Reason::Policed));
        }
        let draw = random.uniform();
        if draw >= probability {
            return None;
        }
        let drops = self.linux && draw < 2.0 * (probability - 0.5);
        let marks = self.ecn && packet.ecn != Ecn::NotEct && !drops;
        Some(if marks { Outcome::Marked(Reason::Early) } else { Outcome::Dropped(Reason::Early) })
    }
}

impl Scheduler for Sfb {
    fn enqueue(&mut self, now: Moment, mut packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.renew(now.at);
        match self.decide(now.at, &packet, random) {
            None => {}
            Some(outcome @ Outcome::Marked(_)) => {
                packet.ecn = Ecn::Ce;
                outcomes.push((packet, outcome));
            }
            Some(outcome @ Outcome::Dropped(_)) => return outcomes.push((packet, outcome)),
        }
        let salts = [self.sets[0].salt, self.sets[1].salt];
        self.count(packet.flow, salts, true);
        self.backlog = self.backlog.with(packet.size);
        self.waiting.push_back((packet, salts));
    }

    fn dequeue(&mut self, _now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        let Some((packet, salts)) = self.waiting.pop_front() else { return Dequeued::Empty };
        self.count(packet.flow, salts, false);
        self.backlog = self.backlog.without(packet.size);
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn head(&self) -> Option<Bytes> {
        self.waiting.front().map(|(packet, _)| packet.size)
    }

    fn reasons(&self) -> Vec<Reason> {
        vec![Reason::Policed]
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.probability);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, assert_close, capable, packet};
    use proptest::prelude::*;

    const POLICED: Outcome = Outcome::Dropped(Reason::Policed);

    fn number(name: &'static str, value: f64) -> (&'static str, Value) {
        (name, Value::Number(value))
    }

    fn linux() -> (&'static str, Value) {
        ("variant", Value::Word("linux".to_owned()))
    }

    #[test]
    fn a_full_bin_adds_and_an_empty_one_takes_off() {
        // By hand: arrivals that find 0, 1 and 2 packets change nothing; those that find 3 to 6 add 10 % each.
        let steps = [number("target", 3.0), number("increment", 0.1), number("decrement", 0.04), number("max", 1000.0), linux()];
        let mut bench = Bench::new(&ENTRY, &steps);
        bench.arrive_all(0, (0..3).map(|handle| packet(handle, 1, 1000)));
        assert_close(bench.internal("probability"), 0.0, 0.0);
        let mut probabilities = Vec::new();
        for handle in 3..7 {
            bench.arrive(0, packet(handle, 1, 1000));
            probabilities.push((bench.internal("probability") * 100.0).round() as u32);
        }
        assert_eq!(probabilities, [10, 20, 30, 40]);
        // Another flow starts with empty bins.
        bench.arrive(0, packet(7, 2, 1000));
        assert_close(bench.internal("probability"), 0.0, 0.0);
        bench.drain(0);
        bench.arrive(10_000, packet(8, 1, 1000));
        assert_close(bench.internal("probability"), 0.36, 1e-12);
    }

    #[test]
    fn the_variants_differ_at_full_bins() {
        // With the paper, the flow's 22nd packet finds 21 in its bins, more than 20; with Linux, its 26th finds 25.
        let quiet = [number("increment", 0.0)];
        assert_eq!(Bench::new(&ENTRY, &quiet).fill(1, 1000), 21);
        let mut bench = Bench::new(&ENTRY, &[number("increment", 0.0), linux()]);
        assert_eq!(bench.fill(1, 1000), 25);
        assert_eq!(bench.outcomes(), [(25, OVERFLOW)]);
    }

    #[test]
    fn a_flow_that_does_not_respond_passes_at_the_penalty_rate() {
        // Two arrivals at a full bin suffice for a probability of 1.
        let set = [number("target", 1.0), number("increment", 0.5), number("max", 1e6), linux(), number("penalty_burst", 3.0)];
        let mut bench = Bench::new(&ENTRY, &set);
        let mut arrive = |micros: u64, handle| {
            let passed = bench.arrive(micros, packet(handle, 1, 100));
            (passed, bench.outcomes().iter().any(|(_, outcome)| *outcome == POLICED))
        };
        for handle in 0..10 {
            arrive(0, handle);
        }
        // 10 packets per second for ten seconds, and what is left of a burst of 3; a packet always waits, so that its bins never empty.
        let passed = (0..10_000).filter(|number| arrive(1000 * number, 10 + *number as u32).0).count();
        assert!((98..=103).contains(&passed), "{passed}");
        // A flow beside it is not touched.
        let mut other = Bench::new(&ENTRY, &set);
        assert!(other.arrive(0, packet(0, 2, 100)));
    }

    #[test]
    fn marks_replace_drops_and_linux_drops_more_above_a_half() {
        let fates = |set: &[(&str, Value)], ecn: bool| {
            let mut all = vec![number("target", 1.0), number("increment", 0.75), number("max", 1e6)];
            all.extend_from_slice(set);
            // The probability is 75 % for one packet; each of 4000 queues decides on one.
            let mut counts = [0_u32; 3];
            for seed in 0..4000 {
                let mut bench = Bench::new(&ENTRY, &all);
                bench.random = Generator::derived(seed, "");
                bench.arrive(0, packet(0, 1, 100));
                bench.arrive(0, if ecn { capable(1, 1, 100) } else { packet(1, 1, 100) });
                match bench.outcomes()[..] {
                    [] => counts[0] += 1,
                    [(_, Outcome::Marked(_))] => counts[1] += 1,
                    _ => counts[2] += 1,
                }
            }
            counts.map(|count| f64::from(count) / 4000.0)
        };
        let paper = |ecn| fates(&[], ecn);
        let near =
            |fates: [f64; 3], expected: [f64; 3]| fates.into_iter().zip(expected).for_each(|(one, other)| assert_close(one, other, 0.025));
        near(paper(false), [0.25, 0.0, 0.75]);
        near(paper(true), [0.25, 0.75, 0.0]);
        // Linux drops a share of 2·(0.75 − 0.5).
        near(fates(&[linux()], true), [0.25, 0.25, 0.5]);
    }

    #[test]
    fn new_hashes_forget_and_a_warm_set_remembers() {
        let set = [number("target", 1.0), number("increment", 0.5), number("max", 1e6), linux(), number("rehash", 10.0)];
        let after_rehash = |warmup: f64| {
            let mut bench = Bench::new(&ENTRY, &[&set[..], &[number("warmup", warmup)]].concat());
            for number in 0..9000 {
                bench.arrive(1000 * number, packet(number as u32, 1, 100));
            }
            bench.arrive(10_000_000, packet(9000, 1, 100));
            bench.internal("probability")
        };
        // The next set counts all packets, but learns only from arrivals after the warm-up.
        assert_close(after_rehash(5.0), 1.0, 0.0);
        assert!(after_rehash(20.0) < 1.0);
    }

    proptest! {
        #[test]
        fn bins_count_what_waits(steps in prop::collection::vec((0_u64..400_000, 0_u32..6, any::<bool>()), 1..300)) {
            let mut params = Params::defaults(ENTRY.params);
            params.set("rehash", Value::Number(0.5));
            let mut queue = Sfb::new(&params);
            let (mut random, mut outcomes, mut now) = (Generator::derived(1, ""), Outcomes::new(), 0);
            for (gap, flow, leaves) in steps {
                now += gap;
                let at = Moment::now(Instant::from_nanos(1000 * now));
                if leaves {
                    queue.dequeue(at, &mut random, &mut outcomes);
                } else {
                    queue.enqueue(at, packet(0, flow, 100), &mut random, &mut outcomes);
                }
                for (index, set) in queue.sets.iter().enumerate() {
                    let known = queue.waiting.iter().filter(|(_, salts)| salts[index] == set.salt).count();
                    let counted: u64 = set.bins.iter().map(|bin| bin.packets).sum();
                    prop_assert_eq!(counted, (known * queue.levels) as u64);
                }
            }
        }
    }
}
