//! Class: the packets that a rule selects, and their queue.
//! ## What it does
//! A discipline with classes (`prio`, `wrr`, `htb`) puts a packet into the first class all of whose conditions the packet meets, or else
//! into the last. A class without conditions selects every packet. How the classes share the link is the discipline's affair; each reads
//! the parameters that it has, and refuses the others.
//! ## References
//! tc-prio(8), tc-drr(8) and tc-htb(8) for classes; RFC 9331 §5 for `l4s`.
//! ## Differs from the document
//! In Linux filters choose the class, by any field of a packet. Here flows, the ECN field and the size do, and no packet is without a class.
//! ## Parameters
//! `flows`: the numbers of the flows, from 0 on in the order of the scenario, each of a `count` by itself; empty: all flows.
//! `ecn`: the codepoints: any, `not_ect`, `ect` (all but Not-ECT), `ect0`, `ect1`, or `l4s` (ECT(1) and CE); any.
//! `min_size`, `max_size`: the sizes, headers included; 0 and 65 535 B.
//! `queue`: the discipline of its packets; `droptail`.
//! `quantum`: bytes in a turn (`wrr`, `htb`); auto: 1514 B, and a tenth of a second's bytes at `rate` for `htb`.
//! `rate`, `ceil`, `burst`, `cburst`, `priority`, `class`: as `htb` has them; auto and empty for the others.

use super::{Class, Rule, codepoints};
use crate::entry::Entry;
use crate::params::{Default, Kind, Param};
use crate::qdisc;
use crate::qdisc::bucket::RATE;

const fn size(name: &'static str, bytes: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size { min: 0.0, max: 65_535.0 }, default: Default::Number(bytes), doc }
}

const fn auto(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Auto, doc }
}

/// Bytes in a bucket or turn.
const BYTES: Kind = Kind::Size { min: 1.0, max: 1e9 };

/// This part in the registry.
pub static ENTRY: Entry<Class> = Entry {
    name: "class",
    summary: "the packets that a rule selects, and their queue",
    reference: "tc-htb(8)",
    params: &[
        Param {
            name: "flows",
            kind: Kind::Numbers { min: 0.0, max: 4e9 },
            default: Default::Numbers(&[]),
            doc: "numbers of the flows, from 0 on in the order of the scenario; empty: all",
        },
        Param {
            name: "ecn",
            kind: Kind::Word(&["any", "not_ect", "ect", "ect0", "ect1", "l4s"]),
            default: Default::Word("any"),
            doc: "codepoints of the packets; ect: all but Not-ECT; l4s: ECT(1) and CE",
        },
        size("min_size", 0.0, "smallest size of the packets"),
        size("max_size", 65_535.0, "largest size of the packets"),
        Param { name: "queue", kind: Kind::Part(&qdisc::AXIS), default: Default::Part("droptail"), doc: "discipline of its packets" },
        auto("quantum", BYTES, "bytes in a turn (`wrr`, `htb`)"),
        auto("rate", RATE, "rate that the class has for itself (`htb`)"),
        auto("ceil", RATE, "rate up to which it may borrow (`htb`)"),
        auto("burst", BYTES, "size of the bucket of its rate (`htb`)"),
        auto("cburst", BYTES, "size of the bucket of its ceil (`htb`)"),
        auto("priority", Kind::Integer { min: 0.0, max: 7.0 }, "0 is served first (`htb`)"),
        Param { name: "class", kind: Kind::Parts(&super::AXIS), default: Default::Parts(&[]), doc: "classes that share it (`htb`)" },
    ],
    quantities: &[],
    build: |params| {
        let sizes = (params.number("min_size") as u64, params.number("max_size") as u64);
        if sizes.0 > sizes.1 {
            return Err("min_size must not be above max_size".to_owned());
        }
        if params.numbers("flows").iter().any(|flow| flow.fract() > 0.0) {
            return Err("flows must be whole numbers".to_owned());
        }
        let mut flows: Vec<u32> = params.numbers("flows").iter().map(|flow| *flow as u32).collect();
        flows.sort_unstable();
        let queue = params.part("queue").map(|queue| qdisc::PARTS.build(queue)).transpose()?.ok_or("a class needs a queue")?;
        let bytes = |name| params.number_or_auto(name).map(|bytes| bytes as u64);
        Ok(Box::new(Class {
            rule: Rule { flows, ecn: codepoints(params.word("ecn")), sizes },
            queue: queue.into_scheduler(),
            quantum: bytes("quantum"),
            rate: params.number_or_auto("rate"),
            ceil: params.number_or_auto("ceil"),
            burst: bytes("burst"),
            cburst: bytes("cburst"),
            priority: params.number_or_auto("priority").map(|priority| priority as usize),
            classes: Class::list(params)?,
        }))
    },
};
