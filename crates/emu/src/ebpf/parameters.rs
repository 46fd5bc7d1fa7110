//! The values of a program's variables; the comment of `bpf/record.h` describes them.

use ackclock_core::params::{Kind, Value};
use ackclock_kernel::{Part, Program};

/// A variable's new value: one number, or those of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    /// Name of the variable.
    pub(crate) name: String,
    /// Its values.
    pub(crate) values: Vec<u64>,
    /// Whether these are the registry's defaults, so that an object can do without the variable.
    pub(crate) default: bool,
}

impl Assignment {
    /// One number, which is no parameter of a part.
    pub(crate) fn one(name: &str, value: u64) -> Self {
        Self { name: name.to_owned(), values: vec![value], default: false }
    }
}

/// The value of a parameter that the part computes itself.
const AUTO: u64 = u64::MAX;
/// Fraction bits of a real number.
const FRACTION_BITS: i32 = 32;

/// All assignments of a program.
///
/// # Errors
/// If a parameter has a value that a program cannot have.
pub(crate) fn assignments(program: &Program) -> Result<Vec<Assignment>, String> {
    let mut all = vec![threshold(program)];
    for part in program.parts() {
        all.extend(of_part(part)?);
    }
    Ok(all)
}

/// The first threshold.
pub(crate) fn threshold(program: &Program) -> Assignment {
    let threshold = program.initial_ssthresh();
    // The kernel's own threshold is infinite from here on.
    Assignment::one("initial_ssthresh", if threshold < f64::from(i32::MAX) { threshold as u64 } else { 0 })
}

/// The variable that chooses a part in an object.
pub(crate) fn variable(part: &Part) -> String {
    format!("{}_{}", part.axis.name, part.spec.name)
}

/// The assignments of a part; the first one chooses the part.
///
/// # Errors
/// As [`assignments`].
pub(crate) fn of_part(part: &Part) -> Result<Vec<Assignment>, String> {
    let entry = part.entry()?;
    let own = variable(part);
    let mut all = vec![Assignment::one(&own, 1)];
    for (param, (_, value)) in entry.params.iter().zip(&part.spec.params.0) {
        let values = encode(param.kind, value).map_err(|reason| part.refuse(&format!("`{}` {reason}", param.name)))?;
        let name = format!("{own}_{}", param.name);
        let default = *value == param.usual();
        if matches!(param.kind, Kind::Numbers { .. }) {
            all.push(Assignment { name: format!("{name}_count"), values: vec![values.len() as u64], default });
        }
        all.push(Assignment { name, values, default });
    }
    Ok(all)
}

/// A value of a parameter as whole numbers.
fn encode(kind: Kind, value: &Value) -> Result<Vec<u64>, String> {
    let fixed = |number: f64, bits: i32| -> Result<u64, String> {
        let scaled = (number * 2_f64.powi(bits)).round();
        let zero = number != 0.0 && scaled == 0.0;
        if (0.0..2_f64.powi(63)).contains(&scaled) && !zero {
            return Ok(scaled as u64);
        }
        let (least, most) = (2_f64.powi(-bits), 2_f64.powi(63 - bits));
        Err(format!("is {number:?}; the kernel's program computes with 0 and with {least:.1e} to {most:.1e}"))
    };
    let one = |number: f64| match kind {
        Kind::Segments { .. } | Kind::Number { .. } | Kind::Probability { .. } | Kind::Numbers { .. } => fixed(number, FRACTION_BITS),
        Kind::Duration { .. } => fixed(number * 1e9, 0),
        _ => fixed(number, 0),
    };
    match (value, kind) {
        (Value::Auto, _) => Ok(vec![AUTO]),
        (Value::Number(number), _) => one(*number).map(|number| vec![number]),
        (Value::Numbers(numbers), _) => numbers.iter().map(|&number| one(number)).collect(),
        (Value::Bool(value), _) => Ok(vec![u64::from(*value)]),
        (Value::Word(word), Kind::Word(words)) => {
            let index = words.iter().position(|known| known == word).ok_or_else(|| format!("is \"{word}\", an unknown word"))?;
            Ok(vec![index as u64])
        }
        (other, _) => Err(format!("is {other:?}, which no program of the kernel takes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebpf::testing::part;
    use ackclock_core::cc::slow_start;

    #[test]
    fn parameters_become_variables_by_their_kind() {
        let increments = Value::Numbers(vec![3.0, 0.5]);
        let part = part(&slow_start::AXIS, "staged", &[("algorithm", Value::Word("3".to_owned())), ("increments", increments)]);
        let all = of_part(&part).unwrap();
        let expected = [
            ("slow_start_staged", vec![1], false),
            ("slow_start_staged_algorithm", vec![2], false),
            ("slow_start_staged_increments_count", vec![2], false),
            ("slow_start_staged_increments", vec![3 << 32, 1 << 31], false),
            ("slow_start_staged_boundaries_count", vec![4], true),
            ("slow_start_staged_boundaries", [25, 50, 75, 100].map(|boundary| boundary << 32).to_vec(), true),
            ("slow_start_staged_max_ssthresh", vec![100 << 32], true),
        ];
        assert_eq!(all, expected.map(|(name, values, default)| Assignment { name: name.to_owned(), values, default }));
    }

    #[test]
    fn each_kind_has_its_unit() {
        let encoded = |kind, value: f64| encode(kind, &Value::Number(value)).unwrap();
        let (min, max) = (0.0, 1e9);
        assert_eq!(encoded(Kind::Segments { min, max }, 1.5), [3 << 31]);
        assert_eq!(encoded(Kind::Number { min, max }, 0.25), [1 << 30]);
        assert_eq!(encoded(Kind::Duration { min, max }, 0.004), [4_000_000]);
        assert_eq!(encoded(Kind::Integer { min, max }, 8.0), [8]);
        assert_eq!(encode(Kind::Bool, &Value::Bool(true)), Ok(vec![1]));
        assert_eq!(encode(Kind::Segments { min, max }, &Value::Auto), Ok(vec![u64::MAX]));
        for odd in [1e-50, 1e50] {
            let refusal = encode(Kind::Number { min, max }, &Value::Number(odd)).unwrap_err();
            assert_eq!(refusal, format!("is {odd:?}; the kernel's program computes with 0 and with 2.3e-10 to 2.1e9"));
        }
    }
}
