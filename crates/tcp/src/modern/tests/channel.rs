//! Two endpoints joined by a bad channel, with checks of invariants.

use std::collections::BTreeMap;

use ackclock_core::cc::{Composed, CongestionControl, Court, SlowStart, Wants, Witness, avoidance, initial_window, slow_start};
use ackclock_core::entry::Parts;
use ackclock_core::params::{Params, Value};
use ackclock_core::qdisc::Ecn;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};

use super::super::endpoint::{Endpoint, State};
use super::super::segment::{Flags, Segment, to_position};
use super::super::settings::Config;
use crate::ranges::RangeSet;

/// Reno with the initial window of RFC 6928.
pub(super) fn reno() -> Box<dyn CongestionControl> {
    reno_after(part(&slow_start::PARTS, "standard"))
}

/// Reno with another slow start.
pub(super) fn reno_after(slow_start: Box<dyn SlowStart>) -> Box<dyn CongestionControl> {
    let (initial_window, avoidance) = (part(&initial_window::PARTS, "rfc6928"), part(&avoidance::PARTS, "reno"));
    Box::new(Composed::new(initial_window, slow_start, avoidance, None, f64::INFINITY))
}

/// DCTCP with the initial window of RFC 6928, by the rules of a `variant`.
pub(super) fn dctcp(variant: &str) -> Box<dyn CongestionControl> {
    let (initial_window, slow_start) = (part(&initial_window::PARTS, "rfc6928"), part(&slow_start::PARTS, "standard"));
    let avoidance = part_with(&avoidance::PARTS, "dctcp", &[("variant", Value::Word(variant.to_owned()))]);
    Box::new(Composed::new(initial_window, slow_start, avoidance, None, f64::INFINITY))
}

fn part<P: ?Sized>(parts: &Parts<P>, name: &str) -> Box<P> {
    part_with(parts, name, &[])
}

fn part_with<P: ?Sized>(parts: &Parts<P>, name: &str, set: &[(&str, Value)]) -> Box<P> {
    let entry = parts.find(name).unwrap();
    let mut params = Params::defaults(entry.params);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    (entry.build)(&params).unwrap()
}

/// The channel's impairments, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    pub(super) delay: Duration,
    /// Maximum additional random delay, by which segments overtake each other.
    pub(super) jitter: Duration,
    pub(super) loss: f64,
    /// Additional loss probability of segments without data.
    pub(super) ack_loss: f64,
    pub(super) duplication: f64,
    pub(super) marking: f64,
}

/// The behaviour of the reading application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// Bytes per read; zero: all data at once.
    pub(super) chunk: u64,
    /// Time between reads.
    pub(super) interval: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Arrival(usize, Segment),
    Timer(usize),
    Read(usize),
}

/// The two ends; end 0 opens the connection.
pub(super) struct Pair {
    pub(super) ends: [Endpoint; 2],
    configs: [Config; 2],
    channel: Channel,
    reader: Reader,
    /// Share of events that change the path's segment size.
    pub(super) path_changes: f64,
    random: Generator,
    seed: u64,
    arrivals: u64,
    /// Time of each end's pending timer event.
    armed: [Option<Instant>; 2],
    events: BTreeMap<(Instant, u64), Event>,
    count: u64,
    now: Instant,
    /// Data that has arrived at each end.
    arrived: [RangeSet; 2],
    /// Next position that each application reads.
    read: [u64; 2],
    /// Segments with data that each end has sent.
    pub(super) sent: [u64; 2],
    /// Bytes that have arrived marked at each end.
    pub(super) marked: [u64; 2],
    /// Hears how each end keeps the contract with its control.
    pub(super) court: Court,
}

impl Pair {
    pub(super) fn new(configs: [Config; 2], channel: Channel, reader: Reader, seed: u64) -> Self {
        let court = Court::default();
        // The clocks of the ends differ, so a one-way delay has no bound.
        let wants = Wants::NOTHING.with(|wants| (wants.samples, wants.deliveries, wants.timing) = (true, true, true));
        let control = || Box::new(Witness::new(reno(), wants, true, &court));
        let ends = [Endpoint::open(&configs[0], control()), Endpoint::listen(&configs[1], control())];
        Self {
            ends,
            configs,
            channel,
            reader,
            path_changes: 0.0,
            random: Generator::derived(seed, "channel"),
            seed,
            arrivals: 0,
            armed: [None; 2],
            events: BTreeMap::new(),
            count: 0,
            now: Instant::ZERO,
            arrived: [RangeSet::default(), RangeSet::default()],
            read: [1, 1],
            sent: [0, 0],
            marked: [0, 0],
            court,
        }
    }

    fn push(&mut self, at: Instant, event: Event) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.uniform() < probability
    }

    /// Lets both ends write and close, and runs until all data is delivered and both ends are closed. Returns the duration.
    pub(super) fn run(&mut self, bytes: [u64; 2]) -> Duration {
        for (end, bytes) in self.ends.iter_mut().zip(bytes) {
            end.write(bytes);
            end.close();
        }
        for end in 0..2 {
            self.transmit(end);
            if self.reader.chunk > 0 {
                self.push(self.now, Event::Read(end));
            }
        }
        let mut finished = None;
        while finished.is_none() || self.events.values().any(|event| matches!(event, Event::Arrival(..))) {
            let ((at, _), event) = self.events.pop_first().expect("an open connection always has a pending event");
            assert!(at >= self.now);
            self.now = at;
            assert!(self.arrivals < 100_000 && self.now.as_secs_f64() < 1e6, "seed {}: the run does not end: {:?}", self.seed, self.ends);
            self.handle(event);
            if finished.is_none() && self.is_finished() {
                finished = Some(self.now);
            }
        }
        for end in 0..2 {
            assert_eq!(self.read[end] - 1, bytes[1 - end], "every byte was read");
            assert_eq!(self.ends[end].poll_timeout(), None, "no timer is left");
        }
        let broken = &self.court.lock().unwrap().broken;
        assert!(broken.is_empty(), "seed {}: {broken:#?}", self.seed);
        finished.map_or(Duration::ZERO, |finished| finished.since(Instant::ZERO))
    }

    fn is_finished(&self) -> bool {
        self.ends.iter().all(|end| matches!(end.state(), State::TimeWait | State::Closed) && end.readable() == 0)
    }

    fn handle(&mut self, event: Event) {
        let end = match event {
            Event::Arrival(end, segment) => {
                self.note_arrival(end, &segment);
                self.ends[end].handle_segment(self.now, &segment);
                if self.reader.chunk == 0 {
                    self.read(end, u64::MAX);
                }
                end
            }
            Event::Timer(end) => {
                self.armed[end].take_if(|armed| *armed <= self.now);
                if self.ends[end].poll_timeout().is_some_and(|at| at <= self.now) {
                    self.ends[end].handle_timeout(self.now);
                }
                end
            }
            Event::Read(end) => {
                self.read(end, self.reader.chunk);
                if !self.is_finished() {
                    self.push(self.now + self.reader.interval, Event::Read(end));
                }
                end
            }
        };
        if self.path_changes > 0.0 && self.chance(self.path_changes) {
            let mss = 100.0 + 1400.0 * self.random.uniform();
            self.ends[end].change_mss(mss as u16);
        }
        self.transmit(end);
        if matches!(event, Event::Timer(_)) {
            let after = self.ends[end].poll_timeout().is_none_or(|at| at > self.now);
            assert!(after, "an expired timer is still due: {:?}", self.ends[end].sender);
        }
        self.check(end);
    }

    fn note_arrival(&mut self, end: usize, segment: &Segment) {
        self.arrivals += 1;
        self.marked[end] += if segment.ecn == Ecn::Ce { u64::from(segment.payload) } else { 0 };
        let initial = self.configs[1 - end].initial_sequence;
        let near = self.ends[end].receiver.rcv_nxt();
        if let Some(start) = to_position(segment.seq, initial, near).filter(|_| segment.payload > 0) {
            self.arrived[end].insert((start, start + u64::from(segment.payload)), &mut Vec::new());
        }
    }

    /// The application reads. The data must follow the previous read, and must have arrived.
    fn read(&mut self, end: usize, most: u64) {
        let (start, after) = self.ends[end].read(self.now, most);
        assert_eq!(start, self.read[end], "each byte is read once, in order");
        if after > start {
            assert!(self.arrived[end].containing(1).is_some_and(|(_, top)| after <= top), "{after} has not arrived");
        }
        self.read[end] = after;
    }

    fn transmit(&mut self, end: usize) {
        let mut burst = 0;
        while let Some(segment) = self.ends[end].poll_transmit(self.now) {
            burst += 1;
            assert!(burst < 20_000, "the end does not stop sending");
            self.check_segment(end, &segment);
            self.carry(1 - end, segment);
        }
        if let Some(at) = self.ends[end].poll_timeout()
            && self.armed[end].is_none_or(|armed| at < armed)
        {
            self.armed[end] = Some(at);
            self.push(at, Event::Timer(end));
        }
    }

    fn carry(&mut self, to: usize, mut segment: Segment) {
        let Channel { delay, jitter, loss, ack_loss, duplication, marking } = self.channel;
        if self.chance(loss) || segment.payload == 0 && self.chance(ack_loss) {
            return;
        }
        if segment.ecn == Ecn::Ect0 && self.chance(marking) {
            segment.ecn = Ecn::Ce;
        }
        let copies = 1 + u32::from(self.chance(duplication));
        for _ in 0..copies {
            let extra = Duration::from_nanos((self.random.uniform() * jitter.as_nanos() as f64) as u64);
            self.push(self.now + delay + extra, Event::Arrival(to, segment));
        }
    }

    fn check_segment(&mut self, end: usize, segment: &Segment) {
        if segment.payload == 0 {
            return;
        }
        self.sent[end] += 1;
        let sender = &self.ends[end].sender;
        let start = to_position(segment.seq, self.configs[end].initial_sequence, sender.window().una()).unwrap();
        let after = start + u64::from(segment.len());
        assert!(start >= sender.window().una(), "an acknowledged segment was retransmitted");
        assert!(after <= sender.window().nxt() && sender.window().nxt() <= sender.window().edge(), "data beyond the peer's window");
        assert!(after <= self.ends[1 - end].receiver.window.edge(), "data beyond the peer's largest advertised edge");
        assert!(u64::from(segment.payload) <= sender.seat().smss() && segment.wire_size() <= 40 + u32::from(self.configs[end].mss));
        assert!(segment.flags.has(Flags::ACK));
    }

    /// Checks the invariants after every event.
    fn check(&self, end: usize) {
        let sender = &self.ends[end].sender;
        assert!(sender.board().is_consistent(), "{sender:?}");
        assert!(sender.window().una() <= sender.window().nxt());
        assert_eq!(sender.window().nxt() - sender.window().una(), sender.board().flight_size());
        assert!(sender.board().pipe() <= 2 * sender.board().flight_size());
        assert!(self.ends[end].window().cwnd > 0.0);
    }
}
