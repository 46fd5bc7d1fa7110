//! The sender: sends by its window and processes ACKs; a recovery decides what to send when segments are missing.
//!
//! The state has owners with private fields. A recovery sees the methods of [`State`] only.
//!
//! | file | content |
//! |---|---|
//! | `state` | sending by the window, processing of ACKs, reductions |
//! | `view` | what a recovery may read and change besides |
//! | `opening`, `marking`, `notices`, `delivery` | the initial window, ECN, drop notices, the facts for the control |
//! | `window` | owner: segment numbers, round trips |
//! | `timing`, `rto` | owners: timer and round-trip times, the estimator |
//! | `episode` | owner: the latest congestion |

mod delivery;
mod episode;
mod marking;
mod notices;
mod opening;
mod rto;
mod state;
mod timing;
mod view;
mod window;

use std::collections::BTreeMap;

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant, Segments};
use ackclock_host::{Bulk, ControlSeat, Counters, Limit, LimitedTimes, Limits, SeatRules, SlowStartExit, Transmission};

use super::blocks::SackBlocks;
use super::config::Config;
use super::receiver::Acknowledgement;
use super::recovery::Policy;
use delivery::{Ledger, Sampling};
use episode::Episode;
use marking::Marking;
use rto::RtoConfig;
use timing::Timing;
use window::SendWindow;

/// Duplicate ACKs that indicate a loss (RFC 5681 §3.2).
pub(super) const DUP_THRESH: u32 = 3;

/// How much the sender may transmit after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Permit {
    /// Nothing.
    None,
    /// One new segment beyond the window (RFC 3042).
    LimitedTransmit,
    /// As much as the window allows, but at most this many segments.
    Window(u32),
    /// As much as the pipe allows (SACK recovery).
    Pipe,
}

/// Sender of one flow.
#[derive(Debug)]
pub(super) struct Sender {
    state: State,
    policy: Box<dyn Policy>,
}

/// The settings of a connection.
#[derive(Clone, Copy, Debug)]
struct Setup {
    limited_transmit: bool,
    /// Window after a timeout.
    loss_window: Segments,
    /// Whether the receiver sends SACK blocks.
    selective: bool,
    /// Seeds the control's random decisions.
    seed: u64,
    smss: Bytes,
    data_size: u16,
    syn_size: u16,
}

/// The sender's state, shared by all recovery policies.
#[derive(Debug)]
pub(super) struct State {
    seat: ControlSeat,
    window: SendWindow,
    timing: Timing,
    episode: Episode,
    ecn: Marking,
    ledger: Ledger,
    sampling: Option<Box<Sampling>>,
    setup: Setup,
    bulk: Bulk,
    counters: Counters,
    limits: Limits,
    /// How much may be sent.
    permit: Permit,
    /// A segment to send before all others.
    retransmit: Option<u32>,
    dupacks: u32,
    /// Inflation of the window by duplicate ACKs (Reno, NewReno).
    inflation: u32,
    /// Outstanding retransmitted segments, with the time of their latest transmission.
    resent: BTreeMap<u32, Instant>,
    lost_syns: u32,
    /// When the pacer releases the segment that waits for it.
    held: Option<Instant>,
}

impl Sender {
    /// A sender that has not started.
    pub(super) fn new(host: &Config, control: Box<dyn CongestionControl>, bulk: Bulk, seed: u64) -> Self {
        let rto = RtoConfig {
            granularity: host.clock_granularity,
            phase: host.clock_phase,
            min: host.min_rto,
            initial: host.initial_rto,
            max: host.max_rto,
        };
        let mut policy = host.recovery.build();
        policy.begin(host.rwnd);
        let wants = control.wants();
        let sampling = (wants.samples || wants.deliveries).then(Box::default);
        // ns-2 counts whole segments.
        let rules = SeatRules { whole_segments: true, initial_pacing: host.initial_pacing, ..SeatRules::new(host.packet_size.0) };
        let mut seat = ControlSeat::new(&rules, control);
        seat.refresh();
        let setup = Setup {
            limited_transmit: host.limited_transmit,
            loss_window: policy.loss_window(),
            selective: policy.uses_sack(),
            seed,
            smss: host.packet_size,
            data_size: host.wire_size(),
            syn_size: host.syn_size(),
        };
        let state = State {
            seat,
            window: SendWindow::new(host.rwnd),
            timing: Timing::new(rto, bulk.start),
            episode: Episode::new(),
            ecn: Marking::new(host.ecn),
            ledger: Ledger::default(),
            sampling,
            setup,
            bulk,
            counters: Counters::default(),
            limits: Limits::default(),
            permit: Permit::None,
            retransmit: None,
            dupacks: 0,
            inflation: 0,
            resent: BTreeMap::new(),
            lost_syns: 0,
            held: None,
        };
        Self { state, policy }
    }

    /// Receives an ACK; `delay`: the one-way delay, if its options show it. [`Sender::poll_transmit`] then returns the segments to send.
    pub(super) fn handle_ack(&mut self, now: Instant, arrived: &Acknowledgement, delay: Option<Duration>) {
        let state = &mut self.state;
        state.permit = Permit::None;
        let rtt = now.since(arrived.echo);
        state.timing.note(rtt);
        let ack = Ack { seq: arrived.seq, rtt: Some(rtt), delay, sack: &arrived.sack, ecn_echo: arrived.ecn_echo };
        if ack.ecn_echo {
            state.handle_mark(now, ack.seq);
        }
        self.policy.handle_ack(state, now, &ack);
        state.seat.acknowledge(u64::from(state.window.una()));
    }

    /// The flow starts, or a timer has expired.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let state = &mut self.state;
        if state.window.max() == 0 {
            state.permit = Permit::Window(u32::MAX);
            return;
        }
        if state.handle_first_flight_timer(now) || state.handle_pacing_timer(now, self.policy.permit()) {
            return;
        }
        self.policy.on_timeout(state, now);
        if state.window.una() == state.window.max() && !self.policy.expires_when_idle() {
            state.wake();
        } else {
            state.expire(now);
        }
    }

    /// The application adds `packets` to its data. [`Sender::poll_transmit`] then returns the segments to send.
    pub(super) fn offer(&mut self, packets: u64) {
        self.state.bulk.offer(packets);
        self.state.supply_first_flight();
        self.state.permit = self.policy.permit();
    }

    /// The next packet to send, if any.
    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<(Segment, Transmission)> {
        let seq = self.next(now)?;
        self.policy.on_sent(now, seq);
        let transmission = if seq < self.state.window.max() { Transmission::Retransmission } else { Transmission::New };
        Some((self.state.output(now, seq), transmission))
    }

    fn next(&mut self, now: Instant) -> Option<u32> {
        let state = &mut self.state;
        if let Some(seq) = state.retransmit.take() {
            return Some(seq);
        }
        if state.permit != Permit::None && state.seat.next_of_pacer() > now {
            if state.seat.is_idle() && state.is_available(now) {
                state.seat.end_idle(now, false);
            }
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
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.state.next_deadline()
    }

    /// The congestion window and threshold.
    pub(super) fn window(&self) -> Window {
        self.state.seat.window()
    }

    /// The congestion control; traces record its quantities.
    pub(super) fn control(&self) -> &dyn CongestionControl {
        self.state.seat.control()
    }

    /// Smoothed round-trip time and retransmission timeout.
    pub(super) fn timing(&self) -> (Option<Duration>, Duration) {
        (self.state.timing.srtt(), self.state.timing.timeout())
    }

    pub(super) fn counters(&self) -> Counters {
        Counters { cwnd_max: self.state.seat.largest(), ..self.state.counters }
    }

    /// How long each limit has held back the sender.
    pub(super) fn limited(&self, end: Instant) -> Option<LimitedTimes> {
        self.state.limits.times(end)
    }

    /// The window at the end of the handshake.
    pub(super) fn initial_window(&self) -> Option<Segments> {
        self.state.seat.initial_window()
    }

    /// How the first slow start ended.
    pub(super) fn slow_start_exit(&self) -> &SlowStartExit {
        self.state.seat.exit()
    }

    /// The latest round-trip time sample.
    pub(super) fn latest_rtt(&self) -> Option<Duration> {
        self.state.timing.latest()
    }

    /// Minimum round-trip time.
    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.state.timing.least()
    }
}

/// A packet of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) seq: u32,
    /// Bytes with headers.
    pub(super) size: u16,
    pub(super) sent: Instant,
    pub(super) ecn: Ecn,
    /// Whether the window has been reduced (CWR); on the SYN, whether it requests ECN.
    pub(super) cwr: bool,
}

/// An ACK, as passed to the recovery policies.
pub(super) struct Ack<'a> {
    pub(super) seq: u32,
    /// Round-trip time, if it was measured.
    pub(super) rtt: Option<Duration>,
    /// One-way delay, if the control wants it.
    pub(super) delay: Option<Duration>,
    pub(super) sack: &'a SackBlocks,
    /// Whether the ACK echoes a mark (ECE).
    pub(super) ecn_echo: bool,
}
