//! A control that holds its host to the contract: it checks the sentences of [`events`](crate::events) and of [`CongestionControl`], event
//! by event. The tests of every host profile run it on random paths; so can those of another stack.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cc::{CongestionControl, Phase, Wants, Window};
use crate::events::{
    Ack, Cause, CongestionEvent, Delivered, Established, FirstWindow, Idle, Lost, MarkCount, SavedPath, Sent, Timing, Totals,
};
use crate::qdisc::Ecn;
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// A tick of the coarsest clock of timestamps (RFC 7323 §5.4).
const TICK: Duration = Duration::from_millis(1);

/// What witnesses have seen.
#[derive(Clone, Debug)]
pub struct Testimony {
    /// Each broken sentence, with the first event that broke it and the state before.
    pub broken: BTreeMap<&'static str, String>,
    /// Number of events of each kind.
    pub events: BTreeMap<&'static str, u64>,
    /// Bytes that ACKs have reported as marked.
    pub marked: u64,
    /// Whether each ACK counted marks exactly.
    pub exact: bool,
    /// Whether each ACK counted marks exactly or bounded them.
    pub at_most: bool,
    /// The one-way delays that ACKs have reported, with the round-trip times.
    pub delays: Vec<(Duration, Option<Duration>)>,
    /// The idle times.
    pub idle: Vec<Idle>,
}

impl Default for Testimony {
    fn default() -> Self {
        Self {
            broken: BTreeMap::new(),
            events: BTreeMap::new(),
            marked: 0,
            exact: true,
            at_most: true,
            delays: Vec::new(),
            idle: Vec::new(),
        }
    }
}

/// Shared by witnesses and those who question them.
pub type Court = Arc<Mutex<Testimony>>;

/// Passes every event on to another control and checks it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Witness {
    inner: Box<dyn CongestionControl>,
    wants: Wants,
    /// Whether the host can tell which segments a duplicate ACK stands for.
    identifies: bool,
    court: Court,
    established: bool,
    /// Whether host or control spread segments in time.
    paced: bool,
    /// The first window is over.
    opened: bool,
    now: Instant,
    total: Totals,
    /// Totals at the last ACK.
    at_ack: Totals,
    una: u64,
    nxt: u64,
    round: u64,
    /// Bytes in flight after the last event.
    inflight: u64,
    /// The time of the latest loss or congestion, which the next ACK may have shown, and the bytes in flight before it.
    before: Option<(Instant, u64)>,
    /// Losses since the last congestion.
    losses: u64,
    /// Position and time of sending of each transmission that was lost, and the bytes delivered by then.
    lost: BTreeMap<(u64, Instant), u64>,
    /// `snd_nxt` at the last congestion, until its recovery ends.
    recovering: Option<u64>,
    /// The point that the next ACK has reached if the last congestion is news.
    again: Option<u64>,
    reductions: u64,
    /// The last reduction was not undone.
    undoable: bool,
    undone: u64,
    /// Bytes sent again since the last ACK.
    copies: u64,
    /// An undo has changed the flight, and no event has told it since.
    withdrawn: bool,
    /// When congestion came without a loss: a tail loss probe has repaired it.
    repaired: Option<Instant>,
    /// The first transmission of each segment that is not acknowledged, by its start.
    first: BTreeMap<u64, Sent>,
    /// The bytes that deliveries have reported, as disjoint ranges, and their number since the last ACK.
    delivered: BTreeMap<u64, u64>,
    reported: u64,
    /// The round-trip time that the next ACK has measured, and its time.
    heard: Option<(Instant, Duration)>,
    /// When the last undo was.
    restored: Option<Instant>,
    /// Since when all that was sent is acknowledged.
    emptied: Option<Instant>,
    /// Whether an idle time was reported since the last segment.
    was_idle: bool,
}

impl Witness {
    /// A witness before `inner` that tells the `court`. `wants`: what it asks the host for besides what `inner` wants. `identifies`:
    /// whether the host declares that it can tell which segments a duplicate ACK stands for.
    pub fn new(inner: Box<dyn CongestionControl>, wants: Wants, identifies: bool, court: &Court) -> Self {
        Self {
            wants: wants.or(inner.wants()),
            identifies,
            inner,
            court: Arc::clone(court),
            established: false,
            paced: false,
            opened: false,
            now: Instant::ZERO,
            total: Totals::default(),
            at_ack: Totals::default(),
            una: 0,
            nxt: 0,
            round: 0,
            inflight: 0,
            before: None,
            losses: 0,
            lost: BTreeMap::new(),
            recovering: None,
            again: None,
            reductions: 0,
            undoable: false,
            undone: 0,
            copies: 0,
            withdrawn: false,
            repaired: None,
            first: BTreeMap::new(),
            delivered: BTreeMap::new(),
            reported: 0,
            heard: None,
            restored: None,
            emptied: None,
            was_idle: false,
        }
    }

    fn tell(&self, tell: impl FnOnce(&mut Testimony)) {
        tell(&mut self.court.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn see(&self, event: &'static str) {
        self.tell(|testimony| *testimony.events.entry(event).or_default() += 1);
    }

    fn check(&self, sentence: &'static str, holds: bool, event: &dyn Debug) {
        if !holds {
            self.tell(|testimony| {
                testimony.broken.entry(sentence).or_insert_with(|| format!("{event:?}\nafter {self:?}"));
            });
        }
    }

    fn advance(&mut self, now: Instant, event: &dyn Debug) {
        self.check("time does not go back", now >= self.now, event);
        self.check("the losses of a congestion precede it", self.repaired.is_none(), event);
        self.now = now;
    }

    fn count(&mut self, total: Totals, event: &dyn Debug) {
        let Totals { sent, delivered, lost } = self.total;
        self.check("totals do not decrease", total.sent >= sent && total.delivered >= delivered && total.lost >= lost, event);
        self.check("what was delivered was sent", total.delivered <= total.sent, event);
        // An undo withdraws losses, but they stay counted.
        self.check("what was lost was sent", total.lost <= total.sent || self.undone > 0, event);
        self.total = total;
    }

    /// Notes the flight after a loss or congestion.
    fn note_flight(&mut self, now: Instant, inflight: u64) {
        if self.before.is_none_or(|(at, _)| at < now) {
            self.before = Some((now, self.inflight));
        }
        self.inflight = inflight;
    }

    /// Whether a flight is the one that was `told`, possibly without copies and without what ACKs below the last one have delivered, at most
    /// `late` bytes.
    fn is_flight(&self, inflight: u64, told: u64, late: u64) -> bool {
        inflight <= told && told - inflight <= self.copies + late || self.withdrawn
    }

    /// Notes a segment of new data that begins at `start`.
    fn note_new(&mut self, start: u64, sent: &Sent) {
        if let Some(since) = self.emptied.filter(|since| *since < sent.now) {
            let explained = self.was_idle || self.paced || !sent.app_limited || !self.opened;
            self.check("an idle time is reported before the next segment", explained, &(since, sent));
        }
        self.first.insert(start, *sent);
        (self.emptied, self.was_idle) = (None, false);
    }

    /// Checks the one-way delay of an ACK, before `snd_una` moves.
    fn check_delay(&mut self, ack: &Ack) {
        let Some(delay) = ack.one_way_delay else { return };
        self.check("only a control that wants one-way delays gets them", self.wants.one_way_delay, ack);
        // What an ACK newly acknowledges was not sent before the oldest segment that is outstanding. When DCTCP's receiver acknowledges the
        // data before a mark by itself, the next ACK echoes that data's time again.
        let split = ack.mark_count == MarkCount::Estimate;
        let oldest = self.first.first_key_value().map(|(_, sent)| sent.now).filter(|_| ack.acked > 0 && !ack.handshake && !split);
        let most = oldest.map(|sent| ack.now.since(sent) + TICK + Duration::NANOSECOND);
        self.check("a one-way delay is shorter than the flight", most.is_none_or(|most| delay <= most), ack);
        self.tell(|testimony| testimony.delays.push((delay, ack.rtt)));
    }

    /// Checks the deliveries that precede an ACK, before `snd_una` moves.
    fn check_deliveries(&mut self, ack: &Ack) {
        let reported = std::mem::take(&mut self.reported);
        if !self.wants.deliveries {
            self.check("only a control that wants deliveries gets them", reported == 0, ack);
        } else if self.identifies {
            self.check("the deliveries of an ACK add up", reported == ack.delivered, ack);
        } else {
            self.check("deliveries add up to snd_una", reported == ack.snd_una - self.una, ack);
        }
        while let Some(entry) = self.first.first_entry().filter(|entry| entry.key() + entry.get().size <= ack.snd_una) {
            entry.remove();
        }
    }

    fn check_sample(&self, ack: &Ack) {
        let expected = self.wants.samples && ack.acked > 0 && !ack.handshake;
        self.check("a host takes samples for a control that wants them", !expected || ack.sample.is_some(), ack);
        if let Some(sample) = &ack.sample {
            let packet = &sample.packet;
            self.check("a sample counts from its packet to this ACK", sample.delivered == ack.total.delivered - packet.delivered, ack);
            self.check("a sample's packet was in flight", packet.sent_at <= ack.now && packet.inflight > 0, ack);
        }
    }
}

impl CongestionControl for Witness {
    fn on_established(&mut self, event: &Established) {
        self.see("established");
        self.advance(event.now, event);
        self.check("a connection is established once", !self.established, event);
        self.check("a segment has a size", event.smss > Bytes(0), event);
        self.check("a handshake takes time", event.rtt.is_none_or(|rtt| rtt.as_secs_f64() > 0.0), event);
        (self.established, self.paced) = (true, event.paced || self.inner.paces_initial_window());
        if self.nxt == self.una {
            self.emptied = Some(event.now);
        }
        self.inner.on_established(event);
    }
    fn paces_initial_window(&self) -> bool {
        self.inner.paces_initial_window()
    }
    fn on_first_window(&mut self, first: &FirstWindow) -> Option<Segments> {
        self.see("first window");
        self.check("the first window ends once", !self.opened, first);
        self.opened = true;
        self.inner.on_first_window(first)
    }
    fn on_sent(&mut self, sent: &Sent) {
        let size = sent.size;
        self.see(if sent.retransmission { "retransmission" } else { "transmission" });
        self.advance(sent.now, sent);
        self.check("the totals include the segment", sent.total.sent == self.total.sent + size, sent);
        self.count(sent.total, sent);
        self.check("the flight includes the segment", sent.flight_size >= 1 && sent.inflight >= size, sent);
        // A copy of a segment that is in flight already need not count, or not in later events.
        let copy = sent.retransmission && sent.inflight == self.inflight;
        let late = sent.total.delivered.saturating_sub(self.at_ack.delivered);
        let adds = copy || self.is_flight(sent.inflight.saturating_sub(size), self.inflight, late);
        self.check("a segment adds its bytes to the flight", adds, sent);
        self.copies += if sent.retransmission { size } else { 0 };
        let new = if sent.retransmission { 0 } else { size };
        self.check("new data advances snd_nxt by its bytes", self.nxt == 0 || sent.snd_nxt == self.nxt + new, sent);
        if !sent.retransmission {
            self.note_new(sent.snd_nxt - size, sent);
        }
        (self.nxt, self.inflight, self.before, self.withdrawn) = (sent.snd_nxt, sent.inflight, None, false);
        self.inner.on_sent(sent);
    }
    fn on_rtt(&mut self, timing: &Timing, cwnd: Segments) {
        self.advance(timing.now, timing);
        self.check("only a control that wants to hear of round-trip times does", self.wants.timing, timing);
        self.check("an ACK is of what is outstanding", timing.snd_una >= self.una && timing.snd_nxt == self.nxt, timing);
        self.check("the window in force is not negative", cwnd >= 0.0, timing);
        self.heard = Some((timing.now, timing.rtt));
        self.inner.on_rtt(timing, cwnd);
    }
    fn on_ack(&mut self, ack: &Ack) {
        let heard = self.heard.take();
        let told = !self.wants.timing || ack.rtt.is_none_or(|rtt| heard == Some((ack.now, rtt)));
        self.check("a control hears of the round-trip time first", told, ack);
        self.see(if ack.acked > 0 { "ack" } else { "duplicate" });
        if ack.marked > 0 {
            self.see("echo");
        }
        self.advance(ack.now, ack);
        self.check("ACKs follow the handshake", self.established || ack.handshake, ack);
        self.check("an ACK has what was delivered since the last", ack.total.delivered == self.at_ack.delivered + ack.delivered, ack);
        self.check("an ACK has what was lost since the last", ack.total.lost == self.at_ack.lost + ack.lost, ack);
        self.check("each loss was reported", ack.total.lost == self.total.lost, ack);
        self.count(ack.total, ack);
        self.at_ack = ack.total;
        self.check("acked segments advance snd_una", self.una == 0 || (ack.snd_una > self.una) == (ack.acked > 0), ack);
        self.check("snd_una is at most snd_nxt", ack.snd_una <= ack.snd_nxt && ack.snd_nxt == self.nxt, ack);
        let news = self.again.take().is_none_or(|point| ack.snd_una >= point);
        self.check("a recovery has one congestion", news, ack);
        let exact = ack.mark_count == MarkCount::Exact;
        self.check("an echo marks delivered bytes", exact || ack.marked <= ack.delivered, ack);
        self.check("bytes are marked by an echo", ack.marked == 0 || ack.ecn_echo, ack);
        let unmarked = exact && ack.marked < ack.delivered;
        self.check("no growth on an echo", !(ack.may_grow && ack.ecn_echo) || unmarked, ack);
        self.tell(|testimony| {
            testimony.marked += ack.marked;
            testimony.exact &= exact;
            testimony.at_most &= ack.mark_count != MarkCount::Estimate;
        });
        self.check("growth needs news", !ack.may_grow || ack.acked > 0 || ack.delivered > 0, ack);
        let before = self.before.take().filter(|(at, _)| *at == ack.now).map_or(self.inflight, |(_, before)| before);
        let known = [before, self.inflight].iter().any(|flight| self.is_flight(ack.inflight_before, *flight, ack.delivered));
        self.check("only sending, delivery and loss change the flight", known, ack);
        // RFC 6675 §4: a copy of a segment that is not lost counts too.
        self.check("the flight is outstanding", ack.inflight <= 2 * (ack.snd_nxt - ack.snd_una), ack);
        self.check_sample(ack);
        self.check_delay(ack);
        self.check_deliveries(ack);
        let least = ack.rtt.is_none_or(|rtt| ack.min_rtt.is_some_and(|least| least <= rtt));
        self.check("no round-trip time is below the least", least, ack);
        self.check("rounds do not go back", ack.round >= self.round, ack);
        (self.una, self.round, self.inflight, self.copies, self.withdrawn) = (ack.snd_una, ack.round, ack.inflight, 0, false);
        if ack.snd_una == ack.snd_nxt {
            self.emptied.get_or_insert(ack.now);
        }
        self.inner.on_ack(ack);
    }
    fn on_delivered(&mut self, delivered: &Delivered) {
        self.see("delivery");
        self.advance(delivered.now, delivered);
        let &Delivered { start, end, packet, retransmission, .. } = delivered;
        self.check("what is delivered is outstanding", self.una <= start && start < end && end <= self.nxt, delivered);
        self.check("a delivered packet was in flight", packet.sent_at <= delivered.now && packet.inflight > 0, delivered);
        // A retransmission may join segments.
        let first = self.first.range(..=start).next_back().map(|(_, sent)| *sent);
        let first = first.filter(|sent| end <= sent.snd_nxt || retransmission);
        self.check("what is delivered was sent", first.is_some(), delivered);
        if let Some(first) = first {
            let known = (packet.sent_at, packet.app_limited, packet.delivered, packet.lost, packet.inflight);
            let told = (first.now, first.app_limited, first.total.delivered, first.total.lost, first.inflight);
            self.check("a snapshot is of its transmission", retransmission || known == told, &(delivered, first));
            self.check("a retransmission is later", !retransmission || packet.sent_at >= first.now, &(delivered, first));
        }
        let overlaps = self.delivered.range(..end).next_back().is_some_and(|(_, to)| *to > start);
        self.check("each byte is delivered once", !overlaps, delivered);
        let from = self.delivered.range(..=start).next_back().filter(|(_, to)| **to == start).map_or(start, |(from, _)| *from);
        let to = self.delivered.remove(&end).unwrap_or(end);
        self.delivered.insert(from, to);
        self.reported += delivered.size();
        self.inner.on_delivered(delivered);
    }
    fn on_idle(&mut self, idle: &Idle) {
        self.see("idle");
        self.advance(idle.now, idle);
        self.check("an idle connection has nothing outstanding", self.emptied.is_some(), idle);
        self.check("an idle time begins when all is acknowledged", self.emptied.is_none_or(|since| since == idle.since), idle);
        self.check("an idle time is reported once", !self.was_idle, idle);
        let lasts = idle.duration() > Duration::ZERO || idle.restart_window.is_some();
        self.check("an idle time lasts", idle.since <= idle.now && lasts, idle);
        self.check("a restart window has a segment", idle.restart_window.is_none_or(|window| window >= 1.0), idle);
        self.was_idle = true;
        self.tell(|testimony| testimony.idle.push(*idle));
        self.inner.on_idle(idle);
    }
    fn on_lost(&mut self, lost: &Lost) {
        self.see("loss");
        self.advance(lost.now, lost);
        self.losses += 1;
        self.check("what is lost is outstanding", self.una <= lost.start && lost.start < lost.end && lost.end <= self.nxt, lost);
        self.check("the totals include the loss", lost.total.lost == self.total.lost + (lost.end - lost.start), lost);
        self.count(lost.total, lost);
        self.check("a host takes samples for a control that wants them", !self.wants.samples || lost.packet.is_some(), lost);
        if let Some(packet) = lost.packet {
            self.check("a lost packet was in flight", packet.sent_at <= lost.now && packet.lost < lost.total.lost, lost);
            // A receiver may discard what it has selectively acknowledged (RFC 2018 §8).
            let earlier = self.lost.insert((lost.start, packet.sent_at), lost.total.delivered);
            let arrived = earlier.is_none_or(|delivered| lost.total.delivered >= delivered + (lost.end - lost.start));
            // After an undo, a transmission from before it may count again.
            let again = self.restored.is_some_and(|at| packet.sent_at <= at);
            self.check("a transmission is lost once", arrived || again, lost);
        }
        self.note_flight(lost.now, lost.inflight);
        self.inner.on_lost(lost);
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.see(match event.cause {
            Cause::DupAck => "fast retransmit",
            Cause::Timeout => "timeout",
            Cause::EcnCe => "mark",
        });
        self.advance(event.now, event);
        match event.cause {
            // A lost SYN carries no data.
            _ if !self.established => {}
            Cause::EcnCe => {}
            // The timer may expire while a segment that was lost before still waits for its retransmission; that of ns-2's Vegas expires even
            // with nothing outstanding.
            Cause::Timeout => {
                let earlier = event.inflight == 0 || event.inflight < self.nxt - self.una;
                self.check("the losses of a congestion precede it", self.losses > 0 || earlier, event);
            }
            Cause::DupAck => {
                // With ns-2, the loss of the first segment may begin several.
                self.again = self.recovering.filter(|_| !event.resent && self.una > 0);
                self.repaired = (self.losses == 0 && !event.resent).then_some(event.now);
            }
        }
        self.check("a timeout restarts", event.restart || event.cause != Cause::Timeout, event);
        self.check("windows are positive", event.window > 0.0 && event.least > 0.0 && event.loss_window >= 1.0, event);
        (self.losses, self.recovering, self.undoable) = (0, Some(self.nxt), true);
        self.reductions += 1;
        self.note_flight(event.now, event.inflight);
        self.inner.on_congestion(event);
    }
    fn on_restart(&mut self) {
        self.see("restart");
        self.inner.on_restart();
    }
    fn on_recovery_end(&mut self, now: Instant) {
        self.see("end of recovery");
        if self.repaired.take_if(|at| *at == now).is_some() {
            self.see("repaired tail");
        }
        self.advance(now, &"end of recovery");
        self.check("a recovery follows congestion", self.reductions > 0 || self.inner.wants().gradual, &"end of recovery");
        self.recovering = None;
        self.inner.on_recovery_end(now);
    }
    fn on_spurious(&mut self, now: Instant) {
        self.see("undo");
        self.advance(now, &"undo");
        self.check("a reduction is undone once", self.undoable, &"undo");
        (self.undoable, self.withdrawn, self.recovering) = (false, true, None);
        // What counts as lost may still do so, and cause the next congestion.
        self.losses = self.losses.max(1);
        self.undone += 1;
        self.restored = Some(now);
        self.lost.clear();
        self.inner.on_spurious(now);
    }
    fn on_mss(&mut self, smss: Bytes) {
        self.see("segment size");
        self.check("a segment has a size", smss > Bytes(0), &smss);
        self.inner.on_mss(smss);
    }
    fn on_timer(&mut self, now: Instant) {
        self.see("timer");
        self.advance(now, &"timer");
        self.check("a timer is due when it expires", self.inner.timer().is_some_and(|due| due <= now), &now);
        self.inner.on_timer(now);
    }
    fn resize(&mut self, by: Segments, least: Segments) {
        self.check("a window is not negative", by.is_finite() && least >= 0.0, &(by, least));
        self.inner.resize(by, least);
    }
    fn window(&self) -> Window {
        self.inner.window()
    }
    fn paces(&self) -> bool {
        self.inner.paces()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }
    fn burst(&self) -> Bytes {
        self.inner.burst()
    }
    fn paces_in_blocks(&self) -> bool {
        self.inner.paces_in_blocks()
    }
    fn timer(&self) -> Option<Instant> {
        self.inner.timer()
    }
    fn owns_recovery(&self) -> bool {
        self.inner.owns_recovery()
    }
    fn owns_marks(&self) -> bool {
        self.inner.owns_marks()
    }
    fn answers_losses_apart(&self) -> bool {
        self.inner.answers_losses_apart()
    }
    fn holds_back(&self) -> bool {
        self.inner.holds_back()
    }
    fn proactive_below(&self) -> Option<u64> {
        self.inner.proactive_below()
    }
    fn ecn(&self) -> Ecn {
        self.inner.ecn()
    }
    fn saved_path(&self) -> Option<SavedPath> {
        self.inner.saved_path()
    }
    fn wants(&self) -> Wants {
        self.wants
    }
    fn phase(&self) -> Phase {
        self.inner.phase()
    }
    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.inner.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::whole;
    use crate::testing::{ACK, SENT, build};

    #[test]
    fn a_witness_tells_what_a_host_gets_wrong() {
        let court = Court::default();
        let mut witness = Witness::new(build(&whole::bbr::ENTRY, &[]).unwrap(), Wants::NOTHING, true, &court);
        assert!(witness.wants().samples, "BBR does");
        witness.on_ack(&ACK);
        witness.on_sent(&Sent { inflight: 0, ..SENT });
        witness.on_spurious(Instant::ZERO);
        let broken: Vec<&str> = court.lock().unwrap().broken.keys().copied().collect();
        for sentence in ["ACKs follow the handshake", "a reduction is undone once", "the flight includes the segment"] {
            assert!(broken.contains(&sentence), "{sentence}: {broken:?}");
        }
    }
}
