//! Frames: packets as a kernel sends them, from the IP header on. The headers of simulated packets (IPv4 with TCP or UDP), with the checksums
//! of a payload of zeros; the fields of a kernel's packet (IPv4 or IPv6).
//!
//! ## References
//! RFC 791 §3.1 (IPv4 header); RFC 8200 §3, §4, §7 (IPv6 header, extension headers, traffic class); RFC 1624 §3 (update of a checksum); RFC 768 (UDP); RFC 6864 §4.1 (identification of unfragmented packets); RFC 9293 §3.1 (TCP header, checksum);
//! RFC 7323 §2, §3 and RFC 2018 §2, §3 (options); RFC 3168 §5, §6.1 (ECN); RFC 9768 §3.1, §3.2.3
//! (AccECN).

use std::borrow::Cow;
use std::net::IpAddr;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Bytes;

use crate::checksum::{checksum, transport};
use crate::internet::{Begin, Internet, Ipv4, TCP, UDP, V4_HEADER as IP_HEADER};
use crate::options::{MSS, NOP, SACK, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE, decode_options, put, words};
use crate::segment::{Flags, Options, Segment};
use crate::tcp::{CHECKSUM, TCP_HEADER, TcpHeader};

/// Largest size of IPv4 and TCP headers, in bytes.
pub const MOST_HEADERS: u32 = 80;
/// Size of a UDP header, in bytes; of other protocols, as much is copied.
const UDP_HEADER: usize = 8;
/// Initial time to live.
const TTL: u16 = 64;

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
    let options = segment.options.size() as usize;
    let begin = bytes.len();
    let length = segment.wire_size();
    internet_header(bytes, (TCP, length), segment.ecn, ends, hops);
    let &Segment { seq, ack, window, .. } = segment;
    let ports = (ends.0.port, ends.1.port);
    TcpHeader { ports, seq, ack, flags: segment.flags.bits(), window, ..TcpHeader::default() }.write(bytes, options);
    let end = bytes.len() + options;
    write_options(bytes, &segment.options, end);
    write_checksum(bytes, begin, (TCP, length), CHECKSUM);
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

/// Appends the headers of `frame`, a whole IP packet, with this ECN field to `bytes`; returns the length of the packet.
pub fn frame_headers(bytes: &mut Vec<u8>, frame: &[u8], ecn: Ecn) -> u32 {
    let begin = bytes.len();
    let (internet, protocol) = Internet::read(frame).map_or((IP_HEADER, UDP), |internet| (internet.payload.start, internet.protocol));
    let transport = match protocol {
        TCP => frame.get(internet + 12).map_or(0, |offset| usize::from(offset >> 4) * 4),
        _ => UDP_HEADER,
    };
    bytes.extend(&frame[..frame.len().min(internet + transport)]);
    mark_frame(&mut bytes[begin..], ecn);
    frame.len() as u32
}

/// Whether a frame begins with an IPv6 header.
fn is_v6(frame: &[u8]) -> bool {
    frame.first().is_some_and(|first| first >> 4 == 6)
}

/// The ECN field of a frame that begins with an IP header.
pub fn frame_ecn(frame: &[u8]) -> Ecn {
    let second = frame.get(1).copied().unwrap_or_default();
    // The traffic class of IPv6 lies across the first two bytes.
    Ecn::of(if is_v6(frame) { second >> 4 } else { second })
}

/// Marks a frame that begins with an IP header as having experienced congestion, if `ecn` says so and the frame does not, and updates the
/// checksum of an IPv4 header (RFC 1624 §3); an IPv6 header has none.
pub fn mark_frame(frame: &mut [u8], ecn: Ecn) {
    if ecn != Ecn::Ce || frame.len() < IP_HEADER || frame_ecn(frame) == Ecn::Ce {
        return;
    }
    if is_v6(frame) {
        frame[1] |= (ecn as u8) << 4;
        return;
    }
    let word = |frame: &[u8], at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let before = word(frame, 0);
    frame[1] |= ecn as u8;
    // HC' = ~(~HC + ~m + m') in one's complement arithmetic.
    let sum = (0xFFFF ^ word(frame, 10)) + (0xFFFF ^ before) + word(frame, 0);
    frame[10..12].copy_from_slice(&checksum(sum).to_be_bytes());
}

/// The frame as it arrives with this ECN field: a copy if it has to be [marked](mark_frame).
pub fn arriving(frame: &[u8], ecn: Ecn) -> Cow<'_, [u8]> {
    if ecn != Ecn::Ce || frame_ecn(frame) == Ecn::Ce {
        return Cow::Borrowed(frame);
    }
    let mut marked = frame.to_vec();
    mark_frame(&mut marked, ecn);
    Cow::Owned(marked)
}

/// Writes the TCP or UDP checksum of the packet that begins at `begin`; `offset` counts from the end of the IP header. The sum covers the
/// pseudo header (addresses, protocol, length), the header, and data of zeros.
fn write_checksum(bytes: &mut [u8], begin: usize, (protocol, length): (u8, u32), offset: usize) {
    let (addresses, header) = (&bytes[begin + 12..begin + IP_HEADER], &bytes[begin + IP_HEADER..]);
    let at = begin + IP_HEADER + offset;
    // RFC 768: a transmitted checksum of zero means that the sender computed none.
    let check = match transport(addresses, protocol, length - IP_HEADER as u32, header) {
        0 if protocol == UDP => u16::MAX,
        check => check,
    };
    bytes[at..at + 2].copy_from_slice(&check.to_be_bytes());
}

fn internet_header(bytes: &mut Vec<u8>, (protocol, length): (u8, u32), ecn: Ecn, (from, to): (Endpoint, Endpoint), hops: u16) {
    let ttl = TTL.saturating_sub(hops).max(1) as u8;
    Ipv4 { tos: ecn as u8, ttl, protocol, source: from.address, target: to.address }.write(bytes, length as u16);
}

/// Appends options up to `end`. Timestamps and SACK blocks begin behind two bytes of padding (no-operation options), as [`Options::size`]
/// says; the rest of it comes before all options, so that they end exactly at `end`.
fn write_options(bytes: &mut Vec<u8>, options: &Options, end: usize) {
    let begin = bytes.len();
    if let Some(mss) = options.mss {
        put(bytes, MSS, mss.to_be_bytes());
    }
    if options.sack_permitted {
        put(bytes, SACK_PERMITTED, []);
    }
    if let Some(shift) = options.window_scale {
        put(bytes, WINDOW_SCALE, [shift]);
    }
    if let Some(timestamps) = options.timestamps {
        if !options.sack_permitted {
            bytes.extend([NOP; 2]);
        }
        put(bytes, TIMESTAMPS, words([timestamps.value, timestamps.echo]));
    }
    if let Some(counts) = &options.ecn {
        put(bytes, counts.kind(), counts.fields().flat_map(|count| count.to_be_bytes().into_iter().skip(1)));
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        bytes.extend([NOP; 2]);
        put(bytes, SACK, words(blocks.iter().flat_map(|&(left, right)| [left, right])));
    }
    let free = end - bytes.len();
    bytes.splice(begin..begin, std::iter::repeat_n(NOP, free));
}

/// The fields of a kernel's TCP packet by which a flow follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Next sequence number that the sender of the segment expects.
    pub ack: u32,
    /// The flags of the TCP header.
    pub flags: Flags,
    /// Bytes of data.
    pub payload: u32,
    /// Size of the packet with all headers.
    pub size: u16,
    /// ECN field of the IPv4 header.
    pub ecn: Ecn,
}

impl Headers {
    /// The headers of `frame`; `None` if it is no whole TCP segment of IPv4.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let Begin { header, .. } = Begin::read(frame).filter(|begin| begin.protocol == TCP)?;
        let segment = frame.get(header..)?;
        let (TcpHeader { seq, ack, flags, .. }, size) = TcpHeader::read(segment)?;
        Some(Self {
            seq,
            ack,
            flags: Flags::from_bits(flags),
            payload: (segment.len() - size) as u32,
            size: u16::try_from(frame.len()).ok()?,
            ecn: frame_ecn(frame),
        })
    }

    /// Sequence numbers that the segment occupies: data, SYN and FIN.
    pub fn length(&self) -> u32 {
        self.payload + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}

impl Segment {
    /// The segment whose IPv4 and TCP headers are `headers`, without its data; `None` if they are none.
    pub fn of_headers(headers: &[u8]) -> Option<Self> {
        let Begin { header, length, .. } = Begin::read(headers).filter(|begin| begin.protocol == TCP && begin.first)?;
        let (TcpHeader { seq, ack, flags, window, .. }, size) = TcpHeader::read(headers.get(header..)?)?;
        let options = decode_options(&headers[header + TCP_HEADER..header + size]).unwrap_or_default();
        let payload = length.checked_sub(header + size)? as u32;
        let (flags, options) = (Flags::known(flags), Options::of(&options));
        Some(Self { seq, ack, flags, window, options, payload, ecn: frame_ecn(headers) })
    }
}

/// Where a frame comes from and goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressed {
    /// Source and destination.
    pub addresses: [IpAddr; 2],
    /// Number of the protocol.
    pub protocol: u8,
    /// Source and destination port; zero for other protocols than TCP and UDP, and for later fragments.
    pub ports: [u16; 2],
    /// Flow label of IPv6; zero in IPv4.
    pub flow_label: u32,
    /// Bytes after the headers of IP and, if the protocol is TCP or UDP, of transport.
    pub data: usize,
}

impl Addressed {
    /// Reads the headers of `frame`; `None` if it is no whole IP packet.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let Internet { addresses: (source, target), flow_label, protocol, first, payload, .. } = Internet::read(frame).ok()?;
        if payload.end != frame.len() {
            return None;
        }
        let segment = &frame[payload];
        let ports = || segment.first_chunk().map(|&[a, b, c, d]: &[u8; 4]| [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]);
        let (ports, transport) = match protocol {
            TCP if first => (ports()?, usize::from(segment.get(12)? >> 4) * 4),
            UDP if first => (ports()?, UDP_HEADER),
            _ => ([0; 2], 0),
        };
        let data = segment.len().checked_sub(transport)?;
        Some(Self { addresses: [source, target], protocol, ports, flow_label, data })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::sum;
    use crate::segment::EcnCounts;

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
            assert!([&before, &frame].into_iter().all(|arrived| *arriving(arrived, Ecn::Ce) == *frame));
            assert_eq!(*arriving(&before, Ecn::Ect0), *before);
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

    /// A frame with the given numbers.
    fn frame(seq: u32, ack: u32, flags: Flags, payload: usize) -> Vec<u8> {
        let mut frame = vec![0; 2 * IP_HEADER + payload];
        let [high, low] = flags.bits().to_be_bytes();
        (frame[0], frame[9], frame[32], frame[33]) = (0x45, TCP, 0x50 | high, low);
        frame[24..28].copy_from_slice(&seq.to_be_bytes());
        frame[28..32].copy_from_slice(&ack.to_be_bytes());
        frame
    }

    #[test]
    fn a_segment_is_read_with_its_options() {
        let mut bytes = frame(7, 9, Flags::ACK | Flags::FIN | Flags::AE, 112);
        (bytes[1], bytes[32]) = (0b11, 0x81);
        let segment = Headers::read(&bytes).unwrap();
        assert_eq!(segment, Headers { seq: 7, ack: 9, flags: Flags::ACK | Flags::FIN | Flags::AE, payload: 100, size: 152, ecn: Ecn::Ce });
        assert_eq!(segment.length(), 101, "a FIN occupies a number");
        assert!(segment.flags.has(Flags::FIN) && !segment.flags.has(Flags::SYN));
    }

    #[test]
    fn other_frames_are_no_segments() {
        let whole = frame(1, 2, Flags::ACK, 10);
        for change in [(0, 0x65), (9, 17), (0, 0x44), (32, 0x40)] {
            let mut bytes = whole.clone();
            bytes[change.0] = change.1;
            assert_eq!(Headers::read(&bytes), None, "{change:?}");
        }
        for length in 0..40 {
            assert_eq!(Headers::read(&whole[..length]), None, "{length}");
        }
    }

    #[test]
    fn what_is_no_whole_packet_has_no_addresses() {
        let mut whole = frame(1, 2, Flags::ACK, 3);
        let length = whole.len() as u16;
        whole[2..4].copy_from_slice(&length.to_be_bytes());
        assert!(Addressed::read(&[0x45, 0, 0, 4]).is_none(), "shorter than a header, of the length that it states");
        assert!(Addressed::read(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(Addressed::read(&whole[..length]), None, "{length} bytes");
        }
        let version = |byte| [&[byte], &whole[1..]].concat();
        assert_eq!((Addressed::read(&version(0x65)), Addressed::read(&version(0x44))), (None, None));
    }

    /// An IPv6 packet with traffic class `0b0010_1010` and flow label `0x1_2345`, that carries `payload` of a `protocol`.
    fn frame_v6(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0x62, 0xA1, 0x23, 0x45];
        frame.extend((payload.len() as u16).to_be_bytes());
        frame.extend([protocol, 64]);
        for end in [1, 2] {
            frame.extend([0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, end]);
        }
        frame.extend(payload);
        frame
    }

    /// A TCP segment from port 258 to port 80 with `options` bytes of options and `data` bytes of data.
    fn segment(options: usize, data: usize) -> Vec<u8> {
        let mut segment = vec![1, 2, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, (20 + options as u8) << 2];
        segment.resize(20 + options + data, 0xFF);
        segment
    }

    #[test]
    fn a_packet_of_ipv6_has_addresses_ports_and_a_label() {
        let whole = frame_v6(TCP, &segment(12, 1428));
        let addresses = ["fd00::1:1", "fd00::1:2"].map(|text| text.parse::<IpAddr>().unwrap());
        let expected = Addressed { addresses, protocol: TCP, ports: [258, 80], flow_label: 0x1_2345, data: 1428 };
        assert_eq!((whole.len(), Addressed::read(&whole)), (1500, Some(expected)));
        for length in 0..whole.len() {
            assert_eq!(Addressed::read(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(Addressed::read(&[whole.as_slice(), &[0]].concat()), None, "longer than it states");
        let mut datagram = frame_v6(UDP, &[1, 2, 0, 80, 0, 11, 0, 0, 7, 7, 7]);
        let expected = Addressed { protocol: UDP, data: 3, ..expected };
        assert_eq!(Addressed::read(&datagram), Some(expected));
        datagram[6] = 58; // ICMPv6
        assert_eq!(Addressed::read(&datagram), Some(Addressed { protocol: 58, ports: [0; 2], data: 11, ..expected }));
    }

    #[test]
    fn extension_headers_of_ipv6_are_skipped_and_a_later_fragment_has_no_ports() {
        let options = [TCP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let read = |protocol, extension: &[u8]| Addressed::read(&frame_v6(protocol, &[extension, &segment(0, 5)].concat())).unwrap();
        for protocol in [0, 43, 60] {
            let addressed = read(protocol, &options);
            assert_eq!((addressed.protocol, addressed.ports, addressed.data), (TCP, [258, 80], 5), "{protocol}");
        }
        // The first fragment of several, and one at an offset.
        for (place, ports, data) in [(1, [258, 80], 5), (8 << 3, [0; 2], 25)] {
            let addressed = read(44, &[TCP, 0, 0, place, 0, 0, 0, 9]);
            assert_eq!((addressed.protocol, addressed.ports, addressed.data), (TCP, ports, data), "{place}");
        }
        // A chain that leads out of the packet.
        assert_eq!(Addressed::read(&frame_v6(0, &[TCP, 9, 0, 0, 0, 0, 0, 0])), None);
    }

    #[test]
    fn a_mark_of_ipv6_is_in_the_traffic_class() {
        let before = frame_v6(TCP, &segment(0, 0));
        assert_eq!(frame_ecn(&before), Ecn::Ect0);
        let mut marked = before.clone();
        mark_frame(&mut marked, Ecn::Ect0);
        assert_eq!(marked, before);
        mark_frame(&mut marked, Ecn::Ce);
        assert_eq!((frame_ecn(&marked), marked[..4].to_vec()), (Ecn::Ce, vec![0x62, 0xB1, 0x23, 0x45]));
        assert_eq!(marked[4..], before[4..]);
        assert_eq!((&*arriving(&before, Ecn::Ce), &*arriving(&before, Ecn::Ect0)), (marked.as_slice(), before.as_slice()));
    }

    #[test]
    fn headers_of_ipv6_end_before_the_data() {
        let headers = |frame: &[u8]| {
            let mut bytes = vec![7];
            (frame_headers(&mut bytes, frame, Ecn::Ect0), bytes.len() - 1)
        };
        assert_eq!(headers(&frame_v6(TCP, &segment(12, 1000))), (1072, 72));
        assert_eq!(headers(&frame_v6(UDP, &[9; 100])), (140, 48));
        let options = [UDP, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(headers(&frame_v6(60, &[&options[..], &[9; 100]].concat())), (148, 56));
    }
}
