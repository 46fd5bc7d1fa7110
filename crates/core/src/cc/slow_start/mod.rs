//! Growth below `ssthresh`: axis `slow_start`.

use crate::cc::contract::SlowStart;
use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn SlowStart>:
    standard,
    limited,
    limited_ns2,
    staged,
    queue_aware,
    hystart,
    hystart_pp,
    vegas,
    search,
    paced,
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
