//! The recorder that fills tables, one for each kind of trace.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::{Backlog, Reason};
use ackclock_core::units::{Duration, Instant};

use super::{Entering, Recorder};
use crate::scenario::TraceKind;

/// Congestion window and threshold at every change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CwndTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Congestion window in segments.
    pub cwnd: Vec<f64>,
    /// Slow start threshold in segments; infinite while there is none.
    pub ssthresh: Vec<f64>,
}

/// In-order delivery at the receiver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeliveredTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Bytes delivered so far, as `delivered_bytes` counts them.
    pub bytes: Vec<u64>,
}

/// What waits at a link, at every change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Packets waiting, the one in transmission not counted.
    pub packets: Vec<u64>,
    /// Bytes waiting.
    pub bytes: Vec<u64>,
}

/// Lost packets, or marked ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FatesTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Number of the segment, or the number an ACK expects.
    pub seq: Vec<u32>,
    /// Why.
    pub reason: Vec<&'static str>,
}

impl FatesTrace {
    fn push(&mut self, at: Instant, link: u32, entering: &Entering, reason: Reason) {
        self.time.push(at.as_nanos());
        self.link.push(link);
        self.flow.push(entering.packet.flow() as u32);
        self.seq.push(entering.packet.seq);
        self.reason.push(reason.name());
    }

    fn sort(&mut self) {
        let order = order(&self.time);
        self.time = pick(&self.time, &order);
        self.link = pick(&self.link, &order);
        self.flow = pick(&self.flow, &order);
        self.seq = pick(&self.seq, &order);
        self.reason = pick(&self.reason, &order);
    }
}

/// How long packets waited, when they left their queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SojournTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Time spent waiting, in nanoseconds.
    pub sojourn: Vec<u64>,
}

/// The queue disciplines' own quantities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DisciplineTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Name of the quantity.
    pub name: Vec<&'static str>,
    /// Its value.
    pub value: Vec<f64>,
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

impl SequenceKind {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Retransmit => "retransmit",
            Self::Ack => "ack",
        }
    }
}

/// Segments sent and ACKs received by senders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Number of the segment.
    pub seq: Vec<u32>,
    /// What happened.
    pub kind: Vec<SequenceKind>,
}

/// Round-trip times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RttTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Round-trip time of the segment that caused the ACK, in nanoseconds.
    pub rtt: Vec<u64>,
    /// Smoothed round-trip time of the retransmission timer in nanoseconds, once there is one.
    pub srtt: Vec<Option<u64>>,
    /// Retransmission timeout in nanoseconds.
    pub rto: Vec<u64>,
}

/// The congestion controls' own quantities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InternalsTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Name of the quantity.
    pub name: Vec<&'static str>,
    /// Its value.
    pub value: Vec<f64>,
}

/// Everything that was recorded; tables of kinds that were not asked for are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// [`TraceKind::Cwnd`].
    pub cwnd: Option<CwndTrace>,
    /// [`TraceKind::Delivered`].
    pub delivered: Option<DeliveredTrace>,
    /// [`TraceKind::Queue`].
    pub queue: Option<QueueTrace>,
    /// [`TraceKind::Drops`].
    pub drops: Option<FatesTrace>,
    /// [`TraceKind::Marks`].
    pub marks: Option<FatesTrace>,
    /// [`TraceKind::Sojourn`].
    pub sojourn: Option<SojournTrace>,
    /// [`TraceKind::Discipline`].
    pub discipline: Option<DisciplineTrace>,
    /// [`TraceKind::Sequence`].
    pub sequence: Option<SequenceTrace>,
    /// [`TraceKind::Rtt`].
    pub rtt: Option<RttTrace>,
    /// [`TraceKind::Internals`].
    pub internals: Option<InternalsTrace>,
    /// The last window of each flow.
    last: Vec<Option<Window>>,
}

impl Traces {
    pub(crate) fn new(kinds: &[TraceKind], flows: usize) -> Self {
        let mut traces = Self { last: vec![None; flows], ..Self::default() };
        for kind in kinds {
            match kind {
                TraceKind::Cwnd => traces.cwnd = Some(CwndTrace::default()),
                TraceKind::Delivered => traces.delivered = Some(DeliveredTrace::default()),
                TraceKind::Queue => traces.queue = Some(QueueTrace::default()),
                TraceKind::Drops => traces.drops = Some(FatesTrace::default()),
                TraceKind::Marks => traces.marks = Some(FatesTrace::default()),
                TraceKind::Sojourn => traces.sojourn = Some(SojournTrace::default()),
                TraceKind::Discipline => traces.discipline = Some(DisciplineTrace::default()),
                TraceKind::Sequence => traces.sequence = Some(SequenceTrace::default()),
                TraceKind::Rtt => traces.rtt = Some(RttTrace::default()),
                TraceKind::Internals => traces.internals = Some(InternalsTrace::default()),
            }
        }
        traces
    }

    /// Brings the records of links, which each link writes in its own order, into the order of time.
    pub(crate) fn sort(&mut self) {
        if let Some(queue) = &mut self.queue {
            let order = order(&queue.time);
            queue.time = pick(&queue.time, &order);
            queue.link = pick(&queue.link, &order);
            queue.packets = pick(&queue.packets, &order);
            queue.bytes = pick(&queue.bytes, &order);
        }
        [&mut self.drops, &mut self.marks].into_iter().flatten().for_each(FatesTrace::sort);
        if let Some(sojourn) = &mut self.sojourn {
            let order = order(&sojourn.time);
            sojourn.time = pick(&sojourn.time, &order);
            sojourn.link = pick(&sojourn.link, &order);
            sojourn.flow = pick(&sojourn.flow, &order);
            sojourn.sojourn = pick(&sojourn.sojourn, &order);
        }
        if let Some(discipline) = &mut self.discipline {
            let order = order(&discipline.time);
            discipline.time = pick(&discipline.time, &order);
            discipline.link = pick(&discipline.link, &order);
            discipline.name = pick(&discipline.name, &order);
            discipline.value = pick(&discipline.value, &order);
        }
    }
}

fn order(time: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..time.len()).collect();
    order.sort_by_key(|&row| time[row]);
    order
}

fn pick<T: Copy>(column: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&row| column[row]).collect()
}

impl Recorder for Traces {
    const ON: bool = true;

    fn dropped(&mut self, at: Instant, link: u32, packet: &Entering, reason: Reason) {
        if let Some(drops) = &mut self.drops {
            drops.push(at, link, packet, reason);
        }
    }

    fn marked(&mut self, at: Instant, link: u32, packet: &Entering, reason: Reason) {
        if let Some(marks) = &mut self.marks {
            marks.push(at, link, packet, reason);
        }
    }

    fn sojourn(&mut self, at: Instant, link: u32, flow: u32, sojourn: Duration) {
        if let Some(table) = &mut self.sojourn {
            table.time.push(at.as_nanos());
            table.link.push(link);
            table.flow.push(flow);
            table.sojourn.push(sojourn.as_nanos());
        }
    }

    fn discipline(&mut self, at: Instant, link: u32, pull: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        let Some(discipline) = &mut self.discipline else { return };
        pull(&mut |name, value| {
            discipline.time.push(at.as_nanos());
            discipline.link.push(link);
            discipline.name.push(name);
            discipline.value.push(value);
        });
    }

    fn queue(&mut self, at: Instant, link: u32, backlog: Backlog) {
        if let Some(queue) = &mut self.queue {
            queue.time.push(at.as_nanos());
            queue.link.push(link);
            queue.packets.push(backlog.packets);
            queue.bytes.push(backlog.bytes);
        }
    }

    fn window(&mut self, at: Instant, flow: u32, window: Window) {
        let Some(cwnd) = &mut self.cwnd else { return };
        let last = &mut self.last[flow as usize];
        if *last != Some(window) {
            *last = Some(window);
            cwnd.time.push(at.as_nanos());
            cwnd.flow.push(flow);
            cwnd.cwnd.push(window.cwnd);
            cwnd.ssthresh.push(window.ssthresh);
        }
    }

    fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, (srtt, rto): (Option<Duration>, Duration)) {
        if let Some(table) = &mut self.rtt {
            table.time.push(at.as_nanos());
            table.flow.push(flow);
            table.rtt.push(rtt.as_nanos());
            table.srtt.push(srtt.map(Duration::as_nanos));
            table.rto.push(rto.as_nanos());
        }
    }

    fn segment(&mut self, at: Instant, flow: u32, seq: u32, kind: SequenceKind) {
        if let Some(sequence) = &mut self.sequence {
            sequence.time.push(at.as_nanos());
            sequence.flow.push(flow);
            sequence.seq.push(seq);
            sequence.kind.push(kind);
        }
    }

    fn delivered(&mut self, at: Instant, flow: u32, bytes: u64) {
        if let Some(delivered) = &mut self.delivered {
            delivered.time.push(at.as_nanos());
            delivered.flow.push(flow);
            delivered.bytes.push(bytes);
        }
    }

    fn internals(&mut self, at: Instant, flow: u32, control: &dyn CongestionControl) {
        let Some(internals) = &mut self.internals else { return };
        control.internals(&mut |name, value| {
            internals.time.push(at.as_nanos());
            internals.flow.push(flow);
            internals.name.push(name);
            internals.value.push(value);
        });
    }
}
