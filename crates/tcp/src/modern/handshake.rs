//! The three-way handshake, and the options that it negotiates.
//!
//! ## References
//! RFC 9293 §3.5 (handshake), §3.7.1 (MSS); RFC 7323 §2.2 and §3.2; RFC 2018 §2; RFC 3168 §6.1.1; RFC 9768 §3.1; RFC 6298 §5.

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Duration, Instant};

use super::config::{ECN_COUNTS, Feedback, Recovery, TIMESTAMPS};
use super::feedback::{fed_back, handshake_field};
use super::paws::Stamps;
use super::rules::Rules;
use super::segment::{Flags, Options, Segment};
use super::settings::Config;
use super::ticks::Ticks;

/// Segment size of a peer that sends no MSS option (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;
/// SYNs and SYN-ACKs that ask for accurate feedback before one does not.
const SYNS_WITH_FLAGS: u32 = 2;

/// The progress of the opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The end waits for a SYN.
    Listen,
    /// The end has sent a SYN.
    SynSent,
    /// The end has received a SYN and sent its own.
    SynReceived,
    /// Both SYNs are acknowledged.
    Established,
    /// The connection was reset.
    Reset,
}

/// The options that both ends use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
pub(super) struct Agreed {
    /// Whether both ends send timestamps.
    pub(super) timestamps: bool,
    /// Whether both ends send SACK blocks.
    pub(super) sack: bool,
    /// Whether both ends scale windows.
    pub(super) scaling: bool,
    /// Window scale of the peer.
    pub(super) peer_scale: u8,
    /// The feedback of ECN, if both ends use it.
    pub(super) ecn: Option<Feedback>,
    /// Whether data may be ECN-capable.
    pub(super) capable: bool,
    /// Largest payload to send.
    pub(super) smss: u16,
}

/// The handshake.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact")]
pub(super) struct Handshake {
    pub(super) stage: Stage,
    /// Initial send sequence number.
    pub(super) iss: u32,
    /// Initial receive sequence number.
    pub(super) irs: u32,
    pub(super) agreed: Agreed,
    /// Largest segment of this end or the path, including the options that every segment carries.
    mss: u16,
    /// Largest segment of the peer, likewise.
    peer_mss: u16,
    /// Whether a SYN or SYN-ACK is due.
    pub(super) due: bool,
    sent: u32,
    sent_at: Instant,
    deadline: Option<Instant>,
    ticks: Ticks,
    /// Number of SYNs whose timeout does not double the next one.
    linear_timeouts: u32,
    /// The codepoint with which the peer's SYN has arrived.
    syn: Ecn,
    /// Bytes of data that the SYN carries (RFC 7413 §4.2.1).
    pub(super) syn_data: u64,
    /// Whether data of the SYN was accepted, or that of this end's SYN acknowledged.
    pub(super) took_syn_data: bool,
    /// Whether data flows before the peer has acknowledged the SYN-ACK (RFC 7413 §4.2.2).
    pub(super) early: bool,
    /// Number of the reset that answers a wrong acknowledgement (RFC 9293 §3.10.7.3).
    refusal: Option<u32>,
    /// Whether the marks of accurate feedback are on every packet.
    marks_every_packet: bool,
    /// Whether a codepoint that has changed ends the use of ECN.
    ecn_fallback: bool,
    /// Whether every segment carries the option of accurate feedback.
    ecn_counts: bool,
    /// When the first SYN was sent.
    began: Instant,
    stamps: Stamps,
    /// Time after which a SYN with a wrong answer is sent again, if it is.
    hurry: Option<Duration>,
}

impl Handshake {
    /// A handshake that sends a SYN if `active`, and otherwise waits for one.
    pub(super) fn new(config: &Config, active: bool) -> Self {
        let agreed = Agreed {
            timestamps: config.timestamps,
            sack: config.recovery != Recovery::NewReno,
            scaling: config.window_scaling,
            peer_scale: 0,
            ecn: config.ecn,
            capable: true,
            smss: config.mss,
        };
        Self {
            stage: if active { Stage::SynSent } else { Stage::Listen },
            iss: config.initial_sequence,
            irs: 0,
            agreed,
            mss: config.mss,
            peer_mss: u16::MAX,
            due: active,
            sent: 0,
            sent_at: Instant::ZERO,
            deadline: None,
            ticks: Ticks::new(config.timer_tick, config.timer_phase),
            linear_timeouts: config.syn_linear_timeouts,
            syn: Ecn::NotEct,
            syn_data: 0,
            took_syn_data: false,
            early: false,
            refusal: None,
            marks_every_packet: Rules::of(config).marks_every_packet,
            ecn_fallback: config.ecn_fallback,
            ecn_counts: false,
            began: Instant::ZERO,
            stamps: Stamps::of(config),
            hurry: Rules::of(config).repeats_refused_syn.then_some(config.timer_tick * 2.0),
        }
    }

    /// Processes the peer's SYN or SYN-ACK: an option is used only if both ends offer it.
    pub(super) fn agree(&mut self, segment: &Segment) {
        let options = &segment.options;
        self.irs = segment.seq;
        let agreed = &mut self.agreed;
        agreed.timestamps &= options.timestamps.is_some();
        agreed.sack &= options.sack_permitted;
        agreed.scaling &= options.window_scale.is_some();
        agreed.peer_scale = options.window_scale.filter(|_| agreed.scaling).unwrap_or(0);
        self.agree_on_ecn(segment);
        self.peer_mss = options.mss.unwrap_or(DEFAULT_MSS);
        self.fit();
    }

    fn agree_on_ecn(&mut self, segment: &Segment) {
        let (flags, field) = (segment.flags, segment.flags.ace());
        let answer = flags.has(Flags::ACK);
        let agreed = &mut self.agreed;
        self.syn = segment.ecn;
        // RFC 3168 §6.1.1: the SYN requests ECN with ECE and CWR; the SYN-ACK accepts with ECE alone.
        let classic = flags.has(Flags::ECE) && flags.has(Flags::CWR) != answer;
        let Some(Feedback::Accurate) = agreed.ecn else {
            agreed.ecn = agreed.ecn.filter(|_| classic);
            return;
        };
        agreed.ecn = match (answer, field) {
            // RFC 9768 §3.1.2, table 2: a peer without ECN, or one that returns the flags as they are.
            (_, 0b000) | (true, 0b111) => None,
            (true, 0b001) | (false, 0b011) => Some(Feedback::Classic),
            // RFC 9768 §3.1.3: any other value is accurate feedback.
            _ => Some(Feedback::Accurate),
        };
        // RFC 9768 §3.2.2.3: the SYN left as Not-ECT.
        let checks = answer && agreed.ecn == Some(Feedback::Accurate) && self.ecn_fallback;
        agreed.capable &= !checks || fed_back(field) == Ecn::NotEct;
        self.note_clearing(!answer && field == 0);
    }

    /// RFC 9768 §3.1.5: after a SYN or SYN-ACK without flags, data is not ECN-capable, although the feedback stays.
    fn note_clearing(&mut self, cleared: bool) {
        self.agreed.capable &= !(cleared && self.agreed.ecn == Some(Feedback::Accurate));
    }

    /// The peer's SYN has arrived again.
    pub(super) fn note_repeated_syn(&mut self, segment: &Segment) {
        self.due = true;
        self.syn = segment.ecn;
        self.note_clearing(!segment.flags.has(Flags::ACK) && segment.flags.ace() == 0);
    }

    /// Sets the path's segment size: `mss` bytes, including only the options that every segment carries. The peer's limit still holds.
    pub(super) fn change_mss(&mut self, mss: u16) {
        self.mss = mss;
        self.fit();
    }

    /// RFC 9293 §3.7.1: subtracts the options that every segment carries.
    fn fit(&mut self) {
        let options = if self.agreed.timestamps { TIMESTAMPS } else { 0 } + if self.ecn_counts { ECN_COUNTS } else { 0 };
        self.agreed.smss = self.mss.min(self.peer_mss).saturating_sub(options).max(1);
    }

    /// Sets whether every segment carries the option of accurate feedback; returns whether that changes their size.
    pub(super) fn carry_ecn_counts(&mut self, carries: bool) -> bool {
        let changes = std::mem::replace(&mut self.ecn_counts, carries) != carries;
        if changes {
            self.fit();
        }
        changes
    }

    /// The options of a SYN or SYN-ACK, except timestamps.
    pub(super) fn options(&self, mss: u16, scale: u8) -> Options {
        let window_scale = self.agreed.scaling.then_some(scale);
        Options { mss: Some(mss), window_scale, sack_permitted: self.agreed.sack, ..Options::default() }
    }

    /// The flags of a SYN or SYN-ACK.
    pub(super) fn flags(&self) -> Flags {
        let answer = self.stage == Stage::SynReceived;
        let ecn = match self.agreed.ecn {
            None => Flags::NONE,
            Some(Feedback::Classic | Feedback::Dctcp) => Flags::ECE.with(Flags::CWR, !answer),
            // RFC 9768 §3.1.4: the second retransmission gives up, in case the network discards the flags' packets.
            Some(Feedback::Accurate) if self.sent > SYNS_WITH_FLAGS => Flags::NONE,
            Some(Feedback::Accurate) if answer => Flags::of_ace(handshake_field(self.syn)),
            Some(Feedback::Accurate) => Flags::of_ace(0b111),
        };
        Flags::SYN.with(Flags::ACK, answer) | ecn
    }

    /// The codepoint of a SYN or SYN-ACK.
    pub(super) fn codepoint(&self) -> Ecn {
        let capable = self.marks_every_packet && self.agreed.ecn == Some(Feedback::Dctcp);
        if capable { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// Whether a SYN-ACK carries the option of accurate feedback: not if it is sent again (RFC 9768 §3.2.3.2.2).
    pub(super) fn has_ecn_option(&self) -> bool {
        self.stage == Stage::SynReceived && self.sent <= 1
    }

    /// Records the transmission of a SYN or SYN-ACK, which is retransmitted after `timeout`.
    pub(super) fn note_sent(&mut self, now: Instant, timeout: Duration) {
        if self.sent == 0 {
            self.began = now;
        }
        (self.due, self.sent_at, self.deadline) = (false, now, Some(self.ticks.expiry(now, timeout)));
        self.sent += 1;
        // Linux goes on if it is a SYN that was lost.
        let kept = self.marks_every_packet && self.stage == Stage::SynSent;
        self.note_clearing(self.sent > SYNS_WITH_FLAGS && !kept);
    }

    /// When the SYN or SYN-ACK must be retransmitted.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// The SYN or SYN-ACK sent at `sent` was dropped: its timer expires `now`, unless it was already retransmitted. Returns whether it
    /// expires.
    pub(super) fn expire_at(&mut self, now: Instant, sent: Instant) -> bool {
        let applies = self.sent_at == sent && self.deadline.is_some();
        if applies {
            self.deadline = Some(now);
        }
        applies
    }

    /// Lets the timer expire if it is due; returns whether it has.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let expired = self.deadline.take_if(|deadline| *deadline <= now).is_some();
        self.due |= expired;
        expired
    }

    /// Whether the timeout that has expired doubles the next one (RFC 6298 §5.5).
    pub(super) fn backs_off(&self) -> bool {
        self.stage != Stage::SynSent || self.sent > self.linear_timeouts
    }

    /// A segment that echoes `echo` has acknowledged the SYN; returns the round-trip time, if it can be measured (RFC 6298 §3).
    pub(super) fn complete(&mut self, now: Instant, echo: Option<u32>) -> Option<Duration> {
        (self.stage, self.deadline, self.due) = (Stage::Established, None, false);
        if self.sent == 1 {
            return Some(now.since(self.sent_at));
        }
        self.stamps.since(now, echo?)
    }

    /// Whether a SYN can have carried the timestamp `echo`.
    pub(super) fn has_stamped(&self, now: Instant, echo: u32) -> bool {
        let [first, last] = [self.began, now].map(|at| self.stamps.at(at));
        echo.wrapping_sub(first) <= last.wrapping_sub(first)
    }

    /// Answers a segment with a wrong acknowledgement by a reset, unless it is one; `number`: its acknowledgement number is wrong.
    pub(super) fn refuse(&mut self, now: Instant, segment: &Segment, number: bool) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        self.refusal = Some(segment.ack);
        if let Some(hurry) = self.hurry.filter(|_| number && self.sent == 1) {
            self.deadline = Some(self.ticks.expiry(now, hurry));
        }
    }

    /// The reset that answers a wrong acknowledgement.
    pub(super) fn take_refusal(&mut self) -> Option<Segment> {
        self.refusal.take().map(Segment::reset)
    }

    /// The connection was reset.
    pub(super) fn reset(&mut self) {
        (self.stage, self.deadline) = (Stage::Reset, None);
    }

    /// Number of SYNs or SYN-ACKs sent.
    pub(super) fn syns(&self) -> u32 {
        self.sent
    }

    /// Number of retransmitted SYNs or SYN-ACKs.
    pub(super) fn lost_syns(&self) -> u32 {
        self.sent.saturating_sub(1)
    }
}
