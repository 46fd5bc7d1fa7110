//! Spans: all values between two ends with a common unit, evenly or logarithmically. Ranges take points of a span, samples draw from it.

use crate::scenario::text::{quoted, unknown};
use crate::scenario::unit::{Decimal, Measure, Unit, find_unit};
use crate::scenario::value::{Data, Node};

/// Significant digits of a value between the ends, unless more are needed to tell neighbours apart.
const DIGITS: i32 = 6;

/// Largest whole number that a double represents exactly, with all smaller ones.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The values between two ends.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    /// The ends, in the unit of the first.
    low: f64,
    high: f64,
    /// The ends as values of a key.
    ends: (Data, Data),
    /// Unit of the first end.
    unit: Option<Unit>,
    /// Whether only whole numbers are values.
    whole: bool,
    /// Whether the values spread evenly on a logarithmic scale.
    log: bool,
    /// Significant digits of the values.
    digits: i32,
}

/// One end as written.
struct End {
    number: Decimal,
    unit: Option<Unit>,
    /// Whether the number has no point and no exponent.
    whole: bool,
}

impl Span {
    /// Reads `from`, `to` and `scale` of the table `node`.
    pub(crate) fn read(node: &Node, count: usize) -> Result<Self, String> {
        let log = match node.get("scale").map(|scale| &scale.data) {
            None => false,
            Some(Data::Text(word)) if word == "linear" => false,
            Some(Data::Text(word)) if word == "log" => true,
            Some(Data::Text(word)) => return Err(unknown("scale", word, &["linear", "log"])),
            Some(other) => return Err(format!("scale must be \"linear\" or \"log\", but is {}", other.noun())),
        };
        let (from, to) = (End::read(node, "from")?, End::read(node, "to")?);
        let known = |end: &End| end.unit.map_or_else(|| "has no unit".to_owned(), |(name, ..)| format!("has the unit {name:?}"));
        let (low_factor, high_factor) = match (from.unit, to.unit) {
            (None, None) => (1, 1),
            (Some((_, low, low_factor)), Some((_, high, high_factor))) if low == high => (low_factor, high_factor),
            _ => return Err(format!("from and to must have units of one kind, but from {} and to {}", known(&from), known(&to))),
        };
        let whole = from.whole && to.whole && from.unit.is_none_or(|(_, measure, _)| measure == Measure::Packets)
            || from.unit.is_some_and(|(_, measure, factor)| measure == Measure::Bytes && (factor == 1 || factor % 1000 != 0));
        // The last value is written as in the file if the unit of `from` cannot express it exactly.
        let rescaled = to.number.rescaled(high_factor, low_factor);
        let high = rescaled.map_or_else(|| to.number.value() * high_factor as f64 / low_factor as f64, Decimal::value);
        let low = from.number.value();
        if !(low.is_finite() && high.is_finite() && low < high) {
            return Err("a range must increase: from < to".to_owned());
        }
        if log && low <= 0.0 {
            return Err("a logarithmic range must begin above 0".to_owned());
        }
        if whole && (low.abs() > MAX_WHOLE || high.abs() > MAX_WHOLE) {
            return Err(format!("a range of whole numbers must stay within ±{MAX_WHOLE}"));
        }
        let written = |key: &str| node.get(key).map_or(Data::Bool(false), |end| end.data.clone());
        let last = match (from.unit, rescaled.and_then(Decimal::plain)) {
            (Some((unit, ..)), Some(number)) => Data::Text(format!("{number} {}", plural(unit))),
            _ => written("to"),
        };
        // A tenth of the distance between neighbours is still visible, whatever their number.
        let digits = DIGITS.max(2 + (count as f64).log10().ceil() as i32);
        Ok(Self { low, high, ends: (written("from"), last), unit: from.unit, whole, log, digits })
    }

    /// The value at a fraction of the way from the first end, 0, to the last, 1.
    pub(crate) fn at(&self, fraction: f64) -> Data {
        let value =
            if self.log { self.low * libm::pow(self.high / self.low, fraction) } else { self.low + (self.high - self.low) * fraction };
        self.write(value)
    }

    /// The value below which the share `share` of the span's distribution lies: uniform, or log-uniform. Whole numbers are equally likely.
    pub(crate) fn quantile(&self, share: f64) -> Data {
        if !self.whole {
            return self.at(share);
        }
        let above = self.high + 1.0;
        let value = if self.log { self.low * libm::pow(above / self.low, share) } else { self.low + (above - self.low) * share };
        self.write(value.floor())
    }

    /// `value` in the span's unit.
    fn write(&self, value: f64) -> Data {
        let number = self.rounded(value);
        let rounded: f64 = number.parse().unwrap_or(value);
        if rounded <= self.low {
            return self.ends.0.clone();
        }
        if rounded >= self.high {
            return self.ends.1.clone();
        }
        match self.unit {
            Some((unit, ..)) => Data::Text(format!("{number} {}", plural(unit))),
            None if self.whole => Data::Integer(rounded as i128),
            None => Data::Float(rounded),
        }
    }

    /// `value` in plain digits.
    fn rounded(&self, value: f64) -> String {
        if self.whole {
            return format!("{:.0}", value.round());
        }
        let magnitude = |value: f64| libm::floor(libm::log10(value.abs())) as i32;
        let of_span = self.digits - 1 - magnitude(self.high - self.low);
        let places = if self.log { of_span.max(self.digits - 1 - magnitude(value)) } else { of_span };
        // A rate is a whole number of bit/s, a size one of bytes, a time one of nanoseconds.
        let most = match self.unit {
            Some((_, Measure::Time | Measure::Rate | Measure::Bytes, factor)) if factor % 60 != 0 => factor.ilog10().cast_signed(),
            _ => 17,
        };
        let places = places.min(most);
        if let Ok(places) = usize::try_from(places) {
            let text = format!("{value:.places$}");
            let text = if places > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            if text == "-0" { "0".to_owned() } else { text.to_owned() }
        } else {
            let unit = libm::pow(10.0, f64::from(-places));
            format!("{:.0}", (value / unit).round() * unit)
        }
    }
}

impl End {
    fn read(node: &Node, key: &str) -> Result<Self, String> {
        let example = "{ from = \"1 Mbit/s\", to = \"1 Gbit/s\", count = 7 }";
        let (text, with_unit) = match node.get(key).map(|end| &end.data) {
            Some(Data::Text(text)) => (text.trim().to_owned(), true),
            Some(Data::Integer(number)) => (number.to_string(), false),
            Some(Data::Float(number)) if number.is_finite() => (format!("{number:?}"), false),
            Some(other) => return Err(format!("{key} must be a number or a text with its unit, but is {}", other.noun())),
            None => return Err(format!("a range needs {key}: {example}")),
        };
        let Some((number, rest)) = Decimal::read(&text) else {
            return Err(format!("{key} must be a number with its unit, but is the text {}: {example}", quoted(&text)));
        };
        let rest = rest.trim();
        if with_unit && rest.is_empty() {
            return Err(format!("{key} is the text {}: write a number without quotes, or add its unit", quoted(&text)));
        }
        let unit = if rest.is_empty() { None } else { Some(find_unit(rest).map_err(|message| format!("{key}: {message}"))?) };
        let digits = text.strip_suffix(rest).unwrap_or(&text).trim();
        Ok(Self { number, unit, whole: digits.trim_start_matches(['+', '-']).bytes().all(|digit| digit.is_ascii_digit()) })
    }
}

/// The unit of a number other than one.
pub(crate) fn plural(unit: &str) -> &str {
    match unit {
        "packet" => "packets",
        "segment" => "segments",
        unit => unit,
    }
}
