//! Oscillation: the delay swings round its mean.
//! ## What it does
//! The delay at time t is `delay` plus `amplitude` times a wave of this `shape` and `period`, which starts at its middle, on the way up:
//! sin(2π t / `period`), or the triangle between −1 and 1. Round-trip times of satellites and of mobile links swing so, with the
//! geometry of the orbit or with the scheduler of the cell.
//!
//! The authors of SEARCH saw a period of about 3.3 round trips: GEO 600 ms at 0.5 Hz, LTE 60 ms at 6 Hz, LEO 30 ms at 10 Hz. For the LEO
//! path, half of the round trip is `delay = "15 ms"`, and `period = "100 ms"`.
//! ## References
//! Chung et al., *SEARCH: a new slow start algorithm for TCP and QUIC*, draft-chung-ccwg-search (oscillating round-trip times); Mohan et al.,
//! *A multifaceted look at Starlink performance*, 2024.
//! ## Differs from the document
//! The documents report periods, not the shape of the wave.
//! ## Parameters
//! `delay`: 10 ms, the default of every link.
//! `amplitude`: a fifth of `delay`, an arbitrary choice.
//! `period`: 100 ms, SEARCH's LEO path.
//! `shape`: sine.

use core::f64::consts::TAU;

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

const fn time(name: &'static str, min: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min, max: 1e6 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "oscillation",
    summary: "the delay swings round its mean",
    reference: "draft-chung-ccwg-search",
    params: &[
        time("delay", 0.0, 0.01, "mean delay"),
        Param {
            name: "amplitude",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Auto,
            doc: "largest distance from the mean; auto: a fifth of the mean",
        },
        time("period", 1e-6, 0.1, "time of a whole swing"),
        Param { name: "shape", kind: Kind::Word(&["sine", "triangle"]), default: Default::Word("sine"), doc: "form of the wave" },
    ],
    quantities: &[],
    build: |params| {
        let [delay, period] = ["delay", "period"].map(|name| params.number(name));
        let amplitude = params.number_or_auto("amplitude").unwrap_or(delay / 5.0);
        if amplitude > delay {
            return Err("amplitude must not be above delay: the delay would be negative".to_owned());
        }
        Ok(Box::new(Oscillation { delay, amplitude, period, triangle: params.word("shape") == "triangle" }))
    },
};

/// A periodic delay, in seconds.
#[derive(Debug)]
pub struct Oscillation {
    delay: f64,
    amplitude: f64,
    period: f64,
    triangle: bool,
}

impl DelayModel for Oscillation {
    fn delay(&mut self, now: Instant, _size: Bytes, _random: &mut Generator) -> Duration {
        let phase = (now.as_secs_f64() % self.period) / self.period;
        let wave = if self.triangle {
            // Up to 1 at a quarter, down to −1 at three quarters.
            1.0 - (4.0 * ((phase + 0.25) % 1.0) - 2.0).abs()
        } else {
            libm::sin(TAU * phase)
        };
        Duration::from_secs_f64(self.delay + self.amplitude * wave)
    }

    fn reorders(&self) -> bool {
        false
    }

    fn mean(&self) -> Duration {
        Duration::from_secs_f64(self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    #[test]
    fn the_wave_has_its_shape() {
        let half = 0.5_f64.sqrt();
        for (shape, eighth) in [("sine", half), ("triangle", 0.5)] {
            let mut model = build(&ENTRY, &[("shape", Value::Word(shape.to_owned()))]).unwrap();
            let expected = [0.0, eighth, 1.0, eighth, 0.0, -eighth, -1.0, -eighth];
            for turn in [0.0, 700.0] {
                for (step, expected) in expected.into_iter().enumerate() {
                    let at = Instant::ZERO + Duration::from_secs_f64(0.1 * (turn + step as f64 / 8.0));
                    let delay = model.delay(at, Bytes(1000), &mut Generator::derived(1, "test"));
                    assert_close(delay.as_secs_f64(), 0.01 + 0.002 * expected, 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_delay_is_never_negative() {
        let error = build(&ENTRY, &[("amplitude", Value::Number(0.011))]).unwrap_err();
        assert_eq!(error, "amplitude must not be above delay: the delay would be negative");
    }
}
