//! The declaration of a setting of a host: its key in a scenario, its values, default and meaning, its place in the host's configuration
//! `C`, and how Linux spells it.

use ackclock_core::units::Duration;

/// A value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// For [`Kind::Flag`].
    Flag(bool),
    /// For [`Kind::Time`].
    Time(Duration),
    /// For [`Kind::Count`], [`Kind::Bytes`] and [`Kind::Packets`].
    Whole(u64),
    /// For [`Kind::Number`].
    Number(f64),
    /// For [`Kind::Word`].
    Word(&'static str),
}

/// The values that a setting can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A time: zero or more.
    Delay,
    /// A time above zero.
    Time,
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// A number of bytes from the first to the second, which have their unit.
    Bytes(&'static str, &'static str),
    /// A number of packets from the first to the second, which have their unit.
    Packets(&'static str, &'static str),
    /// A real number from the first to the second.
    Number(f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
}

/// The value of a setting that a scenario does not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// This value.
    Value(Value),
    /// This number of bytes or packets, with its unit.
    Quantity(&'static str),
    /// The value follows from the setting of this key.
    As(&'static str),
}

/// A parameter of the kernel below /proc/sys/net, and its value; `None`: it stays as it is.
pub type Parameter<C> = (&'static str, fn(&C) -> Option<String>);

/// How Linux has a setting.
#[derive(Debug)]
pub enum Kernel<C: 'static> {
    /// It has a value of its own, which nobody can change.
    Own,
    /// By these parameters.
    By(&'static [Parameter<C>]),
    /// By this parameter, which older kernels lack; they do what this value says. It is written only if its value differs from that of the
    /// preset `linux`.
    Since(Parameter<C>, &'static str),
    /// By its route or its socket, or by the parameter of another setting.
    Otherwise,
}

/// A setting of a host with configuration `C`.
#[derive(Debug)]
pub struct Setting<C: 'static> {
    /// Key in a scenario.
    pub key: &'static str,
    /// Its values.
    pub kind: Kind,
    /// Its default.
    pub default: Default,
    /// Meaning.
    pub doc: &'static str,
    /// How Linux has it.
    pub kernel: Kernel<C>,
    /// Where the configuration has it.
    pub place: Place<C>,
}

/// The place of a setting in a configuration.
#[derive(Debug)]
pub struct Place<C> {
    /// Its value; `None` if another setting makes it meaningless.
    pub get: fn(&C) -> Option<Value>,
    /// Sets it. A scenario sets all settings in the order of declaration.
    pub set: fn(&mut C, Value),
}

/// The place of a field, of the kind of [`Value`](crate::setting::Value) `$value`.
#[macro_export]
macro_rules! place {
    ($value:ident, $($path:ident).+) => {
        $crate::setting::Place {
            get: |config| Some($crate::setting::Value::$value(config.$($path).+)),
            set: |config, value| if let $crate::setting::Value::$value(value) = value { config.$($path).+ = value },
        }
    };
}

/// Declares `Config`, its defaults, and the list `SETTINGS` of its settings.
///
/// `flag`, `delay`, `time` and `count` declare a field that is a setting: its default, how Linux has it, and its meaning. `field` declares
/// a field that is none, or that several settings make up; `setting` declares such a setting. The names of this module are in scope; the
/// caller imports `Duration`.
#[macro_export]
macro_rules! settings {
    (@ $fields:tt $defaults:tt $list:tt flag $name:ident = $default:expr, $kernel:expr, $doc:expr; $($rest:tt)*) => {
        $crate::settings! { @plain $fields $defaults $list bool, Flag, Flag, $name, $default, $kernel, $doc, $($rest)* }
    };
    (@ $fields:tt $defaults:tt $list:tt delay $name:ident = $default:expr, $kernel:expr, $doc:expr; $($rest:tt)*) => {
        $crate::settings! { @plain $fields $defaults $list Duration, Delay, Time, $name, $default, $kernel, $doc, $($rest)* }
    };
    (@ $fields:tt $defaults:tt $list:tt time $name:ident = $default:expr, $kernel:expr, $doc:expr; $($rest:tt)*) => {
        $crate::settings! { @plain $fields $defaults $list Duration, Time, Time, $name, $default, $kernel, $doc, $($rest)* }
    };
    (@ [$($fields:tt)*] [$($defaults:tt)*] [$($list:tt)*]
     count $name:ident = $default:expr, $most:expr, $kernel:expr, $doc:expr; $($rest:tt)*) => {
        $crate::settings! {
            @ [$($fields)* #[doc = $doc] pub $name: u32,] [$($defaults)* $name: $default,]
            [$($list)* Setting {
                key: stringify!($name), kind: Kind::Count(0, $most), default: Default::Value(Value::Whole($default)), doc: $doc,
                kernel: $kernel,
                place: Place {
                    get: |config| Some(Value::Whole(config.$name.into())),
                    set: |config, value| if let Value::Whole(value) = value { config.$name = value as u32 },
                },
            },]
            $($rest)*
        }
    };
    (@ [$($fields:tt)*] [$($defaults:tt)*] $list:tt $(#[$doc:meta])* field $name:ident: $type:ty = $default:expr; $($rest:tt)*) => {
        $crate::settings! { @ [$($fields)* $(#[$doc])* pub $name: $type,] [$($defaults)* $name: $default,] $list $($rest)* }
    };
    (@ $fields:tt $defaults:tt [$($list:tt)*]
     setting $key:ident: $kind:expr, $default:expr, $kernel:expr, $doc:expr, $place:expr; $($rest:tt)*) => {
        $crate::settings! {
            @ $fields $defaults
            [$($list)* Setting {
                key: stringify!($key), kind: $kind, default: $default, doc: $doc, kernel: $kernel, place: $place,
            },]
            $($rest)*
        }
    };
    (@plain [$($fields:tt)*] [$($defaults:tt)*] [$($list:tt)*]
     $type:ty, $kind:ident, $value:ident, $name:ident, $default:expr, $kernel:expr, $doc:expr, $($rest:tt)*) => {
        $crate::settings! {
            @ [$($fields)* #[doc = $doc] pub $name: $type,] [$($defaults)* $name: $default,]
            [$($list)* Setting {
                key: stringify!($name), kind: Kind::$kind, default: Default::Value(Value::$value($default)), doc: $doc, kernel: $kernel,
                place: $crate::place!($value, $name),
            },]
            $($rest)*
        }
    };
    (@ [$($fields:tt)*] [$($defaults:tt)*] [$($list:tt)*]) => {
        /// Settings of an end host.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config { $($fields)* }

        impl std::default::Default for Config {
            fn default() -> Self {
                Self { $($defaults)* }
            }
        }

        /// Every setting, in the order in which a frozen scenario has them.
        pub const SETTINGS: &[$crate::setting::Setting<Config>] = {
            use $crate::setting::{Default, Kernel, Kind, Place, Setting, Value};
            &[$($list)*]
        };
    };
    ($($declared:tt)*) => {
        $crate::settings! { @ [] [] [] $($declared)* }
    };
}
