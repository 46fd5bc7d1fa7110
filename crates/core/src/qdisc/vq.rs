//! VQ: the adaptive virtual queue (AVQ).
//! ## What it does
//! Keeps the length of a queue that would be served by a virtual capacity below the link's own. When an arriving packet would overflow the
//! virtual queue, the packet is dropped, or marked. The virtual capacity adapts so that packets arrive at `gamma` of the link's capacity.
//! ## References
//! Kunniyur & Srikant, *Analysis and design of an adaptive virtual queue (AVQ) algorithm for active queue management*, SIGCOMM 2001;
//! ns-2.35, `Vq`, whose defaults these are.
//! ## Differs from the document
//! As in ns-2 a packet that is dropped does not reduce the virtual capacity.
//! ## Parameters
//! `limit`: capacity; in mode `bytes` a packet counts as `mean_packet` bytes; 50 packets.
//! `mode`: whether the queues count bytes or packets; bytes.
//! `mean_packet`: size of an average packet; 1000 B.
//! `initial_capacity`: first virtual capacity, as a share of the link's; 80 % (ns-2: `ecnlim_`).
//! `gamma`: the utilisation it aims at; 98 %.
//! `alpha`: how fast the virtual capacity adapts; 0.15.
//! `virtual_limit`: capacity of the virtual queue, as a share of `limit`; 100 % (ns-2: `buflim_`).
//! `ecn`: whether packets that can be are marked instead of dropped; true. ns-2's `markpkts_` is false: there all are dropped.
//! `drop_incapable`: whether, with `ecn`, packets that cannot be marked are dropped; true. ns-2 lets them pass.

use crate::qdisc::{Admission, Arrival, Backlog, Discipline, Ecn, Limit, Outlet, Reason, Verdict};
use crate::registry::{Default, Entry, Kind, Param};
use crate::rng::Generator;

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "vq",
    summary: "adaptive virtual queue: drops what a slower link would have no room for",
    reference: "Kunniyur & Srikant 2001; ns-2.35 Vq",
    params: &[
        Param {
            name: "limit",
            kind: Kind::ByteLimit,
            default: Default::Limit(Limit::Packets(50)),
            bounds: (1.0, 1e15),
            doc: "capacity",
        },
        Param {
            name: "mode",
            kind: Kind::Word(&["bytes", "packets"]),
            default: Default::Word("bytes"),
            bounds: (0.0, 0.0),
            doc: "what the queues count",
        },
        Param {
            name: "mean_packet",
            kind: Kind::Size,
            default: Default::Number(1000.0),
            bounds: (1.0, 65_535.0),
            doc: "size of an average packet",
        },
        Param {
            name: "initial_capacity",
            kind: Kind::Probability,
            default: Default::Number(0.8),
            bounds: (0.0, 1.0),
            doc: "first virtual capacity, as a share of the link's",
        },
        Param {
            name: "gamma",
            kind: Kind::Probability,
            default: Default::Number(0.98),
            bounds: (0.0, 1.0),
            doc: "the utilisation it aims at",
        },
        Param {
            name: "alpha",
            kind: Kind::Number,
            default: Default::Number(0.15),
            bounds: (0.0, 1e3),
            doc: "how fast the virtual capacity adapts",
        },
        Param {
            name: "virtual_limit",
            kind: Kind::Probability,
            default: Default::Number(1.0),
            bounds: (0.0, 1.0),
            doc: "capacity of the virtual queue, as a share of limit",
        },
        Param {
            name: "ecn",
            kind: Kind::Bool,
            default: Default::Bool(true),
            bounds: (0.0, 1.0),
            doc: "whether packets that can be are marked instead of dropped",
        },
        Param {
            name: "drop_incapable",
            kind: Kind::Bool,
            default: Default::Bool(true),
            bounds: (0.0, 1.0),
            doc: "whether, with ecn, packets that cannot be marked are dropped",
        },
    ],
    build: |params| {
        let mean_packet = params.number("mean_packet");
        let bytes = params.word("mode") == "bytes";
        let unit = if bytes { mean_packet } else { 1.0 };
        let limit = match params.limit("limit") {
            Limit::Packets(packets) => packets as f64 * unit,
            Limit::Bytes(size) if bytes => size as f64,
            Limit::Bytes(size) => size as f64 / mean_packet,
        };
        Ok(Discipline::fifo(Vq {
            bytes,
            mean_packet,
            limit,
            virtual_limit: params.number("virtual_limit") * limit,
            share: params.number("initial_capacity"),
            gamma: params.number("gamma"),
            alpha: params.number("alpha"),
            ecn: params.flag("ecn"),
            drop_incapable: params.flag("drop_incapable"),
            capacity: 0.0,
            virtual_capacity: 0.0,
            virtual_queue: 0.0,
            served: None,
            adapted: None,
        }))
    },
};

/// An adaptive virtual queue.
#[derive(Debug)]
pub struct Vq {
    bytes: bool,
    mean_packet: f64,
    /// In bytes or packets, like all that follows.
    limit: f64,
    virtual_limit: f64,
    share: f64,
    gamma: f64,
    alpha: f64,
    ecn: bool,
    drop_incapable: bool,
    /// What the link sends in a second.
    capacity: f64,
    virtual_capacity: f64,
    virtual_queue: f64,
    /// When the virtual queue was last brought up to date, and when the virtual capacity was.
    served: Option<f64>,
    adapted: Option<f64>,
}

impl Admission for Vq {
    fn attach(&mut self, outlet: &Outlet) {
        let bits = if self.bytes { 8.0 } else { 8.0 * self.mean_packet };
        self.capacity = outlet.rate.as_bits_per_sec() as f64 / bits;
        self.virtual_capacity = self.share * self.capacity;
    }

    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, _random: &mut Generator) -> Verdict {
        let size = if self.bytes { arrival.size.0 as f64 } else { 1.0 };
        // Both clocks start with the first packet.
        let since = |last: Option<f64>| (arrival.clock - last.unwrap_or(arrival.clock)).max(0.0);
        self.virtual_queue = (self.virtual_queue - self.virtual_capacity * since(self.served)).max(0.0);
        self.served = Some(arrival.clock);
        self.adapted.get_or_insert(arrival.clock);
        let mut verdict = Verdict::Accept;
        if self.virtual_queue + size > self.virtual_limit {
            let passes = self.ecn && !self.drop_incapable && arrival.ecn == Ecn::Incapable;
            verdict = if passes { Verdict::Accept } else { arrival.signal(self.ecn, Reason::Virtual) };
        } else {
            self.virtual_queue += size;
        }
        if !matches!(verdict, Verdict::Drop(_)) {
            // Kunniyur & Srikant, figure 1: the virtual capacity follows the room that the arrivals leave.
            let room = self.alpha * self.gamma * self.capacity * since(self.adapted);
            self.virtual_capacity = (self.virtual_capacity + room - self.alpha * size).clamp(0.0, self.capacity);
            self.adapted = Some(arrival.clock);
        }
        let waiting = backlog.with(arrival.size);
        let length = if self.bytes { waiting.bytes } else { waiting.packets } as f64;
        if length > self.limit { Verdict::Drop(Reason::Overflow) } else { verdict }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("virtual_capacity", self.virtual_capacity / self.capacity);
        out("virtual_queue", self.virtual_queue);
    }
}
