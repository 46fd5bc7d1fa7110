//! One end of a connection: a stack, the application's data, and what is counted.

use std::collections::BTreeMap;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::{Counters, Datagram, StreamId, Transmission};

use crate::frames::{self, Content, SentData};
use crate::settings::HEADERS;
use crate::stack::{Burst, Event, Stack};
use crate::streams::{Outbox, Streams};

/// The resolution of a stack's timers.
const TICK: Duration = Duration::from_nanos(1000);

/// One end.
#[derive(Debug)]
pub(crate) struct End<S> {
    pub(crate) stack: S,
    /// Whether packets may be marked.
    ecn: bool,
    pub(crate) outbox: Outbox,
    sent: SentData,
    /// Datagrams that the stack has passed on together, from the first that has not left.
    burst: Option<(Burst, usize)>,
    buffer: Vec<u8>,
    /// Datagrams sent that ask for an acknowledgement.
    numbered: u32,
    /// The number of the next such datagram of the peer.
    expected: u32,
    delivered: u64,
    delivered_of: BTreeMap<StreamId, u64>,
    /// Streams on which the last datagram has delivered data.
    fresh: Vec<StreamId>,
    connected: bool,
    failure: Option<(Instant, String)>,
    deadline: Option<Instant>,
    counters: Counters,
}

impl<S: Stack> End<S> {
    pub(crate) fn new(stack: S, ecn: bool) -> Self {
        Self {
            stack,
            ecn,
            outbox: Outbox::default(),
            sent: SentData::default(),
            burst: None,
            buffer: Vec::new(),
            numbered: 0,
            expected: 0,
            delivered: 0,
            delivered_of: BTreeMap::new(),
            fresh: Vec::new(),
            connected: false,
            failure: None,
            deadline: None,
            counters: Counters::default(),
        }
    }

    /// Opens the connection.
    pub(crate) fn connect(&mut self, now: Instant) {
        self.stack.connect(now);
        self.set_deadline(now);
    }

    /// Asks the stack for its next timer. One that is due at once, such as a pacer's whose times are rounded down, waits for a moment as a
    /// real one does, so that time goes on.
    fn set_deadline(&mut self, now: Instant) {
        self.deadline = self.stack.timeout().map(|due| if due > now { due } else { now + TICK });
    }

    /// Bytes that the application has written and that were never sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.outbox.written() - self.sent.fresh()
    }

    /// Whether the handshake is over.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }

    /// Handles a datagram; returns the number of bytes that it delivers.
    pub(crate) fn handle(&mut self, now: Instant, arrived: &Datagram<Vec<u8>>, streams: &Streams) -> u64 {
        self.fresh.clear();
        let Some(datagram) = &arrived.payload else { return 0 };
        if frames::read(&S::unprotected(datagram), |_, _, _| ()) == Content::Eliciting {
            self.expected = self.expected.max(arrived.number + 1);
        }
        self.stack.receive(now, arrived.ecn, datagram);
        let before = self.delivered;
        while let Some(event) = self.stack.event() {
            match event {
                Event::Connected => self.connected = true,
                Event::Lost(reason) => self.failure = Some((now, reason)),
                Event::Readable(number) => {
                    let read = self.stack.read(number);
                    if let Some(stream) = streams.of_stack(number)
                        && read > 0
                    {
                        self.delivered += read;
                        *self.delivered_of.entry(stream).or_default() += read;
                        self.fresh.push(stream);
                    }
                }
            }
        }
        self.fresh.sort_unstable();
        self.fresh.dedup();
        self.set_deadline(now);
        self.delivered - before
    }

    /// The next datagram that leaves.
    pub(crate) fn poll_transmit(&mut self, now: Instant, streams: &mut Streams) -> Option<(Datagram<Vec<u8>>, Transmission)> {
        if self.burst.is_none() {
            if self.connected {
                self.outbox.flush(streams, &mut self.stack);
            }
            self.buffer.clear();
            self.burst = self.stack.transmit(now, &mut self.buffer).map(|burst| (burst, 0));
            self.set_deadline(now);
        }
        let (burst, start) = self.burst.take()?;
        let end = (start + burst.segment).min(self.buffer.len());
        let datagram = self.buffer[start..end].to_vec();
        if end < self.buffer.len() {
            self.burst = Some((burst, end));
        }
        let kind = self.sent.classify(&S::unprotected(&datagram));
        let number = if kind == Transmission::Ack {
            self.expected
        } else {
            self.counters.sent += 1;
            self.counters.retransmitted += u64::from(kind == Transmission::Retransmission);
            self.numbered += 1;
            self.numbered - 1
        };
        let size = datagram.len() as u64 + HEADERS;
        let ecn = if self.ecn { burst.ecn } else { Ecn::NotEct };
        Some((Datagram { number, size: size as u16, sent: now, ecn, echo: false, payload: Some(datagram) }, kind))
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.stack.expire(now);
        self.set_deadline(now);
    }

    /// Bytes of data delivered in order.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes of data delivered in order on a stream.
    pub(crate) fn delivered_of(&self, stream: StreamId) -> u64 {
        self.delivered_of.get(&stream).copied().unwrap_or_default()
    }

    /// The first stream above `after` on which the last datagram has delivered data.
    pub(crate) fn next_fresh(&self, after: Option<StreamId>) -> Option<StreamId> {
        self.fresh.iter().copied().find(|stream| after.is_none_or(|after| *stream > after))
    }

    /// When and why the end lost the connection, if it did.
    pub(crate) fn failure(&self) -> Option<&(Instant, String)> {
        self.failure.as_ref()
    }

    pub(crate) fn counters(&self) -> Counters {
        self.counters
    }
}
