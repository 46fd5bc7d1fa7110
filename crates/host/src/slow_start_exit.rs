//! How the first slow start of a connection ended, and when its first loss was detected.

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
    /// The slow-start algorithm ended slow start.
    Algorithm,
}

impl ExitReason {
    /// The reason's name in tables.
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
    /// When the first loss was detected.
    first_loss: Option<Instant>,
}

impl SlowStartExit {
    /// Reason, time, and `cwnd` before any reduction.
    pub fn get(&self) -> Option<(ExitReason, Instant, Segments)> {
        self.exit
    }

    /// When duplicate ACKs or the timer detected the first loss.
    pub fn first_loss(&self) -> Option<Instant> {
        self.first_loss
    }

    /// Whether the first slow start has ended.
    pub fn happened(&self) -> bool {
        self.exit.is_some()
    }

    /// Slow start ends: reason, time, and `cwnd` before any reduction.
    pub fn note(&mut self, reason: ExitReason, now: Instant, cwnd: Segments) {
        self.exit = Some((reason, now, cwnd));
    }

    /// A loss is detected; only the first one counts.
    pub fn note_loss(&mut self, now: Instant) {
        self.first_loss.get_or_insert(now);
    }
}
