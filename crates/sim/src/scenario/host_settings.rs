//! The settings of hosts, read from a scenario and written to a frozen one.

use ackclock_core::units::Duration;
use ackclock_host::setting::{Kind, Setting, Value};
use serde_json::{Map, Value as Json, json};

use crate::scenario::check::Record;
use crate::scenario::unit::write_time;

/// Sets those of `settings` that `table` has.
pub(crate) fn read<C>(host: &mut C, settings: &[Setting<C>], table: &Record) {
    for setting in settings {
        if let Some(value) = value(table, setting) {
            (setting.place.set)(host, value);
        }
    }
}

/// The value of a setting; `None` if it follows from another, or is wrong and reported.
fn value<C>(table: &Record, Setting { key, kind, .. }: &Setting<C>) -> Option<Value> {
    Some(match kind {
        Kind::Flag => Value::Flag(table.flag(key)),
        Kind::Delay | Kind::Time => Value::Time(Duration::from_nanos(table.whole(key)?)),
        Kind::Count(..) => Value::Whole(table.integer(key)?),
        Kind::Bytes(..) | Kind::Packets(..) => Value::Whole(table.whole(key)?),
        Kind::Number(..) => Value::Number(table.number(key)?),
        Kind::Word(words) => {
            let text = table.text(key)?;
            Value::Word(words.iter().copied().find(|word| *word == text)?)
        }
    })
}

/// Writes the settings of `host` that have a meaning into `table`.
pub(crate) fn write<C>(host: &C, settings: &[Setting<C>], table: &mut Map<String, Json>) {
    for setting in settings {
        let Some(value) = (setting.place.get)(host) else { continue };
        let value = match (value, setting.kind) {
            (Value::Flag(value), _) => json!(value),
            (Value::Time(time), _) => json!(write_time(time)),
            (Value::Whole(bytes), Kind::Bytes(..)) => json!(format!("{bytes} B")),
            (Value::Whole(packets), Kind::Packets(..)) => json!(format!("{packets} packets")),
            (Value::Whole(number), _) => json!(number),
            (Value::Number(number), _) => json!(number),
            (Value::Word(word), _) => json!(word),
        };
        table.insert(setting.key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use ackclock_host::setting::Default as SettingDefault;
    use ackclock_tcp::modern::{self, Feedback};
    use ackclock_tcp::ns2;

    use super::*;
    use crate::scenario::unit::{Dimension, PACKETS, Quantity, SIZE};

    fn check_defaults<C: Default>(settings: &[Setting<C>]) {
        let host = C::default();
        for Setting { key, default, place, kind, .. } in settings {
            let default = match (default, kind) {
                (SettingDefault::Value(value), _) => *value,
                (SettingDefault::Quantity(text), Kind::Bytes(..)) => whole(&SIZE, text),
                (SettingDefault::Quantity(text), _) => whole(&PACKETS, text),
                (SettingDefault::As(other), _) => {
                    let other = settings.iter().find(|setting| setting.key == *other).unwrap();
                    (other.place.get)(&host).unwrap()
                }
            };
            assert!((place.get)(&host).is_none_or(|found| found == default), "{key}: {default:?}");
        }
    }

    /// The number in a text with a unit.
    fn whole(dimension: &Dimension, text: &str) -> Value {
        let Ok(Quantity::Whole(_, number)) = dimension.parse(text, dimension.unit) else { panic!("{text}") };
        Value::Whole(number)
    }

    #[test]
    fn every_default_is_that_of_the_host() {
        check_defaults(modern::SETTINGS);
        check_defaults(ns2::SETTINGS);
    }

    /// Sets and gets the bounds of every setting of `host`, except the values that change nothing (`kept`).
    fn check_values<C: Clone>(host: &C, settings: &[Setting<C>], kept: &[(&str, Value)]) {
        for Setting { key, kind, place, .. } in settings {
            let values = match *kind {
                Kind::Flag => vec![Value::Flag(false), Value::Flag(true)],
                Kind::Delay | Kind::Time => vec![Value::Time(Duration::from_millis(7))],
                Kind::Count(least, most) => vec![Value::Whole(least), Value::Whole(most)],
                Kind::Bytes(least, most) => vec![whole(&SIZE, least), whole(&SIZE, most)],
                Kind::Packets(least, most) => vec![whole(&PACKETS, least), whole(&PACKETS, most)],
                Kind::Number(least, most) => vec![Value::Number(least), Value::Number(most)],
                Kind::Word(words) => words.iter().map(|word| Value::Word(word)).collect(),
            };
            for value in values.into_iter().filter(|value| !kept.contains(&(key, *value))) {
                let mut host = host.clone();
                (place.set)(&mut host, value);
                assert_eq!((place.get)(&host), Some(value), "{key}");
            }
        }
    }

    #[test]
    fn every_value_that_is_set_is_found_again() {
        // With the settings that give all others a meaning.
        let mut host = modern::Config { ecn: Some(Feedback::Accurate), ..modern::Config::default() };
        for (key, value) in [
            ("receive_buffer", Value::Whole(1 << 28)),
            ("receive_buffer_unit", Value::Word("memory")),
            ("pacing", Value::Word("window")),
            ("tso_segments", Value::Whole(2)),
            ("acks", Value::Word("adaptive")),
            ("send_buffer", Value::Whole(1)),
        ] {
            let setting = modern::SETTINGS.iter().find(|setting| setting.key == key).unwrap();
            (setting.place.set)(&mut host, value);
        }
        // Memory stays memory, and a largest size below the initial one means a fixed size.
        let kept = [("receive_buffer_unit", Value::Word("data")), ("receive_buffer_max", Value::Whole(1))];
        check_values(&host, modern::SETTINGS, &kept);
        check_values(&ns2::Config::default(), ns2::SETTINGS, &[]);
    }
}
