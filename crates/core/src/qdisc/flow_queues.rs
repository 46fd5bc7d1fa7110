//! A queue for each flow, served in turn by bytes, sparse flows first (DRR++), whatever controls the delay in each queue.

use std::collections::VecDeque;
use std::fmt::Debug;

use crate::entry::{Quantity, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::{Instant, Limit, Moment};

/// What a departure needs besides the queues.
#[derive(Debug)]
pub(crate) struct Departure<'a> {
    /// Time.
    pub(crate) now: Instant,
    /// Random numbers of the discipline.
    pub(crate) random: &'a mut Generator,
    /// Takes drops and marks.
    pub(crate) outcomes: &'a mut Outcomes,
}

/// One queue, which controls its own delay.
pub(crate) trait FlowQueue: Debug + Send + Sync {
    /// What all queues have in common.
    type Settings: Debug + Send + Sync;

    /// Its backlog.
    fn backlog(&self) -> Backlog;

    /// Appends a packet.
    fn push(&mut self, packet: Packet);

    /// Removes the first packet, because all queues together hold too much.
    fn evict(&mut self, settings: &Self::Settings, now: Instant) -> Option<Packet>;

    /// Removes the packet to send, after drops and marks; `total` is the backlog of all queues.
    fn dequeue(&mut self, settings: &Self::Settings, total: Backlog, departure: &mut Departure<'_>) -> Option<Packet>;
}

/// Number of queues.
pub(crate) const FLOWS: Param =
    Param { name: "flows", kind: Kind::Integer { min: 1.0, max: 65_536.0 }, default: Default::Number(1024.0), doc: "number of queues" };

/// Bytes in a turn.
pub(crate) const QUANTUM: Param = Param {
    name: "quantum",
    kind: Kind::Size { min: 1.0, max: 1e6 },
    default: Default::Number(1514.0),
    doc: "bytes that a queue may send per turn",
};

/// Packets dropped at once.
pub(crate) const DROP_BATCH: Param = Param {
    name: "drop_batch",
    kind: Kind::Integer { min: 1.0, max: 1e6 },
    default: Default::Number(64.0),
    doc: "largest number of packets dropped at once when limit is exceeded",
};

/// The input of the hash.
pub(crate) const CLASSIFY: Param = Param {
    name: "classify",
    kind: Kind::Word(&["flow", "source", "destination", "ends"]),
    default: Default::Word("flow"),
    doc: "input of the hash; packets with equal input share a queue",
};

/// Length of the list of new flows.
pub(crate) const NEW_FLOWS: Quantity = quantity("new_flows", "queues", "queues in RFC 8290's list of new flows");

/// Length of the list of old flows.
pub(crate) const OLD_FLOWS: Quantity = quantity("old_flows", "queues", "queues in RFC 8290's list of old flows");

/// The input of the hash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Classify {
    Flow,
    Source,
    Destination,
    Ends,
}

impl Classify {
    /// Reads [`CLASSIFY`].
    pub(crate) fn new(params: &Params) -> Self {
        match params.word("classify") {
            "source" => Self::Source,
            "destination" => Self::Destination,
            "ends" => Self::Ends,
            _ => Self::Flow,
        }
    }

    /// What packets of one queue have in common.
    pub(crate) fn key(self, packet: &Packet) -> u64 {
        let (source, destination) = (u64::from(packet.ends.0), u64::from(packet.ends.1));
        match self {
            Self::Flow => u64::from(packet.flow),
            Self::Source => source,
            Self::Destination => destination,
            Self::Ends => source << 32 | destination,
        }
    }
}

/// The finalizer of `MurmurHash3`: every bit of the key affects every bit of the hash.
pub(crate) const fn hash(key: u64) -> u64 {
    let mut word = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    word = (word ^ (word >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    word ^ (word >> 33)
}

/// One queue and its turn.
#[derive(Debug)]
struct Flow<Q> {
    queue: Q,
    /// Bytes that the queue may still send in its turn.
    deficit: i64,
    /// Whether the queue is in one of the two lists.
    active: bool,
}

/// The queues and the order of their turns.
#[derive(Debug)]
pub(crate) struct FlowQueues<Q> {
    classify: Classify,
    quantum: i64,
    flows: Vec<Flow<Q>>,
    /// Queues that have not yet sent their first quantum, in order of their turns; `old_flows` has the other active queues.
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    /// Whether a new queue that runs empty leaves at once if there are no old ones, as in Linux.
    leaves_alone: bool,
    backlog: Backlog,
}

impl<Q: FlowQueue> FlowQueues<Q> {
    /// Empty queues that `empty` makes, with [`FLOWS`], [`QUANTUM`] and [`CLASSIFY`]. If it `leaves_alone`, a new queue that runs empty leaves
    /// at once while no queue is old, as in Linux.
    pub(crate) fn new(params: &Params, leaves_alone: bool, empty: impl Fn() -> Q) -> Self {
        Self {
            classify: Classify::new(params),
            quantum: params.number("quantum") as i64,
            flows: (0..params.number("flows") as usize).map(|_| Flow { queue: empty(), deficit: 0, active: false }).collect(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            leaves_alone,
            backlog: Backlog::default(),
        }
    }

    /// Backlog of all queues.
    pub(crate) const fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// RFC 8290 §4.1: the queue of a packet.
    pub(crate) fn queue_of(&self, packet: &Packet) -> usize {
        (hash(self.classify.key(packet)) % self.flows.len() as u64) as usize
    }

    /// Appends a packet to queue `index`. A queue that becomes active is new.
    pub(crate) fn push(&mut self, index: usize, packet: Packet) {
        self.backlog = self.backlog.with(packet.size);
        let flow = &mut self.flows[index];
        flow.queue.push(packet);
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new_flows.push_back(index);
        }
    }

    /// The queue with the most bytes; among queues of equal length the first, as in Linux.
    pub(crate) fn fattest(&self) -> usize {
        let longer = |fattest: usize, index: usize| {
            let bytes = |index: usize| self.flows[index].queue.backlog().bytes;
            if bytes(index) > bytes(fattest) { index } else { fattest }
        };
        (0..self.flows.len()).fold(0, longer)
    }

    /// Queue `index`, which neither gains nor loses packets.
    pub(crate) fn queue_mut(&mut self, index: usize) -> &mut Q {
        &mut self.flows[index].queue
    }

    /// Every queue; none gains or loses packets.
    pub(crate) fn queues_mut(&mut self) -> impl Iterator<Item = &mut Q> {
        self.flows.iter_mut().map(|flow| &mut flow.queue)
    }

    /// Backlog of queue `index`.
    pub(crate) fn backlog_of(&self, index: usize) -> Backlog {
        self.flows[index].queue.backlog()
    }

    /// Drops the first packet of queue `index`; returns its size.
    pub(crate) fn evict(&mut self, index: usize, settings: &Q::Settings, now: Instant, outcomes: &mut Outcomes) -> Option<u64> {
        let packet = self.flows[index].queue.evict(settings, now)?;
        self.backlog = self.backlog.without(packet.size);
        outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        Some(packet.size.0)
    }

    /// RFC 8290 §4.2: the packet to send.
    pub(crate) fn dequeue(&mut self, settings: &Q::Settings, departure: &mut Departure<'_>) -> Option<Packet> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let index = *list.front()?;
            let flow = &mut self.flows[index];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old_flows.push_back(index);
                continue;
            }
            let before = flow.queue.backlog();
            let packet = flow.queue.dequeue(settings, self.backlog, departure);
            let after = flow.queue.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(packet) = packet {
                flow.deficit -= packet.size.0.cast_signed();
                return Some(packet);
            }
            list.pop_front();
            if is_new && !(self.leaves_alone && self.old_flows.is_empty()) {
                // The queue must take a turn among the old flows before it can be new again; otherwise it could starve them.
                self.old_flows.push_back(index);
            } else {
                flow.active = false;
            }
        }
    }

    /// Reports [`NEW_FLOWS`] and [`OLD_FLOWS`].
    pub(crate) fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("new_flows", self.new_flows.len() as f64);
        out("old_flows", self.old_flows.len() as f64);
    }
}

/// How much of the fattest queue an overflow drops: at most `batch` packets, and half of its packets or of its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overflow {
    batch: u64,
    half_of_bytes: bool,
}

/// Queues of which the fattest drops packets from its head when all together hold more than `limit`.
#[derive(Debug)]
pub(crate) struct FairQueue<Q: FlowQueue> {
    limit: Limit,
    overflow: Overflow,
    settings: Q::Settings,
    pub(super) flows: FlowQueues<Q>,
}

impl<Q: FlowQueue> FairQueue<Q> {
    /// Empty queues, with `limit`, [`DROP_BATCH`], and the parameters of [`FlowQueues`]; by Linux's rules or those of RFC 8290.
    pub(crate) fn new(params: &Params, settings: Q::Settings, linux: bool) -> Self
    where
        Q: std::default::Default,
    {
        Self {
            limit: params.limit("limit"),
            overflow: Overflow { batch: params.number("drop_batch") as u64, half_of_bytes: linux },
            settings,
            flows: FlowQueues::new(params, linux, Q::default),
        }
    }

    const fn is_over_limit(&self) -> bool {
        let backlog = self.flows.backlog();
        match self.limit {
            Limit::Packets(limit) => backlog.packets > limit,
            Limit::Bytes(limit) => backlog.bytes > limit,
        }
    }

    /// RFC 8290 §4.1: drops half of the queue with the most bytes, at most a batch, from its head.
    fn drop_from_fattest(&mut self, now: Instant, outcomes: &mut Outcomes) {
        let fattest = self.flows.fattest();
        let Backlog { packets, bytes } = self.flows.backlog_of(fattest);
        let batch = if self.overflow.half_of_bytes { packets } else { packets.div_ceil(2) }.min(self.overflow.batch);
        let (enough, mut dropped) = (bytes / 2, 0);
        for _ in 0..batch {
            dropped += self.flows.evict(fattest, &self.settings, now, outcomes).unwrap_or(0);
            if self.overflow.half_of_bytes && dropped >= enough {
                break;
            }
        }
    }
}

impl<Q: FlowQueue> Scheduler for FairQueue<Q> {
    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        self.flows.push(self.flows.queue_of(&packet), packet);
        while self.is_over_limit() {
            self.drop_from_fattest(now.at, outcomes);
        }
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        self.flows.dequeue(&self.settings, &mut Departure { now: now.at, random, outcomes }).into()
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.flows.internals(out);
    }
}
