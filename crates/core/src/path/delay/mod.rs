//! Delay models: the propagation delay of a link.

mod model;

pub use model::DelayModel;

use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn DelayModel>:
    constant,
    jitter,
    random_walk,
    oscillation,
    steps,
    reordering,
    batches,
    suspension,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn DelayModel> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "delay",
    noun: "delay model",
    shorthand: Some(("constant", "delay")),
    none: None,
    objects: &[],
    usual: "constant",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
