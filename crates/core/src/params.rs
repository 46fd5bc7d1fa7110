//! Parameters of parts and models: kinds, defaults and values.

use crate::units::Limit;

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
    /// A list of values of this numeric kind.
    List(&'static Kind),
    /// One of these words.
    Word(&'static [&'static str]),
    /// The capacity of a queue: "50 packets", "64 kB" or "1 BDP", which is converted to packets.
    Limit { min: f64, max: f64 },
    /// The capacity of a queue that may count bytes: "1 BDP" is converted to bytes.
    ByteLimit { min: f64, max: f64 },
}

impl Kind {
    /// The smallest and the largest allowed number, both inclusive; `None` for kinds that are not numeric.
    pub const fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Self::Bool | Self::Word(_) => None,
            Self::List(kind) => kind.bounds(),
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

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`] and [`Kind::List`].
    Numbers(Vec<f64>),
    /// For [`Kind::Word`].
    Word(String),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// The part computes the value; only for parameters with this default.
    Auto,
}

/// The default of a parameter, as a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`] and [`Kind::List`].
    Numbers(&'static [f64]),
    /// For [`Kind::Word`].
    Word(&'static str),
    /// For [`Kind::Limit`].
    Limit(Limit),
    /// For [`Kind::Bool`].
    Bool(bool),
    /// For any kind: the part computes the value. A scenario writes "auto".
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
    /// Key in a scenario.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Value if a scenario does not set it.
    pub default: Default,
    /// Meaning and source of the default, in one line.
    pub doc: &'static str,
}

/// Values of all parameters of a part, in the order of declaration.
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
    /// If `name` is not declared. The caller checks names against the registry, so this is a broken invariant.
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
    /// If `name` is not declared or is not a number: a fault of the part, found by the tests of all parts.
    pub fn number(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Number(number) => *number,
            other => panic!("parameter {name} is not a number but {other:?}"),
        }
    }

    /// The number `name`, or `None` if the part computes it.
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
            other => panic!("parameter {name} is not a list but {other:?}"),
        }
    }

    /// The queue capacity `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn limit(&self, name: &str) -> Limit {
        match self.get(name) {
            Value::Limit(limit) => *limit,
            other => panic!("parameter {name} is not a queue limit but {other:?}"),
        }
    }

    /// The queue capacity `name`, or `None` if the part computes it.
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
            other => panic!("parameter {name} is not a word but {other:?}"),
        }
    }
}
