//! Stop-and-wait: one frame at a time.

use super::sender::Sender;

/// Sends a frame, waits for the result, and sends the next frame or the same one again.
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

    fn on_result(&mut self, _frame: u64, accepted: bool) {
        self.waiting = false;
        self.frame += u64::from(accepted);
    }
}
