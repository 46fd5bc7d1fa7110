//! Tests of sizes and of the rule of the rate, without a network.

use ackclock_core::units::{Bytes, Rate};

use super::*;
use crate::scenario::ApplicationKind;

fn at(millis: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(millis / 1e3)
}

/// 25 frames a second in packets of 1000 bytes, from 100 kbit/s to 4 Mbit/s.
fn frames(rate: u64, variation: f64, key_factor: f64) -> Frames {
    let [min_rate, rate, max_rate] = [100_000, rate, 4_000_000].map(|rate| Rate::from_bits_per_sec(rate).unwrap());
    let rules = FramesSpec {
        fps: 25.0,
        min_rate,
        rate,
        max_rate,
        key_interval: 10,
        key_factor,
        variation,
        reaction: Duration::from_millis(200),
        backlog: Duration::from_millis(100),
        decrease: 0.8,
        increase: 0.5,
        deadline: Duration::from_millis(150),
        packet: Bytes(1000),
    };
    let kind = ApplicationKind::Frames(rules.clone());
    Frames::new(&ApplicationSpec { name: "a".to_owned(), start: at(0.0), stop: None, flows: 0..1, kind }, &rules, 1)
}

fn arrive(frames: &mut Frames, now: f64, total: u64) {
    let event = Event::Delivered { connection: 0, stream: ackclock_host::StreamId::FIRST, side: ackclock_host::Side::Receiver, total };
    frames.handle(at(now), event, &mut Vec::new());
}

/// Sizes of the next `count` frames in packets, none of which arrives; 0 is a frame that was skipped.
fn sizes(frames: &mut Frames, count: usize) -> Vec<u64> {
    frames.rules.reaction = Duration::from_secs_f64(1e6);
    let mut take = || {
        let mut actions = Vec::new();
        let next = frames.poll_timeout().unwrap();
        frames.handle(next, Event::Wake, &mut actions);
        actions.iter().map(|action| if let Action::Offer(packets) = action { *packets } else { panic!("{action:?}") }).sum()
    };
    (0..count).map(|_| take()).collect()
}

#[test]
fn key_frames_and_packets_keep_the_rate() {
    // 1 Mbit/s are 5 packets a frame. A key frame of 3.7 others: 50 packets = (3.7 + 9) x, x = 3.94 and 14.57 packets.
    let made = sizes(&mut frames(1_000_000, 0.0, 3.7), 100);
    assert_eq!(made[..3], [15, 4, 4], "14.57, 18.50 and 22.44 packets in all, rounded up");
    assert!(made.chunks(10).all(|group| group.iter().sum::<u64>().abs_diff(50) <= 1 && group[0] >= 14), "{made:?}");
    // 100 kbit/s are half a packet a frame: every second frame is skipped.
    assert_eq!(sizes(&mut frames(100_000, 0.0, 1.0), 6), [1, 0, 1, 0, 1, 0]);
    // Frames come at their times, which do not drift.
    let mut source = frames(1_000_000, 0.0, 1.0);
    sizes(&mut source, 1000);
    assert_eq!(source.poll_timeout(), Some(at(40_000.0)));
}

#[test]
fn deviations_are_laplacian_within_their_limits() {
    for (scale, limit) in [(0.15, 0.6), (0.5, 1.0)] {
        let mut source = frames(1_000_000, scale, 1.0);
        let drawn: Vec<f64> = (0..40_000).map(|_| source.deviation()).collect();
        assert!(drawn.iter().all(|value| value.abs() <= limit), "{scale}");
        let mean = |of: fn(f64) -> f64| drawn.iter().map(|value| of(*value)).sum::<f64>() / drawn.len() as f64;
        assert!(mean(|value| value).abs() < 0.01 * limit, "{scale}: {}", mean(|value| value));
        // The mean of an exponential distribution given that it is below l: s − l/(e^(l/s) − 1).
        let size = scale - limit / (libm::exp(limit / scale) - 1.0);
        assert!((mean(f64::abs) / size - 1.0).abs() < 0.03, "{scale}: {} {size}", mean(f64::abs));
    }
}

#[test]
fn the_rate_follows_the_backlog() {
    let mut source = frames(1_000_000, 0.0, 1.0);
    let mut offered = 0;
    let mut wake = |source: &mut Frames, now: f64| {
        let mut actions = Vec::new();
        source.handle(at(now), Event::Wake, &mut actions);
        offered += actions.iter().map(|action| if let Action::Offer(packets) = action { packets * 1000 } else { 0 }).sum::<u64>();
        offered
    };
    // Frames that arrive after 30 ms are no backlog: the target grows by half at each look.
    for frame in 0..=5 {
        let total = wake(&mut source, 40.0 * f64::from(frame));
        arrive(&mut source, 40.0 * f64::from(frame) + 30.0, total);
    }
    assert_eq!((source.target, source.switches), (1_500_000.0, 1));
    // The frame of 200 ms has arrived with 8000 bytes, and then 5000 bytes come. At 400 ms the frame of 240 ms is 160 ms old, 130 ms more than the smallest delay.
    let arrived = source.arrived;
    for frame in 6..10 {
        wake(&mut source, 40.0 * f64::from(frame));
    }
    arrive(&mut source, 399.0, arrived + 5000);
    wake(&mut source, 400.0);
    // 13,000 bytes in 200 ms are 520 kbit/s, of which 80 % remain.
    assert!((source.target - 416_000.0).abs() < 1e-6 && source.switches == 2, "{}", source.target);
    // Nothing comes any more, and no target is below the lowest.
    for frame in 11..=15 {
        wake(&mut source, 40.0 * f64::from(frame));
    }
    assert_eq!((source.target, source.switches), (100_000.0, 3));
}
