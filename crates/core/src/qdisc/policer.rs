//! Policer: drops what exceeds a rate, without a queue of its own.
//! ## What it does
//! Tokens of one byte each arrive at `rate` until a bucket of `burst` bytes is full. A packet for which the bucket has a token per byte takes
//! them and passes; any other is dropped. A sender at a rate above the tokens' thus gets `burst` bytes through at the link's speed, and then
//! loses the share that exceeds `rate`. With a `peakrate`, a second bucket makes three colors of two rates. A packet that the peak's bucket
//! cannot pay is red and dropped. One that only the first bucket cannot pay is yellow, and `yellow` says what happens to it. All others
//! are green and pay with tokens of both.
//! ## References
//! RFC 2698 (Heinanen & Guerin, *A two rate three color marker*, 1999), §3, in color-blind mode: `rate` and `burst` are its CIR and CBS,
//! `peakrate` and `peakburst` its PIR and PBS. tc-police(8).
//! ## Differs from the document
//! The marker of the RFC writes the color into the packet and leaves the rest to others; here the color is a fate. Packets have no color
//! before, so there is no color-aware mode. Tokens arrive continuously, not in steps of 1/rate. Packets that pass wait for the link in
//! `queue`.
//! ## Parameters
//! The RFC leaves all values to the operator. The defaults of `rate` and `burst` are those of `tbf`.
//! `rate`: arrival rate of tokens; 0.5 Mbit/s.
//! `burst`: size of the bucket; 5120 B. A packet larger than it never passes.
//! `peakrate`: arrival rate of tokens in the second bucket, not below `rate`; auto: no second bucket.
//! `peakburst`: size of the second bucket; 5120 B.
//! `yellow`: what happens to a packet above `rate` and within `peakrate`: pass, mark it if it supports ECN and drop it otherwise, or drop;
//! pass.
//! `queue`: the discipline of the packets that pass; auto: first in, first out without a limit.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::bucket::{Bucket, RATE, bucket_size};
use crate::qdisc::contract::{
    Admission, Arrival, Backlog, Dequeued, Discipline, Ecn, Notice, Outcomes, Outlet, Packet, Reason, Scheduler, Verdict,
};
use crate::qdisc::params::below;
use crate::qdisc::{AXIS, PARTS, Unlimited};
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "policer",
    summary: "drops what exceeds a rate and its bursts, without a queue; with a second rate, three colors",
    reference: "RFC 2698",
    params: &[
        Param { name: "rate", kind: RATE, default: Default::Number(5e5), doc: "arrival rate of tokens, one per byte" },
        bucket_size("burst", 5120.0, "size of the bucket, which starts full"),
        Param {
            name: "peakrate",
            kind: RATE,
            default: Default::Auto,
            doc: "arrival rate of tokens in a second bucket, not below rate; auto: no second bucket",
        },
        bucket_size("peakburst", 5120.0, "size of the second bucket"),
        Param {
            name: "yellow",
            kind: Kind::Word(&["pass", "mark", "drop"]),
            default: Default::Word("pass"),
            doc: "what happens to a packet above rate and within peakrate; mark drops one without ECN",
        },
        Param {
            name: "queue",
            kind: Kind::Part(&AXIS),
            default: Default::Auto,
            doc: "discipline of the packets that pass; auto: first in, first out without a limit",
        },
    ],
    quantities: &[
        quantity("tokens", "bytes", "tokens in the bucket").on("tokens"),
        quantity("peak_tokens", "bytes", "tokens in the second bucket, if any").on("tokens"),
    ],
    build: |params| {
        let meter = Meter::new(params)?;
        let queue = params.part("queue").map(|queue| PARTS.build(queue)).transpose()?;
        Ok(match queue.map(|queue| *queue) {
            None => Discipline::fifo(Policer { meter, queue: Unlimited }),
            Some(Discipline::Fifo(queue)) => Discipline::fifo(Policer { meter, queue }),
            Some(Discipline::Scheduled(queue)) => Discipline::scheduled(Policer { meter, queue }),
        })
    },
};

/// What happens to a yellow packet.
#[derive(Clone, Copy, Debug)]
enum Yellow {
    Pass,
    Mark,
    Drop,
}

/// The buckets, which give each packet its color and its fate.
#[derive(Debug)]
struct Meter {
    bucket: Bucket,
    peak: Option<Bucket>,
    yellow: Yellow,
    /// Time of the last packet.
    seen: Instant,
}

impl Meter {
    fn new(params: &Params) -> Result<Self, String> {
        let rate = params.number("rate");
        let peak = params.number_or_auto("peakrate");
        if peak.is_some_and(|peak| peak < rate) {
            return Err("peakrate must not be below rate".to_owned());
        }
        Ok(Self {
            bucket: Bucket::new(rate, params.number("burst")),
            peak: peak.map(|peak| Bucket::new(peak, params.number("peakburst"))),
            yellow: match params.word("yellow") {
                "mark" => Yellow::Mark,
                "drop" => Yellow::Drop,
                _ => Yellow::Pass,
            },
            seen: Instant::ZERO,
        })
    }

    /// RFC 2698 §3, for a packet that arrives.
    fn meter(&mut self, now: Instant, size: Bytes, ecn: Ecn) -> Verdict {
        self.seen = now;
        let drop = Verdict::Drop(Reason::Policed);
        let green = self.bucket.holds(now, size.0);
        match &mut self.peak {
            None if !green => return drop,
            Some(peak) if !peak.holds(now, size.0) => return drop,
            Some(peak) => peak.consume(now, size.0),
            None => {}
        }
        if green {
            self.bucket.consume(now, size.0);
            return Verdict::Accept;
        }
        match self.yellow {
            Yellow::Pass => Verdict::Accept,
            Yellow::Mark if ecn != Ecn::NotEct => Verdict::Mark(Reason::Policed),
            Yellow::Mark | Yellow::Drop => drop,
        }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("tokens", self.bucket.tokens(self.seen));
        if let Some(peak) = &self.peak {
            out("peak_tokens", peak.tokens(self.seen));
        }
    }
}

/// A policer before the queue of what passes.
#[derive(Debug)]
pub struct Policer<Q> {
    meter: Meter,
    queue: Q,
}

/// The reasons of a policer before a queue with those of `queue`.
fn reasons(mut queue: Vec<Reason>) -> Vec<Reason> {
    queue.push(Reason::Policed);
    queue
}

impl<A: Admission> Admission for Policer<A> {
    fn attach(&mut self, outlet: &Outlet) {
        self.queue.attach(outlet);
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        let verdict = self.meter.meter(arrival.now, arrival.size, arrival.ecn);
        let ecn = match verdict {
            Verdict::Accept => arrival.ecn,
            Verdict::Mark(_) => Ecn::Ce,
            Verdict::Drop(_) => return verdict,
        };
        match self.queue.admit(&Arrival { ecn, ..*arrival }, backlog, random) {
            Verdict::Accept => verdict,
            other => other,
        }
    }

    fn first_update(&self) -> Option<Instant> {
        self.queue.first_update()
    }

    fn update(&mut self, now: Instant, backlog: Backlog) -> Instant {
        self.queue.update(now, backlog)
    }

    fn notice(&self, reason: Reason) -> Option<Notice> {
        self.queue.notice(reason)
    }

    fn reasons(&self) -> Vec<Reason> {
        reasons(self.queue.reasons())
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.meter.internals(out);
        self.queue.internals(&mut below(out, ENTRY.quantities));
    }
}

impl Scheduler for Policer<Box<dyn Scheduler>> {
    fn attach(&mut self, outlet: &Outlet) {
        self.queue.attach(outlet);
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        let verdict = self.meter.meter(now.at, packet.size, packet.ecn);
        let Some(packet) = verdict.carry_out(packet, outcomes) else { return };
        self.queue.enqueue(now, packet, random, outcomes);
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.queue.dequeue(now, random, outcomes)
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn head(&self) -> Option<Bytes> {
        self.queue.head()
    }

    fn notice(&self, reason: Reason) -> Option<Notice> {
        self.queue.notice(reason)
    }

    fn reasons(&self) -> Vec<Reason> {
        reasons(self.queue.reasons())
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.meter.internals(out);
        self.queue.internals(&mut below(out, ENTRY.quantities));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::Outcome;
    use crate::testing::{Bench, admission, arrival, assert_close, build, capable, packet};

    const RATE: (&str, Value) = ("rate", Value::Number(1e6));
    const BURST: (&str, Value) = ("burst", Value::Number(50_000.0));

    /// Sizes of packets of 1000 B that pass, when a sender offers them back to back at `line` bit/s: the time of each.
    fn passed(set: &[(&str, Value)], line: f64, count: u64) -> Vec<f64> {
        let mut policer = admission(&ENTRY, set);
        let mut random = Generator::derived(1, "");
        let times = (0..count).map(|index| index as f64 * 8000.0 / line);
        let passes = |time: &f64| {
            let arrival = Arrival { now: Instant::from_nanos((time * 1e9) as u64), ..arrival(0, 1000) };
            policer.admit(&arrival, Backlog::default(), &mut random) == Verdict::Accept
        };
        times.filter(passes).collect()
    }

    #[test]
    fn a_greedy_burst_lasts_as_long_as_the_bucket_empties() {
        // A bucket of B bytes at a line of L bit/s loses its first packet after 8·B/(L − rate).
        for line in [2e6, 10e6, 100e6] {
            let times = passed(&[RATE, BURST], line, 2000);
            let gap = 8000.0 / line;
            let first = times.windows(2).find(|pair| pair[1] - pair[0] > 1.5 * gap).unwrap()[0] + gap;
            assert_close(first, 8.0 * 50_000.0 / (line - 1e6), 2.0 * gap);
        }
    }

    #[test]
    fn in_the_long_run_the_rate_is_the_tokens() {
        let times = passed(&[RATE, BURST], 8e6, 100_000);
        // In 100 s: the burst, and the tokens that have arrived.
        assert_close(times.len() as f64, (50_000.0 + 1e6 / 8.0 * 100.0) / 1000.0, 1.0);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_never_passes() {
        let mut bench = Bench::new(&ENTRY, &[RATE, ("burst", Value::Number(999.0))]);
        assert!(!bench.arrive(0, packet(0, 1, 1000)));
        assert!(bench.arrive(1_000_000, packet(1, 1, 999)));
    }

    #[test]
    fn two_rates_make_three_colors() {
        // RFC 2698 §3, by hand: buckets of 3000 and 5000 B, and no time for new tokens. Green, green, green, yellow, yellow, red.
        let set = |yellow: &str| {
            let number = Value::Number;
            vec![
                RATE,
                ("burst", number(3000.0)),
                ("peakrate", number(2e6)),
                ("peakburst", number(5000.0)),
                ("yellow", Value::Word(yellow.to_owned())),
            ]
        };
        let fates = |yellow: &str| {
            let mut bench = Bench::new(&ENTRY, &set(yellow));
            bench.arrive_all(0, (0..4).map(|handle| capable(handle, 1, 1000)));
            bench.arrive_all(0, (4..6).map(|handle| packet(handle, 1, 1000)));
            bench.outcomes()
        };
        let (mark, drop) = (Outcome::Marked(Reason::Policed), Outcome::Dropped(Reason::Policed));
        assert_eq!(fates("pass"), [(5, drop)]);
        assert_eq!(fates("mark"), [(3, mark), (4, drop), (5, drop)]);
        assert_eq!(fates("drop"), [(3, drop), (4, drop), (5, drop)]);
    }

    #[test]
    fn yellow_packets_cost_the_peak_only() {
        let number = Value::Number;
        let set = [RATE, ("burst", number(1000.0)), ("peakrate", number(2e6)), ("peakburst", number(3000.0))];
        let mut bench = Bench::new(&ENTRY, &set);
        // One green, two yellow, one red. After 8 ms there are 1000 tokens at 1 Mbit/s and 2000 at 2 Mbit/s: green and yellow.
        let passed = [0, 0, 0, 0, 8000, 8000, 8000].map(|now| bench.arrive(now, packet(0, 1, 1000)));
        assert_eq!(passed, [true, true, true, false, true, true, false]);
        assert_close(bench.internal("tokens"), 0.0, 1e-9);
        assert_close(bench.internal("peak_tokens"), 0.0, 1e-9);
    }

    #[test]
    fn what_passes_waits_in_the_inner_queue() {
        let inner = |queue: &'static str| {
            let mut bench = Bench::new(&ENTRY, &[RATE, BURST, ("queue", Value::Part(AXIS.spec(queue)))]);
            bench.fill(1, 500)
        };
        // The limit of `sfq` is 40 packets, of which one flow gets 13; the bucket would let a hundred pass.
        assert_eq!((inner("sfq"), inner("droptail")), (13, 49));
    }

    #[test]
    fn the_peak_is_not_below_the_rate() {
        let peak = |rate| build(&ENTRY, &[RATE, ("peakrate", Value::Number(rate))]).map(|_| ());
        assert_eq!(peak(999_999.0), Err("peakrate must not be below rate".to_owned()));
        assert_eq!(peak(1e6), Ok(()));
    }
}
