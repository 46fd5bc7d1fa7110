//! One direction of a link: a queue, a transmitter and a wire. Rate, delay and loss are constants or models.
//!
//! An [`Immediate`] queue is first in, first out. A packet's departure is known when it arrives, so the link needs no event for it. A
//! [`Scheduled`] queue chooses a packet on departure, so it must be asked whenever the transmitter is free. A [`Station`] is such a queue on a
//! medium that several links share.
//!
//! Often a packet arrives at exactly the time at which another leaves the queue. The order of these events then decides whether a full
//! queue drops the packet. Times are therefore summed as in ns-2:
//!
//! - A transmission ends at its start plus the transmission time.
//! - The packet arrives at the start plus the sum of transmission time and delay.

use ackclock_core::qdisc::{self, Discipline, Fifo, Outlet, Scheduler, Unlimited};
use ackclock_core::units::Instant;

use super::immediate::Immediate;
use super::models::generator;
use super::port::Port;
use super::scheduled::Scheduled;
use super::station::Station;
use crate::scenario::{GeneratorSpec, LinkSpec};
use crate::trace::Recorder;

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) port: Port,
    pub(crate) queue: Queue,
}

/// The kind of queue.
#[derive(Debug)]
pub(crate) enum Queue {
    /// First in, first out: a packet crosses at once, at a future time.
    Immediate(Immediate),
    /// The queue chooses a packet whenever the transmitter is free, at one event each.
    Scheduled(Box<Scheduled>),
    /// The same, and the transmitter is free when the medium is.
    Shared(Box<Station>),
}

impl Link {
    /// The link of `spec`, in a run with `seed` that ends at `end`; `outside`: its queue, if that is outside the engine. `Err` is the
    /// registry's message about a part's parameters; a queue outside that is missing has no parts.
    pub(crate) fn new(
        index: u32,
        spec: &LinkSpec,
        (seed, end): (u64, Instant),
        outside: Option<Box<dyn Scheduler>>,
    ) -> Result<Self, String> {
        Ok(Self { port: Port::new(index, spec, seed, end)?, queue: Queue::new(spec, seed, outside)? })
    }

    /// Whether the queue chooses on departure.
    pub(crate) const fn is_scheduled(&self) -> bool {
        !matches!(self.queue, Queue::Immediate(_))
    }

    /// Number of packets that wait for an event of this link.
    pub(crate) fn waiting(&self) -> u64 {
        match &self.queue {
            Queue::Immediate(_) => 0,
            Queue::Scheduled(queue) => queue.backlog(),
            Queue::Shared(station) => station.waiting(),
        }
    }

    /// Ends the run at `end`, before its planned end.
    pub(crate) fn cut(&mut self, end: Instant) {
        if let Queue::Immediate(queue) = &self.queue {
            queue.cut(&mut self.port, end);
        }
        self.port.cut(end);
    }

    /// Records what the queue does before the end of the run without another event. Changes nothing the second time.
    pub(crate) fn settle<R: Recorder>(&mut self, recorder: &mut R) {
        if let Queue::Immediate(queue) = &mut self.queue {
            queue.settle(&mut self.port, recorder);
        }
    }

    /// Advances the queue to the end of the run, for the recorder and the counters.
    pub(crate) fn finish<R: Recorder>(&mut self, recorder: &mut R) {
        self.settle(recorder);
        match &mut self.queue {
            Queue::Immediate(_) => {}
            Queue::Scheduled(queue) => queue.finish(&mut self.port),
            Queue::Shared(station) => station.finish(&mut self.port),
        }
    }
}

impl Queue {
    fn new(link: &LinkSpec, seed: u64, outside: Option<Box<dyn Scheduler>>) -> Result<Self, String> {
        if link.medium.is_some() {
            return Self::shared(link, seed);
        }
        let Some(spec) = &link.queue else { return Ok(Self::Immediate(Immediate::default())) };
        let outlet = outlet(link);
        let random = generator(&spec.generator, seed, &format!("link/{}/queue", link.name));
        if let Some(queue) = outside {
            return Ok(Self::Scheduled(Box::new(Scheduled::new(queue, random))));
        }
        Ok(match *qdisc::PARTS.build(&spec.discipline)? {
            Discipline::Fifo(mut discipline) => {
                discipline.attach(&outlet);
                Self::Immediate(Immediate::new(discipline, random))
            }
            Discipline::Scheduled(mut scheduler) => {
                scheduler.attach(&outlet);
                Self::Scheduled(Box::new(Scheduled::new(scheduler, random)))
            }
        })
    }

    /// The queue of a link on a medium.
    fn shared(link: &LinkSpec, seed: u64) -> Result<Self, String> {
        let mut scheduler = match &link.queue {
            Some(spec) => qdisc::PARTS.build(&spec.discipline)?.into_scheduler(),
            None => Box::new(Fifo::new(Unlimited)),
        };
        scheduler.attach(&outlet(link));
        let spec = link.queue.as_ref().map_or(GeneratorSpec::Derived, |spec| spec.generator);
        let random = generator(&spec, seed, &format!("link/{}/queue", link.name));
        Ok(Self::Shared(Box::new(Station::new(Scheduled::new(scheduler, random)))))
    }
}

/// The link of `spec`, as its queue sees it.
fn outlet(spec: &LinkSpec) -> Outlet {
    Outlet { rate: spec.rate.mean(), delay: spec.delay.mean() }
}
