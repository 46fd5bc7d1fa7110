//! The host profiles of TCP. Each profile is a file in this folder.

use ackclock_core::entries;
use ackclock_core::entry::Entry;
use ackclock_host::{Profile, Profiles};

entries! { Entry<Profile>:
    ns2,
    modern,
}

/// The list of these profiles.
pub const PROFILES: Profiles = Profiles { entries: ENTRIES, descriptions: DESCRIPTIONS };
