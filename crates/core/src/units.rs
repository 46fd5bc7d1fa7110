//! Quantities with their units in the type: times in integer nanoseconds, rates in bits per second, sizes in bytes.
//!
//! Prefixes are decimal: k, M and G are 10³, 10⁶ and 10⁹.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A window or an amount of data in segments: a real number, as in the papers and in ns-2. A transport sends its floor.
pub type Segments = f64;

/// Nanoseconds in one second.
pub const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A point in simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

/// A data rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

/// An amount of data in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The time since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A span of `secs` seconds, rounded to the nearest nanosecond; negative values and NaN become zero, too large ones the maximum.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * NANOS_PER_SEC as f64).round() as u64)
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// The span times `factor`, at most the largest span.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Rate {
    /// A rate in bits per second; `None` for zero, which would never deliver anything.
    pub const fn from_bits_per_sec(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// The rate in bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }

    /// The time `size` takes at this rate: whole nanoseconds, and the remainder in units of 1/rate nanoseconds.
    ///
    /// The remainder lets a busy link add up exact transmission times instead of rounded ones.
    pub const fn transmission(self, size: Bytes) -> (u64, u64) {
        let bits = size.0 as u128 * 8 * NANOS_PER_SEC as u128;
        let rate = self.0 as u128;
        ((bits / rate) as u64, (bits % rate) as u64)
    }

    /// The bytes this rate delivers in `time`: rate × time / 8, the bandwidth-delay product when `time` is a round-trip time.
    pub fn bytes_in(self, time: Duration) -> f64 {
        self.0 as f64 * time.as_secs_f64() / 8.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
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
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
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

    #[test]
    fn transmission_time_is_exact_with_its_remainder() {
        let rate = Rate::from_bits_per_sec(300_000).unwrap();
        // 1040 B at 0.3 Mbit/s take 27.7333… ms.
        assert_eq!(rate.transmission(Bytes(1040)), (27_733_333, 100_000));
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
