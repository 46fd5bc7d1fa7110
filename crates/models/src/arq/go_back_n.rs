//! Go-Back-N: retransmits everything from the lost frame on.

use super::sender::Sender;

/// Sends up to `window` frames, beginning with the oldest unacknowledged one.
#[derive(Debug)]
pub(super) struct GoBackN {
    window: u64,
    oldest: u64,
    next: u64,
}

impl GoBackN {
    pub(super) const fn new(window: u64) -> Self {
        Self { window, oldest: 0, next: 0 }
    }
}

impl Sender for GoBackN {
    fn send(&mut self) -> Option<u64> {
        let sends = self.next < self.oldest + self.window;
        self.next += u64::from(sends);
        sends.then(|| self.next - 1)
    }

    fn on_result(&mut self, frame: u64, accepted: bool) {
        if accepted {
            // The receiver accepts frames in order only.
            self.oldest = frame + 1;
        } else if frame == self.oldest {
            // The frames after it were rejected as out of order.
            self.next = frame;
        }
    }
}
