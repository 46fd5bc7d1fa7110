//! The contract between a link and a model of its rate.

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Instant, Rate};

/// The rate of a link as a function of time. Asked once for each packet.
pub trait RateModel: Debug + Send + Sync {
    /// End of the transmission of `size` bytes that starts at `start`; [`Instant::MAX`] if it never ends. Starts never decrease, and none
    /// is before the end of the previous transmission.
    fn finish(&mut self, start: Instant, size: Bytes, random: &mut Generator) -> Instant;

    /// Bits that the link can carry from the start of the run until `until`; never decreases. Asked for times up to the end of the last
    /// transmission or of the run. A random rate counts with its mean from where it is not drawn yet.
    fn capacity(&self, until: Instant) -> f64;

    /// Mean rate in the long run: it stands for the rate where one number is needed, such as in a bandwidth-delay product. It does not
    /// depend on the length of the run, so that a longer run begins as a shorter one.
    fn mean(&self) -> Rate;
}
