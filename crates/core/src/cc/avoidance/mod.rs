//! Growth from `ssthresh` on: axis `avoidance`.

use crate::cc::contract::Avoidance;
use crate::entry::{Entry, List, Parts, entries};
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
    illinois,
    yeah,
    lp,
    westwood_plus,
    compound,
    vegas,
    dctcp,
    prague,
    ledbat,
    ledbat_pp,
    cdg,
    nv,
    highspeed,
    scalable,
    htcp,
    hybla,
    bic,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn Avoidance> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "avoidance",
    noun: "congestion avoidance",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "reno",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
