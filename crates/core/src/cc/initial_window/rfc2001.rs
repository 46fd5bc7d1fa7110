//! Initial window of RFC 2001: one segment.
//! ## What it does
//! Starts with one segment, whatever its size.
//! ## References
//! RFC 2001 §1, step 1 (1997): slow start begins with one segment of the size announced by the peer.
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
    name: "rfc2001",
    summary: "one segment",
    reference: "RFC 2001 §1",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Rfc2001)),
};

/// The initial window of RFC 2001.
#[derive(Clone, Debug)]
pub struct Rfc2001;

impl InitialWindow for Rfc2001 {
    fn segments(&self, _event: &Established) -> Segments {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::established;

    #[test]
    fn one_segment_of_any_size() {
        assert_eq!([1, 512, 1460, 9000].map(|smss| Rfc2001.segments(&established(smss))), [1.0; 4]);
        assert_eq!(Rfc2001.segments(&Established { lost_syns: 1, ..established(1460) }), 1.0);
    }
}
