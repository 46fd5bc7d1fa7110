//! The sending half: decides what to send and when.
//!
//! The sender itself decides little: it queries the owners of the state and notifies them of events. Each owner has private fields: the
//! stream, the send window, the scoreboard, recovery, the congestion control, and so on.
//!
//! | file | events |
//! |---|---|
//! | `mod` | the connection begins and ends; the application writes |
//! | `sending` | a segment is sent |
//! | `acks` | an ACK arrives |
//! | `recovering` | losses are detected; recovery begins and ends; the timer expires |
//! | `timeouts` | a timer is set or expires |
//! | `blocks` | a block of segments begins |
//! | `info` | an application asks for the state |
//! | `writing` | the application writes as its send buffer allows |
//! | `notices` | a queue notifies the sender of a drop |
//!
//! ## References
//! RFC 5681 §4.1 (restart after idle); RFC 6675 §4 (`NextSeg`); RFC 6298 §5.1; RFC 9002 §7.8.

mod acks;
mod blocks;
mod info;
mod notices;
mod recovering;
mod sending;
mod settings;
mod timeouts;
mod writing;

use self::settings::Settings;
use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::events::{Established, Learned};
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};
use ackclock_host::{ControlSeat, DeliveryRate, Limit, LimitedTimes, Limits, SeatRules};

use super::blocks::{Blocks, Pace};
use super::config::{Recovery, TIMESTAMPS};
use super::handshake::Agreed;
use super::hold::Hold;
use super::marks::Marks;
use super::rack::Rack;
use super::repair::{Force, Repair};
use super::rtt::Rtt;
use super::rules::Rules;
use super::scoreboard::{Scoreboard, SentSegment};
use super::segment::{BASE_HEADER, EcnCounts};
use super::send_buffer::SendBuffer;
use super::send_window::SendWindow;
use super::settings::Config;
use super::stream::Stream;
use super::ticks::Ticks;
use super::timers::Timers;
use super::tlp::Tlp;
use super::undo::Undo;
use crate::ranges::Range;

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
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
    /// Whether the segment belongs to the block of the one before.
    pub(super) continues: bool,
}

/// The window with which a system processes a SYN-ACK, in segments.
const FIRST_WINDOW: f64 = 10.0;

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

/// The sending half of an endpoint. The fields that an end without data needs come first, so that they fill few cache lines.
#[derive(Debug)]
pub(super) struct Sender {
    window: SendWindow,
    stream: Stream,
    repair: Repair,
    timers: Timers,
    rate: DeliveryRate,
    limits: Limits,
    last_sent: Instant,
    /// When this end last sent a packet of any kind.
    last_packet: Instant,
    rtt: Rtt,
    board: Scoreboard,
    seat: ControlSeat,
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
    /// Bytes that ACKs below the last one have delivered since the control heard of the last ACK.
    delivered_late: u64,
    /// Whether new data has left since the sender last stopped.
    has_sent: bool,
    /// Whether the congestion window has caused the deferral of a block.
    has_deferred: bool,
    blocks: Option<Box<Blocks>>,
    /// The send buffer; `None`: the application's data is always at hand.
    buffer: Option<Box<SendBuffer>>,
    hold: Hold,
}

impl Sender {
    /// A sender before the handshake.
    pub(super) fn new(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        let ticks = Ticks::new(config.timer_tick, config.timer_phase);
        let rules = SeatRules {
            smss: u64::from(config.mss),
            whole_segments: Rules::of(config).counts_segments,
            pacing: config.pacing,
            growth: config.growth,
            abc_limit: config.abc_limit,
            initial_pacing: config.initial_pacing,
            queue_pacing: Rules::of(config).paces_in_queue,
        };
        Self {
            window: SendWindow::default(),
            stream: Stream::new(),
            repair: Repair::new(config.recovery, config.limited_transmit, Rules::of(config).sacks_duplicates),
            timers: Timers::new(ticks),
            rate: DeliveryRate::default(),
            limits: Limits::default(),
            last_sent: Instant::ZERO,
            last_packet: Instant::ZERO,
            rtt: Rtt::new(config.rto, ticks),
            board: Scoreboard::new(config.offload.is_some(), Rules::of(config).keeps_copies),
            seat: ControlSeat::new(&rules, control),
            sent_bytes: 0,
            header: u64::from(BASE_HEADER),
            seed: 0,
            counters: Counters::default(),
            delivery_rate: None,
            settings: Settings::new(config),
            tlp: Tlp::default(),
            rack: Rack::new(Rules::of(config).resolution),
            marks: Marks::new(config),
            undo: Undo::default(),
            delivered: Vec::new(),
            delivered_late: 0,
            has_sent: false,
            has_deferred: false,
            blocks: config.offload.map(|offload| Box::new(Blocks::new(offload))),
            buffer: config.send_buffer.map(|size| Box::new(SendBuffer::new(size))),
            hold: Hold::new(config.nagle),
        }
    }

    /// The peer's SYN has arrived and advertises `window` bytes: the options are negotiated.
    pub(super) fn agree(&mut self, agreed: Agreed, window: u64) {
        let timestamps = if agreed.timestamps { TIMESTAMPS } else { 0 };
        self.header = u64::from(BASE_HEADER) + u64::from(timestamps);
        self.seat.agree(u64::from(agreed.smss));
        self.agree_on_marks(agreed);
        if !agreed.sack {
            self.repair.disable_sack();
        }
        self.window.offer(window);
    }

    /// The handshake has shown which feedback both ends use, and whether data may be ECN-capable.
    pub(super) fn agree_on_marks(&mut self, agreed: Agreed) {
        self.marks.agree(agreed.ecn, agreed.capable);
    }

    /// The ACK of the SYN-ACK feeds back how that has arrived, in this ACE field.
    pub(super) fn note_syn_ack_feedback(&mut self, field: u8) {
        self.counters.delivered_marked += u64::from(self.marks.note_syn_ack(field));
    }

    /// The peer has sent an option of accurate feedback.
    pub(super) fn hear_ecn_option(&mut self, option: &EcnCounts) {
        self.marks.hear_option(option);
    }

    /// The SYN was acknowledged, and the data that it carried below `first`; `rtt`: its round-trip time, if measured.
    pub(super) fn establish(&mut self, now: Instant, (active, lost_syns): (bool, u32), rtt: Option<Duration>, first: u64) {
        if rtt.is_none() {
            self.rtt.restart_after_lost_syn();
        }
        self.measure_syn(rtt);
        self.begin(now, active, lost_syns, first);
    }

    /// The SYN was delivered; `rtt`: its round-trip time, if measured.
    pub(super) fn measure_syn(&mut self, rtt: Option<Duration>) {
        self.counters.delivered += 1;
        if let Some(rtt) = rtt {
            self.rtt.end_backoff();
            self.rtt.measure_at(rtt, (1, 1));
            self.tlp.measure();
        }
    }

    /// Data may be sent from `first` on; `active`: this end has opened the connection.
    pub(super) fn begin(&mut self, now: Instant, active: bool, lost_syns: u32, first: u64) {
        self.window.establish(first);
        self.limits.begin(now);
        self.last_sent = now;
        let event = Established::new(now, Bytes(self.seat.smss())).with(|event| {
            event.lost_syns = lost_syns.saturating_sub(self.settings.lost_syns_tolerated);
            event.rtt = self.rtt.latest();
            event.rwnd = Some(self.seat.segments(self.window.offered()));
            event.available = self.stream.amount().map(|bytes| self.seat.segments(bytes));
            event.selective = self.repair.method() != Recovery::NewReno;
            event.header = Bytes(self.header);
            event.seed = self.seed;
            event.whole_segments = self.settings.rules.counts_segments;
            event.clock_phase = self.settings.timer_phase;
            event.marks = self.marks.accuracy();
        });
        if active {
            // The SYN-ACK is processed with the window that the system starts with, before the connection has its own.
            let window = Window { cwnd: FIRST_WINDOW, ..self.seat.window() };
            if let Some(blocks) = &mut self.blocks {
                blocks.set_rate(Pace::new(window, 0, self.rtt.srtt()));
            }
        }
        self.seat.establish(&event, (first, self.seat.smss()));
        // A control that paces sets its own rate when it begins.
        if !active || self.seat.in_blocks() {
            self.set_rate();
        }
        if let Some(mut buffer) = self.buffer.take() {
            buffer.grow(self.room_wanted(), self.mss());
            self.buffer = Some(buffer);
        }
        if self.next_new().is_none() {
            self.seat.begin_idle(now);
        }
        self.supply_first_flight();
    }

    /// The SYN carried data up to `end` that the peer has not taken: it counts as lost.
    #[cold]
    pub(super) fn lose_syn_data(&mut self, now: Instant, end: u64) {
        let mut start = self.window.nxt();
        while start < end {
            let last = (start + self.seat.smss()).min(end);
            let snapshot = self.rate.send(now, last - start, self.board.pipe());
            self.board.send((start, last), snapshot, (last == end, 0));
            self.counters.sent += 1;
            self.sent_bytes += last - start;
            start = last;
        }
        self.window.advance(end.max(self.window.nxt()));
        self.board.mark_all_lost();
    }

    /// Sets the segment size to `smss` bytes. Outstanding segments keep their size; their retransmissions do not.
    pub(super) fn change_mss(&mut self, smss: u64) {
        self.seat.change_mss(smss);
    }

    /// Sets the segment size. The window keeps its segments.
    pub(super) fn agree_on_mss(&mut self, smss: u64) {
        self.seat.agree(smss);
    }

    /// A bulk transfer keeps the stream filled: `bytes` in all, or unlimited.
    pub(super) fn pull(&mut self, bytes: Option<u64>) {
        self.stream.pull(bytes);
    }

    /// The application writes `bytes`; the send buffer is not limited.
    pub(super) fn write(&mut self, bytes: u64) {
        let start = self.stream.written();
        self.stream.write(bytes);
        self.hold.write(false);
        self.wake();
        if self.stream.is_written()
            && let Some(mut blocks) = self.blocks.take()
        {
            let (end, smss, nxt) = (self.stream.written(), self.seat.smss(), self.window.nxt());
            blocks.write((start, end), (nxt, self.leaving()), smss, self.window.largest());
            self.blocks = Some(blocks);
        }
        self.supply_first_flight();
    }

    /// Bytes that the windows allow to leave now.
    fn leaving(&self) -> u64 {
        let allowed = self.cwnd().saturating_sub(self.pipe()) / self.seat.unit() * self.seat.smss();
        allowed.min(self.window.offered().saturating_sub(self.window.nxt() - self.window.una()))
    }

    /// Spreads the data that an application has written over the first flight.
    fn supply_first_flight(&mut self) {
        if self.stream.is_written() {
            self.seat.supply_first_flight(self.stream.written());
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
    pub(super) fn seat(&self) -> &ControlSeat {
        &self.seat
    }

    /// Round-trip times and the retransmission timeout.
    pub(super) fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Whether data segments are ECN-capable.
    pub(super) fn uses_ecn(&self) -> bool {
        self.marks.is_capable()
    }

    /// This end sends a packet: data, or an ACK alone.
    pub(super) fn note_packet(&mut self, now: Instant) {
        self.last_packet = now;
    }

    /// The counters.
    pub(super) fn counters(&self) -> Counters {
        Counters { reductions: self.seat.reductions(), cwnd_max: self.seat.largest(), ..self.counters }
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

    /// Sets what earlier connections to the peer have `learned`.
    pub(super) fn set_learned(&mut self, learned: Learned) {
        self.seat.set_learned(learned);
    }

    /// The initial window for the next connection to the peer, if the first flight changes it.
    pub(super) fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        self.seat.finish_first_flight(learned)
    }

    /// Backs off the timeout, because the SYN was not acknowledged in time.
    pub(super) fn back_off(&mut self) {
        self.rtt.back_off();
    }

    /// Sends a segment that causes an ACK.
    pub(super) fn probe(&mut self) {
        self.repair.force(Force::WindowProbe);
    }

    /// Sets whether the application holds back small segments.
    pub(super) fn set_cork(&mut self, cork: bool) {
        self.hold.set_cork(cork);
    }

    /// Whether only the peer's window holds back the data.
    pub(super) fn waits_for_window(&self) -> bool {
        let allowed = self.unsent() > 0 && self.pipe() < self.cwnd();
        allowed && self.next_new().is_none() && !self.hold.holds(self.window.una())
    }

    /// Sets whether small segments wait for each other (Nagle's algorithm).
    pub(super) fn set_nagle(&mut self, nagle: bool) {
        self.hold.set_nagle(nagle);
    }

    /// Stops all timers at the end of the connection.
    pub(super) fn stop(&mut self) {
        self.timers.stop();
        self.seat.stop();
    }
}
