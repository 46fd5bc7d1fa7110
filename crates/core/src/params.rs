//! Declarations: the parameters and quantities of parts and models, the descriptions of parts, and the axes.
//!
//! They are in one file because they contain one another: an axis has parts, a part has parameters.

use std::fmt;

use crate::units::Limit;
pub use crate::values::{Params, PartSpec, Value};

/// The values and the unit of a parameter. `min` and `max` are the smallest and the largest allowed number, both inclusive, in the unit
/// that the part receives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "`min` and `max` mean the same in every variant")]
pub enum Kind {
    /// A real number of segments.
    Segments { min: f64, max: f64 },
    /// A plain real number.
    Number { min: f64, max: f64 },
    /// A whole number.
    Integer { min: f64, max: f64 },
    /// `true` or `false`.
    Bool,
    /// A time; the part receives seconds.
    Duration { min: f64, max: f64 },
    /// An amount of data; the part receives bytes.
    Size { min: f64, max: f64 },
    /// The size of a packet on the wire, headers included; the part receives bytes.
    WireSize { min: f64, max: f64 },
    /// A data rate; the part receives bits per second.
    Rate { min: f64, max: f64 },
    /// A probability; written in percent, the part receives 0 to 1.
    Probability { min: f64, max: f64 },
    /// A list of real numbers; the parameter defines whether their order matters.
    Numbers { min: f64, max: f64 },
    /// One of these words.
    Word(&'static [&'static str]),
    /// A line of text.
    Text,
    /// The capacity of a queue: "50 packets", "64 kB" or "1 BDP", which is converted to packets.
    Limit { min: f64, max: f64 },
    /// The capacity of a queue that may count bytes: "1 BDP" is converted to bytes.
    ByteLimit { min: f64, max: f64 },
    /// A quantity of this kind that changes in time: a list of [time, value], from 0 s on, in the order of time.
    Series(&'static Self),
    /// A part of this axis. The parameter has the axis's key as its name.
    Part(&'static Axis),
    /// A list of parts of this axis. The parameter has the axis's key as its name.
    Parts(&'static Axis),
}

impl Kind {
    /// The smallest and the largest allowed number, both inclusive; `None` for kinds that are not numeric.
    pub const fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Bool | Self::Word(_) | Self::Text | Self::Part(_) | Self::Parts(_) => None,
            Self::Series(kind) => kind.bounds(),
            Self::Segments { min, max }
            | Self::Number { min, max }
            | Self::Integer { min, max }
            | Self::Duration { min, max }
            | Self::Size { min, max }
            | Self::WireSize { min, max }
            | Self::Rate { min, max }
            | Self::Probability { min, max }
            | Self::Numbers { min, max }
            | Self::Limit { min, max }
            | Self::ByteLimit { min, max } => Some((min, max)),
        }
    }
}

/// The default of a parameter, as a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`].
    Numbers(&'static [f64]),
    /// For [`Kind::Word`] and [`Kind::Text`].
    Word(&'static str),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// For [`Kind::Series`]: times in seconds, and values.
    Series(&'static [(f64, f64)]),
    /// For [`Kind::Part`]: the part of this name with its defaults.
    Part(&'static str),
    /// For [`Kind::Parts`]: the parts of these names with their defaults.
    Parts(&'static [&'static str]),
    /// For any kind: the part computes the value, or does without a part. A scenario writes "auto".
    Auto,
}

/// One parameter of a part.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key in a scenario.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Value if a scenario does not set it.
    pub default: Default,
    /// Meaning and source of the default, in one line.
    pub doc: &'static str,
}

impl Param {
    /// The default as a value.
    pub fn usual(&self) -> Value {
        match (self.default, self.kind) {
            (Default::Number(number), _) => Value::Number(number),
            (Default::Numbers(numbers), _) => Value::Numbers(numbers.to_vec()),
            (Default::Word(word), _) => Value::Word(word.to_owned()),
            (Default::Limit(limit), _) => Value::Limit(limit),
            (Default::Bool(value), _) => Value::Bool(value),
            (Default::Series(steps), _) => Value::Series(steps.to_vec()),
            (Default::Part(name), Kind::Part(axis)) => Value::Part(axis.spec(name)),
            (Default::Parts(names), Kind::Parts(axis)) => Value::Parts(names.iter().map(|name| axis.spec(name)).collect()),
            (Default::Part(_) | Default::Parts(_) | Default::Auto, _) => Value::Auto,
        }
    }
}

impl Params {
    /// The defaults of `declared`.
    pub fn defaults(declared: &[Param]) -> Self {
        Self(declared.iter().map(|param| (param.name, param.usual())).collect())
    }
}

/// A number that a part reports in traces, or that a model returns: the declaration of its column or row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name.
    pub name: &'static str,
    /// Unit as people write it; empty for a plain number.
    pub unit: &'static str,
    /// Meaning, in one line.
    pub doc: &'static str,
    /// Label of the axis besides the unit. Quantities with the same label share a panel; with an empty label a quantity has its own.
    pub axis: &'static str,
}

/// Declares a quantity.
pub const fn quantity(name: &'static str, unit: &'static str, doc: &'static str) -> Quantity {
    Quantity { name, unit, doc, axis: "" }
}

impl Quantity {
    /// The same quantity on a shared axis.
    #[must_use]
    pub const fn on(self, axis: &'static str) -> Self {
        Self { axis, ..self }
    }
}

/// The fields common to the entries of all axes, for listings, documentation and validation.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Name in a scenario.
    pub name: &'static str,
    /// Summary, in one line.
    pub summary: &'static str,
    /// Paper or RFC that describes it.
    pub reference: &'static str,
    /// Parameters.
    pub params: &'static [Param],
    /// Quantities that a part reports in traces, or that a model returns.
    pub quantities: &'static [Quantity],
    /// Opening comment of the file; the source of its page.
    pub header: &'static str,
}

/// An axis: a kind of part, of which a scenario selects one by the axis's key.
///
/// Each axis is declared beside its parts. The lists of axes make it a key with a schema, a listing, reference pages and tests.
pub struct Axis {
    /// Key in a scenario, and name in listings.
    pub name: &'static str,
    /// Noun for one of its parts, for messages.
    pub noun: &'static str,
    /// A quantity alone stands for this part with this parameter.
    pub shorthand: Option<(&'static str, &'static str)>,
    /// The word for no part.
    pub none: Option<&'static str>,
    /// The words for what the registry does not hold: objects of a program, or the hosts of a kernel.
    pub objects: &'static [&'static str],
    /// The part of a table without `kind`.
    pub usual: &'static str,
    /// Path of the module whose files are its parts.
    pub module: &'static str,
    /// Lists the parts, in the order of listings; a program can join more of them.
    pub list: fn() -> &'static [Description],
    /// Checks the conditions beyond the bounds of single parameters: builds the part of this name, and drops it.
    pub build: fn(&str, &Params) -> Result<(), String>,
}

impl fmt::Debug for Axis {
    /// The name alone: parameters of its parts can hold the axis again.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Axis({})", self.name)
    }
}

impl PartialEq for Axis {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Axis {
    /// The parts, in the order of listings.
    pub fn parts(&self) -> &'static [Description] {
        (self.list)()
    }

    /// The part `name`.
    pub fn part(&self, name: &str) -> Option<&'static Description> {
        self.parts().iter().find(|part| part.name == name)
    }

    /// The part `name` with its defaults; a name without a part has no parameters.
    pub fn spec(&self, name: &'static str) -> PartSpec {
        PartSpec { name, params: Params::defaults(self.part(name).map_or(&[], |part| part.params)) }
    }

    /// All valid words: the parts, and the words for none and for what the registry does not hold.
    pub fn words(&self) -> Vec<&'static str> {
        self.parts().iter().map(|part| part.name).chain(self.none).chain(self.objects.iter().copied()).collect()
    }
}
