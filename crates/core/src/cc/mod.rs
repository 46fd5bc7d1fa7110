//! Congestion control: the contract with the transport, and the four axes of which a control is composed.
//!
//! A control is usually [`Composed`] of an initial window, a slow start, an avoidance and a loss response; an algorithm that does not
//! decompose implements [`CongestionControl`] itself. Windows are real numbers of segments.

pub(crate) mod bandwidth;
mod composed;
pub(crate) mod nonlinear;
pub(crate) mod vegas;

pub use composed::Composed;

pub use crate::registry::{avoidance, initial_window, loss_response, slow_start};

use std::fmt::Debug;

use crate::events::{Ack, CongestionEvent, Established, FirstWindow, Sent};
use crate::units::{Instant, Rate, Segments};

/// The congestion window and the slow start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window (RFC 5681).
    pub cwnd: Segments,
    /// Slow start threshold (RFC 5681); infinite while there is none.
    pub ssthresh: Segments,
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

/// What simulator, kernel runs and other stacks drive.
pub trait CongestionControl: Debug + Send + Sync {
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
    /// New data was acknowledged outside loss recovery.
    fn on_ack(&mut self, ack: &Ack);
    /// An ACK arrived at which the window may not grow: a duplicate, a partial one, or the one that ends recovery.
    fn on_ack_in_recovery(&mut self, _ack: &Ack) {}
    /// Congestion was noticed: once per recovery period.
    fn on_congestion(&mut self, event: &CongestionEvent);
    /// A timer has expired that says nothing new of congestion: the window starts over from one segment, and the threshold stays.
    fn on_restart(&mut self) {
        self.deflate((self.window().cwnd - 1.0).max(0.0));
    }
    /// All that was outstanding at the congestion has been acknowledged.
    fn on_recovery_end(&mut self, _now: Instant) {}
    /// The last congestion event was spurious: restore what it took.
    fn on_spurious(&mut self, _now: Instant) {}
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
    /// The rate at which to pace, where the control paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    /// The phase now.
    fn phase(&self) -> Phase;
    /// The algorithm's own quantities, for traces: pulled by the recorder, never logged.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// The window with which a connection starts (axis `initial_window`).
pub trait InitialWindow: Debug + Send + Sync {
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
pub trait SlowStart: Debug + Send + Sync {
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
    /// Congestion was noticed; `window` is the window before the response.
    fn on_congestion(&mut self, _event: &CongestionEvent, _window: &Window) {}
    /// A timer has expired that says nothing new of congestion.
    fn on_restart(&mut self) {}
    /// Own quantities, for traces.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// Growth from `ssthresh` on (axis `avoidance`).
pub trait Avoidance: Debug + Send + Sync {
    /// Sees every ACK, also those at which the window may not grow.
    fn observe(&mut self, _ack: &Ack, _window: &Window) {}
    /// The window after an ACK of new data in avoidance.
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments;
    /// The algorithm's own response to congestion; Reno's unless it has another.
    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        loss_response::halve::halve(event.window)
    }
    /// A segment was sent.
    fn on_sent(&mut self, _sent: &Sent) {}
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
pub trait LossResponse: Debug + Send + Sync {
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
