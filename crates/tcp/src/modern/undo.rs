//! Evidence that a recovery was spurious: by timestamps (Eifel), by D-SACK, and after a timeout by F-RTO.
//!
//! ## References
//! RFC 3522 (Eifel detection); RFC 3708 §2 (D-SACK); RFC 5682 §3.1 (F-RTO with SACK); RFC 4015 (response).

use super::scoreboard::SentSegment;

/// The step of F-RTO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Frto {
    /// F-RTO is not running.
    #[default]
    Off,
    /// The first segment was retransmitted; its ACK is awaited (step 2).
    Retransmitted,
    /// New data was sent; the next ACK decides (step 3).
    Probing,
}

/// The verdict of F-RTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No verdict.
    None,
    /// Send two new segments, and no retransmission until the next ACK.
    Probe,
    /// The timeout was spurious.
    Spurious,
}

/// The facts of an ACK that F-RTO needs.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Evidence<'a> {
    /// The cumulative ACK.
    pub(super) ack: u64,
    /// Whether the cumulative ACK has advanced.
    pub(super) advances: bool,
    /// Whether the ACK is a duplicate.
    pub(super) duplicate: bool,
    /// The newly delivered segments.
    pub(super) delivered: &'a [SentSegment],
    /// Whether new data can be sent.
    pub(super) can_send_new: bool,
    /// Whether the first ACK of data that was sent once decides.
    pub(super) at_once: bool,
}

/// The evidence of one recovery.
#[derive(Debug, Default)]
pub(super) struct Undo {
    frto: Frto,
    /// One past the highest position sent when the timer expired.
    recovery_point: u64,
    /// The timestamp of the first retransmission (RFC 3522 step 1).
    retransmit_ts: Option<u32>,
    /// D-SACKs count if they end above this position.
    marker: u64,
    /// Retransmissions that no D-SACK has reported as duplicates.
    unreported: u32,
    /// Number of retransmissions in this recovery.
    count: u32,
    /// The loss is certain.
    certain: bool,
}

impl Undo {
    /// Resets the evidence at the start of a recovery.
    pub(super) fn begin(&mut self) {
        *self = Self::default();
    }

    /// Resets the evidence at the start of a recovery with `copies` outstanding retransmissions of an earlier one, which may also prove
    /// unnecessary. D-SACKs of data below `marker` do not count. `continues`: the first retransmission of the earlier recovery remains the
    /// first.
    pub(super) fn begin_with(&mut self, copies: u32, marker: u64, continues: bool) {
        let retransmit_ts = self.retransmit_ts.filter(|_| continues);
        *self = Self { marker, retransmit_ts, unreported: copies, count: copies, ..Self::default() };
    }

    /// The recovery is undone. Its first retransmission remains the first, until [`Undo::forget_retransmission`].
    pub(super) fn withdraw(&mut self) {
        *self = Self { retransmit_ts: self.retransmit_ts, ..Self::default() };
    }

    /// No retransmission is outstanding any more.
    pub(super) fn forget_retransmission(&mut self) {
        self.retransmit_ts = None;
    }

    /// The loss is certain, so that no later evidence counts. Either a queue has notified the sender of the drop, or the lost segment had
    /// already been retransmitted. The ACK of that earlier retransmission echoes an older timestamp, which proves nothing.
    pub(super) fn rule_out(&mut self) {
        *self = Self { certain: true, ..Self::default() };
    }

    /// Starts F-RTO after an expired timer (RFC 5682 §3.1 step 1).
    pub(super) fn begin_frto(&mut self, recovery_point: u64) {
        (self.frto, self.recovery_point) = (Frto::Retransmitted, recovery_point);
    }

    /// Stops F-RTO.
    pub(super) fn end_frto(&mut self) {
        self.frto = Frto::Off;
    }

    /// A segment was retransmitted with timestamp `value`.
    pub(super) fn retransmit(&mut self, value: u32) {
        if self.certain {
            return;
        }
        self.retransmit_ts.get_or_insert(value);
        self.unreported += 1;
        self.count += 1;
    }

    /// Whether retransmissions must wait for F-RTO's verdict.
    pub(super) fn holds_retransmissions(&self) -> bool {
        self.frto == Frto::Probing
    }

    /// RFC 3522 step 4: whether the original caused an advancing ACK, because the echoed timestamp is older than the first retransmission.
    pub(super) fn is_eifel_spurious(&self, echo: Option<u32>) -> bool {
        let (Some(echo), Some(retransmit_ts)) = (echo, self.retransmit_ts) else { return false };
        echo.wrapping_sub(retransmit_ts).cast_signed() < 0
    }

    /// The same, where an ACK that advances before the first retransmission is evidence too.
    pub(super) fn is_late(&self, echo: Option<u32>) -> bool {
        !self.certain && self.retransmit_ts.is_none() || self.is_eifel_spurious(echo)
    }

    /// RFC 3708 §2: a D-SACK of data below `end` reports `count` retransmissions as duplicates.
    pub(super) fn report(&mut self, end: u64, count: u32) {
        if end > self.marker {
            self.unreported = self.unreported.saturating_sub(count);
        }
    }

    /// Whether D-SACKs have reported every retransmission as a duplicate.
    pub(super) fn is_dsack_spurious(&self) -> bool {
        self.count > 0 && self.unreported == 0
    }

    /// Whether recovery needed no retransmission, so that nothing was lost.
    pub(super) fn nothing_retransmitted(&self) -> bool {
        self.count == 0 && !self.certain
    }

    /// Whether a segment was delivered that was sent before the timeout and never again.
    fn is_original(&self, delivered: &[SentSegment]) -> bool {
        delivered.iter().any(|segment| segment.end() <= self.recovery_point && !segment.is_retransmitted())
    }

    /// RFC 5682 §3.1 steps 2 and 3.
    pub(super) fn judge(&mut self, evidence: &Evidence<'_>) -> Verdict {
        match self.frto {
            Frto::Off => Verdict::None,
            Frto::Retransmitted if evidence.at_once && self.is_original(evidence.delivered) => {
                self.frto = Frto::Off;
                Verdict::Spurious
            }
            Frto::Retransmitted if !evidence.advances => Verdict::None,
            Frto::Retransmitted => {
                // Step 2a: the ACK covers all data sent before the timeout. Step 2b: it covers a part.
                let probe = evidence.ack < self.recovery_point && evidence.can_send_new;
                self.frto = if probe { Frto::Probing } else { Frto::Off };
                if probe { Verdict::Probe } else { Verdict::None }
            }
            Frto::Probing if !evidence.advances && !evidence.duplicate => Verdict::None,
            Frto::Probing => {
                self.frto = Frto::Off;
                // Step 3b: a segment sent before the timeout and never retransmitted has arrived. Step 3a otherwise.
                let beyond = !evidence.at_once && evidence.delivered.iter().any(|segment| segment.end() > self.recovery_point);
                if !beyond && self.is_original(evidence.delivered) { Verdict::Spurious } else { Verdict::None }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_older_than_the_retransmission_shows_the_original() {
        let mut undo = Undo::default();
        assert!(!undo.is_eifel_spurious(Some(5)), "no retransmission");
        undo.retransmit(100);
        undo.retransmit(120);
        assert!(undo.is_eifel_spurious(Some(99)));
        assert!(!undo.is_eifel_spurious(Some(100)) && !undo.is_eifel_spurious(Some(110)) && !undo.is_eifel_spurious(None));
        let mut wrapped = Undo::default();
        wrapped.retransmit(3);
        assert!(wrapped.is_eifel_spurious(Some(u32::MAX - 3)));
    }

    #[test]
    fn every_retransmission_must_be_reported() {
        let mut undo = Undo::default();
        undo.retransmit(1);
        undo.retransmit(1);
        undo.report(9, 1);
        assert!(!undo.is_dsack_spurious());
        undo.report(9, 1);
        assert!(undo.is_dsack_spurious());
        undo.begin();
        assert!(!undo.is_dsack_spurious(), "no retransmission");
        undo.begin_with(1, 9, true);
        undo.report(9, 1);
        assert!(!undo.is_dsack_spurious(), "an earlier retransmission");
        undo.report(10, 1);
        assert!(undo.is_dsack_spurious());
    }
}
