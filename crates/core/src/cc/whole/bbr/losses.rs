//! BBR's response to losses, and its undo.

use super::control::Bbr;
use super::state::{State, Undo};
use crate::cc::bbr_model::{Recovery, Sample};
use crate::events::{Cause, CongestionEvent, Lost};

/// The bytes in flight at which the loss rate passed `thresh`, at some point of the last packet sent (draft, `BBRInflightAtLoss`). Before
/// that packet, `inflight` bytes were in flight and `lost` bytes had been lost.
pub(super) fn inflight_at_loss(inflight: f64, lost: f64, thresh: f64) -> f64 {
    // (lost + prefix) / (inflight + prefix) = thresh. Losses from before the probe may already exceed the threshold.
    inflight + ((thresh * inflight - lost) / (1.0 - thresh)).max(0.0)
}

impl Bbr {
    /// Whether the flight of the sample's packet lost too much.
    pub(super) fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        sample.lost > self.settings.loss_thresh * sample.tx_in_flight
    }

    /// Draft, `BBRHandleLostPacket`.
    pub(super) fn handle_lost(&mut self, lost: &Lost) {
        self.delivered = lost.total.delivered;
        if self.signals.record_loss(lost.start, lost.end, self.delivered) {
            self.undo = Some(Undo::new(self.state, self.bounds));
        }
        let Some(packet) = lost.packet.filter(|_| self.cycle.samples_probe) else { return };
        let size = (lost.end - lost.start) as f64;
        let sample =
            Sample { lost: lost.total.lost.saturating_sub(packet.lost) as f64, tx_in_flight: packet.inflight as f64, ..Sample::NONE };
        let few = self.signals.ranges < self.settings.rules.probe_loss_cnt;
        if self.selective && (few || !self.is_inflight_too_high(&sample)) {
            return;
        }
        let level = inflight_at_loss(sample.tx_in_flight - size, sample.lost - size, self.settings.loss_thresh);
        self.cycle.too_high = true;
        self.cycle.samples_probe = false;
        if !packet.app_limited {
            self.bounds.inflight_longterm = level.max(self.settings.beta * self.target_inflight());
        }
        if self.state == State::Up {
            self.record_undo_state(State::Up);
            self.start_down(lost.now);
        }
    }

    /// Draft, `BBRAdaptLowerBoundsFromCongestion`, at the end of a loss round.
    pub(super) fn adapt_lower_bounds(&mut self) {
        if !self.signals.round_start {
            return;
        }
        if self.signals.loss && !self.state.is_probing() {
            let (bounds, beta) = (&mut self.bounds, self.settings.beta);
            let cut = |bound: f64, unset: f64, latest: f64| latest.max(beta * if bound.is_infinite() { unset } else { bound });
            bounds.bw_shortterm = cut(bounds.bw_shortterm, self.max_bw.get(), self.signals.bw_latest);
            bounds.inflight_shortterm = cut(bounds.inflight_shortterm, self.cwnd, self.signals.inflight_latest);
        }
        self.signals.loss = false;
    }

    /// Recovery begins or restarts.
    pub(super) fn begin_recovery(&mut self, event: &CongestionEvent) {
        match event.cause {
            Cause::EcnCe => {}
            Cause::DupAck => {
                self.save_cwnd();
                self.recovery = Recovery::Fast(self.snd_nxt);
            }
            Cause::Timeout => {
                self.save_cwnd();
                self.recovery = Recovery::Timeout(self.snd_nxt);
                self.cwnd = event.inflight as f64 + self.smss;
            }
        }
    }

    pub(super) fn end_recovery(&mut self) {
        if self.recovery != Recovery::None {
            self.recovery = Recovery::None;
            self.restore_cwnd();
        }
    }

    /// Records that a loss makes the control leave `state`; it returns there if the loss was spurious.
    pub(super) fn record_undo_state(&mut self, state: State) {
        if let Some(undo) = &mut self.undo {
            undo.state = state;
        }
    }

    /// Draft, `BBRHandleSpuriousLossDetection`.
    pub(super) fn undo_losses(&mut self) {
        self.end_recovery();
        let Some(undo) = self.undo.take() else { return };
        self.signals.loss = false;
        self.full.restart(0.0);
        self.bounds = self.bounds.loosest(&undo.bounds);
        if self.state == State::ProbeRtt || self.state == undo.state {
            return;
        }
        match undo.state {
            State::Startup => {
                self.full.reached = false;
                self.state = State::Startup;
            }
            State::Up => self.start_refill(),
            _ => {}
        }
    }

    pub(super) fn save_cwnd(&mut self) {
        let normal = self.recovery == Recovery::None && self.state != State::ProbeRtt;
        self.prior_cwnd = if normal { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }
}
