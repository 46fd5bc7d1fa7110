//! Which congestion control of the kernel runs the control of a scenario.
//!
//! The kernel's own algorithms stand for exactly one composition each: `reno` for standard slow start with Reno, `cubic` for HyStart with
//! `cubic_linux`, both with the parameters that the kernel has. With HyStart switched off, `cubic` is standard slow start with `cubic_linux`.
//! Every other composition needs a program, which the kernel runs for it.

use ackclock_core::cc::{avoidance, loss_response, slow_start, whole};
use ackclock_core::params::{Params, Value};
use ackclock_core::units::Segments;
use ackclock_sim::scenario::{ComposedSpec, ControlSpec, PartSpec, SlowStartSpec};

use crate::ebpf;
use crate::program::Part;
pub use crate::program::Program;

const PYTHON: &str = "a slow start written in Python does not run on the kernel; choose a part instead";

/// A congestion control of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelControl {
    /// One that the kernel has, by its name.
    Own(&'static str),
    /// The kernel's CUBIC while HyStart is switched off for the whole machine.
    CubicWithoutHystart,
    /// A program composed of the scenario's parts.
    Ebpf(Program),
}

impl KernelControl {
    /// What is known to differ from the control of the simulation, if anything.
    pub fn difference(&self) -> Option<&'static str> {
        match self {
            Self::Own("bbr") => Some("the kernel's bbr is version 1 unless its builder replaced it; the simulation has version 3"),
            _ => None,
        }
    }
}

/// Chooses the kernel's control for that of a scenario. Needs neither rights nor a particular kernel.
///
/// # Errors
/// If the kernel has none, and no program can be composed: the message names the part and the nearest that can run.
pub fn choose(control: &ControlSpec, initial_ssthresh: Segments) -> Result<KernelControl, String> {
    match control {
        ControlSpec::Whole(part) if part.name == "bbr" => whole_bbr(part),
        ControlSpec::Whole(part) => {
            Err(format!("congestion_control `{}` does not run on the kernel; the nearest that does is `bbr`", part.name))
        }
        ControlSpec::Custom(_) => {
            Err("a congestion control written in Python does not run on the kernel; choose parts or `bbr` instead".to_owned())
        }
        ControlSpec::Composed(parts) => composed(parts, initial_ssthresh),
    }
}

/// The program of a composition whose slow start is `slow_start`.
fn program(spec: &ComposedSpec, slow_start: &PartSpec, initial_ssthresh: Segments) -> Program {
    let part = |axis, spec: &PartSpec| Part { axis, spec: spec.clone() };
    let mut parts = vec![part(&slow_start::AXIS, slow_start), part(&avoidance::AXIS, &spec.avoidance)];
    parts.extend(spec.loss_response.as_ref().map(|spec| part(&loss_response::AXIS, spec)));
    Program::new(parts, initial_ssthresh)
}

fn whole_bbr(part: &PartSpec) -> Result<KernelControl, String> {
    let defaults = Params::defaults(whole::bbr::ENTRY.params);
    match part.params.0.iter().find(|(name, value)| !defaults.0.contains(&(name, value.clone()))) {
        None => Ok(KernelControl::Own("bbr")),
        Some((name, _)) => Err(format!("the kernel's bbr has no `{name}`; leave it at its default")),
    }
}

fn composed(spec: &ComposedSpec, initial_ssthresh: Segments) -> Result<KernelControl, String> {
    let SlowStartSpec::Part(slow_start) = &spec.slow_start else {
        return Err(PYTHON.to_owned());
    };
    let response = spec.loss_response.as_ref();
    if slow_start.name == "standard" && spec.avoidance.name == "reno" && response.is_none_or(|part| part.name == "halve") {
        return Ok(KernelControl::Own("reno"));
    }
    if spec.avoidance.name == "cubic_linux" && response.is_none() {
        match slow_start.name {
            "hystart" => return own_cubic(&[slow_start, &spec.avoidance]).map(|()| KernelControl::Own("cubic")),
            "standard" => return own_cubic(&[&spec.avoidance]).map(|()| KernelControl::CubicWithoutHystart),
            _ => {}
        }
    }
    let composed = program(spec, slow_start, initial_ssthresh);
    ebpf::check(composed.parts()).map_err(|reason| reason + hint(slow_start.name, spec.avoidance.name))?;
    Ok(KernelControl::Ebpf(composed))
}

/// The values of an object's variables for a control of parts, by name; the comment of `bpf/record.h` describes them.
///
/// # Errors
/// If a parameter has a value that no program can have, or the slow start is written in Python.
pub fn parameters(spec: &ComposedSpec, initial_ssthresh: Segments) -> Result<Vec<(String, Vec<u64>)>, String> {
    let SlowStartSpec::Part(slow_start) = &spec.slow_start else { return Err(PYTHON.to_owned()) };
    let all = ebpf::assignments(&program(spec, slow_start, initial_ssthresh))?;
    Ok(all.into_iter().map(|assignment| (assignment.name, assignment.values)).collect())
}

/// The kernel's own algorithm that is near a composition that cannot run.
fn hint(slow_start: &str, avoidance: &str) -> &'static str {
    match (slow_start, avoidance) {
        (_, "cubic" | "cubic_linux") => "; the kernel's own CUBIC is slow_start = \"hystart\" with avoidance = \"cubic_linux\"",
        ("hystart", _) => "; the kernel has HyStart only with avoidance = \"cubic_linux\"",
        _ => "",
    }
}

/// Whether the parts, of `hystart` and `cubic_linux`, have the values that the kernel's module has.
fn own_cubic(parts: &[&PartSpec]) -> Result<(), String> {
    for part in parts {
        let entry = if part.name == "hystart" { slow_start::hystart::ENTRY.params } else { avoidance::cubic_linux::ENTRY.params };
        for ((name, value), (_, default)) in part.params.0.iter().zip(&Params::defaults(entry).0) {
            // The tick is a property of the machine.
            if value != default && *name != "tick" {
                return Err(format!("the kernel's own CUBIC has `{name}` = {} in `{}`, not {}", show(default), part.name, show(value)));
            }
        }
    }
    Ok(())
}

fn show(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Numbers(numbers) => format!("{numbers:?}"),
        Value::Word(word) => format!("\"{word}\""),
        Value::Limit(limit) => format!("{limit:?}"),
        Value::Bool(value) => value.to_string(),
        Value::Series(steps) => format!("{steps:?}"),
        Value::Part(part) => format!("\"{}\"", part.name),
        Value::Auto => "\"auto\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_sim::scenario::Document;

    fn chosen(keys: &str) -> Result<KernelControl, String> {
        let text = format!("duration = '5 s'\ntopology = {{ kind = 'chain' }}\n[flow]\n{keys}\n");
        let scenario = Document::from_toml(&text, "test.toml").unwrap().scenario().unwrap();
        choose(&scenario.flows[0].control, scenario.flows[0].initial_ssthresh)
    }

    fn own(keys: &str) -> &'static str {
        match chosen(keys).unwrap() {
            KernelControl::Own(name) => name,
            other => panic!("{keys} is {other:?}"),
        }
    }

    #[test]
    fn the_kernels_own_controls_stand_for_one_composition_each() {
        assert_eq!(own("avoidance = 'reno'"), "reno");
        assert_eq!(own("avoidance = 'reno'\nloss_response = 'halve'"), "reno");
        assert_eq!(own("host = 'linux'"), "cubic");
        assert_eq!(own("slow_start = 'hystart'\navoidance = 'cubic_linux'"), "cubic");
        assert_eq!(own("congestion_control = 'bbr'"), "bbr");
        assert_eq!(chosen("host = 'linux'\nslow_start = 'standard'").unwrap(), KernelControl::CubicWithoutHystart);
        let different = KernelControl::Own("bbr").difference().unwrap();
        assert!(different.contains("version 1") && KernelControl::Own("reno").difference().is_none());
    }

    #[test]
    fn other_parameters_than_the_kernels_are_refused_by_name() {
        let refusal = chosen("slow_start = { kind = 'hystart', low_window = '32 segments' }\navoidance = 'cubic_linux'").unwrap_err();
        assert_eq!(refusal, "the kernel's own CUBIC has `low_window` = 16 in `hystart`, not 32");
        let refusal = chosen("congestion_control = { kind = 'bbr', beta = 0.5 }").unwrap_err();
        assert_eq!(refusal, "the kernel's bbr has no `beta`; leave it at its default");
        let refusal = chosen("slow_start = 'hystart'\navoidance = 'reno'").unwrap_err();
        assert!(refusal.contains("slow_start"), "{refusal}");
        assert!(refusal.ends_with("; the kernel has HyStart only with avoidance = \"cubic_linux\""), "{refusal}");
        let custom = ControlSpec::Custom(std::sync::Arc::new(|| unreachable!()));
        assert!(choose(&custom, f64::INFINITY).unwrap_err().contains("Python"));
    }
}
