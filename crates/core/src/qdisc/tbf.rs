//! TBF: a token bucket filter, which shapes traffic.
//! ## What it does
//! Holds packets back so that at most `burst` + `rate` · t bytes leave in any time t. Tokens of one byte each arrive at `rate` until the
//! bucket of `burst` bytes is full, and a packet consumes one token per byte. If tokens are missing, packets wait, first in, first out,
//! until they have arrived. A second bucket, of `minburst` bytes at `peakrate`, limits the rate at which the first one empties.
//! ## References
//! tc-tbf(8), the manual page *tbf – Token Bucket Filter* of iproute2, 2001.
//! ## Differs from the document
//! The timer is exact, so no clock tick limits the rate, and costs are not read from a table of packet sizes (no `cell`). An inner `queue`
//! replaces the first-in, first-out one together with its limit. One that decides at departure, such as `codel`, hands over its next packet
//! before the tokens have arrived, as in Linux. Here that packet is no longer in the inner queue's backlog, although it waits; in Linux it
//! is, so that an inner limit of n packets there is one of n - 1 here, mostly. As in Linux, a packet larger than a bucket is dropped on
//! arrival. `latency` sets the limit as the program tc does: to `burst` + `rate` · `latency`, or to the same sum for the second bucket if
//! that is less. The last packet of a full queue therefore waits `latency` if the bucket is full, but `limit`/`rate` if it is empty. Two
//! additions: `limit` may be in packets, or in multiples of the bandwidth-delay product at the link's rate. In random settings the same
//! packets leave as from Linux, within two microseconds, if the program tc, which cuts the time of a bucket to whole microseconds, loses
//! nothing by that.
//! ## Parameters
//! The manual page requires most parameters; the defaults of `rate`, `burst`, `latency` and `minburst` come from its example.
//! `rate`: arrival rate of tokens; 0.5 Mbit/s.
//! `burst`: size of the bucket; 5120 B (the example's `5kb`).
//! `limit`: capacity of the queue; auto: from `latency`.
//! `latency`: sets the limit if `limit` is auto; auto: 70 ms.
//! `peakrate`: arrival rate of tokens in the second bucket; auto: no second bucket.
//! `minburst`: size of the second bucket; 1540 B. The largest packet size gives perfect shaping.
//! `mpu`: smallest number of tokens that a packet consumes; 0 B.
//! `queue`: the discipline of the packets that wait, which sees a link of `rate`; auto: first in, first out up to `limit`.

use std::collections::VecDeque;

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::bucket::{Bucket, RATE, bucket_size};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Notice, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::qdisc::head::{Ahead, Next};
use crate::qdisc::params::below;
use crate::qdisc::{AXIS, PARTS};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Limit, Moment, Rate};

/// The default of `latency`.
const LATENCY: Duration = Duration::from_millis(70);

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "tbf",
    summary: "token bucket filter: shapes to a rate, with bursts",
    reference: "tc-tbf(8)",
    params: &[
        Param { name: "rate", kind: RATE, default: Default::Number(5e5), doc: "arrival rate of tokens, one per byte" },
        bucket_size("burst", 5120.0, "size of the bucket, which starts full"),
        Param {
            name: "limit",
            kind: Kind::ByteLimit { min: 1.0, max: 1e15 },
            default: Default::Auto,
            doc: "capacity of the queue; auto: from latency",
        },
        Param {
            name: "latency",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Auto,
            doc: "sets the limit: longest wait in a full queue if the bucket is full; auto: 70 ms unless limit is given",
        },
        Param {
            name: "peakrate",
            kind: RATE,
            default: Default::Auto,
            doc: "arrival rate of tokens in a second bucket, above rate; auto: no second bucket",
        },
        bucket_size("minburst", 1540.0, "size of the second bucket"),
        Param {
            name: "mpu",
            kind: Kind::Size { min: 0.0, max: 65_535.0 },
            default: Default::Number(0.0),
            doc: "smallest number of tokens that a packet consumes",
        },
        Param {
            name: "queue",
            kind: Kind::Part(&AXIS),
            default: Default::Auto,
            doc: "discipline of the packets that wait, with a limit of its own; auto: first in, first out up to limit",
        },
    ],
    quantities: &[
        quantity("tokens", "bytes", "tokens in the bucket").on("tokens"),
        quantity("peak_tokens", "bytes", "tokens in the second bucket, if any").on("tokens"),
    ],
    build: |params| Ok(Discipline::scheduled(Tbf::new(params)?)),
};

/// A TBF queue.
#[derive(Debug)]
pub struct Tbf {
    /// The bucket, followed by the second one, if any.
    buckets: Vec<Bucket>,
    limit: Limit,
    mpu: u64,
    /// The inner queue, if any.
    inner: Option<Ahead>,
    /// Packets that wait for tokens, without an inner queue.
    waiting: VecDeque<Packet>,
    /// The backlog of `waiting`.
    backlog: Backlog,
    /// Time of the last arrival or request.
    seen: Instant,
}

impl Tbf {
    fn new(params: &Params) -> Result<Self, String> {
        let mut buckets = vec![Bucket::new(params.number("rate"), params.number("burst"))];
        if let Some(peak) = params.number_or_auto("peakrate") {
            if peak <= params.number("rate") {
                return Err("peakrate must be above rate".to_owned());
            }
            buckets.push(Bucket::new(peak, params.number("minburst")));
        }
        let mpu = params.number("mpu") as u64;
        if buckets.iter().any(|bucket| bucket.size < mpu) {
            return Err("mpu must not be above burst, nor above minburst with a peakrate".to_owned());
        }
        let inner = params.part("queue").map(|queue| PARTS.build(queue)).transpose()?.map(|queue| Ahead::new(queue.into_scheduler()));
        let limit = match (params.limit_or_auto("limit"), params.number_or_auto("latency")) {
            (Some(_), _) | (_, Some(_)) if inner.is_some() => {
                return Err("limit and latency belong to the queue first in, first out; the inner queue has a limit of its own".to_owned());
            }
            (Some(_), Some(_)) => return Err("limit and latency exclude each other".to_owned()),
            (Some(limit), None) => limit,
            (None, latency) => {
                let latency = latency.map_or(LATENCY, Duration::from_secs_f64);
                // Observed with tc 6: the manual page's example with `lat 70ms` shows `limit 9495b`.
                Limit::Bytes(buckets.iter().map(|bucket| bucket.passes(latency)).fold(f64::INFINITY, f64::min) as u64)
            }
        };
        Ok(Self { buckets, limit, mpu, inner, waiting: VecDeque::new(), backlog: Backlog::default(), seen: Instant::ZERO })
    }

    /// Tokens that a packet consumes.
    fn cost(&self, size: Bytes) -> u64 {
        size.0.max(self.mpu)
    }

    /// Whether the buckets can ever hold the tokens for `packet`.
    fn passes(&self, packet: &Packet) -> bool {
        self.buckets.iter().all(|bucket| self.cost(packet.size) <= bucket.size)
    }

    /// Whether the queue first in, first out has room for `packet`.
    fn has_room(&self, packet: &Packet) -> bool {
        !self.backlog.with(packet.size).exceeds(self.limit)
    }
}

impl Scheduler for Tbf {
    fn attach(&mut self, outlet: &Outlet) {
        if let Some(inner) = &mut self.inner {
            let rate = Rate::from_bits_per_sec(self.buckets[0].rate as u64).map_or(outlet.rate, |rate| rate.min(outlet.rate));
            inner.queue.attach(&Outlet { rate, ..*outlet });
        }
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.seen = now.at;
        if !self.passes(&packet) || self.inner.is_none() && !self.has_room(&packet) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        if let Some(inner) = &mut self.inner {
            return inner.queue.enqueue(now, packet, random, outcomes);
        }
        self.backlog = self.backlog.with(packet.size);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.seen = now.at;
        let next = match &mut self.inner {
            Some(inner) => inner.next(now, random, outcomes),
            None => self.waiting.front().map_or(Next::Empty, |packet| Next::Size(packet.size)),
        };
        let cost = match next {
            Next::Size(size) => self.cost(size),
            Next::NotBefore(at) => return Dequeued::NotBefore(at),
            Next::Empty => return Dequeued::Empty,
        };
        let ready = self.buckets.iter().map(|bucket| bucket.time_of(cost)).fold(Instant::ZERO, Instant::max);
        if ready > now.at {
            return Dequeued::NotBefore(ready);
        }
        self.buckets.iter_mut().for_each(|bucket| bucket.consume(now.at, cost));
        let packet = match &mut self.inner {
            Some(inner) => inner.take(now, random, outcomes),
            None => self.waiting.pop_front().inspect(|packet| self.backlog = self.backlog.without(packet.size)),
        };
        packet.into()
    }

    fn backlog(&self) -> Backlog {
        self.inner.as_ref().map_or(self.backlog, Ahead::backlog)
    }

    fn notice(&self, reason: Reason) -> Option<Notice> {
        self.inner.as_ref().and_then(|inner| inner.queue.notice(reason))
    }

    fn reasons(&self) -> Vec<Reason> {
        self.inner.as_ref().map(|inner| inner.queue.reasons()).unwrap_or_default()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let names = ["tokens", "peak_tokens"];
        for (name, bucket) in names.into_iter().zip(&self.buckets) {
            out(name, bucket.tokens(self.seen));
        }
        if let Some(inner) = &self.inner {
            inner.queue.internals(&mut below(out, ENTRY.quantities));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, build, packet};

    /// 1 Mbit/s with a bucket of 5000 B and room for 20 000 B.
    const USUAL: [(&str, Value); 3] =
        [("rate", Value::Number(1e6)), ("burst", Value::Number(5000.0)), ("limit", Value::Limit(Limit::Bytes(20_000)))];

    /// Requests a packet as soon as one may leave, without transmission times; returns the departure times.
    fn leave(bench: &mut Bench, mut now: Instant) -> Vec<f64> {
        let mut times = Vec::new();
        loop {
            match bench.ask(now) {
                Dequeued::Send(_) => times.push(now.as_secs_f64()),
                Dequeued::NotBefore(at) => now = at,
                Dequeued::Empty => return times,
            }
        }
    }

    /// The limit in bytes that results from the parameters.
    fn limit(set: &[(&str, f64)]) -> u64 {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, Value::Number(*value));
        }
        let Limit::Bytes(limit) = Tbf::new(&params).unwrap().limit else { panic!("no limit in bytes") };
        limit
    }

    /// Departure times of packets that arrive at 0, each requested at once.
    fn pass(bench: &mut Bench, sizes: &[u64]) -> Vec<f64> {
        let mut times = Vec::new();
        for (handle, size) in (0..).zip(sizes) {
            bench.arrive(0, packet(handle, 1, *size));
            times.extend(bench.ask(Instant::ZERO).packet().map(|_| 0.0));
        }
        times.extend(leave(bench, Instant::ZERO));
        times
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate_to_the_last_bit() {
        let times = pass(&mut Bench::new(&ENTRY, &USUAL), &[1000; 40]);
        // 5000 B leave before the queue fills to 20 000 B. Each departure is the nearest double to 8000 bits at 1 Mbit/s, not a sum of
        // many.
        let expected: Vec<f64> = (0..25_u32).map(|number| f64::from(8000 * number.saturating_sub(4)) / 1e6).collect();
        assert_eq!(times, expected);
    }

    #[test]
    fn over_a_long_time_the_rate_is_exact() {
        let mut bench = Bench::new(&ENTRY, &USUAL);
        let (mut now, mut sent) = (Instant::ZERO, 0_u32);
        bench.arrive(0, packet(0, 1, 777));
        while sent < 100_000 {
            match bench.ask(now) {
                Dequeued::Send(_) => {
                    sent += 1;
                    bench.arrive(0, packet(sent, 1, 777));
                }
                Dequeued::NotBefore(at) => now = at,
                Dequeued::Empty => unreachable!(),
            }
        }
        assert_eq!(now.as_secs_f64(), 8.0 * (777.0 * 100_000.0 - 5000.0) / 1e6);
    }

    #[test]
    fn a_pause_fills_the_bucket_and_no_more() {
        // 5000 B leave at 0; 16 ms later the bucket holds 2000 tokens, a second later 5000.
        for (pause, at_once) in [(0, 0), (16_000, 2), (40_000, 5), (1_000_000, 5)] {
            let mut bench = Bench::new(&ENTRY, &USUAL);
            bench.arrive_all(0, (0..5).map(|handle| packet(handle, 1, 1000)));
            assert_eq!(leave(&mut bench, Instant::ZERO), [0.0; 5]);
            bench.arrive_all(pause, (5..15).map(|handle| packet(handle, 1, 1000)));
            let now = Instant::from_nanos(1000 * pause);
            let times = leave(&mut bench, now);
            assert_eq!(times.iter().filter(|time| **time == now.as_secs_f64()).count(), at_once, "after {pause} µs");
        }
    }

    #[test]
    fn a_peakrate_spaces_the_burst() {
        // The manual page's example with packets of 1540 B: 5120 B leave at 1 Mbit/s, the rest at 0.5 Mbit/s.
        let mut bench = Bench::new(&ENTRY, &[("peakrate", Value::Number(1e6)), ("limit", Value::Limit(Limit::Packets(10)))]);
        bench.arrive_all(0, (0..10).map(|handle| packet(handle, 1, 1540)));
        let times = leave(&mut bench, Instant::ZERO);
        let expected = (0..10_u32).map(|number| {
            let (peak, rate) = (8.0 * 1540.0 * f64::from(number) / 1e6, 8.0 * (1540.0 * f64::from(number + 1) - 5120.0) / 5e5);
            peak.max(rate)
        });
        assert_eq!(times, expected.collect::<Vec<f64>>());
    }

    #[test]
    fn no_packet_waits_longer_than_the_limit_lasts() {
        // With an empty bucket, the last byte of a full queue waits limit/rate.
        let times = pass(&mut Bench::new(&ENTRY, &USUAL), &[1000; 100]);
        assert_eq!(times.last(), Some(&(8.0 * 20_000.0 / 1e6)));
    }

    #[test]
    fn latency_is_the_longest_wait_behind_a_full_bucket() {
        // 70 ms at 0.5 Mbit/s are 4375 B, besides the 5000 B that leave at once.
        let mut bench = Bench::new(&ENTRY, &[("burst", Value::Number(5000.0))]);
        bench.arrive_all(0, (0..100).map(|handle| packet(handle, 1, 125)));
        let times = leave(&mut bench, Instant::ZERO);
        assert_eq!((times.len(), times[39], times[74]), (75, 0.0, 0.07));
    }

    #[test]
    fn latency_sets_the_limit_as_tc_does() {
        // The limits that tc 6 shows with `-raw`.
        assert_eq!(limit(&[("peakrate", 1e6)]), 9495);
        assert_eq!(limit(&[("rate", 1e6), ("latency", 0.07)]), 13_870);
        assert_eq!(limit(&[("rate", 1e6), ("latency", 0.001)]), 5245);
        assert_eq!(limit(&[("rate", 1e7), ("burst", 1500.0), ("latency", 0.05), ("peakrate", 1.1e7), ("minburst", 1500.0)]), 64_000);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_is_dropped() {
        let mut bench = Bench::new(&ENTRY, &USUAL);
        assert!(bench.arrive(0, packet(0, 1, 5000)));
        assert!(!bench.arrive(0, packet(1, 1, 5001)));
        assert_eq!(bench.outcomes(), [(1, OVERFLOW)]);
    }

    #[test]
    fn a_small_packet_consumes_the_minimum_of_tokens() {
        let mut bench = Bench::new(&ENTRY, &[("mpu", Value::Number(64.0)), ("burst", Value::Number(640.0))]);
        bench.arrive_all(0, (0..11).map(|handle| packet(handle, 1, 40)));
        let times = leave(&mut bench, Instant::ZERO);
        assert_eq!((times[9], times[10]), (0.0, 8.0 * 64.0 / 5e5));
    }

    /// A part of the axis with some parameters set, as the inner queue.
    fn inner(name: &'static str, set: &[(&str, Value)]) -> (&'static str, Value) {
        let mut queue = AXIS.spec(name);
        for (name, value) in set {
            queue.params.set(name, value.clone());
        }
        ("queue", Value::Part(queue))
    }

    #[test]
    fn an_inner_queue_orders_and_drops_and_the_buckets_shape() {
        let number = |name, value| (name, Value::Number(value));
        let packets = |count| ("limit", Value::Limit(Limit::Packets(count)));
        let usual = [number("rate", 1e6), number("burst", 1000.0)];
        // A packet leaves at 0 and one every 8 ms. The first of the 5 in the inner queue (ns-2's limit is 6) waits for tokens there.
        let mut bench = Bench::new(&ENTRY, &[&usual[..], &[inner("droptail", &[packets(6)])]].concat());
        let times = pass(&mut bench, &[1000; 10]);
        assert_eq!(times, [0.0, 0.008, 0.016, 0.024, 0.032, 0.040]);
        // Deficit round robin: the second flow does not wait behind the first one's nine packets.
        let mut bench = Bench::new(&ENTRY, &[&usual[..], &[inner("drr", &[])]].concat());
        bench.arrive_all(0, (0..9).map(|handle| packet(handle, 1, 1000)).chain([packet(9, 2, 1000)]));
        let mut order = Vec::new();
        let mut now = Instant::ZERO;
        loop {
            match bench.ask(now) {
                Dequeued::Send(packet) => order.push(packet.handle),
                Dequeued::NotBefore(at) => now = at,
                Dequeued::Empty => break,
            }
        }
        assert!(order.len() == 10 && order.iter().position(|&handle| handle == 9).is_some_and(|at| at < 4), "{order:?}");
    }

    #[test]
    fn shapers_nest() {
        let slower = inner("tbf", &[("rate", Value::Number(5e5)), ("burst", Value::Number(1000.0))]);
        let times = pass(&mut Bench::new(&ENTRY, &[("rate", Value::Number(1e6)), ("burst", Value::Number(1000.0)), slower]), &[1000; 4]);
        assert_eq!(times, [0.0, 0.016, 0.032, 0.048]);
    }

    #[test]
    fn its_tokens_can_be_seen() {
        let mut bench = Bench::new(&ENTRY, &[("peakrate", Value::Number(1e6))]);
        bench.arrive(0, packet(0, 1, 1000));
        bench.ask(Instant::ZERO);
        assert_eq!([bench.internal("tokens"), bench.internal("peak_tokens")], [4120.0, 540.0]);
        bench.arrive(8000, packet(1, 1, 1000));
        assert_eq!([bench.internal("tokens"), bench.internal("peak_tokens")], [4620.0, 1540.0]);
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let refused = |set: &[(&str, Value)]| build(&ENTRY, set).unwrap_err();
        let number = |name, value| (name, Value::Number(value));
        assert!(refused(&[("limit", Value::Limit(Limit::Packets(5))), number("latency", 0.1)]).contains("latency"));
        assert!(refused(&[inner("droptail", &[]), number("latency", 0.1)]).contains("a limit of its own"));
        let broken = inner("tbf", &[("rate", Value::Number(1e6)), ("peakrate", Value::Number(5e5))]);
        assert_eq!(refused(&[broken]), "tbf: peakrate must be above rate");
        assert!(refused(&[number("peakrate", 5e5)]).contains("above rate"));
        assert!(refused(&[number("mpu", 64.0), number("burst", 63.0)]).contains("mpu"));
    }
}
