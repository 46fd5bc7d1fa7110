//! Tail loss probes: if no ACK arrives, the sender sends one segment to elicit an ACK before the retransmission timer expires.
//!
//! ## References
//! RFC 8985 §7.

use ackclock_core::units::Duration;

/// Probe timeout before the first measurement (RFC 8985 §7.2).
const PTO_WITHOUT_RTT: Duration = Duration::from_millis(1000);

/// An outstanding probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    /// `SND.NXT` after the probe.
    end: u64,
    /// Whether the probe is a retransmission.
    is_retrans: bool,
}

/// The facts of an ACK that concern a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeAck {
    /// The cumulative ACK.
    pub(super) number: u64,
    /// End of the D-SACK block, if the ACK has one.
    pub(super) dsack_end: Option<u64>,
    /// Whether the ACK is a duplicate without SACK blocks.
    pub(super) plain_duplicate: bool,
}

/// The state of TLP.
#[derive(Debug, Default)]
pub(super) struct Tlp {
    probe: Option<Probe>,
    /// Whether a round-trip time was measured since the last probe.
    measured: bool,
}

impl Tlp {
    /// RFC 8985 §7.2: the probe timeout.
    pub(super) fn timeout(srtt: Option<Duration>, margin: Duration) -> Duration {
        srtt.map_or(PTO_WITHOUT_RTT, |srtt| srtt * 2.0 + margin)
    }

    /// RFC 8985 §7.3: whether a probe may be sent. No probe may be outstanding, and a round-trip time must have been measured since the
    /// last one.
    pub(super) fn may_probe(&self) -> bool {
        self.probe.is_none() && self.measured
    }

    /// Whether the outstanding probe is a retransmission.
    pub(super) fn has_repeated(&self) -> bool {
        self.probe.is_some_and(|probe| probe.is_retrans)
    }

    /// Whether the outstanding probe ends at `end`.
    pub(super) fn ends_at(&self, end: u64) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.end == end)
    }

    /// A round trip was measured.
    pub(super) fn measure(&mut self) {
        self.measured = true;
    }

    /// A probe was sent.
    pub(super) fn send(&mut self, snd_nxt: u64, is_retrans: bool) {
        self.probe = Some(Probe { end: snd_nxt, is_retrans });
        self.measured = false;
    }

    /// RFC 8985 §7.4: recovery begins and detects losses itself.
    pub(super) fn reset(&mut self) {
        self.probe = None;
    }

    /// RFC 8985 §7.4.2: processes an ACK; returns whether the probe has repaired a loss, to which the congestion control must respond.
    pub(super) fn handle_ack(&mut self, ack: ProbeAck) -> bool {
        let Some(Probe { end, is_retrans }) = self.probe.filter(|probe| ack.number >= probe.end) else { return false };
        let (redundant, beyond) = (ack.dsack_end == Some(end), ack.number > end);
        if !is_retrans || redundant || beyond || ack.plain_duplicate {
            self.probe = None;
        }
        is_retrans && !redundant && beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACK: ProbeAck = ProbeAck { number: 10, dsack_end: None, plain_duplicate: false };

    fn probed(is_retrans: bool) -> Tlp {
        let mut tlp = Tlp::default();
        tlp.measure();
        assert!(tlp.may_probe());
        tlp.send(10, is_retrans);
        assert!(!tlp.may_probe());
        tlp
    }

    #[test]
    fn the_probe_timeout() {
        let millis = Duration::from_millis;
        assert_eq!(Tlp::timeout(Some(millis(50)), Duration::ZERO), millis(100));
        assert_eq!(Tlp::timeout(Some(millis(50)), millis(40)), millis(140));
        assert_eq!(Tlp::timeout(None, millis(40)), millis(1000));
    }

    #[test]
    fn one_probe_for_each_measurement() {
        let mut tlp = probed(true);
        tlp.reset();
        assert!(!tlp.may_probe(), "no round-trip time was measured since");
        tlp.measure();
        assert!(tlp.may_probe());
    }

    #[test]
    fn a_probe_with_new_data_detects_no_loss() {
        let mut tlp = probed(false);
        assert!(!tlp.handle_ack(ProbeAck { number: 9, ..ACK }));
        assert!(tlp.probe.is_some());
        assert!(!tlp.handle_ack(ACK));
        assert!(tlp.probe.is_none());
    }

    #[test]
    fn a_redundant_probe_is_reported_by_d_sack() {
        // RFC 8985 §7.4.1, case 1: original and probe arrived.
        let mut tlp = probed(true);
        assert!(!tlp.handle_ack(ACK), "the ACK of the original, or of the probe");
        assert!(tlp.probe.is_some());
        assert!(!tlp.handle_ack(ProbeAck { dsack_end: Some(10), ..ACK }));
        assert!(tlp.probe.is_none());
    }

    #[test]
    fn later_data_acknowledged_without_d_sack_means_a_loss() {
        // RFC 8985 §7.4.1, case 2: the original was lost.
        let mut tlp = probed(true);
        assert!(!tlp.handle_ack(ACK));
        assert!(tlp.handle_ack(ProbeAck { number: 11, ..ACK }));
        assert!(tlp.probe.is_none());
    }

    #[test]
    fn a_duplicate_without_sack_means_that_both_arrived() {
        // RFC 8985 §7.4.1, case 3: the receiver sends no D-SACK.
        let mut tlp = probed(true);
        assert!(!tlp.handle_ack(ProbeAck { plain_duplicate: true, ..ACK }));
        assert!(tlp.probe.is_none());
    }
}
