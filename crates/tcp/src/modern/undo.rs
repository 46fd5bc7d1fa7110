//! Was it a loss? Evidence that a recovery was spurious: by timestamps (Eifel), by D-SACK, and after a timeout by F-RTO.
//!
//! ## References
//! RFC 3522 (Eifel detection); RFC 3708 §2 (D-SACK); RFC 5682 §3.1 (F-RTO with SACK); RFC 4015 (response).

use super::scoreboard::SentSegment;

/// How F-RTO stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frto {
    /// Not in doubt.
    #[default]
    Off,
    /// The first segment was sent again, and its ACK is awaited (step 2).
    Retransmitted,
    /// New data was sent, and the next ACK decides (step 3).
    Probing,
}

/// What F-RTO wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    None,
    /// Two new segments, and no retransmissions until the next ACK.
    Probe,
    /// The timeout was spurious.
    Spurious,
}

/// What an ACK says to F-RTO.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// The cumulative ACK.
    pub(super) ack: u64,
    /// Whether it has advanced.
    pub(super) advances: bool,
    /// Whether it is a duplicate.
    pub(super) duplicate: bool,
    /// What it newly delivers.
    pub(super) delivered: &'a [SentSegment],
    /// Whether new data can be sent.
    pub(super) can_send_new: bool,
}

/// The evidence of one recovery.
#[derive(Debug, Default)]
pub(super) struct Undo {
    frto: Frto,
    /// One past the highest position sent when the timer expired.
    recovery_point: u64,
    /// The timestamp of the first retransmission (RFC 3522 step 1).
    retransmit_ts: Option<u32>,
    /// Retransmissions that no D-SACK has reported as superfluous.
    unreported: u32,
    /// Retransmissions.
    count: u32,
    /// The loss is beyond doubt.
    certain: bool,
}

impl Undo {
    /// A recovery begins.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    /// The loss is beyond doubt, whatever else arrives: a queue has said that it dropped a segment; or what is lost had been repaired before,
    /// so that an ACK of that repair, older than what is sent again now, is no evidence.
    pub(super) fn rule_out(&mut self) {
        *self = Self { certain: true, ..Self::default() };
    }

    /// The timer has expired and F-RTO may judge (RFC 5682 §3.1 step 1).
    pub(super) fn begin_frto(&mut self, recovery_point: u64) {
        (self.frto, self.recovery_point) = (Frto::Retransmitted, recovery_point);
    }

    /// The timer has expired while F-RTO was under way, or may not judge.
    pub(super) fn end_frto(&mut self) {
        self.frto = Frto::Off;
    }

    /// A segment was sent again with timestamp `value`.
    pub(super) fn retransmit(&mut self, value: u32) {
        if self.certain {
            return;
        }
        self.retransmit_ts.get_or_insert(value);
        self.unreported += 1;
        self.count += 1;
    }

    /// Whether retransmissions have to wait for F-RTO's verdict.
    pub(super) fn holds_retransmissions(&self) -> bool {
        self.frto == Frto::Probing
    }

    /// RFC 3522 step 4: whether an ACK that advances was caused by the original, since it echoes an older timestamp than the first
    /// retransmission's.
    pub(super) fn is_eifel_spurious(&self, echo: Option<u32>) -> bool {
        let (Some(echo), Some(retransmit_ts)) = (echo, self.retransmit_ts) else { return false };
        echo.wrapping_sub(retransmit_ts).cast_signed() < 0
    }

    /// RFC 3708 §2: takes a D-SACK; tells whether every retransmission has been reported as superfluous.
    pub(super) fn is_dsack_spurious(&mut self) -> bool {
        self.unreported = self.unreported.saturating_sub(1);
        self.count > 0 && self.unreported == 0
    }

    /// Whether recovery was ended without a retransmission: nothing was lost.
    pub(super) fn nothing_retransmitted(&self) -> bool {
        self.count == 0 && !self.certain
    }

    /// RFC 5682 §3.1 steps 2 and 3.
    pub(super) fn judge(&mut self, evidence: &Evidence<'_>) -> Verdict {
        match self.frto {
            Frto::Off => Verdict::None,
            Frto::Retransmitted if !evidence.advances => Verdict::None,
            Frto::Retransmitted => {
                // Step 2a: all was acknowledged at once, or 2b: some was.
                let probe = evidence.ack < self.recovery_point && evidence.can_send_new;
                self.frto = if probe { Frto::Probing } else { Frto::Off };
                if probe { Verdict::Probe } else { Verdict::None }
            }
            Frto::Probing if !evidence.advances && !evidence.duplicate => Verdict::None,
            Frto::Probing => {
                self.frto = Frto::Off;
                // Step 3b: what was sent before the timeout and never again has arrived; 3a otherwise.
                let mut old = evidence.delivered.iter().filter(|segment| segment.end <= self.recovery_point);
                let beyond = evidence.delivered.iter().any(|segment| segment.end > self.recovery_point);
                if !beyond && old.any(|segment| !segment.retransmitted) { Verdict::Spurious } else { Verdict::None }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_echo_than_the_retransmission_is_the_originals() {
        let mut undo = Undo::default();
        assert!(!undo.is_eifel_spurious(Some(5)), "nothing was sent again");
        undo.retransmit(100);
        undo.retransmit(120);
        assert!(undo.is_eifel_spurious(Some(99)));
        assert!(!undo.is_eifel_spurious(Some(100)) && !undo.is_eifel_spurious(Some(110)) && !undo.is_eifel_spurious(None));
        let mut wrapped = Undo::default();
        wrapped.retransmit(3);
        assert!(wrapped.is_eifel_spurious(Some(u32::MAX - 3)));
    }

    #[test]
    fn every_retransmission_has_to_be_reported() {
        let mut undo = Undo::default();
        undo.retransmit(1);
        undo.retransmit(1);
        assert!(!undo.is_dsack_spurious());
        assert!(undo.is_dsack_spurious());
        undo.begin();
        assert!(!undo.is_dsack_spurious(), "nothing was sent again");
    }
}
