//! Probes of a connection without traffic (`SO_KEEPALIVE`).
//!
//! ## References
//! RFC 9293 §3.8.4; tcp(7): `TCP_KEEPIDLE`, `TCP_KEEPINTVL`, `TCP_KEEPCNT`.

use ackclock_core::units::{Duration, Instant};

/// The times of an application's probes.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeepAlive {
    /// Whether the connection is probed.
    pub(super) on: bool,
    /// Time without traffic before the first probe.
    pub(super) idle: Duration,
    /// Time between probes.
    pub(super) interval: Duration,
    /// Probes without an answer after which the connection ends.
    pub(super) count: u32,
}

impl Default for KeepAlive {
    /// Linux's: off; two hours, 75 s, nine.
    fn default() -> Self {
        Self { on: false, idle: Duration::from_millis(7_200_000), interval: Duration::from_millis(75_000), count: 9 }
    }
}

/// The probes of a connection since the peer was last heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probes {
    last: Instant,
    sent: u32,
}

/// What to do about a silent peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing yet.
    Wait,
    /// Send a probe.
    Probe,
    /// End the connection.
    GiveUp,
}

impl Probes {
    /// The peer was heard, or the connection begins, `now`.
    pub(super) fn new(now: Instant) -> Self {
        Self { last: now, sent: 0 }
    }

    /// When the next step is due.
    pub(super) fn due(&self, times: &KeepAlive) -> Option<Instant> {
        times.on.then(|| self.last + if self.sent == 0 { times.idle } else { times.interval })
    }

    /// The step that is due `now`.
    pub(super) fn step(&mut self, now: Instant, times: &KeepAlive) -> Step {
        if self.due(times).is_none_or(|due| due > now) {
            return Step::Wait;
        }
        if self.sent >= times.count {
            return Step::GiveUp;
        }
        (self.last, self.sent) = (now, self.sent + 1);
        Step::Probe
    }
}
