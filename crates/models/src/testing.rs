//! What the tests of models share.

use ackclock_core::params::{Params, Value};

use crate::Model;

/// Asserts that two numbers differ by at most `tolerance`.
pub(crate) fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not within {tolerance} of {expected}");
}

/// The defaults of `model`'s parameters with some values replaced.
pub(crate) fn with(model: &Model, settings: &[(&str, f64)]) -> Params {
    let mut params = Params::defaults(model.params);
    for (name, value) in settings {
        params.set(name, Value::Number(*value));
    }
    params
}

/// The output `name` of `model` with these parameters.
pub(crate) fn compute(model: &Model, settings: &[(&str, f64)], name: &str) -> f64 {
    pick(model, &with(model, settings), name)
}

/// The output `name` of `model`.
pub(crate) fn pick(model: &Model, params: &Params, name: &str) -> f64 {
    let place = model.outputs.iter().position(|output| output.name == name);
    (model.evaluate)(params).unwrap()[place.unwrap_or_else(|| panic!("no output named {name}"))]
}
