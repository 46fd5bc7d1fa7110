//! Completion times of flows and transfers by size, and page load times by application: counts, means and percentiles.

use std::fmt;

/// Smallest sizes of the usual classes of flows, in packets.
pub const CLASSES: [u64; 5] = [1, 10, 100, 1000, 10_000];
/// Smallest sizes of the usual classes of transfers, in bytes.
pub const BYTE_CLASSES: [u64; 5] = [1, 10_000, 100_000, 1_000_000, 10_000_000];

/// Times of flows, transfers or pages, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Number of times.
    pub count: usize,
    /// Number of those unfinished at the end of the run.
    pub unfinished: usize,
    /// Statistics of the finished ones; `None` if there are none.
    pub statistics: Option<Statistics>,
}

/// Mean and percentiles, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// A class of sizes: from `low` up to, but excluding, `high`. Without bounds: all sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Smallest size; `None` for the class of all sizes.
    pub low: Option<u64>,
    /// Smallest size above the class; `None`: no bound.
    pub high: Option<u64>,
}

impl Class {
    fn holds(self, size: u64) -> bool {
        self.low.is_none_or(|low| low <= size) && self.high.is_none_or(|high| size < high)
    }
}

impl fmt::Display for Class {
    /// `all`, `10 to 99` or `10,000 and more`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { low: None, .. } => f.write_str("all"),
            Self { low: Some(low), high: None } => write!(f, "{} and more", grouped(low)),
            Self { low: Some(low), high: Some(high) } => write!(f, "{} to {}", grouped(low), grouped(high - 1)),
        }
    }
}

/// A number with commas as thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Times {
    /// Summarises times; `None` is unfinished.
    pub fn of(times: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (mut count, mut done) = (0, Vec::new());
        for time in times {
            count += 1;
            done.extend(time);
        }
        Self { count, unfinished: count - done.len(), statistics: Statistics::of(done) }
    }
}

impl Statistics {
    /// `None` if there are no values.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let quantile = |share| quantile(&values, share);
        Some(Self { mean, median: quantile(0.5)?, p95: quantile(0.95)?, p99: quantile(0.99)? })
    }
}

/// Interpolates linearly between the two values nearest to the rank `share · (n − 1)`.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    Some((rank - rank.floor()) * (above - below) + below)
}

/// Times of all rows and of each nonempty class of sizes. `starts` are the smallest sizes of the classes, in increasing order.
pub fn by_size(rows: &[(u64, Option<f64>)], starts: &[u64]) -> Vec<(Class, Times)> {
    let ends = starts.iter().skip(1).map(|&end| Some(end)).chain([None]);
    let classes = starts.iter().zip(ends).map(|(&start, high)| Class { low: Some(start), high });
    let times = |class: Class| Times::of(rows.iter().filter(|(size, _)| class.holds(*size)).map(|(_, time)| *time));
    let all = Class { low: None, high: None };
    let filled = classes.map(|class| (class, times(class))).filter(|(_, times)| times.count > 0);
    std::iter::once((all, times(all))).chain(filled).collect()
}

/// Times of each group, in the order of first appearance.
pub fn by_group<G: PartialEq + Copy>(rows: &[(G, Option<f64>)]) -> Vec<(G, Times)> {
    let mut groups: Vec<G> = Vec::new();
    for (group, _) in rows {
        if !groups.contains(group) {
            groups.push(*group);
        }
    }
    let times = |wanted: G| Times::of(rows.iter().filter(|(group, _)| *group == wanted).map(|(_, time)| *time));
    groups.into_iter().map(|group| (group, times(group))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_ranks() {
        let times = Times::of((1..=100).map(|i| Some(f64::from(i) / 100.0)).chain([None]));
        assert_eq!((times.count, times.unfinished), (101, 1));
        let Statistics { mean, median, p95, p99 } = times.statistics.unwrap();
        // Ranks from 0: 0.95 · 99 = 94.05 and 0.99 · 99 = 98.01.
        for (value, expected) in [(mean, 0.505), (median, 0.505), (p95, 0.9505), (p99, 0.9901)] {
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        }
    }

    #[test]
    fn nothing_done_has_no_statistics() {
        assert_eq!(Times::of([None, None]), Times { count: 2, unfinished: 2, statistics: None });
        assert_eq!(by_size(&[], &[1, 10]), [(Class { low: None, high: None }, Times::of([]))]);
    }

    #[test]
    fn classes_without_flows_are_left_out() {
        let found = by_size(&[(9, Some(1.0)), (10, Some(2.0)), (5000, None), (0, Some(3.0))], &[1, 10, 100, 1000]);
        let counts: Vec<_> = found.iter().map(|(class, times)| (class.low, class.high, times.count)).collect();
        assert_eq!(counts, [(None, None, 4), (Some(1), Some(10), 1), (Some(10), Some(100), 1), (Some(1000), None, 1)]);
    }

    #[test]
    fn groups_keep_their_order() {
        let found = by_group(&[("b", Some(1.0)), ("a", None), ("b", Some(3.0))]);
        assert_eq!(found.iter().map(|(group, times)| (*group, times.count)).collect::<Vec<_>>(), [("b", 2), ("a", 1)]);
        assert!((found[0].1.statistics.unwrap().mean - 2.0).abs() < 1e-12);
    }
}
