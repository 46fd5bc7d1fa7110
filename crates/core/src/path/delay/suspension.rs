//! Suspension: now and then the link delivers nothing, and then everything at once.
//! ## What it does
//! Packets that reach the wire in a suspension leave it together at its end. The first suspension begins at `start` and lasts `length`; after
//! each one, the next begins when `pause` has passed. With `distribution` "exponential", each length and each pause is drawn, with these
//! means. Wi-Fi suspends a station so while it scans other channels, and a mobile phone in a handover: the sender sees a stall, and then a
//! burst of ACKs.
//! ## References
//! picoquic, tests `wifi_bad` and its relatives (suspensions of 250 ms; issues 1578 and 1880).
//! ## Differs from the document
//! The tests list times of their own; here suspensions follow one another without end.
//! ## Parameters
//! `start`: 1 s, an arbitrary choice.
//! `length`: 250 ms, as picoquic.
//! `pause`: 1 s, an arbitrary choice.
//! `distribution`: fixed, as picoquic.

use crate::distribution::Distribution;
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

const fn time(name: &'static str, min: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min, max: 1e9 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "suspension",
    summary: "stalls, after which everything arrives at once",
    reference: "picoquic, Wi-Fi tests",
    params: &[
        time("start", 0.0, 1.0, "begin of the first suspension"),
        time("length", 0.0, 0.25, "length of a suspension, or its mean"),
        time("pause", 1e-3, 1.0, "time from the end of a suspension to the next, or its mean"),
        Param {
            name: "distribution",
            kind: Kind::Word(&["fixed", "exponential"]),
            default: Default::Word("fixed"),
            doc: "whether lengths and pauses are always the same, or random",
        },
    ],
    quantities: &[],
    build: |params| {
        let [start, length, pause] = ["start", "length", "pause"].map(|name| params.number(name));
        let random = params.word("distribution") == "exponential";
        let times = |mean| if random { Distribution::Exponential { mean } } else { Distribution::Fixed { mean } };
        let begin = Instant::ZERO + Duration::from_secs_f64(start);
        Ok(Box::new(Suspension { length: times(length), pause: times(pause), begin, end: None }))
    },
};

/// Alternating times of delivery and suspension.
#[derive(Debug)]
pub struct Suspension {
    length: Distribution,
    pause: Distribution,
    /// Begin of the last suspension or of the next, and its end once it is drawn.
    begin: Instant,
    end: Option<Instant>,
}

impl DelayModel for Suspension {
    fn delay(&mut self, now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        let draw = |times: &Distribution, random: &mut Generator| Duration::from_secs_f64(times.draw(random));
        while now >= self.begin {
            let end = *self.end.get_or_insert_with(|| self.begin + draw(&self.length, random));
            if now < end {
                return end.since(now);
            }
            self.begin = end + draw(&self.pause, random);
            self.end = None;
        }
        Duration::ZERO
    }

    fn reorders(&self) -> bool {
        false
    }

    /// That of a packet that comes at any time.
    fn mean(&self) -> Duration {
        let (length, pause) = (self.length.mean(), self.pause.mean());
        let square = if let Distribution::Exponential { .. } = self.length { 2.0 } else { 1.0 } * length * length;
        Duration::from_secs_f64(square / (2.0 * (length + pause)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    fn delays(set: &[(&str, Value)], gap: f64, count: u32) -> Vec<f64> {
        let (mut model, mut random) = (build(&ENTRY, set).unwrap(), Generator::derived(1, "test"));
        let at = |number: u32| Instant::ZERO + Duration::from_secs_f64(gap * f64::from(number));
        (0..count).map(|number| model.delay(at(number), Bytes(1000), &mut random).as_secs_f64()).collect()
    }

    #[test]
    fn packets_wait_for_the_end_of_a_suspension() {
        // From 1 to 1.25 s, and from 2.25 to 2.5 s.
        let found = delays(&[], 0.125, 21);
        let expected = |number: u32| match f64::from(number) * 0.125 {
            at if (1.0..1.25).contains(&at) => 1.25 - at,
            at if (2.25..2.5).contains(&at) => 2.5 - at,
            _ => 0.0,
        };
        assert_eq!(found, (0..21).map(expected).collect::<Vec<_>>());
    }

    #[test]
    fn the_mean_is_that_of_renewal() {
        for distribution in ["fixed", "exponential"] {
            let set = [
                ("distribution", Value::Word(distribution.to_owned())),
                ("start", Value::Number(0.0)),
                ("length", Value::Number(0.3)),
                ("pause", Value::Number(0.7)),
            ];
            let found = delays(&set, 0.0613, 1_000_000);
            let mean = found.iter().sum::<f64>() / found.len() as f64;
            let expected = build(&ENTRY, &set).unwrap().mean().as_secs_f64();
            assert_close(expected, if distribution == "fixed" { 0.045 } else { 0.09 }, 1e-12);
            assert_close(mean / expected, 1.0, 0.03);
        }
    }
}
