//! modern.
//!
//! ## What it does
//! A byte-stream TCP as in today's systems: handshake, options, SACK with RACK-TLP, PRR, F-RTO, undo, receive-buffer tuning, ECN. Data may
//! flow both ways, as applications with requests and responses need.
//!
//! ## References
//! RFC 9293, RFC 7323, RFC 2018, RFC 8985, RFC 9937, RFC 6298, RFC 5682, RFC 3168; docs/concepts/host-modern.md maps each part to its
//! document.
//!
//! ## Differs from the document
//! docs/concepts/host-modern.md lists the omissions.
//!
//! ## Parameters
//! The flow's table `modern` holds the settings; `host` selects the preset of an operating system.

use ackclock_core::entry::Entry;
use ackclock_host::{Capabilities, Profile, Streams};

/// The registry's entry.
pub static ENTRY: Entry<Profile> = Entry {
    name: "modern",
    summary: "A byte-stream TCP as in today's systems",
    reference: "RFC 9293",
    params: &[],
    quantities: &[],
    build: |_| {
        let capabilities = Capabilities {
            supply: true,
            both_ways: true,
            one_way_delay: true,
            identifies: true,
            initial_pacing: true,
            streams: Streams::One,
        };
        Ok(Box::new(Profile::Native(capabilities)))
    },
};
