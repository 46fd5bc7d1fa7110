//! The part of the sender that all recoveries share: sending by the window, processing ACKs, RTT measurement, timers.

use ackclock_core::cc::Phase;
use ackclock_core::events::{Ack as AckEvent, Cause, CongestionEvent, MarkCount, PART_OF_A_SEGMENT, Sent};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Instant, Segments};

use super::{Ack, DUP_THRESH, ExitReason, Limit, Permit, Segment, State, Timed};

impl State {
    /// The window in force, before rounding down to whole segments: with inflation, and limited by the receiver's window.
    pub(super) fn window_in_force(&self) -> Segments {
        (self.window.cwnd + f64::from(self.inflated_by(self.inflation))).min(f64::from(self.rwnd))
    }

    /// The window rounded down to whole segments, plus `more`, limited by the receiver's window. ns-2 also rounds before it adds.
    fn whole_window(&self, more: u32) -> u64 {
        let whole = self.window.cwnd as u32;
        u64::from(whole.saturating_add(self.inflated_by(more)).min(self.rwnd))
    }

    /// The inflation of the window by `segments`: none if the control's own rules replace the host's during recovery.
    fn inflated_by(&self, segments: u32) -> u32 {
        if segments > 0 && self.control.owns_recovery() { 0 } else { segments }
    }

    /// Whether segment `snd_nxt` exists: it was sent before, or the application has data for it.
    pub(super) fn is_available(&self, now: Instant) -> bool {
        self.snd_nxt < self.snd_max || self.snd_nxt == 0 || self.bulk.offers(self.snd_nxt, now)
    }

    pub(super) fn take_next(&mut self) -> u32 {
        let seq = self.snd_nxt;
        self.snd_nxt += 1;
        seq
    }

    pub(super) fn next_by_window(&mut self, now: Instant) -> Option<u32> {
        let fits = u64::from(self.snd_nxt) < u64::from(self.snd_una) + self.whole_window(self.inflation);
        let waits = self.first.as_ref().is_some_and(|first| first.must_wait(now));
        let available = self.is_available(now);
        if fits && available && !waits {
            return Some(self.take_next());
        }
        let limit = match (fits, available) {
            (true, false) => {
                self.note_app_limited();
                self.limit_without_data()
            }
            (false, _) if self.whole_window(self.inflation) == u64::from(self.rwnd) => Limit::ReceiveWindow,
            _ => Limit::CongestionWindow,
        };
        self.limits.note(now, limit);
        None
    }

    /// The limit while no segment is left to send.
    pub(super) fn limit_without_data(&self) -> Limit {
        let over = self.snd_una == self.snd_max && !self.bulk.grows;
        if over { Limit::Nothing } else { Limit::Application }
    }

    /// Lets a duplicate ACK below the threshold release a new segment (RFC 3042).
    pub(super) fn permit_limited_transmit(&mut self) {
        if self.limited_transmit && self.dupacks < DUP_THRESH {
            self.permit = Permit::LimitedTransmit;
        }
    }

    /// RFC 3042: the new segment that one of the first two duplicate ACKs releases, within the receiver's window.
    pub(super) fn next_by_limited_transmit(&mut self, now: Instant) -> Option<u32> {
        let fits = u64::from(self.snd_nxt) < u64::from(self.snd_una) + self.whole_window(self.dupacks);
        (fits && self.is_available(now)).then(|| self.take_next())
    }

    /// Sends segment `seq`.
    pub(super) fn output(&mut self, now: Instant, seq: u32) -> Segment {
        let nothing_outstanding = self.snd_una == self.snd_max;
        self.note_sending(now, seq);
        self.counters.sent += 1;
        let retransmission = seq < self.snd_max;
        if retransmission {
            self.counters.retransmitted += 1;
            self.resent.insert(seq, now);
        } else {
            self.snd_max = seq + 1;
            if let Some(first) = &mut self.first {
                first.send(now, u64::from(self.snd_max));
            }
            if self.timed.is_none() {
                self.timed = Some(Timed { seq, sent: now });
            }
        }
        if self.deadline.is_none() || nothing_outstanding {
            self.restart_timer(now);
        }
        if self.paces
            && let Some(rate) = self.control.pacing_rate()
        {
            self.pacer.send(now, u64::from(self.data_size), Some(rate), self.control.burst());
        }
        let sent = Sent {
            now,
            size: if seq > 0 { self.smss.0 } else { 0 },
            flight_size: self.snd_max - self.snd_una,
            inflight: self.report_inflight(),
            snd_nxt: self.position(self.snd_max),
            total: self.total(),
            retransmission,
            app_limited: self.is_app_limited(),
        };
        self.control.on_sent(&sent);
        if self.paces {
            self.read_window();
        }
        let sent = now;
        if seq == 0 {
            // RFC 3168 §6.1.1: the SYN requests ECN in its flags, but is not ECN-capable itself.
            return Segment { seq, size: self.syn_size, sent, ecn: Ecn::NotEct, cwr: self.ecn.capable };
        }
        let cwr = self.ecn.capable && std::mem::take(&mut self.ecn.reduced);
        Segment { seq, size: self.data_size, sent, ecn: if self.ecn.capable { self.control.ecn() } else { Ecn::NotEct }, cwr }
    }

    pub(super) fn restart_timer(&mut self, now: Instant) {
        self.deadline = Some(now + self.rto.timeout());
    }

    /// Restarts the timer for a retransmission and stops the RTT measurement (Karn).
    pub(super) fn reset_timer(&mut self, now: Instant) {
        self.timed = None;
        self.restart_timer(now);
    }

    /// Moves `snd_una` to `seq`.
    pub(super) fn advance(&mut self, seq: u32) {
        self.snd_una = seq;
        self.snd_nxt = self.snd_nxt.max(seq);
        while self.resent.first_key_value().is_some_and(|(first, _)| *first < seq) {
            self.resent.pop_first();
        }
        if seq > self.round_end {
            self.round += 1;
            self.round_end = self.snd_max;
        }
    }

    /// Processes a cumulative ACK outside recovery, or the ACK that ends recovery: moves `snd_una`, measures the RTT, restarts the timer.
    pub(super) fn acknowledge(&mut self, now: Instant, ack: &Ack<'_>) {
        let seq = ack.seq;
        self.dupacks = 0;
        self.advance(seq);
        self.ecn.at_one &= ack.ecn_echo;
        if let Some(timed) = self.timed.take_if(|timed| seq > timed.seq) {
            if !self.ecn.at_one {
                self.rto.end_backoff();
            }
            self.rto.measure(timed.sent, now);
        }
        self.deadline = None;
        // RFC 3168 §6.1.2: after a mark with less than one segment of window, only the timer can restart the sender.
        if self.snd_una < self.snd_max || self.window_in_force() < 1.0 && self.is_available(now) {
            self.restart_timer(now);
        }
    }

    /// Processes a cumulative ACK and lets the window grow.
    pub(super) fn acknowledge_and_grow(&mut self, now: Instant, ack: &Ack<'_>) {
        let first = self.snd_una == 0;
        let acked = ack.seq - self.snd_una;
        self.acknowledge(now, ack);
        if first {
            self.establish(now);
        } else {
            self.grow(now, acked, ack);
        }
    }

    /// Lets the window grow, unless the ACK echoes a mark.
    pub(super) fn grow(&mut self, now: Instant, acked: u32, ack: &Ack<'_>) {
        let before = self.window;
        // RFC 3168 §6.1.2: no growth on an ACK that echoes a mark.
        self.notify_ack(now, acked, ack, !ack.ecn_echo);
        if !ack.ecn_echo && !self.exit.happened() && self.control.phase() != Phase::SlowStart {
            let algorithm = self.window.ssthresh < before.ssthresh;
            let reason = if algorithm { ExitReason::Algorithm } else { ExitReason::Threshold };
            // The exit window excludes the cut that the algorithm makes at its exit.
            self.exit.note(reason, now, before.cwnd.max(self.window.cwnd));
        }
    }

    /// Notifies the control of an ACK of `acked` segments, after the move of `snd_una`. `may_grow`: whether the window may grow.
    fn notify_ack(&mut self, now: Instant, acked: u32, ack: &Ack<'_>, may_grow: bool) {
        let handshake = acked > 0 && ack.seq == acked;
        let delivery = self.deliver(acked);
        let (inflight_before, inflight) = delivery.inflight;
        let mut event = AckEvent {
            now,
            acked,
            counted: 1.0,
            may_grow,
            cwnd_limited: true,
            flight_size: self.snd_nxt - self.snd_una,
            delivered: delivery.bytes,
            marked: if ack.ecn_echo { delivery.bytes } else { 0 },
            lost: delivery.lost,
            inflight_before,
            inflight,
            snd_una: self.position(self.snd_una),
            snd_nxt: self.position(self.snd_max),
            total: self.total(),
            sample: None,
            rtt: ack.rtt,
            srtt: self.rto.srtt(),
            min_rtt: self.min_rtt,
            round: self.round,
            ecn_echo: ack.ecn_echo,
            mark_count: MarkCount::AtMost,
            reduced: None,
            handshake,
        };
        if let Some(sampling) = &mut self.sampling {
            event.sample = sampling.deliver(now, self.snd_una, delivery.bytes, self.min_rtt);
        }
        self.control.on_ack(&event);
        if self.sampling.is_some() && self.control.holds_back() {
            self.note_app_limited();
        }
        self.read_window();
    }

    /// Notifies the control of an ACK that must not grow the window.
    pub(super) fn observe(&mut self, now: Instant, acked: u32, ack: &Ack<'_>) {
        self.notify_ack(now, acked, ack, false);
    }

    pub(super) fn read_window(&mut self) {
        debug_assert!(
            self.paces || self.control.timer().is_none() && self.control.pacing_rate().is_none(),
            "a control that does not pace has set a timer or a rate"
        );
        if self.paces {
            self.timer = self.control.timer();
        }
        self.window = self.control.window();
        self.counters.cwnd_max = self.counters.cwnd_max.max(self.window.cwnd);
    }

    /// Reduces the window. `restart`: the sender restarts from the loss window.
    pub(super) fn reduce(&mut self, now: Instant, cause: Cause, restart: bool) {
        self.counters.reductions += 1;
        self.notify_congestion(now, cause, restart, false);
    }

    /// Notifies the control of congestion. `resent`: the missing segment had already been retransmitted.
    pub(super) fn notify_congestion(&mut self, now: Instant, cause: Cause, restart: bool, resent: bool) {
        let event = CongestionEvent {
            now,
            cause,
            window: self.window_in_force(),
            flight_size: self.snd_max - self.snd_una,
            inflight: self.report_inflight(),
            restart,
            loss_window: if cause == Cause::Timeout { self.loss_window } else { 1.0 },
            least: PART_OF_A_SEGMENT,
            resent,
            min_rtt: self.min_rtt,
        };
        // A lost SYN comes before slow start and does not end it.
        if self.snd_una > 0 {
            if !self.exit.happened() {
                let reason = match cause {
                    Cause::Timeout => ExitReason::Timeout,
                    Cause::DupAck => ExitReason::Loss,
                    Cause::EcnCe => ExitReason::Mark,
                };
                self.exit.note(reason, now, self.window.cwnd);
            }
            if cause != Cause::EcnCe {
                self.exit.note_loss(now);
            }
        }
        if let Some(first) = &mut self.first {
            first.on_congestion(u64::from(self.snd_una));
        }
        self.control.on_congestion(&event);
        self.ecn.reduced = true;
        self.read_window();
        self.last_cause = Some(cause);
        self.recovery_point = self.snd_max;
    }

    /// The retransmission timer has expired: the sender goes back to the first unacknowledged segment.
    pub(super) fn expire(&mut self, now: Instant) {
        self.lose_all(now);
        self.lost_syns += u32::from(self.snd_una == 0);
        if self.last_cause == Some(Cause::EcnCe) {
            // ns-2: if a mark was the latest sign of congestion, however long ago, the threshold stays and no timeout is counted.
            self.restart_window();
            self.recovery_point = self.snd_max;
            self.last_cause = Some(Cause::Timeout);
        } else {
            self.counters.timeouts += 1;
            self.reduce(now, Cause::Timeout, true);
        }
        self.go_back();
        self.back_off(now);
    }

    /// Backs off the timer.
    pub(super) fn back_off(&mut self, now: Instant) {
        self.rto.back_off();
        self.reset_timer(now);
        self.permit = Permit::Window(u32::MAX);
    }

    /// Starts a fast retransmit and reduces the window, unless a mark has already reduced it for the same window of data. Returns whether
    /// the fast retransmit started.
    pub(super) fn start_fast_retransmit(&mut self, now: Instant, restart: bool) -> bool {
        // All data is acknowledged, so there is nothing to retransmit. ns-2 would send a segment that its application does not have.
        if self.snd_una == self.snd_max && !self.bulk.offers(self.snd_una, now) {
            return false;
        }
        let may = self.may_fast_retransmit();
        if !may && self.last_cause != Some(Cause::EcnCe) {
            return false;
        }
        if restart {
            self.lose_all(now);
        } else {
            self.lose(now, self.snd_una);
        }
        if may {
            self.reduce(now, Cause::DupAck, restart);
        } else {
            self.last_cause = Some(Cause::DupAck);
            if restart {
                self.control.deflate((self.window.cwnd - 1.0).max(0.0));
                self.note_restart();
            }
        }
        true
    }

    /// Whether a fast retransmit may start. A segment sent before the last detected congestion starts none (RFC 6582 §3.2).
    pub(super) fn may_fast_retransmit(&self) -> bool {
        self.snd_una > self.recovery_point || self.snd_una == 1
    }
}
