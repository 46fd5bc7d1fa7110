//! Growth from `ssthresh` on: axis `avoidance`.

use crate::cc::contract::Avoidance;
use crate::entry::{Entry, entries, try_build};
use crate::params::Axis;

entries! { Entry<dyn Avoidance>:
    reno,
    binomial,
    polynomial,
    exponential,
    exponential_bdp,
    bandwidth_ratio,
    cubic,
    cubic_linux,
    veno,
    vegas,
    dctcp,
    ledbat,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "avoidance",
    noun: "congestion avoidance",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "reno",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
