//! Buckets of tokens.

use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Instant};

/// The rates at which tokens may arrive.
pub(crate) const RATE: Kind = Kind::Rate { min: 1.0, max: 1e15 };

/// The size of a bucket with a default of `bytes`.
pub(crate) const fn bucket_size(name: &'static str, bytes: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size { min: 1.0, max: 1e12 }, default: Default::Number(bytes), doc }
}

/// A bucket of tokens of one byte each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// Bits per second.
    pub(crate) rate: f64,
    pub(crate) size: u64,
    /// When the bucket was last full; `taken` counts the tokens consumed since. Whole numbers keep rounding errors from accumulating: a
    /// packet's departure time is the double nearest to the exact quotient, however many packets have left before.
    full: Instant,
    taken: u64,
}

impl Bucket {
    pub(crate) fn new(rate: f64, size: f64) -> Self {
        Self { rate, size: size as u64, full: Instant::ZERO, taken: 0 }
    }

    /// Time at which the bucket holds `tokens`, which must not exceed its size.
    pub(crate) fn time_of(&self, tokens: u64) -> Instant {
        let lacking = (self.taken + tokens).saturating_sub(self.size);
        self.full + Duration::from_secs_f64(8.0 * lacking as f64 / self.rate)
    }

    /// Consumes `tokens`, which the bucket must hold.
    pub(crate) fn consume(&mut self, now: Instant, tokens: u64) {
        if now >= self.time_of(self.size) {
            (self.full, self.taken) = (now, 0);
        }
        self.taken += tokens;
    }

    /// Tokens in the bucket.
    pub(crate) fn tokens(&self, now: Instant) -> f64 {
        (self.passes(now.since(self.full)) - self.taken as f64).min(self.size as f64)
    }

    /// Bytes that leave within `time` of a full bucket.
    pub(crate) fn passes(&self, time: Duration) -> f64 {
        self.size as f64 + self.rate * time.as_secs_f64() / 8.0
    }

    /// Whether the bucket holds `tokens`.
    pub(crate) fn holds(&self, now: Instant, tokens: u64) -> bool {
        tokens <= self.size && self.time_of(tokens) <= now
    }
}
