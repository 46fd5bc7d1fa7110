//! Initial windows: axis `initial_window`.

use crate::cc::contract::InitialWindow;
use crate::entry::{Entry, entries, try_build};
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
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "initial_window",
    noun: "initial window",
    shorthand: Some(("fixed", "segments")),
    none: None,
    objects: &[],
    usual: "ns2_table",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
