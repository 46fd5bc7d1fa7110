//! Processing of ACKs.
//!
//! ## References
//! RFC 9293 §3.10.7.4; RFC 5681 §2 (duplicate ACK); RFC 6675 §2; RFC 6298 §3 and RFC 7323 §4.1 (round-trip time); RFC 7323 §4.3 (which
//! timestamp is echoed).

use ackclock_core::events::{Ack as AckEvent, Delivered, MarkCount, RateSample, Timing};
use ackclock_core::units::{Bytes, Duration, Instant, Segments};
use ackclock_host::RecoveryPhase;

use super::super::ack::Ack;
use super::super::config::Recovery;
use super::super::feedback::{Delivery, Report};
use super::super::paws;
use super::super::prr::Progress;
use super::super::repair::Force;
use super::super::scoreboard::SentSegment;
use super::super::segment::MAX_SACK_BLOCKS;
use super::super::timers::Timer;
use super::super::tlp::ProbeAck;
use super::super::undo::{Evidence, Verdict};
use super::Sender;
use crate::ranges::Range;

/// Shortest time that a receiver has to acknowledge SACKed data at the front of the window (measured with Linux 6.18; no stored run
/// distinguishes it).
const RENEGING_MIN: Duration = Duration::from_millis(10);

/// The changes that an ACK causes.
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
    /// The retransmissions that it reports as duplicates.
    reported: u32,
    /// Whether it reports segments that were retransmitted.
    repeats: bool,
    /// Start of the SACKed data whose retransmission it reports.
    late: Option<u64>,
    /// Segments delivered, with those that a D-SACK reports as repeated, or that duplicate ACKs count.
    arrived: u64,
    /// Outstanding bytes not SACKed before the ACK.
    outstanding: u64,
    /// First unacknowledged position before the ACK.
    una: u64,
    rtt: Option<Duration>,
    /// Age of the oldest segment that the ACK selects, among those that were sent once.
    selected: Option<Duration>,
    /// The one-way delay, if the control wants it.
    delay: Option<Duration>,
    sample: Option<RateSample>,
    /// Bytes in flight before the ACK.
    inflight: u64,
    /// The marks that the ACK reports.
    marks: Report,
}

impl Sender {
    /// Processes an ACK; returns whether it is acceptable. An ACK of data never sent is not (RFC 9293 §3.10.7.4).
    pub(in super::super) fn handle_ack(&mut self, now: Instant, ack: &Ack<'_>) -> bool {
        if ack.number > self.window.nxt() {
            return false;
        }
        self.wake();
        if ack.number < self.window.una() {
            return self.handle_old_ack(now, ack);
        }
        self.hold.acknowledge();
        if self.is_uninformative(ack) {
            self.window.update(ack, !self.settings.rules.keeps_offered_window);
            return true;
        }
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.clear();
        let mut change = self.update_scoreboard(ack, ack.dsack(), &mut delivered);
        change.marks = self.read_marks(ack, &change, &delivered);
        self.count(&change);
        self.measure(now, ack, &delivered, &mut change);
        self.tell_rtt(now, &change);
        let before = self.repair.phase();
        let repaired = self.tlp.handle_ack(ProbeAck {
            number: ack.number,
            dsack_end: change.dsack.map(|block| block.1),
            plain_duplicate: change.duplicate && ack.sack.is_empty(),
        });
        if repaired {
            self.respond_to_repaired_tail(now);
        }
        self.check_spurious(now, ack, &change, &delivered);
        self.leave_recovery(now);
        let hole = self.recover_without_sack(now, change.acked, change.duplicate);
        let lost = self.detect_losses(now, change.outstanding) || hole;
        if change.marks.echo {
            let ended = before == RecoveryPhase::Fast && self.repair.phase() == RecoveryPhase::Open;
            self.handle_mark(now, ended && self.settings.gradual_marks);
        }
        if self.seat.wants().deliveries {
            self.report_deliveries(now, &delivered);
        }
        let window = self.seat.cwnd();
        self.notify_control(now, &change, before);
        let arrived = if self.settings.rules.counts_segments { change.arrived } else { change.delivered };
        self.repair.deliver(Progress { delivered: arrived, pipe: self.board_pipe(), safe: change.acked > 0 && !lost });
        if self.seat.wants().gradual && self.settings.gradual_marks {
            self.reduce_gradually(window);
        }
        self.seat.acknowledge(self.window.una());
        if let Some(buffer) = &mut self.buffer {
            buffer.acknowledge();
        }
        self.set_rate();
        self.update_timers(now, &change);
        self.delivered = delivered;
        true
    }

    /// Processes an ACK below the last one. RFC 5961 §5.2: one below what a peer with such windows can send is not acceptable. Its SACK blocks
    /// may still be news, but it changes neither window nor timers.
    #[cold]
    fn handle_old_ack(&mut self, now: Instant, ack: &Ack<'_>) -> bool {
        let una = self.window.una();
        if ack.number + self.window.largest() < una {
            return false;
        }
        if !self.settings.rules.reads_old_sacks || ack.sack.is_empty() {
            return true;
        }
        let dsack = ack.dsack();
        let ack = Ack { number: una, window: self.window.offered(), echo: None, delay: None, ..*ack };
        let mut delivered = std::mem::take(&mut self.delivered);
        delivered.clear();
        let change = self.update_scoreboard(&ack, dsack, &mut delivered);
        self.count(&change);
        self.rate.count_delivered(change.delivered);
        self.delivered_late += change.delivered;
        self.update_rack(now, &ack, &change, (&delivered, self.rtt.min()));
        self.check_spurious(now, &ack, &change, &delivered);
        self.leave_recovery(now);
        self.detect_losses(now, change.outstanding);
        if self.seat.wants().deliveries {
            self.report_deliveries(now, &delivered);
        }
        self.delivered = delivered;
        true
    }

    /// Tells the control the round-trip time of an ACK that has not changed the window yet.
    fn tell_rtt(&mut self, now: Instant, change: &Change) {
        let Some(rtt) = change.rtt.filter(|_| self.seat.wants().timing) else { return };
        let ssthresh = self.seat.window().ssthresh;
        let timing = Timing::new(now, rtt).with(|timing| {
            timing.srtt = self.rtt.srtt();
            timing.snd_una = self.window.una();
            timing.snd_nxt = self.window.nxt();
        });
        self.seat.on_rtt(&timing, self.congestion_window().cwnd);
        self.follow_threshold(ssthresh);
    }

    /// The control may have lowered the threshold, which was `before`: recovery reduces the window further.
    fn follow_threshold(&mut self, before: Segments) {
        if self.seat.window().ssthresh < before {
            self.repair.lower_target(self.seat.cwnd());
        }
    }

    /// The outstanding data of a SACK block: in whole segments, if others do not count.
    fn data_of(&self, (start, end): Range, una: u64) -> Range {
        let block = (start.max(una), end.min(self.window.nxt()));
        if self.settings.rules.sacks_whole_segments { self.board.whole_segments(block) } else { block }
    }

    /// Whether no data is in flight and the ACK repeats the last one: the usual case at the end that receives data.
    fn is_uninformative(&self, ack: &Ack<'_>) -> bool {
        let idle = self.window.is_idle() && self.repair.is_open();
        idle && ack.number == self.window.una() && ack.sack.is_empty() && !self.marks.is_echo(ack)
    }

    /// The marks that the ACK reports.
    fn read_marks(&mut self, ack: &Ack<'_>, change: &Change, delivered: &[SentSegment]) -> Report {
        if !self.marks.is_agreed() {
            return Report::NONE;
        }
        let (segments, smss, counters) = (delivered.len() as u64, self.seat.smss(), &self.counters);
        let full = change.delivered == segments * smss && counters.retransmitted_bytes == counters.retransmitted * smss;
        let delivery = Delivery {
            bytes: change.delivered,
            segments,
            largest: delivered.iter().map(SentSegment::len).max().unwrap_or(0),
            advances: change.acked > 0,
            news: change.acked > 0 || change.delivered > 0 || change.duplicate,
            selective: self.repair.method() != Recovery::NewReno,
            even: counters.retransmitted == 0 || full,
        };
        self.marks.read(ack, &delivery, smss)
    }

    /// Counts what the ACK delivers.
    fn count(&mut self, change: &Change) {
        self.counters.delivered += change.arrived;
        if change.marks.echo {
            self.counters.delivered_marked += if self.marks.counts() { change.marks.packets } else { change.arrived };
        }
        self.counters.dsacks += u64::from(change.dsack.is_some());
    }

    fn update_scoreboard(&mut self, ack: &Ack<'_>, dsack: Option<Range>, delivered: &mut Vec<SentSegment>) -> Change {
        let (una, outstanding, flight) = (self.window.una(), self.board.unsacked(), self.board.flight_size());
        let inflight = self.board.pipe();
        let window_moved = self.window.update(ack, !self.settings.rules.keeps_offered_window);
        let reported = dsack.map_or(0, |block| self.reported(block));
        let repeats = self.repeated(dsack) > 0;
        let late = dsack.filter(|block| self.settings.rules.keeps_copies && block.1 > una).and_then(|block| self.board.late(block));
        let acked = ack.number - una;
        self.window.acknowledge(ack.number);
        let segments = self.board.acknowledge(ack.number, delivered);
        let without_sack = self.repair.method() == Recovery::NewReno;
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        // In the order of the data: what lies below data that has arrived before has been reordered, but not what lies below data of this ACK.
        let blocks = ascending(if without_sack { &[] } else { ack.sack }, &mut blocks);
        let mut reached = 0;
        for &block in blocks.iter().filter(|block| block.1 > ack.number) {
            let data = self.data_of(block, ack.number);
            if Some(block) != dsack {
                reached = self.board.sack(data, delivered).max(reached);
            } else if reached <= data.0 {
                self.board.pack_sacked(data);
            }
        }
        self.board.remember(blocks);
        if let Some(block) = dsack.filter(|_| self.settings.rules.keeps_copies) {
            self.board.forget_copies(block);
        }
        let bytes = delivered.iter().map(SentSegment::len).sum();
        // RFC 5681 §2; with SACK, RFC 6675 §2: a duplicate ACK must report new data.
        let reports = if without_sack { ack.bare && !window_moved } else { bytes > 0 };
        let duplicate = acked == 0 && flight > 0 && reports;
        let arrived = if self.repair.counts_duplicates() {
            let count = self.repair.count_as_sacked(segments, duplicate, self.board.most_duplicates());
            self.board.set_duplicates(self.repair.duplicates());
            u64::from(count)
        } else {
            self.repair.count_duplicates(acked > 0, duplicate);
            delivered.len() as u64 + self.repeated(dsack)
        };
        Change {
            acked,
            segments,
            delivered: bytes,
            duplicate,
            dsack,
            reported,
            repeats,
            late,
            arrived,
            outstanding,
            una,
            rtt: None,
            selected: None,
            delay: None,
            sample: None,
            inflight,
            marks: Report::NONE,
        }
    }

    /// The segments in a D-SACK block; none if more were reported than retransmitted.
    fn repeated(&self, dsack: Option<Range>) -> u64 {
        let Some((start, end)) = dsack.filter(|_| self.counters.dsacks < self.counters.retransmitted) else { return 0 };
        (end - start).div_ceil(self.seat.smss()).max(1)
    }

    /// The retransmissions that a D-SACK block reports as duplicates: those of outstanding data, of which the scoreboard knows, or the
    /// segments in the block.
    fn reported(&self, block: Range) -> u32 {
        if !self.settings.rules.keeps_copies {
            1
        } else if block.1 > self.window.una() {
            self.board.retransmitted(block)
        } else {
            self.repeated(Some(block)) as u32
        }
    }

    /// Takes the measurements that an ACK allows: round-trip time, delivery rate, and the state of RACK.
    fn measure(&mut self, now: Instant, ack: &Ack<'_>, delivered: &[SentSegment], change: &mut Change) {
        // RFC 6298 §3 (Karn): no sample if a segment was retransmitted, because the others may have waited for it. The first segment's time
        // includes the delay of the ACK (RFC 7323 §4.1); the last segment caused the ACK.
        let clear = delivered.iter().all(|segment| !segment.is_retransmitted());
        let resolution = self.settings.rules.resolution;
        let age = |segment: &SentSegment| resolution.between(segment.sent_at(), now);
        let time = |segment: Option<&SentSegment>| segment.filter(|_| clear).map(age);
        let mut first = time(delivered.first());
        change.rtt = time(delivered.last());
        if !clear && self.settings.rtt_of_sacked {
            // SACKed segments that were sent once give a sample of their own.
            let mut sacked = delivered.iter().filter(|it| it.end() > ack.number && !it.is_retransmitted()).map(age);
            first = sacked.next();
            change.rtt = sacked.next_back().or(first);
        }
        if change.acked == 0 {
            change.selected = first;
        }
        // A duplicate causes an ACK with a D-SACK, but its timestamp is not echoed (RFC 7323 §4.3): the echo is as old as the original.
        let trusted = change.dsack.is_none() || self.settings.rules.trusts_echoes_of_duplicates;
        let echoed = || ack.echo.filter(|_| change.acked > 0 && trusted);
        let sample = first.or_else(|| self.settings.stamps.since(now, echoed()?));
        if self.settings.rtt_of_sacked {
            // An ACK that advances gives the control the time between timestamps if no segment gives one.
            change.rtt = change.rtt.or(sample);
        }
        if self.seat.wants().one_way_delay {
            change.delay = ack.delay.filter(|_| change.acked > 0 && change.dsack.is_none()).map(paws::span);
        }
        let least = self.rtt.min();
        if let Some(last) = change.rtt.filter(|_| self.settings.rtt_of_sacked) {
            self.rtt.note_min(last);
        }
        if let Some(sample) = sample {
            self.rtt.measure_at(sample, (self.window.una(), self.window.nxt()));
            self.tlp.measure();
        }
        if if self.settings.backoff_until_measured { sample.is_some() } else { change.acked > 0 } {
            self.rtt.end_backoff();
        }
        let mut progress = None;
        if let Some(newest) = delivered.iter().max_by_key(|it| (it.delivered_before(), it.sent_at(), it.end())) {
            let sample = self.rate.deliver(now, change.delivered, &newest.snapshot(), self.rtt.min());
            self.store_rate(&sample);
            change.sample = Some(sample);
            progress = Some(newest.delivered_before());
        }
        // Measured with Linux 6.18: the minimum before the ACK decides whether it can belong to the retransmission. No stored run
        // distinguishes it.
        let min_rtt = if self.settings.rtt_of_sacked { least } else { self.rtt.min() };
        self.update_rack(now, ack, change, (delivered, min_rtt));
        if !self.settings.rules.dsacks_need_reordering {
            self.rack.adapt(self.window.una(), self.window.nxt());
        } else if let Some(progress) = progress {
            self.rack.adapt(progress, self.rate.delivered());
        }
    }

    /// Brings the state of RACK up to date. `min_rtt`: an ACK that comes sooner belongs to the original.
    fn update_rack(&mut self, now: Instant, ack: &Ack<'_>, change: &Change, (delivered, min_rtt): (&[SentSegment], Option<Duration>)) {
        if self.repair.method() != Recovery::Rack {
            return;
        }
        let needs = self.settings.rules.dsacks_need_reordering;
        if change.dsack.is_some_and(|block| !needs || change.repeats && self.rack.reordering_seen() > 0 && !self.tlp.ends_at(block.1)) {
            self.rack.see_dsack();
        }
        self.rack.detect_reordering(delivered, self.window.una(), self.seat.smss(), change.late);
        // Linux processes SACK blocks before the cumulative ACK, so that the latter's segments determine the round-trip time.
        let covered = if self.settings.rules.takes_sacks_first { delivered.partition_point(|it| it.end() <= ack.number) } else { 0 };
        for segment in delivered[covered..].iter().chain(&delivered[..covered]) {
            // The timestamp of an out-of-order segment is not echoed (RFC 7323 §4.3), so the echo says nothing about a SACKed segment.
            let sent = || self.settings.stamps.at(segment.sent_at());
            let is_older = |echo: u32| echo.wrapping_sub(sent()).cast_signed() < 0;
            let original = segment.is_retransmitted() && segment.end() <= ack.number && ack.echo.is_some_and(is_older);
            self.rack.deliver(now, segment, original, min_rtt);
        }
    }

    /// Undoes a recovery that the ACK shows as spurious.
    fn check_spurious(&mut self, now: Instant, ack: &Ack<'_>, change: &Change, delivered: &[SentSegment]) {
        self.repair.hold(false);
        if let Some((_, end)) = change.dsack {
            self.undo.report(end, change.reported);
        }
        let reported = self.settings.undo && self.undo.is_dsack_spurious();
        let awaits = self.settings.rules.awaits_copies;
        if self.repair.is_open() {
            if self.settings.late_undo && reported {
                self.restore(now, awaits);
            }
            if awaits && !self.board.has_retransmitted() {
                self.undo.forget_retransmission();
            }
            return;
        }
        let can_send_new = self.next_new().is_some();
        let advances = change.acked > 0;
        let evidence = Evidence {
            ack: ack.number,
            advances,
            duplicate: change.duplicate,
            delivered,
            can_send_new,
            at_once: self.settings.frto_at_once,
        };
        let verdict = self.undo.judge(&evidence);
        let late = if awaits { self.undo.is_late(ack.echo) } else { self.undo.is_eifel_spurious(ack.echo) };
        let late = self.settings.undo && advances && late;
        let (fast, partial) = (self.repair.phase() == RecoveryPhase::Fast, self.repair.covers(self.window.una()));
        if late && partial && self.settings.rules.counts_late_data {
            self.rack.note_late(change.una, self.seat.smss());
        }
        if awaits && late && partial && self.board.copied_segments() > 0 {
            self.repair.hold(true);
        } else if verdict == Verdict::Spurious || late || reported && (fast || advances || !awaits) {
            self.restore(now, awaits && fast && !(late && partial));
            if awaits && !self.board.has_retransmitted() {
                self.undo.forget_retransmission();
            }
        } else if verdict == Verdict::Probe {
            self.repair.force(Force::New(2));
        }
    }

    /// Notifies the control of each segment that the ACK delivers.
    fn report_deliveries(&mut self, now: Instant, delivered: &[SentSegment]) {
        for segment in delivered {
            let ((start, end), retransmission) = (segment.range(), segment.is_retransmitted());
            self.seat.on_delivered(&Delivered::new(now, start, end).with(|delivered| {
                delivered.packet = segment.snapshot();
                delivered.retransmission = retransmission;
            }));
        }
    }

    /// Notifies the control of the ACK. The window may grow only outside fast recovery, and not by what was marked (RFC 3168 §6.1.2).
    fn notify_control(&mut self, now: Instant, change: &Change, before: RecoveryPhase) {
        let marks = change.marks;
        if change.delivered == 0 && change.acked == 0 && !change.duplicate && marks.bytes == 0 {
            return;
        }
        // What was marked for certain does not count; a mere echo stands for the whole ACK.
        let unmarked = match marks.count {
            MarkCount::Exact if marks.echo => change.delivered.saturating_sub(marks.bytes) as f64 / change.delivered.max(1) as f64,
            _ => f64::from(u8::from(!marks.echo)),
        };
        let phase = self.repair.phase();
        let by_arrivals = self.settings.rules.grows_by_arrivals;
        // With Linux's rule, the ACK that ends recovery counts for growth, and SACKed segments count when they are SACKed.
        let recovering = before == RecoveryPhase::Fast && !by_arrivals || matches!(phase, RecoveryPhase::Fast | RecoveryPhase::Reduction);
        // A D-SACK shows that a retransmission was delivered too.
        let counted = if by_arrivals { change.arrived as f64 } else { self.seat.counted(change.acked, phase == RecoveryPhase::Timeout) };
        let counted = match marks.count {
            MarkCount::Exact if marks.echo && by_arrivals => (counted * unmarked) as u64 as f64,
            MarkCount::Exact if marks.echo => counted * unmarked,
            _ => counted,
        };
        let inflight = self.board.pipe();
        let ssthresh = self.seat.window().ssthresh;
        let lost = self.rate.take_newly_lost();
        let late = std::mem::take(&mut self.delivered_late);
        self.seat.note_rtt(change.rtt);
        let event = AckEvent::new(now, change.segments, Bytes(self.seat.smss())).with(|event| {
            event.counted = counted;
            event.may_grow = (change.acked > 0 || by_arrivals && self.rack.reorders()) && !recovering && unmarked > 0.0;
            event.cwnd_limited = self.seat.was_limited(change.una);
            event.flight_size = self.flight_segments();
            event.delivered = change.delivered + late;
            event.marked = marks.bytes;
            event.lost = lost;
            event.inflight_before = change.inflight;
            event.release = self.seat.next_of_pacer();
            event.inflight = inflight;
            event.snd_una = self.window.una();
            event.snd_nxt = self.window.nxt();
            event.total = self.total();
            event.sample = change.sample;
            event.rtt = change.rtt;
            event.one_way_delay = change.delay;
            event.srtt = self.rtt.srtt();
            event.min_rtt = self.seat.min_rtt(self.rtt.min());
            event.round = self.rate.round();
            event.ecn_echo = marks.echo;
            event.mark_count = marks.count;
        });
        self.seat.on_ack(&event);
        self.follow_threshold(ssthresh);
        if let Some(position) = self.seat.proactive_below()
            && !self.repair.is_forced()
        {
            self.repair.force(Force::Proactive(position));
        }
        if self.seat.holds_back() {
            self.rate.note_app_limited(inflight);
        }
    }

    fn update_timers(&mut self, now: Instant, change: &Change) {
        if self.board.flight_size() == 0 {
            self.timers.stop_waiting();
            if change.acked > 0 && self.next_new().is_none() {
                self.seat.begin_idle(now);
            }
            return;
        }
        // RFC 6298 §5.3: an ACK that advances restarts the timer; with Linux's rule, so does a SACK of data that was sent before the last
        // retransmission of the first segment.
        let head = || self.board.first_sent_at().map(|sent_at| now.since(sent_at));
        let selects = self.settings.rtt_of_sacked && change.selected.is_some_and(|age| head().is_some_and(|head| age > head));
        if change.acked > 0 || selects && !self.timers.is_set(Timer::Reorder) {
            // A receiver that may have discarded SACKed data has half a round trip to acknowledge it.
            let half = || (self.rtt.srtt().unwrap_or(Duration::ZERO) * 0.5).max(RENEGING_MIN);
            let timeout = if self.board.is_reneged() { half() } else { self.rtt.timeout() };
            self.timers.start_rto(now, timeout);
        }
        if change.delivered > 0 {
            self.schedule_probe(now, false);
        }
    }
}

/// SACK blocks in ascending order.
fn ascending<'a>(sack: &[Range], blocks: &'a mut [Range; MAX_SACK_BLOCKS]) -> &'a [Range] {
    let blocks = &mut blocks[..sack.len()];
    blocks.copy_from_slice(sack);
    blocks.sort_unstable();
    blocks
}
