//! The opening of a connection: SYNs are answered and sent.
//!
//! ## References
//! RFC 9293 §3.5, §3.10.7.2 and §3.10.7.3; RFC 7323 §2.2; RFC 7413 (data in the SYN).

use ackclock_core::units::Instant;

use super::super::config::TIMESTAMPS;
use super::super::handshake::Stage;
use super::super::segment::{Flags, Segment};
use super::Endpoint;

impl Endpoint {
    /// RFC 9293 §3.10.7.2.
    pub(super) fn handle_in_listen(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        if flags.has(Flags::SYN) && !flags.has(Flags::ACK) && !flags.has(Flags::RST) {
            self.take_syn(now, segment);
            if self.handshake.early {
                self.take_syn_data(now, segment);
                self.sender.begin(now, false, 0, 1);
            }
            (self.handshake.stage, self.handshake.due) = (Stage::SynReceived, true);
        }
    }

    /// RFC 9293 §3.10.7.3.
    pub(super) fn handle_in_syn_sent(&mut self, now: Instant, segment: &Segment) {
        let flags = segment.flags;
        let confirmed = self.confirmed(segment);
        // An echo that this end never sent is as wrong as a wrong acknowledgement.
        let echo = segment.options.timestamps.filter(|_| self.handshake.agreed.timestamps).map_or(0, |it| it.echo);
        if flags.has(Flags::ACK) && (confirmed.is_none() || echo != 0 && !self.handshake.has_stamped(now, echo)) {
            self.handshake.refuse(now, segment, confirmed.is_none());
            return;
        }
        if flags.has(Flags::RST) {
            if confirmed.is_some() {
                self.reset();
            }
            return;
        }
        if !flags.has(Flags::SYN) {
            return;
        }
        self.take_syn(now, segment);
        if let Some(first) = confirmed {
            self.handshake.took_syn_data = first > 1 && first == 1 + self.handshake.syn_data;
            self.establish(now, segment, first);
            if first <= self.handshake.syn_data {
                self.sender.lose_syn_data(now, 1 + self.handshake.syn_data);
            }
            self.take_syn_data(now, segment);
            self.receiver.demand_ack();
            // Data of the SYN that the peer did not take carries the ACK.
            self.answers_syn = self.answers_before_application() && first == 1 + self.handshake.syn_data;
        } else {
            // Both ends open the connection at the same time.
            (self.handshake.stage, self.handshake.due) = (Stage::SynReceived, true);
        }
    }

    /// Processes the peer's SYN: options and window.
    pub(super) fn take_syn(&mut self, now: Instant, segment: &Segment) {
        self.handshake.agree(segment);
        let agreed = &self.handshake.agreed;
        self.receiver.begin(*agreed, if agreed.timestamps { u64::from(TIMESTAMPS) } else { 0 });
        if segment.flags.has(Flags::ACK) {
            self.receiver.echo.note_syn_ack(segment.ecn);
        } else {
            self.receiver.echo.note_syn(segment.ecn);
        }
        self.hear_ecn_option(now, segment);
        let agreed = &self.handshake.agreed;
        if let Some(timestamps) = segment.options.timestamps.filter(|_| agreed.timestamps) {
            self.clock.note(now, timestamps.value, true);
        }
        // RFC 7323 §2.2: the window of a SYN is not scaled.
        self.sender.agree(*agreed, u64::from(segment.window));
    }

    /// The peer has acknowledged the SYN, and the data that it carried below `first`.
    pub(super) fn establish(&mut self, now: Instant, segment: &Segment, first: u64) {
        let echo = segment.options.timestamps.filter(|_| self.handshake.agreed.timestamps).map(|it| it.echo);
        let lost_syns = self.handshake.lost_syns();
        let rtt = self.handshake.complete(now, echo);
        self.sender.agree_on_marks(self.handshake.agreed);
        if self.handshake.early {
            self.sender.measure_syn(rtt);
        } else {
            self.sender.establish(now, (segment.flags.has(Flags::SYN), lost_syns), rtt, first);
            self.receiver.establish(now);
        }
    }

    /// The next segment to send while the SYNs are not acknowledged.
    #[cold]
    pub(super) fn poll_opening(&mut self, now: Instant) -> Option<Segment> {
        if let Some(reset) = self.handshake.take_refusal() {
            return Some(reset);
        }
        match self.handshake.stage {
            Stage::SynSent | Stage::SynReceived if self.handshake.due => Some(self.syn(now)),
            Stage::SynReceived if self.reports_blocks() || self.receiver.owes_ack() => Some(self.pure_ack(now)),
            _ => None,
        }
    }

    pub(super) fn syn(&mut self, now: Instant) -> Segment {
        let timeout = self.sender.rtt().timeout();
        let first = self.handshake.syns() == 0;
        let data = if first { self.handshake.syn_data } else { 0 };
        self.handshake.note_sent(now, timeout);
        let mut options = self.handshake.options(self.mss, self.receiver.window.scale());
        if self.handshake.has_ecn_option() {
            options.ecn = self.receiver.echo.first_option(self.option_room(&options));
        }
        let flags = self.handshake.flags();
        let segment = Segment { ecn: self.handshake.codepoint(), ..self.segment(now, 0, (flags, data as u32), options) };
        if first && self.handshake.early {
            self.receiver.establish(now);
        }
        segment
    }
}
