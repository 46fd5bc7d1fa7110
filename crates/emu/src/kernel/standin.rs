//! The kernel's own controls; programs follow.

use ackclock_core::units::Segments;
use ackclock_sim::scenario::ControlSpec;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum KernelControl {
    Own(&'static str),
    Ebpf(Program),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program;

#[derive(Debug)]
pub(super) struct Loaded;

impl Program {
    pub(super) fn load(&self, _recording: bool) -> Result<Loaded, String> {
        Err("no programs".to_owned())
    }
}

impl Loaded {
    pub(super) fn name(&self) -> &str {
        ""
    }
}

impl KernelControl {
    pub(super) fn difference(&self) -> Option<&'static str> {
        None
    }
}

pub(super) fn choose(control: &ControlSpec, _initial_ssthresh: Segments) -> Result<KernelControl, String> {
    match control {
        ControlSpec::Composed(parts) => match (parts.slow_start.name(), parts.avoidance.name) {
            ("standard", "reno") => Ok(KernelControl::Own("reno")),
            ("hystart", "cubic_linux") => Ok(KernelControl::Own("cubic")),
            (slow_start, avoidance) => Err(format!("the kernel has no control of {slow_start} and {avoidance}")),
        },
        ControlSpec::Whole(part) if part.name == "bbr" => Ok(KernelControl::Own("bbr")),
        _ => Err("the kernel has no such control".to_owned()),
    }
}
