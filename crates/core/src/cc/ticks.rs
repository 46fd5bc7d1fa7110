//! The clock of a control that counts in ticks, as Linux does.

use crate::events::Established;
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Duration, Instant};

/// The step of the clock.
pub(crate) const TICK: Param = Param {
    name: "tick",
    kind: Kind::Duration { min: 0.0, max: 1.0 },
    default: Default::Number(0.004),
    doc: "step of the clock: 1/HZ of the kernel; 0 for an exact clock",
};
const SECOND: u64 = 1_000_000_000;

/// A clock that advances by steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// Nanoseconds of a step, and from its latest one to the start of the run.
    step: u64,
    phase: u64,
}

impl Ticks {
    /// The clock with the parameter `tick`.
    pub(crate) fn new(params: &Params) -> Self {
        let step = Duration::from_secs_f64(params.number("tick")).as_nanos();
        Self { step: if step == 0 { 1 } else { step }, phase: 0 }
    }

    /// Takes over the phase of the host's clock.
    pub(crate) fn start(&mut self, event: &Established) {
        self.phase = event.clock_phase.as_nanos();
    }

    /// The number of ticks until then.
    pub(crate) fn at(&self, time: Instant) -> u64 {
        (time.as_nanos() + self.phase) / self.step
    }

    /// A duration in ticks, rounded up.
    pub(crate) fn covering(&self, duration: Duration) -> u64 {
        duration.as_nanos().div_ceil(self.step)
    }

    /// Nanoseconds of this many ticks.
    pub(crate) const fn nanos(&self, ticks: u64) -> u64 {
        ticks * self.step
    }

    /// Ticks of a second.
    pub(crate) fn per_second(&self) -> f64 {
        SECOND as f64 / self.step as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::established;

    #[test]
    fn ticks_are_those_of_the_hosts_clock() {
        let mut ticks = Ticks::new(&Params::defaults(&[TICK]));
        let at = |ticks: &Ticks| [0, 3, 4, 9].map(|millis| ticks.at(Instant::from_nanos(millis * 1_000_000)));
        assert_eq!(at(&ticks), [0, 0, 1, 2]);
        ticks.start(&Established { clock_phase: Duration::from_millis(3), ..established(1460) });
        assert_eq!(at(&ticks), [0, 1, 1, 3]);
        assert_eq!((ticks.covering(Duration::from_millis(9)), ticks.nanos(3), ticks.per_second()), (3, 12_000_000, 250.0));
    }
}
