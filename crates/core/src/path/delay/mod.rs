//! Delay models: the propagation delay of a link.

mod model;

pub use model::DelayModel;

use crate::entry::{Entry, entries, try_build};
use crate::params::Axis;

entries! { Entry<dyn DelayModel>:
    constant,
    jitter,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "delay",
    noun: "delay model",
    shorthand: Some(("constant", "delay")),
    none: None,
    objects: &[],
    usual: "constant",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
