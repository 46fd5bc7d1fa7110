//! BBR's states and transitions.

use super::control::Bbr;
use super::state::{AckPhase, State};
use crate::cc::bbr_model::Sample;
use crate::events::Ack;
use crate::units::{Duration, Instant};

/// Time with few packets in flight, in which the round-trip time is measured (draft: `ProbeRTTDuration`).
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// Rounds after which Drain ends at the latest.
const DRAIN_ROUNDS: u64 = 3;
/// Largest number of rounds between two probes: those in which Reno would reclaim 63 packets.
const RENO_ROUNDS: f64 = 63.0;
/// Largest exponent of the growth in `ProbeBW_UP`.
const MAX_UP_ROUNDS: i32 = 30;

impl Bbr {
    /// Startup ends if the pipe is full, or if losses are heavy.
    pub(super) fn check_startup_done(&mut self, sample: &Sample) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_high_loss(sample);
        if self.full.reached {
            self.drain_start = self.rounds.count;
            self.state = State::Drain;
            self.ssthresh = self.inflight(1.0);
        }
    }

    fn check_startup_high_loss(&mut self, sample: &Sample) {
        let ranges = self.signals.ranges;
        if self.full.reached || !self.recovery.is_fast() {
            return;
        }
        let much = self.signals.round_start && ranges >= self.settings.startup_full_loss_cnt && self.is_inflight_too_high(sample);
        if much || !self.selective {
            self.record_undo_state(State::Startup);
            self.full.reached = true;
            self.bounds.inflight_longterm = self.bdp().max(self.signals.inflight_latest);
        }
    }

    /// Drain ends when the queue that Startup built is empty, or after three rounds.
    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let drained = ack.inflight as f64 <= self.inflight(1.0) || self.rounds.count > self.drain_start + DRAIN_ROUNDS;
        if self.state == State::Drain && drained {
            self.start_down(ack.now);
        }
    }

    /// ProbeBW: draft, `BBRUpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, ack: &Ack, sample: &Sample) {
        if !self.full.reached {
            return;
        }
        if self.adapt_longterm_model(ack, sample) {
            return;
        }
        match self.state {
            State::Down => {
                let drained = ack.inflight as f64 <= self.inflight_with_headroom().min(self.inflight(1.0));
                if !self.check_time_to_probe(ack.now) && drained {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.check_time_to_probe(ack.now);
            }
            State::Refill if self.rounds.start => {
                self.cycle.samples_probe = true;
                self.start_up(sample);
            }
            State::Up => self.check_probe_done(ack, sample),
            _ => {}
        }
    }

    pub(super) fn start_down(&mut self, now: Instant) {
        self.signals.reset();
        self.cycle.up_acked_per_inc = f64::INFINITY;
        self.cycle.rounds_since_probe = u64::from(self.random.uniform() >= 0.5);
        self.cycle.wait = Duration::from_secs_f64(2.0 + self.random.uniform());
        self.cycle.stamp = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_shortterm();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, 0.0);
        self.cycle.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, sample: &Sample) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(self.delivered);
        self.restart_full_pipe(sample);
        self.state = State::Up;
        self.raise_slope();
    }

    /// Starts the next probe if it is due: two to three seconds after the last, or after the rounds in which Reno would reclaim its flight.
    fn check_time_to_probe(&mut self, now: Instant) -> bool {
        // The draft compares rounds with a volume; it means packets.
        let reno = (self.target_inflight() / self.smss).min(RENO_ROUNDS);
        let due = now > self.cycle.stamp + self.cycle.wait || self.cycle.rounds_since_probe as f64 >= reno;
        if due {
            self.start_refill();
        }
        due
    }

    /// Restarts the full-pipe test with the sample's bandwidth as baseline. For an ACK without a sample, the baseline is the largest
    /// bandwidth so far.
    fn restart_full_pipe(&mut self, sample: &Sample) {
        let baseline = if sample.rate > 0.0 { sample.rate } else { self.max_bw.get() };
        self.full.restart(baseline);
    }

    /// Ends the probe if the bandwidth no longer grows, or at the flight size that had lost too much before.
    fn check_probe_done(&mut self, ack: &Ack, sample: &Sample) {
        let longterm = self.bounds.inflight_longterm;
        if self.settings.rules.precautionary && self.cycle.too_high && ack.inflight_before as f64 + self.smss > longterm {
            self.cycle.precautionary = true;
        } else if self.is_cwnd_limited(ack) && self.cwnd >= longterm {
            // The long-term bound limits the flight, not the bandwidth.
            self.restart_full_pipe(sample);
            return;
        } else if !self.full.now {
            return;
        }
        self.cycle.too_high = false;
        self.start_down(ack.now);
    }

    /// `ProbeBW_UP` adds 1, 2, 4, 8 … segments in successive rounds.
    fn raise_slope(&mut self) {
        self.cycle.up_acked_per_inc = (self.cwnd / libm::ldexp(1.0, self.cycle.up_rounds)).max(self.smss);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MAX_UP_ROUNDS);
    }

    /// Draft, `BBRAdaptLongTermModel`. Returns whether it started a probe.
    fn adapt_longterm_model(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.rounds.start && self.cycle.ack_phase == AckPhase::ProbeStarting {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.rounds.start && self.cycle.ack_phase == AckPhase::ProbeStopping {
            self.cycle.samples_probe = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !sample.app_limited {
                self.max_bw.advance();
            }
            if self.state.is_probe_bw() && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill();
                return true;
            }
        }
        if !sample.present || self.is_inflight_too_high(sample) || self.bounds.inflight_longterm.is_infinite() {
            return false;
        }
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(sample.tx_in_flight);
        if self.state == State::Up {
            self.probe_longterm_upward(ack);
        }
        false
    }

    fn probe_longterm_upward(&mut self, ack: &Ack) {
        if !self.is_cwnd_limited(ack) || self.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.cycle.up_acked += ack.delivered as f64;
        let steps = libm::floor(self.cycle.up_acked / self.cycle.up_acked_per_inc);
        if steps > 0.0 {
            self.cycle.up_acked -= steps * self.cycle.up_acked_per_inc;
            self.bounds.inflight_longterm += steps * self.smss;
        }
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// ProbeRTT: draft, `BBRCheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(self.delivered);
        }
        if self.state == State::ProbeRtt {
            if self.probe_rtt_until.is_none() {
                if ack.inflight as f64 <= self.probe_rtt_cwnd() {
                    self.probe_rtt_until = Some(ack.now + PROBE_RTT_DURATION);
                    self.probe_rtt_round_done = false;
                    self.rounds.restart(self.delivered);
                }
            } else {
                self.probe_rtt_round_done |= self.rounds.start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt.restart_interval(now);
        self.restore_cwnd();
        self.bounds.reset_shortterm();
        if self.full.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
