//! Negotiated initial window: sender and receiver each propose one, and the smaller proposal applies.
//! ## What it does
//! Starts with the smaller of the sender's and the receiver's proposals. The receiver's advertised window, if known, is an upper bound.
//! After a lost SYN it starts with one segment.
//! ## References
//! Yourtchenko, Begen & Ramaiah, *TIE: two-party selection of TCP initial congestion window estimate*,
//! draft-yourtchenko-two-party-initial-window-00, 2010, as reported by Aniemeka 2018 (the paper `icw`); RFC 5681 §3.1 (one segment after a
//! lost SYN).
//! ## Differs from the document
//! - The exchange is not simulated: the proposals are parameters, and SYNs carry no extra option.
//! - The derivation of a proposal is left to the user.
//! - The paper says only that both ends take part. The smaller proposal is this part's reading: neither end exceeds its own proposal.
//! ## Parameters
//! `sender`: 10 segments, from RFC 6928. `receiver`: 10 segments, likewise; it stands for the slowest link known to the receiver, often its
//! own access link.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "negotiated",
    summary: "the smaller of the sender's and the receiver's proposals",
    reference: "Aniemeka 2018; draft-yourtchenko-two-party-initial-window-00",
    params: &[
        Param {
            name: "sender",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "initial window proposed by the sender (RFC 6928: 10)",
        },
        Param {
            name: "receiver",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "initial window proposed by the receiver (RFC 6928: 10)",
        },
    ],
    quantities: &[],
    build: |params| Ok(Box::new(Negotiated { sender: params.number("sender"), receiver: params.number("receiver") })),
};

/// An initial window agreed by both ends.
#[derive(Clone, Debug)]
pub struct Negotiated {
    sender: Segments,
    receiver: Segments,
}

impl InitialWindow for Negotiated {
    fn segments(&self, event: &Established) -> Segments {
        if event.syn_lost() {
            return 1.0;
        }
        let agreed = self.sender.min(self.receiver);
        event.rwnd.map_or(agreed, |rwnd| agreed.min(rwnd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::established;

    #[test]
    fn neither_end_exceeds_its_proposal() {
        let window = |sender, receiver, rwnd| Negotiated { sender, receiver }.segments(&Established { rwnd, ..established(1460) });
        assert_eq!(window(16.0, 10.0, None), 10.0);
        assert_eq!(window(4.0, 10.0, None), 4.0);
        assert_eq!(window(16.0, 10.0, Some(6.0)), 6.0, "the receiver's window is below its proposal");
        assert_eq!(window(4.0, 10.0, Some(6.0)), 4.0);
    }

    #[test]
    fn one_segment_after_a_lost_syn() {
        let part = Negotiated { sender: 10.0, receiver: 10.0 };
        assert_eq!(part.segments(&Established { lost_syns: 1, ..established(1460) }), 1.0);
    }
}
