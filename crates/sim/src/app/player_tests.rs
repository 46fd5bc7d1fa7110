//! Tests of the choice of bitrates and of playback, without a network.

use ackclock_core::units::Rate;

use super::*;
use crate::scenario::ApplicationKind;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A player of 1-second segments at 1, 2, 3 and 5 Mbit/s, with a buffer of ten seconds.
fn player(abr: Abr, start: u64, segments: Option<u32>) -> Player {
    let bitrates = [1, 2, 3, 5].map(|rate| Rate::from_bits_per_sec(rate * 1_000_000).unwrap()).into();
    let [segment, start, buffer] = [1000, start, 10_000].map(Duration::from_millis);
    let rules = PlayerSpec { segment, bitrates, segments, start, buffer, abr, request: 400, server_delay: Duration::ZERO };
    let kind = ApplicationKind::Player(rules.clone());
    Player::new(&ApplicationSpec { name: "a".to_owned(), start: at(0), stop: None, flows: 0..1, kind }, &rules)
}

const BUFFER: Abr = Abr::Buffer { reservoir: 0.2, cushion: 0.4 };
const THROUGHPUT: Abr = Abr::Throughput { samples: 3, safety: 0.5 };

/// Delivers the whole segment that was requested last.
fn arrive(player: &mut Player, now: u64) {
    let total = player.response_bytes;
    player.handle(at(now), Event::Delivered { connection: 0, stream: StreamId::FIRST, side: Side::Receiver, total }, &mut Vec::new());
}

#[test]
fn the_map_of_the_buffer_has_hysteresis() {
    // The line rises from 1 Mbit/s at 2 s to 5 Mbit/s at 6 s: 1 Mbit/s for each second.
    let mut player = player(BUFFER, 1000, None);
    let mut choose = |step, millis| {
        player.step = step;
        player.choose(Duration::from_millis(millis))
    };
    assert_eq!([choose(3, 0), choose(3, 2000), choose(0, 6010), choose(0, 9000)], [0, 0, 3, 3], "reservoir and upper end");
    assert_eq!([choose(0, 2900), choose(0, 3100), choose(0, 4500)], [0, 1, 2], "up when the line has passed the next step");
    assert_eq!([choose(2, 5900), choose(2, 4100), choose(2, 3100)], [2, 2, 2], "between its neighbours a bitrate stays");
    assert_eq!([choose(2, 2900), choose(3, 3500), choose(3, 4100)], [1, 2, 3], "down when the line has passed the step before");
}

#[test]
fn the_harmonic_mean_of_the_last_segments_counts() {
    let mut player = player(THROUGHPUT, 1000, None);
    assert_eq!(player.choose(Duration::ZERO), 0, "nothing is known");
    // Throughputs of 4, 8 and 24 Mbit/s have the harmonic mean 3/(1/4 + 1/8 + 1/24) = 7.2 Mbit/s, and half of it is 3.6 Mbit/s.
    player.samples.extend([4e6, 8e6, 24e6].map(|rate: f64| 1.0 / rate));
    assert_eq!(player.choose(Duration::ZERO), 2);
    player.samples = [1e6].into();
    assert_eq!(player.choose(Duration::ZERO), 0, "the lowest, although it exceeds the share");
    // The first sample leaves when the fourth arrives: 1 Mbit in 20 ms is 50 Mbit/s.
    let mut player = self::player(THROUGHPUT, 1000, None);
    player.samples.extend([1e6, 50e6, 50e6].map(|rate: f64| 1.0 / rate));
    player.handle(at(0), Event::Wake, &mut Vec::new());
    arrive(&mut player, 20);
    assert_eq!((player.samples.len(), player.step), (3, 3), "half of 50 Mbit/s carries the highest bitrate");
}

#[test]
fn playback_starts_stalls_resumes_and_ends() {
    let mut player = player(BUFFER, 2000, Some(4));
    let mut actions = Vec::new();
    player.handle(at(0), Event::Wake, &mut actions);
    let asks = Action::Write(0, StreamId::FIRST, Side::Receiver, 400);
    assert_eq!(actions, [Action::Open(0), asks]);
    actions.clear();
    player.handle(at(5), Event::Delivered { connection: 0, stream: StreamId::FIRST, side: Side::Sender, total: 400 }, &mut actions);
    assert_eq!(actions, [Action::Write(0, StreamId::FIRST, Side::Sender, 125_000)]);
    arrive(&mut player, 300);
    assert!(player.startup.is_none() && player.poll_timeout().is_none(), "one second is too little");
    // Two seconds play from 500 ms to 2.5 s. The third segment is late by half a second, and two seconds start playback again at 4 s.
    arrive(&mut player, 500);
    assert_eq!((player.startup, player.poll_timeout()), (Some(Duration::from_millis(500)), Some(at(2500))));
    player.handle(at(2500), Event::Wake, &mut actions);
    arrive(&mut player, 3000);
    arrive(&mut player, 4000);
    assert_eq!((player.stalls, player.stalled), (1, Duration::from_millis(1500)));
    assert!(player.complete && player.poll_timeout() == Some(at(6000)));
    player.handle(at(6000), Event::Wake, &mut actions);
    let (segments, media) = player.into_results(at(9000));
    assert_eq!((segments.len(), media.parts_complete, media.bytes), (4, 4, 500_000));
    assert_eq!(
        (media.stalls, media.stall_time, media.played_time),
        (Some(1), Some(Duration::from_millis(1500)), Some(Duration::from_millis(4000)))
    );
    assert_eq!((media.bitrate_bps, media.switches), (Some(1e6), 0));
}

#[test]
fn a_full_buffer_starts_and_delays_requests() {
    // A start beyond the buffer cannot be reached.
    let mut player = player(BUFFER, 99_000, None);
    player.handle(at(0), Event::Wake, &mut Vec::new());
    for segment in 1..=9 {
        arrive(&mut player, segment * 10);
        assert!(player.startup.is_none(), "{segment}");
    }
    arrive(&mut player, 100);
    assert_eq!(player.startup, Some(Duration::from_millis(100)));
    // There is room for another segment one second later.
    assert_eq!(player.poll_timeout(), Some(at(1100)));
    // A wait in progress counts up to the end of the run.
    let mut player = self::player(BUFFER, 0, None);
    player.handle(at(0), Event::Wake, &mut Vec::new());
    arrive(&mut player, 200);
    player.handle(at(1200), Event::Wake, &mut Vec::new());
    let (_, media) = player.into_results(at(1700));
    assert_eq!((media.stalls, media.stall_time), (Some(1), Some(Duration::from_millis(500))));
}
