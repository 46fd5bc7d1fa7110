//! HTB: hierarchy token bucket, classes with a rate for each that lend one another what they do not use.
//! ## What it does
//! Every class has a bucket of `burst` bytes that fills at its `rate`, and a second one of `cburst` bytes that fills at its `ceil`. A class
//! with tokens in both sends at once. With tokens in the second only it may borrow: it sends with the tokens of the class around it, which
//! may borrow in turn. Without tokens in the second it waits. Classes that can send for themselves come before those that borrow, and those
//! of a smaller `priority` before others; classes that are equal in this take turns of `quantum` bytes. A packet costs its size in the
//! buckets of its class and of all classes around it.
//! ## References
//! tc-htb(8); Devera, *HTB Linux queuing discipline manual – user guide*, 2002, and *Hierarchical token bucket theory*, 2002.
//! ## Differs from the document
//! A bucket may go below zero by the packet that empties it, as in Linux: any positive amount suffices for a packet, however large. Costs
//! and times are in whole nanoseconds. Rates, bursts and quanta are those of the packets' sizes; there is no `overhead`, `mpu` or `linklayer`.
//! No class is sent directly without a rate. The order of turns follows the order of the list, as Linux' follows the numbers of classes. A
//! class that shapes by its own `queue` leaves its turn to others. Classes may be [nested](#class-class) up to eight deep, and 64 in number.
//! Notices to senders of dropped packets (`red_notify`) stop here.
//! ## Parameters
//! `class`: the classes; one class. Each has the parameters below; those of a class without classes inside have a `queue` and a rule.
//! `rate`: what the class has for itself; auto: the `ceil` of the class around it, or else the rate of the link.
//! `ceil`: what it may have by borrowing, not below `rate`; auto: `rate`.
//! `burst`, `cburst`: sizes of their buckets; 1600 B each, as the program tc computes them with exact timers.
//! `priority`: from 0, served first, to 7; 0.
//! `quantum`: bytes in a turn; auto: `rate`, in bytes per second, over 10 (`r2q`), at least 1000 B and at most 200 000 B.

use super::class::{Class, Rules};
use super::prio::CLASS;
use crate::entry::Entry;
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::{Instant, Moment, Rate};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "htb",
    summary: "hierarchy token bucket: classes with rates, which borrow from one another up to a ceiling",
    reference: "tc-htb(8)",
    params: &[CLASS],
    quantities: &[],
    build: |params| Ok(Discipline::scheduled(Htb::new(Class::plain(params, ALL)?)?)),
};

/// What it reads of a class.
const ALL: &[&str] = &["quantum", "rate", "ceil", "burst", "cburst", "priority", "class"];

/// Levels: classes with a queue are on level 0, those around them on the highest ones.
const LEVELS: usize = 8;
const PRIORITIES: usize = 8;
/// Sets of classes are bits of a word.
const MOST: usize = 64;
/// The size of a bucket without a given one.
const BURST: u64 = 1600;
/// `r2q` of tc-htb(8).
const RATE_TO_QUANTUM: f64 = 10.0;
/// No bucket keeps a debt of more nanoseconds, nor counts a longer pause.
const LONGEST: i64 = 60_000_000_000;

/// Classes that take turns: a set, and the one whose turn it is.
#[derive(Clone, Copy, Debug, Default)]
struct Ring {
    set: u64,
    turn: Option<usize>,
    /// A class that left the set in its turn.
    left: Option<usize>,
}

impl Ring {
    const fn is_empty(self) -> bool {
        self.set == 0
    }

    /// The first class of the set from number `from` on.
    fn from(self, from: usize) -> Option<usize> {
        let later = if from < MOST { self.set >> from << from } else { 0 };
        (later != 0).then(|| later.trailing_zeros() as usize)
    }

    fn insert(&mut self, index: usize) {
        self.set |= 1 << index;
    }

    fn remove(&mut self, index: usize) {
        self.set &= !(1 << index);
    }

    /// Ends the current turn.
    fn advance(&mut self) {
        self.turn = self.turn.and_then(|turn| self.from(turn + 1));
    }
}

/// Whether a class may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It has tokens.
    Sends,
    /// It has tokens of its ceil.
    Borrows,
    Waits,
}

/// A bucket of time: what it takes to send the bytes of its size at its rate.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Bits per second; 0 until the link is known.
    rate: f64,
    bytes: u64,
    /// Its size in nanoseconds.
    size: i64,
    tokens: i64,
}

impl Bucket {
    fn new(rate: Option<f64>, bytes: Option<u64>) -> Self {
        let mut bucket = Self { rate: 0.0, bytes: bytes.unwrap_or(BURST), size: 0, tokens: 0 };
        bucket.set(rate.unwrap_or(0.0));
        bucket
    }

    fn set(&mut self, rate: f64) {
        self.rate = rate;
        self.size = self.cost(self.bytes);
        self.tokens = self.size;
    }

    fn cost(&self, bytes: u64) -> i64 {
        if self.rate > 0.0 { (8e9 * bytes as f64 / self.rate) as i64 } else { 0 }
    }

    /// Takes the tokens of `bytes`, after `pause` nanoseconds.
    fn charge(&mut self, pause: i64, bytes: u64) {
        self.tokens = ((self.tokens + pause).min(self.size) - self.cost(bytes)).max(1 - LONGEST);
    }
}

/// A class.
#[derive(Debug)]
struct Node {
    parent: Option<usize>,
    level: usize,
    priority: usize,
    given: (Option<f64>, Option<f64>),
    quantum: Option<u64>,
    bucket: Bucket,
    ceil: Bucket,
    /// Time in nanoseconds up to which the buckets have been filled.
    filled: i64,
    mode: Mode,
    /// When the mode changes; only of a class that does not send.
    event: Option<i64>,
    /// The priorities, as bits, at which the class or one inside it has packets to send with its tokens.
    priorities: u8,
    /// For each priority the classes inside that borrow.
    feeds: [Ring; PRIORITIES],
    /// For each level what is left of the turn there.
    deficits: [i64; LEVELS],
    turn: i64,
    /// Of a class without classes inside.
    queue: Option<Box<dyn Scheduler>>,
}

impl Node {
    /// Its mode after a `pause`, and the nanoseconds until it may change.
    fn mode_after(&self, pause: i64) -> (Mode, i64) {
        match (self.ceil.tokens + pause, self.bucket.tokens + pause) {
            (lack, _) if lack < 0 => (Mode::Waits, -lack),
            (_, lack) if lack < 0 => (Mode::Borrows, -lack),
            _ => (Mode::Sends, 0),
        }
    }

    fn pause(&self, now: i64) -> i64 {
        (now - self.filled).min(LONGEST)
    }

    fn is_empty(&self) -> bool {
        self.queue.as_ref().is_none_or(|queue| queue.backlog().packets == 0)
    }
}

/// A hierarchy of classes.
#[derive(Debug)]
pub struct Htb {
    rules: Rules,
    /// The classes with a queue, in the order of the rules.
    leaves: Vec<usize>,
    nodes: Vec<Node>,
    /// For each level and priority the classes that send for themselves.
    rows: [[Ring; PRIORITIES]; LEVELS],
}

impl Htb {
    fn new(classes: Vec<Class>) -> Result<Self, String> {
        let mut htb =
            Self { rules: Rules::default(), leaves: Vec::new(), nodes: Vec::new(), rows: [[Ring::default(); PRIORITIES]; LEVELS] };
        htb.add(classes, None, LEVELS)?;
        Ok(htb)
    }

    /// Adds classes inside `parent`, above whose level there are `levels`.
    fn add(&mut self, classes: Vec<Class>, parent: Option<usize>, levels: usize) -> Result<(), String> {
        for class in classes {
            let (rate, ceil) = (class.rate, class.ceil.or(class.rate));
            if let (Some(rate), Some(ceil)) = (rate, ceil)
                && ceil < rate
            {
                return Err("the ceil of a class must not be below its rate".to_owned());
            }
            let inner = !class.classes.is_empty();
            let index = self.nodes.len();
            if index == MOST {
                return Err(format!("there must be at most {MOST} classes"));
            }
            if levels < 1 || levels < 2 && inner {
                return Err(format!("classes must be at most {LEVELS} deep"));
            }
            self.nodes.push(Node {
                parent,
                level: if inner { levels - 1 } else { 0 },
                priority: class.priority.unwrap_or(0),
                given: (rate, class.ceil),
                quantum: class.quantum,
                bucket: Bucket::new(rate, class.burst),
                ceil: Bucket::new(ceil, class.cburst),
                filled: 0,
                mode: Mode::Sends,
                event: None,
                priorities: 0,
                feeds: [Ring::default(); PRIORITIES],
                deficits: [0; LEVELS],
                turn: 0,
                queue: (!inner).then_some(class.queue),
            });
            if inner {
                self.add(class.classes, Some(index), levels - 1)?;
            } else {
                self.rules.push(class.rule);
                self.leaves.push(index);
            }
        }
        Ok(())
    }

    /// Class `index` has packets at `priorities` to send: it joins its row, or the feed of the class from which it borrows.
    fn activate(&mut self, index: usize, priorities: u8) {
        let (mut at, mut priorities) = (index, priorities);
        while self.nodes[at].mode == Mode::Borrows
            && priorities != 0
            && let Some(parent) = self.nodes[at].parent
        {
            let node = &mut self.nodes[parent];
            let mut new = 0;
            for priority in bits(priorities) {
                // A feed that is not empty has been announced above.
                new |= u8::from(node.feeds[priority].is_empty()) << priority;
                node.feeds[priority].insert(at);
            }
            node.priorities |= new;
            (at, priorities) = (parent, new);
        }
        if self.nodes[at].mode == Mode::Sends {
            let row = &mut self.rows[self.nodes[at].level];
            bits(priorities).for_each(|priority| row[priority].insert(at));
        }
    }

    /// Undoes [`Self::activate`].
    fn deactivate(&mut self, index: usize) {
        let (mut at, mut priorities) = (index, self.nodes[index].priorities);
        while self.nodes[at].mode == Mode::Borrows
            && priorities != 0
            && let Some(parent) = self.nodes[at].parent
        {
            let node = &mut self.nodes[parent];
            let mut gone = 0;
            for priority in bits(priorities) {
                let feed = &mut node.feeds[priority];
                if feed.turn == Some(at) {
                    (feed.turn, feed.left) = (None, Some(at));
                }
                feed.remove(at);
                gone |= u8::from(feed.is_empty()) << priority;
            }
            node.priorities &= !gone;
            (at, priorities) = (parent, gone);
        }
        if self.nodes[at].mode == Mode::Sends {
            let row = &mut self.rows[self.nodes[at].level];
            for priority in bits(priorities) {
                if row[priority].turn == Some(at) {
                    row[priority].advance();
                }
                row[priority].remove(at);
            }
        }
    }

    /// Brings the mode of class `index` up to date.
    fn renew(&mut self, index: usize, now: i64) {
        let node = &self.nodes[index];
        let (mode, lack) = node.mode_after(node.pause(now));
        if mode != node.mode {
            let priorities = node.priorities;
            if priorities != 0 && node.mode != Mode::Waits {
                self.deactivate(index);
            }
            self.nodes[index].mode = mode;
            if priorities != 0 && mode != Mode::Waits {
                self.activate(index, priorities);
            }
        }
        self.nodes[index].event = (mode != Mode::Sends).then_some(now + lack);
    }

    /// The class with a queue whose turn it is at `level` and `priority`, where the row is not empty.
    fn leaf(&mut self, level: usize, priority: usize) -> usize {
        let mut path = [0; LEVELS];
        let mut depth = 0;
        loop {
            let ring = self.ring(level, priority, &path[..depth]);
            if ring.turn.is_none() {
                ring.turn = ring.left.and_then(|left| ring.from(left));
            }
            ring.left = None;
            if let Some(turn) = ring.turn {
                if self.nodes[turn].queue.is_some() {
                    return turn;
                }
                path[depth] = turn;
                depth += 1;
            } else {
                // All have had their turn: it is the next class's above.
                ring.turn = ring.from(0);
                if depth > 0 {
                    depth -= 1;
                    self.ring(level, priority, &path[..depth]).advance();
                }
            }
        }
    }

    /// The classes below the last class of `path`, or the row.
    fn ring(&mut self, level: usize, priority: usize, path: &[usize]) -> &mut Ring {
        match path.last() {
            Some(&node) => &mut self.nodes[node].feeds[priority],
            None => &mut self.rows[level][priority],
        }
    }

    /// Ends the turn of class `leaf` at `level`.
    fn advance(&mut self, leaf: usize, level: usize, priority: usize) {
        let parent = if level > 0 { self.nodes[leaf].parent } else { None };
        self.ring(level, priority, parent.as_slice()).advance();
    }

    /// A packet of the classes that send at `level` and `priority`. Adds to `held` when queues that shape let one go.
    fn serve(
        &mut self,
        (level, priority): (usize, usize),
        now: Moment,
        random: &mut Generator,
        (outcomes, held): (&mut Outcomes, &mut Option<Instant>),
    ) -> Option<(usize, Packet)> {
        let mut first = None;
        while !self.rows[level][priority].is_empty() {
            let leaf = self.leaf(level, priority);
            if first == Some(leaf) {
                return None;
            }
            let answer = self.nodes[leaf].queue.as_mut().map_or(Dequeued::Empty, |queue| queue.dequeue(now, random, outcomes));
            if let Dequeued::Send(packet) = answer {
                return Some((leaf, packet));
            }
            if self.nodes[leaf].is_empty() {
                self.empty(leaf);
                continue;
            }
            if let Dequeued::NotBefore(at) = answer {
                *held = Some(held.map_or(at, |other| at.min(other)));
            }
            first = first.or(Some(leaf));
            self.advance(leaf, level, priority);
        }
        None
    }

    /// Class `leaf` has sent or dropped its last packet.
    fn empty(&mut self, leaf: usize) {
        self.deactivate(leaf);
        self.nodes[leaf].priorities = 0;
    }

    /// Class `leaf` has sent `packet` with the tokens of the class around it at `level`, or with its own.
    fn charge(&mut self, leaf: usize, level: usize, size: u64, now: i64) {
        let mut at = Some(leaf);
        while let Some(index) = at {
            let node = &mut self.nodes[index];
            let pause = node.pause(now);
            if node.level >= level {
                node.bucket.charge(pause, size);
            } else {
                node.bucket.tokens += pause;
            }
            node.ceil.charge(pause, size);
            node.filled = now;
            at = node.parent;
            self.renew(index, now);
        }
    }
}

/// The numbers of the bits of `set`.
fn bits(set: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |bit| set & 1 << bit != 0)
}

impl Scheduler for Htb {
    fn attach(&mut self, outlet: &Outlet) {
        let link = outlet.rate.as_bits_per_sec() as f64;
        // A class comes after the class around it.
        for index in 0..self.nodes.len() {
            let around = self.nodes[index].parent.map_or(link, |parent| self.nodes[parent].ceil.rate);
            let node = &mut self.nodes[index];
            let rate = node.given.0.unwrap_or_else(|| node.given.1.map_or(around, |ceil| around.min(ceil)));
            node.bucket.set(rate);
            node.ceil.set(node.given.1.unwrap_or(rate));
            let usual = (rate / 8.0 / RATE_TO_QUANTUM).clamp(1000.0, 200_000.0);
            node.turn = node.quantum.map_or(usual as i64, u64::cast_signed);
            if let Some(queue) = &mut node.queue {
                let rate = Rate::from_bits_per_sec(rate as u64).map_or(outlet.rate, |rate| rate.min(outlet.rate));
                queue.attach(&Outlet { rate, ..*outlet });
            }
        }
    }

    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        let leaf = self.leaves[self.rules.class_of(&packet)];
        let node = &mut self.nodes[leaf];
        if let Some(queue) = &mut node.queue {
            queue.enqueue(now, packet, random, outcomes);
        }
        match (node.is_empty(), node.priorities != 0) {
            (false, false) => {
                node.priorities = 1 << node.priority;
                let priorities = node.priorities;
                self.activate(leaf, priorities);
            }
            (true, true) => self.empty(leaf),
            _ => {}
        }
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        let nanos = now.at.as_nanos().cast_signed();
        for index in 0..self.nodes.len() {
            if self.nodes[index].event.is_some_and(|event| event <= nanos) {
                self.renew(index, nanos);
            }
        }
        let mut held = None;
        for level in 0..LEVELS {
            for priority in 0..PRIORITIES {
                let Some((leaf, packet)) = self.serve((level, priority), now, random, (outcomes, &mut held)) else { continue };
                let node = &mut self.nodes[leaf];
                node.deficits[level] -= packet.size.0.cast_signed();
                if node.deficits[level] < 0 {
                    node.deficits[level] += node.turn;
                    self.advance(leaf, level, priority);
                }
                if self.nodes[leaf].is_empty() {
                    self.empty(leaf);
                }
                self.charge(leaf, level, packet.size.0, nanos);
                return Dequeued::Send(packet);
            }
        }
        let waiting = self.nodes.iter().filter(|node| node.priorities != 0);
        let event = waiting.filter_map(|node| node.event).min().map(|event| Instant::from_nanos(event.cast_unsigned()));
        event.into_iter().chain(held).min().map_or(Dequeued::Empty, Dequeued::NotBefore)
    }

    fn backlog(&self) -> Backlog {
        self.nodes.iter().filter_map(|node| node.queue.as_ref()).map(|queue| queue.backlog()).fold(Backlog::default(), Backlog::and)
    }

    fn reasons(&self) -> Vec<Reason> {
        self.nodes.iter().filter_map(|node| node.queue.as_ref()).flat_map(|queue| queue.reasons()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Params, PartSpec, Value};
    use crate::testing::{Bench, build, packet};
    use crate::units::{Duration, Limit};
    use proptest::prelude::*;

    /// A class of these parameters.
    fn class(set: &[(&str, Value)]) -> PartSpec {
        let mut params = Params::defaults(super::super::class::class::ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        PartSpec::new("class", params)
    }

    fn number(name: &'static str, value: f64) -> (&'static str, Value) {
        (name, Value::Number(value))
    }

    /// A class of `flow` with a rate and a ceil in Mbit/s. Its rate's bucket holds what it has to wait for others.
    fn leaf(flow: u32, rate: f64, ceil: f64, more: &[(&'static str, Value)]) -> PartSpec {
        let flows = ("flows", Value::Numbers(vec![f64::from(flow)]));
        let deep = Value::Part(PartSpec::new("droptail", Params(vec![("limit", Value::Limit(Limit::Packets(100_000)))])));
        let usual = [
            flows,
            number("rate", rate * 1e6),
            number("ceil", ceil * 1e6),
            number("burst", 5000.0),
            number("cburst", 1.0),
            ("queue", deep),
        ];
        class(&[&usual[..], more].concat())
    }

    /// `classes` inside one of `rate` Mbit/s.
    fn around(rate: f64, classes: Vec<PartSpec>) -> Value {
        let own = [number("rate", rate * 1e6), number("burst", 1.0), number("cburst", 1.0)];
        Value::Parts(vec![class(&[&own[..], &[("class", Value::Parts(classes))]].concat())])
    }

    /// The shares in Mbit/s of `flows` flows that always have packets of 1000 B, over ten seconds in front of a link of 8 Mbit/s.
    fn shares(classes: Value, flows: &[u32]) -> Vec<f64> {
        let mut bench = Bench::new(&ENTRY, &[("class", classes)]);
        for number in 0..10_000 {
            bench.arrive_all(0, flows.iter().map(|flow| packet(number, *flow, 1000)));
        }
        let (mut sent, mut now, end) = (vec![0.0; flows.len()], Instant::ZERO, Instant::ZERO + Duration::from_secs_f64(10.0));
        while now < end {
            match bench.ask(now) {
                Dequeued::Send(packet) => {
                    sent[flows.iter().position(|flow| *flow == packet.flow).unwrap()] += 8.0 * packet.size.0 as f64 / 1e7;
                    now += Duration::from_secs_f64(packet.size.0 as f64 / 1e6);
                }
                Dequeued::NotBefore(at) => now = at,
                Dequeued::Empty => panic!("all flows have packets"),
            }
        }
        sent
    }

    fn assert_shares(shares: &[f64], expected: &[f64]) {
        let near = shares.iter().zip(expected).all(|(one, other)| (one - other).abs() < 0.02 * other.max(0.5));
        assert!(near, "{shares:?}, not {expected:?}");
    }

    #[test]
    fn one_class_is_a_shaper() {
        // The defaults shape to the rate of the link, which is no limit.
        let mut bench = Bench::new(&ENTRY, &[]);
        assert_eq!((bench.fill(1, 1000), bench.drain(0).len()), (49, 49));
        assert_shares(&shares(Value::Parts(vec![leaf(1, 3.0, 3.0, &[])]), &[1]), &[3.0]);
    }

    #[test]
    fn what_a_class_leaves_is_lent_up_to_the_ceil() {
        // The manual's example in miniature: 5 Mbit/s for classes of 1 and 3 Mbit/s.
        let pair =
            |ceil| around(5.0, vec![leaf(1, 1.0, ceil, &[number("quantum", 1500.0)]), leaf(2, 3.0, 5.0, &[number("quantum", 4500.0)])]);
        // The spare 1 Mbit/s is lent in the proportion of the quanta.
        assert_shares(&shares(pair(5.0), &[1, 2]), &[1.25, 3.75]);
        // Alone, each may have what its ceil permits.
        assert_shares(&shares(pair(5.0), &[1]), &[5.0]);
        assert_shares(&shares(pair(2.0), &[1]), &[2.0]);
        assert_shares(&shares(pair(1.0), &[1, 2]), &[1.0, 4.0]);
    }

    #[test]
    fn who_is_first_gets_the_spare_rate_but_not_the_others_own() {
        let priority = |value| [number("priority", value)];
        let classes = around(5.0, vec![leaf(1, 1.0, 5.0, &priority(1.0)), leaf(2, 1.0, 5.0, &priority(0.0))]);
        assert_shares(&shares(classes, &[1, 2]), &[1.0, 4.0]);
    }

    #[test]
    fn classes_nest() {
        // 6 Mbit/s: 2 for class 1, and 4 for two others together, which lend each other first.
        let inner = class(&[
            number("rate", 4e6),
            number("ceil", 6e6),
            number("burst", 5000.0),
            number("cburst", 1.0),
            ("class", Value::Parts(vec![leaf(2, 1.0, 6.0, &[]), leaf(3, 3.0, 6.0, &[])])),
        ]);
        let classes = || around(6.0, vec![leaf(1, 2.0, 6.0, &[]), inner.clone()]);
        assert_shares(&shares(classes(), &[1, 2, 3]), &[2.0, 1.0, 3.0]);
        assert_shares(&shares(classes(), &[1, 2]), &[2.0, 4.0]);
        assert_shares(&shares(classes(), &[2]), &[6.0]);
    }

    #[test]
    fn a_burst_leaves_at_once() {
        // 5 packets of 1000 B are within the burst of 4001 B: a bucket may go below zero.
        let set = [number("rate", 1e6), number("burst", 4001.0), number("cburst", 4001.0)];
        let mut bench = Bench::new(&ENTRY, &[("class", Value::Parts(vec![class(&set)]))]);
        bench.arrive_all(0, (0..10).map(|handle| packet(handle, 1, 1000)));
        assert_eq!(std::iter::from_fn(|| bench.depart(0)).count(), 5);
        // 999 B are missing at 1 Mbit/s: 7.992 ms.
        assert_eq!(bench.ask(Instant::ZERO), Dequeued::NotBefore(Instant::from_nanos(7_992_000)));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let refused = |set: &[(&str, Value)]| build(&ENTRY, &[("class", Value::Parts(vec![class(set)]))]).unwrap_err();
        assert_eq!(refused(&[number("rate", 2e6), number("ceil", 1e6)]), "the ceil of a class must not be below its rate");
        let mut nested = class(&[]);
        for _ in 0..7 {
            nested = class(&[("class", Value::Parts(vec![nested]))]);
        }
        assert!(build(&ENTRY, &[("class", Value::Parts(vec![nested.clone()]))]).is_ok());
        assert_eq!(refused(&[("class", Value::Parts(vec![nested]))]), "classes must be at most 8 deep");
        assert_eq!(build(&ENTRY, &[("class", Value::Parts(vec![class(&[]); 65]))]).unwrap_err(), "there must be at most 64 classes");
    }

    proptest! {
        #[test]
        fn no_class_exceeds_its_ceil_and_none_with_packets_lacks_its_rate(
            rates in prop::collection::vec((1_u32..20, 0_u32..20, 0_u32..3), 2..6),
            packets in prop::collection::vec((0_u64..4000, 0_u32..6, 64_u64..1500), 200..400),
        ) {
            // Rates in 100 kbit/s, whose sum the class around them has.
            let total: u32 = rates.iter().map(|(rate, ..)| rate).sum();
            let classes: Vec<PartSpec> = rates.iter().zip(0..).map(|((rate, more, priority), flow)| {
                let ceil = f64::from((rate + more).min(total)) / 10.0;
                leaf(flow, f64::from(*rate) / 10.0, ceil, &[number("priority", f64::from(*priority))])
            }).collect();
            let count = classes.len() as u32;
            let mut bench = Bench::new(&ENTRY, &[("class", around(f64::from(total) / 10.0, classes))]);
            let mut offered = vec![0_u64; rates.len()];
            for (handle, (_, flow, size)) in packets.iter().enumerate() {
                let flow = flow % count;
                offered[flow as usize] += size;
                bench.arrive(0, packet(handle as u32, flow, *size));
            }
            let (mut sent, mut now) = (vec![0_u64; rates.len()], Instant::ZERO);
            loop {
                match bench.ask(now) {
                    Dequeued::Send(packet) => {
                        sent[packet.flow as usize] += packet.size.0;
                        let seconds = now.as_secs_f64();
                        for (flow, (rate, more, _)) in rates.iter().enumerate() {
                            let ceil = f64::from((rate + more).min(total)) * 1e5;
                            prop_assert!(sent[flow] as f64 <= ceil * seconds / 8.0 + 1502.0, "flow {flow} at {seconds}");
                            // A backlogged class lags by its own last packet, and by one that borrowed before it.
                            let due = f64::from(*rate) * 1e5 * seconds / 8.0 - 2.0 * 1502.0;
                            prop_assert!(sent[flow] == offered[flow] || sent[flow] as f64 >= due, "flow {flow} at {seconds}: {}", sent[flow]);
                        }
                    }
                    Dequeued::NotBefore(at) => now = at,
                    Dequeued::Empty => break,
                }
            }
            prop_assert_eq!(sent, offered);
        }
    }
}
