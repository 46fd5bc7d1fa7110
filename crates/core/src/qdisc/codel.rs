//! `CoDel`: controlled delay.
//! ## What it does
//! `CoDel` measures each packet's waiting time at departure. When the waiting time has not been below `target` for a whole `interval`,
//! `CoDel` drops (or marks) a packet. Further drops follow at intervals of `interval`/√`count`, until a packet has waited less than
//! `target` or at most `maxpacket` bytes would remain. If `CoDel` soon has to drop again, it starts near its last drop frequency.
//! ## References
//! RFC 8289 (Nichols, Jacobson, `McGregor` & Iyengar, *Controlled delay active queue management*, 2018), §5; RFC 3168 §7.
//! ## Differs from the document
//! The RFC's pseudo-code only drops. Marking follows Linux: a packet that supports ECN is marked instead of dropped, and then leaves.
//! `count` and the time of the next drop advance as for a drop. Each departure therefore carries at most one mark. `ce_threshold`, which the
//! RFC lacks, is Linux's, too: it marks a departing packet whatever the state.
//!
//! The `variant` `linux` reproduces the queues of Linux 7.2 of the validation page. It counts time in units of 1024 ns, and takes 1/√`count`
//! from one step of Newton's iteration with 16 bits at each change of `count`. `count` grows before each drop and also at the drop that ends
//! the dropping state. The first drop comes when more than an `interval` has passed.
//! ## Parameters
//! `limit`: capacity without the arriving packet; 1000 packets, Linux's default. The RFC leaves it open.
//! `target`: acceptable standing delay (RFC 8289); 5 ms.
//! `interval`: time within which the delay must fall below `target`, about the longest usual round-trip time (RFC 8289); 100 ms.
//! `maxpacket`: nothing is dropped if at most this many bytes would remain; 1500 B. The RFC recommends the MTU.
//! `ecn`: marks packets that support ECN instead of dropping them; true.
//! `ce_threshold`: waiting time above which every packet that supports ECN is marked; none, as in the RFC.
//! `ce_threshold_ecn`: which of them: `any`, or those with ECT(1), `ect1`, which expect a shallow queue (RFC 9331 §5); any.
//! `variant`: `rfc`, or `linux`; rfc.

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Ecn, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::flow_queues::{Departure, FlowQueue};
use crate::qdisc::params::{CE_THRESHOLD, CE_THRESHOLD_ECN, CeThreshold, ECN, VARIANT, limit};
use crate::qdisc::waiting::Waiting;
use crate::rng::Generator;
use crate::units::{Duration, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "codel",
    summary: "controlled delay: drops at departure, at shrinking intervals, while packets wait too long",
    reference: "RFC 8289",
    params: &[
        limit("limit", 1000, "capacity without the arriving packet; Linux's default"),
        TARGET,
        INTERVAL,
        MAXPACKET,
        ECN,
        CE_THRESHOLD,
        CE_THRESHOLD_ECN,
        VARIANT,
    ],
    quantities: &[
        quantity("count", "", "RFC 8289's `count`, which sets the drop interval"),
        quantity("dropping", "", "1 in the dropping state, else 0"),
        quantity("sojourn", "s", "waiting time of the last packet dequeued"),
        quantity("drop_interval", "s", "current time between two drops"),
    ],
    build: |params| {
        let limit = params.limit("limit");
        Ok(Discipline::scheduled(Codel { limit, settings: Settings::new(params), queue: CodelQueue::default() }))
    },
};

pub(super) const TARGET: Param = Param {
    name: "target",
    kind: Kind::Duration { min: 0.0, max: 1e3 },
    default: Default::Number(0.005),
    doc: "acceptable standing delay; RFC 8289",
};

pub(super) const INTERVAL: Param = Param {
    name: "interval",
    kind: Kind::Duration { min: 1e-6, max: 1e3 },
    default: Default::Number(0.1),
    doc: "time within which the delay must fall below target; RFC 8289",
};

pub(super) const MAXPACKET: Param = Param {
    name: "maxpacket",
    kind: Kind::Size { min: 0.0, max: 65_535.0 },
    default: Default::Number(1500.0),
    doc: "nothing is dropped if at most this many bytes would remain; the MTU",
};

/// The parameters of a [`CodelQueue`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    target: Duration,
    interval: Duration,
    maxpacket: u64,
    ecn: bool,
    ce_threshold: CeThreshold,
    linux: bool,
}

/// Linux counts time in units of 2¹⁰ ns.
const TICK: u32 = 10;

/// A number of nanoseconds in whole ticks.
const fn ticks(nanos: u64) -> u64 {
    nanos >> TICK << TICK
}

impl Settings {
    pub(super) fn new(params: &Params) -> Self {
        let linux = params.word("variant") == "linux";
        let duration = |name| {
            let duration = Duration::from_secs_f64(params.number(name));
            if linux { Duration::from_nanos(ticks(duration.as_nanos())) } else { duration }
        };
        Self {
            target: duration("target"),
            interval: duration("interval"),
            maxpacket: params.number("maxpacket") as u64,
            ecn: params.flag("ecn"),
            ce_threshold: CeThreshold::new(params),
            linux,
        }
    }

    pub(super) const fn is_linux(&self) -> bool {
        self.linux
    }

    /// RFC 3168 §7: only packets of an ECN-capable transport are marked.
    fn marks(&self, packet: &Packet) -> bool {
        self.ecn && packet.ecn != Ecn::NotEct
    }

    /// A time as the variant counts it.
    fn clock(&self, time: Instant) -> Instant {
        if self.linux { Instant::from_nanos(ticks(time.as_nanos())) } else { time }
    }

    /// The time `span` after `time`. Linux's is a whole number of ticks, so that equal times are equal.
    fn after(&self, time: Instant, span: Duration) -> Instant {
        let after = time + span;
        if self.linux { Instant::from_nanos(after.as_nanos()) } else { after }
    }

    /// Whether an interval is over that ends at `end`.
    fn is_over(&self, end: Instant, now: Instant) -> bool {
        if self.linux { now > end } else { now >= end }
    }
}

/// The number of drops in a dropping state, and what follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) drops: u32,
    /// Linux's 1/√`drops` in units of 2⁻¹⁶.
    root: u16,
}

/// One step of Newton's iteration towards 1/√`count` in units of 2⁻³²: x·(3 − `count`·x²)/2. Linux's queues take one at each change.
pub(super) const fn newton(count: u32, root: u32) -> u32 {
    let x = root as u64;
    let factor = (3_u64 << 32).wrapping_sub((count as u64).wrapping_mul((x * x) >> 32)) >> 2;
    (factor.wrapping_mul(x) >> 31) as u32
}

impl Count {
    /// The first drop.
    const ONE: Self = Self { drops: 1, root: u16::MAX };

    fn of(drops: u32, root: u16) -> Self {
        Self { drops, root }.improved()
    }

    /// One step of Newton's iteration from the present root.
    fn improved(self) -> Self {
        Self { root: (newton(self.drops, u32::from(self.root) << 16) >> 16) as u16, ..self }
    }

    /// One drop more.
    fn raised(self) -> Self {
        Self::of(self.drops.saturating_add(1), self.root)
    }

    /// RFC 8289 §5.6, `control_law`: the time between two drops is inversely proportional to √`count`.
    pub(super) fn spacing(self, settings: &Settings) -> Duration {
        if settings.linux {
            let interval = settings.interval.as_nanos() >> TICK;
            return Duration::from_nanos((interval * u64::from(self.root)) >> 16 << TICK);
        }
        settings.interval / libm::sqrt(f64::from(self.drops.max(1)))
    }
}

/// What a departing packet sees.
#[derive(Clone, Copy, Debug)]
struct View {
    now: Instant,
    /// Bytes that count as waiting, in other queues.
    elsewhere: u64,
}

/// An unlimited first-in, first-out queue with controlled delay.
#[derive(Debug, Default)]
pub(super) struct CodelQueue {
    waiting: Waiting,
    /// Time at which the delay will have been above the target for an interval; `None` while it is below.
    first_above_time: Option<Instant>,
    drop_next: Instant,
    count: Count,
    lastcount: u32,
    dropping: bool,
    /// Waiting time of the last packet dequeued.
    sojourn: Duration,
}

impl CodelQueue {
    /// RFC 8289 §5.6, `dodequeue`: the first packet, and whether it may be dropped.
    fn dodequeue(&mut self, settings: &Settings, View { now, elsewhere }: View) -> Option<(Packet, bool)> {
        let Some(packet) = self.waiting.pop() else {
            self.first_above_time = None;
            return None;
        };
        self.sojourn = now.since(settings.clock(packet.arrived));
        // One nanosecond of tolerance: the sojourn time is the difference of two rounded sums.
        if self.sojourn + Duration::NANOSECOND < settings.target || self.waiting.backlog().bytes + elsewhere <= settings.maxpacket {
            self.first_above_time = None;
            return Some((packet, false));
        }
        let first_above_time = *self.first_above_time.get_or_insert_with(|| settings.after(now, settings.interval));
        Some((packet, settings.is_over(first_above_time, now)))
    }

    /// RFC 8289 §5.5, `dequeue`: the packet to send, after drops and marks.
    fn control(&mut self, settings: &Settings, view: View, outcomes: &mut Outcomes) -> Option<Packet> {
        let now = settings.clock(view.now);
        let view = View { now, ..view };
        let head = self.dodequeue(settings, view);
        let ok_to_drop = head.is_some_and(|(_, ok_to_drop)| ok_to_drop);
        let (mut packet, _) = if self.dropping {
            self.dropping = ok_to_drop;
            self.drop_due(settings, view, head, outcomes)?
        } else if ok_to_drop {
            self.dropping = true;
            let next = self.signal(settings, view, head?, outcomes);
            // Soon after the last dropping state, its final drop frequency is a good start.
            let delta = self.count.drops.wrapping_sub(self.lastcount);
            let recently = self.lastcount > 0 && now.since(self.drop_next) < settings.interval * 16.0;
            self.count = if delta > 1 && recently { Count::of(delta, self.count.root) } else { Count::ONE };
            self.drop_next = settings.after(now, self.count.spacing(settings));
            self.lastcount = self.count.drops;
            next?
        } else {
            head?
        };
        if settings.ce_threshold.marks(self.sojourn, packet.ecn) {
            packet.ecn = Ecn::Ce;
            outcomes.push((packet, Outcome::Marked(Reason::Sojourn)));
        }
        Some(packet)
    }

    /// Drops packets while a drop is due; a large backlog may need several.
    fn drop_due(
        &mut self,
        settings: &Settings,
        view: View,
        mut head: Option<(Packet, bool)>,
        outcomes: &mut Outcomes,
    ) -> Option<(Packet, bool)> {
        while self.dropping && view.now >= self.drop_next {
            let marked = settings.marks(&head?.0);
            head = self.signal(settings, view, head?, outcomes);
            self.dropping = head.is_some_and(|(_, ok_to_drop)| ok_to_drop);
            if self.dropping || settings.linux {
                self.count = self.count.raised();
            }
            if self.dropping {
                self.drop_next = settings.after(self.drop_next, self.count.spacing(settings));
            }
            if marked {
                break;
            }
        }
        head
    }

    /// Marks the packet and returns it, or drops it and returns the next one.
    fn signal(
        &mut self,
        settings: &Settings,
        view: View,
        (mut packet, ok_to_drop): (Packet, bool),
        outcomes: &mut Outcomes,
    ) -> Option<(Packet, bool)> {
        if settings.marks(&packet) {
            packet.ecn = Ecn::Ce;
            outcomes.push((packet, Outcome::Marked(Reason::Sojourn)));
            return Some((packet, ok_to_drop));
        }
        outcomes.push((packet, Outcome::Dropped(Reason::Sojourn)));
        self.dodequeue(settings, view)
    }
}

impl FlowQueue for CodelQueue {
    type Settings = Settings;

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn push(&mut self, packet: Packet) {
        self.waiting.push(packet);
    }

    fn evict(&mut self, settings: &Settings, _now: Instant) -> Option<Packet> {
        if settings.linux {
            // Linux: an overflow raises the strength of the signal, too.
            self.count.drops = self.count.drops.saturating_add(1);
        }
        self.waiting.pop()
    }

    fn dequeue(&mut self, settings: &Settings, total: Backlog, departure: &mut Departure<'_>) -> Option<Packet> {
        // RFC 8289 looks at one queue, Linux at all of them.
        let elsewhere = if settings.linux { total.bytes - self.backlog().bytes } else { 0 };
        self.control(settings, View { now: departure.now, elsewhere }, departure.outcomes)
    }
}

/// A `CoDel` queue.
#[derive(Debug)]
pub struct Codel {
    limit: Limit,
    settings: Settings,
    queue: CodelQueue,
}

impl Scheduler for Codel {
    fn enqueue(&mut self, _now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        if self.queue.backlog().reaches(self.limit) {
            outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        } else {
            self.queue.push(packet);
        }
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.queue.control(&self.settings, View { now: now.at, elsewhere: 0 }, outcomes).into()
    }

    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("count", f64::from(self.queue.count.drops));
        out("dropping", f64::from(u8::from(self.queue.dropping)));
        out("sojourn", self.queue.sojourn.as_secs_f64());
        out("drop_interval", self.queue.count.spacing(&self.settings).as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    const MICROSECOND: u64 = 1000;
    const MILLISECOND: u64 = 1000 * MICROSECOND;
    /// Time that the link takes for a packet of [`SIZE`]; a divisor of target and interval.
    const SERVICE: u64 = MILLISECOND;
    const SIZE: u64 = 1000;

    /// Parameters from RFC 8289.
    const SETTINGS: Settings = Settings {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        maxpacket: 1500,
        ecn: true,
        ce_threshold: CeThreshold::NONE,
        linux: false,
    };

    /// A queue before a link that sends a packet every [`SERVICE`], with the times of its drops and marks in nanoseconds.
    struct Bench {
        settings: Settings,
        queue: CodelQueue,
        now: u64,
        arrivals: u64,
        capable: bool,
        drops: Vec<u64>,
        marks: Vec<u64>,
        /// Departure time and sojourn time of each packet sent.
        sent: Vec<(u64, u64)>,
    }

    impl Bench {
        fn new(capable: bool) -> Self {
            let queue = CodelQueue::default();
            Self { settings: SETTINGS, queue, now: 0, arrivals: 0, capable, drops: vec![], marks: vec![], sent: vec![] }
        }

        fn arrive(&mut self, at: u64) {
            let ecn = if self.capable { Ecn::Ect0 } else { Ecn::NotEct };
            let arrived = Instant::from_nanos(at);
            self.queue.push(Packet { handle: 0, flow: 0, ends: (0, 1), size: Bytes(SIZE), ecn, arrived });
        }

        /// Lets packets arrive every `gap` for `time`; a `gap` of 0 means no arrivals.
        fn run(&mut self, time: u64, gap: u64) {
            let end = self.now + time;
            let mut next = if gap == 0 { u64::MAX } else { self.now };
            while self.now < end {
                while next <= self.now {
                    self.arrive(next);
                    next += gap;
                }
                self.serve();
                self.now += SERVICE;
            }
        }

        fn serve(&mut self) {
            let mut outcomes = Outcomes::new();
            let packet = self.queue.control(&self.settings, View { now: Instant::from_nanos(self.now), elsewhere: 0 }, &mut outcomes);
            for (_, outcome) in outcomes {
                match outcome {
                    Outcome::Dropped(reason) => {
                        assert_eq!(reason, Reason::Sojourn);
                        self.drops.push(self.now);
                    }
                    Outcome::Marked(_) => self.marks.push(self.now),
                }
            }
            if let Some(packet) = packet {
                self.arrivals += 1;
                self.sent.push((self.now, self.now - packet.arrived.as_nanos()));
            }
        }
    }

    /// Drop times of the control law in a dropping state that begins at `start` with `count` 1.
    fn schedule(start: u64) -> impl Iterator<Item = u64> {
        let spacings = (1..).scan(start as f64, |time, k| {
            *time += 100e6 / f64::sqrt(f64::from(k));
            Some(*time as u64)
        });
        std::iter::once(start).chain(spacings)
    }

    #[test]
    fn the_first_drop_comes_an_interval_after_the_target_was_passed() {
        let mut bench = Bench::new(false);
        bench.run(300 * MILLISECOND, 500 * MICROSECOND);
        // Packet n arrives at n/2 ms and leaves at n ms: the tenth packet waits 5 ms.
        let (above, sojourn) = bench.sent[10];
        assert_eq!((above, sojourn), (10 * MILLISECOND, 5 * MILLISECOND));
        assert_eq!(bench.drops[0], above + 100 * MILLISECOND);
    }

    #[test]
    fn drops_come_closer_by_the_square_root() {
        let mut bench = Bench::new(false);
        bench.run(3000 * MILLISECOND, 500 * MICROSECOND);
        assert!(bench.drops.len() > 100 && bench.queue.dropping, "{}", bench.drops.len());
        for (number, (drop, due)) in bench.drops.iter().zip(schedule(bench.drops[0])).enumerate() {
            // The next departure follows within a service time. Lateness does not accumulate, but rounding to nanoseconds does.
            let late = drop - due.min(*drop);
            assert!(due <= drop + number as u64 && late < SERVICE + number as u64, "drop {number} at {drop}, due at {due}");
        }
    }

    #[test]
    fn nothing_is_dropped_below_the_target() {
        let mut bench = Bench::new(false);
        // A standing queue of four packets, and a fifth in transmission.
        (0..4).for_each(|_| bench.arrive(0));
        bench.run(5000 * MILLISECOND, SERVICE);
        assert!(bench.sent[10..].iter().all(|(_, sojourn)| *sojourn == 4 * MILLISECOND));
        assert_eq!(bench.drops, []);
        // One more packet raises the delay to the target.
        bench.arrive(bench.now);
        bench.run(5000 * MILLISECOND, SERVICE);
        assert_eq!(bench.drops.len(), 1, "one drop ends the standing queue");
    }

    #[test]
    fn a_burst_shorter_than_the_interval_passes() {
        let mut bench = Bench::new(false);
        (0..100).for_each(|_| bench.arrive(0));
        bench.run(1000 * MILLISECOND, 0);
        assert_eq!((bench.sent.len(), bench.drops.len()), (100, 0));
    }

    #[test]
    fn the_last_packets_are_never_dropped() {
        let mut bench = Bench::new(false);
        // With such slow packets, two always wait far too long, but only one remains behind the departing packet: less than `maxpacket`.
        bench.arrive(0);
        bench.now = 50 * MILLISECOND;
        for _ in 0..100 {
            bench.arrive(bench.now);
            bench.now += 50 * MILLISECOND;
            bench.serve();
        }
        assert!(bench.sent[1..].iter().all(|(_, sojourn)| *sojourn == 100 * MILLISECOND));
        assert_eq!(bench.drops, []);
        // A third packet causes a drop.
        bench.arrive(bench.now);
        for _ in 0..100 {
            bench.arrive(bench.now);
            bench.now += 50 * MILLISECOND;
            bench.serve();
        }
        assert_eq!(bench.drops.len(), 1);
    }

    /// A queue after its first dropping state, and the count that it reached.
    fn after_an_overload() -> (Bench, u32) {
        let mut bench = Bench::new(false);
        bench.run(800 * MILLISECOND, 800 * MICROSECOND);
        let count = bench.queue.count.drops;
        assert!(bench.queue.dropping && count > 5 && bench.queue.lastcount == 1, "{count}");
        while bench.queue.dropping {
            bench.run(SERVICE, 0);
        }
        let count = bench.queue.count.drops;
        let drops = bench.drops.len();
        bench.run(200 * MILLISECOND, 0);
        assert_eq!(bench.drops.len(), drops, "a drop after the dropping state");
        assert_eq!(bench.drops.len(), count as usize, "count differs from the number of drops");
        (bench, count)
    }

    /// Overloads `bench` so that it drops again, `after` its next drop would have been due.
    fn drop_again(bench: &mut Bench, after: u64) {
        // The seventh packet arrives after 0.6 ms and leaves after 6 ms, so the first drop follows after 106 ms.
        bench.now = bench.queue.drop_next.as_nanos() + after - 106 * MILLISECOND;
        let (drops, due) = (bench.drops.len(), bench.queue.drop_next.as_nanos());
        bench.run(107 * MILLISECOND, 100 * MICROSECOND);
        assert_eq!(bench.drops[drops..], [due + after]);
    }

    #[test]
    fn it_resumes_where_it_left_within_sixteen_intervals() {
        let (mut bench, count) = after_an_overload();
        drop_again(&mut bench, 1600 * MILLISECOND - 1);
        assert_eq!((bench.queue.count.drops, bench.queue.lastcount), (count - 1, count - 1));
        let (drops, due) = (bench.drops.len(), bench.drops[bench.drops.len() - 1] + (100e6 / f64::from(count - 1).sqrt()) as u64);
        bench.run(100 * MILLISECOND, 500 * MICROSECOND);
        assert!((due..due + SERVICE).contains(&bench.drops[drops]), "{} instead of {due}", bench.drops[drops]);
    }

    #[test]
    fn it_forgets_after_sixteen_intervals() {
        let (mut bench, _) = after_an_overload();
        drop_again(&mut bench, 1600 * MILLISECOND + 1);
        assert_eq!((bench.queue.count.drops, bench.queue.lastcount), (1, 1));
    }

    #[test]
    fn a_late_departure_catches_up_with_drops_but_not_with_marks() {
        let caught_up = |capable| {
            let mut bench = Bench::new(capable);
            bench.run(500 * MILLISECOND, 100 * MICROSECOND);
            let (before, count) = (bench.drops.len() + bench.marks.len(), bench.queue.count.drops);
            bench.now = bench.queue.drop_next.as_nanos() + 300 * MILLISECOND;
            bench.serve();
            (bench.drops.len() + bench.marks.len() - before, count)
        };
        let (drops, count) = caught_up(false);
        // The first drop, and those that became due in the 300 ms before it.
        let due = |number: u32| (1..=number).map(|k| 100.0 / f64::from(count + k).sqrt()).sum::<f64>() <= 300.0;
        assert_eq!(drops, 1 + (1..100).filter(|number| due(*number)).count());
        assert_eq!(caught_up(true).0, 1, "a marked packet leaves");
    }

    #[test]
    fn marks_take_the_place_of_drops() {
        let (mut drops, mut marks) = (Bench::new(false), Bench::new(true));
        for bench in [&mut drops, &mut marks] {
            bench.run(1500 * MILLISECOND, 500 * MICROSECOND);
        }
        assert_eq!((drops.marks.len(), marks.drops.len()), (0, 0));
        assert_eq!(marks.marks, drops.drops);
        let unwilling = Settings { ecn: false, ..SETTINGS };
        let mut bench = Bench { settings: unwilling, ..Bench::new(true) };
        bench.run(1500 * MILLISECOND, 500 * MICROSECOND);
        assert_eq!((bench.drops, bench.marks), (drops.drops, vec![]));
    }

    #[test]
    fn a_full_queue_drops_on_arrival() {
        let (mut random, mut outcomes) = (Generator::derived(1, ""), Outcomes::new());
        let mut codel = Codel { limit: Limit::Packets(3), settings: SETTINGS, queue: CodelQueue::default() };
        let packet = |handle| Packet { handle, flow: 0, ends: (0, 1), size: Bytes(SIZE), ecn: Ecn::Ect0, arrived: Instant::ZERO };
        (0..4).for_each(|handle| codel.enqueue(Moment::default(), packet(handle), &mut random, &mut outcomes));
        assert_eq!(outcomes, [(packet(3), Outcome::Dropped(Reason::Overflow))]);
        assert_eq!(codel.backlog(), Backlog { packets: 3, bytes: 3000 });
    }
}
