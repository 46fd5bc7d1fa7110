//! Scenarios and programs on the kernel of this machine.

use pyo3::prelude::*;

/// A trial: name, what it is needed for, whether it succeeded, what was found or is missing.
type Probe = (String, &'static str, bool, String);

/// Returns the kernel's release, and every trial of what this machine can run.
#[pyfunction]
pub(crate) fn kernel_check(py: Python<'_>) -> (String, Vec<Probe>) {
    py.detach(linux::check)
}

#[cfg(target_os = "linux")]
mod linux {
    use ackclock_emu::check::{self, Use};

    pub(super) fn check() -> (String, Vec<super::Probe>) {
        let row = |probe: check::Probe| {
            let needed_for = match probe.needed_for {
                Use::All => "all",
                Use::Control => "control",
                Use::Ebpf => "ebpf",
                Use::Precision => "precision",
            };
            let found = probe.result.is_ok();
            (probe.name, needed_for, found, probe.result.unwrap_or_else(|missing| missing))
        };
        (check::release(), check::check().into_iter().map(row).collect())
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn check() -> (String, Vec<super::Probe>) {
        let system = std::env::consts::OS;
        (system.to_owned(), vec![("Linux".to_owned(), "all", false, format!("this system is {system}"))])
    }
}
