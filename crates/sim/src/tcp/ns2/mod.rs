//! The sender of host profile `ns2`: the packet-counting one-way TCP of ns-2.35.
//!
//! Segment 0 is the SYN, data segments count from 1, and the cumulative ACK is the next expected number. Loss recovery is one of
//! [`Recovery`]; the congestion control is whatever the scenario composed.
//!
//! ## References
//! ns-2.35's Tahoe, Reno, Newreno and Sack1 agents, read off their runs; RFC 5681, RFC 6582, RFC 3517, RFC 3042.

mod marking;
mod notices;
mod opening;
mod recovery;
mod reno;
mod sack;
mod slow_start_exit;
mod tahoe;
mod vegas;

use std::collections::BTreeMap;

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Sent};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant, Segments};

use crate::app::Bulk;
use crate::scenario::{Ns2Host, Recovery};
use crate::tcp::first_flight::FirstFlight;
use crate::tcp::packet::{Packet, SackBlocks};
use crate::tcp::rto::{Rto, RtoConfig};

use marking::Marking;
use recovery::Policy;
pub use slow_start_exit::{ExitReason, SlowStartExit};

/// Duplicate ACKs that mean loss (RFC 5681 §3.2).
const DUP_THRESH: u32 = 3;

/// How much an event lets the sender transmit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permit {
    /// Nothing.
    None,
    /// One new segment beyond the window (RFC 3042).
    LimitedTransmit,
    /// What the window allows, at most so many segments.
    Window(u32),
    /// What the pipe allows (SACK recovery).
    Pipe,
}

/// What the sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Packets sent, the SYN and retransmissions included.
    pub(crate) sent: u64,
    /// Packets sent again.
    pub(crate) retransmitted: u64,
    /// Expired retransmission timers.
    pub(crate) timeouts: u64,
    /// Reductions of the window, by duplicate ACKs or timeouts.
    pub(crate) reductions: u64,
    /// Largest congestion window.
    pub(crate) cwnd_max: Segments,
}

/// The segment that is being timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u32,
    sent: Instant,
}

/// Sender of one flow.
#[derive(Debug)]
pub(crate) struct Sender {
    state: State,
    policy: Policy,
}

/// What every recovery policy works on.
#[derive(Debug)]
struct State {
    control: Box<dyn CongestionControl>,
    /// The control's window, read once after each event.
    window: Window,
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
    /// What is missing to the control's smallest window (Vegas after two losses: nothing may go until the timer expires).
    shortfall: Segments,
    /// One past the highest segment sent when loss was last noticed.
    recovery_point: u32,
    /// The last sign of congestion since the last full recovery.
    last_cause: Option<Cause>,
    /// A segment to send before all others.
    retransmit: Option<u32>,
    permit: Permit,
    limited_transmit: bool,
    ecn: Marking,
    rto: Rto,
    deadline: Option<Instant>,
    timed: Option<Timed>,
    /// Outstanding segments that were sent again, and when they last were.
    resent: BTreeMap<u32, Instant>,
    min_rtt: Option<Duration>,
    /// Round trips, and the segment whose ACK ends the present one.
    round: u64,
    round_end: u32,
    bulk: Bulk,
    /// Window after a timeout.
    loss_window: Segments,
    syn_lost: bool,
    /// The first flight, until it is over and told of.
    first: Option<Box<FirstFlight>>,
    /// Whether it is spread over the round trip, whatever the initial window.
    initial_pacing: bool,
    /// The initial window that earlier connections to the peer arrived at.
    learned: Option<Segments>,
    smss: Bytes,
    data_size: u16,
    syn_size: u16,
    flow: u32,
    counters: Counters,
    exit: SlowStartExit,
}

impl Sender {
    /// A sender that has not started.
    pub(crate) fn new(flow: u32, host: &Ns2Host, control: Box<dyn CongestionControl>, bulk: Bulk) -> Self {
        let rto = RtoConfig {
            granularity: host.clock_granularity,
            phase: host.clock_phase,
            min: host.min_rto,
            initial: host.initial_rto,
            max: host.max_rto,
        };
        let window = control.window();
        let state = State {
            control,
            window,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            rwnd: host.rwnd,
            dupacks: 0,
            inflation: 0,
            shortfall: 0.0,
            loss_window: if host.recovery == Recovery::Vegas { vegas::LOSS_WINDOW } else { 1.0 },
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
            min_rtt: None,
            round: 0,
            round_end: 0,
            bulk,
            syn_lost: false,
            first: None,
            initial_pacing: host.initial_pacing,
            learned: None,
            smss: host.packet_size,
            data_size: host.wire_size(),
            syn_size: host.syn_size(),
            flow,
            counters: Counters { cwnd_max: window.cwnd, ..Counters::default() },
            exit: SlowStartExit::default(),
        };
        Self { state, policy: Policy::new(host) }
    }

    /// Takes an ACK. Then [`Sender::poll_transmit`] gives what to send.
    pub(crate) fn handle_segment(&mut self, now: Instant, packet: &Packet, sack: &SackBlocks) {
        let state = &mut self.state;
        state.permit = Permit::None;
        let rtt = now.since(packet.sent);
        state.min_rtt = Some(state.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let segment = Segment { seq: packet.seq, rtt: Some(rtt), sack, ecn_echo: packet.echo() };
        if segment.ecn_echo {
            state.hear_of_mark(now, segment.seq);
        }
        self.policy.handle_ack(state, now, &segment);
        if let Some(first) = &mut state.first {
            first.acknowledge(u64::from(state.snd_una));
        }
    }

    /// The start has come, or the retransmission timer has expired.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        let state = &mut self.state;
        if state.snd_max == 0 {
            state.permit = Permit::Window(u32::MAX);
            return;
        }
        if state.paces(now) {
            return;
        }
        self.policy.on_timeout(state);
        if state.snd_una == state.snd_max && state.shortfall == 0.0 {
            state.wake();
        } else {
            state.expire(now);
        }
    }

    /// The application has so many packets more. Then [`Sender::poll_transmit`] gives what to send.
    pub(crate) fn offer(&mut self, packets: u64) {
        self.state.bulk.offer(packets);
        self.state.permit = self.policy.permit();
    }

    /// The next packet to send, if there is one.
    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Packet> {
        let seq = self.next(now)?;
        self.policy.on_sent(now, seq);
        Some(self.state.output(now, seq))
    }

    fn next(&mut self, now: Instant) -> Option<u32> {
        let state = &mut self.state;
        if let Some(seq) = state.retransmit.take() {
            return Some(seq);
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
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.state.next_deadline()
    }

    /// The congestion window and threshold.
    pub(crate) fn window(&self) -> Window {
        self.state.window
    }

    /// The congestion control, for its own quantities.
    pub(crate) fn control(&self) -> &dyn CongestionControl {
        &*self.state.control
    }

    /// Smoothed round-trip time and retransmission timeout.
    pub(crate) fn timing(&self) -> (Option<Duration>, Duration) {
        (self.state.rto.srtt(), self.state.rto.timeout())
    }

    /// The counters.
    pub(crate) fn counters(&self) -> Counters {
        self.state.counters
    }

    /// How the first slow start ended.
    pub(crate) fn slow_start_exit(&self) -> &SlowStartExit {
        &self.state.exit
    }

    /// One past the highest segment sent.
    pub(crate) fn snd_max(&self) -> u32 {
        self.state.snd_max
    }

    /// Smallest round-trip time.
    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        self.state.min_rtt
    }
}

/// An ACK as the policies see it.
struct Segment<'a> {
    seq: u32,
    /// Round-trip time, where it was measured.
    rtt: Option<Duration>,
    sack: &'a SackBlocks,
    /// Whether it echoes a mark (ECE).
    ecn_echo: bool,
}

impl State {
    /// The window in force before it is cut to whole segments: inflated, and at most the receiver's.
    fn window_in_force(&self) -> Segments {
        (self.window.cwnd - self.shortfall + f64::from(self.inflation)).min(f64::from(self.rwnd))
    }

    /// Whether `snd_nxt` may be sent at all: it was sent before, or the application offers it.
    fn is_available(&self, now: Instant) -> bool {
        self.snd_nxt < self.snd_max || self.snd_nxt == 0 || self.bulk.offers(self.snd_nxt, now)
    }

    fn take_next(&mut self) -> u32 {
        let seq = self.snd_nxt;
        self.snd_nxt += 1;
        seq
    }

    fn next_by_window(&mut self, now: Instant) -> Option<u32> {
        let window = self.window_in_force() as u32;
        let fits = u64::from(self.snd_nxt) < u64::from(self.snd_una) + u64::from(window);
        let waits = self.first.as_ref().is_some_and(|first| first.holds(now));
        (fits && !waits && self.is_available(now)).then(|| self.take_next())
    }

    /// RFC 3042: one new segment for each of the first two duplicate ACKs, within the receiver's window.
    fn next_by_limited_transmit(&mut self, now: Instant) -> Option<u32> {
        let window = (self.window.cwnd + f64::from(self.dupacks)).min(f64::from(self.rwnd)) as u32;
        let fits = u64::from(self.snd_nxt) < u64::from(self.snd_una) + u64::from(window);
        (fits && self.is_available(now)).then(|| self.take_next())
    }

    /// Sends segment `seq`.
    fn output(&mut self, now: Instant, seq: u32) -> Packet {
        let nothing_outstanding = self.snd_una == self.snd_max;
        self.counters.sent += 1;
        let retransmission = seq < self.snd_max;
        if retransmission {
            self.counters.retransmitted += 1;
            self.resent.insert(seq, now);
        } else {
            self.snd_max = seq + 1;
            if let Some(first) = &mut self.first {
                first.send(now, u64::from(self.snd_max));
            }
            if self.timed.is_none() {
                self.timed = Some(Timed { seq, sent: now });
            }
        }
        if self.deadline.is_none() || nothing_outstanding {
            self.restart_timer(now);
        }
        self.control.on_sent(&Sent { now, flight_size: self.snd_max - self.snd_una, retransmission });
        if seq == 0 {
            // RFC 3168 §6.1.1: the SYN asks for ECN with its flags; it cannot be marked itself.
            return Packet::data(self.flow, seq, self.syn_size, now).with_echo(self.ecn.capable);
        }
        let mut packet = Packet::data(self.flow, seq, self.data_size, now);
        if self.ecn.capable {
            packet.set_ecn(Ecn::Capable);
            packet = packet.with_echo(std::mem::take(&mut self.ecn.reduced));
        }
        packet
    }

    fn restart_timer(&mut self, now: Instant) {
        self.deadline = Some(now + self.rto.timeout());
    }

    /// Resets the timer for a retransmission: no round trip can be measured any more (Karn).
    fn reset_timer(&mut self, now: Instant) {
        self.timed = None;
        self.restart_timer(now);
    }

    /// Moves the left edge of the window.
    fn advance(&mut self, seq: u32) {
        self.snd_una = seq;
        self.snd_nxt = self.snd_nxt.max(seq);
        if !self.resent.is_empty() {
            self.resent = self.resent.split_off(&seq);
        }
        if seq > self.round_end {
            self.round += 1;
            self.round_end = self.snd_max;
        }
    }

    /// A cumulative ACK outside recovery, or the one that ends it: moves the edge, measures, restarts the timer.
    fn acknowledge(&mut self, now: Instant, segment: &Segment<'_>) {
        let seq = segment.seq;
        self.dupacks = 0;
        self.advance(seq);
        self.ecn.at_one &= segment.ecn_echo;
        if let Some(timed) = self.timed.take_if(|timed| seq > timed.seq) {
            if !self.ecn.at_one {
                self.rto.end_backoff();
            }
            self.rto.measure(timed.sent, now);
        }
        self.deadline = None;
        // RFC 3168 §6.1.2: with less than a segment of window, after a mark, nothing but the timer can start the sender again.
        if self.snd_una < self.snd_max || self.window_in_force() < 1.0 && self.is_available(now) {
            self.restart_timer(now);
        }
    }

    /// A cumulative ACK at which the window grows.
    fn acknowledge_and_grow(&mut self, now: Instant, segment: &Segment<'_>) {
        let first = self.snd_una == 0;
        let acked = segment.seq - self.snd_una;
        self.acknowledge(now, segment);
        if first {
            self.establish(now);
        } else {
            self.grow(now, acked, segment);
        }
        self.read_window();
    }

    /// Lets the window grow, unless the ACK echoes a mark.
    fn grow(&mut self, now: Instant, acked: u32, segment: &Segment<'_>) {
        if segment.ecn_echo {
            // RFC 3168 §6.1.2: no growth on an ACK that echoes a mark.
            self.control.on_ack_in_recovery(&self.ack(now, acked, segment));
        } else {
            let before = self.window;
            self.control.on_ack(&self.ack(now, acked, segment));
            self.window = self.control.window();
            if !self.exit.happened() && self.control.phase() != Phase::SlowStart {
                let algorithm = self.window.ssthresh < before.ssthresh;
                let reason = if algorithm { ExitReason::Algorithm } else { ExitReason::Threshold };
                // What the algorithm cuts as it leaves does not count.
                self.exit.note(reason, now, before.cwnd.max(self.window.cwnd));
            }
        }
        self.read_window();
    }

    fn ack(&self, now: Instant, acked: u32, segment: &Segment<'_>) -> Ack {
        Ack {
            now,
            acked,
            counted: 1.0,
            flight_size: self.snd_nxt - self.snd_una,
            rtt: segment.rtt,
            srtt: self.rto.srtt(),
            min_rtt: self.min_rtt,
            delivery_rate: None,
            round: self.round,
            cwnd_limited: true,
            ecn_echo: segment.ecn_echo,
        }
    }

    /// Tells the control of an ACK at which the window does not grow.
    fn observe(&mut self, now: Instant, acked: u32, segment: &Segment<'_>) {
        let ack = self.ack(now, acked, segment);
        self.control.on_ack_in_recovery(&ack);
        self.read_window();
    }

    fn read_window(&mut self) {
        self.window = self.control.window();
        self.counters.cwnd_max = self.counters.cwnd_max.max(self.window.cwnd);
    }

    /// Reduces the window. `restart`: the recovery starts over from one segment.
    fn reduce(&mut self, now: Instant, cause: Cause, restart: bool) {
        self.counters.reductions += 1;
        self.tell_congestion(now, cause, restart, false);
    }

    /// Tells the control of congestion. `resent`: the missing segment had been sent again before.
    fn tell_congestion(&mut self, now: Instant, cause: Cause, restart: bool, resent: bool) {
        let event = CongestionEvent {
            now,
            cause,
            window: self.window_in_force(),
            flight_size: self.snd_max - self.snd_una,
            restart,
            loss_window: if cause == Cause::Timeout { self.loss_window } else { 1.0 },
            resent,
            min_rtt: self.min_rtt,
        };
        // A lost SYN says nothing about slow start, which has not begun.
        if self.snd_una > 0 {
            if !self.exit.happened() {
                let reason = match cause {
                    Cause::Timeout => ExitReason::Timeout,
                    Cause::DupAck => ExitReason::Loss,
                    Cause::EcnCe => ExitReason::Mark,
                };
                self.exit.note(reason, now, self.window.cwnd);
            }
            if cause != Cause::EcnCe {
                self.exit.note_loss(now);
            }
        }
        if let Some(first) = &mut self.first {
            first.hear_of_congestion(u64::from(self.snd_una));
        }
        self.control.on_congestion(&event);
        self.ecn.reduced = true;
        self.read_window();
        self.last_cause = Some(cause);
        self.recovery_point = self.snd_max;
    }

    /// The retransmission timer has expired: go back to the first unacknowledged segment.
    fn expire(&mut self, now: Instant) {
        self.syn_lost |= self.snd_una == 0;
        if self.last_cause == Some(Cause::EcnCe) {
            // As in ns-2: after a mark, however long ago, the threshold stays, and no timeout is counted.
            self.restart_window();
            self.recovery_point = self.snd_max;
            self.last_cause = Some(Cause::Timeout);
        } else {
            self.counters.timeouts += 1;
            self.reduce(now, Cause::Timeout, true);
        }
        self.start_over(now);
    }

    /// Sends from the first unacknowledged segment on again, with the timer backed off.
    fn start_over(&mut self, now: Instant) {
        self.shortfall = 0.0;
        self.rto.back_off();
        self.snd_nxt = self.snd_una;
        self.reset_timer(now);
        self.permit = Permit::Window(u32::MAX);
    }

    /// Starts a fast retransmit, if it may start, with a reduction of the window, unless a mark has reduced it for the same window of data.
    fn start_fast_retransmit(&mut self, now: Instant, restart: bool) -> bool {
        if self.may_fast_retransmit() {
            self.reduce(now, Cause::DupAck, restart);
        } else if self.last_cause == Some(Cause::EcnCe) {
            self.last_cause = Some(Cause::DupAck);
            if restart {
                self.restart_window();
            }
        } else {
            return false;
        }
        true
    }

    /// Whether a fast retransmit may start: not for segments sent before the last loss was noticed (RFC 6582 §3.2).
    fn may_fast_retransmit(&self) -> bool {
        self.snd_una > self.recovery_point || self.snd_una == 1
    }
}

/// The policies by name.
impl Policy {
    fn new(host: &Ns2Host) -> Self {
        match host.recovery {
            Recovery::Tahoe => Self::Tahoe,
            Recovery::Reno => Self::Reno,
            Recovery::NewReno => Self::NewReno(reno::Partial::default()),
            Recovery::Sack => Self::Sack(Box::default()),
            Recovery::Vegas => Self::Vegas(Box::new(vegas::Vegas::new(host.rwnd))),
        }
    }
}
