//! Analytic models for callers with texts and arrays: lists models, reads parameters with units, and evaluates many points at once.

use ackclock_core::params::{Default, Kind, Param, Params, Value};
pub use ackclock_models::Numbers;
use ackclock_models::{Model, Trace};
use serde_json::{Value as Json, json};

use crate::scenario::parameter::in_bounds;
use crate::scenario::part;
use crate::scenario::text::{quoted, unknown};

/// The value of a parameter at the points of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// One number for all points or one for each, in seconds, bits per second, bytes, or probabilities from 0 to 1.
    Numbers(Vec<f64>),
    /// A word for all points.
    Word(String),
    /// A truth value for all points.
    Bool(bool),
    /// A list as one value for all points.
    List(Vec<f64>),
}

/// Every model: name, summary, reference, header, parameters, outputs, axis, whether it is simulated or slow, its paper, and its trace if
/// it has one.
pub fn models_json() -> Json {
    let models = ackclock_models::ENTRIES.iter().zip(ackclock_models::DESCRIPTIONS).map(|(model, description)| {
        let mut json = part::describe(description);
        json["outputs"] = description.quantities.iter().map(part::describe_quantity).collect();
        json["axis"] = json!(model.axis);
        json["simulated"] = json!(model.simulated);
        json["slow"] = json!(model.slow);
        json["paper"] = json!(model.paper);
        json["trace"] = model.trace.as_ref().map_or(Json::Null, describe_trace);
        json
    });
    models.collect()
}

fn describe_trace(trace: &Trace) -> Json {
    let columns = trace.columns.iter().map(|column| {
        let mut json = part::describe_quantity(&column.quantity);
        json["each"] = json!(column.each);
        json
    });
    json!({ "summary": trace.summary, "columns": columns.collect::<Vec<_>>() })
}

/// The model `name`.
///
/// # Errors
/// If there is no such model; the message suggests the nearest name.
pub fn find(name: &str) -> Result<&'static Model, String> {
    let known: Vec<&str> = ackclock_models::ENTRIES.iter().map(|model| model.name).collect();
    ackclock_models::find(name).ok_or_else(|| unknown("model", name, &known))
}

fn find_param(model: &Model, name: &str) -> Result<&'static Param, String> {
    let known: Vec<&str> = model.params.iter().map(|param| param.name).collect();
    let found = model.params.iter().find(|param| param.name == name);
    found.ok_or_else(|| format!("{}: {}", model.name, unknown("parameter", name, &known)))
}

/// Reads a text with its unit as the value of a parameter, and checks the bounds.
///
/// # Errors
/// If there is no such model or parameter, or if the text is not a valid value.
pub fn read(model: &str, name: &str, text: &str) -> Result<Value, String> {
    let model = find(model)?;
    let param = find_param(model, name)?;
    let value = read_value(param, text.trim()).and_then(|value| checked(param, value));
    value.map_err(|problem| format!("{}: {name}: {problem}", model.name))
}

fn read_value(param: &Param, text: &str) -> Result<Value, String> {
    if text == part::AUTO && param.default == Default::Auto {
        return Ok(Value::Auto);
    }
    match param.kind {
        Kind::Word(_) | Kind::Text => Ok(Value::Word(text.to_owned())),
        Kind::Bool => text.parse().map(Value::Bool).map_err(|_| format!("must be true or false, but is {}", quoted(text))),
        Kind::Numbers { .. } => read_list(text).map(Value::Numbers),
        kind => match part::dimension(kind) {
            None => text.parse().map(Value::Number).map_err(|_| format!("must be a number, but is {}", quoted(text))),
            Some(dimension) => {
                let quantity = dimension.parse(text, dimension.unit)?;
                part::value(kind, quantity).ok_or_else(|| format!("must be a number, but is {}", quoted(text)))
            }
        },
    }
}

/// Reads a list in the syntax of a scenario: "[2, 4, 8]".
fn read_list(text: &str) -> Result<Vec<f64>, String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let numbers = inner.and_then(|inner| inner.split(',').map(|number| number.trim().parse().ok()).collect());
    numbers.ok_or_else(|| format!("must be a list of numbers as in \"[2, 4, 8]\", but is {}", quoted(text)))
}

/// `value`, if `param` accepts it.
fn checked(param: &Param, value: Value) -> Result<Value, String> {
    match (&value, param.kind) {
        (Value::Number(number), Kind::Integer { .. }) if number.fract() != 0.0 => Err(format!("must be a whole number, but is {number}")),
        (Value::Number(_), Kind::Word(_) | Kind::Text | Kind::Bool) => Err("must not be a number".to_owned()),
        (Value::Number(_), Kind::Numbers { .. }) => Err("must be a list of numbers".to_owned()),
        (Value::Numbers(numbers), Kind::Numbers { .. }) => numbers
            .iter()
            .try_for_each(|number| in_bounds(param.kind, *number).map_err(|problem| format!("{problem}, but one of them is {number}"))),
        (Value::Number(number), _) => {
            in_bounds(param.kind, *number).map_err(|problem| format!("{problem}, but is {}", shown(param, *number)))
        }
        (Value::Word(word), Kind::Word(words)) if !words.contains(&word.as_str()) => Err(unknown(param.name, word, words)),
        (Value::Word(_), Kind::Word(_) | Kind::Text) | (Value::Bool(_), Kind::Bool) => Ok(()),
        (Value::Auto, _) if param.default == Default::Auto => Ok(()),
        _ => Err("has the wrong kind of value".to_owned()),
    }
    .map(|()| value)
}

/// A number in the unit of the bounds of `param`.
fn shown(param: &Param, number: f64) -> f64 {
    if matches!(param.kind, Kind::Probability { .. }) { number * 100.0 } else { number }
}

/// Parameters of a model at all points.
struct Points {
    usual: Params,
    varied: Vec<(&'static Param, Vec<f64>)>,
}

impl Points {
    fn new(model: &Model, inputs: Vec<(String, Input)>, count: usize) -> Result<Self, String> {
        let (mut usual, mut varied) = (Params::defaults(model.params), Vec::new());
        for (name, input) in inputs {
            let param = find_param(model, &name)?;
            let problem = |problem| format!("{}: {name}: {problem}", model.name);
            match input {
                Input::Word(word) => usual.set(param.name, checked(param, Value::Word(word)).map_err(problem)?),
                Input::Bool(value) => usual.set(param.name, checked(param, Value::Bool(value)).map_err(problem)?),
                Input::List(numbers) => usual.set(param.name, checked(param, Value::Numbers(numbers)).map_err(problem)?),
                Input::Numbers(numbers) => {
                    if numbers.len() != 1 && numbers.len() != count {
                        return Err(problem(format!("has {} values for {count} points", numbers.len())));
                    }
                    numbers.iter().try_for_each(|number| checked(param, Value::Number(*number)).map(drop)).map_err(problem)?;
                    varied.push((param, numbers));
                }
            }
        }
        Ok(Self { usual, varied })
    }

    /// The parameters at one point.
    fn at(&self, params: &mut Params, point: usize) {
        for (param, numbers) in &self.varied {
            params.set(param.name, Value::Number(numbers[if numbers.len() == 1 { 0 } else { point }]));
        }
    }

    /// The outputs at one point.
    fn evaluate(&self, model: &Model, params: &mut Params, point: usize) -> Result<Vec<f64>, String> {
        self.at(params, point);
        (model.evaluate)(params).map_err(|problem| format!("{}: {problem}", model.name))
    }
}

/// Evaluates a model at `count` points; for each output, returns the numbers at all points.
///
/// Slow models use up to `jobs` threads. The result does not depend on their number.
///
/// # Errors
/// If there is no such model or parameter, or if a value is invalid. The message names the problem and the nearest valid value.
pub fn evaluate(model: &str, inputs: Vec<(String, Input)>, count: usize, jobs: usize) -> Result<Vec<Vec<f64>>, String> {
    let model = find(model)?;
    let points = Points::new(model, inputs, count)?;
    let threads = if model.slow { jobs.clamp(1, count.max(1)) } else { 1 };
    let at_points = at_points(&points, model, (count, threads))?;
    let mut outputs = vec![Vec::with_capacity(count); model.outputs.len()];
    for values in at_points {
        outputs.iter_mut().zip(values).for_each(|(output, value)| output.push(value));
    }
    Ok(outputs)
}

/// The outputs of `model` at each of `count` points, computed on several threads.
#[cfg(not(target_family = "wasm"))]
fn at_points(points: &Points, model: &Model, (count, threads): (usize, usize)) -> Result<Vec<Vec<f64>>, String> {
    use rayon::ThreadPoolBuilder;
    use rayon::prelude::*;

    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|problem| format!("cannot start threads: {problem}"))?;
    pool.install(|| {
        let points_of = (0..count).into_par_iter();
        points_of.map_init(|| points.usual.clone(), |params, point| points.evaluate(model, params, point)).collect()
    })
}

/// The outputs of `model` at each of `count` points: a page in a browser has no threads.
#[cfg(target_family = "wasm")]
fn at_points(points: &Points, model: &Model, (count, _threads): (usize, usize)) -> Result<Vec<Vec<f64>>, String> {
    let mut params = points.usual.clone();
    (0..count).map(|point| points.evaluate(model, &mut params, point)).collect()
}

/// The parameters of a model at one point.
fn one(model: &Model, inputs: Vec<(String, Input)>) -> Result<Params, String> {
    let points = Points::new(model, inputs, 1)?;
    let mut params = points.usual.clone();
    points.at(&mut params, 0);
    Ok(params)
}

/// A column of a model's trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// Its name.
    pub name: String,
    /// Kind of its numbers.
    pub kind: Numbers,
    /// One number for each step.
    pub numbers: Vec<f64>,
}

/// All steps of one run of a model.
///
/// # Errors
/// As [`evaluate`]; also if the model has no trace.
pub fn trace(model: &str, inputs: Vec<(String, Input)>) -> Result<Vec<Traced>, String> {
    let model = find(model)?;
    let trace = model.trace.as_ref().ok_or_else(|| format!("{}: has no trace", model.name))?;
    let params = one(model, inputs)?;
    let columns = (trace.evaluate)(&params).map_err(|problem| format!("{}: {problem}", model.name))?;
    let names = trace.columns.iter().flat_map(|column| column.names(&params).into_iter().map(|name| (name, column.kind)));
    Ok(names.zip(columns).map(|((name, kind), numbers)| Traced { name, kind, numbers }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(name: &str, numbers: &[f64]) -> (String, Input) {
        (name.to_owned(), Input::Numbers(numbers.to_vec()))
    }

    fn word(name: &str, word: &str) -> (String, Input) {
        (name.to_owned(), Input::Word(word.to_owned()))
    }

    #[test]
    fn texts_are_read_with_their_units() {
        let read = |name, text| read("pftk", name, text).unwrap();
        assert_eq!(read("loss", "2 %"), Value::Number(0.02));
        assert_eq!(read("rtt", "20 ms"), Value::Number(0.02));
        assert_eq!(read("packet_size", "1500 B"), Value::Number(1500.0));
        assert_eq!(read("rwnd", "20 packets"), Value::Number(20.0));
        assert_eq!(read("rwnd", "auto"), Value::Auto);
        assert_eq!(read("b", "2"), Value::Number(2.0));
        assert_eq!(super::read("rbt", "rate", "45 Mbit/s").unwrap(), Value::Number(45e6));
        assert_eq!(super::read("population", "windows", "[2, 10.5,32]").unwrap(), Value::Numbers(vec![2.0, 10.5, 32.0]));
        assert_eq!(super::read("rounds", "capped", "true").unwrap(), Value::Bool(true));
        assert_eq!(super::read("rounds", "response", "threshold").unwrap(), Value::Word("threshold".to_owned()));
    }

    #[test]
    fn mistakes_name_the_nearest_right_thing() {
        let message = |model, name, text| read(model, name, text).unwrap_err();
        assert!(message("matis", "loss", "1 %").starts_with("there is no model \"matis\"; did you mean \"mathis\"?"));
        assert!(message("mathis", "los", "1 %").starts_with("mathis: there is no parameter \"los\"; did you mean \"loss\"?"));
        assert_eq!(message("mathis", "loss", "0.01"), "mathis: loss: a probability needs a unit: is it \"1 %\" or \"0.01 %\"?");
        assert_eq!(message("mathis", "loss", "101 %"), "mathis: loss: must be from 0 to 100 %, but is 101");
        assert_eq!(message("rounds", "rounds", "2.5"), "rounds: rounds: must be a whole number, but is 2.5");
        assert!(message("response", "law", "cubik").starts_with("response: law: there is no law \"cubik\"; did you mean \"cubic\"?"));
        assert!(message("rounds", "capped", "yes").contains("must be true or false"));
        assert!(message("mathis", "b", "auto").contains("must be a number"));
        let lists = "population: windows: must be a list of numbers as in \"[2, 4, 8]\", but is ";
        for wrong in ["2, 4", "[2; 4]", "[]", "[2, x]"] {
            assert_eq!(message("population", "windows", wrong), format!("{lists}{}", quoted(wrong)));
        }
        assert_eq!(message("population", "windows", "[0.5, 2]"), "population: windows: must be from 1 to 1000000, but one of them is 0.5");
        let list = |name: &str, numbers: &[f64]| (name.to_owned(), Input::List(numbers.to_vec()));
        let message = |inputs| evaluate("population", inputs, 1, 1).unwrap_err();
        assert_eq!(message(vec![list("windows", &[4.0, 2.0])]), "population: windows: must be 1 to 32 numbers in rising order");
        assert_eq!(message(vec![numbers("windows", &[4.0])]), "population: windows: must be a list of numbers");
        assert_eq!(message(vec![list("flows", &[4.0])]), "population: flows: has the wrong kind of value");
        let message = |inputs| evaluate("response", inputs, 2, 1).unwrap_err();
        assert_eq!(message(vec![numbers("loss", &[0.1, 2.0])]), "response: loss: must be from 0 to 100 %, but is 200");
        assert_eq!(message(vec![numbers("loss", &[0.1; 3])]), "response: loss: has 3 values for 2 points");
        assert!(message(vec![numbers("law", &[1.0])]).contains("must not be a number"));
        assert!(message(vec![word("loss", "1 %")]).contains("has the wrong kind of value"));
    }

    #[test]
    fn points_are_evaluated_one_by_one() {
        let inputs = vec![numbers("loss", &[0.01, 0.04]), numbers("rtt", &[0.1]), word("law", "reno")];
        let outputs = evaluate("response", inputs, 2, 1).unwrap();
        assert!((outputs[0][0] / outputs[0][1] - 2.0).abs() < 1e-12);
        assert_eq!(evaluate("mathis", vec![numbers("loss", &[])], 0, 1).unwrap(), vec![Vec::<f64>::new(); 3]);
    }

    #[test]
    fn threads_change_nothing() {
        let inputs = || {
            let seeds: Vec<f64> = (1..=40).map(f64::from).collect();
            vec![numbers("seed", &seeds), numbers("loss", &[0.05]), numbers("rounds", &[500.0]), word("response", "threshold")]
        };
        let one = evaluate("rounds", inputs(), 40, 1).unwrap();
        assert_eq!(one, evaluate("rounds", inputs(), 40, 3).unwrap());
        assert!(one[0].windows(2).any(|pair| pair[0].to_bits() != pair[1].to_bits()));
        let settings = vec![numbers("seed", &[7.0]), numbers("loss", &[0.05]), numbers("rounds", &[500.0]), word("response", "threshold")];
        let traced = trace("rounds", settings).unwrap();
        let window_rate = traced.iter().find(|column| column.name == "window_rate").unwrap();
        assert_eq!(window_rate.numbers[499].to_bits(), one[1][6].to_bits());
        let crowds = || vec![numbers("flows", &[2.0, 6.0, 12.0]), numbers("horizon", &[5.0]), numbers("step", &[0.5])];
        assert_eq!(evaluate("population", crowds(), 3, 1).unwrap(), evaluate("population", crowds(), 3, 3).unwrap());
        let long = trace("rounds", vec![numbers("rounds", &[1e9])]);
        assert_eq!(long.unwrap_err(), "rounds: rounds: a trace has at most 10000000 rounds, not 1000000000");
        assert_eq!(trace("mathis", vec![]).unwrap_err(), "mathis: has no trace");
    }

    #[test]
    fn the_listing_is_whole() {
        let models = models_json();
        let rbt = models.as_array().unwrap().iter().find(|model| model["name"] == "rbt").unwrap();
        assert_eq!(rbt["axis"], "loss");
        assert_eq!(rbt["outputs"].as_array().unwrap().len(), 15);
        let rate = rbt["params"].as_array().unwrap().iter().find(|param| param["name"] == "rate").unwrap();
        assert_eq!(
            (rate["kind"].as_str(), rate["default"].as_str(), rate["unit"].as_str()),
            (Some("rate"), Some("45 Mbit/s"), Some("Mbit/s"))
        );
        // A listed default reads as the default.
        for model in ackclock_models::ENTRIES {
            for param in model.params {
                let text = part::default(param);
                let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
                assert_eq!(read(model.name, param.name, &text), Ok(param.usual()), "{}: {}", model.name, param.name);
            }
        }
    }
}
