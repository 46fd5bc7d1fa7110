//! RACK: a segment is lost when one sent sufficiently later has been delivered.
//!
//! ## References
//! RFC 8985 §5 and §6; the names are those of its §5.3.

use ackclock_core::units::{Duration, Instant};

use super::resolution::Resolution;
use super::scoreboard::{Scoreboard, SentSegment};

/// Number of SACKed segments that ends the allowance for reordering (RFC 8985 §6.2 step 4).
const DUP_THRESH: u32 = 3;
/// Largest extent of reordering (Linux ip-sysctl, `tcp_max_reordering`).
const MAX_EXTENT: u32 = 300;
/// Largest multiple of the reordering window.
const MAX_MULT: u32 = 255;
/// Number of recoveries for which a wider reordering window persists (RFC 8985 §6.2 step 4).
const PERSIST: u32 = 16;

/// The inputs of the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// Minimum round-trip time.
    pub(super) min_rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub(super) srtt: Option<Duration>,
    /// Whether the sender is in fast or timeout recovery.
    pub(super) recovering: bool,
    /// Whether a search for losses ends at the first transmission that is not before the newest delivered one.
    pub(super) in_order: bool,
}

/// The state of RACK.
#[derive(Debug)]
pub(super) struct Rack {
    resolution: Resolution,
    /// Sending time and end of the most recently sent delivered segment.
    newest: Option<(Instant, u64)>,
    /// Round-trip time of that segment.
    rtt: Duration,
    /// Whether a round-trip time was measured, or the timer has expired, since the last detection.
    has_news: bool,
    /// Highest end of a delivered segment.
    fack: u64,
    /// Number of segments that have arrived out of order.
    reordering_seen: u32,
    /// The farthest distance in segments from such a segment to the highest one delivered before; at least the threshold of duplicate ACKs.
    extent: u32,
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    /// A D-SACK has arrived since the window was last adapted.
    dsack_seen: bool,
    /// The progress from which on another D-SACK may widen the window.
    dsack_round: u64,
}

impl Rack {
    /// The state at the start of a connection.
    pub(super) fn new(resolution: Resolution) -> Self {
        Self {
            resolution,
            newest: None,
            rtt: Duration::ZERO,
            has_news: false,
            fack: 0,
            reordering_seen: 0,
            extent: DUP_THRESH,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
            dsack_seen: false,
            dsack_round: 0,
        }
    }

    /// RFC 8985 §6.2 step 3: an ACK of all data below `una` has delivered segments, in ascending order; detects reordering, whose extent is
    /// counted in segments of `smss` bytes. `repeated`: start of SACKed data whose retransmission the ACK reports as a duplicate: its original
    /// has arrived late.
    pub(super) fn detect_reordering(&mut self, delivered: &[SentSegment], una: u64, smss: u64, repeated: Option<u64>) {
        let before = self.fack;
        let (covered, sacked) = delivered.split_at(delivered.partition_point(|segment| segment.end() <= una));
        self.fack = self.fack.max(una);
        let mut lowest = repeated;
        for segment in sacked {
            if segment.start < self.fack && !segment.is_retransmitted() {
                lowest = Some(lowest.map_or(segment.start, |lowest| lowest.min(segment.start)));
            }
            self.fack = self.fack.max(segment.end());
        }
        let filled = covered.iter().find(|segment| !segment.is_retransmitted()).map(|segment| segment.start);
        for lowest in lowest.into_iter().chain(filled.filter(|&start| start < before)) {
            self.note_late(lowest, smss);
        }
    }

    /// Data from `lowest` on has arrived late: what lies above it had arrived before.
    pub(super) fn note_late(&mut self, lowest: u64, smss: u64) {
        if lowest < self.fack {
            self.reordering_seen += 1;
            let extent = (self.fack - lowest).div_ceil(smss).min(MAX_EXTENT.into()) as u32;
            self.extent = self.extent.max(extent);
        }
    }

    /// A timer has expired although enough segments had been SACKed: the extent of reordering was overestimated (Linux).
    pub(super) fn forget_extent(&mut self, sacked: u32) {
        if sacked >= DUP_THRESH {
            self.extent = DUP_THRESH;
        }
    }

    /// RFC 8985 §6.2 step 2: a segment was delivered. `original`: the ACK echoes a timestamp older than the segment's last transmission.
    pub(super) fn deliver(&mut self, now: Instant, segment: &SentSegment, original: bool, min_rtt: Option<Duration>) {
        let rtt = self.resolution.between(segment.sent_at(), now);
        // The ACK of a retransmitted segment may be caused by the original.
        if segment.is_retransmitted() && (original || min_rtt.is_some_and(|min| rtt < min)) {
            return;
        }
        (self.rtt, self.has_news) = (rtt, true);
        self.newest = self.newest.max(Some((segment.sent_at(), segment.end())));
    }

    /// The timer has expired: the next detection has news.
    pub(super) fn expire(&mut self) {
        self.has_news = true;
    }

    /// Whether a detection has news that the last one did not have; `keep`: the next one has them too.
    pub(super) fn take_news(&mut self, keep: bool) -> bool {
        let news = self.has_news;
        self.has_news &= keep;
        news
    }

    /// An ACK with a D-SACK asks for a wider reordering window.
    pub(super) fn see_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// RFC 8985 §6.2 step 4, first part: a D-SACK widens the reordering window, once per round trip. A round trip begins with `next`, and is over
    /// when `progress` reaches that.
    pub(super) fn adapt(&mut self, progress: u64, next: u64) {
        if std::mem::take(&mut self.dsack_seen) && progress >= self.dsack_round {
            self.dsack_round = next;
            self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(MAX_MULT);
            self.reo_wnd_persist = PERSIST;
        }
    }

    /// RFC 8985 §6.2 step 4: after 16 recoveries without a D-SACK the reordering window returns to its initial width.
    pub(super) fn end_recovery(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// RFC 8985 §6.2 step 4, second part: the reordering window.
    fn reo_wnd(&self, board: &Scoreboard, at: &Conditions) -> Duration {
        if self.reordering_seen == 0 && (at.recovering || board.sacked_segments() >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let Some(min_rtt) = at.min_rtt else { return Duration::ZERO };
        let window = self.resolution.store(min_rtt * 0.25) * f64::from(self.reo_wnd_mult);
        at.srtt.map_or(window, |srtt| window.min(self.resolution.store(srtt)))
    }

    /// Whether `patience` is over for a segment, within one nanosecond: it is a rounded sum of times.
    fn is_over(&self, now: Instant, sent_at: Instant, patience: Duration) -> bool {
        patience <= self.resolution.between(sent_at, now) + Duration::NANOSECOND
    }

    /// RFC 8985 §6.2 step 5: marks lost segments. Returns whether any was marked, and when to check again.
    pub(super) fn detect(&self, now: Instant, board: &mut Scoreboard, at: &Conditions) -> (bool, Option<Instant>) {
        let Some(newest) = self.newest else { return (false, None) };
        let patience = self.rtt + self.reo_wnd(board, at);
        let (marked, last) = board.expire(newest, at.in_order, |sent_at| self.is_over(now, sent_at, patience));
        (marked, last.map(|sent_at| sent_at + patience))
    }

    /// RFC 8985 §6.3: a timeout marks the first segment as lost, and every segment whose time is over.
    pub(super) fn mark_on_timeout(&self, now: Instant, board: &mut Scoreboard, at: &Conditions) {
        let patience = self.rtt + self.reo_wnd(board, at);
        board.mark_first_lost();
        board.mark_expired(|sent_at| self.is_over(now, sent_at, patience));
    }

    #[cfg(test)]
    pub(super) fn reo_wnd_mult(&self) -> u32 {
        self.reo_wnd_mult
    }

    /// Number of segments that have arrived out of order.
    pub(super) fn reordering_seen(&self) -> u32 {
        self.reordering_seen
    }

    /// Whether segments arrive so much out of order that SACKed data counts for growth (Linux).
    pub(super) fn reorders(&self) -> bool {
        self.extent > DUP_THRESH
    }

    /// The extent of reordering in segments, at least the threshold of duplicate ACKs.
    pub(super) fn extent(&self) -> u32 {
        self.extent
    }
}
