//! Reordering: some packets arrive before or after their turn.
//! ## What it does
//! Most packets take `delay`. After each `gap` − 1 of these, a packet is chosen with probability `share`, or the next one, and so on; then the
//! count begins again. With `chosen` `at_once`, a chosen packet takes no delay and overtakes those on the way, as in netem; with `late` it
//! takes `extra` longer, so that others overtake it. At `share` 100 %, exactly every `gap`-th packet is chosen.
//! ## References
//! Hemminger, *Network emulation with `NetEm`*, 2005; the manual page tc-netem(8) (`delay TIME reorder PERCENT CORRELATION gap DISTANCE`).
//! ## Differs from the document
//! netem only lets chosen packets go at once; `late` is the other way to reorder.
//! ## Parameters
//! `delay`: 10 ms, the default of every link.
//! `share`: 1 %, an arbitrary choice.
//! `gap`: 1, as netem: any packet can be chosen.
//! `correlation`: 0 %, as netem. It makes chosen packets rarer, too.
//! `chosen`: `at_once`, as netem.
//! `extra`: 5 ms, an arbitrary choice.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::path::mixing::{CORRELATION, Mixing};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "reordering",
    summary: "some packets arrive before or after their turn",
    reference: "tc-netem(8)",
    params: &[
        Param {
            name: "delay",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Number(0.01),
            doc: "delay of the packets that are not chosen",
        },
        Param {
            name: "share",
            kind: Kind::Probability { min: 0.0, max: 1.0 },
            default: Default::Number(0.01),
            doc: "probability that a packet is chosen",
        },
        Param {
            name: "gap",
            kind: Kind::Integer { min: 1.0, max: 1e9 },
            default: Default::Number(1.0),
            doc: "smallest distance of two chosen packets, in packets",
        },
        CORRELATION,
        Param {
            name: "chosen",
            kind: Kind::Word(&["at_once", "late"]),
            default: Default::Word("at_once"),
            doc: "at_once: a chosen packet takes no delay; late: it takes extra longer than the others",
        },
        Param {
            name: "extra",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Number(0.005),
            doc: "with chosen late: what a chosen packet takes longer",
        },
    ],
    quantities: &[],
    build: |params| {
        let [delay, share, extra] = ["delay", "share", "extra"].map(|name| params.number(name));
        let late = params.word("chosen") == "late";
        let [usual, chosen] = [delay, if late { delay + extra } else { 0.0 }].map(Duration::from_secs_f64);
        let mixing = Mixing::new(params.number("correlation"));
        Ok(Box::new(Reordering { usual, chosen, share, gap: params.number("gap") as u64, mixing, passed: 0 }))
    },
};

/// Two delays, of which a packet has one.
#[derive(Debug)]
pub struct Reordering {
    usual: Duration,
    chosen: Duration,
    share: f64,
    gap: u64,
    mixing: Mixing,
    /// Packets since the last chosen one.
    passed: u64,
}

impl DelayModel for Reordering {
    fn delay(&mut self, _now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        self.passed += 1;
        if self.passed < self.gap || self.mixing.draw(random) >= self.share {
            return self.usual;
        }
        self.passed = 0;
        self.chosen
    }

    fn reorders(&self) -> bool {
        true
    }

    fn mean(&self) -> Duration {
        if self.share == 0.0 {
            return self.usual;
        }
        // One chosen packet among the `gap` − 1 before it and a geometric number.
        let chosen = 1.0 / ((self.gap - 1) as f64 + 1.0 / self.share);
        self.usual * (1.0 - chosen) + self.chosen * chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    const COUNT: u32 = 200_000;

    fn delays(set: &[(&str, Value)]) -> Vec<Duration> {
        let (mut model, mut random) = (build(&ENTRY, set).unwrap(), Generator::derived(1, "test"));
        (0..COUNT).map(|_| model.delay(Instant::ZERO, Bytes(1000), &mut random)).collect()
    }

    fn number(name: &'static str, value: f64) -> (&'static str, Value) {
        (name, Value::Number(value))
    }

    #[test]
    fn the_share_is_that_of_gap_and_probability() {
        for (share, gap) in [(0.25, 1.0), (0.9, 5.0), (0.1, 3.0)] {
            let set = [number("share", share), number("gap", gap)];
            let at_once = delays(&set).iter().filter(|delay| **delay == Duration::ZERO).count();
            let expected = 1.0 / (gap - 1.0 + 1.0 / share);
            assert_close(at_once as f64 / f64::from(COUNT), expected, 4.0 * 0.5 / f64::from(COUNT).sqrt());
            assert_close(build(&ENTRY, &set).unwrap().mean().as_secs_f64(), 0.01 * (1.0 - expected), 1e-12);
        }
    }

    #[test]
    fn a_certain_choice_is_periodic() {
        let set = [number("share", 1.0), number("gap", 3.0), ("chosen", Value::Word("late".to_owned()))];
        let millis: Vec<u64> = delays(&set)[..7].iter().map(|delay| delay.as_nanos() / 1_000_000).collect();
        assert_eq!(millis, [10, 10, 15, 10, 10, 15, 10]);
    }
}
