//! Scheduled rate: a sequence of rates, each for its time.
//! ## What it does
//! The link transmits at each of `rates` for the time in `durations`, then begins again, or keeps the last rate. A transmission that spans a
//! change is exact: its bits leave at the rates that apply while they leave. A rate of 0 is an outage that holds packets: the transmission
//! pauses and continues afterwards.
//! ## References
//! Netravali et al., *Mahimahi: accurate record-and-replay for HTTP*, 2015 (links whose rate follows a schedule).
//! ## Differs from the document
//! Mahimahi lists the instants at which a packet may leave; this schedule lists rates.
//! ## Parameters
//! `rates`: the rates in order; 10 Mbit/s and 2 Mbit/s, an arbitrary choice.
//! `durations`: the time of each rate; a single one is that of every rate; 1 s, an arbitrary choice.
//! `repeat`: whether the schedule begins again after the last rate; otherwise that rate stays. True. The mean rate, which stands for the
//! rate in the bandwidth-delay product and in the results, is in both cases that of the listed times.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::rate::RateModel;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

/// This part in the registry.
pub static ENTRY: Entry<dyn RateModel> = Entry {
    name: "schedule",
    summary: "a sequence of rates, each for its time",
    reference: "after Netravali et al. 2015 (Mahimahi)",
    params: &[
        Param {
            name: "rates",
            kind: Kind::List(&Kind::Rate { min: 0.0, max: 1e15 }),
            default: Default::Numbers(&[1e7, 2e6]),
            doc: "the rates in order; 0 bit/s is an outage that holds packets",
        },
        Param {
            name: "durations",
            kind: Kind::List(&Kind::Duration { min: 1e-6, max: 1e6 }),
            default: Default::Numbers(&[1.0]),
            doc: "the time of each rate; a single one is that of every rate",
        },
        Param {
            name: "repeat",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether the schedule begins again after the last rate; otherwise that rate stays",
        },
    ],
    quantities: &[],
    build: |params| {
        let (rates, durations) = (params.numbers("rates"), params.numbers("durations"));
        let durations = match durations {
            [every] => vec![*every; rates.len()],
            each => each.to_vec(),
        };
        if rates.len() != durations.len() {
            return Err(format!("durations needs one time, or one for each of the {} rates, but has {}", rates.len(), durations.len()));
        }
        Schedule::new(rates, &durations, params.flag("repeat")).map_or_else(
            || Err("rates must have a mean of at least 1 bit/s".to_owned()),
            |schedule| Ok(Box::new(schedule) as Box<dyn RateModel>),
        )
    },
};

/// A rate and its place in the schedule.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Bits per second.
    rate: f64,
    /// Seconds from the start of the schedule to its begin, and to its end.
    begin: f64,
    end: f64,
    /// Bits that the schedule carries before it.
    before: f64,
}

/// A place in the repeated schedule.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    cycle: u64,
    piece: usize,
}

/// A piecewise constant rate.
#[derive(Debug)]
pub struct Schedule {
    pieces: Vec<Piece>,
    /// Length of a cycle in seconds and its bits; infinite if the schedule does not repeat.
    period: f64,
    bits: f64,
    /// Mean rate of a cycle.
    mean: Rate,
    /// Place of the last start.
    place: Place,
}

impl Schedule {
    /// `None` if the mean rate is below 1 bit/s.
    fn new(rates: &[f64], durations: &[f64], repeat: bool) -> Option<Self> {
        let (mut pieces, mut begin, mut before) = (Vec::new(), 0.0, 0.0);
        for (&rate, &duration) in rates.iter().zip(durations) {
            let end = begin + duration;
            pieces.push(Piece { rate, begin, end, before });
            (begin, before) = (end, before + rate * duration);
        }
        let mean = Rate::from_bits_per_sec((before / begin).round() as u64)?;
        if let Some(last) = pieces.last_mut()
            && !repeat
        {
            (last.end, begin, before) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        }
        Some(Self { pieces, period: begin, bits: before, mean, place: Place::default() })
    }

    /// Start of a cycle.
    fn cycle(&self, cycle: u64) -> f64 {
        // The period of a schedule that does not repeat is infinite.
        if cycle == 0 { 0.0 } else { cycle as f64 * self.period }
    }

    /// End of the piece at `place`.
    fn end(&self, place: Place) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(self.cycle(place.cycle) + self.pieces[place.piece].end)
    }

    fn after(&self, place: Place) -> Place {
        if place.piece + 1 < self.pieces.len() {
            Place { piece: place.piece + 1, ..place }
        } else {
            Place { cycle: place.cycle + 1, piece: 0 }
        }
    }

    /// The place in force at `at`, which is not before `place`.
    fn seek(&self, mut place: Place, at: Instant) -> Place {
        let cycles = at.as_secs_f64() / self.period;
        if cycles >= (place.cycle + 2) as f64 {
            // The quotient can round to the next cycle.
            place = Place { cycle: cycles as u64 - 1, piece: 0 };
        }
        while self.end(place) <= at {
            place = self.after(place);
        }
        place
    }
}

impl RateModel for Schedule {
    fn finish(&mut self, start: Instant, size: Bytes, _random: &mut Generator) -> Instant {
        if start == Instant::MAX {
            return start;
        }
        self.place = self.seek(self.place, start);
        let (mut place, mut at, mut bits) = (self.place, start, 8.0 * size.0 as f64);
        // From any place, a whole cycle carries the same bits.
        let cycles = libm::ceil(bits / self.bits) - 1.0;
        if cycles > 0.0 {
            bits -= cycles * self.bits;
            at += Duration::from_secs_f64(cycles * self.period);
            place = self.seek(place, at);
        }
        loop {
            let (Piece { rate, .. }, end) = (self.pieces[place.piece], self.end(place));
            if rate > 0.0 {
                let done = at + Duration::from_secs_f64(bits / rate);
                if done <= end {
                    return done;
                }
                bits -= rate * end.since(at).as_secs_f64();
            } else if end == Instant::MAX {
                return end;
            }
            (at, place) = (end, self.after(place));
        }
    }

    fn capacity(&self, until: Instant) -> f64 {
        let until = until.as_secs_f64();
        let cycles = (until / self.period).floor();
        let (begin, bits) = if cycles > 0.0 { (cycles * self.period, cycles * self.bits) } else { (0.0, 0.0) };
        let within = until - begin;
        let piece = self.pieces.partition_point(|piece| piece.end <= within).min(self.pieces.len() - 1);
        let Piece { rate, begin, before, .. } = self.pieces[piece];
        bits + before + rate * (within - begin).max(0.0)
    }

    fn mean(&self) -> Rate {
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};
    use proptest::prelude::*;

    fn schedule(rates: &[f64], durations: &[f64], repeat: bool) -> Result<Box<dyn RateModel>, String> {
        let numbers = |numbers: &[f64]| Value::Numbers(numbers.to_vec());
        build(&ENTRY, &[("rates", numbers(rates)), ("durations", numbers(durations)), ("repeat", Value::Bool(repeat))])
    }

    fn secs(secs: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(secs)
    }

    fn finish(model: &mut dyn RateModel, start: f64, bytes: u64) -> f64 {
        model.finish(secs(start), Bytes(bytes), &mut Generator::derived(1, "test")).as_secs_f64()
    }

    #[test]
    fn bits_leave_at_the_rates_that_apply_while_they_leave() {
        let mut model = schedule(&[8000.0, 2000.0], &[1.0, 4.0], true).unwrap();
        assert_eq!(finish(&mut *model, 0.0, 500), 0.5);
        // 4000 of 8000 bits before the change, the others at a quarter of the rate.
        assert_eq!(finish(&mut *model, 0.5, 1000), 3.0);
        // 4000 bits until the end of the cycle, and 4000 in the next.
        assert_eq!(finish(&mut *model, 3.0, 1000), 5.5);
        // Three whole cycles of 16,000 bits, and 8000 bits.
        assert_eq!(finish(&mut *model, 5.5, 7000), 23.0);
    }

    #[test]
    fn an_outage_holds_the_transmission() {
        let mut model = schedule(&[8000.0, 0.0, 4000.0], &[1.0, 10.0, 1.0], false).unwrap();
        assert_eq!(finish(&mut *model, 0.75, 500), 11.5);
        assert_eq!(finish(&mut *model, 12.0, 500), 13.0);
        let mut model = schedule(&[8000.0, 0.0], &[1.0, 1.0], false).unwrap();
        assert_eq!((finish(&mut *model, 0.0, 1000), finish(&mut *model, 1.0, 1)), (1.0, f64::INFINITY));
        assert_eq!(finish(&mut *model, f64::INFINITY, 1), f64::INFINITY);
    }

    #[test]
    fn the_mean_is_that_of_the_listed_times() {
        for repeat in [false, true] {
            assert_eq!(schedule(&[8e6, 2e6], &[1.0, 2.0], repeat).unwrap().mean().as_bits_per_sec(), 4_000_000);
            assert_eq!(schedule(&[8e6, 0.0], &[0.3], repeat).unwrap().mean().as_bits_per_sec(), 4_000_000);
        }
    }

    #[test]
    fn the_capacity_is_the_integral_of_the_rate() {
        let bits = |repeat| [0.5, 1.0, 2.0, 3.0, 7.5].map(|at| schedule(&[8.0, 2.0], &[1.0, 2.0], repeat).unwrap().capacity(secs(at)));
        assert_eq!(bits(true), [4.0, 8.0, 10.0, 12.0, 24.0 + 8.0 + 1.0]);
        assert_eq!(bits(false), [4.0, 8.0, 10.0, 12.0, 8.0 + 13.0]);
    }

    #[test]
    fn a_senseless_schedule_is_refused() {
        let refused = |rates: &[f64], durations: &[f64]| schedule(rates, durations, true).unwrap_err();
        assert_eq!(refused(&[1.0, 2.0], &[1.0, 1.0, 1.0]), "durations needs one time, or one for each of the 2 rates, but has 3");
        assert_eq!(refused(&[0.0], &[1.0]), "rates must have a mean of at least 1 bit/s");
        assert_eq!(refused(&[], &[1.0]), "rates must have a mean of at least 1 bit/s");
    }

    proptest! {
        #[test]
        fn a_transmission_takes_exactly_its_bits(
            rates in prop::collection::vec(prop_oneof![1 => Just(0.0), 4 => 1e3..1e8_f64], 1..6),
            durations in prop::collection::vec(1e-3..5.0_f64, 6),
            repeat in any::<bool>(),
            packets in prop::collection::vec((0.0..10.0_f64, 1..65_535_u64), 1..20),
        ) {
            prop_assume!(rates.iter().any(|rate| *rate > 0.0));
            let mut model = schedule(&rates, &durations[..rates.len()], repeat).unwrap();
            let mut free = 0.0;
            for (gap, bytes) in packets {
                let start = free + gap;
                free = finish(&mut *model, start, bytes);
                prop_assert!(free >= start);
                if free.is_infinite() {
                    break;
                }
                let [before, after] = [start, free].map(|at| model.capacity(secs(at)));
                let bits = 8.0 * bytes as f64;
                // The capacity until now has the rounding errors of the time until now.
                assert_close(after - before, bits, 1e-9 * bits + 1e-12 * after + 1e8 * 1e-14 * free);
            }
        }
    }
}
