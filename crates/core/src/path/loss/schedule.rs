//! Scheduled loss: the probability changes at certain times.
//! ## What it does
//! Draws one random number for each packet, including SYNs, and drops the packet if the number is below the probability of the last of
//! `steps`. Between two steps, losses are independent of one another and of packet size. The last probability stays, unless the steps begin
//! again after each `period`.
//!
//! A scenario can read the steps from a `file` instead: CSV with the columns `time` and `loss`; a value has a unit, or its column (`time (s)`).
//! ## References
//! Netravali et al., *Mahimahi: accurate record-and-replay for HTTP*, 2015 (links that follow a schedule, there of the rate only).
//! ## Differs from the document
//! No document gives this model. A share measured over an interval does not tell which packets of it were lost: here each is lost with the
//! same probability.
//! ## Parameters
//! `steps`: times and probabilities; 0 %, and 1 % from 15 s on, an arbitrary choice.
//! `period`: time after which the steps begin again. auto: never.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::loss::{Arrival, Fate, LossModel};
use crate::path::timeline::{PERIOD, Timeline};
use crate::rng::Generator;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossModel> = Entry {
    name: "schedule",
    summary: "a sequence of loss probabilities, each for its time",
    reference: "none; independent losses by a schedule",
    params: &[
        Param {
            name: "steps",
            kind: Kind::Series(&Kind::Probability { min: 0.0, max: 1.0 }),
            default: Default::Series(&[(0.0, 0.0), (15.0, 0.01)]),
            doc: "times and probabilities, as [time, probability]",
        },
        PERIOD,
    ],
    quantities: &[],
    build: |params| Ok(Box::new(Schedule { probabilities: Timeline::new(params)? })),
};

/// Independent losses whose probability changes.
#[derive(Debug)]
pub struct Schedule {
    probabilities: Timeline,
}

impl LossModel for Schedule {
    fn fate(&mut self, arrival: &Arrival, random: &mut Generator) -> Fate {
        Fate::lost_if(random.uniform() < self.probabilities.value(arrival.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, fates};

    /// Losses in each of 10 intervals of 20,000 packets, one in a millisecond.
    fn losses(period: Value) -> Vec<usize> {
        let steps = Value::Series(vec![(0.0, 0.0), (20.0, 0.1), (40.0, 1.0)]);
        let mut model = build(&ENTRY, &[("steps", steps), ("period", period)]).unwrap();
        let fates: Vec<Fate> = fates(&mut *model, 200_000).collect();
        fates.chunks(20_000).map(|part| part.iter().filter(|fate| **fate == Fate::Lose).count()).collect()
    }

    #[test]
    fn each_interval_loses_its_share() {
        // Five standard deviations of a binomial: 5·√(20,000·0.1·0.9) ≈ 212; the packet at the end of an interval belongs to the next.
        for (period, expected) in [
            (Value::Auto, [0, 2000, 20_000, 20_000, 20_000, 20_000, 20_000, 20_000, 20_000, 20_000]),
            (Value::Number(60.0), [0, 2000, 20_000, 0, 2000, 20_000, 0, 2000, 20_000, 0]),
        ] {
            for (found, expected) in losses(period).into_iter().zip(expected) {
                let bound = if expected == 2000 { 212 } else { 1 };
                assert!(found.abs_diff(expected) <= bound, "{found} instead of {expected}");
            }
        }
    }

    #[test]
    fn a_constant_schedule_is_the_constant() {
        let steps = |period| [("steps", Value::Series(vec![(0.0, 0.2)])), ("period", period)];
        let bernoulli = || build(&super::super::bernoulli::ENTRY, &[("rate", Value::Number(0.2))]).unwrap();
        for period in [Value::Auto, Value::Number(0.003)] {
            let mut model = build(&ENTRY, &steps(period)).unwrap();
            assert!(fates(&mut *model, 10_000).eq(fates(&mut *bernoulli(), 10_000)));
        }
    }

    #[test]
    fn a_period_before_the_last_step_is_refused() {
        let error = build(&ENTRY, &[("period", Value::Number(15.0))]).unwrap_err();
        assert_eq!(error, "period must be later than the last step, which is at 15 s");
    }
}
