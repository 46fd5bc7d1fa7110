//! Random walk: the rate wanders between two bounds.
//! ## What it does
//! The rate starts at `rate`, and changes after each `interval` by a normal number. With `change` "multiplied", its logarithm walks: `step` is the
//! standard deviation of the factor's natural logarithm, so that 0.1 is about a tenth up or down. With "added", the rate itself walks, by
//! `step` of the distance between the bounds. It turns back at `least` and `most`.
//! ## References
//! Winstein, Sivaraman & Balakrishnan, *Stochastic forecasts achieve high throughput and low delay over cellular networks*, 2013 (Sprout: the
//! rate of a cellular link as a Brownian motion).
//! ## Differs from the document
//! - The rate changes at intervals, not all the time, and the bounds are mirrors; Sprout's can stick at 0.
//! - Packets leave evenly at the rate, not as a Poisson process.
//! ## Parameters
//! `rate`: 10 Mbit/s, the default of a bottleneck.
//! `least`: a tenth of `rate`, an arbitrary choice.
//! `most`: twice `rate`, an arbitrary choice.
//! `interval`: 100 ms, an arbitrary choice.
//! `change`: multiplied.
//! `step`: 0.1, an arbitrary choice. Sprout's rate changes by 200 packets/s in a second.

use crate::distribution::normal_quantile;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::mixing::mirrored;
use crate::path::rate::RateModel;
use crate::path::rate::drawn::{Drawn, Source};
use crate::rng::Generator;

const fn rate(name: &'static str, default: Default, doc: &'static str) -> Param {
    Param { name, kind: Kind::Rate { min: 1.0, max: 1e15 }, default, doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn RateModel> = Entry {
    name: "random_walk",
    summary: "the rate wanders between two bounds",
    reference: "after Winstein et al. 2013 (Sprout)",
    params: &[
        rate("rate", Default::Number(1e7), "rate at the start"),
        rate("least", Default::Auto, "smallest rate; auto: a tenth of the rate at the start"),
        rate("most", Default::Auto, "largest rate; auto: twice the rate at the start"),
        Param {
            name: "interval",
            kind: Kind::Duration { min: 0.02, max: 1e6 },
            default: Default::Number(0.1),
            doc: "time between two changes",
        },
        Param {
            name: "change",
            kind: Kind::Word(&["multiplied", "added"]),
            default: Default::Word("multiplied"),
            doc: "multiplied: the logarithm of the rate walks; added: the rate does",
        },
        Param {
            name: "step",
            kind: Kind::Number { min: 0.0, max: 10.0 },
            default: Default::Number(0.1),
            doc: "standard deviation of a change: of the natural logarithm, or as a share of most − least",
        },
    ],
    quantities: &[],
    build: |params| {
        let rate = params.number("rate");
        let least = params.number_or_auto("least").unwrap_or(rate / 10.0);
        let most = params.number_or_auto("most").unwrap_or(2.0 * rate);
        if !(least..=most).contains(&rate) {
            return Err("rate must be between least and most".to_owned());
        }
        let multiplied = params.word("change") == "multiplied";
        let scaled = |rate: f64| if multiplied { libm::log(rate) } else { rate };
        let [place, low, high] = [rate, least, most].map(scaled);
        let step = params.number("step") * if multiplied { 1.0 } else { most - least };
        let walk = Walk { place, low, high, step, interval: params.number("interval"), multiplied };
        Ok(Box::new(Drawn::new(walk)?))
    },
};

/// The walk, on the scale on which it is even.
#[derive(Debug)]
struct Walk {
    place: f64,
    low: f64,
    high: f64,
    step: f64,
    interval: f64,
    multiplied: bool,
}

impl Source for Walk {
    fn next(&mut self, random: &mut Generator) -> (f64, f64) {
        let rate = if self.multiplied { libm::exp(self.place) } else { self.place };
        let change = self.step * normal_quantile(random.uniform() + f64::EPSILON / 4.0);
        self.place = mirrored(self.place + change, self.low, self.high);
        (rate, self.interval)
    }

    /// In the long run, every place between the mirrors is equally frequent.
    fn mean(&self) -> f64 {
        let [low, high] = [self.low, self.high];
        match (self.multiplied, self.step > 0.0 && high > low) {
            (true, true) => (libm::exp(high) - libm::exp(low)) / (high - low),
            (false, true) => f64::midpoint(low, high),
            (multiplied, false) => {
                if multiplied {
                    libm::exp(self.place)
                } else {
                    self.place
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};
    use crate::units::{Bytes, Duration, Instant};
    use proptest::prelude::*;

    fn walk(change: &str, step: f64) -> Box<dyn RateModel> {
        build(&ENTRY, &[("change", Value::Word(change.to_owned())), ("step", Value::Number(step))]).unwrap()
    }

    /// The rates of the first intervals.
    fn rates(model: &mut dyn RateModel, count: u32) -> Vec<f64> {
        let mut random = Generator::derived(1, "test");
        let at = |number: u32| Instant::ZERO + Duration::from_secs_f64(0.1 * f64::from(number));
        // A packet at the end, so that all before it is drawn.
        model.finish(at(count), Bytes(1), &mut random);
        let carried: Vec<f64> = (0..=count).map(|number| model.capacity(at(number))).collect();
        carried.windows(2).map(|pair| (pair[1] - pair[0]) / 0.1).collect()
    }

    #[test]
    fn changes_have_their_deviation() {
        let found = rates(&mut *walk("multiplied", 0.01), 40);
        assert_close(found[0], 1e7, 1.0);
        let squares: f64 = found.windows(2).map(|pair| libm::pow(libm::log(pair[1] / pair[0]), 2.0)).sum();
        assert_close((squares / 39.0).sqrt(), 0.01, 4.0 * 0.01 / 78.0_f64.sqrt());
    }

    #[test]
    fn the_mean_is_that_of_the_long_run() {
        for (change, expected) in [("multiplied", 19e6 / 20.0_f64.ln()), ("added", 10.5e6)] {
            let mut model = walk(change, 0.8);
            assert_close(model.mean().as_bits_per_sec() as f64, expected, 1.0);
            let found = rates(&mut *model, 200_000);
            assert!(found.iter().all(|rate| (1e6 - 10.0..2e7 + 10.0).contains(rate)));
            assert_close(found.iter().sum::<f64>() / found.len() as f64 / expected, 1.0, 0.02);
        }
    }

    #[test]
    fn the_start_is_between_the_bounds() {
        assert_eq!(build(&ENTRY, &[("least", Value::Number(1.1e7))]).unwrap_err(), "rate must be between least and most");
    }

    proptest! {
        #[test]
        fn a_transmission_takes_exactly_its_bits(packets in prop::collection::vec((0.0..1.0_f64, 1..65_535_u64), 1..20), seed in any::<u64>()) {
            let (mut model, mut random) = (walk("added", 0.3), Generator::derived(seed, "test"));
            let mut free = Instant::ZERO;
            for (gap, bytes) in packets {
                let start = free + Duration::from_secs_f64(gap);
                free = model.finish(start, Bytes(bytes), &mut random);
                prop_assert!(free >= start);
                let [before, after] = [start, free].map(|at| model.capacity(at));
                assert_close(after - before, 8.0 * bytes as f64, 1e-9 * after + 1e-3);
            }
        }
    }
}
