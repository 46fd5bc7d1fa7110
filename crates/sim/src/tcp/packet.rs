//! What TCP hosts put beside packets, and what they are told of them.

use ackclock_core::qdisc::Notice;
use ackclock_core::units::Instant;

/// Most SACK blocks in an ACK (RFC 2018 §3, with room for timestamps).
pub(crate) const MAX_SACK_BLOCKS: usize = 3;

/// What a sender is told of a data packet that a queue dropped: which transmission of which segment it was, as the header and the timestamp
/// of a packet show it, and which timer is to expire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropNotice {
    /// The segment's number; of a `modern` host its sequence number on the wire.
    pub(crate) seq: u32,
    /// When it was sent.
    pub(crate) sent: Instant,
    pub(crate) notice: Notice,
}

/// SACK blocks: `[start, end)` each, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// The blocks.
    pub(crate) fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Adds a block at the end, if there is room.
    pub(crate) fn push(&mut self, block: (u32, u32)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }
}
