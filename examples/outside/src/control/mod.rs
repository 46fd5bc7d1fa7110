//! Whole controls of this crate.

use ackclock_core::cc::CongestionControl;
use ackclock_core::entries;
use ackclock_core::entry::{Entry, List};

entries! { Entry<dyn CongestionControl>:
    aimd,
}

/// All of them.
pub const LIST: List<dyn CongestionControl> = List { entries: ENTRIES, descriptions: DESCRIPTIONS };
