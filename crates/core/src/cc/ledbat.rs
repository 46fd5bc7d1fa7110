//! The delays of LEDBAT and LEDBAT++: the smallest of a long history, and the present one.
//!
//! ## References
//! Shalunov, Hazel, Iyengar & Kühlewind, *Low Extra Delay Background Transport (LEDBAT)*, RFC 6817, §2.4.2.

use std::collections::VecDeque;

use crate::entry::{Quantity, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Duration, Instant};

/// How long the smallest delay is remembered.
pub(crate) const BASE_HISTORY: Param = Param {
    name: "base_history",
    kind: Kind::Integer { min: 1.0, max: 1000.0 },
    default: Default::Number(10.0),
    doc: "minutes whose smallest delay is the one without queues (RFC 6817 §2.5: 10)",
};

/// Over how many samples the present delay is a minimum.
pub(crate) const CURRENT_FILTER: Param = Param {
    name: "current_filter",
    kind: Kind::Integer { min: 1.0, max: 1000.0 },
    default: Default::Number(4.0),
    doc: "samples whose smallest is the present delay (RFC 6817 §2.5: at least 1)",
};

/// The smallest delay in traces.
pub(crate) const BASE_DELAY: Quantity = quantity("base_delay", "s", "smallest delay of the history");
/// The queuing delay in traces.
pub(crate) const QUEUING_DELAY: Quantity = quantity("queuing_delay", "s", "present delay minus the smallest").on("base_delay");

/// Time of an entry of the base delays, in seconds.
const MINUTE: f64 = 60.0;

/// The last values of a series.
#[derive(Clone, Debug)]
struct Minima {
    values: VecDeque<Duration>,
    most: usize,
}

impl Minima {
    fn new(most: f64) -> Self {
        Self { values: VecDeque::with_capacity(most as usize), most: most as usize }
    }

    /// Appends a value; drops the oldest if there are too many.
    fn push(&mut self, value: Duration) {
        if self.values.len() == self.most {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    fn least(&self) -> Option<Duration> {
        self.values.iter().min().copied()
    }
}

/// Delays of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// The smallest delay of each of the last minutes with samples.
    base: Minima,
    current: Minima,
    /// The minute of the latest base delay, counted from the start of the run.
    minute: u64,
}

impl Delays {
    /// Reads [`BASE_HISTORY`] and [`CURRENT_FILTER`].
    pub(crate) fn new(params: &Params) -> Self {
        let minima = |name| Minima::new(params.number(name));
        Self { base: minima("base_history"), current: minima("current_filter"), minute: 0 }
    }

    /// Forgets all delays.
    pub(crate) fn clear(&mut self) {
        self.base.values.clear();
        self.current.values.clear();
    }

    /// Adds a sample (RFC 6817 §2.4.2).
    pub(crate) fn add(&mut self, now: Instant, delay: Duration) {
        let minute = (now.as_secs_f64() / MINUTE) as u64;
        match self.base.values.back_mut() {
            Some(least) if minute == self.minute => *least = (*least).min(delay),
            _ => {
                self.base.push(delay);
                self.minute = minute;
            }
        }
        self.current.push(delay);
    }

    /// The delay without queues.
    pub(crate) fn base(&self) -> Option<Duration> {
        self.base.least()
    }

    /// The present queuing delay in seconds.
    pub(crate) fn queuing(&self) -> Option<f64> {
        Some((self.current.least()? - self.base.least()?).as_secs_f64())
    }

    /// Reports [`BASE_DELAY`] and [`QUEUING_DELAY`].
    pub(crate) fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let (Some(base), Some(queuing)) = (self.base(), self.queuing()) {
            out(BASE_DELAY.name, base.as_secs_f64());
            out(QUEUING_DELAY.name, queuing);
        }
    }
}

/// The queuing delay that LEDBAT++ keeps.
pub(crate) const TARGET: Param = Param {
    name: "target",
    kind: Kind::Duration { min: 0.001, max: 10.0 },
    default: Default::Number(0.06),
    doc: "queuing delay at which the window stays (the draft: 60 ms)",
};

/// The largest reduction of LEDBAT++'s growth on short paths.
pub(crate) const GAIN_DIVISOR: Param = Param {
    name: "gain_divisor",
    kind: Kind::Integer { min: 1.0, max: 1000.0 },
    default: Default::Number(16.0),
    doc: "growth is this much slower than Reno's at most, on short paths (the draft: 16)",
};

/// LEDBAT++'s gain: its growth relative to Reno's, for a target in seconds. Small on paths whose round trip is short beside the target.
pub(crate) fn gain(target: f64, divisor: f64, base: Option<Duration>) -> f64 {
    let ratio = base.map_or(divisor, |base| libm::ceil(2.0 * target / base.as_secs_f64()));
    1.0 / ratio.clamp(1.0, divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_falls_with_the_targets_share_of_the_round_trip() {
        let of = |millis| gain(0.06, 16.0, Some(Duration::from_millis(millis)));
        // ⌈120/200⌉, ⌈120/120⌉, ⌈120/50⌉, ⌈120/8⌉, and 16 at most.
        assert_eq!([200, 120, 50, 8, 1].map(of), [1.0, 1.0, 1.0 / 3.0, 1.0 / 15.0, 1.0 / 16.0]);
        assert_eq!(gain(0.06, 16.0, None), 1.0 / 16.0);
    }
}
