//! QUIC stacks as host profiles. Each file is one profile: an entry with its parameters.

use ackclock_core::entry::{Entry, entries};
use ackclock_host::{Capabilities, Profile, Profiles, Side, Streams, Traffic};

entries! { Entry<Profile>:
    quic,
    quinn,
}

/// The profiles of this crate.
pub const PROFILES: Profiles = Profiles { entries: ENTRIES, descriptions: DESCRIPTIONS };

/// What connections of both stacks can do.
fn capabilities() -> Capabilities {
    Capabilities { supply: true, both_ways: true, streams: Streams::Many, ..Capabilities::default() }
}

/// The end that opens the connection: the sender of a bulk transfer, which starts by itself, or the receiver, where an application asks.
fn client(traffic: &Traffic) -> Side {
    if matches!(traffic, Traffic::Bulk(_)) { Side::Sender } else { Side::Receiver }
}
