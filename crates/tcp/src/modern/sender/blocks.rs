//! Blocks of segments, and PSH.

use ackclock_core::cc::Window;
use ackclock_core::units::{Duration, Instant};
use ackclock_host::{Limit, RecoveryPhase};

use super::super::blocks::{Pace, Room};
use super::super::scoreboard::SentSegment;
use super::{Output, Sender};

impl Sender {
    /// Begins a block with the next new segment if none is under way; returns what it waits for if it is deferred. `pipe`, `cwnd`: in units.
    pub(super) fn begin_block(&mut self, now: Instant, pipe: u64, cwnd: u64) -> Option<Limit> {
        let mut blocks = self.blocks.take()?;
        let deferred = if blocks.is_complete() { blocks.begin(&self.room(now, pipe, cwnd)) } else { None };
        self.blocks = Some(blocks);
        self.has_deferred |= deferred == Some(Limit::CongestionWindow);
        deferred
    }

    /// The peer's window keeps back new data.
    pub(super) fn keep_block(&mut self) {
        let (unit, cwnd, pipe) = (self.seat.unit(), self.cwnd(), self.pipe());
        if let Some(blocks) = self.blocks.as_mut().filter(|_| pipe < cwnd) {
            blocks.keep((self.window.nxt(), self.seat.smss()), (cwnd / unit, (cwnd - pipe) / unit), self.rtt.min());
        }
    }

    /// A deferred block may leave.
    pub(super) fn wake(&mut self) {
        if let Some(blocks) = &mut self.blocks {
            blocks.wake();
        }
    }

    fn room(&self, now: Instant, pipe: u64, cwnd: u64) -> Room {
        let (smss, unit) = (self.seat.smss(), self.seat.unit());
        let srtt = self.rtt.srtt();
        let offered = self.window.offered().saturating_sub(self.window.nxt() - self.window.una());
        Room {
            smss,
            nxt: self.window.nxt(),
            cwnd: cwnd / unit,
            pipe: pipe.div_ceil(unit),
            offered,
            rwnd: self.window.offered(),
            min_rtt: self.rtt.min(),
            recovering: matches!(self.repair.phase(), RecoveryPhase::Fast | RecoveryPhase::Timeout),
            // In a queue of Linux, a packet counts as sent when the next may leave.
            idle: now.since(if self.seat.in_blocks() {
                self.last_packet.max(self.seat.next_of_pacer().min(now))
            } else {
                self.last_packet
            }),
            head: self.board.segment_at(self.window.una()).map(|it| (now.since(it.sent_at()), srtt.unwrap_or(Duration::ZERO))),
            closed: self.stream.end_of_fin().is_some(),
            holds_small: self.hold.holds(self.window.una()),
        }
    }

    /// An ACK has been processed, which determines the size of the blocks until the next one.
    pub(super) fn set_rate(&mut self) {
        if self.blocks.is_none() {
            return;
        }
        let pace = if let Some(rate) = self.seat.block_rate() {
            Pace::paced(rate.as_bits_per_sec() as f64 / (8 * (self.seat.smss() + self.header)) as f64)
        } else {
            // Recovery lowers the window step by step.
            let cwnd = self.cwnd() as f64 / self.seat.unit() as f64;
            Pace::new(Window { cwnd, ..self.seat.window() }, self.board.segments(), self.rtt.srtt())
        };
        if let Some(blocks) = &mut self.blocks {
            blocks.set_rate(pace);
        }
    }

    /// Decides whether a segment carries PSH; one that breaks through a limit keeps it.
    pub(super) fn set_push(&mut self, output: &mut Output) {
        let Some(mut blocks) = self.blocks.take() else { return };
        let (start, end) = output.range;
        if output.retransmission {
            let room = (self.cwnd().saturating_sub(self.pipe()) / self.seat.unit()).min(blocks.most(self.rtt.min(), self.seat.smss()));
            let count = if blocks.continues(start) { 0 } else { self.board.waiting_block(start, room.max(1)).max(1) };
            if count > 0 {
                self.board.cut(start, count);
            }
            let marked = self.board.segment_at(start).is_some_and(SentSegment::is_pushed);
            output.continues = blocks.continues(start);
            output.push = blocks.resend(output.range, count) || marked;
        } else if start < end {
            output.continues = blocks.is_under_way();
            let (marked, ends, block) = blocks.send(end - u64::from(output.fin));
            (output.push, output.marks) = (marked || ends, (marked, block));
        }
        self.blocks = Some(blocks);
    }
}
