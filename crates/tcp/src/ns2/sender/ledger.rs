//! What the control learns of the segments: owners of the counts and of the samples of the delivery rate.

use std::collections::VecDeque;

use ackclock_core::events::{RateSample, Snapshot};
use ackclock_core::units::{Duration, Instant};
use ackclock_host::DeliveryRate;

/// The latest transmission of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    /// The connection then.
    pub(super) packet: Snapshot,
    /// Whether it was a retransmission.
    pub(super) again: bool,
}

/// Samples of the delivery rate and records of segments, for a control that wants them.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    pub(super) rate: DeliveryRate,
    /// The latest transmission of each outstanding segment, from the first unacknowledged one on.
    pub(super) transmissions: VecDeque<Transmission>,
    /// The segment of the first transmission.
    pub(super) first: u32,
}

impl Sampling {
    /// Records the transmission or retransmission of segment `seq` of `size` bytes.
    pub(super) fn send(&mut self, now: Instant, seq: u32, size: u64, inflight: u64) {
        let packet = self.rate.send(now, size, inflight);
        if self.transmissions.is_empty() {
            self.first = seq;
        }
        match self.transmissions.get_mut((seq - self.first) as usize) {
            Some(earlier) => *earlier = Transmission { packet, again: true },
            None => self.transmissions.push_back(Transmission { packet, again: false }),
        }
    }

    /// Counts the latest transmission of segment `seq` of `size` bytes as lost; returns its snapshot.
    pub(super) fn lose(&mut self, seq: u32, size: u64) -> Option<Snapshot> {
        self.rate.count_lost(size);
        self.transmissions.get(seq.checked_sub(self.first)? as usize).map(|it| it.packet)
    }

    /// The number of recorded segments below `una`.
    pub(super) fn below(&self, una: u32) -> u32 {
        una.saturating_sub(self.first).min(self.transmissions.len() as u32)
    }

    /// Processes an ACK of all segments below `una` that delivers `bytes`.
    pub(super) fn deliver(&mut self, now: Instant, una: u32, bytes: u64, min_rtt: Option<Duration>) -> Option<RateSample> {
        let count = self.below(una);
        let newest = self.transmissions.drain(..count as usize).map(|it| it.packet).max_by_key(|it| (it.delivered, it.sent_at));
        self.first += count;
        if let Some(newest) = newest {
            Some(self.rate.deliver(now, bytes, &newest, min_rtt))
        } else {
            self.rate.count_delivered(bytes);
            None
        }
    }
}

/// What the control learns of the segments above `snd_una`.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Segments that duplicate ACKs have reported as delivered.
    pub(super) early: u32,
    /// Those that have left the flight since the sender last went back.
    pub(super) left: u32,
    /// Outstanding segments, in ascending order, that are not in flight until they are sent again: the lost ones and, once the sender has
    /// gone back, all.
    pub(super) waiting: VecDeque<u32>,
    /// Data segments sent, including retransmissions.
    pub(super) sent: u64,
    /// Data segments lost.
    pub(super) lost: u64,
    /// `lost` at the last ACK.
    pub(super) lost_at_ack: u64,
    /// Bytes delivered at the last ACK.
    pub(super) delivered: u64,
    /// Bytes in flight, as the control was last told.
    pub(super) reported: u64,
}

/// The facts of one ACK, in bytes.
pub(super) struct Delivery {
    pub(super) bytes: u64,
    /// Lost since the last ACK.
    pub(super) lost: u64,
    /// In flight before and after the ACK.
    pub(super) inflight: (u64, u64),
}

impl Ledger {
    /// Whether all outstanding segments are in flight: the usual case.
    pub(super) fn is_plain(&self) -> bool {
        self.early == 0 && self.left == 0 && self.waiting.is_empty()
    }

    /// Segment `seq` is in flight no more; returns whether it was.
    pub(super) fn wait(&mut self, seq: u32) -> bool {
        let place = self.waiting.binary_search(&seq);
        if let Err(place) = place {
            self.waiting.insert(place, seq);
        }
        place.is_err()
    }

    /// Segment `seq` is sent again.
    pub(super) fn resume(&mut self, seq: u32) {
        if let Ok(place) = self.waiting.binary_search(&seq) {
            self.waiting.remove(place);
        }
    }
}
