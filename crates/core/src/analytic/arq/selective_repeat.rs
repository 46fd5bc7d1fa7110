//! Selective repeat: only what was lost is sent again.

use std::collections::VecDeque;

use super::Sender;

/// Sends again at once what was lost, and new frames while the window has room.
#[derive(Debug)]
pub(super) struct SelectiveRepeat {
    window: u64,
    /// Whether numbers without acknowledgement have to lie within the window, and not only be so few.
    sequence: bool,
    next: u64,
    outstanding: u64,
    lost: VecDeque<u64>,
    oldest: u64,
    /// Which frames from the oldest on are acknowledged.
    acknowledged: VecDeque<bool>,
}

impl SelectiveRepeat {
    pub(super) const fn new(window: u64, sequence: bool) -> Self {
        Self { window, sequence, next: 0, outstanding: 0, lost: VecDeque::new(), oldest: 0, acknowledged: VecDeque::new() }
    }
}

impl Sender for SelectiveRepeat {
    fn send(&mut self) -> Option<u64> {
        if let Some(frame) = self.lost.pop_front() {
            return Some(frame);
        }
        let used = if self.sequence { self.next - self.oldest } else { self.outstanding };
        let sends = used < self.window;
        if sends {
            self.next += 1;
            self.outstanding += 1;
            self.acknowledged.push_back(false);
        }
        sends.then(|| self.next - 1)
    }

    fn learn(&mut self, frame: u64, taken: bool) {
        if !taken {
            self.lost.push_back(frame);
            return;
        }
        self.outstanding -= 1;
        self.acknowledged[(frame - self.oldest) as usize] = true;
        while self.acknowledged.front() == Some(&true) {
            self.acknowledged.pop_front();
            self.oldest += 1;
        }
    }
}
