//! The settings of hosts as keys: those of `modern` in a table of their own, those of `ns2` among the keys of the flow.

use ackclock_host::setting::{Default, Kind as SettingKind, Setting, Value};
use ackclock_tcp::{modern, ns2};

use crate::scenario::keys::{DELAY, Fallback, Key, Kind, TIMER, from, key};
use crate::scenario::unit;

/// The keys of `[flow.modern]`.
pub(crate) static MODERN: &[Key] = &{
    let mut keys = [const { UNUSED }; modern::SETTINGS.len()];
    let mut index = 0;
    while index < keys.len() {
        keys[index] = declared(&modern::SETTINGS[index]);
        index += 1;
    }
    keys
};

/// The keys of a flow: `first`, then the settings of `ns2`.
pub(crate) const fn with_ns2<const ALL: usize>(first: &[Key]) -> [Key; ALL] {
    assert!(ALL == first.len() + ns2::SETTINGS.len(), "room for every key");
    let mut keys = [const { UNUSED }; ALL];
    let mut index = 0;
    while index < ALL {
        keys[index] = if index < first.len() { first[index] } else { declared(&ns2::SETTINGS[index - first.len()]).of("ns2") };
        index += 1;
    }
    keys
}

/// A place for a key.
const UNUSED: Key = key("", Kind::Bool, Fallback::Bool(false), "");

/// A setting as a key.
const fn declared<C>(setting: &Setting<C>) -> Key {
    let kind = match setting.kind {
        SettingKind::Flag => Kind::Bool,
        SettingKind::Delay => DELAY,
        SettingKind::Time => TIMER,
        SettingKind::Count(least, most) => Kind::Integer(least, most),
        SettingKind::Bytes(least, most) => Kind::Quantity(&unit::SIZE, from(least, most)),
        SettingKind::Packets(least, most) => Kind::Quantity(&unit::PACKETS, from(least, most)),
        SettingKind::Number(least, most) => Kind::Number(least, most),
        SettingKind::Word(words) => Kind::Word(words),
    };
    let fallback = match setting.default {
        Default::Value(Value::Flag(value)) => Fallback::Bool(value),
        Default::Value(Value::Time(time)) => Fallback::Time(time),
        Default::Value(Value::Whole(number)) => Fallback::Integer(number),
        Default::Value(Value::Number(number)) => Fallback::Number(number),
        Default::Value(Value::Word(word)) | Default::Quantity(word) => Fallback::Text(word),
        Default::As(other) => Fallback::Absent(other),
    };
    key(setting.key, kind, fallback, setting.doc)
}
