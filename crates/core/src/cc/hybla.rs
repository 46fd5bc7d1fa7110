//! TCP Hybla's ratio ρ between a path's round-trip time and that of a reference path, on which initial window, slow start and avoidance
//! depend.
//!
//! ## References
//! Caini & Firrincieli, *TCP Hybla: a TCP enhancement for heterogeneous networks*, International Journal of Satellite Communications and
//! Networking 22(5), 2004.

use crate::entry::{Quantity, quantity};
use crate::events::Ack;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Duration;

/// Round-trip time of the reference path.
pub(crate) const RTT0: Param = Param {
    name: "rtt0",
    kind: Kind::Duration { min: 1e-6, max: 10.0 },
    default: Default::Number(0.025),
    doc: "round-trip time of the path whose growth a longer path shall have (Linux: 25 ms, ns-3: 50 ms)",
};

/// Selects exact numbers or those of Linux.
pub(crate) const VARIANT: Param = Param {
    name: "variant",
    kind: Kind::Word(&["published", "linux"]),
    default: Default::Word("published"),
    doc: "exact numbers, or the fractions of Linux",
};

/// The ratio in traces.
pub(crate) const RHO: Quantity = quantity("rho", "", "round-trip time over that of the reference path, at least 1");

/// Units of ρ in Linux.
const EIGHTHS: f64 = 8.0;

/// The ratio ρ.
#[derive(Clone, Debug)]
pub(crate) struct Ratio {
    rtt0: Duration,
    /// Whether the rules are those of Linux.
    pub(crate) linux: bool,
    rho: f64,
    /// Smallest smoothed round-trip time.
    least: Option<Duration>,
}

impl Ratio {
    /// The ratio 1 of an unknown path.
    pub(crate) fn new(params: &Params) -> Self {
        Self { rtt0: Duration::from_secs_f64(params.number("rtt0")), linux: params.word("variant") == "linux", rho: 1.0, least: None }
    }

    /// Takes a round-trip time.
    pub(crate) fn take(&mut self, rtt: Duration) {
        // Linux keeps the ratio unless the smoothed time is the smallest so far.
        if !self.linux || self.least.is_none_or(|least| rtt < least) {
            let rho = (rtt.as_nanos() as f64 / self.rtt0.as_nanos() as f64).max(1.0);
            (self.rho, self.least) = (if self.linux { libm::floor(EIGHTHS * rho) / EIGHTHS } else { rho }, Some(rtt));
        }
    }

    /// Observes an ACK.
    pub(crate) fn observe(&mut self, ack: &Ack) {
        if let Some(srtt) = ack.srtt {
            self.take(srtt);
        }
    }

    /// ρ.
    pub(crate) const fn rho(&self) -> f64 {
        self.rho
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;

    fn ratio(variant: &str) -> Ratio {
        let mut params = Params::defaults(&[RTT0, VARIANT]);
        params.set("variant", Value::Word(variant.to_owned()));
        Ratio::new(&params)
    }

    #[test]
    fn the_ratio_is_at_least_one_and_follows_the_round_trip_time() {
        let read = |variant, millis: &[u64]| {
            let mut ratio = ratio(variant);
            for &each in millis {
                ratio.take(Duration::from_millis(each));
            }
            ratio.rho()
        };
        assert_eq!([read("published", &[]), read("published", &[10]), read("published", &[100, 120])], [1.0, 1.0, 4.8]);
        assert_eq!([read("linux", &[10]), read("linux", &[120, 100, 120]), read("linux", &[42])], [1.0, 4.0, 1.625]);
    }
}
