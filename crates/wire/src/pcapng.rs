//! The file format pcapng: the blocks that a capture needs, little-endian.
//!
//! The blocks are some hundred bytes of fixed layout. A library for all of pcapng would be a heavier dependency than this code.
//!
//! ## References
//! draft-ietf-opsawg-pcapng §3 (blocks and options), §4.1 (section header), §4.2 (interface description), §4.3 (enhanced packet).

/// `LINKTYPE_RAW`: a packet begins with its IP header.
const LINKTYPE_RAW: u16 = 101;
/// Code of the last option of a block.
const END_OF_OPTIONS: u16 = 0;
/// `opt_comment`.
const COMMENT: u16 = 1;

/// Direction of a packet at an interface (`epb_flags`, bits 0 and 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Not given: at the entrance of a link.
    Unknown = 0,
    /// To the host.
    Inbound = 1,
    /// From the host.
    Outbound = 2,
}

/// A captured packet.
#[derive(Debug)]
pub struct Packet<'a> {
    /// Index of its interface, in the order of their description.
    pub interface: u32,
    /// Time in nanoseconds.
    pub at: u64,
    /// Headers; the rest of the `length` bytes is zero.
    pub headers: &'a [u8],
    /// Bytes on the wire.
    pub length: u32,
    /// Largest number of bytes to store.
    pub snaplen: u32,
    /// Direction.
    pub direction: Direction,
    /// Comment.
    pub comment: Option<&'a str>,
}

/// A file under construction.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// A file of one section, written by `program`.
    pub fn new(program: &str) -> Self {
        let mut writer = Self::default();
        writer.block(0x0A0D_0D0A, |writer| {
            writer.bytes.extend(0x1A2B_3C4D_u32.to_le_bytes());
            writer.bytes.extend([1_u16, 0].into_iter().flat_map(u16::to_le_bytes));
            // The length of the section is left open.
            writer.bytes.extend(u64::MAX.to_le_bytes());
            writer.option(4, program.as_bytes());
            writer.option(END_OF_OPTIONS, &[]);
        });
        writer
    }

    /// Describes an interface, with its speed in bits per second if known. Its times are in nanoseconds.
    pub fn interface(&mut self, name: &str, description: &str, speed: Option<u64>, snaplen: u32) {
        self.block(1, |writer| {
            writer.bytes.extend([LINKTYPE_RAW, 0].into_iter().flat_map(u16::to_le_bytes));
            writer.bytes.extend(snaplen.to_le_bytes());
            writer.option(2, name.as_bytes());
            writer.option(3, description.as_bytes());
            if let Some(speed) = speed {
                writer.option(8, &speed.to_le_bytes());
            }
            writer.option(9, &[9]);
            writer.option(END_OF_OPTIONS, &[]);
        });
    }

    /// Adds a packet.
    pub fn packet(&mut self, packet: &Packet<'_>) {
        let captured = packet.length.min(packet.snaplen);
        self.block(6, |writer| {
            let time = [(packet.at >> 32) as u32, packet.at as u32];
            let head = [packet.interface, time[0], time[1], captured, packet.length];
            writer.bytes.extend(head.into_iter().flat_map(u32::to_le_bytes));
            let data = writer.bytes.len();
            writer.bytes.extend(&packet.headers[..packet.headers.len().min(captured as usize)]);
            writer.bytes.resize(data + captured as usize, 0);
            writer.pad();
            if let Some(comment) = packet.comment {
                writer.option(COMMENT, comment.as_bytes());
            }
            if packet.direction != Direction::Unknown {
                writer.option(2, &(packet.direction as u32).to_le_bytes());
            }
            if packet.comment.is_some() || packet.direction != Direction::Unknown {
                writer.option(END_OF_OPTIONS, &[]);
            }
        });
    }

    /// The whole file.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// A block of `kind`. Its length precedes and follows the bytes that `fill` writes.
    fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Self)) {
        let begin = self.bytes.len();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend([0; 4]);
        fill(self);
        let length = ((self.bytes.len() - begin + 4) as u32).to_le_bytes();
        self.bytes.extend(length);
        self.bytes[begin + 4..begin + 8].copy_from_slice(&length);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // The length of an option has 16 bits.
        let value = &value[..value.len().min(usize::from(u16::MAX) - 3)];
        self.bytes.extend([code, value.len() as u16].into_iter().flat_map(u16::to_le_bytes));
        self.bytes.extend(value);
        self.pad();
    }

    /// Pads to a multiple of four bytes, where every block begins.
    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_carry_their_length_twice_and_are_padded() {
        let mut writer = Writer::new("x");
        writer.interface("r1>r2", "", Some(10_000_000), 41);
        let packet = Packet {
            interface: 0,
            at: (7 << 32) + 5,
            headers: &[0x45; 40],
            length: 1500,
            snaplen: 41,
            direction: Direction::Inbound,
            comment: Some("lost"),
        };
        writer.packet(&packet);
        let bytes = writer.finish();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (mut at, mut kinds) = (0, Vec::new());
        while at < bytes.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            kinds.push(word(at));
            at += length;
        }
        assert_eq!(kinds, [0x0A0D_0D0A, 1, 6]);
        let last = bytes.len() - (32 + 44 + 8 + 8 + 4);
        assert_eq!([8, 12, 16, 20, 24].map(|offset| word(last + offset)), [0, 7, 5, 41, 1500]);
        assert_eq!(bytes[last + 28 + 40], 0, "payload is zeros");
    }
}
