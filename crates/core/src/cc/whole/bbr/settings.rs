//! BBR's constants, and the parameters that change them.

use super::state::State;
use crate::cc::bbr_model::Aggregation;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Duration;

/// The entry's parameters.
pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "constants",
        kind: Kind::Word(&["draft", "linux"]),
        default: Default::Word("draft"),
        doc: "constants of draft-ietf-ccwg-bbr, or of Linux's BBRv3",
    },
    Param {
        name: "initial_window",
        kind: Kind::Segments { min: 1.0, max: 1e6 },
        default: Default::Auto,
        doc: "initial window; auto is RFC 6928's",
    },
    Param {
        name: "loss_thresh",
        kind: Kind::Probability { min: 0.0, max: 0.5 },
        default: Default::Number(0.02),
        doc: "LossThresh: loss rate of a flight above which a probe ends (Cloudflare's quiche: 1.5 %)",
    },
    Param {
        name: "beta",
        kind: Kind::Number { min: 0.1, max: 0.99 },
        default: Default::Number(0.7),
        doc: "Beta: share of the short-term bounds that remains after a round with losses",
    },
    Param {
        name: "headroom",
        kind: Kind::Number { min: 0.0, max: 0.9 },
        default: Default::Number(0.15),
        doc: "Headroom: share of inflight_longterm left to other flows while cruising",
    },
    Param {
        name: "startup_full_loss_cnt",
        kind: Kind::Integer { min: 1.0, max: 1e6 },
        default: Default::Number(6.0),
        doc: "StartupFullLossCnt: number of lost ranges in a round at which losses may end Startup (QUIC stacks: 8)",
    },
    Param {
        name: "probe_rtt_interval",
        kind: Kind::Duration { min: 0.1, max: 1e6 },
        default: Default::Number(5.0),
        doc: "ProbeRTTInterval: longest time between two ProbeRTTs (QUIC stacks: 10 s)",
    },
];

/// The constants in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Whether Linux's constants apply.
    pub(super) linux: bool,
    /// In segments; `None` for RFC 6928's.
    pub(super) initial_window: Option<f64>,
    pub(super) loss_thresh: f64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) startup_full_loss_cnt: u32,
    pub(super) probe_rtt_interval: Duration,
}

impl Settings {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            linux: params.word("constants") == "linux",
            initial_window: params.number_or_auto("initial_window"),
            loss_thresh: params.number("loss_thresh"),
            beta: params.number("beta"),
            headroom: params.number("headroom"),
            startup_full_loss_cnt: params.number("startup_full_loss_cnt") as u32,
            probe_rtt_interval: Duration::from_secs_f64(params.number("probe_rtt_interval")),
        }
    }

    /// The pacing gain in `state`.
    pub(super) fn pacing_gain(&self, state: State) -> f64 {
        match (state, self.linux) {
            // 4·ln 2; Linux stores it in units of 1/256.
            (State::Startup, false) => 2.77,
            (State::Startup, true) => 2.77 + 1.0 / 256.0,
            (State::Drain, false) => 0.5,
            (State::Drain, true) => 1000.0 / 2885.0,
            (State::Down, false) => 0.9,
            (State::Down, true) => 0.91,
            (State::Up, _) => 1.25,
            (State::Cruise | State::Refill | State::ProbeRtt, _) => 1.0,
        }
    }

    /// The filter for the excess of ACKs. In Startup it spans one round, in Linux two.
    pub(super) const fn aggregation(&self, full: bool) -> Aggregation {
        match (self.linux, full) {
            (false, true) => Aggregation { slots: 10, rounds: 1 },
            (false, false) => Aggregation { slots: 1, rounds: 1 },
            (true, full) => Aggregation { slots: 2, rounds: if full { 5 } else { 1 } },
        }
    }
}
