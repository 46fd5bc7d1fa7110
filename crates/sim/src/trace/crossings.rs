//! Every packet on every link in a part of a run: when it entered the link's queue, when its transmission began, and when it arrived at the
//! other end or was lost.

use std::collections::{BTreeSet, VecDeque};

use ackclock_core::qdisc::{Ecn, Reason};
use ackclock_core::units::Instant;
use ackclock_host::Side;

use super::{Entering, Point, SequenceKind};
use crate::net::packet::{Packet, Payloads};
use crate::scenario::{HostSpec, Scenario};

/// The part of a run whose packets are wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Begin.
    pub from: Instant,
    /// End. Packets that enter a link at this time or later are not in the span.
    pub to: Instant,
    /// Most crossings to keep.
    pub most: usize,
}

/// A packet on one link. Times are in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Index of the link.
    pub link: u32,
    /// Index of the flow.
    pub flow: u32,
    /// The end of the flow that sent it.
    pub side: Side,
    /// Whether it carries data, a SYN or a FIN; otherwise it is an ACK.
    pub data: bool,
    /// Number of the segment, from 1 (0 is the SYN); for an ACK, the number of the segment that it expects.
    pub number: u32,
    /// Bytes, with headers.
    pub size: u32,
    /// Whether its sender sent this segment again.
    pub retransmission: bool,
    /// ECN field after the queue.
    pub ecn: Ecn,
    /// Time of arrival at the queue.
    pub entered: u64,
    /// Start of the transmission; `None`: lost before it, or still waiting at the end of the run.
    pub left: Option<u64>,
    /// Arrival at the other end, which can be after the end of the run; `None`: lost, or still waiting at the end of the run.
    pub arrived: Option<u64>,
    /// Reason and time of the loss.
    pub dropped: Option<(Reason, u64)>,
}

impl Crossing {
    /// Whether this is the crossing of `link` by the packet.
    fn is(&self, link: u32, entering: &Entering) -> bool {
        let Entering { now, packet } = entering;
        self.link == link
            && self.entered == now.at.as_nanos()
            && self.number == packet.seq
            && self.flow as usize == packet.flow()
            && self.side == packet.from()
    }
}

/// The packets on all links in a span.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossings {
    /// In the order in which they entered a link, those of equal times in the order of links.
    pub rows: Vec<Crossing>,
    /// If there were more than [`Span::most`]: the time at which the first that is missing entered its link.
    pub missing_from: Option<u64>,
}

/// Records the crossings of a span.
#[derive(Debug)]
pub(crate) struct Watch {
    span: Span,
    end: Instant,
    /// Whether the hosts of each flow are of profile `modern`, whose packets are segments.
    segments: Vec<bool>,
    /// Packets that wait, by link.
    waiting: Vec<VecDeque<Crossing>>,
    rows: Vec<Crossing>,
    missing_from: Option<u64>,
    /// Whether the packet that is sent next is a retransmission.
    resending: bool,
    /// Flow, number and send time of the retransmissions.
    retransmissions: BTreeSet<(u32, u32, u64)>,
}

impl Watch {
    /// Watches all links in a run of `scenario`.
    pub(crate) fn new(span: Span, scenario: &Scenario) -> Self {
        let end = Instant::ZERO + scenario.duration;
        let segments = scenario.flows.iter().map(|flow| matches!(flow.host, HostSpec::Modern(_))).collect();
        let (rows, missing_from) = (Vec::new(), None);
        let waiting = vec![VecDeque::new(); scenario.links.len()];
        Self { span, end, segments, waiting, rows, missing_from, resending: false, retransmissions: BTreeSet::new() }
    }

    /// Whether a packet of the span still waits.
    pub(crate) fn is_open(&self) -> bool {
        self.waiting.iter().any(|link| !link.is_empty())
    }

    /// What was recorded.
    pub(crate) fn finish(mut self) -> Crossings {
        for crossing in std::mem::take(&mut self.waiting).into_iter().flatten() {
            self.keep(crossing);
        }
        self.rows.sort_by_key(|row| (row.entered, row.link));
        Crossings { rows: self.rows, missing_from: self.missing_from }
    }

    /// The sender announces its next packet.
    pub(super) fn segment(&mut self, kind: SequenceKind) {
        self.resending = kind == SequenceKind::Retransmit;
    }

    /// A packet is at `point`.
    pub(super) fn passed(&mut self, at: Instant, point: Point, packet: &Packet, payloads: &Payloads) {
        let (flow, sent) = (packet.flow() as u32, packet.sent.as_secs_f64().to_bits());
        match point {
            Point::Sent if packet.from() == Side::Sender && std::mem::take(&mut self.resending) => {
                self.retransmissions.insert((flow, packet.seq, sent));
            }
            Point::Link(link) if at < self.span.to.min(self.end) => {
                let from = packet.from();
                let crossing = Crossing {
                    link,
                    flow,
                    side: from,
                    data: self.carries_data(packet, payloads),
                    number: packet.seq,
                    size: packet.size().0 as u32,
                    retransmission: from == Side::Sender && self.retransmissions.contains(&(flow, packet.seq, sent)),
                    ecn: packet.ecn(),
                    entered: at.as_nanos(),
                    left: None,
                    arrived: None,
                    dropped: None,
                };
                self.waiting[link as usize].push_back(crossing);
            }
            Point::Sent | Point::Link(_) | Point::Received => {}
        }
    }

    fn carries_data(&self, packet: &Packet, payloads: &Payloads) -> bool {
        if self.segments[packet.flow()] {
            return payloads.segments.get(packet.payload).is_some_and(|segment| !segment.is_empty());
        }
        packet.from() == Side::Sender
    }

    /// The queue of `link` marked a packet.
    pub(super) fn marked(&mut self, link: u32, entering: &Entering) {
        if let Some(crossing) = self.waiting[link as usize].iter_mut().find(|crossing| crossing.is(link, entering)) {
            crossing.ecn = Ecn::Ce;
        }
    }

    /// A packet leaves the queue of `link` at `at`, and would arrive at the other end at `arrival`.
    pub(super) fn departed(&mut self, at: Instant, link: u32, entering: &Entering, arrival: Instant) {
        if let Some(crossing) = self.take(link, entering) {
            self.keep(Crossing { left: Some(at.as_nanos()), arrived: Some(arrival.as_nanos()), ..crossing });
        }
    }

    /// A packet is lost on `link` at `at`: while it waits, or right after its departure was recorded.
    pub(super) fn dropped(&mut self, at: Instant, link: u32, entering: &Entering, reason: Reason) {
        let dropped = Some((reason, at.as_nanos()));
        if let Some(crossing) = self.take(link, entering) {
            self.keep(Crossing { dropped, ..crossing });
        } else if let Some(last) = self.rows.last_mut().filter(|last| last.is(link, entering)) {
            last.arrived = None;
            last.dropped = dropped;
        }
    }

    fn take(&mut self, link: u32, entering: &Entering) -> Option<Crossing> {
        let waiting = &mut self.waiting[link as usize];
        let place = waiting.iter().position(|crossing| crossing.is(link, entering))?;
        waiting.remove(place)
    }

    /// Keeps a crossing that touches the span.
    fn keep(&mut self, crossing: Crossing) {
        let gone = crossing.arrived.or(crossing.dropped.map(|(_, at)| at));
        if gone.is_some_and(|gone| gone < self.span.from.as_nanos()) {
            return;
        }
        if self.rows.len() >= self.span.most {
            self.missing_from = Some(self.missing_from.map_or(crossing.entered, |first| first.min(crossing.entered)));
            return;
        }
        self.rows.push(crossing);
    }
}
