//! Delivery accounting: the bytes delivered, lost and in flight that an event carries for the control. ns-2 has no such accounting; it does
//! not change the sender's own behaviour.
//!
//! Each duplicate ACK stands for an unknown segment that has left the network (RFC 5681 §3.2). A segment is lost when the recovery decides to
//! retransmit it; a sender that goes back counts all that is in flight as lost.

use ackclock_core::events::{Delivered, Lost, RateSample, Totals};
use ackclock_core::units::Instant;

use super::ledger::{Delivery, Transmission};
use super::state::State;

impl State {
    /// Bytes in flight: sent, and neither delivered nor lost.
    pub(super) fn inflight(&self) -> u64 {
        let flight = self.window.outstanding() - self.ledger.waiting.len() as u32;
        // The first outstanding segment is missing: if it is in flight, it has not left it.
        let first = u32::from(self.ledger.waiting.front() != Some(&self.window.una()));
        u64::from(flight - self.ledger.left.min(flight.saturating_sub(first))) * self.setup.smss.0
    }

    /// Bytes in flight, of which the control is told.
    pub(super) fn report_inflight(&mut self) -> u64 {
        self.ledger.reported = self.inflight();
        self.ledger.reported
    }

    /// The position of the data of segment `seq`; the SYN, segment 0, has none.
    pub(super) fn position(&self, seq: u32) -> u64 {
        u64::from(seq.saturating_sub(1)) * self.setup.smss.0
    }

    /// Totals of the connection, without the SYN.
    pub(super) fn total(&self) -> Totals {
        let bytes = |segments: u64| segments * self.setup.smss.0;
        Totals::new(bytes(self.ledger.sent), self.delivered(), bytes(self.ledger.lost))
    }

    /// Bytes delivered so far.
    fn delivered(&self) -> u64 {
        self.position(self.window.una()) + u64::from(self.ledger.early) * self.setup.smss.0
    }

    /// Segment `seq` is about to be sent.
    pub(super) fn note_sending(&mut self, now: Instant, seq: u32) {
        if seq == 0 {
            return;
        }
        self.ledger.sent += 1;
        if self.sampling.is_some() {
            let inflight = self.inflight();
            if let Some(sampling) = &mut self.sampling {
                sampling.send(now, seq, self.setup.smss.0, inflight);
            }
        }
        if !self.ledger.waiting.is_empty() {
            self.ledger.resume(seq);
        }
    }

    /// Counts segment `seq` as lost, if it is in flight, and notifies the control.
    pub(in super::super) fn lose(&mut self, now: Instant, seq: u32) {
        let outstanding = seq > 0 && (self.window.una()..self.window.max()).contains(&seq);
        if !outstanding || !self.ledger.wait(seq) {
            return;
        }
        self.ledger.lost += 1;
        let start = self.position(seq);
        let packet = self.sampling.as_mut().and_then(|sampling| sampling.lose(seq, self.setup.smss.0));
        let inflight = self.report_inflight();
        self.seat.on_lost(&Lost::new(now, start, start + self.setup.smss.0).with(|lost| {
            lost.packet = packet;
            lost.inflight = inflight;
            lost.total = self.total();
        }));
    }

    /// Counts all that is in flight as lost: the sender goes back to the first unacknowledged segment. Of the segments that have left the
    /// flight only the number is known: they are taken for the last.
    pub(super) fn lose_all(&mut self, now: Instant) {
        for seq in self.window.una()..self.window.max() {
            if self.inflight() > 0 {
                self.lose(now, seq);
            }
        }
    }

    /// Goes back to the first unacknowledged segment.
    pub(in super::super) fn go_back(&mut self) {
        self.window.go_back();
        self.ledger.left = 0;
        self.ledger.waiting.clear();
        self.ledger.waiting.extend(self.window.una().max(1)..self.window.max());
    }

    /// Counts the delivery of an ACK of `acked` segments, or of a duplicate ACK if `acked` is zero. `snd_una` has already moved.
    pub(super) fn deliver(&mut self, acked: u32) -> Delivery {
        if acked == 0 || !self.ledger.is_plain() {
            // The first outstanding segment is missing.
            let most = self.window.outstanding().saturating_sub(1);
            let count = |known: u32| if acked > 0 { known.saturating_sub(acked - 1) } else { known + 1 }.min(most);
            (self.ledger.early, self.ledger.left) = (count(self.ledger.early), count(self.ledger.left));
            while self.ledger.waiting.front().is_some_and(|first| *first < self.window.una()) {
                self.ledger.waiting.pop_front();
            }
        }
        let delivered = self.delivered();
        let bytes = delivered - std::mem::replace(&mut self.ledger.delivered, delivered);
        let lost = self.ledger.lost - std::mem::replace(&mut self.ledger.lost_at_ack, self.ledger.lost);
        let before = self.ledger.reported;
        Delivery { bytes, lost: lost * self.setup.smss.0, inflight: (before, self.report_inflight()) }
    }

    /// Takes the sample of an ACK that delivers `bytes`, and notifies the control of the segments that it acknowledges cumulatively.
    /// `snd_una` has already moved.
    #[inline]
    pub(super) fn sample(&mut self, now: Instant, bytes: u64) -> Option<RateSample> {
        if self.seat.wants().deliveries {
            self.report_deliveries(now);
        }
        self.sampling.as_mut()?.deliver(now, self.window.una(), bytes, self.timing.least())
    }

    /// Notifies the control of each segment below `snd_una`; a duplicate ACK does not identify its segment.
    #[cold]
    fn report_deliveries(&mut self, now: Instant) {
        let (una, smss) = (self.window.una(), self.setup.smss.0);
        let Some(sampling) = &self.sampling else { return };
        let acknowledged = sampling.transmissions.iter().take(sampling.below(una) as usize);
        for (seq, &Transmission { packet, again: retransmission }) in (u64::from(sampling.first)..).zip(acknowledged) {
            self.seat.on_delivered(&Delivered::new(now, (seq - 1) * smss, seq * smss).with(|delivered| {
                delivered.packet = packet;
                delivered.retransmission = retransmission;
            }));
        }
    }

    /// The application has too little data, or the control holds back.
    pub(super) fn note_app_limited(&mut self) {
        let inflight = self.inflight();
        if let Some(sampling) = &mut self.sampling {
            sampling.rate.note_app_limited(inflight);
        }
    }

    /// Whether the application limits the flow.
    pub(super) fn is_app_limited(&self) -> bool {
        self.sampling.as_ref().is_some_and(|sampling| sampling.rate.is_app_limited())
    }
}
