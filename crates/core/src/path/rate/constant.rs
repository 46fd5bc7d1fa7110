//! Constant rate: every bit takes the same time.
//! ## What it does
//! Transmits at `rate`. A rate alone, such as "10 Mbit/s", stands for this part. The engine computes such a link without a model.
//! ## References
//! ns-2.35, `DelayLink` with `bandwidth_`.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `rate`: 10 Mbit/s, the default of a bottleneck.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::rate::RateModel;
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Rate};

/// This part in the registry.
pub static ENTRY: Entry<dyn RateModel> = Entry {
    name: "constant",
    summary: "the same rate at all times",
    reference: "ns-2.35 DelayLink",
    params: &[Param { name: "rate", kind: Kind::Rate { min: 1.0, max: 1e15 }, default: Default::Number(1e7), doc: "transmission rate" }],
    quantities: &[],
    build: |params| {
        let rate = Rate::from_bits_per_sec(params.number("rate") as u64).ok_or("rate must be at least 1 bit/s")?;
        Ok(Box::new(Constant { rate }))
    },
};

/// A rate that does not change.
#[derive(Debug)]
pub struct Constant {
    rate: Rate,
}

impl RateModel for Constant {
    fn finish(&mut self, start: Instant, size: Bytes, _random: &mut Generator) -> Instant {
        start + self.rate.transmission(size)
    }

    fn capacity(&self, until: Instant) -> f64 {
        self.rate.as_bits_per_sec() as f64 * until.as_secs_f64()
    }

    fn mean(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::build;

    #[test]
    fn a_packet_takes_its_transmission_time() {
        let mut model = build(&ENTRY, &[]).unwrap();
        let end = model.finish(Instant::ZERO, Bytes(1250), &mut Generator::derived(1, "test"));
        assert_eq!(end, Instant::from_nanos(1_000_000));
        assert_eq!(model.mean().as_bits_per_sec(), 10_000_000);
    }
}
