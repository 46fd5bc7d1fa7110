//! PIE: proportional integral controller enhanced.
//! ## What it does
//! Every `t_update` PIE adjusts the probability of dropping or marking an arriving packet. The step depends on the queueing delay's
//! distance from `qdelay_ref` and on its change since the last step; small probabilities change in small steps. After a quiet period, a
//! burst of up to `max_burst` passes. PIE drops nothing while the queue is nearly empty.
//! ## References
//! RFC 8033 (Pan, Natarajan, Baker & White, *Proportional integral controller enhanced (PIE)*, 2017), §4 and §5; RFC 3168 §7.
//! ## Differs from the document
//! The link rate is known here, so the delay is the backlog divided by that rate (Little's law, §4.3), without the rate estimate of §5.2.
//! The packet in transmission does not count. "A couple of packets" means two packets of any size; the pseudo-code counts bytes. The
//! probability decays if two successive delays are zero (§4.2); the pseudo-code decays below half of `qdelay_ref`. PIE is always active
//! (§5.3 is optional). The RFC permits scaling the probability by packet size with an unspecified bound. `bytemode` scales by
//! size/`maxpacket`, at most 1, as Linux does. `accu_prob` restarts after every drop and mark, including drops by a full queue.
//! `ce_threshold`, which the RFC lacks, is compared on arrival with the same estimate of the delay.
//! `variant` `linux` departs from the RFC as records of Linux 7.2 show, with the same numbers. The delay is that of the packet that has left
//! last, zero if the queue is empty. Updates come every `t_update` rounded up to ticks of 4 ms plus one, so 20 ms, and first after 504 ms.
//! `derandomize` is on. Bursts end by the time between departures, and the allowance returns at an update. Above 250 ms each update
//! adds 2 %. The decay of 2 % is 1/64. Nothing is dropped below two packets of `maxpacket`.
//! ## Parameters
//! `variant`: the RFC's rules, or those of Linux: `rfc` or `linux`; rfc.
//! `limit`: capacity without the arriving packet; 1000 packets, Linux's default. The RFC leaves it open.
//! `qdelay_ref`: target delay; 15 ms.
//! `t_update`: time between two controller steps; 15 ms.
//! `max_burst`: duration of a burst that passes; 150 ms.
//! `alpha`: gain of the distance from `qdelay_ref`, per second of delay; 1/8.
//! `beta`: gain of the delay's change, per second of delay; 1 + 1/4.
//! `cap_adjustment`: limits upward steps to 2 % if the probability is at least 10 % (§5.5); true, as in the RFC's pseudo-code.
//! `derandomize`: spaces drops: none before the probabilities since the last drop add up to 0.85, a certain one at 8.5 (§5.4); false, since
//! the RFC makes it optional.
//! `bytemode`: drops small packets less often; false.
//! `maxpacket`: smallest packet size with the full probability in `bytemode`; 1500 B.
//! `ecn`: marks packets that support ECN instead of dropping them; true.
//! `mark_ecnth`: largest probability at which packets are marked (§5.1); 10 %.
//! `ce_threshold`: delay above which every packet that supports ECN is marked, whatever the probability; none, as in the RFC.
//! `ce_threshold_ecn`: which of them: `any`, or those with ECT(1), `ect1`, which expect a shallow queue (RFC 9331 §5); any.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{
    Admission, Arrival, Backlog, Dequeued, Discipline, Ecn, Outcomes, Outlet, Packet, Reason, Scheduler, Verdict,
};
use crate::qdisc::params::{CE_THRESHOLD, CE_THRESHOLD_ECN, CeThreshold, ECN, PROBABILITY, VARIANT, flag, limit};
use crate::qdisc::waiting::Waiting;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Limit, Moment, Rate};

/// The target.
pub(super) const QDELAY_REF: Param =
    Param { name: "qdelay_ref", kind: Kind::Duration { min: 0.0, max: 1e3 }, default: Default::Number(0.015), doc: "target delay" };

/// The time between updates.
pub(super) const T_UPDATE: Param = Param {
    name: "t_update",
    kind: Kind::Duration { min: 1e-4, max: 1e3 },
    default: Default::Number(0.015),
    doc: "time between two controller steps",
};

/// The burst that passes.
pub(super) const MAX_BURST: Param = Param {
    name: "max_burst",
    kind: Kind::Duration { min: 0.0, max: 1e3 },
    default: Default::Number(0.15),
    doc: "duration of a burst that passes",
};

/// The gain of the distance.
pub(super) const ALPHA: Param = Param {
    name: "alpha",
    kind: Kind::Number { min: 0.0, max: 1e3 },
    default: Default::Number(0.125),
    doc: "gain of the distance from qdelay_ref, per second of delay",
};

/// The gain of the change.
pub(super) const BETA: Param = Param {
    name: "beta",
    kind: Kind::Number { min: 0.0, max: 1e3 },
    default: Default::Number(1.25),
    doc: "gain of the delay's change, per second of delay",
};

/// The size with the full probability.
pub(super) const MAXPACKET: Param = Param {
    name: "maxpacket",
    kind: Kind::Size { min: 1.0, max: 65_535.0 },
    default: Default::Number(1500.0),
    doc: "smallest packet size with the full probability in bytemode",
};

/// The largest probability of marks.
pub(super) const MARK_ECNTH: Param = Param {
    name: "mark_ecnth",
    kind: Kind::Probability { min: 0.0, max: 1.0 },
    default: Default::Number(0.1),
    doc: "largest probability at which packets are marked",
};

/// RFC 8033 §5.5.
pub(super) const CAP_ADJUSTMENT: Param = flag("cap_adjustment", true, "limits upward steps to 2 % if the probability is at least 10 %");

/// Probabilities by size.
pub(super) const BYTEMODE: Param = flag("bytemode", false, "drops small packets less often");

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "pie",
    summary: "proportional-integral controller of the queueing delay",
    reference: "RFC 8033",
    params: &[
        VARIANT,
        limit("limit", 1000, "capacity without the arriving packet; Linux's default"),
        QDELAY_REF,
        T_UPDATE,
        MAX_BURST,
        ALPHA,
        BETA,
        CAP_ADJUSTMENT,
        flag("derandomize", false, "spaces drops by the probability added up since the last drop"),
        BYTEMODE,
        MAXPACKET,
        ECN,
        MARK_ECNTH,
        CE_THRESHOLD,
        CE_THRESHOLD_ECN,
    ],
    quantities: &[
        PROBABILITY,
        quantity("qdelay", "s", "queueing delay at the last controller step"),
        quantity("burst_allowance", "s", "remaining burst allowance"),
        quantity("accu_prob", "", "probability added up since the last drop"),
    ],
    build: |params| {
        let pie = Pie::new(params);
        Ok(if pie.is_linux() { Discipline::scheduled(TimedPie::new(pie)) } else { Discipline::fifo(pie) })
    },
};

/// RFC 8033 §4.2: the divisor of a step if the probability is below a bound. Steps thus stay in proportion to the probability.
const SCALING: [(f64, f64); 6] = [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// Whose rules are in force where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Rfc,
    Linux,
}

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie {
    variant: Variant,
    limit: Limit,
    qdelay_ref: f64,
    t_update: f64,
    max_burst: Duration,
    alpha: f64,
    beta: f64,
    cap_adjustment: bool,
    derandomize: bool,
    /// Smallest packet size with the full probability; `None`: every size.
    maxpacket: Option<f64>,
    /// The largest packet, in bytes.
    mtu: f64,
    ecn: bool,
    mark_ecnth: f64,
    ce_threshold: CeThreshold,
    /// Rate of the link.
    rate: Option<Rate>,
    drop_prob: f64,
    /// Delay at the last step, in seconds.
    qdelay_old: f64,
    /// Remaining time without early drops.
    burst_allowance: Duration,
    accu_prob: f64,
}

impl Pie {
    fn new(params: &Params) -> Self {
        let variant = if params.word("variant") == "linux" { Variant::Linux } else { Variant::Rfc };
        let derandomize = params.flag("derandomize") || variant == Variant::Linux;
        Self { variant, derandomize, ce_threshold: CeThreshold::new(params), ..Self::of_linux(params) }
    }

    fn is_linux(&self) -> bool {
        self.variant == Variant::Linux
    }

    /// The same without a limit of its own.
    pub(super) fn unlimited(self) -> Self {
        Self { limit: Limit::Packets(u64::MAX), ..self }
    }

    /// PIE as Linux has it, without `ce_threshold`.
    pub(super) fn of_linux(params: &Params) -> Self {
        Self {
            variant: Variant::Linux,
            limit: params.limit("limit"),
            qdelay_ref: params.number("qdelay_ref"),
            t_update: params.number("t_update"),
            max_burst: Duration::from_secs_f64(params.number("max_burst")),
            alpha: params.number("alpha"),
            beta: params.number("beta"),
            cap_adjustment: params.flag("cap_adjustment"),
            derandomize: true,
            maxpacket: params.flag("bytemode").then_some(params.number("maxpacket")),
            mtu: params.number("maxpacket"),
            ecn: params.flag("ecn"),
            mark_ecnth: params.number("mark_ecnth"),
            ce_threshold: CeThreshold::NONE,
            rate: None,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            burst_allowance: Duration::ZERO,
            accu_prob: 0.0,
        }
    }

    /// RFC 8033 §4.3, Little's law: queueing delay of a packet that joins the queue now, in seconds.
    fn qdelay(&self, backlog: Backlog) -> f64 {
        self.rate.map_or(0.0, |rate| backlog.bytes as f64 * 8.0 / rate.as_bits_per_sec() as f64)
    }

    fn is_quiet(&self, qdelay: f64) -> bool {
        qdelay < self.qdelay_ref / 2.0
    }

    /// RFC 8033 §4.2: adjusts the probability; `idle`: nothing waits.
    fn calculate_drop_prob(&mut self, current_qdelay: f64, idle: bool) {
        let mut p = self.alpha * (current_qdelay - self.qdelay_ref) + self.beta * (current_qdelay - self.qdelay_old);
        p /= SCALING.iter().find(|(below, _)| self.drop_prob < *below).map_or(1.0, |(_, divisor)| *divisor);
        if self.cap_adjustment && self.drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        if self.is_linux() && current_qdelay > 0.25 {
            p += 0.02;
        }
        self.drop_prob += p;
        if current_qdelay <= 0.0 && self.qdelay_old <= 0.0 && (idle || !self.is_linux()) {
            self.drop_prob *= if self.is_linux() { 1.0 - 1.0 / 64.0 } else { 0.98 };
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = current_qdelay;
    }

    /// RFC 8033 §4.1 and §5.4: decides at random whether to drop a packet of `size`.
    fn drop_early(&mut self, size: f64, qdelay: f64, backlog: Backlog, random: &mut Generator) -> bool {
        let few = if self.is_linux() { (backlog.bytes as f64) < 2.0 * self.mtu } else { backlog.packets <= 2 };
        if (self.is_quiet(qdelay) && self.drop_prob < 0.2) || few {
            return false;
        }
        let probability = self.drop_prob * self.maxpacket.map_or(1.0, |maxpacket| (size / maxpacket).min(1.0));
        if self.derandomize {
            self.accu_prob = if self.drop_prob > 0.0 { self.accu_prob + probability } else { 0.0 };
            if self.accu_prob < 0.85 || self.accu_prob >= 8.5 {
                return self.accu_prob >= 8.5;
            }
        }
        random.uniform() < probability
    }
}

impl Pie {
    /// The verdict on a packet that finds this delay, in seconds, and backlog.
    fn decide(&mut self, size: Bytes, ecn: Ecn, (qdelay, backlog): (f64, Backlog), random: &mut Generator) -> Verdict {
        let verdict = if backlog.reaches(self.limit) {
            Verdict::Drop(Reason::Overflow)
        } else if self.burst_allowance == Duration::ZERO && self.drop_early(size.0 as f64, qdelay, backlog, random) {
            // RFC 8033 §5.1: at a high probability the flows do not respond to marks, so packets are dropped.
            ecn.signal(self.ecn && self.drop_prob <= self.mark_ecnth, Reason::Early)
        } else {
            return Verdict::Accept;
        };
        self.accu_prob = 0.0;
        verdict
    }

    /// `verdict`, unless it accepts a packet with this codepoint behind a delay, in seconds, above `ce_threshold`.
    fn above_threshold(&self, verdict: Verdict, qdelay: f64, ecn: Ecn) -> Verdict {
        let marked = verdict == Verdict::Accept && self.ce_threshold.marks(Duration::from_secs_f64(qdelay), ecn);
        if marked { Verdict::Mark(Reason::Sojourn) } else { verdict }
    }

    /// The time between two updates of Linux, in whole ticks, and that of the first.
    pub(super) fn ticks(&self) -> (Duration, Instant) {
        let interval = TICK * (libm::ceil(self.t_update / TICK.as_secs_f64()) + 1.0);
        (interval, Instant::ZERO + FIRST_UPDATE + TICK)
    }
}

/// The tick of Linux' timers, with a frequency of 250 Hz.
const TICK: Duration = Duration::from_millis(4);

/// Time of the first update in Linux, which comes a tick later.
const FIRST_UPDATE: Duration = Duration::from_millis(500);

/// One queue of PIE in Linux, which takes the delay from the packets that leave.
#[derive(Clone, Debug)]
pub(super) struct TimedQueue {
    pub(super) pie: Pie,
    pub(super) waiting: Waiting,
    /// Delay of the packet that has left last, in seconds.
    qdelay: f64,
    /// When the last packet has left, since the allowance was given.
    departed: Option<Instant>,
}

impl TimedQueue {
    pub(super) fn new(mut pie: Pie) -> Self {
        pie.burst_allowance = pie.max_burst;
        Self { pie, waiting: Waiting::default(), qdelay: 0.0, departed: None }
    }

    /// Decides on an arriving packet.
    pub(super) fn decide(&mut self, packet: &Packet, random: &mut Generator) -> Verdict {
        let verdict = self.pie.decide(packet.size, packet.ecn, (self.qdelay, self.waiting.backlog()), random);
        self.pie.above_threshold(verdict, self.qdelay, packet.ecn)
    }

    /// Removes the first packet, whose delay counts from now on.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Packet> {
        let packet = self.waiting.pop()?;
        self.qdelay = if self.waiting.is_empty() { 0.0 } else { now.since(packet.arrived).as_secs_f64() };
        if let Some(departed) = self.departed.replace(now) {
            self.pie.burst_allowance = self.pie.burst_allowance - now.since(departed);
        }
        Some(packet)
    }

    /// An update.
    pub(super) fn update(&mut self) {
        let before = self.pie.qdelay_old;
        self.pie.calculate_drop_prob(self.qdelay, self.waiting.is_empty());
        if self.pie.is_quiet(self.qdelay) && self.pie.is_quiet(before) && self.pie.drop_prob <= 0.0 {
            self.pie.burst_allowance = self.pie.max_burst;
            self.pie.accu_prob = 0.0;
            self.departed = None;
        }
    }
}

/// PIE as Linux has it: one queue and its timer.
#[derive(Debug)]
pub struct TimedPie {
    queue: TimedQueue,
    interval: Duration,
    next: Instant,
}

impl TimedPie {
    fn new(pie: Pie) -> Self {
        let (interval, next) = pie.ticks();
        Self { queue: TimedQueue::new(pie), interval, next }
    }

    fn update_until(&mut self, now: Instant) {
        while self.next <= now {
            self.queue.update();
            self.next += self.interval;
        }
    }
}

impl Scheduler for TimedPie {
    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.update_until(now.at);
        let verdict = self.queue.decide(&packet, random);
        if let Some(packet) = verdict.carry_out(packet, outcomes) {
            self.queue.waiting.push(packet);
        }
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        self.update_until(now.at);
        self.queue.pop(now.at).into()
    }

    fn backlog(&self) -> Backlog {
        self.queue.waiting.backlog()
    }

    fn head(&self) -> Option<Bytes> {
        self.queue.waiting.head()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.queue.pie.internals(out);
    }
}

impl Admission for Pie {
    fn attach(&mut self, outlet: &Outlet) {
        self.rate = Some(outlet.rate);
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        // RFC 8033 §4.4: a quiet queue receives a burst allowance.
        if self.drop_prob <= 0.0 && self.is_quiet(self.qdelay_old) && self.is_quiet(self.qdelay(backlog)) {
            self.burst_allowance = self.max_burst;
        }
        let verdict = self.decide(arrival.size, arrival.ecn, (self.qdelay_old, backlog), random);
        self.above_threshold(verdict, self.qdelay(backlog), arrival.ecn)
    }

    fn first_update(&self) -> Option<Instant> {
        Some(Instant::ZERO + Duration::from_secs_f64(self.t_update))
    }

    fn update(&mut self, now: Instant, backlog: Backlog) -> Instant {
        self.calculate_drop_prob(self.qdelay(backlog), backlog.packets == 0);
        self.burst_allowance = self.burst_allowance - Duration::from_secs_f64(self.t_update);
        now + Duration::from_secs_f64(self.t_update)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("probability", self.drop_prob);
        out("qdelay", self.qdelay_old);
        out("burst_allowance", self.burst_allowance.as_secs_f64());
        out("accu_prob", self.accu_prob);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::{Ecn, Fifo, Outcome, Outcomes, Packet, Scheduler};
    use crate::testing::{arrival, assert_close};
    use crate::units::{Bytes, Moment};

    /// 1 B/µs: a backlog of 1000 B means a delay of 1 ms.
    const OUTLET: Outlet = Outlet { rate: Rate::from_bits_per_sec(8_000_000).unwrap(), delay: Duration::ZERO };

    fn pie(set: &[(&str, Value)]) -> Pie {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        let mut pie = Pie::new(&params);
        pie.attach(&OUTLET);
        pie
    }

    const fn packets(packets: u64) -> Backlog {
        Backlog { packets, bytes: 1000 * packets }
    }

    #[test]
    fn steps_follow_the_scaling_table() {
        // RFC 8033 §4.2: a rise from 20 ms to 30 ms gives α·15 ms + β·10 ms = 0.014375, divided by the row's number.
        let step = 0.125 * 0.015 + 1.25 * 0.010;
        let rows = [
            (0.0, 2048.0),
            (0.000_000_9, 2048.0),
            (0.000_001, 512.0),
            (0.000_009, 512.0),
            (0.000_01, 128.0),
            (0.000_1, 32.0),
            (0.000_9, 32.0),
            (0.001, 8.0),
            (0.009, 8.0),
            (0.01, 2.0),
            (0.09, 2.0),
            (0.1, 1.0),
            (0.5, 1.0),
        ];
        for (drop_prob, divisor) in rows {
            let mut pie = Pie { drop_prob, qdelay_old: 0.020, ..pie(&[]) };
            pie.update(Instant::ZERO, packets(30));
            assert_close(pie.drop_prob, drop_prob + step / divisor, 1e-15);
            assert_close(pie.qdelay_old, 0.030, 1e-15);
        }
        assert_close(step, 0.014_375, 1e-15);
    }

    #[test]
    fn steps_are_bounded() {
        let stepped = |drop_prob, qdelay_old, backlog, set: &[(&str, Value)]| {
            let mut pie = Pie { drop_prob, qdelay_old, ..pie(set) };
            pie.update(Instant::ZERO, packets(backlog));
            pie.drop_prob
        };
        // §5.5: α·85 ms + β·100 ms is 13.6 %, capped at 2 % if the probability is at least 10 %.
        assert_close(stepped(0.1, 0.0, 100, &[]), 0.12, 1e-15);
        assert_close(stepped(0.09, 0.0, 100, &[]), 0.09 + 0.135_625 / 2.0, 1e-15);
        assert_close(stepped(0.1, 0.0, 100, &[("cap_adjustment", Value::Bool(false))]), 0.1 + 0.135_625, 1e-15);
        assert_close(stepped(0.99, 0.1, 1000, &[]), 1.0, 0.0);
        assert_close(stepped(0.000_5, 0.1, 0, &[]), 0.0, 0.0);
    }

    /// Linux' queue, with packets of 1000 B that arrive every `gap` microseconds at a link that takes 1000 µs for each.
    fn timed(gap: u64, end: u64, set: &[(&str, Value)]) -> (TimedPie, u64) {
        let linux = ("variant", Value::Word("linux".to_owned()));
        let mut queue = TimedPie::new(pie(&[&[linux][..], set].concat()));
        let (mut random, mut outcomes, mut free) = (Generator::derived(1, ""), Outcomes::new(), 0);
        let at = |micros: u64| Instant::from_nanos(1000 * micros);
        for arrived in (0..end).step_by(gap as usize) {
            while free <= arrived && queue.dequeue(Moment::now(at(free)), &mut random, &mut outcomes).packet().is_some() {
                free += 1000;
            }
            let packet = Packet { arrived: at(arrived), ..crate::testing::packet(0, 1, 1000) };
            queue.enqueue(Moment::now(at(arrived)), packet, &mut random, &mut outcomes);
            free = free.max(arrived);
        }
        (queue, outcomes.len() as u64)
    }

    #[test]
    fn linux_updates_in_ticks() {
        // 15 ms are four ticks of 4 ms, and the timer adds one; the first comes after 500 ms and a tick.
        let interval = |t_update: f64| pie(&[("t_update", Value::Number(t_update))]).ticks().0;
        assert_eq!([0.015, 0.005, 0.004].map(interval), [20, 12, 8].map(Duration::from_millis));
        // Until then the delay of an overloaded queue changes nothing.
        let set = [("max_burst", Value::Number(0.0))];
        assert_eq!(timed(500, 503_000, &set).1, 0);
        assert!(timed(500, 700_000, &set).1 > 0);
    }

    #[test]
    fn linux_drops_an_overload_and_no_more() {
        // 25 % too much for 20 s: one in five must go, except what waits.
        let (queue, dropped) = timed(800, 20_000_000, &[]);
        let waits = queue.queue.waiting.backlog().packets;
        assert!(dropped.abs_diff(5000 - waits) <= 1, "{dropped} dropped, {waits} wait");
        assert!((5..40).contains(&waits), "{waits} packets wait at a target of 15");
        let (quiet, none) = timed(1100, 5_000_000, &[]);
        assert_eq!((none, quiet.queue.pie.drop_prob), (0, 0.0));
    }

    #[test]
    fn a_long_delay_adds_two_percent_to_each_step_of_linux() {
        let stepped = |qdelay: f64| {
            let mut queue = TimedQueue::new(Pie { variant: Variant::Linux, drop_prob: 0.05, qdelay_old: qdelay, ..pie(&[]) });
            queue.qdelay = qdelay;
            queue.waiting.push(crate::testing::packet(0, 1, 1000));
            queue.update();
            queue.pie.drop_prob
        };
        // Without a change of the delay: α times the distance, halved below 10 %.
        assert_close(stepped(0.25), 0.05 + 0.125 * 0.235 / 2.0, 1e-12);
        assert_close(stepped(0.26), 0.05 + 0.125 * 0.245 / 2.0 + 0.02, 1e-12);
    }

    #[test]
    fn the_probability_decays_when_idle() {
        let mut pie = Pie { drop_prob: 0.5, ..pie(&[]) };
        pie.update(Instant::ZERO, packets(0));
        // The distance of 15 ms and the decay of 2 %.
        assert_close(pie.drop_prob, (0.5 - 0.125 * 0.015) * 0.98, 1e-15);
        pie.drop_prob = 0.5;
        pie.update(Instant::ZERO, packets(1));
        assert_close(pie.drop_prob, 0.5 - 0.125 * 0.014 + 1.25 * 0.001, 1e-15);
    }

    /// Early drops and marks among 1000 arrivals at a queue without burst allowance.
    fn signals(pie: &mut Pie, size: u64, backlog: Backlog) -> usize {
        let mut random = Generator::derived(7, "pie");
        let arrival = arrival(0, size);
        (0..1000).filter(|_| pie.admit(&arrival, backlog, &mut random) != Verdict::Accept).count()
    }

    #[test]
    fn safeguards_keep_the_link_busy() {
        let certain = || Pie { drop_prob: 1.0, qdelay_old: 1.0, ..pie(&[]) };
        assert_eq!(signals(&mut certain(), 1000, packets(3)), 1000);
        assert_eq!(signals(&mut certain(), 1000, packets(2)), 0, "two packets wait");
        let at = |drop_prob, qdelay_old| signals(&mut Pie { drop_prob, qdelay_old, ..pie(&[]) }, 1000, packets(20));
        assert_eq!(at(0.199, 0.0074), 0);
        assert!(at(0.199, 0.0076) > 100);
        assert!(at(0.2, 0.0074) > 100);
    }

    #[test]
    fn small_packets_are_dropped_less_in_byte_mode() {
        let share = |bytemode, size| {
            let mut pie = Pie { drop_prob: 0.3, qdelay_old: 1.0, ..pie(&[("bytemode", Value::Bool(bytemode))]) };
            signals(&mut pie, size, packets(20))
        };
        // The same random numbers are compared with 0.3, with 0.1, and with the bound of 0.3.
        assert_eq!(share(false, 500), share(false, 1500));
        assert_eq!(share(true, 3000), share(true, 1500));
        assert!((260..=340).contains(&share(true, 1500)), "{}", share(true, 1500));
        assert!((75..=125).contains(&share(true, 500)), "{}", share(true, 500));
    }

    #[test]
    fn derandomized_drops_keep_their_distance() {
        let mut pie = Pie { drop_prob: 0.05, qdelay_old: 1.0, ..pie(&[("derandomize", Value::Bool(true))]) };
        let mut random = Generator::derived(7, "pie");
        let mut drops = vec![0_usize];
        for number in 1..20_000 {
            if pie.admit(&arrival(0, 1000), packets(20), &mut random) != Verdict::Accept {
                drops.push(number);
            }
        }
        let gaps: Vec<usize> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // 0.85/0.05 = 17 arrivals reach 0.85, and the last of them may be dropped; 170 reach 8.5.
        assert!(gaps.iter().all(|gap| (17..=170).contains(gap)), "{gaps:?}");
        // A geometric waiting time follows: 16 + 1/0.05 = 36 on average, with a standard deviation of 20/√n.
        let mean = 20_000.0 / gaps.len() as f64;
        assert_close(mean, 36.0, 4.0 * 20.0 / (gaps.len() as f64).sqrt());
        // At 8.5 a drop is certain, although the probability is small.
        let mut pie = Pie { drop_prob: 0.000_1, accu_prob: 8.499_95, qdelay_old: 1.0, ..pie };
        assert_eq!(pie.admit(&arrival(0, 1000), packets(20), &mut random), Verdict::Drop(Reason::Early));
        assert_close(pie.accu_prob, 0.0, 0.0);
    }

    #[test]
    fn marks_are_for_small_probabilities() {
        let mut random = Generator::derived(1, "");
        let capable = Arrival { ecn: Ecn::Ect0, ..arrival(0, 1000) };
        let mut verdict = |mark_ecnth, arrival: &Arrival| {
            let set = [("mark_ecnth", Value::Number(mark_ecnth))];
            Pie { drop_prob: 1.0, qdelay_old: 1.0, ..pie(&set) }.admit(arrival, packets(20), &mut random)
        };
        assert_eq!(verdict(1.0, &capable), Verdict::Mark(Reason::Early));
        assert_eq!(verdict(0.99, &capable), Verdict::Drop(Reason::Early));
        assert_eq!(verdict(1.0, &arrival(0, 1000)), Verdict::Drop(Reason::Early));
    }

    /// Results of a run with senders that do not slow down.
    struct Overload {
        /// Early drops and arrivals in the second half of the run.
        drops: usize,
        arrivals: usize,
        /// Time of the first drop in microseconds.
        first_drop: u64,
        /// Means over the controller steps of the second half, and their number.
        qdelay: f64,
        probability: f64,
        steps: f64,
        /// Change from the first of these steps to the last.
        change: (f64, f64),
        least_probability: f64,
    }

    /// Sends a packet of 100 B every `gap` µs for `seconds` over a link that needs 100 µs for each. The target of 15 ms is 150 packets, far
    /// from the safeguards for short queues.
    fn overload(gap: u64, seconds: u64) -> Overload {
        let mut queue = Fifo::new(pie(&[("limit", Value::Limit(Limit::Packets(100_000)))]));
        queue.attach(&OUTLET);
        let (mut random, mut outcomes) = (Generator::derived(3, "pie"), Outcomes::new());
        let (end, mut free_at, mut last, mut first_drop) = (1_000_000 * seconds, 0, (0.0, 0.0), None);
        let (mut drops, mut arrivals, mut samples) = (0, 0, Vec::new());
        for now in (0..end).step_by(gap as usize) {
            while free_at <= now {
                let packet = queue.dequeue(Moment::now(Instant::from_nanos(1000 * free_at)), &mut random, &mut outcomes).packet();
                free_at = if packet.is_some() { free_at + 100 } else { now + 1 };
            }
            let arrived = Instant::from_nanos(1000 * now);
            queue.enqueue(
                Moment::now(arrived),
                Packet { handle: 0, flow: 0, ends: (0, 1), size: Bytes(100), ecn: Ecn::NotEct, arrived },
                &mut random,
                &mut outcomes,
            );
            for (_, outcome) in outcomes.drain(..) {
                assert_eq!(outcome, Outcome::Dropped(Reason::Early));
                first_drop.get_or_insert(now);
                drops += usize::from(now >= end / 2);
            }
            arrivals += usize::from(now >= end / 2);
            let state = (queue.admission().qdelay_old, queue.admission().drop_prob);
            if now >= end / 2 && state != last {
                last = state;
                samples.push(state);
            }
        }
        let count = samples.len() as f64;
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        Overload {
            drops,
            arrivals,
            first_drop: first_drop.unwrap(),
            qdelay: samples.iter().map(|sample| sample.0).sum::<f64>() / count,
            probability: samples.iter().map(|sample| sample.1).sum::<f64>() / count,
            steps: count,
            change: (last.0 - first.0, last.1 - first.1),
            least_probability: samples.iter().map(|sample| sample.1).fold(1.0, f64::min),
        }
    }

    #[test]
    fn a_constant_overload_is_dropped_in_equilibrium() {
        for (gap, share) in [(80, 0.2), (50, 0.5)] {
            let run = overload(gap, 400);
            // The excess is dropped: 1 − μ/λ, except for the queue's growth since the middle of the run, less than 400 packets.
            let dropped = run.drops as f64 / run.arrivals as f64;
            assert_close(dropped, share, 400.0 / run.arrivals as f64);
            // The controller must settle at that probability, up to the noise of n draws.
            let noise = (share * (1.0 - share) / run.arrivals as f64).sqrt();
            assert_close(run.probability, dropped, 5.0 * noise);
            // Above 10 % the steps add up: Δp = α·Σ(d − d_ref) + β·Δd. The mean delay is therefore known exactly if no step was capped.
            assert!(run.least_probability > 0.1, "{}", run.least_probability);
            let expected = 0.015 + (run.change.1 - 1.25 * run.change.0) / (0.125 * run.steps);
            assert_close(run.qdelay, expected, 0.000_1);
            assert_close(run.qdelay, 0.015, 0.000_5);
        }
    }

    #[test]
    fn a_burst_passes_for_its_allowance() {
        // Twice the link rate from the start: the queue is quiet for half a step, and ten steps use up 150 ms.
        let run = overload(50, 10);
        assert!((150_000..200_000).contains(&run.first_drop), "{}", run.first_drop);
    }

    #[test]
    fn above_the_threshold_every_packet_is_marked() {
        let set = [("ce_threshold", Value::Number(0.005)), ("ce_threshold_ecn", Value::Word("ect1".to_owned()))];
        let (mut pie, mut random) = (pie(&set), Generator::derived(1, ""));
        let mut verdict = |ecn, backlog| pie.admit(&Arrival { ecn, ..arrival(0, 1000) }, packets(backlog), &mut random);
        // A packet behind five others waits for 5 ms.
        assert_eq!(verdict(Ecn::Ect1, 5), Verdict::Accept);
        assert_eq!(verdict(Ecn::Ect1, 6), Verdict::Mark(Reason::Sojourn));
        assert_eq!(verdict(Ecn::Ect0, 6), Verdict::Accept);
    }

    #[test]
    fn a_full_queue_drops() {
        let mut pie = pie(&[]);
        let mut random = Generator::derived(1, "");
        assert_eq!(pie.admit(&arrival(0, 1000), packets(999), &mut random), Verdict::Accept);
        assert_eq!(pie.admit(&arrival(0, 1000), packets(1000), &mut random), Verdict::Drop(Reason::Overflow));
    }
}
