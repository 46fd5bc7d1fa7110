//! Lateness of releases: the time by which a packet is given to the kernel after it has arrived in virtual time.

use ackclock_core::units::Duration;

/// Bins for each power of two: a quantile is at most 1/32 above the measured value.
const BINS: usize = 32;
/// Powers of two above the first, of nanoseconds: up to 2⁴² ns, more than an hour.
const POWERS: usize = 38;

/// How late packets were released.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lateness {
    /// Number of released packets.
    pub releases: u64,
    /// Half of the releases were at most so late.
    pub p50: Duration,
    /// 99 % of the releases were at most so late.
    pub p99: Duration,
    /// The latest release.
    pub max: Duration,
}

/// Counts latenesses without growing, so that counting never waits for memory.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    releases: u64,
    max: u64,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self { counts: vec![0; BINS * POWERS], releases: 0, max: 0 }
    }

    /// Counts a release that is `nanos` late.
    pub(super) fn add(&mut self, nanos: u64) {
        self.counts[bin(nanos).min(BINS * POWERS - 1)] += 1;
        self.releases += 1;
        self.max = self.max.max(nanos);
    }

    pub(super) fn lateness(&self) -> Lateness {
        let [p50, p99] = [0.5, 0.99].map(|share| Duration::from_nanos(self.quantile(share)));
        Lateness { releases: self.releases, p50, p99, max: Duration::from_nanos(self.max) }
    }

    /// The upper end of the bin in which the quantile is.
    fn quantile(&self, share: f64) -> u64 {
        let rank = (share * self.releases as f64).ceil() as u64;
        let mut passed = 0;
        let within = |count: &u64| {
            passed += count;
            passed >= rank
        };
        self.counts.iter().position(within).map_or(0, |index| top(index).min(self.max))
    }
}

/// The bin of a value. Values below [`BINS`] have a bin each; above, each power of two has [`BINS`] bins.
fn bin(nanos: u64) -> usize {
    let power = (u64::BITS - nanos.leading_zeros()).saturating_sub(BINS.trailing_zeros() + 1) as usize;
    power * BINS + (nanos >> power) as usize
}

/// The largest value of a bin.
fn top(bin: usize) -> u64 {
    let power = (bin / BINS).saturating_sub(1);
    (((bin - power * BINS) as u64 + 1) << power) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bin_whose_top_is_at_most_a_32nd_above() {
        let mut before = 0;
        for value in (0..5000).chain((1..40).map(|power| (1 << power) + 12_345)) {
            let (index, top) = (bin(value), top(bin(value)));
            assert!(top >= value && top - value <= value / 32, "{value}: {top}");
            assert!(index >= before && bin(top) == index && bin(top + 1) == index + 1, "{value}: bin {index}");
            before = if value < 5000 { index } else { 0 };
        }
    }

    #[test]
    fn quantiles_of_known_values() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.lateness(), Lateness::default());
        (1..=1000).for_each(|value| histogram.add(1000 * value));
        let Lateness { releases, p50, p99, max } = histogram.lateness();
        let near = |duration: Duration, nanos: f64| (duration.as_nanos() as f64 / nanos - 1.0).abs() < 1.0 / 32.0;
        assert!(releases == 1000 && near(p50, 500e3) && near(p99, 990e3) && max.as_nanos() == 1_000_000, "{:?}", histogram.lateness());
        histogram.add(u64::MAX);
        assert_eq!(histogram.lateness().max.as_nanos(), u64::MAX);
    }
}
