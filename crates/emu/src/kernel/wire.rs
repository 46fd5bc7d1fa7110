//! Reads the headers of a frame: IPv4 and TCP.

use ackclock_core::qdisc::Ecn;
use ackclock_tcp::wire::frame_ecn;

/// Flags of a TCP header.
pub(super) mod flags {
    /// The sender of the segment has sent everything.
    pub(crate) const FIN: u8 = 0x01;
    /// The segment opens a connection.
    pub(crate) const SYN: u8 = 0x02;
    /// An ECN mark is echoed (RFC 3168).
    pub(crate) const ECE: u8 = 0x40;
    /// The number of the acknowledgement is valid.
    pub(crate) const ACK: u8 = 0x10;
}

/// Number of the protocol TCP in an IPv4 header.
const TCP: u8 = 6;
/// Smallest header of IPv4 and of TCP, in bytes.
const HEADER: usize = 20;

/// The fields of a segment that this crate uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Next sequence number that the sender of the segment expects.
    pub ack: u32,
    /// Flags of the TCP header.
    pub flags: u8,
    /// Bytes of data.
    pub payload: u32,
    /// Size of the packet with all headers.
    pub size: u16,
    /// ECN field of the IPv4 header.
    pub ecn: Ecn,
}

impl Segment {
    /// The segment in `frame`; `None` if it is no whole TCP segment of IPv4.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_be_bytes(frame.get(at..at + 4)?.try_into().ok()?));
        let first = *frame.first()?;
        let start = usize::from(first & 0x0F) * 4;
        if first >> 4 != 4 || start < HEADER || *frame.get(9)? != TCP {
            return None;
        }
        let header = usize::from(frame.get(start + 12)? >> 4) * 4;
        let payload = frame.len().checked_sub(start + header).filter(|_| header >= HEADER)?;
        Some(Self {
            seq: number(start + 4)?,
            ack: number(start + 8)?,
            flags: *frame.get(start + 13)?,
            payload: payload as u32,
            size: u16::try_from(frame.len()).ok()?,
            ecn: frame_ecn(frame),
        })
    }

    /// Whether it has all flags of `wanted`.
    pub const fn has(&self, wanted: u8) -> bool {
        self.flags & wanted == wanted
    }

    /// Sequence numbers that it occupies.
    pub fn length(&self) -> u32 {
        self.payload + u32::from(self.has(flags::SYN)) + u32::from(self.has(flags::FIN))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A frame with the given numbers.
    pub(crate) fn frame(seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
        let mut frame = vec![0; 2 * HEADER + payload];
        (frame[0], frame[9], frame[32], frame[33]) = (0x45, TCP, 0x50, flags);
        frame[24..28].copy_from_slice(&seq.to_be_bytes());
        frame[28..32].copy_from_slice(&ack.to_be_bytes());
        frame
    }

    #[test]
    fn a_segment_is_read_with_its_options() {
        let mut bytes = frame(7, 9, flags::ACK | flags::FIN, 112);
        (bytes[1], bytes[32]) = (0b11, 0x80);
        let segment = Segment::read(&bytes).unwrap();
        assert_eq!(segment, Segment { seq: 7, ack: 9, flags: 0x11, payload: 100, size: 152, ecn: Ecn::Ce });
        assert_eq!(segment.length(), 101, "a FIN occupies a number");
        assert!(segment.has(flags::FIN) && !segment.has(flags::SYN));
    }

    #[test]
    fn other_frames_are_no_segments() {
        let whole = frame(1, 2, flags::ACK, 10);
        for change in [(0, 0x65), (9, 17), (0, 0x44), (32, 0x40)] {
            let mut bytes = whole.clone();
            bytes[change.0] = change.1;
            assert_eq!(Segment::read(&bytes), None, "{change:?}");
        }
        for length in 0..40 {
            assert_eq!(Segment::read(&whole[..length]), None, "{length}");
        }
    }
}
