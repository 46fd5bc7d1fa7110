//! Controls that do not decompose into the four parts and have windows, rates and recovery of their own: axis `congestion_control`.

use crate::cc::contract::CongestionControl;
use crate::entry::{Entry, entries, try_build};
use crate::params::Axis;

entries! { Entry<dyn CongestionControl>:
    bbr,
}

/// The word for a control that is an object of a Python program.
pub const PYTHON: &str = "python";
/// The word for a composed control whose slow start is such an object.
pub const PYTHON_SLOW_START: &str = "python_slow_start";

/// The axis.
pub static AXIS: Axis = Axis {
    name: "congestion_control",
    noun: "congestion control",
    shorthand: None,
    none: Some("composed"),
    objects: &[PYTHON, PYTHON_SLOW_START],
    usual: "bbr",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
