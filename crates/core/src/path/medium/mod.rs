//! Media: channels on which only one link at a time can send.

mod model;

pub use model::{Attempt, Frames, MediumModel};

use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn MediumModel>:
    wifi,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn MediumModel> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "medium",
    noun: "medium",
    shorthand: None,
    none: Some("own"),
    objects: &[],
    usual: "wifi",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
