//! Scheduled rate: steps from one rate to the next, or ramps between them.
//! ## What it does
//! The link transmits at the rate of the last step, or, with `between` "ramps", at a rate that changes evenly from one step to the next. The
//! last rate stays, unless the schedule begins again after each `period`. With `applied` "within", a transmission that spans a change is exact:
//! its bits leave at the rates that apply while they leave. With "between", a packet leaves at the rate with which it began, as of a device
//! that sets its rate packet by packet. A rate of 0 is an outage that holds packets: the transmission pauses and continues afterwards.
//!
//! A scenario can read the steps from a `file` instead: CSV with the columns `time` and `rate`; a value has a unit, or its column (`time (s)`).
//! ## References
//! Netravali et al., *Mahimahi: accurate record-and-replay for HTTP*, 2015 (links whose rate follows a schedule).
//! ## Differs from the document
//! Mahimahi lists the instants at which a packet may leave; this schedule lists rates.
//! ## Parameters
//! `steps`: times and rates; 10 Mbit/s, and 2 Mbit/s from 1 s on, an arbitrary choice.
//! `between`: steps: the rate stays until the next step.
//! `applied`: within: rates change at their times.
//! `period`: time after which the schedule begins again. auto: never. The mean rate, which stands for the rate in the bandwidth-delay product
//! and in the results, is that of a period; without a period, the last rate counts for as long as all rates before it together.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::rate::RateModel;
use crate::path::timeline::{PERIOD, Timeline};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

/// This part in the registry.
pub static ENTRY: Entry<dyn RateModel> = Entry {
    name: "schedule",
    summary: "a sequence of rates, each for its time",
    reference: "after Netravali et al. 2015 (Mahimahi)",
    params: &[
        Param {
            name: "steps",
            kind: Kind::Series(&Kind::Rate { min: 0.0, max: 1e15 }),
            default: Default::Series(&[(0.0, 1e7), (1.0, 2e6)]),
            doc: "times and rates, as [time, rate]; 0 bit/s is an outage that holds packets",
        },
        PERIOD,
        Param {
            name: "between",
            kind: Kind::Word(&["steps", "ramps"]),
            default: Default::Word("steps"),
            doc: "steps: a rate stays until the next; ramps: the rate changes evenly from one to the next",
        },
        Param {
            name: "applied",
            kind: Kind::Word(&["within", "between"]),
            default: Default::Word("within"),
            doc: "within: a change applies to the bits that follow it; between: to the packets that begin after it",
        },
    ],
    quantities: &[],
    build: |params| {
        let rates = Timeline::new(params)?;
        match Schedule::new(rates.steps(), rates.period(), params.word("between") == "ramps") {
            Some(schedule) => Ok(Box::new(Schedule { whole: params.word("applied") == "between", ..schedule })),
            None => Err("steps must have a mean rate of at least 1 bit/s".to_owned()),
        }
    },
};

/// A rate and its place in the schedule.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Bits per second at its begin, and by how much they grow in a second.
    rate: f64,
    slope: f64,
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

impl Piece {
    /// The rate `time` seconds after its begin.
    fn rate_at(&self, time: f64) -> f64 {
        self.rate + self.slope * time
    }

    /// Bits in its first `time` seconds.
    fn bits(&self, time: f64) -> f64 {
        self.rate * time + self.slope * time * time / 2.0
    }

    /// Seconds in which `bits` leave if the rate is `rate` now; NaN if they never do.
    fn seconds(&self, rate: f64, bits: f64) -> f64 {
        // In a ramp, the root of bits = rate t + slope t² / 2 that does not subtract.
        if self.slope == 0.0 { bits / rate } else { 2.0 * bits / (rate + libm::sqrt(rate * rate + 2.0 * self.slope * bits)) }
    }
}

/// A rate of steps or ramps.
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
    /// Whether a packet leaves at the rate with which it began.
    whole: bool,
}

impl Schedule {
    /// `None` if the mean rate is below 1 bit/s.
    fn new(steps: &[(f64, f64)], period: Option<f64>, ramps: bool) -> Option<Self> {
        let (last, last_rate) = *steps.last()?;
        let ends = steps.iter().skip(1).copied().chain([(period.unwrap_or(f64::INFINITY), last_rate)]);
        let (mut pieces, mut bits) = (Vec::new(), 0.0);
        for (&(begin, rate), (end, next)) in steps.iter().zip(ends) {
            let slope = if ramps { (next - rate) / (end - begin) } else { 0.0 };
            let piece = Piece { rate, slope, begin, end, before: bits };
            bits += piece.bits(end - begin);
            pieces.push(piece);
        }
        // The time over which the mean is taken, and the bits until then.
        let (time, until) = match (period, pieces.last()?) {
            (Some(period), _) => (period, bits),
            (None, only) if last == 0.0 => (1.0, only.rate),
            (None, piece) => (2.0 * last, piece.before + piece.rate * last),
        };
        let mean = Rate::from_bits_per_sec((until / time).round() as u64)?;
        let (period, bits) = period.map_or((f64::INFINITY, f64::INFINITY), |period| (period, bits));
        Some(Self { pieces, period, bits, mean, place: Place::default(), whole: false })
    }

    /// Start of a cycle.
    fn cycle(&self, cycle: u64) -> f64 {
        // The period of a schedule that does not repeat is infinite.
        if cycle == 0 { 0.0 } else { cycle as f64 * self.period }
    }

    /// The rate at `at`, which is in the piece at `place`.
    fn rate(&self, place: Place, at: Instant) -> f64 {
        let piece = &self.pieces[place.piece];
        if piece.slope == 0.0 { piece.rate } else { piece.rate_at(at.as_secs_f64() - self.cycle(place.cycle) - piece.begin).max(0.0) }
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
        let rate = self.rate(place, start);
        if self.whole && rate > 0.0 {
            return start + Duration::from_secs_f64(bits / rate);
        }
        // From any place, a whole cycle carries the same bits.
        let cycles = libm::ceil(bits / self.bits) - 1.0;
        if cycles > 0.0 {
            bits -= cycles * self.bits;
            at += Duration::from_secs_f64(cycles * self.period);
            place = self.seek(place, at);
        }
        loop {
            let (piece, rate, end) = (&self.pieces[place.piece], self.rate(place, at), self.end(place));
            if rate > 0.0 || piece.slope > 0.0 {
                let seconds = piece.seconds(rate, bits);
                // NaN: the rate falls to 0 before.
                if seconds.is_finite() && at + Duration::from_secs_f64(seconds) <= end {
                    return at + Duration::from_secs_f64(seconds);
                }
                let time = end.since(at).as_secs_f64();
                bits -= rate * time + piece.slope * time * time / 2.0;
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
        let piece = &self.pieces[piece];
        bits + piece.before + piece.bits((within - piece.begin).max(0.0))
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

    fn schedule(steps: &[(f64, f64)], period: Option<f64>) -> Result<Box<dyn RateModel>, String> {
        build(&ENTRY, &[("steps", Value::Series(steps.to_vec())), ("period", period.map_or(Value::Auto, Value::Number))])
    }

    fn shaped(words: &[(&'static str, &str)], steps: &[(f64, f64)], period: Option<f64>) -> Box<dyn RateModel> {
        let words = words.iter().map(|(name, word)| (*name, Value::Word((*word).to_owned())));
        let set = [("steps", Value::Series(steps.to_vec())), ("period", period.map_or(Value::Auto, Value::Number))];
        build(&ENTRY, &set.into_iter().chain(words).collect::<Vec<_>>()).unwrap()
    }

    fn secs(secs: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(secs)
    }

    fn finish(model: &mut dyn RateModel, start: f64, bytes: u64) -> f64 {
        model.finish(secs(start), Bytes(bytes), &mut Generator::derived(1, "test")).as_secs_f64()
    }

    #[test]
    fn bits_leave_at_the_rates_that_apply_while_they_leave() {
        let mut model = schedule(&[(0.0, 8000.0), (1.0, 2000.0)], Some(5.0)).unwrap();
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
        let mut model = schedule(&[(0.0, 8000.0), (1.0, 0.0), (11.0, 4000.0)], None).unwrap();
        assert_eq!(finish(&mut *model, 0.75, 500), 11.5);
        assert_eq!(finish(&mut *model, 12.0, 500), 13.0);
        let mut model = schedule(&[(0.0, 8000.0), (1.0, 0.0)], None).unwrap();
        assert_eq!((finish(&mut *model, 0.0, 1000), finish(&mut *model, 1.0, 1)), (1.0, f64::INFINITY));
        assert_eq!(finish(&mut *model, f64::INFINITY, 1), f64::INFINITY);
    }

    #[test]
    fn the_mean_is_that_of_a_period() {
        let mean = |steps: &[(f64, f64)], period| schedule(steps, period).unwrap().mean().as_bits_per_sec();
        assert_eq!(mean(&[(0.0, 8e6), (1.0, 2e6)], Some(3.0)), 4_000_000);
        assert_eq!(mean(&[(0.0, 8e6), (1.0, 2e6)], None), 5_000_000);
        assert_eq!([mean(&[(0.0, 8e6)], None), mean(&[(0.0, 8e6)], Some(0.3))], [8_000_000; 2]);
    }

    #[test]
    fn the_capacity_is_the_integral_of_the_rate() {
        let steps = [(0.0, 8.0), (1.0, 2.0)];
        let bits = |period| [0.5, 1.0, 2.0, 3.0, 7.5].map(|at| schedule(&steps, period).unwrap().capacity(secs(at)));
        assert_eq!(bits(Some(3.0)), [4.0, 8.0, 10.0, 12.0, 24.0 + 8.0 + 1.0]);
        assert_eq!(bits(None), [4.0, 8.0, 10.0, 12.0, 8.0 + 13.0]);
    }

    #[test]
    fn a_ramp_is_a_straight_line() {
        let ramps = [("between", "ramps")];
        // From 0 to 8000 bit/s in 2 s, down to 0 in another, and 0 until the period ends.
        let steps = [(0.0, 0.0), (2.0, 8000.0), (3.0, 0.0)];
        let mut model = shaped(&ramps, &steps, Some(4.0));
        assert_eq!([1.0, 2.0, 2.5, 3.0, 4.0, 5.0].map(|at| model.capacity(secs(at))), [2e3, 8e3, 11e3, 12e3, 12e3, 14e3]);
        assert_eq!(model.mean().as_bits_per_sec(), 3000);
        assert_close(finish(&mut *model, 0.0, 250), 1.0, 1e-12);
        // The last 1000 bits of the period, and 2000 in the next.
        assert_close(finish(&mut *model, 2.5, 375), 5.0, 1e-12);
        // Without a period, the last rate stays.
        let mut model = shaped(&ramps, &[(0.0, 8000.0), (1.0, 4000.0)], None);
        assert_close(finish(&mut *model, 0.5, 1000), 0.5 + 0.5 + 5500.0 / 4000.0, 1e-12);
    }

    #[test]
    fn a_rate_between_packets_does_not_change_within() {
        let mut model = shaped(&[("applied", "between")], &[(0.0, 8000.0), (1.0, 2000.0), (10.0, 0.0), (12.0, 1000.0)], None);
        assert_eq!(finish(&mut *model, 0.5, 1000), 1.5);
        assert_eq!(finish(&mut *model, 1.5, 500), 3.5);
        // In an outage, a packet waits.
        assert_eq!(finish(&mut *model, 10.5, 125), 13.0);
    }

    #[test]
    fn a_senseless_schedule_is_refused() {
        assert_eq!(schedule(&[(0.0, 1.0), (2.0, 1.0)], Some(2.0)).unwrap_err(), "period must be later than the last step, which is at 2 s");
        assert_eq!(schedule(&[(0.0, 0.0)], None).unwrap_err(), "steps must have a mean rate of at least 1 bit/s");
    }

    proptest! {
        #[test]
        fn a_transmission_takes_exactly_its_bits(
            rates in prop::collection::vec(prop_oneof![1 => Just(0.0), 4 => 1e3..1e8_f64], 1..6),
            gaps in prop::collection::vec(1e-3..5.0_f64, 6),
            repeats in any::<bool>(),
            ramps in any::<bool>(),
            packets in prop::collection::vec((0.0..10.0_f64, 1..65_535_u64), 1..20),
        ) {
            prop_assume!(rates.iter().any(|rate| *rate > 0.0));
            let times: Vec<f64> = gaps.iter().scan(0.0, |time, gap| Some(std::mem::replace(time, *time + gap))).collect();
            let steps: Vec<(f64, f64)> = times.iter().copied().zip(rates.iter().copied()).collect();
            let period = repeats.then_some(times[rates.len() - 1] + 0.7);
            let mut model = shaped(&[("between", if ramps { "ramps" } else { "steps" })], &steps, period);
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
