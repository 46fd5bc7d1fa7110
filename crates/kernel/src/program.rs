//! A congestion control of parts, for a kernel that runs programs.

use std::fmt;

use ackclock_core::cc::{avoidance, loss_response, slow_start};
use ackclock_core::params::{Axis, Description};
use ackclock_core::units::Segments;
use ackclock_sim::scenario::{ComposedSpec, PartSpec, SlowStartSpec};

/// A control as a program of the kernel: parts with their parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    parts: Vec<Part>,
    initial_ssthresh: Segments,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Where the part belongs. A program has no initial window: it is an attribute of the route.
    pub axis: &'static Axis,
    /// The part with its parameters.
    pub spec: PartSpec,
}

impl Part {
    /// Its entry in the registry.
    ///
    /// # Errors
    /// If there is none.
    pub fn entry(&self) -> Result<&'static Description, String> {
        self.axis.part(self.spec.name).ok_or_else(|| format!("there is no {} `{}`", self.axis.name, self.spec.name))
    }

    /// A message about it.
    pub fn refuse(&self, reason: &str) -> String {
        format!("{} `{}`: {reason}", self.axis.name, self.spec.name)
    }
}

impl Program {
    /// A program of these parts, in the order slow start, avoidance, loss response.
    pub const fn new(parts: Vec<Part>, initial_ssthresh: Segments) -> Self {
        Self { parts, initial_ssthresh }
    }

    /// The program of a composition.
    ///
    /// # Errors
    /// If the slow start is written in Python.
    pub fn of(spec: &ComposedSpec, initial_ssthresh: Segments) -> Result<Self, String> {
        let SlowStartSpec::Part(slow_start) = &spec.slow_start else {
            return Err("a slow start written in Python does not run on the kernel; choose a part instead".to_owned());
        };
        let part = |axis, spec: &PartSpec| Part { axis, spec: spec.clone() };
        let mut parts = vec![part(&slow_start::AXIS, slow_start), part(&avoidance::AXIS, &spec.avoidance)];
        parts.extend(spec.loss_response.as_ref().map(|spec| part(&loss_response::AXIS, spec)));
        Ok(Self::new(parts, initial_ssthresh))
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The first slow start threshold in segments; infinite if there is none.
    pub const fn initial_ssthresh(&self) -> Segments {
        self.initial_ssthresh
    }
}

/// The parts as keys of a scenario.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.parts.iter().map(|part| format!("{} = \"{}\"", part.axis.name, part.spec.name)).collect();
        f.write_str(&keys.join(", "))
    }
}
