//! Markov rate: the rate changes between a high and a low one.
//! ## What it does
//! The link transmits at `high` for a time of mean `mean_high`, then at `low` for one of mean `mean_low`, and so on. Times are drawn from an
//! exponential distribution, which makes it a Markov chain, or are always the mean. With `low` 0 bit/s, the link is on and off, and holds
//! packets while it is off. A transmission that spans a change is exact.
//! ## References
//! Fischer & Meier-Hellstern, *The Markov-modulated Poisson process cookbook*, 1993 (two states); Netravali et al., *Mahimahi*, 2015 (`mm-onoff`).
//! ## Differs from the document
//! - The rate is modulated, not a Poisson process.
//! - Mahimahi's link drops packets while it is off: `gilbert_elliott` with `clock` "time".
//! ## Parameters
//! `high`: 10 Mbit/s, the default of a bottleneck.
//! `low`: 1 Mbit/s, an arbitrary choice.
//! `mean_high`: 5 s, an arbitrary choice.
//! `mean_low`: 1 s, an arbitrary choice.
//! `distribution`: exponential.

use crate::distribution::Distribution;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::rate::RateModel;
use crate::path::rate::drawn::{Drawn, Source};
use crate::rng::Generator;

const fn rate(name: &'static str, min: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Rate { min, max: 1e15 }, default: Default::Number(default), doc }
}

const fn stay(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 0.01, max: 1e6 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn RateModel> = Entry {
    name: "markov",
    summary: "the rate changes between a high and a low one, or on and off",
    reference: "Fischer & Meier-Hellstern 1993",
    params: &[
        rate("high", 1e3, 1e7, "rate in the first state"),
        rate("low", 0.0, 1e6, "rate in the other state; 0 bit/s holds packets"),
        stay("mean_high", 5.0, "mean time in the first state"),
        stay("mean_low", 1.0, "mean time in the other state"),
        Param {
            name: "distribution",
            kind: Kind::Word(&["exponential", "fixed"]),
            default: Default::Word("exponential"),
            doc: "whether times are random, or always the mean",
        },
    ],
    quantities: &[],
    build: |params| {
        let fixed = params.word("distribution") == "fixed";
        let state = |rate, mean| {
            let mean = params.number(mean);
            (params.number(rate), if fixed { Distribution::Fixed { mean } } else { Distribution::Exponential { mean } })
        };
        let states = [state("high", "mean_high"), state("low", "mean_low")];
        Ok(Box::new(Drawn::new(Chain { states, low: false })?))
    },
};

/// Two states in turn.
#[derive(Debug)]
struct Chain {
    /// Rate and time of each.
    states: [(f64, Distribution); 2],
    /// Whether the next state is the second.
    low: bool,
}

impl Source for Chain {
    fn next(&mut self, random: &mut Generator) -> (f64, f64) {
        let (rate, time) = &self.states[usize::from(self.low)];
        self.low = !self.low;
        // A drawn time can be 0.
        (*rate, time.draw(random).max(1e-9))
    }

    fn mean(&self) -> f64 {
        let [(high, long), (low, short)] = &self.states;
        let times = [long.mean(), short.mean()];
        (high * times[0] + low * times[1]) / (times[0] + times[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};
    use crate::units::{Bytes, Duration, Instant};
    use proptest::prelude::*;

    fn secs(secs: f64) -> Instant {
        Instant::ZERO + Duration::from_secs_f64(secs)
    }

    #[test]
    fn an_on_off_link_holds_packets() {
        let set = [
            ("high", Value::Number(8000.0)),
            ("low", Value::Number(0.0)),
            ("mean_high", Value::Number(1.0)),
            ("mean_low", Value::Number(2.0)),
            ("distribution", Value::Word("fixed".to_owned())),
        ];
        let (mut model, mut random) = (build(&ENTRY, &set).unwrap(), Generator::derived(1, "test"));
        let ends =
            [(0.0, 500), (0.5, 1000), (4.0, 125), (5.0, 125)].map(|(start, bytes)| model.finish(secs(start), Bytes(bytes), &mut random));
        // On from 0 to 1 s, from 3 to 4 s, and from 6 to 7 s.
        assert_eq!(ends, [0.5, 3.5, 6.125, 6.125].map(secs));
        assert_eq!([0.5, 2.0, 3.5, 6.5].map(|at| model.capacity(secs(at))), [4e3, 8e3, 12e3, 20e3]);
        // What is not drawn yet counts with the mean.
        assert_eq!(model.capacity(secs(10.0)), 24e3 + 3.0 * 2667.0);
        assert_eq!(model.mean().as_bits_per_sec(), 2667);
    }

    #[test]
    fn the_mean_is_that_of_the_long_run() {
        let (mut model, mut random) = (build(&ENTRY, &[]).unwrap(), Generator::derived(1, "test"));
        assert_eq!(model.mean().as_bits_per_sec(), 8_500_000);
        model.finish(secs(1e6), Bytes(1), &mut random);
        assert_close(model.capacity(secs(1e6)) / 1e6, 8.5e6, 3e4);
    }

    proptest! {
        #[test]
        fn a_transmission_takes_exactly_its_bits(
            packets in prop::collection::vec((0.0..3.0_f64, 1..65_535_u64), 1..20),
            off in any::<bool>(),
            seed in any::<u64>(),
        ) {
            let set = [("low", Value::Number(if off { 0.0 } else { 1e5 })), ("mean_high", Value::Number(0.05)), ("mean_low", Value::Number(0.02))];
            let (mut model, mut random) = (build(&ENTRY, &set).unwrap(), Generator::derived(seed, "test"));
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
