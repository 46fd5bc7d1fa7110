//! SACK blocks by segment numbers.

/// Most SACK blocks in an ACK (RFC 2018 §3, with room for timestamps).
pub(super) const MAX_SACK_BLOCKS: usize = 3;

/// SACK blocks: `[start, end)` each, the most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// The blocks.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Adds a block at the end, if there is room.
    pub fn push(&mut self, block: (u32, u32)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }
}
