//! A first-in, first-out queue that decides on arrival: a packet's departure time is known when it arrives.

use std::collections::VecDeque;

use ackclock_core::qdisc::{Admission, Arrival, Backlog, Reason, Updated, Verdict};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Instant, Moment};

use super::fate::{Crossing, Loss};
use super::packet::Packet;
use super::port::{Entering, LinkKind, Port, Sending};
use crate::trace::Recorder;

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Start of its transmission.
    start: Instant,
    size: Bytes,
}

/// A discipline with its random number generator.
#[derive(Debug)]
struct Disciplined {
    updated: Updated<Box<dyn Admission>>,
    random: Generator,
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Immediate {
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
    /// `None` for an unlimited queue.
    discipline: Option<Box<Disciplined>>,
    /// Time of the last packet, for the assertion that none enters before.
    #[cfg(debug_assertions)]
    last: Instant,
}

impl Immediate {
    /// An empty queue behind `discipline`.
    pub(super) fn new(discipline: Box<dyn Admission>, random: Generator) -> Self {
        let discipline = Some(Box::new(Disciplined { updated: Updated::new(discipline), random }));
        Self { discipline, ..Self::default() }
    }

    /// Takes a packet across the link of `port` if nothing can delay or drop it there, as on most links. Returns its arrival at the other
    /// end. Packets must come in the order of their times.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most packets cross every link of theirs here")]
    pub(crate) fn pass<R: Recorder>(
        &mut self,
        port: &mut Port,
        kind: &mut LinkKind,
        (now, packet): (Moment, Packet),
        recorder: &mut R,
    ) -> Option<Moment> {
        #[cfg(debug_assertions)]
        {
            assert!(now.at >= self.last, "a packet enters link {} at {:?}, after one at {:?}", port.index, now.at, self.last);
            self.last = now.at;
        }
        (self.discipline.is_none() && self.waiting.is_empty() && port.is_clear(now)).then(|| port.pass(kind, now, packet, recorder))
    }

    /// Takes a packet across a link on which it may wait or be lost: one that [`Self::pass`] has not taken.
    #[inline(never)]
    pub(crate) fn queue<R: Recorder>(&mut self, port: &mut Port, kind: &mut LinkKind, entering: &Entering, recorder: &mut R) -> Crossing {
        let now = entering.now;
        if let Some(crossing) = port.before(entering, recorder) {
            return crossing;
        }
        while let Some(first) = self.waiting.front()
            && !port.transmitter.precedes(now, first.start)
        {
            self.start_first(port, recorder);
        }
        port.counters.arrivals += 1;
        let busy = port.transmitter.is_busy(now);
        let mut marked = false;
        match self.admit(port, entering, busy, recorder) {
            Verdict::Accept => {}
            Verdict::Mark(reason) => {
                marked = true;
                port.counters.marks += 1;
                if R::ON {
                    recorder.marked(now.at, port.index, entering, reason);
                }
            }
            Verdict::Drop(reason) => {
                port.counters.drop(now.at, reason);
                if reason == Reason::Overflow {
                    let next = self.waiting.front().map_or(port.transmitter.free_at, |first| first.start);
                    port.counters.overflow(now.at, next);
                }
                recorder.dropped(now.at, port.index, entering, reason);
                let notice = self.discipline.as_ref().and_then(|discipline| discipline.updated.admission.notice(reason));
                return Crossing::Lost(Loss { at: now.at, notice });
            }
        }
        let start = if busy { port.transmitter.free_at } else { now.at };
        if busy {
            self.wait(port, entering, start, recorder);
        } else {
            port.transmitter.in_service_since = start;
            port.transmitter.row = now;
        }
        port.transmit(kind, &Sending { entering, start, marked }, recorder)
    }

    /// Asks the discipline; an unlimited queue has none.
    fn admit<R: Recorder>(&mut self, port: &Port, entering: &Entering, busy: bool, recorder: &mut R) -> Verdict {
        let Some(discipline) = &mut self.discipline else { return Verdict::Accept };
        let Disciplined { updated, random } = &mut **discipline;
        let Entering { now, packet } = *entering;
        updated.update_until(now, self.backlog);
        let idle_since = (!busy).then_some(port.transmitter.free_at);
        let arrival = Arrival { now: now.at, size: packet.size(), flow: packet.flow() as u32, ecn: packet.ecn(), idle_since };
        let verdict = updated.admission.admit(&arrival, self.backlog, random);
        if R::ON {
            recorder.discipline(now.at, port.index, |out| updated.admission.internals(out));
        }
        verdict
    }

    /// Starts the transmission of the first waiting packet.
    fn start_first<R: Recorder>(&mut self, port: &mut Port, recorder: &mut R) {
        let Some(Waiting { start, size }) = self.waiting.pop_front() else { return };
        if let Some(discipline) = &mut self.discipline {
            let now = Moment { at: start, since: port.transmitter.in_service_since };
            discipline.updated.update_until(now, self.backlog);
        }
        port.transmitter.in_service_since = start;
        self.backlog = self.backlog.without(size);
        if R::ON {
            recorder.queue(start, port.index, self.backlog);
        }
    }

    /// Appends a packet whose transmission will start at `start`.
    fn wait<R: Recorder>(&mut self, port: &mut Port, entering: &Entering, start: Instant, recorder: &mut R) {
        let size = entering.packet.size();
        self.waiting.push_back(Waiting { start, size });
        self.backlog = self.backlog.with(size);
        port.counters.waited += start.min(port.end).since(entering.now.at);
        port.counters.queue_max = port.counters.queue_max.max(self.backlog.packets);
        if R::ON {
            recorder.queue(entering.now.at, port.index, self.backlog);
        }
    }

    /// Does not count the time that packets would still have waited after `end`, before the run's planned end.
    pub(super) fn cut(&self, port: &mut Port, end: Instant) {
        for waiting in &self.waiting {
            port.counters.waited = port.counters.waited - waiting.start.min(port.end).since(end);
        }
    }

    /// Advances the queue to the end of the run, for the recorder. Changes nothing the second time.
    pub(super) fn settle<R: Recorder>(&mut self, port: &mut Port, recorder: &mut R) {
        while R::ON && self.waiting.front().is_some_and(|first| first.start < port.end) {
            self.start_first(port, recorder);
        }
    }
}
