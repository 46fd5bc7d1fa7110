//! The part of the sender that all recoveries share: sending by the window, processing ACKs, RTT measurement, timers.

use ackclock_core::events::{Ack as AckEvent, Cause, CongestionEvent, MarkCount, PART_OF_A_SEGMENT, Sent};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Instant, Segments};
use ackclock_host::{Limit, Restart};

use super::super::packets::{Ack, Segment};
use super::state::{DUP_THRESH, Permit, State};

impl State {
    /// The window in force, before rounding down to whole segments: with inflation, and limited by the receiver's window.
    pub(super) fn window_in_force(&self) -> Segments {
        (self.seat.window().cwnd + f64::from(self.inflated_by(self.inflation))).min(f64::from(self.window.rwnd()))
    }

    /// The window rounded down to whole segments, plus `more`, limited by the receiver's window. ns-2 also rounds before it adds.
    fn whole_window(&self, more: u32) -> u64 {
        self.seat.cwnd().saturating_add(u64::from(self.inflated_by(more))).min(u64::from(self.window.rwnd()))
    }

    /// The inflation of the window by `segments`: none if the control's own rules replace the host's during recovery.
    fn inflated_by(&self, segments: u32) -> u32 {
        if segments > 0 && self.seat.owns_recovery() { 0 } else { segments }
    }

    /// Whether segment `snd_nxt` exists: it was sent before, or the application has data for it.
    pub(in super::super) fn is_available(&self, now: Instant) -> bool {
        self.window.nxt() < self.window.max() || self.window.nxt() == 0 || self.bulk.offers(self.window.nxt(), now)
    }

    pub(in super::super) fn take_next(&mut self) -> u32 {
        self.window.take_next()
    }

    pub(super) fn next_by_window(&mut self, now: Instant) -> Option<u32> {
        let fits = u64::from(self.window.nxt()) < u64::from(self.window.una()) + self.whole_window(self.inflation);
        let waits = self.seat.next_of_first_flight().is_some_and(|next| next > now);
        let available = self.is_available(now);
        if fits && available && !waits {
            return Some(self.take_next());
        }
        let limit = match (fits, available) {
            (true, false) => {
                self.note_app_limited();
                self.limit_without_data()
            }
            (false, _) if self.whole_window(self.inflation) == u64::from(self.window.rwnd()) => Limit::ReceiveWindow,
            _ => Limit::CongestionWindow,
        };
        self.limits.note(now, limit);
        None
    }

    /// The limit while no segment is left to send.
    pub(in super::super) fn limit_without_data(&self) -> Limit {
        let over = self.window.una() == self.window.max() && !self.bulk.grows;
        if over { Limit::Nothing } else { Limit::Application }
    }

    /// Lets a duplicate ACK below the threshold release a new segment (RFC 3042).
    pub(in super::super) fn permit_limited_transmit(&mut self) {
        if self.setup.limited_transmit && self.dupacks < DUP_THRESH {
            self.permit = Permit::LimitedTransmit;
        }
    }

    /// RFC 3042: the new segment that one of the first two duplicate ACKs releases, within the receiver's window.
    pub(super) fn next_by_limited_transmit(&mut self, now: Instant) -> Option<u32> {
        let fits = u64::from(self.window.nxt()) < u64::from(self.window.una()) + self.whole_window(self.dupacks);
        (fits && self.is_available(now)).then(|| self.take_next())
    }

    /// The last outstanding segment of the data below `position` that was sent once, as far as the sender knows.
    fn last_sent_once(&self, position: u64) -> Option<u32> {
        let end = (position / self.setup.smss.0) as u32 + 1;
        let mut outstanding = (self.window.una()..end.min(self.window.max())).rev();
        outstanding.find(|seq| !self.resent.contains_key(seq) && !self.ledger.waiting.contains(seq))
    }

    /// Sends segment `seq`.
    pub(super) fn output(&mut self, now: Instant, seq: u32) -> Segment {
        let nothing_outstanding = self.window.flight_size() == 0;
        self.note_sending(now, seq);
        self.counters.sent += 1;
        let retransmission = self.window.send(seq);
        if retransmission {
            self.counters.retransmitted += 1;
            self.resent.insert(seq, now);
        } else {
            self.timing.time(now, seq);
        }
        if self.timing.deadline().is_none() || nothing_outstanding {
            self.restart_timer(now);
            if self.seat.is_idle() {
                self.seat.end_idle(now, Restart::No);
            }
        }
        if self.seat.paces() {
            self.seat.pace(now, (u64::from(self.setup.data_size), false), 0, None);
        }
        let sent = Sent::new(now, if seq > 0 { self.setup.smss.0 } else { 0 }).with(|sent| {
            sent.flight_size = self.window.flight_size();
            sent.inflight = self.report_inflight();
            sent.snd_nxt = self.position(self.window.max());
            sent.total = self.total();
            sent.retransmission = retransmission;
            sent.app_limited = self.is_app_limited();
        });
        self.seat.send(&sent, u64::from(self.window.max()));
        let sent = now;
        if seq == 0 {
            // RFC 3168 §6.1.1: the SYN requests ECN in its flags, but is not ECN-capable itself.
            return Segment { seq, size: self.setup.syn_size, sent, ecn: Ecn::NotEct, cwr: self.ecn.capable };
        }
        let cwr = self.ecn.capable && std::mem::take(&mut self.ecn.reduced);
        Segment { seq, size: self.setup.data_size, sent, ecn: if self.ecn.capable { self.seat.ecn() } else { Ecn::NotEct }, cwr }
    }

    /// All segments below `seq` are acknowledged.
    pub(in super::super) fn advance(&mut self, seq: u32) {
        self.window.advance(seq);
        while self.resent.first_key_value().is_some_and(|(first, _)| *first < seq) {
            self.resent.pop_first();
        }
    }

    /// Processes a cumulative ACK outside recovery, or the ACK that ends recovery: moves `snd_una`, measures the RTT, restarts the timer.
    pub(in super::super) fn acknowledge(&mut self, now: Instant, ack: &Ack<'_>) {
        let seq = ack.seq;
        self.dupacks = 0;
        self.advance(seq);
        self.ecn.at_one &= ack.ecn_echo;
        if let Some(sent) = self.timing.end_measurement(seq) {
            if !self.ecn.at_one {
                self.timing.end_backoff();
            }
            self.timing.measure(sent, now);
        }
        self.timing.stop();
        // RFC 3168 §6.1.2: after a mark with less than one segment of window, only the timer can restart the sender.
        if self.window.una() < self.window.max() {
            self.restart_timer(now);
        } else if !self.is_available(now) {
            self.seat.begin_idle(now);
        } else if self.window_in_force() < 1.0 {
            self.restart_timer(now);
        }
    }

    /// Processes a cumulative ACK and lets the window grow.
    pub(in super::super) fn acknowledge_and_grow(&mut self, now: Instant, ack: &Ack<'_>) {
        let first = self.window.una() == 0;
        let acked = ack.seq - self.window.una();
        self.acknowledge(now, ack);
        if first {
            self.establish(now);
        } else {
            self.grow(now, acked, ack);
        }
    }

    /// Lets the window grow, unless the ACK echoes a mark.
    pub(in super::super) fn grow(&mut self, now: Instant, acked: u32, ack: &Ack<'_>) {
        // RFC 3168 §6.1.2: no growth on an ACK that echoes a mark.
        self.notify_ack(now, acked, ack, !ack.ecn_echo);
    }

    /// Notifies the control of an ACK of `acked` segments, after the move of `snd_una`. `may_grow`: whether the window may grow.
    fn notify_ack(&mut self, now: Instant, acked: u32, ack: &Ack<'_>, may_grow: bool) {
        let handshake = acked > 0 && ack.seq == acked;
        let delivery = self.deliver(acked);
        let (inflight_before, inflight) = delivery.inflight;
        let mut event = AckEvent::new(now, acked, self.setup.smss).with(|event| {
            event.counted = 1.0;
            event.may_grow = may_grow;
            event.flight_size = self.window.nxt() - self.window.una();
            event.delivered = delivery.bytes;
            event.marked = if ack.ecn_echo { delivery.bytes } else { 0 };
            event.lost = delivery.lost;
            event.inflight_before = inflight_before;
            event.release = self.seat.next_of_pacer();
            event.inflight = inflight;
            event.snd_una = self.position(self.window.una());
            event.snd_nxt = self.position(self.window.max());
            event.total = self.total();
            event.rtt = ack.rtt;
            event.one_way_delay = ack.delay;
            event.srtt = self.timing.srtt();
            event.min_rtt = self.timing.least();
            event.round = self.window.round();
            event.ecn_echo = ack.ecn_echo;
            event.mark_count = MarkCount::AtMost;
            event.handshake = handshake;
        });
        if self.sampling.is_some() {
            event.sample = self.sample(now, delivery.bytes);
        }
        self.seat.on_ack(&event);
        if let Some(position) = self.seat.proactive_below() {
            self.retransmit = self.retransmit.or_else(|| self.last_sent_once(position));
        }
        if self.sampling.is_some() && self.seat.holds_back() {
            self.note_app_limited();
        }
    }

    /// Notifies the control of an ACK that must not grow the window.
    pub(in super::super) fn observe(&mut self, now: Instant, acked: u32, ack: &Ack<'_>) {
        self.notify_ack(now, acked, ack, false);
    }

    /// Reduces the window. `restart`: the sender restarts from the loss window.
    pub(super) fn reduce(&mut self, now: Instant, cause: Cause, restart: bool) {
        self.counters.reductions += 1;
        self.notify_congestion(now, cause, restart, false);
        self.episode.begin(cause, self.window.max());
    }

    /// Notifies the control of congestion. `resent`: the missing segment had already been retransmitted.
    pub(in super::super) fn notify_congestion(&mut self, now: Instant, cause: Cause, restart: bool, resent: bool) {
        let event = CongestionEvent::new(now, cause, self.window_in_force()).with(|event| {
            event.flight_size = self.window.flight_size();
            event.inflight = self.report_inflight();
            (event.snd_una, event.snd_nxt) = (self.position(self.window.una()), self.position(self.window.max()));
            event.restart = restart;
            event.loss_window = if cause == Cause::Timeout { self.setup.loss_window } else { 1.0 };
            event.least = PART_OF_A_SEGMENT;
            event.resent = resent;
            event.min_rtt = self.timing.least();
        });
        self.seat.reduce(&event, u64::from(self.window.una()));
        self.episode.note(cause);
        self.ecn.reduced = true;
    }

    /// The retransmission timer has expired: the sender goes back to the first unacknowledged segment.
    pub(super) fn expire(&mut self, now: Instant) {
        self.lose_all(now);
        self.lost_syns += u32::from(self.window.una() == 0);
        if self.episode.cause() == Some(Cause::EcnCe) {
            // ns-2: if a mark was the latest sign of congestion, however long ago, the threshold stays and no timeout is counted.
            self.restart_window();
            self.episode.begin(Cause::Timeout, self.window.max());
        } else {
            self.counters.timeouts += 1;
            self.reduce(now, Cause::Timeout, true);
        }
        self.go_back();
        self.back_off(now);
    }

    /// Backs off the timer.
    pub(super) fn back_off(&mut self, now: Instant) {
        self.timing.back_off();
        self.reset_timer(now);
        self.permit = Permit::Window(u32::MAX);
    }

    /// Starts a fast retransmit and reduces the window, unless a mark has already reduced it for the same window of data. Returns whether
    /// the fast retransmit started.
    pub(in super::super) fn start_fast_retransmit(&mut self, now: Instant, restart: bool) -> bool {
        // All data is acknowledged, so there is nothing to retransmit. ns-2 would send a segment that its application does not have.
        if self.window.una() == self.window.max() && !self.bulk.offers(self.window.una(), now) {
            return false;
        }
        let may = self.may_fast_retransmit();
        if !may && self.episode.cause() != Some(Cause::EcnCe) {
            return false;
        }
        if restart {
            self.lose_all(now);
        } else {
            self.lose(now, self.window.una());
        }
        if may {
            self.reduce(now, Cause::DupAck, restart);
        } else {
            self.episode.note(Cause::DupAck);
            if restart {
                self.seat.deflate((self.seat.window().cwnd - 1.0).max(0.0));
                self.note_restart();
            }
        }
        true
    }

    /// Whether a fast retransmit may start. A segment sent before the last detected congestion starts none (RFC 6582 §3.2).
    pub(super) fn may_fast_retransmit(&self) -> bool {
        self.window.una() > self.episode.recovery_point() || self.window.una() == 1
    }
}
