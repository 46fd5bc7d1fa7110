//! An [`Admission`] with its updates between arrivals.

use super::contract::{Admission, Backlog};
use crate::units::{Instant, Moment};

/// An admission and the time of its next update.
#[derive(Debug)]
pub struct Updated<A> {
    /// The discipline.
    pub admission: A,
    /// Time of the next update, set by the previous one.
    next: Moment,
}

impl<A: Admission> Updated<A> {
    /// `admission` at the start of a run.
    pub fn new(admission: A) -> Self {
        let next = Moment { at: admission.first_update().unwrap_or(Instant::MAX), since: Instant::ZERO };
        Self { admission, next }
    }

    /// Performs all updates due up to `now`, with `backlog`.
    pub fn update_until(&mut self, now: Moment, backlog: Backlog) {
        while self.next <= now {
            let at = self.next.at;
            self.next = Moment { at: self.admission.update(at, backlog), since: at };
        }
    }
}
