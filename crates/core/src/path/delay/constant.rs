//! Constant delay: every packet takes the same time.
//! ## What it does
//! Delays each packet by `delay`. A time alone, such as "10 ms", stands for this part. The engine computes such a link without a model.
//! ## References
//! ns-2.35, `DelayLink` with `delay_`.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `delay`: 10 ms, the default of every link.

use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::path::delay::DelayModel;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant};

/// This part in the registry.
pub static ENTRY: Entry<dyn DelayModel> = Entry {
    name: "constant",
    summary: "the same delay for every packet",
    reference: "ns-2.35 DelayLink",
    params: &[Param {
        name: "delay",
        kind: Kind::Duration { min: 0.0, max: 1e6 },
        default: Default::Number(0.01),
        doc: "propagation delay",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Constant { delay: Duration::from_secs_f64(params.number("delay")) })),
};

/// A delay that does not change.
#[derive(Debug)]
pub struct Constant {
    delay: Duration,
}

impl DelayModel for Constant {
    fn delay(&mut self, _now: Instant, _size: Bytes, _random: &mut Generator) -> Duration {
        self.delay
    }

    fn reorders(&self) -> bool {
        false
    }

    fn mean(&self) -> Duration {
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::build;

    #[test]
    fn every_packet_takes_its_delay() {
        let mut model = build(&ENTRY, &[]).unwrap();
        let delay = model.delay(Instant::ZERO, Bytes(1000), &mut Generator::derived(1, "test"));
        assert_eq!((delay, model.mean(), model.reorders()), (Duration::from_millis(10), delay, false));
    }
}
