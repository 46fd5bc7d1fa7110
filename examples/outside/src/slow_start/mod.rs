//! Slow starts of this crate.

use ackclock_core::cc::SlowStart;
use ackclock_core::entries;
use ackclock_core::entry::{Entry, List};

entries! { Entry<dyn SlowStart>:
    cautious,
}

/// All of them.
pub const LIST: List<dyn SlowStart> = List { entries: ENTRIES, descriptions: DESCRIPTIONS };
