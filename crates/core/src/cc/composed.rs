//! A congestion control composed of one part on each axis. It owns the window and the invariants, so that a part stays a few lines.

use crate::cc::{Avoidance, CongestionControl, InitialWindow, LossResponse, Phase, SlowStart, Step, Window};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::units::{Instant, Segments};

/// Smallest congestion window, and the window after a timeout: the loss window of RFC 5681 §3.1.
const LOSS_WINDOW: Segments = 1.0;
/// Smallest slow start threshold (RFC 5681 equation 4).
const MIN_SSTHRESH: Segments = 2.0;

/// Initial window × slow start × avoidance × loss response.
#[derive(Debug)]
pub struct Composed {
    window: Window,
    initial_window: Box<dyn InitialWindow>,
    slow_start: Box<dyn SlowStart>,
    avoidance: Box<dyn Avoidance>,
    /// `None`: the avoidance's own response.
    loss_response: Option<Box<dyn LossResponse>>,
    /// The window before the last reduction, for undo.
    before_reduction: Option<Window>,
}

impl Composed {
    /// Composes a control whose first slow start threshold is `initial_ssthresh` segments (infinite: none), or less where the slow
    /// start asks for less. Without a `loss_response` the avoidance answers congestion itself.
    pub fn new(
        initial_window: Box<dyn InitialWindow>,
        slow_start: Box<dyn SlowStart>,
        avoidance: Box<dyn Avoidance>,
        loss_response: Option<Box<dyn LossResponse>>,
        initial_ssthresh: Segments,
    ) -> Self {
        let ssthresh = initial_ssthresh.min(slow_start.initial_ssthresh());
        let window = Window { cwnd: 1.0, ssthresh };
        Self { window, initial_window, slow_start, avoidance, loss_response, before_reduction: None }
    }

    fn observe(&mut self, ack: &Ack) {
        self.slow_start.observe(ack, &self.window);
        self.avoidance.observe(ack, &self.window);
        if let Some(response) = &mut self.loss_response {
            response.observe(ack, &self.window);
        }
    }

    fn avoid(&mut self, ack: &Ack) {
        let grown = self.avoidance.on_ack(ack, &self.window);
        let floor = self.window.cwnd + self.slow_start.floor(&self.window);
        self.window.cwnd = grown.max(floor).max(LOSS_WINDOW);
    }
}

impl CongestionControl for Composed {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = self.initial_window.segments(event).max(LOSS_WINDOW);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.observe(ack);
        if !ack.cwnd_limited {
            return;
        }
        if self.window.cwnd >= self.window.ssthresh {
            self.avoid(ack);
            return;
        }
        match self.slow_start.on_ack(ack, &self.window) {
            Step::Grow(segments) => self.window.cwnd += segments,
            Step::Exit { ssthresh } => {
                self.window.ssthresh = ssthresh.max(MIN_SSTHRESH);
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
        }
    }

    fn on_ack_in_recovery(&mut self, ack: &Ack) {
        self.observe(ack);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.before_reduction = Some(self.window);
        self.slow_start.on_congestion(event, &self.window);
        let response = match &mut self.loss_response {
            Some(response) => response.respond(event, &self.window),
            None => self.avoidance.respond(event, &self.window),
        };
        let restart = event.restart || event.cause == Cause::Timeout;
        self.window = Window {
            cwnd: if restart { LOSS_WINDOW } else { response.cwnd.max(LOSS_WINDOW) },
            ssthresh: response.ssthresh.max(MIN_SSTHRESH),
        };
        self.avoidance.on_reduction(event, &self.window);
    }

    fn on_spurious(&mut self, _now: Instant) {
        if let Some(before) = self.before_reduction.take() {
            self.window = Window { cwnd: self.window.cwnd.max(before.cwnd), ssthresh: before.ssthresh };
        }
    }

    fn deflate(&mut self, by: Segments) {
        self.window.cwnd = (self.window.cwnd - by).max(LOSS_WINDOW);
    }

    fn window(&self) -> Window {
        self.window
    }

    fn phase(&self) -> Phase {
        if self.window.cwnd < self.window.ssthresh || self.slow_start.floor(&self.window) > 0.0 {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.slow_start.internals(out);
        self.avoidance.internals(out);
        if let Some(response) = &self.loss_response {
            response.internals(out);
        }
    }
}
