//! Explicit congestion notification, and the window of data that a reduction covers.
//!
//! ## References
//! RFC 3168 §6.1.2: marks and losses cause one reduction per window of data, and CWR notifies the receiver of it. RFC 9768
//! §3.2.2.3 and §3.2.2.4: fields that the network has changed.

use ackclock_core::events::MarkCount;
use ackclock_core::qdisc::Ecn;

use super::ack::Ack;
use super::config::Feedback;
use super::feedback::{Counters, Delivery, Report, fed_back};

/// The sender's ECN state.
#[derive(Debug)]
pub(super) struct Marks {
    /// The feedback that both ends use.
    feedback: Option<Feedback>,
    /// Whether data may be ECN-capable.
    capable: bool,
    /// A reduction covers the data sent below this position.
    answered: u64,
    /// Whether the next new segment carries CWR.
    cwr: bool,
    counters: Counters,
}

impl Marks {
    /// No ECN, until both ends have agreed on it.
    pub(super) const fn new() -> Self {
        Self { feedback: None, capable: false, answered: 0, cwr: false, counters: Counters::new() }
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

    /// The ACK of the SYN-ACK feeds back how that has arrived, in this ACE field.
    pub(super) fn note_syn_ack(&mut self, field: u8) {
        if self.feedback == Some(Feedback::Accurate) {
            self.counters.note_syn_ack(fed_back(field));
            // RFC 9768 §3.2.2.3 and §3.2.2.4: the SYN-ACK left as Not-ECT, and no ACK of it has a field of zero.
            self.capable &= field != 0 && fed_back(field) == Ecn::NotEct;
        }
    }

    /// Whether the feedback counts packets.
    pub(super) fn counts(&self) -> bool {
        self.feedback == Some(Feedback::Accurate)
    }

    /// Whether an ACK that delivers nothing reports a mark.
    pub(super) fn is_echo(&self, ack: &Ack<'_>) -> bool {
        ack.ece && self.feedback != Some(Feedback::Accurate)
    }

    /// The marks that an ACK reports. `segment`: size of a full segment.
    pub(super) fn read(&mut self, ack: &Ack<'_>, delivery: &Delivery, segment: u64) -> Report {
        let count = match self.feedback {
            None => return Report::NONE,
            Some(Feedback::Accurate) => {
                let Some(ace) = ack.ace else { return Report::NONE };
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
    pub(super) fn reduce(&mut self, nxt: u64) {
        // RFC 9768 §3.2.2: accurate feedback needs no CWR, whose bit belongs to the ACE field.
        (self.answered, self.cwr) = (nxt, self.feedback.is_some_and(|feedback| feedback != Feedback::Accurate));
    }

    /// The last reduction was undone.
    pub(super) fn restore(&mut self, una: u64) {
        self.answered = una;
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
