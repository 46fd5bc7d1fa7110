//! The congestion controls that this machine's kernel runs for scenarios.

use ackclock_core::units::Segments;
use ackclock_kernel::{Offer, Program, Seats};
use ackclock_sim::scenario::ComposedSpec;

use crate::ebpf;

/// What the kernel of every machine is expected to offer; [`check`](crate::check) tries it.
pub const OFFER: Offer<'static> =
    Offer { names: &["reno", "cubic", "bbr"], programs: Some(ebpf::check), seats: Seats::Never, instead: None };

/// The values of an object's variables for a control of parts, by name; the comment of `bpf/record.h` describes them.
///
/// # Errors
/// If a parameter has a value that no program can have, or the slow start is written in Python.
pub fn parameters(spec: &ComposedSpec, initial_ssthresh: Segments) -> Result<Vec<(String, Vec<u64>)>, String> {
    let all = ebpf::assignments(&Program::of(spec, initial_ssthresh)?)?;
    Ok(all.into_iter().map(|assignment| (assignment.name, assignment.values)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_kernel::choose;
    use ackclock_sim::scenario::Document;

    #[test]
    fn a_composition_that_no_program_runs_is_refused_by_its_part() {
        let text = "duration = '5 s'\ntopology = { kind = 'chain' }\n[flow]\nslow_start = 'hystart'\navoidance = 'reno'\n";
        let scenario = Document::from_toml(text, "test.toml").unwrap().scenario().unwrap();
        let refusal = choose(&scenario.flows[0].control, f64::INFINITY, &OFFER).unwrap_err();
        assert!(refusal.contains("slow_start"), "{refusal}");
        assert!(refusal.ends_with("; the kernel has HyStart only with avoidance = \"cubic_linux\""), "{refusal}");
    }
}
