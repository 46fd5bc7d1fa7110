//! The congestion control, with what it put out last: the only place that tells it anything.
//!
//! A control counts its window in segments, the sender counts bytes; the segment size is kept here, where one becomes the other.
//!
//! ## References
//! RFC 5681 §4.1 (restart after idle); RFC 3465 §2.2 and §2.3 (what an ACK counts for); RFC 9002 §7.7 and §7.8 (pacing, unused windows);
//! RFC 8201 §5.4 (a new path MTU).

use ackclock_core::cc::{CongestionControl, Phase, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established, Lost, Sent};
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use super::config::{Config, Pacing};
use crate::first_flight::FirstFlight;
use crate::slow_start_exit::{ExitReason, SlowStartExit};

/// The congestion control of a sender.
#[derive(Debug)]
pub(super) struct Governor {
    control: Box<dyn CongestionControl>,
    /// The window after the last event, the same in bytes, and the phase.
    window: Window,
    cwnd: u64,
    phase: Phase,
    /// Sender maximum segment size in bytes (RFC 5681 §2), options that every segment carries taken off.
    smss: u64,
    /// What was sent below this filled the congestion window.
    limited_until: u64,
    /// Whether it paces, and when it wants to be called; the end of time: it does not.
    paces: bool,
    timer: Instant,
    pacing: Pacing,
    abc_limit: Segments,
    /// The first flight, until it is over and told of.
    first: Option<Box<FirstFlight>>,
    /// The initial window that earlier connections to the peer arrived at.
    learned: Option<Segments>,
    initial_window: Segments,
    initial_pacing: bool,
    largest: Segments,
    reductions: u64,
    /// How the first slow start ended.
    exit: SlowStartExit,
}

impl Governor {
    /// A control before the handshake.
    pub(super) fn new(config: &Config, control: Box<dyn CongestionControl>) -> Self {
        Self {
            window: control.window(),
            cwnd: 0,
            phase: control.phase(),
            smss: u64::from(config.mss),
            limited_until: 0,
            paces: control.paces(),
            timer: Instant::MAX,
            pacing: config.pacing,
            abc_limit: config.abc_limit,
            first: None,
            learned: None,
            initial_window: 1.0,
            initial_pacing: config.initial_pacing,
            largest: 0.0,
            reductions: 0,
            exit: SlowStartExit::default(),
            control,
        }
    }

    /// The segment size that both ends have agreed on.
    pub(super) fn agree(&mut self, smss: u64) {
        self.smss = smss;
    }

    /// Earlier connections to the peer have arrived at the initial window `learned`.
    pub(super) fn recall(&mut self, learned: Segments) {
        self.learned = Some(learned);
    }

    /// The connection is established; what is not in `event` is known here.
    pub(super) fn establish(&mut self, event: &Established) {
        let event = Established { smss: Bytes(self.smss), learned: self.learned, ..*event };
        self.control.on_established(&event);
        self.first = FirstFlight::new(&event, &*self.control, (1, self.smss), self.initial_pacing).map(Box::new);
        self.initial_window = self.control.window().cwnd;
        self.refresh();
    }

    /// Reads the outputs.
    fn refresh(&mut self) {
        (self.window, self.phase) = (self.control.window(), self.control.phase());
        self.cwnd = ((self.window.cwnd * self.smss as f64) as u64).max(self.smss);
        self.largest = self.largest.max(self.window.cwnd);
        if self.paces {
            self.timer = self.control.timer().unwrap_or(Instant::MAX);
        }
    }

    /// The control, for its own quantities.
    pub(super) fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// Window and threshold.
    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// The window in bytes, a segment at least.
    pub(super) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// The largest window so far.
    pub(super) fn largest(&self) -> Segments {
        self.largest
    }

    /// How often congestion was told.
    pub(super) fn reductions(&self) -> u64 {
        self.reductions
    }

    /// How the first slow start ended.
    pub(super) fn exit(&self) -> &SlowStartExit {
        &self.exit
    }

    /// Sender maximum segment size.
    pub(super) fn smss(&self) -> u64 {
        self.smss
    }

    /// Bytes as segments.
    pub(super) fn segments(&self, bytes: u64) -> Segments {
        bytes as f64 / self.smss as f64
    }

    /// Whether the control has rules of its own for recovery.
    pub(super) fn owns_recovery(&self) -> bool {
        self.control.owns_recovery()
    }

    /// Whether the window holds back on purpose now.
    pub(super) fn holds_back(&self) -> bool {
        self.control.holds_back()
    }

    /// Whether what was sent from `una` on filled the window.
    pub(super) fn was_limited(&self, una: u64) -> bool {
        una < self.limited_until
    }

    /// What was sent below `nxt` has filled the window.
    pub(super) fn note_limited(&mut self, nxt: u64) {
        self.limited_until = nxt;
    }

    /// RFC 3465 §2.2 and §2.3: segments for which an ACK of `bytes` counts; in slow start at most L, and one after a timeout.
    pub(super) fn counted(&self, bytes: u64, timed_out: bool) -> Segments {
        let segments = self.segments(bytes);
        match self.phase {
            Phase::Avoidance => segments,
            Phase::SlowStart if timed_out => segments.min(1.0),
            Phase::SlowStart => segments.min(self.abc_limit),
        }
    }

    /// An ACK has arrived.
    pub(super) fn hear(&mut self, ack: &Ack) {
        let before = self.window;
        self.control.on_ack(ack);
        self.refresh();
        if !self.exit.happened() && self.phase != Phase::SlowStart {
            let algorithm = self.window.ssthresh < before.ssthresh;
            let reason = if algorithm { ExitReason::Algorithm } else { ExitReason::Threshold };
            self.exit.note(reason, ack.now, before.cwnd.max(self.window.cwnd));
        }
    }

    /// Everything below `una` has been acknowledged.
    pub(super) fn acknowledge(&mut self, una: u64) {
        if let Some(first) = &mut self.first {
            first.acknowledge(una);
        }
    }

    /// A segment was sent.
    pub(super) fn send(&mut self, sent: &Sent) {
        if let Some(first) = &mut self.first
            && !sent.retransmission
        {
            first.send(sent.now, sent.snd_nxt);
        }
        self.control.on_sent(sent);
        if self.paces {
            self.refresh();
        }
    }

    /// A segment is thought to be lost.
    pub(super) fn lose(&mut self, lost: &Lost) {
        self.control.on_lost(lost);
        self.refresh();
    }

    /// Congestion was noticed, with everything below `una` acknowledged.
    pub(super) fn reduce(&mut self, event: &CongestionEvent, una: u64) {
        self.reductions += 1;
        self.note_exit(event);
        if let Some(first) = &mut self.first {
            // What is marked has arrived, and the ACK that says so acknowledges it.
            if event.cause == Cause::EcnCe { first.on_own_congestion() } else { first.on_congestion(una) }
        }
        self.control.on_congestion(event);
        self.refresh();
    }

    /// Notes how slow start has ended, and when a loss was first noticed.
    fn note_exit(&mut self, event: &CongestionEvent) {
        if !self.exit.happened() {
            let reason = match event.cause {
                Cause::DupAck => ExitReason::Loss,
                Cause::Timeout => ExitReason::Timeout,
                Cause::EcnCe => ExitReason::Mark,
            };
            self.exit.note(reason, event.now, self.window.cwnd);
        }
        if event.cause != Cause::EcnCe {
            self.exit.note_loss(event.now);
        }
    }

    /// A loss that a probe repaired is known to have hit the first flight, if that is not over.
    pub(super) fn on_own_congestion(&mut self) {
        if let Some(first) = &mut self.first {
            first.on_own_congestion();
        }
    }

    /// Recovery is over.
    pub(super) fn end_recovery(&mut self, now: Instant) {
        self.control.on_recovery_end(now);
        self.refresh();
    }

    /// The last reduction was spurious.
    pub(super) fn restore(&mut self, now: Instant) {
        self.control.on_spurious(now);
        self.refresh();
    }

    /// The window shrinks by `bytes`.
    pub(super) fn deflate(&mut self, bytes: u64) {
        self.control.deflate(self.segments(bytes));
        self.refresh();
    }

    /// The window shrinks to `most` segments, if it is larger.
    pub(super) fn deflate_to(&mut self, most: Segments) {
        let excess = self.window.cwnd - most;
        if excess > 0.0 {
            self.control.deflate(excess);
            self.refresh();
        }
    }

    /// RFC 5681 §4.1: after an idle retransmission timeout the window is at most the restart window.
    pub(super) fn restart_after_idle(&mut self) {
        self.deflate_to(self.initial_window);
    }

    /// Segments are of `smss` bytes from now on. The control keeps the bytes of its window (RFC 8201 §5.4), and so does the restart window.
    pub(super) fn change_mss(&mut self, smss: u64) {
        self.initial_window *= self.smss as f64 / smss as f64;
        self.smss = smss;
        self.control.on_mss(Bytes(smss));
        self.refresh();
    }

    /// When the control wants to be called; the end of time: it does not.
    pub(super) fn timer(&self) -> Instant {
        self.timer
    }

    /// The time that the control asked for may have come.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.timer <= now {
            self.timer = Instant::MAX;
            self.control.on_timer(now);
            self.refresh();
        }
    }

    /// The connection is over: the control is called no more.
    pub(super) fn stop(&mut self) {
        self.timer = Instant::MAX;
    }

    /// The rate at which segments leave now, with a window of `cwnd` bytes in force, and what may leave at once: the control's own rate, or so
    /// many windows a round trip (RFC 9002 §7.7). `None`: without pacing.
    pub(super) fn pacing(&self, cwnd: u64, srtt: Option<Duration>) -> Option<(Rate, Bytes)> {
        if !self.paces {
            return Some((self.window_rate(cwnd, srtt)?, Bytes(0)));
        }
        let rate = self.control.pacing_rate().or_else(|| self.window_rate(cwnd, srtt))?;
        Some((rate, self.control.burst()))
    }

    fn window_rate(&self, cwnd: u64, srtt: Option<Duration>) -> Option<Rate> {
        let Pacing::Window { slow_start, avoidance } = self.pacing else { return None };
        let gain = if self.phase == Phase::SlowStart { slow_start } else { avoidance };
        let seconds = srtt?.max(Duration::NANOSECOND).as_secs_f64();
        Rate::from_bits_per_sec((gain * cwnd as f64 * 8.0 / seconds) as u64)
    }

    /// What lies before `end` has been written: what the first flight has to spread.
    pub(super) fn supply_first_flight(&mut self, end: u64) {
        if let Some(first) = &mut self.first {
            first.supply(end);
        }
    }

    /// When the first flight lets the next segment go, if it has to wait.
    pub(super) fn next_of_first_flight(&self) -> Option<Instant> {
        self.first.as_ref()?.next()
    }

    /// Whether the first flight is over and not told of.
    pub(super) fn is_first_flight_over(&self) -> bool {
        self.first.as_ref().is_some_and(|first| first.is_over())
    }

    /// Tells of the first flight; gives what the next connection to the peer shall know. `learned`: what it knows by now.
    pub(super) fn settle(&mut self, learned: Option<Segments>) -> Option<Segments> {
        let first = self.first.take()?;
        self.control.settle(&first.outcome(learned))
    }
}
