//! The sender of host profile `ns2`: the packet-counting one-way TCP of ns-2.35.
//!
//! Segment 0 is the SYN, data segments count from 1, and the cumulative ACK is the next expected number. The scenario chooses the loss
//! [`Recovery`] and the congestion control independently.
//!
//! ## References
//! ns-2.35's Tahoe, Reno, Newreno, Sack1 and Vegas agents, inferred from their runs; RFC 5681, RFC 6582, RFC 3517, RFC 3042.

mod blocks;
mod config;
mod connection;
mod delivery;
mod marking;
mod notices;
mod opening;
mod receiver;
mod recovery;
mod rto;
mod scoreboard;
mod state;

use std::collections::BTreeMap;

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::Cause;
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant, Segments};
use ackclock_host::{Bulk, ControlSeat, Counters, Limit, LimitedTimes, Limits, SeatRules, SlowStartExit, Transmission};

pub use blocks::SackBlocks;
pub use config::{Config, Recovery};
pub use connection::Connection;
use delivery::{Ledger, Sampling};
use marking::Marking;
use receiver::Acknowledgement;
pub use recovery::AXIS as RECOVERY;
use recovery::Policy;
use rto::{Rto, RtoConfig};

/// Duplicate ACKs that indicate a loss (RFC 5681 §3.2).
const DUP_THRESH: u32 = 3;

/// How much the sender may transmit after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    /// Nothing.
    None,
    /// One new segment beyond the window (RFC 3042).
    LimitedTransmit,
    /// As much as the window allows, but at most this many segments.
    Window(u32),
    /// As much as the pipe allows (SACK recovery).
    Pipe,
}

/// The segment that measures the round-trip time.
#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u32,
    sent: Instant,
}

/// Sender of one flow.
#[derive(Debug)]
struct Sender {
    state: State,
    policy: Box<dyn Policy>,
}

/// The sender's state, shared by all recovery policies.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent setting")]
struct State {
    seat: ControlSeat,
    /// First unacknowledged segment.
    snd_una: u32,
    /// Next segment to send.
    snd_nxt: u32,
    /// One past the highest segment sent.
    snd_max: u32,
    /// Receiver's window.
    rwnd: u32,
    dupacks: u32,
    /// Inflation of the window by duplicate ACKs (Reno, NewReno).
    inflation: u32,
    /// One past the highest segment sent when congestion was last detected.
    recovery_point: u32,
    /// The latest sign of congestion since the last full recovery.
    last_cause: Option<Cause>,
    /// A segment to send before all others.
    retransmit: Option<u32>,
    permit: Permit,
    limited_transmit: bool,
    ecn: Marking,
    rto: Rto,
    deadline: Option<Instant>,
    timed: Option<Timed>,
    /// Outstanding retransmitted segments, with the time of their latest transmission.
    resent: BTreeMap<u32, Instant>,
    latest_rtt: Option<Duration>,
    min_rtt: Option<Duration>,
    /// Number of round trips so far.
    round: u64,
    /// Segment whose ACK ends the current round trip.
    round_end: u32,
    bulk: Bulk,
    /// Window after a timeout.
    loss_window: Segments,
    lost_syns: u32,
    /// Seeds the control's random decisions.
    seed: u64,
    smss: Bytes,
    data_size: u16,
    syn_size: u16,
    counters: Counters,
    limits: Limits,
    ledger: Ledger,
    /// Whether the receiver sends SACK blocks.
    selective: bool,
    sampling: Option<Box<Sampling>>,
    /// When the pacer releases the segment that waits for it.
    held: Option<Instant>,
}

impl Sender {
    /// A sender that has not started.
    fn new(host: &Config, control: Box<dyn CongestionControl>, bulk: Bulk, seed: u64) -> Self {
        let rto = RtoConfig {
            granularity: host.clock_granularity,
            phase: host.clock_phase,
            min: host.min_rto,
            initial: host.initial_rto,
            max: host.max_rto,
        };
        let mut policy = host.recovery.build();
        policy.begin(host.rwnd);
        let sampling = control.wants_samples().then(Box::default);
        // ns-2 counts whole segments.
        let rules = SeatRules { whole_segments: true, initial_pacing: host.initial_pacing, ..SeatRules::new(host.packet_size.0) };
        let mut seat = ControlSeat::new(&rules, control);
        seat.refresh();
        let state = State {
            seat,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            rwnd: host.rwnd,
            dupacks: 0,
            inflation: 0,
            loss_window: policy.loss_window(),
            recovery_point: 1,
            last_cause: None,
            retransmit: None,
            permit: Permit::None,
            limited_transmit: host.limited_transmit,
            ecn: Marking::new(host.ecn),
            rto: Rto::new(rto),
            deadline: Some(bulk.start),
            timed: None,
            resent: BTreeMap::new(),
            latest_rtt: None,
            min_rtt: None,
            round: 0,
            round_end: 0,
            bulk,
            lost_syns: 0,
            seed,
            smss: host.packet_size,
            data_size: host.wire_size(),
            syn_size: host.syn_size(),
            counters: Counters::default(),
            limits: Limits::default(),
            ledger: Ledger::default(),
            selective: policy.uses_sack(),
            sampling,
            held: None,
        };
        Self { state, policy }
    }

    /// Receives an ACK. [`Sender::poll_transmit`] then returns the segments to send.
    fn handle_ack(&mut self, now: Instant, arrived: &Acknowledgement) {
        let state = &mut self.state;
        state.permit = Permit::None;
        let rtt = now.since(arrived.echo);
        state.latest_rtt = Some(rtt);
        state.min_rtt = Some(state.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let ack = Ack { seq: arrived.seq, rtt: Some(rtt), sack: &arrived.sack, ecn_echo: arrived.ecn_echo };
        if ack.ecn_echo {
            state.handle_mark(now, ack.seq);
        }
        self.policy.handle_ack(state, now, &ack);
        state.seat.acknowledge(u64::from(state.snd_una));
    }

    /// The flow starts, or a timer has expired.
    fn handle_timeout(&mut self, now: Instant) {
        let state = &mut self.state;
        if state.snd_max == 0 {
            state.permit = Permit::Window(u32::MAX);
            return;
        }
        if state.handle_first_flight_timer(now) || state.handle_pacing_timer(now, self.policy.permit()) {
            return;
        }
        self.policy.on_timeout(state, now);
        if state.snd_una == state.snd_max && !self.policy.expires_when_idle() {
            state.wake();
        } else {
            state.expire(now);
        }
    }

    /// The application adds `packets` to its data. [`Sender::poll_transmit`] then returns the segments to send.
    fn offer(&mut self, packets: u64) {
        self.state.bulk.offer(packets);
        self.state.supply_first_flight();
        self.state.permit = self.policy.permit();
    }

    /// The next packet to send, if any.
    fn poll_transmit(&mut self, now: Instant) -> Option<(Segment, Transmission)> {
        let seq = self.next(now)?;
        self.policy.on_sent(now, seq);
        let transmission = if seq < self.state.snd_max { Transmission::Retransmission } else { Transmission::New };
        Some((self.state.output(now, seq), transmission))
    }

    fn next(&mut self, now: Instant) -> Option<u32> {
        let state = &mut self.state;
        if let Some(seq) = state.retransmit.take() {
            return Some(seq);
        }
        if state.permit != Permit::None && state.seat.next_of_pacer() > now {
            state.held = Some(state.seat.next_of_pacer());
            state.limits.note(now, Limit::CongestionWindow);
            return None;
        }
        match state.permit {
            Permit::None => None,
            Permit::Pipe => self.policy.next_by_pipe(state, now),
            Permit::LimitedTransmit => {
                state.permit = Permit::None;
                state.next_by_limited_transmit(now)
            }
            Permit::Window(left) => {
                state.permit = if left > 1 { Permit::Window(left - 1) } else { Permit::None };
                state.next_by_window(now)
            }
        }
    }

    /// When [`Sender::handle_timeout`] is due.
    fn poll_timeout(&self) -> Option<Instant> {
        self.state.next_deadline()
    }

    /// The congestion window and threshold.
    fn window(&self) -> Window {
        self.state.seat.window()
    }

    /// The congestion control; traces record its quantities.
    fn control(&self) -> &dyn CongestionControl {
        self.state.seat.control()
    }

    /// Smoothed round-trip time and retransmission timeout.
    fn timing(&self) -> (Option<Duration>, Duration) {
        (self.state.rto.srtt(), self.state.rto.timeout())
    }

    fn counters(&self) -> Counters {
        Counters { cwnd_max: self.state.seat.largest(), ..self.state.counters }
    }

    /// How long each limit has held back the sender.
    fn limited(&self, end: Instant) -> Option<LimitedTimes> {
        self.state.limits.times(end)
    }

    /// The window at the end of the handshake.
    fn initial_window(&self) -> Option<Segments> {
        self.state.seat.initial_window()
    }

    /// How the first slow start ended.
    fn slow_start_exit(&self) -> &SlowStartExit {
        self.state.seat.exit()
    }

    /// The latest round-trip time sample.
    fn latest_rtt(&self) -> Option<Duration> {
        self.state.latest_rtt
    }

    /// Minimum round-trip time.
    fn min_rtt(&self) -> Option<Duration> {
        self.state.min_rtt
    }
}

/// A packet of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    seq: u32,
    /// Bytes with headers.
    size: u16,
    sent: Instant,
    ecn: Ecn,
    /// Whether the window has been reduced (CWR); on the SYN, whether it requests ECN.
    cwr: bool,
}

/// An ACK, as passed to the recovery policies.
struct Ack<'a> {
    seq: u32,
    /// Round-trip time, if it was measured.
    rtt: Option<Duration>,
    sack: &'a SackBlocks,
    /// Whether the ACK echoes a mark (ECE).
    ecn_echo: bool,
}
