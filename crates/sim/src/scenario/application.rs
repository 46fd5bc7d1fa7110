//! Applications in the typed scenario.

use std::ops::Range;
use std::sync::Arc;

use ackclock_core::distribution::Distribution;
use ackclock_core::units::{Bytes, Duration, Instant, Rate};

/// Headers of a datagram: IPv4 (RFC 791) and UDP (RFC 768).
pub(crate) const DATAGRAM_HEADER: Bytes = Bytes(28);

/// What hands data to a flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// A bulk transfer, which `stop` and `packets` of the flow describe.
    Bulk,
    /// Bursts of the application with this index.
    Bursts(usize),
    /// Requests and responses of the application with this index: the flow is one of its connections.
    Connection(usize),
    /// Datagrams of the application with this index: the flow has no TCP.
    Datagrams(usize),
}

impl Traffic {
    /// The index of the application, if there is one.
    pub const fn application(self) -> Option<usize> {
        match self {
            Self::Bulk => None,
            Self::Bursts(index) | Self::Connection(index) | Self::Datagrams(index) => Some(index),
        }
    }
}

/// An application that drives one flow or several.
#[derive(Clone, Debug)]
pub struct ApplicationSpec {
    /// What tables call it.
    pub name: String,
    /// When it starts.
    pub start: Instant,
    /// It begins no burst, page or exchange from then on; datagrams end.
    pub stop: Option<Instant>,
    /// The indices of its flows.
    pub flows: Range<usize>,
    /// What it does.
    pub kind: ApplicationKind,
}

/// What an application does.
#[derive(Clone, Debug)]
pub enum ApplicationKind {
    /// Bursts with pauses between them.
    OnOff(OnOff),
    /// Pages, or single responses.
    Client(ClientSpec),
    /// Datagrams at a constant rate.
    Datagrams(Stream),
}

/// Bursts of data with pauses between them.
#[derive(Clone, Debug)]
pub struct OnOff {
    /// Size of a burst in bytes; what is drawn is rounded up to packets.
    pub burst: Distribution,
    /// Seconds from the arrival of a burst to the next one.
    pub pause: Distribution,
    /// Data in a packet.
    pub packet: Bytes,
}

/// Datagrams at a constant rate.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Rate, headers included.
    pub rate: Rate,
    /// Size of a datagram with its headers.
    pub size: Bytes,
    /// Seconds in which it sends and in which it does not, in turn; `None`: it always sends.
    pub periods: Option<[Distribution; 2]>,
}

/// A client that loads pages.
#[derive(Clone, Debug)]
pub struct ClientSpec {
    /// How many pages; `None`: until the end.
    pub pages: Option<u32>,
    /// What a page holds.
    pub content: Content,
    /// Most connections open to a host at once.
    pub connections: u32,
    /// Whether a connection carries one response after the other, or closes after the first.
    pub persistent: bool,
    /// Time from the root's last byte to the requests for the objects.
    pub parse: Duration,
    /// Time from the last byte of a request at the server to the response.
    pub server_delay: Duration,
    /// Seconds from a page's last byte to the next page.
    pub think: Distribution,
}

/// What a page holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Sizes that are drawn for each page anew.
    Drawn {
        /// Bytes of the root's response.
        root: Distribution,
        /// Objects besides the root.
        objects: u32,
        /// Bytes of an object's response.
        object: Distribution,
        /// Bytes of a request.
        request: u64,
        /// Hosts over which the objects are spread in turn.
        hosts: u32,
    },
    /// These objects, the root first, on every page.
    Listed(Arc<[Object]>),
}

/// An object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Number of the host that has it.
    pub host: u32,
    /// Bytes of its request.
    pub request: u64,
    /// Bytes of its response.
    pub response: u64,
}

impl Content {
    /// How many hosts hold objects.
    pub fn hosts(&self) -> u32 {
        match self {
            Self::Drawn { hosts, .. } => *hosts,
            Self::Listed(objects) => objects.iter().map(|object| object.host + 1).max().unwrap_or(1),
        }
    }

    /// Objects of a page, the root included.
    pub fn objects(&self) -> u64 {
        match self {
            Self::Drawn { objects, .. } => 1 + u64::from(*objects),
            Self::Listed(objects) => objects.len() as u64,
        }
    }

    /// For each host, most of its objects that are wanted at the same time: the root is alone.
    fn together(&self) -> Vec<u64> {
        let mut counts = vec![0; self.hosts() as usize];
        let root = match self {
            Self::Drawn { objects, hosts, .. } => {
                // Object n, from 1 on, is with host n modulo their number.
                let [objects, hosts] = [u64::from(*objects), u64::from(*hosts)];
                for (host, count) in (0..).zip(&mut counts) {
                    *count = (objects + hosts - host) / hosts - u64::from(host == 0);
                }
                0
            }
            Self::Listed(objects) => {
                for object in objects.iter().skip(1) {
                    counts[object.host as usize] += 1;
                }
                objects.first().map_or(0, |root| root.host as usize)
            }
        };
        counts[root] = counts[root].max(1);
        counts
    }
}

impl ClientSpec {
    /// How many connections it may open in all; `None`: without end.
    pub(crate) fn most_connections(&self) -> Option<u64> {
        if self.persistent {
            return Some(self.content.together().iter().map(|count| *count.min(&u64::from(self.connections))).sum());
        }
        self.pages.map(|pages| u64::from(pages).saturating_mul(self.content.objects()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_of_each_host_are_counted() {
        let fixed = Distribution::Fixed { mean: 1.0 };
        for (objects, hosts) in [(0, 1), (1, 1), (6, 1), (0, 3), (1, 3), (7, 3), (8, 3), (9, 3), (2, 5)] {
            let drawn = Content::Drawn { root: fixed.clone(), objects, object: fixed.clone(), request: 1, hosts };
            let listed = (0..=objects).map(|number| Object { host: number % hosts, request: 1, response: 1 }).collect();
            let mut counted: Vec<u64> =
                (0..hosts).map(|host| (1..=objects).filter(|number| number % hosts == host).count() as u64).collect();
            counted[0] = counted[0].max(1);
            assert_eq!(drawn.together(), counted, "{objects} over {hosts}");
            let known = counted.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
            assert_eq!(Content::Listed(listed).together(), counted[..known], "{objects} over {hosts}");
        }
    }
}
