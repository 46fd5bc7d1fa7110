//! A control by the names of its parts, in a line of text: for programs that have no scenarios.

use std::str::FromStr;

use crate::cc::{Composed, CongestionControl, avoidance, initial_window, loss_response, slow_start, whole};
use crate::params::{Axis, Default, Kind, Param, PartSpec, Value};
use crate::units::Segments;

/// The parts of a control, with their parameters.
///
/// The text has settings, separated by commas, semicolons or lines. `slow_start = search` chooses a part of an axis, as in a scenario;
/// `slow_start.target = 40 segments` sets a parameter of that part, with the units of a scenario; `initial_ssthresh = 64` is the first
/// threshold. Quotation marks round values may be left out. What is not set is the initial window of RFC 6928, standard slow start and CUBIC.
///
/// A first word alone stands for a control: a whole one (`bbr`), an avoidance after standard slow start (`reno`), or a slow start before CUBIC
/// (`hystart_pp`), whichever is found first.
///
/// ```
/// use ackclock_core::cc::Recipe;
///
/// let recipe: Recipe = "slow_start = \"search\", avoidance = reno".parse()?;
/// let control = recipe.build()?;
/// assert!(control.window().cwnd >= 1.0);
/// assert!("bbr".parse::<Recipe>()?.build()?.paces());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// A whole control, which needs no parts.
    whole: Option<PartSpec>,
    initial_window: PartSpec,
    slow_start: PartSpec,
    avoidance: PartSpec,
    loss_response: Option<PartSpec>,
    initial_ssthresh: Segments,
}

impl std::default::Default for Recipe {
    fn default() -> Self {
        Self {
            whole: None,
            initial_window: initial_window::AXIS.spec("rfc6928"),
            slow_start: slow_start::AXIS.spec("standard"),
            avoidance: avoidance::AXIS.spec("cubic"),
            loss_response: None,
            initial_ssthresh: Segments::INFINITY,
        }
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut recipe = Self::default();
        let settings = text.split([',', ';', '\n']).map(str::trim).filter(|setting| !setting.is_empty() && !setting.starts_with('#'));
        let (mut parts, mut parameters) = (Vec::new(), Vec::new());
        for (index, setting) in settings.enumerate() {
            match setting.split_once('=') {
                Some((key, value)) if key.contains('.') => parameters.push((key.trim(), unquoted(value))),
                Some((key, value)) => parts.push((key.trim(), unquoted(value))),
                None if index == 0 => recipe.name(unquoted(setting))?,
                None => return Err(format!("{setting:?} is no setting: write KEY = VALUE, such as slow_start = standard")),
            }
        }
        for (key, value) in parts {
            recipe.choose(key, value)?;
        }
        for (key, value) in parameters {
            recipe.set(key, value)?;
        }
        recipe.build()?;
        Ok(recipe)
    }
}

impl Recipe {
    /// Builds the control.
    ///
    /// # Errors
    /// If a part refuses its parameters; the message has the part's name and the reason. A recipe that was read can be built.
    pub fn build(&self) -> Result<Box<dyn CongestionControl>, String> {
        if let Some(whole) = &self.whole {
            return whole::PARTS.build(whole);
        }
        Ok(Box::new(Composed::new(
            initial_window::PARTS.build(&self.initial_window)?,
            slow_start::PARTS.build(&self.slow_start)?,
            avoidance::PARTS.build(&self.avoidance)?,
            self.loss_response.as_ref().map(|part| loss_response::PARTS.build(part)).transpose()?,
            self.initial_ssthresh,
        )))
    }

    /// Chooses the control for which a word alone stands.
    fn name(&mut self, name: &str) -> Result<(), String> {
        if let Ok(part) = part(&whole::AXIS, name) {
            self.whole = Some(part);
        } else if let Ok(part) = part(&avoidance::AXIS, name) {
            self.avoidance = part;
        } else if let Ok(part) = part(&slow_start::AXIS, name) {
            self.slow_start = part;
        } else {
            let names = [&whole::AXIS, &avoidance::AXIS, &slow_start::AXIS].map(names).join(", ");
            return Err(format!("there is no control {name:?}; there are {names}"));
        }
        Ok(())
    }

    fn choose(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "congestion_control" => self.whole = Some(part(&whole::AXIS, value)?),
            "initial_window" => self.initial_window = part(&initial_window::AXIS, value)?,
            "slow_start" => self.slow_start = part(&slow_start::AXIS, value)?,
            "avoidance" => self.avoidance = part(&avoidance::AXIS, value)?,
            "loss_response" => self.loss_response = Some(part(&loss_response::AXIS, value)?),
            "initial_ssthresh" => {
                let kind = Kind::Segments { min: 2.0, max: 1e9 };
                self.initial_ssthresh = number(&kind, value).map_err(|reason| format!("{key}: {reason}"))?;
            }
            _ => return Err(unknown_key(key)),
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let mut path = key.split('.');
        let axis = path.next().unwrap_or_default();
        let mut spec = match axis {
            "congestion_control" => self.whole.as_mut(),
            "initial_window" => Some(&mut self.initial_window),
            "slow_start" => Some(&mut self.slow_start),
            "avoidance" => Some(&mut self.avoidance),
            "loss_response" => self.loss_response.as_mut(),
            _ => return Err(unknown_key(axis)),
        }
        .ok_or_else(|| format!("{key}: no {axis} is chosen; add {axis} = NAME"))?;
        let mut described = axis_of(axis);
        let mut names: Vec<&str> = path.collect();
        let last = names.pop().unwrap_or_default();
        for name in names {
            let (kind, inner) = (declared(described, spec.name, name)?.kind, spec.params.part_mut(name, 0));
            let (Kind::Part(axis), Some(inner)) = (kind, inner) else { return Err(format!("{key}: {name} is no part")) };
            (described, spec) = (axis, inner);
        }
        let param = declared(described, spec.name, last)?;
        let value = read(param, value).map_err(|reason| format!("{key}: {reason}"))?;
        spec.params.set(param.name, value);
        Ok(())
    }
}

fn axis_of(name: &str) -> &'static Axis {
    let axes: [&'static Axis; 4] = [&initial_window::AXIS, &slow_start::AXIS, &avoidance::AXIS, &loss_response::AXIS];
    axes.into_iter().find(|axis| axis.name == name).unwrap_or(&whole::AXIS)
}

fn unknown_key(key: &str) -> String {
    format!(
        "there is no setting {key:?}; there are congestion_control, initial_window, slow_start, avoidance, loss_response and initial_ssthresh"
    )
}

fn names(axis: &Axis) -> String {
    axis.parts().iter().filter(|part| !axis.objects.contains(&part.name)).map(|part| part.name).collect::<Vec<_>>().join(", ")
}

/// The part of this name with its defaults.
fn part(axis: &'static Axis, name: &str) -> Result<PartSpec, String> {
    let part = axis.part(name).filter(|part| !axis.objects.contains(&part.name));
    let part = part.ok_or_else(|| format!("there is no {} {name:?}; there are {}", axis.noun, names(axis)))?;
    Ok(axis.spec(part.name))
}

/// The declaration of a part's parameter.
fn declared(axis: &'static Axis, part: &str, name: &str) -> Result<&'static Param, String> {
    let params = axis.part(part).map_or(&[][..], |part| part.params);
    params.iter().find(|param| param.name == name).ok_or_else(|| {
        let known = params.iter().map(|param| param.name).collect::<Vec<_>>().join(", ");
        format!("{} {part:?} has no parameter {name:?}; it has {}", axis.noun, if known.is_empty() { "none" } else { &known })
    })
}

/// Reads the value of a parameter.
fn read(param: &Param, text: &str) -> Result<Value, String> {
    if text == "auto" && param.default == Default::Auto {
        return Ok(Value::Auto);
    }
    match &param.kind {
        Kind::Bool => text.parse().map(Value::Bool).map_err(|_| format!("{text:?} is neither true nor false")),
        Kind::Word(words) if words.contains(&text) => Ok(Value::Word(text.to_owned())),
        Kind::Word(words) => Err(format!("{text:?} is not one of {}", words.join(", "))),
        Kind::Text => Ok(Value::Word(text.to_owned())),
        Kind::Part(axis) => part(axis, text).map(Value::Part),
        Kind::Numbers { .. } => text.split_whitespace().map(|item| number(&param.kind, item)).collect::<Result<_, _>>().map(Value::Numbers),
        Kind::Parts(_) | Kind::Series(_) | Kind::Limit { .. } | Kind::ByteLimit { .. } => {
            Err("a line of text cannot set this parameter".to_owned())
        }
        kind => number(kind, text).map(Value::Number),
    }
}

/// Reads a number with the unit of its kind.
fn number(kind: &Kind, text: &str) -> Result<f64, String> {
    let units: &[(&str, f64)] = match kind {
        Kind::Duration { .. } => &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)],
        Kind::Rate { .. } => &[("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("bit/s", 1.0)],
        Kind::Size { .. } | Kind::WireSize { .. } => &[("KiB", 1024.0), ("MiB", 1_048_576.0), ("kB", 1e3), ("MB", 1e6), ("B", 1.0)],
        Kind::Probability { .. } => &[("%", 0.01)],
        Kind::Segments { .. } => &[("segments", 1.0), ("segment", 1.0), ("", 1.0)],
        _ => &[("", 1.0)],
    };
    let found = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?.trim().parse::<f64>().ok()?, size)));
    let (count, size) = found.ok_or_else(|| {
        let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).filter(|unit| !unit.is_empty()).collect();
        let units = if units.is_empty() { String::new() } else { format!(" with a unit: {}", units.join(", ")) };
        format!("{text:?} is not a number{units}")
    })?;
    let number = count * size;
    let (min, max) = kind.bounds().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    // Also false for NaN.
    if !(min..=max).contains(&number) {
        return Err(format!("{text} is outside {min} to {max}"));
    }
    if matches!(kind, Kind::Integer { .. }) && libm::floor(number) < number {
        return Err(format!("{text} is not a whole number"));
    }
    Ok(number)
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Recipe {
        text.parse().unwrap_or_else(|reason| panic!("{text}: {reason}"))
    }

    fn error(text: &str) -> String {
        text.parse::<Recipe>().unwrap_err()
    }

    #[test]
    fn every_name_stands_for_a_control() {
        for axis in [&whole::AXIS, &avoidance::AXIS, &slow_start::AXIS] {
            for part in axis.parts().iter().filter(|part| !axis.objects.contains(&part.name)) {
                spec(part.name).build().unwrap();
            }
        }
        assert_eq!(spec("bbr").whole.unwrap().name, "bbr");
        assert_eq!((spec("reno").avoidance.name, spec("reno").slow_start.name), ("reno", "standard"));
        assert_eq!((spec("search").avoidance.name, spec("search").slow_start.name), ("cubic", "search"));
        assert_eq!(spec(""), Recipe::default());
    }

    #[test]
    fn settings_are_those_of_a_scenario() {
        let recipe =
            spec("slow_start = \"limited\"\nslow_start.max_ssthresh = 50 segments\n# a comment\navoidance=reno; initial_ssthresh = 64");
        assert_eq!((recipe.slow_start.name, recipe.avoidance.name, recipe.initial_ssthresh), ("limited", "reno", 64.0));
        assert_eq!(recipe.slow_start.params.number("max_ssthresh"), 50.0);
        let wrapped = spec("slow_start = paced, slow_start.slow_start = limited, slow_start.slow_start.max_ssthresh = 30");
        assert_eq!(wrapped.slow_start.params.part("slow_start").unwrap().params.number("max_ssthresh"), 30.0);
        assert_eq!(number(&Kind::Duration { min: 0.0, max: 1.0 }, "15 ms"), Ok(0.015));
        assert_eq!(number(&Kind::Rate { min: 1.0, max: 1e12 }, "2.5 Mbit/s"), Ok(2.5e6));
    }

    #[test]
    fn a_message_says_what_is_wrong_and_what_there_is() {
        let cases = [
            ("serch", "there is no control \"serch\"; there are bbr,"),
            ("slow_start = serch", "there is no slow start \"serch\"; there are standard,"),
            ("slowstart = search", "there is no setting \"slowstart\"; there are congestion_control,"),
            ("congestion_control = python", "there is no congestion control \"python\""),
            ("slow_start.target = 3", "slow start \"standard\" has no parameter \"target\"; it has none"),
            ("loss_response.factor = 0.5", "no loss_response is chosen"),
            ("initial_ssthresh = many", "\"many\" is not a number with a unit: segments"),
            ("initial_ssthresh = 1", "1 is outside 2 to"),
            ("bbr, fast", "\"fast\" is no setting"),
        ];
        for (text, message) in cases {
            let found = error(text);
            assert!(found.contains(message), "{text}: {found}");
        }
    }
}
