//! What the sender's kernel did, from its state after each packet: windows, reductions, the end of slow start.

use ackclock_core::cc::{Phase, Window};
use ackclock_core::units::{Duration, Instant, Rate, Segments};
use ackclock_host::{Counters, ExitReason, Flight, LimitedTimes, RecoveryPhase, SlowStartExit};

use crate::info::Info;

/// Microseconds as a duration.
fn micros(count: u64) -> Duration {
    // A kernel that is broken can say anything.
    Duration::from_nanos(count.saturating_mul(1000))
}

/// The history of a sender.
#[derive(Debug, Default)]
pub(super) struct Sender {
    info: Info,
    pub(super) counters: Counters,
    pub(super) exit: SlowStartExit,
    /// When the handshake ended, and the window at that time.
    established: Option<(Instant, Segments)>,
    /// Timeouts of the handshake, which do not count.
    handshake: u64,
    /// Threshold that the scenario sets from the start; infinite if none.
    threshold: Segments,
}

impl Sender {
    pub(super) fn new(threshold: Segments) -> Self {
        Self { threshold, ..Self::default() }
    }

    /// The kernel has processed a packet, or sent one, and is now in this state.
    pub(super) fn observe(&mut self, now: Instant, mut info: Info) {
        if !info.established {
            return;
        }
        if self.established.is_none() {
            self.established = Some((now, info.cwnd));
            self.info.ssthresh = f64::INFINITY;
            self.handshake = info.timeouts;
        }
        info.timeouts -= self.handshake.min(info.timeouts);
        let timeout =
            info.timeouts > self.info.timeouts || (info.recovery == RecoveryPhase::Timeout && self.info.recovery != RecoveryPhase::Timeout);
        self.counters.timeouts = self.counters.timeouts.max(info.timeouts);
        if info.recovery != RecoveryPhase::Open && (info.recovery != self.info.recovery || timeout) {
            self.counters.reductions += 1;
        }
        if timeout || info.recovery == RecoveryPhase::Fast {
            self.exit.note_loss(now);
        }
        self.note_exit(now, &info, timeout);
        self.counters.cwnd_max = self.counters.cwnd_max.max(info.cwnd);
        self.info = info;
    }

    /// Slow start ends with the first reduction, when its algorithm sets the threshold, or when the window reaches the threshold.
    fn note_exit(&mut self, now: Instant, info: &Info, timeout: bool) {
        if self.exit.get().is_some() {
            return;
        }
        let before = if self.info.cwnd > 0.0 { self.info.cwnd } else { info.cwnd };
        let reason = match info.recovery {
            _ if timeout => ExitReason::Timeout,
            RecoveryPhase::Timeout => ExitReason::Timeout,
            RecoveryPhase::Fast => ExitReason::Loss,
            RecoveryPhase::Reduction => ExitReason::Mark,
            // Without recovery the threshold is the scenario's, or that of the slow start.
            RecoveryPhase::Open if info.cwnd < info.ssthresh => return,
            RecoveryPhase::Open if self.threshold.is_finite() && info.ssthresh.ge(&self.threshold) => ExitReason::Threshold,
            RecoveryPhase::Open => ExitReason::Algorithm,
        };
        let cwnd = if info.recovery == RecoveryPhase::Open && !timeout { info.cwnd } else { before };
        self.exit.note(reason, now, cwnd);
    }

    pub(super) fn window(&self) -> Option<Window> {
        self.established.map(|_| Window { cwnd: self.info.cwnd, ssthresh: self.info.ssthresh })
    }

    pub(super) fn recovery(&self) -> RecoveryPhase {
        self.info.recovery
    }

    /// What is in flight. As in `tcp_in_slow_start`, the window below the threshold is slow start.
    pub(super) fn flight(&self) -> Option<Flight> {
        let Info { mss, flight, pacing, cwnd, ssthresh, .. } = self.info;
        self.established.map(|_| Flight {
            bytes: u64::from(flight) * u64::from(mss),
            smss: u64::from(mss),
            pacing: Some(pacing).filter(|pacing| *pacing < u64::MAX).and_then(|pacing| Rate::from_bits_per_sec(pacing.saturating_mul(8))),
            phase: Some(if cwnd < ssthresh { Phase::SlowStart } else { Phase::Avoidance }),
        })
    }

    pub(super) fn initial_window(&self) -> Option<Segments> {
        self.established.map(|(_, cwnd)| cwnd)
    }

    /// Smoothed round-trip time and timeout.
    pub(super) fn timing(&self) -> (Option<Duration>, Duration) {
        let Info { srtt, rto, .. } = self.info;
        (Some(srtt).filter(|srtt| *srtt > 0).map(|srtt| micros(u64::from(srtt))), micros(u64::from(rto)))
    }

    pub(super) fn min_rtt(&self) -> Option<Duration> {
        self.info.min_rtt.map(|rtt| micros(u64::from(rtt)))
    }

    /// How long each limit held the sender back until `end`. Without data to send, the application limits it.
    pub(super) fn limited(&self, end: Instant) -> Option<LimitedTimes> {
        let (established, _) = self.established?;
        let Info { busy, rwnd_limited, sndbuf_limited, .. } = self.info;
        let busy = micros(busy);
        let (receive_window, buffer) = (micros(rwnd_limited), micros(sndbuf_limited));
        let active = end.since(established).max(Duration::ZERO);
        let idle = if active > busy { active - busy } else { Duration::ZERO };
        let sending = receive_window + buffer;
        let congestion_window = if busy > sending { busy - sending } else { Duration::ZERO };
        Some(LimitedTimes { application: idle, send_buffer: buffer, receive_window, congestion_window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(cwnd: f64, ssthresh: f64, recovery: RecoveryPhase) -> Info {
        Info { established: true, cwnd, ssthresh, recovery, ..Info::default() }
    }

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// A sender in slow start with a window of 40 segments.
    fn starting(threshold: f64) -> Sender {
        let mut sender = Sender::new(threshold);
        sender.observe(at(0), Info::default());
        assert!(sender.window().is_none());
        sender.observe(at(1), info(10.0, f64::INFINITY, RecoveryPhase::Open));
        sender.observe(at(2), info(40.0, f64::INFINITY, RecoveryPhase::Open));
        assert_eq!((sender.initial_window(), sender.exit.get()), (Some(10.0), None));
        sender
    }

    #[test]
    fn a_loss_ends_slow_start_with_the_window_before() {
        let mut sender = starting(f64::INFINITY);
        for (millis, state) in (3..).zip([RecoveryPhase::Fast, RecoveryPhase::Fast, RecoveryPhase::Open, RecoveryPhase::Fast]) {
            sender.observe(at(millis), info(20.0, 20.0, state));
        }
        assert_eq!(sender.exit.get(), Some((ExitReason::Loss, at(3), 40.0)));
        assert_eq!(sender.exit.first_loss(), Some(at(3)));
        assert_eq!((sender.counters.reductions, sender.counters.timeouts), (2, 0));
        assert!(sender.counters.cwnd_max.eq(&40.0));
    }

    #[test]
    fn a_timeout_counts_although_its_recovery_was_not_seen() {
        let mut sender = starting(f64::INFINITY);
        sender.observe(at(3), Info { timeouts: 1, ..info(1.0, 20.0, RecoveryPhase::Timeout) });
        sender.observe(at(4), Info { timeouts: 1, ..info(2.0, 20.0, RecoveryPhase::Timeout) });
        assert_eq!((sender.counters.reductions, sender.counters.timeouts), (1, 1));
        sender.observe(at(5), Info { timeouts: 2, ..info(1.0, 20.0, RecoveryPhase::Timeout) });
        assert_eq!((sender.counters.reductions, sender.counters.timeouts), (2, 2));
        assert_eq!(sender.exit.get(), Some((ExitReason::Timeout, at(3), 40.0)));
    }

    #[test]
    fn timeouts_of_the_handshake_do_not_count() {
        let mut sender = Sender::new(f64::INFINITY);
        sender.observe(at(0), Info { timeouts: 1, ..Info::default() });
        for millis in 1..3 {
            sender.observe(at(millis), Info { timeouts: 1, ..info(10.0, f64::INFINITY, RecoveryPhase::Open) });
        }
        assert_eq!((sender.counters.timeouts, sender.exit.get(), sender.exit.first_loss()), (0, None, None));
        sender.observe(at(3), Info { timeouts: 2, ..info(1.0, 5.0, RecoveryPhase::Timeout) });
        assert_eq!(sender.counters.timeouts, 1);
    }

    #[test]
    fn slow_start_ends_by_itself_at_the_threshold_or_by_a_mark() {
        let mut sender = starting(f64::INFINITY);
        sender.observe(at(3), info(41.0, 41.0, RecoveryPhase::Open));
        assert_eq!(sender.exit.get(), Some((ExitReason::Algorithm, at(3), 41.0)));
        let mut sender = starting(50.0);
        sender.observe(at(3), info(49.0, 50.0, RecoveryPhase::Open));
        sender.observe(at(4), info(50.0, 50.0, RecoveryPhase::Open));
        assert_eq!(sender.exit.get(), Some((ExitReason::Threshold, at(4), 50.0)));
        let mut sender = starting(f64::INFINITY);
        sender.observe(at(3), info(39.0, 20.0, RecoveryPhase::Reduction));
        assert_eq!(sender.exit.get(), Some((ExitReason::Mark, at(3), 40.0)));
        assert_eq!(sender.exit.first_loss(), None);
    }

    #[test]
    fn limits_share_the_time_since_the_handshake() {
        let mut sender = starting(f64::INFINITY);
        let times = Info { busy: 600_000, rwnd_limited: 100_000, sndbuf_limited: 50_000, ..info(9.0, 9.0, RecoveryPhase::Open) };
        sender.observe(at(900), times);
        let limited = sender.limited(at(1001)).unwrap();
        let millis = [limited.application, limited.send_buffer, limited.receive_window, limited.congestion_window]
            .map(|time| time.as_nanos() / 1_000_000);
        assert_eq!(millis, [400, 50, 100, 450]);
    }
}
