//! Parameters that several models share.

use ackclock_core::params::{Default, Kind, Param};

/// Probability that a packet is lost.
pub(crate) const LOSS: Param = Param {
    name: "loss",
    kind: Kind::Probability { min: 0.0, max: 1.0 },
    default: Default::Number(0.01),
    doc: "probability that a packet is lost, or losses per packet",
};

/// Round-trip time.
pub(crate) const RTT: Param = Param {
    name: "rtt",
    kind: Kind::Duration { min: 1e-9, max: 1e6 },
    default: Default::Number(0.1),
    doc: "round-trip time, queueing included",
};

/// Payload of a packet.
pub(crate) const PACKET_SIZE: Param = Param {
    name: "packet_size",
    kind: Kind::Size { min: 1.0, max: 1e9 },
    default: Default::Number(1000.0),
    doc: "payload of a packet; the scenario's default",
};

/// Size of a packet on the wire. The default is the scenario's default with its headers.
pub(crate) const WIRE_SIZE: Param = Param {
    name: "packet_size",
    kind: Kind::WireSize { min: 1.0, max: 1e9 },
    default: Default::Number(1040.0),
    doc: "packet size, headers included",
};

/// Packets that one ACK acknowledges.
pub(crate) const B: Param = Param {
    name: "b",
    kind: Kind::Number { min: 1.0, max: 1e3 },
    default: Default::Number(1.0),
    doc: "packets that one ACK acknowledges: 1, or 2 with delayed ACKs",
};

/// A plain number.
pub(crate) const fn plain(name: &'static str, default: f64, (min, max): (f64, f64), doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min, max }, default: Default::Number(default), doc }
}

/// A whole number.
pub(crate) const fn whole(name: &'static str, default: f64, (min, max): (f64, f64), doc: &'static str) -> Param {
    Param { name, kind: Kind::Integer { min, max }, default: Default::Number(default), doc }
}

/// An amount of data in bytes.
pub(crate) const fn size(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size { min: 1.0, max: 1e12 }, default: Default::Number(default), doc }
}
