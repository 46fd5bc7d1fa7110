//! How long a connection was busy, and what held it back, as `tcp_info` tells it.
//!
//! ## References
//! Linux, include/uapi/linux/tcp.h: `tcpi_busy_time`, `tcpi_rwnd_limited`, `tcpi_sndbuf_limited`.

use ackclock_core::units::{Duration, Instant};

/// What a connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Activity {
    /// Nothing is outstanding, and nothing waits.
    #[default]
    Idle,
    /// It sends.
    Busy,
    /// The peer's window holds it back.
    ReceiveWindow,
    /// All that the buffer holds is sent, and the application waits for room.
    SendBuffer,
}

/// Times of activities.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    activity: Activity,
    since: Instant,
    /// Indexed by [`Activity`].
    times: [Duration; 4],
}

impl Limits {
    /// The connection does something from `now` on.
    pub(super) fn note(&mut self, now: Instant, activity: Activity) {
        if activity != self.activity {
            self.times[self.activity as usize] = self.time(now, self.activity);
            (self.activity, self.since) = (activity, now);
        }
    }

    /// The time of an activity up to `now`.
    fn time(&self, now: Instant, activity: Activity) -> Duration {
        let present = if activity == self.activity { now.since(self.since) } else { Duration::ZERO };
        self.times[activity as usize] + present
    }

    /// Times up to `now`: busy for any reason, limited by the peer's window, limited by the buffer.
    pub(super) fn at(&self, now: Instant) -> [Duration; 3] {
        let [busy, window, buffer] = [Activity::Busy, Activity::ReceiveWindow, Activity::SendBuffer].map(|it| self.time(now, it));
        [busy + window + buffer, window, buffer]
    }
}
