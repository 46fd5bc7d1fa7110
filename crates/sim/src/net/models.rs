//! The models of a link: its rate, its delay and its losses. A link of constants without losses has none.

use ackclock_core::path::delay::{self, DelayModel};
use ackclock_core::path::loss::{self, Arrival, Fate, LossModel};
use ackclock_core::path::rate::{self, RateModel};
use ackclock_core::rng::{Generator, Mrg32k3a};
use ackclock_core::units::{Bytes, Duration, Instant};

use super::packet::Packet;
use crate::scenario::{GeneratorSpec, LinkSpec, LossPosition};

/// A packet after the loss models of one position, which can copy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Copies {
    /// Number of equal packets that pass.
    pub(crate) passed: u32,
    /// Number of lost ones.
    pub(crate) lost: u32,
}

impl Copies {
    /// The packet passes, and is the only one.
    pub(super) const ONE: Self = Self { passed: 1, lost: 0 };

    /// Number of packets that were added.
    pub(super) const fn added(self) -> u64 {
        (self.passed + self.lost) as u64 - 1
    }
}

/// A rate model, and the share of its capacity that was used.
#[derive(Debug)]
struct Transmitting {
    model: Box<dyn RateModel>,
    random: Generator,
    /// Bits transmitted within the run.
    carried: f64,
}

impl Transmitting {
    /// Bits that the link can carry from `start` to `end`.
    fn between(&self, start: Instant, end: Instant) -> f64 {
        self.model.capacity(end) - self.model.capacity(start)
    }
}

/// A delay model.
#[derive(Debug)]
struct Delaying {
    model: Box<dyn DelayModel>,
    random: Generator,
}

/// The delay models, whose delays add up.
#[derive(Debug)]
struct Propagating {
    models: Vec<Delaying>,
    /// Arrival of the last packet, which the next must not overtake; the start of the run if it may.
    last: Instant,
    reorders: bool,
}

/// A loss model.
#[derive(Debug)]
struct Losing {
    model: Box<dyn LossModel>,
    position: LossPosition,
    random: Generator,
    /// Packets seen so far.
    seen: u64,
}

/// The models of a link.
#[derive(Debug)]
pub(super) struct Models {
    rate: Option<Transmitting>,
    delay: Option<Propagating>,
    losses: Vec<Losing>,
    /// The result of the last decision, for the engine to fetch.
    pub(super) copies: Copies,
    /// Number of packets to come on which the models in front of the queue have already decided.
    pub(super) admitted: u32,
}

/// The generator of a component.
pub(super) fn generator(spec: &GeneratorSpec, seed: u64, path: &str) -> Generator {
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

impl Models {
    /// The models of `spec` in a run with `seed`; `None` if it has none. `Err` is the registry's message about a part's parameters.
    pub(super) fn new(spec: &LinkSpec, seed: u64) -> Result<Option<Box<Self>>, String> {
        let path = |what: &str, index: usize| {
            let place = if index == 0 { String::new() } else { format!("/{index}") };
            format!("link/{}/{what}{place}", spec.name)
        };
        let rate = spec.rate.models().first().map(|part| {
            let model = rate::PARTS.build(part)?;
            Ok::<_, String>(Transmitting { model, random: Generator::derived(seed, &path("rate", 0)), carried: 0.0 })
        });
        let delays = spec.delay.models().iter().enumerate().map(|(index, part)| {
            let random = Generator::derived(seed, &path("delay", index));
            Ok::<_, String>(Delaying { model: delay::PARTS.build(part)?, random })
        });
        let losses = spec.losses.iter().enumerate().map(|(index, loss)| {
            let random = generator(&loss.generator, seed, &path("loss", index));
            Ok::<_, String>(Losing { model: loss::PARTS.build(&loss.model)?, position: loss.position, random, seen: 0 })
        });
        let (rate, delays, losses) = (rate.transpose()?, delays.collect::<Result<Vec<_>, _>>()?, losses.collect::<Result<Vec<_>, _>>()?);
        let reorders = delays.iter().any(|delay| delay.model.reorders());
        let delay = (!delays.is_empty()).then_some(Propagating { models: delays, last: Instant::ZERO, reorders });
        let none = rate.is_none() && delay.is_none() && losses.is_empty();
        Ok((!none).then(|| Box::new(Self { rate, delay, losses, copies: Copies::ONE, admitted: 0 })))
    }

    /// Whether a packet may overtake another.
    pub(super) fn reorders(&self) -> bool {
        self.delay.as_ref().is_some_and(|delay| delay.reorders)
    }

    /// End of the transmission of `size` from `start` on, and arrival at the far end. A constant takes `time`, `delay`, or both together,
    /// `crossing`: the sum that a link without models uses.
    pub(super) fn send(&mut self, size: Bytes, start: Instant, [time, delay, crossing]: [Duration; 3]) -> (Instant, Instant) {
        let end = self.finish(size, start, time);
        let otherwise = if self.rate.is_some() { end + delay } else { start + crossing };
        (end, self.propagate(size, end).unwrap_or(otherwise))
    }

    /// End of the transmission of `size` from `start` on; a constant takes `time`.
    pub(super) fn finish(&mut self, size: Bytes, start: Instant, time: Duration) -> Instant {
        match &mut self.rate {
            Some(rate) => rate.model.finish(start, size, &mut rate.random),
            None => start + time,
        }
    }

    /// Arrival at the far end of what leaves the transmitter at `end`; `None`: the delay is a constant.
    pub(super) fn propagate(&mut self, size: Bytes, end: Instant) -> Option<Instant> {
        let wire = self.delay.as_mut()?;
        let mut arrival = end;
        for Delaying { model, random } in &mut wire.models {
            arrival += model.delay(end, size, random);
        }
        if !wire.reorders {
            wire.last = wire.last.max(arrival);
            arrival = wire.last;
        }
        Some(arrival)
    }

    /// Counts the bits transmitted from `start` to `end`.
    pub(super) fn carry(&mut self, start: Instant, end: Instant) {
        if let Some(rate) = &mut self.rate {
            rate.carried += rate.between(start, end);
        }
    }

    /// Does not count the bits from `start` to `end`.
    pub(super) fn uncarry(&mut self, start: Instant, end: Instant) {
        if let Some(rate) = &mut self.rate {
            rate.carried -= rate.between(start, end).max(0.0);
        }
    }

    /// Share of the capacity until `end` that was used; `None` if the rate is constant.
    pub(super) fn used(&self, end: Instant) -> Option<f64> {
        let rate = self.rate.as_ref()?;
        let capacity = rate.model.capacity(end);
        Some(if capacity > 0.0 { rate.carried / capacity } else { 0.0 })
    }

    /// Asks the loss models at `position` about a packet that is there at `now`. Each model decides on the packets that the one before it
    /// has left.
    pub(super) fn judge(&mut self, position: LossPosition, packet: &Packet, now: Instant) -> Copies {
        let mut copies = Copies::ONE;
        for losing in self.losses.iter_mut().filter(|losing| losing.position == position) {
            for _ in 0..copies.passed {
                losing.seen += 1;
                let arrival = Arrival { now, size: packet.size(), flow: packet.flow() as u32, number: losing.seen };
                match losing.model.fate(&arrival, &mut losing.random) {
                    Fate::Pass => {}
                    Fate::Lose => copies = Copies { passed: copies.passed - 1, lost: copies.lost + 1 },
                    Fate::Duplicate => copies.passed += 1,
                }
            }
        }
        copies
    }
}
