//! Go-Back-N: after a loss everything from the lost frame on is sent again.

use super::Sender;

/// Sends up to `window` frames from the oldest without acknowledgement on.
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

    fn learn(&mut self, frame: u64, taken: bool) {
        if taken {
            // The receiver takes frames in order only.
            self.oldest = frame + 1;
        } else if frame == self.oldest {
            // Those after it were out of order, and are no news.
            self.next = frame;
        }
    }
}
