//! The flow to which a frame belongs.

use ackclock_host::Side;
use ackclock_kernel::owner;
use ackclock_wire::frame::Addressed;

/// The flow between the addresses of a frame and the end that sent the frame.
pub fn flow(addressed: &Addressed) -> Option<(usize, Side)> {
    let [(flow, from), (other, to)] = [owner(addressed.addresses[0])?, owner(addressed.addresses[1])?];
    (flow == other && from == to.peer()).then_some((flow, from))
}

/// One of `flows` flows, the same for all packets of a connection in both directions: a hash of the addresses, the ports and the
/// protocol (FNV-1a). `from`: the end that sent the frame.
pub fn hashed(addressed: &Addressed, from: Side, flows: usize) -> usize {
    let forward = from == Side::Sender;
    let place = |index: usize| if forward { index } else { 1 - index };
    let bytes = [0, 1].into_iter().flat_map(|index| {
        let [high, low] = addressed.ports[place(index)].to_be_bytes();
        addressed.addresses[place(index)].octets().into_iter().chain([high, low])
    });
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.chain([addressed.protocol]).fold(0xcbf2_9ce4_8422_2325, step);
    // The low bits of FNV-1a change least.
    ((hash >> 32 ^ hash) % flows.max(1) as u64) as usize
}

#[cfg(test)]
pub(super) mod tests {
    use std::net::Ipv4Addr;

    use ackclock_kernel::address;

    use super::*;

    const TCP: u8 = 6;

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
}
