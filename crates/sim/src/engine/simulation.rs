//! The event loop and what it drives.
//!
//! A packet needs an event only where something may happen in between: at its end host, and before a link that several links feed.
//! Where all packets of a link come from one other link, in order, the two form a pipe whose end a packet's arrival can be computed for
//! at once. What is in flight waits in pipes, first in, first out, of which only the head is an event: see [`Lanes`].

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant, Segments};
use thiserror::Error;

use super::applications::Driven;
use super::events::{EventQueue, Key, MAX_SUBJECTS};
use super::flow::{Due, Flow, Hosts, Path};
use super::notices::Notices;
use super::result::{ApplicationResult, FlowResult, LinkResult, RunResult};
use crate::app::{Action, Side};
use crate::net::lanes::Lanes;
use crate::net::link::{Crossing, Entering, Link, LinkKind, Loss};
use crate::net::route::{Routes, Unroutable};
use crate::net::scheduled::Served;
use crate::scenario::Scenario;
use crate::tcp::modern::segment::Segment;
use crate::tcp::packet::{DropNotice, Packet, SackBlocks, Store};
use crate::tcp::receiver::Acknowledgement;
use crate::trace::{Capture, Off, Point, Recorder, Recording, SequenceKind, Traces};

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
    /// The shortest route between two nodes is longer than packets can count.
    #[error("the route from node {from} to node {to} has more than 65535 links")]
    RouteTooLong {
        /// Name of the node where the route begins.
        from: String,
        /// Name of the node where it ends.
        to: String,
    },
    /// A part refuses its parameters, or does not exist.
    #[error("{0}")]
    Part(String),
    /// A place to capture does not exist, or packets cannot be captured.
    #[error("{0}")]
    Capture(String),
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

/// The name of the slowest link on the way of the first flow's data, the first of several.
///
/// # Errors
/// If no route joins the two ends of a flow.
pub fn bottleneck(scenario: &Scenario) -> Result<&str, RunError> {
    let routes = routes(scenario)?;
    let links = routes.hops(0).iter().map(|&link| &scenario.links[link as usize]);
    let slowest = links.min_by_key(|link| link.rate);
    slowest.map(|link| link.name.as_str()).ok_or_else(|| RunError::Capture("capture: the first flow crosses no link".to_owned()))
}

fn routes(scenario: &Scenario) -> Result<Routes, RunError> {
    let name = |node: usize| scenario.nodes[node].clone();
    Routes::find(scenario).map_err(|problem| match problem {
        Unroutable::Apart((from, to)) => RunError::NoRoute { from: name(from), to: name(to) },
        Unroutable::TooLong((from, to)) => RunError::RouteTooLong { from: name(from), to: name(to) },
    })
}

/// A run that has been set up.
pub struct Prepared<'a>(Kind<'a>);

enum Kind<'a> {
    Off(Box<Simulation<'a, Off>>),
    On(Box<Simulation<'a, Recording>>),
}

impl<'a> Prepared<'a> {
    /// Finds the routes and builds links and hosts.
    ///
    /// # Errors
    /// As [`run`].
    pub fn new(scenario: &'a Scenario) -> Result<Self, RunError> {
        Self::capturing(scenario, &[])
    }

    /// The same, and captures packets at the links and hosts called `places`.
    ///
    /// # Errors
    /// As [`run`]; or one of the places does not exist.
    pub fn capturing(scenario: &'a Scenario, places: &[String]) -> Result<Self, RunError> {
        if scenario.record.is_empty() && places.is_empty() {
            return Ok(Self(Kind::Off(Box::new(Simulation::new(scenario, Off)?))));
        }
        // Where nothing is recorded, the tables are those of a run without a recorder, so that the digest is.
        let flows = if scenario.record.is_empty() { 0 } else { scenario.flows.len() };
        let traces = Traces::new(&scenario.record, flows);
        let capture = if places.is_empty() { None } else { Some(Capture::new(scenario, places).map_err(RunError::Capture)?) };
        Ok(Self(Kind::On(Box::new(Simulation::new(scenario, Recording { traces, capture })?))))
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// If `interrupted` asked to stop.
    pub fn run(self, interrupted: &mut dyn FnMut() -> bool) -> Result<RunResult, RunError> {
        match self.0 {
            Kind::Off(simulation) => Ok(simulation.run(interrupted)?.0),
            Kind::On(simulation) => {
                let (result, Recording { mut traces, capture }) = simulation.run(interrupted)?;
                traces.sort();
                Ok(RunResult { traces, capture, ..result })
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
pub(super) struct Arrival {
    pub(super) at: Instant,
    tiebreak: f64,
    scheduled: Instant,
}

impl Arrival {
    /// What happens at a host by itself at `now`.
    pub(super) fn local(now: Instant) -> Self {
        Self { at: now, tiebreak: now.as_secs_f64(), scheduled: now }
    }
}

pub(super) struct Simulation<'a, R> {
    pub(super) scenario: &'a Scenario,
    pub(super) end: Instant,
    pub(super) events: EventQueue,
    links: Vec<Link>,
    kinds: Vec<LinkKind>,
    lanes: Lanes,
    /// What is in flight: a pipe for each lane, then one for each link.
    pipes: Vec<VecDeque<InFlight>>,
    pub(super) routes: Routes,
    pub(super) flows: Vec<Flow>,
    pub(super) applications: Vec<Driven>,
    /// What an application has just asked for; empty in between.
    pub(super) actions: Vec<Action>,
    sack: Store<SackBlocks>,
    /// Segments of `modern` hosts on their way.
    pub(super) segments: Store<Segment>,
    /// What a scheduled link has just lost; empty in between.
    lost: Vec<(Packet, Loss)>,
    /// The initial windows that connections between two nodes have arrived at, by the nodes of sender and receiver.
    pub(super) learned: BTreeMap<(usize, usize), Segments>,
    /// What queues tell the senders of packets that they dropped.
    pub(super) notices: Notices,
    processed: u64,
    pub(super) recorder: R,
}

impl<'a, R: Recorder> Simulation<'a, R> {
    fn new(scenario: &'a Scenario, recorder: R) -> Result<Self, RunError> {
        let end = Instant::ZERO + scenario.duration;
        let routes = routes(scenario)?;
        let links = scenario.links.iter().enumerate();
        let links: Vec<Link> = links
            .map(|(index, spec)| Link::new(index as u32, spec, scenario.seed, end).map_err(RunError::Part))
            .collect::<Result<_, _>>()?;
        let lanes = Lanes::new(scenario, &links, &routes);
        // The last is for notices.
        let subjects = lanes.count() + 2 * scenario.links.len() + 2 * scenario.flows.len() + scenario.applications.len() + 1;
        if subjects > MAX_SUBJECTS {
            return Err(RunError::TooLarge(subjects));
        }
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
            applications: Driven::all(scenario),
            actions: Vec::new(),
            sack: Store::default(),
            segments: Store::default(),
            lost: Vec::new(),
            learned: BTreeMap::new(),
            notices: Notices::default(),
            processed: 0,
            recorder,
        };
        for (flow, spec) in scenario.flows.iter().enumerate() {
            if simulation.flows[flow].poll_timeouts()[0].is_none() {
                continue;
            }
            let start = Due { deadline: Some(spec.start), tiebreak: spec.start_tiebreak, set_at: Instant::ZERO };
            simulation.flows[flow].due[0] = start;
            simulation.arm(Arrival::local(Instant::ZERO), flow);
        }
        for application in 0..scenario.applications.len() {
            simulation.arm_application(Instant::ZERO, application);
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
                continue;
            }
            self.events.pop();
            let timer = subject - self.pipes.len();
            if timer < 2 * self.flows.len() {
                self.timer_event(now, timer / 2, timer % 2);
            } else if subject == self.notice_subject() {
                self.notice_event(now);
            } else if subject < self.first_application() {
                self.free_event(now, timer - 2 * self.flows.len());
            } else {
                self.application_event(now, subject - self.first_application());
            }
        }
        for link in &mut self.links {
            link.finish(&mut self.recorder);
        }
        let (flows, links) = (self.flow_results(), self.link_results());
        let (events, traces) = (self.processed, Traces::default());
        let results = self.applications.into_iter().map(|driven| driven.into_application().into_results());
        let applications = results.map(|(transfers, pages)| ApplicationResult { transfers, pages }).collect();
        Ok((RunResult { flows, links, applications, traces, capture: None, events }, self.recorder))
    }

    /// The first subject of events that are an application's.
    pub(super) fn first_application(&self) -> usize {
        self.pipes.len() + 2 * self.flows.len() + self.links.len()
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
        let last = hops[usize::from(packet.hop) - 1] as usize;
        let scheduled = self.kinds[self.lanes.kind(last)].began(now, packet.size());
        let here = Arrival { at: now, tiebreak, scheduled };
        if usize::from(packet.hop) < hops.len() {
            return self.forward(packet, here);
        }
        self.observe(now, Point::Received, &packet);
        if packet.is_ack() {
            self.deliver_ack(here, &packet);
        } else {
            self.deliver_data(here, &packet);
        }
    }

    /// Sends a packet on from where it is, as far as its way is certain.
    pub(super) fn forward(&mut self, mut packet: Packet, mut here: Arrival) {
        let flow = packet.flow();
        if packet.hop == 0 {
            self.observe(here.at, Point::Sent, &packet);
        }
        loop {
            let hops = self.routes.hops(packet.route());
            let link = hops[usize::from(packet.hop)] as usize;
            let next = hops.get(usize::from(packet.hop) + 1).copied();
            let Arrival { at, tiebreak, scheduled } = here;
            self.observe(at, Point::Link(link as u32), &packet);
            let (size, ecn) = (packet.size(), packet.ecn());
            let entering = Entering { at, tiebreak, scheduled, size, flow: flow as u32, seq: packet.seq, ecn };
            if self.links[link].is_scheduled() {
                return self.offer(link, packet, &entering);
            }
            let kind = &mut self.kinds[self.lanes.kind(link)];
            here = match self.links[link].cross(kind, &entering, &mut self.recorder) {
                Crossing::Through { arrival, tiebreak, start, marked } => {
                    if marked {
                        packet.set_ecn(Ecn::Marked);
                    }
                    Arrival { at: arrival, tiebreak, scheduled: start }
                }
                Crossing::Lost(loss) => return self.lose(&packet, loss),
            };
            packet.hop += 1;
            if !next.is_some_and(|next| self.lanes.follows(next)) {
                return self.launch(link, here, packet);
            }
        }
    }

    /// Lets the recorder see a packet.
    fn observe(&mut self, at: Instant, point: Point, packet: &Packet) {
        if R::ON {
            self.recorder.passed(at, point, packet, &(&self.sack, &self.segments));
        }
    }

    /// Hands a packet to a link whose queue schedules.
    fn offer(&mut self, link: usize, packet: Packet, entering: &Entering) {
        while self.links[link].is_due_before(entering) {
            self.serve(link, None);
        }
        let flow = &self.scenario.flows[packet.flow()];
        let (from, to) = (flow.from as u32, flow.to as u32);
        let ends = if packet.is_ack() { (to, from) } else { (from, to) };
        if self.links[link].offer((packet, ends), entering, &mut self.lost, &mut self.recorder) {
            self.serve(link, Some(entering));
        } else {
            self.lose_all();
        }
    }

    /// Lets a link whose queue schedules send its next packet: because its transmitter is free, or at the arrival of a packet that found
    /// it free.
    fn serve(&mut self, link: usize, found_free: Option<&Entering>) {
        let kind = &mut self.kinds[self.lanes.kind(link)];
        let served = self.links[link].serve(kind, found_free, &mut self.lost, &mut self.recorder);
        self.lose_all();
        let Served::Busy { sent, next, start } = served else { return };
        self.events.push(Key::new(next, start, self.pipes.len() + 2 * self.flows.len() + link));
        let Some((mut packet, arrival, tiebreak)) = sent else { return };
        let here = Arrival { at: arrival, tiebreak, scheduled: start };
        packet.hop += 1;
        let hops = self.routes.hops(packet.route());
        if hops.get(usize::from(packet.hop)).is_some_and(|&next| self.lanes.follows(next)) {
            self.forward(packet, here);
        } else {
            self.launch(link, here, packet);
        }
    }

    /// The transmitter of a link whose queue schedules was free a moment ago, unless it has been served since.
    fn free_event(&mut self, now: Instant, link: usize) {
        if self.links[link].next_service() == Some(now) {
            self.serve(link, None);
        }
    }

    fn lose_all(&mut self) {
        while let Some((packet, loss)) = self.lost.pop() {
            self.lose(&packet, loss);
        }
    }

    /// Puts a packet that has crossed `link` into a pipe: its lane's, or the link's own where it would overtake in the lane.
    fn launch(&mut self, link: usize, arrival: Arrival, packet: Packet) {
        let Arrival { at, tiebreak, scheduled } = arrival;
        let lane = self.lanes.lane(link);
        let overtakes = self.pipes[lane].back().is_some_and(|last| last.key.time() > at);
        let index = if overtakes { self.lanes.count() + link } else { lane };
        let key = Key::new(at, scheduled, index);
        let pipe = &mut self.pipes[index];
        if pipe.is_empty() {
            self.events.push(key);
        }
        pipe.push_back(InFlight { key, tiebreak, packet });
    }

    fn lose(&mut self, packet: &Packet, loss: Loss) {
        let (seq, is_told) = match self.flows[packet.flow()].hosts {
            Hosts::Ns2 { .. } => {
                self.sack.take(packet.kept);
                (packet.seq, !packet.is_ack())
            }
            Hosts::Modern(_) => self.segments.take(packet.kept).map_or((0, false), |segment| (segment.seq, segment.len() > 0)),
            Hosts::Datagrams(_) => (packet.seq, false),
        };
        if loss.at >= self.end {
            return;
        }
        self.flows[packet.flow()].lose(packet);
        if let Some(notice) = loss.notice.filter(|_| is_told) {
            self.notify(packet, loss.at, DropNotice { seq, sent: packet.sent, notice });
        }
    }

    /// The subject of events at which a notice arrives.
    pub(super) fn notice_subject(&self) -> usize {
        self.first_application() + self.applications.len()
    }

    fn deliver_data(&mut self, here: Arrival, packet: &Packet) {
        let now = here.at;
        let flow = packet.flow();
        let receiver = match &mut self.flows[flow].hosts {
            Hosts::Ns2 { receiver, .. } => receiver,
            Hosts::Modern(_) => return self.deliver_segment(here, packet),
            Hosts::Datagrams(stream) => {
                stream.take(now);
                if R::ON {
                    self.recorder.delivered(now, flow as u32, stream.delivered_bytes());
                }
                return;
            }
        };
        let before = receiver.delivered_bytes;
        let ack = receiver.handle_segment(now, packet);
        let deadline = receiver.poll_timeout();
        let delivered = receiver.delivered_bytes > before;
        if R::ON && delivered {
            self.recorder.delivered(now, flow as u32, receiver.delivered_bytes);
        }
        if let Some(ack) = ack {
            self.send_ack(here, flow, ack);
        }
        if deadline.is_some() {
            self.arm(here, flow);
        }
        if delivered {
            self.tell_delivered(here, flow, Side::Receiver);
        }
    }

    fn send_ack(&mut self, here: Arrival, flow: usize, ack: Acknowledgement) {
        let blocks = ack.sack.as_slice().len() as u16;
        let sack = if blocks > 0 { self.sack.keep(ack.sack) } else { None };
        self.forward(Packet::ack(flow as u32, ack.seq, blocks, sack, ack.echo).with_echo(ack.ecn_echo), here);
    }

    fn deliver_ack(&mut self, here: Arrival, packet: &Packet) {
        let now = here.at;
        let flow = packet.flow();
        let Hosts::Ns2 { sender, .. } = &mut self.flows[flow].hosts else { return self.deliver_segment(here, packet) };
        let sack = self.sack.take(packet.kept).unwrap_or_default();
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
    pub(super) fn transmit(&mut self, here: Arrival, flow: usize) {
        let now = here.at;
        self.learn(flow);
        while let Hosts::Ns2 { sender, .. } = &mut self.flows[flow].hosts {
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
    pub(super) fn arm(&mut self, here: Arrival, flow: usize) {
        let state = &mut self.flows[flow];
        let deadlines = state.poll_timeouts();
        for (side, deadline) in deadlines.into_iter().enumerate() {
            if deadline != state.due[side].deadline {
                // ns-2 multiplies whole ticks by the length of one.
                let tick = self.scenario.flows[flow].host.clock_granularity;
                let ticks = deadline.map_or(0.0, |deadline| deadline.since(here.at).as_nanos() as f64 / tick.as_nanos() as f64);
                state.due[side] = Due { deadline, tiebreak: here.tiebreak + ticks * tick.as_secs_f64(), set_at: here.at };
            }
            if let Some(deadline) = deadline
                && state.armed[side].is_none_or(|armed| deadline < armed)
            {
                state.armed[side] = Some(deadline);
                let key = Key::new(deadline, here.at, self.pipes.len() + 2 * flow + side);
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
        let Due { deadline, tiebreak, set_at } = state.due[side];
        let here = Arrival { at: now, tiebreak, scheduled: set_at };
        if deadline.is_none_or(|deadline| deadline > now) {
            return self.arm(here, flow);
        }
        if side == 0 && !self.learned.is_empty() {
            self.recall(flow);
        }
        match &mut self.flows[flow].hosts {
            Hosts::Modern(_) => self.expire(here, flow, side),
            Hosts::Datagrams(_) => {}
            Hosts::Ns2 { sender, .. } if side == 0 => {
                sender.handle_timeout(now);
                if R::ON {
                    self.recorder.window(now, flow as u32, sender.window());
                }
                self.transmit(here, flow);
            }
            Hosts::Ns2 { receiver, .. } => {
                if let Some(ack) = receiver.handle_timeout(now) {
                    self.send_ack(here, flow, ack);
                }
            }
        }
    }

    fn flow_results(&mut self) -> Vec<FlowResult> {
        let (scenario, routes, end) = (self.scenario, &self.routes, self.end);
        let flows = self.flows.iter_mut().zip(&scenario.flows).enumerate();
        flows.map(|(index, (flow, spec))| flow.result(spec, &Path::new(scenario, routes, index), end)).collect()
    }

    fn link_results(&self) -> Vec<LinkResult> {
        let nanos = self.scenario.duration.as_nanos() as f64;
        let result = |link: &Link| LinkResult {
            arrivals: link.counters.arrivals,
            delivered: link.counters.delivered,
            drops: link.counters.drops.iter().sum(),
            drops_by_reason: link.counters.drops,
            marks: link.counters.marks,
            losses: link.counters.losses,
            utilisation: link.counters.busy as f64 / nanos,
            queue_mean: link.counters.waited as f64 / nanos,
            queue_max: link.counters.queue_max,
            sojourn_mean: Duration::from_nanos((link.counters.sojourn / u128::from(link.counters.departures.max(1))) as u64),
            sojourn_max: link.counters.sojourn_max,
            first_drop: link.counters.first_drop,
        };
        self.links.iter().map(result).collect()
    }
}
