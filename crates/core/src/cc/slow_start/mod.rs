//! Growth below `ssthresh`: axis `slow_start`.

use crate::cc::contract::SlowStart;
use crate::entry::{Entry, entries, try_build};
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

/// The axis.
pub static AXIS: Axis = Axis {
    name: "slow_start",
    noun: "slow start",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "standard",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
