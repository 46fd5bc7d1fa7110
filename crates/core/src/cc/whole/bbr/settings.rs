//! BBR's constants, and the parameters that change them.

use super::state::State;
use crate::cc::bbr_model::{Aggregation, PACING_MARGIN};
use crate::cc::whole::INITIAL_WINDOW;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Duration;

/// The entry's parameters.
pub(super) const PARAMS: &[Param] = &[
    Param {
        name: "variant",
        kind: Kind::Word(&["draft", "linux", "quiche", "cloudflare", "s2n", "picoquic"]),
        default: Default::Word("draft"),
        doc: "constants and rules of draft-ietf-ccwg-bbr, or of an implementation",
    },
    INITIAL_WINDOW,
    Param {
        name: "loss_thresh",
        kind: Kind::Probability { min: 0.0, max: 0.5 },
        default: Default::Auto,
        doc: "LossThresh: loss rate of a flight above which a probe ends; auto is 2 %, and 1.5 % in Cloudflare's quiche",
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
        default: Default::Auto,
        doc: "StartupFullLossCnt: lost ranges in a round at which losses may end Startup; auto is 6, and 8 in quiche, Cloudflare's and s2n",
    },
    Param {
        name: "probe_rtt_interval",
        kind: Kind::Duration { min: 0.1, max: 1e6 },
        default: Default::Auto,
        doc: "ProbeRTTInterval: longest time between two ProbeRTTs; auto is 5 s, and 10 s in both quiches",
    },
];

/// Constants and rules in which the implementations differ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    startup_gain: f64,
    drain_gain: f64,
    down_gain: f64,
    loss_thresh: f64,
    startup_full_loss_cnt: u32,
    /// Lost ranges in a round without which losses do not end a probe.
    pub(super) probe_loss_cnt: u32,
    /// Seconds.
    probe_rtt_interval: f64,
    /// Share by which the pacing rate stays below the bandwidth.
    pub(super) pacing_margin: f64,
    /// Whether a probe stops at the flight size that lost too much before.
    pub(super) precautionary: bool,
    /// Whether the other rules are those of Linux.
    pub(super) linux: bool,
}

/// 4·ln 2, rounded as in the draft, and 2/ln 2 as implementations have it.
const STARTUP: f64 = 2.77;
const OLD_STARTUP: f64 = 2.885;

const DRAFT: Rules = Rules {
    startup_gain: STARTUP,
    drain_gain: 0.5,
    down_gain: 0.9,
    loss_thresh: 0.02,
    startup_full_loss_cnt: 6,
    probe_loss_cnt: 1,
    probe_rtt_interval: 5.0,
    pacing_margin: PACING_MARGIN,
    precautionary: true,
    linux: false,
};

/// The variants.
const VARIANTS: &[(&str, Rules)] = &[
    ("draft", DRAFT),
    // Linux stores gains in units of 1/256.
    ("linux", Rules { startup_gain: STARTUP + 1.0 / 256.0, drain_gain: 1000.0 / 2885.0, down_gain: 0.91, linux: true, ..DRAFT }),
    (
        "quiche",
        Rules {
            startup_gain: OLD_STARTUP,
            drain_gain: 1.0 / OLD_STARTUP,
            down_gain: 0.91,
            startup_full_loss_cnt: 8,
            probe_loss_cnt: 2,
            probe_rtt_interval: 10.0,
            pacing_margin: 0.0,
            ..DRAFT
        },
    ),
    (
        "cloudflare",
        Rules {
            startup_gain: 2.773,
            drain_gain: 1.0 / OLD_STARTUP,
            loss_thresh: 0.015,
            startup_full_loss_cnt: 8,
            probe_loss_cnt: 2,
            probe_rtt_interval: 10.0,
            ..DRAFT
        },
    ),
    ("s2n", Rules { startup_full_loss_cnt: 8, probe_loss_cnt: 2, precautionary: false, ..DRAFT }),
    ("picoquic", Rules { precautionary: false, ..DRAFT }),
];

/// The constants in force.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) rules: Rules,
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
        let chosen = params.word("variant");
        let rules = VARIANTS.iter().find(|(name, _)| *name == chosen).map_or(DRAFT, |(_, rules)| *rules);
        let loss_cnt = params.number_or_auto("startup_full_loss_cnt").map(|count| count as u32);
        Self {
            rules,
            initial_window: params.number_or_auto("initial_window"),
            loss_thresh: params.number_or_auto("loss_thresh").unwrap_or(rules.loss_thresh),
            beta: params.number("beta"),
            headroom: params.number("headroom"),
            startup_full_loss_cnt: loss_cnt.unwrap_or(rules.startup_full_loss_cnt),
            probe_rtt_interval: Duration::from_secs_f64(params.number_or_auto("probe_rtt_interval").unwrap_or(rules.probe_rtt_interval)),
        }
    }

    /// The pacing gain in `state`.
    pub(super) const fn pacing_gain(&self, state: State) -> f64 {
        match state {
            State::Startup => self.rules.startup_gain,
            State::Drain => self.rules.drain_gain,
            State::Down => self.rules.down_gain,
            State::Up => 1.25,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    /// The filter for the excess of ACKs. In Startup it spans one round, in Linux two.
    pub(super) const fn aggregation(&self, full: bool) -> Aggregation {
        match (self.rules.linux, full) {
            (false, true) => Aggregation { slots: 10, rounds: 1 },
            (false, false) => Aggregation { slots: 1, rounds: 1 },
            (true, full) => Aggregation { slots: 2, rounds: if full { 5 } else { 1 } },
        }
    }
}
