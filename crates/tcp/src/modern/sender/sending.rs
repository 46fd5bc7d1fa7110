//! Choice and transmission of the next segment.
//!
//! ## References
//! RFC 5681 §3.1 and §4.1; RFC 6675 §4 (`NextSeg`); RFC 6298 §5.1; RFC 9002 §7.8.

use ackclock_core::cc::Window;
use ackclock_core::events::{Sent, Totals};
use ackclock_core::units::Instant;
use ackclock_host::{Limit, Restart};

use super::super::repair::Force;
use super::super::timers::Timer;
use super::{Output, Sender};
use crate::ranges::Range;

impl Sender {
    /// The next segment to send, if any.
    pub(in super::super) fn next(&mut self, now: Instant) -> Option<Output> {
        if self.has_nothing_to_do() {
            self.timers.clear(Timer::Pace);
            self.rate.note_app_limited(0);
            let closed = self.stream.end_of_fin().is_some();
            self.limits.note(now, if closed { Limit::Nothing } else { Limit::Application });
            return None;
        }
        if self.seat.is_idle() && self.next_new().is_some() {
            self.end_idle(now);
        }
        let overrides = self.repair.is_forced_through();
        let Some(mut output) = self.take_forced(now).or_else(|| self.choose(now)) else {
            self.note_stop();
            return None;
        };
        if self.blocks.is_some() && !overrides {
            self.set_push(&mut output);
        }
        self.note_sent(now, &output);
        Some(output)
    }

    /// The sender stops transmitting for now.
    fn note_stop(&mut self) {
        // Less room than for a segment: in bytes, a window can have a rest that none fits into.
        let full = std::mem::take(&mut self.has_deferred) || self.pipe() + self.seat.unit() > self.cwnd();
        if let Some(blocks) = &mut self.blocks {
            blocks.stop();
        }
        self.hold.fill(false);
        if self.has_sent || full && self.unsent() > 0 {
            self.seat.note_usage(full, self.board.segments(), (self.window.una(), self.window.nxt()));
            self.has_sent = false;
        }
    }

    /// Whether no segment is outstanding or waiting: the usual case at the end that receives data.
    pub(in super::super) fn has_nothing_to_do(&self) -> bool {
        self.window.is_idle() && self.unsent() == 0 && self.repair.is_open() && !self.repair.is_forced()
    }

    /// The transmission that ignores the windows, if one is pending.
    fn take_forced(&mut self, now: Instant) -> Option<Output> {
        let range = match self.repair.take_force() {
            Force::Nothing => return None,
            Force::Lost => self.fit(self.board.first_waiting()?),
            Force::Last => self.board.last().map(|segment| self.fit(segment.range()))?,
            Force::Proactive(position) => self.fit(self.board.last_sent_once(position)?),
            Force::WindowProbe => {
                let position = self.window.una() - 1;
                return Some(Output {
                    range: (position, position),
                    fin: false,
                    push: false,
                    retransmission: false,
                    cwr: false,
                    marks: (false, 0),
                    continues: false,
                });
            }
            Force::Override => {
                self.end_idle(now);
                (self.window.nxt(), self.window.reach(&self.stream, self.seat.smss()))
            }
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
            continues: false,
        }
    }

    /// The next segment, if pacing and the congestion window allow it.
    fn choose(&mut self, now: Instant) -> Option<Output> {
        self.timers.clear(Timer::Pace);
        let wanted = self.next_wanted();
        if wanted.is_none() && self.unsent() > 0 {
            self.keep_block();
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
        // The pacer releases whole blocks.
        let resends = || self.seat.in_blocks() && self.blocks.as_ref().is_some_and(|blocks| blocks.continues(range.0));
        let next = if self.continues_block() || resends() { now } else { self.seat.next_release() };
        let new = fits && next <= now && range.0 == self.window.nxt();
        let deferred = if new { self.begin_block(now, pipe, cwnd) } else { None };
        if deferred == Some(Limit::ReceiveWindow) {
            self.limits.note(now, Limit::ReceiveWindow);
            return None;
        }
        if !fits || next > now || deferred.is_some() {
            // RFC 9002 §7.8: a sender limited by its pacer counts as using its window.
            self.seat.note_limited(self.window.nxt());
            self.limits.note(now, Limit::CongestionWindow);
            if fits && deferred.is_none() {
                self.timers.set(Timer::Pace, next);
            }
            return None;
        }
        Some(self.output(range))
    }

    /// All data is sent. RFC 9002 §7.8: the window counts as used if it has no room for another segment; otherwise the application is the
    /// limit.
    fn note_all_sent(&mut self, now: Instant, pipe: u64, cwnd: u64) {
        if pipe + self.seat.unit() > cwnd {
            self.seat.note_limited(self.window.nxt());
            self.limits.note(now, Limit::CongestionWindow);
        } else {
            self.rate.note_app_limited(self.board.pipe());
            self.limits.note(now, Limit::Application);
        }
    }

    /// The next range to send: RFC 6675 §4, `NextSeg`.
    fn next_wanted(&self) -> Option<Range> {
        if !self.undo.holds_retransmissions()
            && !self.repair.holds()
            && let Some(lost) = self.board.next_lost()
        {
            return Some(self.fit(lost));
        }
        self.next_new().or_else(|| self.repair.next_unsacked(&self.board, self.window.una()).map(|range| self.fit(range)))
    }

    /// The part of a range already sent that fits into a segment of the present size.
    fn fit(&self, range: Range) -> Range {
        self.stream.fit(range, self.seat.smss())
    }

    /// Whether a block of segments is under way.
    fn continues_block(&self) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| !blocks.is_complete())
    }

    /// The next segment of new data, if the peer's window has room for a segment worth sending.
    pub(super) fn next_new(&self) -> Option<Range> {
        let range = self.window.next_new(&self.stream, self.seat.smss(), self.continues_block())?;
        let (start, end) = range;
        let small = end - start < self.seat.smss() && end <= self.stream.written();
        let waits = small && self.hold.holds(self.window.una()) && self.stream.record_end(start) != Some(end);
        (!waits).then_some(range)
    }

    /// The congestion window in force, in units.
    pub(super) fn cwnd(&self) -> u64 {
        self.repair.window(self.seat.cwnd(), self.seat.unit())
    }

    /// The congestion window in force, in segments, and the threshold. A recovery that reduces in proportion has a window of its own (RFC
    /// 9937 §5).
    pub(in super::super) fn congestion_window(&self) -> Window {
        let window = self.seat.window();
        let cwnd = if self.repair.reduces() { self.cwnd() as f64 / self.seat.unit() as f64 } else { window.cwnd };
        Window { cwnd, ..window }
    }

    /// The congestion window in force, in bytes.
    pub(super) fn cwnd_bytes(&self) -> u64 {
        if self.settings.rules.counts_segments { self.cwnd() * self.seat.smss() } else { self.cwnd() }
    }

    /// The pipe, in units.
    pub(super) fn pipe(&self) -> u64 {
        self.repair.pipe(&self.board, self.settings.rules.counts_segments)
    }

    /// The pipe of the scoreboard, in units.
    pub(super) fn board_pipe(&self) -> u64 {
        if self.settings.rules.counts_segments { u64::from(self.board.pipe_segments()) } else { self.board.pipe() }
    }

    /// The data of a range that is sent as one segment, in units.
    fn in_units(&self, (start, end): Range) -> u64 {
        if self.settings.rules.counts_segments {
            return 1;
        }
        let written = self.stream.written();
        end.min(written) - start.min(written)
    }

    /// There is data to send again. RFC 5681 §4.1: after an idle retransmission timeout the window is at most the restart window. RFC 2861
    /// halves it for each such timeout.
    fn end_idle(&mut self, now: Instant) {
        let timeouts = if self.settings.idle_restart { self.timers.periods(self.last_sent, now, self.rtt.timeout()) } else { 0 };
        let restart = match timeouts {
            0 => Restart::No,
            count if self.settings.gradual_restart => Restart::Halved(count),
            _ => Restart::Full,
        };
        self.seat.end_idle(now, restart);
        if timeouts > 0 {
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
            // A probe outside recovery is no evidence for Linux.
            if !(self.repair.is_open() && self.settings.rules.awaits_copies) {
                self.undo.retransmit(self.settings.stamps.at(now));
            }
            self.repair.send_again(&self.board, output.range);
            // Linux does not count a probe that repeats the last segment.
            self.board.resend(output.range, snapshot, !self.settings.rules.ignores_repeated_probe);
        } else {
            self.board.send(output.range, snapshot, output.marks);
            self.has_sent = true;
            self.window.advance(end);
            self.hold.send(end, size < self.seat.smss());
            self.stream.forget_records(end);
            if output.cwr {
                self.marks.send_cwr();
            }
        }
        self.last_sent = now;
        self.repair.send(if self.settings.rules.counts_segments { 1 } else { size });
        self.seat.pace(now, (size + self.header, output.continues), self.cwnd_bytes(), self.rtt.srtt());
        let sent = Sent::new(now, size).with(|sent| {
            sent.flight_size = self.flight_segments();
            sent.inflight = snapshot.inflight;
            sent.snd_nxt = self.window.nxt();
            sent.total = self.total();
            sent.retransmission = output.retransmission;
            sent.app_limited = app_limited;
        });
        self.seat.send(&sent, sent.snd_nxt);
        // RFC 6298 §5.1; RFC 6675 §5: a retransmission of the first segment restarts the timer.
        if idle || !self.timers.is_set(Timer::Rto) || output.retransmission && first {
            self.timers.start_rto(now, self.rtt.timeout());
        }
        if !output.retransmission {
            self.schedule_probe(now, true);
            self.make_room();
        }
    }

    /// The flight size in full segments, rounded up.
    pub(super) fn flight_segments(&self) -> u32 {
        let (flight, smss, segments) = (self.board.flight_size(), self.seat.smss(), self.board.segments() as u64);
        // Usually all are full, which a product shows sooner than a quotient.
        if segments * smss == flight { segments as u32 } else { flight.div_ceil(smss) as u32 }
    }

    /// Totals of the connection so far.
    pub(super) fn total(&self) -> Totals {
        Totals::new(self.sent_bytes, self.rate.delivered(), self.rate.lost())
    }
}
