//! Queue disciplines: what a link does with a packet that has to wait.
//!
//! There are two kinds. An [`Admission`] decides when a packet arrives and serves first in, first out, so that the departure of a packet it
//! accepts is known at once. A [`Scheduler`] chooses which packet leaves next, or whether one leaves at all, and has to be asked each time
//! the link is free; one that shapes names the time before which none may leave. [`Fifo`] makes a scheduler of any admission, for whoever
//! drives queues in real time.

pub(crate) mod bands;
mod contract;
mod fifo;
pub(crate) mod params;
mod updated;

pub use contract::{
    Admission, Arrival, Backlog, Dequeued, Discipline, Ecn, Notice, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler, Verdict,
};
pub use fifo::Fifo;
pub use updated::Updated;

use crate::entry::{Entry, entries};

entries! { Entry<Discipline>:
    droptail,
    red,
    red_notify,
    fq,
    sfq,
    pi,
    vq,
    rem,
    gk,
    drr,
    srr,
    codel,
    fq_codel,
    pie,
    tbf,
}
