//! Parameters that several models have.

use crate::registry::{Default, Kind, Param};

/// Probability that a packet is lost.
pub(crate) const LOSS: Param = Param {
    name: "loss",
    kind: Kind::Probability,
    default: Default::Number(0.01),
    bounds: (0.0, 1.0),
    doc: "probability that a packet is lost, or losses per packet",
};

/// Round-trip time.
pub(crate) const RTT: Param = Param {
    name: "rtt",
    kind: Kind::Duration,
    default: Default::Number(0.1),
    bounds: (1e-9, 1e6),
    doc: "round-trip time, queueing included",
};

/// Payload of a packet.
pub(crate) const PACKET_SIZE: Param = Param {
    name: "packet_size",
    kind: Kind::Size,
    default: Default::Number(1000.0),
    bounds: (1.0, 1e9),
    doc: "what a packet carries; the scenario's default",
};

/// Packets that one ACK acknowledges.
pub(crate) const B: Param = Param {
    name: "b",
    kind: Kind::Number,
    default: Default::Number(1.0),
    bounds: (1.0, 1e3),
    doc: "packets that one ACK acknowledges: 1, or 2 with delayed ACKs",
};

/// A plain number.
pub(crate) const fn plain(name: &'static str, default: f64, bounds: (f64, f64), doc: &'static str) -> Param {
    Param { name, kind: Kind::Number, default: Default::Number(default), bounds, doc }
}

/// A whole number.
pub(crate) const fn whole(name: &'static str, default: f64, bounds: (f64, f64), doc: &'static str) -> Param {
    Param { name, kind: Kind::Integer, default: Default::Number(default), bounds, doc }
}

/// An amount of data in bytes.
pub(crate) const fn size(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size, default: Default::Number(default), bounds: (1.0, 1e12), doc }
}
