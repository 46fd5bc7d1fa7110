//! Hosts outside the engine that have clocks of their own, such as a kernel in virtual time.
//!
//! A host counts whole nanoseconds, the engine seconds in a double. The engine converts a time once, when it passes a packet to the host: to
//! the nearest nanosecond. What a host sends in the nanosecond of that arrival leaves at the time of the arrival itself. An answer is
//! therefore never rounded, and no packet leaves before its cause.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_core::qdisc::{Backlog, Dequeued, Ecn, Outcome, Outcomes, Packet, Reason, Scheduler, qdisc};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant, Moment};
use ackclock_host::Side;
use ackclock_wire::frame::{Addressed, arriving};

use super::passage::Interface;

/// A packet that a host sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When the host sends it, in nanoseconds since the start of the run.
    pub at: u64,
    /// Index of its flow.
    pub flow: usize,
    /// The end of the flow that sends it, which is at the host.
    pub side: Side,
    /// The whole packet: an IP header with the ECN field and the length of the packet, and what follows it.
    pub frame: Vec<u8>,
}

/// What a queue of a host has done with a packet, by the packet's [handle](Packet::handle).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// It leaves to the link, with this ECN field.
    Left(u32, Ecn),
    /// It was dropped.
    Dropped(u32),
}

/// A host outside the engine, with its own clock: it speaks in packets of IPv4 or IPv6, and brings its own transport. It can be several nodes of the
/// scenario, which then have one clock.
///
/// All times are nanoseconds since the start of the run, and the clock never goes back. The engine and the host run in lock-step: the host
/// runs alone only while nothing can reach it. A run is deterministic if the host is: its packets may depend on its own state and on the
/// packets and times that it was given, not on how the engine divides its time into calls of [`OutsideHost::advance`].
pub trait OutsideHost: Debug + Send {
    /// When the host will next do anything by itself; `None`: not before a packet arrives.
    fn next(&self) -> Option<u64>;

    /// Runs everything that is due until `until`, this nanosecond included. Stops at the first packet that the host sends, and returns it.
    /// `None`: the host's clock is `until`, and [`OutsideHost::next`] is later.
    ///
    /// After a packet, the engine calls again for the rest, perhaps with an earlier `until`, but not before the packet's time.
    fn advance(&mut self, until: u64) -> Option<Departure>;

    /// A packet of `flow` arrives at its end `side` at `now`. [`OutsideHost::advance`] to `now` follows at once.
    fn receive(&mut self, now: u64, flow: usize, side: Side, frame: &[u8]);

    /// A packet arrives at the host's queue of `link` at `now`. [`OutsideHost::advance`] to `now` follows at once.
    fn enqueue(&mut self, _now: u64, _link: usize, _packet: &Packet) {}

    /// `link` is free at `now`: its queue gives one packet, now or as soon as it may. [`OutsideHost::advance`] to `now` follows at once.
    fn dequeue(&mut self, _now: u64, _link: usize) {}

    /// What the queue of `link` has done next, until nothing more has happened.
    fn passed(&mut self, _link: usize) -> Option<Passed> {
        None
    }

    /// When the host has ended the run, if it has. It then sends nothing more, and [`OutsideHost::next`] is `None`.
    fn ended(&self) -> Option<u64> {
        None
    }

    /// Why the host cannot go on, such as the end of its process. The run then stops.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// An outside host in a run.
#[derive(Debug)]
pub(super) struct OutsideNode {
    /// Names of its nodes.
    name: String,
    host: Box<dyn OutsideHost>,
    /// The flows that begin or end there, each with an end that is there.
    flows: Vec<(usize, Side)>,
    /// The last time of the host, and the time in the engine that it stands for.
    clock: (u64, Instant),
    /// Packets that leave now, with their flows and ends.
    leaving: VecDeque<((usize, Side), Vec<u8>)>,
    /// Why the host cannot go on, or how it has broken its contract.
    fault: Option<String>,
}

/// A host that its interfaces share with the driver.
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<Mutex<OutsideNode>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, OutsideNode> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The interface of the host for an end of a flow.
    pub(super) fn interface(&self, flow: usize, side: Side) -> OutsideInterface {
        OutsideInterface { node: self.clone(), flow, side }
    }

    /// The queue of a link that the host has.
    pub(super) fn queue(&self, link: usize) -> OutsideQueue {
        OutsideQueue {
            node: self.clone(),
            link,
            packets: BTreeMap::new(),
            backlog: Backlog::default(),
            ready: VecDeque::new(),
            asked: true,
        }
    }
}

impl OutsideNode {
    pub(super) fn shared(name: String, host: Box<dyn OutsideHost>, flows: Vec<(usize, Side)>) -> Shared {
        let clock = (0, Instant::ZERO);
        Shared(Arc::new(Mutex::new(Self { name, host, flows, clock, leaving: VecDeque::new(), fault: None })))
    }

    /// When the host next does something by itself; [`Instant::MAX`] if never.
    pub(super) fn next(&self) -> Instant {
        self.host.next().map_or(Instant::MAX, |next| self.instant(next))
    }

    /// The time in the engine of a time of the host.
    fn instant(&self, nanos: u64) -> Instant {
        if nanos <= self.clock.0 { self.clock.1 } else { Instant::from_nanos(nanos) }
    }

    /// Runs the host alone: its next event, and all later ones before `horizon`, but only as far as the first packets that it sends.
    /// Returns the time at which they leave.
    pub(super) fn run(&mut self, horizon: Instant) -> Option<Instant> {
        let until = before(horizon).max(self.host.next().unwrap_or(0)).max(self.clock.0);
        let departure = self.advance(until);
        let at = departure.as_ref().map_or(until, |departure| departure.at);
        self.clock = (at, self.instant(at));
        let Departure { flow, side, frame, .. } = departure?;
        self.leaving.push_back(((flow, side), frame));
        self.run_now();
        Some(self.clock.1)
    }

    /// Lets the host finish the present nanosecond.
    fn run_now(&mut self) {
        while let Some(Departure { flow, side, frame, .. }) = self.advance(self.clock.0) {
            self.leaving.push_back(((flow, side), frame));
        }
    }

    /// The time of the host that stands for `now`, which it then has.
    fn set_clock(&mut self, now: Instant) -> u64 {
        let nanos = now.as_nanos().max(self.clock.0);
        self.clock = (nanos, now);
        nanos
    }

    /// The host's next packet until `until`, after a check.
    fn advance(&mut self, until: u64) -> Option<Departure> {
        if self.fault.is_some() {
            return None;
        }
        let departure = self.host.advance(until);
        self.fault = self.host.failure();
        if self.fault.is_some() {
            return None;
        }
        let Some(departure) = departure else {
            if let Some(next) = self.host.next().filter(|next| *next <= until) {
                self.fail(&format!("has run to {until} ns, but its next event is at {next} ns"));
            }
            return None;
        };
        let Departure { at, flow, side, ref frame } = departure;
        let from = self.clock.0;
        if !(from..=until).contains(&at) {
            self.fail(&format!("sent a packet at {at} ns when it ran from {from} ns to {until} ns"));
        } else if !self.flows.contains(&(flow, side)) {
            let end = if side == Side::Sender { "begin" } else { "end" };
            self.fail(&format!("sent a packet of flow number {flow}, which does not {end} there"));
        } else if Addressed::read(frame).is_none() {
            self.fail(&format!("sent {} bytes that are no whole IP packet", frame.len()));
        }
        self.fault.is_none().then_some(departure)
    }

    fn fail(&mut self, fault: &str) {
        self.fault = Some(format!("the outside host at {} {fault}", self.name));
    }

    /// When the host has ended the run.
    pub(super) fn ended(&self) -> Option<Instant> {
        self.host.ended().map(Instant::from_nanos)
    }

    /// Why the host cannot go on, or how it has broken its contract.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The flow and the end of the next packet that leaves now.
    pub(super) fn leaving(&self) -> Option<(usize, Side)> {
        self.leaving.front().map(|(end, _)| *end)
    }
}

/// The last nanosecond before `horizon`.
fn before(horizon: Instant) -> u64 {
    let nanos = horizon.as_nanos();
    if Instant::from_nanos(nanos) < horizon { nanos } else { nanos.saturating_sub(1) }
}

/// The interface of an outside host for one end of a flow.
#[derive(Debug)]
pub struct OutsideInterface {
    node: Shared,
    flow: usize,
    side: Side,
}

impl OutsideInterface {
    /// Lets the host finish `now`, at which something has happened to it that is no packet, such as a call of its application.
    pub fn wake(&mut self, now: Instant) {
        let mut node = self.node.lock();
        node.set_clock(now);
        node.run_now();
    }
}

impl Interface for OutsideInterface {
    fn deliver(&mut self, now: Instant, frame: &[u8], ecn: Ecn) {
        let mut node = self.node.lock();
        if node.fault.is_some() {
            return;
        }
        let nanos = node.set_clock(now);
        node.host.receive(nanos, self.flow, self.side, &arriving(frame, ecn));
        node.run_now();
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        // One at a time, in the order in which the host sent them.
        let leaving = &mut self.node.lock().leaving;
        leaving.front().filter(|(end, _)| *end == (self.flow, self.side))?;
        leaving.pop_front().map(|(_, frame)| frame)
    }
}

/// After so long a queue is asked again that holds packets back although its host waits for nothing.
const PATIENCE: Duration = Duration::from_millis(100);

/// A queue of an outside host.
#[derive(Debug)]
pub(super) struct OutsideQueue {
    node: Shared,
    link: usize,
    /// The packets that wait, by handle.
    packets: BTreeMap<u32, Packet>,
    backlog: Backlog,
    /// Packets that the queue has given and the link has not taken yet.
    ready: VecDeque<Packet>,
    /// Whether the queue may give a packet. At first the link is free.
    asked: bool,
}

impl OutsideQueue {
    /// Lets the host finish `now`, at which `act` happens to the queue, and hears what has become of packets.
    fn turn(&mut self, now: Instant, outcomes: &mut Outcomes, act: impl FnOnce(&mut dyn OutsideHost, u64)) -> Option<Instant> {
        let node = self.node.clone();
        let mut node = node.lock();
        if node.fault.is_some() {
            return None;
        }
        let nanos = node.set_clock(now);
        act(node.host.as_mut(), nanos);
        node.run_now();
        while let Some(passed) = node.host.passed(self.link) {
            let (Passed::Left(handle, _) | Passed::Dropped(handle)) = passed;
            let Some(mut packet) = self.packets.remove(&handle) else {
                node.fail(&format!("has let packet number {handle} out of the queue of link number {}, which does not have it", self.link));
                break;
            };
            match passed {
                Passed::Left(_, ecn) => {
                    if packet.ecn != ecn {
                        packet.ecn = ecn;
                        outcomes.push((packet, Outcome::Marked(Reason::Kernel)));
                    }
                    self.asked = false;
                    self.ready.push_back(packet);
                }
                Passed::Dropped(_) => {
                    self.backlog = self.backlog.without(packet.size);
                    outcomes.push((packet, Outcome::Dropped(Reason::Kernel)));
                }
            }
        }
        Some(node.next())
    }
}

impl Scheduler for OutsideQueue {
    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        self.packets.insert(packet.handle, packet);
        self.backlog = self.backlog.with(packet.size);
        let link = self.link;
        self.turn(now.at, outcomes, |host, nanos| host.enqueue(nanos, link, &packet));
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        let (link, asks) = (self.link, !self.asked && self.ready.is_empty());
        self.asked |= asks;
        let next = self.turn(now.at, outcomes, |host, nanos| {
            if asks {
                host.dequeue(nanos, link);
            }
        });
        if let Some(packet) = self.ready.pop_front() {
            self.backlog = self.backlog.without(packet.size);
            return Dequeued::Send(packet);
        }
        if self.backlog.packets == 0 {
            return Dequeued::Empty;
        }
        // Whatever lets a packet go is an event of the host. Its events at one time come after the engine's: the answer is there then.
        let next = next.map_or(Instant::MAX, |next| next.max(now.at + Duration::NANOSECOND));
        Dequeued::NotBefore(next.min(now.at + PATIENCE))
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn reasons(&self) -> Vec<Reason> {
        qdisc::REASONS.to_vec()
    }
}
