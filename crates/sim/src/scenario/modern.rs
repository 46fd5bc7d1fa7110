//! The settings of `modern` hosts, read from a scenario and written to a frozen one.

use ackclock_core::units::Duration;
use ackclock_tcp::modern::{SETTINGS, Setting, SettingKind, SettingValue};
use serde_json::{Map, Value as Json, json};

use crate::scenario::check::Record;
use crate::scenario::model::ModernHost;
use crate::scenario::unit::write_time;

/// The host that a table describes.
pub(crate) fn read(table: &Record) -> ModernHost {
    let mut host = ModernHost::default();
    for setting in SETTINGS {
        if let Some(value) = value(table, setting) {
            (setting.place.set)(&mut host, value);
        }
    }
    host
}

/// The value of a setting; `None` if it follows from another, or is wrong and reported.
fn value(table: &Record, Setting { key, kind, .. }: &Setting) -> Option<SettingValue> {
    Some(match kind {
        SettingKind::Flag => SettingValue::Flag(table.flag(key)),
        SettingKind::Delay | SettingKind::Time => SettingValue::Time(Duration::from_nanos(table.whole(key)?)),
        SettingKind::Count(..) => SettingValue::Whole(table.integer(key)?),
        SettingKind::Bytes => SettingValue::Whole(table.whole(key)?),
        SettingKind::Number(..) => SettingValue::Number(table.number(key)?),
        SettingKind::Word(words) => {
            let text = table.text(key)?;
            SettingValue::Word(words.iter().copied().find(|word| *word == text)?)
        }
    })
}

/// The settings of `host` that have a meaning.
pub(crate) fn write(host: &ModernHost) -> Json {
    let settings = SETTINGS.iter().filter_map(|setting| {
        let value = match (setting.place.get)(host)? {
            SettingValue::Flag(value) => json!(value),
            SettingValue::Time(time) => json!(write_time(time)),
            SettingValue::Whole(bytes) if setting.kind == SettingKind::Bytes => json!(format!("{bytes} B")),
            SettingValue::Whole(number) => json!(number),
            SettingValue::Number(number) => json!(number),
            SettingValue::Word(word) => json!(word),
        };
        Some((setting.key.to_owned(), value))
    });
    Json::Object(settings.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use ackclock_tcp::modern::{Feedback, SettingDefault};

    use super::*;

    #[test]
    fn every_default_is_that_of_the_host() {
        let host = ModernHost::default();
        for setting in SETTINGS {
            let SettingDefault::Value(value) = setting.default else { continue };
            assert!((setting.place.get)(&host).is_none_or(|found| found == value), "{}: {value:?}", setting.key);
        }
    }

    #[test]
    fn every_value_that_is_set_is_found_again() {
        for setting in SETTINGS {
            let values = match setting.kind {
                SettingKind::Flag => vec![SettingValue::Flag(false), SettingValue::Flag(true)],
                SettingKind::Delay | SettingKind::Time => vec![SettingValue::Time(Duration::from_millis(7))],
                SettingKind::Count(least, most) => vec![SettingValue::Whole(least), SettingValue::Whole(most)],
                SettingKind::Bytes => vec![SettingValue::Whole(1 << 28)],
                SettingKind::Number(least, most) => vec![SettingValue::Number(least), SettingValue::Number(most)],
                SettingKind::Word(words) => words.iter().map(|word| SettingValue::Word(word)).collect(),
            };
            // With the settings that give all others a meaning.
            let mut host = ModernHost { ecn: Some(Feedback::Accurate), ..ModernHost::default() };
            for (key, value) in [
                ("receive_buffer_unit", SettingValue::Word("memory")),
                ("pacing", SettingValue::Word("window")),
                ("tso_segments", SettingValue::Whole(2)),
                ("acks", SettingValue::Word("adaptive")),
            ] {
                let setting = SETTINGS.iter().find(|setting| setting.key == key).unwrap();
                (setting.place.set)(&mut host, value);
            }
            for value in values {
                (setting.place.set)(&mut host, value);
                let settable = setting.key != "receive_buffer_unit" || value != SettingValue::Word("data");
                assert!(!settable || (setting.place.get)(&host) == Some(value), "{}: {value:?}", setting.key);
            }
        }
    }
}
