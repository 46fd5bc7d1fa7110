//! The segments that an endpoint sends.
//!
//! ## References
//! RFC 9293 §3.1; RFC 2018 §3; RFC 3168 §6.1.4 to §6.1.6; RFC 8257 §3.2.

use std::mem;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;

use super::super::config::TIMESTAMPS;
use super::super::handshake::{Handshake, Stage};
use super::super::segment::{Flags, MAX_OPTIONS, MAX_SACK_BLOCKS, Options, Segment, Timestamps, to_wire};
use super::super::sender::Output;
use super::Endpoint;

impl Endpoint {
    /// The next segment to send, if any.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.handshake.stage != Stage::Established && (self.handshake.due || !self.is_early()) {
            return self.poll_opening(now);
        }
        if let Some(position) = self.receiver.take_earlier() {
            return Some(self.earlier_ack(now, position));
        }
        if let Some(ack) = self.prompt.pop_front() {
            return Some(ack);
        }
        // SACK blocks travel in a pure ACK, so that data segments have one size.
        if mem::take(&mut self.answers_syn) || self.reports_blocks() {
            return Some(self.pure_ack(now));
        }
        if self.receiver.echo.is_seldom() {
            self.fit_ecn_option(now);
        }
        let before = self.sender.has_sent_fin();
        if let Some(output) = self.sender.next(now) {
            if !before && output.fin {
                self.answers_fin = self.receiver.is_finished();
            }
            return Some(self.data(now, &output));
        }
        self.sender.update_persist(now);
        self.receiver.owes_ack().then(|| self.pure_ack(now))
    }

    /// Whether an ACK with SACK blocks is due.
    pub(super) fn reports_blocks(&self) -> bool {
        self.receiver.owes_ack() && self.handshake.agreed.sack && self.receiver.has_sack_blocks()
    }

    pub(super) fn pure_ack(&mut self, now: Instant) -> Segment {
        let agreed = &self.handshake.agreed;
        // RFC 2018 §3: with timestamps only three blocks fit.
        let most = if agreed.timestamps { MAX_SACK_BLOCKS - 1 } else { MAX_SACK_BLOCKS };
        let mut options = Options::default();
        let mut duplicate = None;
        if agreed.sack && self.receiver.has_sack_blocks() {
            let (irs, next) = (self.handshake.irs, self.receiver.rcv_nxt());
            for (start, end) in self.receiver.take_sack_blocks(most) {
                duplicate = duplicate.or((start < next).then_some(start));
                options.sack.push((to_wire(start, irs), to_wire(end, irs)));
            }
        }
        if self.receiver.echo.is_everywhere() {
            let (reserved, times) = (self.timestamps_size(), (now, self.srtt()));
            self.receiver.echo.add_option(&mut options, reserved, duplicate, times);
        } else {
            options.ecn = self.receiver.echo.option(self.option_room(&options));
        }
        let position = self.sender.window().nxt().max(1);
        Segment { ecn: self.codepoint_of_ack(), ..self.segment(now, position, (Flags::ACK, 0), options) }
    }

    /// The codepoint of a packet that may be ECN-capable.
    pub(super) fn codepoint(&self) -> Ecn {
        if self.sender.uses_ecn() { self.sender.seat().ecn() } else { Ecn::NotEct }
    }

    fn codepoint_of_ack(&self) -> Ecn {
        if self.receiver.echo.is_capable_everywhere() { self.codepoint() } else { Ecn::NotEct }
    }

    pub(super) fn timestamps_size(&self) -> u32 {
        if self.handshake.agreed.timestamps { u32::from(TIMESTAMPS) } else { 0 }
    }

    /// Bytes for another option beside `options` and timestamps.
    pub(super) fn option_room(&self, options: &Options) -> u32 {
        MAX_OPTIONS.saturating_sub(options.size() + self.timestamps_size())
    }

    /// RFC 8257 §3.2: the ACK of the data before `position`, whose marks differ from those of the data after it.
    pub(super) fn earlier_ack(&mut self, now: Instant, position: u64) -> Segment {
        let nxt = self.sender.window().nxt().max(1);
        // The ACK of the later data may wait already, because the application runs.
        let owes = self.receiver.owes_ack();
        let segment = self.segment(now, nxt, (Flags::ACK, 0), Options::default());
        if owes {
            self.receiver.demand_ack();
        }
        let flags = segment.flags.without_ace() | self.receiver.echo.earlier_flags();
        Segment { ack: to_wire(position, self.handshake.irs), flags, ecn: self.codepoint_of_ack(), ..segment }
    }

    pub(super) fn data(&mut self, now: Instant, output: &Output) -> Segment {
        let Output { range: (start, end), fin, push, retransmission, cwr, .. } = *output;
        let payload = (end - start) as u32 - u32::from(fin);
        let flags = Flags::ACK.with(Flags::FIN, fin).with(Flags::PSH, push && payload > 0).with(Flags::CWR, cwr);
        // RFC 3168 §6.1.5 and §6.1.6: neither retransmissions nor window probes are ECN-capable.
        let capable = !retransmission && payload > 0 || self.receiver.echo.is_capable_everywhere();
        let mut options = Options::default();
        if self.receiver.echo.is_everywhere() {
            let (reserved, times) = (self.timestamps_size(), (now, self.srtt()));
            self.receiver.echo.add_option(&mut options, reserved, None, times);
        }
        let ecn = if capable { self.codepoint() } else { Ecn::NotEct };
        if payload > 0 {
            self.receiver.note_data_sent(now);
        }
        Segment { ecn, ..self.segment(now, start, (flags, payload), options) }
    }

    /// A segment of `payload` bytes at position `start`. Sets the fields that every segment has: numbers, window, timestamps, echo of marks.
    #[inline]
    pub(super) fn segment(&mut self, now: Instant, start: u64, (flags, payload): (Flags, u32), options: Options) -> Segment {
        self.sender.note_packet(now);
        let Handshake { iss, irs, agreed, .. } = &self.handshake;
        let syn = flags.has(Flags::SYN);
        let window = self.receiver.acknowledge(syn);
        let echo = if syn || !flags.has(Flags::ACK) {
            Flags::NONE
        } else {
            let pure = payload == 0 && !flags.has(Flags::FIN) && !flags.has(Flags::RST) && options.sack.as_slice().is_empty();
            self.receiver.echo.flags(pure)
        };
        let timestamps = agreed.timestamps.then(|| {
            let value = self.stamps.at(now);
            Timestamps { value, echo: self.clock.recent() }
        });
        Segment {
            seq: to_wire(start, *iss),
            ack: if flags.has(Flags::ACK) { to_wire(self.receiver.rcv_nxt(), *irs) } else { 0 },
            flags: flags | echo,
            window,
            options: Options { timestamps, ..options },
            payload,
            ecn: Ecn::NotEct,
        }
    }
}
