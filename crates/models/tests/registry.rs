//! The obligations of every model: a proper name, documented parameters, outputs and traces as declared, and sound values at all bounds.
#![expect(clippy::float_cmp, reason = "whole numbers and booleans are exact")]

#[path = "../../core/tests/common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::path::Path;

use ackclock_core::params::{Kind, Params};
use ackclock_models::{DESCRIPTIONS, ENTRIES, Numbers};
use common::obligations::{self, is_snake_case};

#[test]
fn every_description_is_sound() {
    obligations::assert_names("models", DESCRIPTIONS);
    for model in DESCRIPTIONS {
        obligations::assert_header("models", model);
        obligations::assert_parameters("models", model);
        obligations::assert_defaults("models", model);
        obligations::assert_quantities("models", model);
    }
    let files: Vec<_> = DESCRIPTIONS.iter().map(|model| (String::new(), model)).collect();
    obligations::assert_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &files);
}

#[test]
fn every_model_declares_its_outputs() {
    for model in ENTRIES {
        let outputs: BTreeSet<&str> = model.outputs.iter().map(|output| output.name).collect();
        assert_eq!(outputs.len(), model.outputs.len(), "{} has two outputs with the same name", model.name);
        assert!(outputs.iter().copied().all(is_snake_case), "{}", model.name);
        // Tables have a column for each parameter and output.
        assert!(model.params.iter().all(|param| !outputs.contains(param.name)), "{}: an output has the name of a parameter", model.name);
        assert!(model.outputs.iter().all(|output| !output.doc.is_empty()), "{}", model.name);
        let axis = model.params.iter().find(|param| param.name == model.axis);
        let axis = axis.unwrap_or_else(|| panic!("{}: its axis is not a parameter", model.name));
        assert!(
            !matches!(axis.kind, Kind::Word(_) | Kind::Numbers { .. } | Kind::Bool | Kind::Limit { .. } | Kind::ByteLimit { .. }),
            "{}",
            model.name
        );
        // A model is evaluated at many points; its parameters are numbers, words and lists.
        assert!(model.params.iter().all(|param| !matches!(param.kind, Kind::Series(_) | Kind::Part(_) | Kind::Parts(_))), "{}", model.name);
        let values = (model.evaluate)(&Params::defaults(model.params)).unwrap();
        assert_eq!(values.len(), outputs.len(), "{}", model.name);
        assert!(values.iter().all(|value| value.is_finite()), "{}: {values:?}", model.name);
    }
}

#[test]
fn every_trace_of_a_model_has_the_columns_it_declares() {
    for model in ENTRIES {
        let Some(trace) = &model.trace else { continue };
        let params = Params::defaults(model.params);
        let columns = (trace.evaluate)(&params).unwrap();
        let declared: Vec<(Numbers, String)> =
            trace.columns.iter().flat_map(|column| column.names(&params).into_iter().map(|name| (column.kind, name))).collect();
        assert_eq!(columns.len(), declared.len(), "{}", model.name);
        assert!(!columns[0].is_empty() && columns.iter().all(|column| column.len() == columns[0].len()), "{}", model.name);
        assert!(trace.columns.iter().all(|column| !column.quantity.doc.is_empty()) && !trace.summary.is_empty(), "{}", model.name);
        let names: BTreeSet<&String> = declared.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), declared.len(), "{} has two columns with the same name", model.name);
        for ((kind, name), column) in declared.iter().zip(&columns) {
            let sound = |number: f64| match kind {
                Numbers::Real => true,
                Numbers::Whole => number >= 0.0 && number.fract() == 0.0,
                Numbers::Bool => number == 0.0 || number == 1.0,
            };
            assert!(column.iter().copied().all(sound), "{}: {name} is not {kind:?}", model.name);
        }
    }
}

#[test]
fn every_model_evaluates_at_the_ends_of_its_bounds() {
    for model in ENTRIES.iter().filter(|model| !model.simulated) {
        for params in common::settings(model.params) {
            let values = match (model.evaluate)(&params) {
                Ok(values) => values,
                Err(reason) => {
                    // Only the values in a list are beyond the bounds' reach.
                    let list = model
                        .params
                        .iter()
                        .find(|param| matches!(param.kind, Kind::Numbers { .. }))
                        .map(|param| format!("{}: ", param.name));
                    assert!(list.is_some_and(|name| reason.starts_with(&name)), "{}: {params:?}: {reason}", model.name);
                    continue;
                }
            };
            assert_eq!(values.len(), model.outputs.len(), "{}: {params:?}", model.name);
            assert!(!values[0].is_nan(), "{}: {params:?} gives {values:?}", model.name);
            let again = (model.evaluate)(&params).unwrap();
            assert!(values.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "{}: {params:?}", model.name);
        }
    }
}
