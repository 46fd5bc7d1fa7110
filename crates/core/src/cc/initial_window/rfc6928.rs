//! Initial window of RFC 6928: ten segments, fewer if they are large.
//! ## What it does
//! Starts with min(10 · SMSS, max(2 · SMSS, 14600 bytes)). After a lost SYN it starts with one segment.
//! ## References
//! RFC 6928 §2; RFC 5681 §3.1 (one segment after a lost SYN).
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! None.

use crate::cc::InitialWindow;
use crate::events::Established;
use crate::registry::Entry;
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "rfc6928",
    summary: "min(10·SMSS, max(2·SMSS, 14600 B))",
    reference: "RFC 6928 §2",
    params: &[],
    build: |_| Ok(Box::new(Rfc6928)),
};

/// The initial window of RFC 6928.
#[derive(Debug)]
pub struct Rfc6928;

impl InitialWindow for Rfc6928 {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost {
            return 1.0;
        }
        // RFC 6928 §2, equation 1.
        let smss = event.smss.0 as f64;
        (10.0 * smss).min((2.0 * smss).max(14_600.0)) / smss
    }
}
