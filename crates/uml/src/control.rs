//! Congestion controls of the laboratory in the TCP of a guest.
//!
//! The kernel's control `ackclock` (`ackclock_control.c`) tells each event of a connection; a [`ControlSeat`] tells the control and reads
//! window, threshold and pacing rate, which apply at the same nanosecond.
//!
//! ## What the kernel's interface does not carry
//! - Windows in fractions: the kernel gets whole segments; the control keeps the fraction.
//! - In recovery, the kernel reduces the window (proportional rate reduction, RFC 9937) towards what the control answered, unless the control
//!   owns recovery or paces: then its window applies at every ACK.
//! - Sent segments. Those of the first flight, which a control may pace, are told at the next event, as if they left then. Lost ones
//!   are counted: the control is told of each at the next event, with the state of the connection after the ACK that preceded the
//!   segments now delivered, and with positions from the first missing byte on.
//! - An ACK in recovery, or one at which the window may not grow, is told before the next event of the connection.
//! - Timers: a control's timer is due at the next event after its time.
//! - The first flight: the kernel sends it at once.

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::cc::CongestionControl;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Lost, MarkCount, RateSample, Sent, Snapshot, Totals};
use ackclock_core::units::{Bytes, Duration, Instant, Rate};
use ackclock_host::{ControlSeat, Growth, Restart, SeatRules, Side};
use ackclock_kernel::{KernelControl, Plan};
use ackclock_sim::engine::{RunError, control};
use ackclock_sim::scenario::Scenario;

use crate::joint::{Answer, Call, Event, socket};

/// Bytes of IPv4 and TCP headers with timestamps.
const HEADER: u64 = 52;
/// Smallest threshold in segments (RFC 5681 §3.1).
const LEAST: f64 = 2.0;
/// State of recovery after a timeout (`TCP_CA_Loss`), and the first in which the kernel reduces the window (`TCP_CA_CWR`).
const LOSS: u32 = 4;
const REDUCES: u32 = 2;

/// The controls of a guest, by the numbers of their sockets.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    /// The kernel's time at the start of the run.
    origin: u64,
    seats: BTreeMap<u32, Seat>,
}

impl Controls {
    /// The controls of the flows that decide outside the kernel.
    ///
    /// # Errors
    /// If a part does not take its parameters.
    pub(crate) fn of(scenario: &Scenario, plan: &Plan) -> Result<Self, RunError> {
        let outside =
            plan.flows.iter().enumerate().filter(|(_, flow)| flow.as_ref().is_some_and(|flow| flow.control == KernelControl::Outside));
        let seat = |(flow, _): (usize, _)| {
            let spec = &scenario.flows[flow];
            // The seed of a sender in the engine.
            let seed = scenario.seed.rotate_left(32) ^ (2 * flow as u64);
            Ok((socket(flow, Side::Sender), Seat::new(control(&spec.control, spec.initial_ssthresh)?, seed)))
        };
        Ok(Self { origin: 0, seats: outside.map(seat).collect::<Result<_, _>>()? })
    }

    /// The run starts at `origin`, in the kernel's time.
    pub(crate) fn start(&mut self, origin: u64) {
        self.origin = origin;
    }

    /// The kernel's control that asks for the decisions of a socket's.
    pub(crate) fn name(&self, socket: u32) -> &'static str {
        if self.seats.get(&socket).is_some_and(|seat| seat.alone) { "ackclock_all" } else { "ackclock" }
    }

    pub(crate) fn answer(&mut self, call: &Call) -> Answer {
        let now = Instant::from_nanos(call.now.saturating_sub(self.origin));
        self.seats.get_mut(&call.socket).map_or_else(Answer::default, |seat| seat.answer(now, self.origin, call))
    }
}

/// What the kernel had delivered and lost after an ACK.
#[derive(Clone, Copy, Debug)]
struct Past {
    delivered: u32,
    lost: u32,
    inflight: u32,
}

#[derive(Debug)]
struct Seat {
    control: ControlSeat,
    /// Whether the control decides at every ACK.
    alone: bool,
    seed: u64,
    smss: u64,
    /// The last sequence numbers, and the positions for which they stand.
    sequence: (u32, u32),
    una: u64,
    nxt: u64,
    delivered: u32,
    delivered_ce: u32,
    lost: u32,
    /// Lost segments of which the control was told.
    told: u32,
    round: u64,
    round_end: u64,
    /// State of recovery (`enum tcp_ca_state`).
    state: u32,
    /// Whether the kernel has had a pacing rate.
    paced: bool,
    /// The end of the first flight, and how far the control was told of it.
    first: u64,
    opened: u64,
    past: VecDeque<Past>,
}

impl Seat {
    fn new(control: Box<dyn CongestionControl>, seed: u64) -> Self {
        let rules = SeatRules { whole_segments: true, growth: Growth::Flight, abc_limit: f64::INFINITY, ..SeatRules::new(1460) };
        Self {
            alone: control.owns_recovery() || control.paces(),
            control: ControlSeat::new(&rules, control),
            seed,
            smss: 1460,
            sequence: (0, 0),
            una: 0,
            nxt: 0,
            delivered: 0,
            delivered_ce: 0,
            lost: 0,
            told: 0,
            round: 0,
            round_end: 0,
            state: 0,
            paced: false,
            first: 0,
            opened: 0,
            past: VecDeque::new(),
        }
    }

    fn answer(&mut self, now: Instant, origin: u64, call: &Call) -> Answer {
        self.una += u64::from(call.una.wrapping_sub(self.sequence.0));
        self.nxt += u64::from(call.nxt.wrapping_sub(self.sequence.1));
        self.sequence = (call.una, call.nxt);
        if call.event != Event::Begin {
            self.control.handle_timeout(now);
            self.open(now);
            self.follow(call);
            self.tell_losses(now, call);
        }
        match call.event {
            Event::Begin => self.begin(now, call),
            Event::Ack => self.acknowledge(now, origin, call),
            Event::Congestion => self.reduce(now, call),
            Event::Recovery => self.change_state(now, call.cause),
            Event::Recovered => {
                self.control.end_recovery(now);
                self.window()
            }
            Event::Spurious => {
                self.control.restore(now);
                Answer { result: self.whole_window().max(call.cwnd), ..Answer::default() }
            }
            Event::Transmit => {
                self.transmit(now, call);
                if self.state < REDUCES { self.window() } else { Answer::default() }
            }
        }
    }

    /// Tells of the segments of the first flight that have left.
    fn open(&mut self, now: Instant) {
        let until = self.nxt.min(self.first);
        while self.opened < until {
            self.opened += self.smss;
            let sent = Sent::new(now, self.smss).with(|sent| {
                sent.flight_size = (self.opened / self.smss) as u32;
                sent.inflight = self.opened;
                sent.snd_nxt = self.opened;
                sent.total = self.totals();
            });
            self.control.send(&sent, self.opened);
        }
    }

    /// The kernel itself shrinks a window that the application has not used.
    fn follow(&mut self, call: &Call) {
        if self.state < REDUCES && call.cwnd < self.whole_window() {
            self.control.deflate_to(f64::from(call.cwnd));
        }
    }

    fn begin(&mut self, now: Instant, call: &Call) -> Answer {
        (self.smss, self.una, self.nxt) = (u64::from(call.mss), 0, 0);
        (self.delivered, self.delivered_ce, self.lost, self.told) = (call.delivered, call.delivered_ce, call.lost, call.lost);
        self.control.agree(self.smss);
        let event = Established::new(now, Bytes(self.smss)).with(|event| {
            event.rtt = micros(call.srtt);
            event.selective = true;
            event.header = Bytes(HEADER);
            event.seed = self.seed;
            event.whole_segments = true;
        });
        self.control.establish(&event, (0, self.smss));
        (self.first, self.opened) = (u64::from(self.whole_window()) * self.smss, 0);
        self.window()
    }

    fn tell_losses(&mut self, now: Instant, call: &Call) {
        for _ in 0..call.lost.wrapping_sub(self.told) {
            self.told = self.told.wrapping_add(1);
            let start = self.una;
            let packet = self.past.front().map(|past| self.snapshot(past, now, now));
            let total = self.totals().with(|total| total.lost = self.bytes(self.told));
            self.control.on_lost(&Lost::new(now, start, start + self.smss).with(|lost| {
                lost.packet = packet;
                lost.inflight = self.bytes(call.inflight);
                lost.total = total;
            }));
        }
    }

    /// What the control learns of a packet that was sent after `past`.
    fn snapshot(&self, past: &Past, sent_at: Instant, delivered_at: Instant) -> Snapshot {
        Snapshot::new(sent_at).with(|packet| {
            packet.delivered = self.bytes(past.delivered);
            packet.delivered_at = delivered_at;
            packet.first_sent = sent_at;
            packet.lost = self.bytes(past.lost);
            packet.inflight = self.bytes(past.inflight + 1);
        })
    }

    fn whole_window(&self) -> u32 {
        self.control.window().cwnd.floor().max(1.0) as u32
    }

    /// Window, threshold and pacing rate for the kernel.
    fn window(&mut self) -> Answer {
        let ssthresh = self.control.window().ssthresh;
        let cwnd = u64::from(self.whole_window()) * self.smss;
        let pacing = if self.control.paces() { self.control.pacing(cwnd, None) } else { None };
        // The kernel paces at the last rate until it gets another one, so a start-up that is over must lift it.
        let lifted = if self.paced { Some(u64::MAX) } else { None };
        self.paced |= pacing.is_some();
        Answer {
            cwnd: Some(self.whole_window()),
            // A control that decides alone has no use for the kernel's threshold.
            ssthresh: (ssthresh.is_finite() && !self.alone).then(|| ssthresh.floor().max(LEAST) as u32),
            pacing: pacing.map(|(rate, _)| (rate.as_bits_per_sec() / 8).max(1)).or(lifted),
            result: 0,
        }
    }

    fn bytes(&self, segments: u32) -> u64 {
        u64::from(segments) * self.smss
    }

    fn acknowledge(&mut self, now: Instant, origin: u64, call: &Call) -> Answer {
        let [delivered, marked, lost] = [(call.delivered, self.delivered), (call.delivered_ce, self.delivered_ce), (call.lost, self.lost)]
            .map(|(now, before)| self.bytes(now.wrapping_sub(before)));
        (self.delivered, self.delivered_ce, self.lost) = (call.delivered, call.delivered_ce, call.lost);
        if self.una > self.round_end {
            (self.round, self.round_end) = (self.round + 1, self.nxt);
        }
        let rtt = micros(call.rtt);
        self.control.note_rtt(rtt);
        let sample = self.sample(now, origin, call);
        let inflight = self.bytes(call.inflight);
        let ack = Ack::new(now, call.acked, Bytes(self.smss)).with(|ack| {
            ack.now = now;
            ack.acked = call.acked;
            ack.counted = f64::from(call.acked);
            ack.may_grow = call.grows;
            ack.cwnd_limited = call.limited;
            ack.flight_size = call.flight;
            ack.delivered = delivered;
            ack.marked = marked;
            ack.lost = lost;
            ack.inflight_before = if call.prior_inflight > 0 { self.bytes(call.prior_inflight) } else { inflight + delivered + lost };
            ack.inflight = inflight;
            ack.snd_una = self.una;
            ack.snd_nxt = self.nxt;
            ack.total = self.totals();
            ack.sample = sample;
            ack.rtt = rtt;
            ack.srtt = micros(call.srtt);
            ack.min_rtt = micros(call.min_rtt);
            ack.round = self.round;
            ack.ecn_echo = call.echo;
            ack.mark_count = MarkCount::AtMost;
        });
        if call.rate_delivered < 0 {
            // Without samples nothing else shortens the list.
            self.past.clear();
        }
        self.past.push_back(Past { delivered: call.delivered, lost: call.lost, inflight: call.inflight });
        self.control.acknowledge(self.una);
        self.control.on_ack(&ack);
        if call.flight == 0 {
            self.control.begin_idle(now);
        }
        if call.grows || self.alone { self.window() } else { Answer::default() }
    }

    fn totals(&self) -> Totals {
        // Each lost segment is sent again.
        let (delivered, lost) = (self.bytes(self.delivered), self.bytes(self.lost));
        Totals::new(self.nxt + lost, delivered, lost)
    }

    /// The kernel's rate sample. What it does not keep, losses and flight when the packet was sent, is that after the ACK before.
    fn sample(&mut self, now: Instant, origin: u64, call: &Call) -> Option<RateSample> {
        let delivered = u32::try_from(call.rate_delivered).ok()?;
        let before = call.rate_prior_delivered;
        while self.past.len() > 1 && before.wrapping_sub(self.past[1].delivered).cast_signed() >= 0 {
            self.past.pop_front();
        }
        let past = self
            .past
            .front()
            .map_or(Past { delivered: before, lost: 0, inflight: call.inflight }, |past| Past { delivered: before, ..*past });
        let interval = Duration::from_nanos(u64::from(call.rate_interval) * 1000);
        let delivered_at = Instant::from_nanos((call.rate_prior * 1000).saturating_sub(origin));
        let sent_at = micros(call.rtt).map_or(delivered_at, |rtt| Instant::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())));
        let bits = self.bytes(delivered) as f64 * 8.0 / interval.as_secs_f64();
        Some(
            RateSample::new(
                self.snapshot(&past, sent_at, delivered_at).with(|packet| packet.app_limited = call.rate_app_limited),
                self.bytes(delivered),
                interval,
            )
            .with(|sample| sample.rate = Rate::from_bits_per_sec(bits as u64)),
        )
    }

    fn reduce(&mut self, now: Instant, call: &Call) -> Answer {
        let cause = match call.cause {
            1 => Cause::Timeout,
            2 => Cause::EcnCe,
            _ => Cause::DupAck,
        };
        let event = CongestionEvent::new(now, cause, f64::from(call.cwnd)).with(|event| {
            event.flight_size = call.flight;
            event.inflight = self.bytes(call.inflight);
            (event.snd_una, event.snd_nxt) = (self.una, self.nxt);
            event.least = if cause == Cause::Timeout { 1.0 } else { LEAST };
            event.min_rtt = micros(call.min_rtt);
        });
        self.control.reduce(&event, self.una.max(1));
        let window = self.control.window();
        // To this the kernel reduces the window; after a timeout it is the threshold of the restart.
        let result = if cause == Cause::Timeout { window.ssthresh } else { window.cwnd };
        Answer { result: result.floor().max(LEAST) as u32, ..Answer::default() }
    }

    fn change_state(&mut self, now: Instant, state: u32) -> Answer {
        let before = std::mem::replace(&mut self.state, state);
        if before == LOSS && state < REDUCES {
            self.control.end_recovery(now);
        }
        Answer::default()
    }

    /// The first segment after an idle time.
    fn transmit(&mut self, now: Instant, call: &Call) {
        if self.control.is_idle() {
            self.control.end_idle(now, Restart::No);
        }
        let sent = Sent::new(now, self.smss).with(|sent| {
            sent.flight_size = call.flight.max(1);
            sent.inflight = self.smss;
            sent.snd_nxt = self.nxt;
            sent.total = self.totals();
            sent.app_limited = true;
        });
        self.control.send(&sent, self.nxt);
        // It is of the first flight, until that has left.
        self.opened += self.smss;
    }
}

fn micros(count: i32) -> Option<Duration> {
    u64::try_from(count).ok().map(|count| Duration::from_nanos(1000 * count))
}
