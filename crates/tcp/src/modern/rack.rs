//! RACK: a segment is lost when one sent sufficiently later has been delivered.
//!
//! ## References
//! RFC 8985 §5 and §6; the names are those of its §5.3.

use ackclock_core::units::{Duration, Instant};

use super::scoreboard::{Scoreboard, SentSegment};

/// SACKed segments from which on no reordering is allowed for (RFC 8985 §6.2 step 4).
const DUP_THRESH: u32 = 3;
/// Recoveries for which a wider reordering window is kept (RFC 8985 §6.2 step 4).
const PERSIST: u32 = 16;

/// What the reordering window depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions {
    /// Smallest round-trip time.
    pub(super) min_rtt: Option<Duration>,
    /// Smoothed round-trip time.
    pub(super) srtt: Option<Duration>,
    /// Whether the sender is in fast or timeout recovery.
    pub(super) recovering: bool,
}

/// The state of RACK.
#[derive(Debug)]
pub(super) struct Rack {
    /// Time and end of the segment sent last among those delivered.
    newest: Option<(Instant, u64)>,
    /// Its round-trip time.
    rtt: Duration,
    /// Highest end of a delivered segment.
    fack: u64,
    reordering_seen: bool,
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    /// Until all sent up to here is acknowledged the window has grown for D-SACKs.
    dsack_round: Option<u64>,
}

/// Whether `deadline` has come. It is a sum of a time and the difference of two others, so that rounding may move it: to the nanosecond.
fn has_come(now: Instant, deadline: Instant) -> bool {
    deadline <= now + Duration::NANOSECOND
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
            dsack_round: None,
        }
    }
}

impl Rack {
    /// RFC 8985 §6.2 steps 2 and 3: a segment was delivered; `original`: the ACK's timestamp is older than its last transmission.
    pub(super) fn deliver(&mut self, now: Instant, segment: &SentSegment, original: bool, min_rtt: Option<Duration>) {
        if segment.end > self.fack {
            self.fack = segment.end;
        } else if segment.end < self.fack && !segment.retransmitted {
            self.reordering_seen = true;
        }
        let rtt = now.since(segment.sent_at());
        // Step 2: an ACK of a retransmission may be one of the original.
        if segment.retransmitted && (original || min_rtt.is_some_and(|min| rtt < min)) {
            return;
        }
        self.rtt = rtt;
        self.newest = self.newest.max(Some((segment.sent_at(), segment.end)));
    }

    /// RFC 8985 §6.2 step 4, first part: a D-SACK widens the reordering window, once in a round trip.
    pub(super) fn see_dsack(&mut self, snd_una: u64, snd_nxt: u64, dsack: bool) {
        self.dsack_round = self.dsack_round.filter(|&round| snd_una < round);
        if dsack && self.dsack_round.is_none() {
            self.dsack_round = Some(snd_nxt);
            self.reo_wnd_mult = self.reo_wnd_mult.saturating_add(1);
            self.reo_wnd_persist = PERSIST;
        }
    }

    /// RFC 8985 §6.2 step 4: after 16 recoveries without D-SACK the reordering window is as at first.
    pub(super) fn end_recovery(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// RFC 8985 §6.2 step 4, second part: the reordering window.
    fn reo_wnd(&self, board: &Scoreboard, at: &Conditions) -> Duration {
        if !self.reordering_seen && (at.recovering || board.sacked_segments() >= DUP_THRESH) {
            return Duration::ZERO;
        }
        let Some(min_rtt) = at.min_rtt else { return Duration::ZERO };
        let window = min_rtt * (f64::from(self.reo_wnd_mult) / 4.0);
        at.srtt.map_or(window, |srtt| window.min(srtt))
    }

    /// RFC 8985 §6.2 step 5: marks what is lost; tells whether there was any, and when to look again.
    pub(super) fn detect(&self, now: Instant, board: &mut Scoreboard, at: &Conditions) -> (bool, Option<Instant>) {
        let Some(newest) = self.newest else { return (false, None) };
        let patience = self.rtt + self.reo_wnd(board, at);
        let (marked, last) = board.expire(newest, |sent_at| has_come(now, sent_at + patience));
        (marked, last.map(|sent_at| sent_at + patience))
    }

    /// RFC 8985 §6.3: after a timeout the first segment is lost, and all whose time is over.
    pub(super) fn mark_on_timeout(&self, now: Instant, board: &mut Scoreboard, at: &Conditions) {
        let patience = self.rtt + self.reo_wnd(board, at);
        board.mark_first_lost();
        board.expire((Instant::MAX, u64::MAX), |sent_at| has_come(now, sent_at + patience));
    }

    #[cfg(test)]
    pub(super) fn reo_wnd_mult(&self) -> u32 {
        self.reo_wnd_mult
    }

    #[cfg(test)]
    pub(super) fn reordering_seen(&self) -> bool {
        self.reordering_seen
    }
}
