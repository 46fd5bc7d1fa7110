//! The send sequence space: data acknowledged, data sent, and the window that the peer advertises.
//!
//! ## References
//! RFC 9293 §3.3.1 (the variables), §3.10.7.4 (which segment updates the window), §3.8.6.2.1 (silly windows); RFC 7323 §2.4.

use super::ack::Ack;
use super::stream::Stream;
use crate::ranges::Range;

/// The variables of RFC 9293 §3.3.1, as positions.
#[derive(Debug, Default)]
pub(super) struct SendWindow {
    /// `SND.UNA`.
    una: u64,
    /// `SND.NXT`.
    nxt: u64,
    /// One past the last position that the peer allows.
    edge: u64,
    /// Largest window that the peer has advertised.
    largest: u64,
    /// Sequence and ACK numbers of the last window update (`SND.WL1`, `SND.WL2`).
    last_update: (u64, u64),
}

impl SendWindow {
    /// The peer's SYN advertises `window` bytes.
    pub(super) fn offer(&mut self, window: u64) {
        (self.edge, self.largest) = (1 + window, window);
    }

    /// The SYN was acknowledged, and the data that it carried below `first`.
    pub(super) fn establish(&mut self, first: u64) {
        self.edge += first - 1;
        (self.una, self.nxt) = (first, first);
    }

    /// First unacknowledged position.
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// Next new position to send.
    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// One past the last position that the peer allows.
    #[cfg(test)]
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// Bytes that the peer allows to be outstanding.
    pub(super) fn offered(&self) -> u64 {
        self.edge.saturating_sub(self.una)
    }

    /// Largest window that the peer has advertised.
    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    /// Whether all sent data is acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        self.una == self.nxt
    }

    /// Whether the peer allows new data.
    pub(super) fn is_open(&self) -> bool {
        self.edge > self.nxt
    }

    /// All data below `number` is acknowledged.
    pub(super) fn acknowledge(&mut self, number: u64) {
        self.una = number;
    }

    /// All data below `end` has been sent.
    pub(super) fn advance(&mut self, end: u64) {
        self.nxt = end;
    }

    /// RFC 9293 §3.10.7.4: stores the window of the newest segment; returns whether its edge has moved. `shrinks`: whether an ACK that brings
    /// nothing else new may take back a part of it.
    pub(super) fn update(&mut self, ack: &Ack<'_>, shrinks: bool) -> bool {
        if self.last_update > (ack.seq, ack.number) || !shrinks && ack.number <= self.una && !self.would_update(ack.seq, ack.window) {
            return false;
        }
        self.last_update = (ack.seq, ack.number);
        self.largest = self.largest.max(ack.window);
        let edge = ack.number + ack.window;
        // The rounding of the scale may shrink a window (RFC 7323 §2.4), but not below the data already sent.
        let moved = edge != self.edge;
        self.edge = edge.max(self.nxt.min(self.edge));
        moved
    }

    /// Whether a segment at `seq` that acknowledges nothing new brings a larger window, or closes it.
    pub(super) fn would_update(&self, seq: u64, window: u64) -> bool {
        seq > self.last_update.0 || seq == self.last_update.0 && (window > self.offered() || window == 0)
    }

    /// Bytes written and not yet sent, including a FIN.
    pub(super) fn unsent(&self, stream: &Stream) -> u64 {
        stream.end() - self.nxt.max(1)
    }

    /// The end of a new segment of at most `smss` bytes.
    pub(super) fn reach(&self, stream: &Stream, smss: u64) -> u64 {
        let written = stream.written();
        // The FIN travels with the last byte.
        let full = (self.nxt + smss).min(written).min(stream.record_end(self.nxt).unwrap_or(u64::MAX));
        let end = if full == written { stream.end() } else { full };
        end.min(self.edge).max(self.nxt)
    }

    /// The next segment of new data, if the peer's window has room for a segment worth sending.
    /// `fill`: any is, because it continues a packet.
    pub(super) fn next_new(&self, stream: &Stream, smss: u64, fill: bool) -> Option<Range> {
        let end = self.reach(stream, smss);
        let length = end - self.nxt;
        // RFC 9293 §3.8.6.2.1, without the Nagle algorithm: a full segment, the end of the data, or half of the largest window.
        let whole = end == stream.end() || stream.record_end(self.nxt) == Some(end);
        let worthy = fill || length >= smss || whole || 2 * length >= self.largest;
        (length > 0 && worthy).then_some((self.nxt, end))
    }
}
