//! A stack that reports to a seat, hook by hook.
#![expect(clippy::float_cmp, reason = "windows change by whole segments")]

use ackclock_core::cc::{Court, Recipe, Wants, Witness};

use super::*;
use crate::stack::SharedSeat;

const SIZE: u64 = 1000;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(1_000_000 * millis)
}

fn known() -> Established {
    Established::new(Instant::ZERO, Bytes(SIZE)).with(|known| known.header = Bytes(28))
}

/// A seat after a handshake of 100 ms, at 100 ms, whose control is a witness before the recipe's.
fn seat(recipe: &str) -> (StackSeat, Court) {
    let (mut seat, court) = new(recipe);
    seat.on_sent(at(0), 500, 0);
    seat.on_acked(at(100), at(0), 500, Some(0));
    seat.on_acks_end(at(100), Some(0), true, None);
    (seat, court)
}

fn new(recipe: &str) -> (StackSeat, Court) {
    let court = Court::default();
    let inner = recipe.parse::<Recipe>().unwrap().build().unwrap();
    let wants = Wants::NOTHING.with(|wants| (wants.samples, wants.deliveries, wants.timing) = (true, true, true));
    let witness = Witness::new(inner, wants, true, &court);
    (StackSeat::new(Box::new(witness), &known()), court)
}

fn send(seat: &mut StackSeat, now: Instant, numbers: std::ops::Range<u64>) {
    for number in numbers {
        seat.on_sent(now, SIZE, number);
    }
}

/// An ACK of these packets, all sent at `sent`; `left`: packets in flight after it.
fn ack(seat: &mut StackSeat, now: Instant, sent: Instant, numbers: impl IntoIterator<Item = u64>, left: u64) {
    for number in numbers {
        seat.on_acked(now, sent, SIZE, Some(number));
    }
    seat.on_acks_end(now, Some(left * SIZE), false, Some(true));
}

fn lose(seat: &mut StackSeat, now: Instant, numbers: std::ops::Range<u64>, persistent: bool) {
    for number in numbers {
        seat.on_packet_lost(now, SIZE, number);
    }
    seat.on_congestion(now, persistent);
}

fn cwnd(seat: &mut StackSeat) -> f64 {
    seat.seat().window().cwnd
}

fn check(court: &Court, events: &[(&str, u64)]) {
    let court = court.lock().unwrap();
    assert!(court.broken.is_empty(), "{:#?}", court.broken);
    for (event, count) in events {
        assert_eq!(court.events.get(event).copied().unwrap_or(0), *count, "{event}: {:?}", court.events);
    }
}

#[test]
fn the_handshake_opens_the_window_with_its_round_trip_time() {
    let (mut seat, court) = new("reno");
    assert_eq!((seat.window(), seat.initial_window()), (10 * SIZE, 10 * SIZE), "RFC 9002 §7.2");
    seat.on_mtu(1400);
    assert_eq!(seat.window(), 14_000);
    seat.on_mtu(2000);
    assert_eq!(seat.window(), 14_720);
    seat.on_mtu(SIZE);
    seat.on_sent(at(0), 500, 0);
    seat.on_acked(at(100), at(0), 500, Some(0));
    seat.on_acks_end(at(100), Some(0), true, None);
    assert_eq!(seat.window(), 10 * SIZE);
    check(&court, &[("established", 1), ("ack", 0)]);
    assert_eq!(seat.rtt.smoothed, Some(at(100).since(at(0))));
}

#[test]
fn an_ack_grows_the_window_once_all_of_it_is_known() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..10);
    for number in 0..4 {
        seat.on_acked(at(200), at(100), SIZE, Some(number));
    }
    check(&court, &[("ack", 0)]);
    seat.on_acks_end(at(200), Some(6 * SIZE), false, Some(true));
    check(&court, &[("ack", 0)]);
    assert_eq!(seat.window(), 14 * SIZE, "all four count (RFC 9002 §7.3.1)");
    check(&court, &[("ack", 1), ("delivery", 4), ("transmission", 10)]);
}

#[test]
fn a_window_that_was_not_used_does_not_grow() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..4);
    seat.on_acked(at(200), at(100), SIZE, Some(0));
    seat.on_acks_end(at(200), Some(3 * SIZE), true, None);
    assert_eq!(seat.window(), 10 * SIZE);
    seat.on_window_limited();
    seat.on_acked(at(201), at(100), SIZE, Some(1));
    seat.on_acks_end(at(201), Some(2 * SIZE), true, None);
    assert_eq!(seat.window(), 11 * SIZE, "the stack says that it was full");
    check(&court, &[]);
}

#[test]
fn losses_of_an_ack_come_before_it_and_reduce_once_in_a_recovery() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..10);
    ack(&mut seat, at(200), at(100), 3..5, 8);
    lose(&mut seat, at(200), 0..2, false);
    assert_eq!(cwnd(&mut seat), 5.0, "halved, and not grown by the ACK");
    send(&mut seat, at(200), 10..12);
    // Packet 2 was sent before the reduction.
    ack(&mut seat, at(201), at(100), 5..6, 7);
    lose(&mut seat, at(201), 2..3, false);
    assert_eq!(cwnd(&mut seat), 5.0, "once in a recovery period (RFC 9002 §7.3.2)");
    ack(&mut seat, at(210), at(100), 6..10, 2);
    assert_eq!(seat.window(), 5 * SIZE, "the ACK that ends a recovery belongs to it");
    check(&court, &[("fast retransmit", 1), ("loss", 3), ("end of recovery", 1)]);
    ack(&mut seat, at(300), at(200), 10..12, 0);
    assert_eq!(seat.window(), 5400, "two packets of a window of five");
    send(&mut seat, at(302), 12..20);
    ack(&mut seat, at(402), at(302), 16..17, 7);
    lose(&mut seat, at(402), 12..13, false);
    seat.window();
    check(&court, &[("fast retransmit", 2)]);
}

#[test]
fn a_loss_in_a_recovery_begins_the_next_although_an_older_packet_is_awaited() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..10);
    ack(&mut seat, at(200), at(100), 3..5, 8);
    lose(&mut seat, at(200), 0..2, false);
    send(&mut seat, at(200), 10..14);
    // Nobody acknowledges packet 2, as one of the handshake whose keys the peer has discarded.
    ack(&mut seat, at(210), at(100), 5..10, 5);
    ack(&mut seat, at(300), at(200), 13..14, 4);
    lose(&mut seat, at(300), 10..11, false);
    seat.window();
    check(&court, &[("fast retransmit", 2), ("loss", 3), ("end of recovery", 1)]);
}

#[test]
fn spurious_losses_undo_the_reduction() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..10);
    ack(&mut seat, at(200), at(100), 3..5, 8);
    lose(&mut seat, at(200), 0..2, false);
    assert_eq!(cwnd(&mut seat), 5.0);
    seat.on_spurious();
    ack(&mut seat, at(201), at(100), 5..6, 5);
    assert_eq!(cwnd(&mut seat), 11.0, "restored, and grown by the ACK");
    seat.on_spurious();
    ack(&mut seat, at(202), at(100), 6..7, 4);
    assert_eq!(cwnd(&mut seat), 12.0);
    check(&court, &[("undo", 1)]);
}

#[test]
fn persistent_congestion_is_a_timeout_with_a_window_of_two_packets() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..9);
    seat.on_sent(at(1500), SIZE, 9);
    seat.on_acked(at(1600), at(1500), SIZE, Some(9));
    seat.on_acks_end(at(1600), Some(9 * SIZE), false, Some(true));
    lose(&mut seat, at(1600), 0..9, true);
    assert_eq!((seat.window(), seat.ssthresh()), (3 * SIZE, Some(5 * SIZE)), "two, and the ACK's growth");
    check(&court, &[("timeout", 1), ("fast retransmit", 0)]);
}

#[test]
fn a_mark_reduces_once_in_a_round_trip() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..10);
    for (millis, number) in [(200, 0), (201, 1)] {
        ack(&mut seat, at(millis), at(100), [number], 9 - number);
        seat.on_marks(at(millis));
    }
    assert_eq!(cwnd(&mut seat), 5.0);
    check(&court, &[("mark", 1), ("echo", 2)]);
    assert_eq!(court.lock().unwrap().marked, 2 * SIZE);
}

#[test]
fn idle_time_is_reported_before_the_next_packet() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..1);
    ack(&mut seat, at(200), at(100), 0..1, 0);
    send(&mut seat, at(900), 1..2);
    check(&court, &[("idle", 1)]);
    assert_eq!(court.lock().unwrap().idle[0].duration(), at(900).since(at(200)));
}

#[test]
fn a_new_size_of_packets_keeps_the_bytes_of_the_window() {
    let (mut seat, court) = seat("reno");
    seat.on_mtu(2000);
    assert_eq!((seat.window(), cwnd(&mut seat)), (10_000, 5.0));
    check(&court, &[("segment size", 1)]);
}

#[test]
fn a_stack_without_numbers_is_understood_by_times_and_sizes() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..1);
    seat.on_sent(at(101), 40, 0);
    send(&mut seat, at(102), 0..8);
    // Four of those sent at 102 ms have arrived; the one of 100 ms is lost, and nobody waits for the one of 101 ms.
    for _ in 0..4 {
        seat.on_acked(at(202), at(102), SIZE, None);
    }
    seat.on_acks_end(at(202), Some(5 * SIZE), false, Some(true));
    seat.on_bytes_lost(at(202), at(100), SIZE);
    seat.on_congestion(at(202), false);
    assert_eq!(cwnd(&mut seat), 5.0);
    check(&court, &[("loss", 1), ("delivery", 5), ("fast retransmit", 1)]);
}

#[test]
fn what_the_stack_drops_counts_as_delivered() {
    let (mut seat, court) = seat("reno");
    let deliver = |seat: &mut StackSeat, now, sent, bound| {
        seat.on_acked(now, sent, SIZE, None);
        seat.on_acks_end(now, bound, false, Some(true));
        seat.window();
    };
    // An ACK alone, which nobody acknowledges.
    seat.on_sent(at(100), 40, 0);
    seat.on_sent(at(101), SIZE, 0);
    deliver(&mut seat, at(200), at(101), None);
    assert_eq!((seat.una, seat.inflight), (0, 40), "it may be on its way");
    seat.on_sent(at(300), SIZE, 0);
    deliver(&mut seat, at(400), at(300), None);
    check(&court, &[("ack", 1), ("duplicate", 1), ("delivery", 3), ("loss", 0)]);
    assert_eq!((seat.flight.bytes(), seat.inflight), (0, 0), "after two round trips it is not");
    // A stack that knows better says so, as when it discards the keys of the handshake (RFC 9002 §6.4).
    seat.on_sent(at(400), 52, 0);
    seat.on_sent(at(401), SIZE, 0);
    deliver(&mut seat, at(500), at(401), Some(0));
    assert_eq!((seat.inflight, seat.una), (0, seat.nxt));
    send(&mut seat, at(501), 1..3);
    check(&court, &[("ack", 2), ("delivery", 5), ("loss", 0)]);
}

#[test]
fn a_receiver_that_sends_nothing_but_acks_remembers_a_few_windows_of_them() {
    let (mut seat, court) = seat("reno");
    for number in 0..100_000 {
        seat.on_sent(at(500 + number), 40, number);
    }
    assert!(seat.flight.bytes() <= 50 * SIZE, "{}", seat.flight.bytes());
    check(&court, &[("fast retransmit", 0)]);
}

#[test]
fn a_lost_probe_for_larger_packets_is_no_sign_of_congestion() {
    // With numbers, and with the bytes in flight; without numbers, of a later loss too.
    let (mut seat, court) = seat("reno");
    seat.on_sent(at(100), 1452, 0);
    send(&mut seat, at(100), 1..4);
    ack(&mut seat, at(200), at(100), 1..4, 1);
    // The stack drops the probe after that.
    send(&mut seat, at(201), 4..6);
    ack(&mut seat, at(301), at(201), 4..5, 1);
    seat.window();
    check(&court, &[("loss", 1), ("fast retransmit", 0)]);
    assert_eq!(seat.inflight, SIZE);

    let (mut seat, court) = self::seat("reno");
    seat.on_sent(at(100), 1452, 0);
    send(&mut seat, at(100), 1..6);
    ack(&mut seat, at(200), at(100), 4..6, 4);
    lose(&mut seat, at(200), 1..2, false);
    seat.window();
    check(&court, &[("loss", 2), ("fast retransmit", 1)]);
    assert_eq!((seat.una, seat.inflight), (2452, 2 * SIZE), "the probe was sent before a packet that is lost");
    seat.on_bytes_lost(at(201), at(100), SIZE);
    seat.window();
    assert_eq!(seat.inflight, SIZE);
    check(&court, &[("loss", 3)]);

    let (mut seat, court) = self::seat("reno");
    seat.on_sent(at(100), 1452, 0);
    send(&mut seat, at(100), 1..6);
    for _ in 0..3 {
        seat.on_acked(at(200), at(100), SIZE, None);
    }
    seat.on_acks_end(at(200), None, false, Some(true));
    seat.on_bytes_lost(at(200), at(100), SIZE);
    seat.window();
    assert_eq!(seat.inflight, SIZE, "the sum is that of the others");
    check(&court, &[("loss", 2)]);
}

#[test]
fn packets_that_are_too_large_reduce_the_window_before_their_size_changes() {
    let (mut seat, court) = seat("reno");
    send(&mut seat, at(100), 0..10);
    ack(&mut seat, at(200), at(100), 4..10, 4);
    for number in 0..4 {
        seat.on_packet_lost(at(200), SIZE, number);
    }
    // noq detects a black hole before it reports the congestion.
    seat.on_mtu(500);
    seat.on_congestion(at(200), false);
    assert_eq!((seat.window(), cwnd(&mut seat)), (5 * SIZE, 10.0), "half, in packets of half the size");
    check(&court, &[("fast retransmit", 1), ("loss", 4), ("segment size", 1)]);
}

#[test]
fn a_flight_is_limited_by_the_application_until_all_of_it_is_delivered() {
    let (mut seat, _) = seat("reno");
    send(&mut seat, at(100), 0..2);
    seat.on_acked(at(200), at(100), SIZE, Some(0));
    // The application had no more data when both were in flight.
    seat.on_acks_end(at(200), Some(SIZE), true, None);
    seat.window();
    assert!(seat.rate.is_app_limited());
    seat.on_acked(at(201), at(100), SIZE, Some(1));
    seat.on_acks_end(at(201), Some(0), true, None);
    seat.window();
    assert!(seat.rate.is_app_limited(), "what follows is still limited by the pause");
    send(&mut seat, at(300), 2..3);
    ack(&mut seat, at(400), at(300), 2..3, 0);
    seat.window();
    assert!(!seat.rate.is_app_limited());
}

#[test]
fn a_control_that_paces_gives_its_rate_without_headers() {
    let (mut seat, _) = seat("slow_start = paced");
    let (rate, burst) = seat.pacing().unwrap();
    // Two windows of ten packets in 100 ms.
    assert!((rate as f64 - 200_000.0).abs() < 10.0, "{rate}");
    assert_eq!(burst, SIZE);
    assert_eq!(self::seat("reno").0.pacing(), None, "the stack paces");
}

#[test]
fn a_fork_has_the_window_and_nothing_in_flight() {
    let (mut seat, _) = seat("reno");
    send(&mut seat, at(100), 0..10);
    let shared = SharedSeat::new(seat);
    ack(&mut shared.lock(), at(200), at(100), 0..4, 6);
    let fork = shared.fork();
    let state = |shared: &SharedSeat| {
        let mut seat = shared.lock();
        (seat.window(), seat.inflight)
    };
    assert_eq!((state(&shared), state(&fork)), ((14 * SIZE, 6 * SIZE), (14 * SIZE, 0)));
    fork.lock().on_mtu(2000);
    assert_eq!(shared.with(|seat| seat.smss()), SIZE);
}
