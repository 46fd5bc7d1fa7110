//! TCP Hybla's initial window: as many segments as the path's round-trip time is longer than the reference path's.
//! ## What it does
//! Starts with ρ segments, the ratio of the handshake's round-trip time to `rtt0`, and at least one. With the slow start and the avoidance
//! `hybla` the window divided by its round-trip time then grows as that of the reference path does.
//! ## References
//! Caini & Firrincieli, *TCP Hybla: a TCP enhancement for heterogeneous networks*, 2004, §3.
//! ## Differs from the document
//! - The paper's text was not available: the window ρ·2^(ρt/RTT) of slow start, which the literature about it reports, has ρ segments at t
//!   = 0.
//! - After a lost SYN it starts with one segment, also if the handshake's round-trip time is unknown.
//!
//! `variant = "linux"` rounds down to whole segments.
//! ## Parameters
//! `rtt0`: 25 ms. `variant`: "published" or "linux".

use crate::cc::contract::InitialWindow;
use crate::cc::hybla::{RTT0, Ratio, VARIANT};
use crate::entry::Entry;
use crate::events::Established;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "hybla",
    summary: "TCP Hybla: one segment for each 25 ms of the round-trip time",
    reference: "Caini & Firrincieli 2004",
    params: &[RTT0, VARIANT],
    quantities: &[],
    build: |params| Ok(Box::new(Hybla { ratio: Ratio::new(params) })),
};

/// Hybla's initial window.
#[derive(Clone, Debug)]
pub struct Hybla {
    ratio: Ratio,
}

impl InitialWindow for Hybla {
    fn segments(&self, event: &Established) -> Segments {
        let Some(rtt) = event.rtt.filter(|_| !event.syn_lost()) else { return 1.0 };
        let mut ratio = self.ratio.clone();
        ratio.take(rtt);
        if ratio.linux { libm::floor(ratio.rho()) } else { ratio.rho() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, established};
    use crate::units::Duration;

    #[test]
    fn a_segment_for_each_25_ms() {
        let segments = |variant: &str, millis, lost_syns| {
            let part = build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap();
            part.segments(&Established { rtt: Some(Duration::from_millis(millis)), lost_syns, ..established(1460) })
        };
        assert_eq!([10, 25, 110, 600].map(|millis| segments("published", millis, 0)), [1.0, 1.0, 4.4, 24.0]);
        assert_eq!(segments("linux", 110, 0), 4.0);
        assert_eq!(segments("published", 600, 1), 1.0);
    }
}
