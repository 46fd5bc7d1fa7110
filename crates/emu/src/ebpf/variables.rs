//! The variables of an object, which choose parts and parameters.

use std::collections::BTreeMap;

use ackclock_core::params::Axis;
use ackclock_kernel::Part;

use super::parameters::{self, Assignment};

/// A variable of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Its section, such as `.rodata`.
    pub(crate) section: String,
    /// Offset in bytes.
    pub(crate) offset: usize,
    /// Size in bytes.
    pub(crate) size: usize,
    /// Its value in the object; the first one of a list.
    pub(crate) value: u64,
}

/// The variables of an object by name.
pub(crate) type Variables = BTreeMap<String, Variable>;

/// The assignments that an object takes.
///
/// # Errors
/// If it lacks a part, or a parameter that is not at its default; the message lists what it has.
pub(crate) fn accepted(parts: &[Part], variables: &Variables) -> Result<Vec<Assignment>, String> {
    let mut all = Vec::new();
    for part in parts {
        if !variables.contains_key(&parameters::variable(part)) {
            let axis = part.axis;
            return Err(format!("the kernel has no program for {} `{}`; it has {}", axis.name, part.spec.name, known(axis, variables)));
        }
        for assignment in parameters::of_part(part)? {
            match variables.get(&assignment.name) {
                Some(variable) => fits(part, &assignment, variable, variables)?,
                None if assignment.default => continue,
                None => {
                    return Err(
                        part.refuse(&format!("the kernel's program has only the default of `{}`", parameter(part, &assignment.name)))
                    );
                }
            }
            all.push(assignment);
        }
    }
    Ok(all)
}

/// Whether a variable can have these values: a list has a length, and the variable `NAME_most` limits a number.
fn fits(part: &Part, assignment: &Assignment, variable: &Variable, variables: &Variables) -> Result<(), String> {
    let name = parameter(part, &assignment.name);
    let (room, count) = (variable.size.div_ceil(8), assignment.values.len());
    if count > room {
        return Err(part.refuse(&format!("the kernel's program takes at most {room} values in `{name}`, not {count}")));
    }
    let most = variables.get(&format!("{}_most", assignment.name)).map(|most| most.value);
    match (assignment.values.first(), most) {
        (Some(&value), Some(most)) if value > most => {
            Err(part.refuse(&format!("the kernel's program takes at most {most} as `{name}`, not {value}")))
        }
        _ => Ok(()),
    }
}

/// The parameter of a part that a variable stands for.
fn parameter<'a>(part: &Part, variable: &'a str) -> &'a str {
    variable.strip_prefix(&parameters::variable(part)).map_or(variable, |rest| rest.trim_start_matches('_'))
}

/// The parts of an axis that an object has, as a list in a message.
fn known(axis: &Axis, variables: &Variables) -> String {
    let has = |name: &&str| variables.contains_key(&format!("{}_{name}", axis.name));
    let names: Vec<String> = axis.parts().iter().map(|entry| entry.name).filter(has).map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The number of `size` bytes at an offset; zero if the section has none there.
pub(crate) fn read(section: &[u8], offset: usize, size: usize) -> u64 {
    let bytes = section.get(offset..offset + size).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Writes the values of a variable into its section.
///
/// # Errors
/// If they do not fit.
pub(crate) fn write(section: &mut [u8], variable: &Variable, values: &[u64]) -> Result<(), String> {
    let place = section.get_mut(variable.offset..variable.offset + variable.size).ok_or("a variable lies outside of its section")?;
    let width = if values.len() == 1 { place.len().min(8) } else { 8 };
    for (place, value) in place.chunks_mut(width).zip(values) {
        let bytes = value.to_le_bytes();
        if bytes[width..].iter().any(|&byte| byte != 0) {
            return Err(format!("{value} does not fit into {width} bytes"));
        }
        place.copy_from_slice(&bytes[..width]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ebpf::testing::part;
    use ackclock_core::cc::{loss_response, slow_start};
    use ackclock_core::params::Value;

    fn object(names: &[(&str, usize, u64)]) -> Variables {
        let variable = |size, value| Variable { section: ".rodata".to_owned(), offset: 0, size, value };
        names.iter().map(|&(name, size, value)| (name.to_owned(), variable(size, value))).collect()
    }

    #[test]
    fn what_the_object_lacks_is_refused_with_what_it_has() {
        let variables = object(&[("slow_start_limited", 1, 0), ("slow_start_staged", 1, 0), ("avoidance_reno", 1, 0)]);
        let refusal = |part: Part| accepted(&[part], &variables).unwrap_err();
        assert_eq!(
            refusal(part(&slow_start::AXIS, "vegas", &[])),
            "the kernel has no program for slow_start `vegas`; it has `limited`, `staged`"
        );
        assert_eq!(refusal(part(&loss_response::AXIS, "staged", &[])), "the kernel has no program for loss_response `staged`; it has none");
        let limited = |segments: f64| part(&slow_start::AXIS, "limited", &[("max_ssthresh", Value::Number(segments))]);
        assert_eq!(accepted(&[limited(100.0)], &variables).unwrap().len(), 1, "the default needs no variable");
        assert_eq!(refusal(limited(50.0)), "slow_start `limited`: the kernel's program has only the default of `max_ssthresh`");
    }

    #[test]
    fn lists_and_numbers_have_the_limits_of_the_object() {
        let variables = object(&[
            ("slow_start_staged", 1, 0),
            ("slow_start_staged_increments", 32, 0),
            ("slow_start_staged_increments_count", 8, 0),
            ("slow_start_search", 1, 0),
            ("slow_start_search_bins", 8, 0),
            ("slow_start_search_bins_most", 8, 30),
        ]);
        let accepted = |part: Part| accepted(&[part], &variables).map(drop);
        let staged = |count| part(&slow_start::AXIS, "staged", &[("increments", Value::Numbers(vec![1.0; count]))]);
        assert_eq!(accepted(staged(4)), Ok(()));
        let long = "slow_start `staged`: the kernel's program takes at most 4 values in `increments`, not 5";
        assert_eq!(accepted(staged(5)), Err(long.to_owned()));
        let search = |bins| part(&slow_start::AXIS, "search", &[("bins", Value::Number(bins))]);
        assert_eq!(accepted(search(30.0)), Ok(()));
        let many = "slow_start `search`: the kernel's program takes at most 30 as `bins`, not 31";
        assert_eq!(accepted(search(31.0)), Err(many.to_owned()));
    }

    #[test]
    fn values_are_written_with_the_width_of_their_variable() {
        let mut section = [9; 24];
        let variable = |offset, size| Variable { section: String::new(), offset, size, value: 0 };
        write(&mut section, &variable(0, 1), &[1]).unwrap();
        write(&mut section, &variable(8, 16), &[2, 3]).unwrap();
        assert_eq!(section[..9], [1, 9, 9, 9, 9, 9, 9, 9, 2]);
        assert_eq!(section[16..18], [3, 0]);
        assert!(write(&mut section, &variable(0, 1), &[256]).is_err());
        assert!(write(&mut section, &variable(20, 8), &[1]).is_err());
    }
}
