//! Numbers with units: reading "27.7 ms" exactly and writing it back.

use ackclock_core::units::{Duration, NANOS_PER_SEC, Rate};

use crate::scenario::text::{nearest, quoted};

/// The measure of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Nanoseconds.
    Time,
    /// Bits per second.
    Rate,
    /// Bytes.
    Bytes,
    /// Packets. A segment is the data of one packet.
    Packets,
    /// Multiples of the bandwidth-delay product.
    Bdp,
    /// A fraction, written in percent.
    Percent,
    /// Events per second.
    Frequency,
}

/// A unit: its name, its measure, and its size in the measure's base unit.
pub(crate) type Unit = (&'static str, Measure, u64);

/// Every unit.
const UNITS: &[Unit] = &[
    ("ns", Measure::Time, 1),
    ("us", Measure::Time, 1_000),
    ("ms", Measure::Time, 1_000_000),
    ("s", Measure::Time, NANOS_PER_SEC),
    ("min", Measure::Time, 60 * NANOS_PER_SEC),
    ("h", Measure::Time, 3600 * NANOS_PER_SEC),
    ("bit/s", Measure::Rate, 1),
    ("kbit/s", Measure::Rate, 1_000),
    ("Mbit/s", Measure::Rate, 1_000_000),
    ("Gbit/s", Measure::Rate, 1_000_000_000),
    ("Tbit/s", Measure::Rate, 1_000_000_000_000),
    ("B", Measure::Bytes, 1),
    ("kB", Measure::Bytes, 1_000),
    ("MB", Measure::Bytes, 1_000_000),
    ("GB", Measure::Bytes, 1_000_000_000),
    ("TB", Measure::Bytes, 1_000_000_000_000),
    ("KiB", Measure::Bytes, 1 << 10),
    ("MiB", Measure::Bytes, 1 << 20),
    ("GiB", Measure::Bytes, 1 << 30),
    ("packets", Measure::Packets, 1),
    ("packet", Measure::Packets, 1),
    ("segments", Measure::Packets, 1),
    ("segment", Measure::Packets, 1),
    ("BDP", Measure::Bdp, 1),
    ("%", Measure::Percent, 1),
    ("per s", Measure::Frequency, 1),
];

/// Other common spellings, in lower case, with the valid unit.
const OTHER_SPELLINGS: &[(&str, &str)] = &[
    ("bps", "bit/s"),
    ("b/s", "bit/s"),
    ("kbps", "kbit/s"),
    ("kb/s", "kbit/s"),
    ("mbps", "Mbit/s"),
    ("mb/s", "Mbit/s"),
    ("gbps", "Gbit/s"),
    ("gb/s", "Gbit/s"),
    ("tbps", "Tbit/s"),
    ("tb/s", "Tbit/s"),
    ("µs", "us"),
    ("μs", "us"),
    ("usec", "us"),
    ("msec", "ms"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("hours", "h"),
    ("byte", "B"),
    ("bytes", "B"),
    ("k", "kB"),
    ("m", "MB"),
    ("pkt", "packets"),
    ("pkts", "packets"),
    ("segs", "segments"),
    ("percent", "%"),
    ("/s", "per s"),
    ("1/s", "per s"),
    ("hz", "per s"),
    ("per second", "per s"),
];

/// A kind of quantity, which determines the valid units.
#[derive(Debug)]
pub(crate) struct Dimension {
    /// Noun for messages: "a time".
    pub(crate) noun: &'static str,
    /// Measures of its units.
    pub(crate) measures: &'static [Measure],
    /// Unit that a message suggests if the unit is missing.
    pub(crate) unit: &'static str,
    /// Words that are valid instead of a number with its unit.
    pub(crate) words: &'static [&'static str],
    /// Whether a number of packets can be fractional, as windows can.
    pub(crate) real: bool,
}

const fn dimension(noun: &'static str, measures: &'static [Measure], unit: &'static str) -> Dimension {
    Dimension { noun, measures, unit, words: &[], real: false }
}

/// A time.
pub(crate) static TIME: Dimension = dimension("a time", &[Measure::Time], "s");
/// A rate.
pub(crate) static RATE: Dimension = dimension("a rate", &[Measure::Rate], "Mbit/s");
/// A size in bytes.
pub(crate) static SIZE: Dimension = dimension("a size", &[Measure::Bytes], "B");
/// A whole number of packets.
pub(crate) static PACKETS: Dimension = dimension("a number of packets", &[Measure::Packets], "packets");
/// An amount of data.
pub(crate) static AMOUNT: Dimension = dimension("an amount of data", &[Measure::Packets, Measure::Bytes], "packets");
/// The capacity of a queue.
pub(crate) static LIMIT: Dimension = dimension("a queue limit", &[Measure::Packets, Measure::Bytes, Measure::Bdp], "packets");
/// A probability.
pub(crate) static PROBABILITY: Dimension = dimension("a probability", &[Measure::Percent], "%");
/// A frequency of events.
pub(crate) static FREQUENCY: Dimension = dimension("a frequency", &[Measure::Frequency], "per s");
/// A share, which can exceed one.
pub(crate) static SHARE: Dimension = dimension("a share", &[Measure::Percent], "%");
/// A real number of segments.
pub(crate) static SEGMENTS: Dimension = Dimension { real: true, ..dimension("a number of segments", &[Measure::Packets], "segments") };
/// A slow start threshold.
pub(crate) static THRESHOLD: Dimension =
    Dimension { words: &["rwnd", "unlimited"], real: true, ..dimension("a threshold", &[Measure::Packets], "segments") };

/// The unit `name`, of any measure.
pub(crate) fn find_unit(name: &str) -> Result<Unit, String> {
    if let Some(unit) = UNITS.iter().find(|(known, ..)| *known == name) {
        return Ok(*unit);
    }
    let units: Vec<&str> = UNITS.iter().map(|(known, ..)| *known).collect();
    Err(unknown_unit(name, "", &units))
}

/// A quantity as read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    /// A whole number of the measure's base units.
    Whole(Measure, u64),
    /// A real number of segments or bandwidth-delay products, a fraction, or a frequency.
    Real(Measure, f64),
    /// One of the dimension's words.
    Word(&'static str),
}

impl Quantity {
    /// The number for comparison with bounds; `None` for words.
    pub(crate) fn magnitude(self) -> Option<f64> {
        match self {
            Self::Whole(_, number) => Some(number as f64),
            Self::Real(_, number) => Some(number),
            Self::Word(_) => None,
        }
    }
}

impl Dimension {
    /// Valid units.
    pub(crate) fn units(&self) -> impl Iterator<Item = &'static str> {
        UNITS.iter().filter(|(_, measure, _)| self.measures.contains(measure)).map(|(name, ..)| *name)
    }

    /// A regular expression that matches valid texts.
    pub(crate) fn pattern(&self) -> String {
        let units: Vec<&str> = self.units().collect();
        let number = format!(r"\s*\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*({})\s*", units.join("|"));
        let forms: Vec<&str> = std::iter::once(number.as_str()).chain(self.words.iter().copied()).collect();
        format!("^({})$", forms.join("|"))
    }

    /// Reads `text`. A message about a missing unit suggests `unit`.
    pub(crate) fn parse(&self, text: &str, unit: &str) -> Result<Quantity, String> {
        if let Some(word) = self.words.iter().find(|word| **word == text.trim()) {
            return Ok(Quantity::Word(word));
        }
        let Some((number, rest)) = Decimal::read(text.trim()) else {
            let hint = nearest(text, self.words.iter().copied()).map_or_else(String::new, |word| format!("; did you mean {word:?}?"));
            let forms: Vec<&str> = std::iter::once("a number with its unit").chain(self.words.iter().copied()).collect();
            return Err(format!("{} is not {}{hint} (write {})", quoted(text), self.noun, forms.join(" or ")));
        };
        let name = rest.trim();
        if name.is_empty() {
            return Err(self.needs_unit(text.trim(), unit));
        }
        let known = UNITS.iter().find(|(unit, measure, _)| *unit == name && self.measures.contains(measure));
        let Some(&(name, measure, factor)) = known else {
            return Err(self.unknown_unit(name));
        };
        if number.negative && number.mantissa > 0 {
            return Err(format!("{} must not be negative, but is {}", self.noun, quoted(text)));
        }
        let real = matches!(measure, Measure::Bdp | Measure::Percent | Measure::Frequency) || self.real && measure == Measure::Packets;
        if real {
            return Ok(Quantity::Real(measure, number.real(if measure == Measure::Percent { -2 } else { 0 })));
        }
        let (value, exact) = number.scaled(factor);
        if !exact && matches!(measure, Measure::Bytes | Measure::Packets) {
            let whole = if measure == Measure::Bytes { "bytes" } else { name };
            return Err(format!("{} must be a whole number of {whole}, but is {}", self.noun, quoted(text)));
        }
        Ok(Quantity::Whole(measure, value))
    }

    /// The message for a number without unit.
    pub(crate) fn needs_unit(&self, number: &str, unit: &str) -> String {
        if number.parse().is_ok_and(|number: f64| !number.is_finite()) {
            return format!("{} must be finite, but is {number}", self.noun);
        }
        match number.parse::<f64>() {
            // Probabilities are fractions elsewhere; read as a fraction, 0.01 means 1 %.
            Ok(fraction) if unit == "%" && fraction > 0.0 && fraction < 1.0 => {
                let percent = (1e8 * fraction).round() / 1e6;
                format!("{} needs a unit: is it \"{percent} %\" or \"{number} %\"?", self.noun)
            }
            Ok(1.0) => format!("{} needs a unit; did you mean \"{number} {}\"?", self.noun, singular(unit)),
            _ => format!("{} needs a unit; did you mean \"{number} {unit}\"?", self.noun),
        }
    }

    fn unknown_unit(&self, name: &str) -> String {
        let units: Vec<&str> = self.units().collect();
        unknown_unit(name, &format!(" for {}", self.noun), &units)
    }
}

fn unknown_unit(name: &str, purpose: &str, units: &[&str]) -> String {
    let spelling = OTHER_SPELLINGS.iter().find(|(other, right)| *other == name.to_lowercase() && units.contains(right));
    let right = spelling.map(|(_, right)| *right).or_else(|| nearest(name, units.iter().copied()));
    let hint = right.map_or_else(String::new, |right| format!("; did you mean {right:?}?"));
    format!("unknown unit {}{purpose}{hint} (known: {})", quoted(name), units.join(", "))
}

/// The singular of a unit: a packet, a segment.
fn singular(unit: &str) -> &str {
    if matches!(unit, "packets" | "segments") { unit.trim_end_matches('s') } else { unit }
}

/// A decimal number, exact to its first 25 digits: mantissa · 10^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

/// Most zeros, or decimal places, of a number in plain digits.
const MAX_PLAIN: usize = 30;

/// Bound of the mantissa: mantissa · factor stays below 2^127 for every unit.
const DIGITS: u128 = 10_u128.pow(24);

impl Decimal {
    /// The number at the start of `text`, and the rest of the text.
    pub(crate) fn read(text: &str) -> Option<(Self, &str)> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (integer, mut rest) = digits(unsigned);
        if integer.is_empty() {
            return None;
        }
        let mut number = Self { negative: text.starts_with('-'), mantissa: 0, exponent: 0 };
        integer.bytes().for_each(|digit| number.push(digit, false));
        if let Some((fraction, after)) = rest.strip_prefix('.').map(digits).filter(|(fraction, _)| !fraction.is_empty()) {
            fraction.bytes().for_each(|digit| number.push(digit, true));
            rest = after;
        }
        if let Some(power) = rest.strip_prefix(['e', 'E']) {
            let (written, after) = digits(power.strip_prefix(['-', '+']).unwrap_or(power));
            if !written.is_empty() {
                // Beyond ±10⁵ every number is zero or too large anyway.
                let size = written.parse::<i32>().unwrap_or(i32::MAX).min(100_000);
                number.exponent = number.exponent.saturating_add(if power.starts_with('-') { -size } else { size });
                rest = after;
            }
        }
        Some((number, rest))
    }

    fn push(&mut self, digit: u8, fraction: bool) {
        let full = self.mantissa >= DIGITS;
        if !full {
            self.mantissa = self.mantissa * 10 + u128::from(digit - b'0');
        }
        self.exponent = self.exponent.saturating_add(i32::from(full) - i32::from(fraction));
    }

    /// The number times `factor`, rounded and at most the largest `u64`, and whether the product is exact.
    fn scaled(self, factor: u64) -> (u64, bool) {
        let product = self.mantissa * u128::from(factor);
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs());
        let (value, exact) = match (power, self.exponent >= 0) {
            _ if product == 0 => (0, true),
            (Some(power), true) => (product.saturating_mul(power), true),
            (None, true) => (u128::MAX, true),
            (Some(power), false) => ((product + power / 2) / power, product.is_multiple_of(power)),
            (None, false) => (0, false),
        };
        (u64::try_from(value).unwrap_or(u64::MAX), exact)
    }

    /// The number times `from` / `to`, if it is a decimal number again.
    pub(crate) fn rescaled(self, from: u64, to: u64) -> Option<Self> {
        let (mut product, mut exponent, to) = (self.mantissa * u128::from(from), self.exponent, u128::from(to));
        while !product.is_multiple_of(to) {
            (product, exponent) = (product.checked_mul(10)?, exponent.checked_sub(1)?);
        }
        Some(Self { mantissa: product / to, exponent, ..self })
    }

    /// The nearest double.
    pub(crate) fn value(self) -> f64 {
        let size = self.real(0);
        if self.negative { -size } else { size }
    }

    /// The number in plain digits, without an exponent; `None` if these are more than a label should have.
    pub(crate) fn plain(self) -> Option<String> {
        let digits = self.mantissa.to_string();
        let sign = if self.negative && self.mantissa > 0 { "-" } else { "" };
        let exponent = if self.mantissa == 0 { 0 } else { self.exponent };
        match usize::try_from(exponent) {
            Ok(zeros) if zeros <= MAX_PLAIN => Some(format!("{sign}{digits}{}", "0".repeat(zeros))),
            Ok(_) => None,
            Err(_) => {
                let places = exponent.unsigned_abs() as usize;
                if places > MAX_PLAIN {
                    return None;
                }
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                Some(format!("{sign}{whole}.{fraction}").trim_end_matches('0').trim_end_matches('.').to_owned())
            }
        }
    }

    /// The number · 10^shift, correctly rounded; infinite if too large.
    fn real(self, shift: i32) -> f64 {
        let exponent = self.exponent.saturating_add(shift);
        format!("{}e{exponent}", self.mantissa).parse().unwrap_or(f64::INFINITY)
    }
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// `time` in the largest unit in which it is whole: "10 ms".
pub(crate) fn write_time(time: Duration) -> String {
    whole(time.as_nanos(), &[("s", NANOS_PER_SEC), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)])
}

/// `rate` in the largest unit in which it is whole: "10 Mbit/s".
pub(crate) fn write_rate(rate: Rate) -> String {
    let units = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)];
    whole(rate.as_bits_per_sec(), &units)
}

fn whole(value: u64, units: &[(&str, u64)]) -> String {
    let (unit, factor) = units.iter().find(|(_, factor)| value.is_multiple_of(*factor)).unwrap_or(&("", 1));
    format!("{} {unit}", value / factor)
}

/// A probability in percent, which reads back as exactly the same number.
pub(crate) fn write_probability(probability: f64) -> String {
    // The exponent of the decimal text grows by two. Multiplying the binary number by 100 would round.
    let text = format!("{probability:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.parse::<i32>().unwrap_or(0) + 2 {
        0 => format!("{mantissa} %"),
        exponent => {
            let plain = format!("{mantissa}e{exponent}").parse::<f64>().map_or_else(|_| String::new(), |percent| percent.to_string());
            let same = PROBABILITY.parse(&format!("{plain} %"), "%") == Ok(Quantity::Real(Measure::Percent, probability));
            if same { format!("{plain} %") } else { format!("{mantissa}e{exponent} %") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dimension: &Dimension, text: &str) -> Quantity {
        dimension.parse(text, dimension.unit).unwrap()
    }

    #[test]
    fn times_are_exact() {
        for (text, nanos) in [("27.7 ms", 27_700_000), ("0.1 s", 100_000_000), ("1e-3s", 1_000_000), ("2 min", 120_000_000_000)] {
            assert_eq!(read(&TIME, text), Quantity::Whole(Measure::Time, nanos), "{text}");
        }
        assert_eq!(read(&TIME, "999999999.999999999 s"), Quantity::Whole(Measure::Time, 999_999_999_999_999_999));
        assert_eq!(read(&TIME, "0.4999999999 ns"), Quantity::Whole(Measure::Time, 0));
    }

    #[test]
    fn prefixes_are_decimal_unless_binary() {
        assert_eq!(read(&RATE, "1.5 Mbit/s"), Quantity::Whole(Measure::Rate, 1_500_000));
        assert_eq!(read(&SIZE, "64 kB"), Quantity::Whole(Measure::Bytes, 64_000));
        assert_eq!(read(&SIZE, "64 KiB"), Quantity::Whole(Measure::Bytes, 65_536));
        assert_eq!(read(&LIMIT, "0.5 BDP"), Quantity::Real(Measure::Bdp, 0.5));
        assert_eq!(read(&LIMIT, "1 packet"), Quantity::Whole(Measure::Packets, 1));
        assert_eq!(read(&SEGMENTS, "2.5 segments"), Quantity::Real(Measure::Packets, 2.5));
        assert_eq!(read(&THRESHOLD, "unlimited"), Quantity::Word("unlimited"));
    }

    #[test]
    fn numbers_without_end_saturate() {
        let long = "9".repeat(400);
        for text in ["1e99999999999 s", "1e30 h", &format!("{long} s"), &format!("{long}.{long}e{long} s")] {
            assert_eq!(read(&TIME, text), Quantity::Whole(Measure::Time, u64::MAX), "{text}");
        }
        assert_eq!(read(&TIME, &format!("0.{}1 s", "0".repeat(500))), Quantity::Whole(Measure::Time, 0));
        assert_eq!(read(&TIME, "0e99999 s"), Quantity::Whole(Measure::Time, 0));
    }

    #[test]
    fn mistakes_name_the_nearest_right_thing() {
        let message = |dimension: &Dimension, text| dimension.parse(text, dimension.unit).unwrap_err();
        assert_eq!(message(&TIME, "30"), "a time needs a unit; did you mean \"30 s\"?");
        assert_eq!(message(&SEGMENTS, "1"), "a number of segments needs a unit; did you mean \"1 segment\"?");
        assert_eq!(message(&PACKETS, "1"), "a number of packets needs a unit; did you mean \"1 packet\"?");
        assert_eq!(message(&TIME, "1"), "a time needs a unit; did you mean \"1 s\"?");
        assert_eq!(TIME.needs_unit("NaN", "s"), "a time must be finite, but is NaN");
        assert_eq!(message(&TIME, "30 sec"), "unknown unit \"sec\" for a time; did you mean \"s\"? (known: ns, us, ms, s, min, h)");
        assert!(message(&RATE, "10 Mb/s").starts_with("unknown unit \"Mb/s\" for a rate; did you mean \"Mbit/s\"?"));
        assert!(message(&RATE, "10 mbit/s").contains("did you mean \"Mbit/s\"?"));
        assert_eq!(message(&TIME, "-5 ms"), "a time must not be negative, but is \"-5 ms\"");
        assert_eq!(message(&PACKETS, "2.5 packets"), "a number of packets must be a whole number of packets, but is \"2.5 packets\"");
        assert_eq!(message(&TIME, "soon"), "\"soon\" is not a time (write a number with its unit)");
        assert!(message(&THRESHOLD, "unlimted").contains("did you mean \"unlimited\"?"));
        for text in ["", " ", ".", "e5", "nan s", "inf s", "+", "-", "1..2 s", "1e s", "١ s"] {
            assert!(TIME.parse(text, "s").is_err(), "{text}");
        }
    }

    #[test]
    fn written_quantities_read_the_same() {
        for nanos in [0, 1, 999, 1_000, 27_700_000, 60_000_000_000, 1_000_000_001] {
            let text = write_time(Duration::from_nanos(nanos));
            assert_eq!(read(&TIME, &text), Quantity::Whole(Measure::Time, nanos), "{text}");
        }
        for probability in [0.0, 0.01, 0.1, 1.0, 1.0 / 3.0, 0.07, 1e-9, 0.29, 5e-324, 1e-7 / 3.0] {
            let text = write_probability(probability);
            assert_eq!(read(&PROBABILITY, &text), Quantity::Real(Measure::Percent, probability), "{text}");
        }
        assert_eq!(write_probability(0.01), "1 %");
        assert_eq!(write_rate(Rate::from_bits_per_sec(1_500_000).unwrap()), "1500 kbit/s");
    }
}
