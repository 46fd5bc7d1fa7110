//! TCP packets as bytes: IPv4 or IPv6 header, TCP header with options, payload.
//!
//! The options of a [`Packet`] stay bytes, so that a packet with an unknown or broken option can be shown and compared.
//!
//! ## References
//! RFC 791, RFC 8200 (IP headers); RFC 9293 §3.1 (TCP header).

use std::net::{IpAddr, SocketAddr};

use ackclock_core::qdisc::Ecn;

use crate::checksum::{checksum, sum, transport};
use crate::internet::{Internet, Ipv4, TCP, V4_HEADER, write_v6};
pub use crate::options::{MOST_OPTIONS, decode_options, encode_options};
use crate::segment::{Flags, Options, Segment};
use crate::tcp::{CHECKSUM, TCP_HEADER, TcpHeader};

/// The urgent flag.
pub const URG: u16 = 32;
/// The flag of accurate ECN (RFC 9768 §3.1.1).
pub const AE: u16 = 256;

/// A TCP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Address and port of the sender.
    pub source: SocketAddr,
    /// Address and port of the receiver.
    pub target: SocketAddr,
    /// Byte of DSCP and ECN field.
    pub tos: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Flow label of IPv6.
    pub flow_label: u32,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// The nine flags, by the bits of [`Flags`], [`URG`] and [`AE`].
    pub flags: u16,
    /// The three reserved bits between data offset and flags.
    pub reserved: u8,
    /// Window field.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options as bytes, a multiple of four.
    pub options: Vec<u8>,
    /// Data.
    pub payload: Vec<u8>,
}

impl Packet {
    /// The packet as bytes, with correct checksums. Options are padded to a multiple of four.
    ///
    /// # Errors
    /// If the options, the payload or the flow label are too long, or the addresses belong to different versions of IP.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        if self.options.len() > MOST_OPTIONS {
            return Err(format!("the TCP options have {} bytes; at most {MOST_OPTIONS} fit", self.options.len()));
        }
        let options = self.options.len().next_multiple_of(4);
        let length = TCP_HEADER + options + self.payload.len();
        let fits =
            |length: usize| u16::try_from(length).map_err(|_| format!("a payload of {} bytes does not fit a packet", self.payload.len()));
        let mut bytes = Vec::with_capacity(60 + length);
        let addresses_at = match (self.source.ip(), self.target.ip()) {
            (IpAddr::V4(source), IpAddr::V4(target)) => {
                let (source, target) = (source.octets(), target.octets());
                let header = Ipv4 { tos: self.tos, ttl: self.ttl, protocol: TCP, source, target };
                header.write(&mut bytes, fits(V4_HEADER + length)?);
                12..20
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => {
                if self.flow_label >> 20 != 0 {
                    return Err(format!("the flow label {:#x} has more than 20 bits", self.flow_label));
                }
                let fields = (self.tos, self.flow_label, self.ttl);
                write_v6(&mut bytes, fields, [source.octets(), target.octets()], fits(length)?);
                8..40
            }
            _ => return Err("the addresses belong to different versions of IP".to_owned()),
        };
        let begin = bytes.len();
        let &Self { seq, ack, flags, reserved, window, urgent, .. } = self;
        let ports = (self.source.port(), self.target.port());
        TcpHeader { ports, seq, ack, flags, reserved, window, urgent }.write(&mut bytes, options);
        bytes.extend(&self.options);
        bytes.resize(begin + TCP_HEADER + options, 0);
        bytes.extend(&self.payload);
        let check = transport(&bytes[addresses_at], TCP, length as u32, &bytes[begin..]);
        bytes[begin + CHECKSUM..begin + CHECKSUM + 2].copy_from_slice(&check.to_be_bytes());
        Ok(bytes)
    }

    /// Reads a packet and verifies its checksums.
    ///
    /// # Errors
    /// If the bytes are no unfragmented TCP packet, or a checksum is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let Internet { addresses, addresses_at, tos, ttl, flow_label, protocol, fragmented, payload, .. } = Internet::read(bytes)?;
        if protocol != TCP || fragmented {
            return Err(format!("IP protocol {protocol}{}, not TCP", if fragmented { " in fragments" } else { "" }));
        }
        if addresses.0.is_ipv4() {
            let (stated, header) = (u16::from_be_bytes([bytes[10], bytes[11]]), &bytes[..payload.start]);
            let right = checksum(sum(&header[..10]) + sum(&header[12..]));
            if stated != right {
                return Err(format!("the IPv4 header has checksum {stated:#06x} instead of {right:#06x}"));
            }
        }
        let segment = &bytes[payload];
        let Some((header, size)) = TcpHeader::read(segment) else {
            return Err(format!("{} bytes without a whole TCP header", segment.len()));
        };
        if transport(&bytes[addresses_at], TCP, segment.len() as u32, segment) != 0 {
            let stated = u16::from_be_bytes([segment[CHECKSUM], segment[CHECKSUM + 1]]);
            return Err(format!("the TCP checksum {stated:#06x} is wrong"));
        }
        let TcpHeader { ports, seq, ack, flags, reserved, window, urgent } = header;
        Ok(Self {
            source: SocketAddr::new(addresses.0, ports.0),
            target: SocketAddr::new(addresses.1, ports.1),
            tos,
            ttl,
            flow_label,
            seq,
            ack,
            flags,
            reserved,
            window,
            urgent,
            options: segment[TCP_HEADER..size].to_vec(),
            payload: segment[size..].to_vec(),
        })
    }

    /// The segment in the packet. Options that [`Segment`] does not have are ignored, as RFC 9293 §3.1 requires.
    pub fn segment(&self) -> Segment {
        Segment {
            seq: self.seq,
            ack: self.ack,
            flags: Flags::known(self.flags),
            window: self.window,
            options: Options::of(&decode_options(&self.options).unwrap_or_default()),
            payload: self.payload.len() as u32,
            ecn: Ecn::of(self.tos),
        }
    }

    /// Whether all flags of `mask` are set.
    pub const fn has(&self, mask: u16) -> bool {
        self.flags & mask == mask
    }

    /// Sequence numbers that the segment occupies: data, SYN and FIN.
    pub fn length(&self) -> u32 {
        self.payload.len() as u32 + u32::from(self.has(Flags::SYN.bits())) + u32::from(self.has(Flags::FIN.bits()))
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
