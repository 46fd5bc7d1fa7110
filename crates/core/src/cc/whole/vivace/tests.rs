use super::*;
use crate::params::Value;
use crate::testing::{assert_close, established, internal};
use proptest::prelude::*;

fn vivace(set: &[(&str, Value)]) -> Vivace {
    let mut params = Params::defaults(PARAMS);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    Vivace::new(&params)
}

#[test]
fn the_utility_is_that_of_the_paper() {
    let utility = vivace(&[]).utility;
    assert_close(utility.of(100.0, 0.0, 0.0), libm::pow(100.0, 0.9), 1e-9);
    assert_close(utility.of(10.0, 0.02, 0.1), libm::pow(10.0, 0.9) - 900.0 * 10.0 * 0.02 - 11.35 * 10.0 * 0.1, 1e-9);
    assert_close(utility.of(10.0, 0.009, 0.0), utility.of(10.0, -0.5, 0.0), 0.0);
    // Where 5 % are lost at random, the utility is largest at (0.9/(11.35 · 0.05))¹⁰ = 100.6 Mbit/s.
    let best = libm::pow(0.9 / (11.35 * 0.05), 10.0);
    assert_close(best, 100.6, 0.1);
    let at = |x| utility.of(x, 0.0, 0.05);
    assert!(at(best) > at(0.95 * best) && at(best) > at(1.05 * best));
}

#[test]
fn moves_are_amplified_and_bounded() {
    let mut moves = vivace(&[("boundary", Value::Number(1.0))]).moves;
    let mut x = 1000.0;
    let steps = [0; 5].map(|_| {
        let before = x;
        x = moves.apply(x, 2.0);
        x - before
    });
    assert_eq!(steps, [2.0, 4.0, 6.0, 10.0, 14.0], "the amplifier is 1, 2, 3, 5 and 7");
    assert_close(moves.apply(1000.0, -2.0), 998.0, 0.0);
    let mut moves = vivace(&[]).moves;
    let shares = [0; 3].map(|_| moves.apply(100.0, 1e6) / 100.0 - 1.0);
    for (share, expected) in shares.into_iter().zip([0.05, 0.15, 0.25]) {
        assert_close(share, expected, 1e-12);
    }
    moves.apply(100.0, 1.0);
    assert_close(moves.bound(), 0.05, 1e-12);
    moves.apply(100.0, 1e6);
    assert_close(moves.apply(100.0, -1e6), 95.0, 1e-9);
}

#[test]
fn a_syn_is_not_paced_and_belongs_to_no_interval() {
    let mut control = vivace(&[]);
    control.on_sent(&Sent::new(Instant::ZERO, 1000));
    assert!(control.pacing_rate().is_none() && control.timer().is_none());
    control.on_established(&Established { rtt: Some(Duration::from_millis(100)), ..established(1000) });
    assert_eq!(control.pacing_rate().map(Rate::as_bits_per_sec), Some(800_000), "ten segments in 100 ms");
}

#[test]
fn the_slope_is_that_of_a_regression() {
    let mut interval = Interval::new(Purpose::Start, 1.0, 2.0, 1e6);
    assert_close(interval.slope(), 0.0, 0.0);
    for step in 0..10 {
        let at = 1.0 + f64::from(step) / 10.0;
        interval.measure(at, 0.1 + 0.03 * at);
    }
    assert_close(interval.slope(), 0.03, 1e-9);
}

/// Runs the control alone over a link of `capacity` Mbit/s, 100 ms away, whose queue holds `queue` seconds. Returns the rate
/// of deliveries over the last third, in Mbit/s, and the longest delay in the queue in that time.
fn run(control: &mut Vivace, capacity: f64, queue: f64, seconds: f64) -> (f64, f64) {
    use crate::events::{Snapshot, Totals};
    const SMSS: u64 = 1000;
    control.on_established(&Established { rtt: Some(Duration::from_millis(100)), ..established(SMSS) });
    let service = 8.0 * SMSS as f64 / (capacity * MEGA);
    let (mut now, mut busy, mut due, mut number) = (0.0_f64, 0.0_f64, 0.0_f64, 0_u64);
    let mut sent: std::collections::VecDeque<(f64, f64, u64, bool)> = std::collections::VecDeque::new();
    let (mut delivered, mut most, mut total) = (0_u64, 0.0_f64, Totals::default());
    let instant = |seconds: f64| Instant::ZERO + Duration::from_secs_f64(seconds);
    while now < seconds {
        let arrival = sent.front().map_or(f64::INFINITY, |sent| sent.0);
        if due.max(now) <= arrival {
            now = due.max(now);
            number += 1;
            total.sent += SMSS;
            let lost = busy - now > queue;
            if !lost {
                busy = busy.max(now) + service;
            }
            control.on_sent(&Sent { snd_nxt: number * SMSS, total, ..Sent::new(instant(now), SMSS) });
            sent.push_back((busy.max(now) + 0.1, now, number, lost));
            due = now + 8.0 * SMSS as f64 / control.pacing_rate().unwrap().as_bits_per_sec() as f64;
            continue;
        }
        let (arrival, at, segment, lost) = sent.pop_front().unwrap();
        now = arrival;
        let packet = Snapshot::new(instant(at));
        let (start, end) = ((segment - 1) * SMSS, segment * SMSS);
        if lost {
            control.on_lost(&Lost { packet: Some(packet), ..Lost::new(instant(now), start, end) });
        } else {
            control.on_delivered(&Delivered { packet, ..Delivered::new(instant(now), start, end) });
            if now > seconds * 2.0 / 3.0 {
                delivered += SMSS;
                most = most.max(now - at - 0.1);
            }
        }
        let srtt = Some(Duration::from_secs_f64(now - at));
        control.on_ack(&Ack { srtt, ..Ack::new(instant(now), 1, Bytes(SMSS)) });
    }
    (8.0 * delivered as f64 / (seconds / 3.0) / MEGA, most)
}

#[test]
fn a_flow_alone_finds_the_link() {
    for (capacity, queue) in [(10.0, 0.1), (50.0, 0.05)] {
        let mut control = vivace(&[]);
        let (rate, delay) = run(&mut control, capacity, queue, 60.0);
        assert!(!control.starting && rate > 0.9 * capacity && delay < queue, "{rate} of {capacity}, {delay} s");
        for declared in ENTRY.quantities {
            assert!(internal(|out| control.internals(out), declared.name).is_finite());
        }
    }
}

proptest! {
    #[test]
    fn a_move_follows_the_gradient_within_the_bound(gradients in prop::collection::vec(-100.0..100.0_f64, 1..50)) {
        let mut moves = vivace(&[]).moves;
        let mut x = 10.0;
        for gradient in gradients {
            let bound = moves.bound().max(0.05);
            let after = moves.apply(x, gradient);
            prop_assert!((after - x) * gradient >= 0.0 && (after - x).abs() <= bound * x + 1e-9, "{x} {after} {bound}");
            x = after.max(0.01);
        }
    }
}
