//! The stream to send: what the application has written, and where it ends.
//!
//! Positions count from the SYN, which has position 0; the FIN has the position after the last byte.

use super::ranges::Range;

/// Where data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supply {
    /// An application writes what it has, and may write more.
    Written,
    /// It is written as it can be sent: so many bytes in all, or without end.
    Pulled(Option<u64>),
}

/// The stream of one direction.
#[derive(Debug)]
pub(super) struct Stream {
    /// One past the last byte that the application has written.
    written: u64,
    /// Whether the application writes no more.
    closed: bool,
    supply: Supply,
}

impl Stream {
    /// A stream of which nothing has been written.
    pub(super) fn new() -> Self {
        Self { written: 1, closed: false, supply: Supply::Written }
    }

    /// The stream is written as it can be sent: `bytes` in all, or without end.
    pub(super) fn pull(&mut self, bytes: Option<u64>) {
        self.supply = Supply::Pulled(bytes);
    }

    /// The application writes `bytes`, unless it has closed the stream.
    pub(super) fn write(&mut self, bytes: u64) {
        if !self.closed {
            self.written += bytes;
        }
    }

    /// The application writes no more.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// One past the last byte.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// One past the last position there is to send.
    pub(super) fn end(&self) -> u64 {
        self.written + u64::from(self.closed)
    }

    /// One past the FIN, if there will be one.
    pub(super) fn end_of_fin(&self) -> Option<u64> {
        self.closed.then_some(self.written + 1)
    }

    /// As much of `range`, from its start, as a segment of `smss` bytes holds; a FIN takes no room.
    pub(super) fn fit(&self, (start, end): Range, smss: u64) -> Range {
        if end.min(self.written) <= start + smss { (start, end) } else { (start, start + smss) }
    }

    /// Whether an application writes at times of its own.
    pub(super) fn is_written(&self) -> bool {
        self.supply == Supply::Written
    }

    /// Bytes in all, where that is known from the start.
    pub(super) fn amount(&self) -> Option<u64> {
        if let Supply::Pulled(bytes) = self.supply { bytes } else { None }
    }
}
