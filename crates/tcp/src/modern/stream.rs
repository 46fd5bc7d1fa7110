//! The stream to send: the data that the application has written, and its end.
//!
//! Positions count from the SYN, which has position 0; the FIN has the position after the last byte.

use std::collections::VecDeque;

use crate::ranges::Range;

/// The source of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supply {
    /// An application writes data, and may write more.
    Written,
    /// A bulk transfer keeps the stream filled: this many bytes in all, or unlimited.
    Pulled(Option<u64>),
}

/// The stream of one direction.
#[derive(Debug)]
pub(super) struct Stream {
    /// One past the last byte that the application has written.
    written: u64,
    /// Whether the application has closed the stream.
    closed: bool,
    supply: Supply,
    /// Ends of records (`MSG_EOR`), which no segment crosses.
    records: VecDeque<u64>,
}

impl Stream {
    /// An empty stream.
    pub(super) fn new() -> Self {
        Self { written: 1, closed: false, supply: Supply::Written, records: VecDeque::new() }
    }

    /// A bulk transfer keeps the stream filled: `bytes` in all, or unlimited.
    pub(super) fn pull(&mut self, bytes: Option<u64>) {
        self.supply = Supply::Pulled(bytes);
    }

    /// The application writes `bytes`, unless it has closed the stream.
    pub(super) fn write(&mut self, bytes: u64) {
        if !self.closed {
            self.written += bytes;
        }
    }

    /// The data written so far ends a record.
    pub(super) fn end_record(&mut self) {
        self.records.push_back(self.written);
    }

    /// Forgets the records that end below `nxt`, which is sent.
    pub(super) fn forget_records(&mut self, nxt: u64) {
        while self.records.front().is_some_and(|end| *end <= nxt) {
            self.records.pop_front();
        }
    }

    /// The end of the record that begins at `nxt` or before, if later data exists.
    pub(super) fn record_end(&self, nxt: u64) -> Option<u64> {
        self.records.iter().copied().find(|end| *end > nxt).filter(|end| *end < self.written)
    }

    /// The application closes the stream.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// One past the last byte written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// One past the last position to send, including a FIN.
    pub(super) fn end(&self) -> u64 {
        self.written + u64::from(self.closed)
    }

    /// One past the FIN, if the stream is closed.
    pub(super) fn end_of_fin(&self) -> Option<u64> {
        self.closed.then_some(self.written + 1)
    }

    /// The part of `range`, from its start, that fits a segment of `smss` bytes; a FIN takes no room.
    pub(super) fn fit(&self, (start, end): Range, smss: u64) -> Range {
        if end.min(self.written) <= start + smss { (start, end) } else { (start, start + smss) }
    }

    /// Bytes of data below a position.
    pub(super) fn data_below(&self, position: u64) -> u64 {
        position.clamp(1, self.written) - 1
    }

    /// Whether an application writes the data at times of its own.
    pub(super) fn is_written(&self) -> bool {
        self.supply == Supply::Written
    }

    /// Total bytes, if known from the start.
    pub(super) fn amount(&self) -> Option<u64> {
        if let Supply::Pulled(bytes) = self.supply { bytes } else { None }
    }
}
