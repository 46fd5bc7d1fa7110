//! Messages of ICMP that answer a TCP segment, for IPv4 and IPv6.
//!
//! ## References
//! RFC 792 (messages; they quote the IP header and 64 bits of what follows); RFC 1191 §4 (MTU of the next hop); RFC 4443 §2.3 (checksum),
//! §3.1, §3.2 (messages for IPv6).

use std::net::{IpAddr, SocketAddr};

use crate::checksum::{checksum, sum, transport};
use crate::internet::{Ipv4, TCP, V4_HEADER, write_v6};

/// Numbers of protocols in IP headers.
const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
/// Time to live of the message and of the packet that it quotes.
const TTL: u8 = 255;
/// Where the next header stands in a header of IPv6.
const NEXT_HEADER: usize = 6;

/// The names of messages in packetdrill with their types and codes.
const V4: [(&str, &str, u8, u8); 14] = [
    ("unreachable", "net_unreachable", 3, 0),
    ("unreachable", "host_unreachable", 3, 1),
    ("unreachable", "protocol_unreachable", 3, 2),
    ("unreachable", "port_unreachable", 3, 3),
    ("unreachable", "frag_needed", 3, 4),
    ("unreachable", "source_route_failed", 3, 5),
    ("unreachable", "net_unknown", 3, 6),
    ("unreachable", "host_unknown", 3, 7),
    ("unreachable", "net_prohibited", 3, 9),
    ("unreachable", "host_prohibited", 3, 10),
    ("unreachable", "packet_filtered", 3, 13),
    ("source_quench", "", 4, 0),
    ("time_exceeded", "", 11, 0),
    ("parameter_problem", "", 12, 0),
];
const V6: [(&str, &str, u8, u8); 8] = [
    ("unreachable", "no_route", 1, 0),
    ("unreachable", "admin_prohibited", 1, 1),
    ("unreachable", "not_neighbour", 1, 2),
    ("unreachable", "address_unreachable", 1, 3),
    ("unreachable", "port_unreachable", 1, 4),
    ("packet_too_big", "", 2, 0),
    ("time_exceeded", "exceeded_hop_limit", 3, 0),
    ("parameter_problem", "", 4, 0),
];

/// A message that answers a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Type.
    pub kind: u8,
    /// Code.
    pub code: u8,
    /// MTU of the next hop, or 0.
    pub mtu: u32,
    /// Sender of the segment, which receives the message.
    pub source: SocketAddr,
    /// Receiver of the segment, which sends the message.
    pub target: SocketAddr,
    /// First sequence number of the segment.
    pub seq: u32,
    /// Bytes of the segment, its header included.
    pub length: u16,
}

/// The type and code of a message by packetdrill's names; without a code, the first of its type.
pub fn find(v4: bool, kind: &str, code: Option<&str>) -> Option<(u8, u8)> {
    let known: &[_] = if v4 { &V4 } else { &V6 };
    let found = known.iter().find(|(name, text, ..)| *name == kind && code.is_none_or(|code| code == *text));
    found.map(|&(.., kind, code)| (kind, code))
}

impl Message {
    /// The message as a packet, with correct checksums.
    ///
    /// # Errors
    /// If the addresses belong to different versions of IP.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        // What follows the type, the code and the checksum: the MTU, whose upper half is unused in IPv4.
        let mut message = vec![self.kind, self.code, 0, 0];
        message.extend(self.mtu.to_be_bytes());
        let mut bytes = Vec::new();
        match (self.source.ip(), self.target.ip()) {
            (IpAddr::V4(source), IpAddr::V4(target)) => {
                let (source, target) = (source.octets(), target.octets());
                let quoted = Ipv4 { tos: 0, ttl: TTL, protocol: TCP, source, target };
                quoted.write(&mut message, V4_HEADER as u16 + self.length);
                self.quote(&mut message);
                let check = checksum(sum(&message));
                message[2..4].copy_from_slice(&check.to_be_bytes());
                let header = Ipv4 { tos: 0, ttl: TTL, protocol: ICMP, source: target, target: source };
                header.write(&mut bytes, (V4_HEADER + message.len()) as u16);
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => {
                let (source, target) = (source.octets(), target.octets());
                write_v6(&mut message, (0, 0, TTL), [source, target], self.length);
                self.quote(&mut message);
                let check = transport(&[target, source].concat(), ICMP_V6, message.len() as u32, &message);
                message[2..4].copy_from_slice(&check.to_be_bytes());
                write_v6(&mut bytes, (0, 0, TTL), [target, source], message.len() as u16);
                bytes[NEXT_HEADER] = ICMP_V6;
            }
            _ => return Err("the addresses belong to different versions of IP".to_owned()),
        }
        bytes.extend(message);
        Ok(bytes)
    }

    /// Appends the beginning of the segment: ports and sequence number.
    fn quote(&self, message: &mut Vec<u8>) {
        message.extend([self.source.port(), self.target.port()].into_iter().flat_map(u16::to_be_bytes));
        message.extend(self.seq.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internet::Internet;

    fn message(source: &str, target: &str, (kind, code): (u8, u8)) -> Vec<u8> {
        let (source, target) = (source.parse().unwrap(), target.parse().unwrap());
        Message { kind, code, mtu: 1400, source, target, seq: 0x0102_0304, length: 1020 }.encode().unwrap()
    }

    #[test]
    fn a_message_quotes_the_segment() {
        let bytes = message("192.168.0.1:80", "192.0.2.1:99", find(true, "unreachable", Some("frag_needed")).unwrap());
        let read = Internet::read(&bytes).unwrap();
        assert_eq!((read.protocol, read.addresses.0.to_string()), (1, "192.0.2.1".to_owned()));
        let payload = &bytes[read.payload];
        assert_eq!((&payload[..2], &payload[4..8]), (&[3, 4][..], &[0, 0, 5, 120][..]));
        assert_eq!(checksum(sum(payload)), 0);
        assert_eq!(payload[28..], [0, 80, 0, 99, 1, 2, 3, 4]);
        let quoted = &payload[8..28];
        assert_eq!((u16::from_be_bytes([quoted[2], quoted[3]]), checksum(sum(quoted))), (1040, 0));
    }

    #[test]
    fn a_message_of_ipv6_has_the_pseudo_header_in_its_checksum() {
        let bytes = message("[fd00::1]:80", "[2001:db8::1]:99", find(false, "packet_too_big", None).unwrap());
        let read = Internet::read(&bytes).unwrap();
        assert_eq!((read.protocol, read.addresses.1.to_string()), (58, "fd00::1".to_owned()));
        let payload = &bytes[read.payload.clone()];
        assert_eq!(transport(&bytes[read.addresses_at], 58, payload.len() as u32, payload), 0);
        assert_eq!((payload[0], payload.len()), (2, 8 + 40 + 8));
    }

    #[test]
    fn names() {
        assert_eq!(find(true, "unreachable", None), Some((3, 0)));
        assert_eq!(find(true, "unreachable", Some("host_unreachable")), Some((3, 1)));
        assert_eq!(find(false, "unreachable", Some("host_unreachable")), None);
        let (source, target) = ("1.2.3.4:1".parse().unwrap(), "[::1]:2".parse().unwrap());
        assert!(Message { kind: 3, code: 0, mtu: 0, source, target, seq: 0, length: 20 }.encode().is_err());
    }
}
