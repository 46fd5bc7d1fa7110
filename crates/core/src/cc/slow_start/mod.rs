//! Growth below `ssthresh`: axis `slow_start`.

use crate::cc::contract::SlowStart;
use crate::entry::{Entry, List, Parts, entries};
use crate::params::{Axis, Default, Kind, Param, Params};

entries! { Entry<dyn SlowStart>:
    standard,
    limited,
    limited_ns2,
    staged,
    queue_aware,
    hystart,
    hystart_pp,
    vegas,
    ledbat_pp,
    search,
    suss,
    rapid_start,
    bbr_startup,
    prague,
    paced_start,
    paced,
    jump_start,
    halfback,
    quick_start,
    careful_resume,
    hybla,
}

/// The slow start inside a wrapper.
const INNER: Param = Param {
    name: "slow_start",
    kind: Kind::Part(&AXIS),
    default: Default::Part("standard"),
    doc: "slow start inside, which decides on growth and exit",
};

/// Builds the slow start inside a wrapper.
fn inner(params: &Params) -> Result<Box<dyn SlowStart>, String> {
    params.part("slow_start").map_or_else(|| PARTS.build(&AXIS.spec("standard")), |part| PARTS.build(part))
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn SlowStart> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "slow_start",
    noun: "slow start",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "standard",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
