//! The seat of a congestion control: all that an endpoint tells its control, and all that it reads from it, passes through here.
//!
//! The endpoint reports facts. It gets back the window, pacing, the control's timer and phase, the first flight, the end of slow start and
//! the counters of these. A control counts segments. An endpoint counts its window in bytes or in whole segments, and places data by
//! positions of its own; the seat converts between them.
//!
//! ## References
//! RFC 5681 §4.1 (restart after idle); RFC 3465 §2.2 and §2.3 (how much an ACK counts); RFC 9002 §7.7 and §7.8 (pacing, unused windows);
//! RFC 8201 §5.4 (a new path MTU).

use std::collections::VecDeque;

use ackclock_core::cc::{CongestionControl, Phase, Wants, Window};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Delivered, Established, Idle, Learned, Lost, Sent, Timing};
use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Duration, Instant, Rate, Segments};

use crate::connection::Flight;
use crate::first_flight::FirstFlight;
use crate::pacing::Pacer;
use crate::rules::{Growth, Pacing, Restart, SeatRules};
use crate::slow_start_exit::{ExitReason, SlowStartExit};

/// The use of the window by the data that was last sent, once per window.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Whether the window was full at the end of a transmission.
    full: bool,
    /// Outstanding segments at the most.
    most: u32,
    /// The window ends when all data below this position is acknowledged.
    until: u64,
}

/// A congestion control in its host.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct ControlSeat {
    control: Box<dyn CongestionControl>,
    /// The window after the last event.
    window: Window,
    /// The window in units.
    cwnd: u64,
    /// Sender maximum segment size in bytes (RFC 5681 §2), without the options that every segment carries.
    smss: u64,
    /// Data sent below this position filled the congestion window.
    limited_until: u64,
    /// The use of the window, if it decides about growth.
    usage: Option<Usage>,
    /// Whether the control paces.
    paces: bool,
    /// Whether the host forms blocks for the control's rate.
    in_blocks: bool,
    /// What the control asks for.
    wants: Wants,
    /// Whether the control has heard of the round-trip time of the next ACK.
    told: bool,
    /// Since when nothing is in flight and nothing can be sent.
    idle_since: Option<Instant>,
    /// When the control's timer expires; `Instant::MAX`: never.
    timer: Instant,
    pacing: Pacing,
    pacer: Pacer,
    abc_limit: Segments,
    whole_segments: bool,
    /// The first flight, until it is over and the engine has fetched its outcome.
    first: Option<Box<FirstFlight>>,
    /// What earlier connections to the peer have learned.
    learned: Learned,
    restart_window: Segments,
    /// The window at the end of the handshake.
    initial_window: Option<Segments>,
    initial_pacing: bool,
    largest: Segments,
    /// The smallest round-trip time that an ACK has reported to the control.
    least_rtt: Option<Duration>,
    reductions: u64,
    /// Whether the last reduction can be undone.
    undoable: bool,
    /// How the first slow start ended.
    exit: SlowStartExit,
    /// First positions of the segments deemed lost, until a trace has fetched them; `None`: no trace wants them.
    lost: Option<VecDeque<u64>>,
}

impl ControlSeat {
    /// A control before the handshake, in an endpoint with these `rules`.
    pub fn new(rules: &SeatRules, control: Box<dyn CongestionControl>) -> Self {
        let in_blocks = rules.queue_pacing && control.paces() && control.paces_in_blocks();
        let in_queue = rules.queue_pacing && (in_blocks || matches!(rules.pacing, Pacing::Window { .. }));
        Self {
            window: control.window(),
            cwnd: 0,
            smss: rules.smss,
            limited_until: 0,
            usage: (rules.growth == Growth::Flight).then(Usage::default),
            paces: control.paces(),
            in_blocks,
            wants: control.wants(),
            told: false,
            idle_since: None,
            timer: Instant::MAX,
            pacing: rules.pacing,
            pacer: if in_queue { Pacer::of_queue() } else { Pacer::default() },
            abc_limit: rules.abc_limit,
            whole_segments: rules.whole_segments,
            first: None,
            learned: Learned::default(),
            restart_window: 1.0,
            initial_window: None,
            initial_pacing: rules.initial_pacing,
            largest: 0.0,
            least_rtt: None,
            reductions: 0,
            undoable: false,
            exit: SlowStartExit::default(),
            lost: None,
            control,
        }
    }

    /// The segment size that both ends have agreed on.
    pub fn agree(&mut self, smss: u64) {
        self.smss = smss;
    }

    /// Sets what earlier connections to the peer have `learned`.
    pub fn set_learned(&mut self, learned: Learned) {
        self.learned = learned;
    }

    /// The connection is established; adds segment size, learned window and pacing to `event`. `first`: the position of the first data not
    /// yet acknowledged, and the positions that a segment takes.
    pub fn establish(&mut self, event: &Established, first: (u64, u64)) {
        let paced = self.paces || self.pacing != Pacing::Control;
        let event = event.with(|event| {
            event.smss = Bytes(self.smss);
            (event.learned, event.saved, event.approved) = (self.learned.window, self.learned.path, self.learned.approved);
            event.paced = paced;
        });
        self.control.on_established(&event);
        self.first = FirstFlight::new(&event, &*self.control, first, self.initial_pacing).map(Box::new);
        self.refresh();
        (self.restart_window, self.initial_window) = (self.window.cwnd, Some(self.window.cwnd));
    }

    /// Reads the control's outputs. The seat itself does so after each event.
    #[inline]
    pub fn refresh(&mut self) {
        debug_assert!(
            self.paces || self.control.timer().is_none() && self.control.pacing_rate().is_none(),
            "a control that does not pace has set a timer or a rate"
        );
        self.window = self.control.window();
        let unit = self.unit();
        // RFC 5681 §3.1: a window below one segment still allows one if nothing is in flight.
        self.cwnd = (self.window.cwnd * unit as f64) as u64;
        self.largest = self.largest.max(self.window.cwnd);
        if self.paces {
            self.timer = self.control.timer().unwrap_or(Instant::MAX);
        }
    }

    /// The control; traces record its quantities.
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.control
    }

    /// What the control asks for besides the ordinary facts.
    pub fn wants(&self) -> Wants {
        self.wants
    }

    /// Whether the control alone answers marks.
    pub fn owns_marks(&self) -> bool {
        self.control.owns_marks()
    }

    /// Whether the control hears of a loss even if a mark has reduced the window for the same data.
    pub fn answers_losses_apart(&self) -> bool {
        self.control.answers_losses_apart()
    }

    /// The codepoint of the next segment with new data.
    pub fn ecn(&self) -> Ecn {
        match self.control.ecn() {
            // RFC 3168 §5: only the network marks.
            Ecn::Ce => Ecn::Ect0,
            codepoint => codepoint,
        }
    }

    /// Window and threshold.
    pub fn window(&self) -> Window {
        self.window
    }

    /// The window in units; it can be below one segment.
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// A full segment in the units in which windows and the pipe are counted: segments, if the host has whole segments, or else bytes.
    pub fn unit(&self) -> u64 {
        if self.whole_segments { 1 } else { self.smss }
    }

    /// The largest window so far.
    pub fn largest(&self) -> Segments {
        self.largest
    }

    /// The window at the end of the handshake.
    pub fn initial_window(&self) -> Option<Segments> {
        self.initial_window
    }

    /// The next ACK reports `rtt`, the time of its last segment, to the control.
    pub fn note_rtt(&mut self, rtt: Option<Duration>) {
        self.least_rtt = rtt.map(|rtt| self.least_rtt.map_or(rtt, |least| least.min(rtt))).or(self.least_rtt);
    }

    /// The smallest round-trip time for the control: `sampled` by the timer, whose samples include the delay of ACKs, or reported.
    #[inline]
    pub fn min_rtt(&self, sampled: Option<Duration>) -> Option<Duration> {
        match (sampled, self.least_rtt) {
            (Some(sampled), Some(reported)) => Some(sampled.min(reported)),
            (sampled, reported) => sampled.or(reported),
        }
    }

    /// Number of congestion events.
    pub fn reductions(&self) -> u64 {
        self.reductions
    }

    /// How the first slow start ended.
    pub fn exit(&self) -> &SlowStartExit {
        &self.exit
    }

    /// Sender maximum segment size.
    pub fn smss(&self) -> u64 {
        self.smss
    }

    /// `bytes` in segments.
    pub fn segments(&self, bytes: u64) -> Segments {
        bytes as f64 / self.smss as f64
    }

    /// Whether the control paces.
    pub fn paces(&self) -> bool {
        self.paces
    }

    /// Whether the control's own rules replace the host's during recovery; to be asked whenever such a rule is about to apply.
    pub fn owns_recovery(&self) -> bool {
        self.control.owns_recovery()
    }

    /// Whether the control holds back at present.
    pub fn holds_back(&self) -> bool {
        self.control.holds_back()
    }

    /// Whether the use of the window by the data from `una` on lets it grow.
    pub fn was_limited(&self, una: u64) -> bool {
        let Some(usage) = &self.usage else { return una < self.limited_until };
        usage.full || self.window.cwnd < self.window.ssthresh && self.window.cwnd < 2.0 * f64::from(usage.most)
    }

    /// A transmission of new data is over, or the window is full: `outstanding` segments, all data below `una` acknowledged and below `nxt`
    /// sent.
    pub fn note_usage(&mut self, full: bool, outstanding: usize, (una, nxt): (u64, u64)) {
        if let Some(usage) = &mut self.usage
            && (una >= usage.until || full || !usage.full && outstanding as u32 > usage.most)
        {
            *usage = Usage { full, most: outstanding as u32, until: nxt };
        }
    }

    /// The data sent below `nxt` has filled the window.
    pub fn note_limited(&mut self, nxt: u64) {
        self.limited_until = nxt;
    }

    /// RFC 3465 §2.2 and §2.3: the segments that an ACK of `bytes` counts; in slow start at most L, after a timeout at most one.
    pub fn counted(&self, bytes: u64, timed_out: bool) -> Segments {
        let segments = self.segments(bytes);
        match self.control.phase() {
            Phase::Avoidance => segments,
            Phase::SlowStart if timed_out => segments.min(1.0),
            Phase::SlowStart => segments.min(self.abc_limit),
        }
    }

    /// An ACK has measured a round-trip time, and has changed nothing else yet. `cwnd`: the window in force. A host that calls this before it
    /// reduces or restores the window calls it for every ACK; for another host [`Self::on_ack`] does.
    pub fn on_rtt(&mut self, timing: &Timing, cwnd: Segments) {
        if !self.wants.timing {
            return;
        }
        self.told = true;
        let before = self.window.cwnd;
        self.control.on_rtt(timing, cwnd);
        self.refresh();
        if !self.exit.happened() && self.control.phase() != Phase::SlowStart {
            self.exit.note(ExitReason::Algorithm, timing.now, before);
        }
    }

    /// An ACK has arrived.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && !self.told
        {
            let timing = Timing::new(ack.now, rtt).with(|timing| {
                timing.srtt = ack.srtt;
                timing.snd_una = ack.snd_una;
                timing.snd_nxt = ack.snd_nxt;
            });
            self.on_rtt(&timing, self.window.cwnd);
        }
        self.told = false;
        let before = self.window;
        self.control.on_ack(ack);
        self.refresh();
        if ack.may_grow && !self.exit.happened() && self.control.phase() != Phase::SlowStart {
            let algorithm = self.window.ssthresh < before.ssthresh;
            let reason = if algorithm { ExitReason::Algorithm } else { ExitReason::Threshold };
            self.exit.note(reason, ack.now, before.cwnd.max(self.window.cwnd));
        }
    }

    /// The ACK that follows delivers a segment; for a control that [wants](Wants::deliveries) it.
    pub fn on_delivered(&mut self, delivered: &Delivered) {
        self.control.on_delivered(delivered);
        self.refresh();
    }

    /// The position below which a segment is to be retransmitted now although it does not count as lost, after an ACK.
    #[inline]
    pub fn proactive_below(&self) -> Option<u64> {
        if self.wants.proactive { self.control.proactive_below() } else { None }
    }

    /// All data sent is acknowledged, or the connection is established, and nothing can be sent: neither application nor receiver's window
    /// give anything.
    #[cold]
    pub fn begin_idle(&mut self, now: Instant) {
        self.idle_since = Some(now);
    }

    /// Whether the connection is idle.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// There is data to send again. `restart`: what remains of the window, because no segment was sent for longer than the retransmission
    /// timeout. If all of it, the control learns nothing if the application has reacted to the last ACK at once.
    #[cold]
    #[inline(never)]
    pub fn end_idle(&mut self, now: Instant, restart: Restart) {
        if let Some(since) = self.idle_since.take().filter(|since| restart != Restart::No || *since < now) {
            let (restart_window, threshold) = self.restarted(restart);
            self.control.on_idle(&Idle::new(now, since).with(|idle| {
                idle.restart_window = restart_window;
                idle.threshold = threshold;
            }));
            self.refresh();
        }
    }

    /// The largest window and the smallest threshold after `restart`, if it demands them.
    fn restarted(&self, restart: Restart) -> (Option<Segments>, Option<Segments>) {
        match restart {
            Restart::No => (None, None),
            Restart::Full => (Some(self.restart_window), None),
            Restart::Halved(times) => {
                // RFC 2861 §3, in whole segments.
                let window = self.window.cwnd as u64;
                let halved = window.checked_shr(times).unwrap_or(0);
                (Some(self.restart_window.max(halved as f64)), Some((window / 2 + window / 4) as f64))
            }
        }
    }

    /// All data below `una` has been acknowledged.
    pub fn acknowledge(&mut self, una: u64) {
        if let Some(first) = &mut self.first {
            first.acknowledge(una);
        }
    }

    /// A segment of `size` bytes with headers leaves: the pacer holds back the next one. `continues`: it belongs to the block of the one before.
    /// `cwnd`: the window in force, in bytes.
    #[inline]
    pub fn pace(&mut self, now: Instant, (size, continues): (u64, bool), cwnd: u64, srtt: Option<Duration>) {
        if let Some((rate, burst)) = self.pacing(cwnd, srtt) {
            self.pacer.send(now, (size, continues), Some(rate), burst);
        }
    }

    /// When the pacer releases the next segment.
    pub fn next_of_pacer(&self) -> Instant {
        self.pacer.next()
    }

    /// When the pacer and the first flight release the next segment.
    pub fn next_release(&self) -> Instant {
        self.next_of_first_flight().map_or(self.pacer.next(), |next| next.max(self.pacer.next()))
    }

    /// A segment was sent; the next new one begins at position `nxt`.
    pub fn send(&mut self, sent: &Sent, nxt: u64) {
        if let Some(first) = &mut self.first
            && !sent.retransmission
        {
            first.send(sent.now, nxt);
        }
        self.control.on_sent(sent);
        if self.paces {
            self.refresh();
        }
    }

    /// A segment counts as lost.
    pub fn on_lost(&mut self, lost: &Lost) {
        if let Some(kept) = &mut self.lost {
            kept.push_back(lost.start);
        }
        self.control.on_lost(lost);
        self.refresh();
    }

    /// From now on, [`Self::next_lost`] tells the segments deemed lost.
    pub fn keep_lost(&mut self) {
        self.lost.get_or_insert_default();
    }

    /// The first position of the next segment deemed lost, in the order of detection.
    pub fn next_lost(&mut self) -> Option<u64> {
        self.lost.as_mut()?.pop_front()
    }

    /// What is in flight, for traces: `bytes`; `cwnd`: the window in force, in bytes.
    pub fn flight(&self, bytes: u64, cwnd: u64, srtt: Option<Duration>) -> Flight {
        Flight { bytes, smss: self.smss, pacing: self.pacing(cwnd, srtt).map(|(rate, _)| rate), phase: Some(self.control.phase()) }
    }

    /// The sender detected congestion after all data below `una` was acknowledged; 0: the handshake is not over.
    pub fn reduce(&mut self, event: &CongestionEvent, una: u64) {
        self.reductions += 1;
        self.undoable = true;
        // A lost SYN comes before slow start and does not end it.
        if una > 0 {
            self.note_exit(event);
        }
        if let Some(first) = &mut self.first {
            // A marked segment has arrived, and the ACK that echoes the mark acknowledges it.
            if event.cause == Cause::EcnCe { first.on_own_congestion() } else { first.on_congestion(una) }
        }
        self.control.on_congestion(event);
        self.refresh();
    }

    /// Records how slow start has ended, and when the first loss was detected.
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

    /// A loss that a probe has repaired hit the first flight, if that flight is not over.
    pub fn on_own_congestion(&mut self) {
        if let Some(first) = &mut self.first {
            first.on_own_congestion();
        }
    }

    /// Recovery is over.
    pub fn end_recovery(&mut self, now: Instant) {
        self.control.on_recovery_end(now);
        self.refresh();
    }

    /// The last reduction, if there was one since the last undo, was spurious.
    pub fn restore(&mut self, now: Instant) {
        if std::mem::take(&mut self.undoable) {
            self.control.on_spurious(now);
            self.refresh();
        }
    }

    /// A timer expired without new evidence of congestion: the window restarts from one segment.
    pub fn restart(&mut self) {
        self.control.on_restart();
        self.refresh();
    }

    /// As [`Self::restart`], but the window restarts from `segments` unless it is smaller.
    pub fn restart_from(&mut self, segments: Segments) {
        let window = self.window.cwnd.min(segments);
        self.restart();
        self.control.resize(window - self.window.cwnd, 1.0);
        self.refresh();
    }

    /// Shrinks the window by `segments`, to one segment at the least.
    pub fn deflate(&mut self, segments: Segments) {
        self.control.resize(-segments, 1.0);
        self.refresh();
    }

    /// Closes the window: new data waits until ACKs make the window grow or a timeout opens it (the recovery of ns-2's Vegas after a
    /// timeout).
    pub fn close(&mut self) {
        self.control.resize(-self.window.cwnd, 0.0);
        self.refresh();
    }

    /// Inflates the window by `segments` at duplicate ACKs (the recovery of ns-2's Vegas).
    pub fn inflate(&mut self, segments: Segments) {
        self.control.resize(segments, 1.0);
        self.refresh();
    }

    /// Shrinks the window to `most` segments, if it is larger.
    pub fn deflate_to(&mut self, most: Segments) {
        let excess = self.window.cwnd - most;
        if excess > 0.0 {
            self.control.resize(-excess, 1.0);
            self.refresh();
        }
    }

    /// Sets the segment size to `smss` bytes. Window and restart window keep their size in bytes (RFC 8201 §5.4).
    pub fn change_mss(&mut self, smss: u64) {
        self.restart_window *= self.smss as f64 / smss as f64;
        self.smss = smss;
        self.control.on_mss(Bytes(smss));
        self.refresh();
    }

    /// When the control's timer expires; `Instant::MAX`: never.
    pub fn timer(&self) -> Instant {
        self.timer
    }

    /// Calls the control if its timer is due; returns whether it was.
    pub fn handle_timeout(&mut self, now: Instant) -> bool {
        let due = self.timer <= now;
        if due {
            self.timer = Instant::MAX;
            self.control.on_timer(now);
            self.refresh();
        }
        due
    }

    /// The connection is over: stops the control's timer.
    pub fn stop(&mut self) {
        self.timer = Instant::MAX;
    }

    /// Whether the host forms blocks of segments for the control's own rate.
    pub fn in_blocks(&self) -> bool {
        self.in_blocks
    }

    /// The control's own pacing rate, if the host forms blocks for it.
    pub fn block_rate(&self) -> Option<Rate> {
        if self.in_blocks { self.control.pacing_rate() } else { None }
    }

    /// The current pacing rate and burst; `cwnd`: the window in force, in bytes. The rate is the control's own, or a multiple of the window
    /// per round trip (RFC 9002 §7.7). `None`: no pacing.
    pub fn pacing(&self, cwnd: u64, srtt: Option<Duration>) -> Option<(Rate, Bytes)> {
        if !self.paces {
            return Some((self.window_rate(cwnd, srtt)?, Bytes(0)));
        }
        let rate = self.control.pacing_rate().or_else(|| self.window_rate(cwnd, srtt))?;
        Some((rate, if self.in_blocks { Bytes(0) } else { self.control.burst() }))
    }

    fn window_rate(&self, cwnd: u64, srtt: Option<Duration>) -> Option<Rate> {
        let Pacing::Window { slow_start, avoidance } = self.pacing else { return None };
        let gain = if self.control.phase() == Phase::SlowStart { slow_start } else { avoidance };
        let seconds = srtt?.max(Duration::NANOSECOND).as_secs_f64();
        Rate::from_bits_per_sec((gain * cwnd as f64 * 8.0 / seconds) as u64)
    }

    /// The application has written the data below `end`, which the first flight spreads.
    pub fn supply_first_flight(&mut self, end: u64) {
        if let Some(first) = &mut self.first {
            first.supply(end);
        }
    }

    /// When the first flight releases the next segment, if that has to wait.
    pub fn next_of_first_flight(&self) -> Option<Instant> {
        self.first.as_ref()?.next()
    }

    /// Ends the wait of the first flight's next segment, if its time has come.
    pub fn release_first_flight(&mut self, now: Instant) {
        if let Some(first) = &mut self.first {
            first.release(now);
        }
    }

    /// Whether the first flight is over, so that [`ControlSeat::finish_first_flight`] can be called.
    pub fn is_first_flight_over(&self) -> bool {
        self.first.as_ref().is_some_and(|first| first.is_over())
    }

    /// The initial window for the next connection to the peer, if the first flight changes it. `learned`: the window stored for the peer so
    /// far.
    pub fn finish_first_flight(&mut self, learned: Option<Segments>) -> Option<Segments> {
        let first = self.first.take()?;
        self.control.on_first_window(&first.outcome(learned))
    }
}

#[cfg(test)]
#[path = "seat_tests.rs"]
mod tests;
