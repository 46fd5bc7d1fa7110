//! Small segments at the end of the data that wait for more of it.
//!
//! A segment waits while an earlier small one is outstanding (Nagle), while the application holds the data back (`TCP_CORK`), or until the
//! next ACK or timer if the application has announced more data (`MSG_MORE`).
//!
//! ## References
//! RFC 9293 §3.7.4 (Nagle); tcp(7) and send(2), measured with Linux 7.2.

/// Why a small segment waits.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent reason")]
pub(super) struct Hold {
    nagle: bool,
    cork: bool,
    /// The application has announced more data.
    more: bool,
    /// The data so far leaves, whatever else holds it back.
    push: bool,
    /// A write is under way: what has been filled so far leaves too.
    filling: bool,
    /// End of the last segment sent that was smaller than a full one.
    small: u64,
}

impl Hold {
    /// Holds back segments by Nagle's algorithm, or not.
    pub(super) fn new(nagle: bool) -> Self {
        Self { nagle, cork: false, more: false, push: false, filling: false, small: 0 }
    }

    /// Turns Nagle's algorithm on or off; off, the data so far leaves.
    pub(super) fn set_nagle(&mut self, nagle: bool) {
        (self.nagle, self.push) = (nagle, !nagle);
        self.more &= nagle;
    }

    /// Holds back small segments until further notice, or not.
    pub(super) fn set_cork(&mut self, cork: bool) {
        self.cork = cork;
    }

    /// The application has written; `more`: it has announced more data.
    pub(super) fn write(&mut self, more: bool) {
        (self.more, self.push) = (more, false);
    }

    /// A write into a limited buffer has more data than fits a packet, or than the buffer has room for.
    pub(super) fn fill(&mut self, filling: bool) {
        self.filling = filling;
    }

    /// An ACK has arrived.
    pub(super) fn acknowledge(&mut self) {
        self.more = false;
    }

    /// New data has left up to `end`; `small`: the segment was smaller than a full one.
    pub(super) fn send(&mut self, end: u64, small: bool) {
        self.push = false;
        if small {
            self.small = end;
        }
    }

    /// Whether a small segment waits; `una`: first unacknowledged position.
    pub(super) fn holds(&self, una: u64) -> bool {
        !self.push && !self.filling && (self.more || self.cork || self.nagle && self.small > una)
    }
}
