//! Rate models: the transmission rate of a link.

mod drawn;
mod model;

pub use model::RateModel;

use crate::entry::{Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<dyn RateModel>:
    constant,
    schedule,
    random_walk,
    markov,
    mahimahi,
}

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<dyn RateModel> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "rate",
    noun: "rate model",
    shorthand: Some(("constant", "rate")),
    none: None,
    objects: &[],
    usual: "constant",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
