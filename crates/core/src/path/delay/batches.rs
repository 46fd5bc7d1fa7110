//! Batches: packets wait for a slot and arrive together.
//! ## What it does
//! Packets gather until a slot opens, and at most `packets` of them arrive at this instant; the others wait for the next slot. A slot opens
//! a time after the one before, or after the first packet that finds no slot to wait for. This time is drawn evenly from `shortest` to
//! `longest`. Wi-Fi, which aggregates frames into one transmission, and DOCSIS, which grants slots, deliver packets so: ACKs come in bursts. The
//! medium `wifi` has the contention and the overhead from which this arises.
//! ## References
//! Høiland-Jørgensen et al. and the manual page tc-netem(8) (`slot MIN MAX packets N`); Linux 7.2's netem in virtual time, for the begin of the
//! first slot.
//! ## Differs from the document
//! netem also limits the bytes of a slot, and can draw from other distributions.
//! ## Parameters
//! `shortest`: 1 ms, an arbitrary choice; tests of L4S use slots of 0.8 to 5 ms.
//! `longest`: 4 ms, an arbitrary choice.
//! `packets`: 32, as in those tests: a block of Wi-Fi acknowledges 8 to 256 frames, or more.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

const fn time(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Duration { min: 1e-9, max: 1e6 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "batches",
    summary: "packets wait for a slot and arrive together",
    reference: "tc-netem(8)",
    params: &[
        time("shortest", 0.001, "shortest time until the next slot"),
        time("longest", 0.004, "longest time until the next slot"),
        Param {
            name: "packets",
            kind: Kind::Integer { min: 1.0, max: 1e9 },
            default: Default::Number(32.0),
            doc: "largest number of packets that arrive in a slot",
        },
    ],
    quantities: &[],
    build: |params| {
        let [shortest, longest] = ["shortest", "longest"].map(|name| params.number(name));
        if shortest > longest {
            return Err("shortest must not be above longest".to_owned());
        }
        Ok(Box::new(Batches {
            shortest,
            range: longest - shortest,
            packets: params.number("packets") as u64,
            slot: Instant::ZERO,
            free: 0,
        }))
    },
};

/// Slots at random distances.
#[derive(Debug)]
pub struct Batches {
    /// Seconds.
    shortest: f64,
    range: f64,
    packets: u64,
    /// The slot for which packets wait, and how many more it takes.
    slot: Instant,
    free: u64,
}

impl DelayModel for Batches {
    fn delay(&mut self, now: Instant, _size: Bytes, random: &mut Generator) -> Duration {
        if self.slot <= now || self.free == 0 {
            self.slot = self.slot.max(now) + Duration::from_secs_f64(self.shortest + self.range * random.uniform());
            self.free = self.packets;
        }
        self.free -= 1;
        self.slot.since(now)
    }

    fn reorders(&self) -> bool {
        false
    }

    /// That of a packet that comes at any time while packets wait for every slot: half the mean distance, and more if distances differ.
    fn mean(&self) -> Duration {
        let mean = self.shortest + self.range / 2.0;
        let square = mean * mean + self.range * self.range / 12.0;
        Duration::from_secs_f64(square / (2.0 * mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, build};

    /// Arrivals, in seconds, of packets that come in each `gap`.
    fn arrivals(set: &[(&str, Value)], gap: f64, count: u32) -> Vec<f64> {
        let (mut model, mut random) = (build(&ENTRY, set).unwrap(), Generator::derived(1, "test"));
        (0..count)
            .map(|number| {
                let now = Instant::ZERO + Duration::from_secs_f64(gap * f64::from(number));
                (now + model.delay(now, Bytes(1000), &mut random)).as_secs_f64()
            })
            .collect()
    }

    #[test]
    fn a_slot_takes_its_packets_and_distances_are_even() {
        let set = [("shortest", Value::Number(0.02)), ("longest", Value::Number(0.04)), ("packets", Value::Number(8.0))];
        // More packets come than the slots take: every batch is full.
        let arrivals = arrivals(&set, 1e-3, 80_000);
        let batches: Vec<&[f64]> = arrivals.chunk_by(|one, next| next - one < 1e-9).collect();
        assert!(batches.iter().all(|batch| batch.len() == 8));
        let distances: Vec<f64> = batches.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        assert!(distances.iter().all(|distance| (0.02 - 1e-9..0.04 + 1e-9).contains(distance)));
        assert_close(mean, 0.03, 4.0 * 0.02 / 12.0_f64.sqrt() / (distances.len() as f64).sqrt());
    }

    #[test]
    fn a_slot_opens_after_the_first_packet_that_needs_one() {
        let set = [("shortest", Value::Number(0.01)), ("longest", Value::Number(0.01))];
        // After the slot at 10 ms comes a packet at 12 ms, which opens one at 22 ms.
        let found = arrivals(&set, 4e-3, 7);
        for (found, expected) in found.into_iter().zip([0.01, 0.01, 0.01, 0.022, 0.022, 0.022, 0.034]) {
            assert_close(found, expected, 1e-12);
        }
        assert_close(build(&ENTRY, &set).unwrap().mean().as_secs_f64(), 0.005, 1e-12);
    }

    #[test]
    fn the_shortest_is_not_longer_than_the_longest() {
        assert_eq!(build(&ENTRY, &[("shortest", Value::Number(1.0))]).unwrap_err(), "shortest must not be above longest");
    }
}
