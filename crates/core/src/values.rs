//! Values of the parameters of parts and models.

use crate::units::Limit;

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// For every numeric kind.
    Number(f64),
    /// For [`Kind::Numbers`](crate::params::Kind::Numbers).
    Numbers(Vec<f64>),
    /// For [`Kind::Word`](crate::params::Kind::Word) and [`Kind::Text`](crate::params::Kind::Text).
    Word(String),
    /// For [`Kind::Limit`](crate::params::Kind::Limit).
    Limit(Limit),
    /// For [`Kind::Bool`](crate::params::Kind::Bool).
    Bool(bool),
    /// For [`Kind::Series`](crate::params::Kind::Series): times in seconds, and values.
    Series(Vec<(f64, f64)>),
    /// For [`Kind::Part`](crate::params::Kind::Part).
    Part(PartSpec),
    /// For [`Kind::Parts`](crate::params::Kind::Parts).
    Parts(Vec<PartSpec>),
    /// The part computes the value, or does without a part; only for parameters with this default.
    Auto,
}

/// A part of the registry with its parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartSpec {
    /// Its name in the registry.
    pub name: &'static str,
    /// Values of all its parameters.
    pub params: Params,
}

impl PartSpec {
    /// The part `name` with these parameters.
    pub const fn new(name: &'static str, params: Params) -> Self {
        Self { name, params }
    }
}

/// Values of all parameters of a part, in the order of declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(pub Vec<(&'static str, Value)>);

impl Params {
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

    /// The word or text `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Word(word) => word,
            other => panic!("parameter {name} is not a word but {other:?}"),
        }
    }

    /// The steps of `name`: times in seconds, and values.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn series(&self, name: &str) -> &[(f64, f64)] {
        match self.get(name) {
            Value::Series(steps) => steps,
            other => panic!("parameter {name} is not a series but {other:?}"),
        }
    }

    /// The part `name`, or `None` for "auto".
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn part(&self, name: &str) -> Option<&PartSpec> {
        match self.get(name) {
            Value::Part(part) => Some(part),
            Value::Auto => None,
            other => panic!("parameter {name} is not a part but {other:?}"),
        }
    }

    /// The parts in the list `name`.
    ///
    /// # Panics
    /// As [`Params::number`].
    pub fn parts(&self, name: &str) -> &[PartSpec] {
        match self.get(name) {
            Value::Parts(parts) => parts,
            other => panic!("parameter {name} is not a list of parts but {other:?}"),
        }
    }

    /// The part `name`, or the one at `index` in the list `name`, to change its parameters.
    pub fn part_mut(&mut self, name: &str, index: usize) -> Option<&mut PartSpec> {
        let (_, value) = self.0.iter_mut().find(|(key, _)| *key == name)?;
        match value {
            Value::Part(part) => Some(part),
            Value::Parts(parts) => parts.get_mut(index),
            _ => None,
        }
    }
}
