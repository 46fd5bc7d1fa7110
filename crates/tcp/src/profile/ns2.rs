//! ns2.
//!
//! ## What it does
//! The sender counts packets of one size, the receiver acknowledges them, and data goes one way. Every rule, timer and rounding is that of
//! ns-2.35's TCP agents, so that runs agree with ns-2 to the packet. It is the fastest profile.
//!
//! ## References
//! ns-2.35's Tahoe, Reno, Newreno, Sack1 and Vegas agents, read off their runs.
//!
//! ## Differs from the document
//! Pacing, learned initial windows and notices of drops are additions; without them the agents are ns-2's.
//!
//! ## Parameters
//! The keys of the flow are its settings: `recovery`, `rwnd`, `header`, delayed ACKs, clock and timeouts.

use ackclock_core::entry::Entry;

use super::Profile;

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "ns2",
    summary: "The packet-counting one-way TCP of ns-2.35",
    reference: "ns-2.35",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Profile::Ns2)),
};
