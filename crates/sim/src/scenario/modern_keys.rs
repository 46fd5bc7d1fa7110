//! The settings of `modern` hosts as the keys of `[flow.modern]`.

use std::sync::LazyLock;

use ackclock_tcp::modern::{SETTINGS, Setting, SettingDefault, SettingKind, SettingValue};

use crate::scenario::keys::{BUFFER, DELAY, Fallback, Key, Kind, TIMER, key};
use crate::scenario::unit;

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| SETTINGS.iter().map(declared).collect());

/// The keys of `[flow.modern]`.
pub(crate) fn keys() -> &'static [Key] {
    &KEYS
}

/// A setting as a key.
fn declared(setting: &Setting) -> Key {
    let kind = match setting.kind {
        SettingKind::Flag => Kind::Bool,
        SettingKind::Delay => DELAY,
        SettingKind::Time => TIMER,
        SettingKind::Count(least, most) => Kind::Integer(least, most),
        SettingKind::Bytes => Kind::Quantity(&unit::SIZE, BUFFER),
        SettingKind::Number(least, most) => Kind::Number(least, most),
        SettingKind::Word(words) => Kind::Word(words),
    };
    let fallback = match setting.default {
        SettingDefault::Value(SettingValue::Flag(value)) => Fallback::Bool(value),
        SettingDefault::Value(SettingValue::Time(time)) => Fallback::Time(time),
        SettingDefault::Value(SettingValue::Whole(number)) => Fallback::Integer(number),
        SettingDefault::Value(SettingValue::Number(number)) => Fallback::Number(number),
        SettingDefault::Value(SettingValue::Word(word)) | SettingDefault::Bytes(word) => Fallback::Text(word),
        SettingDefault::As(other) => Fallback::Absent(other),
    };
    key(setting.key, kind, fallback, setting.doc)
}
