//! The flow of a frame: an IPv4 packet as the kernel sends it.

use std::net::Ipv4Addr;

use ackclock_host::Side;

use crate::space::owner;

/// Smallest IPv4 header in bytes.
const INTERNET_HEADER: usize = 20;
/// Mask of the fragment offset.
const FRAGMENT_OFFSET: u16 = 0x1FFF;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The fields that assign a frame to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addressed {
    /// Source and destination.
    addresses: [Ipv4Addr; 2],
    protocol: u8,
    /// Source and destination port; zero for other protocols than TCP and UDP, and for later fragments.
    ports: [u16; 2],
    /// Bytes after the headers of IP and, if the protocol is TCP or UDP, of transport.
    pub data: usize,
}

impl Addressed {
    /// Reads the headers of `frame`; `None` if it is no whole IPv4 packet.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let header = usize::from(frame.first()? & 0x0F) * 4;
        let word = |at: usize| Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?));
        if frame[0] >> 4 != 4 || header < INTERNET_HEADER || usize::from(word(2)?) != frame.len() {
            return None;
        }
        let address = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(frame.get(at..at + 4)?).ok()?));
        let (protocol, first) = (*frame.get(9)?, word(6)? & FRAGMENT_OFFSET == 0);
        let (ports, transport) = match protocol {
            TCP if first => ([word(header)?, word(header + 2)?], usize::from(frame.get(header + 12)? >> 4) * 4),
            UDP if first => ([word(header)?, word(header + 2)?], 8),
            _ => ([0; 2], 0),
        };
        let data = frame.len().checked_sub(header + transport)?;
        Some(Self { addresses: [address(12)?, address(16)?], protocol, ports, data })
    }

    /// The flow between these addresses and the end that sent the frame.
    pub fn flow(&self) -> Option<(usize, Side)> {
        let [(flow, from), (other, to)] = [owner(self.addresses[0])?, owner(self.addresses[1])?];
        (flow == other && from == to.peer()).then_some((flow, from))
    }

    /// One of `flows` flows, the same for all packets of a connection in both directions: a hash of the addresses, the ports and the
    /// protocol (FNV-1a). `from`: the end that sent the frame.
    pub fn hashed(&self, from: Side, flows: usize) -> usize {
        let forward = from == Side::Sender;
        let place = |index: usize| if forward { index } else { 1 - index };
        let bytes = [0, 1].into_iter().flat_map(|index| {
            let [high, low] = self.ports[place(index)].to_be_bytes();
            self.addresses[place(index)].octets().into_iter().chain([high, low])
        });
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = bytes.chain([self.protocol]).fold(0xcbf2_9ce4_8422_2325, step);
        // The low bits of FNV-1a change least.
        ((hash >> 32 ^ hash) % flows.max(1) as u64) as usize
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::space::address;

    /// A frame of 20 + 20 + `data` bytes.
    pub(in crate::emulator) fn frame((from, to): (Ipv4Addr, Ipv4Addr), ports: [u16; 2], data: usize) -> Vec<u8> {
        let mut frame = vec![0x45, 0];
        frame.extend((40 + data as u16).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, TCP, 0, 0]);
        frame.extend(from.octets().into_iter().chain(to.octets()));
        frame.extend(ports.into_iter().flat_map(u16::to_be_bytes));
        frame.extend([0; 8]);
        frame.push(5 << 4);
        frame.resize(40 + data, 0);
        frame
    }

    #[test]
    fn addresses_give_flow_and_end() {
        let read = |from, to| Addressed::read(&frame((from, to), [1, 2], 100)).unwrap();
        let (near, far) = (address(300, Side::Sender), address(300, Side::Receiver));
        assert_eq!(read(near, far).flow(), Some((300, Side::Sender)));
        assert_eq!(read(far, near).flow(), Some((300, Side::Receiver)));
        assert_eq!(read(far, near).data, 100);
        for (from, to) in [(near, near), (near, address(301, Side::Receiver)), (near, Ipv4Addr::new(224, 0, 0, 22))] {
            assert_eq!(read(from, to).flow(), None);
        }
    }

    #[test]
    fn both_directions_of_a_connection_have_one_hash_and_connections_spread() {
        let ends = (address(0, Side::Sender), address(0, Side::Receiver));
        let mut seen = [0; 16];
        for port in 40_000..40_400 {
            let forward = Addressed::read(&frame(ends, [port, 80], 0)).unwrap().hashed(Side::Sender, 16);
            let back = Addressed::read(&frame((ends.1, ends.0), [80, port], 0)).unwrap().hashed(Side::Receiver, 16);
            assert_eq!(forward, back);
            seen[forward] += 1;
        }
        assert!(seen.iter().all(|&count| (10..=45).contains(&count)), "{seen:?}");
    }

    #[test]
    fn what_is_no_whole_packet_has_no_flow() {
        let whole = frame((address(0, Side::Sender), address(0, Side::Receiver)), [1, 2], 3);
        assert!(Addressed::read(&[0x45, 0, 0, 4]).is_none(), "shorter than a header, of the length that it states");
        assert!(Addressed::read(&whole).is_some());
        for length in 0..whole.len() {
            assert_eq!(Addressed::read(&whole[..length]), None, "{length} bytes");
        }
        let version = |byte| [&[byte], &whole[1..]].concat();
        assert_eq!((Addressed::read(&version(0x65)), Addressed::read(&version(0x44))), (None, None));
    }
}
