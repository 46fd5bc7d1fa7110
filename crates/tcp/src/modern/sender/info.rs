//! The sender's part of [`Info`].
//!
//! ## References
//! tcp(7) and ss(8).

use ackclock_core::events::RateSample;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::{Flight, RecoveryPhase};

use super::super::config::Recovery;
use super::super::info::{CaState, EcnBytes, Info};
use super::{Measured, Sender};

impl Sender {
    /// The state of the sender; the endpoint adds what it knows itself.
    pub(in super::super) fn info(&self, now: Instant) -> Info {
        let (smss, window) = (self.seat.smss(), self.congestion_window());
        let counters = self.counters();
        let (srtt, deviation) = (self.rtt.srtt(), self.rtt.deviation());
        let threshold = window.ssthresh.is_finite().then_some(window.ssthresh as u32);
        Info {
            ca_state: self.ca_state(),
            backoff: self.rtt.doublings(),
            rto: self.rtt.timeout(),
            snd_mss: smss as u32,
            unacked: self.board.segments() as u32,
            sacked: self.board.sacked_segments() + if self.repair.method() == Recovery::NewReno { self.repair.duplicates() } else { 0 },
            lost: self.board.lost_segments(),
            retrans: self.board.copied_segments(),
            last_data_sent: if counters.sent > 0 { now.since(self.last_sent) } else { Duration::ZERO },
            rtt: srtt.unwrap_or(Duration::ZERO),
            rttvar: deviation.unwrap_or(Duration::ZERO),
            min_rtt: self.rtt.min().unwrap_or(Duration::ZERO),
            snd_ssthresh: threshold,
            snd_cwnd: window.cwnd as u32,
            reordering: self.rack.extent(),
            reord_seen: self.rack.reordering_seen(),
            total_retrans: counters.retransmitted as u32,
            pacing_rate: self.seat.pacing(self.cwnd_bytes(), srtt).map(|(rate, _)| rate.as_bits_per_sec() / 8),
            delivery_rate: self.delivery_rate.map_or(0, |it| it.rate.as_bits_per_sec() / 8),
            delivery_rate_app_limited: self.delivery_rate.is_some_and(|it| it.app_limited),
            delivered: counters.delivered as u32,
            delivered_ce: counters.delivered_marked as u32,
            bytes_acked: self.stream.data_below(self.window.una()),
            bytes_sent: self.stream.data_below(self.window.nxt()) + counters.retransmitted_bytes,
            bytes_retrans: counters.retransmitted_bytes,
            data_segs_out: counters.sent as u32,
            notsent_bytes: (self.stream.written() - self.window.nxt().clamp(1, self.stream.written())) as u32,
            snd_wnd: self.window.offered() as u32,
            dsack_dups: counters.dsacks as u32,
            delivered_bytes: EcnBytes::of(self.marks.bytes()),
            total_rto: counters.timeouts as u32,
            probes: self.timers.probes(),
            ..Info::default()
        }
    }

    /// What is in flight, for traces.
    pub(in super::super) fn flight(&self) -> Flight {
        self.seat.flight(self.board.pipe(), self.cwnd_bytes(), self.rtt.srtt())
    }

    /// From now on, [`Self::next_lost`] tells the segments deemed lost.
    pub(in super::super) fn keep_lost(&mut self) {
        self.seat.keep_lost();
    }

    /// The first position of the next segment deemed lost.
    pub(in super::super) fn next_lost(&mut self) -> Option<u64> {
        self.seat.next_lost()
    }

    /// The phase of loss recovery.
    pub(in super::super) fn recovery(&self) -> RecoveryPhase {
        self.repair.phase()
    }

    fn ca_state(&self) -> CaState {
        match self.repair.phase() {
            RecoveryPhase::Fast => CaState::Recovery,
            RecoveryPhase::Timeout => CaState::Loss,
            RecoveryPhase::Reduction => CaState::Cwr,
            RecoveryPhase::Open if self.board.sacked_bytes() > 0 || self.repair.duplicates() > 0 => CaState::Disorder,
            RecoveryPhase::Open => CaState::Open,
        }
    }

    /// Stores the rate of `sample`, unless the application limited it and it is below the stored one.
    pub(super) fn store_rate(&mut self, sample: &RateSample) {
        let Some(rate) = sample.rate else { return };
        let app_limited = sample.packet.app_limited;
        if !app_limited || self.delivery_rate.is_none_or(|it| rate.as_bits_per_sec() >= it.rate.as_bits_per_sec()) {
            self.delivery_rate = Some(Measured { rate, app_limited });
        }
    }
}
