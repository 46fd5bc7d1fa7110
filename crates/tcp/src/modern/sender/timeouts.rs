//! Setting and expiry of the sender's timers.
//!
//! ## References
//! RFC 8985 §7.2 and §7.3 (probe); RFC 9293 §3.8.6.1 and §3.8.6.2.1 (persist).

use ackclock_core::units::Instant;

use super::super::config::{ProbeMargins, Recovery};
use super::super::prr::Progress;
use super::super::repair::Force;
use super::super::timers::Timer;
use super::super::tlp::Tlp;
use super::Sender;

impl Sender {
    /// When [`Sender::handle_timeout`] is due; `Instant::MAX`: never.
    pub(in super::super) fn poll_timeout(&self) -> Instant {
        self.timers.next().min(self.seat.timer())
    }

    /// Handles all expired timers.
    pub(in super::super) fn handle_timeout(&mut self, now: Instant) {
        if self.poll_timeout() <= now {
            self.wake();
        }
        self.timers.expires(Timer::Pace, now);
        self.seat.handle_timeout(now);
        if self.timers.expires(Timer::Reorder, now) {
            let was_open = self.repair.is_open();
            self.rack.expire();
            self.detect_losses(now, self.board.unsacked());
            if was_open && !self.repair.is_open() && self.settings.rules.counts_timer_as_delivery {
                // Linux counts one delivered segment at the start of a recovery that a timer begins.
                self.repair.deliver(Progress { delivered: 1, pipe: self.board_pipe(), safe: false });
            }
        }
        if self.timers.expires(Timer::Probe, now) {
            self.probe_tail(now);
        }
        if self.timers.expires(Timer::Rto, now) {
            self.expire(now);
        }
        if self.timers.expires(Timer::Persist, now) {
            self.timers.back_off_persisting();
            // RFC 9293 §3.8.6.2.1, case 4, and §3.8.6.1.
            self.repair.force(if self.window.is_open() { Force::Override } else { Force::WindowProbe });
        }
    }

    /// RFC 8985 §7.2: sets the probe timer after the transmission of new data and after an ACK that delivers data.
    /// After a transmission, Linux lets the probe expire no later than the timeout of the first segment (`bounds_probe_by_first`).
    pub(super) fn schedule_probe(&mut self, now: Instant, sends: bool) {
        let applies = self.settings.tlp && self.repair.method() == Recovery::Rack && self.repair.is_open();
        let outstanding = self.board.segments();
        if !applies || outstanding == 0 || self.board.sacked_bytes() > 0 || !self.tlp.may_probe() {
            self.timers.clear(Timer::Probe);
            return;
        }
        let ProbeMargins { several, single } = self.settings.probe_margins;
        let timeout = Tlp::timeout(self.rtt.srtt(), if outstanding == 1 { single } else { several });
        let first = self.board.first_sent_at().filter(|_| sends && self.settings.rules.bounds_probe_by_first);
        let most = first.map_or(Instant::MAX, |sent_at| (sent_at + self.rtt.timeout()).max(now));
        self.timers.start_probe(now, timeout, most);
    }

    /// RFC 8985 §7.3: sends a probe: a new segment if available, otherwise the last segment again.
    fn probe_tail(&mut self, now: Instant) {
        if self.board.flight_size() == 0 {
            return;
        }
        self.counters.probes += 1;
        let new = self.next_new();
        self.repair.force(if new.is_some() { Force::New(1) } else { Force::Last });
        self.tlp.send(new.map_or(self.window.nxt(), |range| range.1), new.is_none());
        self.timers.start_rto(now, self.rtt.timeout());
    }

    /// Runs the persist timer while the peer's window alone blocks the unsent data and no outstanding segment would cause an ACK.
    pub(in super::super) fn update_persist(&mut self, now: Instant) {
        let waiting = self.window.una() > 0 && self.window.is_idle() && self.unsent() > 0;
        if !waiting || self.next_new().is_some() {
            self.timers.end_persisting();
        } else if !self.timers.is_set(Timer::Persist) && !self.repair.is_forced() {
            self.timers.persist(now, self.rtt.timeout(), self.settings.max_rto);
        }
    }
}
