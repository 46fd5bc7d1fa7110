//! The state of loss recovery: its phase, and the next segment that it sends.
//!
//! ## References
//! RFC 5681 §2 and §3.2, RFC 6582 (duplicate ACKs, inflation); RFC 6675 §4 and §5 (`NextSeg`); RFC 3042 (limited transmit); RFC 5681 §3.1.

use super::config::Recovery;
use super::prr::{Progress, Prr};
use crate::ranges::Range;
use ackclock_host::RecoveryPhase;

use super::scoreboard::Scoreboard;

/// Duplicate ACKs, or SACKed segments, that indicate a loss (RFC 5681 §3.2, RFC 6675 §2).
pub(super) const DUP_THRESH: u32 = 3;

/// A transmission that ignores the windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Nothing.
    Nothing,
    /// The first lost segment.
    Lost,
    /// This many new segments beyond the congestion window.
    New(u8),
    /// The last segment, as a tail loss probe.
    Last,
    /// The last segment below this position that was sent once, because the control asks for it.
    Proactive(u64),
    /// An empty segment that makes the peer advertise its window.
    WindowProbe,
    /// Less than a full segment, because the peer's window has stayed small for long.
    Override,
}

/// The state of loss recovery.
#[derive(Debug)]
pub(super) struct Repair {
    method: Recovery,
    phase: RecoveryPhase,
    /// The recovery point: one past the highest position sent when recovery began.
    point: u64,
    /// First unacknowledged position when the timer last expired.
    timeout_una: u64,
    dupacks: u32,
    /// NewReno: units by which duplicate ACKs inflate the window.
    inflation: u64,
    prr: Option<Prr>,
    force: Force,
    /// RFC 6675: end of the highest retransmitted segment.
    high_rxt: u64,
    /// RFC 6675: `SND.UNA` must pass this position before another rescue retransmission.
    rescue_rxt: Option<u64>,
    /// Whether the first two duplicate ACKs release new segments (RFC 3042).
    limited_transmit: bool,
    /// Whether duplicate ACKs count as SACKed segments.
    sacks_duplicates: bool,
    /// Whether lost segments wait for the next ACK.
    holds: bool,
}

impl Repair {
    /// The state before any loss.
    pub(super) fn new(method: Recovery, limited_transmit: bool, sacks_duplicates: bool) -> Self {
        Self {
            method,
            phase: RecoveryPhase::Open,
            point: 0,
            timeout_una: 0,
            dupacks: 0,
            inflation: 0,
            prr: None,
            force: Force::Nothing,
            high_rxt: 0,
            rescue_rxt: None,
            limited_transmit,
            sacks_duplicates,
            holds: false,
        }
    }

    /// Switches to NewReno, because the peer sends no SACK blocks.
    pub(super) fn disable_sack(&mut self) {
        self.method = Recovery::NewReno;
    }

    /// The method of loss detection.
    pub(super) fn method(&self) -> Recovery {
        self.method
    }

    /// Whether duplicate ACKs count as SACKed segments, as in Linux. Otherwise they inflate the window (RFC 6582).
    pub(super) fn counts_duplicates(&self) -> bool {
        self.sacks_duplicates && self.method == Recovery::NewReno
    }

    /// The phase of recovery.
    pub(super) fn phase(&self) -> RecoveryPhase {
        self.phase
    }

    /// Whether no recovery is in progress.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, RecoveryPhase::Open | RecoveryPhase::Reduction)
    }

    /// Begins a gradual reduction by `prr`, which ends when data beyond `nxt` is acknowledged.
    pub(super) fn begin_reduction(&mut self, nxt: u64, prr: Prr) {
        (self.phase, self.point, self.prr) = (RecoveryPhase::Reduction, nxt, Some(prr));
    }

    /// Whether a gradual reduction ends with an ACK of all data below `una`.
    pub(super) fn ends_reduction(&self, una: u64) -> bool {
        self.phase == RecoveryPhase::Reduction && una > self.point
    }

    /// Removes the state of the gradual reduction that recovery continues.
    pub(super) fn take_reduction(&mut self) -> Option<Prr> {
        if self.phase == RecoveryPhase::Reduction { self.prr.take() } else { None }
    }

    /// Lost segments wait for the next ACK, or no longer.
    pub(super) fn hold(&mut self, holds: bool) {
        self.holds = holds;
    }

    /// Whether lost segments wait for the next ACK.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Removes and returns the forced transmission.
    pub(super) fn take_force(&mut self) -> Force {
        std::mem::replace(&mut self.force, Force::Nothing)
    }

    /// Sets the forced transmission.
    pub(super) fn force(&mut self, force: Force) {
        self.force = force;
    }

    /// Whether a forced transmission is pending.
    pub(super) fn is_forced(&self) -> bool {
        self.force != Force::Nothing
    }

    /// Whether the forced transmission breaks through the avoidance of small segments.
    pub(super) fn is_forced_through(&self) -> bool {
        self.force == Force::Override
    }

    /// Counts duplicate ACKs: an ACK that acknowledges new data (`advances`) resets the count, a `duplicate` raises it.
    pub(super) fn count_duplicates(&mut self, advances: bool, duplicate: bool) {
        self.dupacks = if advances { 0 } else { self.dupacks + u32::from(duplicate) };
    }

    /// Like [`Repair::count_duplicates`], where duplicate ACKs count as SACKed segments, `most` of which are possible. A partial ACK of
    /// `segments` covers the first lost segment; the others were counted. Returns the number of segments that the ACK delivers (measured with
    /// Linux 6.18: the tests `without_sack_…` of `tests/linux.rs`).
    pub(super) fn count_as_sacked(&mut self, segments: u32, duplicate: bool, most: u32) -> u32 {
        let before = self.dupacks;
        let kept = if self.phase == RecoveryPhase::Fast { before.saturating_sub(segments.saturating_sub(1)) } else { 0 };
        let count = if segments > 0 { kept } else { before + u32::from(duplicate) };
        self.dupacks = count.min(most);
        if segments > 0 { segments.saturating_sub(before).max(1) } else { self.dupacks.saturating_sub(before) }
    }

    /// Duplicate ACKs since the last progress, or the segments that they count as SACKed.
    pub(super) fn duplicates(&self) -> u32 {
        self.dupacks
    }

    /// Whether duplicate ACKs alone indicate the loss of the first outstanding segment, at `una` (RFC 6675 §5 step 1; RFC 6582 §3.2 step
    /// 2).
    pub(super) fn is_loss_by_duplicates(&self, una: u64) -> bool {
        // NewReno: a segment sent before the last recovery starts no new one.
        let beyond = self.method != Recovery::NewReno || self.point == 0 || una > self.point;
        self.is_open() && self.method != Recovery::Rack && self.dupacks >= DUP_THRESH && beyond
    }

    /// Begins fast recovery.
    pub(super) fn begin_fast(&mut self, una: u64, nxt: u64) {
        (self.phase, self.point, self.prr) = (RecoveryPhase::Fast, nxt, None);
        self.forget_next_seg(una);
    }

    /// Begins recovery from an expired timer with the first segment.
    pub(super) fn begin_timeout(&mut self, una: u64, nxt: u64) {
        (self.phase, self.prr, self.inflation, self.dupacks) = (RecoveryPhase::Timeout, None, 0, 0);
        (self.point, self.timeout_una, self.force, self.holds) = (nxt, una, Force::Lost, false);
        self.forget_next_seg(una);
    }

    /// Ends recovery.
    pub(super) fn end(&mut self) {
        (self.phase, self.prr, self.inflation, self.force) = (RecoveryPhase::Open, None, 0, Force::Nothing);
    }

    /// Whether all data outstanding at the start of recovery is acknowledged.
    pub(super) fn is_complete(&self, una: u64) -> bool {
        // Without SACK, Linux stays in recovery until an ACK of later data, so that late duplicate ACKs begin no other one.
        let held = self.counts_duplicates() && self.phase == RecoveryPhase::Fast && una == self.point;
        !self.is_open() && una >= self.point && !held
    }

    /// Whether a fast recovery or a gradual reduction covers the data from `una` on.
    pub(super) fn covers(&self, una: u64) -> bool {
        matches!(self.phase, RecoveryPhase::Fast | RecoveryPhase::Reduction) && una < self.point
    }

    /// Whether the timer has already expired for the same first unacknowledged segment.
    pub(super) fn has_timed_out_at(&self, una: u64) -> bool {
        self.phase == RecoveryPhase::Timeout && self.timeout_una == una
    }

    /// Lets `prr` limit the sending in this recovery.
    pub(super) fn reduce_by(&mut self, prr: Prr) {
        self.prr = Some(prr);
    }

    /// The reduction ends at `cwnd`, unless it already ends below.
    pub(super) fn lower_target(&mut self, cwnd: u64) {
        if let Some(prr) = &mut self.prr {
            prr.lower_target(cwnd);
        }
    }

    /// An ACK has arrived in fast recovery.
    pub(super) fn deliver(&mut self, progress: Progress) {
        if let (Some(prr), RecoveryPhase::Fast | RecoveryPhase::Reduction) = (&mut self.prr, self.phase) {
            prr.deliver(progress);
        }
    }

    /// Data was sent.
    pub(super) fn send(&mut self, bytes: u64) {
        if let (Some(prr), RecoveryPhase::Fast | RecoveryPhase::Reduction) = (&mut self.prr, self.phase) {
            prr.send(bytes);
        }
    }

    /// A duplicate ACK inflates the window.
    pub(super) fn inflate(&mut self, units: u64) {
        self.inflation += units;
    }

    /// A partial ACK of `acked` bytes removes inflation; returns the bytes by which the window itself must shrink.
    pub(super) fn deflate(&mut self, acked: u64) -> u64 {
        let excess = acked.saturating_sub(self.inflation);
        self.inflation = self.inflation.saturating_sub(acked);
        excess
    }

    /// Whether the window is being reduced gradually.
    pub(super) fn reduces(&self) -> bool {
        self.prr.is_some() && matches!(self.phase, RecoveryPhase::Fast | RecoveryPhase::Reduction)
    }

    /// The congestion window in force, if the control's window is `cwnd` units and a full segment has `smss`.
    pub(super) fn window(&self, cwnd: u64, smss: u64) -> u64 {
        match (&self.prr, self.phase) {
            (Some(prr), RecoveryPhase::Fast | RecoveryPhase::Reduction) => prr.cwnd(),
            (_, RecoveryPhase::Open) if self.method == Recovery::NewReno && self.limited_transmit && !self.sacks_duplicates => {
                // RFC 3042: without SACK each of the first two duplicate ACKs releases a new segment. With SACK the pipe shrinks instead.
                cwnd + self.inflation + u64::from(self.dupacks.min(2)) * smss
            }
            _ => cwnd + self.inflation,
        }
    }

    /// The pipe, in segments if `whole`. Outside recovery and without limited transmit, SACKed data counts as well, so that SACK blocks
    /// release no new data.
    pub(super) fn pipe(&self, board: &Scoreboard, whole: bool) -> u64 {
        let counts = self.limited_transmit || !self.is_open();
        if whole {
            let sacked = if counts { 0 } else { board.sacked_segments() + board.duplicates() };
            u64::from(board.pipe_segments() + sacked)
        } else {
            board.pipe() + if counts { 0 } else { board.sacked_bytes() }
        }
    }

    /// RFC 6675 §4, `NextSeg`, rules 3 and 4; they apply only to that RFC's recovery.
    pub(super) fn next_unsacked(&self, board: &Scoreboard, una: u64) -> Option<Range> {
        if self.method != Recovery::Sack || self.phase != RecoveryPhase::Fast {
            return None;
        }
        // Rule 3.
        if let Some(unsacked) = board.next_unsacked(self.high_rxt) {
            return Some(unsacked);
        }
        // Rule 4: one rescue retransmission per recovery, unless the cumulative ACK moves past it.
        let may_rescue = self.rescue_rxt.is_none_or(|rescue| una > rescue);
        board.last_unsacked().filter(|_| may_rescue)
    }

    /// A segment is about to be retransmitted; the scoreboard is updated afterwards.
    pub(super) fn send_again(&mut self, board: &Scoreboard, (start, end): Range) {
        // RFC 6675 §4, rule 4: a segment not marked as lost that lies above the highest SACKed one, or has been retransmitted before.
        let lost = board.next_lost().is_some_and(|lost| lost.0 == start);
        if !lost && (start < self.high_rxt || board.high_sacked().is_none_or(|highest| end > highest)) {
            self.rescue_rxt = Some(self.point);
        } else {
            self.high_rxt = self.high_rxt.max(end);
        }
    }

    /// Resets the variables that RFC 6675 keeps for one recovery.
    fn forget_next_seg(&mut self, una: u64) {
        (self.high_rxt, self.rescue_rxt) = (una, None);
    }
}
