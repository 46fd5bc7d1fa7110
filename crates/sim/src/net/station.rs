//! A link on a shared medium: a queue, and the packets that are being sent until the receiver has them.

use std::collections::VecDeque;

use ackclock_core::path::medium::Frames;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Instant, Moment, Rate};

use super::fate::Loss;
use super::packet::Packet;
use super::port::{Entering, LinkKind, Port};
use super::scheduled::Scheduled;
use crate::trace::Recorder;

/// A packet that has left the queue.
#[derive(Clone, Copy, Debug)]
struct Frame {
    entering: Entering,
    /// Whether the receiver has it, and holds it until it has those before.
    received: bool,
}

/// The station.
#[derive(Debug)]
pub(crate) struct Station {
    queue: Scheduled,
    /// Its medium, and its number there.
    pub(crate) medium: usize,
    pub(crate) number: usize,
    /// Whether the medium knows that it has something to send.
    pub(crate) asked: bool,
    /// Packets that have left the queue, in their order. The receiver does not have the first.
    frames: VecDeque<Frame>,
    /// Number of frames in the current transmission.
    sending: usize,
    /// Most bytes of a transmission.
    most: u64,
}

impl Station {
    /// A station with an empty queue, on no medium yet.
    pub(super) const fn new(queue: Scheduled) -> Self {
        Self { queue, medium: 0, number: 0, asked: false, frames: VecDeque::new(), sending: 0, most: 0 }
    }

    /// Becomes station `number` of `medium`, with frames at `rate`.
    pub(super) fn attach(&mut self, (medium, number): (usize, usize), frames: &Frames, rate: Rate) {
        (self.medium, self.number, self.most) = (medium, number, frames.most(rate));
    }

    /// Time at which the queue will release a packet, if it holds some until then.
    pub(crate) const fn due(&self) -> Option<Moment> {
        self.queue.due()
    }

    /// Enqueues a packet between the nodes `ends`. Adds dropped packets to `lost`.
    pub(crate) fn join<R: Recorder>(
        &mut self,
        port: &mut Port,
        arriving: (&Entering, (u32, u32)),
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) {
        self.queue.join(port, arriving, lost, recorder);
    }

    /// Whether it has something to send, unless its queue holds it back.
    pub(crate) fn has_more(&self) -> bool {
        self.waiting() > 0
    }

    /// Number of packets in the queue and of those that the receiver does not have or holds.
    pub(crate) fn waiting(&self) -> u64 {
        self.queue.backlog() + self.frames.len() as u64
    }

    /// Takes from the queue what can be sent together. Returns whether that is anything, and the time at which the queue will release more, if
    /// it is new.
    pub(crate) fn gather<R: Recorder>(
        &mut self,
        port: &mut Port,
        (frames, now): (&Frames, Moment),
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> (bool, Option<Moment>) {
        let length = |frame: &Frame| frames.frame(frame.entering.packet.size()).0;
        let missing = self.frames.iter().filter(|frame| !frame.received);
        let mut bytes: u64 = missing.map(length).sum();
        let mut next = None;
        while self.frames.len() < frames.packets && (bytes < self.most || self.frames.is_empty()) {
            match self.queue.take(port, now, lost, recorder) {
                Ok(entering) => {
                    let frame = Frame { entering, received: false };
                    bytes += length(&frame);
                    self.frames.push_back(frame);
                }
                Err(held) => {
                    next = held;
                    break;
                }
            }
        }
        (!self.frames.is_empty(), next)
    }

    /// Sends the frames that the receiver does not have, from `start` on. Returns the end of the last one.
    pub(crate) fn send(&mut self, (port, kind): (&mut Port, &mut LinkKind), frames: &Frames, start: Instant) -> Instant {
        let (mut end, mut bytes) = (start + frames.preamble, 0);
        self.sending = 0;
        for frame in self.frames.iter().filter(|frame| !frame.received) {
            let length = frames.frame(frame.entering.packet.size());
            bytes += length.0;
            // A frame alone may be too long.
            if self.sending > 0 && bytes > self.most {
                break;
            }
            end = port.finish(kind, length, end);
            self.sending += 1;
        }
        port.occupy(start, end);
        end
    }

    /// The frames sent last did not collide. Returns whether any of them was received, each of which is lost with the probability `error`.
    pub(crate) fn succeed(&mut self, error: f64, random: &mut Generator) -> bool {
        let mut any = false;
        for frame in self.frames.iter_mut().filter(|frame| !frame.received).take(self.sending) {
            frame.received = error == 0.0 || random.uniform() >= error;
            any |= frame.received;
        }
        any
    }

    /// The next packet of which the receiver has all before it.
    pub(crate) fn pass(&mut self) -> Option<Entering> {
        self.frames.front().filter(|frame| frame.received)?;
        self.frames.pop_front().map(|first| first.entering)
    }

    /// Counts the packets that wait at the end of the run.
    pub(super) fn finish(&mut self, port: &mut Port) {
        self.queue.finish(port);
        port.counters.delivered += self.frames.len() as u64;
    }
}
