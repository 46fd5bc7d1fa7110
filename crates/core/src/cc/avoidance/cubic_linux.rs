//! CUBIC as Linux has it: whole segments, and a count of acknowledged segments per increment.
//! ## What it does
//! After congestion the window rises towards its value at the congestion, as a cubic function of time, and beyond it, as in `cubic`. The
//! function yields the number of segments to acknowledge for each further segment of the window: cwnd/(target − cwnd). Reno's window
//! `W_est` only bounds this number. Congestion leaves 717/1024 of the window.
//!
//! Before the first congestion and after a timeout the window grows by at least one segment for 20 acknowledged segments, 5 % per round
//! trip.
//! ## References
//! Ha, Rhee & Xu, *CUBIC: a new TCP-friendly high-speed TCP variant*, 2008, algorithm 1. Measurements of Linux 6.18.
//! ## Differs from the document
//! A part of its own rather than a parameter of `cubic`: that part follows RFC 9438, whose window is a real number, and each rule below
//! would be a condition in it.
//!
//! From the paper, as measured:
//! - Congestion leaves 0.7 of the window instead of 0.8, in units of 1/1024.
//! - An ACK counts the segments that it acknowledges. At most one new segment results from two of them.
//! - If the window stays the same, also across congestion, the target is computed anew at most every 1/32 s. The target is that of time t plus the smallest
//!   round-trip time, which the paper has as well; RFC 9438 has the smoothed one.
//! - t and K are multiples of 1/1024 s, and t comes from a clock that advances every `tick`.
//! - The smallest round-trip time ignores the first second after congestion. A timeout resets it.
//! - Idle time since the last transmission does not count in t. Time in which the application limits the flow counts.
//!
//! From RFC 9438:
//! - `W_est` never grows by one segment per round trip (§4.3): its slope stays 8/15.
//! - An undo restores window and threshold, but none of CUBIC's variables (§4.9.2).
//! - A stage without a plateau begins with K = 0, but growth is at least 5 % per round trip (§4.8, §4.10).
//! ## Parameters
//! `c`: 410/1024 segments/s³, `beta_cubic`: 717/1024, `fast_convergence`: true and `reno_friendly`: true, from
//! `/sys/module/tcp_cubic/parameters` of Linux 6.18 (`bic_scale` 41, in units of 10/1024). `tick`: 4 ms, which is HZ 250; 0 stands for an
//! exact clock.

use super::reno::Count;
use crate::cc::contract::{Avoidance, Window};
use crate::cc::ticks::{TICK, Ticks};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Sent};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "cubic_linux",
    summary: "CUBIC as Linux has it: whole segments, Reno's window as a bound only; × 717/1024 at congestion",
    reference: "Ha, Rhee & Xu 2008; Linux 6.18",
    params: &[
        Param {
            name: "c",
            kind: Kind::Number { min: 0.001, max: 1000.0 },
            default: Default::Number(410.0 / 1024.0),
            doc: "C in segments/s³: aggressiveness of the cubic function; units of 1/1024",
        },
        Param {
            name: "beta_cubic",
            kind: Kind::Number { min: 0.1, max: 0.99 },
            default: Default::Number(717.0 / 1024.0),
            doc: "share of the window that remains after congestion; units of 1/1024",
        },
        Param {
            name: "fast_convergence",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether a flow with a falling plateau releases more bandwidth",
        },
        Param {
            name: "reno_friendly",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether the window grows at least as fast as Reno's window with this decrease",
        },
        TICK,
    ],
    quantities: &[
        quantity("W_max", "segments", "plateau of the cubic function: the window at the last congestion, or less").on("window"),
        quantity("K", "s", "time from the start of the stage until the cubic function reaches its plateau").on("time"),
        quantity("W_est", "segments", "window that Reno would have").on("window"),
        quantity("per_segment", "segments", "acknowledged segments per further segment of the window").on("window"),
    ],
    build: |params| {
        let scaled = |name| libm::round(params.number(name) * 1024.0) as u64;
        Ok(Box::new(CubicLinux {
            c: scaled("c"),
            beta: scaled("beta_cubic"),
            fast_convergence: params.flag("fast_convergence"),
            reno_friendly: params.flag("reno_friendly"),
            ticks: Ticks::new(params),
            w_max: 0,
            stage: None,
            updated: (0, 0),
            min_rtt: None,
            per_segment: u64::MAX,
            count: Count::default(),
            last_sent: Instant::ZERO,
        }))
    },
};

/// Units of t and K per second, and of shares.
const UNIT: u64 = 1024;
const SECOND: u64 = 1_000_000_000;

/// CUBIC in whole numbers.
#[derive(Clone, Debug)]
pub struct CubicLinux {
    /// C and the remaining share, in units of 1/1024.
    c: u64,
    beta: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    ticks: Ticks,
    /// The window at the last congestion, or less; 0 before any congestion and after a timeout.
    w_max: u64,
    stage: Option<Stage>,
    /// Window and tick of the last target.
    updated: (u64, u64),
    min_rtt: Option<Duration>,
    per_segment: u64,
    count: Count,
    last_sent: Instant,
}

/// A stage of congestion avoidance. Times are in ticks, except for `k`.
#[derive(Clone, Copy, Debug)]
struct Stage {
    epoch: u64,
    k: u64,
    origin: u64,
    w_est: u64,
    /// Acknowledged segments that `w_est` does not count yet.
    acked: u64,
}

/// 64 cube roots of 2¹⁸ · n, less one or a little more: where Linux begins with numbers whose leading bits are n (figures of `tcp_cubic`).
const STARTS: [u8; 64] = [
    0, 54, 54, 54, 118, 118, 118, 118, 123, 129, 134, 138, 143, 147, 151, 156, 157, 161, 164, 168, 170, 173, 176, 179, 181, 185, 187, 190,
    192, 194, 197, 199, 200, 202, 204, 206, 209, 211, 213, 215, 217, 219, 221, 222, 224, 225, 227, 229, 231, 232, 234, 236, 237, 239, 240,
    242, 244, 245, 246, 248, 250, 251, 252, 254,
];

/// The cube root as Linux computes it: one step of Newton's method, with an error of about 0.2 %.
fn cbrt(value: u64) -> u64 {
    let bits = u64::from(u64::BITS - value.leading_zeros());
    if bits < 7 {
        return (u64::from(STARTS[value as usize]) + 35) >> 6;
    }
    let third = ((bits * 84) >> 8) - 1;
    let start = ((u64::from(STARTS[(value >> (3 * third)) as usize & 63]) + 10) << third) >> 6;
    // A third is 341/1024.
    ((2 * start + value / (start * (start - 1))) * 341) >> 10
}

impl CubicLinux {
    /// Begins a stage with the window `cwnd`.
    fn begin(&self, now: u64, cwnd: u64) -> Stage {
        let k = if cwnd < self.w_max { cbrt(UNIT.pow(4) / self.c * (self.w_max - cwnd)) } else { 0 };
        Stage { epoch: now, k, origin: self.w_max.max(cwnd), w_est: cwnd, acked: 0 }
    }

    /// The segments to acknowledge for a further segment, by the cubic function.
    fn by_time(&self, stage: &Stage, now: u64, cwnd: u64) -> u64 {
        // The target is that of one round trip later.
        let ahead = self.min_rtt.map_or(0, |rtt| self.ticks.covering(rtt));
        let ticks = now - stage.epoch + ahead;
        let t = (u128::from(self.ticks.nanos(ticks)) * u128::from(UNIT) / u128::from(SECOND)) as u64;
        let offset = u128::from(t.abs_diff(stage.k));
        let delta = (u128::from(self.c) * offset.pow(3) / u128::from(UNIT.pow(4))).min(u128::from(u32::MAX)) as u64;
        let target = if t < stage.k { stage.origin.saturating_sub(delta) } else { stage.origin + delta };
        let per_segment = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        // Before any loss, and after a timeout: at least 5 % per round trip.
        if self.w_max == 0 { per_segment.min(20) } else { per_segment }
    }

    /// The bound of this number by Reno's window.
    fn by_reno(&self, stage: &mut Stage, cwnd: u64) -> u64 {
        // Acknowledged segments per increment of W_est, in eighths of the window.
        let eighths = 8 * (UNIT + self.beta) / 3 / (UNIT - self.beta);
        let per_increment = ((cwnd * eighths) >> 3).max(1);
        let grown = stage.acked.saturating_sub(1) / per_increment;
        stage.w_est += grown;
        stage.acked -= grown * per_increment;
        if stage.w_est > cwnd { cwnd / (stage.w_est - cwnd) } else { u64::MAX }
    }
}

impl Avoidance for CubicLinux {
    fn on_established(&mut self, event: &Established) {
        self.ticks.start(event);
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        let Some(rtt) = ack.rtt else { return };
        let now = self.ticks.at(ack.now);
        let is_early = |stage: &Stage| self.ticks.nanos(now - stage.epoch) < SECOND;
        if !self.stage.as_ref().is_some_and(is_early) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    fn on_sent(&mut self, sent: &Sent) {
        // The end of an idle period.
        if sent.inflight <= sent.size {
            let (now, last) = (self.ticks.at(sent.now), self.ticks.at(self.last_sent));
            if let Some(stage) = &mut self.stage {
                stage.epoch = (stage.epoch + (now - last)).min(now);
            }
        }
        self.last_sent = sent.now;
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let (now, cwnd) = (self.ticks.at(ack.now), window.cwnd as u64);
        let (updated_cwnd, updated) = self.updated;
        if let Some(stage) = &mut self.stage {
            stage.acked += ack.counted as u64;
        }
        // Congestion changes nothing of this: if the window is that of the last target, the stage after it begins later.
        if updated_cwnd != cwnd || self.ticks.nanos(now - updated) > SECOND / 32 {
            let fresh = self.stage.is_none();
            let mut stage = self.stage.unwrap_or_else(|| Stage { acked: ack.counted as u64, ..self.begin(now, cwnd) });
            // The target changes with the clock alone: at most once a tick, even if the window has changed.
            if fresh || updated != now {
                self.per_segment = self.by_time(&stage, now, cwnd);
                self.updated = (cwnd, now);
            }
            if self.reno_friendly {
                self.per_segment = self.per_segment.min(self.by_reno(&mut stage, cwnd));
            }
            // The window grows by at most half per round trip.
            self.per_segment = self.per_segment.max(2);
            self.stage = Some(stage);
        }
        window.cwnd + self.count.add(ack.counted, self.per_segment as f64)
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let ssthresh = (((event.window as u64) * self.beta / UNIT).max(2)) as Segments;
        Window { cwnd: ssthresh.min(event.window), ssthresh }
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        let cwnd = event.window as u64;
        let falls = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if falls { cwnd * (UNIT + self.beta) / (2 * UNIT) } else { cwnd };
        (self.stage, self.count) = (None, Count::default());
        if event.restart || event.cause == Cause::Timeout {
            self.on_restart();
        }
    }

    fn on_restart(&mut self) {
        (self.stage, self.count, self.w_max, self.min_rtt, self.updated) = (None, Count::default(), 0, None, (0, 0));
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if self.w_max > 0 {
            out("W_max", self.w_max as f64);
        }
        if let Some(stage) = &self.stage {
            out("K", stage.k as f64 / UNIT as f64);
            out("W_est", stage.w_est as f64);
            out("per_segment", self.per_segment as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, build, congestion, established, internal, window};

    fn cubic(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        build(&ENTRY, set).unwrap()
    }

    fn ack(millis: u64) -> Ack {
        Ack { now: Instant::from_nanos(1_000_000 * millis), rtt: Some(Duration::from_millis(100)), ..ACK }
    }

    fn acknowledge(part: &mut dyn Avoidance, ack: &Ack, cwnd: Segments) -> Segments {
        part.observe(ack, &window(cwnd));
        part.on_ack(ack, &window(cwnd))
    }

    /// Congestion with `cwnd` in force. Returns the window after it.
    fn reduce(part: &mut dyn Avoidance, cause: Cause, cwnd: Segments) -> Segments {
        let event = congestion(cause, cwnd);
        let after = part.respond(&event, &window(cwnd));
        part.on_reduction(&event, &after);
        after.cwnd
    }

    fn read(part: &dyn Avoidance, name: &str) -> f64 {
        internal(|out| part.internals(out), name)
    }

    #[test]
    fn congestion_leaves_717_of_1024_whole_segments() {
        let part = |cwnd| cubic(&[]).respond(&congestion(Cause::DupAck, cwnd), &window(cwnd));
        assert_eq!([10.0, 416.0, 3.0].map(|cwnd| part(cwnd).cwnd), [7.0, 291.0, 2.0]);
        assert_eq!(part(1.0), Window { cwnd: 1.0, ssthresh: 2.0 });
    }

    #[test]
    fn the_target_is_that_of_the_function_in_whole_segments() {
        let mut part = cubic(&[("reno_friendly", Value::Bool(false))]);
        let cwnd = reduce(&mut *part, Cause::DupAck, 1000.0);
        assert_eq!(cwnd, 700.0);
        acknowledge(&mut *part, &ack(8000), cwnd);
        // K = (300 · 1024/410)^⅓ s; the target 0.1 s later is 700 + 32: 21 segments for each of them.
        let k = read(&*part, "K");
        assert!((k / 9.0827 - 1.0).abs() <= 2e-3, "Linux computes the cube root to about 0.2 %");
        let target = 1000.0 - libm::floor(410.0 / 1024.0 * (k - 0.1).powi(3));
        assert_eq!(read(&*part, "per_segment"), libm::floor(700.0 / (target - 700.0)));
        // The function stays at its plateau for a while, then leaves it.
        acknowledge(&mut *part, &ack(8000 + 9000), 1000.0);
        assert_eq!(read(&*part, "per_segment"), 100_000.0);
        acknowledge(&mut *part, &ack(8000 + 11_000), 1000.0);
        let target = 1000.0 + libm::floor(410.0 / 1024.0 * (11.1 - k).powi(3));
        assert_eq!(read(&*part, "per_segment"), libm::floor(1000.0 / (target - 1000.0)));
        acknowledge(&mut *part, &ack(8000 + 100_000), 1000.0);
        assert_eq!(read(&*part, "per_segment"), 2.0, "at most half a window per round trip");
    }

    #[test]
    fn growth_is_five_percent_before_any_loss_and_after_a_timeout() {
        for cause in [None, Some(Cause::Timeout)] {
            let mut part = cubic(&[]);
            if let Some(cause) = cause {
                reduce(&mut *part, cause, 1000.0);
            }
            let mut cwnd = 700.0;
            for index in 0..40 {
                cwnd = acknowledge(&mut *part, &ack(5000 + index), cwnd);
            }
            assert_eq!(cwnd, 702.0, "one segment for 20");
        }
    }

    #[test]
    fn renos_window_bounds_the_segments_per_increment() {
        // Right after congestion the cubic function is flat; W_est grows by one for 15/8 of a window.
        let grown = |friendly| {
            let mut part = cubic(&[("reno_friendly", Value::Bool(friendly)), ("tick", Value::Number(0.0))]);
            let mut cwnd = reduce(&mut *part, Cause::DupAck, 4.0);
            for index in 0..400 {
                cwnd = acknowledge(&mut *part, &ack(1000 + index / 4), cwnd);
            }
            cwnd
        };
        assert!(grown(true) > grown(false) + 5.0, "{} {}", grown(true), grown(false));
    }

    #[test]
    fn a_restart_forgets_what_a_timeout_forgets() {
        let mut part = cubic(&[]);
        reduce(&mut *part, Cause::DupAck, 1000.0);
        acknowledge(&mut *part, &ack(1000), 700.0);
        part.on_restart();
        let mut other = cubic(&[]);
        let grown = |part: &mut dyn Avoidance| (1001..1040).map(|at| acknowledge(part, &ack(at), 3.0)).collect::<Vec<_>>();
        assert_eq!(grown(&mut *part), grown(&mut *other));
    }

    #[test]
    fn ticks_are_those_of_the_hosts_clock() {
        let kept = |phase: u64| {
            let mut part = cubic(&[("reno_friendly", Value::Bool(false))]);
            part.on_established(&Established { clock_phase: Duration::from_millis(phase), ..established(1460) });
            reduce(&mut *part, Cause::DupAck, 1000.0);
            acknowledge(&mut *part, &ack(1000), 700.0);
            let first = read(&*part, "per_segment");
            // Another window counts from the next tick on: 2 ms later, if the run began 2 ms after one.
            acknowledge(&mut *part, &ack(1002), 720.0);
            read(&*part, "per_segment") == first
        };
        assert_eq!([0, 1, 2, 3, 4].map(kept), [true, true, false, false, true]);
    }

    #[test]
    fn the_target_is_kept_for_a_32nd_of_a_second_while_the_window_is_unchanged() {
        let mut part = cubic(&[("reno_friendly", Value::Bool(false))]);
        reduce(&mut *part, Cause::DupAck, 1000.0);
        acknowledge(&mut *part, &ack(1000), 700.0);
        let first = read(&*part, "per_segment");
        // 28 ms later the target is the same; 32 ms, eight ticks later, it is closer to the plateau.
        acknowledge(&mut *part, &ack(1028), 700.0);
        assert_eq!(read(&*part, "per_segment"), first);
        acknowledge(&mut *part, &ack(1032), 700.0);
        assert!(read(&*part, "per_segment") < first);
        // Another window is reason enough, but not within the same tick.
        let kept = read(&*part, "per_segment");
        acknowledge(&mut *part, &ack(1033), 720.0);
        assert_eq!(read(&*part, "per_segment"), kept);
        acknowledge(&mut *part, &ack(1036), 720.0);
        assert!(read(&*part, "per_segment") > kept);
    }

    #[test]
    fn fast_convergence_lowers_the_plateau_below_the_last() {
        for (fast, plateau) in [(true, 765.0), (false, 900.0)] {
            let mut part = cubic(&[("fast_convergence", Value::Bool(fast))]);
            reduce(&mut *part, Cause::DupAck, 1000.0);
            reduce(&mut *part, Cause::DupAck, 900.0);
            assert_eq!(read(&*part, "W_max"), plateau);
            reduce(&mut *part, Cause::DupAck, 950.0);
            assert_eq!(read(&*part, "W_max"), 950.0, "a loss above the plateau");
        }
    }

    #[test]
    fn idle_time_since_the_last_transmission_does_not_count() {
        let mut part = cubic(&[("reno_friendly", Value::Bool(false))]);
        let send = |part: &mut dyn Avoidance, millis: u64, inflight| {
            part.on_sent(&Sent { now: Instant::from_nanos(1_000_000 * millis), inflight, ..SENT });
        };
        reduce(&mut *part, Cause::DupAck, 1000.0);
        acknowledge(&mut *part, &ack(1000), 700.0);
        send(&mut *part, 3000, 9000);
        send(&mut *part, 63_000, 1000);
        acknowledge(&mut *part, &ack(64_000), 800.0);
        let idle = read(&*part, "per_segment");
        let mut busy = cubic(&[("reno_friendly", Value::Bool(false))]);
        reduce(&mut *busy, Cause::DupAck, 1000.0);
        acknowledge(&mut *busy, &ack(1000), 700.0);
        acknowledge(&mut *busy, &ack(4000), 800.0);
        assert_eq!(idle, read(&*busy, "per_segment"));
    }

    #[test]
    fn the_smallest_round_trip_ignores_the_first_second_after_congestion() {
        let mut part = cubic(&[]);
        reduce(&mut *part, Cause::DupAck, 1000.0);
        let short = |millis| Ack { rtt: Some(Duration::from_millis(10)), ..ack(millis) };
        acknowledge(&mut *part, &ack(1000), 700.0);
        let target_of = |part: &dyn Avoidance| read(part, "per_segment");
        let with = |second: Ack| {
            let mut copy = part.clone();
            copy.observe(&second, &window(700.0));
            acknowledge(&mut *copy, &ack(2500), 800.0);
            target_of(&*copy)
        };
        assert_eq!(with(short(1990)), with(ack(1990)));
        assert!(with(short(2000)) > with(ack(2000)), "a smaller round trip has a nearer target");
    }

    #[test]
    fn cube_roots_of_linux_are_close() {
        // Linux: 1, 10, 100 and 1000 segments below the plateau, in units of 1/1024 s.
        assert_eq!([1, 10, 100, 1000].map(|below| cbrt(UNIT.pow(4) / 410 * below)), [1388, 2991, 6451, 13_897]);
        for value in (0..2000).map(|number| (1_u64 << 20) | (number * 7919)) {
            let exact = libm::cbrt(value as f64);
            assert!((cbrt(value) as f64 / exact - 1.0).abs() < 0.01, "{value}");
        }
    }
}
