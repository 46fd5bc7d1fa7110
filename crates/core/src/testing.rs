//! Events, parts and queues for the unit tests.

use crate::cc::{Avoidance, Window};
use crate::entry::Entry;
use crate::events::{Ack, Cause, CongestionEvent, Established, Sent, Totals};
use crate::params::{Params, Value};
use crate::path::loss::{self, Fate, LossModel};
use crate::qdisc::{Admission, Arrival, Dequeued, Discipline, Ecn, Outcome, Outcomes, Outlet, Packet, Reason, Scheduler};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Moment, Rate, Segments};

/// An ACK of one segment at which the window may grow.
pub(crate) const ACK: Ack = Ack { flight_size: 1, ..Ack::new(Instant::ZERO, 1, Bytes(1000)) };

/// A segment of 1000 bytes, the only outstanding one.
pub(crate) const SENT: Sent = Sent {
    now: Instant::ZERO,
    size: 1000,
    flight_size: 1,
    inflight: 1000,
    snd_nxt: 1000,
    total: Totals { sent: 1000, delivered: 0, lost: 0 },
    retransmission: false,
    app_limited: false,
};

/// Congestion with `window` in force.
pub(crate) fn congestion(cause: Cause, window: Segments) -> CongestionEvent {
    CongestionEvent::new(Instant::ZERO, cause, window)
}

/// A handshake for segments of `smss` bytes.
pub(crate) fn established(smss: u64) -> Established {
    Established::new(Instant::ZERO, Bytes(smss))
}

/// A window without a threshold.
pub(crate) fn window(cwnd: Segments) -> Window {
    Window { cwnd, ssthresh: Segments::INFINITY }
}

/// Builds a part with its defaults, except for the values in `set`.
pub(crate) fn build<P: ?Sized>(entry: &Entry<P>, set: &[(&str, Value)]) -> Result<Box<P>, String> {
    let mut params = Params::defaults(entry.params);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    (entry.build)(&params)
}

/// An avoidance, whose own response a loss response may build on.
pub(crate) fn own() -> Box<dyn Avoidance> {
    build(&crate::cc::avoidance::reno::ENTRY, &[]).unwrap()
}

/// A packet of `size` bytes that arrives at a busy link `millis` milliseconds into the run.
pub(crate) fn arrival(millis: u64, size: u64) -> Arrival {
    let now = Instant::from_nanos(millis * 1_000_000);
    Arrival { now, size: Bytes(size), flow: 0, ecn: Ecn::NotEct, idle_since: None }
}

/// The fates of `count` packets of 1000 bytes, one in each millisecond.
pub(crate) fn fates(model: &mut dyn LossModel, count: u64) -> impl Iterator<Item = Fate> {
    let mut random = Generator::derived(1, "test");
    (1..=count).map(move |number| {
        let now = Instant::from_nanos(number * 1_000_000);
        model.fate(&loss::Arrival { now, size: Bytes(1000), flow: 0, number }, &mut random)
    })
}

/// Checks that `actual` is within `tolerance` of `expected`.
#[track_caller]
pub(crate) fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not within {tolerance} of {expected}");
}

/// A cycle between two congestion events.
pub(crate) struct Sawtooth {
    pub(crate) trough: Segments,
    pub(crate) peak: Segments,
    /// Length in round trips; each ACK takes 1/cwnd of one.
    pub(crate) rtts: f64,
}

/// The cycle to which `part` converges with congestion after every `acks` ACKs, from a first peak of `start`.
///
/// # Panics
/// If it has not converged after many cycles.
pub(crate) fn sawtooth(part: &mut dyn Avoidance, acks: u32, start: Segments) -> Sawtooth {
    let mut peak = start;
    for _ in 0..10_000 {
        let trough = part.respond(&congestion(Cause::DupAck, peak), &window(peak)).cwnd;
        let (mut cwnd, mut rtts) = (trough, 0.0);
        for _ in 0..acks {
            rtts += 1.0 / cwnd;
            cwnd = part.on_ack(&ACK, &window(cwnd));
        }
        let converged = (cwnd - peak).abs() <= 1e-10 * peak;
        peak = cwnd;
        if converged {
            return Sawtooth { trough, peak, rtts };
        }
    }
    panic!("{part:?} does not converge with a congestion event every {acks} ACKs");
}

/// A link that sends one byte per microsecond, without delay.
pub(crate) const OUTLET: Outlet = Outlet { rate: Rate::from_bits_per_sec(8_000_000).unwrap(), delay: Duration::ZERO };

/// A discipline that decides on arrival, with its defaults except for `set`, in front of [`OUTLET`].
pub(crate) fn admission(entry: &Entry<Discipline>, set: &[(&str, Value)]) -> Box<dyn Admission> {
    let Discipline::Fifo(mut admission) = *build(entry, set).unwrap() else { panic!("{} decides on departure", entry.name) };
    admission.attach(&OUTLET);
    admission
}

/// The quantity `name` among those that `report` gives.
#[track_caller]
pub(crate) fn internal(report: impl FnOnce(&mut dyn FnMut(&'static str, f64)), name: &str) -> f64 {
    let mut found = None;
    report(&mut |key, value| found = found.or((key == name).then_some(value)));
    found.unwrap()
}

/// A packet of `size` bytes of `flow`, which is also its sender's address, without ECN.
pub(crate) fn packet(handle: u32, flow: u32, size: u64) -> Packet {
    Packet { handle, flow, ends: (flow, 0), size: Bytes(size), ecn: Ecn::NotEct, arrived: Instant::ZERO }
}

/// The same packet, ECN-capable.
pub(crate) fn capable(handle: u32, flow: u32, size: u64) -> Packet {
    Packet { ecn: Ecn::Ect0, ..packet(handle, flow, size) }
}

/// A queue in front of [`OUTLET`], with the outcomes of its packets. Times are in microseconds.
pub(crate) struct Bench {
    pub(crate) queue: Box<dyn Scheduler>,
    pub(crate) random: Generator,
    outcomes: Outcomes,
}

impl Bench {
    /// A discipline with its defaults, except for the values in `set`.
    pub(crate) fn new(entry: &Entry<Discipline>, set: &[(&str, Value)]) -> Self {
        let mut queue = build(entry, set).unwrap().into_scheduler();
        queue.attach(&OUTLET);
        Self { queue, random: Generator::derived(1, ""), outcomes: Outcomes::new() }
    }

    /// Lets `packet` arrive. Returns whether it was accepted.
    pub(crate) fn arrive(&mut self, now: u64, packet: Packet) -> bool {
        let arrived = Instant::from_nanos(1000 * now);
        let before = self.outcomes.len();
        self.queue.enqueue(Moment::now(arrived), Packet { arrived, ..packet }, &mut self.random, &mut self.outcomes);
        !self.outcomes[before..].iter().any(|(it, outcome)| it.handle == packet.handle && matches!(outcome, Outcome::Dropped(_)))
    }

    /// Lets `packets` arrive, accepted or not.
    pub(crate) fn arrive_all(&mut self, now: u64, packets: impl IntoIterator<Item = Packet>) {
        for packet in packets {
            self.arrive(now, packet);
        }
    }

    /// Lets packets of `size` arrive at time 0 until one is dropped. Returns the number of accepted packets.
    pub(crate) fn fill(&mut self, flow: u32, size: u64) -> u32 {
        (0..1000).take_while(|handle| self.arrive(0, packet(*handle, flow, size))).count() as u32
    }

    /// The queue's answer to a free link.
    pub(crate) fn ask(&mut self, now: Instant) -> Dequeued {
        self.queue.dequeue(Moment::now(now), &mut self.random, &mut self.outcomes)
    }

    /// The packet that a free link gets, if any.
    pub(crate) fn depart(&mut self, now: u64) -> Option<Packet> {
        self.ask(Instant::from_nanos(1000 * now)).packet()
    }

    /// The packets that leave back to back from `now` on, until the queue is empty.
    pub(crate) fn drain(&mut self, mut now: u64) -> Vec<Packet> {
        let next = || {
            let packet = self.depart(now)?;
            now += packet.size.0;
            Some(packet)
        };
        std::iter::from_fn(next).collect()
    }

    /// The outcomes since the last call, each with the packet's handle.
    pub(crate) fn outcomes(&mut self) -> Vec<(u32, Outcome)> {
        self.outcomes.drain(..).map(|(packet, outcome)| (packet.handle, outcome)).collect()
    }

    /// The quantity `name` of the discipline.
    #[track_caller]
    pub(crate) fn internal(&self, name: &str) -> f64 {
        internal(|out| self.queue.internals(out), name)
    }
}

/// The handles of `packets`.
pub(crate) fn handles(packets: &[Packet]) -> Vec<u32> {
    packets.iter().map(|packet| packet.handle).collect()
}

/// The outcome of a packet that a full queue drops.
pub(crate) const OVERFLOW: Outcome = Outcome::Dropped(Reason::Overflow);

/// The largest difference between the bytes sent by flow 1 and by flow 2, after each of `packets` until either flow has sent its last.
pub(crate) fn unfairness(packets: &[Packet]) -> u64 {
    let last = |flow| packets.iter().rposition(|packet| packet.flow == flow).unwrap();
    let mut sent = [0_u64; 2];
    let mut largest = 0;
    for packet in &packets[..=last(1).min(last(2))] {
        sent[packet.flow as usize - 1] += packet.size.0;
        largest = largest.max(sent[0].abs_diff(sent[1]));
    }
    largest
}

/// A sender in rounds, for controls that measure the delivery rate.
pub(crate) mod rounds {
    use crate::cc::CongestionControl;
    use crate::events::{Ack, Lost, RateSample, Snapshot, Totals};
    use crate::units::{Bytes, Duration, Instant, Rate};

    /// Bytes in a segment.
    pub(crate) const SMSS: u64 = 1000;
    /// A bandwidth-delay product of 100 segments: 1 MB/s and 100 ms.
    pub(crate) const RATE: f64 = 1e6;
    pub(crate) const RTT: u64 = 100;
    pub(crate) const BDP: u64 = 100;

    pub(crate) fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// A sender whose rounds each have one ACK of all data in flight. Amounts are in segments.
    pub(crate) struct Script<C> {
        pub(crate) control: C,
        pub(crate) now: u64,
        pub(crate) total: Totals,
        /// Segments in flight during the round, and the path's rate in bytes per second.
        pub(crate) inflight: u64,
        pub(crate) rate: f64,
        /// Round-trip time in milliseconds.
        pub(crate) rtt: u64,
        pub(crate) app_limited: bool,
    }

    impl<C: CongestionControl> Script<C> {
        pub(crate) fn new(control: C) -> Self {
            Self { control, now: 0, total: Totals::default(), inflight: 10, rate: RATE, rtt: RTT, app_limited: false }
        }

        /// The snapshot of a packet sent now.
        pub(crate) fn packet(&self) -> Snapshot {
            Snapshot {
                sent_at: at(self.now),
                delivered: self.total.delivered,
                delivered_at: at(self.now),
                first_sent: at(self.now),
                lost: self.total.lost,
                inflight: self.inflight * SMSS,
                app_limited: self.app_limited,
            }
        }

        /// A round trip: all data in flight is delivered except `lost` segments at every second position, and as much is sent.
        pub(crate) fn round(&mut self, lost: u64) {
            let packet = self.packet();
            self.now += self.rtt;
            let delivered = (self.inflight - lost) * SMSS;
            self.total.delivered += delivered;
            for segment in 0..lost {
                self.declare_lost(packet, segment * 2);
            }
            let interval = Duration::from_millis(self.rtt);
            let sample = RateSample { packet, delivered, interval, rate: Rate::from_bits_per_sec((8.0 * self.rate) as u64) };
            self.ack(delivered, Some(sample));
        }

        pub(crate) fn declare_lost(&mut self, packet: Snapshot, segment: u64) {
            self.total.lost += SMSS;
            let start = self.total.delivered + segment * SMSS;
            let inflight = self.inflight * SMSS;
            self.control.on_lost(&Lost { now: at(self.now), start, end: start + SMSS, packet: Some(packet), inflight, total: self.total });
        }

        pub(crate) fn ack(&mut self, delivered: u64, sample: Option<RateSample>) {
            self.control.on_ack(&Ack {
                delivered,
                inflight_before: self.inflight * SMSS,
                inflight: self.inflight * SMSS,
                snd_una: self.total.delivered,
                snd_nxt: self.total.delivered + self.inflight * SMSS,
                total: self.total,
                sample,
                rtt: Some(Duration::from_millis(self.rtt)),
                ..Ack::new(at(self.now), (delivered / SMSS) as u32, Bytes(SMSS))
            });
        }
    }
}
