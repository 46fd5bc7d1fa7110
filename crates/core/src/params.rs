//! Parameters of parts and models: their kinds, defaults and values.

use crate::units::Limit;

/// The values that a parameter takes, and their unit. `min` and `max` are the smallest and the largest number allowed, both included, in
/// the unit with which the part is built.
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
    /// A time; built with seconds.
    Duration { min: f64, max: f64 },
    /// An amount of data; built with bytes.
    Size { min: f64, max: f64 },
    /// A data rate; built with bits per second.
    Rate { min: f64, max: f64 },
    /// A probability; built with 0 to 1, written in percent.
    Probability { min: f64, max: f64 },
    /// Real numbers, in rising or falling order or none, as the parameter says.
    Numbers { min: f64, max: f64 },
    /// One of these words.
    Word(&'static [&'static str]),
    /// The capacity of a queue: "50 packets", "64 kB", "1 BDP", the last turned into packets.
    Limit { min: f64, max: f64 },
    /// The same, with "1 BDP" turned into bytes, for a part that may count bytes.
    ByteLimit { min: f64, max: f64 },
}

impl Kind {
    /// The smallest and the largest number allowed, both included; `None` for kinds that are no numbers.
    pub const fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Bool | Self::Word(_) => None,
            Self::Segments { min, max }
            | Self::Number { min, max }
            | Self::Integer { min, max }
            | Self::Duration { min, max }
            | Self::Size { min, max }
            | Self::Rate { min, max }
            | Self::Probability { min, max }
            | Self::Numbers { min, max }
            | Self::Limit { min, max }
            | Self::ByteLimit { min, max } => Some((min, max)),
        }
    }
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`].
    Numbers(Vec<f64>),
    /// For [`Kind::Word`].
    Word(String),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// The part computes it; only for parameters whose default this is.
    Auto,
}

/// The default of a parameter, as a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`].
    Numbers(&'static [f64]),
    /// For [`Kind::Word`].
    Word(&'static str),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// For any kind: the part computes it. A scenario writes "auto".
    Auto,
}

impl Default {
    /// The default as a value.
    pub fn value(&self) -> Value {
        match *self {
            Self::Number(number) => Value::Number(number),
            Self::Numbers(numbers) => Value::Numbers(numbers.to_vec()),
            Self::Word(word) => Value::Word(word.to_owned()),
            Self::Limit(limit) => Value::Limit(limit),
            Self::Bool(value) => Value::Bool(value),
            Self::Auto => Value::Auto,
        }
    }
}

/// One parameter of a part.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key in a scenario.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is when a scenario is silent.
    pub default: Default,
    /// What it means and where the default comes from: one line.
    pub doc: &'static str,
}

/// Values for all parameters of a part, in the order of its declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(pub Vec<(&'static str, Value)>);

impl Params {
    /// The defaults of `declared`.
    pub fn defaults(declared: &[Param]) -> Self {
        Self(declared.iter().map(|param| (param.name, param.default.value())).collect())
    }

    /// Sets a declared parameter.
    ///
    /// # Panics
    /// If `name` is not declared: a broken invariant of the caller, which checks names against the registry.
    pub fn set(&mut self, name: &str, value: Value) {
        let slot = self.0.iter_mut().find(|(key, _)| *key == name);
        slot.unwrap_or_else(|| panic!("parameter {name} is not declared")).1 = value;
    }

    fn get(&self, name: &str) -> &Value {
        let found = self.0.iter().find(|(key, _)| *key == name);
        &found.unwrap_or_else(|| panic!("parameter {name} is not declared")).1
    }

    /// The number `name`.
    ///
    /// # Panics
    /// If `name` is not declared or not a number: a mistake in a part, found by the tests every part gets.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(number) => *number,
            other => panic!("parameter {name} is no number but {other:?}"),
        }
    }

    /// The number `name`, unless the part shall compute it.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn number_or_auto(&self, name: &str) -> Option<f64> {
        if *self.get(name) == Value::Auto { None } else { Some(self.number(name)) }
    }

    /// Whether `name` is true.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Bool(value) => *value,
            other => panic!("parameter {name} is neither true nor false but {other:?}"),
        }
    }

    /// The numbers `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Value::Numbers(numbers) => numbers,
            other => panic!("parameter {name} is no list but {other:?}"),
        }
    }

    /// The queue capacity `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn limit(&self, name: &str) -> Limit {
        match self.get(name) {
            Value::Limit(limit) => *limit,
            other => panic!("parameter {name} is no queue limit but {other:?}"),
        }
    }

    /// The queue capacity `name`, unless the part shall compute it.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn limit_or_auto(&self, name: &str) -> Option<Limit> {
        if *self.get(name) == Value::Auto { None } else { Some(self.limit(name)) }
    }

    /// The word `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Word(word) => word,
            other => panic!("parameter {name} is no word but {other:?}"),
        }
    }
}
