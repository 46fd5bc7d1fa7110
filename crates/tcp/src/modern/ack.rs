//! An acknowledgement, in positions of the stream.

use super::segment::EcnCounts;
use crate::ranges::Range;

/// The acknowledgement that a segment carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack<'a> {
    /// Next position that the peer expects.
    pub(super) number: u64,
    /// Position of the segment that carried the acknowledgement.
    pub(super) seq: u64,
    /// The peer's window, in bytes.
    pub(super) window: u64,
    /// SACK blocks.
    pub(super) sack: &'a [Range],
    /// `TSecr`.
    pub(super) echo: Option<u32>,
    /// Time from the transmission of the segment whose timestamp is echoed to that of the ACK, in ticks of both clocks: `TSval − TSecr`.
    pub(super) delay: Option<u32>,
    /// Whether the segment echoes a mark (ECE).
    pub(super) ece: bool,
    /// The ACE field, unless it feeds back how a SYN-ACK has arrived.
    pub(super) ace: Option<u8>,
    /// The bytes that have arrived with each codepoint.
    pub(super) counts: Option<EcnCounts>,
    /// Whether the peer's clock has advanced since the last segment.
    pub(super) fresh: bool,
    /// Whether the segment is a pure ACK.
    pub(super) bare: bool,
}

impl Ack<'_> {
    /// RFC 2883 §4: the first block is a D-SACK block if it lies below the cumulative ACK or within the second.
    pub(super) fn dsack(&self) -> Option<Range> {
        let &first = self.sack.first()?;
        let within = |block: &Range| block.0 <= first.0 && first.1 <= block.1;
        (first.0 < self.number || self.sack.get(1).is_some_and(within)).then_some(first)
    }
}
