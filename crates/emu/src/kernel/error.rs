//! Why a run on the kernel fails.

use std::sync::{Arc, OnceLock};
use std::{fmt, io};

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

/// The first failure of a run's sockets.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure(Arc<OnceLock<(usize, String)>>);

impl Failure {
    /// Notes that a call failed at an end; `stream` is its number, twice the flow and one more at the receiver.
    pub(super) fn note(&self, stream: usize, what: &str, error: &io::Error) {
        self.0.set((stream, format!("{what}: {error}"))).ok();
    }

    /// The number of the end, and what failed there.
    pub(super) fn get(&self) -> Option<&(usize, String)> {
        self.0.get()
    }
}
