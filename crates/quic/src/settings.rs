//! The settings that both stacks share.

use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_core::units::Bytes;
use ackclock_host::PacketSizes;

/// UDP payloads of a full datagram (RFC 9000 §14 and §18.2), where the stack has no bound of its own.
pub(crate) const PACKETS: PacketSizes = PacketSizes { least: Bytes(1200), usual: Bytes(1200), most: Bytes(65_495) };
/// Headers of IPv4 and UDP.
pub(crate) const HEADERS: u64 = 28;

/// Settings of a stack in one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Data of a stream that the peer may send before it is read.
    pub(crate) stream_window: u32,
    /// Data of a connection that waits to be sent or acknowledged.
    pub(crate) send_window: u64,
    /// Streams that the peer may have open at a time.
    pub(crate) streams: u32,
    /// Packets that a receiver may leave unacknowledged, if the sender asks for that.
    pub(crate) ack_every: Option<u32>,
    /// Datagrams that a sender passes on together.
    pub(crate) gso: usize,
    /// Whether the path is searched for larger datagrams.
    pub(crate) discovery: bool,
    /// RFC 9002 §6.1.1.
    pub(crate) packet_threshold: u32,
    /// RFC 9002 §6.1.2.
    pub(crate) time_threshold: f32,
}

impl Settings {
    /// Reads the parameters of [`declared`].
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            stream_window: params.number("stream_window") as u32,
            send_window: params.number("send_window") as u64,
            streams: params.number("streams") as u32,
            ack_every: params.number_or_auto("ack_every").map(|packets| packets as u32 - 1),
            gso: params.number("gso") as usize,
            discovery: params.flag("mtu_discovery"),
            packet_threshold: params.number("packet_threshold") as u32,
            time_threshold: params.number("time_threshold") as f32,
        }
    }
}

/// The parameters of a profile: `control`, then the settings of a stack with these defaults for windows in bytes.
pub(crate) const fn declared(control: Param, stream_window: f64, send_window: f64) -> [Param; 9] {
    const SIZE: Kind = Kind::Size { min: 1200.0, max: 4e9 };
    [
        control,
        Param {
            name: "stream_window",
            kind: SIZE,
            default: Default::Number(stream_window),
            doc: "data of a stream that may be in flight before the receiver's credit (RFC 9000 section 4.1)",
        },
        Param {
            name: "send_window",
            kind: SIZE,
            default: Default::Number(send_window),
            doc: "data of a connection that the sender holds until it is acknowledged",
        },
        Param {
            name: "streams",
            kind: Kind::Integer { min: 1.0, max: 1e6 },
            default: Default::Number(100.0),
            doc: "streams that a peer may have open at a time (RFC 9000 section 4.6)",
        },
        Param {
            name: "ack_every",
            kind: Kind::Integer { min: 1.0, max: 1e6 },
            default: Default::Auto,
            doc: "packets per acknowledgement that the sender asks for (draft-ietf-quic-ack-frequency); auto: every second packet, without the extension",
        },
        Param {
            name: "gso",
            kind: Kind::Integer { min: 1.0, max: 64.0 },
            default: Default::Number(1.0),
            doc: "datagrams that the sender passes on together, as with generic segmentation offload",
        },
        Param {
            name: "mtu_discovery",
            kind: Kind::Bool,
            default: Default::Bool(false),
            doc: "whether the sender probes for datagrams of up to 1452 bytes (RFC 8899)",
        },
        Param {
            name: "packet_threshold",
            kind: Kind::Integer { min: 3.0, max: 1e6 },
            default: Default::Number(3.0),
            doc: "packets that must be acknowledged after a packet before it counts as lost (RFC 9002 section 6.1.1)",
        },
        Param {
            name: "time_threshold",
            kind: Kind::Number { min: 1.0, max: 100.0 },
            default: Default::Number(1.125),
            doc: "round-trip times after which a packet counts as lost if a later one was acknowledged (RFC 9002 section 6.1.2)",
        },
    ]
}
