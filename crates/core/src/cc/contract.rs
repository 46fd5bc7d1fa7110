//! The contract between a transport and its congestion control, and the traits of the four axes that compose a control.

use std::fmt::Debug;

use crate::events::{Ack, CongestionEvent, Delivered, Established, FirstWindow, Idle, Lost, SavedPath, Sent, Timing};
use crate::qdisc::Ecn;
use crate::units::{Bytes, Instant, Rate, Segments};

/// The congestion window and the slow start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (RFC 5681).
    pub cwnd: Segments,
    /// Slow start threshold (RFC 5681); infinite if none is set.
    pub ssthresh: Segments,
}

impl Window {
    /// The window after a reduction to `cwnd` segments. `ssthresh` is rounded down to whole segments, at least 2; `cwnd` is not rounded
    /// (ns-2.35 with `precisionReduce_`).
    pub fn reduced_to(cwnd: Segments) -> Self {
        Self { cwnd, ssthresh: libm::floor(cwnd).max(2.0) }
    }

    /// The window after halving the window `in_force` (RFC 5681 §3.1, equation 4).
    pub fn halved(in_force: Segments) -> Self {
        Self::reduced_to(in_force / 2.0)
    }
}

/// The phase of a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Searching for the capacity.
    SlowStart,
    /// At the capacity: probing for more.
    Avoidance,
}

/// The decision of a slow start on an ACK or a timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Grow the window by this many segments.
    Grow(Segments),
    /// Exit slow start with this threshold, which also caps `cwnd`.
    Exit {
        /// The new slow start threshold.
        ssthresh: Segments,
    },
    /// Exit slow start with this window and threshold.
    Leave(Window),
    /// Set this window and threshold, and stay in charge even if the window has reached the threshold, such as to drain the queue. The slow
    /// start paces and decides on ACKs until it exits, or until congestion.
    Stay(Window),
}

/// What a control or part asks of its host besides the ordinary facts. The host asks once, because each costs time; what nobody wants
/// costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate wish")]
#[non_exhaustive]
pub struct Wants {
    /// Delivery rates ([`Ack::sample`]), and the snapshots of lost segments ([`Lost::packet`]).
    pub samples: bool,
    /// Every delivered segment ([`CongestionControl::on_delivered`]).
    pub deliveries: bool,
    /// One-way delays ([`Ack::one_way_delay`]).
    pub one_way_delay: bool,
    /// Round-trip times before all else that an ACK causes ([`CongestionControl::on_rtt`]).
    pub timing: bool,
    /// What an earlier connection to the peer has measured ([`Established::saved`]).
    pub saved_path: bool,
    /// Retransmissions of segments that do not count as lost ([`CongestionControl::proactive_below`]).
    pub proactive: bool,
    /// A window that the control lowers by itself at an ACK is reached over a round trip, if the host does so after a mark.
    pub gradual: bool,
}

impl Wants {
    /// Nothing.
    pub const NOTHING: Self = Self {
        samples: false,
        deliveries: false,
        one_way_delay: false,
        timing: false,
        saved_path: false,
        proactive: false,
        gradual: false,
    };
    /// Samples only.
    pub const SAMPLES: Self = Self { samples: true, ..Self::NOTHING };

    /// With other wishes: `Wants::NOTHING.with(|it| it.timing = true)`.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// What either of two parts wants.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            samples: self.samples || other.samples,
            deliveries: self.deliveries || other.deliveries,
            one_way_delay: self.one_way_delay || other.one_way_delay,
            timing: self.timing || other.timing,
            saved_path: self.saved_path || other.saved_path,
            proactive: self.proactive || other.proactive,
            gradual: self.gradual || other.gradual,
        }
    }
}

macro_rules! clone_boxes {
    ($($copy:ident of $axis:ident)*) => {$(
        /// Copies a boxed part or control. Every type that is `Clone` implements it.
        pub trait $copy {
            /// An independent copy.
            fn clone_box(&self) -> Box<dyn $axis>;
        }

        impl<T: $axis + Clone + 'static> $copy for T {
            fn clone_box(&self) -> Box<dyn $axis> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $axis> {
            fn clone(&self) -> Self {
                (**self).clone_box()
            }
        }
    )*};
}

clone_boxes! {
    CloneControl of CongestionControl
    CloneInitialWindow of InitialWindow
    CloneSlowStart of SlowStart
    CloneAvoidance of Avoidance
    CloneLossResponse of LossResponse
}

/// The interface through which the simulator, kernel runs and other stacks drive a control. Events carry facts; the host reads the outputs
/// after each event.
pub trait CongestionControl: CloneControl + Debug + Send + Sync {
    /// The SYN has been acknowledged: open the initial window.
    fn on_established(&mut self, event: &Established);
    /// Whether the host should spread the initial window, which is open at the time of this call, over the first round trip.
    fn paces_initial_window(&self) -> bool {
        false
    }
    /// The first window is over. Returns the initial window for the next connection to the same peer, or `None` if nothing new was learned.
    fn on_first_window(&mut self, _first: &FirstWindow) -> Option<Segments> {
        None
    }
    /// What a later connection to the same peer may find in [`Established::saved`].
    fn saved_path(&self) -> Option<SavedPath> {
        None
    }
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}
    /// An ACK arrived; [`Ack::may_grow`] states whether the window may grow.
    fn on_ack(&mut self, ack: &Ack);
    /// A segment was declared lost.
    fn on_lost(&mut self, _lost: &Lost) {}
    /// A segment was delivered by the ACK that follows: only if the control [wants](CongestionControl::wants) it.
    fn on_delivered(&mut self, _delivered: &Delivered) {}
    /// The connection was idle, and has data to send again. By default the window shrinks to the restart window (RFC 5681 §4.1).
    fn on_idle(&mut self, idle: &Idle) {
        if let Some(most) = idle.restart_window
            && self.window().cwnd > most
        {
            self.resize(most - self.window().cwnd, 1.0);
        }
    }
    /// An ACK has measured a round-trip time; for a control that [wants](Wants::timing) it. This comes before all else that the ACK causes: no
    /// growth, loss or undo has changed the window yet. `cwnd`: the window in force, which a recovery may have reduced step by step (RFC 9937).
    fn on_rtt(&mut self, _timing: &Timing, _cwnd: Segments) {}
    /// Congestion was detected: once per recovery period.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// A timer expired without new evidence of congestion: the window restarts from one segment, and the threshold stays.
    fn on_restart(&mut self) {
        self.resize(-(self.window().cwnd - 1.0).max(0.0), 1.0);
    }
    /// All data outstanding when the recovery began has been acknowledged, or a gradual reduction is over. It began with a congestion event,
    /// unless a mark had already reduced the window for the same data, or the control itself has (see [`Wants::gradual`]).
    fn on_recovery_end(&mut self, _now: Instant) {}
    /// Every loss of the last congestion event was spurious: undo the reduction. Called once per reduction at most.
    fn on_spurious(&mut self, _now: Instant) {}
    /// From now on, segments carry `smss` bytes. A window counted in segments keeps its size in bytes.
    fn on_mss(&mut self, _smss: Bytes) {}
    /// The time returned by [`CongestionControl::timer`] has come.
    fn on_timer(&mut self, _now: Instant) {}
    /// The host's recovery changes the window by `by` segments, but leaves at least `least`, if the control can have so small a window. A
    /// partial ACK deflates it (RFC 6582 §3.2 step 3).
    fn resize(&mut self, _by: Segments, _least: Segments) {}
    /// The current window.
    fn window(&self) -> Window;
    /// Whether the control ever returns a pacing rate or a timer, or changes its window when a segment is sent. The host asks once, because
    /// asking after each segment costs time.
    fn paces(&self) -> bool {
        false
    }
    /// The pacing rate of data and headers, if the control paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Data that may leave at once if the control paces; the host sends at least one segment. It then waits until the rate has caught up.
    fn burst(&self) -> Bytes {
        Bytes(0)
    }
    /// Whether a host that forms blocks of segments for a rate, as the TCP of Linux does, decides what leaves at once, in place of
    /// [`CongestionControl::burst`]. The host asks once.
    fn paces_in_blocks(&self) -> bool {
        false
    }
    /// The time at which the control expects [`CongestionControl::on_timer`].
    fn timer(&self) -> Option<Instant> {
        None
    }
    /// Whether window and pacing rate alone decide how much is sent in loss recovery, in place of the host's rules (PRR, inflation). The host
    /// asks whenever it is about to apply such a rule.
    fn owns_recovery(&self) -> bool {
        false
    }
    /// Whether the control alone answers marks: the host applies its response at once instead of over a round trip, lets unmarked data grow
    /// the window meanwhile, and reports losses apart.
    fn owns_marks(&self) -> bool {
        false
    }
    /// Whether the host reports a loss even if a mark has reduced the window for the same data (RFC 8257 §3.5). A reduction that it applies
    /// over a round trip then goes on to the lower window.
    fn answers_losses_apart(&self) -> bool {
        self.owns_marks()
    }
    /// Whether the control limits the window on purpose now, so that rate samples say nothing about the path's rate.
    fn holds_back(&self) -> bool {
        false
    }
    /// The host retransmits, at once and whatever the window, the last segment below this position that was sent only once and is neither
    /// delivered nor lost, as far as it knows. It asks after each ACK that it reports, if the control [wants](Wants::proactive) that.
    fn proactive_below(&self) -> Option<u64> {
        None
    }
    /// What the control asks for besides the ordinary facts. The host asks once.
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
    /// The codepoint of the next segment with new data, if the connection uses ECN: Not-ECT, ECT(0) or ECT(1) (RFC 9331 §4.1).
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }
    /// The current phase.
    fn phase(&self) -> Phase;
    /// Reports the algorithm's own quantities for traces. The recorder pulls them; a control never logs.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// The initial window of a connection (axis `initial_window`).
pub trait InitialWindow: CloneInitialWindow + Debug + Send + Sync {
    /// The window after the handshake, in segments.
    fn segments(&self, event: &Established) -> Segments;
    /// Whether the host should spread an initial window of this many segments over the first round trip.
    fn paces(&self, _segments: Segments) -> bool {
        false
    }
    /// The initial window that the next connection to the same peer finds in [`Established::learned`]; `None` leaves that value unchanged.
    fn on_first_window(&self, _first: &FirstWindow) -> Option<Segments> {
        None
    }
}

/// Growth while `cwnd < ssthresh` (axis `slow_start`). A wrapper names the part inside it ([`SlowStart::inner`]); what it does not decide
/// itself, that part does.
pub trait SlowStart: CloneSlowStart + Debug + Send + Sync {
    /// The slow start inside this one, if it is a wrapper.
    fn inner(&self) -> Option<&dyn SlowStart> {
        None
    }
    /// The same, to be changed.
    fn inner_mut(&mut self) -> Option<&mut dyn SlowStart> {
        None
    }
    /// Upper bound of the first `ssthresh`; infinite unless the algorithm sets one.
    fn initial_ssthresh(&self) -> Segments {
        self.inner().map_or(Segments::INFINITY, SlowStart::initial_ssthresh)
    }
    /// The window after the handshake, where the initial window's policy opens `window`: another one, for a slow start that jumps.
    fn open(&mut self, event: &Established, window: Segments) -> Segments {
        self.inner_mut().map_or(window, |inner| inner.open(event, window))
    }
    /// As [`CongestionControl::saved_path`].
    fn saved_path(&self) -> Option<SavedPath> {
        self.inner()?.saved_path()
    }
    /// Observes every ACK, including those at which the window may not grow.
    fn observe(&mut self, ack: &Ack, window: &Window) {
        if let Some(inner) = self.inner_mut() {
            inner.observe(ack, window);
        }
    }
    /// Decides on an ACK of new data in slow start.
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step;
    /// The window that the part sets at an ACK, whatever the ACK permits: also in recovery, and if the window does not limit the sender. It
    /// comes after `observe`, and is for a part that takes back what it has not validated, or reduces the window in recovery.
    fn set_window(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        self.inner_mut()?.set_window(ack, window)
    }
    /// Whether a round-trip time ends slow start, for a part that [wants](Wants::timing) to hear of it before all else that the ACK causes: the
    /// new threshold, which also caps `cwnd`. `window`: the window in force and the threshold, also in recovery.
    fn on_rtt(&mut self, timing: &Timing, window: &Window) -> Option<Segments> {
        self.inner_mut()?.on_rtt(timing, window)
    }
    /// Least growth per ACK in avoidance, in segments. Zero unless the algorithm continues beyond `ssthresh` (ns-2's limited slow start).
    fn floor(&self, window: &Window) -> Segments {
        self.inner().map_or(0.0, |inner| inner.floor(window))
    }
    /// A segment was sent.
    fn on_sent(&mut self, sent: &Sent, window: &Window) {
        if let Some(inner) = self.inner_mut() {
            inner.on_sent(sent, window);
        }
    }
    /// A segment was declared lost.
    fn on_lost(&mut self, lost: &Lost, window: &Window) {
        if let Some(inner) = self.inner_mut() {
            inner.on_lost(lost, window);
        }
    }
    /// Congestion was detected; `window` is the window before the response.
    fn on_congestion(&mut self, event: &CongestionEvent, window: &Window) {
        if let Some(inner) = self.inner_mut() {
            inner.on_congestion(event, window);
        }
    }
    /// The part's own answer to this congestion, for one that knows what it has risked. `usual` is that of the loss response or the avoidance,
    /// which applies otherwise.
    fn respond(&mut self, event: &CongestionEvent, window: &Window, usual: &Window) -> Option<Window> {
        self.inner_mut()?.respond(event, window, usual)
    }
    /// The last reduction was spurious, and is undone.
    fn on_spurious(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.on_spurious();
        }
    }
    /// As [`CongestionControl::owns_recovery`].
    fn owns_recovery(&self) -> bool {
        self.inner().is_some_and(SlowStart::owns_recovery)
    }
    /// As [`CongestionControl::proactive_below`], whether or not slow start governs the window.
    fn proactive_below(&self) -> Option<u64> {
        self.inner()?.proactive_below()
    }
    /// From now on, segments carry `smss` bytes.
    fn on_mss(&mut self, smss: Bytes) {
        if let Some(inner) = self.inner_mut() {
            inner.on_mss(smss);
        }
    }
    /// The connection is established with the initial window `window`.
    fn on_established(&mut self, event: &Established, window: &Window) {
        if let Some(inner) = self.inner_mut() {
            inner.on_established(event, window);
        }
    }
    /// Whether the part ever returns a pacing rate or a timer.
    fn paces(&self) -> bool {
        self.inner().is_some_and(SlowStart::paces)
    }
    /// The pacing rate in slow start, if the part paces.
    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        self.inner()?.pacing_rate(window)
    }
    /// Data that may leave at once if the part paces; at least one segment leaves.
    fn burst(&self) -> Bytes {
        self.inner().map_or(Bytes(0), SlowStart::burst)
    }
    /// The time at which the part expects [`SlowStart::on_timer`] in slow start.
    fn timer(&self) -> Option<Instant> {
        self.inner()?.timer()
    }
    /// The time returned by [`SlowStart::timer`] has come.
    fn on_timer(&mut self, now: Instant, window: &Window) -> Step {
        self.inner_mut().map_or(Step::Grow(0.0), |inner| inner.on_timer(now, window))
    }
    /// What the part asks for besides the ordinary facts; deliveries are for whole controls.
    fn wants(&self) -> Wants {
        self.inner().map_or(Wants::NOTHING, SlowStart::wants)
    }
    /// A timer expired without new evidence of congestion.
    fn on_restart(&mut self) {
        if let Some(inner) = self.inner_mut() {
            inner.on_restart();
        }
    }
    /// Reports the part's own quantities for traces.
    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(inner) = self.inner() {
            inner.internals(out);
        }
    }
}

/// Growth from `ssthresh` on (axis `avoidance`).
pub trait Avoidance: CloneAvoidance + Debug + Send + Sync {
    /// The connection is established.
    fn on_established(&mut self, _event: &Established) {}
    /// An ACK has measured a round-trip time, for a part that [wants](Wants::timing) to hear of it before all else that the ACK causes.
    fn on_rtt(&mut self, _timing: &Timing) {}
    /// Observes every ACK, including those at which the window may not grow.
    fn observe(&mut self, _ack: &Ack, _window: &Window) {}
    /// A timer expired without new evidence of congestion.
    fn on_restart(&mut self) {}
    /// The window after an ACK of new data in avoidance.
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments;
    /// The algorithm's own response to congestion; halving by default.
    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        Window::halved(event.window)
    }
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}
    /// What the part asks for besides the ordinary facts; deliveries are for whole controls.
    fn wants(&self) -> Wants {
        Wants::NOTHING
    }
    /// Whether the part ever returns a pacing rate or a timer.
    fn paces(&self) -> bool {
        false
    }
    /// The pacing rate, if the part paces: in avoidance, and in slow starts that do not pace.
    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        None
    }
    /// Data that may leave at once if the part paces; at least one segment leaves.
    fn burst(&self) -> Bytes {
        Bytes(0)
    }
    /// The time at which the part expects [`Avoidance::on_timer`] in avoidance.
    fn timer(&self) -> Option<Instant> {
        None
    }
    /// The time returned by [`Avoidance::timer`] has come. Returns the window.
    fn on_timer(&mut self, _now: Instant, window: &Window) -> Segments {
        window.cwnd
    }
    /// The window that the part sets of its own accord, whatever governs growth: asked after an ACK at which the window may grow has made it
    /// grow, also in slow start, which ends if the window reaches the threshold. `None` leaves the window as it is.
    fn steer(&mut self, _ack: &Ack, _window: &Window) -> Option<Window> {
        None
    }
    /// Whether a window that [`Avoidance::on_ack`] shrinks takes the threshold along, so that slow start does not resume.
    fn lowers_threshold(&self) -> bool {
        false
    }
    /// As [`CongestionControl::owns_marks`].
    fn owns_marks(&self) -> bool {
        false
    }
    /// As [`CongestionControl::answers_losses_apart`].
    fn answers_losses_apart(&self) -> bool {
        self.owns_marks()
    }
    /// As [`CongestionControl::ecn`].
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }
    /// The window was reduced to `window`, by this part's response or another.
    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {}
    /// The last reduction was spurious; `window` is the window before the undo.
    fn on_spurious(&mut self, _window: &Window) {}
    /// The window after recovery; unchanged by default.
    fn on_recovery_end(&mut self, window: &Window) -> Window {
        *window
    }
    /// Reports the part's own quantities for traces.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// Reduction at congestion (axis `loss_response`); replaces the avoidance's own response.
pub trait LossResponse: CloneLossResponse + Debug + Send + Sync {
    /// Observes every ACK, including those at which the window may not grow.
    fn observe(&mut self, _ack: &Ack, _window: &Window) {}
    /// The window after congestion. `own` is the avoidance: a part may build on its own response, which it then asks for once.
    fn respond(&mut self, event: &CongestionEvent, window: &Window, own: &mut dyn Avoidance) -> Window;
    /// The window from which the host restarts, after a timeout or, with Tahoe, after duplicate ACKs. The default is the host's loss
    /// window. `reduced` is the result of [`LossResponse::respond`].
    fn restart(&self, event: &CongestionEvent, _reduced: &Window) -> Segments {
        event.loss_window
    }
    /// Reports the part's own quantities for traces.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}
