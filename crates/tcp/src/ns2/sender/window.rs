//! The send window: which segments are outstanding, and the round trips.

/// Segment numbers of the sender. Private, so that they move only forwards, or back to the first unacknowledged segment.
#[derive(Debug)]
pub(super) struct SendWindow {
    /// First unacknowledged segment.
    una: u32,
    /// Next segment to send.
    nxt: u32,
    /// One past the highest segment sent.
    max: u32,
    /// Receiver's window.
    rwnd: u32,
    /// Number of round trips so far.
    round: u64,
    /// Segment whose ACK ends the current round trip.
    round_end: u32,
}

impl SendWindow {
    /// A window in which nothing was sent.
    pub(super) const fn new(rwnd: u32) -> Self {
        Self { una: 0, nxt: 0, max: 0, rwnd, round: 0, round_end: 0 }
    }

    /// First unacknowledged segment.
    pub(super) const fn una(&self) -> u32 {
        self.una
    }

    /// Next segment to send.
    pub(super) const fn nxt(&self) -> u32 {
        self.nxt
    }

    /// One past the highest segment sent.
    pub(super) const fn max(&self) -> u32 {
        self.max
    }

    /// Receiver's window in packets.
    pub(super) const fn rwnd(&self) -> u32 {
        self.rwnd
    }

    /// Round trips so far.
    pub(super) const fn round(&self) -> u64 {
        self.round
    }

    /// Segments outstanding, including a SYN.
    pub(super) const fn flight_size(&self) -> u32 {
        self.max - self.una
    }

    /// Segments of data outstanding.
    pub(super) fn outstanding(&self) -> u32 {
        self.max.max(1) - self.una.max(1)
    }

    /// Takes the next segment.
    pub(super) fn take_next(&mut self) -> u32 {
        let seq = self.nxt;
        self.nxt += 1;
        seq
    }

    /// Segment `seq` leaves; returns whether it is a retransmission.
    pub(super) fn send(&mut self, seq: u32) -> bool {
        let again = seq < self.max;
        self.max = self.max.max(seq + 1);
        again
    }

    /// All segments below `seq` are acknowledged.
    pub(super) fn advance(&mut self, seq: u32) {
        self.una = seq;
        self.nxt = self.nxt.max(seq);
        if seq > self.round_end {
            self.round += 1;
            self.round_end = self.max;
        }
    }

    /// Goes back to the first unacknowledged segment.
    pub(super) fn go_back(&mut self) {
        self.nxt = self.una;
    }
}
