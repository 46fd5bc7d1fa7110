//! A queue that decides on departure: it is asked for a packet whenever the transmitter is free.

use ackclock_core::qdisc::{Backlog, Outcome, Outcomes, Packet as Queued, Scheduler};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant};

use super::link::{Entering, Link, LinkKind, Loss, TIE};
use crate::tcp::packet::{HEADER, Packet};
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
    /// When the transmitter wants to be served next, while it sends a packet.
    next_service: Option<Instant>,
    /// Time that packets have spent waiting up to `since`.
    waited: u128,
    since: Instant,
}

impl Scheduled {
    /// An empty queue.
    pub(super) fn new(scheduler: Box<dyn Scheduler>, random: Generator) -> Self {
        Self {
            scheduler,
            random,
            packets: Vec::new(),
            free: Vec::new(),
            outcomes: Vec::new(),
            next_service: None,
            waited: 0,
            since: Instant::ZERO,
        }
    }

    /// What waits.
    pub(super) fn backlog(&self) -> Backlog {
        self.scheduler.backlog()
    }

    /// Time that packets have spent waiting up to `now`.
    pub(super) fn waited(&mut self, now: Instant) -> u128 {
        self.waited += u128::from(self.backlog().packets) * u128::from(now.since(self.since).as_nanos());
        self.since = now;
        self.waited
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
}

/// What a scheduled link does when it is served.
#[derive(Debug)]
pub(crate) enum Served {
    /// Nothing waits.
    Idle,
    /// It sends a packet.
    Busy {
        /// The packet, unless it is lost on the way, and its arrival at the far end, by ns-2's clock too.
        sent: Option<(Packet, Instant, f64)>,
        /// When it wants to be served next.
        next: Instant,
        /// When the transmission began.
        start: Instant,
    },
}

impl Link {
    /// Whether the queue schedules, so that the link has to be served.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.scheduled.is_some()
    }

    /// When the transmitter wants to be served next, while it sends a packet.
    pub(crate) fn next_service(&self) -> Option<Instant> {
        self.scheduled.as_ref().and_then(|scheduled| scheduled.next_service)
    }

    fn set_next_service(&mut self, at: Option<Instant>) {
        if let Some(scheduled) = &mut self.scheduled {
            scheduled.next_service = at;
        }
    }

    /// Whether the transmitter becomes free before `packet` arrives, and is to be served first.
    pub(crate) fn is_due_before(&self, packet: &Entering) -> bool {
        self.next_service().is_some() && !self.transmitter.is_busy_for(packet)
    }

    /// Takes a packet from and to the nodes `ends` into a queue that schedules; adds the packets that were lost for it to `lost`. Gives
    /// whether the link is to be served at once.
    pub(crate) fn offer<R: Recorder>(
        &mut self,
        (packet, ends): (Packet, (u32, u32)),
        entering: &Entering,
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> bool {
        if let Some(at) = self.lost_before(entering, recorder) {
            lost.push((packet, Loss::silent(at)));
            return false;
        }
        let Some(scheduled) = &mut self.scheduled else { return false };
        self.counters.arrivals += 1;
        scheduled.waited(entering.at);
        let Entering { at, flow, size, ecn, .. } = *entering;
        let queued = Queued { handle: scheduled.keep(packet), flow, ends, size, ecn, arrived: at };
        scheduled.scheduler.set_clock(entering.tiebreak);
        scheduled.scheduler.enqueue(queued, &mut scheduled.random, &mut scheduled.outcomes);
        let idle = scheduled.next_service.is_none();
        self.settle(at, lost, recorder);
        if !idle {
            self.observe(at, recorder);
        }
        idle
    }

    /// Asks the queue for a packet to send, at the time the transmitter is free, or on the arrival of `found_free`.
    pub(crate) fn serve<R: Recorder>(
        &mut self,
        kind: &mut LinkKind,
        found_free: Option<&Entering>,
        lost: &mut Vec<(Packet, Loss)>,
        recorder: &mut R,
    ) -> Served {
        let Some(scheduled) = &mut self.scheduled else { return Served::Idle };
        let now = found_free.map_or(self.transmitter.free_at, |packet| packet.at);
        scheduled.waited(now);
        scheduled.scheduler.set_clock(found_free.map_or(self.transmitter.free_tiebreak, |packet| packet.tiebreak));
        let queued = scheduled.scheduler.dequeue(now, &mut scheduled.random, &mut scheduled.outcomes);
        let packet = queued.map(|queued| (scheduled.take(&queued), queued.arrived));
        self.settle(now, lost, recorder);
        self.observe(now, recorder);
        let Some((packet, arrived)) = packet else {
            self.set_next_service(None);
            return Served::Idle;
        };
        let departure = self.transmitter.send(kind, packet.size(), found_free);
        self.transmitter.in_service_since = departure.start;
        let entering = entering(&packet, arrived);
        self.leave(&entering, arrived, &departure, recorder);
        // The link is served a little late, so that what arrives at almost the same time is seen first, and ns-2's clock can decide.
        let grace = kind.crossing(Bytes(u64::from(HEADER))).min(Duration::from_nanos(TIE));
        let next = self.transmitter.free_at + grace;
        self.set_next_service(Some(next));
        let mut sent = Some((packet, departure.arrival, departure.arrival_tiebreak));
        if let Some(at) = self.lost_after(&entering, departure.arrival, recorder) {
            lost.push((packet, Loss::silent(at)));
            sent = None;
        }
        Served::Busy { sent, next, start: departure.start }
    }

    /// Counts what the scheduler did to packets.
    fn settle<R: Recorder>(&mut self, now: Instant, lost: &mut Vec<(Packet, Loss)>, recorder: &mut R) {
        let Some(scheduled) = &mut self.scheduled else { return };
        let mut outcomes = std::mem::take(&mut scheduled.outcomes);
        for (queued, outcome) in outcomes.drain(..) {
            match outcome {
                Outcome::Marked(reason) => {
                    self.counters.marks += 1;
                    if R::ON {
                        let packet = scheduled.packets[queued.handle as usize];
                        recorder.marked(now, self.index, &entering(&packet, queued.arrived), reason);
                    }
                }
                Outcome::Dropped(reason) => {
                    let packet = scheduled.take(&queued);
                    self.counters.drop(now, reason);
                    recorder.dropped(now, self.index, &entering(&packet, queued.arrived), reason);
                    lost.push((packet, Loss { at: now, notice: scheduled.scheduler.notice(reason) }));
                }
            }
        }
        scheduled.outcomes = outcomes;
    }

    /// Notes what waits.
    fn observe<R: Recorder>(&mut self, now: Instant, recorder: &mut R) {
        let Some(scheduled) = &self.scheduled else { return };
        let backlog = scheduled.backlog();
        self.counters.queue_max = self.counters.queue_max.max(backlog.packets);
        if R::ON {
            if backlog != std::mem::replace(&mut self.backlog, backlog) {
                recorder.queue(now, self.index, backlog);
            }
            recorder.discipline(now, self.index, |out| scheduled.scheduler.internals(out));
        }
    }
}

/// A packet that arrived at `at`, for the counters.
fn entering(packet: &Packet, at: Instant) -> Entering {
    let (flow, size) = (packet.flow() as u32, packet.size());
    Entering { at, tiebreak: 0.0, scheduled: at, size, flow, seq: packet.seq, ecn: packet.ecn() }
}
