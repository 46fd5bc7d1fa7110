//! Loss models: packet losses and copies of a link, apart from queue drops.

mod model;

pub use model::{Arrival, Fate, LossModel};

use crate::entry::{Entry, entries, try_build};
use crate::params::Axis;

entries! { Entry<dyn LossModel>:
    bernoulli,
    listed,
    gilbert_elliott,
    duplicate,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "loss",
    noun: "loss model",
    shorthand: Some(("bernoulli", "rate")),
    none: Some("none"),
    objects: &[],
    usual: "bernoulli",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
