//! Initial window from ns-2's table: four, three or two segments, by segment size.
//! ## What it does
//! Starts with 4 segments of up to 1095 bytes, 3 of 1096 to 2189 bytes, or 2 of 2190 bytes and more. Headers do not count. After one lost
//! SYN it starts with `after_syn_loss` segments, after more with one.
//! ## References
//! ns-2.35, `windowInitOption_ 2`, observed in its runs; the table is that of RFC 3390 §1.
//! ## Differs from the document
//! From RFC 3390: the window is a whole number of segments, and one lost SYN leaves `after_syn_loss` segments instead of one. From ns-2:
//! nothing.
//! ## Parameters
//! `after_syn_loss`: 2 segments, ns-2's default `windowInit_`.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "ns2_table",
    summary: "4, 3 or 2 segments by segment size, as ns-2's windowInitOption_ 2",
    reference: "ns-2.35; RFC 3390 §1",
    params: &[Param {
        name: "after_syn_loss",
        kind: Kind::Segments { min: 1.0, max: 1e6 },
        default: Default::Number(2.0),
        doc: "initial window after one lost SYN (ns-2: windowInit_, 2 by default)",
    }],
    quantities: &[],
    build: |params| Ok(Box::new(Ns2Table { after_syn_loss: params.number("after_syn_loss") })),
};

/// ns-2's table of initial windows.
#[derive(Clone, Debug)]
pub struct Ns2Table {
    after_syn_loss: Segments,
}

impl InitialWindow for Ns2Table {
    fn segments(&self, event: &Established) -> Segments {
        match (event.lost_syns, event.smss.0) {
            (0, ..=1095) => 4.0,
            (0, 1096..2190) => 3.0,
            (0, _) => 2.0,
            (1, _) => self.after_syn_loss,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::established;

    #[test]
    fn the_table() {
        let table = Ns2Table { after_syn_loss: 2.0 };
        let window = |size, lost_syns| table.segments(&Established { lost_syns, ..established(size) });
        let windows = [1000, 1095, 1096, 2189, 2190].map(|size| window(size, 0) as u32);
        assert_eq!(windows, [4, 4, 3, 3, 2]);
        assert_eq!([1, 2, 3].map(|lost| window(1000, lost) as u32), [2, 1, 1]);
    }
}
