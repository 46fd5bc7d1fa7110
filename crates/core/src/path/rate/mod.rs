//! Rate models: the transmission rate of a link.

mod model;

pub use model::RateModel;

use crate::entry::{Entry, entries, try_build};
use crate::params::Axis;

entries! { Entry<dyn RateModel>:
    constant,
    schedule,
}

/// The axis.
pub static AXIS: Axis = Axis {
    name: "rate",
    noun: "rate model",
    shorthand: Some(("constant", "rate")),
    none: None,
    objects: &[],
    usual: "constant",
    module: module_path!(),
    list: || DESCRIPTIONS,
    build: |name, params| try_build(ENTRIES, name, params),
};
