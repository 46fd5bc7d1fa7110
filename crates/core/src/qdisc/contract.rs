//! The contract between a link and its queue discipline.

use std::fmt::Debug;

use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Limit, Moment, Rate};

/// Packets and bytes that wait in a queue, without the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u64,
    /// Bytes waiting.
    pub bytes: u64,
}

impl Backlog {
    /// Whether the backlog is at or above `limit`.
    pub const fn reaches(self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets >= limit,
            Limit::Bytes(limit) => self.bytes >= limit,
        }
    }

    /// Whether the backlog is above `limit`.
    pub const fn exceeds(self, limit: Limit) -> bool {
        match limit {
            Limit::Packets(limit) => self.packets > limit,
            Limit::Bytes(limit) => self.bytes > limit,
        }
    }

    /// The backlog plus one packet of `size`.
    #[must_use]
    pub const fn with(self, size: Bytes) -> Self {
        Self { packets: self.packets + 1, bytes: self.bytes + size.0 }
    }

    /// The backlog plus another one.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }

    /// The backlog minus one packet of `size`.
    #[must_use]
    pub const fn without(self, size: Bytes) -> Self {
        Self { packets: self.packets - 1, bytes: self.bytes - size.0 }
    }
}

/// The ECN field of a packet (RFC 3168 §5). The values are those in the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ecn {
    /// Not-ECT: the transport does not support ECN.
    #[default]
    NotEct = 0b00,
    /// ECT(1): the transport supports ECN and expects marks from a shallow queue (RFC 9331).
    Ect1 = 0b01,
    /// ECT(0): the transport supports ECN.
    Ect0 = 0b10,
    /// CE, congestion experienced: the packet has been marked.
    Ce = 0b11,
}

impl Ecn {
    /// Every codepoint, in the order of its value.
    pub const ALL: [Self; 4] = [Self::NotEct, Self::Ect1, Self::Ect0, Self::Ce];

    /// The codepoint in the two lower bits of `field`, such as the second byte of an IPv4 header.
    pub const fn of(field: u8) -> Self {
        match field & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Its name in RFC 3168 §5.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotEct => "Not-ECT",
            Self::Ect1 => "ECT(1)",
            Self::Ect0 => "ECT(0)",
            Self::Ce => "CE",
        }
    }
}

/// The link behind a queue, as disciplines see it.
#[derive(Clone, Copy, Debug)]
pub struct Outlet {
    /// Its transmission rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Duration,
}

/// An arriving packet, as an [`Admission`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Arrival time.
    pub now: Instant,
    /// Size, headers included.
    pub size: Bytes,
    /// The packet's flow.
    pub flow: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// Start of the link's current idle period; `None` while it transmits.
    pub idle_since: Option<Instant>,
}

impl Arrival {
    /// As [`Ecn::signal`].
    pub fn signal(&self, marking: bool, reason: Reason) -> Verdict {
        self.ecn.signal(marking, reason)
    }
}

impl Ecn {
    /// Signals congestion: marks a packet with this codepoint if `marking` is on and the packet supports ECN (RFC 3168 §7), else drops it.
    pub fn signal(self, marking: bool, reason: Reason) -> Verdict {
        if marking && self != Self::NotEct { Verdict::Mark(reason) } else { Verdict::Drop(reason) }
    }
}

/// An admission's decision on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the end of the queue.
    Accept,
    /// The packet is marked and joins the end of the queue.
    Mark(Reason),
    /// The packet is dropped.
    Drop(Reason),
}

impl Verdict {
    /// Applies the decision to `packet`, and reports it. Returns the packet that joins the queue.
    pub fn carry_out(self, mut packet: Packet, outcomes: &mut Outcomes) -> Option<Packet> {
        match self {
            Self::Accept => {}
            Self::Mark(reason) => {
                packet.ecn = Ecn::Ce;
                outcomes.push((packet, Outcome::Marked(reason)));
            }
            Self::Drop(reason) => {
                outcomes.push((packet, Outcome::Dropped(reason)));
                return None;
            }
        }
        Some(packet)
    }
}

/// Declares the reasons in numeric order: name, word in traces, and the meaning of the column of drops, which follows "packets dropped".
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident: $word:literal, $about:literal;)+) => {
        /// Why a packet was dropped or marked. A new reason is one declaration here; tables, traces and pages follow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Reason {
            $($(#[$doc])* $reason,)+
        }

        impl Reason {
            /// Every reason, in numeric order.
            pub const ALL: &'static [Self] = &[$(Self::$reason),+];
            /// Number of reasons.
            pub const COUNT: usize = Self::ALL.len();

            /// The reasons of queues whose columns only tables with such a queue have.
            pub const fn further() -> &'static [Self] {
                Self::ALL.split_at(Self::Random as usize + 1).1
            }

            /// Whether every table of links has its column; the others appear if a queue of the run has them.
            pub const fn is_usual(self) -> bool {
                (self as usize) < Self::Random as usize
            }

            /// Its name in traces.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $word,)+
                }
            }

            /// The name of its column of drops in the table of links.
            pub const fn column(self) -> &'static str {
                match self {
                    $(Self::$reason => concat!("drops_", $word),)+
                }
            }

            /// The meaning of that column.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$reason => concat!("packets dropped ", $about),)+
                }
            }
        }
    };
}

reasons! {
    /// Full queue.
    Overflow: "overflow", "because the queue was full";
    /// Random decision with a probability that depends on the queue.
    Early: "early", "at random, with a probability that depends on the queue";
    /// Average queue above the range of random decisions (RED).
    Forced: "forced", "because the average queue was above the range of random drops (`red`)";
    /// Full virtual queue (VQ, GK).
    Virtual: "virtual", "because a virtual queue was full (`vq`, `gk`)";
    /// Waiting time too long (`CoDel`).
    Sojourn: "sojourn", "because they had waited too long";
    /// Loss model of the link, not its queue.
    Random: "random", "by the loss model of the link";
    /// Decision with a fixed probability.
    Chance: "chance", "with a fixed probability (`bernoulli`)";
    /// Missing tokens of a policer.
    Policed: "policed", "by a policer that had no tokens for them (`policer`, `sfb`)";
    /// Decision of a Linux kernel's queue discipline, which gives no reason.
    Kernel: "kernel", "by a queue discipline of a Linux kernel (`qdisc`)";
}

/// A notice to the sender of a dropped packet: the retransmission timer that expires at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The timer of the dropped segment, which is retransmitted.
    Segment,
    /// The connection's single timer: the first unacknowledged segment is retransmitted (RFC 6298 §5.4).
    Connection,
}

/// A first-in, first-out discipline: decides at each arrival, from the backlog, and never reorders. The departure time of an accepted
/// packet is known at once, so the engine needs no departure events.
pub trait Admission: Debug + Send + Sync {
    /// Receives the properties of the link before the first packet.
    fn attach(&mut self, _outlet: &Outlet) {}

    /// Decides on `arrival`, given the `backlog` in front of it.
    fn admit(&mut self, arrival: &Arrival, backlog: Backlog, random: &mut Generator) -> Verdict;

    /// Time of the first update between arrivals; `None`: no updates.
    fn first_update(&self) -> Option<Instant> {
        None
    }

    /// Updates the discipline at the requested time and returns the time of the next update.
    fn update(&mut self, _now: Instant, _backlog: Backlog) -> Instant {
        Instant::MAX
    }

    /// Notice to the sender of a packet dropped for `reason`; `None`: no notice.
    fn notice(&self, _reason: Reason) -> Option<Notice> {
        None
    }

    /// Its reasons besides the usual ones, each of which has a column in the table of links.
    fn reasons(&self) -> Vec<Reason> {
        Vec::new()
    }

    /// Reports the discipline's own quantities for traces. The probability of a drop or mark is called `probability`.
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
    fn reasons(&self) -> Vec<Reason> {
        (**self).reasons()
    }
    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        (**self).internals(out);
    }
}

/// A packet in a [`Scheduler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The caller's identifier of the packet.
    pub handle: u32,
    /// The packet's flow.
    pub flow: u32,
    /// Source and destination address.
    pub ends: (u32, u32),
    /// Size, headers included.
    pub size: Bytes,
    /// The ECN field.
    pub ecn: Ecn,
    /// Arrival time.
    pub arrived: Instant,
}

/// Packets that a scheduler dropped or marked. The caller owns the list and empties it.
pub type Outcomes = Vec<(Packet, Outcome)>;

/// The fate of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Marked; the packet stays in the queue or leaves to the link.
    Marked(Reason),
    /// Dropped, on arrival or from the queue.
    Dropped(Reason),
}

/// A scheduler's answer to an idle link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeued {
    /// This packet leaves.
    Send(Packet),
    /// Packets wait, but the discipline shapes: none may leave before this future time.
    NotBefore(Instant),
    /// No packet waits.
    Empty,
}

impl Dequeued {
    /// The packet that leaves, if any.
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

/// A discipline that selects a packet whenever the link is free.
pub trait Scheduler: Debug + Send + Sync {
    /// Receives the properties of the link before the first packet.
    fn attach(&mut self, _outlet: &Outlet) {}

    /// Enqueues the arriving `packet`. Adds every drop and mark to `outcomes`; the arriving packet may be among them.
    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes);

    /// Removes and returns the packet to send at `now`, if any. The caller asks whenever the link becomes free, even if nothing waits.
    /// After [`Dequeued::NotBefore`] it asks at the named time, and at every arrival before that.
    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued;

    /// The current backlog.
    fn backlog(&self) -> Backlog;

    /// The size of the packet that [`Self::dequeue`] would return at any time before the next arrival. `None`: nothing waits, or the
    /// discipline decides only then.
    fn head(&self) -> Option<Bytes> {
        None
    }

    /// As [`Admission::notice`].
    fn notice(&self, _reason: Reason) -> Option<Notice> {
        None
    }

    /// As [`Admission::reasons`].
    fn reasons(&self) -> Vec<Reason> {
        Vec::new()
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
    /// Its reasons of drops and marks besides the usual ones.
    pub fn reasons(&self) -> Vec<Reason> {
        match self {
            Self::Fifo(admission) => admission.reasons(),
            Self::Scheduled(scheduler) => scheduler.reasons(),
        }
    }

    /// A discipline that decides on arrival.
    #[expect(clippy::unnecessary_box_returns, reason = "the registry builds boxed parts")]
    pub(crate) fn fifo(admission: impl Admission + 'static) -> Box<Self> {
        Box::new(Self::Fifo(Box::new(admission)))
    }

    /// A discipline that decides on departure.
    #[expect(clippy::unnecessary_box_returns, reason = "the registry builds boxed parts")]
    pub(crate) fn scheduled(scheduler: impl Scheduler + 'static) -> Box<Self> {
        Box::new(Self::Scheduled(Box::new(scheduler)))
    }
}
