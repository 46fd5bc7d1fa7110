//! The sending half: what there is to send, and whether it may go.
//!
//! Positions count the stream from the SYN, which has position 0; the FIN has the position after the last byte.
//!
//! ## References
//! RFC 9293 §3.8.6.2.1 (silly windows), §3.8.6.1 (window probes); RFC 5681 §4.1 (restart after idle); RFC 6675 §4 (`NextSeg`);
//! RFC 3042 (limited transmit).

use ackclock_core::cc::{CongestionControl, Phase as ControlPhase};
use ackclock_core::events::{Established, Sent as SentEvent, Totals};
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use super::config::{Config, Pacing, Recovery};
use super::paws;
use super::prr::Prr;
use super::rack::Rack;
use super::ranges::Range;
use super::rtt::Rtt;
use super::scoreboard::{Scoreboard, SentSegment};
use super::segment::BASE_HEADER;
use super::timers::Timers;
use super::tlp::Tlp;
use super::undo::Undo;
use crate::first_flight::FirstFlight;
use crate::pacing::Pacer;
use crate::rate::DeliveryRate;
use crate::slow_start_exit::SlowStartExit;

/// Whether losses are being repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No.
    Open,
    /// After duplicate ACKs, SACK or RACK: fast recovery.
    Fast,
    /// After the retransmission timer has expired.
    Timeout,
}

/// What goes next whatever the windows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Nothing.
    Nothing,
    /// The first segment that is thought to be lost.
    Lost,
    /// So many new segments beyond the congestion window.
    New(u8),
    /// The last segment again (a tail loss probe).
    Last,
    /// An empty segment that makes the peer tell its window.
    WindowProbe,
    /// Less than a segment, since the window has stayed small for long.
    Override,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Output {
    /// Its positions; empty for a window probe.
    pub(super) range: Range,
    /// Whether the last position is a FIN.
    pub(super) fin: bool,
    /// Whether it ends what there is to send.
    pub(super) push: bool,
    /// Whether it was sent before.
    pub(super) retransmission: bool,
    /// Whether it says that the window has been reduced (CWR).
    pub(super) cwr: bool,
}

/// Where data comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supply {
    /// An application writes what it has, and may write more.
    Written,
    /// It is written as it can be sent: so many bytes in all, or without end.
    Pulled(Option<u64>),
}

/// What the sender counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Segments with data or FIN sent, retransmissions included.
    pub(crate) sent: u64,
    /// Segments sent again.
    pub(crate) retransmitted: u64,
    /// Expired retransmission timers.
    pub(crate) timeouts: u64,
    /// Tail loss probes.
    pub(crate) probes: u64,
    /// Reductions of the window.
    pub(crate) reductions: u64,
    /// Reductions taken back.
    pub(crate) undone: u64,
    /// Largest congestion window.
    pub(crate) cwnd_max: Segments,
}

/// The sending half of an endpoint.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) config: Config,
    pub(super) control: Box<dyn CongestionControl>,
    /// Whether it paces.
    paces: bool,
    pub(super) recovery: Recovery,
    /// Sender maximum segment size in bytes (RFC 5681 §2), options that every segment carries taken off.
    pub(super) smss: u64,
    pub(super) board: Scoreboard,
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
    /// One past the last byte that the application has written.
    written: u64,
    /// Whether the application writes no more.
    closed: bool,
    /// One past the last position that the peer allows.
    pub(super) edge: u64,
    /// Largest window that the peer has offered.
    pub(super) max_window: u64,
    /// Sequence and ACK of the segment that told the window last (`SND.WL1`, `SND.WL2`).
    pub(super) window_told: (u64, u64),
    pub(super) phase: Phase,
    /// One past the highest position sent when recovery began.
    pub(super) recovery_point: u64,
    /// First unacknowledged position when the timer last expired.
    pub(super) timeout_una: u64,
    pub(super) dupacks: u32,
    /// NewReno: bytes by which duplicate ACKs inflate the window.
    pub(super) inflation: u64,
    pub(super) prr: Option<Prr>,
    pub(super) rack: Rack,
    pub(super) tlp: Tlp,
    pub(super) undo: Undo,
    pub(super) rtt: Rtt,
    pub(super) rate: DeliveryRate,
    pub(super) pacer: Pacer,
    pub(super) timers: Timers,
    pub(super) force: Force,
    /// RFC 6675: end of the highest segment sent again, and the point below which the rescue retransmission has been used.
    high_rxt: u64,
    rescue_rxt: Option<u64>,
    /// What was sent below this filled the congestion window.
    pub(super) limited_until: u64,
    last_sent: Instant,
    /// Initial window in segments.
    initial_window: Segments,
    /// The first flight, until it is over and told of.
    pub(super) first: Option<Box<FirstFlight>>,
    pub(super) supply: Supply,
    /// The initial window that earlier connections to the peer arrived at.
    pub(super) learned: Option<Segments>,
    /// From which the control draws its random decisions.
    pub(super) seed: u64,
    /// Whether ECN is in use.
    pub(super) ecn: bool,
    /// Marks of what was sent below this have been answered.
    pub(super) cwr_point: u64,
    /// Whether the next new segment says CWR.
    pub(super) cwr: bool,
    /// What the ACK under way delivers; kept for its memory.
    pub(super) delivered: Vec<SentSegment>,
    pub(super) counters: Counters,
    /// Bytes sent, retransmissions included.
    sent_bytes: u64,
    /// How the first slow start ended.
    pub(super) exit: SlowStartExit,
}

impl Sender {
    /// A sender before the handshake.
    pub(super) fn new(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        Self {
            config: config.clone(),
            paces: control.paces(),
            control,
            recovery: config.recovery,
            smss: u64::from(config.mss),
            board: Scoreboard::default(),
            snd_una: 0,
            snd_nxt: 0,
            written: 1,
            closed: false,
            edge: 0,
            max_window: 0,
            window_told: (0, 0),
            phase: Phase::Open,
            recovery_point: 0,
            timeout_una: 0,
            dupacks: 0,
            inflation: 0,
            prr: None,
            rack: Rack::default(),
            tlp: Tlp::default(),
            undo: Undo::default(),
            rtt: Rtt::new(config.rto),
            rate: DeliveryRate::default(),
            pacer: Pacer::default(),
            timers: Timers::default(),
            force: Force::Nothing,
            high_rxt: 0,
            rescue_rxt: None,
            limited_until: 0,
            last_sent: Instant::ZERO,
            initial_window: 1.0,
            first: None,
            supply: Supply::Written,
            learned: None,
            seed: 0,
            ecn: false,
            cwr_point: 0,
            cwr: false,
            delivered: Vec::new(),
            counters: Counters::default(),
            sent_bytes: 0,
            exit: SlowStartExit::default(),
        }
    }

    /// The SYN was acknowledged.
    pub(super) fn establish(&mut self, now: Instant, lost_syns: u32) {
        (self.snd_una, self.snd_nxt) = (1, 1);
        self.last_sent = now;
        let segments = |bytes: u64| bytes as f64 / self.smss as f64;
        let event = Established {
            now,
            smss: Bytes(self.smss),
            lost_syns,
            rtt: self.rtt.latest(),
            rwnd: Some(segments(self.edge - 1)),
            available: if let Supply::Pulled(bytes) = self.supply { bytes.map(segments) } else { None },
            learned: self.learned,
            selective: self.recovery != Recovery::NewReno,
            header: Bytes(u64::from(BASE_HEADER)),
            seed: self.seed,
        };
        self.control.on_established(&event);
        self.first = FirstFlight::new(&event, &*self.control, (1, self.smss), self.config.initial_pacing).map(Box::new);
        if self.supply == Supply::Written {
            self.hold_first_flight();
        }
        self.initial_window = self.control.window().cwnd;
        self.note_outputs();
    }

    /// The application hands over `bytes`.
    pub(super) fn write(&mut self, bytes: u64) {
        if !self.closed {
            self.written += bytes;
        }
        if self.supply == Supply::Written {
            self.hold_first_flight();
        }
    }

    /// What has been written is what the first flight has to spread.
    fn hold_first_flight(&mut self) {
        if let Some(first) = &mut self.first {
            first.hold(self.written);
        }
    }

    /// The application writes no more.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// One past the last position there is to send.
    fn end(&self) -> u64 {
        self.written + u64::from(self.closed)
    }

    /// Whether the FIN was sent, and whether it was acknowledged.
    pub(super) fn fin(&self) -> (bool, bool) {
        let after = self.written + 1;
        (self.closed && self.snd_nxt == after, self.closed && self.snd_una == after)
    }

    /// Bytes written and not yet sent, a FIN included.
    pub(super) fn unsent(&self) -> u64 {
        self.end() - self.snd_nxt.max(1)
    }

    /// The next segment to send, if there is one.
    pub(super) fn next(&mut self, now: Instant) -> Option<Output> {
        self.restart_after_idle(now);
        let output = match self.take_forced() {
            Some(output) => output,
            None => self.choose(now)?,
        };
        self.note_sent(now, &output);
        Some(output)
    }

    /// What goes whatever the windows say.
    fn take_forced(&mut self) -> Option<Output> {
        let force = std::mem::replace(&mut self.force, Force::Nothing);
        let range = match force {
            Force::Nothing => return None,
            Force::Lost => self.board.next_lost()?,
            Force::Last => self.board.last().map(|segment| (segment.start, segment.end))?,
            Force::WindowProbe => {
                let position = self.snd_una - 1;
                return Some(Output { range: (position, position), fin: false, push: false, retransmission: false, cwr: false });
            }
            Force::Override => (self.snd_nxt, self.reach()),
            Force::New(count) => {
                let range = self.next_new()?;
                self.force = if count > 1 { Force::New(count - 1) } else { Force::Nothing };
                range
            }
        };
        Some(self.output(range))
    }

    /// The segment of `range`, which begins at `SND.NXT` if it is new.
    fn output(&self, range: Range) -> Output {
        let retransmission = range.0 < self.snd_nxt;
        let (_, end) = range;
        Output { range, fin: end > self.written, push: end >= self.written, retransmission, cwr: self.cwr && !retransmission }
    }

    /// What goes if pacing and the congestion window allow it.
    fn choose(&mut self, now: Instant) -> Option<Output> {
        self.timers.pace(None);
        let Some(range) = self.next_wanted() else {
            if self.unsent() == 0 {
                self.note_all_sent();
            }
            return None;
        };
        let length = range.1.min(self.written) - range.0.min(self.written);
        let pipe = self.pipe_in_force();
        // RFC 5681 §3.1: a window, however small, lets one segment go.
        let fits = pipe + length <= self.cwnd_bytes() || pipe == 0;
        let next = self.first.as_ref().and_then(|first| first.next()).map_or(self.pacer.next(), |next| next.max(self.pacer.next()));
        let paced = next > now;
        if !fits || paced {
            // RFC 9002 §7.8: a sender that waits for its pacer uses its window.
            self.limited_until = self.snd_nxt;
            self.timers.pace(if fits { Some(next) } else { None });
            return None;
        }
        Some(self.output(range))
    }

    /// All data is sent. RFC 9002 §7.8: the window is used if it has no room for a segment more; otherwise the application limits.
    fn note_all_sent(&mut self) {
        if self.pipe_in_force() + self.smss > self.cwnd_bytes() {
            self.limited_until = self.snd_nxt;
        } else {
            self.rate.note_app_limited(self.board.pipe());
        }
    }

    /// What is to be sent next: RFC 6675 §4, `NextSeg`, whose rules 3 and 4 are for its own recovery only.
    fn next_wanted(&mut self) -> Option<Range> {
        if !self.undo.holds_retransmissions()
            && let Some(lost) = self.board.next_lost()
        {
            return Some(lost);
        }
        if let Some(new) = self.next_new() {
            return Some(new);
        }
        if self.recovery != Recovery::Sack || self.phase != Phase::Fast {
            return None;
        }
        // Rule 3.
        if let Some(unsacked) = self.board.next_unsacked(self.high_rxt) {
            return Some(unsacked);
        }
        // Rule 4: the rescue retransmission, once in a recovery unless the cumulative ACK moves past it.
        let may_rescue = self.rescue_rxt.is_none_or(|rescue| self.snd_una > rescue);
        self.board.last_unsacked().filter(|_| may_rescue)
    }

    /// The furthest that a new segment may go.
    fn reach(&self) -> u64 {
        // The FIN travels with the last byte.
        let full = (self.snd_nxt + self.smss).min(self.written);
        let end = if full == self.written { self.end() } else { full };
        end.min(self.edge).max(self.snd_nxt)
    }

    /// The next segment of new data, if the peer's window lets one go that is worth it.
    pub(super) fn next_new(&self) -> Option<Range> {
        let end = self.reach();
        let length = end - self.snd_nxt;
        // RFC 9293 §3.8.6.2.1, without the Nagle algorithm: a full segment, the end of the data, or half of the largest window.
        let worthy = length >= self.smss || end == self.end() || 2 * length >= self.max_window;
        (length > 0 && worthy).then_some((self.snd_nxt, end))
    }

    /// The congestion window now, in bytes.
    pub(super) fn cwnd_bytes(&self) -> u64 {
        let cwnd = ((self.control.window().cwnd * self.smss as f64) as u64).max(self.smss);
        match (&self.prr, self.phase) {
            (Some(prr), Phase::Fast) => prr.cwnd(),
            _ => cwnd + self.inflation + self.limited_transmit(),
        }
    }

    /// RFC 3042: without SACK the first two duplicate ACKs let a new segment go each. With SACK the pipe shrinks instead.
    fn limited_transmit(&self) -> u64 {
        let applies = self.config.limited_transmit && self.recovery == Recovery::NewReno && self.phase == Phase::Open;
        if applies { u64::from(self.dupacks.min(2)) * self.smss } else { 0 }
    }

    /// The pipe, or what stands for it while limited transmit is off and nothing is known to be lost.
    fn pipe_in_force(&self) -> u64 {
        let pipe = self.board.pipe();
        if self.config.limited_transmit || self.phase != Phase::Open { pipe } else { pipe + self.board.sacked_bytes() }
    }

    /// RFC 5681 §4.1: after an idle retransmission timeout the window is at most the restart window.
    fn restart_after_idle(&mut self, now: Instant) {
        let idle = self.board.flight_size() == 0 && self.unsent() > 0 && now.since(self.last_sent) > self.rtt.timeout();
        if idle && self.config.idle_restart {
            let excess = self.control.window().cwnd - self.initial_window;
            if excess > 0.0 {
                self.control.deflate(excess);
            }
            self.last_sent = now;
        }
    }

    fn note_sent(&mut self, now: Instant, output: &Output) {
        let (start, end) = output.range;
        if start == end {
            return;
        }
        let idle = self.board.flight_size() == 0;
        let first = start == self.snd_una;
        let (size, app_limited) = (end - start, self.rate.is_app_limited());
        let snapshot = self.rate.send(now, size, self.board.pipe());
        self.counters.sent += 1;
        self.sent_bytes += size;
        if output.retransmission {
            self.note_retransmission(now, output.range);
            self.board.resend(start, snapshot);
        } else {
            self.board.send(output.range, snapshot);
            self.snd_nxt = end;
            if let Some(first) = &mut self.first {
                first.send(now, end);
            }
            self.cwr &= !output.cwr;
        }
        self.last_sent = now;
        if let (Some(prr), Phase::Fast) = (&mut self.prr, self.phase) {
            prr.send(size);
        }
        let rate = self.pacing_rate();
        self.pacer.send(now, size + u64::from(BASE_HEADER), rate, self.control.burst());
        self.control.on_sent(&SentEvent {
            now,
            size,
            flight_size: self.flight_segments(),
            inflight: snapshot.inflight,
            snd_nxt: self.snd_nxt,
            total: self.total(),
            retransmission: output.retransmission,
            app_limited,
        });
        if self.paces {
            self.note_outputs();
        }
        // RFC 6298 §5.1; RFC 6675 §5: a retransmission of the first segment starts the timer over.
        if idle || self.timers.rto().is_none() || output.retransmission && first {
            self.timers.set_rto(now + self.rtt.timeout());
        }
        if !output.retransmission {
            self.schedule_probe(now);
        }
    }

    fn note_retransmission(&mut self, now: Instant, (start, end): Range) {
        self.counters.retransmitted += 1;
        self.undo.retransmit(paws::timestamp(now, self.config.initial_timestamp));
        // RFC 6675 §4, rule 4: what is neither lost nor below the highest SACKed segment, or has been sent again before.
        let lost = self.board.next_lost().is_some_and(|lost| lost.0 == start);
        if !lost && (start < self.high_rxt || self.board.high_sacked().is_none_or(|highest| end > highest)) {
            self.rescue_rxt = Some(self.recovery_point);
        } else {
            self.high_rxt = self.high_rxt.max(end);
        }
    }

    /// Forgets what RFC 6675 keeps for one recovery.
    pub(super) fn reset_next_seg(&mut self) {
        (self.high_rxt, self.rescue_rxt) = (self.snd_una, None);
    }

    /// Segments of full size that what is outstanding would fill.
    pub(super) fn flight_segments(&self) -> u32 {
        self.board.flight_size().div_ceil(self.smss) as u32
    }

    /// The rate at which segments leave now: the control's own, or so many windows a round trip (RFC 9002 §7.7). `None`: without pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        if self.paces
            && let Some(rate) = self.control.pacing_rate()
        {
            return Some(rate);
        }
        let Pacing::Window { slow_start, avoidance } = self.config.pacing else { return None };
        let gain = if self.control.phase() == ControlPhase::SlowStart { slow_start } else { avoidance };
        let seconds = self.rtt.srtt()?.max(Duration::NANOSECOND).as_secs_f64();
        Rate::from_bits_per_sec((gain * self.cwnd_bytes() as f64 * 8.0 / seconds) as u64)
    }

    /// The connection so far.
    pub(super) fn total(&self) -> Totals {
        Totals { sent: self.sent_bytes, delivered: self.rate.delivered(), lost: self.rate.lost() }
    }

    /// Notes what the control may have changed.
    pub(super) fn note_outputs(&mut self) {
        self.counters.cwnd_max = self.counters.cwnd_max.max(self.control.window().cwnd);
        if self.paces {
            self.timers.set_control(self.control.timer());
        }
    }

    /// Smoothed and smallest round-trip time, and the timeout.
    pub(super) fn timing(&self) -> (Option<Duration>, Option<Duration>, Duration) {
        (self.rtt.srtt(), self.rtt.min(), self.rtt.timeout())
    }
}
