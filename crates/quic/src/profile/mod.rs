//! QUIC stacks as host profiles. Each file is one profile: an entry with its parameters.

use ackclock_core::entry::{Entry, entries};
use ackclock_host::{Profile, Profiles};

entries! { Entry<Profile>:
    quic,
    quinn,
}

/// The profiles of this crate.
pub const PROFILES: Profiles = Profiles { entries: ENTRIES, descriptions: DESCRIPTIONS };
