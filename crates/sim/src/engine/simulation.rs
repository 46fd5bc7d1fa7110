//! The event loop and what it drives.
//!
//! A packet needs an event only where something may happen in between: at its end host, and before a link that several links feed.
//! Where all packets of a link come from one other link, in order, the two form a pipe whose end a packet's arrival can be computed for
//! at once. What is in flight waits in pipes, first in, first out, of which only the head is an event: see [`Lanes`].

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Instant, Moment, Segments};
#[cfg(test)]
use ackclock_core::{qdisc::Scheduler, rng::Generator};

use super::applications::Driven;
use super::error::RunError;
use super::events::{EventQueue, Key, Subject, Subjects};
use super::flow::{Flow, Hosts, Path};
use super::notices::Notices;
use super::prepared::routes;
use super::result::{ApplicationResult, FlowResult, LinkResult, RunResult};
use crate::app::{Action, Side};
use crate::net::immediate::Crossing;
use crate::net::lanes::Lanes;
use crate::net::link::{Link, Queue};
use crate::net::packet::{Packet, Store};
use crate::net::port::{Entering, LinkCounters, LinkKind, Loss};
use crate::net::route::Routes;
#[cfg(test)]
use crate::net::scheduled::Scheduled;
use crate::net::scheduled::Served;
use crate::scenario::{FlowSpec, Scenario};
use crate::tcp::modern::segment::Segment;
use crate::tcp::packet::{DropNotice, SackBlocks};
use crate::tcp::receiver::Acknowledgement;
use crate::trace::{Point, Recorder, SequenceKind, Traces};

/// After so many events a run asks whether it shall go on.
const EVENTS_PER_CHECK: u64 = 1 << 16;

/// A packet on its way to the end of a link.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    key: Key,
    /// When its transmission began, which determined its arrival.
    since: Instant,
    packet: Packet,
}

pub(super) struct Simulation<'a, R> {
    pub(super) scenario: &'a Scenario,
    pub(super) end: Instant,
    events: EventQueue,
    subjects: Subjects,
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
    pub(super) fn new(scenario: &'a Scenario, recorder: R) -> Result<Self, RunError> {
        let end = Instant::ZERO + scenario.duration;
        let routes = routes(scenario)?;
        let links = scenario.links.iter().enumerate();
        let links: Vec<Link> = links
            .map(|(index, spec)| Link::new(index as u32, spec, scenario.seed, end).map_err(RunError::Part))
            .collect::<Result<_, _>>()?;
        let lanes = Lanes::new(scenario, &links, &routes);
        let pipes = lanes.count() + links.len();
        let subjects = Subjects::new(links.len(), pipes, scenario.flows.len(), scenario.applications.len()).map_err(RunError::TooLarge)?;
        let flows = scenario.flows.iter().enumerate().map(|(index, spec)| Flow::new(index as u32, spec)).collect::<Result<_, _>>()?;
        let mut simulation = Self {
            scenario,
            end,
            events: EventQueue::default(),
            subjects,
            pipes: vec![VecDeque::new(); pipes],
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
            if simulation.flows[flow].poll_timeout(0).is_none() {
                continue;
            }
            simulation.flows[flow].due[0] = Some(Moment { at: spec.start, since: Instant::ZERO });
            simulation.arm(Moment::default(), flow, 0);
        }
        for application in 0..scenario.applications.len() {
            simulation.arm_application(Instant::ZERO, application);
        }
        Ok(simulation)
    }

    /// Puts a queue before a link, in place of the scenario's.
    #[cfg(test)]
    pub(super) fn set_scheduler(&mut self, link: usize, scheduler: Box<dyn Scheduler>) {
        let random = Generator::derived(self.scenario.seed, "test");
        self.links[link].queue = Queue::Scheduled(Box::new(Scheduled::new(scheduler, random)));
    }

    /// Lets everything happen that happens before `until`, and before the end of the run.
    pub(super) fn advance(&mut self, until: Instant, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        let until = until.min(self.end);
        while let Some(key) = self.events.peek() {
            if key.time() >= until {
                break;
            }
            if self.processed.is_multiple_of(EVENTS_PER_CHECK) && interrupted() {
                return Err(RunError::Interrupted);
            }
            self.processed += 1;
            let now = key.time();
            match self.subjects.decode(key.number()) {
                // The next packet of the pipe takes the event's place.
                Subject::Pipe(pipe) => self.packet_event(now, pipe),
                Subject::Link(link) => {
                    self.events.pop();
                    self.link_event(key, link);
                }
                Subject::Timer { flow, side } => {
                    self.events.pop();
                    self.timer_event(now, flow, side);
                }
                Subject::Application(application) => {
                    self.events.pop();
                    self.application_event(now, application);
                }
                Subject::Notice => {
                    self.events.pop();
                    self.notice_event(now);
                }
            }
        }
        Ok(())
    }

    /// Ends the run: what it gives, and the recorder.
    pub(super) fn finish(mut self) -> (RunResult, R) {
        for link in &mut self.links {
            link.finish(&mut self.recorder);
        }
        let (flows, links) = (self.flow_results(), self.link_results());
        let (events, traces) = (self.processed, Traces::default());
        let results = self.applications.into_iter().map(|driven| driven.into_application().into_results());
        let applications = results.map(|(transfers, pages)| ApplicationResult { transfers, pages }).collect();
        (RunResult { flows, links, applications, traces, capture: None, events }, self.recorder)
    }

    /// Puts an event into the queue.
    pub(super) fn schedule(&mut self, moment: Moment, subject: Subject) {
        self.events.push(self.subjects.key(moment, subject));
    }

    /// The first packet in flight in `pipe` arrives.
    fn packet_event(&mut self, now: Instant, pipe: usize) {
        let pipe = &mut self.pipes[pipe];
        let Some(InFlight { packet, since, .. }) = pipe.pop_front() else { return };
        match pipe.front() {
            Some(next) => self.events.replace(next.key),
            None => self.events.pop(),
        }
        let here = Moment { at: now, since };
        if usize::from(packet.hop) < self.routes.hops(packet.route()).len() {
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
    pub(super) fn forward(&mut self, mut packet: Packet, mut here: Moment) {
        let flow = packet.flow();
        if packet.hop == 0 {
            self.observe(here.at, Point::Sent, &packet);
        }
        loop {
            let hops = self.routes.hops(packet.route());
            let link = hops[usize::from(packet.hop)] as usize;
            let next = hops.get(usize::from(packet.hop) + 1).copied();
            self.observe(here.at, Point::Link(link as u32), &packet);
            let entering = Entering { now: here, size: packet.size(), flow: flow as u32, seq: packet.seq, ecn: packet.ecn() };
            let kind = &mut self.kinds[self.lanes.kind(link)];
            let Link { port, queue } = &mut self.links[link];
            let crossing = match queue {
                Queue::Immediate(queue) => queue.cross(port, kind, &entering, &mut self.recorder),
                Queue::Scheduled(queue) => {
                    let FlowSpec { from, to, .. } = self.scenario.flows[flow];
                    let ends = if packet.is_ack() { (to as u32, from as u32) } else { (from as u32, to as u32) };
                    let served = queue.offer((port, kind), (packet, ends, &entering), &mut self.lost, &mut self.recorder);
                    return self.follow(link, served);
                }
            };
            here = match crossing {
                Crossing::Through { arrival, marked } => {
                    if marked {
                        packet.set_ecn(Ecn::Marked);
                    }
                    arrival
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

    /// The queue of a link wants to be asked, unless that has been overtaken by a packet's arrival.
    fn link_event(&mut self, key: Key, link: usize) {
        let kind = &mut self.kinds[self.lanes.kind(link)];
        let Link { port, queue: Queue::Scheduled(queue) } = &mut self.links[link] else { return };
        let due = queue.due().filter(|&due| self.subjects.key(due, Subject::Link(link)) == key);
        if let Some(due) = due {
            let served = queue.serve((port, kind), due, &mut self.lost, &mut self.recorder);
            self.follow(link, served);
        }
    }

    /// Does what follows from serving a link.
    fn follow(&mut self, link: usize, Served { sent, next }: Served) {
        self.lose_all();
        if let Some(next) = next {
            self.schedule(next, Subject::Link(link));
        }
        let Some((mut packet, arrival)) = sent else { return };
        packet.hop += 1;
        let hops = self.routes.hops(packet.route());
        if hops.get(usize::from(packet.hop)).is_some_and(|&next| self.lanes.follows(next)) {
            self.forward(packet, arrival);
        } else {
            self.launch(link, arrival, packet);
        }
    }

    fn lose_all(&mut self) {
        while let Some((packet, loss)) = self.lost.pop() {
            self.lose(&packet, loss);
        }
    }

    /// Puts a packet that has crossed `link` into a pipe: its lane's, or the link's own where it would overtake in the lane.
    fn launch(&mut self, link: usize, arrival: Moment, packet: Packet) {
        let mut index = self.lanes.lane(link);
        let mut key = self.subjects.key(arrival, Subject::Pipe(index));
        if self.pipes[index].back().is_some_and(|last| last.key > key) {
            index = self.lanes.count() + link;
            key = self.subjects.key(arrival, Subject::Pipe(index));
        }
        let pipe = &mut self.pipes[index];
        if pipe.is_empty() {
            self.events.push(key);
        }
        pipe.push_back(InFlight { key, since: arrival.since, packet });
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

    fn deliver_data(&mut self, here: Moment, packet: &Packet) {
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
        if deadline.is_some() || self.flows[flow].due[1].is_some() {
            self.arm(here, flow, 1);
        }
        if delivered {
            self.tell_delivered(here, flow, Side::Receiver);
        }
    }

    fn send_ack(&mut self, here: Moment, flow: usize, ack: Acknowledgement) {
        let blocks = ack.sack.as_slice().len() as u16;
        let sack = if blocks > 0 { self.sack.keep(ack.sack) } else { None };
        self.forward(Packet::ack(flow as u32, ack.seq, blocks, sack, ack.echo).with_echo(ack.ecn_echo), here);
    }

    fn deliver_ack(&mut self, here: Moment, packet: &Packet) {
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
    pub(super) fn transmit(&mut self, here: Moment, flow: usize) {
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
        self.arm(here, flow, 0);
    }

    /// Makes sure that the timer of the host `side` of a flow is in the event queue no later than it is due.
    pub(super) fn arm(&mut self, here: Moment, flow: usize, side: usize) {
        let state = &mut self.flows[flow];
        // A control may name a time that has passed: its timer is due now.
        let deadline = state.poll_timeout(side).map(|at| at.max(here.at));
        if deadline != state.due[side].map(|due| due.at) {
            state.due[side] = deadline.map(|at| Moment { at, since: here.at });
        }
        if let Some(due) = state.due[side]
            && state.armed[side].is_none_or(|armed| due.at < armed)
        {
            state.armed[side] = Some(due.at);
            self.events.push(self.subjects.key(due, Subject::Timer { flow, side }));
        }
    }

    /// A timer event: it may be stale, or the timer may have been moved back since.
    fn timer_event(&mut self, now: Instant, flow: usize, side: usize) {
        let state = &mut self.flows[flow];
        if state.armed[side] != Some(now) {
            return;
        }
        state.armed[side] = None;
        let Some(here) = state.due[side].filter(|due| due.at <= now) else { return self.arm(Moment::now(now), flow, side) };
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
        let seconds = self.scenario.duration.as_secs_f64();
        let result = |counters: &LinkCounters| LinkResult {
            arrivals: counters.arrivals,
            delivered: counters.delivered,
            drops: counters.drops.iter().sum(),
            drops_by_reason: counters.drops,
            marks: counters.marks,
            losses: counters.losses,
            // Sums of many times may exceed the whole by their rounding.
            utilisation: (counters.busy.as_secs_f64() / seconds).min(1.0),
            queue_mean: (counters.waited.as_secs_f64() / seconds).min(counters.queue_max as f64),
            queue_max: counters.queue_max,
            sojourn_mean: counters.sojourn / counters.departures.max(1) as f64,
            sojourn_max: counters.sojourn_max,
            first_drop: counters.first_drop,
        };
        self.links.iter().map(|link| result(&link.port.counters)).collect()
    }
}
