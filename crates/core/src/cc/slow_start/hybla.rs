//! TCP Hybla's slow start: as fast in seconds as that of a path with a short round-trip time.
//! ## What it does
//! Adds 2^ρ − 1 segments for each acknowledged segment, where ρ is the round-trip time divided by `rtt0`, at least 1. The window doubles
//! once in `rtt0` instead of once in a round trip.
//! ## References
//! Caini & Firrincieli, *TCP Hybla: a TCP enhancement for heterogeneous networks*, 2004, §3.
//! ## Differs from the document
//! - The round-trip time is the smoothed one.
//! - ρ counts as at most 16, as in Linux, so that the window stays finite.
//! - An ACK never takes the window beyond `ssthresh`.
//!
//! `variant = "linux"` has ρ in eighths, from the smallest smoothed round-trip time, and 2^ρ in units of 1/128, rounded down; each ACK
//! counts as one segment.
//! ## Parameters
//! `rtt0`: 25 ms. `variant`: "published" or "linux".

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::hybla::{RHO, RTT0, Ratio, VARIANT};
use crate::entry::Entry;
use crate::events::{Ack, Established};
use crate::params::Params;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "hybla",
    summary: "TCP Hybla: doubles once in 25 ms instead of once in a round trip",
    reference: "Caini & Firrincieli 2004",
    params: &[RTT0, VARIANT],
    quantities: &[RHO],
    build: |params| Ok(Box::new(Hybla::new(params))),
};

/// Largest ρ that counts.
const MOST: f64 = 16.0;
/// Units of 2^ρ in Linux.
const UNIT: f64 = 128.0;

/// Hybla's slow start.
#[derive(Clone, Debug)]
pub struct Hybla {
    ratio: Ratio,
}

impl Hybla {
    fn new(params: &Params) -> Self {
        Self { ratio: Ratio::new(params) }
    }

    /// 2^ρ − 1.
    fn per_segment(&self) -> Segments {
        let rho = self.ratio.rho();
        if !self.ratio.linux {
            return libm::exp2(rho.min(MOST)) - 1.0;
        }
        let whole = libm::floor(rho);
        let fraction = libm::floor(UNIT * libm::exp2(rho - whole));
        libm::exp2(whole.min(MOST)) * fraction / UNIT - 1.0
    }
}

impl SlowStart for Hybla {
    fn on_established(&mut self, event: &Established, _window: &Window) {
        if let Some(rtt) = event.rtt {
            self.ratio.take(rtt);
        }
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        self.ratio.observe(ack);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        let counted = if self.ratio.linux { ack.counted.min(1.0) } else { ack.counted };
        Step::Grow((counted * self.per_segment()).min(window.ssthresh - window.cwnd))
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rho", self.ratio.rho());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, window};
    use crate::units::Duration;
    use proptest::prelude::*;

    /// Growth at an ACK of one segment with this round-trip time.
    fn growth(variant: &str, millis: f64, window: &Window) -> Segments {
        let mut part = build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap();
        let ack = Ack { srtt: Some(Duration::from_secs_f64(millis / 1e3)), ..ACK };
        part.observe(&ack, window);
        let Step::Grow(segments) = part.on_ack(&ack, window) else { panic!("no growth") };
        segments
    }

    #[test]
    fn fifteen_segments_per_ack_at_100_ms() {
        for variant in ["published", "linux"] {
            assert_eq!([10.0, 25.0, 50.0, 100.0].map(|millis| growth(variant, millis, &window(10.0))), [1.0, 1.0, 3.0, 15.0]);
        }
        // ρ = 1.6 is 12/8 in Linux: 2^0.5 is 181/128.
        assert_eq!(growth("linux", 40.0, &window(10.0)), 2.0 * 181.0 / 128.0 - 1.0);
        assert_close(growth("published", 40.0, &window(10.0)), libm::exp2(1.6) - 1.0, 1e-12);
        assert_eq!(growth("published", 100.0, &Window { cwnd: 10.0, ssthresh: 12.5 }), 2.5);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn linux_is_slightly_slower_than_published(millis in 1.0..400.0_f64) {
            let [linux, published] = ["linux", "published"].map(|variant| growth(variant, millis, &window(10.0)) + 1.0);
            // An eighth of ρ at most, and the rounding of 2^ρ.
            prop_assert!(linux <= published * (1.0 + 1e-9) && linux >= published / libm::exp2(0.126) * 0.99);
        }
    }
}
