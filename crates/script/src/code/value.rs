//! Values of expressions, and what operators and functions make of them. Numbers behave as Python's do.

use std::cmp::Ordering;
use std::fmt;

use super::operator::{Binary, Comparison, Unary};

/// The functions of expressions.
pub const FUNCTIONS: [&str; 9] = ["abs", "bool", "float", "int", "len", "max", "min", "round", "str"];

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list or tuple.
    List(Vec<Value>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::quoted).collect();
                write!(f, "[{}]", items.join(", "))
            }
        }
    }
}

impl Value {
    /// Whether the value counts as true.
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Integer(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
        }
    }

    /// The value as a program would write it.
    pub(super) fn quoted(&self) -> String {
        if let Self::Text(text) = self { format!("'{text}'") } else { self.to_string() }
    }

    /// The value as a whole number.
    pub(super) fn integer(&self) -> Result<i64, String> {
        match self {
            Self::Integer(number) => Ok(*number),
            Self::Bool(value) => Ok(i64::from(*value)),
            _ => Err(format!("{} is not a whole number", self.quoted())),
        }
    }

    /// The value as a real number.
    pub(super) fn float(&self) -> Result<f64, String> {
        match self {
            Self::Float(number) => Ok(*number),
            Self::Integer(_) | Self::Bool(_) => Ok(self.integer()? as f64),
            _ => Err(format!("{} is not a number", self.quoted())),
        }
    }

    fn is_integer(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Bool(_))
    }

    fn order(&self, other: &Self) -> Result<Option<Ordering>, String> {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => Ok(Some(left.cmp(right))),
            _ if self.is_integer() && other.is_integer() => Ok(Some(self.integer()?.cmp(&other.integer()?))),
            _ => Ok(self.float()?.partial_cmp(&other.float()?)),
        }
    }

    fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left.equals(right))
            }
            _ => matches!(self.order(other), Ok(Some(Ordering::Equal))),
        }
    }
}

/// The result of an operator before its operand.
pub(super) fn unary(operator: Unary, value: &Value) -> Result<Value, String> {
    Ok(match (operator, value) {
        (Unary::Not, _) => Value::Bool(!value.truth()),
        (Unary::Minus, Value::Float(number)) => Value::Float(-number),
        (Unary::Plus, Value::Float(number)) => Value::Float(*number),
        (Unary::Minus, _) => Value::Integer(value.integer()?.checked_neg().ok_or(LARGE)?),
        (Unary::Plus, _) => Value::Integer(value.integer()?),
        (Unary::Complement, _) => Value::Integer(!value.integer()?),
    })
}

const LARGE: &str = "the result has more than 64 bits";
const ZERO: &str = "division by zero";

/// The result of an operator.
pub(super) fn binary(operator: Binary, left: &Value, right: &Value) -> Result<Value, String> {
    match (operator, left, right) {
        (Binary::Modulo, Value::Text(text), values) => return Ok(Value::Text(percent(text, values)?)),
        (Binary::Add, Value::Text(left), Value::Text(right)) => return Ok(Value::Text(format!("{left}{right}"))),
        (Binary::Add, Value::List(left), Value::List(right)) => return Ok(Value::List([left.as_slice(), right].concat())),
        _ => {}
    }
    let whole = left.is_integer() && right.is_integer();
    let bits = matches!(operator, Binary::Or | Binary::Xor | Binary::And | Binary::ShiftLeft | Binary::ShiftRight);
    if bits || whole && operator != Binary::Divide {
        whole_numbers(operator, left.integer()?, right.integer()?)
    } else {
        real_numbers(operator, left.float()?, right.float()?)
    }
}

fn whole_numbers(operator: Binary, left: i64, right: i64) -> Result<Value, String> {
    let shift = || u32::try_from(right).ok().filter(|bits| *bits < 63);
    let number = match operator {
        Binary::Or => Some(left | right),
        Binary::Xor => Some(left ^ right),
        Binary::And => Some(left & right),
        Binary::ShiftLeft => shift().and_then(|bits| left.checked_mul(1 << bits)),
        Binary::ShiftRight => shift().map(|bits| left >> bits),
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::FloorDivide | Binary::Modulo | Binary::Divide if right == 0 => return Err(ZERO.to_owned()),
        Binary::Divide => return Ok(Value::Float(left as f64 / right as f64)),
        Binary::FloorDivide => left.checked_div(right).map(|quotient| quotient - i64::from(left % right != 0 && (left < 0) != (right < 0))),
        Binary::Modulo => left.checked_rem(right).map(|rest| if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }),
        Binary::Power => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent),
            Err(_) => return real_numbers(operator, left as f64, right as f64),
        },
    };
    number.map(Value::Integer).ok_or_else(|| LARGE.to_owned())
}

fn real_numbers(operator: Binary, left: f64, right: f64) -> Result<Value, String> {
    let divides = matches!(operator, Binary::Divide | Binary::FloorDivide | Binary::Modulo);
    if divides && right == 0.0 {
        return Err(ZERO.to_owned());
    }
    Ok(Value::Float(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide => left / right,
        Binary::FloorDivide => (left / right).floor(),
        Binary::Modulo => left - right * (left / right).floor(),
        Binary::Power => left.powf(right),
        _ => return Err("this operator needs whole numbers".to_owned()),
    }))
}

/// Whether a comparison holds.
pub(super) fn compare(comparison: Comparison, left: &Value, right: &Value) -> Result<bool, String> {
    let contains = || match (left, right) {
        (_, Value::List(items)) => Ok(items.iter().any(|item| item.equals(left))),
        (Value::Text(part), Value::Text(text)) => Ok(text.contains(part.as_str())),
        _ => Err(format!("`in` needs a list, not {}", right.quoted())),
    };
    Ok(match comparison {
        Comparison::Equal => left.equals(right),
        Comparison::NotEqual => !left.equals(right),
        Comparison::In => contains()?,
        Comparison::NotIn => !contains()?,
        Comparison::Less => left.order(right)? == Some(Ordering::Less),
        Comparison::Greater => left.order(right)? == Some(Ordering::Greater),
        Comparison::LessOrEqual => matches!(left.order(right)?, Some(Ordering::Less | Ordering::Equal)),
        Comparison::GreaterOrEqual => matches!(left.order(right)?, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// The result of a function.
pub(super) fn function(name: &str, mut arguments: Vec<Value>) -> Result<Value, String> {
    if let ("min" | "max", [Value::List(items)]) = (name, arguments.as_slice()) {
        arguments = items.clone();
    }
    match (name, arguments.as_slice()) {
        ("min" | "max", [first, rest @ ..]) => {
            let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
            let mut best = first;
            for item in rest {
                if item.order(best)? == Some(wanted) {
                    best = item;
                }
            }
            Ok(best.clone())
        }
        ("abs", [Value::Float(number)]) => Ok(Value::Float(number.abs())),
        ("abs", [value]) => Ok(Value::Integer(value.integer()?.checked_abs().ok_or(LARGE)?)),
        ("len", [Value::Text(text)]) => Ok(Value::Integer(text.chars().count().cast_signed() as i64)),
        ("len", [Value::List(items)]) => Ok(Value::Integer(items.len().cast_signed() as i64)),
        ("int", [Value::Float(number)]) => Ok(Value::Integer(number.trunc() as i64)),
        ("round", [Value::Float(number)]) => Ok(Value::Integer(number.round_ties_even() as i64)),
        ("int" | "round", [value]) => Ok(Value::Integer(value.integer()?)),
        ("float", [value]) => Ok(Value::Float(value.float()?)),
        ("bool", [value]) => Ok(Value::Bool(value.truth())),
        ("str", [value]) => Ok(Value::Text(value.to_string())),
        _ => Err(format!("the function `{name}` does not take these arguments")),
    }
}

/// Puts values into a text with `%d`, `%s` and others.
fn percent(text: &str, values: &Value) -> Result<String, String> {
    let values = match values {
        Value::List(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut values = values.iter();
    let mut out = String::new();
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once('%') {
        out.push_str(plain);
        let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != '.').ok_or("the format ends after `%`")?;
        let letter = after[end..].chars().next().unwrap_or('%');
        rest = &after[end + letter.len_utf8()..];
        if letter == '%' {
            out.push('%');
            continue;
        }
        let value = values.next().ok_or("the format needs more values")?;
        let decimals = after[..end].split_once('.').and_then(|(_, decimals)| decimals.parse().ok()).unwrap_or(6_usize).min(100);
        let shown = match (letter, value) {
            ('s', value) => value.to_string(),
            ('r', value) => value.quoted(),
            ('d' | 'i' | 'u', Value::Float(number)) => number.trunc().to_string(),
            ('d' | 'i' | 'u', value) => value.integer()?.to_string(),
            ('x', value) => format!("{:x}", value.integer()?),
            ('X', value) => format!("{:X}", value.integer()?),
            ('f' | 'F', value) => format!("{:.decimals$}", value.float()?),
            _ => return Err(format!("the format `%{letter}` is unknown")),
        };
        out.push_str(&shown);
    }
    if values.next().is_some() {
        return Err("the format has fewer places than values".to_owned());
    }
    out.push_str(rest);
    Ok(out)
}
