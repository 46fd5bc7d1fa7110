use ackclock_core::cc::Window;

use super::*;

/// A control that changes all its outputs at every event.
#[derive(Clone, Debug)]
struct Restless {
    events: u32,
    phase: Phase,
    paces: bool,
}

impl Restless {
    fn count(&mut self) {
        self.events += 1;
    }
}

impl CongestionControl for Restless {
    fn on_established(&mut self, _event: &Established) {
        self.count();
    }
    fn on_sent(&mut self, _sent: &Sent) {
        self.count();
    }
    fn on_ack(&mut self, _ack: &Ack) {
        self.count();
    }
    fn on_lost(&mut self, _lost: &Lost) {
        self.count();
    }
    fn on_delivered(&mut self, _delivered: &Delivered) {
        self.count();
    }
    fn on_idle(&mut self, idle: &Idle) {
        assert!(idle.duration() > Duration::ZERO || idle.restart_window.is_some());
        self.count();
    }
    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.count();
        self.phase = Phase::Avoidance;
    }
    fn on_restart(&mut self) {
        self.count();
    }
    fn on_recovery_end(&mut self, _now: Instant) {
        self.count();
    }
    fn on_spurious(&mut self, _now: Instant) {
        self.count();
    }
    fn on_mss(&mut self, _smss: Bytes) {
        self.count();
    }
    fn on_timer(&mut self, _now: Instant) {
        self.count();
    }
    fn resize(&mut self, _by: Segments, _least: Segments) {
        self.count();
    }
    fn window(&self) -> Window {
        Window { cwnd: 10.5 + f64::from(self.events), ssthresh: 100.0 }
    }
    fn paces(&self) -> bool {
        self.paces
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_sec(8_000_000).filter(|_| self.paces)
    }
    fn timer(&self) -> Option<Instant> {
        Some(at(1000 * u64::from(self.events))).filter(|_| self.paces)
    }
    fn phase(&self) -> Phase {
        self.phase
    }
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn seat(rules: SeatRules, paces: bool) -> ControlSeat {
    ControlSeat::new(&rules, Box::new(Restless { events: 0, phase: Phase::SlowStart, paces }))
}

fn established(rules: SeatRules) -> ControlSeat {
    establish(seat(rules, true))
}

fn establish(mut seat: ControlSeat) -> ControlSeat {
    let event = Established::new(at(40), Bytes(0)).with(|event| event.rtt = Some(Duration::from_millis(40)));
    seat.establish(&event, (1, 1000));
    seat
}

fn sent(millis: u64) -> Sent {
    Sent::new(at(millis), 1000).with(|sent| sent.snd_nxt = 1001)
}

fn congestion(millis: u64, cause: Cause) -> CongestionEvent {
    CongestionEvent::new(at(millis), cause, 10.0)
}

fn ack(millis: u64) -> Ack {
    Ack::new(at(millis), 1, Bytes(1000))
}

#[test]
fn outputs_are_read_after_every_event() {
    type Event = fn(&mut ControlSeat);
    let events: [Event; 12] = [
        |seat| seat.send(&sent(50), 1001),
        |seat| seat.on_ack(&ack(60)),
        |seat| {
            seat.on_lost(&Lost::new(at(70), 1, 1001));
        },
        |seat| {
            seat.on_delivered(&Delivered::new(at(75), 1, 1001));
        },
        |seat| {
            seat.begin_idle(at(75));
            seat.end_idle(at(79), Restart::No);
        },
        |seat| seat.reduce(&congestion(80, Cause::DupAck), 1),
        |seat| seat.restore(at(90)),
        |seat| seat.restart(),
        |seat| seat.end_recovery(at(100)),
        |seat| seat.deflate(1.0),
        |seat| seat.change_mss(500),
        |seat| assert!(seat.handle_timeout(at(1_000_000))),
    ];
    let mut seat = established(SeatRules::new(1000));
    for (count, event) in (2_u32..).zip(events) {
        event(&mut seat);
        assert_eq!((seat.window().cwnd, seat.timer()), (10.5 + f64::from(count), at(1000 * u64::from(count))), "event {count}");
    }
    assert_eq!((seat.largest(), seat.reductions()), (23.5, 1));
}

#[test]
fn an_idle_time_is_reported_if_it_lasts_or_the_window_restarts() {
    let mut seat = established(SeatRules::new(1000));
    let mut after = |idle: Option<u64>, restart| {
        if let Some(since) = idle {
            seat.begin_idle(at(since));
            assert!(seat.is_idle());
        }
        seat.end_idle(at(60), restart);
        assert!(!seat.is_idle());
        // The window shows the number of events.
        (seat.window().cwnd - 10.5) as u32
    };
    let counts = [after(None, Restart::Full), after(Some(60), Restart::No), after(Some(50), Restart::No), after(Some(60), Restart::Full)];
    assert_eq!(counts, [1, 1, 2, 3]);
}

#[test]
fn each_idle_timeout_halves_the_window_down_to_the_restart_window() {
    // The numbers of Linux 7.2 after a window of 195 segments: the window, and the threshold that remembers three quarters of it.
    let after = |restart| {
        let mut seat = established(SeatRules::new(1000));
        seat.window.cwnd = 195.0;
        seat.restarted(restart)
    };
    assert_eq!(after(Restart::No), (None, None));
    assert_eq!(after(Restart::Full), (Some(11.5), None));
    assert_eq!([1, 2, 4].map(|count| after(Restart::Halved(count)).0), [97.0, 48.0, 12.0].map(Some));
    assert_eq!(after(Restart::Halved(5)), (Some(11.5), Some(145.0)));
    assert_eq!(after(Restart::Halved(100)).0, Some(11.5));
}

#[test]
fn a_window_counts_bytes_or_whole_segments() {
    assert_eq!((established(SeatRules::new(1000)).cwnd(), established(SeatRules::new(1000)).unit()), (11_500, 1000));
    let whole = SeatRules { whole_segments: true, ..SeatRules::new(1000) };
    assert_eq!((established(whole).cwnd(), established(whole).unit()), (11, 1));
}

#[test]
fn a_reduction_is_undone_once() {
    let mut seat = established(SeatRules::new(1000));
    seat.restore(at(50));
    assert_eq!(seat.window(), Window { cwnd: 11.5, ssthresh: 100.0 }, "nothing to undo");
    seat.reduce(&congestion(60, Cause::DupAck), 1);
    seat.restore(at(70));
    seat.restore(at(80));
    assert_eq!((seat.window().cwnd, seat.reductions()), (13.5, 1));
}

#[test]
fn the_first_slow_start_ends_once_and_not_in_the_handshake() {
    let mut seat = seat(SeatRules::new(1000), true);
    seat.reduce(&congestion(10, Cause::Timeout), 0);
    assert_eq!((seat.exit().get(), seat.exit().first_loss()), (None, None));
    let mut seat = established(SeatRules::new(1000));
    seat.on_ack(&ack(50));
    assert_eq!(seat.exit().get(), None, "still in slow start");
    seat.reduce(&congestion(60, Cause::EcnCe), 1);
    seat.reduce(&congestion(70, Cause::DupAck), 1);
    assert_eq!(seat.exit().get(), Some((ExitReason::Mark, at(60), 12.5)), "the window before the reduction");
    assert_eq!(seat.exit().first_loss(), Some(at(70)), "a mark is no loss");
}

#[test]
fn the_pacer_and_the_first_flight_hold_back_segments() {
    let mut seat = established(SeatRules { initial_pacing: true, ..SeatRules::new(1000) });
    let next = |seat: &ControlSeat| seat.next_release().as_nanos() / 1000;
    assert_eq!(next(&seat), 0);
    seat.pace(at(50), (1000, false), 0, None);
    assert_eq!(next(&seat), 51_000, "1000 bytes at 8 Mbit/s");
    seat.send(&sent(50), 1001);
    // Eleven segments in a round trip of 40 ms.
    assert_eq!(next(&seat), 53_636);
    seat.release_first_flight(at(60));
    assert_eq!(next(&seat), 51_000);
}

#[test]
fn a_host_may_pace_a_control_that_does_not() {
    let rules = SeatRules { pacing: Pacing::Window { slow_start: 2.0, avoidance: 1.2 }, ..SeatRules::new(1000) };
    let rate = |seat: &ControlSeat| seat.pacing(10_000, Some(Duration::from_millis(100))).map(|(rate, _)| rate.as_bits_per_sec());
    assert_eq!(rate(&established(rules)), Some(8_000_000), "the control's own rate");
    let mut seat = establish(seat(rules, false));
    assert_eq!(rate(&seat), Some(1_600_000), "twice 10 kB in 100 ms");
    seat.reduce(&congestion(60, Cause::DupAck), 1);
    assert_eq!(rate(&seat), Some(960_000));
}
