//! Stop-and-wait: one frame at a time.

use super::Sender;

/// Sends a frame, waits until it knows, and sends the next one or the same.
#[derive(Debug, Default)]
pub(super) struct StopAndWait {
    frame: u64,
    waiting: bool,
}

impl Sender for StopAndWait {
    fn send(&mut self) -> Option<u64> {
        let sends = !self.waiting;
        self.waiting = true;
        sends.then_some(self.frame)
    }

    fn learn(&mut self, _frame: u64, taken: bool) {
        self.waiting = false;
        self.frame += u64::from(taken);
    }
}
