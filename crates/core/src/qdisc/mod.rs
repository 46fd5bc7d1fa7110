//! Queue disciplines: the treatment of packets that wait for a link.
//!
//! There are two kinds. An [`Admission`] decides at each arrival and serves first in, first out, so the departure time of an accepted
//! packet is known at once. A [`Scheduler`] selects the next packet whenever the link is free. A shaping scheduler may instead name the
//! time before which no packet may leave. [`Fifo`] turns any admission into a scheduler for callers that drive queues in real time.

pub(crate) mod bands;
pub(crate) mod bucket;
pub mod class;
mod contract;
mod fifo;
pub(crate) mod flow_queues;
mod head;
pub(crate) mod params;
#[expect(clippy::module_inception, reason = "each part has the name of its file")]
pub mod qdisc;
mod updated;
pub(crate) mod waiting;

pub use contract::{
    Admission, Arrival, Backlog, Dequeued, Discipline, Ecn, Notice, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler, Verdict,
};
pub use fifo::{Fifo, Unlimited};
pub use updated::Updated;

use crate::entry::{Description, Entry, List, Parts, entries};
use crate::params::Axis;

entries! { Entry<Discipline>:
    droptail,
    headdrop,
    red,
    red_notify,
    choke,
    sfb,
    fq,
    sfq,
    pi,
    vq,
    rem,
    gk,
    drr,
    srr,
    codel,
    cobalt,
    fq_cobalt,
    cake,
    fq_codel,
    pie,
    fq_pie,
    dualpi2,
    tbf,
    policer,
    prio,
    wrr,
    htb,
    fq_paced,
    bernoulli,
}

/// The disciplines of this crate, and that of a Linux kernel, which no simulation can build.
static LISTED: [Description; DESCRIPTIONS.len() + 1] = {
    let mut listed = [qdisc::DESCRIPTION; DESCRIPTIONS.len() + 1];
    let mut index = 0;
    while index < DESCRIPTIONS.len() {
        listed[index] = DESCRIPTIONS[index];
        index += 1;
    }
    listed
};

/// The parts of the axis: those of this folder, and those that a program has joined.
pub static PARTS: Parts<Discipline> = Parts::new(List { entries: ENTRIES, descriptions: &LISTED });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "queue",
    noun: "queue",
    shorthand: Some(("droptail", "limit")),
    none: Some("unlimited"),
    objects: &[],
    usual: "droptail",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};
