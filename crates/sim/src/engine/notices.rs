//! The notices in flight.

use std::collections::BTreeMap;

use ackclock_core::units::Instant;
use ackclock_host::{DropNotice, Side};

/// A notice on its way to one end of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub(super) flow: usize,
    pub(super) side: Side,
    pub(super) dropped: DropNotice,
}

/// The notices in flight, ordered by arrival; at equal times, in the order of the drops.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pending: BTreeMap<(Instant, u64), Notice>,
    count: u64,
}

impl Notices {
    /// Adds a notice that will arrive at `at`.
    pub(super) fn send(&mut self, at: Instant, notice: Notice) {
        self.count += 1;
        self.pending.insert((at, self.count), notice);
    }

    /// The notice that arrives first.
    pub(super) fn next(&mut self) -> Option<Notice> {
        self.pending.pop_first().map(|(_, notice)| notice)
    }
}
