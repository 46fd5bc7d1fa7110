//! Which congestion control of the kernel runs the control of a scenario.
//!
//! The kernel's own algorithms stand for exactly one composition each: `reno` for standard slow start with Reno, `cubic` for HyStart with
//! `cubic_linux`, both with the parameters that the kernel has. With HyStart switched off, `cubic` is standard slow start with `cubic_linux`.
//! Every other composition needs a program, which the kernel runs for it.

use ackclock_core::cc::{avoidance, loss_response, slow_start, whole};
use ackclock_core::params::{Axis, Description, Params, Value};
use ackclock_core::units::Segments;
use ackclock_sim::scenario::{ComposedSpec, ControlSpec, PartSpec, SlowStartSpec};

use crate::ebpf::{self, Loaded};

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

/// A control as a program of the kernel: parts with their parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    parts: Vec<Part>,
    initial_ssthresh: Segments,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// Where the part belongs. A program has no initial window: it is an attribute of the route.
    pub(crate) axis: &'static Axis,
    /// The part with its parameters.
    pub(crate) spec: PartSpec,
}

impl Part {
    /// Its entry in the registry.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn entry(&self) -> Result<&'static Description, String> {
        self.axis.part(self.spec.name).ok_or_else(|| format!("there is no {} `{}`", self.axis.name, self.spec.name))
    }

    /// The variable that chooses it in an object.
    pub(crate) fn variable(&self) -> String {
        format!("{}_{}", self.axis.name, self.spec.name)
    }

    /// A message about it.
    pub(crate) fn refuse(&self, reason: &str) -> String {
        format!("{} `{}`: {reason}", self.axis.name, self.spec.name)
    }
}

impl Program {
    /// A program of these parts. The parts must pass [`ebpf::check`].
    pub(crate) const fn new(parts: Vec<Part>, initial_ssthresh: Segments) -> Self {
        Self { parts, initial_ssthresh }
    }

    /// The program of a composition whose slow start is `slow_start`.
    fn of(spec: &ComposedSpec, slow_start: &PartSpec, initial_ssthresh: Segments) -> Self {
        let part = |axis, spec: &PartSpec| Part { axis, spec: spec.clone() };
        let mut parts = vec![part(&slow_start::AXIS, slow_start), part(&avoidance::AXIS, &spec.avoidance)];
        parts.extend(spec.loss_response.as_ref().map(|spec| part(&loss_response::AXIS, spec)));
        Self::new(parts, initial_ssthresh)
    }

    /// The parts.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The first slow start threshold in segments; infinite if there is none.
    pub(crate) const fn initial_ssthresh(&self) -> Segments {
        self.initial_ssthresh
    }

    /// The places of the parts' quantities in [`ebpf::Record::quantities`], by name. A quantity of several parts is listed once, as in
    /// traces of the simulation.
    pub fn quantities(&self) -> Vec<(usize, &'static str)> {
        let mut all: Vec<(usize, &'static str)> = Vec::new();
        // The parts are in the order of the record's axes: slow start, avoidance, loss response.
        for (axis, part) in self.parts.iter().enumerate() {
            let declared = part.entry().map(|entry| entry.quantities).unwrap_or_default();
            for (index, quantity) in declared.iter().enumerate().take(ebpf::QUANTITIES_PER_AXIS) {
                if all.iter().all(|(_, name)| *name != quantity.name) {
                    all.push((ebpf::QUANTITIES_PER_AXIS * axis + index, quantity.name));
                }
            }
        }
        all
    }

    /// Registers the program with the kernel under a name of its own. With `recording` it reports every ACK ([`Loaded::records`]).
    ///
    /// # Errors
    /// If this build has no loader, or the machine lacks rights or a feature of the kernel: the message says which.
    pub fn load(&self, recording: bool) -> Result<Loaded, String> {
        ebpf::load(self, recording)
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
    let program = Program::of(spec, slow_start, initial_ssthresh);
    ebpf::check(program.parts()).map_err(|reason| reason + hint(slow_start.name, spec.avoidance.name))?;
    Ok(KernelControl::Ebpf(program))
}

/// The values of an object's variables for a control of parts, by name; the comment of `bpf/record.h` describes them.
///
/// # Errors
/// If a parameter has a value that no program can have, or the slow start is written in Python.
pub fn parameters(spec: &ComposedSpec, initial_ssthresh: Segments) -> Result<Vec<(String, Vec<u64>)>, String> {
    let SlowStartSpec::Part(slow_start) = &spec.slow_start else { return Err(PYTHON.to_owned()) };
    let all = ebpf::assignments(&Program::of(spec, slow_start, initial_ssthresh))?;
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
    use super::testing::part;
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

    #[test]
    fn each_quantity_has_one_place() {
        let parts = vec![
            part(&slow_start::AXIS, "search", &[]),
            part(&avoidance::AXIS, "bandwidth_ratio", &[]),
            part(&loss_response::AXIS, "westwood", &[]),
        ];
        let program = Program::new(parts, f64::INFINITY);
        let expected = [(0, "bin_duration"), (1, "norm"), (4, "bwe"), (5, "bwe_avg"), (6, "bwe_max"), (7, "delta")];
        assert_eq!(program.quantities(), expected);
    }

    #[test]
    fn no_part_has_more_quantities_than_places() {
        for axis in [&slow_start::AXIS, &avoidance::AXIS, &loss_response::AXIS] {
            for entry in axis.parts {
                assert!(entry.quantities.len() <= ebpf::QUANTITIES_PER_AXIS, "{}", entry.name);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A part of the registry with some parameters set.
    pub(crate) fn part(axis: &'static Axis, name: &'static str, set: &[(&str, Value)]) -> Part {
        let entry = axis.part(name).unwrap();
        let mut params = Params::defaults(entry.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        Part { axis, spec: PartSpec { name, params } }
    }
}
