//! The phases of loss recovery.

/// What a sender does about losses.
///
/// ## References
/// RFC 5681 §3.2, RFC 6675 §5, RFC 3168 §6.1.2; `enum tcp_ca_state` of Linux, whose `Disorder` counts as open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecoveryPhase {
    /// No recovery.
    #[default]
    Open,
    /// No recovery, but the window is being reduced gradually after a mark.
    Reduction,
    /// Fast recovery, after duplicate ACKs, SACK or RACK.
    Fast,
    /// Recovery after an expired retransmission timer.
    Timeout,
}

impl RecoveryPhase {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Reduction => "reduction",
            Self::Fast => "fast",
            Self::Timeout => "timeout",
        }
    }
}
