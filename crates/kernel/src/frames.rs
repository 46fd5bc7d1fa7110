//! The flow to which a frame belongs.

use std::net::IpAddr;

use ackclock_host::Side;
use ackclock_wire::frame::Addressed;

use crate::route::owner;

/// The flow between the addresses of a frame and the end that sent the frame.
pub fn flow(addressed: &Addressed) -> Option<(usize, Side)> {
    let [(flow, from), (other, to)] = [owner(addressed.addresses[0])?, owner(addressed.addresses[1])?];
    (flow == other && from == to.peer()).then_some((flow, from))
}

/// One of `flows` flows, the same for all packets of a connection in both directions: a hash of the addresses, the ports and the
/// protocol (FNV-1a). The flow label of IPv6, which differs between directions, stands for ports that are missing (RFC 6438 §2). `from`: the
/// end that sent the frame.
pub fn hashed(addressed: &Addressed, from: Side, flows: usize) -> usize {
    let order = if from == Side::Sender { [0, 1] } else { [1, 0] };
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for index in order {
        match addressed.addresses[index] {
            IpAddr::V4(address) => add(&address.octets()),
            IpAddr::V6(address) => add(&address.octets()),
        }
        add(&addressed.ports[index].to_be_bytes());
    }
    add(&[addressed.protocol]);
    if addressed.ports == [0; 2] && addressed.flow_label != 0 {
        add(&addressed.flow_label.to_be_bytes());
    }
    // The low bits of FNV-1a change least.
    ((hash >> 32 ^ hash) % flows.max(1) as u64) as usize
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::route::{address, address_v6};

    const TCP: u8 = 6;

    /// A frame of 20 + 20 + `data` bytes.
    fn frame((from, to): (Ipv4Addr, Ipv4Addr), ports: [u16; 2], data: usize) -> Vec<u8> {
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
        assert_eq!(flow(&read(near, far)), Some((300, Side::Sender)));
        assert_eq!(flow(&read(far, near)), Some((300, Side::Receiver)));
        assert_eq!(read(far, near).data, 100);
        for (from, to) in [(near, near), (near, address(301, Side::Receiver)), (near, Ipv4Addr::new(224, 0, 0, 22))] {
            assert_eq!(flow(&read(from, to)), None);
        }
    }

    #[test]
    fn both_directions_of_a_connection_have_one_hash_and_connections_spread() {
        let ends = (address(0, Side::Sender), address(0, Side::Receiver));
        let mut seen = [0; 16];
        for port in 40_000..40_400 {
            let forward = hashed(&Addressed::read(&frame(ends, [port, 80], 0)).unwrap(), Side::Sender, 16);
            let back = hashed(&Addressed::read(&frame((ends.1, ends.0), [80, port], 0)).unwrap(), Side::Receiver, 16);
            assert_eq!(forward, back);
            seen[forward] += 1;
        }
        assert!(seen.iter().all(|&count| (10..=45).contains(&count)), "{seen:?}");
    }

    #[test]
    fn connections_of_ipv6_spread_by_ports_and_else_by_their_label() {
        let ends = [Side::Sender, Side::Receiver].map(|side| IpAddr::from(address_v6(0, side)));
        let packet = |ports: [u16; 2], flow_label| Addressed { addresses: ends, protocol: TCP, ports, flow_label, data: 0 };
        let turned = |packet: Addressed, flow_label| {
            let ([source, target], [from, to]) = (packet.addresses, packet.ports);
            Addressed { addresses: [target, source], ports: [to, from], flow_label, ..packet }
        };
        assert_eq!(flow(&packet([1, 2], 0)), Some((0, Side::Sender)));
        assert_eq!(flow(&turned(packet([1, 2], 0), 0)), Some((0, Side::Receiver)));
        let of = |packet: &Addressed, from| hashed(packet, from, 64);
        let mut seen = [std::collections::BTreeSet::new(), std::collections::BTreeSet::new()];
        for number in 0..200 {
            let connection = packet([40_000 + number, 443], u32::from(number));
            // A host may change the label of a connection.
            assert_eq!(of(&connection, Side::Sender), of(&turned(connection, 7), Side::Receiver));
            seen[0].insert(of(&connection, Side::Sender));
            seen[1].insert(of(&packet([0; 2], 1 + u32::from(number)), Side::Sender));
        }
        assert!(seen.iter().all(|flows| flows.len() > 50), "{seen:?}");
    }
}
