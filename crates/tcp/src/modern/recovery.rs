//! Finding losses, and going into recovery and out of it.
//!
//! ## References
//! RFC 8985 §6 (RACK); RFC 6675 §5 (SACK); RFC 6582 §3.2 (NewReno); RFC 6298 §5 and RFC 5682 §3.1 (timeouts); RFC 3168 §6.1.2 (marks);
//! RFC 4015 (undo).

use ackclock_core::events::{Cause, CongestionEvent, Lost, PART_OF_A_SEGMENT};
use ackclock_core::units::Instant;

use super::config::Recovery;
use super::prr::{Progress, Prr};
use super::rack::Conditions;
use super::sender::{Force, Phase, Sender};
use crate::slow_start_exit::ExitReason;

/// Duplicate ACKs, or SACKed segments, that mean loss (RFC 5681 §3.2, RFC 6675 §2).
const DUP_THRESH: u32 = 3;

impl Sender {
    /// Bytes outstanding and not SACKed.
    pub(super) fn unsacked(&self) -> u64 {
        self.board.flight_size() - self.board.sacked_bytes()
    }

    fn conditions(&self) -> Conditions {
        Conditions { min_rtt: self.rtt.min(), srtt: self.rtt.srtt(), recovering: self.phase != Phase::Open }
    }

    /// Marks what is thought to be lost, and begins fast recovery if there is something; `outstanding` was not SACKed before the ACK
    /// under way. Tells whether there was any.
    pub(super) fn detect_losses(&mut self, now: Instant, outstanding: u64) -> bool {
        let mut marked = match self.recovery {
            Recovery::Rack => {
                let conditions = self.conditions();
                let (marked, again) = self.rack.detect(now, &mut self.board, &conditions);
                self.timers.set_reorder(again);
                marked
            }
            Recovery::Sack => {
                let edge = self.board.loss_edge(DUP_THRESH, self.smss);
                edge.is_some_and(|edge| self.board.mark_lost_below(edge))
            }
            Recovery::NewReno => false,
        };
        // RFC 6675 §5 step 1; RFC 6582 §3.2 step 2: not for segments sent before the last recovery.
        let beyond = self.recovery != Recovery::NewReno || self.recovery_point == 0 || self.snd_una > self.recovery_point;
        if self.phase == Phase::Open && self.recovery != Recovery::Rack && self.dupacks >= DUP_THRESH && beyond {
            if self.is_repair_under_way() {
                self.tell_losses(now);
                self.enter_recovery(now, outstanding);
                self.undo.rule_out();
            } else {
                marked |= self.board.mark_first_lost();
            }
        }
        self.tell_losses(now);
        // What was found to be lost in the last recovery and is not repaired begins another.
        if self.phase == Phase::Open && self.board.next_lost().is_some() {
            self.enter_recovery(now, outstanding);
        }
        marked
    }

    /// Whether the first outstanding segment was lost and sent again before the last recovery ended. It was first sent in that recovery,
    /// so that its loss is one of another window (RFC 5681 §4.3); but RFC 6675 §5 step 4.3 would send it a third time, while the second
    /// is under way.
    fn is_repair_under_way(&self) -> bool {
        self.recovery == Recovery::Sack && self.board.segment_at(self.snd_una).is_some_and(|segment| segment.retransmitted)
    }

    pub(super) fn enter_recovery(&mut self, now: Instant, outstanding: u64) {
        // RFC 3168 §6.1.2: one reduction for a window of data, whether by marks or by losses.
        if self.snd_una >= self.cwr_point {
            self.reduce(now, Cause::DupAck);
        }
        self.phase = Phase::Fast;
        self.recovery_point = self.snd_nxt;
        self.undo.begin();
        self.tlp.reset();
        self.reset_next_seg();
        self.schedule_probe(now);
        if self.recovery == Recovery::NewReno {
            // RFC 6582 §3.2 step 2: retransmit, and inflate by the segments that have left the network.
            self.inflate(u64::from(DUP_THRESH) * self.smss);
            self.force = Force::Lost;
        } else if self.config.prr && !self.control.owns_recovery() {
            let target = (self.control.window().cwnd * self.smss as f64) as u64;
            let mut prr = Prr::new(target.max(self.smss), outstanding, self.smss);
            // For a recovery that no ACK began.
            prr.deliver(Progress { delivered: 0, pipe: self.board.pipe(), safe: false });
            self.prr = Some(prr);
        } else {
            // RFC 6675 §5 step 4.3: the first retransmission does not wait for the pipe to drain.
            self.force = Force::Lost;
        }
    }

    /// Tells the control of each segment that has been marked as lost.
    pub(super) fn tell_losses(&mut self, now: Instant) {
        while let Some(segment) = self.board.next_untold() {
            self.rate.lose(segment.len());
            let (start, end, packet) = (segment.start, segment.end, segment.snapshot);
            self.control.on_lost(&Lost { now, start, end, packet, inflight: self.board.pipe(), total: self.total() });
        }
    }

    /// Tells the control of congestion.
    pub(super) fn reduce(&mut self, now: Instant, cause: Cause) {
        self.counters.reductions += 1;
        self.note_exit(now, cause);
        if let Some(first) = &mut self.first {
            // What is marked has arrived, and the ACK that says so acknowledges it.
            if cause == Cause::EcnCe { first.hear_of_own_congestion() } else { first.hear_of_congestion(self.snd_una) }
        }
        let rwnd = self.edge.saturating_sub(self.snd_una) as f64 / self.smss as f64;
        self.control.on_congestion(&CongestionEvent {
            now,
            cause,
            window: self.control.window().cwnd.min(rwnd),
            flight_size: self.flight_segments(),
            inflight: self.board.pipe(),
            restart: cause == Cause::Timeout,
            // RFC 5681 §3.1.
            loss_window: 1.0,
            least: if cause == Cause::EcnCe { PART_OF_A_SEGMENT } else { 1.0 },
            resent: self.board.segment_at(self.snd_una).is_some_and(|segment| segment.retransmitted),
            min_rtt: self.rtt.min(),
        });
        // RFC 3168 §6.1.2: the receiver is told of every reduction.
        self.cwr = self.ecn;
        self.cwr_point = self.snd_nxt;
        self.note_outputs();
    }

    /// Notes how slow start has ended, and when a loss was first noticed.
    fn note_exit(&mut self, now: Instant, cause: Cause) {
        if !self.exit.happened() {
            let reason = match cause {
                Cause::DupAck => ExitReason::Loss,
                Cause::Timeout => ExitReason::Timeout,
                Cause::EcnCe => ExitReason::Mark,
            };
            self.exit.note(reason, now, self.control.window().cwnd);
        }
        if cause != Cause::EcnCe {
            self.exit.note_loss(now);
        }
    }

    /// Ends recovery if all that was outstanding when it began is acknowledged.
    pub(super) fn leave_recovery(&mut self, now: Instant) {
        if self.phase == Phase::Open || self.snd_una < self.recovery_point {
            return;
        }
        if self.phase == Phase::Fast && self.undo.nothing_retransmitted() {
            self.restore(now);
            return;
        }
        if self.recovery == Recovery::NewReno && self.phase == Phase::Fast {
            // RFC 6582 §3.2 step 3, full ACK, option 1: no more than what is in flight, and a segment.
            let flight = self.board.flight_size().max(self.smss) + self.smss;
            let excess = self.control.window().cwnd - flight as f64 / self.smss as f64;
            if excess > 0.0 {
                self.control.deflate(excess);
            }
        }
        self.end_phase();
        self.rack.end_recovery();
        self.control.on_recovery_end(now);
    }

    fn end_phase(&mut self) {
        (self.phase, self.prr, self.inflation, self.force) = (Phase::Open, None, 0, Force::Nothing);
        self.undo.begin();
    }

    /// RFC 4015: the recovery was spurious; everything is as it was before.
    pub(super) fn restore(&mut self, now: Instant) {
        self.counters.undone += 1;
        self.board.unmark_lost();
        self.end_phase();
        self.cwr_point = self.snd_una;
        self.control.on_spurious(now);
        self.note_outputs();
    }

    /// A tail loss probe has repaired a loss: the control responds as to any other (RFC 8985 §7.4.2).
    pub(super) fn respond_to_repaired_tail(&mut self, now: Instant) {
        if self.phase == Phase::Open && self.snd_una >= self.cwr_point {
            if let Some(first) = &mut self.first {
                first.hear_of_own_congestion();
            }
            self.reduce(now, Cause::DupAck);
            self.control.on_recovery_end(now);
        }
    }

    /// An ACK echoes a mark: RFC 3168 §6.1.2, at most one reduction for a window of data. The ACK that ends that window still echoes the
    /// mark that was answered: CWR comes with the data after it.
    pub(super) fn hear_of_mark(&mut self, now: Instant) {
        if self.phase == Phase::Open && self.snd_una > self.cwr_point {
            self.reduce(now, Cause::EcnCe);
        }
    }

    /// NewReno: a duplicate ACK in recovery inflates the window; a partial one deflates it by what has left the network and sends the
    /// next segment (RFC 6582 §3.2 steps 2 and 3).
    pub(super) fn recover_without_sack(&mut self, now: Instant, acked: u64, duplicate: bool) {
        if self.phase != Phase::Fast || self.recovery != Recovery::NewReno {
            return;
        }
        if duplicate {
            self.inflate(self.smss);
        } else if acked > 0 {
            if self.inflation >= acked {
                self.inflation -= acked;
            } else {
                self.control.deflate((acked - self.inflation) as f64 / self.smss as f64);
                self.inflation = 0;
            }
            if acked >= self.smss {
                self.inflate(self.smss);
            }
            self.board.mark_first_lost();
            self.tell_losses(now);
            self.force = Force::Lost;
        }
    }

    /// Lets duplicate ACKs inflate the window, unless the control has rules of its own for recovery.
    fn inflate(&mut self, by: u64) {
        if !self.control.owns_recovery() {
            self.inflation += by;
        }
    }

    /// RFC 6298 §5.4 to §5.6: the retransmission timer has expired.
    pub(super) fn expire(&mut self, now: Instant) {
        if self.board.flight_size() == 0 {
            return;
        }
        self.counters.timeouts += 1;
        self.expire_timer(now);
    }

    /// What an expired timer brings, whatever made it expire.
    pub(super) fn expire_timer(&mut self, now: Instant) {
        // RFC 5681 §3.1, equation 4: what was sent again by the timer does not reduce ssthresh a second time.
        let again = self.phase == Phase::Timeout && self.timeout_una == self.snd_una;
        let was_open = self.phase == Phase::Open;
        if self.recovery == Recovery::Rack {
            let conditions = Conditions { recovering: true, ..self.conditions() };
            self.rack.mark_on_timeout(now, &mut self.board, &conditions);
        } else {
            self.board.mark_all_lost();
        }
        self.tell_losses(now);
        if !again {
            self.reduce(now, Cause::Timeout);
            self.undo.begin();
        }
        self.undo.end_frto();
        self.start_over(now);
        // RFC 5682 §3.1 step 1: not if recovery was under way.
        if was_open && self.config.frto && self.recovery != Recovery::NewReno {
            self.undo.begin_frto(self.snd_nxt);
        }
    }

    /// Begins to recover from an expired timer, with the timeout backed off.
    pub(super) fn start_over(&mut self, now: Instant) {
        (self.phase, self.prr, self.inflation, self.dupacks) = (Phase::Timeout, None, 0, 0);
        self.recovery_point = self.snd_nxt;
        self.timeout_una = self.snd_una;
        self.tlp.reset();
        self.timers.stop_probing();
        self.reset_next_seg();
        self.rtt.back_off();
        self.force = Force::Lost;
        self.timers.set_rto(now + self.rtt.timeout());
    }
}
