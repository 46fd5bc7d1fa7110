//! An [`Admission`] that looks at its queue between arrivals, at the times that it asks for.

use super::contract::{Admission, Backlog};
use crate::units::{Instant, Moment};

/// An admission and its next look at the queue.
#[derive(Debug)]
pub struct Updated<A> {
    /// The discipline.
    pub admission: A,
    /// The next look, which the last one determined.
    next: Moment,
}

impl<A: Admission> Updated<A> {
    /// `admission` at the start of the run.
    pub fn new(admission: A) -> Self {
        let next = Moment { at: admission.first_update().unwrap_or(Instant::MAX), since: Instant::ZERO };
        Self { admission, next }
    }

    /// Lets the discipline look at `backlog` whenever it wants to up to `now`.
    pub fn update_until(&mut self, now: Moment, backlog: Backlog) {
        while self.next <= now {
            let at = self.next.at;
            self.next = Moment { at: self.admission.update(at, backlog), since: at };
        }
    }
}
