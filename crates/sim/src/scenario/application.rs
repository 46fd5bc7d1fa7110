//! Applications in the typed scenario.

use std::ops::Range;
use std::sync::Arc;

use ackclock_core::distribution::Distribution;
use ackclock_core::units::{Bytes, Duration, Instant, Rate};

/// Headers of a datagram: IPv4 (RFC 791) and UDP (RFC 768).
pub(crate) const DATAGRAM_HEADER: Bytes = Bytes(28);

/// Source of the data of a flow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// A bulk transfer, described by `stop` and `packets` of the flow.
    Bulk,
    /// Bursts or frames of the application with this index.
    Bursts(usize),
    /// Requests and responses of the application with this index, a client or a player: the flow is one of its connections.
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

/// An application that drives one or more flows.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApplicationSpec {
    /// Name in tables.
    pub name: String,
    /// Start time.
    pub start: Instant,
    /// Time from which it begins no burst, page or exchange. Datagrams end at this time.
    pub stop: Option<Instant>,
    /// The indices of its flows.
    pub flows: Range<usize>,
    /// Kind, with its settings.
    pub kind: ApplicationKind,
}

/// The kind of an application.
#[derive(Clone, Debug)]
pub enum ApplicationKind {
    /// Bursts with pauses between them.
    OnOff(OnOff),
    /// Pages or single responses.
    Client(ClientSpec),
    /// Datagrams at a constant rate.
    Datagrams(Stream),
    /// Frames of live video.
    Frames(FramesSpec),
    /// A player of segments.
    Player(PlayerSpec),
}

/// Bursts of data with pauses between them.
#[derive(Clone, Debug)]
pub struct OnOff {
    /// Size of a burst in bytes; a drawn size is rounded up to packets.
    pub burst: Distribution,
    /// Seconds from the arrival of a burst to the next burst.
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
    /// Seconds with datagrams and seconds of a pause, in turn; `None`: no pauses.
    pub periods: Option<[Distribution; 2]>,
}

/// Frames of live video.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FramesSpec {
    /// Frames per second.
    pub fps: f64,
    /// Smallest target rate.
    pub min_rate: Rate,
    /// First target rate.
    pub rate: Rate,
    /// Largest target rate.
    pub max_rate: Rate,
    /// Frames from a key frame to the next.
    pub key_interval: u32,
    /// Size of a key frame over that of another frame.
    pub key_factor: f64,
    /// Scale of the deviations of sizes.
    pub variation: f64,
    /// Shortest time between changes of the target rate.
    pub reaction: Duration,
    /// Age of data, beyond the smallest delay of a frame, above which the target rate falls.
    pub backlog: Duration,
    /// The target rate after a fall, over the rate of arrivals.
    pub decrease: f64,
    /// Growth of the target rate without backlog, as a share.
    pub increase: f64,
    /// Delay above which a frame is late.
    pub deadline: Duration,
    /// Data in a packet.
    pub packet: Bytes,
}

/// A player of segments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlayerSpec {
    /// Media in a segment.
    pub segment: Duration,
    /// The ladder of bitrates, which rise.
    pub bitrates: Arc<[Rate]>,
    /// Number of segments of the video; `None`: until the application's stop or the end of the run.
    pub segments: Option<u32>,
    /// Media in the buffer at which playback begins, and begins again after a stall.
    pub start: Duration,
    /// Media that the buffer can hold, at least a segment.
    pub buffer: Duration,
    /// The choice of bitrates.
    pub abr: Abr,
    /// Bytes of a request.
    pub request: u64,
    /// Time from the last byte of a request at the server to the response.
    pub server_delay: Duration,
}

/// How a player chooses bitrates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Abr {
    /// By the throughput of past segments.
    Throughput {
        /// Number of segments in the harmonic mean.
        samples: u32,
        /// Share of the mean that a bitrate may have.
        safety: f64,
    },
    /// By the level of the buffer.
    Buffer {
        /// Share of the buffer up to which the bitrate is the lowest.
        reservoir: f64,
        /// Share of the buffer over which the bitrate rises to the highest.
        cushion: f64,
    },
}

/// A client that loads pages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientSpec {
    /// Number of pages; `None`: until the end of the run.
    pub pages: Option<u32>,
    /// Content of a page.
    pub content: Content,
    /// Largest number of open connections to a host.
    pub connections: u32,
    /// Whether a connection carries several responses in turn or closes after one.
    pub persistent: bool,
    /// Whether the connection to a host carries all responses at once, each on a stream of its own. It is persistent and the only one.
    pub multiplexed: bool,
    /// Time from the root's last byte to the requests for the objects.
    pub parse: Duration,
    /// Time from the last byte of a request at the server to the response.
    pub server_delay: Duration,
    /// Seconds from a page's last byte to the next page.
    pub think: Distribution,
}

/// The content of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Sizes drawn anew for each page.
    Drawn {
        /// Bytes of the root's response.
        root: Distribution,
        /// Objects besides the root.
        objects: u32,
        /// Bytes of an object's response.
        object: Distribution,
        /// Bytes of a request.
        request: u64,
        /// Number of hosts over which the objects are spread in turn.
        hosts: u32,
    },
    /// These objects on every page, the root first.
    Listed(Arc<[Object]>),
}

/// An object of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Number of the host that holds it.
    pub host: u32,
    /// Bytes of its request.
    pub request: u64,
    /// Bytes of its response.
    pub response: u64,
}

impl Content {
    /// Number of hosts that hold objects.
    pub fn hosts(&self) -> u32 {
        match self {
            Self::Drawn { hosts, .. } => *hosts,
            Self::Listed(objects) => objects.iter().map(|object| object.host + 1).max().unwrap_or(1),
        }
    }

    /// Number of objects of a page, with the root.
    pub fn objects(&self) -> u64 {
        match self {
            Self::Drawn { objects, .. } => 1 + u64::from(*objects),
            Self::Listed(objects) => objects.len() as u64,
        }
    }

    /// For each host, the largest number of its objects requested at the same time. The root is requested alone.
    fn together(&self) -> Vec<u64> {
        let mut counts = vec![0; self.hosts() as usize];
        let root = match self {
            Self::Drawn { objects, hosts, .. } => {
                // Object n, from 1 on, is at host n modulo the number of hosts.
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
    /// Largest number of connections that it can open in all; `None`: unlimited.
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
