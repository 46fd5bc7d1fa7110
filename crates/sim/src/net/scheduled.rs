//! A queue that decides on departure: it is asked for a packet whenever the transmitter is free.

use ackclock_core::qdisc::{Backlog, Dequeued, Outcome, Outcomes, Packet as Queued, Scheduler};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant, Moment};

use super::packet::Packet;
use super::port::{Entering, LinkKind, Loss, Port};
use crate::trace::Recorder;

/// A scheduler with the packets that wait in it.
#[derive(Debug)]
pub(crate) struct Scheduled {
    scheduler: Box<dyn Scheduler>,
    random: Generator,
    /// The packets by their handles, and the handles that are free.
    packets: Vec<Packet>,
    free: Vec<u32>,
    outcomes: Outcomes,
    state: State,
    /// The backlog that was last recorded.
    recorded: Backlog,
    /// Time that packets have spent waiting up to `since`.
    waited: Duration,
    since: Instant,
}

/// What the link does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Nothing: no packet waits.
    Idle,
    /// It sends a packet, and is free then.
    Sending(Moment),
    /// Its scheduler lets no packet leave before then.
    Held(Moment),
}

/// What a link does when its queue is asked.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// The packet that it sends, unless that is lost on the way, and its arrival at the far end.
    pub(crate) sent: Option<(Packet, Moment)>,
    /// When it wants to be served next, unless that has been said before.
    pub(crate) next: Option<Moment>,
}

impl Scheduled {
    /// An empty queue.
    pub(crate) fn new(scheduler: Box<dyn Scheduler>, random: Generator) -> Self {
        Self {
            scheduler,
            random,
            packets: Vec::new(),
            free: Vec::new(),
            outcomes: Vec::new(),
            state: State::Idle,
            recorded: Backlog::default(),
            waited: Duration::ZERO,
            since: Instant::ZERO,
        }
    }

    /// When the link is to be served, if it is not idle.
    pub(crate) const fn due(&self) -> Option<Moment> {
        match self.state {
            State::Idle => None,
            State::Sending(due) | State::Held(due) => Some(due),
        }
    }

    fn wait_until(&mut self, now: Instant) {
        self.waited += now.since(self.since) * self.scheduler.backlog().packets as f64;
        self.since = now;
    }

    fn keep(&mut self, packet: Packet) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.packets[handle as usize] = packet;
            return handle;
        }
        self.packets.push(packet);
        self.packets.len() as u32 - 1
    }

    fn take(&mut self, queued: &Queued) -> Packet {
        self.free.push(queued.handle);
        let mut packet = self.packets[queued.handle as usize];
        packet.set_ecn(queued.ecn);
        packet
    }

    /// Takes a packet from and to the nodes `ends`, and serves the link unless it is sending. Adds the packets that are lost to `lost`.
    pub(crate) fn offer<R: Recorder>(
        &mut self,
        (port, kind): (&mut Port, &mut LinkKind),
        (entering, ends): (&Entering, (u32, u32)),
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> Served {
        if let Some(at) = port.lost_before(entering, recorder) {
            lost.push((entering.packet, Loss::silent(at)));
            return Served::default();
        }
        port.counters.arrivals += 1;
        let Entering { now, packet } = *entering;
        self.wait_until(now.at);
        let (flow, size, ecn) = (packet.flow() as u32, packet.size(), packet.ecn());
        let queued = Queued { handle: self.keep(packet), flow, ends, size, ecn, arrived: now.at };
        self.scheduler.enqueue(now, queued, &mut self.random, &mut self.outcomes);
        self.settle(port, now.at, lost, recorder);
        if let State::Sending(_) = self.state {
            self.observe(port, now.at, recorder);
            return Served::default();
        }
        self.serve((port, kind), now, lost, recorder)
    }

    /// Asks the queue for a packet to send: the transmitter is free.
    pub(crate) fn serve<R: Recorder>(
        &mut self,
        (port, kind): (&mut Port, &mut LinkKind),
        now: Moment,
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> Served {
        self.wait_until(now.at);
        let answer = self.scheduler.dequeue(now, &mut self.random, &mut self.outcomes);
        let sending = answer.packet().map(|queued| (self.take(&queued), queued.arrived));
        self.settle(port, now.at, lost, recorder);
        self.observe(port, now.at, recorder);
        let Some((packet, arrived)) = sending else { return Served { sent: None, next: self.hold(now.at, answer) } };
        let departure = port.transmitter.send(kind, packet.size(), now.at);
        let free = Moment { at: port.transmitter.free_at, since: now.at };
        self.state = State::Sending(free);
        let entering = entering(packet, arrived);
        port.leave(&entering, now.at, recorder);
        let mut sent = Some((packet, departure.arrives()));
        if let Some(at) = port.lost_after(&entering, departure.arrival, recorder) {
            lost.push((packet, Loss::silent(at)));
            sent = None;
        }
        Served { sent, next: Some(free) }
    }

    /// No packet may leave at `now`; gives when the link is to be served next, unless that has been said before.
    fn hold(&mut self, now: Instant, answer: Dequeued) -> Option<Moment> {
        let Dequeued::NotBefore(at) = answer else {
            self.state = State::Idle;
            return None;
        };
        debug_assert!(at > now, "a queue held its packets until {at:?}, which is over at {now:?}");
        // Else it would be asked for ever.
        let at = if at > now { at } else { now + Duration::NANOSECOND };
        if matches!(self.state, State::Held(due) if due.at == at) {
            return None;
        }
        let due = Moment { at, since: now };
        self.state = State::Held(due);
        Some(due)
    }

    /// Counts what the scheduler did to packets.
    fn settle<R: Recorder>(&mut self, port: &mut Port, now: Instant, lost: &mut Vec<(Packet, Loss)>, recorder: &mut R) {
        if self.outcomes.is_empty() {
            return;
        }
        let mut outcomes = std::mem::take(&mut self.outcomes);
        for (queued, outcome) in outcomes.drain(..) {
            match outcome {
                Outcome::Marked(reason) => {
                    port.counters.marks += 1;
                    if R::ON {
                        let packet = self.packets[queued.handle as usize];
                        recorder.marked(now, port.index, &entering(packet, queued.arrived), reason);
                    }
                }
                Outcome::Dropped(reason) => {
                    let packet = self.take(&queued);
                    port.counters.drop(now, reason);
                    recorder.dropped(now, port.index, &entering(packet, queued.arrived), reason);
                    lost.push((packet, Loss { at: now, notice: self.scheduler.notice(reason) }));
                }
            }
        }
        self.outcomes = outcomes;
    }

    /// Notes what waits.
    fn observe<R: Recorder>(&mut self, port: &mut Port, now: Instant, recorder: &mut R) {
        let backlog = self.scheduler.backlog();
        port.counters.queue_max = port.counters.queue_max.max(backlog.packets);
        if R::ON {
            if backlog != std::mem::replace(&mut self.recorded, backlog) {
                recorder.queue(now, port.index, backlog);
            }
            recorder.discipline(now, port.index, |out| self.scheduler.internals(out));
        }
    }

    /// Counts what waits at the end of the run.
    pub(super) fn finish(&mut self, port: &mut Port) {
        self.wait_until(port.end);
        port.counters.delivered += self.scheduler.backlog().packets;
        port.counters.waited += self.waited;
    }
}

/// A packet that arrived at `at`, for the counters.
const fn entering(packet: Packet, at: Instant) -> Entering {
    Entering { now: Moment::now(at), packet }
}
