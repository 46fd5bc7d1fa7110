//! One direction of a link: a queue, a transmitter, a propagation delay, and perhaps losses.
//!
//! Where the queue is first in, first out, the departure of a packet is known when it arrives, and the link needs no event for it. A queue
//! that schedules ([`Scheduled`]) has to be asked whenever the transmitter is free. The end of a transmission is kept exactly, as
//! nanoseconds and a remainder, so that a busy link does not drift.
//!
//! Often a packet arrives in the very moment in which another leaves the queue, and whether a full queue drops it depends on which comes
//! first. ns-2 keeps its time in a double of seconds, so there the rounding of sums decides. To decide alike, packets and links carry
//! ns-2's time as well, as a `tiebreak`; it decides between times that are no further apart than [`TIE`], and nothing else.

use std::cmp::Ordering;
use std::collections::VecDeque;

use ackclock_core::loss::{self, LossModel};
use ackclock_core::qdisc::{self, Admission, Arrival, Backlog, Discipline, Ecn, Notice, Outlet, Reason, Verdict};
use ackclock_core::registry;
use ackclock_core::rng::{Generator, Mrg32k3a};
use ackclock_core::units::{Bytes, Duration, Instant, Rate};

use super::scheduled::Scheduled;
use crate::scenario::{GeneratorSpec, LinkSpec, LossPosition};
use crate::trace::Recorder;

/// Times that are this close may be equal but for the fractions of a nanosecond that every link on the way cuts off.
pub(super) const TIE: u64 = 64;
/// Sizes whose transmission time is remembered, a power of two.
const REMEMBERED: usize = 8;

/// What a link counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCounters {
    /// Packets that arrived at the queue.
    pub(crate) arrivals: u64,
    /// Packets that reached the far end, or will.
    pub(crate) delivered: u64,
    /// Packets that the queue dropped, by [`Reason`].
    pub(crate) drops: [u64; Reason::ALL.len()],
    /// Packets that the queue marked.
    pub(crate) marks: u64,
    /// Packets that the loss model took.
    pub(crate) losses: u64,
    /// Time spent transmitting, in nanoseconds, within the run.
    pub(crate) busy: u64,
    /// Time that packets spent waiting, in nanoseconds, within the run.
    pub(crate) waited: u128,
    /// Packets sent within the run, the time they had waited in nanoseconds, and the longest such time.
    pub(crate) departures: u64,
    pub(crate) sojourn: u128,
    pub(crate) sojourn_max: Duration,
    /// Most packets that waited at once.
    pub(crate) queue_max: u64,
    /// When the queue first dropped a packet.
    pub(crate) first_drop: Option<Instant>,
}

impl LinkCounters {
    /// Counts a packet that the queue dropped.
    pub(super) fn drop(&mut self, at: Instant, reason: Reason) {
        self.drops[reason as usize] += 1;
        self.first_drop.get_or_insert(at);
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// When its transmission starts.
    start: Instant,
    tiebreak: f64,
    size: Bytes,
}

/// Transmission time of one size.
#[derive(Clone, Copy, Debug, Default)]
struct Transmission {
    size: Bytes,
    nanos: u64,
    remainder: u64,
    seconds: f64,
}

/// What links of one kind have in common, kept once, so that many links stay small.
#[derive(Debug)]
pub(crate) struct LinkKind {
    rate: Rate,
    delay: Duration,
    delay_seconds: f64,
    remembered: [Transmission; REMEMBERED],
}

impl LinkKind {
    /// The kind of a link of `spec`.
    pub(crate) fn new(spec: &LinkSpec) -> Self {
        let (rate, delay) = (spec.rate, spec.delay);
        Self { rate, delay, delay_seconds: delay.as_secs_f64(), remembered: [Transmission::default(); REMEMBERED] }
    }

    fn transmission(&mut self, size: Bytes) -> Transmission {
        let slot = &mut self.remembered[(size.0 / 8) as usize % REMEMBERED];
        if slot.size != size {
            let (nanos, remainder) = self.rate.transmission(size);
            let seconds = 8.0 * size.0 as f64 / self.rate.as_bits_per_sec() as f64;
            *slot = Transmission { size, nanos, remainder, seconds };
        }
        *slot
    }

    /// When a packet of `size` that arrives at the far end at `arrival` began its transmission, to the nanosecond.
    pub(crate) fn began(&mut self, arrival: Instant, size: Bytes) -> Instant {
        Instant::from_nanos(arrival.as_nanos().saturating_sub(self.crossing(size).as_nanos()))
    }

    /// The time a packet of `size` takes from the start of its transmission to the far end.
    pub(super) fn crossing(&mut self, size: Bytes) -> Duration {
        Duration::from_nanos(self.transmission(size).nanos) + self.delay
    }
}

/// Compares two times, each with its time by ns-2's clock.
fn compare(a: (Instant, f64), b: (Instant, f64)) -> Ordering {
    if a.0.as_nanos().abs_diff(b.0.as_nanos()) <= TIE { a.1.total_cmp(&b.1) } else { a.0.cmp(&b.0) }
}

/// Sends one packet after the other.
#[derive(Debug, Default)]
pub(super) struct Transmitter {
    /// When it is free, and the remainder in units of 1/rate nanoseconds.
    pub(super) free_at: Instant,
    carry: u64,
    pub(super) free_tiebreak: f64,
    /// When the transmission under way, or the last one, began.
    pub(super) in_service_since: Instant,
}

impl Transmitter {
    /// Whether `packet` arrives before a transmission starts.
    ///
    /// Where even ns-2's clock shows the same time, what was determined first comes first, as the order of insertion does there: the start
    /// of a transmission is determined when the one before it starts.
    fn precedes(&self, packet: &Entering, start: (Instant, f64)) -> bool {
        let order = compare((packet.at, packet.tiebreak), start);
        order.is_lt() || order.is_eq() && packet.scheduled < self.in_service_since
    }

    /// Whether `packet` arrives before the transmitter is free.
    pub(super) fn is_busy_for(&self, packet: &Entering) -> bool {
        self.precedes(packet, (self.free_at, self.free_tiebreak))
    }

    /// Sends `size` bytes as soon as it is free, or, for a packet that finds it free, on arrival. Gives the start, and the arrival at
    /// the far end.
    pub(super) fn send(&mut self, kind: &mut LinkKind, size: Bytes, found_free: Option<&Entering>) -> Departure {
        let Transmission { nanos, remainder, seconds, .. } = kind.transmission(size);
        let (start, tiebreak) = match found_free {
            Some(packet) => {
                if packet.at > self.free_at {
                    self.carry = 0;
                }
                (packet.at.max(self.free_at), packet.tiebreak)
            }
            None => (self.free_at, self.free_tiebreak),
        };
        self.carry += remainder;
        let rate = kind.rate.as_bits_per_sec();
        let whole = u64::from(self.carry >= rate);
        self.carry -= whole * rate;
        self.free_at = start + Duration::from_nanos(nanos + whole);
        self.free_tiebreak = tiebreak + seconds;
        Departure { start, tiebreak, arrival: self.free_at + kind.delay, arrival_tiebreak: tiebreak + (seconds + kind.delay_seconds) }
    }
}

/// One transmission, each time also by ns-2's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) start: Instant,
    pub(super) tiebreak: f64,
    /// When the packet reaches the far end.
    pub(super) arrival: Instant,
    pub(super) arrival_tiebreak: f64,
}

/// A first-in, first-out discipline and the time at which it next wants to look at its queue.
#[derive(Debug)]
struct Queue {
    discipline: Box<dyn Admission>,
    random: Generator,
    next_update: Instant,
}

impl Queue {
    fn update_until(&mut self, now: Instant, backlog: Backlog) {
        while self.next_update <= now {
            self.next_update = self.discipline.update(self.next_update, backlog);
        }
    }
}

#[derive(Debug)]
struct Losses {
    model: Box<dyn LossModel>,
    position: LossPosition,
    random: Generator,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) index: u32,
    pub(super) transmitter: Transmitter,
    waiting: VecDeque<Waiting>,
    /// What waits; of a queue that schedules, what was last recorded.
    pub(super) backlog: Backlog,
    queue: Option<Box<Queue>>,
    /// A queue that schedules, instead of `waiting` and `queue`.
    pub(super) scheduled: Option<Box<Scheduled>>,
    losses: Option<Box<Losses>>,
    pub(super) end: Instant,
    pub(crate) counters: LinkCounters,
}

/// A packet at the entrance of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    /// When it arrives.
    pub(crate) at: Instant,
    /// When it arrives by ns-2's clock.
    pub(crate) tiebreak: f64,
    /// When its arrival was determined: the start of its transmission on the link before. Decides where even ns-2's clock shows the
    /// same time, as the order of insertion does there.
    pub(crate) scheduled: Instant,
    pub(crate) size: Bytes,
    pub(crate) flow: u32,
    pub(crate) seq: u32,
    pub(crate) ecn: Ecn,
}

/// The end of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) at: Instant,
    /// What the queue that dropped it wants its sender to be told.
    pub(crate) notice: Option<Notice>,
}

impl Loss {
    /// A loss that nobody tells of.
    pub(super) const fn silent(at: Instant) -> Self {
        Self { at, notice: None }
    }
}

/// What a link does with a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Crossing {
    /// It reaches the other end.
    Through {
        /// When it arrives there.
        arrival: Instant,
        /// When it arrives there by ns-2's clock.
        tiebreak: f64,
        /// When its transmission began.
        start: Instant,
        /// Whether the queue marked it.
        marked: bool,
    },
    /// It is lost.
    Lost(Loss),
}

/// The generator of a component.
pub(crate) fn generator(spec: &GeneratorSpec, seed: u64, path: &str) -> Generator {
    match *spec {
        GeneratorSpec::Derived => Generator::derived(seed, path),
        GeneratorSpec::Mrg32k3a { seed, stream, skip } => {
            let mut generator = Mrg32k3a::new(seed, stream);
            for _ in 0..skip {
                generator.uniform();
            }
            Generator::Mrg(generator)
        }
    }
}

impl Link {
    /// The link of `spec`, in a run with `seed` that ends at `end`; `Err` is what the registry says of a part's parameters.
    pub(crate) fn new(index: u32, spec: &LinkSpec, seed: u64, end: Instant) -> Result<Self, String> {
        let outlet = Outlet { rate: spec.rate, delay: spec.delay };
        let (mut queue, mut scheduled) = (None, None);
        if let Some(spec_queue) = &spec.queue {
            let name = spec_queue.discipline.name;
            let entry = registry::find(qdisc::ENTRIES, name).ok_or_else(|| format!("there is no queue {name}"))?;
            let random = generator(&spec_queue.generator, seed, &format!("link/{}/queue", spec.name));
            match *(entry.build)(&spec_queue.discipline.params)? {
                Discipline::Fifo(mut discipline) => {
                    discipline.attach(&outlet);
                    let next_update = discipline.first_update().unwrap_or(Instant::MAX);
                    queue = Some(Box::new(Queue { discipline, random, next_update }));
                }
                Discipline::Scheduled(mut scheduler) => {
                    scheduler.attach(&outlet);
                    scheduled = Some(Box::new(Scheduled::new(scheduler, random)));
                }
            }
        }
        let losses = match &spec.loss {
            None => None,
            Some(spec_loss) => {
                let name = spec_loss.model.name;
                let entry = registry::find(loss::ENTRIES, name).ok_or_else(|| format!("there is no loss model {name}"))?;
                let random = generator(&spec_loss.generator, seed, &format!("link/{}/loss", spec.name));
                Some(Box::new(Losses { model: (entry.build)(&spec_loss.model.params)?, position: spec_loss.position, random }))
            }
        };
        Ok(Self {
            index,
            transmitter: Transmitter::default(),
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            queue,
            scheduled,
            losses,
            end,
            counters: LinkCounters::default(),
        })
    }

    /// Takes a packet across a link whose queue is first in, first out. Packets must enter in the order of their times.
    pub(crate) fn cross<R: Recorder>(&mut self, kind: &mut LinkKind, packet: &Entering, recorder: &mut R) -> Crossing {
        if let Some(at) = self.lost_before(packet, recorder) {
            return Crossing::Lost(Loss::silent(at));
        }
        self.start_waiting_until(packet, recorder);
        self.counters.arrivals += 1;
        let busy = self.transmitter.is_busy_for(packet);
        let mut marked = false;
        match self.admit(packet, busy, recorder) {
            Verdict::Accept => {}
            Verdict::Mark(reason) => {
                marked = true;
                self.counters.marks += 1;
                if R::ON {
                    recorder.marked(packet.at, self.index, packet, reason);
                }
            }
            Verdict::Drop(reason) => {
                self.counters.drop(packet.at, reason);
                recorder.dropped(packet.at, self.index, packet, reason);
                let notice = self.queue.as_ref().and_then(|queue| queue.discipline.notice(reason));
                return Crossing::Lost(Loss { at: packet.at, notice });
            }
        }
        let departure = self.transmitter.send(kind, packet.size, (!busy).then_some(packet));
        if busy {
            self.wait(packet, &departure, recorder);
        } else {
            self.transmitter.in_service_since = departure.start;
        }
        self.leave(packet, packet.at, &departure, recorder);
        if let Some(at) = self.lost_after(packet, departure.arrival, recorder) {
            return Crossing::Lost(Loss::silent(at));
        }
        Crossing::Through { arrival: departure.arrival, tiebreak: departure.arrival_tiebreak, start: departure.start, marked }
    }

    /// What takes a packet in front of the queue: the end of the run, or the loss model. When it does.
    pub(super) fn lost_before<R: Recorder>(&mut self, packet: &Entering, recorder: &mut R) -> Option<Instant> {
        if packet.at >= self.end {
            // Nobody will ever see what happens after the end.
            return Some(packet.at);
        }
        self.loses(LossPosition::BeforeQueue).then(|| self.lose(packet, packet.at, recorder))
    }

    /// Whether and when the loss model takes a packet that would arrive at the far end at `arrival`.
    pub(super) fn lost_after<R: Recorder>(&mut self, packet: &Entering, arrival: Instant, recorder: &mut R) -> Option<Instant> {
        if self.loses(LossPosition::AfterLink) {
            return Some(self.lose(packet, arrival, recorder));
        }
        self.counters.delivered += 1;
        None
    }

    fn loses(&mut self, position: LossPosition) -> bool {
        let losses = self.losses.as_mut().filter(|losses| losses.position == position);
        losses.is_some_and(|losses| losses.model.loses(&mut losses.random))
    }

    fn lose<R: Recorder>(&mut self, packet: &Entering, at: Instant, recorder: &mut R) -> Instant {
        if at < self.end {
            self.counters.losses += 1;
            recorder.dropped(at, self.index, packet, Reason::Random);
        }
        at
    }

    /// Asks the discipline, which a queue without limit does not have.
    fn admit<R: Recorder>(&mut self, packet: &Entering, busy: bool, recorder: &mut R) -> Verdict {
        let Some(queue) = &mut self.queue else { return Verdict::Accept };
        queue.update_until(packet.at, self.backlog);
        let idle_since = (!busy).then_some(self.transmitter.free_tiebreak);
        let arrival = Arrival { now: packet.at, clock: packet.tiebreak, size: packet.size, flow: packet.flow, ecn: packet.ecn, idle_since };
        let verdict = queue.discipline.admit(&arrival, self.backlog, &mut queue.random);
        if R::ON {
            recorder.discipline(packet.at, self.index, |out| queue.discipline.internals(out));
        }
        verdict
    }

    /// Lets the packets whose transmission has begun leave the queue before `packet` arrives.
    fn start_waiting_until<R: Recorder>(&mut self, packet: &Entering, recorder: &mut R) {
        while let Some(first) = self.waiting.front()
            && !self.transmitter.precedes(packet, (first.start, first.tiebreak))
        {
            self.start_waiting(recorder);
        }
    }

    /// The transmission of the first waiting packet starts.
    fn start_waiting<R: Recorder>(&mut self, recorder: &mut R) {
        let Some(Waiting { start, size, .. }) = self.waiting.pop_front() else { return };
        if let Some(queue) = &mut self.queue {
            queue.update_until(start, self.backlog);
        }
        self.transmitter.in_service_since = start;
        self.backlog = self.backlog.without(size);
        if R::ON {
            recorder.queue(start, self.index, self.backlog);
        }
    }

    /// Appends a packet whose departure is known to the queue.
    fn wait<R: Recorder>(&mut self, packet: &Entering, departure: &Departure, recorder: &mut R) {
        self.waiting.push_back(Waiting { start: departure.start, tiebreak: departure.tiebreak, size: packet.size });
        self.backlog = self.backlog.with(packet.size);
        self.counters.waited += u128::from(departure.start.min(self.end).since(packet.at).as_nanos());
        self.counters.queue_max = self.counters.queue_max.max(self.backlog.packets);
        if R::ON {
            recorder.queue(packet.at, self.index, self.backlog);
        }
    }

    /// Counts the transmission of a packet that arrived at `since`.
    pub(super) fn leave<R: Recorder>(&mut self, packet: &Entering, since: Instant, departure: &Departure, recorder: &mut R) {
        let start = departure.start;
        self.counters.busy += self.transmitter.free_at.min(self.end).since(start).as_nanos();
        if start < self.end {
            let sojourn = start.since(since);
            self.counters.departures += 1;
            self.counters.sojourn += u128::from(sojourn.as_nanos());
            self.counters.sojourn_max = self.counters.sojourn_max.max(sojourn);
            if R::ON {
                recorder.sojourn(start, self.index, packet.flow, sojourn);
            }
        }
    }

    /// Lets the queue run on to the end of the run, for the recorder and the counters.
    pub(crate) fn finish<R: Recorder>(&mut self, recorder: &mut R) {
        while R::ON && self.waiting.front().is_some_and(|first| first.start < self.end) {
            self.start_waiting(recorder);
        }
        if let Some(scheduled) = &mut self.scheduled {
            self.counters.delivered += scheduled.backlog().packets;
            self.counters.waited += scheduled.waited(self.end);
        }
    }
}
