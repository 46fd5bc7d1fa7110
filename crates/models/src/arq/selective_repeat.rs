//! Selective repeat: retransmits only lost frames.

use std::collections::VecDeque;

use super::sender::Sender;

/// Retransmits lost frames at once, and sends new frames while the window has room.
#[derive(Debug)]
pub(super) struct SelectiveRepeat {
    window: u64,
    /// Whether the window limits the range of unacknowledged numbers, not only their count.
    sequence: bool,
    next: u64,
    outstanding: u64,
    lost: VecDeque<u64>,
    oldest: u64,
    /// Acknowledgement of each frame, beginning with the oldest.
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

    fn on_result(&mut self, frame: u64, accepted: bool) {
        if !accepted {
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
