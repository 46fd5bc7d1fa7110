//! CDG: backs off at random if the round-trip time rises, and tolerates losses without a full queue.
//! ## What it does
//! A round trip has a smallest and a largest round-trip time. Their changes from one round trip to the next, smoothed over `smoothing` of them,
//! are two gradients. If one of them is g > 0, the window becomes `beta` of itself with the probability 1 − e^(−g/`scale`); flows with long and
//! short round trips thus back off equally often. The gradients of the next round trip do not count, because the flow itself causes them.
//! Otherwise the window grows as Reno's does.
//!
//! - After `ineffective` back-offs without a falling gradient others fill the queue, and as many positive gradients are ignored.
//! - A shadow window remembers what back-offs have cost: it begins with the window before them and grows as the window does. A loss leaves half
//!   of it, if that is more than half of the window.
//! - A queue is full if its largest delay stops rising while its smallest still rises, and empty in the opposite case. With `tolerance` a loss
//!   while the queue is not full leaves the window as it is.
//! ## References
//! Hayes & Armitage, *Revisiting TCP congestion control using delay gradients*, NETWORKING 2011, §3; Jonassen, *Implementing CAIA Delay-Gradient in
//! Linux*, 2015, for `variant = "linux"`.
//! ## Differs from the document
//! - The paper's text was not available. Rules and constants are those on which its descriptions and the manual of FreeBSD's `cc_cdg` agree.
//! - The part acts at ACKs at which the window may grow, so not while the application limits the flow.
//! - A timeout and a mark halve the larger of both windows whatever the queue.
//!
//! `variant = "linux"` has the rules of Linux' `tcp_cdg`, from knowledge of them, and compared with Linux 6.12 in virtual time, whose random numbers
//! are others:
//! - In the first round trips changes that are missing count as the mean of the others. The handshake is a sample of the first round trip. Both
//!   follow from how often a kernel backs off at each of them.
//! - A round trip has no minimum from the ACK of one segment if other ACKs acknowledge several: the receiver delays it.
//! - The part ends slow start itself, by `hystart`: when ACKs have come in a train for half of the smallest round trip, or the round trip exceeds
//!   the smallest one by an eighth.
//! - More than `ineffective` back-offs are ignored until a gradient falls by 32 µs.
//! - A back-off takes a round trip, in which the window shrinks step by step if the host's does so after a mark, and a loss does not reduce it
//!   again. Linux has the back-off's probability from a table.
//! - The shadow window exists from the start, grows in slow start, too, and is at most the window while the application limits the flow.
//! - The end of a back-off and that of a recovery begin a round trip, whose gradient compares it with the round-trip times just before.
//! - Losses are not tolerated by default.
//! ## Parameters
//! `scale`: 3 ms, `beta`: 0.7, `smoothing`: 8 round trips and `ineffective`: 5, from the paper; Linux has 2.976 ms and 724/1024. `tolerance`:
//! usual, which is on in the paper and off in Linux. `variant`: document.

use super::reno::Reno;
use crate::cc::contract::{Avoidance, Wants, Window};
use crate::cc::recovery::Recovery;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param, Params};
use crate::rng::Generator;
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "cdg",
    summary: "backs off at random if the round-trip time rises; tolerates losses without a full queue",
    reference: "Hayes & Armitage, NETWORKING 2011",
    params: &[
        Param {
            name: "scale",
            kind: Kind::Duration { min: 1e-6, max: 10.0 },
            default: Default::Auto,
            doc: "rise of the round-trip time at which a back-off has the probability 63 %; auto: 3 ms, Linux 2.976 ms",
        },
        Param {
            name: "beta",
            kind: Kind::Number { min: 0.1, max: 1.0 },
            default: Default::Auto,
            doc: "share of the window that remains after a back-off; auto: 0.7, Linux 724/1024",
        },
        Param {
            name: "smoothing",
            kind: Kind::Integer { min: 1.0, max: 256.0 },
            default: Default::Number(8.0),
            doc: "round trips over which gradients are smoothed (the paper: 8)",
        },
        Param {
            name: "ineffective",
            kind: Kind::Integer { min: 0.0, max: 1e6 },
            default: Default::Number(5.0),
            doc: "back-offs without effect after which others fill the queue; 0: never (the paper: 5)",
        },
        Param {
            name: "tolerance",
            kind: Kind::Word(&["usual", "on", "off"]),
            default: Default::Word("usual"),
            doc: "whether a loss without a full queue leaves the window; usual: on in the paper, off in Linux",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["document", "linux"]),
            default: Default::Word("document"),
            doc: "document: the paper's rules; linux: those of Linux",
        },
    ],
    quantities: &[
        quantity("gradient", "s", "rise of the round-trip time per round trip, smoothed"),
        quantity("shadow_window", "segments", "window that the flow would have without back-offs").on("window"),
    ],
    build: |params| Ok(Box::new(Cdg::new(params))),
};

/// Round-trip times are in seconds; a gradient that falls by less than this shows nothing (Linux).
const EFFECT: f64 = 32e-6;
/// ACKs at most so far apart form a train (Linux).
const TRAIN_GAP: f64 = 3e-3;
/// Least delay that ends slow start, and least length of a train (Linux).
const LEAST_DELAY: f64 = 125e-6;
/// Samples of a round trip before its delay can end slow start (Linux).
const SAMPLES: u32 = 8;
/// ACKs of one segment that count as delayed, at most (Linux).
const MOST_DELAYED: u32 = 5;
/// Smallest window after a loss or a back-off.
const LEAST: Segments = 2.0;

/// Smallest and largest of a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pair {
    min: f64,
    max: f64,
}

impl Pair {
    fn map2(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self { min: of(self.min, other.min), max: of(self.max, other.max) }
    }
}

/// The state of the queue as far as gradients show it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    Unknown,
    Full,
    NotFull,
}

/// Detection of the end of slow start (Linux).
#[derive(Clone, Copy, Debug, Default)]
struct HyStart {
    least: Option<f64>,
    last_ack: Option<Instant>,
    begun: Instant,
    samples: u32,
}

/// CDG.
#[derive(Clone, Debug)]
pub struct Cdg {
    scale: f64,
    beta: f64,
    ineffective: u32,
    tolerance: bool,
    linux: bool,
    random: Generator,
    growth: Reno,
    hystart: HyStart,
    /// Round-trip times of this round trip and of the last one; `None` before a sample.
    rtt: Option<Pair>,
    last: Option<Pair>,
    /// The round trip ends when an ACK exceeds this position.
    end: u64,
    /// The last changes, the place of the next one, and their sum.
    changes: Vec<Pair>,
    place: usize,
    filled: bool,
    sum: Pair,
    gradient: f64,
    queue: Queue,
    /// ACKs of one segment still to be ignored.
    delayed: u32,
    /// Back-offs without effect, and positive gradients still to be ignored.
    back_offs: u32,
    ignored: u32,
    shadow: Segments,
    /// The window before the last ACK, and the one that it has chosen.
    before: Window,
    chosen: Option<Window>,
    /// Until an ACK exceeds this position, a back-off is going on.
    backing_off: Option<u64>,
    recovery: Recovery,
}

impl Cdg {
    fn new(params: &Params) -> Self {
        let linux = params.word("variant") == "linux";
        let number = |name, document, kernel| params.number_or_auto(name).unwrap_or(if linux { kernel } else { document });
        let smoothing = params.number("smoothing") as usize;
        Self {
            scale: number("scale", 3e-3, 1.0 / 336.0),
            beta: number("beta", 0.7, 724.0 / 1024.0),
            ineffective: params.number("ineffective") as u32,
            tolerance: match params.word("tolerance") {
                "on" => true,
                "off" => false,
                _ => !linux,
            },
            linux,
            random: Generator::derived(0, "cdg"),
            growth: Reno::default(),
            hystart: HyStart::default(),
            rtt: None,
            last: None,
            end: 0,
            changes: vec![Pair::default(); smoothing],
            place: 0,
            filled: false,
            sum: Pair::default(),
            gradient: 0.0,
            queue: Queue::Unknown,
            delayed: 0,
            back_offs: 0,
            ignored: 0,
            shadow: 0.0,
            before: Window { cwnd: 1.0, ssthresh: f64::INFINITY },
            chosen: None,
            backing_off: None,
            recovery: Recovery::Open,
        }
    }

    fn sample(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt.map(Duration::as_secs_f64) else { return };
        let mut only_larger = false;
        // Not while there is a hole.
        if self.linux && ack.total.delivered <= ack.snd_una {
            if ack.acked == 1 && self.delayed > 0 {
                // The receiver has delayed it.
                (self.delayed, only_larger) = (self.delayed - 1, true);
            } else if ack.acked > 1 && self.delayed < MOST_DELAYED {
                self.delayed += 1;
            }
        }
        match &mut self.rtt {
            Some(pair) if only_larger => pair.min = pair.min.min(rtt),
            None if only_larger => {}
            Some(pair) => *pair = Pair { min: pair.min.min(rtt), max: pair.max.max(rtt) },
            none @ None => *none = Some(Pair { min: rtt, max: rtt }),
        }
    }

    /// The gradient after a round trip: the smallest's, if it rises, or the largest's.
    fn rise(&mut self, now: Pair, last: Pair) -> f64 {
        let change = now.map2(last, |new, old| new - old);
        let oldest = std::mem::replace(&mut self.changes[self.place], change);
        self.place = (self.place + 1) % self.changes.len();
        self.sum = self.sum.map2(change, |sum, new| sum + new).map2(oldest, |sum, old| sum - old);
        let number = self.changes.len();
        self.filled |= self.place == 0;
        let mean = self.sum.map2(Pair::default(), |sum, _| sum / number as f64);
        let effect = if self.linux { EFFECT } else { f64::MIN_POSITIVE };
        if self.sum.min <= -effect || self.sum.max <= -effect {
            (self.back_offs, self.ignored) = (0, 0);
        }
        self.queue = match (mean.min > 0.0, mean.max > 0.0) {
            (true, false) => Queue::Full,
            (true, true) => Queue::NotFull,
            (false, _) if mean.max < 0.0 => Queue::NotFull,
            _ => self.queue,
        };
        self.gradient = if mean.min > 0.0 { mean.min } else { mean.max };
        if self.linux && !self.filled {
            // Missing changes are like those before.
            self.gradient *= number as f64 / self.place as f64;
        }
        self.gradient
    }

    /// Whether the flow backs off.
    fn backs_off(&mut self, gradient: f64) -> bool {
        if gradient <= 0.0 || self.random.uniform() < libm::exp(-gradient / self.scale) {
            return false;
        }
        if self.ineffective == 0 {
            return true;
        }
        if self.linux {
            self.back_offs += 1;
            return self.back_offs <= self.ineffective;
        }
        if self.ignored > 0 {
            self.ignored -= 1;
            return false;
        }
        self.back_offs += 1;
        if self.back_offs == self.ineffective {
            (self.back_offs, self.ignored) = (0, self.ineffective);
        }
        true
    }

    /// Begins a round trip.
    fn begin(&mut self, end: u64) {
        (self.end, self.last, self.rtt) = (end, self.rtt, None);
        (self.hystart.last_ack, self.hystart.samples) = (None, 0);
    }

    /// Whether slow start ends (Linux).
    fn ends_slow_start(&mut self, ack: &Ack) -> bool {
        let now = self.rtt.map(|pair| pair.min);
        let found = &mut self.hystart;
        found.least = [found.least, now].into_iter().flatten().reduce(f64::min);
        let Some(least) = found.least else { return false };
        match found.last_ack {
            Some(last) if ack.cwnd_limited => {
                if ack.now.since(last).as_secs_f64() < TRAIN_GAP {
                    found.last_ack = Some(ack.now);
                    if ack.now.since(found.begun).as_secs_f64() > (least / 2.0).max(LEAST_DELAY) {
                        return true;
                    }
                }
            }
            _ => (found.last_ack, found.begun) = (Some(ack.now), ack.now),
        }
        if found.samples < SAMPLES {
            found.samples += 1;
            return false;
        }
        now.is_some_and(|now| now > (least + least / 8.0).max(LEAST_DELAY))
    }

    /// Ends a round trip, if the ACK does, and backs off if it must.
    fn end_round(&mut self, ack: &Ack, window: &Window) {
        let Some(now) = self.rtt else { return };
        if ack.snd_una <= self.end {
            return;
        }
        let gradient = self.last.map_or(0.0, |last| self.rise(now, last));
        self.begin(ack.snd_nxt);
        if self.backs_off(gradient) {
            self.shadow = self.shadow.max(window.cwnd);
            self.chosen = Some(self.backed_off(window.cwnd));
            self.backing_off = Some(ack.snd_nxt);
            self.growth.on_restart();
        }
    }

    /// The window after a back-off.
    fn backed_off(&self, cwnd: Segments) -> Window {
        let after = (self.beta * cwnd).max(LEAST).min(cwnd);
        Window { cwnd: after, ssthresh: after.max(LEAST) }
    }
}

impl Avoidance for Cdg {
    fn on_established(&mut self, event: &Established) {
        self.growth.on_established(event);
        self.random = Generator::derived(event.seed, "cdg");
        if self.linux {
            // The handshake is a sample of the first round trip.
            self.rtt = event.rtt.map(Duration::as_secs_f64).map(|rtt| Pair { min: rtt, max: rtt });
        }
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        (self.before, self.chosen) = (*window, None);
        if self.linux && self.shadow == 0.0 {
            self.shadow = window.cwnd;
        }
        self.sample(ack);
        if !ack.may_grow || self.recovery == Recovery::Inside || self.backing_off.is_some_and(|until| ack.snd_una <= until) {
            return;
        }
        let ending = self.linux && self.recovery.at_ack() == Recovery::Ending;
        if self.backing_off.take().is_some() || ending {
            self.begin(ack.snd_nxt);
            return;
        }
        if self.linux && window.cwnd < window.ssthresh && self.ends_slow_start(ack) {
            self.chosen = Some(Window { ssthresh: window.cwnd, ..*window });
        }
        self.end_round(ack, window);
        if self.linux && !ack.cwnd_limited && self.chosen.is_none() {
            self.shadow = self.shadow.min(window.cwnd);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        // The paper's window grows during the round trip after a back-off, too.
        let grown = if self.linux && self.backing_off.is_some() { window.cwnd } else { self.growth.on_ack(ack, window) };
        if self.shadow > 0.0 && !self.linux {
            self.shadow += (grown - window.cwnd).max(0.0);
        }
        grown
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|wants| wants.gradual = self.linux)
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        if self.linux && self.backing_off.is_none() {
            // By whole segments, and in slow start as well.
            self.shadow += (window.cwnd - self.before.cwnd).max(0.0);
        }
        let held = Window { cwnd: self.before.cwnd.min(window.cwnd), ..*window };
        self.chosen.take().or((self.linux && self.backing_off.is_some()).then_some(held))
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        if event.cause == Cause::DupAck && self.tolerance && self.queue != Queue::Full {
            return Window::reduced_to(event.window);
        }
        let shadow = (self.shadow / 2.0).min(event.window);
        Window::reduced_to((event.window / 2.0).max(shadow))
    }

    fn on_reduction(&mut self, event: &CongestionEvent, window: &Window) {
        self.growth.on_reduction(event, window);
        if event.cause != Cause::DupAck || !self.tolerance || self.queue == Queue::Full {
            self.shadow = (self.shadow / 2.0).min(event.window);
        }
        (self.backing_off, self.chosen) = (None, None);
        self.recovery = if self.linux && event.cause != Cause::Timeout { Recovery::Inside } else { Recovery::Open };
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        // A timeout's recovery does not count.
        if self.recovery == Recovery::Inside {
            self.recovery = Recovery::Ending;
        }
        *window
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("gradient", self.gradient);
        out("shadow_window", self.shadow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, established, internal};
    use proptest::prelude::*;

    const AVOIDANCE: Window = Window { cwnd: 100.0, ssthresh: 50.0 };

    fn part(set: &[(&str, Value)], seed: u64) -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&Established { seed, ..established(1000) });
        part
    }

    fn linux() -> (&'static str, Value) {
        ("variant", Value::Word("linux".to_owned()))
    }

    /// A round trip of two ACKs with these round-trip times in microseconds. Returns the window to which it falls, if it does.
    fn round(part: &mut dyn Avoidance, number: u64, (low, high): (u64, u64), window: Window) -> Option<Window> {
        let mut chosen = None;
        for (index, micros) in [(1, low), (2, high)] {
            let snd_una = 2 * number + index;
            let now = Instant::from_nanos(1_000_000_000 * snd_una);
            let ack = Ack { now, rtt: Some(Duration::from_nanos(1000 * micros)), snd_una, snd_nxt: 2 * number + 2, ..ACK };
            part.observe(&ack, &window);
            chosen = chosen.or(part.steer(&ack, &window));
        }
        chosen.filter(|chosen| chosen.cwnd < window.cwnd)
    }

    /// The share of connections that back off after a rise of the round-trip time by `micros` in one round trip.
    fn share(set: &[(&str, Value)], micros: u64) -> f64 {
        let falls = (0..4000).filter(|&seed| {
            let mut part = part(set, seed);
            (0..4).any(|number| {
                round(&mut *part, number, if number < 2 { (50_000, 50_000) } else { (50_000 + micros, 50_000 + micros) }, AVOIDANCE)
                    .is_some()
            })
        });
        falls.count() as f64 / 4000.0
    }

    #[test]
    fn the_probability_of_a_back_off_is_exponential_in_the_gradient() {
        // The last change alone. The ACK that ends a round trip belongs to it, so that the largest time rises first, and then the smallest:
        // two chances.
        let one = ("smoothing", Value::Number(1.0));
        for (micros, expected) in [(300, 0.181), (3000, 0.865), (9000, 0.998)] {
            let found = share(std::slice::from_ref(&one), micros);
            assert_close(found, expected, 0.03);
        }
    }

    #[test]
    fn a_back_off_leaves_seven_tenths_and_a_loss_half_of_the_shadow() {
        let steep = ("scale", Value::Number(1e-6));
        for (set, share) in [(vec![steep.clone()], 0.7), (vec![steep, linux()], 724.0 / 1024.0)] {
            let mut part = part(&set, 1);
            round(&mut *part, 0, (50_000, 50_000), AVOIDANCE);
            round(&mut *part, 1, (50_000, 50_000), AVOIDANCE);
            let fallen = (2..5).find_map(|number| round(&mut *part, number, (60_000, 60_000), AVOIDANCE)).unwrap();
            assert_close(fallen.cwnd, 100.0 * share, 1e-9);
            assert_eq!(internal(|out| part.internals(out), "shadow_window"), 100.0);
            // The queue is not full: the paper's flow tolerates the loss, and a timeout costs half of the shadow.
            let after = part.respond(&congestion(Cause::DupAck, fallen.cwnd), &AVOIDANCE);
            assert_close(after.cwnd, if share < 0.701 { 70.0 } else { 50.0 }, 1e-9);
            assert_close(part.respond(&congestion(Cause::Timeout, fallen.cwnd), &AVOIDANCE).cwnd, 50.0, 1e-9);
        }
    }

    #[test]
    fn a_full_queue_makes_losses_count() {
        let mut part = part(&[("smoothing", Value::Number(1.0)), ("scale", Value::Number(10.0))], 1);
        for (number, pair) in
            [(50_000, 80_000), (50_000, 80_000), (55_000, 80_000), (60_000, 80_000), (65_000, 80_000)].into_iter().enumerate()
        {
            round(&mut *part, number as u64, pair, AVOIDANCE);
        }
        assert_eq!(part.respond(&congestion(Cause::DupAck, 100.0), &AVOIDANCE).cwnd, 50.0);
    }

    #[test]
    fn back_offs_without_effect_are_not_repeated() {
        let falls = |set: &[(&str, Value)], rounds: u64| {
            let mut part = part(&[&[("scale", Value::Number(1e-9))], set].concat(), 1);
            (0..rounds)
                .filter(|&number| round(&mut *part, number, (50_000 + 100 * number, 50_000 + 100 * number), AVOIDANCE).is_some())
                .count()
        };
        // All gradients rise: Linux backs off five times and never again, the paper's flow five times in ten.
        assert_eq!(falls(&[linux()], 200), 5);
        let paper = falls(&[], 200);
        assert!(paper > 20 && paper < 120, "{paper}");
        assert!(falls(&[("ineffective", Value::Number(0.0))], 200) > paper);
    }

    #[test]
    fn missing_changes_are_like_the_others_in_linux() {
        // Each round trip is longer by 1 ms. The ACK that ends one belongs to it, so that the smallest time rises from the second change on.
        let gradients = |set: &[(&str, Value)]| {
            let mut part = part(&[&[("scale", Value::Number(10.0))], set].concat(), 1);
            (0..12_u64)
                .map(|number| {
                    let rtt = 51_000 + 1000 * number;
                    round(&mut *part, number, (rtt, rtt), AVOIDANCE);
                    internal(|out| part.internals(out), "gradient")
                })
                .collect::<Vec<_>>()
        };
        let (document, kernel) = (gradients(&[]), gradients(&[linux()]));
        for (changes, (zeros, means)) in (1_u32..).zip(document.into_iter().zip(kernel).skip(1)) {
            let sum = 1e-3 * f64::from((changes - 1).clamp(1, 8));
            assert_close(zeros, sum / 8.0, 1e-9);
            assert_close(means, sum / f64::from(changes.min(8)), 1e-9);
        }
    }

    #[test]
    fn the_handshake_begins_the_first_round_trip_in_linux() {
        let gradient = |rtt| {
            let mut part = build(&ENTRY, &[linux(), ("scale", Value::Number(10.0))]).unwrap();
            part.on_established(&Established { rtt, ..established(1000) });
            for number in 0..3 {
                round(&mut *part, number, (60_000, 60_000), AVOIDANCE);
            }
            internal(|out| part.internals(out), "gradient")
        };
        // Its smallest time is that of the handshake, so that the second round trip's is longer by 10 ms; extrapolated from two changes.
        assert_close(gradient(Some(Duration::from_millis(50))), 5e-3, 1e-9);
        assert_eq!(gradient(None), 0.0);
    }

    #[test]
    fn linux_ends_slow_start_by_a_train_or_a_delay() {
        let slow_start = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        let exits = |gap: u64, rtt: &dyn Fn(u64) -> u64| {
            let mut part = part(&[linux()], 1);
            (0..60).find(|&index| {
                let now = Instant::from_nanos(1_000_000 * gap * index);
                let rtt = Some(Duration::from_millis(rtt(index / 20)));
                let ack = Ack { now, rtt, snd_una: index + 1, snd_nxt: 20 * (index / 20 + 1), ..ACK };
                part.observe(&ack, &slow_start);
                part.steer(&ack, &slow_start).is_some_and(|window| window.ssthresh == 20.0)
            })
        };
        // 30 ms: a train of more than 15 ms, with a millisecond between ACKs. Not with four.
        assert_eq!((exits(1, &|_| 30).is_some(), exits(4, &|_| 30)), (true, None));
        assert!(exits(4, &|round| 30 + 8 * round).is_some());
    }

    proptest! {
        #[test]
        fn no_back_off_and_no_loss_leaves_less_than_half(pairs in prop::collection::vec((1_u64..200_000, 0_u64..100_000), 1..60), seed in any::<u64>(), kernel in any::<bool>()) {
            let mut part = if kernel { part(&[linux()], seed) } else { part(&[], seed) };
            for ((low, more), number) in pairs.into_iter().zip(0..) {
                let fallen = round(&mut *part, number, (low, low + more), AVOIDANCE);
                prop_assert!(fallen.is_none_or(|window| (69.9..=70.8).contains(&window.cwnd)), "{:?}", fallen);
                let after = part.respond(&congestion(Cause::DupAck, 100.0), &AVOIDANCE).cwnd;
                prop_assert!((50.0..=100.0).contains(&after));
            }
        }
    }
}
