//! What an ACK carries besides its number: SACK blocks by segment numbers, and the time of its transmission.

use ackclock_core::units::Instant;

/// Maximum number of SACK blocks in an ACK (RFC 2018 §3, with room for timestamps).
pub(super) const MAX_SACK_BLOCKS: usize = 3;

/// The optional fields of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckOptions {
    /// SACK blocks.
    pub sack: SackBlocks,
    /// When the receiver sent the ACK, if the sender wants to know one-way delays. ns-2's ACKs always carry it, in a header that has no
    /// bytes of its own.
    pub sent: Option<Instant>,
}

/// SACK blocks `[start, end)`, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// The blocks, the most recent first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Appends a block, if the list has room.
    pub fn push(&mut self, block: (u32, u32)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }
}
