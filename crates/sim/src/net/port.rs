//! The part of a link behind its queue: a transmitter, a propagation delay, counters, and an optional loss model.

use ackclock_core::entry;
use ackclock_core::loss::{self, LossModel};
use ackclock_core::qdisc::{Notice, Reason};
use ackclock_core::rng::{Generator, Mrg32k3a};
use ackclock_core::units::{Bytes, Duration, Instant, Moment, Rate};

use super::packet::Packet;
use super::turn::Turn;
use crate::scenario::{GeneratorSpec, LinkSpec, LossPosition};
use crate::trace::Recorder;

/// Number of sizes with cached transmission times, a power of two.
const REMEMBERED: usize = 8;

/// The counters of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCounters {
    /// Packets that arrived at the queue.
    pub(crate) arrivals: u64,
    /// Packets that have reached the far end, or will reach it.
    pub(crate) delivered: u64,
    /// Packets that the queue dropped, by [`Reason`].
    pub(crate) drops: [u64; Reason::COUNT],
    /// Packets that the queue marked.
    pub(crate) marks: u64,
    /// Packets that the loss model dropped.
    pub(crate) losses: u64,
    /// Time spent transmitting within the run.
    pub(crate) busy: Duration,
    /// Time that packets spent waiting within the run.
    pub(crate) waited: Duration,
    /// Packets sent within the run, their total waiting time, and the longest.
    pub(crate) departures: u64,
    pub(crate) sojourn: Duration,
    pub(crate) sojourn_max: Duration,
    /// Largest number of packets waiting at once.
    pub(crate) queue_max: u64,
    /// Time of the queue's first drop.
    pub(crate) first_drop: Option<Instant>,
}

impl LinkCounters {
    /// Counts a packet that the queue dropped.
    pub(super) fn drop(&mut self, at: Instant, reason: Reason) {
        self.drops[reason as usize] += 1;
        self.first_drop.get_or_insert(at);
    }
}

/// Transmission time of one size, and the packet's total time to the far end.
#[derive(Clone, Copy, Debug, Default)]
struct Transmission {
    size: Bytes,
    time: Duration,
    crossing: Duration,
}

/// Data shared by the links of one kind, so that many links need little memory.
#[derive(Debug)]
pub(crate) struct LinkKind {
    rate: Rate,
    delay: Duration,
    remembered: [Transmission; REMEMBERED],
}

impl LinkKind {
    /// The kind of a link of `spec`.
    pub(crate) fn new(spec: &LinkSpec) -> Self {
        Self { rate: spec.rate, delay: spec.delay, remembered: [Transmission::default(); REMEMBERED] }
    }

    fn transmission(&mut self, size: Bytes) -> Transmission {
        let slot = &mut self.remembered[(size.0 / 8) as usize % REMEMBERED];
        if slot.size != size {
            let time = self.rate.transmission(size);
            *slot = Transmission { size, time, crossing: time + self.delay };
        }
        *slot
    }
}

/// Sends packets one after another.
#[derive(Debug, Default)]
pub(super) struct Transmitter {
    /// Time at which it becomes free.
    pub(super) free_at: Instant,
    /// Start of the current or last transmission. At this time the start of the next was determined.
    pub(super) in_service_since: Instant,
    /// The arrival that began the current series of transmissions without a gap.
    pub(super) row: Moment,
}

impl Transmitter {
    /// Whether it is still sending at `now`.
    pub(super) fn is_busy(&self, now: Moment) -> bool {
        self.precedes(now, self.free_at)
    }

    /// Whether `now` comes before the next transmission, which starts at `start`.
    pub(super) fn precedes(&self, now: Moment, start: Instant) -> bool {
        now < Moment { at: start, since: self.in_service_since }
    }

    /// Sends `size` bytes from `start` on.
    pub(super) fn send(&mut self, kind: &mut LinkKind, size: Bytes, start: Instant) -> Departure {
        let Transmission { time, crossing, .. } = kind.transmission(size);
        self.free_at = start + time;
        Departure { start, arrival: start + crossing }
    }
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    /// Start.
    pub(super) start: Instant,
    /// Arrival at the far end.
    pub(super) arrival: Instant,
}

impl Departure {
    /// The arrival, which was determined at the start of the transmission.
    pub(super) const fn arrives(&self) -> Moment {
        Moment { at: self.arrival, since: self.start }
    }
}

#[derive(Debug)]
struct Losses {
    model: Box<dyn LossModel>,
    position: LossPosition,
    random: Generator,
}

/// The part of a link behind its queue.
#[derive(Debug)]
pub(crate) struct Port {
    pub(super) index: u32,
    /// Its kind, and the lane of packets that have crossed it: see [`Lanes`](super::lanes::Lanes).
    pub(crate) kind: u32,
    pub(crate) lane: u32,
    pub(super) transmitter: Transmitter,
    losses: Option<Box<Losses>>,
    pub(super) end: Instant,
    pub(crate) counters: LinkCounters,
}

/// A packet at the entrance of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    /// Time of arrival. It was determined when the packet's transmission on the previous link started.
    pub(crate) now: Moment,
    pub(crate) packet: Packet,
}

/// The loss of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) at: Instant,
    /// The notice for the sender, if the queue sends one.
    pub(crate) notice: Option<Notice>,
}

impl Loss {
    /// A loss without a notice.
    pub(super) const fn silent(at: Instant) -> Self {
        Self { at, notice: None }
    }
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

impl Port {
    /// The port of `spec`, in a run with `seed` that ends at `end`. `Err` is the registry's message about a part's parameters.
    pub(super) fn new(index: u32, spec: &LinkSpec, seed: u64, end: Instant) -> Result<Self, String> {
        let losses = match &spec.loss {
            None => None,
            Some(spec_loss) => {
                let name = spec_loss.model.name;
                let entry = entry::find(loss::ENTRIES, name).ok_or_else(|| format!("there is no loss model {name}"))?;
                let random = generator(&spec_loss.generator, seed, &format!("link/{}/loss", spec.name));
                Some(Box::new(Losses { model: (entry.build)(&spec_loss.model.params)?, position: spec_loss.position, random }))
            }
        };
        Ok(Self { index, kind: 0, lane: 0, transmitter: Transmitter::default(), losses, end, counters: LinkCounters::default() })
    }

    /// Ends the run at `end`, before its planned end. Transmissions from then on do not count.
    pub(super) fn cut(&mut self, end: Instant) {
        self.counters.busy = self.counters.busy - self.transmitter.free_at.min(self.end).since(end);
        self.end = end;
    }

    /// Whether a packet that arrives at `now` is sent at once and never lost.
    pub(super) fn is_clear(&self, now: Moment) -> bool {
        self.losses.is_none() && now.at < self.end && !self.transmitter.is_busy(now)
    }

    /// The turn of the last transmission, which starts at `start`.
    pub(crate) fn turn(&self, start: Instant) -> Turn {
        Turn::new(self.transmitter.row, start, self.transmitter.free_at)
    }

    /// Time at which the packet is lost before the queue, if it is: by the end of the run or by the loss model.
    pub(super) fn lost_before<R: Recorder>(&mut self, entering: &Entering, recorder: &mut R) -> Option<Instant> {
        let at = entering.now.at;
        if at >= self.end {
            // Events after the end have no effect.
            return Some(at);
        }
        self.drops(LossPosition::BeforeQueue).then(|| self.record_loss(entering, at, recorder))
    }

    /// Time at which the loss model drops a packet that would arrive at the far end at `arrival`, if it does.
    pub(super) fn lost_after<R: Recorder>(&mut self, entering: &Entering, arrival: Instant, recorder: &mut R) -> Option<Instant> {
        if self.drops(LossPosition::AfterLink) {
            return Some(self.record_loss(entering, arrival, recorder));
        }
        self.counters.delivered += 1;
        None
    }

    fn drops(&mut self, position: LossPosition) -> bool {
        let losses = self.losses.as_mut().filter(|losses| losses.position == position);
        losses.is_some_and(|losses| losses.model.drops(&mut losses.random))
    }

    fn record_loss<R: Recorder>(&mut self, entering: &Entering, at: Instant, recorder: &mut R) -> Instant {
        if at < self.end {
            self.counters.losses += 1;
            recorder.dropped(at, self.index, entering, Reason::Random);
        }
        at
    }

    /// Counts the transmission of a packet.
    pub(super) fn leave<R: Recorder>(&mut self, entering: &Entering, departure: Departure, recorder: &mut R) {
        let start = departure.start;
        self.counters.busy += self.transmitter.free_at.min(self.end).since(start);
        if start < self.end {
            let sojourn = start.since(entering.now.at);
            self.counters.departures += 1;
            // Most packets find the link idle.
            if sojourn > Duration::ZERO {
                self.counters.sojourn += sojourn;
                self.counters.sojourn_max = self.counters.sojourn_max.max(sojourn);
            }
            if R::ON {
                recorder.departed(start, self.index, entering, departure.arrival);
            }
        }
    }
}
