//! The sender's timers and what they do when they expire.
//!
//! ## References
//! RFC 6298 §5 (retransmission); RFC 8985 §6.2 and §7.2 (reordering, probe); RFC 9293 §3.8.6.1 (persist).

use ackclock_core::units::{Duration, Instant};

use super::config::Recovery;
use super::sender::{Force, Phase, Sender};
use super::tlp::Tlp;

/// When timers are due.
#[derive(Debug, Default)]
pub(super) struct Timers {
    rto: Option<Instant>,
    probe: Option<Instant>,
    reorder: Option<Instant>,
    persist: Option<Instant>,
    pace: Option<Instant>,
    control: Option<Instant>,
    /// How often the persist timer has expired.
    persist_backoff: u32,
}

/// Largest exponent of the persist timer's backoff; the bound of the timeout comes first.
const MAX_PERSIST_BACKOFF: u32 = 16;

impl Timers {
    /// The first that is due.
    pub(super) fn next(&self) -> Option<Instant> {
        [self.rto, self.probe, self.reorder, self.persist, self.pace, self.control].into_iter().flatten().min()
    }

    /// The retransmission timer.
    pub(super) fn rto(&self) -> Option<Instant> {
        self.rto
    }

    /// Sets the retransmission timer.
    pub(super) fn set_rto(&mut self, at: Instant) {
        self.rto = Some(at);
    }

    /// Sets the reordering timer.
    pub(super) fn set_reorder(&mut self, at: Option<Instant>) {
        self.reorder = at;
    }

    /// Sets the time at which the pacer lets the next segment go.
    pub(super) fn pace(&mut self, at: Option<Instant>) {
        self.pace = at;
    }

    /// Sets the time at which the control wants to be called.
    pub(super) fn set_control(&mut self, at: Option<Instant>) {
        self.control = at;
    }

    /// Everything sent has been acknowledged.
    pub(super) fn stop(&mut self) {
        (self.rto, self.probe, self.reorder) = (None, None, None);
    }

    /// The connection is over.
    pub(super) fn stop_all(&mut self) {
        *self = Self::default();
    }

    /// Timers that have no place in recovery after a timeout.
    pub(super) fn stop_probing(&mut self) {
        (self.probe, self.reorder) = (None, None);
    }
}

impl Sender {
    /// Lets every timer that is due expire.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let is_due = |deadline: &mut Option<Instant>| deadline.take_if(|at| *at <= now).is_some();
        is_due(&mut self.timers.pace);
        if is_due(&mut self.timers.control) {
            self.control.on_timer(now);
            self.note_outputs();
        }
        if is_due(&mut self.timers.reorder) {
            self.detect_losses(now, self.unsacked());
        }
        if is_due(&mut self.timers.probe) {
            self.probe_tail(now);
        }
        if is_due(&mut self.timers.rto) {
            self.expire(now);
        }
        if is_due(&mut self.timers.persist) {
            self.timers.persist_backoff = (self.timers.persist_backoff + 1).min(MAX_PERSIST_BACKOFF);
            // RFC 9293 §3.8.6.2.1, case 4, and §3.8.6.1.
            self.force = if self.edge > self.snd_nxt { Force::Override } else { Force::WindowProbe };
        }
    }

    /// RFC 8985 §7.2: after new data was sent, and after an ACK that delivers something.
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        let applies = self.recovery == Recovery::Rack && self.config.tlp && self.phase == Phase::Open;
        let outstanding = self.board.flight_size();
        self.timers.probe = None;
        if !applies || outstanding == 0 || self.board.sacked_bytes() > 0 || !self.tlp.may_probe() {
            return;
        }
        let timeout = Tlp::timeout(self.rtt.srtt(), outstanding <= self.smss, self.config.delayed_ack);
        let at = now + timeout;
        self.timers.probe = Some(self.timers.rto.map_or(at, |rto| at.min(rto)));
    }

    /// RFC 8985 §7.3: sends a probe, a new segment if there is one and otherwise the last again.
    fn probe_tail(&mut self, now: Instant) {
        if self.board.flight_size() == 0 {
            return;
        }
        self.counters.probes += 1;
        let new = self.next_new();
        self.force = if new.is_some() { Force::New(1) } else { Force::Last };
        self.tlp.send(new.map_or(self.snd_nxt, |range| range.1), new.is_none());
        self.timers.set_rto(now + self.rtt.timeout());
    }

    /// Sets the persist timer while only the peer's window holds back what there is to send, and nothing is outstanding that would
    /// bring an ACK.
    pub(super) fn update_persist(&mut self, now: Instant) {
        let blocked = self.snd_una > 0 && self.board.flight_size() == 0 && self.unsent() > 0 && self.next_new().is_none();
        if !blocked {
            (self.timers.persist, self.timers.persist_backoff) = (None, 0);
        } else if self.timers.persist.is_none() && self.force == Force::Nothing {
            let wait = (self.rtt.timeout() * f64::from(1 << self.timers.persist_backoff)).min(self.config.rto.max);
            self.timers.persist = Some(now + wait.max(Duration::from_millis(1)));
        }
    }
}
