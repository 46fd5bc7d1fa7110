//! modern.
//!
//! ## What it does
//! A byte-stream TCP as today's systems have it: handshake, options, SACK with RACK-TLP, PRR, F-RTO, undo, receive-buffer tuning, ECN. Data
//! may go both ways, which applications with requests and responses need.
//!
//! ## References
//! RFC 9293, RFC 7323, RFC 2018, RFC 8985, RFC 9937, RFC 6298, RFC 5682, RFC 3168; docs/concepts/host-modern.md says which part follows which.
//!
//! ## Differs from the document
//! docs/concepts/host-modern.md lists what is left out.
//!
//! ## Parameters
//! The table `modern` of the flow has its settings; `host` names presets of systems.

use ackclock_core::entry::Entry;

use super::Profile;

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "modern",
    summary: "A byte-stream TCP as today's systems have it",
    reference: "RFC 9293",
    params: &[],
    quantities: &[],
    build: |_| Ok(Box::new(Profile::Modern)),
};
