//! What the sender knows of deliveries: the facts that an event carries beyond segments and windows. ns-2 has nothing like them; they change
//! nothing of what the sender does by itself.
//!
//! Without SACK each duplicate ACK stands for a segment that has left the network, as RFC 5681 §3.2 has it; which one is not known. A segment
//! is thought to be lost when it is sent again, and from the timer's expiry on nothing is in flight.

use std::collections::VecDeque;

use ackclock_core::events::{Lost, RateSample, Snapshot, Totals};
use ackclock_core::units::{Duration, Instant};

use super::State;
use crate::rate::DeliveryRate;

/// Samples of the delivery rate, for a control that wants them.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    rate: DeliveryRate,
    /// The connection when each outstanding segment was sent last, from the first unacknowledged one on.
    snapshots: VecDeque<Snapshot>,
    /// The segment of the first snapshot.
    first: u32,
}

impl Sampling {
    /// Notes that segment `seq` of `size` bytes is sent, new or again.
    fn send(&mut self, now: Instant, seq: u32, size: u64, inflight: u64) {
        let snapshot = self.rate.send(now, size, inflight);
        if self.snapshots.is_empty() {
            self.first = seq;
        }
        match self.snapshots.get_mut((seq - self.first) as usize) {
            Some(earlier) => *earlier = snapshot,
            None => self.snapshots.push_back(snapshot),
        }
    }

    /// Takes an ACK of everything below `una` that delivers so many bytes.
    pub(super) fn deliver(&mut self, now: Instant, una: u32, bytes: u64, min_rtt: Option<Duration>) -> Option<RateSample> {
        let count = una.saturating_sub(self.first).min(self.snapshots.len() as u32);
        let newest = self.snapshots.drain(..count as usize).max_by_key(|it| (it.delivered, it.sent_at));
        self.first += count;
        if let Some(newest) = newest {
            Some(self.rate.deliver(now, bytes, &newest, min_rtt))
        } else {
            self.rate.count(bytes);
            None
        }
    }
}

/// What an ACK delivers.
pub(super) struct Delivery {
    pub(super) bytes: u64,
    /// Bytes lost since the last ACK.
    pub(super) lost: u64,
}

impl State {
    /// Bytes in flight.
    pub(super) fn inflight(&self) -> u64 {
        u64::from((self.snd_nxt - self.snd_una).saturating_sub(self.early)) * self.smss.0
    }

    /// The position of the data of segment `seq`; the SYN, segment 0, has none.
    pub(super) fn position(&self, seq: u32) -> u64 {
        u64::from(seq.saturating_sub(1)) * self.smss.0
    }

    /// The connection so far; the SYN is no data. With samples, their own counts: those of snapshots, which only ever rise.
    pub(super) fn total(&self) -> Totals {
        let bytes = |segments: u64| segments * self.smss.0;
        let (delivered, lost) = match &self.sampling {
            Some(sampling) => (sampling.rate.delivered(), sampling.rate.lost()),
            None => (self.position(self.snd_una) + bytes(u64::from(self.early)), bytes(self.data_resent)),
        };
        Totals { sent: bytes(self.data_sent), delivered, lost }
    }

    /// Segment `seq` is about to be sent.
    pub(super) fn note_sending(&mut self, now: Instant, seq: u32) {
        if seq == 0 {
            return;
        }
        let again = seq < self.snd_max;
        self.data_resent += u64::from(again);
        if self.sampling.is_some() {
            self.sample_sending(now, seq, again);
        }
        self.data_sent += 1;
    }

    /// Takes the snapshot of segment `seq`. What is sent `again` was lost.
    fn sample_sending(&mut self, now: Instant, seq: u32, again: bool) {
        let (start, size, inflight, total) = (self.position(seq), self.smss.0, self.inflight(), self.total());
        let Some(sampling) = &mut self.sampling else { return };
        if again && let Some(&packet) = sampling.snapshots.get((seq - sampling.first) as usize) {
            sampling.rate.lose(size);
            let total = Totals { lost: sampling.rate.lost(), ..total };
            self.control.on_lost(&Lost { now, start, end: start + size, packet, inflight, total });
        }
        sampling.send(now, seq, size, inflight.saturating_sub(size));
    }

    /// An ACK of `acked` segments, the SYN among them if `handshake`, has moved the left edge; or a duplicate has arrived.
    pub(super) fn deliver(&mut self, acked: u32, handshake: bool) -> Delivery {
        let data = acked - u32::from(handshake);
        let outstanding = self.snd_max - self.snd_una;
        let before = self.early;
        self.early = if acked > 0 { before.saturating_sub(acked - 1) } else { before + 1 }.min(outstanding);
        let segments = if acked > 0 { data.saturating_sub(before).max(data.min(1)) } else { self.early - before.min(outstanding) };
        let bytes = u64::from(segments) * self.smss.0;
        let newly_lost = self.data_resent - std::mem::replace(&mut self.lost_at_ack, self.data_resent);
        Delivery { bytes, lost: newly_lost * self.smss.0 }
    }

    /// Nothing that was sent is awaited any more.
    pub(super) fn give_up_flight(&mut self) {
        self.early = 0;
    }

    /// The application has too little to send, or the control sends less than it could.
    pub(super) fn note_app_limited(&mut self) {
        let inflight = self.inflight();
        if let Some(sampling) = &mut self.sampling {
            sampling.rate.note_app_limited(inflight);
        }
    }

    /// Whether the application had too little to send.
    pub(super) fn is_app_limited(&self) -> bool {
        self.sampling.as_ref().is_some_and(|sampling| sampling.rate.is_app_limited())
    }
}
