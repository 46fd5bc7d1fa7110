//! Loss models: packet losses and copies of a link, apart from queue drops.

mod model;

pub use model::{Arrival, Fate, LossModel};

use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn LossModel>:
    bernoulli,
    schedule,
    listed,
    gilbert_elliott,
    four_states,
    bursts,
    bit_errors,
    periodic,
    outage,
    duplicate,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn LossModel> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "loss",
    noun: "loss model",
    shorthand: Some(("bernoulli", "rate")),
    none: Some("none"),
    objects: &[],
    usual: "bernoulli",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
