//! CUBIC: the window is a cubic function of the time since the last congestion, independent of the round-trip time.
//! ## What it does
//! After congestion the window rises towards `W_max`, its value at the congestion: fast at first, then flat around `W_max` (concave
//! region). Beyond `W_max` it probes faster and faster (convex region); if Reno would be faster, on short and slow paths, it follows Reno's
//! window (Reno-friendly region). Congestion multiplies the window by 0.7.
//! ## References
//! RFC 9438: §4 for the algorithm, §5 for its mean window. Ha, Rhee & Xu, *CUBIC: a new TCP-friendly high-speed TCP variant*, 2008.
//! ## Differs from the document
//! Reduction:
//! - As elsewhere, congestion reduces the window in force, not the flight size (§4.6); `W_max` and `cwnd_prior` also record it. Both are
//!   equal while the window limits the sender.
//! - A reduction never raises the window, even if §4.6 asks for two segments after a loss. A mark reduces a window of one segment to less
//!   than one; the host then waits for its timer, as §4.6 requires.
//! - Another loss response may leave more than `W_max`: K is then negative, and the window is in the convex region.
//! - §4.8, on timeouts, also applies if Tahoe restarts after duplicate ACKs.
//!
//! Growth:
//! - (target − cwnd)/cwnd is multiplied by `counted`, the amount that the host counts for growth, which also is `segments_acked` in
//!   `W_est`. §4.4 has no such factor: a receiver that delays its ACKs would halve the rate at which the window approaches its target.
//! - In the Reno-friendly region the window becomes `W_est` only if that does not lower it. `W_cubic(t)` may be less than `W_est` although
//!   the window has already grown to `W_cubic(t + RTT)`.
//! - Without a smoothed round-trip time, RTT is zero.
//! - A stage begins with the first ACK at which the window may grow, which is the first after recovery.
//!
//! Undo (§4.9.2) restores CUBIC's variables only while the window is below `cwnd_prior`. Window and threshold follow the rule for every
//! avoidance, which restores the threshold in any case.
//! ## Parameters
//! `c`: 0.4 segments/s³, and `beta_cubic`: 0.7, as RFC 9438 §5.1 and §4.6 recommend. `fast_convergence`: true (§4.7, which recommends false
//! for a single flow). `reno_friendly`: true (§4.3); false uses the cubic function only, for comparison.

use crate::cc::contract::{Avoidance, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Sent};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "cubic",
    summary: "CUBIC: a cubic function of the time since congestion, at least Reno's window; × 0.7 at congestion",
    reference: "RFC 9438",
    params: &[
        Param {
            name: "c",
            kind: Kind::Number { min: 0.001, max: 1000.0 },
            default: Default::Number(0.4),
            doc: "C in segments/s³: aggressiveness of the cubic function (RFC 9438 §5.1: 0.4)",
        },
        Param {
            name: "beta_cubic",
            kind: Kind::Number { min: 0.1, max: 0.99 },
            default: Default::Number(0.7),
            doc: "share of the window that remains after congestion (RFC 9438 §4.6: 0.7)",
        },
        Param {
            name: "fast_convergence",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether a flow with a falling W_max releases more bandwidth (RFC 9438 §4.7)",
        },
        Param {
            name: "reno_friendly",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether the window is at least Reno's (RFC 9438 §4.3)",
        },
    ],
    quantities: &[
        quantity("W_max", "segments", "plateau of the cubic function: the window at the last congestion, or less").on("window"),
        quantity("K", "s", "time from the start of the stage until the cubic function reaches `W_max`").on("time"),
        quantity("W_est", "segments", "window that Reno would have").on("window"),
        quantity("target", "segments", "target of the window for the next round trip").on("window"),
    ],
    build: |params| {
        Ok(Box::new(Cubic {
            c: params.number("c"),
            beta_cubic: params.number("beta_cubic"),
            fast_convergence: params.flag("fast_convergence"),
            reno_friendly: params.flag("reno_friendly"),
            variables: Variables { cwnd_prior: 0.0, w_max: None, restarted: false, stage: None },
            undo: None,
            target: None,
            updated: Instant::ZERO,
            drained: false,
        }))
    },
};

/// CUBIC.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "the name in RFC 9438")]
pub struct Cubic {
    c: f64,
    beta_cubic: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    variables: Variables,
    /// The variables before the last reduction.
    undo: Option<Variables>,
    /// RFC 9438 §4.2: the target at the last ACK of this stage.
    target: Option<Segments>,
    /// End of the time already counted in t or excluded from it.
    updated: Instant,
    /// Whether nothing was outstanding after the last ACK.
    drained: bool,
}

/// The variables of RFC 9438 §4.1.2 that persist between ACKs; §4.9.2 saves them.
#[derive(Clone, Copy, Debug)]
struct Variables {
    /// The window when ssthresh was set most recently.
    cwnd_prior: Segments,
    /// The window at the last congestion, or less; `None` before any congestion.
    w_max: Option<Segments>,
    /// Whether the host restarted at the last congestion, so that `w_max` is no plateau.
    restarted: bool,
    /// The present stage of congestion avoidance; `None` until its first ACK.
    stage: Option<Stage>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// Start of the stage, moved forward by all time that does not count.
    t_epoch: Instant,
    /// Time from the start to the plateau, in seconds.
    k: f64,
    /// Reno's window.
    w_est: Segments,
    /// The plateau, `W_max`.
    w_max: Segments,
}

/// RFC 9438 §4.2 figure 1: the window `t` seconds into a stage.
fn w_cubic(c: f64, t: f64, stage: &Stage) -> Segments {
    let from_plateau = t - stage.k;
    c * from_plateau * from_plateau * from_plateau + stage.w_max
}

/// RFC 9438 §4.3: the additive increase at which AIMD with this decrease has Reno's mean window.
fn alpha_cubic(beta_cubic: f64) -> f64 {
    3.0 * (1.0 - beta_cubic) / (1.0 + beta_cubic)
}

impl Cubic {
    /// Begins a stage of congestion avoidance with the window `cwnd_epoch`.
    fn begin(&mut self, now: Instant, cwnd_epoch: Segments) -> Stage {
        let variables = &mut self.variables;
        if variables.w_max.is_none() {
            // RFC 9438 §4.10: slow start has ended without a loss.
            variables.cwnd_prior = cwnd_epoch;
        }
        let plateau = variables.w_max.filter(|_| !variables.restarted);
        // RFC 9438 §4.8 and §4.10: after a timeout, or without any loss so far, the stage begins at the plateau, with K = 0.
        let w_max = plateau.unwrap_or(cwnd_epoch);
        variables.w_max = Some(w_max);
        // RFC 9438 §4.2 figure 2, and §4.3 for the initial W_est.
        Stage { t_epoch: now, k: libm::cbrt((w_max - cwnd_epoch) / self.c), w_est: cwnd_epoch, w_max }
    }

    /// RFC 9438 §4.2 and §5.8: excludes the time until `now` from t, because the application limited the flow.
    fn exclude(&mut self, now: Instant) {
        let excluded = now.since(self.updated);
        for variables in [Some(&mut self.variables), self.undo.as_mut()].into_iter().flatten() {
            if let Some(stage) = &mut variables.stage {
                stage.t_epoch += excluded;
            }
        }
        self.updated = now;
    }
}

impl Avoidance for Cubic {
    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if !ack.cwnd_limited {
            self.exclude(ack.now);
        }
        self.updated = ack.now;
        self.drained = ack.flight_size == 0;
    }

    fn on_sent(&mut self, sent: &Sent) {
        // The end of an idle period.
        if std::mem::take(&mut self.drained) {
            self.exclude(sent.now);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd;
        let mut stage = self.variables.stage.unwrap_or_else(|| self.begin(ack.now, cwnd));
        // RFC 9438 §4.3 figure 4, with alpha_cubic = 1 from cwnd_prior on.
        let alpha = if stage.w_est >= self.variables.cwnd_prior { 1.0 } else { alpha_cubic(self.beta_cubic) };
        stage.w_est += alpha * ack.counted / cwnd;
        self.variables.stage = Some(stage);
        // RFC 9438 §4.2: t = t_current − t_epoch, and the target after the next round trip.
        let t = ack.now.since(stage.t_epoch).as_secs_f64();
        let rtt = ack.srtt.map_or(0.0, Duration::as_secs_f64);
        let target = w_cubic(self.c, t + rtt, &stage).clamp(cwnd, 1.5 * cwnd);
        self.target = Some(target);
        if self.reno_friendly && w_cubic(self.c, t, &stage) < stage.w_est {
            // RFC 9438 §4.3: the Reno-friendly region.
            return stage.w_est.max(cwnd);
        }
        // RFC 9438 §4.4 and §4.5: the concave and the convex region.
        cwnd + ack.counted * (target - cwnd) / cwnd
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        // RFC 9438 §4.6 figure 5.
        let ssthresh = event.window * self.beta_cubic;
        let least = match event.cause {
            Cause::EcnCe if event.window <= 1.0 => 0.0,
            Cause::EcnCe => 1.0,
            Cause::DupAck | Cause::Timeout => 2.0,
        };
        Window { cwnd: ssthresh.max(least).min(event.window), ssthresh: ssthresh.max(2.0) }
    }

    fn on_reduction(&mut self, event: &CongestionEvent, _window: &Window) {
        // RFC 9438 §4.9.2: the variables to restore after a spurious loss.
        self.undo = Some(self.variables);
        let cwnd = event.window;
        // RFC 9438 §4.7.
        let falls = self.variables.w_max.is_some_and(|w_max| cwnd < w_max);
        let factor = if self.fast_convergence && falls { f64::midpoint(1.0, self.beta_cubic) } else { 1.0 };
        let restarted = event.restart || event.cause == Cause::Timeout;
        self.variables = Variables { cwnd_prior: cwnd, w_max: Some(cwnd * factor), restarted, stage: None };
        self.target = None;
    }

    fn on_spurious(&mut self, window: &Window) {
        // RFC 9438 §4.9.2.
        if let Some(variables) = self.undo.take_if(|_| window.cwnd < self.variables.cwnd_prior) {
            self.variables = variables;
        }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(w_max) = self.variables.w_max {
            out("W_max", w_max);
        }
        if let Some(stage) = self.variables.stage {
            out("K", stage.k);
            out("W_est", stage.w_est);
        }
        if let Some(target) = self.target {
            out("target", target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, assert_close, build, congestion, internal, window};
    use proptest::prelude::*;

    /// Round-trip time of the ACKs below.
    const RTT: f64 = 0.1;

    fn cubic(off: &[&'static str]) -> Box<dyn Avoidance> {
        build(&ENTRY, &off.iter().map(|name| (*name, Value::Bool(false))).collect::<Vec<_>>()).unwrap()
    }

    fn instant(secs: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(secs)
    }

    /// An ACK at `secs` seconds at which the window may grow.
    fn ack(secs: f64) -> Ack {
        Ack { now: instant(secs), srtt: Some(Duration::from_secs_f64(RTT)), flight_size: 9, ..ACK }
    }

    /// Lets `part` observe and handle an ACK. Returns the window after it.
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

    /// The window of the cubic function by §4.2, for a plateau `w_max` and a start at 0.7 of it.
    fn by_hand(t: f64, w_max: f64) -> f64 {
        0.4 * (t - (0.3 * w_max / 0.4).cbrt()).powi(3) + w_max
    }

    #[test]
    fn the_functions_of_section_4_by_hand() {
        let mut part = cubic(&["reno_friendly"]);
        // K = (0.3·1000/0.4)^⅓ = 750^⅓ s.
        assert_eq!(reduce(&mut *part, Cause::DupAck, 1000.0), 700.0);
        let first = acknowledge(&mut *part, &ack(7.0), 700.0);
        assert_close(read(&*part, "K"), 9.085_603, 1e-6);
        assert_eq!(read(&*part, "W_max"), 1000.0);
        assert_close(read(&*part, "target"), by_hand(RTT, 1000.0), 1e-9);
        assert_close(first, 700.0 + (by_hand(RTT, 1000.0) - 700.0) / 700.0, 1e-9);
        // W_cubic(K) = W_max; beyond it is the convex region.
        for t in [2.0, 9.085_603 - RTT, 12.0] {
            acknowledge(&mut *part, &ack(7.0 + t), 700.0);
            let expected = by_hand(t + RTT, 1000.0).min(1.5 * 700.0);
            assert_close(read(&*part, "target"), expected, 1e-6);
        }
        let counted = Ack { counted: 2.0, ..ack(10.0) };
        assert_close(acknowledge(&mut *part, &counted, 900.0), 900.0 + 2.0 * (by_hand(3.0 + RTT, 1000.0) - 900.0).max(0.0) / 900.0, 1e-9);
    }

    #[test]
    fn the_target_is_at_least_the_window_and_at_most_half_more() {
        let mut part = cubic(&["reno_friendly"]);
        reduce(&mut *part, Cause::DupAck, 1000.0);
        acknowledge(&mut *part, &ack(0.0), 700.0);
        assert_eq!(acknowledge(&mut *part, &ack(1.0), 990.0), 990.0, "W_cubic(1.1 s) is below the window");
        assert_eq!(acknowledge(&mut *part, &ack(30.0), 800.0), 800.5, "at most 1.5 windows after a round trip of 800 ACKs");
    }

    #[test]
    fn a_stage_begins_at_the_present_window() {
        // W_cubic(0) = cwnd_epoch, whatever a loss response leaves; above W_max, K is negative.
        for cwnd_epoch in [100.0, 500.0, 700.0, 1000.0, 1100.0] {
            let mut part = cubic(&["reno_friendly"]);
            reduce(&mut *part, Cause::DupAck, 1000.0);
            let mut first = ack(3.0);
            first.srtt = None;
            assert_close(acknowledge(&mut *part, &first, cwnd_epoch), cwnd_epoch, 1e-9);
            assert_close(0.4 * read(&*part, "K").powi(3), 1000.0 - cwnd_epoch, 1e-9);
        }
    }

    #[test]
    fn the_reno_friendly_region_is_aimd_until_cwnd_prior_and_reno_beyond() {
        // On so short a path the cubic function hardly changes: the window is W_est.
        let mut part = cubic(&[]);
        let mut cwnd = reduce(&mut *part, Cause::DupAck, 20.0);
        let alpha = 3.0 * 0.3 / 1.7;
        let (mut w_est, mut acks) = (cwnd, 0);
        while w_est < 25.0 {
            w_est += if w_est >= 20.0 { 1.0 } else { alpha } / cwnd;
            acks += 1;
            cwnd = acknowledge(&mut *part, &Ack { srtt: None, ..ack(1e-4 * f64::from(acks)) }, cwnd);
            assert_close(read(&*part, "W_est"), w_est, 1e-9);
            assert_close(cwnd, w_est, 1e-9);
        }
    }

    #[test]
    fn the_reno_friendly_region_never_lowers_the_window() {
        let mut part = cubic(&[]);
        reduce(&mut *part, Cause::DupAck, 20.0);
        acknowledge(&mut *part, &ack(0.0), 14.0);
        assert_eq!(acknowledge(&mut *part, &ack(0.001), 19.0), 19.0, "W_est is 14.07, W_cubic 14.01");
    }

    #[test]
    fn fast_convergence() {
        for (off, lower) in [(&[][..], 0.85 * 900.0), (&["fast_convergence"][..], 900.0)] {
            let mut part = cubic(off);
            reduce(&mut *part, Cause::DupAck, 1000.0);
            reduce(&mut *part, Cause::DupAck, 900.0);
            assert_eq!(read(&*part, "W_max"), lower, "a loss below W_max");
            reduce(&mut *part, Cause::DupAck, 950.0);
            assert_eq!(read(&*part, "W_max"), 950.0, "a loss above W_max");
            reduce(&mut *part, Cause::DupAck, 950.0);
            assert_eq!(read(&*part, "W_max"), 950.0, "a loss at W_max");
        }
    }

    #[test]
    fn the_window_after_congestion() {
        let after = |cause, cwnd| cubic(&[]).respond(&congestion(cause, cwnd), &window(cwnd));
        assert_eq!(after(Cause::DupAck, 10.0), Window { cwnd: 7.0, ssthresh: 7.0 });
        assert_eq!(after(Cause::Timeout, 10.0).ssthresh, 7.0);
        assert_eq!(after(Cause::EcnCe, 10.0), Window { cwnd: 7.0, ssthresh: 7.0 });
        // §4.6: at least two segments after a loss, one after a mark; after a mark at one segment the sender waits for the timer.
        assert_eq!(after(Cause::DupAck, 2.5), Window { cwnd: 2.0, ssthresh: 2.0 });
        assert_eq!(after(Cause::DupAck, 1.0), Window { cwnd: 1.0, ssthresh: 2.0 });
        assert_eq!(after(Cause::EcnCe, 1.2), Window { cwnd: 1.0, ssthresh: 2.0 });
        assert_eq!(after(Cause::EcnCe, 1.0), Window { cwnd: 0.7, ssthresh: 2.0 });
    }

    #[test]
    fn after_a_timeout_or_without_loss_a_stage_begins_at_its_plateau() {
        for cause in [None, Some(Cause::Timeout)] {
            let mut part = cubic(&["reno_friendly"]);
            if let Some(cause) = cause {
                reduce(&mut *part, cause, 1000.0);
            }
            acknowledge(&mut *part, &ack(5.0), 700.0);
            assert_eq!((read(&*part, "K"), read(&*part, "W_max")), (0.0, 700.0));
            acknowledge(&mut *part, &ack(8.0), 700.0);
            assert_close(read(&*part, "target"), 700.0 + 0.4 * 3.1_f64.powi(3), 1e-9);
        }
        let mut tahoe = cubic(&[]);
        tahoe.on_reduction(&CongestionEvent { restart: true, ..congestion(Cause::DupAck, 1000.0) }, &window(1.0));
        acknowledge(&mut *tahoe, &ack(5.0), 700.0);
        assert_eq!(read(&*tahoe, "K"), 0.0);
    }

    #[test]
    fn renos_increase_applies_from_cwnd_prior_on() {
        // Without any loss cwnd_prior is the window at the end of slow start; after a timeout, the window before it.
        let growth = |cause: Option<Cause>| {
            let mut part = cubic(&[]);
            if let Some(cause) = cause {
                reduce(&mut *part, cause, 100.0);
            }
            let cwnd = acknowledge(&mut *part, &Ack { srtt: None, ..ACK }, 70.0);
            70.0 * (cwnd - 70.0)
        };
        assert_close(growth(None), 1.0, 1e-9);
        assert_close(growth(Some(Cause::Timeout)), 0.9 / 1.7, 1e-9);
    }

    #[test]
    fn application_limited_and_idle_time_does_not_count() {
        let mut part = cubic(&["reno_friendly"]);
        reduce(&mut *part, Cause::DupAck, 1000.0);
        acknowledge(&mut *part, &ack(0.0), 700.0);
        let mut target = |ack: &Ack, limited| {
            let ack = Ack { cwnd_limited: limited, ..*ack };
            part.observe(&ack, &window(800.0));
            if limited {
                part.on_ack(&ack, &window(800.0));
            }
            read(&*part, "target")
        };
        assert_close(target(&ack(4.0), true), by_hand(4.0 + RTT, 1000.0), 1e-6);
        // The application does not use the window from 4 s to 20 s, and uses it again until 21 s: t is 5 s.
        target(&ack(10.0), false);
        target(&ack(20.0), false);
        assert_close(target(&ack(21.0), true), by_hand(5.0 + RTT, 1000.0), 1e-6);
        // All data is acknowledged at 21.5 s and none is sent until 60 s; 0.5 s before and 0.25 s after count.
        target(&Ack { flight_size: 0, ..ack(21.5) }, true);
        for secs in [60.0, 60.1] {
            part.on_sent(&Sent { now: instant(secs), ..SENT });
        }
        acknowledge(&mut *part, &ack(60.25), 850.0);
        assert_close(read(&*part, "target"), by_hand(5.75 + RTT, 1000.0), 1e-6);
    }

    #[test]
    fn a_spurious_loss_is_undone_unless_the_window_has_recovered() {
        for (cwnd, restored) in [(900.0, true), (1000.0, false)] {
            let mut part = cubic(&["reno_friendly"]);
            reduce(&mut *part, Cause::DupAck, 1200.0);
            acknowledge(&mut *part, &ack(0.0), 840.0);
            acknowledge(&mut *part, &ack(4.0), 1000.0);
            let before = ["W_max", "K", "W_est"].map(|name| read(&*part, name));
            reduce(&mut *part, Cause::DupAck, 1000.0);
            acknowledge(&mut *part, &ack(4.5), 700.0);
            part.on_spurious(&window(cwnd));
            let after = ["W_max", "K", "W_est"].map(|name| read(&*part, name));
            assert_eq!(before == after, restored, "{before:?} {after:?}");
            acknowledge(&mut *part, &ack(6.0), 1000.0);
            let expected = if restored { by_hand(6.0 + RTT, 1200.0) } else { 1000.0 };
            assert_close(read(&*part, "target"), expected, 1e-6);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_window_grows_by_at_most_half_per_round_trip(
            w_max in 4.0..1e5_f64, cwnd in 4.0..1e5_f64, pause in 0.0..1e4_f64, rtt in 0.001..1.0_f64, friendly in any::<bool>(),
        ) {
            let mut part = cubic(if friendly { &[] } else { &["reno_friendly"] });
            reduce(&mut *part, Cause::DupAck, w_max);
            acknowledge(&mut *part, &ack(0.0), cwnd);
            let mut now = cwnd;
            for index in 0..cwnd as u32 {
                let ack = Ack { srtt: Some(Duration::from_secs_f64(rtt)), ..ack(pause + rtt * f64::from(index) / cwnd) };
                let next = acknowledge(&mut *part, &ack, now);
                prop_assert!(next >= now, "{now} {next}");
                now = next;
            }
            prop_assert!(now <= 1.5 * cwnd + 1e-6, "{cwnd} {now}");
        }

        #[test]
        fn the_function_reaches_the_plateau_at_k(w_max in 4.0..1e6_f64, beta in 0.1..0.99_f64, c in 0.001..1000.0_f64) {
            let set = [("beta_cubic", Value::Number(beta)), ("c", Value::Number(c)), ("reno_friendly", Value::Bool(false))];
            let mut part = build(&ENTRY, &set).unwrap();
            let cwnd_epoch = reduce(&mut *part, Cause::DupAck, w_max);
            acknowledge(&mut *part, &ack(0.0), cwnd_epoch);
            let k = read(&*part, "K");
            acknowledge(&mut *part, &Ack { srtt: None, ..ack(k) }, w_max);
            prop_assert!((read(&*part, "target") - w_max).abs() <= 1e-6 * w_max);
            prop_assert!((c * k.powi(3) - (w_max - cwnd_epoch)).abs() <= 1e-6 * w_max);
        }
    }
}
