//! The recorder that fills tables, one for each kind of trace.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::{Backlog, DropReason};
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

/// Lost packets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DropsTrace {
    /// Time in nanoseconds.
    pub time: Vec<u64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// Index of the flow.
    pub flow: Vec<u32>,
    /// Number of the segment, or the number an ACK expects.
    pub seq: Vec<u32>,
    /// Why it was lost.
    pub reason: Vec<&'static str>,
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
    pub drops: Option<DropsTrace>,
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
                TraceKind::Drops => traces.drops = Some(DropsTrace::default()),
                TraceKind::Sequence => traces.sequence = Some(SequenceTrace::default()),
                TraceKind::Rtt => traces.rtt = Some(RttTrace::default()),
                TraceKind::Internals => traces.internals = Some(InternalsTrace::default()),
            }
        }
        traces
    }

    /// Brings queue and drop records, which each link writes in its own order, into the order of time.
    pub(crate) fn sort(&mut self) {
        if let Some(queue) = &mut self.queue {
            let order = order(&queue.time);
            queue.time = pick(&queue.time, &order);
            queue.link = pick(&queue.link, &order);
            queue.packets = pick(&queue.packets, &order);
            queue.bytes = pick(&queue.bytes, &order);
        }
        if let Some(drops) = &mut self.drops {
            let order = order(&drops.time);
            drops.time = pick(&drops.time, &order);
            drops.link = pick(&drops.link, &order);
            drops.flow = pick(&drops.flow, &order);
            drops.seq = pick(&drops.seq, &order);
            drops.reason = pick(&drops.reason, &order);
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

    fn dropped(&mut self, at: Instant, link: u32, packet: &Entering, reason: DropReason) {
        if let Some(drops) = &mut self.drops {
            drops.time.push(at.as_nanos());
            drops.link.push(link);
            drops.flow.push(packet.flow);
            drops.seq.push(packet.seq);
            drops.reason.push(reason.name());
        }
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
