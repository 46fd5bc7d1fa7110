//! TCP packets as bytes: IPv4 or IPv6 header, TCP header with options, payload.
//!
//! The options of a [`Packet`] stay bytes, so that a packet with an unknown or broken option can be shown and compared.
//!
//! ## References
//! RFC 791, RFC 8200 (IP headers); RFC 9293 §3.1 (TCP header); RFC 7323 §2, §3; RFC 2018 §2, §3; RFC 2385 (MD5); RFC 7413 §4.1.1 and
//! RFC 6994 (TCP Fast Open, experimental options); RFC 9768 §3.2.3 (AccECN option).

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpDscp, IpEcn, IpHeaders, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader};

use crate::script::{EcnCounter, Flags, TcpOption};

/// Largest size of TCP options in bytes.
pub const MOST_OPTIONS: usize = 40;
/// Number of TCP in the IP header.
const TCP: IpNumber = IpNumber::TCP;
/// The urgent flag.
pub const URG: u16 = 32;
/// Magic number of TCP Fast Open in the experimental option (RFC 7413 §4.1.1).
const FAST_OPEN_MAGIC: u16 = 0xF989;
/// Kinds of the AccECN options of order 0 and 1 (RFC 9768 §3.2.3).
const ACCURATE_ECN: [u8; 2] = [172, 174];

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
    /// Flags, by the bits of [`Flags`] and [`URG`].
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
    /// The packet as bytes, with correct checksums.
    ///
    /// # Errors
    /// If the options or the payload are too long, or the addresses belong to different versions of IP.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let mut tcp = TcpHeader::new(self.source.port(), self.target.port(), self.seq, self.window);
        tcp.acknowledgment_number = self.ack;
        tcp.urgent_pointer = self.urgent;
        let has = |flag| self.flags & flag != 0;
        (tcp.fin, tcp.syn, tcp.rst, tcp.psh) = (has(Flags::FIN), has(Flags::SYN), has(Flags::RST), has(Flags::PSH));
        (tcp.ack, tcp.urg, tcp.ece, tcp.cwr, tcp.ns) = (has(Flags::ACK), has(URG), has(Flags::ECE), has(Flags::CWR), has(Flags::AE));
        tcp.set_options_raw(&self.options).map_err(|error| format!("TCP options: {error}"))?;
        let length = tcp.header_len() + self.payload.len();
        let (dscp, ecn) = (IpDscp::try_new(self.tos >> 2), IpEcn::try_new(self.tos & 3));
        let (Ok(dscp), Ok(ecn)) = (dscp, ecn) else { return Err("the byte of DSCP and ECN is out of range".to_owned()) };
        let mut bytes = Vec::with_capacity(60 + length);
        match (self.source.ip(), self.target.ip()) {
            (IpAddr::V4(source), IpAddr::V4(target)) => {
                let too_long = |_| format!("a payload of {} bytes does not fit a packet", self.payload.len());
                let size = u16::try_from(length).map_err(too_long)?;
                let mut ip = Ipv4Header::new(size, self.ttl, TCP, source.octets(), target.octets())
                    .map_err(|_| format!("a payload of {} bytes does not fit a packet", self.payload.len()))?;
                (ip.dscp, ip.ecn, ip.dont_fragment) = (dscp, ecn, true);
                ip.header_checksum = ip.calc_header_checksum();
                tcp.checksum = tcp.calc_checksum_ipv4(&ip, &self.payload).map_err(|error| error.to_string())?;
                ip.write(&mut bytes).map_err(|error| error.to_string())?;
            }
            (IpAddr::V6(source), IpAddr::V6(target)) => {
                let mut ip = Ipv6Header {
                    flow_label: Ipv6FlowLabel::try_new(self.flow_label).map_err(|error| error.to_string())?,
                    next_header: TCP,
                    hop_limit: self.ttl,
                    source: source.octets(),
                    destination: target.octets(),
                    ..Ipv6Header::default()
                };
                ip.set_dscp(dscp);
                ip.set_ecn(ecn);
                ip.set_payload_length(length).map_err(|error| error.to_string())?;
                tcp.checksum = tcp.calc_checksum_ipv6(&ip, &self.payload).map_err(|error| error.to_string())?;
                ip.write(&mut bytes).map_err(|error| error.to_string())?;
            }
            _ => return Err("the addresses belong to different versions of IP".to_owned()),
        }
        let begin = bytes.len();
        tcp.write(&mut bytes).map_err(|error| error.to_string())?;
        if self.reserved != 0 {
            // The library keeps the reserved bits at zero. The checksum covers them in the upper byte of a word.
            bytes[begin + 12] |= self.reserved << 1;
            let sum = u32::from(!tcp.checksum) + (u32::from(self.reserved) << 9);
            let check = !((sum & 0xFFFF) + (sum >> 16)) as u16;
            bytes[begin + 16..begin + 18].copy_from_slice(&check.to_be_bytes());
        }
        bytes.extend(&self.payload);
        Ok(bytes)
    }

    /// Reads a packet and verifies its checksums.
    ///
    /// # Errors
    /// If the bytes are no unfragmented TCP packet, or a checksum is wrong.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let (headers, payload) = IpHeaders::from_slice(bytes).map_err(|error| error.to_string())?;
        if payload.ip_number != TCP || payload.fragmented {
            return Err(format!("IP protocol {}{}, not TCP", payload.ip_number.0, if payload.fragmented { " in fragments" } else { "" }));
        }
        let segment = payload.payload;
        let (tcp, data) = TcpHeader::from_slice(segment).map_err(|error| error.to_string())?;
        let (addresses, tos, ttl, flow_label) = match &headers {
            IpHeaders::Ipv4(ip, _) => {
                let right = ip.calc_header_checksum();
                if ip.header_checksum != right {
                    return Err(format!("the IPv4 header has checksum {:#06x} instead of {right:#06x}", ip.header_checksum));
                }
                let addresses = (IpAddr::from(ip.source), IpAddr::from(ip.destination));
                (addresses, ip.dscp.value() << 2 | ip.ecn.value(), ip.time_to_live, 0)
            }
            IpHeaders::Ipv6(ip, _) => {
                let addresses = (IpAddr::from(ip.source), IpAddr::from(ip.destination));
                (addresses, ip.traffic_class, ip.hop_limit, ip.flow_label.value())
            }
        };
        if sum(addresses, segment) != 0xFFFF {
            return Err(format!("the TCP checksum {:#06x} is wrong", tcp.checksum));
        }
        let flags = [
            (tcp.fin, Flags::FIN),
            (tcp.syn, Flags::SYN),
            (tcp.rst, Flags::RST),
            (tcp.psh, Flags::PSH),
            (tcp.ack, Flags::ACK),
            (tcp.urg, URG),
            (tcp.ece, Flags::ECE),
            (tcp.cwr, Flags::CWR),
            (tcp.ns, Flags::AE),
        ];
        Ok(Self {
            source: SocketAddr::new(addresses.0, tcp.source_port),
            target: SocketAddr::new(addresses.1, tcp.destination_port),
            tos,
            ttl,
            flow_label,
            seq: tcp.sequence_number,
            ack: tcp.acknowledgment_number,
            flags: flags.iter().filter(|(set, _)| *set).fold(0, |flags, (_, flag)| flags | flag),
            reserved: segment[12] >> 1 & 7,
            window: tcp.window_size,
            urgent: tcp.urgent_pointer,
            options: tcp.options.as_slice().to_vec(),
            payload: data.to_vec(),
        })
    }

    /// Whether all flags of `mask` are set.
    pub const fn has(&self, mask: u16) -> bool {
        self.flags & mask == mask
    }

    /// Sequence numbers that the segment occupies: data, SYN and FIN.
    pub fn length(&self) -> u32 {
        self.payload.len() as u32 + u32::from(self.has(Flags::SYN)) + u32::from(self.has(Flags::FIN))
    }
}

/// One's complement sum of a segment with its pseudo header: 0xFFFF if the checksum is right.
fn sum((source, target): (IpAddr, IpAddr), segment: &[u8]) -> u32 {
    let octets = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let words = |bytes: &[u8]| -> u64 {
        let pairs = bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
        pairs.sum()
    };
    let length = segment.len() as u64;
    let mut sum = words(&octets(source)) + words(&octets(target)) + u64::from(TCP.0) + (length >> 16) + (length & 0xFFFF) + words(segment);
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    sum as u32
}

/// Options as bytes.
///
/// # Errors
/// If their size is no multiple of four or above 40 bytes.
pub fn encode_options(options: &[TcpOption]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for option in options {
        encode_option(&mut bytes, option);
    }
    match bytes.len() {
        length if length % 4 != 0 => Err(format!("the TCP options have {length} bytes, which is no multiple of 4; add nop or eol")),
        length if length > MOST_OPTIONS => Err(format!("the TCP options have {length} bytes; at most {MOST_OPTIONS} fit")),
        _ => Ok(bytes),
    }
}

fn encode_option(bytes: &mut Vec<u8>, option: &TcpOption) {
    let begin = bytes.len();
    match option {
        TcpOption::Nop => return bytes.push(1),
        TcpOption::End => return bytes.push(0),
        TcpOption::Mss(mss) => {
            bytes.extend([2, 0]);
            bytes.extend(mss.to_be_bytes());
        }
        TcpOption::WindowScale(shift) => bytes.extend([3, 0, *shift]),
        TcpOption::SackPermitted => bytes.extend([4, 0]),
        TcpOption::Sack(blocks) => {
            bytes.extend([5, 0]);
            bytes.extend(blocks.iter().flat_map(|&(left, right)| [left, right]).flat_map(u32::to_be_bytes));
        }
        TcpOption::Timestamps { value, echo } => {
            bytes.extend([8, 0]);
            bytes.extend([*value, *echo].into_iter().flat_map(u32::to_be_bytes));
        }
        TcpOption::Md5(digest) => {
            bytes.extend([19, 0]);
            bytes.extend(digest);
        }
        TcpOption::FastOpen { cookie, experimental } => {
            bytes.extend([if *experimental { 254 } else { 34 }, 0]);
            if *experimental {
                bytes.extend(FAST_OPEN_MAGIC.to_be_bytes());
            }
            bytes.extend(cookie);
        }
        TcpOption::AccurateEcn(counters) => {
            let order = usize::from(counters.first().is_some_and(|(counter, _)| *counter == EcnCounter::Ect1));
            bytes.extend([ACCURATE_ECN[order], 0]);
            bytes.extend(counters.iter().flat_map(|(_, value)| value.to_be_bytes().into_iter().skip(1)));
        }
    }
    bytes[begin + 1] = (bytes.len() - begin) as u8;
}

/// Options from bytes.
///
/// # Errors
/// If an option is unknown or has a wrong length; the message shows its bytes.
pub fn decode_options(mut bytes: &[u8]) -> Result<Vec<TcpOption>, String> {
    let mut options = Vec::new();
    while let Some(&kind) = bytes.first() {
        if kind < 2 {
            options.push(if kind == 0 { TcpOption::End } else { TcpOption::Nop });
            bytes = &bytes[1..];
            continue;
        }
        let length = bytes.get(1).map_or(0, |&length| usize::from(length));
        let Some(option) = bytes.get(..length).filter(|option| option.len() >= 2) else {
            return Err(format!("a TCP option of kind {kind} with a wrong length: {}", hex(bytes)));
        };
        options.push(decode_option(kind, &option[2..]).ok_or_else(|| format!("an unknown TCP option: {}", hex(option)))?);
        bytes = &bytes[length..];
    }
    Ok(options)
}

fn decode_option(kind: u8, value: &[u8]) -> Option<TcpOption> {
    let word = |at: usize| value.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    Some(match (kind, value.len()) {
        (2, 2) => TcpOption::Mss(u16::from_be_bytes([value[0], value[1]])),
        (3, 1) => TcpOption::WindowScale(value[0]),
        (4, 0) => TcpOption::SackPermitted,
        (5, length) if length % 8 == 0 => {
            TcpOption::Sack((0..length / 8).map(|block| Some((word(8 * block)?, word(8 * block + 4)?))).collect::<Option<_>>()?)
        }
        (8, 8) => TcpOption::Timestamps { value: word(0)?, echo: word(4)? },
        (19, _) => TcpOption::Md5(value.to_vec()),
        (34, _) => TcpOption::FastOpen { cookie: value.to_vec(), experimental: false },
        (254, 2..) if value[..2] == FAST_OPEN_MAGIC.to_be_bytes() => {
            TcpOption::FastOpen { cookie: value[2..].to_vec(), experimental: true }
        }
        (kind, length) if ACCURATE_ECN.contains(&kind) && length % 3 == 0 && length <= 9 => {
            let order = if kind == ACCURATE_ECN[0] {
                [EcnCounter::Ect0, EcnCounter::Ce, EcnCounter::Ect1]
            } else {
                [EcnCounter::Ect1, EcnCounter::Ce, EcnCounter::Ect0]
            };
            let values = value.chunks(3).map(|bytes| u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]));
            TcpOption::AccurateEcn(order.into_iter().zip(values).collect())
        }
        _ => return None,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "packet_tests.rs"]
mod tests;
