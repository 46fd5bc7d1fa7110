//! CAKE: a shaper, queues for flows of hosts, and COBALT in each.
//! ## What it does
//! Packets leave at `bandwidth`, counted with the link layer's overhead and without bursts. A hash with sets of eight ways assigns each flow
//! to one of 1024 queues, which take turns as in `fq_codel`; where a host has many active flows, each of them sends less per turn, so that
//! hosts get equal shares first and flows within them second. COBALT (`cobalt`) controls the delay in each queue. If packets need more than
//! `limit`, the longest queue loses its head.
//! ## References
//! Høiland-Jørgensen, Täht & Morton, *Piece of CAKE: a comprehensive queue management solution for home gateways*, LANMAN 2018; tc-cake(8).
//! ## Differs from the document
//! Rules and constants are those of Linux as far as its behavior shows them. Packets have no DSCP here, so there is one tin (`besteffort`);
//! Linux's `diffserv3` treats them the same. There is no ACK filter, since a queue does not see what a packet carries, and no `autorate-ingress`,
//! NAT look-up, washing and splitting of offloaded packets. Sizes have no link-layer header: `overhead = 14` counts as Linux does without
//! the option on Ethernet. The hash has no random salt. `limit` counts the sizes of packets; Linux's `memlimit` counts the memory of its
//! buffers. Of longest queues of equal length, the one whose turn comes first loses a packet; Linux keeps a heap.
//! ## Parameters
//! `bandwidth`: rate of the shaper; none: the link's rate alone.
//! `flow_mode`: what is isolated: nothing (`flowblind`), `srchost`, `dsthost`, `hosts` (pairs of both), `flows`, and flows within source hosts
//! (`dual-srchost`), within destination hosts (`dual-dsthost`) or within both (`triple-isolate`); triple-isolate.
//! `rtt`: round-trip time of the paths: the interval of COBALT; 100 ms.
//! `target`: acceptable standing delay; `rtt`/20, and at least 1.5 transmission times of a full packet.
//! `overhead`: bytes of the link layer in each packet; 0.
//! `mpu`: smallest size on the wire, with overhead; 0.
//! `cells`: framing of the link layer: `none`; `atm`, cells of 53 bytes with 48 of payload; `ptm`, one byte in 65; none.
//! `ingress`: drops count for the shaper, too, as packets that have already used the link before it; false.
//! `limit`: capacity of all queues; four `interval`s at `bandwidth`, at least 4 MB and at most 10 240 packets of 1514 B.

use std::collections::VecDeque;

use super::cobalt::{CobaltQueue, Settings, Turn};
use super::flow_queues::{Departure, FlowQueue, NEW_FLOWS, OLD_FLOWS, hash};
use crate::entry::{Entry, quantity};
use crate::params::{Default, Kind, Param, Params};
use crate::qdisc::contract::{Backlog, Dequeued, Discipline, Outcome, Outcomes, Packet, Reason, Scheduler};
use crate::qdisc::params::{CeThreshold, flag};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Limit, Moment};

/// This part in the registry.
pub static ENTRY: Entry<Discipline> = Entry {
    name: "cake",
    summary: "a shaper with fair queues for hosts and their flows, and COBALT in each",
    reference: "Høiland-Jørgensen et al. 2018",
    params: &[
        Param {
            name: "bandwidth",
            kind: Kind::Rate { min: 1.0, max: 1e12 },
            default: Default::Auto,
            doc: "rate of the shaper; auto: the link's rate alone",
        },
        Param {
            name: "flow_mode",
            kind: Kind::Word(&["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"]),
            default: Default::Word("triple-isolate"),
            doc: "what is isolated: hosts, flows, or flows within hosts",
        },
        Param {
            name: "rtt",
            kind: Kind::Duration { min: 1e-6, max: 1e3 },
            default: Default::Number(0.1),
            doc: "round-trip time of the paths: the interval of COBALT",
        },
        Param {
            name: "target",
            kind: Kind::Duration { min: 0.0, max: 1e3 },
            default: Default::Auto,
            doc: "acceptable standing delay, at least 1.5 transmission times of a full packet; auto: rtt/20",
        },
        size("overhead", "bytes of the link layer in each packet"),
        size("mpu", "smallest size on the wire, with overhead"),
        Param {
            name: "cells",
            kind: Kind::Word(&["none", "atm", "ptm"]),
            default: Default::Word("none"),
            doc: "framing of the link layer: none, atm cells of 53 bytes with 48 of payload, or ptm with one byte in 65",
        },
        flag("ingress", false, "drops count for the shaper, too"),
        Param {
            name: "limit",
            kind: Kind::ByteLimit { min: 1.0, max: 1e15 },
            default: Default::Auto,
            doc: "capacity of all queues; auto: four intervals at bandwidth, at least 4 MB, at most 10 240 packets of 1514 B",
        },
    ],
    quantities: &[NEW_FLOWS, OLD_FLOWS, quantity("decaying_flows", "queues", "empty queues whose COBALT still forgets")],
    build: |params| Ok(Discipline::scheduled(Cake::new(params))),
};

const fn size(name: &'static str, doc: &'static str) -> Param {
    Param { name, kind: Kind::Size { min: 0.0, max: 65_535.0 }, default: Default::Number(0.0), doc }
}

/// Number of queues, and of ways in a set of the hash.
const QUEUES: usize = 1024;
const WAYS: usize = 8;
/// The largest packet, with Ethernet's header.
const MTU: u64 = 1514;
const PACKETS: u64 = 10_240;
/// Nanoseconds per second times bits per byte.
const BYTE: u64 = 8_000_000_000;

/// Which hosts a queue's load counts for.
#[derive(Clone, Copy, Debug, Default)]
struct Fairness {
    source: bool,
    destination: bool,
}

/// The input of the hash of flows.
#[derive(Clone, Copy, Debug)]
enum Key {
    Nothing,
    Source,
    Destination,
    Hosts,
    Flow,
}

/// How the link layer frames packets.
#[derive(Clone, Copy, Debug)]
enum Cells {
    None,
    Atm,
    Ptm,
}

/// The state of a queue: whether its flow is idle, sparse or bulk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// In no list.
    #[default]
    None,
    Sparse,
    /// Empty, with a deficit, but not bulk: it waits among the old flows.
    SparseWait,
    Bulk,
    /// Empty; its COBALT still forgets.
    Decaying,
}

/// The lists of queues.
#[derive(Clone, Copy, Debug)]
enum List {
    New = 0,
    Old = 1,
    Decaying = 2,
}

/// One queue.
#[derive(Debug, Default)]
struct Flow {
    queue: CobaltQueue,
    deficit: i64,
    set: Set,
    /// The hash of its flow.
    tag: u64,
    /// Its entry in a list is the one with this stamp; entries with others are void.
    stamp: u32,
    source: u16,
    destination: u16,
}

/// A host: hash, and number of bulk flows, as a source or as a destination.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u64,
    bulk: u32,
}

/// The shaper. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Shaper {
    /// Bits per second.
    rate: u64,
    next: u64,
    /// Drops do not delay it, so that a flood of them cannot stop the link.
    failsafe: u64,
}

/// A CAKE queue.
#[derive(Debug)]
pub struct Cake {
    key: Key,
    fairness: Fairness,
    overhead: u64,
    mpu: u64,
    cells: Cells,
    ingress: bool,
    limit: Limit,
    shaper: Option<Shaper>,
    settings: Settings,
    /// Transmission time of a full packet, in nanoseconds.
    mtu_time: u64,
    quantum: u64,
    flows: Vec<Flow>,
    sources: Vec<Host>,
    destinations: Vec<Host>,
    lists: [VecDeque<(u16, u32)>; 3],
    /// Numbers of queues by state.
    sparse: u32,
    bulk: u32,
    decaying: u32,
    backlog: Backlog,
}

impl Cake {
    fn new(params: &Params) -> Self {
        let nanos = |seconds: f64| Duration::from_secs_f64(seconds).as_nanos();
        let rate = params.number_or_auto("bandwidth").map(|rate| (rate as u64).max(64));
        let (rtt, target) = (params.number("rtt"), params.number_or_auto("target"));
        let (interval, asked) = (nanos(rtt), nanos(target.unwrap_or(rtt / 20.0)));
        let mtu_time = rate.map_or(0, |rate| MTU * BYTE / rate);
        let target = asked.max(mtu_time * 3 / 2);
        let most = PACKETS * MTU;
        let (key, source, destination) = match params.word("flow_mode") {
            "flowblind" => (Key::Nothing, false, false),
            "srchost" => (Key::Source, false, false),
            "dsthost" => (Key::Destination, false, false),
            "hosts" => (Key::Hosts, false, false),
            "flows" => (Key::Flow, false, false),
            "dual-srchost" => (Key::Flow, true, false),
            "dual-dsthost" => (Key::Flow, false, true),
            _ => (Key::Flow, true, true),
        };
        Self {
            key,
            fairness: Fairness { source, destination },
            overhead: params.number("overhead") as u64,
            mpu: params.number("mpu") as u64,
            cells: match params.word("cells") {
                "atm" => Cells::Atm,
                "ptm" => Cells::Ptm,
                _ => Cells::None,
            },
            ingress: params.flag("ingress"),
            limit: params.limit_or_auto("limit").unwrap_or_else(|| {
                let four_intervals = rate.map_or(most, |rate| (rate as f64 / 8.0 * rtt * 4.0) as u64);
                Limit::Bytes(four_intervals.max(4 << 20).min(most))
            }),
            shaper: rate.map(|rate| Shaper { rate, next: 0, failsafe: 0 }),
            settings: Settings {
                target,
                interval: (interval + target - asked).max(2 * target),
                at_once: true,
                increment: 1.0 / 256.0,
                decrement: 1.0 / 4096.0,
                blue_threshold: None,
                ecn: true,
                ce_threshold: CeThreshold::NONE,
            },
            mtu_time,
            quantum: rate.map_or(MTU, |rate| (rate / 8 / 4096).clamp(300, MTU)),
            flows: (0..QUEUES).map(|_| Flow::default()).collect(),
            sources: vec![Host::default(); QUEUES],
            destinations: vec![Host::default(); QUEUES],
            lists: std::default::Default::default(),
            sparse: 0,
            bulk: 0,
            decaying: 0,
            backlog: Backlog::default(),
        }
    }

    /// Bytes that a packet takes on the wire.
    fn wire_size(&self, size: Bytes) -> u64 {
        let size = (size.0 + self.overhead).max(self.mpu);
        match self.cells {
            Cells::None => size,
            Cells::Atm => size.div_ceil(48) * 53,
            Cells::Ptm => size + size.div_ceil(64),
        }
    }

    /// Charges a packet to the shaper.
    fn charge(&mut self, size: u64, dropped: bool) {
        if let Some(shaper) = &mut self.shaper {
            let time = size * BYTE / shaper.rate;
            shaper.next += time;
            if !dropped {
                shaper.failsafe += time + time / 2;
            }
        }
    }

    /// The queue of a packet: that of its flow in the set of its hash, else an empty one of the set, else the one that the hash names.
    fn classify(&mut self, packet: &Packet) -> usize {
        let (source, destination) = (u64::from(packet.ends.0), u64::from(packet.ends.1));
        let tag = match self.key {
            Key::Nothing => return 0,
            Key::Source => hash(source),
            Key::Destination => hash(destination),
            Key::Hosts => hash(source << 32 | destination),
            Key::Flow => hash(u64::from(packet.flow)),
        };
        let direct = (tag % QUEUES as u64) as usize;
        if self.flows[direct].tag == tag && self.flows[direct].set != Set::None {
            return direct;
        }
        let flows = &self.flows;
        let mine = ways(direct).find(|way| flows[*way].tag == tag);
        let way = mine.or_else(|| ways(direct).find(|way| flows[*way].set == Set::None)).unwrap_or(direct);
        let kept = mine.is_some_and(|way| flows[way].set != Set::None);
        self.flows[way].tag = tag;
        if !kept {
            // A flow that takes over a bulk queue brings its load.
            let bulk = self.flows[way].set == Set::Bulk;
            self.count_bulk(way, bulk, false);
            if self.fairness.source {
                self.flows[way].source = host(&mut self.sources, hash(source));
            }
            if self.fairness.destination {
                self.flows[way].destination = host(&mut self.destinations, hash(destination));
            }
            self.count_bulk(way, bulk, true);
        }
        way
    }

    /// Counts queue `index` for its hosts if it is bulk, or no longer.
    fn count_bulk(&mut self, index: usize, bulk: bool, more: bool) {
        let flow = &self.flows[index];
        let count = |load: &mut u32| *load = if more { *load + 1 } else { load.saturating_sub(1) };
        if bulk && self.fairness.source {
            count(&mut self.sources[usize::from(flow.source)].bulk);
        }
        if bulk && self.fairness.destination {
            count(&mut self.destinations[usize::from(flow.destination)].bulk);
        }
    }

    /// Moves queue `index` to another state.
    fn set(&mut self, index: usize, set: Set) {
        let before = std::mem::replace(&mut self.flows[index].set, set);
        for (set, step) in [(before, u32::MAX), (set, 1)] {
            match set {
                Set::None => {}
                Set::Sparse | Set::SparseWait => self.sparse = self.sparse.wrapping_add(step),
                Set::Bulk => self.bulk = self.bulk.wrapping_add(step),
                Set::Decaying => self.decaying = self.decaying.wrapping_add(step),
            }
        }
        self.count_bulk(index, before == Set::Bulk, false);
        self.count_bulk(index, set == Set::Bulk, true);
    }

    /// Moves queue `index` to the end of a list, or out of all.
    fn place(&mut self, index: usize, list: Option<List>) {
        let flow = &mut self.flows[index];
        flow.stamp = flow.stamp.wrapping_add(1);
        if let Some(list) = list {
            self.lists[list as usize].push_back((index as u16, flow.stamp));
        }
    }

    /// The first queue of a list.
    fn first(&mut self, list: List) -> Option<usize> {
        let list = &mut self.lists[list as usize];
        while let Some(&(index, stamp)) = list.front() {
            if self.flows[usize::from(index)].stamp == stamp {
                return Some(usize::from(index));
            }
            list.pop_front();
        }
        None
    }

    /// Bytes that queue `index` may send per turn: less if one of its hosts has several bulk flows.
    fn turn(&self, index: usize, random: &mut Generator) -> i64 {
        let flow = &self.flows[index];
        let mut load = 1;
        if self.fairness.source {
            load = load.max(self.sources[usize::from(flow.source)].bulk);
        }
        if self.fairness.destination {
            load = load.max(self.destinations[usize::from(flow.destination)].bulk);
        }
        // The rest of the division is a matter of chance, so that it does not accumulate.
        let dither = (random.uniform() * 65_536.0) as u64;
        ((self.quantum * (65_535 / u64::from(load)) + dither) >> 16).cast_signed()
    }

    /// Drops the first packet of the longest queue.
    fn drop_from_longest(&mut self, now: Instant, outcomes: &mut Outcomes) {
        let mut longest: Option<(u64, usize)> = None;
        for &(index, stamp) in self.lists[List::New as usize].iter().chain(&self.lists[List::Old as usize]) {
            let flow = &self.flows[usize::from(index)];
            let bytes = flow.queue.backlog().bytes;
            if flow.stamp == stamp && longest.is_none_or(|(most, _)| bytes > most) {
                longest = Some((bytes, usize::from(index)));
            }
        }
        let Some(packet) = longest.and_then(|(_, index)| self.flows[index].queue.evict(&self.settings, now)) else { return };
        self.backlog = self.backlog.without(packet.size);
        outcomes.push((packet, Outcome::Dropped(Reason::Overflow)));
        if self.ingress {
            self.charge(self.wire_size(packet.size), true);
        }
    }

    /// The queue `index` is empty when its turn comes: it leaves the lists when COBALT has nothing left to forget.
    fn rest(&mut self, index: usize, now: u64) {
        if self.flows[index].queue.law.rests(now) {
            self.place(index, None);
            self.set(index, Set::None);
        } else {
            self.place(index, Some(List::Decaying));
            self.set(index, Set::Decaying);
        }
    }

    /// The packet to send, once the shaper permits one.
    fn next_packet(&mut self, departure: &mut Departure<'_>) -> Option<Packet> {
        // Each call looks at one queue that decays.
        let mut decaying = self.first(List::Decaying);
        while self.backlog.packets > 0 {
            let index = decaying.take().or_else(|| self.first(List::New)).or_else(|| self.first(List::Old))?;
            if self.flows[index].deficit <= 0 {
                if self.flows[index].set == Set::Sparse {
                    let empty = self.flows[index].queue.waiting.is_empty();
                    self.set(index, if empty { Set::SparseWait } else { Set::Bulk });
                }
                self.flows[index].deficit += self.turn(index, departure.random);
                self.place(index, Some(List::Old));
                continue;
            }
            // Where many flows share a slow link, each has a right to two packets.
            let load = if self.ingress { u64::from(self.bulk) } else { 0 };
            let floor = self.mtu_time * (2 * load).max(4);
            loop {
                match self.flows[index].queue.turn(&self.settings, floor, departure) {
                    Turn::Empty => {
                        self.rest(index, departure.now.as_nanos());
                        break;
                    }
                    Turn::Send(packet) => {
                        self.backlog = self.backlog.without(packet.size);
                        let size = self.wire_size(packet.size);
                        self.charge(size, false);
                        self.flows[index].deficit -= size.cast_signed();
                        return Some(packet);
                    }
                    Turn::Drop(packet, reason) => {
                        self.backlog = self.backlog.without(packet.size);
                        departure.outcomes.push((packet, Outcome::Dropped(reason)));
                        if self.ingress {
                            let size = self.wire_size(packet.size);
                            self.charge(size, true);
                            self.flows[index].deficit -= size.cast_signed();
                            break;
                        }
                    }
                }
            }
        }
        None
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.backlog.packets > limit,
            Limit::Bytes(limit) => self.backlog.bytes > limit,
        }
    }
}

/// The ways of the set of queue `direct`, from it on.
fn ways(direct: usize) -> impl Iterator<Item = usize> {
    let (inner, outer) = (direct % WAYS, direct - direct % WAYS);
    (0..WAYS).map(move |way| outer + (inner + way) % WAYS)
}

/// The entry of a host: its own, else one without bulk flows, else the one that the hash names.
fn host(hosts: &mut [Host], tag: u64) -> u16 {
    let direct = (tag % QUEUES as u64) as usize;
    let mine = ways(direct).find(|way| hosts[*way].tag == tag);
    let way = mine.or_else(|| ways(direct).find(|way| hosts[*way].bulk == 0)).unwrap_or(direct);
    hosts[way].tag = tag;
    way as u16
}

impl Scheduler for Cake {
    fn enqueue(&mut self, now: Moment, packet: Packet, random: &mut Generator, outcomes: &mut Outcomes) {
        let index = self.classify(&packet);
        if self.backlog.packets == 0
            && let Some(shaper) = &mut self.shaper
        {
            let now = now.at.as_nanos();
            if shaper.next < now {
                (shaper.next, shaper.failsafe) = (now, now);
            }
        }
        self.flows[index].queue.push(packet);
        self.backlog = self.backlog.with(packet.size);
        match self.flows[index].set {
            Set::None | Set::Decaying => {
                self.set(index, Set::Sparse);
                self.place(index, Some(List::New));
                self.flows[index].deficit = self.turn(index, random);
            }
            Set::SparseWait => self.set(index, Set::Bulk),
            Set::Sparse | Set::Bulk => {}
        }
        while self.is_over_limit() {
            self.drop_from_longest(now.at, outcomes);
        }
    }

    fn dequeue(&mut self, now: Moment, random: &mut Generator, outcomes: &mut Outcomes) -> Dequeued {
        if self.backlog.packets == 0 {
            return Dequeued::Empty;
        }
        if let Some(Shaper { next, failsafe, .. }) = self.shaper {
            let at = next.min(failsafe);
            if now.at.as_nanos() < at {
                return Dequeued::NotBefore(Instant::from_nanos(at));
            }
        }
        self.next_packet(&mut Departure { now: now.at, random, outcomes }).into()
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("new_flows", f64::from(self.sparse));
        out("old_flows", f64::from(self.bulk));
        out("decaying_flows", f64::from(self.decaying));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::qdisc::contract::Ecn;
    use crate::testing::packet;

    const MBIT: f64 = 1e6;

    fn cake(set: &[(&str, Value)]) -> Cake {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        Cake::new(&params)
    }

    fn word(name: &'static str, word: &str) -> (&'static str, Value) {
        (name, Value::Word(word.to_owned()))
    }

    fn bandwidth(rate: f64) -> (&'static str, Value) {
        ("bandwidth", Value::Number(rate))
    }

    fn at(nanos: u64) -> Moment {
        Moment::now(Instant::from_nanos(nanos))
    }

    struct Bench {
        queue: Cake,
        random: Generator,
        outcomes: Outcomes,
        now: u64,
    }

    impl Bench {
        fn new(set: &[(&str, Value)]) -> Self {
            Self { queue: cake(set), random: Generator::derived(1, "cake"), outcomes: vec![], now: 0 }
        }

        fn arrive(&mut self, flow: u32, ends: (u32, u32), size: u64) {
            let packet = Packet { ends, ecn: Ecn::Ect0, arrived: Instant::from_nanos(self.now), ..packet(0, flow, size) };
            self.queue.enqueue(at(self.now), packet, &mut self.random, &mut self.outcomes);
        }

        /// The next packet, at the time when it may leave.
        fn leave(&mut self) -> Option<Packet> {
            loop {
                match self.queue.dequeue(at(self.now), &mut self.random, &mut self.outcomes) {
                    Dequeued::Send(packet) => return Some(packet),
                    Dequeued::NotBefore(time) => self.now = time.as_nanos(),
                    Dequeued::Empty => return None,
                }
            }
        }
    }

    #[test]
    fn parameters_follow_from_the_rate() {
        // 1 Mbit/s: 12.112 ms for a full packet; 100 Mbit/s: 0.12 ms.
        for (rate, target, interval, quantum) in [(MBIT, 18.168, 113.168, 300), (100.0 * MBIT, 5.0, 100.0, 1514)] {
            let cake = cake(&[bandwidth(rate)]);
            assert_eq!((cake.settings.target, cake.settings.interval), ((target * 1e6) as u64, (interval * 1e6) as u64));
            assert_eq!(cake.quantum, quantum);
        }
        let near = cake(&[bandwidth(100.0 * MBIT), ("rtt", Value::Number(0.02))]);
        assert_eq!((near.settings.target, near.settings.interval), (1_000_000, 20_000_000));
        assert_eq!((cake(&[]).limit, cake(&[bandwidth(MBIT)]).limit), (Limit::Bytes(15_503_360), Limit::Bytes(4 << 20)));
    }

    #[test]
    fn the_shaper_counts_every_byte_on_the_wire() {
        // Of 1000 B: 1044 B with overhead, at least 2000 B, 22 cells of 53 B, or 1000 + 16 B.
        for (set, size) in [
            (vec![], 1000),
            (vec![("overhead", Value::Number(44.0))], 1044),
            (vec![("mpu", Value::Number(2000.0))], 2000),
            (vec![("overhead", Value::Number(44.0)), word("cells", "atm")], 1166),
            (vec![word("cells", "ptm")], 1016),
        ] {
            let mut bench = Bench::new(&[set, vec![bandwidth(8.0 * MBIT)]].concat());
            (0..4).for_each(|_| bench.arrive(1, (0, 1), 1000));
            let times: Vec<u64> = std::iter::from_fn(|| bench.leave().map(|_| bench.now)).collect();
            assert_eq!(times, [0, 1, 2, 3].map(|number| 1000 * size * number));
            // After a pause there is no burst.
            bench.now = 1_000_000_000;
            (0..2).for_each(|_| bench.arrive(1, (0, 1), 1000));
            let times: Vec<u64> = std::iter::from_fn(|| bench.leave().map(|_| bench.now)).collect();
            assert_eq!(times, [1_000_000_000, 1_000_000_000 + 1000 * size]);
        }
    }

    /// Bytes sent by each of `flows`, which are the ends of flow 0, 1, …; all always have packets.
    fn shares(mode: &str, ends: &[(u32, u32)]) -> Vec<f64> {
        let mut bench = Bench::new(&[word("flow_mode", mode), bandwidth(10.0 * MBIT), ("rtt", Value::Number(100.0))]);
        for _ in 0..3000 {
            (0..).zip(ends).for_each(|(flow, ends)| bench.arrive(flow, *ends, 1000));
        }
        let mut sent = vec![0.0; ends.len()];
        (0..6000).for_each(|_| sent[bench.leave().unwrap().flow as usize] += 1.0 / 6000.0);
        sent
    }

    #[test]
    fn hosts_share_first_and_flows_within_them() {
        // Source 1 has three flows, source 2 one; destination 9 has two, 7 and 8 one each.
        let ends = [(1, 7), (1, 8), (1, 9), (2, 9)];
        let (third, sixth) = (1.0 / 3.0, 1.0 / 6.0);
        for (mode, expected) in [
            ("flows", [0.25; 4]),
            ("dual-srchost", [sixth, sixth, sixth, 0.5]),
            ("dual-dsthost", [third, third, sixth, sixth]),
            // Loads are 3, 3, 3 and 2.
            ("triple-isolate", [2.0 / 9.0, 2.0 / 9.0, 2.0 / 9.0, third]),
        ] {
            for (share, expected) in shares(mode, &ends).into_iter().zip(expected) {
                assert!((share - expected).abs() < 0.01, "{mode}: {share} instead of {expected}");
            }
        }
        // Without isolation, or with that of pairs, packets of one queue leave in their order.
        assert!(shares("flowblind", &ends).iter().all(|share| (share - 0.25).abs() < 0.001));
        let hosts = shares("srchost", &ends);
        assert!((hosts[3] - 0.5).abs() < 0.01, "{hosts:?}");
    }

    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own() {
        // Flows whose hash names the same queue.
        let flows: Vec<u32> = (0..200_000).filter(|flow| hash(u64::from(*flow)) % QUEUES as u64 == 5).take(9).collect();
        let mut bench = Bench::new(&[word("flow_mode", "flows")]);
        for flow in &flows {
            bench.arrive(*flow, (0, 1), 1000);
        }
        let lengths: Vec<u64> = (0..8).map(|way| bench.queue.flows[way].queue.backlog().packets).collect();
        // The ninth shares the queue that its hash names.
        assert_eq!(lengths, [1, 1, 1, 1, 1, 2, 1, 1]);
        assert_eq!(bench.queue.flows.iter().filter(|flow| flow.set != Set::None).count(), 8);
    }

    #[test]
    fn a_sparse_flow_goes_first() {
        let mut bench = Bench::new(&[word("flow_mode", "flows"), bandwidth(10.0 * MBIT)]);
        for flow in 0..10 {
            (0..20).for_each(|_| bench.arrive(flow, (0, 1), 1000));
        }
        (0..20).for_each(|_| _ = bench.leave());
        bench.arrive(77, (0, 1), 100);
        assert_eq!(bench.leave().unwrap().flow, 77);
    }

    #[test]
    fn the_longest_queue_overflows_at_its_head() {
        let mut bench = Bench::new(&[word("flow_mode", "flows"), ("limit", Value::Limit(Limit::Bytes(10_000)))]);
        (0..3).for_each(|_| bench.arrive(1, (0, 1), 1000));
        (0..8).for_each(|_| bench.arrive(2, (0, 1), 1000));
        let dropped: Vec<(u32, Outcome)> = bench.outcomes.iter().map(|(packet, outcome)| (packet.flow, *outcome)).collect();
        assert_eq!(dropped, [(2, Outcome::Dropped(Reason::Overflow))]);
        assert_eq!(bench.queue.backlog(), Backlog { packets: 10, bytes: 10_000 });
    }

    #[test]
    fn drops_of_ingress_use_the_rate() {
        // The same flood without response: with `ingress` fewer packets leave in ten seconds, and at least two thirds of the rate remain.
        let sent = |ingress| {
            let mut bench =
                Bench::new(&[bandwidth(MBIT), ("ingress", Value::Bool(ingress)), ("limit", Value::Limit(Limit::Bytes(20_000)))]);
            let (mut sent, mut next) = (0, 0);
            while bench.now < 10_000_000_000 {
                let now = bench.now;
                while next <= now {
                    bench.now = next;
                    bench.arrive(1, (0, 1), 1000);
                    next += 4_000_000;
                }
                bench.now = now;
                match bench.leave() {
                    Some(_) => sent += 1,
                    None => bench.now = next,
                }
            }
            sent
        };
        let (out, inward) = (sent(false), sent(true));
        assert!((1240..=1260).contains(&out), "{out}");
        assert!((800..1000).contains(&inward), "{inward}");
    }
}
