//! Initial window of RFC 6928: ten segments, or fewer large ones.
//! ## What it does
//! Starts with min(10 · SMSS, max(2 · SMSS, 14600 bytes)). After a lost SYN it starts with one segment.
//! ## References
//! RFC 6928 §2; RFC 5681 §3.1 (one segment after a lost SYN).
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
    name: "rfc6928",
    summary: "min(10·SMSS, max(2·SMSS, 14600 B))",
    reference: "RFC 6928 §2",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Rfc6928)),
};

/// The initial window of RFC 6928.
#[derive(Clone, Debug)]
pub struct Rfc6928;

impl InitialWindow for Rfc6928 {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        // RFC 6928 §2, equation 1.
        let smss = event.smss.0 as f64;
        (10.0 * smss).min((2.0 * smss).max(14_600.0)) / smss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::established;

    #[test]
    fn the_rfcs_formula() {
        // RFC 6928 §2: ten segments up to 1460 B, then 14600 bytes, two segments from 7300 B.
        let segments = [536, 1460, 2920, 7300, 9000].map(|smss| Rfc6928.segments(&established(smss)));
        assert_eq!(segments, [10.0, 10.0, 5.0, 2.0, 2.0]);
    }

    #[test]
    fn one_segment_after_a_lost_syn() {
        assert_eq!(Rfc6928.segments(&Established { lost_syns: 1, ..established(1460) }), 1.0);
    }
}
