//! Adaptive ACKs: the rules by which Linux decides when to send an ACK.
//!
//! - **Quick ACKs.** At the start, after a pause longer than the retransmission timeout, and after a duplicate, the next segments are
//!   acknowledged at once: half as many as fit the window, at most `quick_acks`.
//! - **Growth.** A step by which the receive window grows makes the next ACK immediate.
//! - **More than a segment.** Otherwise an ACK is sent as soon as more than one segment waits for it.
//! - **Reads.** A segment that ends a write of the sender is acknowledged when the application has read everything: a full segment with
//!   PSH, or a smaller segment.
//! - **Delay.** Another ACK waits between `delayed_ack` and `delayed_ack_max`, in proportion to the spacing of the data and at most a
//!   round trip. A missed delay doubles it.
//! - **Interaction.** An end that answers data with data within the delay leaves ACKs to its answers, until a delay expires.
//! - **SACK compression.** Out-of-order segments beyond the third are acknowledged together, after a twentieth of the round trip, at most
//!   `sack_compression`. A segment that fills the last hole is acknowledged at once (RFC 5681 §4.2).
//!
//! Times are whole ticks of the host's timer. A timer of n ticks expires between n and n + 1 ticks later, at a tick.
//!
//! ## References
//! RFC 5681 §4.2; RFC 1122 §4.2.3.2; Linux Documentation/networking/ip-sysctl (`tcp_pingpong_thresh`, `tcp_comp_sack_delay_ns`,
//! `tcp_comp_sack_slack_ns`, `tcp_comp_sack_nr`). The rest was measured on Linux 6.18 (the numbers of
//! `tests/receiving.rs`).

use ackclock_core::units::{Duration, Instant};

use super::config::AdaptiveAcks as Settings;
use super::peer_segment::Size;
use super::rtt::Rtt;
use super::settings::Config;

/// The unit of time of a host with exact timers.
const EXACT: u64 = 1_000;
/// The longest delay that gaps between segments lead to (measured with Linux 7.2: a gap of 172 ms).
const LONGEST: Duration = Duration::from_nanos(200_000_000);
/// ACKs that a mark makes immediate.
const MARKED: u32 = 2;
/// Duplicate ACKs that are not compressed.
const UNCOMPRESSED: u32 = 3;

/// The facts on which an ACK depends.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Pending {
    /// Whether more than one segment waits for an ACK, and the window need not shrink.
    pub(super) more_than_a_segment: bool,
    /// Whether the arriving segment has filled the last hole.
    pub(super) filled: bool,
    /// Whether data above a hole waits.
    pub(super) hole: bool,
    /// Whether ACKs carry SACK blocks.
    pub(super) sack: bool,
    /// Next expected position.
    pub(super) rcv_nxt: u64,
    /// The receiver's round-trip time, in eighths of a microsecond.
    pub(super) rtt_eighths: u64,
}

/// The state of the rules.
#[derive(Debug)]
pub(super) struct AdaptiveAcks {
    settings: Settings,
    /// Nanoseconds in a tick, and ticks in a second.
    tick: u64,
    frequency: f64,
    /// Time from the latest tick to the start of the run.
    phase: Duration,
    /// Tick of the event that is being processed, and the tick after it.
    now: u64,
    until: f64,
    /// Ticks by which a timer may be late: one, unless timers are exact.
    late: u64,
    /// Shortest and longest delay, in ticks.
    least: u64,
    most: u64,
    /// Most quick ACKs in a row.
    quick_max: u32,
    /// Quick ACKs that remain.
    quick: u32,
    /// The delay, in ticks; zero before the first data.
    delay: u64,
    /// Tick of the latest data.
    latest: u64,
    /// Whether answers carry the ACKs.
    interactive: bool,
    /// Whether data waits for an ACK.
    scheduled: bool,
    /// Segments since the last ACK that ended a write; at most two.
    writes: u8,
    /// Tick for which the delayed ACK is planned.
    due: Option<u64>,
    /// Tick at which the timer of delayed ACKs expires. It runs on when its ACK has left earlier, and then releases a compressed one.
    timer: Option<u64>,
    /// When the compressed ACK is sent.
    compressed_due: Option<Instant>,
    /// ACKs that compression has saved since the last one sent.
    compressed: u32,
    /// Duplicate ACKs sent for this position.
    duplicates: (u64, u32),
}

impl AdaptiveAcks {
    pub(super) fn new(config: &Config, settings: Settings) -> Self {
        let exact = config.timer_tick == Duration::ZERO;
        let tick = if exact { EXACT } else { config.timer_tick.as_nanos() };
        Self {
            settings,
            tick,
            frequency: 1e9 / tick as f64,
            phase: config.timer_phase,
            now: 0,
            until: 1.0,
            late: u64::from(!exact),
            least: config.delayed_ack.as_nanos() / tick,
            most: settings.delay_max.as_nanos() / tick,
            quick_max: config.quick_acks,
            quick: 0,
            delay: 0,
            latest: 0,
            interactive: false,
            scheduled: false,
            writes: 0,
            due: None,
            timer: None,
            compressed_due: None,
            compressed: 0,
            duplicates: (0, 0),
        }
    }

    fn ticks(&self, now: Instant) -> u64 {
        // A time is never negative; the signed conversion takes fewer instructions.
        (self.fraction_of_ticks(now) as i64).cast_unsigned()
    }

    /// Ticks with their fraction. A decimal time does not fall into the previous tick.
    fn fraction_of_ticks(&self, now: Instant) -> f64 {
        (now + (self.phase + Duration::NANOSECOND)).as_secs_f64() * self.frequency
    }

    fn ticks_in(&self, span: Duration) -> u64 {
        ((span.as_secs_f64() * 1e9 + 0.5) as i64).cast_unsigned().div_ceil(self.tick)
    }

    /// Quick ACKs for `segments` segments, half of those that fit the window.
    fn quicken(&mut self, segments: u64) {
        let segments = if segments == 0 { 2 } else { segments };
        self.quick = self.quick.max(segments.min(u64::from(self.quick_max)) as u32);
    }

    /// A segment arrived.
    pub(super) fn note_time(&mut self, now: Instant) {
        // Most packets arrive in the tick of the one before.
        if self.fraction_of_ticks(now) >= self.until {
            self.now = self.ticks(now);
            self.until = (self.now + 1) as f64;
        }
    }

    /// An ACK is due, now or later.
    pub(super) fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// A segment of this size arrived.
    pub(super) fn note_size(&mut self, size: Size) {
        match size {
            Size::Full | Size::Resized => {}
            Size::Pushed => self.writes = self.writes.max(1),
            Size::Partial => self.writes = (self.writes + 1).min(2),
        }
    }

    /// The longest delay that gaps between segments lead to.
    fn longest(&self, rtt: &Rtt) -> u64 {
        self.ticks_in(rtt.timeout().min(LONGEST))
    }

    /// Data arrived in order. `half`: half of the segments that fit the window.
    pub(super) fn note_data(&mut self, rtt: &Rtt, half: impl FnOnce() -> u64) {
        let gap = self.now.saturating_sub(self.latest);
        if self.delay == 0 {
            self.quicken(half());
            self.delay = self.least;
        } else if gap <= self.least / 2 {
            self.delay = self.delay / 2 + self.least / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(self.longest(rtt));
        } else if gap > self.ticks_in(rtt.timeout()) {
            self.quicken(half());
        }
        self.latest = self.now;
    }

    /// The window has grown.
    pub(super) fn note_growth(&mut self) {
        if self.settings.on_growth {
            self.quick |= 1;
        }
    }

    /// A duplicate arrived: its sender needs ACKs at once.
    pub(super) fn note_duplicate(&mut self, half: u64) {
        self.quicken(half);
        self.interactive = false;
        self.delay = self.least;
    }

    /// A mark arrived: the window of its sender can be very small.
    pub(super) fn note_mark(&mut self) {
        self.quick = self.quick.max(MARKED);
        self.interactive = false;
        self.delay = self.least;
    }

    /// Less than half of the buffer is free: quick ACKs end.
    pub(super) fn note_shortage(&mut self) {
        self.quick = 0;
    }

    /// The peer has finished: the answer to its data, or the FIN, carries the ACK.
    pub(super) fn note_fin(&mut self) {
        self.scheduled = true;
        self.interactive = self.settings.interactive;
    }

    /// This end sends data.
    pub(super) fn note_data_sent(&mut self, now: Instant) {
        if self.settings.interactive && self.delay > 0 && self.ticks(now).saturating_sub(self.latest) < self.delay {
            self.interactive = true;
        }
    }

    /// Whether the ACK must be sent now. Otherwise a timer runs.
    pub(super) fn is_due(&mut self, now: Instant, rtt: &Rtt, pending: &Pending) -> bool {
        if !self.scheduled {
            return false;
        }
        if pending.more_than_a_segment || pending.filled || self.quick > 0 && !self.interactive {
            return true;
        }
        if !pending.hole {
            return self.postpone(rtt);
        }
        if !pending.sack || self.compressed >= self.settings.compressed_max || self.settings.compression == Duration::ZERO {
            return true;
        }
        if self.duplicates.0 != pending.rcv_nxt {
            self.duplicates = (pending.rcv_nxt, 0);
        }
        if self.duplicates.1 < UNCOMPRESSED {
            self.duplicates.1 += 1;
            return true;
        }
        self.compressed += 1;
        if self.compressed_due.is_none() {
            // Linux computes with eighths of microseconds: nanoseconds are 1.25 times these, and a hundredth.
            let srtt = rtt.srtt().map_or(u64::MAX, |srtt| srtt.as_nanos() * 8 / 1000);
            let eighths = srtt.min(pending.rtt_eighths);
            let part = eighths.saturating_add(eighths / 4).saturating_mul(self.settings.compression_percent.into());
            let wait = Duration::from_nanos(part.min(self.settings.compression.as_nanos()));
            self.compressed_due = Some(now + wait + self.settings.compression_slack);
            let tick = self.ticks(now);
            self.timer = self.timer.filter(|timer| *timer + self.late > tick);
        }
        false
    }

    /// Whether an ACK of out-of-order segments waits.
    pub(super) fn is_compressing(&self) -> bool {
        self.compressed > 0
    }

    /// Whether the timer of a compressed ACK expires now.
    pub(super) fn expires_compressed(&self, now: Instant) -> bool {
        self.compressed > 0 && self.compressed_due.is_some_and(|due| due <= now + Duration::NANOSECOND)
    }

    /// Plans a delayed ACK; returns whether the one planned before is so near that it is sent now.
    fn postpone(&mut self, rtt: &Rtt) -> bool {
        let tick = self.now;
        let mut delay = self.delay.min(self.most);
        if delay > self.least
            && let Some(srtt) = rtt.srtt()
        {
            delay = delay.min(self.ticks_in(srtt).max(self.least));
        }
        // Before the first data the delay is zero; a timer does not expire in the past.
        delay = delay.max(1 - self.late);
        let planned = self.due.unwrap_or(u64::MAX);
        if planned <= tick + delay / 4 {
            return true;
        }
        self.due = Some(planned.min(tick + delay));
        self.timer = self.due;
        false
    }

    /// The application has read data; `all`: nothing is left to read. Returns whether an ACK must be sent now.
    pub(super) fn is_due_after_read(&self, more_than_a_segment: bool, all: bool) -> bool {
        let ends_write = self.writes > 0 && self.settings.on_read && all && (self.writes == 2 || !self.interactive);
        self.scheduled && (more_than_a_segment || ends_write)
    }

    /// When the next timer expires.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let running = if self.compressed > 0 { self.timer } else { None };
        let delayed =
            self.due.or(running).map(|due| Instant::from_nanos(((due + self.late) * self.tick).saturating_sub(self.phase.as_nanos())));
        match (delayed, self.compressed_due) {
            (Some(one), Some(other)) => Some(if one < other { one } else { other }),
            (one, other) => one.or(other),
        }
    }

    /// Handles expired timers; returns whether an ACK must be sent now.
    pub(super) fn handle_timeout(&mut self, now: Instant, rtt: &Rtt) -> bool {
        let compressed = self.compressed_due.take_if(|due| *due <= now).is_some() && self.compressed > 0;
        let (tick, late) = (self.ticks(now), self.late);
        if self.timer.take_if(|timer| *timer + late <= tick).is_some() && self.compressed > 0 {
            return true;
        }
        let delayed = self.due.take_if(|due| *due + late <= tick).is_some() && self.scheduled;
        if delayed {
            if self.interactive {
                self.interactive = false;
                self.delay = self.least;
            } else {
                self.delay = (2 * self.delay).min(self.longest(rtt));
            }
        }
        compressed || delayed
    }

    /// An ACK is sent; `scarce`: less than half of the buffer is free.
    pub(super) fn note_sent(&mut self, scarce: bool) {
        if scarce {
            self.note_shortage();
        }
        if self.scheduled && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = self.least;
            }
        }
        self.scheduled = false;
        self.writes = 0;
        self.due = None;
        self.compressed = 0;
        self.compressed_due = None;
    }

    /// Cancels the timers.
    pub(super) fn stop(&mut self) {
        self.due = None;
        self.timer = None;
        self.compressed_due = None;
    }
}
