//! Parts for tests.

use ackclock_core::params::{Axis, Params, Value};
use ackclock_kernel::Part;
use ackclock_sim::scenario::PartSpec;

/// A part of the registry with some parameters set.
pub(crate) fn part(axis: &'static Axis, name: &'static str, set: &[(&str, Value)]) -> Part {
    let entry = axis.part(name).unwrap();
    let mut params = Params::defaults(entry.params);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    Part { axis, spec: PartSpec::new(name, params) }
}
