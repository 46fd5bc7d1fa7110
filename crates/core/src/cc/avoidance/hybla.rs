//! TCP Hybla's avoidance: as fast in seconds as that of a path with a short round-trip time.
//! ## What it does
//! Adds ρ²/cwnd segments for each acknowledged segment, where ρ is the round-trip time divided by `rtt0`, at least 1: the throughput grows
//! as Reno's does over a path of `rtt0`. Congestion halves the window.
//! ## References
//! Caini & Firrincieli, *TCP Hybla: a TCP enhancement for heterogeneous networks*, 2004, §3.
//! ## Differs from the document
//! - The round-trip time is the smoothed one.
//! - As elsewhere, congestion reduces the window in force.
//!
//! `variant = "linux"` has ρ in eighths, from the smallest smoothed round-trip time, and each increment in units of 1/128, rounded down;
//! each ACK counts as one segment. Fractions of a segment are kept across congestion. If the increment is zero, the window grows by one
//! segment once cwnd ACKs have arrived.
//! ## Parameters
//! `rtt0`: 25 ms. `variant`: "published" or "linux".

use crate::cc::contract::{Avoidance, Window};
use crate::cc::hybla::{RHO, RTT0, Ratio, VARIANT};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent, Established};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "hybla",
    summary: "TCP Hybla: ρ² segments per round trip, for a round-trip time of ρ times 25 ms; halves at congestion",
    reference: "Caini & Firrincieli 2004",
    params: &[RTT0, VARIANT],
    quantities: &[RHO],
    build: |params| Ok(Box::new(Hybla { ratio: Ratio::new(params), acks: 0.0, rest: 0.0 })),
};

/// Units of an increment in Linux.
const UNIT: f64 = 128.0;

/// Hybla's avoidance.
#[derive(Clone, Debug)]
pub struct Hybla {
    ratio: Ratio,
    /// ACKs with an increment of zero, and the fraction of a segment that is left, also across congestion (Linux).
    acks: Segments,
    rest: Segments,
}

impl Avoidance for Hybla {
    fn on_established(&mut self, event: &Established) {
        if let Some(rtt) = event.rtt {
            self.ratio.take(rtt);
        }
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        self.ratio.observe(ack);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd;
        let increment = self.ratio.rho() * self.ratio.rho() / cwnd;
        if !self.ratio.linux {
            return cwnd + increment * ack.counted;
        }
        let increment = libm::floor(UNIT * increment) / UNIT;
        if increment > 0.0 {
            self.rest += increment;
            let grown = libm::floor(self.rest);
            self.rest -= grown;
            return cwnd + grown;
        }
        self.acks += 1.0;
        if self.acks < cwnd {
            return cwnd;
        }
        self.acks = 0.0;
        cwnd + 1.0
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.on_restart();
    }

    fn on_restart(&mut self) {
        self.acks = 0.0;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rho", self.ratio.rho());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, sawtooth, window};
    use crate::units::Duration;
    use proptest::prelude::*;

    /// Hybla on a path with this round-trip time.
    fn hybla(variant: &str, millis: u64) -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap();
        part.observe(&Ack { srtt: Some(Duration::from_millis(millis)), ..ACK }, &window(10.0));
        part
    }

    #[test]
    fn sixteen_segments_per_round_trip_at_100_ms() {
        for (millis, segments) in [(10, 1.0), (25, 1.0), (50, 4.0), (100, 16.0)] {
            let mut part = hybla("published", millis);
            assert_close(40.0 * (part.on_ack(&ACK, &window(40.0)) - 40.0), segments, 1e-9);
        }
        // 16/40 is 51/128, rounded down: the third ACK exceeds a segment, also after a reduction.
        let mut part = hybla("linux", 100);
        let ack = |part: &mut dyn Avoidance| part.on_ack(&ACK, &window(40.0));
        assert_eq!([(); 2].map(|()| ack(&mut *part)), [40.0; 2]);
        part.on_reduction(&congestion(Cause::DupAck, 80.0), &window(40.0));
        assert_eq!(ack(&mut *part), 41.0);
        assert_eq!(hybla("published", 100).respond(&congestion(Cause::DupAck, 40.0), &window(40.0)).cwnd, 20.0);
    }

    #[test]
    fn linux_counts_acks_where_an_increment_is_zero() {
        let mut part = hybla("linux", 25);
        let mut cwnd = 200.0;
        for _ in 0..199 {
            cwnd = part.on_ack(&ACK, &window(cwnd));
        }
        assert_eq!(cwnd, 200.0);
        assert_eq!(part.on_ack(&ACK, &window(cwnd)), 201.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn the_mean_window_is_rho_times_renos(acks in 1000_u32..50_000, rho in 1_u64..8) {
            // AIMD with an increase of ρ² has ρ times Reno's window: √(3/2)·ρ/√p.
            let cycle = sawtooth(&mut *hybla("published", 25 * rho), acks, 100.0);
            let law = libm::sqrt(1.5 * f64::from(acks)) * rho as f64;
            prop_assert!((f64::from(acks) / cycle.rtts / law - 1.0).abs() < 0.03, "{} {law}", f64::from(acks) / cycle.rtts);
        }
    }
}
