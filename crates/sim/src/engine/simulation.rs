//! The event loop and the components that it drives.
//!
//! A packet needs an event only where another event can affect it: at its end host, and before a link that several links feed. If all
//! packets of a link come from one other link, a packet's arrival at the end of the second can be computed at once. Packets in flight wait
//! in pipes, first in, first out; only the head of a pipe is an event. See [`Lanes`].

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use ackclock_core::qdisc::{Ecn, Scheduler};
use ackclock_core::units::{Instant, Moment, Segments};
use ackclock_host::{DropNotice, Side, Transmission};

use super::driven::Driven;
use super::error::RunError;
use super::events::{EventQueue, Key, Subject, Subjects};
use super::flow::{Flow, Path};
use super::notices::Notices;
use super::result::{ApplicationResult, FlowResult, LinkResult, RunResult};
use super::routing::{routes, slowest};
use super::wires::{Census, InFlight, Wires};
use crate::app::Action;
use crate::net::fate::{Crossing, Loss};
use crate::net::lanes::Lanes;
use crate::net::link::{Link, Queue};
use crate::net::medium::Medium;
use crate::net::packet::{Packet, Payloads};
use crate::net::port::{Entering, LinkCounters, Port};
use crate::net::route::{Routes, Then};
use crate::net::scheduled::Served;
use crate::scenario::{FlowSpec, LinkSpec, Scenario};
use crate::trace::{Point, Recorder, SequenceKind, Traces};

/// Number of events between two checks: whether the caller interrupts the run, and its budget of events.
const EVENTS_PER_CHECK: u64 = 1 << 16;

/// Queues outside the engine, by the indices of their links.
pub(super) type Queues = BTreeMap<usize, Box<dyn Scheduler>>;

pub(super) struct Simulation<'a, R> {
    pub(super) scenario: Cow<'a, Scenario>,
    pub(super) end: Instant,
    pub(super) events: EventQueue,
    pub(super) subjects: Subjects,
    pub(super) links: Vec<Link>,
    /// Media that links share.
    pub(super) media: Vec<Medium>,
    pub(super) lanes: Lanes,
    /// Packets in flight: a pipe for each lane, then one for each link.
    pipes: Vec<VecDeque<InFlight>>,
    /// Packets in flight on links on which packets overtake.
    wires: Wires,
    pub(super) routes: Routes,
    pub(super) flows: Vec<Flow>,
    pub(super) applications: Vec<Driven>,
    /// Actions just requested by an application; otherwise empty.
    pub(super) actions: Vec<Action>,
    /// Payloads of the packets in flight.
    pub(super) payloads: Payloads,
    /// Packets just lost by a scheduled link; otherwise empty.
    pub(super) lost: Vec<(Packet, Loss)>,
    /// The initial windows that connections between two nodes have learned, by the nodes of sender and receiver.
    pub(super) learned: BTreeMap<(usize, usize), Segments>,
    /// Notices from queues to the senders of dropped packets.
    pub(super) notices: Notices,
    /// Number of events before the next check. One count instead of two costs the loop nothing.
    left: u64,
    /// Number of events processed when the next check is due.
    checked: u64,
    /// Most events that the run may process.
    max_events: u64,
    /// What became of every packet, for the assertions of debug builds.
    pub(super) census: Census,
    pub(super) recorder: R,
}

impl<'a, R: Recorder> Simulation<'a, R> {
    pub(super) fn new(scenario: Cow<'a, Scenario>, recorder: R) -> Result<Self, RunError> {
        Self::between(scenario, recorder, &mut Flow::new, BTreeMap::new())
    }

    /// A simulation of `scenario` whose flows `flow` makes by their indices; `queues`: the queues outside the engine, by their links.
    pub(super) fn between(
        scenario: Cow<'a, Scenario>,
        recorder: R,
        flow: &mut dyn FnMut(&Scenario, usize) -> Result<Flow, RunError>,
        mut queues: Queues,
    ) -> Result<Self, RunError> {
        let end = Instant::ZERO + scenario.duration;
        let mut routes = routes(&scenario)?;
        let links = scenario.links.iter().enumerate();
        let missing = |(index, spec): (usize, &LinkSpec)| spec.needs_kernel().filter(|_| !queues.contains_key(&index));
        if let Some(what) = links.clone().find_map(missing) {
            return Err(RunError::Kernel(what));
        }
        let mut links: Vec<Link> = links
            .map(|(index, spec)| Link::new(index as u32, spec, (scenario.seed, end), queues.remove(&index)).map_err(RunError::Part))
            .collect::<Result<_, _>>()?;
        let media = Medium::all(&scenario, &mut links).map_err(RunError::Part)?;
        let lanes = Lanes::new(&scenario, &mut links, &mut routes);
        let pipes = lanes.count + links.len();
        let wires = Wires::new(&links);
        let subjects = Subjects::new((links.len(), pipes, wires.len(), media.len()), scenario.flows.len(), scenario.applications.len())
            .map_err(RunError::TooLarge)?;
        let scheduled = (0..links.len()).filter(|&link| links[link].is_scheduled());
        let frequent = scheduled.map(Subject::Link).chain((0..lanes.count).map(Subject::Pipe)).chain((0..media.len()).map(Subject::Medium));
        let flows = (0..scenario.flows.len()).map(|index| flow(&scenario, index)).collect::<Result<_, _>>()?;
        let mut simulation = Self {
            end,
            events: EventQueue::new(frequent.map(|subject| subjects.encode(subject))),
            subjects,
            pipes: vec![VecDeque::new(); pipes],
            wires,
            media,
            lanes,
            links,
            routes,
            flows,
            applications: Driven::all(&scenario),
            actions: Vec::new(),
            payloads: Payloads::default(),
            lost: Vec::new(),
            learned: BTreeMap::new(),
            notices: Notices::default(),
            left: 0,
            checked: 0,
            max_events: u64::MAX,
            census: Census::default(),
            recorder,
            scenario,
        };
        for flow in 0..simulation.flows.len() {
            if R::ON {
                simulation.flows[flow].hosts.keep_lost();
            }
            if simulation.flows[flow].hosts.poll_timeout(Side::Sender).is_none() {
                continue;
            }
            simulation.flows[flow].due[Side::Sender.index()] =
                Some(Moment { at: simulation.scenario.flows[flow].start, since: Instant::ZERO });
            simulation.arm(Moment::default(), flow, Side::Sender);
        }
        for application in 0..simulation.applications.len() {
            simulation.arm_application(Instant::ZERO, application);
        }
        Ok(simulation)
    }

    /// Processes all events before `until` and before the end of the run.
    pub(super) fn advance(&mut self, until: Instant, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        let until = until.min(self.end);
        loop {
            // Before the event is read, so that nothing of it has to survive the call.
            if self.left == 0 {
                self.check(until, interrupted)?;
            }
            let key = self.events.peek();
            if key.time() >= until {
                break;
            }
            self.left -= 1;
            let now = key.time();
            self.census.proceed(now);
            let subject = self.subjects.decode(key.number());
            if let Subject::Pipe(pipe) = subject {
                // The next packet of the pipe replaces the event.
                self.packet_event(key, pipe);
                continue;
            }
            self.events.replace(None);
            match subject {
                Subject::Link(link) => self.link_event(key, link),
                Subject::Timer { flow, side } => self.timer_event(now, flow, side),
                Subject::Application(application) => self.application_event(now, application),
                Subject::Notice => self.notice_event(now),
                Subject::Wire(wire) => self.wire_event(key, wire),
                Subject::Medium(medium) => self.medium_event(key, medium),
                Subject::Pipe(_) => {}
            }
        }
        if R::ON && until == self.end {
            self.links.iter_mut().for_each(|link| link.settle(&mut self.recorder));
        }
        Ok(())
    }

    /// Time of the next event; [`Instant::MAX`] or later if there is none.
    pub(super) fn next(&self) -> Instant {
        self.events.peek().time()
    }

    /// Ends the run at `end`, if that is before its planned end.
    pub(super) fn cut(&mut self, end: Instant) {
        if end < self.end {
            self.end = end;
            self.scenario.to_mut().duration = end.since(Instant::ZERO);
            self.links.iter_mut().for_each(|link| link.cut(end));
        }
    }

    /// Limits the number of events.
    pub(super) fn limit(&mut self, max_events: u64) {
        self.max_events = max_events;
        (self.checked, self.left) = (self.events(), 0);
    }

    /// Number of events processed so far.
    pub(super) fn events(&self) -> u64 {
        self.checked - self.left
    }

    /// Checks whether the next event, if it is before `until`, may be processed.
    #[cold]
    fn check(&mut self, until: Instant, interrupted: &mut dyn FnMut() -> bool) -> Result<(), RunError> {
        let now = self.events.peek().time();
        if now >= until {
            return Ok(());
        }
        if self.checked >= self.max_events {
            let [at, end] = [now, self.end].map(Instant::as_secs_f64);
            return Err(RunError::Events { max: self.max_events, at, end });
        }
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        self.left = EVENTS_PER_CHECK.min(self.max_events - self.checked);
        self.checked += self.left;
        Ok(())
    }

    /// Ends the run. Returns its result and the recorder.
    pub(super) fn finish(mut self) -> (RunResult, R) {
        for link in &mut self.links {
            link.finish(&mut self.recorder);
        }
        if cfg!(debug_assertions) {
            let waiting: u64 = self.links.iter().map(Link::waiting).sum();
            let flying: u64 = self.pipes.iter().map(|pipe| pipe.len() as u64).sum();
            self.census.check(waiting + flying + self.wires.packets(), self.payloads.len());
        }
        let (flows, links) = (self.flow_results(), self.link_results());
        let (events, traces, bottleneck) = (self.events(), Traces::default(), slowest(&self.scenario, &self.routes));
        let end = Instant::ZERO + self.scenario.duration;
        let results = self.applications.into_iter().map(|driven| driven.into_application().into_results(end));
        let applications = results.map(|(transfers, pages, media)| ApplicationResult { transfers, pages, media }).collect();
        (RunResult { flows, links, bottleneck, applications, traces, capture: None, events }, self.recorder)
    }

    /// Adds an event to the queue.
    pub(super) fn schedule(&mut self, moment: Moment, subject: Subject) {
        self.events.push(self.subjects.key(moment, subject));
    }

    /// The first packet in flight in `pipe` arrives.
    fn packet_event(&mut self, key: Key, pipe: usize) {
        let pipe = &mut self.pipes[pipe];
        let Some(first) = pipe.pop_front() else { return };
        self.events.replace(pipe.front().map(|next| next.key));
        self.arrive(key.time(), first);
    }

    /// The first packet on `wire` arrives.
    #[cold]
    fn wire_event(&mut self, key: Key, wire: usize) {
        let Some(first) = self.wires.pop(wire) else { return };
        debug_assert!(first.key == key, "a wire has an event for each packet, in their order");
        self.arrive(key.time(), first);
    }

    /// A packet reaches the end of a link.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `launch`")]
    fn arrive(&mut self, now: Instant, InFlight { packet, since, .. }: InFlight) {
        let here = Moment { at: now, since };
        if !packet.is_arriving() {
            return self.forward(packet, here);
        }
        self.observe(now, Point::Received, &packet);
        self.deliver(here, &packet);
    }

    /// Forwards a packet from its current place as far as no event can affect it.
    pub(super) fn forward(&mut self, packet: Packet, mut here: Moment) {
        // A separate copy stays in registers.
        let mut packet = packet;
        for &hop in self.routes.ahead(packet.route(), packet.hop) {
            let link = hop.link as usize;
            if R::ON && !self.links[link].port.is_admitting() {
                self.recorder.passed(here.at, Point::Link(link as u32), &packet, &self.payloads);
            }
            let Link { port, queue } = &mut self.links[link];
            let kind = &mut self.lanes.kinds[port.kind as usize];
            let Queue::Immediate(queue) = queue else { return self.offer(link, packet, here) };
            here = if let Some(arrival) = queue.pass(port, kind, (here, packet), &mut self.recorder) {
                arrival
            } else {
                match queue.queue(port, kind, &Entering { now: here, packet }, &mut self.recorder) {
                    Crossing::Through { arrival, marked } => {
                        if marked {
                            packet.set_ecn(Ecn::Ce);
                        }
                        arrival
                    }
                    crossing => return self.crossed(link, packet, here, crossing),
                }
            };
            packet = packet.across(hop.then == Then::Arrive);
            if hop.then != Then::Follow {
                let lane = port.lane as usize;
                return self.launch((link, lane), here, packet);
            }
        }
    }

    /// Offers a packet to a link whose queue chooses on departure.
    fn offer(&mut self, link: usize, packet: Packet, now: Moment) {
        let ends = self.ends(&packet);
        let Link { port, queue: Queue::Scheduled(queue) } = &mut self.links[link] else { return self.share(link, packet, now) };
        if let Some(crossing) = port.before(&Entering { now, packet }, &mut self.recorder) {
            return self.crossed(link, packet, now, crossing);
        }
        let kind = &mut self.lanes.kinds[port.kind as usize];
        let served = queue.offer((port, kind), (&Entering { now, packet }, ends), &mut self.lost, &mut self.recorder);
        self.follow(link, served);
    }

    /// The nodes between which a packet travels.
    pub(super) fn ends(&self, packet: &Packet) -> (u32, u32) {
        let FlowSpec { from, to, .. } = self.scenario.flows[packet.flow()];
        match packet.from() {
            Side::Sender => (from as u32, to as u32),
            Side::Receiver => (to as u32, from as u32),
        }
    }

    /// Shows a packet to the recorder.
    pub(super) fn observe(&mut self, at: Instant, point: Point, packet: &Packet) {
        if R::ON {
            self.recorder.passed(at, point, packet, &self.payloads);
        }
    }

    /// Serves the queue of a link, unless a packet's arrival has already changed its deadline.
    fn link_event(&mut self, key: Key, link: usize) {
        let Link { port, queue: Queue::Scheduled(queue) } = &mut self.links[link] else { return self.release(key, link) };
        let kind = &mut self.lanes.kinds[port.kind as usize];
        let due = queue.due().filter(|&due| self.subjects.key(due, Subject::Link(link)) == key);
        if let Some(due) = due {
            let served = queue.serve((port, kind), due, &mut self.lost, &mut self.recorder);
            self.follow(link, served);
        }
    }

    /// Processes the result of serving a link.
    fn follow(&mut self, link: usize, Served { sent, next }: Served) {
        self.drop_all();
        if let Some(next) = next {
            self.schedule(next, Subject::Link(link));
        }
        if let Some((packet, crossing)) = sent {
            self.crossed(link, packet, Moment::default(), crossing);
        }
    }

    /// Continues with a packet that has crossed `link`, or that copies of it cross from `here` on.
    pub(super) fn crossed(&mut self, link: usize, mut packet: Packet, here: Moment, crossing: Crossing) {
        match crossing {
            Crossing::Through { arrival, marked } => {
                if marked {
                    packet.set_ecn(Ecn::Ce);
                }
                self.leave(link, packet, arrival);
            }
            Crossing::Lost(loss) => self.drop_packet(packet, loss),
            Crossing::Entering => self.enter_copies(link, packet, here),
            Crossing::Leaving { arrival, marked } => self.leave_copies(link, packet, arrival, marked),
        }
    }

    /// Continues with a packet that reaches the end of `link` at `arrival`.
    pub(super) fn leave(&mut self, link: usize, packet: Packet, arrival: Moment) {
        let hop = self.routes.hop(packet.route(), packet.hop);
        let packet = packet.across(hop.then == Then::Arrive);
        if let Some(wire) = self.wires.of(link) {
            let turn = self.links[link].port.turn(arrival.since);
            let key = self.subjects.arrival(arrival, turn, Subject::Wire(wire));
            self.events.push(key);
            self.wires.insert(wire, InFlight { key, since: arrival.since, packet });
        } else if hop.then == Then::Follow {
            self.forward(packet, arrival);
        } else {
            let lane = self.links[link].port.lane as usize;
            self.launch((link, lane), arrival, packet);
        }
    }

    pub(super) fn drop_all(&mut self) {
        while let Some((packet, loss)) = self.lost.pop() {
            self.drop_packet(packet, loss);
        }
    }

    /// Appends a packet that has crossed `link` to a pipe: that of its lane or, if it would overtake in the lane, that of the link.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a packet in registers is put where it waits; one in memory would be read while it is being written"
    )]
    fn launch(&mut self, (link, lane): (usize, usize), arrival: Moment, packet: Packet) {
        let turn = self.links[link].port.turn(arrival.since);
        let mut index = lane;
        let mut key = self.subjects.arrival(arrival, turn, Subject::Pipe(index));
        if self.pipes[index].back().is_some_and(|last| last.key > key) {
            index = self.lanes.count + link;
            key = self.subjects.arrival(arrival, turn, Subject::Pipe(index));
        }
        let pipe = &mut self.pipes[index];
        debug_assert!(pipe.back().is_none_or(|last| last.key <= key), "pipe {index} goes back in time");
        if pipe.is_empty() {
            self.events.push(key);
        }
        pipe.push_back(InFlight { key, since: arrival.since, packet });
    }

    pub(super) fn drop_packet(&mut self, packet: Packet, loss: Loss) {
        self.census.lost();
        let flow = &mut self.flows[packet.flow()];
        let noticed = flow.hosts.discard(&packet, &mut self.payloads);
        if loss.at >= self.end {
            return;
        }
        flow.count_drop(&packet);
        if let (Some(key), Some(notice)) = (noticed, loss.notice) {
            self.notify(&packet, loss.at, DropNotice { key, sent: packet.sent, notice });
        }
    }

    /// A packet reaches its end host.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as for `launch`; the other caller is cold")]
    fn deliver(&mut self, here: Moment, packet: &Packet) {
        let (now, flow, side) = (here.at, packet.flow(), packet.from().peer());
        self.census.delivered();
        let delivered = self.flows[flow].hosts.handle(now, packet, &mut self.payloads);
        if R::ON {
            match side {
                Side::Sender => self.record_ack(now, packet),
                Side::Receiver if delivered => self.recorder.delivered(now, flow as u32, self.flows[flow].hosts.delivered_bytes()),
                Side::Receiver => {}
            }
        }
        self.transmit(here, flow, side);
        if delivered && let Some(application) = self.flows[flow].application {
            self.notify_delivered(here, (flow, side), application);
        }
    }

    /// Records the state of a sender after the ACK `packet`.
    fn record_ack(&mut self, now: Instant, packet: &Packet) {
        let (flow, hosts) = (packet.flow() as u32, &self.flows[packet.flow()].hosts);
        self.recorder.segment(now, flow, (packet.seq, packet.size()), SequenceKind::Ack);
        if let Some(window) = hosts.window() {
            self.recorder.window(now, flow, window, hosts.recovery());
        }
        if let Some(rtt) = hosts.latest_rtt() {
            self.recorder.rtt(now, flow, rtt, hosts.timing());
        }
        hosts.with_control(&mut |control| self.recorder.internals(now, flow, control));
    }

    /// Records the window of the sender of `flow`.
    pub(super) fn record_window(&mut self, now: Instant, flow: usize) {
        let hosts = &self.flows[flow].hosts;
        if let Some(window) = hosts.window() {
            self.recorder.window(now, flow as u32, window, hosts.recovery());
        }
    }

    /// Records what the sender of `flow` has deemed lost, and has in flight after the packets that it could send.
    fn record_flight(&mut self, now: Instant, flow: usize) {
        let hosts = &mut self.flows[flow].hosts;
        while let Some(seq) = hosts.next_lost() {
            self.recorder.lost(now, flow as u32, seq);
        }
        if let Some(flight) = hosts.flight() {
            self.recorder.flight(now, flow as u32, flight);
        }
    }

    /// Sends all packets that an end of `flow` can send, and sets its timer.
    pub(super) fn transmit(&mut self, here: Moment, flow: usize, side: Side) {
        let now = here.at;
        if side == Side::Sender {
            self.learn(flow);
        }
        let leaves = if self.flows[flow].hosts.answers_later() { Moment::now(now) } else { here };
        while let Some((packet, kind)) = self.flows[flow].hosts.poll_transmit(now, (flow as u32, side), &mut self.payloads) {
            if R::ON && side == Side::Sender {
                let segment = (packet.seq, packet.size());
                match kind {
                    Transmission::New => self.recorder.segment(now, flow as u32, segment, SequenceKind::Send),
                    Transmission::Retransmission => self.recorder.segment(now, flow as u32, segment, SequenceKind::Retransmit),
                    Transmission::Ack => {}
                }
            }
            self.census.sent();
            self.observe(now, Point::Sent, &packet);
            self.forward(packet, leaves);
        }
        if R::ON && side == Side::Sender {
            self.record_flight(now, flow);
        }
        self.arm(here, flow, side);
    }

    /// Ensures that the event queue has an event for an end's timer, at its deadline or earlier.
    pub(super) fn arm(&mut self, here: Moment, flow: usize, side: Side) {
        let state = &mut self.flows[flow];
        // A control can set its timer to a time in the past. The timer then expires now.
        let deadline = state.hosts.poll_timeout(side).map(|at| at.max(here.at));
        let (due, armed) = (&mut state.due[side.index()], &mut state.armed[side.index()]);
        if deadline != due.map(|due| due.at) {
            *due = deadline.map(|at| Moment { at, since: here.at });
        }
        if let Some(due) = *due
            && armed.is_none_or(|armed| due.at < armed)
        {
            *armed = Some(due.at);
            self.events.push(self.subjects.key(due, Subject::Timer { flow, side }));
        }
    }

    /// Handles a timer event. It may be stale, or the timer may have moved to a later time.
    fn timer_event(&mut self, now: Instant, flow: usize, side: Side) {
        let state = &mut self.flows[flow];
        if state.armed[side.index()] != Some(now) {
            return;
        }
        state.armed[side.index()] = None;
        let Some(here) = state.due[side.index()].filter(|due| due.at <= now) else { return self.arm(Moment::now(now), flow, side) };
        if side == Side::Sender && std::mem::take(&mut self.flows[flow].unopened) {
            self.apply_learned(flow);
        }
        self.flows[flow].hosts.handle_timeout(now, side);
        if R::ON && side == Side::Sender {
            self.record_window(now, flow);
        }
        self.transmit(here, flow, side);
    }

    fn flow_results(&mut self) -> Vec<FlowResult> {
        let (scenario, routes, end) = (&self.scenario, &self.routes, self.end);
        let flows = self.flows.iter_mut().zip(&scenario.flows).enumerate();
        flows.map(|(index, (flow, spec))| flow.result(spec, &Path::new(scenario, routes, index), end)).collect()
    }

    fn link_results(&self) -> Vec<LinkResult> {
        let seconds = self.scenario.duration.as_secs_f64();
        let result = |port: &Port, counters: &LinkCounters| LinkResult {
            arrivals: counters.arrivals,
            delivered: counters.delivered,
            drops: counters.drops.iter().sum(),
            drops_by_reason: counters.drops,
            marks: counters.marks,
            losses: counters.losses,
            duplicated: counters.duplicated,
            tied_drops: counters.tied_drops,
            utilisation: port.utilisation(seconds),
            queue_mean: (counters.waited.as_secs_f64() / seconds).min(counters.queue_max as f64),
            queue_max: counters.queue_max,
            sojourn_mean: counters.sojourn / counters.departures.max(1) as f64,
            sojourn_max: counters.sojourn_max,
            first_drop: counters.first_drop,
        };
        self.links.iter().map(|link| result(&link.port, &link.port.counters)).collect()
    }
}
