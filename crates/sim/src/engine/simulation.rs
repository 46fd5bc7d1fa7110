//! The event loop and what it drives.
//!
//! A packet needs an event only where something may happen in between: at its end host, and before a link that several links feed.
//! Where all packets of a link come from one other link, in order, the two form a pipe whose end a packet's arrival can be computed for
//! at once. What is in flight waits in pipes, first in, first out, of which only the head is an event: see [`Lanes`].

use std::collections::VecDeque;

use ackclock_core::cc::{self, Composed, CongestionControl};
use ackclock_core::qdisc::Limit;
use ackclock_core::registry::{self, Entry};
use ackclock_core::units::{Duration, Instant};
use thiserror::Error;

use super::events::{EventQueue, Key, MAX_SUBJECTS};
use super::result::{FlowResult, LinkResult, RunResult};
use crate::app::Bulk;
use crate::net::lanes::Lanes;
use crate::net::link::{Crossing, Entering, Link, LinkKind};
use crate::net::route::Routes;
use crate::scenario::{ComposedSpec, ControlSpec, FlowSpec, PartSpec, Recovery, Scenario};
use crate::tcp::ns2::Sender;
use crate::tcp::packet::{HEADER, Packet, SackStore};
use crate::tcp::receiver::{Acknowledgement, Receiver};
use crate::trace::{Off, Recorder, SequenceKind, Traces};

/// After so many events a run asks whether it shall go on.
const EVENTS_PER_CHECK: u64 = 1 << 16;

/// Why a run gave no result.
#[derive(Debug, Error)]
pub enum RunError {
    /// No route joins two nodes of a flow.
    #[error("no route leads from node {from} to node {to}")]
    NoRoute {
        /// Name of the node where the route begins.
        from: String,
        /// Name of the node where it should end.
        to: String,
    },
    /// A part refuses its parameters, or does not exist.
    #[error("{0}")]
    Part(String),
    /// More links and flows than the engine can number.
    #[error("{0} links and flows are more than the engine can hold ({MAX_SUBJECTS})")]
    TooLarge(usize),
    /// The caller stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// Runs `scenario` to its end. `interrupted` is asked now and then whether to give up.
///
/// # Errors
/// [`RunError`]: the scenario joins no route or names a part that does not exist, or the caller stopped the run.
pub fn run(scenario: &Scenario, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
    Prepared::new(scenario)?.run(interrupted)
}

/// A run that has been set up.
pub struct Prepared<'a>(Recording<'a>);

enum Recording<'a> {
    Off(Box<Simulation<'a, Off>>),
    On(Box<Simulation<'a, Traces>>),
}

impl<'a> Prepared<'a> {
    /// Finds the routes and builds links and hosts.
    ///
    /// # Errors
    /// As [`run`].
    pub fn new(scenario: &'a Scenario) -> Result<Self, RunError> {
        Ok(Self(if scenario.record.is_empty() {
            Recording::Off(Box::new(Simulation::new(scenario, Off)?))
        } else {
            Recording::On(Box::new(Simulation::new(scenario, Traces::new(&scenario.record, scenario.flows.len()))?))
        }))
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// If `interrupted` asked to stop.
    pub fn run(self, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
        match self.0 {
            Recording::Off(simulation) => Ok(simulation.run(interrupted)?.0),
            Recording::On(simulation) => {
                let (result, mut traces) = simulation.run(interrupted)?;
                traces.sort();
                Ok(RunResult { traces, ..result })
            }
        }
    }
}

/// A packet on its way to the end of a link.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    key: Key,
    /// Its arrival by ns-2's clock.
    tiebreak: f64,
    packet: Packet,
}

/// Where in time a packet is: see [`Entering`].
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Instant,
    tiebreak: f64,
    scheduled: Instant,
}

impl Arrival {
    /// An event at `now`, which ns-2's clock shows as `tiebreak`.
    fn event(now: Instant, tiebreak: f64) -> Self {
        Self { at: now, tiebreak, scheduled: now }
    }
}

/// One flow's end hosts.
#[derive(Debug)]
struct Flow {
    sender: Sender,
    receiver: Receiver,
    /// Time of the timer event of sender and receiver that is in the event queue.
    armed: [Option<Instant>; 2],
    /// When these timers are due, and when by ns-2's clock.
    due: [(Option<Instant>, f64); 2],
    dropped: u64,
    /// Data segments lost until the end of the first overshoot.
    lost: Vec<u32>,
}

struct Simulation<'a, R> {
    scenario: &'a Scenario,
    end: Instant,
    events: EventQueue,
    links: Vec<Link>,
    kinds: Vec<LinkKind>,
    lanes: Lanes,
    /// What is in flight: a pipe for each lane, then one for each link.
    pipes: Vec<VecDeque<InFlight>>,
    routes: Routes,
    flows: Vec<Flow>,
    sack: SackStore,
    processed: u64,
    recorder: R,
}

impl<'a, R: Recorder> Simulation<'a, R> {
    fn new(scenario: &'a Scenario, recorder: R) -> Result<Self, RunError> {
        let subjects = 2 * (scenario.links.len() + scenario.flows.len());
        if subjects > MAX_SUBJECTS {
            return Err(RunError::TooLarge(subjects));
        }
        let end = Instant::ZERO + scenario.duration;
        let name = |node: usize| scenario.nodes[node].clone();
        let routes = Routes::find(scenario).map_err(|(from, to)| RunError::NoRoute { from: name(from), to: name(to) })?;
        let links = scenario.links.iter().enumerate();
        let links: Vec<Link> = links
            .map(|(index, spec)| Link::new(index as u32, spec, scenario.seed, end).map_err(RunError::Part))
            .collect::<Result<_, _>>()?;
        let lanes = Lanes::new(scenario, &routes);
        let flows = scenario.flows.iter().enumerate().map(|(index, spec)| Flow::new(index as u32, spec)).collect::<Result<_, _>>()?;
        let mut simulation = Self {
            scenario,
            end,
            events: EventQueue::default(),
            pipes: vec![VecDeque::new(); lanes.count() + links.len()],
            kinds: lanes.kinds(scenario),
            lanes,
            links,
            routes,
            flows,
            sack: SackStore::default(),
            processed: 0,
            recorder,
        };
        for flow in 0..simulation.flows.len() {
            simulation.arm(Arrival::event(Instant::ZERO, 0.0), flow);
        }
        Ok(simulation)
    }

    fn run(mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(RunResult, R), RunError> {
        while let Some(key) = self.events.peek() {
            if key.time() >= self.end {
                break;
            }
            if self.processed.is_multiple_of(EVENTS_PER_CHECK) && interrupted() {
                return Err(RunError::Interrupted);
            }
            self.processed += 1;
            let (now, subject) = (key.time(), key.subject());
            if subject < self.pipes.len() {
                self.packet_event(now, subject);
            } else {
                self.events.pop();
                let timer = subject - self.pipes.len();
                self.timer_event(now, timer / 2, timer % 2);
            }
        }
        for link in &mut self.links {
            link.finish(&mut self.recorder);
        }
        let (flows, links) = (self.flow_results(), self.link_results());
        Ok((RunResult { flows, links, traces: Traces::default(), events: self.processed }, self.recorder))
    }

    /// The first packet in flight in `pipe` arrives.
    fn packet_event(&mut self, now: Instant, pipe: usize) {
        let pipe = &mut self.pipes[pipe];
        let Some(InFlight { packet, tiebreak, .. }) = pipe.pop_front() else { return };
        match pipe.front() {
            Some(next) => self.events.replace(next.key),
            None => self.events.pop(),
        }
        let hops = self.routes.hops(packet.route());
        if usize::from(packet.hop) < hops.len() {
            let last = hops[usize::from(packet.hop) - 1] as usize;
            let scheduled = self.kinds[self.lanes.kind(last)].began(now, packet.size());
            self.forward(packet, Arrival { at: now, tiebreak, scheduled });
            return;
        }
        let here = Arrival::event(now, tiebreak);
        if packet.is_ack() {
            self.deliver_ack(here, &packet);
        } else {
            self.deliver_data(here, &packet);
        }
    }

    /// Sends a packet on from where it is, as far as its way is certain.
    fn forward(&mut self, mut packet: Packet, mut here: Arrival) {
        let flow = packet.flow();
        loop {
            let hops = self.routes.hops(packet.route());
            let link = hops[usize::from(packet.hop)] as usize;
            let next = hops.get(usize::from(packet.hop) + 1).copied();
            let Arrival { at, tiebreak, scheduled } = here;
            let entering = Entering { at, tiebreak, scheduled, size: packet.size(), flow: flow as u32, seq: packet.seq };
            let kind = &mut self.kinds[self.lanes.kind(link)];
            let (arrival, tiebreak, start) = match self.links[link].cross(kind, &entering, &mut self.recorder) {
                Crossing::Through { arrival, tiebreak, start } => (arrival, tiebreak, start),
                Crossing::Lost { at } => return self.lose(at, &packet),
            };
            packet.hop += 1;
            if let Some(next) = next
                && self.lanes.follows(next)
            {
                here = Arrival { at: arrival, tiebreak, scheduled: start };
                continue;
            }
            self.launch(link, arrival, tiebreak, packet);
            return;
        }
    }

    /// Puts a packet that has crossed `link` into a pipe: its lane's, or the link's own where it would overtake in the lane.
    fn launch(&mut self, link: usize, arrival: Instant, tiebreak: f64, packet: Packet) {
        let lane = self.lanes.lane(link);
        let overtakes = self.pipes[lane].back().is_some_and(|last| last.key.time() > arrival);
        let index = if overtakes { self.lanes.count() + link } else { lane };
        let key = self.events.key(arrival, index);
        let pipe = &mut self.pipes[index];
        if pipe.is_empty() {
            self.events.push(key);
        }
        pipe.push_back(InFlight { key, tiebreak, packet });
    }

    fn lose(&mut self, at: Instant, packet: &Packet) {
        self.sack.take(packet.sack);
        if at >= self.end {
            return;
        }
        let flow = &mut self.flows[packet.flow()];
        flow.dropped += 1;
        let first_loss = flow.sender.slow_start_exit().first_loss();
        if !packet.is_ack() && packet.seq > 0 && first_loss.is_none_or(|end| packet.seq < end) {
            flow.lost.push(packet.seq);
        }
    }

    fn deliver_data(&mut self, here: Arrival, packet: &Packet) {
        let now = here.at;
        let flow = packet.flow();
        let receiver = &mut self.flows[flow].receiver;
        let before = receiver.delivered_bytes;
        let ack = receiver.handle_segment(now, packet);
        if R::ON && receiver.delivered_bytes > before {
            self.recorder.delivered(now, flow as u32, receiver.delivered_bytes);
        }
        if let Some(ack) = ack {
            self.send_ack(here, flow, ack);
        }
        if self.flows[flow].receiver.poll_timeout().is_some() {
            self.arm(here, flow);
        }
    }

    fn send_ack(&mut self, here: Arrival, flow: usize, ack: Acknowledgement) {
        let blocks = ack.sack.as_slice().len() as u16;
        let sack = self.sack.keep(ack.sack);
        self.forward(Packet::ack(flow as u32, ack.seq, blocks, sack, ack.echo), here);
    }

    fn deliver_ack(&mut self, here: Arrival, packet: &Packet) {
        let now = here.at;
        let flow = packet.flow();
        let sack = self.sack.take(packet.sack);
        let sender = &mut self.flows[flow].sender;
        sender.handle_segment(now, packet, &sack);
        if R::ON {
            self.recorder.segment(now, flow as u32, packet.seq, SequenceKind::Ack);
            self.recorder.window(now, flow as u32, sender.window());
            self.recorder.rtt(now, flow as u32, now.since(packet.sent), sender.timing());
            self.recorder.internals(now, flow as u32, sender.control());
        }
        self.transmit(here, flow);
    }

    /// Sends what the sender of `flow` may send, and sets its timer.
    fn transmit(&mut self, here: Arrival, flow: usize) {
        let now = here.at;
        loop {
            let sender = &mut self.flows[flow].sender;
            let sent_before = sender.snd_max();
            let Some(packet) = sender.poll_transmit(now) else { break };
            if R::ON {
                let kind = if packet.seq < sent_before { SequenceKind::Retransmit } else { SequenceKind::Send };
                self.recorder.segment(now, flow as u32, packet.seq, kind);
            }
            self.forward(packet, here);
        }
        self.arm(here, flow);
    }

    /// Makes sure that the timers of a flow are in the event queue no later than they are due.
    fn arm(&mut self, here: Arrival, flow: usize) {
        let state = &mut self.flows[flow];
        let deadlines = [state.sender.poll_timeout(), state.receiver.poll_timeout()];
        for (side, deadline) in deadlines.into_iter().enumerate() {
            if deadline != state.due[side].0 {
                // ns-2 multiplies whole ticks by the length of one.
                let tick = self.scenario.flows[flow].host.clock_granularity;
                let ticks = deadline.map_or(0.0, |deadline| deadline.since(here.at).as_nanos() as f64 / tick.as_nanos() as f64);
                state.due[side] = (deadline, here.tiebreak + ticks * tick.as_secs_f64());
            }
            if let Some(deadline) = deadline
                && state.armed[side].is_none_or(|armed| deadline < armed)
            {
                state.armed[side] = Some(deadline);
                let key = self.events.key(deadline, self.pipes.len() + 2 * flow + side);
                self.events.push(key);
            }
        }
    }

    /// A timer event: it may be stale, or the timer may have been moved back since.
    fn timer_event(&mut self, now: Instant, flow: usize, side: usize) {
        let state = &mut self.flows[flow];
        if state.armed[side] != Some(now) {
            return;
        }
        state.armed[side] = None;
        let (deadline, tiebreak) = state.due[side];
        let here = Arrival::event(now, tiebreak);
        if deadline.is_none_or(|deadline| deadline > now) {
            self.arm(here, flow);
        } else if side == 0 {
            state.sender.handle_timeout(now);
            if R::ON {
                self.recorder.window(now, flow as u32, state.sender.window());
            }
            self.transmit(here, flow);
        } else if let Some(ack) = state.receiver.handle_timeout(now) {
            self.send_ack(here, flow, ack);
        }
    }

    fn flow_results(&mut self) -> Vec<FlowResult> {
        let specs = &self.scenario.flows;
        (0..specs.len()).map(|flow| self.flow_result(flow, &specs[flow])).collect()
    }

    fn flow_result(&mut self, index: usize, spec: &FlowSpec) -> FlowResult {
        let (bdp_packets, queue_packets) = self.path(index, spec);
        let flow = &mut self.flows[index];
        let counters = flow.sender.counters();
        let window = flow.sender.window();
        let exit = flow.sender.slow_start_exit();
        let first_overshoot_losses = exit.first_loss().map_or(0, |end| {
            let mut lost: Vec<u32> = flow.lost.iter().copied().filter(|seq| *seq < end).collect();
            lost.sort_unstable();
            lost.dedup();
            lost.len() as u64
        });
        let slow_start_exit = exit.get();
        let receiver = &mut flow.receiver;
        let delivered_packets = receiver.delivered_packets();
        let complete = spec.packets.is_some_and(|packets| delivered_packets >= packets);
        let until = if complete { receiver.delivered_at } else { self.end };
        let seconds = until.since(spec.start).as_secs_f64();
        let payload = delivered_packets as f64 * spec.host.packet_size.0 as f64;
        FlowResult {
            delivered_bytes: receiver.delivered_bytes,
            delivered_packets,
            goodput_bps: if seconds > 0.0 { 8.0 * payload / seconds } else { 0.0 },
            sent_packets: counters.sent,
            retransmitted_packets: counters.retransmitted,
            timeouts: counters.timeouts,
            window_reductions: counters.reductions,
            dropped_packets: flow.dropped,
            cwnd_max: counters.cwnd_max,
            cwnd_final: window.cwnd,
            ssthresh_final: window.ssthresh,
            slow_start_exit,
            bdp_packets,
            queue_packets,
            first_overshoot_losses,
            delivered_after: receiver.checkpoints(self.end),
            completion_time: complete.then(|| receiver.delivered_at.since(spec.start)),
            min_rtt: flow.sender.min_rtt(),
        }
    }

    /// Bandwidth-delay product of a flow's path in its packets, and the capacity of the queue before the slowest link.
    fn path(&self, index: usize, spec: &FlowSpec) -> (f64, Option<f64>) {
        let wire = spec.host.packet_size.0 + u64::from(HEADER);
        let links = |route| self.routes.hops(route).iter().map(|&link| &self.scenario.links[link as usize]);
        let unloaded = |route, size| {
            let add = |sum: Duration, link: &crate::scenario::LinkSpec| {
                sum + link.delay + Duration::from_nanos(link.rate.transmission(ackclock_core::units::Bytes(size)).0)
            };
            links(route).fold(Duration::ZERO, add)
        };
        let round_trip = unloaded(2 * index, wire) + unloaded(2 * index + 1, u64::from(HEADER));
        let Some(slowest) = links(2 * index).min_by_key(|link| link.rate) else { return (0.0, None) };
        let queue = slowest.queue.as_ref().and_then(|queue| queue.params.0.iter().find(|(name, _)| *name == "limit"));
        let packets = queue.and_then(|(_, value)| match value {
            registry::Value::Limit(Limit::Packets(packets)) => Some(*packets as f64),
            registry::Value::Limit(Limit::Bytes(bytes)) => Some(*bytes as f64 / wire as f64),
            _ => None,
        });
        (slowest.rate.bytes_in(round_trip) / wire as f64, packets)
    }

    fn link_results(&self) -> Vec<LinkResult> {
        let nanos = self.scenario.duration.as_nanos() as f64;
        let result = |link: &Link| LinkResult {
            arrivals: link.counters.arrivals,
            delivered: link.counters.delivered,
            drops: link.counters.drops,
            losses: link.counters.losses,
            utilisation: link.counters.busy as f64 / nanos,
            queue_mean: link.counters.waited as f64 / nanos,
            queue_max: link.counters.queue_max,
            first_drop: link.counters.first_drop,
        };
        self.links.iter().map(result).collect()
    }
}

impl Flow {
    fn new(index: u32, spec: &FlowSpec) -> Result<Self, RunError> {
        let host = &spec.host;
        let bulk = Bulk { start: spec.start, stop: spec.stop, packets: spec.packets };
        let control: Box<dyn CongestionControl> = match &spec.control {
            ControlSpec::Composed(parts) => Box::new(compose(parts, host.initial_ssthresh)?),
            ControlSpec::Custom(factory) => factory(),
        };
        let sack = host.recovery == Recovery::Sack;
        let delay = host.delayed_ack.then_some(host.delayed_ack_timeout);
        let wire = host.packet_size.0 as u16 + HEADER;
        Ok(Self {
            sender: Sender::new(index, host, control, bulk),
            receiver: Receiver::new(sack, delay, wire, spec.start),
            armed: [None; 2],
            due: [(None, 0.0); 2],
            dropped: 0,
            lost: Vec::new(),
        })
    }
}

/// Composes a congestion control from the registry.
fn compose(parts: &ComposedSpec, initial_ssthresh: f64) -> Result<Composed, RunError> {
    let loss_response = parts.loss_response.as_ref().map(|part| build(cc::loss_response::ENTRIES, part)).transpose()?;
    Ok(Composed::new(
        build(cc::initial_window::ENTRIES, &parts.initial_window)?,
        build(cc::slow_start::ENTRIES, &parts.slow_start)?,
        build(cc::avoidance::ENTRIES, &parts.avoidance)?,
        loss_response,
        initial_ssthresh,
    ))
}

fn build<P: ?Sized>(entries: &'static [&'static Entry<P>], part: &PartSpec) -> Result<Box<P>, RunError> {
    let entry = registry::find(entries, part.name).ok_or_else(|| RunError::Part(format!("there is no part {}", part.name)))?;
    (entry.build)(&part.params).map_err(|reason| RunError::Part(format!("{}: {reason}", part.name)))
}
