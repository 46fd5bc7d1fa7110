//! Controls that do not decompose into the four parts and have windows, rates and recovery of their own: axis `congestion_control`.

use crate::cc::contract::CongestionControl;
use crate::entry::{Entry, List, Parts, entries};
use crate::params::{Axis, Default, Kind, Param};

entries! { Entry<dyn CongestionControl>:
    bbr,
    bbr1,
    copa,
    vivace,
}

/// The initial window of a control without a part for it.
pub(crate) const INITIAL_WINDOW: Param = Param {
    name: "initial_window",
    kind: Kind::Segments { min: 1.0, max: 1e6 },
    default: Default::Auto,
    doc: "initial window; auto is RFC 6928's",
};
/// The word for a control that is an object of a Python program.
pub const PYTHON: &str = "python";
/// The word for a composed control whose slow start is such an object.
pub const PYTHON_SLOW_START: &str = "python_slow_start";

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn CongestionControl> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "congestion_control",
    noun: "congestion control",
    shorthand: None,
    none: Some("composed"),
    objects: &[PYTHON, PYTHON_SLOW_START],
    usual: "bbr",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
