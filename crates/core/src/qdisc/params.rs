//! Parameters that several queue disciplines have.

use super::Limit;
use crate::registry::{Default, Kind, Param};

/// Whether the discipline marks.
pub(crate) const ECN: Param = Param {
    name: "ecn",
    kind: Kind::Bool,
    default: Default::Bool(true),
    bounds: (0.0, 1.0),
    doc: "whether packets that can be are marked instead of dropped",
};

/// A capacity in packets or bytes of `name`, by default so many packets.
pub(crate) const fn limit(name: &'static str, packets: u64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Limit, default: Default::Limit(Limit::Packets(packets)), bounds: (1.0, 1e15), doc }
}

/// The size of an average packet, by default so many bytes.
pub(crate) const fn mean_packet(bytes: f64, doc: &'static str) -> Param {
    Param { name: "mean_packet", kind: Kind::Size, default: Default::Number(bytes), bounds: (1.0, 65_535.0), doc }
}
