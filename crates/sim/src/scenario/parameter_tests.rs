use ackclock_core::params::{Kind, Value};

use super::read;
use crate::scenario::error::Problems;
use crate::scenario::toml_reader::read_toml;

/// A series of rates.
const RATES: Kind = Kind::Series(&Kind::Rate { min: 1e3, max: 1e9 });

/// Reads `text` as a series of rates.
fn rates(text: &str) -> Result<Value, String> {
    let root = read_toml(&format!("steps = {text}"), &mut Problems::default());
    read("steps", RATES, &root.get("steps").unwrap().data)
}

#[test]
fn a_series_has_times_and_values_with_their_units() {
    let steps = rates("[['0 s', '1 Mbit/s'], ['500 ms', '20 kbit/s']]");
    assert_eq!(steps, Ok(Value::Series(vec![(0.0, 1e6), (0.5, 2e4)])));
}

#[test]
fn wrong_steps_are_named() {
    for (text, message) in [
        ("'1 Mbit/s'", "must be a list of [time, value], but is the text \"1 Mbit/s\""),
        ("[]", "must have at least one step [\"0 s\", value]"),
        ("['1 Mbit/s']", "step 0: must be [time, value], but is the text \"1 Mbit/s\""),
        ("[['0 s']]", "step 0: must be [time, value], but has 1 entries"),
        ("[['1 s', '1 Mbit/s']]", "must begin at \"0 s\""),
        ("[['0 s', '1 Mbit/s'], ['0 s', '1 Mbit/s']]", "step 1: must be later than the step before it"),
        ("[['0 s', '1 Mbit/s'], [1, '1 Mbit/s']]", "step 1: its time a time needs a unit; did you mean \"1 s\"?"),
        ("[['0 s', '2 Gbit/s']]", "step 0: its value must be from 1000 to 1e9 bit/s"),
    ] {
        assert_eq!(rates(text), Err(message.to_owned()), "{text}");
    }
}
