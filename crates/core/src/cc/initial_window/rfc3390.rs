//! Initial window of RFC 3390: two to four segments.
//! ## What it does
//! Starts with min(4 · SMSS, max(2 · SMSS, 4380 bytes)). After a lost SYN it starts with one segment.
//! ## References
//! RFC 3390 §1; RFC 5681 §3.1 (one segment after a lost SYN).
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! None.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "rfc3390",
    summary: "min(4·SMSS, max(2·SMSS, 4380 B))",
    reference: "RFC 3390 §1",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Rfc3390)),
};

/// The initial window of RFC 3390.
#[derive(Clone, Debug)]
pub struct Rfc3390;

impl InitialWindow for Rfc3390 {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        // RFC 3390 §1, equation 1.
        let smss = event.smss.0 as f64;
        (4.0 * smss).min((2.0 * smss).max(4_380.0)) / smss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::established;

    #[test]
    fn the_rfcs_cases() {
        // RFC 3390 §1: four segments up to 1095 B, 4380 bytes between 1095 B and 2190 B, two segments from 2190 B.
        let segments = [536, 1000, 1095, 1460, 2190, 9000].map(|smss| Rfc3390.segments(&established(smss)));
        assert_eq!(segments, [4.0, 4.0, 4.0, 3.0, 2.0, 2.0]);
        for smss in [1096, 1240, 1500, 2189] {
            let bytes = Rfc3390.segments(&established(smss)) * smss as f64;
            assert!((bytes - 4380.0).abs() < 1e-9, "{smss} B: {bytes}");
        }
    }

    #[test]
    fn one_segment_after_a_lost_syn() {
        assert_eq!(Rfc3390.segments(&Established { lost_syns: 1, ..established(1460) }), 1.0);
    }
}
