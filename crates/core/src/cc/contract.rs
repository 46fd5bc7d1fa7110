//! The contract between a transport and its congestion control, and the traits of the four axes of which a control is composed.

use std::fmt::Debug;

use crate::events::{Ack, CongestionEvent, Established, FirstWindow, Lost, Sent};
use crate::units::{Bytes, Instant, Rate, Segments};

/// The congestion window and the slow start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (RFC 5681).
    pub cwnd: Segments,
    /// Slow start threshold (RFC 5681); infinite while there is none.
    pub ssthresh: Segments,
}

impl Window {
    /// The window after a reduction to `cwnd`: `ssthresh` rounded down to whole segments, at least 2; `cwnd` as it is (ns-2.35 with
    /// `precisionReduce_`).
    pub fn reduced_to(cwnd: Segments) -> Self {
        Self { cwnd, ssthresh: libm::floor(cwnd).max(2.0) }
    }

    /// The window after the one `in_force` was halved (RFC 5681 §3.1, equation 4).
    pub fn halved(in_force: Segments) -> Self {
        Self::reduced_to(in_force / 2.0)
    }
}

/// In which part of its life a control is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Looking for the capacity.
    SlowStart,
    /// At the capacity, probing for more.
    Avoidance,
}

/// What a slow start makes of an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Grow the window by so many segments.
    Grow(Segments),
    /// Leave slow start with this threshold.
    Exit {
        /// The new slow start threshold.
        ssthresh: Segments,
    },
    /// Leave slow start with this window and threshold.
    Leave(Window),
}

macro_rules! clone_boxes {
    ($($copy:ident of $axis:ident)*) => {$(
        /// Copies a boxed part or control; every type that can be cloned does.
        pub trait $copy {
            /// A copy that goes its own way.
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

/// What simulator, kernel runs and other stacks drive. Events carry facts; the outputs are read after each of them.
pub trait CongestionControl: CloneControl + Debug + Send + Sync {
    /// The SYN was acknowledged: open the initial window.
    fn on_established(&mut self, event: &Established);
    /// Whether the initial window, which is open now, wants to be spread over the first round trip.
    fn paces_initial_window(&self) -> bool {
        false
    }
    /// The first window is over: what the next connection to the same peer shall know, if it shall know something new.
    fn settle(&mut self, _first: &FirstWindow) -> Option<Segments> {
        None
    }
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}
    /// An ACK arrived; [`Ack::may_grow`] says whether the window may grow.
    fn on_ack(&mut self, ack: &Ack);
    /// A segment is thought to be lost.
    fn on_lost(&mut self, _lost: &Lost) {}
    /// Congestion was noticed: once per recovery period.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// A timer has expired that says nothing new of congestion: the window starts over from one segment, and the threshold stays.
    fn on_restart(&mut self) {
        self.deflate((self.window().cwnd - 1.0).max(0.0));
    }
    /// All that was outstanding at the congestion has been acknowledged.
    fn on_recovery_end(&mut self, _now: Instant) {}
    /// All losses of the last congestion event were spurious: restore what it took.
    fn on_spurious(&mut self, _now: Instant) {}
    /// Segments are of `smss` bytes from now on. A window that counts segments keeps its bytes.
    fn on_mss(&mut self, _smss: Bytes) {}
    /// The time that [`CongestionControl::timer`] named has come.
    fn on_timer(&mut self, _now: Instant) {}
    /// A partial ACK takes `by` segments out of the window during recovery (RFC 6582 §3.2 step 3).
    fn deflate(&mut self, _by: Segments) {}
    /// Nothing is left of the window: new data waits until ACKs make it grow, or a timeout opens it (Vegas' recovery after a timeout).
    /// A control whose window cannot be empty keeps its smallest.
    fn close(&mut self) {
        self.deflate(self.window().cwnd);
    }
    /// Duplicate ACKs add `by` segments to the window, in a recovery that inflates the window itself (Vegas').
    fn inflate(&mut self, _by: Segments) {}
    /// The window now.
    fn window(&self) -> Window;
    /// Whether it ever names a pacing rate or a timer, or changes its window when a segment is sent: asked once, by a host to which asking
    /// after each segment is a cost.
    fn paces(&self) -> bool {
        false
    }
    /// The rate at which to pace, where the control paces: data and headers.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// Data that may leave at once where the control paces; a segment at least, whatever it says. The host then waits until the rate has
    /// caught up with it.
    fn burst(&self) -> Bytes {
        Bytes(0)
    }
    /// When [`CongestionControl::on_timer`] wants to be called.
    fn timer(&self) -> Option<Instant> {
        None
    }
    /// Whether the window and the rate alone decide how much is sent in loss recovery, instead of the host's rules (PRR, inflation).
    fn owns_recovery(&self) -> bool {
        false
    }
    /// Whether the window holds back on purpose now, so that samples taken from what is sent say nothing of the path's rate.
    fn holds_back(&self) -> bool {
        false
    }
    /// Whether it uses [`Ack::sample`] and snapshots: asked once, by a host to which they are a cost.
    fn wants_samples(&self) -> bool {
        false
    }
    /// The phase now.
    fn phase(&self) -> Phase;
    /// The algorithm's own quantities, for traces: pulled by the recorder, never logged.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// The window with which a connection starts (axis `initial_window`).
pub trait InitialWindow: CloneInitialWindow + Debug + Send + Sync {
    /// The window in segments after the handshake.
    fn segments(&self, event: &Established) -> Segments;
    /// Whether an initial window of so many segments wants to be spread over the first round trip.
    fn paces(&self, _segments: Segments) -> bool {
        false
    }
    /// The initial window that the next connection to the same peer shall find as [`Established::learned`]; `None` leaves what is there.
    fn settle(&self, _first: &FirstWindow) -> Option<Segments> {
        None
    }
}

/// Growth while `cwnd < ssthresh` (axis `slow_start`).
pub trait SlowStart: CloneSlowStart + Debug + Send + Sync {
    /// An upper bound of the first `ssthresh`; infinite unless the algorithm sets one.
    fn initial_ssthresh(&self) -> Segments {
        Segments::INFINITY
    }
    /// Sees every ACK, also those at which the window may not grow.
    fn observe(&mut self, _ack: &Ack, _window: &Window) {}
    /// Decides on an ACK of new data in slow start.
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step;
    /// Growth per ACK, in segments, below which avoidance shall not fall; zero for all but algorithms that live on beyond `ssthresh`
    /// (ns-2's limited slow start).
    fn floor(&self, _window: &Window) -> Segments {
        0.0
    }
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent, _window: &Window) {}
    /// A segment is thought to be lost.
    fn on_lost(&mut self, _lost: &Lost, _window: &Window) {}
    /// Congestion was noticed; `window` is the window before the response.
    fn on_congestion(&mut self, _event: &CongestionEvent, _window: &Window) {}
    /// Segments are of `smss` bytes from now on.
    fn on_mss(&mut self, _smss: Bytes) {}
    /// The connection is established, with the initial window `window`.
    fn on_established(&mut self, _event: &Established, _window: &Window) {}
    /// Whether it ever names a pacing rate or a timer.
    fn paces(&self) -> bool {
        false
    }
    /// The rate at which to pace in slow start, if it paces.
    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        None
    }
    /// Data that may leave at once where it paces; a segment at least.
    fn burst(&self) -> Bytes {
        Bytes(0)
    }
    /// When [`SlowStart::on_timer`] wants to be called, in slow start.
    fn timer(&self) -> Option<Instant> {
        None
    }
    /// The time that [`SlowStart::timer`] named has come.
    fn on_timer(&mut self, _now: Instant, _window: &Window) -> Step {
        Step::Grow(0.0)
    }
    /// Whether it uses [`Ack::sample`] and snapshots.
    fn wants_samples(&self) -> bool {
        false
    }
    /// A timer has expired that says nothing new of congestion.
    fn on_restart(&mut self) {}
    /// Own quantities, for traces.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// Growth from `ssthresh` on (axis `avoidance`).
pub trait Avoidance: CloneAvoidance + Debug + Send + Sync {
    /// Sees every ACK, also those at which the window may not grow.
    fn observe(&mut self, _ack: &Ack, _window: &Window) {}
    /// The window after an ACK of new data in avoidance.
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments;
    /// The algorithm's own response to congestion; Reno's unless it has another.
    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        Window::halved(event.window)
    }
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}
    /// A segment is thought to be lost.
    fn on_lost(&mut self, _lost: &Lost) {}
    /// Segments are of `smss` bytes from now on.
    fn on_mss(&mut self, _smss: Bytes) {}
    /// Whether it ever names a pacing rate.
    fn paces(&self) -> bool {
        false
    }
    /// The rate at which to pace in avoidance, if it paces.
    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        None
    }
    /// Whether it uses [`Ack::sample`] and snapshots.
    fn wants_samples(&self) -> bool {
        false
    }
    /// The window was reduced to `window`, by whichever response.
    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {}
    /// The last reduction was spurious; `window` is the window before it is restored.
    fn on_spurious(&mut self, _window: &Window) {}
    /// The window with which recovery ends; the one it has, unless the algorithm has another.
    fn on_recovery_end(&mut self, window: &Window) -> Window {
        *window
    }
    /// Own quantities, for traces.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// Reduction at congestion (axis `loss_response`); overrides the avoidance's own.
pub trait LossResponse: CloneLossResponse + Debug + Send + Sync {
    /// Sees every ACK, also those at which the window may not grow.
    fn observe(&mut self, _ack: &Ack, _window: &Window) {}
    /// The window after congestion.
    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window;
    /// The window instead, where the host starts over (after a timeout, and Tahoe after duplicate ACKs): the host's loss window, unless the
    /// algorithm has another. `reduced` is what [`LossResponse::respond`] gave.
    fn restart(&self, event: &CongestionEvent, _reduced: &Window) -> Segments {
        event.loss_window
    }
    /// Own quantities, for traces.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}
