//! The network between the stack under test and the script: addresses, ports, and the size of packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::script::{Script, Setting};

/// The version of IP between script and stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
    /// IPv4 packets, and sockets of IPv6 with addresses such as `::ffff:192.0.2.1` (RFC 4291 §2.5.5.2).
    Mapped,
}

impl IpVersion {
    /// The names of packetdrill's option `--ip_version`.
    const NAMES: [(&str, Self); 3] = [("ipv4", Self::V4), ("ipv6", Self::V6), ("ipv4-mapped-ipv6", Self::Mapped)];

    /// The version called `name`, as in packetdrill's option `--ip_version`.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, version)| *version);
        found.ok_or_else(|| format!("{name:?} is no version of IP; ipv4, ipv6 and ipv4-mapped-ipv6 are supported"))
    }

    /// The version that the options of a script choose.
    ///
    /// # Errors
    /// If they name another one.
    pub(crate) fn chosen(options: &[Setting]) -> Result<Option<Self>, String> {
        let setting = options.iter().rev().find(|setting| setting.name == "ip_version");
        setting.map(|setting| Self::find(setting.value.as_deref().unwrap_or_default())).transpose()
    }

    /// The words that the runners of packetdrill's suites define for this version: levels and types of control messages, and the cookies
    /// of Fast Open that belong to the suites' addresses and to the keys of `defaults.sh` and of zeros.
    pub(crate) fn defines(self) -> [(&'static str, &'static str); 5] {
        let (cookie, zero) = match self {
            Self::V4 | Self::Mapped => ("3021b9d889017eeb", "b7c12350a90dc8f5"),
            Self::V6 => ("c1d1e9742a47a9bc", "82af1a8f9a205c34"),
        };
        let (level, kind) = if self == Self::V4 { ("SOL_IP", "IP_RECVERR") } else { ("SOL_IPV6", "IPV6_RECVERR") };
        let code = "host_unreachable";
        [("TFO_COOKIE", cookie), ("TFO_COOKIE_ZERO", zero), ("CMSG_LEVEL_IP", level), ("CMSG_TYPE_RECVERR", kind), ("CODE", code)]
    }
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
    /// Whether sockets are of IPv6 although packets are of IPv4.
    pub mapped: bool,
}

impl Network {
    /// The addresses that packetdrill uses by default.
    pub const fn new(version: IpVersion) -> Self {
        let (local, remote) = match version {
            IpVersion::V4 | IpVersion::Mapped => (IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)), IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))),
            IpVersion::V6 => (
                IpAddr::V6(Ipv6Addr::new(0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1)),
                IpAddr::V6(Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 1)),
            ),
        };
        Self {
            local,
            remote,
            local_port: 8080,
            remote_port: 8080,
            client_port: 44_444,
            mtu: 1500,
            mapped: matches!(version, IpVersion::Mapped),
        }
    }

    /// The network of a script with the options `--ip_version`, `--local_ip`, `--remote_ip`, `--mtu`, `--bind_port` and `--connect_port`;
    /// `usual`: the version of a script that does not choose.
    ///
    /// # Errors
    /// If a value is not valid.
    pub fn of(script: &Script, usual: Option<IpVersion>) -> Result<Self, String> {
        let version = IpVersion::chosen(&script.options)?.or(usual).unwrap_or_default();
        let mut network = Self::new(version);
        // The runners of packetdrill's suites give IPv6 this address, and packets that carry as much as those of IPv4.
        if usual == Some(IpVersion::V6) && version == IpVersion::V6 {
            (network.remote, network.mtu) = (IpAddr::V6(Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1)), 1520);
        }
        for (name, address) in [("local_ip", &mut network.local), ("remote_ip", &mut network.remote)] {
            if let Some(text) = script.option(name) {
                *address = text.parse().map_err(|_| format!("--{name}={text}: not an IP address"))?;
                if address.is_ipv4() == (version == IpVersion::V6) {
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

    /// An address as sockets of a kernel name it.
    #[cfg(any(test, all(feature = "kernel", target_os = "linux")))]
    pub(crate) fn socket_address(&self, address: IpAddr, port: u16) -> std::net::SocketAddr {
        use std::net::SocketAddr;

        match address {
            IpAddr::V4(v4) if self.mapped => SocketAddr::new(IpAddr::V6(v4.to_ipv6_mapped()), port),
            _ => SocketAddr::new(address, port),
        }
    }

    /// Bytes of IP and TCP headers without options.
    pub const fn headers(&self) -> u16 {
        if self.local.is_ipv4() { 40 } else { 60 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str, usual: Option<IpVersion>) -> Result<Network, String> {
        Network::of(&crate::parse(&format!("{text}\n0 close(3) = 0\n"), "script", &[]).expect("a script"), usual)
    }

    #[test]
    fn versions() {
        let suite = network("", Some(IpVersion::V6)).unwrap();
        assert_eq!((suite.remote.to_string().as_str(), suite.mtu, suite.headers()), ("fd3d:fa7b:d17d::1", 1520, 60));
        let own = network("--ip_version=ipv6", None).unwrap();
        assert_eq!((own.remote.to_string().as_str(), own.mtu), ("2001:db8::1", 1500));
        assert!(network("--ip_version=ipv4", Some(IpVersion::V6)).unwrap().local.is_ipv4(), "the script chooses");
        let mapped = network("", Some(IpVersion::Mapped)).unwrap();
        assert_eq!(mapped.socket_address(mapped.local, 80).to_string(), "[::ffff:192.168.0.1]:80");
        assert!(network("--ip_version=ipv5", None).unwrap_err().contains("ipv4-mapped-ipv6"));
        assert!(network("--local_ip=::1", None).unwrap_err().contains("not an address of the script's version of IP"));
    }
}
