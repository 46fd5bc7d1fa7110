//! What an ACK carries besides its number: SACK blocks by segment numbers, and the time of its transmission.

use ackclock_core::units::Instant;

/// Maximum number of SACK blocks in an ACK (RFC 2018 §3, with room for timestamps).
pub(super) const MAX_SACK_BLOCKS: usize = 3;

/// The optional fields of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckOptions {
    /// SACK blocks.
    pub sack: SackBlocks,
    /// When the receiver sent the ACK, in the halves of its bits, so that the options are small; NaN: unknown.
    sent: [u32; 2],
}

impl AckOptions {
    const UNKNOWN: [u32; 2] = [u32::MAX; 2];

    /// The options of an ACK; `sent`: when it leaves, if the sender wants to know one-way delays. ns-2's ACKs always carry this time, in a
    /// header that has no bytes of its own.
    pub fn new(sack: SackBlocks, sent: Option<Instant>) -> Self {
        let halves = |sent: Instant| [(sent.to_bits() >> 32) as u32, sent.to_bits() as u32];
        Self { sack, sent: sent.map_or(Self::UNKNOWN, halves) }
    }

    /// When the receiver sent the ACK.
    pub fn sent(&self) -> Option<Instant> {
        let [high, low] = self.sent;
        (self.sent != Self::UNKNOWN).then(|| Instant::from_bits(u64::from(high) << 32 | u64::from(low)))
    }
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
