//! Queue disciplines: what a link does with a packet that has to wait.
//!
//! There are two kinds. An [`Admission`] decides when a packet arrives and serves first in, first out, so that the departure of a packet it
//! accepts is known at once. A [`Scheduler`] chooses which packet leaves next, or whether one leaves at all, and has to be asked each time
//! the link is free; one that shapes names the time before which none may leave. [`Fifo`] makes a scheduler of any admission, for whoever
//! drives queues in real time.

pub(crate) mod bands;
mod fifo;
pub(crate) mod params;
mod updated;

pub use crate::registry::qdisc::*;
pub use fifo::Fifo;
pub use updated::Updated;

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Moment, Rate};

/// The capacity of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes, headers included.
    Bytes(u64),
}

impl Limit {
    /// Whether `backlog` is at the limit or above it.
    pub const fn is_reached(self, backlog: Backlog) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets >= limit,
            Self::Bytes(limit) => backlog.bytes >= limit,
        }
    }
}

/// What waits in a queue; the packet in transmission does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: u64,
}

impl Backlog {
    /// The backlog with one more packet of `size`.
    #[must_use]
    pub const fn with(self, size: Bytes) -> Self {
        Self { packets: self.packets + 1, bytes: self.bytes + size.0 }
    }

    /// The backlog with one packet of `size` less.
    #[must_use]
    pub const fn without(self, size: Bytes) -> Self {
        Self { packets: self.packets - 1, bytes: self.bytes - size.0 }
    }
}

/// The ECN field of a packet (RFC 3168 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// The transport does not understand marks: Not-ECT.
    #[default]
    Incapable,
    /// The transport understands marks: ECT.
    Capable,
    /// The packet has been marked: CE, congestion experienced.
    Marked,
}

/// The link that a queue feeds, as far as disciplines need to know it.
#[derive(Clone, Copy, Debug)]
pub struct Outlet {
    /// Its transmission rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Duration,
}

/// A packet at the entrance of a queue, as an [`Admission`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it arrives.
    pub now: Instant,
    /// Its size, headers included.
    pub size: Bytes,
    /// The flow it belongs to.
    pub flow: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Since when the link has had nothing to send; `None` while it transmits.
    pub idle_since: Option<Instant>,
}

impl Arrival {
    /// What a discipline does that wants the sender to slow down: marks the packet if `marking` is on and the packet can carry a mark
    /// (RFC 3168 §7), else drops it.
    pub fn signal(&self, marking: bool, reason: Reason) -> Verdict {
        if marking && self.ecn != Ecn::Incapable { Verdict::Mark(reason) } else { Verdict::Drop(reason) }
    }
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the end of the queue.
    Accept,
    /// It joins the end of the queue with a mark.
    Mark(Reason),
    /// It is dropped.
    Drop(Reason),
}

/// Why a packet was dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The queue was full.
    Overflow,
    /// Drawn with a probability that depends on the queue.
    Early,
    /// The average queue was above the range in which chance decides (RED).
    Forced,
    /// A virtual queue was full (VQ, GK).
    Virtual,
    /// It had waited too long (`CoDel`).
    Sojourn,
    /// A loss model took it, not the queue.
    Random,
}

impl Reason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; 6] = [Self::Overflow, Self::Early, Self::Forced, Self::Virtual, Self::Sojourn, Self::Random];

    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Virtual => "virtual",
            Self::Sojourn => "sojourn",
            Self::Random => "random",
        }
    }
}

/// What the sender of a dropped packet is told, if a discipline tells it: which retransmission timer is to expire at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The dropped segment's: that segment is sent again.
    Segment,
    /// The connection's only one: the first unacknowledged segment is sent again (RFC 6298 §5.4).
    Connection,
}

/// A first-in, first-out discipline: it decides on arrival, from the backlog, and never reorders. The departure of an accepted packet is
/// then known at once, which is what lets the engine run a link without an event for each departure.
pub trait Admission: Debug + Send + Sync {
    /// Tells the discipline which link it feeds, before the first packet.
    fn attach(&mut self, _outlet: &Outlet) {}

    /// Decides on `arrival` when `backlog` waits.
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict;

    /// When the discipline first wants to look at its queue between arrivals; `None`: never.
    fn first_update(&self) -> Option<Instant> {
        None
    }

    /// Looks at the queue at the time asked for; gives the next time.
    fn update(&mut self, _now: Instant, _backlog: Backlog) -> Instant {
        Instant::MAX
    }

    /// What the sender of a packet dropped for `reason` is told; `None`: nothing.
    fn notice(&self, _reason: Reason) -> Option<Notice> {
        None
    }

    /// The discipline's own quantities, for traces; the probability with which it drops or marks is called `probability`.
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

impl Admission for Box<dyn Admission> {
    fn attach(&mut self, outlet: &Outlet) {
        (**self).attach(outlet);
    }
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict {
        (**self).admit(arrival, backlog, random)
    }
    fn first_update(&self) -> Option<Instant> {
        (**self).first_update()
    }
    fn update(&mut self, now: Instant, backlog: Backlog) -> Instant {
        (**self).update(now, backlog)
    }
    fn notice(&self, reason: Reason) -> Option<Notice> {
        (**self).notice(reason)
    }
    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        (**self).internals(out);
    }
}

/// A packet in a [`Scheduler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The caller's name for it.
    pub handle: u32,
    /// The flow it belongs to.
    pub flow: u32,
    /// Its addresses: source and destination.
    pub ends: (u32, u32),
    /// Its size, headers included.
    pub size: Bytes,
    /// Its ECN field.
    pub ecn: Ecn,
    /// When it arrived.
    pub arrived: Instant,
}

/// What a scheduler did to packets besides queueing them: the caller's list, which the caller empties.
pub type Outcomes = Vec<(Packet, Outcome)>;

/// What became of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was marked and stays.
    Marked(Reason),
    /// It was dropped: it has left the queue, or never entered it.
    Dropped(Reason),
}

/// What a scheduler has for a link that is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeued {
    /// This packet leaves.
    Send(Packet),
    /// Packets wait, but none may leave before this time, which lies ahead: the discipline shapes.
    NotBefore(Instant),
    /// No packet waits.
    Empty,
}

impl Dequeued {
    /// The packet that leaves, if one does.
    pub const fn packet(self) -> Option<Packet> {
        if let Self::Send(packet) = self { Some(packet) } else { None }
    }
}

impl From<Option<Packet>> for Dequeued {
    /// The answer of a discipline that does not shape.
    fn from(packet: Option<Packet>) -> Self {
        packet.map_or(Self::Empty, Self::Send)
    }
}

/// A discipline that chooses, whenever the link is free, which packet leaves.
pub trait Scheduler: Debug + Send + Sync {
    /// Tells the discipline which link it feeds, before the first packet.
    fn attach(&mut self, _outlet: &Outlet) {}

    /// Takes `packet`, which arrives now. Packets dropped for it, itself perhaps, and marks are added to `outcomes`.
    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes);

    /// Gives the packet to send at `now`, if there is one. To be called whenever the link becomes free, also in vain; and after
    /// [`Dequeued::NotBefore`] at the time it names, and on every arrival before.
    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued;

    /// What waits.
    fn backlog(&self) -> Backlog;

    /// As [`Admission::notice`].
    fn notice(&self, _reason: Reason) -> Option<Notice> {
        None
    }

    /// As [`Admission::internals`].
    fn internals(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
}

/// A queue discipline of either kind.
#[derive(Debug)]
pub enum Discipline {
    /// Decides on arrival.
    Fifo(Box<dyn Admission>),
    /// Decides on departure.
    Scheduled(Box<dyn Scheduler>),
}

impl Discipline {
    /// A discipline that decides on arrival.
    #[expect(clippy::unnecessary_box_returns, reason = "the registry builds boxes of parts")]
    pub(crate) fn fifo(admission: impl Admission + 'static) -> Box<Self> {
        Box::new(Self::Fifo(Box::new(admission)))
    }

    /// A discipline that decides on departure.
    #[expect(clippy::unnecessary_box_returns, reason = "the registry builds boxes of parts")]
    pub(crate) fn scheduled(scheduler: impl Scheduler + 'static) -> Box<Self> {
        Box::new(Self::Scheduled(Box::new(scheduler)))
    }

    /// The discipline as a scheduler, whichever kind it is.
    pub fn into_scheduler(self) -> Box<dyn Scheduler> {
        match self {
            Self::Fifo(admission) => Box::new(Fifo::new(admission)),
            Self::Scheduled(scheduler) => scheduler,
        }
    }
}
