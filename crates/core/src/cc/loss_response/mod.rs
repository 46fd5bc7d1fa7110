//! Responses to congestion: axis `loss_response`.

use crate::cc::contract::LossResponse;
use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn LossResponse>:
    halve,
    staged,
    westwood,
    return_to_threshold,
    first_loss_factor,
    abe,
    kept_threshold,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn LossResponse> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "loss_response",
    noun: "loss response",
    shorthand: None,
    none: Some("own"),
    objects: &[],
    usual: "halve",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
