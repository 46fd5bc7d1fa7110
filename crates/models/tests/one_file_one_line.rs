//! "One file and one line": follows CONTRIBUTING.md in a copy of this crate, with its printed example.

#[path = "../../core/tests/example/mod.rs"]
mod example;

use example::Copied;

/// Test of the copy: finds the new model by name, and evaluates it.
const DRIVER: &str = r#"
use ackclock_core::params::Params;

#[test]
fn the_new_model_is_registered_with_its_trace() {
    let model = ackclock_models::find("doubling").expect("registered");
    let params = Params::defaults(model.params);
    assert_eq!((model.evaluate)(&params), Ok(vec![6.0, 127.0]));
    let trace = model.trace.as_ref().expect("a trace");
    let names: Vec<String> = trace.columns.iter().flat_map(|column| column.names(&params)).collect();
    assert_eq!(names, ["round", "window"]);
    let columns = (trace.evaluate)(&params).unwrap();
    assert_eq!(columns[1], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
}
"#;

#[test]
fn the_example_of_contributing_works() {
    let copied = Copied::new("one_file_one_line_model", &["core", "models"]);
    copied.write("crates/models/src/doubling.rs", copied.example("model"));
    copied.insert_line("model line", "crates/models/src/lib.rs", "entries! { Model:\n");
    copied.write("crates/models/tests/driver.rs", DRIVER);
    copied.test(
        &["--package", "ackclock-models", "--test", "driver", "--test", "registry"],
        &["the_new_model_is_registered_with_its_trace", "every_trace_of_a_model_has_the_columns_it_declares"],
    );
}
