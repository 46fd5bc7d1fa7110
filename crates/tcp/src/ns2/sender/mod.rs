//! The sender: sends by its window and processes ACKs; a recovery decides what to send when segments are missing.
//!
//! The state has owners with private fields. A recovery sees the methods of [`State`] only.
//!
//! | file | content |
//! |---|---|
//! | `state` | the state, made of its owners |
//! | `sending` | sending by the window, processing of ACKs, reductions |
//! | `view` | what a recovery may read and change besides |
//! | `opening`, `marking`, `notices`, `delivery` | the initial window, ECN, drop notices, the facts for the control |
//! | `window` | owner: segment numbers, round trips |
//! | `timing`, `rto` | owners: timer and round-trip times, the estimator |
//! | `ledger` | owner: what the control learns of the segments |
//! | `episode` | owners: the latest congestion, ECN |

mod delivery;
mod episode;
mod ledger;
mod marking;
mod notices;
mod opening;
mod rto;
mod sending;
mod state;
mod timing;
mod view;
mod window;

use std::collections::BTreeMap;

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{Bulk, ControlSeat, Counters, Flight, Limit, LimitedTimes, Limits, Restart, SeatRules, SlowStartExit, Transmission};

use super::config::Config;
use super::packets::{Ack, Acknowledgement, Segment};
use super::recovery::Policy;
use episode::{Episode, Marking};
use ledger::Ledger;
use rto::RtoConfig;
use state::Setup;
pub(super) use state::{DUP_THRESH, Permit, State};
use timing::Timing;
use window::SendWindow;

/// Sender of one flow.
#[derive(Debug)]
pub(super) struct Sender {
    state: State,
    policy: Box<dyn Policy>,
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
                state.seat.end_idle(now, Restart::No);
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

    /// What is in flight, for traces.
    pub(super) fn flight(&self) -> Flight {
        // The window counts segments: such a host paces by the control's rate, if at all.
        self.state.seat.flight(self.state.inflight(), 0, None)
    }

    /// From now on, [`Self::next_lost`] tells the segments deemed lost.
    pub(super) fn keep_lost(&mut self) {
        self.state.seat.keep_lost();
    }

    /// The next segment that was deemed lost.
    pub(super) fn next_lost(&mut self) -> Option<u32> {
        self.state.seat.next_lost().map(|position| (position / self.state.setup.smss.0) as u32 + 1)
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
