//! One direction of a link: a queue, a transmitter, a propagation delay, and perhaps losses.
//!
//! The queue is first in, first out, so the departure of a packet is known when it arrives, and a link needs no event for it. The end of
//! a transmission is kept exactly, as nanoseconds and a remainder, so that a busy link does not drift.
//!
//! Often a packet arrives in the very moment in which another leaves the queue, and whether a full queue drops it depends on which comes
//! first. ns-2 keeps its time in a double of seconds, so there the rounding of sums decides. To decide alike, packets and links carry
//! ns-2's time as well, as a `tiebreak`; it decides between times that are no further apart than [`TIE`], and nothing else.

use std::cmp::Ordering;
use std::collections::VecDeque;

use ackclock_core::loss::{self, LossModel};
use ackclock_core::qdisc::{self, Admission, Arrival, Backlog, DropReason, Verdict};
use ackclock_core::registry;
use ackclock_core::rng::{Generator, Mrg32k3a};
use ackclock_core::units::{Bytes, Duration, Instant, Rate};

use crate::scenario::{GeneratorSpec, LinkSpec, LossPosition};
use crate::trace::Recorder;

/// Times that are this close may be equal but for the fractions of a nanosecond that every link on the way cuts off.
const TIE: u64 = 64;
/// Sizes whose transmission time is remembered, a power of two.
const REMEMBERED: usize = 8;

/// What a link counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCounters {
    /// Packets that arrived at the queue.
    pub(crate) arrivals: u64,
    /// Packets that reached the far end, or will.
    pub(crate) delivered: u64,
    /// Packets that the queue dropped.
    pub(crate) drops: u64,
    /// Packets that the loss model took.
    pub(crate) losses: u64,
    /// Time spent transmitting, in nanoseconds, within the run.
    pub(crate) busy: u64,
    /// Time that packets spent waiting, in nanoseconds, within the run.
    pub(crate) waited: u128,
    /// Most packets that waited at once.
    pub(crate) queue_max: u64,
    /// When the queue first dropped a packet.
    pub(crate) first_drop: Option<Instant>,
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
        let taken = self.transmission(size).nanos + self.delay.as_nanos();
        Instant::from_nanos(arrival.as_nanos().saturating_sub(taken))
    }
}

/// Compares two times, each with its time by ns-2's clock.
fn compare(a: (Instant, f64), b: (Instant, f64)) -> Ordering {
    if a.0.as_nanos().abs_diff(b.0.as_nanos()) <= TIE { a.1.total_cmp(&b.1) } else { a.0.cmp(&b.0) }
}

#[derive(Debug)]
struct Queue {
    discipline: Box<dyn Admission>,
    random: Generator,
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
    index: u32,
    /// When the transmitter is free, and the remainder in units of 1/rate nanoseconds.
    free_at: Instant,
    carry: u64,
    free_tiebreak: f64,
    /// When the transmission under way, or the last one, began.
    in_service_since: Instant,
    waiting: VecDeque<Waiting>,
    backlog: Backlog,
    queue: Option<Box<Queue>>,
    losses: Option<Box<Losses>>,
    end: Instant,
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
    },
    /// It is lost.
    Lost {
        /// When.
        at: Instant,
    },
}

impl Link {
    /// The link of `spec`, in a run with `seed` that ends at `end`; `Err` is what the registry says of a part's parameters.
    pub(crate) fn new(index: u32, spec: &LinkSpec, seed: u64, end: Instant) -> Result<Self, String> {
        let queue = match &spec.queue {
            None => None,
            Some(part) => {
                let entry = registry::find(qdisc::ENTRIES, part.name).ok_or_else(|| format!("there is no queue {}", part.name))?;
                let random = Generator::derived(seed, &format!("link/{}/queue", spec.name));
                Some(Box::new(Queue { discipline: (entry.build)(&part.params)?, random }))
            }
        };
        let losses = match &spec.loss {
            None => None,
            Some(spec_loss) => {
                let name = spec_loss.model.name;
                let entry = registry::find(loss::ENTRIES, name).ok_or_else(|| format!("there is no loss model {name}"))?;
                let random = match spec_loss.generator {
                    GeneratorSpec::Derived => Generator::derived(seed, &format!("link/{}/loss", spec.name)),
                    GeneratorSpec::Mrg32k3a { seed, stream } => Generator::Mrg(Mrg32k3a::new(seed, stream)),
                };
                Some(Box::new(Losses { model: (entry.build)(&spec_loss.model.params)?, position: spec_loss.position, random }))
            }
        };
        Ok(Self {
            index,
            free_at: Instant::ZERO,
            carry: 0,
            free_tiebreak: 0.0,
            in_service_since: Instant::ZERO,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            queue,
            losses,
            end,
            counters: LinkCounters::default(),
        })
    }

    /// Takes a packet. Packets must enter in the order of their times.
    pub(crate) fn cross<R: Recorder>(&mut self, kind: &mut LinkKind, packet: &Entering, recorder: &mut R) -> Crossing {
        if packet.at >= self.end {
            // Nobody will ever see what happens after the end.
            return Crossing::Lost { at: packet.at };
        }
        if self.loses(LossPosition::BeforeQueue) {
            return self.lose(packet, packet.at, DropReason::Random, recorder);
        }
        self.start_waiting_until(packet, recorder);
        self.counters.arrivals += 1;
        if let Some(queue) = &mut self.queue {
            let arrival = Arrival { now: packet.at, size: packet.size, flow: packet.flow };
            if let Verdict::Drop(reason) = queue.discipline.admit(&arrival, self.backlog, &mut queue.random) {
                self.counters.drops += 1;
                self.counters.first_drop.get_or_insert(packet.at);
                return self.lose(packet, packet.at, reason, recorder);
            }
        }
        let (start, tiebreak) = self.transmit(kind, packet, recorder);
        let arrival = self.free_at + kind.delay;
        if self.loses(LossPosition::AfterLink) {
            return self.lose(packet, arrival, DropReason::Random, recorder);
        }
        self.counters.delivered += 1;
        Crossing::Through { arrival, tiebreak, start }
    }

    fn loses(&mut self, position: LossPosition) -> bool {
        let losses = self.losses.as_mut().filter(|losses| losses.position == position);
        losses.is_some_and(|losses| losses.model.loses(&mut losses.random))
    }

    fn lose<R: Recorder>(&mut self, packet: &Entering, at: Instant, reason: DropReason, recorder: &mut R) -> Crossing {
        if at < self.end {
            self.counters.losses += u64::from(reason == DropReason::Random);
            recorder.dropped(at, self.index, packet, reason);
        }
        Crossing::Lost { at }
    }

    /// Lets the packets whose transmission has begun leave the queue before `packet` arrives.
    fn start_waiting_until<R: Recorder>(&mut self, packet: &Entering, recorder: &mut R) {
        while let Some(first) = self.waiting.front()
            && !self.arrives_before(packet, (first.start, first.tiebreak))
        {
            self.start_waiting(recorder);
        }
    }

    /// Whether `packet` arrives before a transmission starts.
    ///
    /// Where even ns-2's clock shows the same time, what was determined first comes first, as the order of insertion does there: the start
    /// of a transmission is determined when the one before it starts.
    fn arrives_before(&self, packet: &Entering, start: (Instant, f64)) -> bool {
        let order = compare((packet.at, packet.tiebreak), start);
        order.is_lt() || order.is_eq() && packet.scheduled < self.in_service_since
    }

    /// The transmission of the first waiting packet starts.
    fn start_waiting<R: Recorder>(&mut self, recorder: &mut R) {
        let Some(Waiting { start, size, .. }) = self.waiting.pop_front() else { return };
        self.in_service_since = start;
        self.backlog.packets -= 1;
        self.backlog.bytes -= size.0;
        if R::ON {
            recorder.queue(start, self.index, self.backlog);
        }
    }

    /// Appends the packet; gives the start of its transmission, and its arrival by ns-2's clock.
    fn transmit<R: Recorder>(&mut self, kind: &mut LinkKind, packet: &Entering, recorder: &mut R) -> (Instant, f64) {
        let Transmission { nanos, remainder, seconds, .. } = kind.transmission(packet.size);
        let waits = self.arrives_before(packet, (self.free_at, self.free_tiebreak));
        let tiebreak = if waits { self.free_tiebreak } else { packet.tiebreak };
        if packet.at > self.free_at && !waits {
            self.carry = 0;
        }
        let start = if waits { self.free_at } else { packet.at.max(self.free_at) };
        self.carry += remainder;
        let rate = kind.rate.as_bits_per_sec();
        let whole = u64::from(self.carry >= rate);
        self.carry -= whole * rate;
        self.free_at = start + Duration::from_nanos(nanos + whole);
        self.free_tiebreak = tiebreak + seconds;
        self.counters.busy += self.free_at.min(self.end).since(start).as_nanos();
        if waits {
            self.waiting.push_back(Waiting { start, tiebreak, size: packet.size });
            self.backlog.packets += 1;
            self.backlog.bytes += packet.size.0;
            self.counters.waited += u128::from(start.min(self.end).since(packet.at).as_nanos());
            self.counters.queue_max = self.counters.queue_max.max(self.backlog.packets);
            if R::ON {
                recorder.queue(packet.at, self.index, self.backlog);
            }
        } else {
            self.in_service_since = start;
        }
        (start, tiebreak + (seconds + kind.delay_seconds))
    }

    /// Lets the queue run on to the end of the run, for the recorder.
    pub(crate) fn finish<R: Recorder>(&mut self, recorder: &mut R) {
        while R::ON && self.waiting.front().is_some_and(|first| first.start < self.end) {
            self.start_waiting(recorder);
        }
    }
}
