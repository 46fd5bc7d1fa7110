//! Initial window of ns-2's table: four, three or two segments by packet size.
//! ## What it does
//! Starts with 4 segments up to 1095 bytes, 3 below 2190 bytes and 2 above, headers excluded. After one lost SYN it starts with
//! `after_syn_loss` segments, after more with one.
//! ## References
//! ns-2.35, `windowInitOption_ 2`, read off its runs; the table is that of RFC 3390 §1.
//! ## Differs from the document
//! Nothing. That the first lost SYN falls back to two segments, and only the second to one, is ns-2's behaviour.
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
    summary: "4, 3 or 2 segments by packet size, as ns-2's windowInitOption_ 2",
    reference: "ns-2.35; RFC 3390 §1",
    params: &[Param {
        name: "after_syn_loss",
        kind: Kind::Segments { min: 1.0, max: 1e6 },
        default: Default::Number(2.0),
        doc: "initial window after one lost SYN; ns-2's default windowInit_",
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
