//! Loss detection, and the beginning and end of recovery.
//!
//! ## References
//! RFC 8985 §6 (RACK); RFC 6675 §5 (SACK); RFC 6582 §3.2 (NewReno); RFC 6298 §5 and RFC 5682 §3.1 (timeouts); RFC 3168 §6.1.2 (marks);
//! RFC 4015 (undo).

use ackclock_core::events::{Cause, CongestionEvent, Lost, PART_OF_A_SEGMENT};
use ackclock_core::units::{Instant, Segments};
use ackclock_host::RecoveryPhase;

use super::super::config::Recovery;
use super::super::prr::{Progress, Prr};
use super::super::rack::Conditions;
use super::super::repair::{DUP_THRESH, Force};
use super::super::scoreboard::SentSegment;
use super::super::timers::Timer;
use super::Sender;

impl Sender {
    fn conditions(&self) -> Conditions {
        let in_order = self.settings.rules.detects_losses_in_order;
        Conditions { min_rtt: self.rtt.min(), srtt: self.rtt.srtt(), recovering: !self.repair.is_open(), in_order }
    }

    /// Marks lost segments, and begins fast recovery if there are any. `outstanding`: bytes that were not SACKed before the current ACK.
    /// Returns whether a segment was marked.
    pub(super) fn detect_losses(&mut self, now: Instant, outstanding: u64) -> bool {
        if self.repair.holds() {
            return false;
        }
        // Without a sign of loss, Linux leaves the news of an ACK to the next detection.
        let keep = self.repair.is_open() && self.board.sacked_bytes() == 0;
        let mut marked = match self.repair.method() {
            // Linux 6.18: an ACK that may belong to the original of a retransmission leaves losses and timer as they are (the script
            // `reorder-9` of crates/script/tests/recorded.rs).
            Recovery::Rack if !self.rack.take_news(keep) && self.settings.rtt_of_sacked => false,
            Recovery::Rack => {
                let conditions = self.conditions();
                let (marked, again) = self.rack.detect(now, &mut self.board, &conditions);
                match again {
                    Some(again) => self.timers.start_until(Timer::Reorder, now, again + self.settings.reordering_margin),
                    None => self.timers.clear(Timer::Reorder),
                }
                marked
            }
            Recovery::Sack => {
                let edge = self.board.loss_edge(DUP_THRESH, self.seat.smss());
                edge.is_some_and(|edge| self.board.mark_lost_below(edge))
            }
            Recovery::NewReno => false,
        };
        if self.repair.is_loss_by_duplicates(self.window.una()) {
            if self.is_repair_under_way() {
                self.notify_losses(now);
                self.enter_recovery(now, outstanding);
                self.undo.rule_out();
            } else {
                marked |= self.board.mark_first_lost();
            }
        }
        // Linux 6.18: the loss of a retransmission ends the recovery from a timeout and begins fast recovery
        // (`the_loss_of_a_retransmission_after_a_timeout_begins_recovery`, and the scripts `frto-12` and `-17`).
        let again = self.settings.recover_again && self.repair.phase() == RecoveryPhase::Timeout && self.board.has_lost_again();
        self.notify_losses(now);
        // A loss detected in the last recovery and not yet retransmitted, or not yet repaired, begins another recovery.
        let unrepaired = if self.settings.recover_again { self.board.lost_segments() > 0 } else { self.board.next_lost().is_some() };
        if self.repair.is_open() && unrepaired || again {
            self.enter_recovery(now, outstanding);
        }
        marked
    }

    /// Whether the first outstanding segment was lost and retransmitted before the last recovery ended. It was first sent in that recovery,
    /// so its loss belongs to another window (RFC 5681 §4.3). But RFC 6675 §5 step 4.3 would send it a third time while its retransmission
    /// is outstanding.
    fn is_repair_under_way(&self) -> bool {
        let first = self.board.segment_at(self.window.una());
        self.repair.method() == Recovery::Sack && first.is_some_and(SentSegment::is_retransmitted)
    }

    pub(super) fn enter_recovery(&mut self, now: Instant, outstanding: u64) {
        let (window, in_force) = (self.seat.cwnd(), self.congestion_window().cwnd);
        let reduction = self.repair.take_reduction();
        // RFC 3168 §6.1.2: one reduction per window of data, by a mark or a loss. RFC 8257 §3.5: a control that answers marks by less than a
        // loss hears of the loss as well.
        let again = self.repair.phase() == RecoveryPhase::Timeout || self.seat.answers_losses_apart() && self.marks.has_answered_mark();
        if again || reduction.is_none() && !self.marks.has_answered(self.window.una()) {
            // The peer knows of the reduction that goes on.
            let announced = reduction.is_some() && !self.marks.cwr();
            self.reduce_from(in_force, now, Cause::DupAck);
            if announced {
                self.marks.send_cwr();
            }
        }
        self.repair.begin_fast(self.window.una(), self.window.nxt());
        self.begin_undo();
        self.tlp.reset();
        self.timers.clear(Timer::Probe);
        let unit = self.seat.unit();
        if self.repair.method() == Recovery::NewReno && !self.repair.counts_duplicates() {
            // RFC 6582 §3.2 step 2: retransmits, and inflates the window by the segments that have left the network.
            self.inflate(u64::from(DUP_THRESH) * unit);
            self.repair.force(Force::Lost);
        } else if let Some(reduction) = reduction {
            self.repair.reduce_by(reduction);
            self.repair.lower_target(self.seat.cwnd());
        } else if self.settings.prr && !self.seat.owns_recovery() {
            // Linux counts the window before the reduction as the data in flight.
            let in_flight = if self.settings.rules.recovers_whole_window { window } else { outstanding };
            let mut prr = Prr::new(self.seat.cwnd(), in_flight, unit);
            if self.settings.rules.counts_timer_as_delivery {
                prr.keep(window);
            } else {
                // Sets the window of a recovery that did not begin with an ACK.
                prr.deliver(Progress { delivered: 0, pipe: self.board_pipe(), safe: false });
            }
            self.repair.reduce_by(prr);
        } else if !self.seat.in_blocks() {
            // RFC 6675 §5 step 4.3: the first retransmission leaves before the pipe has drained. In Linux, a control that paces decides.
            self.repair.force(Force::Lost);
        }
    }

    /// Starts to collect the evidence that the recovery is spurious.
    fn begin_undo(&mut self) {
        let copies = self.board.copied_segments() + u32::from(self.tlp.has_repeated());
        self.undo.begin_with(copies, self.window.una(), self.board.has_retransmitted());
    }

    /// Notifies the control of each segment newly marked as lost.
    pub(super) fn notify_losses(&mut self, now: Instant) {
        while let Some(segment) = self.board.next_unreported() {
            self.rate.count_lost(segment.len());
            let (start, end, packet) = (segment.start, segment.end(), Some(segment.snapshot()));
            let lost = Lost::new(now, start, end).with(|lost| {
                lost.packet = packet;
                lost.inflight = self.board.pipe();
                lost.total = self.total();
            });
            self.seat.on_lost(&lost);
        }
    }

    /// Notifies the control of congestion.
    pub(super) fn reduce(&mut self, now: Instant, cause: Cause) {
        self.reduce_from(self.seat.window().cwnd, now, cause);
    }

    /// Notifies the control of congestion while `cwnd` segments are in force.
    fn reduce_from(&mut self, cwnd: Segments, now: Instant, cause: Cause) {
        let una = self.window.una();
        let rwnd = self.seat.segments(self.window.offered());
        // Linux halves its own window, even if the receiver's is smaller. A closed window still lets a probe through.
        let window = if self.settings.rules.reduces_own_window { cwnd } else { cwnd.min(rwnd.max(1.0)) };
        let event = CongestionEvent::new(now, cause, window).with(|event| {
            event.flight_size = self.flight_segments();
            event.inflight = self.board.pipe();
            (event.snd_una, event.snd_nxt) = (una, self.window.nxt());
            event.restart = cause == Cause::Timeout;
            // RFC 5681 §3.1. Linux adds the segments that do not count as lost.
            event.loss_window = if self.settings.rules.keeps_pipe_after_timeout { f64::from(self.board.pipe_segments() + 1) } else { 1.0 };
            event.least = match cause {
                // RFC 5681 §3.1, equation 4: the threshold, to which recovery leads, is at least 2.
                _ if self.settings.rules.keeps_two_segments => 2.0,
                Cause::EcnCe => PART_OF_A_SEGMENT,
                Cause::DupAck | Cause::Timeout => 1.0,
            };
            event.resent = self.board.segment_at(una).is_some_and(SentSegment::is_retransmitted);
            event.min_rtt = self.seat.min_rtt(self.rtt.min());
        });
        self.seat.reduce(&event, una);
        self.marks.reduce(self.window.nxt(), cause);
    }

    /// Ends recovery if all data outstanding at its start is acknowledged.
    pub(super) fn leave_recovery(&mut self, now: Instant) {
        if self.repair.ends_reduction(self.window.una()) {
            self.repair.end();
            self.seat.end_recovery(now);
        }
        if !self.repair.is_complete(self.window.una()) {
            return;
        }
        let fast = self.repair.phase() == RecoveryPhase::Fast;
        if fast && self.undo.nothing_retransmitted() {
            self.restore(now, false);
            return;
        }
        if fast && self.repair.method() == Recovery::NewReno && !self.repair.counts_duplicates() {
            // RFC 6582 §3.2 step 3, full ACK, option 1: the window is at most the flight size plus one segment.
            let smss = self.seat.smss();
            let flight = self.board.flight_size().max(smss) + smss;
            self.seat.deflate_to(self.seat.segments(flight));
        }
        self.end_recovery();
        self.rack.end_recovery();
        self.seat.end_recovery(now);
    }

    fn end_recovery(&mut self) {
        self.repair.end();
        // The ACK of an outstanding retransmission may come in the next recovery: it echoes a time before that one's first.
        let keep = self.board.copied_segments() > 0;
        if !keep && !self.settings.late_undo {
            self.undo.begin();
        }
    }

    /// RFC 4015: the recovery was spurious; restores the state before it. `marked`: segments that count as lost still do.
    pub(super) fn restore(&mut self, now: Instant, marked: bool) {
        self.counters.undone += 1;
        if !marked {
            self.board.unmark_lost(!self.settings.rules.detects_losses_in_order);
        }
        self.end_recovery();
        self.undo.withdraw();
        if self.settings.rules.awaits_copies {
            self.rack.expire();
        }
        self.marks.restore(self.window.una());
        self.seat.restore(now);
    }

    /// A tail loss probe has repaired a loss: the control responds as to any other loss (RFC 8985 §7.4.2).
    pub(super) fn respond_to_repaired_tail(&mut self, now: Instant) {
        if self.repair.is_open() && !self.marks.has_answered(self.window.una()) {
            self.seat.on_own_congestion();
            self.reduce(now, Cause::DupAck);
            if self.settings.rules.awaits_copies {
                // For Linux this reduction is over, and another loss in the same window of data reduces the window again.
                self.marks.end_reduction();
            }
            self.seat.end_recovery(now);
        }
    }

    /// The control has lowered the window, which was `before`, by itself: the next round trip takes it there.
    pub(super) fn reduce_gradually(&mut self, before: u64) {
        if self.seat.cwnd() < before && self.repair.phase() == RecoveryPhase::Open {
            let mut prr = Prr::new(self.seat.cwnd(), before, self.seat.unit());
            prr.keep(before);
            self.marks.reduce(self.window.nxt(), Cause::EcnCe);
            self.repair.begin_reduction(self.window.nxt(), prr);
        }
    }

    /// An ACK echoes a mark: RFC 3168 §6.1.2, at most one reduction per window of data. `again`: the ACK has ended a recovery, after which Linux
    /// takes the mark as a new one.
    pub(super) fn handle_mark(&mut self, now: Instant, again: bool) {
        if !self.repair.is_open() || !again && !self.marks.is_news(self.window.una()) {
            return;
        }
        let window = self.seat.cwnd();
        self.reduce(now, Cause::EcnCe);
        if self.settings.gradual_marks && !self.seat.owns_recovery() && !self.seat.owns_marks() {
            let prr = Prr::new(self.seat.cwnd(), window, self.seat.unit());
            self.repair.begin_reduction(self.window.nxt(), prr);
        }
    }

    /// NewReno: a duplicate ACK in recovery inflates the window. A partial ACK deflates it by the data that has left the network and
    /// retransmits the next segment (RFC 6582 §3.2 steps 2 and 3). If duplicate ACKs count as SACKed segments, a partial ACK marks the next
    /// segment as lost, and PRR limits its retransmission. Returns whether this happened.
    pub(super) fn recover_without_sack(&mut self, now: Instant, acked: u64, duplicate: bool) -> bool {
        if self.repair.phase() != RecoveryPhase::Fast || self.repair.method() != Recovery::NewReno {
            return false;
        }
        if self.repair.counts_duplicates() {
            let marked = acked > 0 && self.repair.covers(self.window.una()) && self.board.mark_first_lost();
            self.notify_losses(now);
            return marked;
        }
        let (smss, unit) = (self.seat.smss(), self.seat.unit());
        if duplicate {
            self.inflate(unit);
        } else if acked > 0 {
            let excess = self.repair.deflate(acked.div_ceil(smss / unit));
            if excess > 0 {
                self.seat.deflate(self.seat.segments(excess * (smss / unit)));
            }
            if acked >= smss {
                self.inflate(unit);
            }
            self.board.mark_first_lost();
            self.notify_losses(now);
            self.repair.force(Force::Lost);
        }
        false
    }

    /// Lets duplicate ACKs inflate the window, unless the control's own rules replace the host's during recovery.
    fn inflate(&mut self, units: u64) {
        if !self.seat.owns_recovery() {
            self.repair.inflate(units);
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

    /// The consequences of an expired timer, whether by time or by a notice.
    pub(super) fn expire_timer(&mut self, now: Instant) {
        // RFC 5681 §3.1, equation 4: a segment that the timer has already retransmitted does not reduce ssthresh again.
        let again = self.repair.has_timed_out_at(self.window.una());
        let was_open = self.repair.is_open();
        let method = self.repair.method();
        if self.board.is_reneged() {
            self.board.forget_sacks();
            self.board.mark_all_lost();
        } else if method == Recovery::Rack {
            let conditions = Conditions { recovering: true, ..self.conditions() };
            self.rack.mark_on_timeout(now, &mut self.board, &conditions);
        } else {
            self.board.mark_all_lost();
        }
        if was_open && self.settings.rules.counts_late_data {
            self.rack.forget_extent(self.board.sacked_segments());
        }
        self.notify_losses(now);
        let reduced = self.settings.reduce_once && self.repair.covers(self.window.una());
        if reduced {
            self.seat.restart_from(f64::from(self.board.pipe_segments() + 1));
        } else if !again {
            self.reduce(now, Cause::Timeout);
            self.begin_undo();
        }
        self.undo.end_frto();
        self.start_over(now);
        // RFC 5682 §3.1 step 1: not if the timer expires in recovery. Linux also checks the next timeouts of the same segment.
        if (was_open || again && self.settings.frto_at_once) && self.settings.frto && method != Recovery::NewReno {
            self.undo.begin_frto(self.window.nxt());
        }
    }

    /// Begins recovery from an expired timer, and backs off the timeout.
    pub(super) fn start_over(&mut self, now: Instant) {
        self.repair.begin_timeout(self.window.una(), self.window.nxt());
        self.tlp.reset();
        self.timers.stop_probing();
        self.rtt.back_off();
        self.timers.start_rto(now, self.rtt.timeout());
    }
}
