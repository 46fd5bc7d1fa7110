//! Fair queue with pacing: the `fq` of Linux.
//! ## What it does
//! Each connection has its own queue. Queues take turns and send as many bytes as their credit lasts, which grows by `quantum` with each
//! turn. A connection that begins has a credit of `initial_quantum`, and is served before those that have been active, as after a pause.
//! `maxrate` paces: a queue that has spent its credit waits until its last quantum would have been sent at that rate. As long as no queue
//! takes turns, up to `bypass` packets leave first in, first out.
//! ## References
//! tc-fq(8); Dumazet, *`pkt_sched`: fq: Fair Queue packet scheduler*, the description of the change in Linux 3.12, 2013. Records of Linux 7.2.
//! ## Differs from the document
//! A sender here paces itself, so that no packet carries a time of departure or a rate, and none is of high priority. Flows are
//! told apart by their number in the scenario, not by a hash. In Linux a connection's queue is forgotten when it has been idle for some
//! seconds, and begins anew. Linux since 6.7 has three bands, and puts packets with ECT(0) into the last unless their socket says otherwise;
//! here all packets are equal. Of queues that may send again at one time, the one that was to send first is the first.
//! ## Parameters
//! `limit`: capacity of all queues together; 10 000 packets.
//! `flow_limit`: capacity of each queue; 100 packets.
//! `quantum`: bytes in a turn; 3028 B, two packets of Ethernet.
//! `initial_quantum`: credit of a new connection; 15 140 B, ten of them.
//! `refill_delay`: pause after which a queue has at least a quantum of credit; 40 ms.
//! `maxrate`: highest rate of each connection; auto: no limit.
//! `low_rate_threshold`: `maxrate` up to which every packet is paced by itself, instead of each quantum; 550 kbit/s.
//! `timer_slack`: how late the timer wakes the link after a pause, which the next pause makes up for; 10 µs.
//! `bypass`: packets that may leave without a turn while no queue takes turns and nothing is paced; 8, as in Linux since 6.7. 0: none.

use std::collections::VecDeque;

use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::bucket::RATE;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::limit;
use crate::rng::Generator;
use crate::units::{Duration, Instant, Limit, Moment};

const fn bytes(name: &'static str, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size { min: 1.0, max: 1e9 }, default: Default::Number(default), doc }
}

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "fq_paced",
    summary: "Linux' fq: a queue per connection, served in turn by bytes, each at a highest rate",
    reference: "tc-fq(8)",
    params: &[
        limit("limit", 10_000, "capacity of all queues together"),
        limit("flow_limit", 100, "capacity of each queue"),
        bytes("quantum", 3028.0, "bytes that a queue may send per turn"),
        bytes("initial_quantum", 15_140.0, "bytes that a new connection may send at once"),
        Param {
            name: "refill_delay",
            kind: Kind::Duration { min: 0.0, max: 1e6 },
            default: Default::Number(0.04),
            doc: "pause after which a queue has at least a quantum of credit",
        },
        Param { name: "maxrate", kind: RATE, default: Default::Auto, doc: "highest rate of each connection; auto: no limit" },
        Param {
            name: "low_rate_threshold",
            kind: RATE,
            default: Default::Number(550e3),
            doc: "maxrate up to which every packet is paced by itself",
        },
        Param {
            name: "timer_slack",
            kind: Kind::Duration { min: 0.0, max: 1.0 },
            default: Default::Number(1e-5),
            doc: "how late the timer wakes the link after a pause",
        },
        Param {
            name: "bypass",
            kind: Kind::Integer { min: 0.0, max: 1e6 },
            default: Default::Number(8.0),
            doc: "packets that may leave without a turn while no queue takes turns",
        },
    ],
    quantities: &[
        quantity("active", "queues", "queues that take turns").on("queues"),
        quantity("throttled", "queues", "queues that wait for maxrate").on("queues"),
    ],
    build: |params| Ok(Discipline::scheduled(FqPaced::new(params))),
};

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing waits.
    Idle,
    /// It takes turns.
    Active,
    /// It may not send before its time.
    Throttled,
}

/// The queue of a connection.
#[derive(Debug)]
struct Flow {
    packets: VecDeque<Packet>,
    backlog: Backlog,
    credit: i64,
    state: State,
    /// When it has become idle.
    idle_since: Instant,
    /// When it may send again; `None` if it has never been paced.
    next: Option<Instant>,
}

/// A fair queue with pacing.
#[derive(Debug)]
pub struct FqPaced {
    limit: Limit,
    flow_limit: Limit,
    quantum: i64,
    initial_quantum: i64,
    refill_delay: Duration,
    /// Bits per second, and whether each packet is paced by itself.
    maxrate: Option<(f64, bool)>,
    timer_slack: Duration,
    bypass: usize,
    flows: Vec<Flow>,
    /// Packets that leave without a turn, before all others.
    passing: VecDeque<Packet>,
    /// Queues in the order of their turns: those that have become active, and those that have had a turn.
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    /// Queues that wait for their time, in its order.
    throttled: VecDeque<usize>,
    backlog: Backlog,
}

impl FqPaced {
    fn new(params: &Params) -> Self {
        let threshold = params.number("low_rate_threshold");
        Self {
            limit: params.limit("limit"),
            flow_limit: params.limit("flow_limit"),
            quantum: params.number("quantum") as i64,
            initial_quantum: params.number("initial_quantum") as i64,
            refill_delay: Duration::from_secs_f64(params.number("refill_delay")),
            maxrate: params.number_or_auto("maxrate").map(|rate| (rate, rate <= threshold)),
            timer_slack: Duration::from_secs_f64(params.number("timer_slack")),
            bypass: params.number("bypass") as usize,
            flows: Vec::new(),
            passing: VecDeque::new(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            throttled: VecDeque::new(),
            backlog: Backlog::default(),
        }
    }

    /// Whether an arriving packet leaves without a turn.
    fn bypasses(&self) -> bool {
        let alone = self.backlog.packets == 0 || self.new_flows.is_empty() && self.old_flows.is_empty();
        self.maxrate.is_none() && alone && self.passing.len() < self.bypass
    }

    /// Lets the queues take turns again whose time has come.
    fn release(&mut self, now: Instant) {
        while let Some(&index) = self.throttled.front()
            && self.flows[index].next.is_none_or(|next| next <= now)
        {
            self.throttled.pop_front();
            self.flows[index].state = State::Active;
            self.old_flows.push_back(index);
        }
    }

    /// Holds queue `index` back until its time.
    fn throttle(&mut self, index: usize) {
        let next = self.flows[index].next;
        let place = self.throttled.partition_point(|&other| self.flows[other].next <= next);
        self.flows[index].state = State::Throttled;
        self.throttled.insert(place, index);
    }

    /// The time at which a queue may send again that has sent `size` bytes at `now`.
    fn pace(&mut self, index: usize, size: i64, now: Instant) {
        let Some((rate, each)) = self.maxrate else { return };
        let flow = &mut self.flows[index];
        let bytes = if each {
            flow.credit = 0;
            size
        } else if flow.credit > 0 {
            return;
        } else {
            size.max(self.quantum)
        };
        let mut gap = Duration::from_secs_f64((8.0 * bytes as f64 / rate).min(1.0));
        if let Some(next) = flow.next {
            // What the queue was late is made up, but at most half of the gap.
            gap = gap - now.since(next).min(gap / 2.0);
        }
        flow.next = Some(now + gap);
    }
}

impl Scheduler for FqPaced {
    fn enqueue(&mut self, now: Moment, packet: Packet, _random: &mut Generator, outcomes: &mut Outcomes) {
        if self.bypasses() && !self.backlog.reaches(self.limit) {
            self.backlog = self.backlog.with(packet.size);
            return self.passing.push_back(packet);
        }
        let index = packet.flow as usize;
        if index >= self.flows.len() {
            let credit = self.initial_quantum;
            self.flows.resize_with(index + 1, || Flow {
                packets: VecDeque::new(),
                backlog: Backlog::default(),
                credit,
                state: State::Idle,
                idle_since: Instant::ZERO,
                next: None,
            });
        }
        let flow = &mut self.flows[index];
        if self.backlog.reaches(self.limit) || flow.backlog.reaches(self.flow_limit) {
            return outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        }
        if flow.state == State::Idle {
            flow.state = State::Active;
            if now.at.since(flow.idle_since) > self.refill_delay {
                flow.credit = flow.credit.max(self.quantum);
            }
            self.new_flows.push_back(index);
        }
        flow.packets.push_back(packet);
        flow.backlog = flow.backlog.with(packet.size);
        self.backlog = self.backlog.with(packet.size);
    }

    fn dequeue(&mut self, now: Moment, _random: &mut Generator, _outcomes: &mut Outcomes) -> Dequeued {
        if let Some(packet) = self.passing.pop_front() {
            self.backlog = self.backlog.without(packet.size);
            return Dequeued::Send(packet);
        }
        self.release(now.at);
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let Some(&index) = list.front() else {
                let next = self.throttled.front().and_then(|&index| self.flows[index].next);
                return next.map_or(Dequeued::Empty, |next| Dequeued::NotBefore(next + self.timer_slack));
            };
            let flow = &mut self.flows[index];
            if flow.credit <= 0 {
                flow.credit += self.quantum;
                list.pop_front();
                self.old_flows.push_back(index);
                continue;
            }
            if flow.packets.is_empty() {
                list.pop_front();
                if is_new {
                    // It must take a turn among the old queues before it can be new again; otherwise it could starve them.
                    self.old_flows.push_back(index);
                } else {
                    (flow.state, flow.idle_since) = (State::Idle, now.at);
                }
                continue;
            }
            if flow.next.is_some_and(|next| next > now.at) {
                list.pop_front();
                self.throttle(index);
                continue;
            }
            let Some(packet) = flow.packets.pop_front() else { continue };
            flow.backlog = flow.backlog.without(packet.size);
            flow.credit -= packet.size.0.cast_signed();
            self.backlog = self.backlog.without(packet.size);
            self.pace(index, packet.size.0.cast_signed(), now.at);
            return Dequeued::Send(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("active", (self.new_flows.len() + self.old_flows.len()) as f64);
        out("throttled", self.throttled.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{Bench, OVERFLOW, handles, packet};

    fn bench(set: &[(&str, Value)]) -> Bench {
        let exact = [("timer_slack", Value::Number(0.0)), ("bypass", Value::Number(0.0))];
        Bench::new(&ENTRY, &[&exact[..], set].concat())
    }

    fn flows(packets: &[Packet]) -> Vec<u32> {
        packets.iter().map(|packet| packet.flow).collect()
    }

    #[test]
    fn a_new_connection_sends_ten_packets_and_then_two_at_a_time() {
        let mut bench = bench(&[]);
        bench.arrive_all(0, (0..20).map(|handle| packet(handle, 1, 1514)));
        bench.arrive_all(0, (0..20).map(|handle| packet(handle, 2, 1514)));
        // Turns by hand: the initial quantum of each, then its quantum.
        let sent = flows(&bench.drain(0));
        assert_eq!(sent[..20], [[1; 10], [2; 10]].concat());
        assert_eq!(sent[20..26], [1, 1, 2, 2, 1, 1]);
    }

    #[test]
    fn a_connection_that_pauses_is_served_first_and_keeps_its_debt_for_a_while() {
        let order = |pause: u64| {
            let mut bench = bench(&[("initial_quantum", Value::Number(1000.0)), ("quantum", Value::Number(2000.0))]);
            bench.arrive(0, packet(0, 1, 1500));
            bench.depart(0);
            bench.depart(1500);
            bench.arrive_all(1500, (1..4).map(|handle| packet(handle, 2, 1000)));
            bench.arrive(1500 + pause, packet(9, 1, 1000));
            handles(&bench.drain(1500 + pause))
        };
        // Flow 1 owes 500 B: it gets its quantum behind flow 2. After more than 40 ms it has a quantum at once, but is behind flow 2, which
        // is new too.
        assert_eq!(order(0), [1, 9, 2, 3]);
        assert_eq!(order(41_000), [1, 9, 2, 3]);
    }

    #[test]
    fn maxrate_paces_each_connection() {
        // 1 Mbit/s and packets of 1000 B: a quantum of 3028 B is three packets and a debt, then every fourth waits for 3028 B.
        for (rate, each) in [(1e6, false), (4e5, true)] {
            let mut bench = bench(&[("maxrate", Value::Number(rate))]);
            bench.arrive_all(0, (0..100).map(|handle| packet(handle, handle % 2, 1000)));
            let (mut now, mut sent) = (Instant::ZERO, [0_u64; 2]);
            loop {
                match bench.ask(now) {
                    Dequeued::Send(packet) => sent[packet.flow as usize] += packet.size.0,
                    Dequeued::NotBefore(at) => now = at,
                    Dequeued::Empty => break,
                }
            }
            assert_eq!(sent, [50_000; 2]);
            // The initial quantum leaves at once unless each packet is paced.
            let after = if each { 49_000.0 } else { 50_000.0 - 15_140.0 };
            let took = now.as_secs_f64() * rate / 8.0;
            assert!((took - after).abs() <= 3028.0, "{took} B, not {after}");
        }
    }

    #[test]
    fn few_packets_bypass_idle_queues() {
        let order = |bypass: f64| {
            let mut bench = bench(&[("bypass", Value::Number(bypass))]);
            bench.arrive_all(0, [1, 1, 2, 1, 2, 3].into_iter().zip(0..).map(|(flow, handle)| packet(handle, flow, 1000)));
            flows(&bench.drain(0))
        };
        assert_eq!(order(8.0), [1, 1, 2, 1, 2, 3], "first in, first out");
        assert_eq!(order(0.0), [1, 1, 1, 2, 2, 3], "by turns");
        // Two bypass, the third begins its turns.
        assert_eq!(order(2.0), [1, 1, 2, 2, 1, 3]);
    }

    #[test]
    fn each_queue_and_all_together_have_limits() {
        let limit = |packets| Value::Limit(Limit::Packets(packets));
        let mut bench = bench(&[("flow_limit", limit(3)), ("limit", limit(5))]);
        bench.arrive_all(0, (0..4).map(|handle| packet(handle, 1, 100)));
        bench.arrive_all(0, (4..8).map(|handle| packet(handle, 2, 100)));
        assert_eq!(bench.outcomes(), [(3, OVERFLOW), (6, OVERFLOW), (7, OVERFLOW)]);
    }
}
