//! ns2.
//!
//! ## What it does
//! The sender counts packets of one size and data flows one way. Every rule, timer and rounding follows ns-2.35's TCP agents, so that runs
//! agree with ns-2 packet for packet. It is the fastest profile.
//!
//! ## References
//! ns-2.35's Tahoe, Reno, Newreno, Sack1 and Vegas agents, inferred from their runs.
//!
//! ## Differs from the document
//! Pacing, learned initial windows and drop notices are additions; without them the agents behave as in ns-2.
//!
//! ## Parameters
//! The keys of the flow: `recovery`, `rwnd`, `header`, delayed ACKs, clock and timeouts.

use ackclock_core::entry::Entry;
use ackclock_host::{Capabilities, Profile, Streams};

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "ns2",
    summary: "The packet-counting one-way TCP of ns-2.35",
    reference: "ns-2.35",
    params: &[],
    quantities: &[],
    build: |_| {
        // A duplicate ACK does not identify its segment, even with SACK: as in ns-2, its blocks only say what to retransmit.
        let capabilities = Capabilities {
            supply: true,
            both_ways: false,
            one_way_delay: true,
            identifies: false,
            initial_pacing: true,
            streams: Streams::One,
        };
        Ok(Box::new(Profile::Native(capabilities)))
    },
};
