//! The network between the stack under test and the script: addresses, ports, and the size of packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::script::Script;

/// The version of IP between script and stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

/// Addresses, ports and size of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Address of the stack.
    pub local: IpAddr,
    /// Address of the peer that the script plays.
    pub remote: IpAddr,
    /// Port to which the stack binds, unless the script names one.
    pub local_port: u16,
    /// Port to which the stack connects, unless the script names one.
    pub remote_port: u16,
    /// Port from which the script connects, unless it names one.
    pub client_port: u16,
    /// Largest IP packet in bytes.
    pub mtu: u16,
}

impl Network {
    /// The addresses that packetdrill uses by default.
    pub const fn new(version: IpVersion) -> Self {
        let (local, remote) = match version {
            IpVersion::V4 => (IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
            IpVersion::V6 => (
                IpAddr::V6(Ipv6Addr::new(0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1)),
                IpAddr::V6(Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 1)),
            ),
        };
        Self { local, remote, local_port: 8080, remote_port: 8080, client_port: 44_444, mtu: 1500 }
    }

    /// The network of a script with the options `--ip_version`, `--local_ip`, `--remote_ip`, `--mtu`, `--bind_port` and `--connect_port`.
    ///
    /// # Errors
    /// If a value is not valid.
    pub fn of(script: &Script) -> Result<Self, String> {
        let version = match script.option("ip_version") {
            None | Some("ipv4") => IpVersion::V4,
            Some("ipv6") => IpVersion::V6,
            Some(other) => return Err(format!("--ip_version={other}: ipv4 and ipv6 are supported")),
        };
        let mut network = Self::new(version);
        for (name, address) in [("local_ip", &mut network.local), ("remote_ip", &mut network.remote)] {
            if let Some(text) = script.option(name) {
                *address = text.parse().map_err(|_| format!("--{name}={text}: not an IP address"))?;
                if address.is_ipv4() != (version == IpVersion::V4) {
                    return Err(format!("--{name}={text}: not an address of the script's version of IP"));
                }
            }
        }
        for (name, port) in [("bind_port", &mut network.local_port), ("connect_port", &mut network.remote_port)] {
            if let Some(text) = script.option(name) {
                *port = text.parse().map_err(|_| format!("--{name}={text}: not a port"))?;
            }
        }
        if let Some(text) = script.option("mtu") {
            let mtu = text.parse().ok().filter(|mtu| *mtu >= 88);
            network.mtu = mtu.ok_or_else(|| format!("--mtu={text}: must be a number from 88 to 65535"))?;
        }
        Ok(network)
    }

    /// Bytes of IP and TCP headers without options.
    pub const fn headers(&self) -> u16 {
        if self.local.is_ipv4() { 40 } else { 60 }
    }
}
