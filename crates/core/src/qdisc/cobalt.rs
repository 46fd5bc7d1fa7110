//! COBALT: `CoDel` for flows that respond, BLUE for those that do not.
//! ## What it does
//! The `CoDel` half signals, by a mark or a drop, when packets have waited longer than `target` for an `interval`, and then at intervals of
//! `interval`/√`count`. Below the target, `count` does not restart but falls on the same schedule. The BLUE half drops at random, with a
//! probability that grows by `increment` when the queue overflows and falls by `decrement` when it runs empty, each at most once per
//! `target`: what does not respond to signals fills the queue.
//! ## References
//! Høiland-Jørgensen, Täht & Morton, *Piece of CAKE: a comprehensive queue management solution for home gateways*, LANMAN 2018; Palmei et
//! al., *Design and evaluation of COBALT queue discipline*, LANMAN 2019; RFC 8289; Feng et al., *BLUE*, 1999.
//! ## Differs from the document
//! The papers give no pseudo-code. Rules and constants are those of Linux's cake as far as its behavior shows them: 1/√`count` comes from
//! steps of Newton's iteration with 32 bits, a mark of BLUE does not exist, and the last packet of a queue is never dropped. Linux has no
//! `cobalt` alone. `blue_threshold` is ns-3's, whose default is 400 ms; this was not confirmed.
//! ## Parameters
//! `limit`: capacity without the arriving packet; 1000 packets, as `codel`.
//! `target`: acceptable standing delay; 5 ms.
//! `interval`: time within which the delay must fall below `target`; 100 ms.
//! `increment`: growth of BLUE's probability; 1/256.
//! `decrement`: its fall; 1/4096.
//! `blue_threshold`: waiting time that counts as an overflow; none.
//! `ecn`: marks packets that support ECN instead of dropping them in the `CoDel` half; true.
//! `ce_threshold`: waiting time above which every packet that supports ECN is marked; none.
//! `ce_threshold_ecn`: which of them: `any`, or those with ECT(1), `ect1`, which expect a shallow queue (RFC 9331 §5); any.

use super::codel::{INTERVAL, TARGET, newton};
use super::flow_queues::{Departure, FlowQueue};
use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Ecn, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::{CE_THRESHOLD, CE_THRESHOLD_ECN, CeThreshold, ECN, limit};
use crate::qdisc::waiting::Waiting;
use crate::rng::Generator;
use crate::units::{Duration, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "cobalt",
    summary: "CoDel for flows that respond to signals, random drops for those that do not",
    reference: "Høiland-Jørgensen et al. 2018",
    params: &[
        limit("limit", 1000, "capacity without the arriving packet, as codel"),
        TARGET,
        INTERVAL,
        INCREMENT,
        DECREMENT,
        BLUE_THRESHOLD,
        ECN,
        CE_THRESHOLD,
        CE_THRESHOLD_ECN,
    ],
    quantities: &[
        quantity("count", "", "CoDel's count, which sets the interval between signals"),
        quantity("dropping", "", "1 in the dropping state, else 0"),
        quantity("sojourn", "s", "waiting time of the last packet dequeued"),
        quantity("blue", "", "probability of a random drop"),
    ],
    build: |params| {
        Ok(Discipline::scheduled(Cobalt { limit: params.limit("limit"), settings: Settings::new(params), queue: CobaltQueue::default() }))
    },
};

pub(super) const INCREMENT: Param = probability("increment", 1.0 / 256.0, "growth of the probability of random drops at an overflow");

pub(super) const DECREMENT: Param = probability("decrement", 1.0 / 4096.0, "its fall when the queue runs empty");

pub(super) const BLUE_THRESHOLD: Param = Param {
    name: "blue_threshold",
    kind: Kind::Duration { min: 0.0, max: 1e3 },
    default: Default::Auto,
    doc: "waiting time that counts as an overflow; auto: none",
};

const fn probability(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Probability { min: 0.0, max: 1.0 }, default: Default::Number(default), doc }
}

/// The parameters of a [`Law`]. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: u64,
    pub(super) interval: u64,
    /// Whether the first signal of all follows at once, as in Linux, not after an interval.
    pub(super) at_once: bool,
    pub(super) increment: f64,
    pub(super) decrement: f64,
    pub(super) blue_threshold: Option<u64>,
    pub(super) ecn: bool,
    pub(super) ce_threshold: CeThreshold,
}

impl Settings {
    pub(super) fn new(params: &Params) -> Self {
        let nanos = |seconds| Duration::from_secs_f64(seconds).as_nanos();
        Self {
            target: nanos(params.number("target")),
            interval: nanos(params.number("interval")),
            at_once: false,
            increment: params.number("increment"),
            decrement: params.number("decrement"),
            blue_threshold: params.number_or_auto("blue_threshold").map(nanos),
            ecn: params.flag("ecn"),
            ce_threshold: CeThreshold::new(params),
        }
    }
}

/// A departing packet. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Departing {
    sojourn: u64,
    /// A wait that is never too long.
    floor: u64,
    capable: bool,
}

/// What COBALT does to a departing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Pass,
    Mark,
    Drop(Reason),
}

/// 1/√`count` in units of 2⁻³² for the first counts: five steps from the one before.
static ROOTS: [u32; 16] = {
    let mut roots = [u32::MAX; 16];
    let mut count = 1;
    while count < roots.len() {
        let mut root = roots[count - 1];
        let mut step = 0;
        while step < 5 {
            root = newton(count as u32, root);
            step += 1;
        }
        roots[count] = root;
        count += 1;
    }
    roots
};

/// The state of COBALT in one queue. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Law {
    count: u32,
    /// 0 before the first signal.
    root: u32,
    dropping: bool,
    drop_next: u64,
    /// BLUE's probability, and when it last changed.
    blue: f64,
    changed: u64,
    sojourn: u64,
}

impl Law {
    fn set_count(&mut self, count: u32) {
        self.count = count;
        self.root = ROOTS.get(count as usize).copied().unwrap_or_else(|| newton(count, self.root));
    }

    /// `time` plus `interval`/√`count`.
    fn after(&self, settings: &Settings, time: u64) -> u64 {
        match self.root {
            0 => time + if settings.at_once { 0 } else { settings.interval },
            root => time + ((u128::from(settings.interval) * u128::from(root)) >> 32) as u64,
        }
    }

    /// Whether BLUE may change its probability again.
    fn blue_is_due(&self, settings: &Settings, now: u64) -> bool {
        now.saturating_sub(self.changed) > settings.target
    }

    /// The queue overflows.
    pub(super) fn overflow(&mut self, settings: &Settings, now: u64) {
        if self.blue_is_due(settings, now) {
            self.blue = (self.blue + settings.increment).min(1.0);
            self.changed = now;
        }
        (self.dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
    }

    /// The queue is empty when its turn comes.
    pub(super) fn empty(&mut self, settings: &Settings, now: u64) {
        if self.blue > 0.0 && self.blue_is_due(settings, now) {
            self.blue = (self.blue - settings.decrement).max(0.0);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.set_count(self.count - 1);
            self.drop_next = self.after(settings, self.drop_next);
        }
    }

    /// Whether nothing is left to forget.
    pub(super) fn rests(&self, now: u64) -> bool {
        self.blue <= 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// The signal for a packet that leaves at `now`.
    fn signal(&mut self, settings: &Settings, departing: &Departing, now: u64, random: &mut Generator) -> Signal {
        let Departing { sojourn, floor, capable } = *departing;
        self.sojourn = sojourn;
        if settings.blue_threshold.is_some_and(|threshold| sojourn > threshold) {
            self.overflow(settings, now);
        }
        let due = self.count > 0 && now >= self.drop_next;
        // Whether the next signal lies ahead or is overdue, before it is moved.
        let mut overdue = now > self.drop_next;
        if sojourn > settings.target && sojourn > floor {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.after(settings, now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut signal = Signal::Pass;
        if due && self.dropping {
            signal = if settings.ecn && capable { Signal::Mark } else { Signal::Drop(Reason::Sojourn) };
            self.set_count(self.count.saturating_add(1));
            self.drop_next = self.after(settings, self.drop_next);
            overdue = now > self.drop_next;
        } else {
            let mut due = due;
            while due {
                self.set_count(self.count - 1);
                self.drop_next = self.after(settings, self.drop_next);
                overdue = now > self.drop_next;
                due = self.count > 0 && now >= self.drop_next;
            }
        }
        if self.blue > 0.0 && random.uniform() < self.blue {
            signal = Signal::Drop(Reason::Early);
        }
        // Beyond its purpose the time says until when the queue is active.
        if self.count == 0 {
            self.drop_next = now + settings.interval;
        } else if overdue && !matches!(signal, Signal::Drop(_)) {
            self.drop_next = now;
        }
        signal
    }
}

/// A first-in, first-out queue with COBALT.
#[derive(Debug, Default)]
pub(super) struct CobaltQueue {
    pub(super) waiting: Waiting,
    pub(super) law: Law,
}

/// What a turn of a queue gives.
pub(super) enum Turn {
    Send(Packet),
    /// This packet is lost; another follows.
    Drop(Packet, Reason),
    Empty,
}

impl CobaltQueue {
    /// Takes one packet; a wait up to `floor` is never too long. The last packet of a queue is never dropped.
    pub(super) fn turn(&mut self, settings: &Settings, floor: u64, departure: &mut Departure<'_>) -> Turn {
        let nanos = departure.now.as_nanos();
        let Some(mut packet) = self.waiting.pop() else {
            self.law.empty(settings, nanos);
            return Turn::Empty;
        };
        let sojourn = nanos.saturating_sub(packet.arrived.as_nanos());
        let departing = Departing { sojourn, floor, capable: packet.ecn != Ecn::NotEct };
        let signal = self.law.signal(settings, &departing, nanos, departure.random);
        if let Signal::Drop(reason) = signal
            && !self.waiting.is_empty()
        {
            return Turn::Drop(packet, reason);
        }
        if signal == Signal::Mark || settings.ce_threshold.marks(Duration::from_nanos(sojourn), packet.ecn) {
            packet.ecn = Ecn::Ce;
            departure.outcomes.push((packet, Outcome::Marked(Reason::Sojourn)));
        }
        Turn::Send(packet)
    }
}

impl FlowQueue for CobaltQueue {
    type Settings = Settings;

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn push(&mut self, packet: Packet) {
        self.waiting.push(packet);
    }

    fn evict(&mut self, settings: &Settings, now: Instant) -> Option<Packet> {
        self.law.overflow(settings, now.as_nanos());
        self.waiting.pop()
    }

    fn dequeue(&mut self, settings: &Settings, _total: Backlog, departure: &mut Departure<'_>) -> Option<Packet> {
        loop {
            match self.turn(settings, 0, departure) {
                Turn::Send(packet) => return Some(packet),
                Turn::Drop(packet, reason) => departure.outcomes.push((packet, Outcome::Dropped(reason))),
                Turn::Empty => return None,
            }
        }
    }
}

/// A COBALT queue.
#[derive(Debug)]
pub struct Cobalt {
    limit: Limit,
    settings: Settings,
    queue: CobaltQueue,
}

impl Scheduler for Cobalt {
    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        if self.queue.backlog().reaches(self.limit) {
            self.queue.law.overflow(&self.settings, now.at.as_nanos());
            outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        } else {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.queue.dequeue(&self.settings, Backlog::default(), &mut Departure { now: now.at, random, outcomes }).into()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let law = &self.queue.law;
        out("count", f64::from(law.count));
        out("dropping", f64::from(u8::from(law.dropping)));
        out("sojourn", Duration::from_nanos(law.sojourn).as_secs_f64());
        out("blue", law.blue);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, packet};

    const MILLISECOND: u64 = 1_000_000;

    fn settings(set: &[(&str, Value)]) -> Settings {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        Settings::new(&params)
    }

    /// A queue before a link that sends a packet every millisecond, with the times of its signals in nanoseconds.
    struct Bench {
        settings: Settings,
        queue: CobaltQueue,
        random: Generator,
        now: u64,
        signals: Vec<u64>,
    }

    impl Bench {
        fn new(set: &[(&str, Value)]) -> Self {
            let random = Generator::derived(1, "cobalt");
            Self { settings: settings(set), queue: CobaltQueue::default(), random, now: 0, signals: vec![] }
        }

        /// Lets packets that have already waited for `sojourn` leave, one in each millisecond.
        fn leave(&mut self, millis: u64, sojourn: u64, ecn: Ecn) {
            for _ in 0..millis {
                while self.queue.backlog().packets < 100 {
                    self.queue.push(Packet { ecn, arrived: Instant::from_nanos(self.now.saturating_sub(sojourn)), ..packet(0, 0, 1000) });
                }
                let mut outcomes = Outcomes::new();
                let mut departure = Departure { now: Instant::from_nanos(self.now), random: &mut self.random, outcomes: &mut outcomes };
                self.queue.dequeue(&self.settings, Backlog::default(), &mut departure);
                self.signals.extend(outcomes.iter().map(|_| self.now));
                self.queue = CobaltQueue { law: self.queue.law, ..CobaltQueue::default() };
                self.now += MILLISECOND;
            }
        }
    }

    #[test]
    fn roots_are_those_of_counts() {
        // The first ones come from five steps each, the others from one.
        let mut law = Law::default();
        for count in 1..1000 {
            law.set_count(count);
            let exact = 1.0 / f64::from(count).sqrt();
            assert_close(f64::from(law.root) / f64::from(u32::MAX), exact, 0.002 * exact);
        }
    }

    #[test]
    fn signals_come_closer_by_the_square_root() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let mut bench = Bench::new(&[]);
            // A packet below the target wakes the queue.
            bench.now = 999 * MILLISECOND;
            bench.leave(1, 0, ecn);
            bench.leave(1000, 20 * MILLISECOND, ecn);
            // The first one after an interval, the next after interval/√2, …
            let mut due = 1100.0;
            for (number, signal) in (2..).zip(&bench.signals) {
                assert!((due - 1.0..due + 3.0).contains(&(*signal as f64 / 1e6)), "{signal} is due at {due}");
                due += 100.0 / f64::from(number).sqrt();
            }
            assert!(bench.signals.len() > 25, "{}", bench.signals.len());
        }
    }

    #[test]
    fn the_count_falls_below_the_target_and_does_not_restart() {
        let mut bench = Bench::new(&[]);
        bench.now = 1000 * MILLISECOND;
        bench.leave(1000, 20 * MILLISECOND, Ecn::Ect0);
        let count = bench.queue.law.count;
        bench.leave(50, MILLISECOND, Ecn::Ect0);
        let fallen = count - bench.queue.law.count;
        // Over 50 ms, with 100/√27 = 19 ms for each and more for the next ones.
        assert!((2..=3).contains(&fallen) && !bench.queue.law.dropping, "{fallen} of {count}");
        bench.leave(3000, MILLISECOND, Ecn::Ect0);
        assert_eq!(bench.queue.law.count, 0);
    }

    #[test]
    fn the_target_is_permitted() {
        let mut bench = Bench::new(&[]);
        bench.leave(2000, 5 * MILLISECOND, Ecn::NotEct);
        assert_eq!(bench.signals, []);
    }

    #[test]
    fn blue_steps_once_per_target_and_drops_what_supports_ecn() {
        let settings = settings(&[("increment", Value::Number(0.25)), ("decrement", Value::Number(0.1))]);
        let mut law = Law::default();
        let at = |tenths: u64| tenths * MILLISECOND / 10;
        for (now, blue) in [(60, 0.25), (100, 0.25), (110, 0.25), (111, 0.5), (170, 0.75), (230, 1.0), (290, 1.0)] {
            law.overflow(&settings, at(now));
            assert_close(law.blue, blue, 1e-12);
        }
        assert!(law.dropping && law.count == 1);
        let mut random = Generator::derived(1, "");
        assert_eq!(
            law.signal(&settings, &Departing { sojourn: 0, floor: 0, capable: true }, at(300), &mut random),
            Signal::Drop(Reason::Early)
        );
        for (now, blue) in [(330, 1.0), (350, 0.9), (380, 0.9), (401, 0.8)] {
            law.empty(&settings, at(now));
            assert_close(law.blue, blue, 1e-12);
        }
        assert!(!law.rests(at(10_000)));
    }

    #[test]
    fn a_long_wait_can_count_as_an_overflow() {
        let blue = |set: &[(&str, Value)]| {
            let mut law = Law::default();
            let departing = Departing { sojourn: 500 * MILLISECOND, floor: 0, capable: true };
            law.signal(&settings(set), &departing, 1000 * MILLISECOND, &mut Generator::derived(1, ""));
            law.blue
        };
        assert_close(blue(&[]), 0.0, 0.0);
        assert_close(blue(&[("blue_threshold", Value::Number(0.4))]), 1.0 / 256.0, 1e-12);
    }

    #[test]
    fn the_last_packet_is_never_dropped() {
        let mut queue = CobaltQueue { law: Law { blue: 1.0, ..Law::default() }, ..CobaltQueue::default() };
        (0..3).for_each(|handle| queue.push(packet(handle, 0, 1000)));
        let mut outcomes = Outcomes::new();
        let random = &mut Generator::derived(1, "");
        let mut departure = Departure { now: Instant::ZERO, random, outcomes: &mut outcomes };
        let sent = queue.dequeue(&settings(&[]), Backlog::default(), &mut departure);
        assert_eq!((sent.map(|packet| packet.handle), outcomes.len()), (Some(2), 2));
    }
}
