//! The congestion controls of a run.

use ackclock_host::Side;
use ackclock_kernel::{KernelControl, Plan, owner};
use ackclock_sim::engine::Live;
use ackclock_sim::scenario::{Scenario, TraceKind};

use crate::ebpf::{self, Loaded};
use crate::emulator::Clock;
use crate::space::missing;

/// The controls of a run, registered with the kernel while this exists.
#[derive(Debug)]
pub(super) struct Controls {
    names: Vec<String>,
    programs: Vec<Registered>,
}

/// A program, with the places of its quantities in records.
#[derive(Debug)]
struct Registered {
    quantities: Vec<(usize, &'static str)>,
    loaded: Loaded,
}

impl Controls {
    /// Registers the programs of the flows' controls. Equal controls share one.
    ///
    /// # Errors
    /// If the kernel does not take a program.
    pub(super) fn load(plan: &Plan, scenario: &Scenario) -> Result<Self, String> {
        let recording = scenario.record.contains(&TraceKind::Internals);
        let mut known: Vec<(&KernelControl, String)> = Vec::new();
        let (mut names, mut programs) = (Vec::with_capacity(plan.flows.len()), Vec::new());
        for plan in &plan.flows {
            names.push(match plan.as_ref().map(|plan| &plan.control) {
                // No control decides outside this machine's kernel.
                None | Some(KernelControl::Outside) => String::new(),
                Some(KernelControl::Own(name)) => (*name).to_owned(),
                Some(KernelControl::CubicWithoutHystart) => "cubic".to_owned(),
                Some(control @ KernelControl::Ebpf(program)) => {
                    if let Some((_, name)) = known.iter().find(|(other, _)| *other == control) {
                        name.clone()
                    } else {
                        let loaded = ebpf::load(program, recording).map_err(missing)?;
                        let name = loaded.name().to_owned();
                        known.push((control, name.clone()));
                        programs.push(Registered { quantities: ebpf::quantities(program), loaded });
                        name
                    }
                }
            });
        }
        Ok(Self { names, programs })
    }

    /// The kernel's name of the control of a flow.
    pub(super) fn name(&self, flow: usize) -> &str {
        &self.names[flow]
    }

    /// Adds the programs' quantities at each ACK to the trace `internals`.
    ///
    /// # Errors
    /// If records were lost.
    pub(super) fn record(&mut self, live: &mut Live, clock: &Clock) -> Result<(), String> {
        for Registered { quantities, loaded } in &mut self.programs {
            let records = loaded.records()?;
            match loaded.lost() {
                0 => {}
                lost => return Err(format!("the trace `internals` lacks {lost} ACKs, because the ring buffer was full")),
            }
            for record in ebpf::per_ack(&records) {
                // The receiver's socket may use the program as well.
                let Some((flow, Side::Sender)) = owner(record.source.0.into()) else { continue };
                for &(place, name) in &*quantities {
                    if let Some(value) = record.quantities[place] {
                        live.record_internal(clock.at(record.time), flow, name, value);
                    }
                }
            }
        }
        Ok(())
    }
}
