//! Calls that wait, in worlds whose sockets never block: the world repeats a call until it has a result.

use ackclock_core::units::{Duration, Instant};

use crate::stack::{Answer, Refusal};
use crate::world::{Call, Output, Return};

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Blocked {
    pub(crate) call: Call,
    /// Bytes written so far.
    pub(crate) written: u64,
    /// Whether the call waits for the connection that it opens.
    pub(crate) opening: bool,
    /// When the wait ends without result.
    pub(crate) deadline: Option<Instant>,
}

impl Blocked {
    /// `call` is made `now`.
    pub(crate) fn new(call: &Call, now: Instant) -> Self {
        let deadline = match call {
            Call::Poll { timeout, .. } | Call::EpollWait { timeout, .. } if *timeout > 0 => {
                Some(now + Duration::from_millis(timeout.unsigned_abs()))
            }
            _ => None,
        };
        Self { call: call.clone(), written: 0, opening: false, deadline }
    }

    /// The result of a wait that is over `now`.
    pub(crate) fn expired(&self, now: Instant) -> Option<Return> {
        let output = match &self.call {
            Call::Poll { fds, .. } => Output::Events(vec![0; fds.len()]),
            _ => Output::Ready(Vec::new()),
        };
        self.deadline.filter(|deadline| *deadline <= now).map(|_| Return { output, ..Return::success(0) })
    }
}

/// What a script sees of an attempt: an error of the system is a result, too. The remaining error: the world does not implement the call.
pub(crate) fn seen(attempt: Answer<Option<Return>>) -> Result<Option<Return>, String> {
    match attempt {
        Ok(result) => Ok(result),
        Err(Refusal::Error(errno)) => Ok(Some(Return::error(errno))),
        Err(Refusal::Unsupported(what)) => Err(what),
    }
}
