//! How a key of a scenario is declared: what it takes, its bounds, its default and its meaning.

use crate::scenario::unit::{self, Dimension};

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
    /// What it is when the file is silent.
    pub(crate) fallback: Fallback,
    /// What it means.
    pub(crate) doc: &'static str,
}

/// What a key takes.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A text that is not empty.
    Text,
    /// `true` or `false`.
    Bool,
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
    /// A table whose keys depend on its `kind`; the first is the default.
    Variants(&'static [Variant]),
    /// A distribution: the same, or a single quantity, which stands for kind `fixed` with this mean.
    Drawn(&'static [Variant]),
    /// This word, or a table.
    WordOrTable(&'static str, &'static [Key]),
    /// A part of the registry's axis of this name, whose table may have these keys besides the part's parameters.
    Part(&'static str, &'static [Key]),
    /// The tables of `[sweep]`, which are no keys of a run.
    Sweep,
}

impl Kind {
    /// What it takes, for messages.
    pub(crate) const fn expected(&self) -> &'static str {
        match self {
            Self::Text | Self::Word(_) | Self::Quantity(..) => "a text",
            Self::Bool => "true or false",
            Self::Integer(..) => "a whole number",
            Self::Number(..) => "a number",
            Self::List(_) => "a list",
            Self::Table(_) | Self::Variants(_) | Self::Sweep | Self::Part(..) => "a table",
            Self::Drawn(_) => "a quantity, or a table with its kind",
            Self::Tables(_) => "a list of tables",
            Self::WordOrTable(..) => "\"none\" or a table",
        }
    }
}

/// One kind of table.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Its `kind`.
    pub(crate) kind: &'static str,
    /// Its keys besides `kind`.
    pub(crate) keys: &'static [Key],
    /// What it is.
    pub(crate) doc: &'static str,
}

/// The bounds of a quantity, as texts that a message can repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Smallest.
    pub(crate) low: &'static str,
    /// Whether the smallest is itself out of bounds.
    pub(crate) above: bool,
    /// Largest.
    pub(crate) high: &'static str,
}

/// What a key is when the file is silent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fallback {
    /// The key must be given; with an example.
    Required(&'static str),
    /// Nothing, which means this.
    Absent(&'static str),
    /// This text, read as if it stood in the file.
    Text(&'static str),
    /// This number.
    Integer(u64),
    /// This real number.
    Number(f64),
    /// This.
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

/// Most like flows of one entry, and most flows of a scenario.
pub(crate) const MAX_FLOWS: u64 = 2_000_000;
/// Most links of a scenario, each direction counted.
pub(crate) const MAX_LINKS: u64 = 10_000_000;

pub(crate) const fn key(name: &'static str, kind: Kind, fallback: Fallback, doc: &'static str) -> Key {
    Key { name, kind, fallback, doc }
}
