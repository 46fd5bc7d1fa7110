//! Negotiated initial window: both ends propose one in the handshake, and the smaller proposal is used.
//! ## What it does
//! Starts with the smaller of what the sender proposes and what the receiver allows, and at most with the receiver's window where that is
//! known. After a lost SYN it starts with one segment.
//! ## References
//! Yourtchenko, Begen & Ramaiah, *TIE: two-party selection of TCP initial congestion window estimate*,
//! draft-yourtchenko-two-party-initial-window-00, 2010, as Aniemeka 2018 (the paper `icw`) reports it; RFC 5681 §3.1 (one segment after a
//! lost SYN).
//! ## Differs from the document
//! The exchange is not simulated: what each end would write into its SYN is a parameter, and SYNs do not grow by an option. How an end comes
//! to its proposal is left to whoever sets it; the paper says only that both take part, and the smaller proposal is this part's reading:
//! neither end gets more than it agreed to.
//! ## Parameters
//! `sender`: 10 segments, RFC 6928's window. `receiver`: 10 segments, the same; it speaks for the slowest link that the receiver knows of,
//! often its own access.

use crate::cc::contract::InitialWindow;
use crate::entry::Entry;
use crate::events::Established;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn InitialWindow> = Entry {
    name: "negotiated",
    summary: "the smaller of what sender and receiver propose",
    reference: "Aniemeka 2018; draft-yourtchenko-two-party-initial-window-00",
    params: &[
        Param {
            name: "sender",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "initial window that the sender proposes; RFC 6928's",
        },
        Param {
            name: "receiver",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "initial window that the receiver allows; RFC 6928's",
        },
    ],
    quantities: &[],
    build: |params| Ok(Box::new(Negotiated { sender: params.number("sender"), receiver: params.number("receiver") })),
};

/// An initial window that both ends agree on.
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
    fn neither_end_gets_more_than_it_agreed_to() {
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
