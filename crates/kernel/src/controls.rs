//! Which congestion control of a kernel runs the control of a scenario.
//!
//! The kernel's own algorithms stand for exactly one composition each: `reno` for standard slow start with Reno, `cubic` for HyStart with
//! `cubic_linux`, `bbr` for `bbr1`, all with the parameters that the kernel has. With HyStart switched off, `cubic` is standard slow start with `cubic_linux`.
//! Every other composition needs a program, which some kernels run.

use ackclock_core::cc::{avoidance, slow_start, whole};
use ackclock_core::params::{Param, Params, Value};
use ackclock_core::units::Segments;
use ackclock_sim::scenario::{ComposedSpec, ControlSpec, PartSpec, SlowStartSpec, nearest};

use crate::program::Program;

/// Says why a kernel cannot run a program, if so.
pub type Check = fn(&Program) -> Result<(), String>;

/// The congestion controls that a kernel offers.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// Its own, by their names for `TCP_CONGESTION`.
    pub names: &'a [&'static str],
    /// Which programs it runs; `None`: none.
    pub programs: Option<Check>,
    /// Whether controls can decide outside the kernel.
    pub seats: Seats,
    /// The kernel's own control that every flow has, whatever the scenario names.
    pub instead: Option<&'a str>,
}

/// When a control decides outside the kernel, which tells it each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seats {
    /// The kernel cannot ask.
    Never,
    /// If the kernel has no such control.
    Otherwise,
    /// Also if the kernel has it.
    Always,
}

/// A congestion control of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelControl {
    /// One that the kernel has, by its name.
    Own(&'static str),
    /// The kernel's CUBIC while HyStart is switched off for all its connections.
    CubicWithoutHystart,
    /// A program composed of the scenario's parts.
    Ebpf(Program),
    /// The control of the simulation, outside the kernel.
    Outside,
}

impl Offer<'_> {
    /// The kernel's own control `name`.
    ///
    /// # Errors
    /// If the kernel has none of this name: lists those that it has.
    pub fn own(&self, name: &str) -> Result<KernelControl, String> {
        let found = self.names.iter().find(|known| **known == name).copied();
        found.map(KernelControl::Own).ok_or_else(|| {
            let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
            let right = nearest(name, self.names.iter().copied());
            let subject = right.map_or_else(|| "; it".to_owned(), |right| format!("; did you mean `{right}`? It"));
            format!("this kernel has no congestion control `{name}`{subject} has {}", names.join(", "))
        })
    }
}

impl KernelControl {
    /// The control of the kernel at the receiver: one that only acknowledges has no influence, except that DCTCP's also feeds marks back.
    pub fn at_receiver(&self) -> &'static str {
        if self.is_dctcp() { "dctcp" } else { "reno" }
    }

    /// Whether it negotiates ECN and feeds marks back as in DCTCP, whatever the scenario says.
    pub fn is_dctcp(&self) -> bool {
        *self == Self::Own("dctcp")
    }

    /// What is known to differ from the control of the simulation, if anything.
    pub fn difference(&self, simulated: &ControlSpec) -> Option<&'static str> {
        match (self, simulated) {
            (Self::Own("bbr"), ControlSpec::Whole(part)) if part.name == "bbr" => {
                Some("the kernel's bbr is version 1 unless its builder replaced it; the simulation has version 3")
            }
            _ => None,
        }
    }
}

/// Chooses the control for that of a scenario from those that the kernel offers.
///
/// # Errors
/// If the kernel has none, and runs no program of these parts: the message names the part and the nearest that can run.
pub fn choose(control: &ControlSpec, initial_ssthresh: Segments, offer: &Offer<'_>) -> Result<KernelControl, String> {
    if let Some(name) = offer.instead {
        return offer.own(name);
    }
    match offer.seats {
        Seats::Never => inside(control, initial_ssthresh, offer),
        Seats::Otherwise => Ok(inside(control, initial_ssthresh, offer).unwrap_or(KernelControl::Outside)),
        Seats::Always => Ok(KernelControl::Outside),
    }
}

/// Chooses a control inside the kernel.
fn inside(control: &ControlSpec, initial_ssthresh: Segments, offer: &Offer<'_>) -> Result<KernelControl, String> {
    match control {
        ControlSpec::Whole(part) => match part.name {
            "bbr" => own_bbr(part, whole::bbr::ENTRY.params, offer),
            "bbr1" => own_bbr(part, whole::bbr1::ENTRY.params, offer),
            name => Err(format!("congestion_control `{name}` does not run on the kernel; the nearest that does is `bbr1`")),
        },
        ControlSpec::Custom(_) => {
            Err("a congestion control written in Python does not run on the kernel; choose parts or `bbr1` instead".to_owned())
        }
        ControlSpec::Composed(parts) => composed(parts, initial_ssthresh, offer),
        ControlSpec::Own(name) => Err(format!("{name} is part of its hosts and does not run on the kernel")),
    }
}

/// The kernel's BBR, for a whole control with these parameters.
fn own_bbr(part: &PartSpec, declared: &[Param], offer: &Offer<'_>) -> Result<KernelControl, String> {
    let defaults = Params::defaults(declared);
    match part.params.0.iter().find(|(name, value)| !defaults.0.contains(&(name, value.clone()))) {
        None => offer.own("bbr"),
        Some((name, _)) => Err(format!("the kernel's bbr has no `{name}`; leave it at its default")),
    }
}

fn composed(spec: &ComposedSpec, initial_ssthresh: Segments, offer: &Offer<'_>) -> Result<KernelControl, String> {
    let program = Program::of(spec, initial_ssthresh)?;
    if let SlowStartSpec::Part(slow_start) = &spec.slow_start
        && let Some(own) = own(slow_start, spec, offer)
    {
        return own;
    }
    match offer.programs {
        None => Err(format!(
            "no congestion control of this kernel is {program}; the nearest are slow_start = \"standard\" with avoidance = \"reno\", and \
             slow_start = \"hystart\" with avoidance = \"cubic_linux\""
        )),
        Some(check) => {
            check(&program).map_err(|reason| reason + hint(&program))?;
            Ok(KernelControl::Ebpf(program))
        }
    }
}

/// The kernel's own control for a composition, if there is one.
fn own(slow_start: &PartSpec, spec: &ComposedSpec, offer: &Offer<'_>) -> Option<Result<KernelControl, String>> {
    let response = spec.loss_response.as_ref();
    match (slow_start.name, spec.avoidance.name) {
        ("standard", "reno") if response.is_none_or(|part| part.name == "halve") => Some(offer.own("reno")),
        ("hystart", "cubic_linux") if response.is_none() => {
            Some(own_cubic(&[slow_start, &spec.avoidance]).and_then(|()| offer.own("cubic")))
        }
        ("standard", "cubic_linux") if response.is_none() => {
            let own = own_cubic(&[&spec.avoidance]).and_then(|()| offer.own("cubic"));
            Some(own.map(|_| KernelControl::CubicWithoutHystart))
        }
        _ => None,
    }
}

/// The kernel's own algorithm that is near a composition that cannot run.
fn hint(program: &Program) -> &'static str {
    let has = |name| program.parts().iter().any(|part| part.spec.name == name);
    if has("cubic") || has("cubic_linux") {
        "; the kernel's own CUBIC is slow_start = \"hystart\" with avoidance = \"cubic_linux\""
    } else if has("hystart") {
        "; the kernel has HyStart only with avoidance = \"cubic_linux\""
    } else {
        ""
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
        Value::Parts(parts) => format!("{:?}", parts.iter().map(|part| part.name).collect::<Vec<_>>()),
        Value::Auto => "\"auto\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_sim::scenario::{Document, FlowSpec};

    /// A kernel with these controls that runs no program.
    const OWN: Offer<'_> = Offer { names: &["reno", "cubic", "bbr"], programs: None, seats: Seats::Never, instead: None };

    fn flow(keys: &str) -> FlowSpec {
        let text = format!("duration = '5 s'\ntopology = {{ kind = 'chain' }}\n[flow]\n{keys}\n");
        Document::from_toml(&text, "test.toml").unwrap().scenario().unwrap().flows.swap_remove(0)
    }

    fn control(keys: &str) -> ControlSpec {
        flow(keys).control
    }

    fn chosen(keys: &str, offer: &Offer<'_>) -> Result<KernelControl, String> {
        let flow = flow(keys);
        choose(&flow.control, flow.initial_ssthresh, offer)
    }

    fn own(keys: &str) -> &'static str {
        match chosen(keys, &OWN).unwrap() {
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
        assert_eq!(chosen("host = 'linux'\nslow_start = 'standard'", &OWN).unwrap(), KernelControl::CubicWithoutHystart);
        assert_eq!(own("congestion_control = 'bbr1'"), "bbr");
        let different = |keys| KernelControl::Own(own(keys)).difference(&control(keys));
        assert!(different("congestion_control = 'bbr'").unwrap().contains("version 1"));
        assert_eq!(["congestion_control = 'bbr1'", "avoidance = 'reno'"].map(different), [None, None]);
    }

    #[test]
    fn other_parameters_than_the_kernels_are_refused_by_name() {
        let refusal = chosen("slow_start = { kind = 'hystart', low_window = '32 segments' }\navoidance = 'cubic_linux'", &OWN).unwrap_err();
        assert_eq!(refusal, "the kernel's own CUBIC has `low_window` = 16 in `hystart`, not 32");
        let refusal = chosen("congestion_control = { kind = 'bbr', beta = 0.5 }", &OWN).unwrap_err();
        assert_eq!(refusal, "the kernel's bbr has no `beta`; leave it at its default");
        let custom = ControlSpec::Custom(std::sync::Arc::new(|| unreachable!()));
        assert!(choose(&custom, f64::INFINITY, &OWN).unwrap_err().contains("Python"));
    }

    #[test]
    fn only_what_the_kernel_offers_is_chosen() {
        let poor = Offer { names: &["reno"], ..OWN };
        for keys in ["host = 'linux'", "host = 'linux'\nslow_start = 'standard'"] {
            assert_eq!(chosen(keys, &poor).unwrap_err(), "this kernel has no congestion control `cubic`; it has `reno`");
        }
        let refusal = chosen("slow_start = 'standard'\navoidance = 'veno'\nloss_response = 'halve'", &poor).unwrap_err();
        let parts = "slow_start = \"standard\", avoidance = \"veno\", loss_response = \"halve\"";
        assert!(refusal.starts_with(&format!("no congestion control of this kernel is {parts}; the nearest are ")), "{refusal}");
    }

    #[test]
    fn a_control_decides_outside_if_the_kernel_can_ask() {
        let asks = Offer { seats: Seats::Otherwise, ..OWN };
        assert_eq!(chosen("avoidance = 'reno'", &asks).unwrap(), KernelControl::Own("reno"));
        assert_eq!(chosen("avoidance = 'veno'", &asks).unwrap(), KernelControl::Outside);
        assert_eq!(chosen("avoidance = 'reno'", &Offer { seats: Seats::Always, ..OWN }).unwrap(), KernelControl::Outside);
        assert_eq!(chosen("avoidance = 'reno'", &Offer { instead: Some("bbr"), ..asks }).unwrap(), KernelControl::Own("bbr"));
        let refusal = chosen("avoidance = 'reno'", &Offer { instead: Some("bic"), ..asks }).unwrap_err();
        assert_eq!(refusal, "this kernel has no congestion control `bic`; did you mean `cubic`? It has `reno`, `cubic`, `bbr`");
    }

    #[test]
    fn a_composition_without_a_control_of_the_kernel_is_a_program_if_the_kernel_runs_it() {
        let runs = Offer { programs: Some(|_| Ok(())), ..OWN };
        let KernelControl::Ebpf(program) = chosen("slow_start = 'limited'\ninitial_ssthresh = '50 segments'", &runs).unwrap() else {
            panic!()
        };
        assert_eq!((program.parts().len(), program.initial_ssthresh()), (2, 50.0));
        assert_eq!(program.parts()[0].entry().unwrap().name, "limited");
        assert_eq!(chosen("avoidance = 'reno'", &runs).unwrap(), KernelControl::Own("reno"), "its own comes first");
        let refuses = Offer { programs: Some(|program| Err(format!("not {program}"))), ..OWN };
        let refusal = chosen("slow_start = 'hystart'\navoidance = 'reno'", &refuses).unwrap_err();
        let reason = "not slow_start = \"hystart\", avoidance = \"reno\"";
        assert_eq!(refusal, format!("{reason}; the kernel has HyStart only with avoidance = \"cubic_linux\""));
        let refusal = chosen("slow_start = 'hystart'\navoidance = 'cubic'", &refuses).unwrap_err();
        assert!(refusal.ends_with("; the kernel's own CUBIC is slow_start = \"hystart\" with avoidance = \"cubic_linux\""), "{refusal}");
    }
}
