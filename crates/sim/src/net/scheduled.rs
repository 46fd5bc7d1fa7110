//! A queue that decides on departure: it is asked for a packet whenever the transmitter is free.

use ackclock_core::qdisc::{Backlog, Dequeued, Outcome, Outcomes, Packet as Queued, Scheduler};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant, Moment};

use super::fate::{Crossing, Loss};
use super::packet::Packet;
use super::port::{Entering, LinkKind, Port, Sending};
use crate::trace::Recorder;

/// A scheduler with its waiting packets.
#[derive(Debug)]
pub(crate) struct Scheduled {
    scheduler: Box<dyn Scheduler>,
    random: Generator,
    /// The packets by handle, and the free handles.
    packets: Vec<Packet>,
    free: Vec<u32>,
    outcomes: Outcomes,
    state: State,
    /// The backlog recorded last.
    recorded: Backlog,
    /// Total waiting time of packets up to `since`.
    waited: Duration,
    since: Instant,
}

/// The state of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// No packet waits.
    Idle,
    /// The link is sending a packet, until this moment.
    Sending(Moment),
    /// The scheduler releases no packet before this moment.
    Held(Moment),
}

/// The result of asking a link's queue.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// The packet sent, and what becomes of it behind the link.
    pub(crate) sent: Option<(Packet, Crossing)>,
    /// Time of the next call of `serve`, if it is new.
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

    /// Time at which the link must be served, unless it is idle.
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

    fn remove(&mut self, queued: &Queued) -> Packet {
        self.free.push(queued.handle);
        let mut packet = self.packets[queued.handle as usize];
        packet.set_ecn(queued.ecn);
        packet
    }

    /// Enqueues a packet between the nodes `ends`, and serves the link unless it is sending. Adds dropped packets to `lost`.
    pub(crate) fn offer<R: Recorder>(
        &mut self,
        (port, kind): (&mut Port, &mut LinkKind),
        (entering, ends): (&Entering, (u32, u32)),
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> Served {
        self.enqueue(port, (entering, ends), lost, recorder);
        let now = entering.now;
        if let State::Sending(_) = self.state {
            self.observe(port, now.at, recorder);
            return Served::default();
        }
        self.serve((port, kind), now, lost, recorder)
    }

    /// Enqueues a packet between the nodes `ends`. Adds dropped packets to `lost`.
    fn enqueue<R: Recorder>(
        &mut self,
        port: &mut Port,
        (entering, ends): (&Entering, (u32, u32)),
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) {
        port.counters.arrivals += 1;
        let Entering { now, packet } = *entering;
        self.wait_until(now.at);
        let (flow, size, ecn) = (packet.flow() as u32, packet.size(), packet.ecn());
        let queued = Queued { handle: self.keep(packet), flow, ends, size, ecn, arrived: now.at };
        self.scheduler.enqueue(now, queued, &mut self.random, &mut self.outcomes);
        self.count_outcomes(port, now.at, lost, recorder);
    }

    /// As [`Self::offer`], without serving the link.
    pub(super) fn join<R: Recorder>(
        &mut self,
        port: &mut Port,
        arriving: (&Entering, (u32, u32)),
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) {
        let now = arriving.0.now.at;
        self.enqueue(port, arriving, lost, recorder);
        self.observe(port, now, recorder);
    }

    /// Asks the queue for a packet to send. The transmitter must be free.
    pub(crate) fn serve<R: Recorder>(
        &mut self,
        (port, kind): (&mut Port, &mut LinkKind),
        now: Moment,
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> Served {
        let entering = match self.take(port, now, lost, recorder) {
            Ok(entering) => entering,
            Err(next) => return Served { sent: None, next },
        };
        let packet = entering.packet;
        let crossing = port.transmit(kind, &Sending { entering: &entering, start: now.at, marked: false }, recorder);
        let free = Moment { at: port.transmitter.free_at, since: now.at };
        self.state = State::Sending(free);
        Served { sent: Some((packet, crossing)), next: Some(free) }
    }

    /// Takes the packet that leaves at `now`. `Err`: there is none; as [`Self::hold`].
    pub(super) fn take<R: Recorder>(
        &mut self,
        port: &mut Port,
        now: Moment,
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> Result<Entering, Option<Moment>> {
        self.wait_until(now.at);
        let answer = self.scheduler.dequeue(now, &mut self.random, &mut self.outcomes);
        let sending = answer.packet().map(|queued| entering(self.remove(&queued), queued.arrived));
        self.count_outcomes(port, now.at, lost, recorder);
        self.observe(port, now.at, recorder);
        sending.ok_or_else(|| self.hold(now.at, answer))
    }

    /// No packet can leave at `now`. Returns the time at which the link must be served next, if it is new.
    fn hold(&mut self, now: Instant, answer: Dequeued) -> Option<Moment> {
        let Dequeued::NotBefore(at) = answer else {
            self.state = State::Idle;
            return None;
        };
        debug_assert!(at > now, "a queue holds its packets until {at:?}, which is not after {now:?}");
        // Otherwise the queue would be asked forever.
        let at = if at > now { at } else { now + Duration::NANOSECOND };
        if matches!(self.state, State::Held(due) if due.at == at) {
            return None;
        }
        let due = Moment { at, since: now };
        self.state = State::Held(due);
        Some(due)
    }

    /// Counts the scheduler's drops and marks.
    fn count_outcomes<R: Recorder>(&mut self, port: &mut Port, now: Instant, lost: &mut Vec<(Packet, Loss)>, recorder: &mut R) {
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
                    let packet = self.remove(&queued);
                    port.counters.drop(now, reason);
                    recorder.dropped(now, port.index, &entering(packet, queued.arrived), reason);
                    lost.push((packet, Loss { at: now, notice: self.scheduler.notice(reason) }));
                }
            }
        }
        self.outcomes = outcomes;
    }

    /// Records the backlog.
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

    /// Number of packets that wait.
    pub(crate) fn backlog(&self) -> u64 {
        self.scheduler.backlog().packets
    }

    /// Counts the packets that wait at the end of the run.
    pub(super) fn finish(&mut self, port: &mut Port) {
        self.wait_until(port.end);
        port.counters.delivered += self.backlog();
        port.counters.waited += self.waited;
    }
}

/// A packet that arrived at `at`, for the counters.
const fn entering(packet: Packet, at: Instant) -> Entering {
    Entering { now: Moment::now(at), packet }
}
