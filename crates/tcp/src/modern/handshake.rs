//! Opening a connection: the three-way handshake, and what is agreed in it.
//!
//! ## References
//! RFC 9293 §3.5 (handshake), §3.7.1 (MSS); RFC 7323 §2.2 and §3.2; RFC 2018 §2; RFC 3168 §6.1.1; RFC 6298 §5.

use ackclock_core::units::{Duration, Instant};

use super::config::{Config, Recovery, TIMESTAMPS};
use super::paws;
use super::segment::{Flags, Options, Segment};

/// Segment size of a peer that announces none (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;

/// How far the connection is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for a SYN.
    Listen,
    /// Has sent a SYN.
    SynSent,
    /// Has answered a SYN.
    SynReceived,
    /// Both SYNs are acknowledged.
    Established,
    /// The connection was reset.
    Reset,
}

/// What both sides have agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Agreed {
    /// Whether both send timestamps.
    pub(super) timestamps: bool,
    /// Whether both send SACK blocks.
    pub(super) sack: bool,
    /// Whether both scale windows.
    pub(super) scaling: bool,
    /// Scale of the peer's windows.
    pub(super) peer_scale: u8,
    /// Whether both use ECN.
    pub(super) ecn: bool,
    /// Largest payload to send.
    pub(super) smss: u16,
}

/// The handshake.
#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) stage: Stage,
    /// Initial sequence numbers of both sides.
    pub(super) iss: u32,
    pub(super) irs: u32,
    pub(super) agreed: Agreed,
    /// Largest segments, options that every one carries included: of this end or the path, and of the peer.
    mss: u16,
    peer_mss: u16,
    /// Whether a SYN or SYN-ACK has to go.
    pub(super) due: bool,
    sent: u32,
    sent_at: Instant,
    deadline: Option<Instant>,
}

impl Handshake {
    /// A handshake that begins with a SYN, if `active`, or waits for one.
    pub(super) fn new(config: &Config, active: bool) -> Self {
        let agreed = Agreed {
            timestamps: config.timestamps,
            sack: config.recovery != Recovery::NewReno,
            scaling: config.window_scaling,
            peer_scale: 0,
            ecn: config.ecn,
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
        }
    }

    /// Takes the peer's SYN or SYN-ACK: only what both offer is used.
    pub(super) fn agree(&mut self, segment: &Segment) {
        let options = &segment.options;
        self.irs = segment.seq;
        let agreed = &mut self.agreed;
        agreed.timestamps &= options.timestamps.is_some();
        agreed.sack &= options.sack_permitted;
        agreed.scaling &= options.window_scale.is_some();
        agreed.peer_scale = options.window_scale.filter(|_| agreed.scaling).unwrap_or(0);
        // RFC 3168 §6.1.1: the SYN asks with ECE and CWR, the SYN-ACK agrees with ECE alone.
        let (ece, cwr) = (segment.flags.has(Flags::ECE), segment.flags.has(Flags::CWR));
        agreed.ecn &= ece && cwr != segment.flags.has(Flags::ACK);
        self.peer_mss = options.mss.unwrap_or(DEFAULT_MSS);
        self.fit();
    }

    /// The path takes segments of `mss` bytes, headers and options that not all of them carry left out. The peer's limit holds as before.
    pub(super) fn change_mss(&mut self, mss: u16) {
        self.mss = mss;
        self.fit();
    }

    /// RFC 9293 §3.7.1: options that every segment carries are taken off.
    fn fit(&mut self) {
        let options = if self.agreed.timestamps { TIMESTAMPS } else { 0 };
        self.agreed.smss = self.mss.min(self.peer_mss).saturating_sub(options).max(1);
    }

    /// The options of a SYN or SYN-ACK but for the timestamps.
    pub(super) fn options(&self, mss: u16, scale: u8) -> Options {
        let window_scale = self.agreed.scaling.then_some(scale);
        Options { mss: Some(mss), window_scale, sack_permitted: self.agreed.sack, ..Options::default() }
    }

    /// The flags of a SYN or SYN-ACK.
    pub(super) fn flags(&self) -> Flags {
        let answer = self.stage == Stage::SynReceived;
        let ecn = self.agreed.ecn;
        Flags::SYN.with(Flags::ACK, answer).with(Flags::ECE, ecn).with(Flags::CWR, ecn && !answer)
    }

    /// A SYN or SYN-ACK is sent; its answer is awaited for `timeout`.
    pub(super) fn note_sent(&mut self, now: Instant, timeout: Duration) {
        (self.due, self.sent_at, self.deadline) = (false, now, Some(now + timeout));
        self.sent += 1;
    }

    /// When a SYN or SYN-ACK has to be sent again.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// The SYN or SYN-ACK that was sent at `sent` was dropped: its time is over `now`, unless it was sent again. Tells whether it is.
    pub(super) fn expire_at(&mut self, now: Instant, sent: Instant) -> bool {
        let applies = self.sent_at == sent && self.deadline.is_some();
        if applies {
            self.deadline = Some(now);
        }
        applies
    }

    /// Tells whether the time for an answer is over.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let expired = self.deadline.take_if(|deadline| *deadline <= now).is_some();
        self.due |= expired;
        expired
    }

    /// The SYN was acknowledged by a segment that echoes `echo`: gives the round-trip time, if it can be told (RFC 6298 §3).
    pub(super) fn complete(&mut self, now: Instant, echo: Option<u32>, initial_timestamp: u32) -> Option<Duration> {
        (self.stage, self.deadline, self.due) = (Stage::Established, None, false);
        if self.sent == 1 {
            return Some(now.since(self.sent_at));
        }
        paws::since(now, echo?, initial_timestamp)
    }

    /// The connection was reset.
    pub(super) fn reset(&mut self) {
        (self.stage, self.deadline) = (Stage::Reset, None);
    }

    /// SYNs or SYN-ACKs sent.
    pub(super) fn syns(&self) -> u32 {
        self.sent
    }

    /// How often a SYN or SYN-ACK had to be sent again.
    pub(super) fn lost_syns(&self) -> u32 {
        self.sent.saturating_sub(1)
    }
}
