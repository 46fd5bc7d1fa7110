//! Traces: tables that are written while a run goes on.
//!
//! This file is all there is of a trace: its table, declared once with name, unit and meaning of every column; what it listens to; and its
//! line in the list at the end. Recording appends to typed vectors.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::{Backlog, Reason};
use ackclock_core::units::{Duration, Instant};

use super::Kind;

/// The values of a trace's column as they were written.
#[derive(Clone, Debug)]
pub enum Values<'a> {
    /// Times in nanoseconds, which tables have in seconds.
    Seconds(&'a [u64]),
    /// The same where some are missing.
    MaybeSeconds(&'a [Option<u64>]),
    /// Indices of flows, which tables have as names.
    Flows(&'a [u32]),
    /// Indices of links, which tables have as names.
    Links(&'a [u32]),
    /// Whole numbers.
    Whole(&'a [u64]),
    /// Whole numbers of 32 bits.
    Short(&'a [u32]),
    /// Numbers.
    Numbers(&'a [f64]),
    /// Few different words.
    Words(Vec<&'static str>),
}

impl Values<'_> {
    /// What they are.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Flows(_) | Self::Links(_) | Self::Words(_) => Kind::Text,
            Self::Whole(_) | Self::Short(_) => Kind::Whole,
            Self::Seconds(_) | Self::MaybeSeconds(_) | Self::Numbers(_) => Kind::Number,
        }
    }
}

/// A column of a trace.
#[derive(Clone, Debug)]
pub struct TraceColumn<'a> {
    /// Its name.
    pub name: &'static str,
    /// Its unit; empty for a text or plain number.
    pub unit: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its values.
    pub values: Values<'a>,
}

/// A packet that was dropped or marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// Its flow.
    pub(crate) flow: u32,
    /// Number of its segment, or the number that an ACK expects.
    pub(crate) seq: u32,
    /// Why.
    pub(crate) reason: Reason,
}

/// Hands a part's own quantities to whoever asks.
pub(crate) type Pull<'a> = &'a dyn Fn(&mut dyn FnMut(&'static str, f64));

/// What a trace can listen to. Times of one link, and of one flow, never go back; those of different ones may.
pub(crate) trait Listener {
    /// A packet was lost on `link`.
    fn dropped(&mut self, _at: Instant, _link: u32, _packet: Fate) {}
    /// The queue of `link` marked a packet.
    fn marked(&mut self, _at: Instant, _link: u32, _packet: Fate) {}
    /// A packet of `flow` leaves the queue of `link` after `sojourn`.
    fn sojourn(&mut self, _at: Instant, _link: u32, _flow: u32, _sojourn: Duration) {}
    /// The discipline of `link` after a packet; `pull` gives its own quantities.
    fn discipline(&mut self, _at: Instant, _link: u32, _pull: Pull<'_>) {}
    /// What waits at `link` has changed.
    fn queue(&mut self, _at: Instant, _link: u32, _backlog: Backlog) {}
    /// The window of `flow` after an event.
    fn window(&mut self, _at: Instant, _flow: u32, _window: Window) {}
    /// The round-trip time that an ACK of `flow` shows, and what the timer makes of it.
    fn rtt(&mut self, _at: Instant, _flow: u32, _rtt: Duration, _timing: (Option<Duration>, Duration)) {}
    /// The sender of `flow` sent or received segment `seq`.
    fn segment(&mut self, _at: Instant, _flow: u32, _seq: u32, _kind: SequenceKind) {}
    /// In-order delivery to the receiver of `flow` has reached `bytes`.
    fn delivered(&mut self, _at: Instant, _flow: u32, _bytes: u64) {}
    /// The control of `flow` after an ACK.
    fn internals(&mut self, _at: Instant, _flow: u32, _control: &dyn CongestionControl) {}
}

/// Declares tables of columns `name: Type as Values' variant, unit, doc;`. The first is the time.
macro_rules! columns {
    ($(#[$attribute:meta])* $table:ident, $(#[$other:meta])* $second:ident $columns:tt) => {
        columns! { $(#[$attribute])* $table $columns }
        columns! { $(#[$other])* $second $columns }
    };
    (
        $(#[$attribute:meta])* $table:ident { $($name:ident: $type:ty as $values:ident, $unit:literal, $doc:literal;)+ }
        $(keeps { $($(#[$about:meta])* $kept:ident: $kind:ty,)+ })?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $table {
            $(#[doc = $doc] pub $name: Vec<$type>,)+
            $($($(#[$about])* $kept: $kind,)+)?
        }

        impl $table {
            #[allow(clippy::too_many_arguments, reason = "one for each column")]
            fn push(&mut self, $($name: $type),+) {
                $(self.$name.push($name);)+
            }

            /// Its columns.
            pub fn columns(&self) -> Vec<TraceColumn<'_>> {
                vec![$(TraceColumn { name: stringify!($name), unit: $unit, doc: $doc, values: values!($values &self.$name) }),+]
            }

            /// Brings the rows into the order of time. Links write theirs ahead of time, each in its own order.
            fn sort(&mut self) {
                if !self.time.is_sorted() {
                    let mut order: Vec<usize> = (0..self.time.len()).collect();
                    order.sort_by_key(|&row| self.time[row]);
                    $(self.$name = order.iter().map(|&row| self.$name[row]).collect();)+
                }
            }
        }
    };
}

/// What is stored for a word.
trait Word: Copy {
    fn word(self) -> &'static str;
}

impl Word for &'static str {
    fn word(self) -> &'static str {
        self
    }
}

impl Word for Reason {
    fn word(self) -> &'static str {
        self.name()
    }
}

/// A column as [`Values`].
macro_rules! values {
    (Words $column:expr) => {
        Values::Words($column.iter().map(|word| word.word()).collect())
    };
    ($values:ident $column:expr) => {
        Values::$values($column)
    };
}

// Every trace, with its table and what it listens to.

columns! {
    /// Congestion window and threshold at every change.
    CwndTrace {
        time: u64 as Seconds, "s", "when";
        flow: u32 as Flows, "", "name of the flow";
        cwnd: f64 as Numbers, "segments", "congestion window; the sender uses its whole part";
        ssthresh: f64 as Numbers, "segments", "slow start threshold; infinite while there is none";
    } keeps {
        /// The last window of each flow.
        last: Vec<Option<Window>>,
    }
}

impl Listener for CwndTrace {
    fn window(&mut self, at: Instant, flow: u32, window: Window) {
        let index = flow as usize;
        if index >= self.last.len() {
            self.last.resize(index + 1, None);
        }
        if self.last[index] != Some(window) {
            self.last[index] = Some(window);
            self.push(at.as_nanos(), flow, window.cwnd, window.ssthresh);
        }
    }
}

columns! {
    /// In-order delivery at the receiver.
    DeliveredTrace {
        time: u64 as Seconds, "s", "when";
        flow: u32 as Flows, "", "name of the flow";
        bytes: u64 as Whole, "bytes", "delivered so far, as `delivered_bytes` of flows counts them";
    }
}

impl Listener for DeliveredTrace {
    fn delivered(&mut self, at: Instant, flow: u32, bytes: u64) {
        self.push(at.as_nanos(), flow, bytes);
    }
}

columns! {
    /// What waits at a link, at every change.
    QueueTrace {
        time: u64 as Seconds, "s", "when";
        link: u32 as Links, "", "name of the link";
        packets: u64 as Whole, "packets", "waiting in the queue, the one in transmission not counted";
        bytes: u64 as Whole, "bytes", "waiting in the queue, with headers";
    }
}

impl Listener for QueueTrace {
    fn queue(&mut self, at: Instant, link: u32, backlog: Backlog) {
        self.push(at.as_nanos(), link, backlog.packets, backlog.bytes);
    }
}

columns! {
    /// Lost packets.
    DropsTrace,
    /// Marked packets.
    MarksTrace {
        time: u64 as Seconds, "s", "when";
        link: u32 as Links, "", "name of the link";
        flow: u32 as Flows, "", "name of the flow";
        seq: u32 as Short, "packets", "number of the segment, from 1 (0 is the SYN); of an ACK the number it expects";
        reason: Reason as Words, "", "why: `overflow`, `early`, `forced`, `virtual` or `sojourn`, as in the columns `drops_…` of links; `random` is the loss model";
    }
}

impl Listener for DropsTrace {
    fn dropped(&mut self, at: Instant, link: u32, Fate { flow, seq, reason }: Fate) {
        self.push(at.as_nanos(), link, flow, seq, reason);
    }
}

impl Listener for MarksTrace {
    fn marked(&mut self, at: Instant, link: u32, Fate { flow, seq, reason }: Fate) {
        self.push(at.as_nanos(), link, flow, seq, reason);
    }
}

columns! {
    /// How long packets waited, when they left their queue.
    SojournTrace {
        time: u64 as Seconds, "s", "when";
        link: u32 as Links, "", "name of the link";
        flow: u32 as Flows, "", "name of the flow";
        sojourn: u64 as Seconds, "s", "how long the packet waited";
    }
}

impl Listener for SojournTrace {
    fn sojourn(&mut self, at: Instant, link: u32, flow: u32, sojourn: Duration) {
        self.push(at.as_nanos(), link, flow, sojourn.as_nanos());
    }
}

columns! {
    /// The queue disciplines' own quantities.
    DisciplineTrace {
        time: u64 as Seconds, "s", "when";
        link: u32 as Links, "", "name of the link";
        name: &'static str as Words, "", "name of the quantity, as its part declares it";
        value: f64 as Numbers, "", "its value, in the unit that its part declares";
    }
}

impl Listener for DisciplineTrace {
    fn discipline(&mut self, at: Instant, link: u32, pull: Pull<'_>) {
        pull(&mut |name, value| self.push(at.as_nanos(), link, name, value));
    }
}

/// What a sender did with a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceKind {
    /// Sent it for the first time.
    Send,
    /// Sent it again.
    Retransmit,
    /// Received an ACK that expects it.
    Ack,
}

impl Word for SequenceKind {
    fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Retransmit => "retransmit",
            Self::Ack => "ack",
        }
    }
}

columns! {
    /// Segments sent and ACKs received by senders.
    SequenceTrace {
        time: u64 as Seconds, "s", "when";
        flow: u32 as Flows, "", "name of the flow";
        seq: u32 as Short, "packets", "number of the segment, from 1 (0 is the SYN); of an ACK the number it expects";
        kind: SequenceKind as Words, "", "`send`, `retransmit` or `ack`";
    }
}

impl Listener for SequenceTrace {
    fn segment(&mut self, at: Instant, flow: u32, seq: u32, kind: SequenceKind) {
        self.push(at.as_nanos(), flow, seq, kind);
    }
}

columns! {
    /// Round-trip times.
    RttTrace {
        time: u64 as Seconds, "s", "when";
        flow: u32 as Flows, "", "name of the flow";
        rtt: u64 as Seconds, "s", "round-trip time of the segment that caused the ACK";
        srtt: Option<u64> as MaybeSeconds, "s", "smoothed round-trip time of the retransmission timer, once there is one; of `ns2` hosts in steps of an eighth of its clock's tick";
        rto: u64 as Seconds, "s", "retransmission timeout, backoff included";
    }
}

impl Listener for RttTrace {
    fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, (srtt, rto): (Option<Duration>, Duration)) {
        self.push(at.as_nanos(), flow, rtt.as_nanos(), srtt.map(Duration::as_nanos), rto.as_nanos());
    }
}

columns! {
    /// The congestion controls' own quantities.
    InternalsTrace {
        time: u64 as Seconds, "s", "when";
        flow: u32 as Flows, "", "name of the flow";
        name: &'static str as Words, "", "name of the quantity, as its part declares it";
        value: f64 as Numbers, "", "its value, in the unit that its part declares";
    }
}

impl Listener for InternalsTrace {
    fn internals(&mut self, at: Instant, flow: u32, control: &dyn CongestionControl) {
        control.internals(&mut |name, value| self.push(at.as_nanos(), flow, name, value));
    }
}

/// Lists the traces: name in a scenario, kind, table, and what has a row.
macro_rules! traces {
    ($($name:ident: $kind:ident $table:ident, $about:literal;)+) => {
        /// What a run can record, each a table of its own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum TraceKind {
            $(#[doc = $about] $kind,)+
        }

        impl TraceKind {
            /// Every kind with its name in a scenario.
            pub const ALL: [(&'static str, Self); [$(Self::$kind),+].len()] = [$((stringify!($name), Self::$kind)),+];

            /// What has a row.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$kind => $about,)+
                }
            }
        }

        /// Everything that was recorded; tables of kinds that were not asked for are `None`.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Traces {
            $(#[doc = $about] pub $name: Option<$table>,)+
        }

        impl Traces {
            /// Empty tables of these kinds.
            pub fn new(kinds: &[TraceKind]) -> Self {
                Self { $($name: kinds.contains(&TraceKind::$kind).then($table::default),)+ }
            }

            /// The columns of a kind, if it was recorded.
            pub fn columns(&self, kind: TraceKind) -> Option<Vec<TraceColumn<'_>>> {
                match kind {
                    $(TraceKind::$kind => self.$name.as_ref().map($table::columns),)+
                }
            }

            /// Brings every table into the order of time.
            pub(crate) fn sort(&mut self) {
                $(if let Some(table) = &mut self.$name {
                    table.sort();
                })+
            }
        }

        // A table that does not listen to something costs nothing there.
        impl Listener for Traces {
            fn dropped(&mut self, at: Instant, link: u32, packet: Fate) {
                $(if let Some(table) = &mut self.$name { table.dropped(at, link, packet); })+
            }
            fn marked(&mut self, at: Instant, link: u32, packet: Fate) {
                $(if let Some(table) = &mut self.$name { table.marked(at, link, packet); })+
            }
            fn sojourn(&mut self, at: Instant, link: u32, flow: u32, sojourn: Duration) {
                $(if let Some(table) = &mut self.$name { table.sojourn(at, link, flow, sojourn); })+
            }
            fn discipline(&mut self, at: Instant, link: u32, pull: Pull<'_>) {
                $(if let Some(table) = &mut self.$name { table.discipline(at, link, pull); })+
            }
            fn queue(&mut self, at: Instant, link: u32, backlog: Backlog) {
                $(if let Some(table) = &mut self.$name { table.queue(at, link, backlog); })+
            }
            fn window(&mut self, at: Instant, flow: u32, window: Window) {
                $(if let Some(table) = &mut self.$name { table.window(at, flow, window); })+
            }
            fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, timing: (Option<Duration>, Duration)) {
                $(if let Some(table) = &mut self.$name { table.rtt(at, flow, rtt, timing); })+
            }
            fn segment(&mut self, at: Instant, flow: u32, seq: u32, kind: SequenceKind) {
                $(if let Some(table) = &mut self.$name { table.segment(at, flow, seq, kind); })+
            }
            fn delivered(&mut self, at: Instant, flow: u32, bytes: u64) {
                $(if let Some(table) = &mut self.$name { table.delivered(at, flow, bytes); })+
            }
            fn internals(&mut self, at: Instant, flow: u32, control: &dyn CongestionControl) {
                $(if let Some(table) = &mut self.$name { table.internals(at, flow, control); })+
            }
        }
    };
}

traces! {
    cwnd: Cwnd CwndTrace, "every change of a flow's window or threshold";
    delivered: Delivered DeliveredTrace, "every packet, or run of packets, that reached a receiver in order";
    queue: Queue QueueTrace, "every change of what waits at a link";
    drops: Drops DropsTrace, "every lost packet";
    marks: Marks MarksTrace, "every packet that a queue marked (ECN)";
    sojourn: Sojourn SojournTrace, "every packet that leaves a queue, when its transmission begins";
    discipline: Discipline DisciplineTrace, "every quantity of its own that a queue discipline shows, at every arrival, or at every change of a queue that decides on departure; `droptail` has none";
    sequence: Sequence SequenceTrace, "every packet a sender sent and every ACK it received";
    rtt: Rtt RttTrace, "every ACK a sender received";
    internals: Internals InternalsTrace, "every quantity of its own that a congestion control shows, at every ACK";
}
