//! Fixed initial window: the same number of segments on every path.
//! ## What it does
//! Starts with `segments` segments, whatever their size. After a lost SYN it starts with one segment.
//! ## References
//! RFC 5681 §3.1 (one segment after a lost SYN); ns-2.35, `windowInitOption_ 1`.
//! ## Differs from the document
//! Nothing.
//! ## Parameters
//! `segments`: 1, as in RFC 2001 and in most ns-2 scripts.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "fixed",
    summary: "the same number of segments on every path",
    reference: "RFC 5681 §3.1",
    params: &[Param {
        name: "segments",
        kind: Kind::Segments { min: 1.0, max: 1e6 },
        default: Default::Number(1.0),
        doc: "initial window (RFC 2001: one segment)",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Fixed { segments: params.number("segments") })),
};

/// A fixed initial window.
#[derive(Clone, Debug)]
pub struct Fixed {
    segments: Segments,
}

impl InitialWindow for Fixed {
    fn segments(&self, event: &Established) -> Segments {
        // RFC 5681 §3.1: one segment after a lost SYN.
        if event.syn_lost() { 1.0 } else { self.segments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{build, established};

    #[test]
    fn the_same_for_every_size() {
        let ten = build(&ENTRY, &[("segments", Value::Number(10.0))]).unwrap();
        assert_eq!([1, 536, 9000].map(|smss| ten.segments(&established(smss))), [10.0; 3]);
        assert_eq!(ten.segments(&Established { lost_syns: 1, ..established(1460) }), 1.0);
        assert_eq!(build(&ENTRY, &[]).unwrap().segments(&established(1460)), 1.0, "the default");
    }
}
