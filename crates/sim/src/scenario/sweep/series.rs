//! Values for one key: a list, a range of whole numbers, or a linear or logarithmic range.

use std::sync::Arc;

use crate::scenario::error::{Origin, Problems};
use crate::scenario::setting::Setting;
use crate::scenario::sweep::span::Span;
use crate::scenario::text::unknown;
use crate::scenario::value::{Data, Node};

/// Largest number of variants of a sweep.
pub(crate) const MAX_VARIANTS: usize = 1_000_000;

/// The values of one key. A range makes them on demand.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// Path of the key.
    pub(crate) path: String,
    /// Where the values were written.
    pub(crate) origin: Origin,
    values: Values,
}

#[derive(Clone, Debug)]
enum Values {
    List(Vec<Arc<Setting>>),
    Whole { from: i64, step: i64, count: usize },
    Span(Span, usize),
}

/// Keys of a range.
const RANGE: [&str; 5] = ["from", "to", "step", "count", "scale"];

impl Series {
    /// Reads the values of the key `path`, a list or a range.
    pub(crate) fn read(path: &str, node: &Node) -> Result<Self, String> {
        let values = match &node.data {
            Data::List(items) => Values::List(settings(path, items)),
            Data::Table(_) if is_range(node) => range(node)?,
            other => {
                let forms = "must be a list of values or a range { from = 1, to = 30 }";
                return Err(format!("{forms}, but is {}", other.noun()));
            }
        };
        Ok(Self { path: path.to_owned(), origin: node.origin.clone(), values })
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::List(values) => values.len(),
            Values::Whole { count, .. } | Values::Span(_, count) => *count,
        }
    }

    /// The value `index`.
    pub(crate) fn get(&self, index: usize) -> Arc<Setting> {
        let data = match &self.values {
            Values::List(values) => return Arc::clone(&values[index]),
            Values::Whole { from, step, .. } => Data::Integer(i128::from(*from) + i128::from(*step) * index as i128),
            Values::Span(span, count) => span.at(index as f64 / (count - 1) as f64),
        };
        Arc::new(Setting { path: self.path.clone(), value: Node { origin: self.origin.clone(), data } })
    }

    /// A label that two values share, if there is one.
    pub(crate) fn repeated(&self) -> Option<String> {
        match &self.values {
            Values::Whole { .. } => None,
            Values::List(values) => repeated(values.iter().map(|setting| setting.value.label()).collect()),
            // A range increases, so equal values are neighbours.
            Values::Span(..) => {
                let mut labels = (0..self.len()).map(|index| self.get(index).value.label());
                let mut last = labels.next();
                labels.find_map(|label| last.replace(label.clone()).filter(|last| *last == label))
            }
        }
    }
}

/// A label that is in the list twice.
pub(crate) fn repeated(mut labels: Vec<String>) -> Option<String> {
    labels.sort_unstable();
    labels.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

/// The items of a list as values of the key `path`.
pub(crate) fn settings(path: &str, items: &[Node]) -> Vec<Arc<Setting>> {
    items.iter().map(|item| Arc::new(Setting { path: path.to_owned(), value: item.clone() })).collect()
}

/// Whether a table is a range: one of its keys is that of a range, with a single value.
pub(crate) fn is_range(node: &Node) -> bool {
    RANGE.iter().filter_map(|key| node.get(key)).any(|node| !matches!(node.data, Data::Table(_) | Data::List(_)))
}

/// Checks that a range has only the keys `known`.
pub(crate) fn check_keys(node: &Node, known: &[&str]) -> Result<(), String> {
    let Data::Table(entries) = &node.data else { return Ok(()) };
    entries.iter().map(|(key, _)| key.as_str()).find(|key| !known.contains(key)).map_or(Ok(()), |key| Err(unknown("key", key, known)))
}

/// The whole number of the key in the table `node` at `path`, with its bounds and default; `None` if it is wrong and reported.
pub(crate) fn whole(
    node: &Node,
    path: &str,
    (key, low, high, absent): (&str, u64, u64, Option<u64>),
    problems: &mut Problems,
) -> Option<u64> {
    let mut refuse = |origin, message: String| problems.add(origin, format!("{path}.{key}"), message);
    let Some(value) = node.get(key) else {
        if absent.is_none() {
            refuse(&node.origin, format!("is missing; example: {key} = 256"));
        }
        return absent;
    };
    let number = if let Data::Integer(number) = value.data { u64::try_from(number).ok() } else { None };
    let found = number.filter(|number| (low..=high).contains(number));
    if found.is_none() {
        refuse(&value.origin, format!("must be a whole number from {low} to {high}, but is {}", value.data.noun()));
    }
    found
}

fn range(node: &Node) -> Result<Values, String> {
    check_keys(node, &RANGE)?;
    if let Some(count) = node.get("count") {
        if node.get("step").is_some() {
            return Err("count and step exclude each other".to_owned());
        }
        let Some(count) = (if let Data::Integer(count) = count.data { usize::try_from(count).ok() } else { None }) else {
            return Err(format!("count must be a whole number, but is {}", count.data.noun()));
        };
        if !(2..=MAX_VARIANTS).contains(&count) {
            return Err(format!("count must be from 2 to {MAX_VARIANTS}, but is {count}"));
        }
        return Ok(Values::Span(Span::read(node, count)?, count));
    }
    if node.get("scale").is_some()
        || ["from", "to"].iter().any(|key| matches!(node.get(key).map(|end| &end.data), Some(Data::Text(_) | Data::Float(_))))
    {
        let example = "{ from = \"1 Mbit/s\", to = \"1 Gbit/s\", count = 7, scale = \"log\" }";
        return Err(format!("this range needs count, its number of values: {example}"));
    }
    let number = |key| match node.get(key).map(|node| &node.data) {
        Some(Data::Integer(number)) => i64::try_from(*number).ok(),
        None if key == "step" => Some(1),
        _ => None,
    };
    let (Some(from), Some(to), Some(step)) = (number("from"), number("to"), number("step")) else {
        return Err("a range needs whole numbers: { from = 1, to = 30 }".to_owned());
    };
    if step < 1 || to < from {
        return Err("a range must increase: from ≤ to, step ≥ 1".to_owned());
    }
    let steps = (i128::from(to) - i128::from(from)) / i128::from(step);
    match usize::try_from(steps) {
        Ok(steps) if steps < MAX_VARIANTS => Ok(Values::Whole { from, step, count: steps + 1 }),
        _ => Err(format!("has more than {MAX_VARIANTS} values")),
    }
}
