//! Traces: tables that grow during a run.
//!
//! This file contains everything about a trace:
//!
//! - its table, which declares name, unit and meaning of every column;
//! - the events that it listens to;
//! - its line in the list at the end.
//!
//! Recording appends to typed vectors.

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::qdisc::{Backlog, Reason};
use ackclock_core::units::{Bytes, Duration, Instant};
use ackclock_host::{Flight, RecoveryPhase};

use super::Kind;
use crate::scenario::text::unknown;

/// The values of a trace's column in the recorded form.
#[derive(Clone, Debug)]
pub enum Values<'a> {
    /// Times in nanoseconds; tables show seconds.
    Seconds(&'a [u64]),
    /// Times, some of which are missing.
    MaybeSeconds(&'a [Option<u64>]),
    /// Indices of flows; tables show names.
    Flows(&'a [u32]),
    /// Indices of links; tables show names.
    Links(&'a [u32]),
    /// Whole numbers.
    Whole(&'a [u64]),
    /// Whole numbers of 32 bits.
    Short(&'a [u32]),
    /// Numbers.
    Numbers(&'a [f64]),
    /// Words from a small set.
    Words(Vec<&'static str>),
}

impl Values<'_> {
    /// Number of the values.
    pub const fn len(&self) -> usize {
        match self {
            Self::Seconds(values) | Self::Whole(values) => values.len(),
            Self::MaybeSeconds(values) => values.len(),
            Self::Flows(values) | Self::Links(values) | Self::Short(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Words(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Kind of the values.
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
    /// Meaning.
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
    /// Reason of the drop or mark.
    pub(crate) reason: Reason,
}

/// Passes a part's own quantities to a callback.
pub(crate) type Pull<'a> = &'a dyn Fn(&mut dyn FnMut(&'static str, f64));

/// The events that a trace can listen to. Times of one link, and of one flow, never decrease; times of different ones can.
pub(crate) trait Listener {
    /// A packet was lost on `link`.
    fn dropped(&mut self, _at: Instant, _link: u32, _packet: Fate) {}
    /// The queue of `link` marked a packet.
    fn marked(&mut self, _at: Instant, _link: u32, _packet: Fate) {}
    /// A packet of `flow` leaves the queue of `link` after `sojourn`.
    fn sojourn(&mut self, _at: Instant, _link: u32, _flow: u32, _sojourn: Duration) {}
    /// The discipline of `link` after a packet; `pull` gives its own quantities.
    fn discipline(&mut self, _at: Instant, _link: u32, _pull: Pull<'_>) {}
    /// The backlog of `link` has changed.
    fn queue(&mut self, _at: Instant, _link: u32, _backlog: Backlog) {}
    /// The window of `flow` after an event.
    fn window(&mut self, _at: Instant, _flow: u32, _window: Window) {}
    /// The phase of loss recovery of `flow` after an event.
    fn recovery(&mut self, _at: Instant, _flow: u32, _phase: RecoveryPhase) {}
    /// The round-trip time that an ACK of `flow` shows, with the timer's smoothed round-trip time and timeout.
    fn rtt(&mut self, _at: Instant, _flow: u32, _rtt: Duration, _timing: (Option<Duration>, Duration)) {}
    /// The sender of `flow` sent or received a packet: the number of its segment, and its size.
    fn segment(&mut self, _at: Instant, _flow: u32, _packet: (u32, Bytes), _kind: SequenceKind) {}
    /// The sender of `flow` deems segment `seq` lost.
    fn lost(&mut self, _at: Instant, _flow: u32, _seq: u32) {}
    /// What the sender of `flow` has in flight after an event.
    fn flight(&mut self, _at: Instant, _flow: u32, _flight: Flight) {}
    /// In-order delivery to the receiver of `flow` has reached `bytes`.
    fn delivered(&mut self, _at: Instant, _flow: u32, _bytes: u64) {}
    /// The control of `flow` after an ACK.
    fn internals(&mut self, _at: Instant, _flow: u32, _control: &dyn CongestionControl) {}
}

/// Declares tables of columns `name: Type as Values' variant, unit, doc;`. The first column is the time.
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

            /// Its columns, without the first `from` rows.
            pub fn columns(&self, from: usize) -> Vec<TraceColumn<'_>> {
                vec![$(TraceColumn { name: stringify!($name), unit: $unit, doc: $doc, values: values!($values &self.$name[from..]) }),+]
            }

            /// Removes the rows from `end` on. The rows must be sorted.
            fn cut(&mut self, end: u64) {
                let rows = self.time.partition_point(|&time| time < end);
                $(self.$name.truncate(rows);)+
            }

            /// Sorts the rows by time. Links write theirs ahead of time, each in its own order.
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

/// The stored form of a word.
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

/// Stores the latest value of a flow; returns whether it is a new one.
fn replaces<T: Copy + PartialEq>(last: &mut Vec<Option<T>>, flow: u32, value: T) -> bool {
    let index = flow as usize;
    if index >= last.len() {
        last.resize(index + 1, None);
    }
    last[index].replace(value) != Some(value)
}

// Every trace, with its table and its listener.

columns! {
    /// Congestion window and threshold at every change.
    CwndTrace {
        time: u64 as Seconds, "s", "time of the change";
        flow: u32 as Flows, "", "name of the flow";
        cwnd: f64 as Numbers, "segments", "congestion window; the sender uses the integer part. It is below 1 only after marks, and in the profile `ns2`";
        ssthresh: f64 as Numbers, "segments", "slow start threshold; infinite if there is none";
    } keeps {
        /// The last window of each flow.
        last: Vec<Option<Window>>,
    }
}

impl Listener for CwndTrace {
    fn window(&mut self, at: Instant, flow: u32, window: Window) {
        if replaces(&mut self.last, flow, window) {
            self.push(at.as_nanos(), flow, window.cwnd, window.ssthresh);
        }
    }
}

columns! {
    /// In-order delivery at the receiver.
    DeliveredTrace {
        time: u64 as Seconds, "s", "time of the delivery";
        flow: u32 as Flows, "", "name of the flow";
        bytes: u64 as Whole, "bytes", "cumulative bytes delivered, as in the column `delivered_bytes` of flows";
    }
}

impl Listener for DeliveredTrace {
    fn delivered(&mut self, at: Instant, flow: u32, bytes: u64) {
        self.push(at.as_nanos(), flow, bytes);
    }
}

columns! {
    /// The backlog of a link, at every change.
    QueueTrace {
        time: u64 as Seconds, "s", "time of the change";
        link: u32 as Links, "", "name of the link";
        packets: u64 as Whole, "packets", "packets in the queue, without the packet in transmission";
        bytes: u64 as Whole, "bytes", "bytes in the queue, with headers";
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
        time: u64 as Seconds, "s", "time of the drop or mark";
        link: u32 as Links, "", "name of the link";
        flow: u32 as Flows, "", "name of the flow";
        seq: u32 as Short, "packets", "number of the segment, from 1 (0 is the SYN); for an ACK, the number of the segment that it expects";
        reason: Reason as Words, "", "reason, as in the columns `drops_…` of links, or `random` for the loss model";
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
    /// Waiting times of packets, recorded when they leave their queue.
    SojournTrace {
        time: u64 as Seconds, "s", "time of departure from the queue";
        link: u32 as Links, "", "name of the link";
        flow: u32 as Flows, "", "name of the flow";
        sojourn: u64 as Seconds, "s", "waiting time of the packet";
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
        time: u64 as Seconds, "s", "time of the event";
        link: u32 as Links, "", "name of the link";
        name: &'static str as Words, "", "name of the quantity, as declared by its part";
        value: f64 as Numbers, "", "value, in the unit declared by its part";
    }
}

impl Listener for DisciplineTrace {
    fn discipline(&mut self, at: Instant, link: u32, pull: Pull<'_>) {
        pull(&mut |name, value| self.push(at.as_nanos(), link, name, value));
    }
}

/// An event of a segment at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceKind {
    /// Sent for the first time.
    Send,
    /// Sent again.
    Retransmit,
    /// Expected by an ACK that the sender received.
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
        time: u64 as Seconds, "s", "time at the sender";
        flow: u32 as Flows, "", "name of the flow";
        seq: u32 as Short, "packets", "number of the segment, from 1 (0 is the SYN); for an ACK, the number of the segment that it expects";
        kind: SequenceKind as Words, "", "`send`, `retransmit` or `ack`";
        size: u32 as Short, "bytes", "size of the packet, with headers";
    }
}

impl Listener for SequenceTrace {
    fn segment(&mut self, at: Instant, flow: u32, (seq, size): (u32, Bytes), kind: SequenceKind) {
        self.push(at.as_nanos(), flow, seq, kind, size.0 as u32);
    }
}

columns! {
    /// Segments deemed lost.
    LostTrace {
        time: u64 as Seconds, "s", "time at which the sender deems the segment lost, rightly or not";
        flow: u32 as Flows, "", "name of the flow";
        seq: u32 as Short, "packets", "number of the segment, from 1";
    }
}

impl Listener for LostTrace {
    fn lost(&mut self, at: Instant, flow: u32, seq: u32) {
        self.push(at.as_nanos(), flow, seq);
    }
}

impl Word for Option<Phase> {
    fn word(self) -> &'static str {
        match self {
            Some(Phase::SlowStart) => "slow_start",
            Some(Phase::Avoidance) => "avoidance",
            None => "",
        }
    }
}

columns! {
    /// What senders have in flight.
    FlightTrace {
        time: u64 as Seconds, "s", "time of the change";
        flow: u32 as Flows, "", "name of the flow";
        bytes: u64 as Whole, "bytes", "bytes in flight: sent, and neither delivered nor lost, without headers";
        smss: u64 as Whole, "bytes", "data in a full segment, by which windows count";
        pacing: f64 as Numbers, "bit/s", "rate at which segments leave, with headers; infinite if nothing paces. Of a kernel, the rate of `TCP_INFO`, which it has also if nothing paces";
        phase: Option<Phase> as Words, "", "phase of the congestion control: `slow_start` or `avoidance`; of a kernel, by its window and threshold; empty if the control does not tell";
    } keeps {
        /// The last state of each flow.
        last: Vec<Option<Flight>>,
    }
}

impl Listener for FlightTrace {
    fn flight(&mut self, at: Instant, flow: u32, flight: Flight) {
        if replaces(&mut self.last, flow, flight) {
            let pacing = flight.pacing.map_or(f64::INFINITY, |rate| rate.as_bits_per_sec() as f64);
            self.push(at.as_nanos(), flow, flight.bytes, flight.smss, pacing, flight.phase);
        }
    }
}

columns! {
    /// Round-trip times.
    RttTrace {
        time: u64 as Seconds, "s", "time of the ACK";
        flow: u32 as Flows, "", "name of the flow";
        rtt: u64 as Seconds, "s", "round-trip time of the segment that caused the ACK";
        srtt: Option<u64> as MaybeSeconds, "s", "smoothed round-trip time of the retransmission timer, if there is one; for `ns2` hosts in steps of one eighth of the clock's tick";
        rto: u64 as Seconds, "s", "retransmission timeout, backoff included";
    }
}

impl Listener for RttTrace {
    fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, (srtt, rto): (Option<Duration>, Duration)) {
        self.push(at.as_nanos(), flow, rtt.as_nanos(), srtt.map(Duration::as_nanos), rto.as_nanos());
    }
}

impl Word for RecoveryPhase {
    fn word(self) -> &'static str {
        self.name()
    }
}

columns! {
    /// Loss recovery at every change.
    RecoveryTrace {
        time: u64 as Seconds, "s", "time of the change";
        flow: u32 as Flows, "", "name of the flow";
        phase: RecoveryPhase as Words, "", "`open`, `reduction` (of the window, after a mark), `fast` or `timeout`";
    } keeps {
        /// The last phase of each flow.
        last: Vec<Option<RecoveryPhase>>,
    }
}

impl Listener for RecoveryTrace {
    fn recovery(&mut self, at: Instant, flow: u32, phase: RecoveryPhase) {
        if replaces(&mut self.last, flow, phase) {
            self.push(at.as_nanos(), flow, phase);
        }
    }
}

columns! {
    /// The congestion controls' own quantities.
    InternalsTrace {
        time: u64 as Seconds, "s", "time of the ACK";
        flow: u32 as Flows, "", "name of the flow";
        name: &'static str as Words, "", "name of the quantity, as declared by its part";
        value: f64 as Numbers, "", "value, in the unit declared by its part";
    }
}

impl Listener for InternalsTrace {
    fn internals(&mut self, at: Instant, flow: u32, control: &dyn CongestionControl) {
        control.internals(&mut |name, value| self.push(at.as_nanos(), flow, name, value));
    }
}

/// Lists the traces: name in a scenario, kind, table, and meaning of a row.
macro_rules! traces {
    ($($name:ident: $kind:ident $table:ident, $about:literal;)+) => {
        /// The traces that a run can record, each as a table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum TraceKind {
            $(#[doc = $about] $kind,)+
        }

        impl TraceKind {
            /// Every kind, with its name in a scenario.
            pub const ALL: [(&'static str, Self); [$(Self::$kind),+].len()] = [$((stringify!($name), Self::$kind)),+];

            /// The kind called `name`.
            ///
            /// # Errors
            /// If there is none; the message suggests the nearest name.
            pub fn named(name: &str) -> Result<Self, String> {
                let found = Self::ALL.iter().find(|(known, _)| *known == name);
                found.map(|(_, kind)| *kind).ok_or_else(|| unknown("trace", name, &Self::ALL.map(|(known, _)| known)))
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($name),)+
                }
            }

            /// Meaning of a row.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$kind => $about,)+
                }
            }
        }

        /// The recorded traces; `None` for kinds that were not requested.
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
                self.columns_from(kind, 0)
            }

            /// Like [`Traces::columns`], without the first `from` rows.
            ///
            /// # Panics
            /// If there are fewer rows.
            pub fn columns_from(&self, kind: TraceKind, from: usize) -> Option<Vec<TraceColumn<'_>>> {
                match kind {
                    $(TraceKind::$kind => self.$name.as_ref().map(|table| table.columns(from)),)+
                }
            }

            /// Adds a quantity of the control of `flow` that another program measured.
            pub(crate) fn internal(&mut self, at: Instant, flow: u32, name: &'static str, value: f64) {
                if let Some(table) = &mut self.internals {
                    table.push(at.as_nanos(), flow, name, value);
                }
            }

            /// Removes the rows from `end` on. The tables must be sorted.
            pub(crate) fn cut(&mut self, end: Instant) {
                $(if let Some(table) = &mut self.$name {
                    table.cut(end.as_nanos());
                })+
            }

            /// Sorts every table by time.
            pub(crate) fn sort(&mut self) {
                $(if let Some(table) = &mut self.$name {
                    table.sort();
                })+
            }
        }

        // An event that a table does not listen to costs nothing there.
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
            fn recovery(&mut self, at: Instant, flow: u32, phase: RecoveryPhase) {
                $(if let Some(table) = &mut self.$name { table.recovery(at, flow, phase); })+
            }
            fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, timing: (Option<Duration>, Duration)) {
                $(if let Some(table) = &mut self.$name { table.rtt(at, flow, rtt, timing); })+
            }
            fn segment(&mut self, at: Instant, flow: u32, packet: (u32, Bytes), kind: SequenceKind) {
                $(if let Some(table) = &mut self.$name { table.segment(at, flow, packet, kind); })+
            }
            fn lost(&mut self, at: Instant, flow: u32, seq: u32) {
                $(if let Some(table) = &mut self.$name { table.lost(at, flow, seq); })+
            }
            fn flight(&mut self, at: Instant, flow: u32, flight: Flight) {
                $(if let Some(table) = &mut self.$name { table.flight(at, flow, flight); })+
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
    delivered: Delivered DeliveredTrace, "every packet, or series of packets, delivered in order";
    queue: Queue QueueTrace, "every change of a link's backlog";
    drops: Drops DropsTrace, "every lost packet";
    marks: Marks MarksTrace, "every packet that a queue marked (ECN)";
    sojourn: Sojourn SojournTrace, "every packet that leaves a queue, when its transmission begins";
    discipline: Discipline DisciplineTrace, "every quantity that a queue discipline reports, at every arrival or, for a queue that decides on departure, at every change; `droptail` has none";
    sequence: Sequence SequenceTrace, "every packet sent and every ACK received by a sender";
    rtt: Rtt RttTrace, "every ACK received by a sender";
    recovery: Recovery RecoveryTrace, "every change of a flow's loss recovery; hosts of the profile `ns2` have none";
    flight: Flight FlightTrace, "every change of what a sender has in flight, of its pacing rate or its control's phase, after the packets that it could send; datagrams have none";
    lost: Lost LostTrace, "every segment that a sender deems lost; kernels do not tell";
    internals: Internals InternalsTrace, "every quantity that a congestion control reports, at every ACK";
}
