//! Values that change at certain times, once or again and again.

use crate::params::{Default, Kind, Param, Params};
use crate::units::Instant;

/// A piecewise constant quantity: each value stays until the next, and the last one until the period ends.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// Times in seconds and values; the first is at 0.
    steps: Box<[(f64, f64)]>,
    /// Seconds; infinite if the values do not begin again.
    period: f64,
}

impl Timeline {
    /// That of the parameters `steps` and [`PERIOD`].
    ///
    /// # Errors
    /// A message if the period ends before the last step.
    pub(crate) fn new(params: &Params) -> Result<Self, String> {
        let (steps, period) = (params.series("steps"), params.number_or_auto(PERIOD.name));
        let last = steps.last().map_or(0.0, |(time, _)| *time);
        match period {
            Some(period) if period <= last => Err(format!("period must be later than the last step, which is at {last} s")),
            _ => Ok(Self { steps: steps.into(), period: period.unwrap_or(f64::INFINITY) }),
        }
    }

    /// Times in seconds, and values.
    pub(crate) fn steps(&self) -> &[(f64, f64)] {
        &self.steps
    }

    /// The period in seconds, if there is one.
    pub(crate) fn period(&self) -> Option<f64> {
        self.period.is_finite().then_some(self.period)
    }

    /// Number of the period and of the step in which `now` is.
    pub(crate) fn place(&self, now: Instant) -> (u64, usize) {
        let now = now.as_secs_f64();
        // The remainder of an infinite period is the time itself.
        let (cycle, within) = ((now / self.period) as u64, now % self.period);
        (cycle, self.steps.partition_point(|(time, _)| *time <= within).saturating_sub(1))
    }

    /// The value at `now`.
    pub(crate) fn value(&self, now: Instant) -> f64 {
        self.steps[self.place(now).1].1
    }

    /// Mean of a period; without one, the last value counts for as long as all values before it together.
    pub(crate) fn mean(&self) -> f64 {
        let last = self.steps.last().map_or(0.0, |(time, _)| *time);
        let end = self.period().unwrap_or_else(|| (2.0 * last).max(1.0));
        let ends = self.steps.iter().skip(1).map(|(time, _)| *time).chain([end]);
        self.steps.iter().zip(ends).map(|(&(begin, value), end)| value * (end - begin)).sum::<f64>() / end
    }
}

/// The parameter that repeats a timeline.
pub(crate) const PERIOD: Param = Param {
    name: "period",
    kind: Kind::Duration { min: 1e-6, max: 1e9 },
    default: Default::Auto,
    doc: "time after which the steps begin again; auto: never",
};
