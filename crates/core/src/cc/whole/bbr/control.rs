//! The state of a BBR control, and the quantities computed from it.

use super::settings::Settings;
use super::state::{Cycle, State, Undo};
use crate::cc::bbr_model::{
    Bounds, ExtraAcked, FullPipe, MAX_QUANTUM, MIN_PIPE, MaxBandwidth, MinRtt, Recovery, Rounds, Signals, linux_quantum,
};
use crate::events::Ack;
use crate::params::Params;
use crate::rng::Generator;
use crate::units::Instant;

/// BBRv3. Amounts are in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
pub struct Bbr {
    pub(super) settings: Settings,
    pub(super) random: Generator,
    pub(super) smss: f64,
    pub(super) header: f64,
    pub(super) selective: bool,
    pub(super) initial_cwnd: f64,
    /// Bytes delivered and the next new position, as of the last event.
    pub(super) delivered: u64,
    pub(super) snd_nxt: u64,
    pub(super) state: State,
    pub(super) rounds: Rounds,
    pub(super) max_bw: MaxBandwidth,
    pub(super) min_rtt: MinRtt,
    pub(super) extra_acked: ExtraAcked,
    pub(super) full: FullPipe,
    pub(super) bounds: Bounds,
    pub(super) signals: Signals,
    pub(super) cycle: Cycle,
    /// The round in which Drain began.
    pub(super) drain_start: u64,
    /// Earliest end of ProbeRTT, set once few packets are in flight.
    pub(super) probe_rtt_until: Option<Instant>,
    pub(super) probe_rtt_round_done: bool,
    pub(super) idle_restart: bool,
    pub(super) recovery: Recovery,
    pub(super) undo: Option<Undo>,
    pub(super) cwnd: f64,
    /// The window to which recovery and ProbeRTT return.
    pub(super) prior_cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) pacing_rate: f64,
}

impl Bbr {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            settings: Settings::new(params),
            random: Generator::derived(0, "bbr"),
            smss: 1.0,
            header: 0.0,
            selective: true,
            initial_cwnd: 1.0,
            delivered: 0,
            snd_nxt: 0,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: MaxBandwidth::default(),
            min_rtt: MinRtt::default(),
            extra_acked: ExtraAcked::default(),
            full: FullPipe::default(),
            bounds: Bounds::NONE,
            signals: Signals::default(),
            cycle: Cycle::new(),
            drain_start: 0,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            recovery: Recovery::None,
            undo: None,
            cwnd: 1.0,
            prior_cwnd: 0.0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
        }
    }

    /// The bandwidth in force (draft, `BBRBoundBWForModel`).
    pub(super) fn bw(&self) -> f64 {
        self.max_bw.get().min(self.bounds.bw_shortterm)
    }

    pub(super) fn bdp(&self) -> f64 {
        self.min_rtt.min.map_or(0.0, |rtt| self.bw() * rtt.as_secs_f64())
    }

    /// Draft, `BBRBDPMultiple`.
    pub(super) fn bdp_multiple(&self, gain: f64) -> f64 {
        if self.min_rtt.min.is_none() {
            return self.initial_cwnd;
        }
        let volume = gain * self.bdp();
        // Linux computes in segments.
        if self.settings.rules.linux { libm::ceil(volume / self.smss) * self.smss } else { volume }
    }

    /// Draft, `BBRQuantizationBudget`: the data needed to keep the sender's and the receiver's batches busy.
    pub(super) fn quantise(&self, inflight: f64) -> f64 {
        let least = inflight.max(3.0 * self.send_quantum()).max(self.min_pipe());
        if self.state == State::Up { least + 2.0 * self.smss } else { least }
    }

    /// Draft, `BBRInflight`.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.quantise(self.bdp_multiple(gain))
    }

    /// Draft, `BBRTargetInflight`.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm.is_infinite() { longterm } else { (longterm - self.smss.max(self.settings.headroom * longterm)).max(self.min_pipe()) }
    }

    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(State::ProbeRtt.cwnd_gain()).max(self.min_pipe())
    }

    pub(super) fn min_pipe(&self) -> f64 {
        MIN_PIPE * self.smss
    }

    /// Whether the window limits the sender, rather than the pacing rate.
    pub(super) fn is_cwnd_limited(&self, ack: &Ack) -> bool {
        ack.cwnd_limited && ack.inflight_before as f64 + self.send_quantum() > self.cwnd
    }

    /// Draft, `BBRSetPacingRateWithGain`.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * (1.0 - self.settings.rules.pacing_margin);
        if self.full.reached && rate > 0.0 || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Draft, `BBRSetSendQuantum`.
    pub(super) fn send_quantum(&self) -> f64 {
        let quantum = if self.settings.rules.linux { linux_quantum(self.pacing_rate, self.min_rtt.min) } else { self.pacing_rate * 1e-3 };
        quantum.min(MAX_QUANTUM).max(2.0 * self.smss)
    }

    /// Draft, `BBRSetCwnd`.
    pub(super) fn set_cwnd(&mut self, ack: &Ack) {
        let target = self.quantise(self.bdp_multiple(self.state.cwnd_gain()) + self.extra_acked.max);
        let acked = ack.delivered as f64;
        let starts = (self.delivered as f64) < self.initial_cwnd || self.settings.rules.linux && self.cwnd < 2.0 * self.initial_cwnd;
        if self.full.reached {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.cwnd < target || starts {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(self.min_pipe());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Draft, `BBRBoundCwndForModel`.
    pub(super) fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.bounds.inflight_shortterm).max(self.min_pipe()));
    }
}
