//! Initial windows: axis `initial_window`.

use crate::cc::contract::InitialWindow;
use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn InitialWindow>:
    fixed,
    rfc2001,
    rfc3390,
    rfc6928,
    ns2_table,
    yearly,
    negotiated,
    adaptive,
    unlimited,
    rtt_scaled,
    hybla,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn InitialWindow> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "initial_window",
    noun: "initial window",
    shorthand: Some(("fixed", "segments")),
    none: None,
    objects: &[],
    usual: "ns2_table",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
