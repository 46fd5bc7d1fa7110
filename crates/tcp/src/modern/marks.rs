//! Explicit congestion notification, and the window of data that a reduction covers.
//!
//! ## References
//! RFC 3168 §6.1.2: marks and losses cause one reduction per window of data, and CWR notifies the receiver of it.

/// The sender's ECN state.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Whether both ends use ECN.
    agreed: bool,
    /// A reduction covers the data sent below this position.
    answered: u64,
    /// Whether the next new segment carries CWR.
    cwr: bool,
}

impl Marks {
    /// Sets whether both ends use ECN.
    pub(super) fn agree(&mut self, agreed: bool) {
        self.agreed = agreed;
    }

    /// Whether both ends use ECN.
    pub(super) fn is_agreed(&self) -> bool {
        self.agreed
    }

    /// The window was reduced for all data sent below `nxt`.
    pub(super) fn reduce(&mut self, nxt: u64) {
        (self.answered, self.cwr) = (nxt, self.agreed);
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
