//! Explicit congestion notification, and the window of data that a reduction answers for.
//!
//! ## References
//! RFC 3168 §6.1.2: one reduction for a window of data, whether by marks or by losses, and the receiver is told of it (CWR).

/// What the sender knows of marks.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Whether both ends use ECN.
    agreed: bool,
    /// What was sent below this has been answered by a reduction.
    answered: u64,
    /// Whether the next new segment says CWR.
    cwr: bool,
}

impl Marks {
    /// Whether both ends use ECN.
    pub(super) fn agree(&mut self, agreed: bool) {
        self.agreed = agreed;
    }

    /// Whether both ends use ECN.
    pub(super) fn is_agreed(&self) -> bool {
        self.agreed
    }

    /// The window was reduced, for everything that was sent below `nxt`.
    pub(super) fn reduce(&mut self, nxt: u64) {
        (self.answered, self.cwr) = (nxt, self.agreed);
    }

    /// The last reduction was taken back.
    pub(super) fn restore(&mut self, una: u64) {
        self.answered = una;
    }

    /// Whether the window was reduced since `position` was first sent.
    pub(super) fn has_answered(&self, position: u64) -> bool {
        position < self.answered
    }

    /// Whether an echo on an ACK of everything below `una` is news. The ACK that ends a window of data still echoes the mark that was
    /// answered: CWR comes with the data after it.
    pub(super) fn is_news(&self, una: u64) -> bool {
        una > self.answered
    }

    /// Whether the next new segment says CWR.
    pub(super) fn cwr(&self) -> bool {
        self.cwr
    }

    /// A segment has said CWR.
    pub(super) fn send_cwr(&mut self) {
        self.cwr = false;
    }
}
