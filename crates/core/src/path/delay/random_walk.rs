//! Random walk: the delay wanders between two bounds.
//! ## What it does
//! The delay starts at `delay` and moves at random, without jumps: in each `interval`, it changes by a normal number of deviation `step`, and
//! it turns back at `least` and `most`. Unlike jitter, packets close to one another have almost the same delay, as behind a queue of
//! other traffic. In the long run, every delay between the bounds is equally frequent.
//! ## References
//! Harrison, *Brownian motion and stochastic flow systems*, 1985 (reflected Brownian motion).
//! ## Differs from the document
//! Nothing. The motion is computed at the times of packets, at which it is exact: both bounds are mirrors.
//! ## Parameters
//! `delay`: 10 ms, the default of every link.
//! `step`: 1 ms, an arbitrary choice.
//! `interval`: 100 ms, an arbitrary choice. After n intervals the deviation is √n · `step`.
//! `least`: half of `delay`, an arbitrary choice.
//! `most`: three times `delay`, an arbitrary choice.

use crate::distribution::normal_quantile;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::path::mixing::mirrored;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

const fn time(name: &'static str, min: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min, max: 1e6 }, default: Default::Number(default), doc }
}

const fn auto(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 0.0, max: 1e6 }, default: Default::Auto, doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "random_walk",
    summary: "the delay wanders between two bounds",
    reference: "Harrison 1985",
    params: &[
        time("delay", 0.0, 0.01, "delay at the start"),
        time("step", 0.0, 0.001, "standard deviation of the change in an interval"),
        time("interval", 1e-6, 0.1, "time in which the delay changes by a step"),
        auto("least", "smallest delay; auto: half of the delay at the start"),
        auto("most", "largest delay; auto: three times the delay at the start"),
    ],
    quantities: &[],
    build: |params| {
        let [delay, step, interval] = ["delay", "step", "interval"].map(|name| params.number(name));
        let least = params.number_or_auto("least").unwrap_or(delay / 2.0);
        let most = params.number_or_auto("most").unwrap_or(3.0 * delay);
        if !(least..=most).contains(&delay) {
            return Err("delay must be between least and most".to_owned());
        }
        Ok(Box::new(RandomWalk { delay, speed: step / libm::sqrt(interval), least, most, last: Instant::ZERO }))
    },
};

/// A reflected Brownian motion, in seconds.
#[derive(Debug)]
pub struct RandomWalk {
    delay: f64,
    /// Standard deviation of the change in a second.
    speed: f64,
    least: f64,
    most: f64,
    /// Time of `delay`.
    last: Instant,
}

impl DelayModel for RandomWalk {
    fn delay(&mut self, now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        let deviation = self.speed * libm::sqrt(now.since(self.last).as_secs_f64());
        self.last = now;
        // Half a step of the generator above 0, so that the quantile is finite.
        let moved = self.delay + deviation * normal_quantile(random.uniform() + f64::EPSILON / 4.0);
        self.delay = mirrored(moved, self.least, self.most);
        Duration::from_secs_f64(self.delay)
    }

    fn reorders(&self) -> bool {
        false
    }

    fn mean(&self) -> Duration {
        Duration::from_secs_f64(f64::midpoint(self.least, self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    const COUNT: u32 = 200_000;

    fn walk(gap: f64) -> Vec<f64> {
        let (mut model, mut random) = (build(&ENTRY, &[]).unwrap(), Generator::derived(1, "test"));
        let at = |number: u32| Instant::ZERO + Duration::from_secs_f64(gap * f64::from(number));
        (1..=COUNT).map(|number| model.delay(at(number), Bytes(1000), &mut random).as_secs_f64()).collect()
    }

    #[test]
    fn a_change_has_the_deviation_of_its_time() {
        // Between bounds that are far away for this time; mirrored changes are rare.
        for gap in [1e-4, 1e-3, 1e-2] {
            let delays = walk(gap);
            let changes: f64 = delays.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
            let variance = changes / f64::from(COUNT - 1);
            assert_close(variance / (1e-6 * gap / 0.1), 1.0, 0.03);
        }
    }

    #[test]
    fn every_delay_is_equally_frequent() {
        // After 30 s, a deviation of 17 ms, much of the walk between bounds 25 ms apart is forgotten.
        let mut delays = walk(30.0);
        delays.sort_unstable_by(f64::total_cmp);
        for share in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9] {
            assert_close(delays[(share * f64::from(COUNT)) as usize], 0.005 + 0.025 * share, 3e-4);
        }
    }

    #[test]
    fn the_start_is_between_the_bounds() {
        assert_eq!(build(&ENTRY, &[("least", Value::Number(0.04))]).unwrap_err(), "delay must be between least and most");
    }
}
