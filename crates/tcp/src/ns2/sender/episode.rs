//! Congestion episodes: the data to which one reduction applies.

use ackclock_core::events::Cause;

/// The latest congestion.
#[derive(Debug)]
pub(super) struct Episode {
    /// One past the highest segment sent when congestion was last detected.
    recovery_point: u32,
    /// The latest sign of congestion since the last full recovery.
    cause: Option<Cause>,
}

impl Episode {
    /// No congestion yet.
    pub(super) const fn new() -> Self {
        Self { recovery_point: 1, cause: None }
    }

    /// One past the highest segment sent when congestion was last detected.
    pub(super) const fn recovery_point(&self) -> u32 {
        self.recovery_point
    }

    /// The latest sign of congestion since the last full recovery.
    pub(super) const fn cause(&self) -> Option<Cause> {
        self.cause
    }

    /// Congestion is detected, with all segments below `max` sent.
    pub(super) fn begin(&mut self, cause: Cause, max: u32) {
        (self.cause, self.recovery_point) = (Some(cause), max);
    }

    /// A sign of congestion that belongs to the same episode.
    pub(super) fn note(&mut self, cause: Cause) {
        self.cause = Some(cause);
    }

    /// Recovery from a loss is over.
    pub(super) fn end_loss(&mut self) {
        self.cause = self.cause.filter(|cause| *cause != Cause::DupAck);
    }

    /// All data of the episode is acknowledged.
    pub(super) fn end(&mut self) {
        self.recovery_point = 1;
    }
}

/// The sender's ECN state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marking {
    /// Whether the connection uses ECN.
    pub(super) capable: bool,
    /// The last mark arrived at a window of one segment or less.
    pub(super) at_one: bool,
    /// The window was reduced, and no segment has carried CWR since.
    pub(super) reduced: bool,
}

impl Marking {
    pub(super) const fn new(capable: bool) -> Self {
        Self { capable, at_one: false, reduced: false }
    }
}
