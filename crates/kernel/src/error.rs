//! Why a run on a kernel fails.

use std::fmt;

use ackclock_sim::engine::RunError;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// The scenario cannot run on the kernel, or this machine cannot run it: why.
    Refused(String),
    /// The caller interrupted the run.
    Interrupted,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => f.write_str(reason),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for KernelError {}

impl From<String> for KernelError {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

impl From<RunError> for KernelError {
    fn from(error: RunError) -> Self {
        Self::Refused(error.to_string())
    }
}
