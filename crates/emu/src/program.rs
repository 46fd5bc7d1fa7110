//! A congestion control as a program of the kernel: its parts and their quantities.

use ackclock_core::params::{Axis, Description};
use ackclock_core::units::Segments;
use ackclock_sim::scenario::PartSpec;

/// Places of an axis.
pub(crate) const QUANTITIES_PER_AXIS: usize = 4;

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
    /// A program of these parts. The parts must pass `ebpf::check`.
    pub(crate) const fn new(parts: Vec<Part>, initial_ssthresh: Segments) -> Self {
        Self { parts, initial_ssthresh }
    }

    /// The parts.
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The first slow start threshold in segments; infinite if there is none.
    pub(crate) const fn initial_ssthresh(&self) -> Segments {
        self.initial_ssthresh
    }

    /// The places of the parts' quantities in [`Record::quantities`](crate::ebpf::Record::quantities), by name. A quantity of several parts is listed once, as in
    /// traces of the simulation.
    pub fn quantities(&self) -> Vec<(usize, &'static str)> {
        let mut all: Vec<(usize, &'static str)> = Vec::new();
        // The parts are in the order of the record's axes: slow start, avoidance, loss response.
        for (axis, part) in self.parts.iter().enumerate() {
            let declared = part.entry().map(|entry| entry.quantities).unwrap_or_default();
            for (index, quantity) in declared.iter().enumerate().take(QUANTITIES_PER_AXIS) {
                if all.iter().all(|(_, name)| *name != quantity.name) {
                    all.push((QUANTITIES_PER_AXIS * axis + index, quantity.name));
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use ackclock_core::cc::{avoidance, loss_response, slow_start};

    use super::testing::part;
    use super::*;

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
            for entry in axis.parts() {
                assert!(entry.quantities.len() <= QUANTITIES_PER_AXIS, "{}", entry.name);
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use ackclock_core::params::{Params, Value};

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
