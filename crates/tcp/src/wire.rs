//! Packets as bytes: IPv4 and TCP or UDP headers, with the checksums of a payload of zeros.
//!
//! ## References
//! RFC 791 §3.1 (IPv4 header); RFC 1624 §3 (update of a checksum); RFC 768 (UDP); RFC 6864 §4.1 (identification of unfragmented packets); RFC 9293 §3.1 (TCP header, checksum);
//! RFC 7323 §2, §3 and RFC 2018 §2, §3 (options); RFC 3168 §5, §6.1 (ECN); RFC 9768 §3.1, §3.2.3
//! (AccECN).

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Bytes;

use crate::modern::segment::{Options, Segment};

/// Largest size of IPv4 and TCP headers, in bytes.
pub const MOST_HEADERS: u32 = 80;
/// Size of an IPv4 header without options, in bytes.
const IP_HEADER: usize = 20;
/// Size of a TCP header without options, in bytes.
const TCP_HEADER: u32 = 20;
/// Size of a UDP header, in bytes; of other protocols, as much is copied.
const UDP_HEADER: usize = 8;
/// Initial time to live.
const TTL: u16 = 64;
/// Don't fragment. An unfragmented packet needs no identification, so that field is zero (RFC 6864 §4.1).
const DONT_FRAGMENT: u16 = 1 << 14;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// IPv4 address.
    pub address: [u8; 4],
    /// TCP or UDP port.
    pub port: u16,
}

impl Endpoint {
    /// The end of a flow at `node`: the address is 10.a.b.c, and a.b.c is the node's index plus one.
    pub fn new(node: usize, port: u16) -> Self {
        let [_, a, b, c] = (node as u32 + 1).to_be_bytes();
        Self { address: [10, a, b, c], port }
    }
}

/// Appends the headers of `segment` after `hops` forwarding hops to `bytes`; returns the length of the whole packet.
pub fn headers(bytes: &mut Vec<u8>, segment: &Segment, ends: (Endpoint, Endpoint), hops: u16) -> u32 {
    let options = segment.options.size();
    let begin = bytes.len();
    let length = segment.wire_size();
    internet_header(bytes, (TCP, length), segment.ecn, ends, hops);
    bytes.extend([ends.0.port, ends.1.port].into_iter().flat_map(u16::to_be_bytes));
    bytes.extend([segment.seq, segment.ack].into_iter().flat_map(u32::to_be_bytes));
    // The data offset counts words of four bytes in the upper half of its byte, whose lowest bit is AE.
    let [accurate, flags] = segment.flags.bits().to_be_bytes();
    bytes.extend([((TCP_HEADER + options) * 4) as u8 | accurate, flags]);
    bytes.extend(segment.window.to_be_bytes());
    bytes.extend([0; 4]);
    let end = bytes.len() + options as usize;
    write_options(bytes, &segment.options, end);
    write_checksum(bytes, begin, (TCP, length), 16);
    length
}

/// Appends the headers of a UDP datagram after `hops` forwarding hops to `bytes`; returns the length of the whole packet. `size`: that
/// length.
pub fn datagram(bytes: &mut Vec<u8>, (size, ecn): (Bytes, Ecn), ends: (Endpoint, Endpoint), hops: u16) -> u32 {
    let begin = bytes.len();
    let length = size.0 as u32;
    internet_header(bytes, (UDP, length), ecn, ends, hops);
    bytes.extend([ends.0.port, ends.1.port, length as u16 - IP_HEADER as u16, 0].into_iter().flat_map(u16::to_be_bytes));
    write_checksum(bytes, begin, (UDP, length), 6);
    length
}

/// Appends the headers of `frame`, a whole IPv4 packet, with this ECN field to `bytes`; returns the length of the packet.
pub fn frame_headers(bytes: &mut Vec<u8>, frame: &[u8], ecn: Ecn) -> u32 {
    let begin = bytes.len();
    let internet = frame.first().map_or(0, |first| usize::from(first & 15) * 4);
    let transport = match frame.get(9) {
        Some(&TCP) => frame.get(internet + 12).map_or(0, |offset| usize::from(offset >> 4) * 4),
        _ => UDP_HEADER,
    };
    bytes.extend(&frame[..frame.len().min(internet + transport)]);
    mark_frame(&mut bytes[begin..], ecn);
    frame.len() as u32
}

/// The ECN field of a frame that begins with an IPv4 header.
pub fn frame_ecn(frame: &[u8]) -> Ecn {
    Ecn::of(frame.get(1).copied().unwrap_or_default())
}

/// Marks a frame that begins with an IPv4 header as having experienced congestion, if `ecn` says so and the frame does not, and updates the
/// header's checksum (RFC 1624 §3).
pub fn mark_frame(frame: &mut [u8], ecn: Ecn) {
    if ecn != Ecn::Ce || frame.len() < IP_HEADER || frame_ecn(frame) == Ecn::Ce {
        return;
    }
    let word = |frame: &[u8], at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let before = word(frame, 0);
    frame[1] |= ecn as u8;
    // HC' = ~(~HC + ~m + m') in one's complement arithmetic.
    let sum = (0xFFFF ^ word(frame, 10)) + (0xFFFF ^ before) + word(frame, 0);
    frame[10..12].copy_from_slice(&checksum(sum).to_be_bytes());
}

/// Writes the TCP or UDP checksum of the packet that begins at `begin`; `offset` counts from the end of the IP header. The sum covers the
/// pseudo header (addresses, protocol, length), the header, and data of zeros.
fn write_checksum(bytes: &mut [u8], begin: usize, (protocol, length): (u8, u32), offset: usize) {
    let (pseudo, header) = (&bytes[begin + 12..begin + IP_HEADER], &bytes[begin + IP_HEADER..]);
    let sum = sum(pseudo) + sum(header) + u32::from(protocol) + length - IP_HEADER as u32;
    let at = begin + IP_HEADER + offset;
    // RFC 768: a transmitted checksum of zero means that the sender computed none.
    let check = match checksum(sum) {
        0 if protocol == UDP => u16::MAX,
        check => check,
    };
    bytes[at..at + 2].copy_from_slice(&check.to_be_bytes());
}

fn internet_header(bytes: &mut Vec<u8>, (protocol, length): (u8, u32), ecn: Ecn, (from, to): (Endpoint, Endpoint), hops: u16) {
    let begin = bytes.len();
    bytes.extend([0x45, ecn as u8]);
    bytes.extend([length as u16, 0, DONT_FRAGMENT].into_iter().flat_map(u16::to_be_bytes));
    bytes.extend([TTL.saturating_sub(hops).max(1) as u8, protocol, 0, 0]);
    bytes.extend(from.address.into_iter().chain(to.address));
    let check = checksum(sum(&bytes[begin..]));
    bytes[begin + 10..begin + 12].copy_from_slice(&check.to_be_bytes());
}

/// Appends options up to `end`. Padding (no-operation options) comes before them, so that they end exactly at `end`.
fn write_options(bytes: &mut Vec<u8>, options: &Options, end: usize) {
    let begin = bytes.len();
    if let Some(mss) = options.mss {
        bytes.extend([2, 4]);
        bytes.extend(mss.to_be_bytes());
    }
    if options.sack_permitted {
        bytes.extend([4, 2]);
    }
    if let Some(shift) = options.window_scale {
        bytes.extend([3, 3, shift]);
    }
    if let Some(timestamps) = options.timestamps {
        bytes.extend([8, 10]);
        bytes.extend([timestamps.value, timestamps.echo].into_iter().flat_map(u32::to_be_bytes));
    }
    if let Some(counts) = &options.ecn {
        bytes.extend([counts.kind(), counts.size() as u8]);
        bytes.extend(counts.fields().flat_map(|count| count.to_be_bytes().into_iter().skip(1)));
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        bytes.extend([5, 2 + 8 * blocks.len() as u8]);
        bytes.extend(blocks.iter().flat_map(|&(left, right)| [left, right]).flat_map(u32::to_be_bytes));
    }
    let free = end - bytes.len();
    bytes.splice(begin..begin, std::iter::repeat_n(1, free));
}

/// Sum of the 16-bit words of an even number of bytes (RFC 1071 §1).
fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum()
}

const fn checksum(mut sum: u32) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modern::segment::{EcnCounts, Flags};

    #[test]
    fn a_mark_keeps_the_checksum_valid() {
        // Fields whose sums wrap, and ECT(1), which other tests do not have.
        for (identification, field) in (0..=u16::MAX).step_by(251).flat_map(|number| [(number, 0b10), (number, 0b01)]) {
            let mut frame = vec![0x45, field, 0, 40, 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
            frame[4..6].copy_from_slice(&identification.to_be_bytes());
            let check = checksum(sum(&frame));
            frame[10..12].copy_from_slice(&check.to_be_bytes());
            assert_eq!(frame_ecn(&frame), Ecn::of(field));
            let before = frame.clone();
            mark_frame(&mut frame, Ecn::Ect0);
            assert_eq!(frame, before);
            mark_frame(&mut frame, Ecn::Ce);
            assert_eq!((frame_ecn(&frame), checksum(sum(&frame))), (Ecn::Ce, 0));
        }
    }

    #[test]
    fn accurate_feedback_has_a_flag_beside_the_data_offset_and_an_option() {
        let options = Options { ecn: Some(EcnCounts::new(174, &[1, 0x01_0203, 3])), ..Options::default() };
        let flags = Flags::ACK | Flags::of_ace(0b101);
        let segment = Segment { seq: 0, ack: 0, flags, window: 0, options, payload: 0, ecn: Ecn::Ect1 };
        let mut bytes = Vec::new();
        let ends = (Endpoint::new(0, 1), Endpoint::new(1, 2));
        assert_eq!(headers(&mut bytes, &segment, ends, 0), 52);
        assert_eq!((bytes[1], bytes[32], bytes[33]), (0b01, 8 << 4 | 1, 0x50));
        assert_eq!(bytes[40..], [1, 174, 11, 0, 0, 1, 1, 2, 3, 0, 0, 3]);
    }

    #[test]
    fn headers_of_a_frame_end_before_its_data() {
        let mut frame = vec![0x45, 0b10, 0, 64, 0, 0, 0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        frame.extend([0; 12]);
        frame.push(8 << 4); // 32 bytes of TCP header
        frame.resize(64, 0xFF);
        let mut bytes = vec![7];
        assert_eq!(frame_headers(&mut bytes, &frame, Ecn::Ce), 64);
        assert_eq!((bytes.len(), frame_ecn(&bytes[1..])), (1 + 52, Ecn::Ce));
        frame[9] = UDP;
        bytes.clear();
        assert_eq!((frame_headers(&mut bytes, &frame, Ecn::Ect0), bytes.as_slice()), (64, &frame[..28]));
        assert_eq!((frame_headers(&mut bytes, &[0x45], Ecn::Ect0), bytes.len()), (1, 29));
    }
}
