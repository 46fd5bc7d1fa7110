//! Steps: the delay changes at certain times.
//! ## What it does
//! A packet takes the delay of the last of `steps`. The last one stays, unless the steps begin again after each `period`. With `spread`,
//! every step adds a time of its own, which is drawn evenly from 0 to `spread` when the step begins, and again in each period.
//!
//! Starlink assigns satellites anew every 15 s, at the same instant everywhere; the delay is steady in between and jumps at these instants:
//! `steps = [["0 s", "15 ms"]], period = "15 s", spread = "10 ms"`.
//!
//! A scenario can read the steps from a `file` instead: CSV with the columns `time` and `delay`; a value has a unit, or its column (`time (s)`).
//! ## References
//! Mohan et al., *A multifaceted look at Starlink performance*, 2024 (15 s).
//! ## Differs from the document
//! The paper measures the jumps; it has no distribution of their sizes.
//! ## Parameters
//! `steps`: times and delays; 10 ms, and 20 ms from 15 s on, an arbitrary choice.
//! `period`: time after which the steps begin again. auto: never. The mean delay, which stands for the delay where one number is needed, is that
//! of a period; without a period, the last delay counts for as long as all delays before it together.
//! `spread`: 0 s: the delays are exactly those of the steps.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::path::timeline::{PERIOD, Timeline};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "steps",
    summary: "a sequence of delays, each for its time",
    reference: "Mohan et al. 2024",
    params: &[
        Param {
            name: "steps",
            kind: Kind::Series(&Kind::Duration { min: 0.0, max: 1e6 }),
            default: Default::Series(&[(0.0, 0.01), (15.0, 0.02)]),
            doc: "times and delays, as [time, delay]",
        },
        PERIOD,
        Param {
            name: "spread",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Number(0.0),
            doc: "largest time that a step adds; each draws its own, evenly from 0 on",
        },
    ],
    quantities: &[],
    build: |params| {
        let delays = Timeline::new(params)?;
        Ok(Box::new(Steps { delays, spread: params.number("spread"), place: None, added: 0.0 }))
    },
};

/// A piecewise constant delay, in seconds.
#[derive(Debug)]
pub struct Steps {
    delays: Timeline,
    spread: f64,
    /// Period and step of the last packet, and what that step adds.
    place: Option<(u64, usize)>,
    added: f64,
}

impl DelayModel for Steps {
    fn delay(&mut self, now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        let place = self.delays.place(now);
        if self.spread > 0.0 && self.place != Some(place) {
            self.place = Some(place);
            self.added = self.spread * random.uniform();
        }
        Duration::from_secs_f64(self.delays.steps()[place.1].1 + self.added)
    }

    fn reorders(&self) -> bool {
        false
    }

    fn mean(&self) -> Duration {
        Duration::from_secs_f64(self.delays.mean() + self.spread / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    fn delays(set: &[(&str, Value)], times: &[f64]) -> Vec<f64> {
        let (mut model, mut random) = (build(&ENTRY, set).unwrap(), Generator::derived(1, "test"));
        let at = |secs: f64| Instant::ZERO + Duration::from_secs_f64(secs);
        times.iter().map(|secs| model.delay(at(*secs), Bytes(1000), &mut random).as_secs_f64()).collect()
    }

    #[test]
    fn each_step_has_its_delay() {
        let times = [0.0, 14.9, 15.0, 29.9, 30.5, 45.5, 60.5];
        assert_eq!(delays(&[], &times), [0.01, 0.01, 0.02, 0.02, 0.02, 0.02, 0.02]);
        assert_eq!(delays(&[("period", Value::Number(30.0))], &times), [0.01, 0.01, 0.02, 0.02, 0.01, 0.02, 0.01]);
    }

    #[test]
    fn a_drawn_step_is_steady_until_the_next() {
        let steps = ("steps", Value::Series(vec![(0.0, 0.02)]));
        let set = [steps, ("period", Value::Number(15.0)), ("spread", Value::Number(0.01))];
        let times: Vec<f64> = (0..30_000).map(|number| f64::from(number) * 5.0).collect();
        let found = delays(&set, &times);
        let periods: Vec<f64> = found.chunks(3).map(|period| period[0]).collect();
        assert!(found.chunks(3).all(|period| period.iter().all(|delay| *delay == period[0])));
        let mean = periods.iter().sum::<f64>() / periods.len() as f64;
        assert_close(mean, 0.025, 4.0 * 0.01 / 12.0_f64.sqrt() / (periods.len() as f64).sqrt());
        assert_close(build(&ENTRY, &set).unwrap().mean().as_secs_f64(), 0.025, 1e-12);
    }

    #[test]
    fn the_mean_is_that_of_a_period() {
        let mean = |set: &[(&str, Value)]| build(&ENTRY, set).unwrap().mean().as_secs_f64();
        assert_close(mean(&[]), 0.015, 1e-12);
        assert_close(mean(&[("period", Value::Number(60.0))]), (15.0 * 0.01 + 45.0 * 0.02) / 60.0, 1e-12);
        assert_close(mean(&[("steps", Value::Series(vec![(0.0, 0.03)]))]), 0.03, 1e-12);
        let error = build(&ENTRY, &[("period", Value::Number(15.0))]).unwrap_err();
        assert_eq!(error, "period must be later than the last step, which is at 15 s");
    }
}
