//! The application of one end, which writes as its send buffer allows.
//!
//! It writes at most [`CHUNK`] bytes at a time, as soon as the buffer has enough room. Each write is transmitted as far as the windows allow
//! before the next one.

use ackclock_core::units::Instant;

use super::endpoint::Endpoint;

/// Bytes of a write.
const CHUNK: u64 = 128 << 10;

/// What the application of one end has still to do.
#[derive(Debug)]
pub(super) struct Writer {
    /// Bytes to write; `None` without an end.
    left: Option<u64>,
    /// Bytes that the present write still lacks.
    part: u64,
    /// Whether the application closes the stream at the end.
    closes: bool,
    /// Whether it closes with the last write, and not after its transmission.
    at_once: bool,
    done: bool,
}

impl Writer {
    /// An application that closes with its last write (`at_once`), or after its transmission.
    pub(super) fn new(at_once: bool) -> Self {
        Self { left: Some(0), part: 0, closes: false, at_once, done: false }
    }

    /// The application has `bytes` more.
    pub(super) fn add(&mut self, bytes: u64) {
        self.left = self.left.map(|left| left + bytes);
    }

    /// The application has no end of data.
    pub(super) fn set_endless(&mut self) {
        self.left = None;
    }

    /// The application writes nothing more.
    pub(super) fn stop(&mut self) {
        self.left = Some(0);
    }

    /// The application closes the stream after its last byte.
    pub(super) fn close(&mut self) {
        self.closes = true;
    }

    /// Whether a write is under way.
    pub(super) fn is_writing(&self) -> bool {
        self.part > 0
    }

    /// Nothing can be sent now, or a write is under way: the application goes on. Returns whether it has written or closed.
    pub(super) fn proceed(&mut self, now: Instant, end: &mut Endpoint) -> bool {
        if self.done || !end.is_established() {
            return false;
        }
        if self.left == Some(0) {
            self.done = self.closes;
            if self.done {
                end.close();
            }
            return self.done;
        }
        let first = self.part == 0;
        if first {
            if !end.finds_room(now) {
                return false;
            }
            self.part = self.left.map_or(CHUNK, |left| left.min(CHUNK));
        }
        let written = end.write_packet(self.part, first);
        self.part = if written == 0 { 0 } else { self.part - written };
        self.left = self.left.map(|left| left - written);
        if self.at_once && self.closes && self.left == Some(0) {
            self.done = true;
            end.close();
        }
        written > 0
    }
}
