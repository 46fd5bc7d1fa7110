//! The first flight of a connection: its segments, their pacing over the first round trip, and its outcome. Positions are the host's units:
//! segment numbers in `ns2`, bytes in `modern`.
//!
//! ## References
//! Allman, *Removing TCP's initial congestion window*, 2015 (even pacing over the first round trip); RFC 9040 §4 (state shared between
//! connections).

use ackclock_core::cc::CongestionControl;
use ackclock_core::events::{Established, FirstWindow};
use ackclock_core::units::{Duration, Instant, Segments};

/// The first flight, from the end of the handshake until it is acknowledged or the sender detects congestion.
#[derive(Clone, Debug)]
pub struct FirstFlight {
    /// The initial window.
    window: Segments,
    /// Segments in the flight: limited by the initial window, the receiver's window and the application's data.
    segments: u64,
    /// First position of the flight.
    start: u64,
    /// One past the last position sent.
    sent: u64,
    /// One past the last position of the flight.
    end: u64,
    /// Positions per segment.
    size: u64,
    /// The round trip over which the flight is spread; `None` without pacing.
    spread: Option<Duration>,
    /// The time between two segments while the flight is being paced.
    gap: Option<Duration>,
    /// Whether an application supplies the data, so that the flight may never fill the window.
    supplied: bool,
    /// When the next segment may leave; `None`: at once.
    next: Option<Instant>,
    /// Whether the flight met congestion; `None` until the flight is over.
    congested: Option<bool>,
}

impl FirstFlight {
    /// The first flight after `event`, with which `control` has opened its initial window. Segments have `size` positions; the first begins
    /// at `start`. `spread` paces the flight with any initial window. After a lost SYN there is no first flight, because its window does
    /// not follow the initial-window policy.
    pub fn new(event: &Established, control: &dyn CongestionControl, (start, size): (u64, u64), spread: bool) -> Option<Self> {
        if event.syn_lost() {
            return None;
        }
        let window = control.window().cwnd;
        let most = window.min(event.rwnd.unwrap_or(Segments::INFINITY)).floor().max(1.0);
        let offered = event.available.unwrap_or(Segments::INFINITY).max(0.0);
        let end = start + (most.min(offered) * size as f64).round() as u64;
        let segments = most.min(offered.ceil()).max(1.0) as u64;
        let spread = event.rtt.filter(|_| spread || control.paces_initial_window());
        let gap = gap(spread, segments);
        Some(Self { window, segments, start, sent: start, end, size, spread, gap, supplied: false, next: None, congested: None })
    }

    /// An application has supplied the data below `end`, and may supply more. That data is spread over the round trip, unless the flight
    /// has already begun.
    pub fn supply(&mut self, end: u64) {
        self.supplied = true;
        if self.sent == self.start && end > self.start {
            self.gap = gap(self.spread, (end.min(self.end) - self.start).div_ceil(self.size));
        }
    }

    /// When the next segment may leave, if it has to wait.
    pub fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Whether the next segment has to wait.
    pub fn must_wait(&self, now: Instant) -> bool {
        self.next.is_some_and(|next| next > now)
    }

    /// Ends the wait of the next segment, if its time has come.
    pub fn release(&mut self, now: Instant) {
        self.next = self.next.filter(|next| *next > now);
    }

    /// A new segment was sent; the next one begins at `position`.
    pub fn send(&mut self, now: Instant, position: u64) {
        self.sent = position.min(self.end);
        self.gap = self.gap.filter(|_| position < self.end);
        self.next = self.gap.map(|gap| now + gap);
    }

    /// Everything below `position` has been acknowledged.
    pub fn acknowledge(&mut self, position: u64) {
        if self.is_over() {
            return;
        }
        if position > self.start && self.supplied {
            // The first round trip is over: from here on ACKs clock the sender.
            (self.gap, self.next) = (None, None);
        }
        if position > self.start && self.sent < self.end && self.gap.is_none() {
            // The application sent less than the flight could hold: the flight ends here.
            (self.segments, self.end) = (0, self.sent);
        }
        if position >= self.end {
            self.finish(false);
        }
    }

    /// The sender detected congestion after all data below `position` was acknowledged. Pacing ends.
    pub fn on_congestion(&mut self, position: u64) {
        self.finish(position < self.end);
    }

    /// The sender detected congestion that has hit the first flight, even if all of the flight is acknowledged.
    pub fn on_own_congestion(&mut self) {
        self.finish(true);
    }

    fn finish(&mut self, congested: bool) {
        (self.gap, self.next) = (None, None);
        self.congested.get_or_insert(congested);
    }

    /// Whether the flight is over.
    pub fn is_over(&self) -> bool {
        self.congested.is_some()
    }

    /// The outcome of the flight; `learned`: the initial window that other connections to the peer have learned.
    pub fn outcome(&self, learned: Option<Segments>) -> FirstWindow {
        let filled = self.segments as f64 >= self.window.floor();
        FirstWindow::new(self.window).with(|first| {
            first.filled = filled;
            first.congested = self.congested == Some(true);
            first.learned = learned;
        })
    }
}

/// Time between two of `segments` segments spread over a round trip.
fn gap(spread: Option<Duration>, segments: u64) -> Option<Duration> {
    spread.filter(|_| segments > 1).map(|rtt| rtt / segments as f64)
}

#[cfg(test)]
mod tests {
    use ackclock_core::cc::{Phase, Window};
    use ackclock_core::events::{Ack, CongestionEvent};
    use ackclock_core::units::Bytes;

    use super::*;

    /// A control with a fixed window.
    #[derive(Clone, Debug)]
    struct Fixed(Segments);

    impl CongestionControl for Fixed {
        fn on_established(&mut self, _event: &Established) {}
        fn on_ack(&mut self, _ack: &Ack) {}
        fn on_congestion(&mut self, _event: &CongestionEvent) {}
        fn window(&self) -> Window {
            Window { cwnd: self.0, ssthresh: Segments::INFINITY }
        }
        fn phase(&self) -> Phase {
            Phase::SlowStart
        }
    }

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// A handshake of 40 ms.
    fn handshake() -> Established {
        Established::new(at(0), Bytes(1000)).with(|event| event.rtt = Some(Duration::from_millis(40)))
    }

    fn flight(event: &Established, window: Segments, spread: bool) -> FirstFlight {
        FirstFlight::new(event, &Fixed(window), (1, 1000), spread).unwrap()
    }

    #[test]
    fn segments_leave_evenly_over_the_round_trip() {
        let mut flight = flight(&handshake(), 4.7, true);
        assert!(!flight.must_wait(at(0)), "the first segment leaves at once");
        // Four whole segments in 40 ms: one in 10 ms.
        for sent in 1..4_u64 {
            let now = at(10_000 * (sent - 1));
            flight.send(now, 1 + 1000 * sent);
            assert_eq!(flight.next(), Some(at(10_000 * sent)));
            assert!(flight.must_wait(at(10_000 * sent - 1)) && !flight.must_wait(at(10_000 * sent)));
            flight.release(at(10_000 * sent));
        }
        flight.send(at(30_000), 4001);
        assert_eq!(flight.next(), None, "no wait after the last segment of the flight");
    }

    #[test]
    fn nothing_waits_without_pacing_or_a_round_trip_time() {
        for mut flight in [flight(&handshake(), 4.0, false), flight(&Established::new(at(0), Bytes(1000)), 4.0, true)] {
            flight.send(at(0), 1001);
            assert_eq!(flight.next(), None);
        }
    }

    #[test]
    fn the_flight_ends_when_acknowledged_or_congested() {
        let known = handshake().with(|event| {
            event.rwnd = Some(8.0);
            event.available = Some(2.5);
        });
        let mut short = flight(&known, 4.0, true);
        short.send(at(0), 1001);
        short.send(at(20_000), 2501);
        short.acknowledge(2500);
        assert!(!short.is_over());
        short.acknowledge(2501);
        assert!(short.is_over());
        let outcome = FirstWindow::new(4.0).with(|first| {
            first.filled = false;
            first.congested = false;
            first.learned = Some(9.0);
        });
        assert_eq!(short.outcome(Some(9.0)), outcome);
        let mut lossy = flight(&handshake(), 4.0, true);
        lossy.send(at(0), 1001);
        lossy.on_congestion(4000);
        assert_eq!((lossy.next(), lossy.is_over()), (None, true));
        lossy.acknowledge(4001);
        assert_eq!(
            lossy.outcome(None),
            FirstWindow::new(4.0).with(|first| {
                first.filled = true;
                first.congested = true;
            })
        );
        let mut later = flight(&handshake(), 4.0, true);
        later.on_congestion(4001);
        assert!(!later.outcome(None).congested, "the lost segment was sent after the flight");
        let mut tail = flight(&handshake(), 4.0, true);
        tail.on_own_congestion();
        assert!(tail.outcome(None).congested);
    }

    #[test]
    fn the_receiver_window_limits_the_flight() {
        let flight = flight(&handshake().with(|event| event.rwnd = Some(2.9)), 4.0, true);
        assert_eq!((flight.segments, flight.end, flight.gap), (2, 2001, Some(Duration::from_millis(20))));
        assert!(!flight.outcome(None).filled);
    }

    #[test]
    fn data_sent_before_the_first_ack_is_the_whole_flight() {
        let mut flight = flight(&handshake(), 4.0, false);
        flight.acknowledge(1);
        flight.send(at(0), 1001);
        flight.send(at(0), 2001);
        flight.acknowledge(1001);
        assert!(!flight.is_over());
        flight.send(at(50_000), 3001);
        flight.acknowledge(2001);
        assert_eq!(
            flight.outcome(None),
            FirstWindow::new(4.0).with(|first| {
                first.filled = false;
                first.congested = false;
            })
        );
        assert!(flight.is_over());
    }

    #[test]
    fn data_that_an_application_supplies_is_spread_with_any_window() {
        let mut flight = flight(&handshake(), 8.0, true);
        flight.supply(1);
        assert_eq!(flight.gap, Some(Duration::from_millis(5)), "no data yet: the whole window");
        flight.supply(3501);
        assert_eq!(flight.gap, Some(Duration::from_millis(10)), "four segments");
        flight.supply(99_999);
        assert_eq!(flight.gap, Some(Duration::from_millis(5)), "no more than the window");
        flight.send(at(0), 1001);
        flight.supply(3501);
        assert_eq!(flight.gap, Some(Duration::from_millis(5)), "the flight has begun");
        flight.acknowledge(1001);
        flight.send(at(50_000), 2001);
        assert_eq!((flight.next(), flight.is_over()), (None, true), "the first round trip is over, and all its segments have arrived");
    }

    #[test]
    fn a_lost_syn_leaves_no_first_flight() {
        let event = handshake().with(|event| event.lost_syns = 1);
        assert!(FirstFlight::new(&event, &Fixed(1.0), (1, 1000), true).is_none());
    }
}
