//! The part of a link behind its queue: a transmitter, a wire with its delay, counters, and the models of a link that is not constant.

use ackclock_core::qdisc::Reason;
use ackclock_core::units::{Bytes, Duration, Instant, Moment, Rate};

pub(crate) use super::entering::Entering;
use super::fate::{Crossing, Loss};
use super::models::{Copies, Models};
use super::packet::Packet;
use super::turn::Turn;
use crate::scenario::{LinkSpec, LossPosition};
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
    /// Packets that loss models dropped, and packets that they added.
    pub(crate) losses: u64,
    pub(crate) duplicated: u64,
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
    /// Packets that the queue dropped less than [`TIE`] before another one left it.
    pub(crate) tied_drops: u64,
}

/// Which of two events less than this apart comes first depends on what no measurement tells about a path.
const TIE: Duration = Duration::from_nanos(1000);

impl LinkCounters {
    /// Counts a packet that the queue dropped.
    pub(super) fn drop(&mut self, at: Instant, reason: Reason) {
        self.drops[reason as usize] += 1;
        self.first_drop.get_or_insert(at);
    }

    /// Counts a packet that a full queue dropped before the transmission at `next` made room.
    pub(super) fn overflow(&mut self, at: Instant, next: Instant) {
        self.tied_drops += u64::from(next.since(at) < TIE);
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
        Self { rate: spec.rate.mean(), delay: spec.delay.mean(), remembered: [Transmission::default(); REMEMBERED] }
    }

    fn transmission(&mut self, size: Bytes) -> Transmission {
        let place = (size.0 / 8) as usize % REMEMBERED;
        if self.remembered[place].size != size {
            self.remember(place, size);
        }
        self.remembered[place]
    }

    /// Computes the times of `size`. Inlined, the division would run for every packet: the compiler moves it out of the loop over links.
    #[cold]
    #[inline(never)]
    fn remember(&mut self, place: usize, size: Bytes) {
        let time = self.rate.transmission(size);
        self.remembered[place] = Transmission { size, time, crossing: time + self.delay };
    }
}

/// Less than this apart, two times are one, computed in two ways.
const ROUNDING: Duration = Duration::from_nanos(1);

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

    /// Whether `now` comes before the next transmission, which starts at `start`. What a stack sends now comes after all that happens now, also
    /// if the rounding of sums puts that a little later.
    pub(super) fn precedes(&self, now: Moment, start: Instant) -> bool {
        if now.at < start { now.since != now.at || now.at + ROUNDING < start } else { now.at == start && now.since < self.in_service_since }
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

/// A packet whose transmission starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending<'a> {
    pub(super) entering: &'a Entering,
    pub(super) start: Instant,
    /// Whether the queue marked it.
    pub(super) marked: bool,
}

/// The part of a link behind its queue.
#[derive(Debug)]
pub(crate) struct Port {
    pub(super) index: u32,
    /// Its kind, and the lane of packets that have crossed it: see [`Lanes`](super::lanes::Lanes).
    pub(crate) kind: u32,
    pub(crate) lane: u32,
    pub(super) transmitter: Transmitter,
    /// `None`: rate and delay are constant, and no packet is lost.
    models: Option<Box<Models>>,
    pub(super) end: Instant,
    pub(crate) counters: LinkCounters,
}

impl Port {
    /// The port of `spec`, in a run with `seed` that ends at `end`. `Err` is the registry's message about a part's parameters.
    pub(super) fn new(index: u32, spec: &LinkSpec, seed: u64, end: Instant) -> Result<Self, String> {
        let models = Models::new(spec, seed)?;
        Ok(Self { index, kind: 0, lane: 0, transmitter: Transmitter::default(), models, end, counters: LinkCounters::default() })
    }

    /// Ends the run at `end`, before its planned end. Transmissions from then on do not count.
    pub(super) fn cut(&mut self, end: Instant) {
        let planned = self.transmitter.free_at.min(self.end);
        self.counters.busy = self.counters.busy - planned.since(end);
        if let Some(models) = &mut self.models {
            models.uncarry(end, planned);
        }
        self.end = end;
    }

    /// Whether a packet may overtake another on the wire.
    pub(crate) fn reorders(&self) -> bool {
        self.models.as_ref().is_some_and(|models| models.reorders())
    }

    /// Share of the link's capacity until the end of the run that was used: of time, if the rate is constant, else of bits.
    pub(crate) fn utilisation(&self, seconds: f64) -> f64 {
        let used = self.models.as_ref().and_then(|models| models.used(self.end));
        // The sum of many times can exceed the whole by rounding errors.
        used.unwrap_or_else(|| self.counters.busy.as_secs_f64() / seconds).clamp(0.0, 1.0)
    }

    /// Whether a packet that arrives at `now` is sent at once and never lost.
    pub(super) fn is_clear(&self, now: Moment) -> bool {
        self.models.is_none() && now.at < self.end && !self.transmitter.is_busy(now)
    }

    /// Sends a packet across the clear link at once. Returns its arrival.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `Immediate::pass`")]
    pub(super) fn pass<R: Recorder>(&mut self, kind: &mut LinkKind, now: Moment, packet: Packet, recorder: &mut R) -> Moment {
        let departure = self.transmitter.send(kind, packet.size(), now.at);
        self.transmitter.in_service_since = now.at;
        self.transmitter.row = now;
        self.counters.arrivals += 1;
        self.counters.delivered += 1;
        self.counters.departures += 1;
        self.counters.busy += self.transmitter.free_at.min(self.end).since(now.at);
        if R::ON {
            recorder.departed(now.at, self.index, &Entering { now, packet }, departure.arrival);
        }
        departure.arrives()
    }

    /// The turn of the last transmission, which starts at `start`.
    pub(crate) fn turn(&self, start: Instant) -> Turn {
        Turn::new(self.transmitter.row, start, self.transmitter.free_at)
    }

    /// Sends a packet from `start` on. Returns its fate behind the link.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a link of constants pays no call")]
    pub(super) fn transmit<R: Recorder>(&mut self, kind: &mut LinkKind, sending: &Sending<'_>, recorder: &mut R) -> Crossing {
        if self.models.is_none() {
            self.transmit_by_constants(kind, sending, recorder)
        } else {
            self.transmit_by_models(kind, sending, recorder)
        }
    }

    fn transmit_by_constants<R: Recorder>(&mut self, kind: &mut LinkKind, sending: &Sending<'_>, recorder: &mut R) -> Crossing {
        let departure = self.transmitter.send(kind, sending.entering.packet.size(), sending.start);
        self.leave(sending.entering, departure, recorder);
        self.counters.delivered += 1;
        Crossing::Through { arrival: departure.arrives(), marked: sending.marked }
    }

    #[cold]
    fn transmit_by_models<R: Recorder>(&mut self, kind: &mut LinkKind, sending: &Sending<'_>, recorder: &mut R) -> Crossing {
        let Some(models) = &mut self.models else { return self.transmit_by_constants(kind, sending, recorder) };
        let Sending { entering: Entering { packet, .. }, start, marked } = *sending;
        let Transmission { time, crossing, .. } = kind.transmission(packet.size());
        let (end, arrival) = models.send(packet.size(), start, [time, kind.delay, crossing]);
        if start < self.end {
            models.carry(start, end.min(self.end));
        }
        self.transmitter.free_at = end;
        self.counters.busy += end.min(self.end).since(start);
        self.reach(sending.entering, (end, Departure { start, arrival }), marked, recorder)
    }

    /// Asks the loss models about a packet that has left the transmitter at `end`. Returns its fate behind the link.
    fn reach<R: Recorder>(
        &mut self,
        entering: &Entering,
        (end, departure): (Instant, Departure),
        marked: bool,
        recorder: &mut R,
    ) -> Crossing {
        let copies = self.models.as_mut().map_or(Copies::ONE, |models| models.judge(LossPosition::AfterLink, &entering.packet, end));
        self.counters.delivered += u64::from(copies.passed);
        self.depart(entering, departure, recorder);
        let arrival = departure.arrives();
        if copies == Copies::ONE && !self.reorders() {
            return Crossing::Through { arrival, marked };
        }
        self.multiply(entering, copies, arrival.at, recorder).unwrap_or(Crossing::Leaving { arrival, marked })
    }

    /// End of a frame of `size` that a medium carries from `start` on.
    pub(super) fn finish(&mut self, kind: &mut LinkKind, size: Bytes, start: Instant) -> Instant {
        let time = kind.transmission(size).time;
        self.models.as_mut().map_or(start + time, |models| models.finish(size, start, time))
    }

    /// Counts a transmission on a medium.
    pub(super) fn occupy(&mut self, start: Instant, end: Instant) {
        self.transmitter = Transmitter { free_at: end, in_service_since: start, row: Moment::now(start) };
        let within = end.min(self.end);
        self.counters.busy += within.since(start);
        if let Some(models) = &mut self.models {
            models.carry(start, within);
        }
    }

    /// A packet that a medium has carried to the receiver: it was sent at `start`, and the transmission ends at `end`. Returns its fate.
    pub(crate) fn receive<R: Recorder>(
        &mut self,
        kind: &LinkKind,
        entering: &Entering,
        (start, end): (Instant, Instant),
        recorder: &mut R,
    ) -> Crossing {
        let propagated = self.models.as_mut().and_then(|models| models.propagate(entering.packet.size(), end));
        let arrival = propagated.unwrap_or(end + kind.delay);
        self.reach(entering, (end, Departure { start, arrival }), false, recorder)
    }

    /// Decides on a packet in front of the queue. `None`: it enters the queue.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a link of constants pays no call")]
    pub(crate) fn before<R: Recorder>(&mut self, entering: &Entering, recorder: &mut R) -> Option<Crossing> {
        let at = entering.now.at;
        if at >= self.end {
            // Events after the end have no effect.
            return Some(Crossing::Lost(Loss::silent(at)));
        }
        if self.models.is_none() { None } else { self.before_by_models(entering, recorder) }
    }

    #[cold]
    fn before_by_models<R: Recorder>(&mut self, entering: &Entering, recorder: &mut R) -> Option<Crossing> {
        let at = entering.now.at;
        let models = self.models.as_mut()?;
        if models.admitted > 0 {
            models.admitted -= 1;
            return None;
        }
        match models.judge(LossPosition::BeforeQueue, &entering.packet, at) {
            Copies::ONE => None,
            copies => Some(self.multiply(entering, copies, at, recorder).unwrap_or(Crossing::Entering)),
        }
    }

    /// Counts what became of a packet at `at`. Returns the loss of a packet without copies; else the engine fetches the copies.
    fn multiply<R: Recorder>(&mut self, entering: &Entering, copies: Copies, at: Instant, recorder: &mut R) -> Option<Crossing> {
        for _ in 0..copies.lost {
            self.record_loss(entering, at, recorder);
        }
        self.counters.duplicated += copies.added();
        if let Some(models) = &mut self.models {
            models.copies = copies;
        }
        (copies == Copies { passed: 0, lost: 1 }).then(|| Crossing::Lost(Loss::silent(at)))
    }

    /// The copies of the last packet.
    pub(crate) fn copies(&self) -> Copies {
        self.models.as_ref().map_or(Copies::ONE, |models| models.copies)
    }

    /// Whether the next packet enters the queue without another decision.
    pub(crate) fn is_admitting(&self) -> bool {
        self.models.as_ref().is_some_and(|models| models.admitted > 0)
    }

    /// The next packets, this many, enter the queue without another decision.
    pub(crate) fn admit(&mut self, packets: u32) {
        if let Some(models) = &mut self.models {
            models.admitted = packets;
        }
    }

    fn record_loss<R: Recorder>(&mut self, entering: &Entering, at: Instant, recorder: &mut R) {
        if at < self.end {
            self.counters.losses += 1;
            recorder.dropped(at, self.index, entering, Reason::Random);
        }
    }

    /// Counts the transmission of a packet, and its time.
    fn leave<R: Recorder>(&mut self, entering: &Entering, departure: Departure, recorder: &mut R) {
        self.counters.busy += self.transmitter.free_at.min(self.end).since(departure.start);
        self.depart(entering, departure, recorder);
    }

    /// Counts the transmission of a packet.
    fn depart<R: Recorder>(&mut self, entering: &Entering, departure: Departure, recorder: &mut R) {
        let start = departure.start;
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
