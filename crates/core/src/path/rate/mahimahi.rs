//! Mahimahi trace: packets leave at recorded instants.
//! ## What it does
//! At each of the `opportunities`, whole milliseconds from the start of the run, `bytes` bytes can leave; several opportunities can be at the
//! same instant. What nobody uses is lost. A packet counts `overhead` bytes more than its size, leaves when its last byte has found
//! room, and may take several opportunities; several small packets share one. The trace begins again after its last opportunity, which is
//! also its period. Utilisation is the share of the opportunities that carried anything.
//!
//! A scenario reads a trace of Mahimahi from a `file`: one number in each line. The frozen scenario has the numbers themselves.
//! ## References
//! Netravali et al., *Mahimahi: accurate record-and-replay for HTTP*, 2015; the manual page mm-link(1).
//! ## Differs from the document
//! - Packets can arrive at any time; Mahimahi's clock has whole milliseconds, so that a packet can still use an opportunity of the millisecond
//!   in which it arrives.
//! - The queue is that of the link, with all its disciplines.
//! ## Parameters
//! `opportunities`: milliseconds that do not decrease; the last is above 0. One in every millisecond: 12 Mbit/s.
//! `bytes`: 1504 B, as Mahimahi: a packet of 1500 bytes and the header of its TUN device.
//! `overhead`: 4 B, that header.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::rate::RateModel;
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Rate};

/// This part in the registry.
pub static ENTRY: Entry<dyn RateModel> = Entry {
    name: "mahimahi",
    summary: "packets leave at recorded instants",
    reference: "Netravali et al. 2015",
    params: &[
        Param {
            name: OPPORTUNITIES,
            kind: Kind::Numbers { min: 0.0, max: 1e12 },
            default: Default::Numbers(&[1.0]),
            doc: "whole milliseconds at which packets can leave, in order; the last one is also the period",
        },
        Param {
            name: "bytes",
            kind: Kind::Size { min: 1.0, max: 1e9 },
            default: Default::Number(1504.0),
            doc: "bytes that an opportunity carries",
        },
        Param {
            name: "overhead",
            kind: Kind::Size { min: 0.0, max: 1e6 },
            default: Default::Number(4.0),
            doc: "bytes that a packet takes besides its own",
        },
    ],
    quantities: &[],
    build: |params| {
        let millis = params.numbers(OPPORTUNITIES);
        if let Some(fraction) = millis.iter().find(|number| number.fract() != 0.0) {
            return Err(format!("opportunities must be whole milliseconds, not {fraction}"));
        }
        if !millis.is_sorted() {
            return Err("opportunities must not decrease".to_owned());
        }
        let period = match millis.last() {
            Some(last) if *last > 0.0 => *last,
            _ => return Err("opportunities must end with a number above 0, which is the period".to_owned()),
        };
        let bytes = params.number("bytes");
        let mean = millis.len() as f64 * bytes * 8.0 / (period / 1e3);
        let mean = Rate::from_bits_per_sec(mean.round() as u64).ok_or("opportunities must have a mean rate of at least 1 bit/s")?;
        let times = millis.iter().map(|number| *number as u64).collect();
        let [bytes, overhead] = [bytes, params.number("overhead")].map(|bytes| bytes as u64);
        Ok(Box::new(Mahimahi { times, period: period as u64, bytes, overhead, mean, next: 0, at: Instant::ZERO, left: 0 }))
    },
};

/// The parameter that a file can hold.
pub const OPPORTUNITIES: &str = "opportunities";

/// Reads a trace: one whole number of milliseconds in each line.
///
/// # Errors
/// A message with the line that is empty, no such number, or below the one before.
pub fn read(text: &str) -> Result<Vec<f64>, String> {
    let mut times: Vec<f64> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |what: &str| Err(format!("line {number}: {what}"));
        match line.trim().parse::<u32>() {
            Ok(time) if times.last().is_some_and(|last| *last > f64::from(time)) => {
                return wrong("is earlier than the line before: the times of a Mahimahi trace must not decrease");
            }
            Ok(time) => times.push(time.into()),
            Err(_) if line.trim().is_empty() => return wrong("is empty: each line of a Mahimahi trace is a number of milliseconds"),
            Err(_) => return wrong("is not a whole number of milliseconds"),
        }
    }
    Ok(times)
}

/// A repeated list of opportunities.
#[derive(Debug)]
pub struct Mahimahi {
    /// Milliseconds.
    times: Box<[u64]>,
    period: u64,
    bytes: u64,
    overhead: u64,
    mean: Rate,
    /// Number of the first opportunity that is neither used nor lost, over all periods.
    next: u64,
    /// Time of the last one used, and the bytes that it still carries.
    at: Instant,
    left: u64,
}

impl Mahimahi {
    fn time(&self, number: u64) -> Instant {
        let count = self.times.len() as u64;
        let millis = number / count * self.period + self.times[(number % count) as usize];
        Instant::from_nanos(millis.saturating_mul(1_000_000))
    }

    /// Number of opportunities before `until`, or also at it.
    fn count(&self, until: Instant, inclusive: bool) -> u64 {
        // A period earlier than by division, which rounds.
        let cycle = ((until.as_secs_f64() * 1e3 / self.period as f64) as u64).saturating_sub(1);
        let count = self.times.len() as u64;
        let (mut low, mut high) = (cycle * count, (cycle + 3) * count);
        while low < high {
            let middle = u64::midpoint(low, high);
            let time = self.time(middle);
            if time < until || inclusive && time == until { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl RateModel for Mahimahi {
    fn finish(&mut self, start: Instant, size: Bytes, _random: &mut Generator) -> Instant {
        if start == Instant::MAX {
            return start;
        }
        let mut need = size.0 + self.overhead;
        if self.at < start {
            self.left = 0;
            // Most packets follow the one before: then few opportunities are lost, if any.
            if self.time(self.next) < start {
                self.next = self.next.max(self.count(start, false));
            }
        }
        if need > self.left {
            need -= self.left;
            let used = need.div_ceil(self.bytes);
            self.at = self.time(self.next + used - 1);
            self.next += used;
            self.left = used * self.bytes;
        }
        self.left -= need;
        self.at
    }

    fn capacity(&self, until: Instant) -> f64 {
        self.count(until, true) as f64 * self.bytes as f64 * 8.0
    }

    fn mean(&self) -> Rate {
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::build;
    use crate::units::Duration;
    use proptest::prelude::*;

    fn trace(millis: &[f64]) -> Result<Box<dyn RateModel>, String> {
        build(&ENTRY, &[("opportunities", Value::Numbers(millis.to_vec()))])
    }

    fn at(millis: f64) -> Instant {
        Instant::from_nanos((millis * 1e6) as u64)
    }

    /// Milliseconds at which packets of these sizes leave that are ready from `start` on, one after the other.
    fn leave(model: &mut dyn RateModel, start: f64, sizes: &[u64]) -> Vec<f64> {
        let mut free = at(start);
        let one = |size: &u64| {
            free = model.finish(free, Bytes(*size), &mut Generator::derived(1, "test"));
            free.as_nanos() as f64 / 1e6
        };
        sizes.iter().map(one).collect()
    }

    #[test]
    fn a_packet_of_1500_bytes_takes_an_opportunity() {
        let mut model = trace(&[2.0, 2.0, 5.0]).unwrap();
        assert_eq!(leave(&mut *model, 0.0, &[1500; 8]), [2.0, 2.0, 5.0, 7.0, 7.0, 10.0, 12.0, 12.0]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let mut model = trace(&[1.0, 3.0, 4.0, 10.0]).unwrap();
        // 748 + 4 bytes twice are 1504; 3004 + 4 bytes are two opportunities; of 996 + 4 bytes, 504 are left for 500 and not for 501.
        assert_eq!(leave(&mut *model, 0.0, &[748, 748, 3004, 996, 500]), [1.0, 1.0, 4.0, 10.0, 10.0]);
        let mut model = trace(&[1.0, 3.0, 4.0, 10.0]).unwrap();
        assert_eq!(leave(&mut *model, 0.0, &[996, 501]), [1.0, 3.0]);
    }

    #[test]
    fn unused_opportunities_are_lost() {
        let mut model = trace(&[1.0, 2.0, 3.0, 10.0]).unwrap();
        assert_eq!(leave(&mut *model, 2.5, &[100]), [3.0]);
        // The rest of the opportunity at 3 ms is lost as well, and so are those until 33 ms.
        assert_eq!(leave(&mut *model, 33.5, &[100, 1500]), [40.0, 41.0]);
        assert_eq!(leave(&mut *model, 50.0, &[1500]), [50.0]);
    }

    #[test]
    fn the_mean_rate_is_that_of_the_public_traces() {
        // Of ATT-LTE-driving-2016.down, 45604 lines in 120.002 s, and ATT-LTE-driving.down, 338895 lines in 786.112 s: 4.572 and 5.187 Mbit/s.
        for (lines, period, expected) in [(45_604_u32, 120_002_u32, 4_572_496), (338_895, 786_112, 5_187_040)] {
            let millis: Vec<f64> = (1..=lines).map(|line| (f64::from(line) * f64::from(period) / f64::from(lines)).floor()).collect();
            let model = trace(&millis).unwrap();
            let mean = model.mean().as_bits_per_sec();
            assert!(mean.abs_diff(expected) < 1000, "{mean}");
            let carried = model.capacity(at(f64::from(period)));
            assert_eq!(carried, f64::from(lines) * 1504.0 * 8.0);
        }
    }

    #[test]
    fn senseless_traces_are_refused() {
        let error = |millis: &[f64]| trace(millis).unwrap_err();
        assert_eq!(error(&[]), "opportunities must end with a number above 0, which is the period");
        assert_eq!(error(&[0.0]), "opportunities must end with a number above 0, which is the period");
        assert_eq!(error(&[2.0, 1.0]), "opportunities must not decrease");
        assert_eq!(error(&[1.5]), "opportunities must be whole milliseconds, not 1.5");
        assert_eq!(read("0\n1\n1\n7\n").unwrap(), [0.0, 1.0, 1.0, 7.0]);
        assert_eq!(read("1\n\n2\n").unwrap_err(), "line 2: is empty: each line of a Mahimahi trace is a number of milliseconds");
        assert_eq!(read("5\n4\n").unwrap_err(), "line 2: is earlier than the line before: the times of a Mahimahi trace must not decrease");
        assert_eq!(read("5\n6 ms\n").unwrap_err(), "line 2: is not a whole number of milliseconds");
    }

    proptest! {
        /// Against a walk through the opportunities, one by one.
        #[test]
        fn a_packet_leaves_when_its_last_byte_has_room(
            gaps in prop::collection::vec(0..4_u32, 1..8),
            packets in prop::collection::vec((prop_oneof![Just(0.0), 0.0..9.0_f64], 1..5000_u64), 1..30),
        ) {
            let mut millis: Vec<f64> = gaps.iter().scan(0, |time, gap| { *time += gap; Some(f64::from(*time)) }).collect();
            millis.push(millis[millis.len() - 1] + 1.0);
            let period = millis[millis.len() - 1];
            let mut model = trace(&millis).unwrap();
            let opportunity = |number: usize| at((number / millis.len()) as f64 * period + millis[number % millis.len()]);
            let (mut free, mut number, mut room) = (Instant::ZERO, 0, 1504);
            for (gap, size) in packets {
                let start = free + Duration::from_secs_f64(gap / 1e3);
                let mut need = size + 4;
                let expected = loop {
                    let time = opportunity(number);
                    if time >= start && room >= need {
                        room -= need;
                        break time;
                    }
                    need -= if time >= start { room } else { 0 };
                    (number, room) = (number + 1, 1504);
                };
                free = model.finish(start, Bytes(size), &mut Generator::derived(1, "test"));
                prop_assert_eq!(free, expected);
            }
        }
    }
}
