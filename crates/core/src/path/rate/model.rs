//! The contract between a link and a model of its rate.

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

/// The rate of a link as a function of time. Asked once for each packet.
pub trait RateModel: Debug + Send + Sync {
    /// End of the transmission of `size` bytes that starts at `start`; [`Instant::MAX`] if it never ends. Starts never decrease, and none
    /// is before the end of the previous transmission.
    fn finish(&mut self, start: Instant, size: Bytes, random: &mut Generator) -> Instant;

    /// Bits that the link can carry from the start of the run until `until`; never decreases. Asked for times up to the end of the last
    /// transmission or of the run.
    fn capacity(&self, until: Instant) -> f64;

    /// Mean rate in a run of this length: it stands for the rate where one number is needed. At least 1 bit/s, because a rate of zero does
    /// not exist.
    fn mean(&self, run: Duration) -> Rate {
        mean(self.capacity(Instant::ZERO + run), run)
    }
}

/// The mean rate at which `bits` are carried in `time`; at least 1 bit/s.
fn mean(bits: f64, time: Duration) -> Rate {
    let rate = (bits / time.as_secs_f64()).round() as u64;
    Rate::from_bits_per_sec(rate.max(1)).unwrap_or_else(|| unreachable!("at least 1 bit/s"))
}
