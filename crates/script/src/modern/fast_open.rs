//! TCP Fast Open: which SYN carries data, and whose data is accepted.
//!
//! ## References
//! RFC 7413 §4.1 (cookies), §4.2 (both ends), appendix A (the experimental option). Linux, Documentation/networking/ip-sysctl:
//! `tcp_fastopen`, `tcp_fastopen_key`. The cookie is the SipHash-2-4 of both addresses with the key, lowest byte first; measured with
//! the cookies of packetdrill's suite.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::net::IpAddr;

use super::segments;
use crate::network::Network;
use crate::packet::{Packet, decode_options};
use crate::script::{Flags, TcpOption};
use crate::stack::Ends;

/// Bits of `tcp_fastopen`.
mod bits {
    /// This end may open connections with data.
    pub(super) const CLIENT: u32 = 1;
    /// This end may accept data.
    pub(super) const SERVER: u32 = 2;
    /// A SYN may carry data without a cookie.
    pub(super) const CLIENT_WITHOUT_COOKIE: u32 = 4;
    /// Data is accepted without a cookie.
    pub(super) const SERVER_WITHOUT_COOKIE: u32 = 0x200;
    /// All listening sockets accept data, also without the socket option.
    pub(super) const ALL_LISTENERS: u32 = 0x400;
}

/// The parameters that are read here.
pub(super) const PARAMETERS: [&str; 3] = ["tcp_fastopen", "tcp_fastopen_key", "tcp_metrics.flush"];

/// Room that the options of a SYN may take.
const MOST_OPTIONS: u16 = 40;

/// A key of cookies.
pub(super) type Key = [u8; 16];

/// A cookie, empty if it is requested, with the kind of its option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cookie {
    bytes: Vec<u8>,
    experimental: bool,
}

impl Cookie {
    /// The cookie in the options of a packet, unless its size is not valid.
    pub(super) fn of(packet: &Packet) -> Option<Self> {
        let valid = |size: usize| size == 0 || (4..=16).contains(&size) && size.is_multiple_of(2);
        decode_options(&packet.options).ok()?.into_iter().find_map(|option| match option {
            TcpOption::FastOpen { cookie, experimental } if valid(cookie.len()) => Some(Self { bytes: cookie, experimental }),
            _ => None,
        })
    }

    /// The option, with the no-operations that align it.
    pub(super) fn options(self) -> Vec<TcpOption> {
        let size = self.bytes.len() + if self.experimental { 4 } else { 2 };
        let mut options = vec![TcpOption::FastOpen { cookie: self.bytes, experimental: self.experimental }];
        options.extend(std::iter::repeat_n(TcpOption::Nop, size.next_multiple_of(4) - size));
        options
    }
}

/// What this end knows about a peer.
#[derive(Clone, Debug, Default)]
struct Peer {
    cookie: Cookie,
    /// MSS of the last SYN-ACK.
    mss: Option<u16>,
    /// Whether the next request uses the experimental option: 1, because the other one was not answered; 2, because neither was.
    tried: u8,
}

/// How a SYN is sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    /// The option of the SYN.
    pub(super) cookie: Option<Cookie>,
    /// Bytes that the SYN may carry; `None`: none, since there is no cookie.
    pub(super) room: Option<u16>,
}

/// How a SYN is answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Reply {
    /// Whether its data is accepted.
    pub(super) accepts: bool,
    /// The cookie that the SYN-ACK gives.
    pub(super) cookie: Option<Cookie>,
}

/// The parameters, keys and cache of a host.
#[derive(Debug)]
pub(super) struct FastOpen {
    bits: u32,
    keys: Vec<Key>,
    peers: BTreeMap<IpAddr, Peer>,
    /// Largest segment of the network.
    mss: u16,
}

impl FastOpen {
    pub(super) fn new(network: &Network) -> Self {
        Self { bits: bits::CLIENT, keys: vec![Key::default()], peers: BTreeMap::new(), mss: network.mtu - network.headers() }
    }

    /// Sets one of [`PARAMETERS`]; `None`: the value is not valid.
    pub(super) fn configure(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "tcp_fastopen" => {
                let value = value.trim();
                self.bits = value.strip_prefix("0x").map_or_else(|| value.parse(), |digits| u32::from_str_radix(digits, 16)).ok()?;
            }
            "tcp_fastopen_key" => self.keys = value.split(',').map(key).collect::<Option<_>>()?,
            _ => self.peers.clear(),
        }
        Some(())
    }

    /// Whether this end may open connections with data.
    pub(super) fn is_client(&self) -> bool {
        self.bits & bits::CLIENT != 0
    }

    /// Whether a socket may set the option `name`.
    pub(super) fn is_allowed(&self, name: &str) -> bool {
        name != "TCP_FASTOPEN_CONNECT" || self.is_client()
    }

    /// Whether this end may accept data.
    fn is_server(&self) -> bool {
        self.bits & bits::SERVER != 0
    }

    /// Whether a listening socket accepts data without the socket option.
    pub(super) fn enables_all(&self) -> bool {
        self.is_server() && self.bits & bits::ALL_LISTENERS != 0
    }

    /// How to open a connection to `remote`; `free`: the socket needs no cookie; `mss`: the largest segment of the socket.
    pub(super) fn request(&self, remote: IpAddr, free: bool, mss: u16) -> Request {
        let peer = self.peers.get(&remote).cloned().unwrap_or_default();
        let room = || Some(peer.mss.unwrap_or(self.mss).min(mss).saturating_sub(MOST_OPTIONS));
        if free || self.bits & bits::CLIENT_WITHOUT_COOKIE != 0 {
            Request { cookie: None, room: room() }
        } else if peer.cookie.bytes.is_empty() {
            Request { cookie: Some(Cookie { bytes: Vec::new(), experimental: peer.tried == 1 }), room: None }
        } else {
            Request { cookie: Some(peer.cookie.clone()), room: room() }
        }
    }

    /// A SYN-ACK answers a SYN with the option `sent`; `repeated`: the SYN was sent again; `carried`: it carried data.
    pub(super) fn note_answer(&mut self, packet: &Packet, sent: &Cookie, repeated: bool, carried: bool) {
        let peer = self.peers.entry(packet.source.ip()).or_default();
        peer.mss = segments::mss(packet).or(peer.mss);
        match Cookie::of(packet) {
            Some(cookie) if !cookie.bytes.is_empty() => peer.cookie = cookie,
            None if !repeated && !carried => peer.tried = peer.tried.max(if sent.experimental { 2 } else { 1 }),
            _ => {}
        }
    }

    /// How to answer a SYN to a listening socket. `key`: that of the socket; `queue`: whether it accepts another connection with data.
    pub(super) fn reply(&self, packet: &Packet, ends: Ends, key: Option<Key>, queue: bool) -> Reply {
        let came = Cookie::of(packet);
        let data = !packet.payload.is_empty() || packet.has(Flags::FIN);
        if !self.is_server() || !queue || !data && came.is_none() {
            return Reply::default();
        }
        if self.bits & bits::SERVER_WITHOUT_COOKIE != 0 {
            return Reply { accepts: true, cookie: None };
        }
        let Some(came) = came else { return Reply::default() };
        let keys = key.map_or_else(|| self.keys.clone(), |key| vec![key]);
        let valid: Vec<Vec<u8>> = keys.iter().map(|key| cookie(key, ends)).collect();
        let current = valid.first().map(|bytes| Cookie { bytes: bytes.clone(), experimental: came.experimental });
        match valid.iter().position(|bytes| *bytes == came.bytes) {
            Some(0) => Reply { accepts: true, cookie: None },
            // A former key: the peer learns the cookie of the present one.
            Some(_) => Reply { accepts: true, cookie: current },
            None => Reply { accepts: false, cookie: current },
        }
    }
}

/// The key that four words of hexadecimal digits write, each with its lowest byte first.
fn key(text: &str) -> Option<Key> {
    let words: Vec<u32> = text.trim().split('-').map(|word| u32::from_str_radix(word, 16).ok()).collect::<Option<_>>()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.try_into().ok()
}

/// The cookie of a peer.
fn cookie(key: &Key, ends: Ends) -> Vec<u8> {
    let half = |at: usize| key[at..at + 8].iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    #[expect(deprecated, reason = "the standard library has SipHash-2-4 under no other name")]
    let mut hasher = std::hash::SipHasher::new_with_keys(half(0), half(8));
    for address in [ends.remote.ip(), ends.local.ip()] {
        match address {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
    }
    hasher.finish().to_le_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(local: &str, remote: &str) -> Ends {
        Ends { local: format!("{local}:80").parse().unwrap(), remote: format!("{remote}:90").parse().unwrap() }
    }

    #[test]
    fn cookies_of_the_suites() {
        let usual = key("a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4").unwrap();
        let number = |key: &Key| u64::from_be_bytes(cookie(key, ends("192.168.0.1", "192.0.2.1")).try_into().unwrap());
        assert_eq!([number(&usual), number(&Key::default())], [0x3021_b9d8_8901_7eeb, 0xb7c1_2350_a90d_c8f5]);
        assert_eq!(key("a1-b2"), None);
    }
}
