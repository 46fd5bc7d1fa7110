//! Delivery accounting: the bytes delivered, lost and in flight that an event carries for the control. ns-2 has no such accounting; it does
//! not change the sender's own behaviour.
//!
//! Each duplicate ACK stands for an unknown segment that has left the network (RFC 5681 §3.2). A segment counts as lost when it is
//! retransmitted. After a timeout no segment counts as in flight.

use std::collections::VecDeque;

use ackclock_core::events::{Lost, RateSample, Snapshot, Totals};
use ackclock_core::units::{Duration, Instant};

use super::State;
use crate::rate::DeliveryRate;

/// Samples of the delivery rate, for a control that wants them.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    rate: DeliveryRate,
    /// A snapshot of the connection at the latest transmission of each outstanding segment, from the first unacknowledged one on.
    snapshots: VecDeque<Snapshot>,
    /// The segment of the first snapshot.
    first: u32,
}

impl Sampling {
    /// Records the transmission or retransmission of segment `seq` of `size` bytes.
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

    /// Processes an ACK of all segments below `una` that delivers `bytes`.
    pub(super) fn deliver(&mut self, now: Instant, una: u32, bytes: u64, min_rtt: Option<Duration>) -> Option<RateSample> {
        let count = una.saturating_sub(self.first).min(self.snapshots.len() as u32);
        let newest = self.snapshots.drain(..count as usize).max_by_key(|it| (it.delivered, it.sent_at));
        self.first += count;
        if let Some(newest) = newest {
            Some(self.rate.deliver(now, bytes, &newest, min_rtt))
        } else {
            self.rate.count_delivered(bytes);
            None
        }
    }
}

/// The facts of one ACK.
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

    /// Totals of the connection, without the SYN. With sampling, the sampler's counts are used: they match the snapshots and never
    /// decrease.
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

    /// Takes the snapshot of segment `seq`. A retransmission (`again`) counts its previous transmission as lost.
    fn sample_sending(&mut self, now: Instant, seq: u32, again: bool) {
        let (start, size, inflight, total) = (self.position(seq), self.smss.0, self.inflight(), self.total());
        let Some(sampling) = &mut self.sampling else { return };
        if again && let Some(&packet) = sampling.snapshots.get((seq - sampling.first) as usize) {
            sampling.rate.count_lost(size);
            let total = Totals { lost: sampling.rate.lost(), ..total };
            self.control.on_lost(&Lost { now, start, end: start + size, packet, inflight, total });
        }
        sampling.send(now, seq, size, inflight.saturating_sub(size));
    }

    /// Counts the delivery of an ACK of `acked` segments (`handshake`: including the SYN), or of a duplicate ACK if `acked` is zero.
    /// `snd_una` has already moved.
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

    /// No segment counts as in flight any more.
    pub(super) fn reset_inflight(&mut self) {
        self.early = 0;
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
