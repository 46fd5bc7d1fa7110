//! What is seen of a stack's own congestion control from outside.

use std::sync::{Arc, Mutex, PoisonError};

use ackclock_core::cc::{Phase, Window};
use ackclock_core::units::{Duration, Instant, Rate, Segments};
use ackclock_host::{ExitReason, Flight, SharedSeat, SlowStartExit};

use crate::clock::{ORIGIN, simulated};

/// The state of a control, and what happened to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Size of a full datagram in bytes, in which windows are counted.
    pub(crate) datagram: u64,
    /// Window in bytes.
    window: u64,
    /// Threshold in bytes, if the control has one.
    threshold: Option<u64>,
    /// Whether the control has thresholds at all; without one so far it is infinite.
    has_threshold: bool,
    /// Window at the start.
    initial: Option<u64>,
    /// Largest window.
    largest: u64,
    /// Bytes in flight: sent, and neither acknowledged nor lost.
    pub(crate) in_flight: u64,
    /// The rate at which the control asks to pace, in bit/s.
    pub(crate) pacing: Option<u64>,
    /// Reductions of the window at congestion events.
    pub(crate) reductions: u64,
    /// Events of persistent congestion.
    pub(crate) timeouts: u64,
    /// How the first slow start ended.
    pub(crate) exit: SlowStartExit,
    /// Smallest round-trip time.
    pub(crate) min_rtt: Option<Duration>,
    /// When the last ACK came, and the time since the packet left that was sent last of those that it acknowledges.
    sample: Option<(Instant, Duration)>,
}

/// A congestion event as a stack reports it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Congestion {
    /// Packets were lost.
    Loss,
    /// Packets were marked.
    Mark,
    /// All packets of a long time were lost (RFC 9002 §7.6).
    Persistent,
}

impl Seen {
    /// Notes the control's `window` and `threshold` in bytes at `now`, after a congestion event if there was one.
    pub(crate) fn note(&mut self, now: Instant, window: u64, threshold: Option<u64>, congestion: Option<Congestion>) {
        let before = std::mem::replace(&mut self.window, window);
        self.has_threshold = threshold.is_some();
        let threshold = threshold.filter(|bytes| *bytes < u64::MAX);
        self.initial.get_or_insert(window);
        self.largest = self.largest.max(window);
        let first = !self.exit.happened() && (threshold.is_some() && self.threshold.is_none());
        self.threshold = threshold;
        let reason = match congestion {
            Some(Congestion::Loss) => ExitReason::Loss,
            Some(Congestion::Mark) => ExitReason::Mark,
            Some(Congestion::Persistent) => ExitReason::Timeout,
            None => ExitReason::Algorithm,
        };
        if first {
            self.exit.note(reason, now, self.segments(before));
        }
        if let Some(congestion) = congestion {
            self.reductions += u64::from(window < before);
            if !matches!(congestion, Congestion::Mark) {
                self.exit.note_loss(now);
            }
        }
    }

    /// An ACK that arrives at `now` acknowledges a packet that was `sent`.
    pub(crate) fn note_acked(&mut self, now: Instant, sent: Instant) {
        let time = now.since(sent);
        let least = self.sample.filter(|(at, _)| *at == now).map_or(time, |(_, least)| least.min(time));
        self.sample = Some((now, least));
        self.min_rtt = Some(self.min_rtt.map_or(least, |min| min.min(least)));
    }

    /// The latest round-trip time, as RFC 9002 §5.1 samples it: with the delay of the ACK.
    pub(crate) fn latest_rtt(&self) -> Option<Duration> {
        self.sample.map(|(_, time)| time)
    }

    /// Packets of `bytes` are sent.
    pub(crate) fn note_sent(&mut self, bytes: u64) {
        self.in_flight += bytes;
    }

    /// Packets of `bytes` count as lost; after the ACK that shows it. `persistent`: all packets of a long time.
    pub(crate) fn note_lost(&mut self, bytes: u64, persistent: bool) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.timeouts += u64::from(persistent);
    }

    /// What is in flight, by what the control's wrapper notes. Below its threshold, a control of QUIC that has one is in slow start
    /// (RFC 9002 §7.3.1).
    pub(crate) fn flight(&self) -> Flight {
        let starts = self.threshold.is_none_or(|threshold| self.window < threshold);
        let phase = self.has_threshold.then_some(if starts { Phase::SlowStart } else { Phase::Avoidance });
        Flight { bytes: self.in_flight, smss: self.datagram, pacing: self.pacing.and_then(Rate::from_bits_per_sec), phase }
    }

    fn segments(&self, bytes: u64) -> Segments {
        bytes as f64 / self.datagram as f64
    }

    /// Window and threshold.
    pub(crate) fn window(&self) -> Window {
        Window { cwnd: self.segments(self.window), ssthresh: self.threshold.map_or(f64::INFINITY, |bytes| self.segments(bytes)) }
    }

    /// The window at the start.
    pub(crate) fn initial(&self) -> Option<Segments> {
        self.initial.map(|bytes| self.segments(bytes))
    }

    /// The largest window.
    pub(crate) fn largest(&self) -> Segments {
        self.segments(self.largest)
    }
}

/// What the sender's connection tells of its control.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    /// What the control's wrapper notes.
    pub(crate) watch: Watch,
    /// The seat of a control of the contract.
    pub(crate) seat: Option<SharedSeat>,
}

/// The sender's control after an event.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) window: Option<Window>,
    pub(crate) initial: Option<Segments>,
    pub(crate) largest: Segments,
    pub(crate) reductions: u64,
    pub(crate) timeouts: u64,
    pub(crate) exit: SlowStartExit,
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) latest_rtt: Option<Duration>,
    /// When the control's timer expires; none without one.
    pub(crate) timer: Option<Instant>,
    /// What is in flight, once the control exists.
    pub(crate) flight: Option<Flight>,
}

impl Sight {
    /// The state now.
    pub(crate) fn state(&self) -> State {
        let state = self.watch.with(|seen| State {
            window: seen.initial.map(|_| seen.window()),
            initial: seen.initial(),
            largest: seen.largest(),
            reductions: seen.reductions,
            timeouts: seen.timeouts,
            exit: seen.exit.clone(),
            min_rtt: seen.min_rtt,
            latest_rtt: seen.latest_rtt(),
            timer: None,
            flight: (seen.datagram > 0).then(|| seen.flight()),
        });
        let Some(seat) = &self.seat else { return state };
        seat.with(|seat| State {
            window: Some(seat.window()),
            initial: seat.initial_window(),
            largest: seat.largest(),
            reductions: seat.reductions(),
            exit: seat.exit().clone(),
            timer: ORIGIN.deadline(seat.timer()).map(simulated),
            flight: state.flight.map(|flight| seat.flight(flight.bytes, seat.cwnd(), None)),
            ..state
        })
    }
}

/// What a control's wrapper writes and the connection reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<Mutex<Seen>>);

impl Watch {
    /// Reads or writes what was seen.
    pub(crate) fn with<T>(&self, access: impl FnOnce(&mut Seen) -> T) -> T {
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_ends_with_the_first_threshold() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let mut seen = Seen { datagram: 1000, ..Seen::default() };
        seen.note(at(0), 10_000, Some(u64::MAX), None);
        seen.note(at(10), 20_000, Some(u64::MAX), None);
        assert!(!seen.exit.happened() && seen.window().ssthresh.is_infinite());
        seen.note(at(20), 14_000, Some(14_000), Some(Congestion::Loss));
        seen.note(at(30), 15_000, Some(14_000), None);
        seen.note(at(40), 7_000, Some(7_000), Some(Congestion::Mark));
        seen.note(at(50), 7_000, Some(7_000), Some(Congestion::Loss));
        assert_eq!(seen.exit.get(), Some((ExitReason::Loss, at(20), 20.0)));
        assert_eq!(seen.exit.first_loss(), Some(at(20)));
        assert_eq!((seen.reductions, seen.initial(), seen.largest()), (2, Some(10.0), 20.0));
        assert_eq!((seen.window().cwnd, seen.window().ssthresh), (7.0, 7.0));
    }

    #[test]
    fn what_is_sent_is_in_flight_until_it_is_acknowledged_or_lost() {
        let mut seen = Seen { datagram: 1000, ..Seen::default() };
        seen.note(Instant::ZERO, 10_000, Some(u64::MAX), None);
        seen.note_sent(3000);
        seen.pacing = Some(8_000_000);
        let expected = Flight { bytes: 3000, smss: 1000, pacing: Rate::from_bits_per_sec(8_000_000), phase: Some(Phase::SlowStart) };
        assert_eq!(seen.flight(), expected);
        seen.in_flight = 2000;
        seen.note_lost(1000, false);
        seen.note(Instant::ZERO, 5000, Some(5000), Some(Congestion::Loss));
        assert_eq!(seen.flight(), Flight { bytes: 1000, phase: Some(Phase::Avoidance), ..expected });
    }
}
