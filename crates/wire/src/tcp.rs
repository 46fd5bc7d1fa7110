//! The TCP header.
//!
//! ## References
//! RFC 9293 §3.1; RFC 9768 §3.1.1 (AE flag).

/// Size of a TCP header without options, in bytes.
pub(crate) const TCP_HEADER: usize = 20;
/// Place of the checksum in the header.
pub(crate) const CHECKSUM: usize = 16;

/// The fields of a TCP header without checksum and options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TcpHeader {
    /// Ports of sender and receiver.
    pub(crate) ports: (u16, u16),
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    /// The nine flags, AE the highest.
    pub(crate) flags: u16,
    /// The three bits between data offset and flags.
    pub(crate) reserved: u8,
    pub(crate) window: u16,
    pub(crate) urgent: u16,
}

impl TcpHeader {
    /// Appends the header with a checksum of zero; `options` bytes of options, a multiple of four, have to follow.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>, options: usize) {
        bytes.extend([self.ports.0, self.ports.1].into_iter().flat_map(u16::to_be_bytes));
        bytes.extend([self.seq, self.ack].into_iter().flat_map(u32::to_be_bytes));
        // The data offset counts words of four bytes in the upper half of its byte.
        let [high, low] = self.flags.to_be_bytes();
        bytes.extend([((TCP_HEADER + options) * 4) as u8 | self.reserved << 1 | high & 1, low]);
        bytes.extend([self.window, 0, self.urgent].into_iter().flat_map(u16::to_be_bytes));
    }

    /// Reads the header of `segment`. Returns its size with options too, which is at least 20 bytes; `None` if it is not whole.
    pub(crate) fn read(segment: &[u8]) -> Option<(Self, usize)> {
        let fixed: &[u8; TCP_HEADER] = segment.first_chunk()?;
        let size = usize::from(fixed[12] >> 4) * 4;
        let word = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let number = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
        let header = Self {
            ports: (word(0), word(2)),
            seq: number(4),
            ack: number(8),
            flags: word(12) & 0x1FF,
            reserved: fixed[12] >> 1 & 7,
            window: word(14),
            urgent: word(18),
        };
        (size >= TCP_HEADER && segment.len() >= size).then_some((header, size))
    }
}
