//! The first failure of a run.

use std::io;
use std::sync::{Arc, OnceLock};

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
