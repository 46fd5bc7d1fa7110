//! Responses to congestion: axis `loss_response`.

use crate::cc::contract::LossResponse;
use crate::entry::{Entry, entries, try_build};
use crate::params::Axis;

entries! { Entry<dyn LossResponse>:
    halve,
    staged,
    westwood,
    return_to_threshold,
    first_loss_factor,
    kept_threshold,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "loss_response",
    noun: "loss response",
    shorthand: None,
    none: Some("own"),
    objects: &[],
    usual: "halve",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
