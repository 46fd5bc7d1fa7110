//! BBR's states: of its model of the path, of its probes and of the host's loss recovery.

use crate::cc::bbr_model::Bounds;
use crate::units::{Duration, Instant};

/// The states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    /// `ProbeBW_DOWN`.
    Down,
    /// `ProbeBW_CRUISE`.
    Cruise,
    /// `ProbeBW_REFILL`.
    Refill,
    /// `ProbeBW_UP`.
    Up,
    ProbeRtt,
}

impl State {
    /// Whether the state belongs to the ProbeBW cycle.
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// The gain of the window.
    pub(super) const fn cwnd_gain(self) -> f64 {
        match self {
            Self::Up => 2.25,
            Self::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// Whether the state searches for more bandwidth, so that losses set no short-term bounds.
    pub(super) const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The relation of arriving ACKs to the last bandwidth probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// ACKs belong to no probe.
    Init,
    /// The pipe is refilled before the probe.
    Refilling,
    /// The probe has begun.
    ProbeStarting,
    /// ACKs acknowledge data that the probe sent.
    ProbeFeedback,
    /// The probe is over, and its ACKs still arrive.
    ProbeStopping,
}

/// The cycle of bandwidth probes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) stamp: Instant,
    pub(super) wait: Duration,
    pub(super) rounds_since_probe: u64,
    pub(super) ack_phase: AckPhase,
    /// Whether losses belong to the probe (draft: `bw_probe_samples`).
    pub(super) samples_probe: bool,
    pub(super) up_rounds: i32,
    pub(super) up_acked: f64,
    pub(super) up_acked_per_inc: f64,
    /// Whether the last probe lost too much.
    pub(super) too_high: bool,
    /// Whether the last probe stopped at the flight size that had lost too much before.
    pub(super) precautionary: bool,
}

impl Cycle {
    pub(super) fn new() -> Self {
        Self {
            stamp: Instant::ZERO,
            wait: Duration::ZERO,
            rounds_since_probe: 0,
            ack_phase: AckPhase::Init,
            samples_probe: false,
            up_rounds: 0,
            up_acked: 0.0,
            up_acked_per_inc: f64::INFINITY,
            too_high: false,
            precautionary: false,
        }
    }
}

/// The state and bounds that a spurious loss restores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) state: State,
    pub(super) bounds: Bounds,
}

impl Undo {
    pub(super) const fn new(state: State, bounds: Bounds) -> Self {
        Self { state, bounds }
    }
}
