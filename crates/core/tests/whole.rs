//! The obligations of every whole control: sound windows and rates after any events, independent copies, and reproducible outputs.

mod common;

use std::collections::VecDeque;

use ackclock_core::cc::{CongestionControl, whole};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Lost, RateSample, Sent, Snapshot, Totals};
use ackclock_core::params::Params;
use ackclock_core::units::{Bytes, Duration, Instant, Rate};
use common::buildable;
use proptest::prelude::*;

/// Bytes in a segment.
const SMSS: u64 = 1000;

/// Events of a transport.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// This many microseconds pass.
    Wait(u32),
    /// Up to this many segments are sent, as the window allows.
    Send(u8),
    /// This many segments are delivered; the ACK may carry a mark.
    Deliver(u8, bool),
    /// The first segments in flight are declared lost, and may be retransmitted.
    Lose(u8, bool),
    /// The retransmission timer expires.
    Timeout,
    /// All losses were spurious.
    Spurious,
    /// The application has nothing to send.
    Idle,
    /// Segments have this size from now on.
    Mss(u16),
    /// A timer expires without new evidence of congestion.
    Restart,
    /// A recovery changes the window itself.
    Recover(u8),
}

/// A transport that reports consistent facts.
#[derive(Clone, Debug)]
struct Transport {
    control: Box<dyn CongestionControl>,
    now: Instant,
    total: Totals,
    position: u64,
    acknowledged: u64,
    delivered_at: Instant,
    first_sent: Instant,
    flight: VecDeque<(u64, Snapshot)>,
    limited_until: u64,
    min_rtt: Option<Duration>,
    recovering: bool,
}

impl Transport {
    fn new(control: Box<dyn CongestionControl>, rtt: Option<Duration>, selective: bool) -> Self {
        let mut transport = Self {
            control,
            now: Instant::ZERO + Duration::from_millis(40),
            total: Totals::default(),
            position: 0,
            acknowledged: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            flight: VecDeque::new(),
            limited_until: 0,
            min_rtt: rtt,
            recovering: false,
        };
        let handshake = Established::new(transport.now, Bytes(SMSS)).with(|event| {
            event.rtt = rtt;
            event.selective = selective;
            event.header = Bytes(40);
            event.seed = 7;
        });
        transport.control.on_established(&handshake);
        transport
    }

    fn inflight(&self) -> u64 {
        self.flight.len() as u64 * SMSS
    }

    fn send(&mut self, start: u64, retransmission: bool) {
        if self.flight.is_empty() {
            (self.first_sent, self.delivered_at) = (self.now, self.now);
        }
        let app_limited = self.limited_until > 0;
        let packet = Snapshot::new(self.now).with(|packet| {
            packet.delivered = self.total.delivered;
            packet.delivered_at = self.delivered_at;
            packet.first_sent = self.first_sent;
            packet.lost = self.total.lost;
            packet.inflight = self.inflight() + SMSS;
            packet.app_limited = app_limited;
        });
        self.flight.push_back((start, packet));
        self.total.sent += SMSS;
        self.control.on_sent(&Sent::new(self.now, SMSS).with(|sent| {
            sent.flight_size = self.flight.len() as u32;
            sent.inflight = self.inflight();
            sent.snd_nxt = self.position;
            sent.total = self.total;
            sent.retransmission = retransmission;
            sent.app_limited = app_limited;
        }));
    }

    fn deliver(&mut self, count: u8, mark: bool) {
        let before = self.inflight();
        let arrived: Vec<_> = self.flight.drain(..usize::from(count).min(self.flight.len())).collect();
        let Some(&(start, packet)) = arrived.last() else { return };
        let delivered = arrived.len() as u64 * SMSS;
        self.total.delivered += delivered;
        (self.delivered_at, self.first_sent) = (self.now, packet.sent_at);
        self.limited_until = if self.total.delivered > self.limited_until { 0 } else { self.limited_until };
        self.acknowledged = self.acknowledged.max(start + SMSS);
        let rtt = self.now.since(packet.sent_at);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let interval = packet.sent_at.since(packet.first_sent).max(self.now.since(packet.delivered_at));
        let volume = self.total.delivered - packet.delivered;
        let rate = Rate::from_bits_per_sec((8.0 * volume as f64 / interval.as_secs_f64().max(1e-9)) as u64);
        let rate = rate.filter(|_| interval.as_secs_f64() > 1e-6);
        self.control.on_ack(&Ack::new(self.now, arrived.len() as u32, Bytes(SMSS)).with(|ack| {
            ack.cwnd_limited = self.limited_until == 0;
            ack.may_grow = !self.recovering;
            ack.marked = if mark { delivered } else { 0 };
            ack.ecn_echo = mark;
            ack.inflight_before = before;
            ack.inflight = self.inflight();
            ack.snd_una = self.acknowledged;
            ack.snd_nxt = self.position;
            ack.total = self.total;
            ack.sample = Some(RateSample::new(packet, volume, interval).with(|sample| sample.rate = rate));
            ack.rtt = Some(rtt);
            ack.srtt = Some(rtt);
            ack.min_rtt = self.min_rtt;
        }));
    }

    fn congest(&mut self, cause: Cause) {
        let window = self.control.window().cwnd;
        self.control.on_congestion(&CongestionEvent::new(self.now, cause, window).with(|event| {
            event.inflight = self.inflight();
            event.min_rtt = self.min_rtt;
        }));
    }

    fn declare_lost(&mut self, count: u8, again: bool) {
        let lost: Vec<_> = self.flight.drain(..usize::from(count).min(self.flight.len())).collect();
        for (start, packet) in &lost {
            self.total.lost += SMSS;
            let inflight = self.inflight();
            self.control.on_lost(&Lost::new(self.now, *start, start + SMSS).with(|lost| {
                lost.packet = Some(*packet);
                lost.inflight = inflight;
                lost.total = self.total;
            }));
        }
        if !lost.is_empty() && !self.recovering {
            self.recovering = true;
            self.congest(Cause::DupAck);
        }
        for (start, _) in lost.into_iter().filter(|_| again) {
            self.send(start, true);
        }
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Wait(micros) => self.now += Duration::from_nanos(u64::from(micros) * 1000),
            Op::Send(count) => {
                for _ in 0..count {
                    if (self.flight.len() as f64) < self.control.window().cwnd.floor() {
                        self.position += SMSS;
                        self.send(self.position - SMSS, false);
                    }
                }
            }
            Op::Deliver(count, mark) => {
                self.deliver(count, mark);
                if self.recovering && self.flight.is_empty() {
                    self.recovering = false;
                    self.control.on_recovery_end(self.now);
                }
            }
            Op::Lose(count, again) => self.declare_lost(count, again),
            Op::Timeout => {
                self.declare_lost(u8::MAX, false);
                self.congest(Cause::Timeout);
            }
            Op::Spurious => {
                self.recovering = false;
                self.control.on_spurious(self.now);
            }
            Op::Idle => self.limited_until = (self.total.delivered + self.inflight()).max(1),
            Op::Mss(smss) => self.control.on_mss(Bytes(u64::from(smss))),
            Op::Restart => self.control.on_restart(),
            Op::Recover(by) => {
                self.control.resize(f64::from(by), 1.0);
                self.control.resize(-f64::from(by), 1.0);
                self.control.resize(-self.control.window().cwnd, 0.0);
            }
        }
        if let Some(timer) = self.control.timer().filter(|timer| *timer <= self.now) {
            self.control.on_timer(timer);
        }
    }

    /// All outputs that a host reads from the control.
    fn outputs(&self) -> Vec<u64> {
        let control = &*self.control;
        let window = control.window();
        let mut outputs = vec![
            window.cwnd.to_bits(),
            window.ssthresh.to_bits(),
            control.pacing_rate().map_or(0, Rate::as_bits_per_sec),
            control.burst().0,
            control.timer().map_or(0, Instant::to_bits),
            u64::from(control.holds_back()),
        ];
        control.internals(&mut |name, value| {
            assert!(value.is_finite(), "{name} is {value}");
            outputs.push(value.to_bits());
        });
        outputs
    }

    /// Checks the invariants after `op`; an ACK leaves a window of `least` segments.
    fn check(&self, op: Op, least: f64) {
        let window = self.control.window();
        assert!(window.cwnd.is_finite() && window.cwnd >= 1.0 && window.ssthresh >= 2.0, "{op:?} gave {window:?}: {:?}", self.control);
        let acknowledged = matches!(op, Op::Deliver(..)) && self.total.delivered > 0;
        assert!(
            !acknowledged || window.cwnd >= least * (1.0 - 1e-9) || self.flight.is_empty(),
            "{op:?} gave {window:?}: {:?}",
            self.control
        );
    }
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..200_000_u32).prop_map(Op::Wait),
        1 => (0..20_000_000_u32).prop_map(Op::Wait),
        8 => (1..40_u8).prop_map(Op::Send),
        8 => (1..30_u8, prop::bool::weighted(0.1)).prop_map(|(count, mark)| Op::Deliver(count, mark)),
        2 => (1..6_u8, any::<bool>()).prop_map(|(count, again)| Op::Lose(count, again)),
        1 => Just(Op::Timeout),
        1 => Just(Op::Spurious),
        1 => Just(Op::Idle),
        1 => (100..9000_u16).prop_map(Op::Mss),
        1 => Just(Op::Restart),
        1 => any::<u8>().prop_map(Op::Recover),
    ]
}

fn any_control() -> impl Strategy<Value = (&'static Entry<dyn CongestionControl>, Params)> {
    prop::sample::select(buildable(whole::ENTRIES))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_whole_control_survives_any_events(
        (entry, params) in any_control(),
        rtt in prop::option::weighted(0.8, 0..500_u64),
        selective in any::<bool>(),
        ops in prop::collection::vec(any_op(), 0..300),
        fork in 0..300_usize,
    ) {
        let made = || Transport::new((entry.build)(&params).unwrap(), rtt.map(Duration::from_millis), selective);
        let (mut transport, mut twin) = (made(), made());
        let mut copy = None;
        for (number, op) in ops.iter().enumerate() {
            if number == fork {
                copy = Some(transport.clone());
            }
            transport.apply(*op);
            twin.apply(*op);
            // draft-ietf-ccwg-bbr: MinPipeCwnd.
            transport.check(*op, if entry.name == "bbr" { 4.0 } else { 1.0 });
            prop_assert_eq!(transport.outputs(), twin.outputs(), "{}: {:?}", entry.name, op);
        }
        if let Some(mut copy) = copy {
            // The copy has not changed with the original, and behaves the same from there on.
            for op in &ops[fork..] {
                copy.apply(*op);
            }
            prop_assert_eq!(copy.outputs(), transport.outputs(), "{}", entry.name);
        }
    }
}
