//! What limits a sender: the application's data, its send buffer, the receiver's window, or congestion control. The clock runs from the end of the handshake
//! to the end of the sender's work.
//!
//! A sender stops transmitting whenever no further segment may leave. The time from such a stop to the next one with another cause counts
//! for the cause of the first.
//!
//! ## References
//! RFC 4898 §3.5 (`tcpEStatsPerfSndLimTimeRwin`, `…Cwnd` and `…Snd`: times by what stopped the transmission).

use ackclock_core::units::{Duration, Instant};

/// What stopped the transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// All of the application's data is sent, and the windows have room for more.
    Application,
    /// All of the data in the send buffer is sent, and the windows have room for more, but the buffer does not: the application waits.
    SendBuffer,
    /// The receiver's window is full.
    ReceiveWindow,
    /// The congestion window is full or the sender is paced.
    CongestionWindow,
    /// The work is over: the application supplies no more data, and all is acknowledged. This time is not counted.
    Nothing,
}

impl Limit {
    const COUNT: usize = Self::Nothing as usize + 1;
}

/// How long each limit has held back a sender.
#[derive(Clone, Debug)]
pub struct Limits {
    limit: Limit,
    /// Since when; `None` before the end of the handshake.
    since: Option<Instant>,
    spent: [Duration; Limit::COUNT],
}

impl Default for Limits {
    fn default() -> Self {
        Self { limit: Limit::Nothing, since: None, spent: [Duration::ZERO; Limit::COUNT] }
    }
}

impl Limits {
    /// The handshake is over: the clock starts.
    pub fn begin(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// The transmission has stopped because of `limit`.
    #[inline]
    pub fn note(&mut self, now: Instant, limit: Limit) {
        if limit != self.limit {
            self.change(now, limit);
        }
    }

    #[cold]
    fn change(&mut self, now: Instant, limit: Limit) {
        if let Some(since) = self.since {
            self.spent[self.limit as usize] += now.since(since);
            self.since = Some(now);
        }
        self.limit = limit;
    }

    /// The times up to `end`; `None` if the handshake did not end.
    pub fn times(&self, end: Instant) -> Option<LimitedTimes> {
        let mut spent = self.spent;
        spent[self.limit as usize] += end.since(self.since?);
        let [application, send_buffer, receive_window, congestion_window, _] = spent;
        Some(LimitedTimes { application, send_buffer, receive_window, congestion_window })
    }
}

/// How long each limit held back a sender, from the end of the handshake to the end of its work or of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitedTimes {
    /// The application had no data.
    pub application: Duration,
    /// The send buffer was full, and all of its data was sent.
    pub send_buffer: Duration,
    /// The receiver's window was full.
    pub receive_window: Duration,
    /// The congestion window was full, or the sender was paced.
    pub congestion_window: Duration,
}

impl LimitedTimes {
    /// The share of one of the times in the sum of all; `None` if the sum is zero.
    pub fn share(&self, time: impl Fn(&Self) -> Duration) -> Option<f64> {
        let sum = (self.application + self.send_buffer + self.receive_window + self.congestion_window).as_secs_f64();
        (sum > 0.0).then(|| time(self).as_secs_f64() / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    fn seconds(times: &LimitedTimes) -> [u64; 4] {
        [times.application, times.send_buffer, times.receive_window, times.congestion_window].map(|time| time.as_nanos() / 1_000_000_000)
    }

    #[test]
    fn each_stop_counts_until_the_next_with_another_cause() {
        let mut limits = Limits::default();
        limits.note(at(1), Limit::CongestionWindow);
        assert_eq!(limits.times(at(2)), None, "during the handshake no clock runs");
        limits.begin(at(2));
        limits.note(at(5), Limit::CongestionWindow);
        limits.note(at(6), Limit::Application);
        limits.note(at(8), Limit::ReceiveWindow);
        limits.note(at(9), Limit::SendBuffer);
        limits.note(at(14), Limit::Nothing);
        let times = limits.times(at(100)).unwrap();
        assert_eq!(seconds(&times), [2, 5, 1, 4], "the time after the end of the work does not count");
        assert_eq!(times.share(|times| times.congestion_window), Some(4.0 / 12.0));
        limits.note(at(100), Limit::Application);
        assert_eq!(seconds(&limits.times(at(103)).unwrap()), [5, 5, 1, 4], "new data resumes the work");
    }

    #[test]
    fn no_time_has_no_shares() {
        let mut limits = Limits::default();
        limits.begin(at(2));
        assert_eq!(limits.times(at(2)).unwrap().share(|times| times.application), None);
    }
}
