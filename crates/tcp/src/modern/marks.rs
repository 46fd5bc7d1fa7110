//! Explicit congestion notification, and the window of data that a reduction covers.
//!
//! ## References
//! RFC 3168 §6.1.2: marks and losses cause one reduction per window of data, and CWR notifies the receiver of it. RFC 9768
//! §3.2.2.3 and §3.2.2.4: fields that the network has changed.

use ackclock_core::events::{Cause, MarkCount};
use ackclock_core::qdisc::Ecn;

use super::ack::Ack;
use super::config::Feedback;
use super::feedback::{Counters, Delivery, Report, fed_back};
use super::rules::Rules;
use super::segment::EcnCounts;
use super::settings::Config;
use super::tally::Tally;

/// The sender's ECN state.
#[derive(Debug)]
pub(super) struct Marks {
    /// The feedback that both ends use.
    feedback: Option<Feedback>,
    /// Whether data may be ECN-capable.
    capable: bool,
    /// A reduction covers the data sent below this position.
    answered: u64,
    /// Its cause, if there was a reduction.
    cause: Option<Cause>,
    /// Whether the next new segment carries CWR.
    cwr: bool,
    counters: Counters,
    /// Reads the counters in place of `counters`.
    tally: Option<Tally>,
    /// Whether a codepoint that has changed ends the use of ECN.
    fallback: bool,
}

impl Marks {
    /// No ECN, until both ends have agreed on it.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            feedback: None,
            capable: false,
            answered: 0,
            cause: None,
            cwr: false,
            counters: Counters::new(),
            tally: Rules::of(config).marks_every_packet.then(Tally::default),
            fallback: config.ecn_fallback,
        }
    }

    /// Sets the feedback that both ends use, and whether data may be ECN-capable.
    pub(super) fn agree(&mut self, feedback: Option<Feedback>, capable: bool) {
        (self.feedback, self.capable) = (feedback, capable && feedback.is_some());
    }

    /// Whether both ends use ECN.
    pub(super) fn is_agreed(&self) -> bool {
        self.feedback.is_some()
    }

    /// Whether data may be ECN-capable.
    pub(super) fn is_capable(&self) -> bool {
        self.capable
    }

    /// The ACK of the SYN-ACK feeds back how that has arrived, in this ACE field. Returns whether it counts as marked.
    pub(super) fn note_syn_ack(&mut self, field: u8) -> bool {
        if self.feedback != Some(Feedback::Accurate) {
            return false;
        }
        let arrived = fed_back(field);
        self.counters.note_syn_ack(arrived);
        // RFC 9768 §3.2.2.3 and §3.2.2.4: the SYN-ACK left as Not-ECT, and no ACK of it has a field of zero.
        self.capable &= field != 0 && (arrived == Ecn::NotEct || !self.fallback);
        let marked = arrived == Ecn::Ce && !self.fallback;
        if let Some(tally) = self.tally.as_mut().filter(|_| marked) {
            tally.count_syn_ack();
        }
        marked
    }

    /// The peer has sent an option of accurate feedback.
    pub(super) fn hear_option(&mut self, option: &EcnCounts) {
        if let Some(tally) = &mut self.tally {
            tally.hear(option);
        }
    }

    /// Bytes that have arrived at the peer with ECT(1), ECT(0) and CE, if they are counted.
    pub(super) fn bytes(&self) -> [u64; 3] {
        self.tally.as_ref().map_or([0; 3], Tally::bytes)
    }

    /// Whether the feedback counts packets.
    pub(super) fn counts(&self) -> bool {
        self.feedback == Some(Feedback::Accurate)
    }

    /// Whether an ACK that delivers nothing reports a mark.
    pub(super) fn is_echo(&self, ack: &Ack<'_>) -> bool {
        if self.feedback == Some(Feedback::Accurate) {
            return ack.fresh && self.tally.as_ref().zip(ack.ace).is_some_and(|(tally, ace)| tally.differs(ace));
        }
        ack.ece
    }

    /// The marks that an ACK reports. `segment`: size of a full segment.
    pub(super) fn read(&mut self, ack: &Ack<'_>, delivery: &Delivery, segment: u64) -> Report {
        let count = match self.feedback {
            None => return Report::NONE,
            Some(Feedback::Accurate) => {
                let Some(ace) = ack.ace else { return Report::NONE };
                if let Some(tally) = &mut self.tally {
                    let news = delivery.bytes > 0 || delivery.advances || ack.fresh;
                    return tally.read(ace, ack.counts.as_ref(), &Delivery { news, ..*delivery }, segment);
                }
                // RFC 9768 §3.2.2.4.
                self.capable &= !self.counters.looks_zeroed(ace, ack.counts.as_ref(), delivery);
                if !self.capable {
                    return Report::NONE;
                }
                return self.counters.read(ace, ack.counts.as_ref(), delivery, segment);
            }
            Some(Feedback::Classic) => MarkCount::AtMost,
            Some(Feedback::Dctcp) => MarkCount::Estimate,
        };
        let (bytes, packets) = if ack.ece { (delivery.bytes, delivery.segments) } else { (0, 0) };
        Report { echo: ack.ece, bytes, packets, count }
    }

    /// The window was reduced for all data sent below `nxt`.
    pub(super) fn reduce(&mut self, nxt: u64, cause: Cause) {
        self.cause = Some(cause);
        // RFC 9768 §3.2.2: accurate feedback needs no CWR, whose bit belongs to the ACE field.
        (self.answered, self.cwr) = (nxt, self.feedback.is_some_and(|feedback| feedback != Feedback::Accurate));
    }

    /// The last reduction was undone.
    pub(super) fn restore(&mut self, una: u64) {
        self.answered = una;
    }

    /// The last reduction covers no data any more.
    pub(super) fn end_reduction(&mut self) {
        self.answered = 0;
    }

    /// Whether a mark was the cause of the last reduction.
    pub(super) fn has_answered_mark(&self) -> bool {
        self.cause == Some(Cause::EcnCe)
    }

    /// How the feedback counts marks.
    pub(super) fn accuracy(&self) -> Option<MarkCount> {
        self.feedback.map(|feedback| match feedback {
            Feedback::Accurate => MarkCount::Exact,
            Feedback::Classic => MarkCount::AtMost,
            Feedback::Dctcp => MarkCount::Estimate,
        })
    }

    /// Whether the window was reduced since `position` was first sent.
    pub(super) fn has_answered(&self, position: u64) -> bool {
        position < self.answered
    }

    /// Whether the echo on an ACK of all data below `una` reports a new mark. The ACK that ends a window of data still echoes the old mark,
    /// because CWR is in the data after that window.
    pub(super) fn is_news(&self, una: u64) -> bool {
        una > self.answered
    }

    /// Whether the next new segment carries CWR.
    pub(super) fn cwr(&self) -> bool {
        self.cwr
    }

    /// A segment has carried CWR.
    pub(super) fn send_cwr(&mut self) {
        self.cwr = false;
    }
}
