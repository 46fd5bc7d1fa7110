//! What the sender makes of an ACK.
//!
//! ## References
//! RFC 9293 §3.10.7.4 (ACK, window); RFC 5681 §2 (duplicate ACK); RFC 6675 §2; RFC 6298 §3 and RFC 7323 §4.1 (measuring); RFC 3465.

use ackclock_core::cc::Phase as ControlPhase;
use ackclock_core::events::{Ack as AckEvent, RateSample};
use ackclock_core::units::{Duration, Instant};

use super::config::Recovery;
use super::paws;
use super::prr::Progress;
use super::ranges::Range;
use super::scoreboard::SentSegment;
use super::sender::{Force, Phase, Sender};
use super::tlp::Heard;
use super::undo::{Evidence, Verdict};
use crate::slow_start_exit::ExitReason;

/// An acknowledgement, in positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    /// Next position that the peer expects.
    pub(super) number: u64,
    /// Position of the segment that carried it.
    pub(super) seq: u64,
    /// The peer's window, in bytes.
    pub(super) window: u64,
    /// SACK blocks.
    pub(super) sack: &'a [Range],
    /// `TSecr`.
    pub(super) echo: Option<u32>,
    /// Whether it echoes a mark.
    pub(super) ece: bool,
    /// Whether the segment carried nothing else.
    pub(super) bare: bool,
}

/// What an ACK changes.
struct Change {
    /// Bytes newly acknowledged cumulatively.
    acked: u64,
    /// Segments newly acknowledged cumulatively.
    segments: u32,
    /// Bytes newly delivered: acknowledged or SACKed for the first time.
    delivered: u64,
    duplicate: bool,
    /// The D-SACK block.
    dsack: Option<Range>,
    /// Outstanding and not SACKed before.
    outstanding: u64,
    /// First unacknowledged position before.
    una: u64,
    rtt: Option<Duration>,
    sample: Option<RateSample>,
    /// In flight before, and lost so far before.
    inflight: u64,
    lost: u64,
}

impl Sender {
    /// Takes an ACK. Tells whether it can be: an ACK of what was never sent cannot (RFC 9293 §3.10.7.4).
    pub(super) fn handle_ack(&mut self, now: Instant, ack: &Ack<'_>) -> bool {
        if ack.number > self.snd_nxt {
            return false;
        }
        if ack.number < self.snd_una {
            return true;
        }
        if self.is_uninformative(ack) {
            self.update_window(ack);
            return true;
        }
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.clear();
        let mut change = self.update_scoreboard(ack, &mut delivered);
        self.measure(now, ack, &delivered, &mut change);
        let before = self.phase;
        let repaired = self.tlp.hear(Heard {
            ack: ack.number,
            dsack_end: change.dsack.map(|block| block.1),
            plain_duplicate: change.duplicate && ack.sack.is_empty(),
        });
        if repaired {
            self.respond_to_repaired_tail(now);
        }
        self.check_spurious(now, ack, &change, &delivered);
        self.leave_recovery(now);
        self.recover_without_sack(now, change.acked, change.duplicate);
        let lost = self.detect_losses(now, change.outstanding);
        if ack.ece && self.ecn {
            self.hear_of_mark(now);
        }
        self.tell_control(now, ack, &change, before);
        if let (Some(prr), Phase::Fast) = (&mut self.prr, self.phase) {
            prr.deliver(Progress { delivered: change.delivered, pipe: self.board.pipe(), safe: change.acked > 0 && !lost });
        }
        if let Some(first) = &mut self.first {
            first.acknowledge(self.snd_una);
        }
        self.update_timers(now, &change);
        self.delivered = delivered;
        true
    }

    /// Whether nothing is in flight of which an ACK could tell something: the usual case at the end that receives.
    fn is_uninformative(&self, ack: &Ack<'_>) -> bool {
        self.board.flight_size() == 0 && self.phase == Phase::Open && ack.number == self.snd_una && ack.sack.is_empty() && !ack.ece
    }

    fn update_scoreboard(&mut self, ack: &Ack<'_>, delivered: &mut Vec<SentSegment>) -> Change {
        let (una, outstanding, flight) = (self.snd_una, self.unsacked(), self.board.flight_size());
        let (inflight, lost) = (self.board.pipe(), self.rate.lost());
        let window_moved = self.update_window(ack);
        let acked = ack.number - una;
        self.snd_una = ack.number;
        let segments = self.board.acknowledge(ack.number, delivered);
        let dsack = dsack_block(ack);
        let blocks = if self.recovery == Recovery::NewReno { &[] } else { ack.sack };
        for &(start, end) in blocks.iter().filter(|block| block.1 > ack.number && Some(**block) != dsack) {
            self.board.sack((start.max(ack.number), end.min(self.snd_nxt)), delivered);
        }
        let arrived = delivered.iter().map(SentSegment::len).sum();
        // RFC 5681 §2; with SACK, RFC 6675 §2: one that tells of something new.
        let tells = if self.recovery == Recovery::NewReno { ack.bare && !window_moved } else { arrived > 0 };
        let duplicate = acked == 0 && flight > 0 && tells;
        self.dupacks = if acked > 0 { 0 } else { self.dupacks + u32::from(duplicate) };
        Change { acked, segments, delivered: arrived, duplicate, dsack, outstanding, una, rtt: None, sample: None, inflight, lost }
    }

    /// RFC 9293 §3.10.7.4: takes the window of the newest segment; tells whether it has changed.
    fn update_window(&mut self, ack: &Ack<'_>) -> bool {
        if self.window_told > (ack.seq, ack.number) {
            return false;
        }
        self.window_told = (ack.seq, ack.number);
        self.max_window = self.max_window.max(ack.window);
        let edge = ack.number + ack.window;
        // A window may shrink by the rounding of its scale (RFC 7323 §2.4), but not below what was sent.
        let moved = edge != self.edge;
        self.edge = edge.max(self.snd_nxt.min(self.edge));
        moved
    }

    /// Takes the measurements that an ACK allows: round-trip time, delivery rate, and what RACK needs.
    fn measure(&mut self, now: Instant, ack: &Ack<'_>, delivered: &[SentSegment], change: &mut Change) {
        // RFC 6298 §3 (Karn): not if something was sent again; the rest may have waited for it. The first segment's time includes the
        // delay of the ACK (RFC 7323 §4.1), the last one's is that of the segment that caused it.
        let clear = delivered.iter().all(|segment| !segment.retransmitted);
        let time = |segment: Option<&SentSegment>| segment.filter(|_| clear).map(|segment| now.since(segment.sent_at()));
        let first = time(delivered.first());
        change.rtt = time(delivered.last());
        let echoed = ack.echo.and_then(|echo| paws::since(now, echo, self.config.initial_timestamp));
        // An ACK with a D-SACK answers a duplicate, whose timestamp is not echoed (RFC 7323 §4.3): its echo is as old as the original.
        let sample = first.or_else(|| echoed.filter(|_| change.acked > 0 && change.dsack.is_none()));
        if let Some(sample) = sample {
            self.rtt.measure(sample);
            self.tlp.measure();
        }
        if change.acked > 0 {
            self.rtt.end_backoff();
        }
        if let Some(newest) = delivered.iter().max_by_key(|it| (it.snapshot.delivered, it.sent_at(), it.end)) {
            change.sample = Some(self.rate.deliver(now, change.delivered, &newest.snapshot, self.rtt.min()));
        }
        if self.recovery != Recovery::Rack {
            return;
        }
        let min_rtt = self.rtt.min();
        for segment in delivered {
            let sent = paws::timestamp(segment.sent_at(), self.config.initial_timestamp);
            // Of a segment out of order the timestamp is not echoed (RFC 7323 §4.3): of one that was SACKed the echo tells nothing.
            let original = segment.end <= ack.number && ack.echo.is_some_and(|echo| echo.wrapping_sub(sent).cast_signed() < 0);
            self.rack.deliver(now, segment, original, min_rtt);
        }
        self.rack.see_dsack(self.snd_una, self.snd_nxt, change.dsack.is_some());
    }

    /// Takes back a recovery that turns out to be spurious.
    fn check_spurious(&mut self, now: Instant, ack: &Ack<'_>, change: &Change, delivered: &[SentSegment]) {
        if self.phase == Phase::Open {
            return;
        }
        let can_send_new = self.next_new().is_some();
        let advances = change.acked > 0;
        let evidence = Evidence { ack: ack.number, advances, duplicate: change.duplicate, delivered, can_send_new };
        let verdict = self.undo.judge(&evidence);
        let dsack = change.dsack.is_some() && self.undo.is_dsack_spurious();
        let eifel = advances && self.undo.is_eifel_spurious(ack.echo);
        if verdict == Verdict::Spurious || self.config.undo && (dsack || eifel) {
            self.restore(now);
        } else if verdict == Verdict::Probe {
            self.force = Force::New(2);
        }
    }

    /// Tells the control of the ACK: the window may grow outside fast recovery, and not on an echoed mark (RFC 3168 §6.1.2).
    fn tell_control(&mut self, now: Instant, ack: &Ack<'_>, change: &Change, before: Phase) {
        if change.delivered == 0 && change.acked == 0 && !change.duplicate {
            return;
        }
        let ecn_echo = ack.ece && self.ecn;
        let recovering = before == Phase::Fast || self.phase == Phase::Fast;
        let inflight = self.board.pipe();
        let event = AckEvent {
            now,
            acked: change.segments,
            counted: self.counted(change.acked),
            may_grow: change.acked > 0 && !recovering && !ecn_echo,
            cwnd_limited: change.una < self.limited_until,
            flight_size: self.flight_segments(),
            delivered: change.delivered,
            marked: if ecn_echo { change.delivered } else { 0 },
            lost: self.rate.lost() - change.lost,
            inflight_before: change.inflight,
            inflight,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            total: self.total(),
            sample: change.sample,
            rtt: change.rtt,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            round: self.rate.round(),
            ecn_echo,
            handshake: false,
        };
        let window = self.control.window();
        self.control.on_ack(&event);
        self.note_outputs();
        if !self.exit.happened() && self.control.phase() != ControlPhase::SlowStart {
            let after = self.control.window();
            let algorithm = after.ssthresh < window.ssthresh;
            let reason = if algorithm { ExitReason::Algorithm } else { ExitReason::Threshold };
            self.exit.note(reason, now, window.cwnd.max(after.cwnd));
        }
        if self.control.holds_back() {
            self.rate.note_app_limited(inflight);
        }
    }

    /// RFC 3465 §2.2 and §2.3: segments for which an ACK counts; in slow start at most L, and one after a timeout.
    fn counted(&self, acked: u64) -> f64 {
        let segments = acked as f64 / self.smss as f64;
        match (self.control.phase(), self.phase) {
            (ControlPhase::Avoidance, _) => segments,
            (ControlPhase::SlowStart, Phase::Timeout) => segments.min(1.0),
            (ControlPhase::SlowStart, _) => segments.min(self.config.abc_limit),
        }
    }

    fn update_timers(&mut self, now: Instant, change: &Change) {
        if self.board.flight_size() == 0 {
            self.timers.stop();
        } else {
            if change.acked > 0 {
                // RFC 6298 §5.3.
                self.timers.set_rto(now + self.rtt.timeout());
            }
            if change.delivered > 0 {
                self.schedule_probe(now);
            }
        }
    }
}

/// RFC 2883 §4: the first block is a D-SACK block if it lies below the cumulative ACK or within the second.
fn dsack_block(ack: &Ack<'_>) -> Option<Range> {
    let &first = ack.sack.first()?;
    let within = |block: &Range| block.0 <= first.0 && first.1 <= block.1;
    (first.0 < ack.number || ack.sack.get(1).is_some_and(within)).then_some(first)
}
