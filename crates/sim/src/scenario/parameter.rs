//! Values of the parameters of parts, as a scenario writes them.

use ackclock_core::params::{Default, Kind, Param, Value};
use ackclock_core::units::Limit;

use crate::scenario::error::Origin;
use crate::scenario::part;
use crate::scenario::text::unknown;
use crate::scenario::unit::{Dimension, Quantity};
use crate::scenario::value::{Data, Node};

/// A limit that is a multiple of the bandwidth-delay product.
#[derive(Clone, Debug)]
pub(crate) struct Multiple {
    /// The parameters that lead to the part inside, from the outermost on, each with the place in its list; empty for a limit of the part
    /// itself.
    pub(crate) path: Vec<(&'static str, usize)>,
    /// The limit.
    pub(crate) param: &'static Param,
    /// How many products.
    pub(crate) multiples: f64,
}

/// Whether `data` leaves the value of `param` to the part.
pub(crate) fn is_auto(param: &Param, data: &Data) -> bool {
    matches!(data, Data::Text(text) if text.trim() == part::AUTO) && param.default == Default::Auto
}

/// The number of bandwidth-delay products, if `data` is a limit in these.
pub(crate) fn products(kind: Kind, data: &Data) -> Result<Option<f64>, String> {
    let (Kind::Limit { .. } | Kind::ByteLimit { .. }, Some(dimension)) = (kind, part::dimension(kind)) else {
        return Ok(None);
    };
    match parse(dimension, data, None)? {
        Quantity::Real(_, multiples) if multiples > 0.0 && multiples <= 1e9 => Ok(Some(multiples)),
        Quantity::Real(..) => Err("a queue limit must be above 0 BDP and at most 1e9 BDP".to_owned()),
        _ => Ok(None),
    }
}

/// Reads the value of the parameter `name` of `kind`, and checks its bounds.
pub(crate) fn read(name: &str, kind: Kind, data: &Data) -> Result<Value, String> {
    let value = match (kind, data) {
        (Kind::Bool, Data::Bool(value)) => Value::Bool(*value),
        (Kind::Word(words), Data::Text(_) | Data::Integer(_)) => {
            let word = Node::new(data.clone()).label();
            if !words.contains(&word.as_str()) {
                return Err(unknown(name, &word, words));
            }
            Value::Word(word)
        }
        (Kind::Text, Data::Text(text)) => {
            let text = text.trim();
            if text.is_empty() || text.len() > MOST_TEXT || text.contains(|char: char| char.is_control() && char != '\n') {
                return Err(format!("must be text of 1 to {MOST_TEXT} bytes, in lines without other control characters"));
            }
            Value::Word(text.to_owned())
        }
        (Kind::Numbers { .. }, Data::List(items)) => {
            let numbers: Result<Vec<f64>, String> = items.iter().map(|item| number(&item.data)).collect();
            let numbers = numbers?;
            numbers.iter().try_for_each(|number| in_bounds(kind, *number))?;
            Value::Numbers(numbers)
        }
        (Kind::Series(of), Data::List(items)) => Value::Series(series(*of, items)?),
        (Kind::Number { .. }, _) | (Kind::Integer { .. }, Data::Integer(_)) => Value::Number(number(data)?),
        (kind, _) => match part::dimension(kind) {
            None => return Err(format!("must be {}, but is {}", expected_param(kind), data.noun())),
            Some(dimension) => {
                let quantity = parse(dimension, data, None)?;
                part::value(kind, quantity).ok_or_else(|| format!("must be {}", expected_param(kind)))?
            }
        },
    };
    match &value {
        Value::Number(number) => in_bounds(kind, *number)?,
        Value::Limit(Limit::Packets(size) | Limit::Bytes(size)) => in_bounds(kind, *size as f64)?,
        _ => {}
    }
    Ok(value)
}

/// The steps of a quantity of the kind `of` that changes in time.
fn series(of: Kind, items: &[Node]) -> Result<Vec<(f64, f64)>, String> {
    let mut steps: Vec<(f64, f64)> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let wrong = |message: String| match item.origin {
            Origin::Row(line) => format!("line {line}: {message}"),
            _ => format!("step {index}: {message}"),
        };
        let Data::List(pair) = &item.data else { return Err(wrong(format!("must be [time, value], but is {}", item.data.noun()))) };
        let [time, value] = &pair[..] else { return Err(wrong(format!("must be [time, value], but has {} entries", pair.len()))) };
        let time = read("time", SERIES_TIME, &time.data).map_err(|message| wrong(format!("its time {message}")))?;
        let value = read("value", of, &value.data).map_err(|message| wrong(format!("its value {message}")))?;
        let (Value::Number(time), Value::Number(value)) = (time, value) else {
            return Err(wrong("must be a time and a number".to_owned()));
        };
        match steps.last() {
            None if time != 0.0 => return Err("must begin at \"0 s\"".to_owned()),
            Some((last, _)) if *last >= time => return Err(wrong("must be later than the step before it".to_owned())),
            _ => steps.push((time, value)),
        }
    }
    if steps.is_empty() { Err("must have at least one step [\"0 s\", value]".to_owned()) } else { Ok(steps) }
}

/// Longest text, in bytes.
const MOST_TEXT: usize = 10_000;

/// How a message about bounds begins.
pub(crate) const BOUNDS: &str = "must be from";

/// The times of a series.
const SERIES_TIME: Kind = Kind::Duration { min: 0.0, max: 1e9 };

/// Checks that a number is within the bounds of a kind of parameter.
pub(crate) fn in_bounds(kind: Kind, number: f64) -> Result<(), String> {
    if kind.bounds().is_none_or(|(low, high)| (low..=high).contains(&number)) {
        return Ok(());
    }
    let (low, high) = part::bounds(kind).unwrap_or_default();
    let unit = match kind {
        Kind::Duration { .. } => " s",
        Kind::Limit { .. } | Kind::ByteLimit { .. } => "",
        Kind::Size { .. } | Kind::WireSize { .. } => " B",
        Kind::Rate { .. } => " bit/s",
        _ => part::unit(kind).unwrap_or_default(),
    };
    let space = if unit.is_empty() || unit.starts_with(' ') { "" } else { " " };
    let large = matches!(kind, Kind::Duration { .. } | Kind::Rate { .. }) && high >= 1e6;
    let high = if large { format!("{high:e}") } else { high.to_string() };
    Err(format!("{BOUNDS} {low} to {high}{space}{unit}"))
}

/// A finite number.
pub(crate) fn number(data: &Data) -> Result<f64, String> {
    match data {
        Data::Integer(number) => Ok(*number as f64),
        Data::Float(number) if number.is_finite() => Ok(*number),
        Data::Float(number) => Err(format!("must be a finite number, but is {number}")),
        other => Err(format!("must be a number, but is {}", other.noun())),
    }
}

/// A quantity of `dimension`; `unit` is the one to suggest.
pub(crate) fn parse(dimension: &'static Dimension, data: &Data, unit: Option<&str>) -> Result<Quantity, String> {
    // A default that is a word suggests no unit.
    let unit = unit.unwrap_or(dimension.unit);
    match data {
        Data::Text(text) => dimension.parse(text, unit),
        Data::Integer(number) => Err(dimension.needs_unit(&number.to_string(), unit)),
        Data::Float(number) => Err(dimension.needs_unit(&number.to_string(), unit)),
        other => Err(format!("must be {} such as \"10 {unit}\", but is {}", dimension.noun, other.noun())),
    }
}

const fn expected_param(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer { .. } => "a whole number",
        Kind::Bool => "true or false",
        Kind::Numbers { .. } => "a list of numbers",
        Kind::Series(_) => "a list of [time, value]",
        Kind::Word(_) | Kind::Text => "a text",
        _ => "a number with its unit",
    }
}

#[cfg(test)]
#[path = "parameter_tests.rs"]
mod tests;
