//! IP headers.
//!
//! ## References
//! RFC 791 §3.1 (IPv4); RFC 8200 §3, §4 (IPv6, extension headers); RFC 6864 §4.1 (identification of unfragmented packets).

use std::net::IpAddr;
use std::ops::Range;

use crate::checksum::{checksum, sum};

/// Numbers of protocols in IP headers.
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
/// Size of an IPv4 header without options, in bytes.
pub(crate) const V4_HEADER: usize = 20;
/// Size of an IPv6 header without extension headers, in bytes.
const V6_HEADER: usize = 40;
/// Don't fragment. An unfragmented packet needs no identification, so that field is zero (RFC 6864 §4.1).
const DONT_FRAGMENT: u16 = 1 << 14;
/// More fragments, and the offset of a fragment.
const V4_FRAGMENT: u16 = 0x3FFF;
const FRAGMENT_OFFSET: u16 = 0x1FFF;
/// Extension headers of IPv6 that are skipped: hop-by-hop options, routing, destination options; and that of fragments.
const SKIPPED: [u8; 3] = [0, 43, 60];
const FRAGMENT_HEADER: u8 = 44;

/// What an IPv4 header says of an unfragmented packet without options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ipv4 {
    /// DSCP and ECN field.
    pub(crate) tos: u8,
    pub(crate) ttl: u8,
    pub(crate) protocol: u8,
    pub(crate) source: [u8; 4],
    pub(crate) target: [u8; 4],
}

impl Ipv4 {
    /// Appends the header of a packet of `length` bytes.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>, length: u16) {
        let begin = bytes.len();
        bytes.extend([0x45, self.tos]);
        bytes.extend([length, 0, DONT_FRAGMENT].into_iter().flat_map(u16::to_be_bytes));
        bytes.extend([self.ttl, self.protocol, 0, 0]);
        bytes.extend(self.source.into_iter().chain(self.target));
        let check = checksum(sum(&bytes[begin..]));
        bytes[begin + 10..begin + 12].copy_from_slice(&check.to_be_bytes());
    }
}

/// Appends the header of an IPv6 packet that carries `length` bytes of TCP. Only the lower 20 bits of the flow label are used.
pub(crate) fn write_v6(bytes: &mut Vec<u8>, (tos, flow_label, hop_limit): (u8, u32, u8), addresses: [[u8; 16]; 2], length: u16) {
    bytes.extend((6 << 28 | u32::from(tos) << 20 | flow_label & 0xF_FFFF).to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend([TCP, hop_limit]);
    bytes.extend(addresses.concat());
}

/// The beginning of an IPv4 packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    /// Bytes of the header, options included; the packet may be shorter.
    pub(crate) header: usize,
    /// Length of the packet, as the header states it.
    pub(crate) length: usize,
    pub(crate) protocol: u8,
    /// Whether the transport's header follows: this is no later fragment.
    pub(crate) first: bool,
    /// Whether the packet is a fragment.
    pub(crate) fragmented: bool,
}

impl Begin {
    /// Reads `frame`; `None` if it does not begin with an IPv4 header.
    pub(crate) fn read(frame: &[u8]) -> Option<Self> {
        let header = usize::from(frame.first()? & 0x0F) * 4;
        if frame[0] >> 4 != 4 || header < V4_HEADER || frame.len() < V4_HEADER {
            return None;
        }
        let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let (first, fragmented) = (word(6) & FRAGMENT_OFFSET == 0, word(6) & V4_FRAGMENT != 0);
        Some(Self { header, length: usize::from(word(2)), protocol: frame[9], first, fragmented })
    }
}

/// A whole packet of IPv4 or IPv6.
#[derive(Clone, Debug)]
pub(crate) struct Internet {
    /// Source and destination.
    pub(crate) addresses: (IpAddr, IpAddr),
    /// Where both addresses lie in the packet, one behind the other.
    pub(crate) addresses_at: Range<usize>,
    pub(crate) tos: u8,
    pub(crate) ttl: u8,
    pub(crate) flow_label: u32,
    pub(crate) protocol: u8,
    /// Whether the packet is a fragment.
    pub(crate) fragmented: bool,
    /// Whether the transport's header follows: this is no later fragment.
    pub(crate) first: bool,
    /// Where the data lies.
    pub(crate) payload: Range<usize>,
}

impl Internet {
    /// Reads a packet. Its checksum is not verified.
    ///
    /// # Errors
    /// If the bytes are no whole packet.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Self::read_v4(bytes),
            Some(6) => Self::read_v6(bytes),
            Some(version) => Err(format!("version {version} of IP, not 4 or 6")),
            None => Err("an empty packet".to_owned()),
        }
    }

    fn read_v4(bytes: &[u8]) -> Result<Self, String> {
        let Some(Begin { header, length, protocol, first, fragmented }) = Begin::read(bytes) else {
            return Err(format!("{} bytes without a whole IPv4 header", bytes.len()));
        };
        if length < header || bytes.len() < length {
            return Err(format!("the IPv4 header states {length} bytes, and the packet has {}", bytes.len()));
        }
        let address = |at: usize| IpAddr::from([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Ok(Self {
            addresses: (address(12), address(16)),
            addresses_at: 12..20,
            tos: bytes[1],
            ttl: bytes[8],
            flow_label: 0,
            protocol,
            fragmented,
            first,
            payload: header..length,
        })
    }

    fn read_v6(bytes: &[u8]) -> Result<Self, String> {
        let short = || format!("{} bytes without whole headers of IPv6", bytes.len());
        let fixed: &[u8; V6_HEADER] = bytes.first_chunk().ok_or_else(short)?;
        let end = V6_HEADER + usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        if bytes.len() < end {
            return Err(format!("the IPv6 header states {end} bytes, and the packet has {}", bytes.len()));
        }
        let word = u32::from_be_bytes([fixed[0], fixed[1], fixed[2], fixed[3]]);
        let address = |at: usize| fixed[at..at + 16].try_into().map(|octets: [u8; 16]| IpAddr::from(octets)).map_err(|_| short());
        let (mut at, mut protocol, mut fragmented, mut first) = (V6_HEADER, fixed[6], false, true);
        // What follows the header of a later fragment is a part of what has been divided.
        while first && (SKIPPED.contains(&protocol) || protocol == FRAGMENT_HEADER) {
            let extension = bytes[at..end].first_chunk::<8>().ok_or_else(short)?;
            if protocol == FRAGMENT_HEADER {
                // The upper 13 bits are the offset, the lowest says that more fragments follow.
                let place = u16::from_be_bytes([extension[2], extension[3]]);
                fragmented |= place & 0xFFF9 != 0;
                first = place & 0xFFF8 == 0;
                at += 8;
            } else {
                at += 8 * (usize::from(extension[1]) + 1);
            }
            protocol = extension[0];
            if at > end {
                return Err(short());
            }
        }
        Ok(Self {
            addresses: (address(8)?, address(24)?),
            addresses_at: 8..V6_HEADER,
            tos: (word >> 20) as u8,
            ttl: fixed[7],
            flow_label: word & 0xF_FFFF,
            protocol,
            fragmented,
            first,
            payload: at..end,
        })
    }
}
