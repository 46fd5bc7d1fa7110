//! The ends of flows in a network of kernels: their addresses and routes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ackclock_host::Side;

/// Most flows: their numbers are two bytes of an address.
pub const MOST_FLOWS: usize = 65_535;

/// The address of an end of a flow: 10.h.l.1 at the sender, 10.h.l.2 at the receiver; h and l are the bytes of the flow's number from 1 on.
/// Every flow has addresses of its own, so that its routes can have attributes of their own and an address tells the flow of a packet.
///
/// # Panics
/// If there are more than [`MOST_FLOWS`] flows.
pub fn address(flow: usize, side: Side) -> Ipv4Addr {
    assert!(flow < MOST_FLOWS, "flow {flow} has no address");
    let number = flow + 1;
    Ipv4Addr::new(10, (number >> 8) as u8, number as u8, if side == Side::Sender { 1 } else { 2 })
}

/// The IPv6 address of an end of a flow: `fd00::n:1` at the sender, `fd00::n:2` at the receiver; n is the flow's number from 1 on.
///
/// # Panics
/// As [`address`].
pub fn address_v6(flow: usize, side: Side) -> Ipv6Addr {
    let [_, high, low, end] = address(flow, side).octets();
    Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, u16::from_be_bytes([high, low]), end.into())
}

/// The flow and the end that have this address.
pub fn owner(address: IpAddr) -> Option<(usize, Side)> {
    let (number, end) = match address {
        IpAddr::V4(address) => {
            let [10, high, low, end] = address.octets() else { return None };
            (u16::from_be_bytes([high, low]), end.into())
        }
        IpAddr::V6(address) => {
            let [0xfd00, 0, 0, 0, 0, 0, number, end] = address.segments() else { return None };
            (number, end)
        }
    };
    let flow = usize::from(number).checked_sub(1)?;
    match end {
        1 => Some((flow, Side::Sender)),
        2 => Some((flow, Side::Receiver)),
        _ => None,
    }
}

/// Attributes of the route from one end of a flow to the other. `None` leaves the kernel's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Largest packet in bytes, with IP header; it sets the segment size.
    pub mtu: u32,
    /// Initial window in segments.
    pub initial_window: Option<u32>,
    /// Receive window that this end announces at first, in segments.
    pub initial_receive_window: Option<u32>,
    /// Whether this end uses Explicit Congestion Notification. An end that does not still accepts it from a peer (`tcp_ecn`).
    pub ecn: bool,
}

impl Default for Route {
    fn default() -> Self {
        Self { mtu: 1500, initial_window: None, initial_receive_window: None, ecn: false }
    }
}

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Index of the scenario's node.
    pub node: usize,
    /// The flow.
    pub flow: usize,
    /// Which end.
    pub side: Side,
    /// The route to the other end.
    pub route: Route,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tell_the_flow() {
        for flow in [0, 1, 254, 255, 256, MOST_FLOWS - 1] {
            for side in Side::ALL {
                assert_eq!(owner(address(flow, side).into()), Some((flow, side)));
                assert_eq!(owner(address_v6(flow, side).into()), Some((flow, side)));
            }
        }
        assert_eq!(address(255, Side::Receiver), Ipv4Addr::new(10, 1, 0, 2));
        assert_eq!(address_v6(255, Side::Receiver).to_string(), "fd00::100:2");
        for other in ["10.0.0.1", "10.0.1.3", "192.168.1.1", "fd00::1", "fd00::1:3", "fd01::1:1", "fd00::1:0:1:1", "::ffff:10.0.1.1"] {
            assert_eq!(owner(other.parse().unwrap()), None, "{other}");
        }
    }
}
