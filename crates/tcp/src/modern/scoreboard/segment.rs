//! A segment of the scoreboard: what was sent, when, and what has become of it.
//!
//! ## References
//! RFC 6675 §3; RFC 8985 §5 (state per segment).

use ackclock_core::events::Snapshot;
use ackclock_core::units::Instant;

use crate::ranges::Range;

/// A segment that was sent. It fills one cache line, because a fast path holds many.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct SentSegment {
    /// First position.
    pub(in super::super) start: u64,
    /// Length in bytes; a FIN counts as one.
    pub(super) length: u32,
    /// Number of the segment's last transmission.
    pub(super) number: u32,
    /// Snapshot of the connection at that transmission.
    pub(super) sent_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent: Instant,
    lost: u64,
    inflight: u32,
    pub(super) tag: Tag,
}

/// What is marked of a segment: bits, with the number of its block above them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag(u32);

impl Tag {
    /// The segment is SACKed.
    pub(super) const SACKED: u32 = 1;
    /// The first transmission counts as lost.
    pub(super) const LOST: u32 = 1 << 1;
    /// A retransmission is outstanding.
    pub(super) const COPIED: u32 = 1 << 2;
    /// The segment was retransmitted at least once.
    pub(super) const RETRANSMITTED: u32 = 1 << 3;
    /// The application had too little data at the last transmission.
    pub(super) const APP_LIMITED: u32 = 1 << 4;
    /// The segment carried PSH by itself.
    pub(super) const PUSH: u32 = 1 << 5;
    /// The segment lies in one packet with the one before.
    pub(super) const JOINED: u32 = 1 << 6;
    /// Number of bits. Blocks that are outstanding together have different numbers in the others.
    pub(super) const BITS: u32 = 7;

    /// The tag of a segment sent for the first time; `push` as in [`super::Scoreboard::send`].
    pub(super) const fn new(push: (bool, u32)) -> Self {
        let mut tag = Self(push.1 << Self::BITS);
        tag.set(Self::PUSH, push.0);
        tag
    }

    pub(super) const fn has(self, marks: u32) -> bool {
        self.0 & marks != 0
    }

    pub(super) const fn set(&mut self, marks: u32, on: bool) {
        self.0 = if on { self.0 | marks } else { self.0 & !marks };
    }

    pub(super) const fn block(self) -> u32 {
        self.0 >> Self::BITS
    }
}

impl SentSegment {
    /// Number of the block in which the segment left first.
    pub(in super::super) fn block(&self) -> u32 {
        self.tag.block()
    }

    /// When the segment was last sent.
    pub(in super::super) fn sent_at(&self) -> Instant {
        self.sent_at
    }

    /// Length in bytes; a FIN counts as one.
    pub(in super::super) fn len(&self) -> u64 {
        u64::from(self.length)
    }

    /// One past the last position.
    pub(in super::super) fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }

    /// First position, and one past the last.
    pub(in super::super) fn range(&self) -> Range {
        (self.start, self.end())
    }

    /// Bytes delivered before the segment was last sent.
    pub(in super::super) fn delivered_before(&self) -> u64 {
        self.delivered
    }

    /// Snapshot of the connection at the segment's last transmission.
    pub(in super::super) fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.sent_at).with(|packet| {
            packet.delivered = self.delivered;
            packet.delivered_at = self.delivered_at;
            packet.first_sent = self.first_sent;
            packet.lost = self.lost;
            packet.inflight = u64::from(self.inflight);
            packet.app_limited = self.tag.has(Tag::APP_LIMITED);
        })
    }

    /// Whether the segment was ever retransmitted.
    pub(in super::super) fn is_retransmitted(&self) -> bool {
        self.tag.has(Tag::RETRANSMITTED)
    }

    /// Whether the segment carried PSH by itself.
    pub(in super::super) fn is_pushed(&self) -> bool {
        self.tag.has(Tag::PUSH)
    }

    /// Whether a transmission of the segment may still arrive.
    pub(in super::super) fn is_awaited(&self) -> bool {
        !self.is_sacked() && !self.waits()
    }

    /// Whether the segment lies in one packet with the one before.
    pub(super) fn is_joined(&self) -> bool {
        self.tag.has(Tag::JOINED)
    }

    pub(super) fn is_sacked(&self) -> bool {
        self.tag.has(Tag::SACKED)
    }

    /// Whether the first transmission counts as lost.
    pub(super) fn is_lost(&self) -> bool {
        self.tag.has(Tag::LOST)
    }

    /// Whether a retransmission is outstanding.
    pub(super) fn is_copied(&self) -> bool {
        self.tag.has(Tag::COPIED)
    }

    /// Whether the segment counts as lost and waits for its retransmission.
    pub(super) fn waits(&self) -> bool {
        self.is_lost() && !self.is_copied()
    }

    /// A part of the segment.
    pub(super) fn part(mut self, (start, end): Range) -> Self {
        self.tag.set(Tag::JOINED, false);
        Self { start, length: (end - start) as u32, ..self }
    }

    /// A segment that was not sent yet.
    pub(super) const fn new((start, end): Range, push: (bool, u32)) -> Self {
        let never = Instant::ZERO;
        Self {
            start,
            length: (end - start) as u32,
            number: 0,
            sent_at: never,
            delivered: 0,
            delivered_at: never,
            first_sent: never,
            lost: 0,
            inflight: 0,
            tag: Tag::new(push),
        }
    }

    /// The segment after transmission `number`.
    pub(super) fn sent(mut self, number: u32, snapshot: &Snapshot) -> Self {
        let Snapshot { sent_at, delivered, delivered_at, first_sent, lost, inflight, app_limited, .. } = *snapshot;
        self.tag.set(Tag::APP_LIMITED, app_limited);
        // A window has at most 30 bits (RFC 7323 §2.2).
        let inflight = inflight as u32;
        Self { number, sent_at, delivered, delivered_at, first_sent, lost, inflight, ..self }
    }
}

/// A transmission; outdated once its segment is retransmitted or delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) sent_at: Instant,
    pub(super) start: u64,
    pub(super) length: u32,
    pub(super) number: u32,
}

impl Transmission {
    /// One past the last position.
    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }

    /// Whether it left before another one, of which this is the time and the end (RFC 8985 §6.2, `RACK_sent_after`).
    #[inline]
    pub(super) fn is_before(&self, (sent_at, end): (Instant, u64)) -> bool {
        self.sent_at < sent_at || self.sent_at == sent_at && self.end() < end
    }
}
