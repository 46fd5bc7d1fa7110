//! The sending half: decides what to send and when.
//!
//! The sender itself decides little: it queries the owners of the state and notifies them of events. Each owner has private fields: the
//! stream, the send window, the scoreboard, recovery, the congestion control, and so on.
//!
//! | file | events |
//! |---|---|
//! | `mod` | the application writes; a segment is sent |
//! | `acks` | an ACK arrives |
//! | `recovering` | losses are detected; recovery begins and ends; the timer expires |
//! | `timeouts` | a timer is set or expires |
//! | `blocks` | a block of segments begins |
//! | `info` | an application asks for the state |
//! | `notices` | a queue notifies the sender of a drop |
//!
//! ## References
//! RFC 5681 §4.1 (restart after idle); RFC 6675 §4 (`NextSeg`); RFC 6298 §5.1; RFC 9002 §7.8.

mod acks;
mod blocks;
mod info;
mod notices;
mod recovering;
mod timeouts;

use ackclock_core::cc::CongestionControl;
use ackclock_core::events::{Established, Sent, Totals};
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use super::blocks::Blocks;
use super::config::{Config, ProbeMargins, Recovery, TIMESTAMPS};
use super::governor::Governor;
use super::handshake::Agreed;
use super::marks::Marks;
use super::paws;
use super::rack::Rack;
use super::ranges::Range;
use super::repair::{Force, Repair};
use super::rtt::Rtt;
use super::scoreboard::{Scoreboard, SentSegment};
use super::segment::BASE_HEADER;
use super::send_window::SendWindow;
use super::stream::Stream;
use super::ticks::Ticks;
use super::timers::{Timer, Timers};
use super::tlp::Tlp;
use super::undo::Undo;
use crate::limits::{Limit, LimitedTimes, Limits};
use crate::pacing::Pacer;
use crate::rate::DeliveryRate;

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Output {
    /// The segment's positions; empty for a window probe.
    pub(super) range: Range,
    /// Whether the last position is a FIN.
    pub(super) fin: bool,
    /// Whether the segment ends the data to send.
    pub(super) push: bool,
    /// Whether the segment is a retransmission.
    pub(super) retransmission: bool,
    /// Whether the segment carries CWR: the window has been reduced.
    pub(super) cwr: bool,
    /// Whether a new segment carries PSH by itself, and the number of its block.
    pub(super) marks: (bool, u32),
}

/// The sender's counters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Segments sent with data or FIN, including retransmissions.
    pub(crate) sent: u64,
    /// Retransmitted segments.
    pub(crate) retransmitted: u64,
    /// Expired retransmission timers.
    pub(crate) timeouts: u64,
    /// Tail loss probes.
    pub(crate) probes: u64,
    /// Reductions of the window.
    pub(crate) reductions: u64,
    /// Undone reductions.
    pub(crate) undone: u64,
    /// Largest congestion window.
    pub(crate) cwnd_max: Segments,
    /// Bytes retransmitted.
    pub(crate) retransmitted_bytes: u64,
    /// Segments delivered, including SYN and FIN.
    pub(crate) delivered: u64,
    /// Segments delivered by ACKs that echo a mark.
    pub(crate) delivered_marked: u64,
    /// D-SACK blocks.
    pub(crate) dsacks: u64,
}

/// A measured delivery rate.
#[derive(Clone, Copy, Debug)]
struct Measured {
    rate: Rate,
    /// Whether the application limited it.
    app_limited: bool,
}

/// The settings of [`Config`] that the sender itself uses.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an independent setting")]
struct Settings {
    prr: bool,
    tlp: bool,
    frto: bool,
    undo: bool,
    idle_restart: bool,
    initial_timestamp: u32,
    reordering_margin: Duration,
    probe_margins: ProbeMargins,
    lost_syns_tolerated: u32,
    rtt_of_sacked: bool,
    recover_again: bool,
    reduce_once: bool,
    late_undo: bool,
    gradual_marks: bool,
    max_rto: Duration,
}

/// The sending half of an endpoint. The fields that an end without data needs come first, so that they fill few cache lines.
#[derive(Debug)]
pub(super) struct Sender {
    window: SendWindow,
    stream: Stream,
    repair: Repair,
    timers: Timers,
    rate: DeliveryRate,
    limits: Limits,
    pacer: Pacer,
    last_sent: Instant,
    rtt: Rtt,
    board: Scoreboard,
    governor: Governor,
    /// Bytes sent, including retransmissions.
    sent_bytes: u64,
    /// Size of a segment's headers in bytes, with the options that every segment carries.
    header: u64,
    /// Seeds the control's random decisions.
    seed: u64,
    counters: Counters,
    /// The latest delivery rate that the application did not limit, or a higher one.
    delivery_rate: Option<Measured>,
    settings: Settings,
    tlp: Tlp,
    rack: Rack,
    marks: Marks,
    undo: Undo,
    /// The segments that the current ACK delivers; stored to reuse the memory.
    delivered: Vec<SentSegment>,
    /// Whether new data has left since the sender last stopped.
    has_sent: bool,
    /// Whether the congestion window has caused the deferral of a block.
    has_deferred: bool,
    blocks: Option<Box<Blocks>>,
    nagle: bool,
    /// End of the last segment sent that was smaller than a full one.
    small: u64,
}

impl Sender {
    /// A sender before the handshake.
    pub(super) fn new(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        let ticks = Ticks::new(config.timer_tick);
        Self {
            window: SendWindow::default(),
            stream: Stream::new(),
            repair: Repair::new(config.recovery, config.limited_transmit),
            timers: Timers::new(ticks),
            rate: DeliveryRate::default(),
            limits: Limits::default(),
            pacer: Pacer::default(),
            last_sent: Instant::ZERO,
            rtt: Rtt::new(config.rto, ticks),
            board: Scoreboard::default(),
            governor: Governor::new(config, control),
            sent_bytes: 0,
            header: u64::from(BASE_HEADER),
            seed: 0,
            counters: Counters::default(),
            delivery_rate: None,
            settings: Settings {
                prr: config.prr,
                tlp: config.tlp,
                frto: config.frto,
                undo: config.undo,
                idle_restart: config.idle_restart,
                initial_timestamp: config.initial_timestamp,
                reordering_margin: config.reordering_margin,
                probe_margins: config.probe_margins,
                lost_syns_tolerated: config.lost_syns_tolerated,
                rtt_of_sacked: config.rtt_of_sacked,
                recover_again: config.recover_again,
                reduce_once: config.reduce_once,
                late_undo: config.late_undo,
                gradual_marks: config.gradual_marks,
                max_rto: config.rto.max,
            },
            tlp: Tlp::default(),
            rack: Rack::default(),
            marks: Marks::default(),
            undo: Undo::default(),
            delivered: Vec::new(),
            has_sent: false,
            has_deferred: false,
            blocks: config.offload.map(Blocks::new),
            nagle: config.nagle,
            small: 0,
        }
    }

    /// The peer's SYN has arrived and advertises `window` bytes: the options are negotiated.
    pub(super) fn agree(&mut self, agreed: Agreed, window: u64) {
        let timestamps = if agreed.timestamps { TIMESTAMPS } else { 0 };
        self.header = u64::from(BASE_HEADER) + u64::from(timestamps);
        self.governor.agree(u64::from(agreed.smss));
        self.marks.agree(agreed.ecn);
        if !agreed.sack {
            self.repair.disable_sack();
        }
        self.window.offer(window);
    }

    /// The SYN was acknowledged; `rtt`: its round-trip time, if measured.
    pub(super) fn establish(&mut self, now: Instant, lost_syns: u32, rtt: Option<Duration>) {
        match rtt {
            Some(rtt) => {
                self.rtt.end_backoff();
                self.rtt.measure_at(rtt, (1, 1));
                self.tlp.measure();
            }
            None => self.rtt.restart_after_lost_syn(),
        }
        self.window.establish();
        self.counters.delivered = 1;
        self.limits.begin(now);
        self.last_sent = now;
        self.governor.establish(&Established {
            lost_syns: lost_syns.saturating_sub(self.settings.lost_syns_tolerated),
            rtt: self.rtt.latest(),
            rwnd: Some(self.governor.segments(self.window.offered())),
            available: self.stream.amount().map(|bytes| self.governor.segments(bytes)),
            selective: self.repair.method() != Recovery::NewReno,
            header: Bytes(self.header),
            seed: self.seed,
            whole_segments: self.governor.has_whole_segments(),
            ..Established::new(now, Bytes(self.governor.smss()))
        });
        self.supply_first_flight();
    }

    /// Sets the segment size to `smss` bytes. Outstanding segments keep their size; their retransmissions do not.
    pub(super) fn change_mss(&mut self, smss: u64) {
        self.governor.change_mss(smss);
    }

    /// A bulk transfer keeps the stream filled: `bytes` in all, or unlimited.
    pub(super) fn pull(&mut self, bytes: Option<u64>) {
        self.stream.pull(bytes);
    }

    /// The application writes `bytes`.
    pub(super) fn write(&mut self, bytes: u64) {
        let start = self.stream.written();
        self.stream.write(bytes);
        if let Some(blocks) = &mut self.blocks
            && self.stream.is_written()
        {
            let (end, smss) = (self.stream.written(), self.governor.smss());
            blocks.write((start, end), self.window.nxt(), smss, self.window.largest());
        }
        self.supply_first_flight();
    }

    /// Spreads the data that an application has written over the first flight.
    fn supply_first_flight(&mut self) {
        if self.stream.is_written() {
            self.governor.supply_first_flight(self.stream.written());
        }
    }

    /// The application closes the stream.
    pub(super) fn close(&mut self) {
        self.stream.close();
    }

    /// Whether the FIN was sent.
    pub(super) fn has_sent_fin(&self) -> bool {
        self.stream.end_of_fin() == Some(self.window.nxt())
    }

    /// Whether the FIN was acknowledged.
    pub(super) fn is_fin_acknowledged(&self) -> bool {
        self.stream.end_of_fin() == Some(self.window.una())
    }

    /// Bytes written and not yet sent, including a FIN.
    pub(super) fn unsent(&self) -> u64 {
        self.window.unsent(&self.stream)
    }

    /// The send window.
    pub(super) fn window(&self) -> &SendWindow {
        &self.window
    }

    /// The congestion control.
    pub(super) fn governor(&self) -> &Governor {
        &self.governor
    }

    /// Round-trip times and the retransmission timeout.
    pub(super) fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Whether data segments are ECN-capable.
    pub(super) fn uses_ecn(&self) -> bool {
        self.marks.is_agreed()
    }

    /// The counters.
    pub(super) fn counters(&self) -> Counters {
        Counters { reductions: self.governor.reductions(), cwnd_max: self.governor.largest(), ..self.counters }
    }

    /// How long each limit has held back the sender.
    pub(super) fn limited(&self, end: Instant) -> Option<LimitedTimes> {
        self.limits.times(end)
    }

    /// The application will supply no more data: once all is acknowledged, the work is over.
    pub(super) fn end_supply(&mut self, now: Instant) {
        if self.has_nothing_to_do() {
            self.limits.note(now, Limit::Nothing);
        }
    }

    /// The outstanding segments.
    #[cfg(test)]
    pub(super) fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// The state of RACK.
    #[cfg(test)]
    pub(super) fn rack(&self) -> &Rack {
        &self.rack
    }

    /// The state of recovery.
    #[cfg(test)]
    pub(super) fn repair(&self) -> &Repair {
        &self.repair
    }

    /// Seeds the control's random decisions.
    pub(super) fn seed(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Sets the initial window that earlier connections to the peer have `learned`.
    pub(super) fn set_learned(&mut self, learned: Segments) {
        self.governor.set_learned(learned);
    }

    /// The initial window for the next connection to the peer, if the first flight changes it.
    pub(super) fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.governor.finish_first_flight(learned)
    }

    /// Backs off the timeout, because the SYN was not acknowledged in time.
    pub(super) fn back_off(&mut self) {
        self.rtt.back_off();
    }

    /// The next segment to send, if any.
    pub(super) fn next(&mut self, now: Instant) -> Option<Output> {
        if self.has_nothing_to_do() {
            self.timers.clear(Timer::Pace);
            self.rate.note_app_limited(0);
            let closed = self.stream.end_of_fin().is_some();
            self.limits.note(now, if closed { Limit::Nothing } else { Limit::Application });
            return None;
        }
        self.restart_after_idle(now);
        let Some(mut output) = self.take_forced().or_else(|| self.choose(now)) else {
            self.note_stop();
            return None;
        };
        if self.blocks.is_some() {
            self.set_push(&mut output);
        }
        self.note_sent(now, &output);
        Some(output)
    }

    /// The sender stops transmitting for now.
    fn note_stop(&mut self) {
        let full = std::mem::take(&mut self.has_deferred) || self.pipe() >= self.cwnd();
        if let Some(blocks) = &mut self.blocks {
            blocks.stop();
        }
        if self.has_sent || full && self.unsent() > 0 {
            self.governor.note_usage(full, self.board.segments(), (self.window.una(), self.window.nxt()));
            self.has_sent = false;
        }
    }

    /// Whether no segment is outstanding or waiting: the usual case at the end that receives data.
    fn has_nothing_to_do(&self) -> bool {
        self.window.is_idle() && self.unsent() == 0 && self.repair.is_open() && !self.repair.is_forced()
    }

    /// The transmission that ignores the windows, if one is pending.
    fn take_forced(&mut self) -> Option<Output> {
        let range = match self.repair.take_force() {
            Force::Nothing => return None,
            Force::Lost => self.fit(self.board.next_lost()?),
            Force::Last => self.board.last().map(|segment| self.fit((segment.start, segment.end)))?,
            Force::WindowProbe => {
                let position = self.window.una() - 1;
                return Some(Output {
                    range: (position, position),
                    fin: false,
                    push: false,
                    retransmission: false,
                    cwr: false,
                    marks: (false, 0),
                });
            }
            Force::Override => (self.window.nxt(), self.window.reach(&self.stream, self.governor.smss())),
            Force::New(count) => {
                let range = self.next_new()?;
                if count > 1 {
                    self.repair.force(Force::New(count - 1));
                }
                range
            }
        };
        Some(self.output(range))
    }

    /// The segment of `range`, which begins at `SND.NXT` if it is new.
    fn output(&self, range: Range) -> Output {
        let retransmission = range.0 < self.window.nxt();
        let (end, written) = (range.1, self.stream.written());
        Output {
            range,
            fin: end > written,
            push: end >= written,
            retransmission,
            cwr: self.marks.cwr() && !retransmission,
            marks: (false, 0),
        }
    }

    /// The next segment, if pacing and the congestion window allow it.
    fn choose(&mut self, now: Instant) -> Option<Output> {
        self.timers.clear(Timer::Pace);
        let wanted = self.next_wanted();
        if wanted.is_none() && self.unsent() > 0 {
            self.limits.note(now, Limit::ReceiveWindow);
            return None;
        }
        let (pipe, cwnd) = (self.pipe(), self.cwnd());
        let Some(range) = wanted else {
            self.note_all_sent(now, pipe, cwnd);
            return None;
        };
        let length = self.in_units(range);
        // RFC 5681 §3.1: any window allows one segment.
        let fits = pipe + length <= cwnd || pipe == 0;
        let next = self.governor.next_of_first_flight().map_or(self.pacer.next(), |next| next.max(self.pacer.next()));
        let deferred = fits && next <= now && range.0 == self.window.nxt() && self.defers_block(now, pipe, cwnd);
        if !fits || next > now || deferred {
            // RFC 9002 §7.8: a sender limited by its pacer counts as using its window.
            self.governor.note_limited(self.window.nxt());
            self.limits.note(now, Limit::CongestionWindow);
            if fits && !deferred {
                self.timers.set(Timer::Pace, next);
            }
            return None;
        }
        Some(self.output(range))
    }

    /// All data is sent. RFC 9002 §7.8: the window counts as used if it has no room for another segment; otherwise the application is the
    /// limit.
    fn note_all_sent(&mut self, now: Instant, pipe: u64, cwnd: u64) {
        if pipe + self.governor.unit() > cwnd {
            self.governor.note_limited(self.window.nxt());
            self.limits.note(now, Limit::CongestionWindow);
        } else {
            self.rate.note_app_limited(self.board.pipe());
            self.limits.note(now, Limit::Application);
        }
    }

    /// The next range to send: RFC 6675 §4, `NextSeg`.
    fn next_wanted(&self) -> Option<Range> {
        if !self.undo.holds_retransmissions()
            && let Some(lost) = self.board.next_lost()
        {
            return Some(self.fit(lost));
        }
        self.next_new().or_else(|| self.repair.next_unsacked(&self.board, self.window.una()).map(|range| self.fit(range)))
    }

    /// The part of a range already sent that fits into a segment of the present size.
    fn fit(&self, range: Range) -> Range {
        self.stream.fit(range, self.governor.smss())
    }

    /// The next segment of new data, if the peer's window has room for a segment worth sending.
    fn next_new(&self) -> Option<Range> {
        let range = self.window.next_new(&self.stream, self.governor.smss())?;
        let (start, end) = range;
        let waits = self.nagle && self.small > self.window.una() && end - start < self.governor.smss() && end <= self.stream.written();
        (!waits).then_some(range)
    }

    /// Sets whether small segments wait for each other (Nagle's algorithm).
    pub(super) fn set_nagle(&mut self, nagle: bool) {
        self.nagle = nagle;
    }

    /// The congestion window in force, in units.
    fn cwnd(&self) -> u64 {
        self.repair.window(self.governor.cwnd(), self.governor.unit())
    }

    /// The congestion window in force, in bytes.
    fn cwnd_bytes(&self) -> u64 {
        self.cwnd() * (self.governor.smss() / self.governor.unit())
    }

    /// The pipe, in units.
    fn pipe(&self) -> u64 {
        self.repair.pipe(&self.board, self.governor.has_whole_segments())
    }

    /// The pipe of the scoreboard, in units.
    fn board_pipe(&self) -> u64 {
        if self.governor.has_whole_segments() { u64::from(self.board.pipe_segments()) } else { self.board.pipe() }
    }

    /// The data of a range that is sent as one segment, in units.
    fn in_units(&self, (start, end): Range) -> u64 {
        if self.governor.has_whole_segments() {
            return 1;
        }
        let written = self.stream.written();
        end.min(written) - start.min(written)
    }

    /// RFC 5681 §4.1: after an idle retransmission timeout the window is at most the restart window.
    fn restart_after_idle(&mut self, now: Instant) {
        let may_be_idle = self.settings.idle_restart && self.board.flight_size() == 0;
        if may_be_idle && self.unsent() > 0 && now.since(self.last_sent) > self.rtt.timeout() {
            self.governor.restart_after_idle();
            self.last_sent = now;
        }
    }

    fn note_sent(&mut self, now: Instant, output: &Output) {
        let (start, end) = output.range;
        if start == end {
            return;
        }
        let idle = self.board.flight_size() == 0;
        let first = start == self.window.una();
        let (size, app_limited) = (end - start, self.rate.is_app_limited());
        let snapshot = self.rate.send(now, size, self.board.pipe());
        self.counters.sent += 1;
        self.sent_bytes += size;
        if output.retransmission {
            self.counters.retransmitted += 1;
            self.counters.retransmitted_bytes += size;
            self.undo.retransmit(paws::timestamp(now, self.settings.initial_timestamp));
            self.repair.send_again(&self.board, output.range);
            // Linux does not count a probe that repeats the last segment.
            self.board.resend(output.range, snapshot, !self.governor.has_whole_segments());
        } else {
            self.board.send(output.range, snapshot, output.marks);
            self.has_sent = true;
            self.window.advance(end);
            if size < self.governor.smss() {
                self.small = end;
            }
            if output.cwr {
                self.marks.send_cwr();
            }
        }
        self.last_sent = now;
        self.repair.send(if self.governor.has_whole_segments() { 1 } else { size });
        if let Some((rate, burst)) = self.governor.pacing(self.cwnd_bytes(), self.rtt.srtt()) {
            self.pacer.send(now, size + self.header, Some(rate), burst);
        }
        self.governor.send(&Sent {
            now,
            size,
            flight_size: self.flight_segments(),
            inflight: snapshot.inflight,
            snd_nxt: self.window.nxt(),
            total: self.total(),
            retransmission: output.retransmission,
            app_limited,
        });
        // RFC 6298 §5.1; RFC 6675 §5: a retransmission of the first segment restarts the timer.
        if idle || !self.timers.is_set(Timer::Rto) || output.retransmission && first {
            self.timers.start_rto(now, self.rtt.timeout());
        }
        if !output.retransmission {
            self.schedule_probe(now);
        }
    }

    /// The flight size in full segments, rounded up.
    fn flight_segments(&self) -> u32 {
        self.board.flight_size().div_ceil(self.governor.smss()) as u32
    }

    /// Totals of the connection so far.
    fn total(&self) -> Totals {
        Totals { sent: self.sent_bytes, delivered: self.rate.delivered(), lost: self.rate.lost() }
    }

    /// Stops all timers at the end of the connection.
    pub(super) fn stop(&mut self) {
        self.timers.stop();
        self.governor.stop();
    }
}
