//! The peer's counters of marks as Linux reads them: the ACE field decides on packets, and the option on bytes.
//!
//! ## References
//! RFC 9768 §3.2.2.5.2 and appendix A (an ACK of more packets than the field counts). Checked against Linux 7.2: its own scripts for
//! packetdrill, `tcp_accecn_*`, and the tests in `tests/linux.rs`.

use ackclock_core::events::MarkCount;
use ackclock_core::qdisc::Ecn;

use super::feedback::{ACE, Delivery, FIRST_CEP, Report, place};
use super::segment::EcnCounts;

/// Packets that the field counts before it goes round.
const MOST: u64 = ACE as u64 - 1;
/// Weight of the packets of an ACK in their average.
const WEIGHT: f64 = 1.0 / 64.0;
/// Packets per ACK above which the network merges ACKs, so that a field seldom goes round by marks alone.
const MERGED: f64 = 4.0;

/// The peer's counters.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Marked packets.
    marked: u64,
    /// Bytes that have arrived with ECT(1), ECT(0) and CE.
    bytes: [u64; 3],
    /// The only codepoint whose counter the last option has changed. Data that an ACK without an option delivers counts for it.
    usual: Option<Ecn>,
    /// Packets that an ACK delivers, on average.
    packets_per_ack: Option<f64>,
    /// Whether an option has arrived.
    heard: bool,
    /// Whether options do not count, since the network clears them.
    cleared: bool,
}

impl Tally {
    /// Bytes that have arrived with ECT(1), ECT(0) and CE.
    pub(super) const fn bytes(&self) -> [u64; 3] {
        self.bytes
    }

    /// Whether the field differs from the number of marked packets so far.
    pub(super) fn differs(&self, ace: u8) -> bool {
        self.since(ace) > 0
    }

    /// Marked packets that the field adds.
    fn since(&self, ace: u8) -> u64 {
        (u64::from(ace) + u64::from(2 * ACE - FIRST_CEP) - self.marked % u64::from(ACE)) % u64::from(ACE)
    }

    /// The SYN-ACK has arrived marked.
    pub(super) fn count_syn_ack(&mut self) {
        self.marked = self.marked.max(1);
    }

    /// The first option of the peer: counters that begin at 1 are not 0 unless the network has cleared them.
    pub(super) fn hear(&mut self, option: &EcnCounts) {
        if !std::mem::replace(&mut self.heard, true) {
            self.cleared = option.is_cleared();
        }
    }

    /// Reads the option, or adds what is delivered to the usual counter. Returns whether the counters are certain.
    fn count(&mut self, option: Option<&EcnCounts>, delivered: u64) -> bool {
        if self.cleared {
            return false;
        }
        let Some(option) = option else {
            if let Some(usual) = self.usual {
                self.bytes[place(usual)] += delivered;
            }
            return self.usual.is_some();
        };
        let (before, mut changed, mut certain) = (self.usual, None, self.usual.is_some());
        let mut ambiguous = false;
        for (codepoint, count) in option.counted() {
            let counter = &mut self.bytes[place(codepoint)];
            let step = count.wrapping_sub(*counter as u32) & EcnCounts::MASK;
            // More than half of the range is a step back, which corrects an estimate.
            let back = step > EcnCounts::MASK / 2;
            *counter = if back { counter.saturating_sub(u64::from(EcnCounts::MASK + 1 - step)) } else { *counter + u64::from(step) };
            ambiguous |= back || step > 0 && before != Some(codepoint) && changed.is_some();
            if step > 0 && before != Some(codepoint) {
                changed.get_or_insert(codepoint);
            }
        }
        certain &= !ambiguous;
        self.usual = if ambiguous { None } else { changed.or(before) };
        certain
    }

    /// Reads the field and the option of an ACK. `segment`: size of a full segment.
    pub(super) fn read(&mut self, ace: u8, option: Option<&EcnCounts>, delivery: &Delivery, segment: u64) -> Report {
        if !delivery.news {
            return Report::NONE;
        }
        let before = self.bytes[place(Ecn::Ce)];
        let certain = self.count(option, delivery.bytes);
        let marked_bytes = self.bytes[place(Ecn::Ce)].saturating_sub(before);
        if delivery.segments > 0 {
            let average = self.packets_per_ack.get_or_insert(delivery.segments as f64);
            *average += (delivery.segments as f64 - *average) * WEIGHT;
        }
        let packets = self.packets(ace, certain.then_some(marked_bytes), delivery, segment);
        self.marked += packets;
        let counted = option.is_some() && !self.cleared;
        let guess = if packets >= delivery.segments { delivery.bytes } else { (packets * delivery.largest).min(delivery.bytes) };
        // Bytes without packets are an old packet's: the control hears of packets.
        let bytes = if packets == 0 {
            0
        } else if counted {
            marked_bytes
        } else {
            guess
        };
        let count = if counted { MarkCount::Exact } else { MarkCount::Estimate };
        Report { echo: packets > 0, bytes, packets, count }
    }

    /// Marked packets that an ACK reports; `bytes`: marked bytes, if these are certain.
    fn packets(&self, ace: u8, bytes: Option<u64>, delivery: &Delivery, segment: u64) -> u64 {
        let (least, segments) = (self.since(ace), delivery.segments);
        if segments <= MOST {
            return least;
        }
        // As many as the field allows: it may have gone round.
        let most = segments - (segments + u64::from(ACE) - least) % u64::from(ACE);
        match bytes {
            Some(0) => least,
            Some(bytes) if segments > 2 * MOST + 1 => {
                let share = if bytes >= delivery.bytes { segments } else { (bytes * segments).div_ceil(delivery.bytes) };
                most.min(least + share / u64::from(ACE) * u64::from(ACE))
            }
            Some(bytes) if bytes <= least * segment && bytes < most * segment / 2 => least,
            None if self.packets_per_ack.is_some_and(|packets| packets > MERGED) => least,
            Some(_) | None => most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(segments: u64) -> Delivery {
        Delivery { bytes: segments * 1000, segments, largest: 1000, news: true, advances: true, selective: true, even: true }
    }

    #[test]
    fn a_step_back_corrects_an_estimate() {
        let mut tally = Tally::default();
        let option = |e0b, ceb| EcnCounts::new(EcnCounts::KINDS[0], &[e0b, ceb, 1]);
        tally.read(5, Some(&option(1001, 0)), &delivery(1), 1000);
        // Data that an ACK without an option delivers counts for the usual codepoint, until the next option corrects that.
        tally.read(6, None, &delivery(1), 1000);
        assert_eq!((tally.bytes(), tally.marked), ([0, 2000, 0], 1));
        tally.read(6, Some(&option(1001, 1000)), &delivery(1), 1000);
        assert_eq!((tally.bytes(), tally.usual), ([0, 1000, 1000], None));
    }

    #[test]
    fn cleared_options_do_not_count() {
        let mut tally = Tally::default();
        let cleared = EcnCounts::new(EcnCounts::KINDS[1], &[0, 0, 0]);
        tally.hear(&cleared);
        let report = tally.read(6, Some(&cleared), &delivery(2), 1000);
        assert_eq!((report.packets, report.bytes, report.count, tally.bytes()), (1, 1000, MarkCount::Estimate, [0; 3]));
    }

    #[test]
    fn certain_bytes_decide_on_rounds_of_the_field() {
        let packets = |ace, bytes, segments| {
            let tally = Tally { usual: Some(Ecn::Ce), ..Tally::default() };
            tally.packets(ace, bytes, &delivery(segments), 1000)
        };
        // The field shows one packet, and nine are as many as it allows.
        assert_eq!([None, Some(0), Some(1000), Some(4499), Some(4500), Some(9000)].map(|bytes| packets(6, bytes, 10)), [9, 1, 1, 9, 9, 9]);
        // Of many packets, the share of the bytes.
        assert_eq!([4000, 9000, 20_000].map(|bytes| packets(6, Some(bytes), 20)), [1, 9, 17]);
        assert_eq!(packets(6, Some(20_000), 7), 1);
    }
}
