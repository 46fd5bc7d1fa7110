//! How the first slow start of a connection ended, and what its overshoot cost.

use ackclock_core::units::{Instant, Segments};

/// Why slow start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
    /// Duplicate ACKs reported a loss.
    Loss,
    /// The retransmission timer expired.
    Timeout,
    /// An ACK echoed a mark (ECN).
    Mark,
    /// The window reached `ssthresh`.
    Threshold,
    /// The slow start itself decided so.
    Algorithm,
}

impl ExitReason {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Mark => "mark",
            Self::Threshold => "threshold",
            Self::Algorithm => "algorithm",
        }
    }
}

/// The end of the first slow start.
#[derive(Clone, Debug, Default)]
pub struct SlowStartExit {
    exit: Option<(ExitReason, Instant, Segments)>,
    /// When the first loss was noticed.
    first_loss: Option<Instant>,
}

impl SlowStartExit {
    /// Reason, time, and `cwnd` before any reduction.
    pub fn get(&self) -> Option<(ExitReason, Instant, Segments)> {
        self.exit
    }

    /// When the first loss was noticed, by duplicate ACKs or by the timer.
    pub fn first_loss(&self) -> Option<Instant> {
        self.first_loss
    }

    pub(crate) fn happened(&self) -> bool {
        self.exit.is_some()
    }

    pub(crate) fn note(&mut self, reason: ExitReason, now: Instant, cwnd: Segments) {
        self.exit = Some((reason, now, cwnd));
    }

    pub(crate) fn note_loss(&mut self, now: Instant) {
        self.first_loss.get_or_insert(now);
    }
}
