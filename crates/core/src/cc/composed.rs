//! A congestion control composed of one part per axis. It owns the window and its invariants, so that a part needs only a few lines.

use crate::cc::contract::{Avoidance, CongestionControl, InitialWindow, LossResponse, Phase, SlowStart, Step, Wants, Window};
use crate::events::{Ack, Cause, CongestionEvent, Established, FirstWindow, Idle, Lost, SavedPath, Sent, Timing};
use crate::qdisc::Ecn;
use crate::units::{Bytes, Instant, Rate, Segments};

/// Smallest congestion window: the loss window of RFC 5681 §3.1.
const LOSS_WINDOW: Segments = 1.0;
/// Smallest slow start threshold (RFC 5681 equation 4).
const MIN_SSTHRESH: Segments = 2.0;
/// Largest rounding error of a sum of growth, in segments.
const ROUNDING: Segments = 1e-9;

/// Initial window × slow start × avoidance × loss response.
#[derive(Clone, Debug)]
pub struct Composed {
    window: Window,
    smss: Bytes,
    /// Growth that does not yet amount to a segment, if the host has whole segments.
    rest: Option<Segments>,
    initial_window: Box<dyn InitialWindow>,
    slow_start: Box<dyn SlowStart>,
    avoidance: Box<dyn Avoidance>,
    /// If `None`, the avoidance's own response applies.
    loss_response: Option<Box<dyn LossResponse>>,
    /// Whether slow start stays in charge although the window has reached the threshold.
    stays: bool,
    /// The window before the last reduction, for undo.
    before_reduction: Option<Window>,
}

impl Composed {
    /// Composes a control. The first slow start threshold is the lower of `initial_ssthresh` segments (infinite: none) and the slow start's
    /// own bound. Without a `loss_response` the avoidance responds to congestion itself.
    pub fn new(
        initial_window: Box<dyn InitialWindow>,
        slow_start: Box<dyn SlowStart>,
        avoidance: Box<dyn Avoidance>,
        loss_response: Option<Box<dyn LossResponse>>,
        initial_ssthresh: Segments,
    ) -> Self {
        let ssthresh = initial_ssthresh.min(slow_start.initial_ssthresh());
        let window = Window { cwnd: 1.0, ssthresh };
        Self {
            window,
            smss: Bytes(0),
            rest: None,
            initial_window,
            slow_start,
            avoidance,
            loss_response,
            stays: false,
            before_reduction: None,
        }
    }

    fn observe(&mut self, ack: &Ack) {
        self.slow_start.observe(ack, &self.window);
        self.avoidance.observe(ack, &self.window);
        if let Some(response) = &mut self.loss_response {
            response.observe(ack, &self.window);
        }
    }

    /// Whether slow start governs the window.
    fn is_in_slow_start(&self) -> bool {
        self.window.cwnd < self.window.ssthresh || self.stays
    }

    /// Whether slow start governs the window and paces.
    fn slow_start_paces(&self) -> bool {
        self.is_in_slow_start() && self.slow_start.paces()
    }

    /// The part of a window that the host can use.
    fn usable(&self, segments: Segments) -> Segments {
        if self.rest.is_some() { libm::floor(segments) } else { segments }
    }

    /// The usable part of a reduced or given window.
    fn fit(&self, window: Window, least: Segments) -> Window {
        Window { cwnd: self.usable(window.cwnd).max(least), ssthresh: self.usable(window.ssthresh).max(MIN_SSTHRESH) }
    }

    /// Sets the window after growth or shrinking by a part. Whole segments apply at once; the rest waits.
    fn change_to(&mut self, cwnd: Segments) {
        let Some(rest) = &mut self.rest else {
            self.window.cwnd = cwnd;
            return;
        };
        // The sum of fractions such as 1/10 may miss a whole segment by rounding.
        let sum = cwnd + *rest;
        self.window.cwnd = libm::floor(sum + ROUNDING).max(LOSS_WINDOW);
        *rest = (sum - self.window.cwnd).max(0.0);
    }

    /// Slow start ends with this threshold, which also caps the window.
    fn exit(&mut self, ssthresh: Segments) {
        let cwnd = self.window.cwnd.min(ssthresh.max(MIN_SSTHRESH));
        self.window = self.fit(Window { cwnd, ssthresh }, LOSS_WINDOW);
    }

    /// Applies the slow start's decision; returns the segments that the ACK still counts for in avoidance: those that lie beyond the
    /// threshold, if the host has whole segments.
    fn apply(&mut self, step: Step) -> Segments {
        self.stays &= matches!(step, Step::Grow(_));
        match step {
            Step::Grow(segments) => {
                let cwnd = self.window.cwnd + segments;
                if self.rest.is_some() && cwnd > self.window.ssthresh {
                    (self.window.cwnd, self.rest) = (self.window.ssthresh, Some(0.0));
                    return cwnd - self.window.ssthresh;
                }
                self.change_to(cwnd);
            }
            Step::Exit { ssthresh } => self.exit(ssthresh),
            Step::Leave(window) => self.window = self.fit(window, LOSS_WINDOW),
            Step::Stay(window) => (self.window, self.stays) = (self.fit(window, LOSS_WINDOW), true),
        }
        0.0
    }

    /// Sets the window that the avoidance has chosen by itself.
    fn steer_to(&mut self, window: Window) {
        (self.window, self.stays) = (self.fit(window, LOSS_WINDOW), false);
        self.rest = self.rest.map(|_| 0.0);
    }

    fn grow_in_avoidance(&mut self, ack: &Ack) {
        let grown = self.avoidance.on_ack(ack, &self.window);
        let least = ack.counted * self.slow_start.floor(&self.window);
        // Without a floor, an avoidance may shrink the window (Vegas).
        let floor = if least > 0.0 { self.window.cwnd + least } else { LOSS_WINDOW };
        let before = self.window.cwnd;
        self.change_to(grown.max(floor).max(LOSS_WINDOW));
        if self.window.cwnd < before && self.avoidance.lowers_threshold() {
            self.window.ssthresh = self.window.ssthresh.min(self.window.cwnd.max(MIN_SSTHRESH));
        }
    }
}

impl CongestionControl for Composed {
    fn on_established(&mut self, event: &Established) {
        self.smss = event.smss;
        self.rest = event.whole_segments.then_some(0.0);
        let cwnd = self.slow_start.open(event, self.initial_window.segments(event));
        let window = Window { cwnd, ..self.window };
        self.window = self.fit(window, LOSS_WINDOW);
        self.slow_start.on_established(event, &self.window);
        self.avoidance.on_established(event);
    }

    fn paces_initial_window(&self) -> bool {
        self.initial_window.paces(self.window.cwnd)
    }

    fn on_first_window(&mut self, first: &FirstWindow) -> Option<Segments> {
        self.initial_window.on_first_window(first)
    }

    fn saved_path(&self) -> Option<SavedPath> {
        self.slow_start.saved_path()
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.slow_start.on_sent(sent, &self.window);
        self.avoidance.on_sent(sent);
    }

    fn on_rtt(&mut self, timing: &Timing, cwnd: Segments) {
        self.avoidance.on_rtt(timing);
        if let Some(ssthresh) = self.slow_start.on_rtt(timing, &Window { cwnd, ..self.window }) {
            self.exit(ssthresh);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.observe(ack);
        if let Some(window) = self.slow_start.set_window(ack, &self.window) {
            self.rest = self.rest.map(|_| 0.0);
            self.window = self.fit(window, self.window.cwnd.min(LOSS_WINDOW));
        }
        if !ack.may_grow || !ack.cwnd_limited {
            return;
        }
        if self.is_in_slow_start() {
            let step = self.slow_start.on_ack(ack, &self.window);
            let beyond = self.apply(step);
            if beyond > 0.0 {
                self.grow_in_avoidance(&Ack { counted: beyond.min(ack.counted), ..*ack });
            }
        } else {
            self.grow_in_avoidance(ack);
        }
        if let Some(window) = self.avoidance.steer(ack, &self.window) {
            self.steer_to(window);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.slow_start.on_lost(lost, &self.window);
    }

    fn on_idle(&mut self, idle: &Idle) {
        let Window { cwnd, ssthresh } = self.window;
        self.window.ssthresh = idle.threshold.map_or(ssthresh, |least| ssthresh.max(least));
        let most = idle.restart_window.unwrap_or(cwnd);
        if cwnd > most {
            self.resize(most - cwnd, LOSS_WINDOW);
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.before_reduction = Some(self.window);
        self.stays = false;
        self.slow_start.on_congestion(event, &self.window);
        let response = match &mut self.loss_response {
            Some(response) => response.respond(event, &self.window, &mut *self.avoidance),
            None => self.avoidance.respond(event, &self.window),
        };
        let response = self.slow_start.respond(event, &self.window, &response).unwrap_or(response);
        let (cwnd, least) = if event.restart || event.cause == Cause::Timeout {
            let restart = self.loss_response.as_ref().map_or(event.loss_window, |part| part.restart(event, &response));
            (restart, LOSS_WINDOW)
        } else {
            (response.cwnd, event.least)
        };
        self.rest = self.rest.map(|_| 0.0);
        self.window = self.fit(Window { cwnd, ssthresh: response.ssthresh }, least);
        self.avoidance.on_reduction(event, &self.window);
    }

    fn on_restart(&mut self) {
        self.slow_start.on_restart();
        self.avoidance.on_restart();
        self.rest = self.rest.map(|_| 0.0);
        (self.window.cwnd, self.stays) = (LOSS_WINDOW, false);
    }

    fn on_recovery_end(&mut self, _now: Instant) {
        let window = self.avoidance.on_recovery_end(&self.window);
        // The floor is one segment, or less if a reduction has left less.
        self.window = self.fit(window, self.window.cwnd.min(LOSS_WINDOW));
    }

    fn on_spurious(&mut self, _now: Instant) {
        if let Some(before) = self.before_reduction.take() {
            self.slow_start.on_spurious();
            self.avoidance.on_spurious(&self.window);
            let mut ssthresh = before.ssthresh;
            if self.rest.is_some() {
                // Linux remembers at least three quarters of the window.
                let quarters = libm::floor(before.cwnd / 2.0) + libm::floor(before.cwnd / 4.0);
                ssthresh = ssthresh.max(quarters).max(self.window.ssthresh);
            }
            self.window = Window { cwnd: self.window.cwnd.max(before.cwnd), ssthresh };
        }
    }

    fn on_mss(&mut self, smss: Bytes) {
        // RFC 8201 §5.4: a new path MTU does not change the window in bytes.
        if self.smss.0 > 0 && smss.0 > 0 {
            let factor = self.smss.0 as f64 / smss.0 as f64;
            let Window { cwnd, ssthresh } = self.window;
            self.window = self.fit(Window { cwnd: cwnd * factor, ssthresh: ssthresh * factor }, LOSS_WINDOW);
        }
        self.smss = smss;
        self.slow_start.on_mss(smss);
    }

    fn on_timer(&mut self, now: Instant) {
        if self.is_in_slow_start() {
            let step = self.slow_start.on_timer(now, &self.window);
            self.apply(step);
        } else if self.avoidance.timer().is_some_and(|due| due <= now) {
            let cwnd = self.avoidance.on_timer(now, &self.window);
            self.change_to(cwnd.max(LOSS_WINDOW));
        }
    }

    fn resize(&mut self, by: Segments, least: Segments) {
        self.window.cwnd = self.usable(self.window.cwnd + by).max(least);
    }

    fn window(&self) -> Window {
        self.window
    }

    fn paces(&self) -> bool {
        self.slow_start.paces() || self.avoidance.paces()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        if self.slow_start_paces() { self.slow_start.pacing_rate(&self.window) } else { self.avoidance.pacing_rate(&self.window) }
    }

    fn burst(&self) -> Bytes {
        if self.slow_start_paces() { self.slow_start.burst() } else { self.avoidance.burst() }
    }

    fn timer(&self) -> Option<Instant> {
        if self.is_in_slow_start() { self.slow_start.timer() } else { self.avoidance.timer() }
    }

    fn owns_recovery(&self) -> bool {
        self.slow_start.owns_recovery()
    }

    fn proactive_below(&self) -> Option<u64> {
        self.slow_start.proactive_below()
    }

    fn owns_marks(&self) -> bool {
        self.avoidance.owns_marks()
    }

    fn answers_losses_apart(&self) -> bool {
        self.avoidance.answers_losses_apart()
    }

    fn ecn(&self) -> Ecn {
        self.avoidance.ecn()
    }

    fn wants(&self) -> Wants {
        self.slow_start.wants().or(self.avoidance.wants())
    }

    fn phase(&self) -> Phase {
        if self.is_in_slow_start() || self.slow_start.floor(&self.window) > 0.0 { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        // Parts may share a quantity, such as a bandwidth estimate; it is reported once.
        let mut reported = Vec::new();
        let mut once = |name, value| {
            if !reported.contains(&name) {
                reported.push(name);
                out(name, value);
            }
        };
        self.slow_start.internals(&mut once);
        self.avoidance.internals(&mut once);
        if let Some(response) = &self.loss_response {
            response.internals(&mut once);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{avoidance, initial_window, loss_response, slow_start};
    use crate::events::PART_OF_A_SEGMENT;
    use crate::params::{Params, Value};
    use crate::testing::{ACK, SENT, build, congestion, established, internal};
    use crate::units::Duration;

    /// Standard slow start that exits at the window `exit_at` with a threshold of `ssthresh`, and counts observed ACKs.
    #[derive(Clone, Debug)]
    struct Exiting {
        exit_at: Segments,
        ssthresh: Segments,
        seen: u32,
    }

    impl SlowStart for Exiting {
        fn observe(&mut self, _ack: &Ack, _window: &Window) {
            self.seen += 1;
        }
        fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
            if window.cwnd >= self.exit_at { Step::Exit { ssthresh: self.ssthresh } } else { Step::Grow(ack.counted) }
        }
        fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
            out("seen", f64::from(self.seen));
        }
    }

    fn compose(slow_start: Box<dyn SlowStart>, initial: Segments, initial_ssthresh: Segments) -> Composed {
        let initial = build(&initial_window::fixed::ENTRY, &[("segments", Value::Number(initial))]).unwrap();
        let avoidance = build(&avoidance::reno::ENTRY, &[]).unwrap();
        let mut control = Composed::new(initial, slow_start, avoidance, None, initial_ssthresh);
        control.on_established(&established(1000));
        control
    }

    fn standard(initial: Segments, initial_ssthresh: Segments) -> Composed {
        compose(build(&slow_start::standard::ENTRY, &[]).unwrap(), initial, initial_ssthresh)
    }

    fn limited_ns2(initial: Segments) -> Composed {
        compose(build(&slow_start::limited_ns2::ENTRY, &[]).unwrap(), initial, 1000.0)
    }

    fn acks(control: &mut Composed, count: u32) -> Segments {
        for _ in 0..count {
            control.on_ack(&ACK);
        }
        control.window().cwnd
    }

    #[test]
    fn slow_start_below_the_threshold_and_avoidance_from_it_on() {
        let mut control = standard(6.0, 8.0);
        assert_eq!(control.phase(), Phase::SlowStart);
        assert_eq!(acks(&mut control, 2), 8.0);
        assert_eq!(control.phase(), Phase::Avoidance);
        assert_eq!(acks(&mut control, 1), 8.125);
    }

    #[test]
    fn no_growth_unless_the_window_limits_but_every_ack_is_seen() {
        let mut control = compose(Box::new(Exiting { exit_at: 99.0, ssthresh: 9.0, seen: 0 }), 4.0, 100.0);
        control.on_ack(&Ack { cwnd_limited: false, ..ACK });
        control.on_ack(&Ack { may_grow: false, ..ACK });
        assert_eq!(control.window().cwnd, 4.0);
        let mut seen = Vec::new();
        control.internals(&mut |name, value| seen.push((name, value)));
        assert_eq!(seen, [("seen", 2.0)]);
    }

    #[test]
    fn a_slow_start_may_exit_by_itself() {
        let mut control = compose(Box::new(Exiting { exit_at: 10.0, ssthresh: 7.0, seen: 0 }), 9.0, 100.0);
        assert_eq!(acks(&mut control, 1), 10.0);
        assert_eq!(control.phase(), Phase::SlowStart);
        assert_eq!(acks(&mut control, 1), 7.0);
        assert_eq!((control.window().ssthresh, control.phase()), (7.0, Phase::Avoidance));
        let mut control = compose(Box::new(Exiting { exit_at: 10.0, ssthresh: 0.5, seen: 0 }), 10.0, 100.0);
        control.on_ack(&ACK);
        assert_eq!(control.window(), Window { cwnd: 2.0, ssthresh: 2.0 }, "the threshold is at least 2");
    }

    #[test]
    fn congestion_halves_the_window_and_rounds_the_threshold_down() {
        let mut control = standard(9.0, 100.0);
        control.on_congestion(&congestion(Cause::DupAck, 9.0));
        assert_eq!(control.window(), Window { cwnd: 4.5, ssthresh: 4.0 });
        control.on_congestion(&congestion(Cause::DupAck, 1.0));
        assert_eq!(control.window(), Window { cwnd: 1.0, ssthresh: 2.0 });
        // If the host allows it, a reduction leaves less than one segment.
        control.on_congestion(&CongestionEvent { least: PART_OF_A_SEGMENT, ..congestion(Cause::DupAck, 1.0) });
        assert_eq!(control.window(), Window { cwnd: 0.5, ssthresh: 2.0 });
    }

    /// A host with whole segments.
    fn whole(slow_start: Box<dyn SlowStart>, initial: Segments, initial_ssthresh: Segments) -> Composed {
        let mut control = compose(slow_start, initial, initial_ssthresh);
        control.on_established(&Established { whole_segments: true, ..established(1000) });
        control
    }

    #[test]
    fn whole_segments_halve_and_floor() {
        let mut control = whole(build(&slow_start::standard::ENTRY, &[]).unwrap(), 9.0, 100.0);
        control.on_congestion(&CongestionEvent { least: 2.0, ..congestion(Cause::DupAck, 9.0) });
        assert_eq!(control.window(), Window { cwnd: 4.0, ssthresh: 4.0 });
        control.on_congestion(&CongestionEvent { least: 2.0, ..congestion(Cause::DupAck, 3.0) });
        assert_eq!(control.window(), Window { cwnd: 2.0, ssthresh: 2.0 });
    }

    #[test]
    fn growth_beyond_the_threshold_passes_on_to_avoidance() {
        let mut control = whole(build(&slow_start::standard::ENTRY, &[]).unwrap(), 6.0, 8.0);
        control.on_ack(&Ack { counted: 7.0, ..ACK });
        assert_eq!(control.window().cwnd, 8.0, "two segments reach the threshold");
        // Five of the eight segments for the next one have arrived.
        assert_eq!(acks(&mut control, 2), 8.0);
        assert_eq!(acks(&mut control, 1), 9.0);
    }

    #[test]
    fn a_part_that_grows_by_fractions_grows_by_whole_segments() {
        let limited = build(&slow_start::limited::ENTRY, &[("max_ssthresh", Value::Number(4.0))]).unwrap();
        let mut control = whole(limited, 6.0, 100.0);
        // RFC 3742: a third of a segment per ACK.
        assert_eq!([1, 1, 1, 3].map(|count| acks(&mut control, count)), [6.0, 6.0, 7.0, 8.0]);
        control.on_congestion(&congestion(Cause::Timeout, 8.0));
        assert_eq!(control.window(), Window { cwnd: 1.0, ssthresh: 4.0 });
    }

    #[test]
    fn a_loss_response_overrides_the_avoidances_own() {
        let response = build(&loss_response::staged::ENTRY, &[]).unwrap();
        let mut control = Composed { loss_response: Some(response), ..standard(20.0, 100.0) };
        control.on_congestion(&congestion(Cause::DupAck, 20.0));
        assert_eq!(control.window(), Window { cwnd: 5.0, ssthresh: 5.0 }, "algorithm 2 divides by 4 below 25");
    }

    #[test]
    fn a_timeout_and_tahoe_restart_from_one_segment() {
        for event in [congestion(Cause::Timeout, 20.0), CongestionEvent { restart: true, ..congestion(Cause::DupAck, 20.0) }] {
            let mut control = standard(20.0, 100.0);
            control.on_congestion(&event);
            assert_eq!(control.window(), Window { cwnd: 1.0, ssthresh: 10.0 });
            assert_eq!(acks(&mut control, 9), 10.0, "slow start up to the threshold");
            assert_eq!(control.phase(), Phase::Avoidance);
        }
    }

    #[test]
    fn an_idle_time_shrinks_the_window_and_the_threshold_remembers_it() {
        let after = |restart_window, threshold| {
            let mut control = standard(20.0, 12.0);
            control.on_idle(&Idle { now: Instant::ZERO, since: Instant::ZERO, restart_window, threshold });
            control.window()
        };
        assert_eq!(after(Some(10.0), Some(15.0)), Window { cwnd: 10.0, ssthresh: 15.0 });
        assert_eq!(after(Some(30.0), Some(9.0)), Window { cwnd: 20.0, ssthresh: 12.0 });
        assert_eq!(after(None, None), Window { cwnd: 20.0, ssthresh: 12.0 });
    }

    #[test]
    fn a_loss_response_may_set_the_restart_window() {
        let response = build(&loss_response::return_to_threshold::ENTRY, &[]).unwrap();
        let mut control = Composed { loss_response: Some(response), ..standard(20.0, 100.0) };
        control.on_congestion(&congestion(Cause::Timeout, 20.0));
        assert_eq!(control.window(), Window { cwnd: 9.95, ssthresh: 10.0 });
    }

    #[test]
    fn a_shared_quantity_is_reported_once() {
        let response = build(&loss_response::westwood::ENTRY, &[]).unwrap();
        let slow_start = build(&slow_start::queue_aware::ENTRY, &[]).unwrap();
        let avoidance = build(&avoidance::bandwidth_ratio::ENTRY, &[]).unwrap();
        let mut control = Composed { loss_response: Some(response), slow_start, avoidance, ..standard(20.0, 100.0) };
        control.on_ack(&Ack { min_rtt: Some(Duration::from_millis(1)), ..ACK });
        let mut names = Vec::new();
        control.internals(&mut |name, _| names.push(name));
        assert_eq!(names, ["bwe", "bwe_avg", "bwe_max", "diff", "delta"]);
    }

    #[test]
    fn a_spurious_reduction_is_undone_once() {
        let mut control = standard(20.0, 100.0);
        control.on_congestion(&congestion(Cause::Timeout, 20.0));
        acks(&mut control, 3);
        control.on_spurious(Instant::ZERO);
        assert_eq!(control.window(), Window { cwnd: 20.0, ssthresh: 100.0 });
        control.resize(-5.0, 1.0);
        control.on_spurious(Instant::ZERO);
        assert_eq!(control.window().cwnd, 15.0, "nothing is left to undo");
    }

    #[test]
    fn an_avoidance_is_notified_of_spurious_losses_and_of_segments_sent() {
        /// Counts segments sent, and sums the windows before each undo.
        #[derive(Clone, Debug, Default)]
        struct Counter {
            sent: f64,
            spurious: Segments,
        }
        impl Avoidance for Counter {
            fn on_ack(&mut self, _ack: &Ack, window: &Window) -> Segments {
                window.cwnd
            }
            fn on_sent(&mut self, _sent: &Sent) {
                self.sent += 1.0;
            }
            fn on_spurious(&mut self, window: &Window) {
                self.spurious += window.cwnd;
            }
            fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
                out("sent", self.sent);
                out("spurious", self.spurious);
            }
        }
        let mut control = Composed { avoidance: Box::new(Counter::default()), ..standard(20.0, 10.0) };
        control.on_sent(&SENT);
        control.on_spurious(Instant::ZERO);
        control.on_congestion(&congestion(Cause::DupAck, 20.0));
        control.on_spurious(Instant::ZERO);
        control.on_spurious(Instant::ZERO);
        assert_eq!(["sent", "spurious"].map(|name| internal(|out| control.internals(out), name)), [1.0, 10.0]);
    }

    #[test]
    fn a_new_segment_size_keeps_the_window_in_bytes() {
        let mut control = standard(10.0, 30.0);
        control.on_mss(Bytes(500));
        assert_eq!(control.window(), Window { cwnd: 20.0, ssthresh: 60.0 }, "segments had 1000 bytes");
        control.on_mss(Bytes(100_000));
        assert_eq!(control.window(), Window { cwnd: 1.0, ssthresh: 2.0 });
    }

    #[test]
    fn a_slow_start_may_pace_and_set_timers_until_it_ends() {
        /// Paces at 1 Mbit/s, and at its timer grows by one segment for each packet sent.
        #[derive(Clone, Debug, Default)]
        struct Timed {
            sent: f64,
        }
        impl SlowStart for Timed {
            fn on_ack(&mut self, _ack: &Ack, _window: &Window) -> Step {
                Step::Exit { ssthresh: 5.0 }
            }
            fn on_sent(&mut self, _sent: &Sent, _window: &Window) {
                self.sent += 1.0;
            }
            fn paces(&self) -> bool {
                true
            }
            fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
                Rate::from_bits_per_sec(1_000_000)
            }
            fn timer(&self) -> Option<Instant> {
                Some(Instant::from_nanos(1000))
            }
            fn on_timer(&mut self, _now: Instant, _window: &Window) -> Step {
                Step::Grow(self.sent)
            }
        }
        let mut control = compose(Box::new(Timed::default()), 10.0, 100.0);
        control.on_sent(&SENT);
        control.on_sent(&SENT);
        control.on_timer(Instant::from_nanos(1000));
        assert_eq!(control.window().cwnd, 12.0);
        assert!(control.pacing_rate().is_some() && control.timer().is_some());
        let copy = control.clone();
        control.on_ack(&ACK);
        assert_eq!(control.window(), Window { cwnd: 5.0, ssthresh: 5.0 });
        assert!(control.pacing_rate().is_none() && control.timer().is_none(), "slow start is over");
        control.on_timer(Instant::from_nanos(1000));
        assert_eq!((control.window().cwnd, copy.window().cwnd), (5.0, 12.0), "a copy is independent");
    }

    /// Grows to sixteen segments, lets go of one with each ACK, and exits at eight.
    #[derive(Clone, Debug)]
    struct Draining;

    impl SlowStart for Draining {
        fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
            let Window { cwnd, ssthresh } = *window;
            match ssthresh.is_finite() {
                false if cwnd < 16.0 => Step::Grow(ack.counted),
                _ if cwnd > 8.0 => Step::Stay(Window { cwnd: cwnd - 1.0, ssthresh: 8.0 }),
                _ => Step::Exit { ssthresh },
            }
        }
        fn paces(&self) -> bool {
            true
        }
        fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
            Rate::from_bits_per_sec(1_000_000)
        }
    }

    #[test]
    fn a_slow_start_may_stay_in_charge_beyond_the_threshold() {
        let mut control = compose(Box::new(Draining), 8.0, f64::INFINITY);
        assert_eq!(acks(&mut control, 8), 16.0);
        assert_eq!(acks(&mut control, 8), 8.0, "the queue has drained");
        assert_eq!((control.phase(), control.pacing_rate().is_some()), (Phase::SlowStart, true));
        let mut hit = control.clone();
        control.on_ack(&ACK);
        assert_eq!((control.phase(), control.pacing_rate()), (Phase::Avoidance, None));
        hit.on_congestion(&congestion(Cause::DupAck, 8.0));
        assert_eq!((hit.phase(), hit.window()), (Phase::Avoidance, Window { cwnd: 4.0, ssthresh: 4.0 }));
    }

    /// An avoidance that sends two segments at once at a fixed rate, and grows by its own clock.
    #[derive(Clone, Debug)]
    struct Clocked(Instant);

    impl Avoidance for Clocked {
        fn on_ack(&mut self, _ack: &Ack, window: &Window) -> Segments {
            window.cwnd
        }
        fn paces(&self) -> bool {
            true
        }
        fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
            Rate::from_bits_per_sec(1_000_000)
        }
        fn burst(&self) -> Bytes {
            Bytes(2000)
        }
        fn timer(&self) -> Option<Instant> {
            Some(self.0)
        }
        fn on_timer(&mut self, now: Instant, window: &Window) -> Segments {
            self.0 = now + Duration::from_millis(10);
            window.cwnd + 1.0
        }
    }

    #[test]
    fn an_avoidance_may_have_a_timer_and_bursts() {
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let initial = build(&initial_window::fixed::ENTRY, &[("segments", Value::Number(4.0))]).unwrap();
        let slow_start = build(&slow_start::standard::ENTRY, &[]).unwrap();
        let mut control = Composed::new(initial, slow_start, Box::new(Clocked(at(5))), None, 5.0);
        control.on_established(&established(1000));
        // The slow start does not pace, so that the avoidance's rate and burst apply to it.
        let rate = Rate::from_bits_per_sec(1_000_000);
        assert_eq!((control.timer(), control.burst(), control.pacing_rate()), (None, Bytes(2000), rate), "slow start");
        assert_eq!(acks(&mut control, 9), 5.0);
        assert_eq!((control.timer(), control.burst(), control.paces()), (Some(at(5)), Bytes(2000), true));
        control.on_timer(at(5));
        assert_eq!((control.window().cwnd, control.timer()), (6.0, Some(at(5) + Duration::from_millis(10))));
    }

    #[test]
    fn an_avoidance_may_set_the_window_in_slow_start() {
        /// Halves the window at ten segments.
        #[derive(Clone, Debug)]
        struct Halving;
        impl Avoidance for Halving {
            fn on_ack(&mut self, _ack: &Ack, window: &Window) -> Segments {
                window.cwnd
            }
            fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
                (window.cwnd >= 10.0).then(|| Window::halved(window.cwnd))
            }
        }
        let mut control = Composed { avoidance: Box::new(Halving), ..standard(8.0, 100.0) };
        assert_eq!((acks(&mut control, 1), control.phase()), (9.0, Phase::SlowStart));
        control.on_ack(&Ack { may_grow: false, ..ACK });
        control.on_ack(&Ack { cwnd_limited: false, ..ACK });
        assert_eq!(control.window().cwnd, 9.0, "asked only where the window may grow");
        acks(&mut control, 1);
        assert_eq!((control.window(), control.phase()), (Window { cwnd: 5.0, ssthresh: 5.0 }, Phase::Avoidance));
    }

    #[test]
    fn deflation_stops_at_one_segment() {
        let mut control = standard(4.0, 100.0);
        control.resize(-1.5, 1.0);
        assert_eq!(control.window().cwnd, 2.5);
        control.resize(-9.0, 1.0);
        assert_eq!(control.window(), Window { cwnd: 1.0, ssthresh: 100.0 });
    }

    #[test]
    fn a_closed_window_grows_from_zero() {
        let mut control = standard(4.0, 100.0);
        control.resize(-4.0, 0.0);
        control.on_recovery_end(Instant::ZERO);
        assert_eq!(control.window(), Window { cwnd: 0.0, ssthresh: 100.0 });
        assert_eq!(acks(&mut control, 1), 1.0);
    }

    #[test]
    fn the_first_threshold_is_the_lower_of_host_and_slow_start() {
        assert_eq!(standard(1.0, f64::INFINITY).window().ssthresh, f64::INFINITY);
        assert_eq!(standard(1.0, 64.0).window().ssthresh, 64.0);
        assert_eq!(limited_ns2(1.0).window().ssthresh, 100.0);
        let early = compose(build(&slow_start::limited_ns2::ENTRY, &[]).unwrap(), 1.0, 30.0);
        assert_eq!(early.window().ssthresh, 30.0);
    }

    #[test]
    fn ns2s_limited_slow_start_is_a_floor_under_avoidance_until_a_fast_retransmit() {
        let mut control = limited_ns2(100.0);
        assert_eq!(acks(&mut control, 1), 100.5, "1/⌊100/50⌋ instead of 1/100");
        assert_eq!(control.phase(), Phase::SlowStart);
        control.on_ack(&Ack { counted: 2.0, ..ACK });
        assert_eq!(control.window().cwnd, 101.5, "byte counting multiplies the floor as well");
        control.on_congestion(&congestion(Cause::DupAck, 240.0));
        assert_eq!(control.window(), Window { cwnd: 120.0, ssthresh: 120.0 });
        assert_eq!(control.phase(), Phase::Avoidance);
        assert_eq!(acks(&mut control, 1), 120.0 + 1.0 / 120.0);
    }

    #[test]
    fn no_initial_window_is_below_one_segment() {
        let mut params = Params::defaults(initial_window::fixed::ENTRY.params);
        params.set("segments", Value::Number(0.25));
        let initial = (initial_window::fixed::ENTRY.build)(&params).unwrap();
        let mut control = Composed { initial_window: initial, ..standard(1.0, 100.0) };
        control.on_established(&established(1000));
        assert_eq!(control.window().cwnd, 1.0);
    }
}
