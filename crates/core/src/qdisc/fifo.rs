//! A first-in, first-out queue behind an [`Admission`], as a [`Scheduler`].

use std::collections::VecDeque;

use super::{Admission, Arrival, Backlog, Ecn, Outcome, Outcomes, Outlet, Packet, Scheduler, Verdict};
use crate::rng::Generator;
use crate::units::Instant;

/// A first-in, first-out queue.
#[derive(Debug)]
pub struct Fifo<A> {
    pub(crate) admission: A,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    idle_since: Option<Instant>,
    next_update: Instant,
}

impl<A: Admission> Fifo<A> {
    /// An empty queue behind `admission`, before a link that is idle.
    pub fn new(admission: A) -> Self {
        let next_update = admission.first_update().unwrap_or(Instant::MAX);
        Self { admission, waiting: VecDeque::new(), backlog: Backlog::default(), idle_since: Some(Instant::ZERO), next_update }
    }

    fn update_until(&mut self, now: Instant) {
        while self.next_update <= now {
            self.next_update = self.admission.update(self.next_update, self.backlog);
        }
    }
}

impl<A: Admission> Scheduler for Fifo<A> {
    fn attach(&mut self, outlet: &Outlet) {
        self.admission.attach(outlet);
        self.next_update = self.admission.first_update().unwrap_or(Instant::MAX);
    }

    fn enqueue(&mut self, mut packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.update_until(packet.arrived);
        let Packet { arrived, flow, size, ecn, .. } = packet;
        let arrival = Arrival { now: arrived, clock: arrived.as_secs_f64(), size, flow, ecn, idle_since: self.idle_since };
        match self.admission.admit(&arrival, self.backlog, random) {
            Verdict::Accept => {}
            Verdict::Mark(reason) => {
                packet.ecn = Ecn::Marked;
                outcomes.push((packet, Outcome::Marked(reason)));
            }
            Verdict::Drop(reason) => return outcomes.push((packet, Outcome::Dropped(reason))),
        }
        self.idle_since = None;
        self.backlog = self.backlog.with(size);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Instant, _random: &mut Generator, _outcomes: &mut Outcomes) -> Option<Packet> {
        self.update_until(now);
        let Some(packet) = self.waiting.pop_front() else {
            self.idle_since.get_or_insert(now);
            return None;
        };
        self.backlog = self.backlog.without(packet.size);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.admission.internals(out);
    }
}
