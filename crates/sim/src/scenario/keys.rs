//! The declaration of a scenario's key: its kind of value, bounds, default and meaning.

use ackclock_core::limits;
use ackclock_core::params::Axis;
use ackclock_core::units::Duration;

use crate::scenario::preset::Presets;
use crate::scenario::unit::{self, Dimension};

/// The profile of hosts that are a kernel.
pub(crate) const KERNEL: &str = "kernel";

/// A key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Name.
    pub(crate) name: &'static str,
    /// Kind of value.
    pub(crate) kind: Kind,
    /// Default.
    pub(crate) fallback: Fallback,
    /// Meaning.
    pub(crate) doc: &'static str,
    /// The host profile to which the key applies; `None`: to all.
    pub(crate) profile: Option<&'static str>,
}

impl Key {
    /// The key, which applies only to hosts of `profile`.
    pub(crate) const fn of(self, profile: &'static str) -> Self {
        Self { profile: Some(profile), ..self }
    }
}

/// The kind of value of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Text, not empty.
    Text,
    /// `true` or `false`.
    Bool,
    /// `true` or `false`, or one of these words; `true` stands for the first.
    Switch(&'static [&'static str]),
    /// A whole number in these bounds.
    Integer(u64, u64),
    /// A number without unit in these bounds.
    Number(f64, f64),
    /// A number with its unit.
    Quantity(&'static Dimension, Bounds),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list.
    List(&'static Kind),
    /// A table.
    Table(&'static [Key]),
    /// A list of tables, or a single one.
    Tables(&'static [Key]),
    /// A table whose keys depend on its `kind`; the first kind is the default.
    Variants(&'static [Variant]),
    /// A distribution: such a table, or a single quantity, which is the mean of kind `fixed`.
    Drawn(&'static [Variant]),
    /// This word, or a table.
    WordOrTable(&'static str, &'static [Key]),
    /// A part of this axis. Its table can have these keys besides the part's parameters.
    Part(&'static Axis, &'static [Key]),
    /// Such a part, or a list of them.
    Parts(&'static Axis, &'static [Key]),
    /// The name of a preset of end hosts, or a table with its `kind` and `version`.
    Host,
    /// The name of one of these presets.
    Preset(&'static Presets),
    /// A table of names that the file chooses, each with a whole number, `true`, `false` or a text. The check says what is wrong with a name.
    Names(fn(&str) -> Result<(), String>),
    /// The tables of `[sweep]`, whose keys are not keys of a run.
    Sweep,
}

impl Kind {
    /// The expected kind of value, for messages.
    pub(crate) const fn expected(&self) -> &'static str {
        match self {
            Self::Text | Self::Word(_) | Self::Quantity(..) | Self::Preset(_) => "a text",
            Self::Bool => "true or false",
            Self::Switch(_) => "true, false or a text",
            Self::Integer(..) => "a whole number",
            Self::Number(..) => "a number",
            Self::List(_) => "a list",
            Self::Table(_) | Self::Names(_) | Self::Variants(_) | Self::Sweep | Self::Part(..) | Self::Parts(..) => "a table",
            Self::Host => "a text, or a table with kind and version",
            Self::Drawn(_) => "a quantity, or a table with its kind",
            Self::Tables(_) => "a list of tables",
            Self::WordOrTable(..) => "\"none\" or a table",
        }
    }
}

/// One kind of table.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Value of its `kind`.
    pub(crate) kind: &'static str,
    /// Keys besides `kind`.
    pub(crate) keys: &'static [Key],
    /// Meaning.
    pub(crate) doc: &'static str,
}

/// The bounds of a quantity, as texts for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Smallest value.
    pub(crate) low: &'static str,
    /// Whether the smallest value is itself out of bounds.
    pub(crate) above: bool,
    /// Largest value.
    pub(crate) high: &'static str,
}

/// The value of a key that the file does not set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fallback {
    /// No default: the key must be given. With an example.
    Required(&'static str),
    /// No value, with its meaning.
    Absent(&'static str),
    /// This text, read as if it were in the file.
    Text(&'static str),
    /// This time.
    Time(Duration),
    /// This whole number.
    Integer(u64),
    /// This real number.
    Number(f64),
    /// This truth value.
    Bool(bool),
    /// An empty list.
    Empty,
    /// A table with all its defaults.
    Table,
}

pub(crate) const fn from(low: &'static str, high: &'static str) -> Bounds {
    Bounds { low, above: false, high }
}

pub(crate) const fn above(low: &'static str, high: &'static str) -> Bounds {
    Bounds { low, above: true, high }
}

pub(crate) const DELAY: Kind = Kind::Quantity(&unit::TIME, from("0 s", "1e6 s"));
pub(crate) const RATE: Kind = Kind::Quantity(&unit::RATE, above("0 bit/s", "1e15 bit/s"));
pub(crate) const POINT: Kind = Kind::Quantity(&unit::TIME, from("0 s", "1e9 s"));
pub(crate) const TIMER: Kind = Kind::Quantity(&unit::TIME, above("0 s", "1e6 s"));

/// Largest `count` of an entry, and largest number of flows in a scenario.
pub(crate) const MAX_FLOWS: u64 = limits::FLOWS.most;
/// Largest number of links in a scenario; each direction counts.
pub(crate) const MAX_LINKS: u64 = limits::LINKS.most;

pub(crate) const fn key(name: &'static str, kind: Kind, fallback: Fallback, doc: &'static str) -> Key {
    Key { name, kind, fallback, doc, profile: None }
}
