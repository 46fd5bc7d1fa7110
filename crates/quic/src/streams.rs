//! The streams of a connection: their numbers for an application, and in the stack.

use std::collections::{BTreeMap, VecDeque};

use ackclock_host::StreamId;

use crate::stack::Stack;

/// Which stream of the stack carries which stream of the application. Both ends share the table, as applications share an understanding of
/// their streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    stack: BTreeMap<StreamId, u64>,
    application: BTreeMap<u64, StreamId>,
}

impl Streams {
    /// The application's stream that a stream of the stack carries.
    pub(crate) fn of_stack(&self, stream: u64) -> Option<StreamId> {
        self.application.get(&stream).copied()
    }

    /// The stack's stream; opened if the application has not used it. `None`: the peer allows no more streams at present.
    fn open(&mut self, stream: StreamId, stack: &mut impl Stack) -> Option<u64> {
        if let Some(number) = self.stack.get(&stream) {
            return Some(*number);
        }
        let number = stack.open()?;
        self.stack.insert(stream, number);
        self.application.insert(number, stream);
        Some(number)
    }
}

/// Data of a stream that the stack has not taken yet.
#[derive(Debug)]
struct Waiting {
    stream: StreamId,
    bytes: u64,
    /// Whether the stream ends with it.
    last: bool,
}

/// What the application has written, and the stack has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<Waiting>,
    bytes: u64,
    taken: u64,
}

impl Outbox {
    /// Adds `bytes` on a stream, which ends with them if `last`.
    pub(crate) fn add(&mut self, stream: StreamId, bytes: u64, last: bool) {
        self.bytes += bytes;
        match self.waiting.back_mut() {
            Some(waiting) if waiting.stream == stream && !waiting.last => {
                waiting.bytes += bytes;
                waiting.last = last;
            }
            _ => self.waiting.push_back(Waiting { stream, bytes, last }),
        }
    }

    /// Bytes written so far, whether the stack has taken them or not.
    pub(crate) fn written(&self) -> u64 {
        self.bytes + self.taken
    }

    /// Hands over what the stack takes. A stream that waits for credit holds back no other.
    pub(crate) fn flush(&mut self, streams: &mut Streams, stack: &mut impl Stack) {
        self.waiting.retain_mut(|waiting| {
            let Some(number) = streams.open(waiting.stream, stack) else { return true };
            while waiting.bytes > 0 {
                let taken = stack.write(number, waiting.bytes);
                if taken == 0 {
                    return true;
                }
                waiting.bytes -= taken;
                (self.bytes, self.taken) = (self.bytes - taken, self.taken + taken);
            }
            if waiting.last {
                stack.finish(number);
            }
            false
        });
    }
}
