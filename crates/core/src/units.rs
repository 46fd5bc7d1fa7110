//! Quantities with their units in the type: times in seconds, rates in bits per second, sizes in bytes.
//!
//! Prefixes are decimal: k, M and G are 10³, 10⁶ and 10⁹.
//!
//! Times are doubles, as in ns-2, so that sums in its order of operations give the same bits. Whole nanoseconds occur only at the edges:
//! files, traces and captured packets.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A window or an amount of data in segments: a real number, as in the papers and in ns-2. A transport rounds it down to send.
pub type Segments = f64;

/// Nanoseconds in one second.
pub const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A point in simulated time: seconds since the start of the run.
///
/// Never negative, −0.0 or NaN, so that the bits have the order of the times.
#[derive(Clone, Copy, PartialEq, Default)]
pub struct Instant(f64);

/// A span of time in seconds, in the same range as an [`Instant`].
#[derive(Clone, Copy, PartialEq, Default)]
pub struct Duration(f64);

/// A place in the order of events: events at the same time happen in the order in which they were determined.
///
/// An arrival is determined when its transmission starts, and a timer when it is set. The start of a transmission is determined when the
/// previous one starts. This is the order in which ns-2 inserts events into its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moment {
    /// Time of the event.
    pub at: Instant,
    /// Time at which the event was determined.
    pub since: Instant,
}

/// A data rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

/// The capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes, headers included.
    Bytes(u64),
}

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0.0);
    /// Later than every event.
    pub const MAX: Self = Self(f64::INFINITY);

    /// The instant `nanos` nanoseconds after the start: the double nearest to the decimal.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(secs(nanos))
    }

    /// Nanoseconds since the start, rounded.
    pub fn as_nanos(self) -> u64 {
        nanos(self.0)
    }

    /// Seconds since the start.
    pub const fn as_secs_f64(self) -> f64 {
        self.0
    }

    /// The bits of the double, which have the order of the times.
    pub const fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    /// The instant with these bits; bits of no valid instant give the start of the run.
    pub const fn from_bits(bits: u64) -> Self {
        Self(non_negative(f64::from_bits(bits)))
    }

    /// The time since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(non_negative(self.0 - earlier.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0.0);
    /// One nanosecond: the tolerance for comparing sums of times that were written as decimals.
    pub const NANOSECOND: Self = Self(1e-9);

    /// A span of `nanos` nanoseconds: the double nearest to the decimal.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(secs(nanos))
    }

    /// A span of `millis` milliseconds: the double nearest to the decimal.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis as f64 / 1e3)
    }

    /// A span of `secs` seconds; negative values and NaN become zero.
    pub const fn from_secs_f64(secs: f64) -> Self {
        Self(non_negative(secs))
    }

    /// The span in nanoseconds, rounded.
    pub fn as_nanos(self) -> u64 {
        nanos(self.0)
    }

    /// The span in seconds.
    pub const fn as_secs_f64(self) -> f64 {
        self.0
    }
}

/// The number of seconds nearest to `nanos` nanoseconds.
///
/// A double holds integers only as far as 2⁵³: above, whole seconds and the rest are converted apart.
const fn secs(nanos: u64) -> f64 {
    if nanos < 1 << f64::MANTISSA_DIGITS {
        return nanos as f64 / NANOS_PER_SEC as f64;
    }
    (nanos / NANOS_PER_SEC) as f64 + (nanos % NANOS_PER_SEC) as f64 / NANOS_PER_SEC as f64
}

/// The number of nanoseconds nearest to `time` seconds. For a time that [`secs`] returns, `secs` of the result is the same double.
///
/// From 2²² s on (49 days), the product of the whole time and 10⁹ can round to a neighbour.
fn nanos(time: f64) -> u64 {
    let whole = time.trunc();
    let rest = ((time - whole) * NANOS_PER_SEC as f64).round();
    (whole as u64).saturating_mul(NANOS_PER_SEC).saturating_add(rest as u64)
}

/// `value`, or zero for an invalid time: a negative value, −0.0 or NaN.
const fn non_negative(value: f64) -> f64 {
    if value > 0.0 { value } else { 0.0 }
}

impl Moment {
    /// The moment of an event that is determined at the time at which it happens.
    pub const fn now(now: Instant) -> Self {
        Self { at: now, since: now }
    }

    /// A number with the order of the moments: one comparison instead of one of each time.
    const fn number(self) -> u128 {
        (self.at.to_bits() as u128) << 64 | self.since.to_bits() as u128
    }
}

impl Rate {
    /// A rate in bits per second; `None` for zero, at which nothing is ever delivered.
    pub const fn from_bits_per_sec(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// The rate in bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }

    /// The transmission time of `size` at this rate.
    pub const fn transmission(self, size: Bytes) -> Duration {
        Duration(8.0 * size.0 as f64 / self.0 as f64)
    }

    /// The bytes delivered in `time`: rate × time / 8. For a round-trip time this is the bandwidth-delay product.
    pub fn bytes_in(self, time: Duration) -> f64 {
        self.0 as f64 * time.as_secs_f64() / 8.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Self;
    /// The difference, or zero if `other` is longer.
    fn sub(self, other: Self) -> Self {
        Self(non_negative(self.0 - other.0))
    }
}

impl Mul<f64> for Duration {
    type Output = Self;
    /// The product with `factor`; zero for a negative factor.
    fn mul(self, factor: f64) -> Self {
        Self(non_negative(self.0 * factor))
    }
}

impl Div<f64> for Duration {
    type Output = Self;
    /// The quotient by `divisor`; zero for a negative divisor.
    fn div(self, divisor: f64) -> Self {
        Self(non_negative(self.0 / divisor))
    }
}

impl Eq for Instant {}

impl Ord for Instant {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.to_bits().cmp(&other.0.to_bits())
    }
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number().cmp(&other.number())
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Instant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl Eq for Duration {}

impl Ord for Duration {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.to_bits().cmp(&other.0.to_bits())
    }
}

impl PartialOrd for Duration {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Duration {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9} s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn transmission_time_is_the_nearest_double() {
        let rate = Rate::from_bits_per_sec(300_000).unwrap();
        assert_eq!(rate.transmission(Bytes(1040)), Duration::from_secs_f64(8320.0 / 300_000.0));
    }

    #[test]
    fn nanoseconds_become_the_nearest_double_and_convert_back() {
        for (nanos, secs) in [(0, 0.0), (1, 1e-9), (418_089_733, 0.418_089_733), (60_000_000_001, 60.000_000_001)] {
            assert_eq!(Instant::from_nanos(nanos).as_secs_f64().to_bits(), f64::to_bits(secs));
            assert_eq!((Instant::from_nanos(nanos).as_nanos(), Duration::from_nanos(nanos).as_nanos()), (nanos, nanos));
        }
        assert_eq!(Instant::MAX.as_nanos(), u64::MAX);
    }

    proptest! {
        #[test]
        fn no_time_changes_by_a_conversion_to_nanoseconds(nanos in any::<u64>(), magnitude in 0..60) {
            let nanos = nanos >> magnitude;
            let time = Instant::from_nanos(nanos);
            prop_assert_eq!(Some(time.as_secs_f64()), format!("{nanos}e-9").parse().ok(), "the double nearest to the decimal");
            prop_assert_eq!(Instant::from_nanos(time.as_nanos()), time);
            prop_assert_eq!(Duration::from_nanos(Duration::from_nanos(nanos).as_nanos()), Duration::from_nanos(nanos));
            // A double holds every nanosecond as far as 2²³ s.
            if nanos < (1 << 23) * NANOS_PER_SEC {
                prop_assert_eq!(time.as_nanos(), nanos);
            }
        }
    }

    #[test]
    fn bits_have_the_order_of_the_times() {
        let times = [0.0, 1e-300, 1e-9, 0.1, 0.1 + 0.2, 1e9, f64::INFINITY].map(|secs| Instant::ZERO + Duration::from_secs_f64(secs));
        assert!(times.is_sorted_by(|a, b| a < b && a.to_bits() < b.to_bits()));
        assert_eq!(times.map(|time| Instant::from_bits(time.to_bits())), times);
        assert_eq!([-0.0, -1.0, f64::NAN].map(|value| Instant::from_bits(f64::to_bits(value)).to_bits()), [0; 3]);
    }

    #[test]
    fn no_result_is_negative_or_nan() {
        let max = Duration::from_secs_f64(f64::INFINITY);
        let zero = [max - max, max * 0.0, Duration::from_millis(1) * -1.0, Duration::from_secs_f64(-0.0), Instant::MAX.since(Instant::MAX)];
        assert!(zero.iter().all(|span| span.as_secs_f64().to_bits() == 0));
    }

    #[test]
    fn at_equal_times_the_event_determined_first_is_first() {
        let moment = |at, since| Moment { at: Instant::from_nanos(at), since: Instant::from_nanos(since) };
        assert!(moment(5, 1) < moment(5, 2) && moment(5, 2) < moment(6, 0));
        assert_eq!(moment(5, 2).cmp(&moment(5, 2)), Ordering::Equal);
        let (last, next) = (Moment { since: Instant::MAX, ..moment(5, 0) }, moment(6, 0));
        assert!(last < next);
    }

    #[test]
    fn a_rate_of_zero_does_not_exist() {
        assert!(Rate::from_bits_per_sec(0).is_none());
    }

    #[test]
    fn times_saturate_instead_of_wrapping() {
        assert_eq!(Instant::MAX + Duration::from_millis(1), Instant::MAX);
        assert_eq!(Instant::ZERO.since(Instant::MAX), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
    }

    #[test]
    fn bandwidth_delay_product() {
        let rate = Rate::from_bits_per_sec(10_000_000).unwrap();
        assert!((rate.bytes_in(Duration::from_millis(60)) - 75_000.0).abs() < 1e-9);
    }
}
