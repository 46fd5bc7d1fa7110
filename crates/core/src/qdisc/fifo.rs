//! A first-in, first-out queue that turns an [`Admission`] into a [`Scheduler`].

use std::collections::VecDeque;

use super::contract::{Admission, Arrival, Backlog, Dequeued, Discipline, Notice, Outcomes, Outlet, Packet, Reason, Scheduler, Verdict};
use super::updated::Updated;
use crate::rng::Generator;
use crate::units::{Bytes, Instant, Moment};

/// A first-in, first-out queue.
#[derive(Debug)]
pub struct Fifo<A> {
    updated: Updated<A>,
    waiting: VecDeque<Packet>,
    backlog: Backlog,
    idle_since: Option<Instant>,
}

impl<A: Admission> Fifo<A> {
    /// An empty queue with `admission` before an idle link.
    pub fn new(admission: A) -> Self {
        let updated = Updated::new(admission);
        Self { updated, waiting: VecDeque::new(), backlog: Backlog::default(), idle_since: Some(Instant::ZERO) }
    }

    /// The discipline that decides on arrival.
    pub(crate) const fn admission(&self) -> &A {
        &self.updated.admission
    }
}

/// First in, first out, without a limit.
#[derive(Debug)]
pub struct Unlimited;

impl Admission for Unlimited {
    fn admit(&mut self, _arrival: &Arrival, _backlog: Backlog, _random: &mut Generator) -> Verdict {
        Verdict::Accept
    }
}

impl Discipline {
    /// The discipline as a scheduler.
    pub fn into_scheduler(self) -> Box<dyn Scheduler> {
        match self {
            Self::Fifo(admission) => Box::new(Fifo::new(admission)),
            Self::Scheduled(scheduler) => scheduler,
        }
    }
}

impl<A: Admission> Scheduler for Fifo<A> {
    fn attach(&mut self, outlet: &Outlet) {
        self.updated.admission.attach(outlet);
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        self.updated.update_until(now, self.backlog);
        let Packet { flow, size, ecn, .. } = packet;
        let arrival = Arrival { now: now.at, size, flow, ecn, idle_since: self.idle_since };
        let verdict = self.updated.admission.admit(&arrival, self.backlog, random);
        let Some(packet) = verdict.carry_out(packet, outcomes) else { return };
        self.idle_since = None;
        self.backlog = self.backlog.with(size);
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        self.updated.update_until(now, self.backlog);
        let Some(packet) = self.waiting.pop_front() else {
            self.idle_since.get_or_insert(now.at);
            return Dequeued::Empty;
        };
        self.backlog = self.backlog.without(packet.size);
        Dequeued::Send(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn head(&self) -> Option<Bytes> {
        self.waiting.front().map(|packet| packet.size)
    }

    fn notice(&self, reason: Reason) -> Option<Notice> {
        self.updated.admission.notice(reason)
    }

    fn reasons(&self) -> Vec<Reason> {
        self.updated.admission.reasons()
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.updated.admission.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::contract::{Ecn, Outcome, Verdict};
    use crate::testing::{capable, packet};

    /// A call to an admission: the time in milliseconds and the number of waiting packets.
    #[derive(Debug, PartialEq, Eq)]
    enum Call {
        Update(u64, u64),
        Admit(u64, u64),
    }

    /// An admission that asks for updates every 2 ms from 1 ms on, drops packets of 13 B and marks packets of 5 B.
    #[derive(Debug, Default)]
    struct Witness {
        calls: Vec<Call>,
        idle_since: Vec<Option<u64>>,
    }

    fn millis(instant: Instant) -> u64 {
        instant.as_nanos() / 1_000_000
    }

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    impl Admission for Witness {
        fn admit(&mut self, arrival: &Arrival, backlog: Backlog, _random: &mut Generator) -> Verdict {
            self.calls.push(Call::Admit(millis(arrival.now), backlog.packets));
            self.idle_since.push(arrival.idle_since.map(millis));
            match arrival.size.0 {
                13 => Verdict::Drop(Reason::Early),
                5 => Verdict::Mark(Reason::Virtual),
                _ => Verdict::Accept,
            }
        }

        fn first_update(&self) -> Option<Instant> {
            Some(at(1))
        }

        fn update(&mut self, now: Instant, backlog: Backlog) -> Instant {
            self.calls.push(Call::Update(millis(now), backlog.packets));
            at(millis(now) + 2)
        }
    }

    /// A queue behind a witness.
    struct Bench {
        queue: Fifo<Witness>,
        random: Generator,
        outcomes: Outcomes,
    }

    impl Bench {
        fn new() -> Self {
            Self { queue: Fifo::new(Witness::default()), random: Generator::derived(1, ""), outcomes: Outcomes::new() }
        }

        fn arrive(&mut self, millis: u64, packet: Packet) {
            self.queue.enqueue(Moment::now(at(millis)), Packet { arrived: at(millis), ..packet }, &mut self.random, &mut self.outcomes);
        }

        fn depart(&mut self, millis: u64) -> Option<u32> {
            self.queue.dequeue(Moment::now(at(millis)), &mut self.random, &mut self.outcomes).packet().map(|packet| packet.handle)
        }
    }

    #[test]
    fn updates_come_at_their_times_and_first() {
        let mut bench = Bench::new();
        bench.arrive(0, packet(0, 0, 100));
        bench.arrive(3, packet(1, 0, 100));
        assert_eq!(bench.depart(5), Some(0));
        bench.depart(6);
        assert_eq!(bench.depart(9), None);
        let (update, admit) = (Call::Update, Call::Admit);
        let expected = [admit(0, 0), update(1, 1), update(3, 1), admit(3, 1), update(5, 2), update(7, 0), update(9, 0)];
        assert_eq!(bench.queue.admission().calls, expected);
    }

    #[test]
    fn the_link_is_idle_from_the_first_call_in_vain() {
        let mut bench = Bench::new();
        bench.arrive(1, packet(0, 0, 13));
        bench.arrive(2, packet(1, 0, 100));
        assert_eq!(bench.depart(2), Some(1));
        // The link transmits until 4 ms.
        bench.arrive(3, packet(2, 0, 13));
        assert_eq!([4, 6].map(|now| bench.depart(now)), [None, None]);
        bench.arrive(7, packet(3, 0, 100));
        bench.arrive(8, packet(4, 0, 100));
        assert_eq!(bench.queue.admission().idle_since, [Some(0), Some(0), None, Some(4), None]);
    }

    #[test]
    fn verdicts_are_carried_out() {
        let mut bench = Bench::new();
        for packet in [capable(0, 0, 100), capable(1, 0, 13), capable(2, 0, 5), capable(3, 0, 100)] {
            bench.arrive(0, packet);
        }
        let marked = Packet { ecn: Ecn::Ce, ..capable(2, 0, 5) };
        let (drop, mark) = (Outcome::Dropped(Reason::Early), Outcome::Marked(Reason::Virtual));
        assert_eq!(bench.outcomes, [(capable(1, 0, 13), drop), (marked, mark)]);
        assert_eq!(bench.queue.backlog(), Backlog { packets: 3, bytes: 205 });
        assert_eq!([(); 4].map(|()| bench.depart(0)), [Some(0), Some(2), Some(3), None]);
        assert_eq!(bench.queue.backlog(), Backlog::default());
    }
}
