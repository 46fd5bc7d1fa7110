//! One end of a connection: segments and timeouts go in, segments come out.
//!
//! Segments carry no data: the application writes and reads numbers of bytes, and a stream position identifies each byte. A connection
//! closed from both ends has no timers. It still acknowledges a repeated FIN, so that no TIME-WAIT period is needed; with Linux's rules, the end
//! that closed last answers with a reset.
//!
//! ## References
//! RFC 9293 §3.5, §3.6, §3.10; RFC 7323 §5 (PAWS); RFC 5961 §3 and §4 (resets and SYNs in an established connection).

use std::collections::VecDeque;

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::Learned;
use ackclock_core::units::{Duration, Instant, Segments};
use ackclock_host::{DropNotice, Flight, LimitedTimes, RecoveryPhase, SlowStartExit};

use super::ack::Ack;
use super::answers::{self, Answers};
use super::handshake::{Handshake, Stage};
use super::paws::{PeerClock, Stamps};
use super::receiver::{Arrival, Receiver};
use super::rules::Rules;
use super::segment::{Flags, MAX_SACK_BLOCKS, Options, Segment, Timestamps, to_position};
use super::send_buffer::WriteFlags;
use super::sender::{Counters, Sender};
use super::settings::Config;
use super::ticks::Ticks;

mod opening;
mod transmit;

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of RFC 9293")]
pub enum State {
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

/// One end of a connection. The fields that every arriving segment needs are adjacent, because with a thousand connections they are never
/// in the cache.
#[derive(Debug)]
pub struct Endpoint {
    pub(super) handshake: Handshake,
    clock: PeerClock,
    answers: Answers,
    pub(super) receiver: Receiver,
    pub(super) sender: Sender,
    /// The segment size that the end announces.
    pub(super) mss: u16,
    stamps: Stamps,
    /// ACKs that were due before what happened since.
    prompt: VecDeque<Segment>,
    /// Whether the peer's FIN had arrived before this end sent its own.
    answers_fin: bool,
    /// Whether the ACK of the SYN-ACK is due, and leaves before the application writes.
    answers_syn: bool,
}

impl Endpoint {
    /// An end that opens the connection.
    pub fn open(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        Self::new(config, control, true)
    }

    /// An end that waits for the peer to open the connection.
    pub fn listen(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        Self::new(config, control, false)
    }

    fn new(config: &Config, control: Box<dyn CongestionControl>, active: bool) -> Self {
        Self {
            mss: config.mss,
            stamps: Stamps::of(config),
            prompt: VecDeque::new(),
            handshake: Handshake::new(config, active),
            sender: Sender::new(config, control),
            receiver: Receiver::new(config),
            clock: PeerClock::default(),
            answers: Answers::new(Rules::of(config).answers_old_acks, Ticks::new(config.timer_tick, config.timer_phase)),
            answers_fin: false,
            answers_syn: false,
        }
    }

    /// Sets the path's segment size to `mss` bytes without headers, limited by the peer's MSS (RFC 8201, RFC 8899). New segments have this
    /// size, and retransmissions do not exceed it; outstanding segments keep theirs. The congestion control is notified.
    pub fn change_mss(&mut self, mss: u16) {
        self.handshake.change_mss(mss);
        if self.handshake.stage == Stage::Established {
            self.sender.change_mss(u64::from(self.handshake.agreed.smss));
        }
    }

    /// A bulk transfer keeps the stream filled: `bytes` in all, or unlimited.
    pub(super) fn pull(&mut self, bytes: Option<u64>) {
        self.sender.pull(bytes);
    }

    /// Whether a block of the packet that the application fills has left, and its write continues.
    pub(super) fn continues_write(&self) -> bool {
        self.sender.continues_write()
    }

    /// The application writes up to `most` bytes, at most as many as fill a packet; `first`: it begins a write. Returns how many; none if the
    /// send buffer is full.
    pub(super) fn write_packet(&mut self, most: u64, first: bool) -> u64 {
        self.sender.write_packet(most, first, WriteFlags::default())
    }

    /// Seeds the control's random decisions.
    pub(super) fn seed(&mut self, seed: u64) {
        self.sender.seed(seed);
    }

    /// Sets what earlier connections to the peer have `learned`.
    pub(super) fn set_learned(&mut self, learned: Learned) {
        self.sender.set_learned(learned);
    }

    /// Whether the first flight is over, so that [`Endpoint::finish_first_flight`] can be called.
    pub(super) fn is_first_flight_over(&self) -> bool {
        self.sender.seat().is_first_flight_over()
    }

    /// The initial window for the next connection to the peer, if the first flight changes it. `learned`: the window stored for the peer so
    /// far.
    pub(super) fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.sender.finish_first_flight(learned)
    }

    /// What has arrived is acknowledged before the application runs.
    pub(super) fn acknowledge_before_application(&mut self, now: Instant) {
        let acknowledges = self.receiver.is_adaptive() && self.receiver.owes_ack() && !self.answers_syn;
        if acknowledges && self.sender.has_nothing_to_do() && self.is_established() {
            self.acknowledge_at_once(now);
        }
    }

    /// The state of the connection.
    pub fn state(&self) -> State {
        match self.handshake.stage {
            Stage::Listen => return State::Listen,
            Stage::SynSent => return State::SynSent,
            Stage::SynReceived => return State::SynReceived,
            Stage::Reset => return State::Closed,
            Stage::Established => {}
        }
        let (sent, acknowledged) = (self.sender.has_sent_fin(), self.sender.is_fin_acknowledged());
        match (sent, acknowledged, self.receiver.is_finished()) {
            (false, _, false) => State::Established,
            (false, _, true) => State::CloseWait,
            (true, false, false) => State::FinWait1,
            (true, true, false) => State::FinWait2,
            (true, false, true) if self.answers_fin => State::LastAck,
            (true, false, true) => State::Closing,
            (true, true, true) if self.answers_fin => State::Closed,
            (true, true, true) => State::TimeWait,
        }
    }

    /// The congestion window in force, and the threshold.
    pub fn window(&self) -> Window {
        self.sender.congestion_window()
    }

    /// The phase of loss recovery.
    pub fn recovery(&self) -> RecoveryPhase {
        self.sender.recovery()
    }

    /// What the sender has in flight.
    pub fn flight(&self) -> Flight {
        self.sender.flight()
    }

    /// From now on, [`Self::next_lost`] tells the segments that the sender deems lost.
    pub fn keep_lost(&mut self) {
        self.sender.keep_lost();
    }

    /// The first position of the next segment that the sender has deemed lost; the SYN is at 0, the first data at 1.
    pub fn next_lost(&mut self) -> Option<u64> {
        self.sender.next_lost()
    }

    /// The congestion control; traces record its quantities.
    pub fn control(&self) -> &dyn CongestionControl {
        self.sender.seat().control()
    }

    /// The sender's counters, including SYNs.
    pub(crate) fn counters(&self) -> Counters {
        let (counters, syns) = (self.sender.counters(), u64::from(self.handshake.syns()));
        Counters { sent: counters.sent + syns, retransmitted: counters.retransmitted + syns.saturating_sub(1), ..counters }
    }

    /// Smoothed and minimum round-trip time, and the retransmission timeout.
    pub fn timing(&self) -> (Option<Duration>, Option<Duration>, Duration) {
        let rtt = self.sender.rtt();
        (rtt.srtt(), rtt.min(), rtt.timeout())
    }

    /// The congestion window at the end of the handshake.
    pub(super) fn initial_window(&self) -> Option<Segments> {
        self.sender.seat().initial_window()
    }

    /// How long each limit has held back the sender.
    pub(super) fn limited(&self, end: Instant) -> Option<LimitedTimes> {
        self.sender.limited(end)
    }

    /// The application will write no more, but leaves the stream open.
    pub(super) fn end_supply(&mut self, now: Instant) {
        self.sender.end_supply(now);
    }

    /// How the first slow start ended.
    pub fn slow_start_exit(&self) -> &SlowStartExit {
        self.sender.seat().exit()
    }

    /// The latest round-trip time sample.
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.sender.rtt().latest()
    }

    /// Whether both SYNs are acknowledged.
    pub fn is_established(&self) -> bool {
        self.handshake.stage == Stage::Established
    }

    /// Aborts the connection (RFC 9293 §3.10.5). Returns the reset to send, unless the connection has no peer or is over.
    pub fn abort(&mut self, now: Instant) -> Option<Segment> {
        let silent = matches!(self.state(), State::Listen | State::SynSent | State::Closed | State::TimeWait);
        let position = self.sender.window().nxt().max(1);
        let reset = (!silent).then(|| self.segment(now, position, (Flags::RST | Flags::ACK, 0), Options::default()));
        self.reset();
        reset
    }

    /// Ends the connection without a word to the peer.
    pub fn forget(&mut self) {
        self.reset();
    }

    /// Whether an ACK is due that leaves before the application can react to what has arrived.
    pub(super) fn answers_before_application(&self) -> bool {
        self.receiver.owes_ack() && self.receiver.is_adaptive()
    }

    /// Receives a segment. [`Endpoint::poll_transmit`] then returns the segments to send.
    pub fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        match self.handshake.stage {
            Stage::Reset => {}
            Stage::Listen => self.handle_in_listen(now, segment),
            Stage::SynSent => self.handle_in_syn_sent(now, segment),
            Stage::SynReceived | Stage::Established => self.handle_synchronised(now, segment),
        }
    }

    /// The segment may carry the first option of accurate feedback; this end then sends it too.
    fn hear_ecn_option(&mut self, now: Instant, segment: &Segment) {
        if let Some(option) = segment.options.ecn.as_ref().filter(|_| self.receiver.echo.is_everywhere()) {
            let demand = if segment.flags.has(Flags::SYN) { 2 } else { 1 };
            self.receiver.echo.hear_option(demand);
            self.sender.hear_ecn_option(option);
            self.fit_ecn_option(now);
        }
    }

    /// Data segments leave room for the option of accurate feedback if they carry it.
    fn fit_ecn_option(&mut self, now: Instant) {
        let carries = self.receiver.echo.is_in_data(now, self.srtt());
        if self.handshake.carry_ecn_counts(carries) {
            self.sender.agree_on_mss(u64::from(self.handshake.agreed.smss));
        }
    }

    /// Changes whether and when this end sends the option of accurate feedback: `ecn_option`, `ecn_seldom` and `ecn_beacons` of `config`.
    pub fn configure_ecn_option(&mut self, config: &Config) {
        self.receiver.echo.configure(config);
        // Otherwise each segment is fitted when it is sent.
        if !self.receiver.echo.is_seldom() {
            self.fit_ecn_option(Instant::ZERO);
        }
    }

    /// The smoothed round-trip time; zero if unknown.
    fn srtt(&self) -> Duration {
        self.sender.rtt().srtt().unwrap_or(Duration::ZERO)
    }

    /// RFC 9293 §3.10.7.4.
    fn handle_synchronised(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        let Some(start) = to_position(segment.seq, self.handshake.irs, self.receiver.rcv_nxt()) else { return };
        let end = start + u64::from(segment.len());
        if flags.has(Flags::SYN) && self.handshake.stage == Stage::SynReceived && start == 0 {
            self.handshake.note_repeated_syn(segment);
            return;
        }
        if self.receiver.expires_compressed(now) {
            self.acknowledge_at_once(now);
        }
        if self.answers_fin && self.answers.is_limited() && self.state() == State::Closed {
            // RFC 9293 §3.10.7.1.
            if flags.has(Flags::ACK) && !flags.has(Flags::RST) {
                self.prompt.push_back(Segment::reset(segment.ack));
            }
            return;
        }
        let arrival = Arrival {
            range: (start, end),
            fin: flags.has(Flags::FIN),
            push: flags.has(Flags::PSH),
            size: segment.wire_size(),
            ecn: segment.ecn,
            cwr: flags.has(Flags::CWR),
        };
        let timestamps = segment.options.timestamps.filter(|_| self.handshake.agreed.timestamps);
        if let Some(timestamps) = timestamps.filter(|it| !self.clock.accepts(now, it.value, self.answers.slack()) && !flags.has(Flags::RST))
            && !self.is_overtaken(segment, timestamps, (start, end))
        {
            // RFC 7323 §5.3 rule R1. ACKs that data has overtaken are common.
            if start < end || self.answers.is_limited() && start >= self.receiver.rcv_nxt() && self.answers.allow(now) {
                self.receiver.demand_ack();
            }
            let known = end.min(self.receiver.rcv_nxt());
            if self.answers.is_limited() && 0 < start && start < known {
                self.receiver.receive(now, &Arrival { range: (start, known), fin: false, ..arrival }, self.sender.rtt());
            }
            return;
        }
        if !self.receiver.is_acceptable((start, end), arrival.fin) {
            if flags.has(Flags::RST) {
                return;
            }
            if flags.has(Flags::SYN | Flags::ACK) && start == 0 {
                self.receiver.echo.note_syn_ack(segment.ecn);
            }
            if start < end || self.answers.allow(now) {
                self.receiver.demand_ack();
            }
            // Linux takes data that ends where its last ACK does as acceptable (RFC 9293 §3.10.7.4 demands one byte more).
            let ends_at_ack = start < end && end >= self.receiver.last_ack() && end <= self.receiver.rcv_nxt();
            if ends_at_ack && self.answers.is_limited() && !flags.has(Flags::SYN) {
                self.take_ack(now, segment, start);
                if let Some(timestamps) = timestamps {
                    self.clock.note(now, timestamps.value, true);
                }
            }
            // A duplicate is reported (RFC 2883 §4).
            if !flags.has(Flags::SYN) && start > 0 && end <= self.receiver.rcv_nxt() {
                if start < end {
                    self.receiver.echo.note_duplicate(start);
                    self.fit_ecn_option(now);
                }
                self.receiver.receive(now, &arrival, self.sender.rtt());
            }
            return;
        }
        if flags.has(Flags::RST) {
            // RFC 5961 §3.2.
            if start == self.receiver.rcv_nxt() {
                self.reset();
            } else {
                self.receiver.demand_ack();
            }
            return;
        }
        // RFC 5961 §4.2.
        if flags.has(Flags::SYN) || !flags.has(Flags::ACK) {
            return self.receiver.demand_ack();
        }
        let window = u64::from(segment.window) << self.handshake.agreed.peer_scale;
        let opens = self.handshake.stage == Stage::SynReceived;
        let expected = segment.payload == 0 && (opens || window == self.sender.window().offered());
        if self.take_ack(now, segment, start) {
            if let Some(timestamps) = timestamps {
                self.note_timestamps(now, timestamps, start, (u64::from(segment.payload), expected));
            }
            if self.receiver.releases_compressed((start, end)) {
                self.acknowledge_at_once(now);
            }
            self.receiver.receive(now, &arrival, self.sender.rtt());
            if arrival.fin && self.sender.has_sent_fin() {
                self.receiver.demand_ack();
                self.answers.restart();
            }
        } else {
            self.receiver.demand_ack();
        }
    }

    /// Whether an empty segment with an old timestamp repeats the last ACK, which another has overtaken: its SACK blocks are news.
    fn is_overtaken(&self, segment: &Segment, timestamps: Timestamps, (start, end): (u64, u64)) -> bool {
        let window = u64::from(segment.window) << self.handshake.agreed.peer_scale;
        let (sent, iss) = (self.sender.window(), self.handshake.iss);
        self.answers.is_limited()
            && start == end
            && start == self.receiver.rcv_nxt()
            && to_position(segment.ack, iss, sent.una()) == Some(sent.una())
            && !sent.would_update(start, window)
            && answers::is_overtaken(self.clock.recent().wrapping_sub(timestamps.value).cast_signed(), self.sender.rtt().timeout())
    }

    /// An ACK of what has arrived so far leaves, whatever follows.
    fn acknowledge_at_once(&mut self, now: Instant) {
        let ack = self.pure_ack(now);
        self.prompt.push_back(ack);
    }

    /// Resets the connection.
    fn reset(&mut self) {
        self.handshake.reset();
        self.sender.stop();
        self.receiver.stop_timer();
    }

    fn note_timestamps(&mut self, now: Instant, timestamps: Timestamps, start: u64, data: (u64, bool)) {
        self.clock.note(now, timestamps.value, start <= self.receiver.last_ack());
        self.receiver.measure(timestamps.echo, data, || self.stamps.since(now, timestamps.echo));
    }

    /// Processes the acknowledgement of a segment at position `start`; returns whether it is acceptable.
    fn take_ack(&mut self, now: Instant, segment: &Segment, start: u64) -> bool {
        let iss = self.handshake.iss;
        let Some(ack) = to_position(segment.ack, iss, self.sender.window().una()) else { return true };
        let mut ace = Some(segment.flags.ace());
        self.hear_ecn_option(now, segment);
        if self.handshake.stage == Stage::SynReceived {
            if ack < 1 || ack > self.sender.window().nxt().max(1) {
                return false;
            }
            self.establish(now, segment, 1);
            // RFC 9768 §3.2.2.1: a pure ACK feeds back how the SYN-ACK has arrived.
            if segment.is_empty() && segment.options.sack.as_slice().is_empty() {
                self.sender.note_syn_ack_feedback(segment.flags.ace());
                ace = None;
            }
        }
        let mut sack = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        for &(left, right) in segment.options.sack.as_slice() {
            let [left, right] = [left, right].map(|edge| to_position(edge, iss, ack));
            if let (Some(left), Some(right)) = (left, right)
                && left < right
            {
                sack[count] = (left, right);
                count += 1;
            }
        }
        let timestamps = segment.options.timestamps.filter(|_| self.handshake.agreed.timestamps);
        let fresh = timestamps.is_some_and(|it| self.clock.is_after(it.value));
        self.sender.handle_ack(
            now,
            &Ack {
                number: ack,
                seq: start,
                window: u64::from(segment.window) << self.handshake.agreed.peer_scale,
                sack: &sack[..count],
                echo: timestamps.map(|it| it.echo),
                delay: timestamps.map(|it| it.value.wrapping_sub(it.echo)),
                ece: segment.flags.has(Flags::ECE),
                ace,
                counts: segment.options.ecn,
                fresh,
                bare: segment.is_empty(),
            },
        )
    }

    /// Handles expired timers. [`Endpoint::poll_transmit`] then returns the segments to send.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.handshake.handle_timeout(now) && self.handshake.backs_off() {
            self.sender.back_off();
        }
        self.receiver.handle_timeout(now, self.sender.rtt());
        // Until then, the SYN-ACK is what is sent again.
        if !self.is_early() {
            self.sender.handle_timeout(now);
        }
    }

    /// A queue has dropped a segment. [`Endpoint::poll_transmit`] then returns the segments to send.
    pub(crate) fn handle_notice(&mut self, now: Instant, dropped: &DropNotice) {
        let near = self.sender.window().una();
        let Some(position) = to_position(dropped.key, self.handshake.iss, near) else { return };
        match self.handshake.stage {
            Stage::SynSent | Stage::SynReceived => {
                if self.handshake.expire_at(now, dropped.sent) {
                    self.handle_timeout(now);
                }
            }
            Stage::Established => self.sender.handle_notice(now, position, dropped),
            Stage::Listen | Stage::Reset => {}
        }
    }

    /// When [`Endpoint::handle_timeout`] is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let never = |deadline: Option<Instant>| deadline.unwrap_or(Instant::MAX);
        let sender = if self.is_early() { Instant::MAX } else { self.sender.poll_timeout() };
        let first = never(self.handshake.poll_timeout()).min(never(self.receiver.poll_timeout())).min(sender);
        (first < Instant::MAX).then_some(first)
    }
}
