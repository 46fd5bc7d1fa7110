//! Every control in noq, in virtual time.
#![expect(clippy::disallowed_methods, reason = "virtual time counts from a point of the clock, which has no other points")]

mod controls;
mod endpoints;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ackclock_core::cc::{Court, Recipe, Wants, Witness};
use ackclock_noq::{Controls, Factory, Handle};
use controls::recipes;
use endpoints::{Outcome, Path, transfer};
use noq_proto::TransportConfig;
use noq_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};

/// Transfers `bytes` with the controls; `watch` sees the server's seat after each step. Returns it too.
fn run(
    path: Path,
    bytes: u64,
    controls: Controls,
    change: impl FnOnce(&mut TransportConfig),
    watch: impl Fn(&Handle),
) -> (Outcome, Handle) {
    let begin = Instant::now();
    let seat: Arc<Mutex<Option<Handle>>> = Arc::default();
    let keep = Arc::clone(&seat);
    let controls = controls.since(begin).watch(move |handle| *keep.lock().unwrap() = Some(handle));
    let factory = Arc::new(Factory::from(controls));
    let configure = |transport: &mut TransportConfig| {
        transport.congestion_controller_factory(factory);
        change(transport);
    };
    let outcome = transfer(path, bytes, begin, configure, |_| {
        if let Some(handle) = &*seat.lock().unwrap() {
            watch(handle);
        }
    });
    let handle = seat.lock().unwrap().clone().expect("a server has a control");
    (outcome, handle)
}

fn named(recipe: &str) -> Controls {
    Controls::parse(recipe).unwrap()
}

/// The controls of `recipe`, each with a witness before it.
fn witnessed(recipe: &str) -> (Controls, Court) {
    let (court, recipe) = (Court::default(), recipe.parse::<Recipe>().unwrap());
    let told = Arc::clone(&court);
    let make = move || Box::new(Witness::new(recipe.build().unwrap(), Wants::NOTHING, true, &told)) as Box<_>;
    (Controls::new(make), court)
}

#[test]
fn every_control_completes_keeps_the_contract_and_repeats() {
    for recipe in recipes() {
        let (controls, court) = witnessed(&recipe);
        let watch = |handle: &Handle| {
            handle.with(|seat| {
                let window = seat.window();
                assert!(window.cwnd.is_finite() && window.cwnd >= 1.0 && window.ssthresh >= 2.0, "{recipe}: {window:?}");
            });
        };
        let (outcome, handle) = run(Path::USUAL, 2_000_000, controls, |_| (), watch);
        let court = court.lock().unwrap();
        assert!(court.broken.is_empty(), "{recipe}: {:#?}", court.broken);
        assert!(court.events["ack"] > 100 && court.events["established"] == 1, "{recipe}: {:?}", court.events);
        assert_eq!(outcome.dropped > 0, court.events.contains_key("loss"), "{recipe}: {outcome:?}");
        // 1.6 s of data, and 0.1 s to begin; some leave much of the path unused.
        assert!((1.7..6.0).contains(&outcome.time.as_secs_f64()), "{recipe}: {outcome:?}");
        let (again, twin) = run(Path::USUAL, 2_000_000, named(&recipe), |_| (), |_| ());
        assert_eq!(outcome, again, "{recipe}");
        assert_eq!(handle.with(|seat| seat.window()), twin.with(|seat| seat.window()), "{recipe}");
    }
}

#[test]
fn the_same_algorithm_does_what_noqs_own_does() {
    let own: [(&str, Arc<dyn ControllerFactory + Send + Sync>); 2] =
        [("cubic", Arc::new(CubicConfig::default())), ("reno", Arc::new(NewRenoConfig::default()))];
    for (name, factory) in own {
        let configure = |transport: &mut TransportConfig| _ = transport.congestion_controller_factory(factory);
        let theirs = transfer(Path::USUAL, 10_000_000, Instant::now(), configure, |_| ());
        let (ours, _) = run(Path::USUAL, 10_000_000, named(name), |_| (), |_| ());
        let ratio = ours.time.as_secs_f64() / theirs.time.as_secs_f64();
        assert!((0.99..1.01).contains(&ratio), "{name}: {ours:?}, {theirs:?}");
        assert!(ours.lost.abs_diff(theirs.lost) * 10 <= theirs.lost, "{name}: {ours:?}, {theirs:?}");
    }
}

#[test]
fn an_observer_sees_how_slow_start_ended() {
    let (outcome, handle) = run(Path::USUAL, 2_000_000, named("reno"), |_| (), |_| ());
    let (exit, reductions, initial) = handle.with(|seat| (seat.exit().clone(), seat.reductions(), seat.initial_window()));
    assert!(outcome.lost > 0 && reductions > 0 && initial == Some(10.0));
    let (reason, at, cwnd) = exit.get().expect("a loss ends slow start");
    assert_eq!(reason, ackclock_host::ExitReason::Loss);
    // 42 packets on the path and 50 in the queue, and one round trip until the loss is known.
    assert!((0.2..1.0).contains(&at.as_secs_f64()) && (92.0..200.0).contains(&cwnd), "{at:?} {cwnd}");
}

#[test]
fn bbr_paces_at_the_rate_of_the_bottleneck() {
    let (outcome, handle) = run(Path::USUAL, 10_000_000, named("bbr"), |_| (), |_| ());
    let rate = handle.with(|seat| seat.control().pacing_rate()).expect("BBR paces");
    let megabits = rate.as_bits_per_sec() as f64 / 1e6;
    // Between probing down and up.
    assert!((8.5..12.6).contains(&megabits), "{megabits} {outcome:?}");
    assert_eq!(outcome.lost, 0, "{outcome:?}");
}

#[test]
fn marks_reduce_the_window_without_losses() {
    let path = Path { mark: Some(400), queue: 1000, ..Path::USUAL };
    for recipe in ["reno", "cubic", "dctcp", "prague", "bbr"] {
        let (controls, court) = witnessed(recipe);
        let (outcome, handle) = run(path, 2_000_000, controls, |_| (), |_| ());
        let court = court.lock().unwrap();
        assert!(court.broken.is_empty(), "{recipe}: {:#?}", court.broken);
        assert!(court.marked > 0 && handle.with(|seat| seat.reductions()) > 0, "{recipe}: {:?}", court.events);
        assert_eq!(outcome.lost, 0, "{recipe}");
    }
}

#[test]
fn a_packet_that_others_overtake_costs_no_window() {
    let path = Path { late: Some((1000, Duration::from_millis(10))), queue: 1000, ..Path::USUAL };
    let (controls, court) = witnessed("reno");
    let (outcome, handle) = run(path, 4_000_000, controls, |_| (), |_| ());
    let court = court.lock().unwrap();
    assert!(court.broken.is_empty(), "{:#?}", court.broken);
    let (undone, reduced) = (court.events.get("undo").copied().unwrap_or(0), handle.with(|seat| seat.reductions()));
    assert!(outcome.dropped == 0 && reduced >= 2, "{outcome:?} {:?}", court.events);
    assert!(undone == reduced, "{undone} of {reduced}");
}

#[test]
fn larger_packets_are_told_to_the_control() {
    let discover = |transport: &mut TransportConfig| {
        transport.mtu_discovery_config(Some(noq_proto::MtuDiscoveryConfig::default()));
    };
    let (controls, court) = witnessed("reno");
    let (_, handle) = run(Path::USUAL, 2_000_000, controls, discover, |_| ());
    let smss = handle.with(|seat| seat.smss());
    assert!((1400..=1452).contains(&smss), "{smss}");
    let court = court.lock().unwrap();
    assert!(court.events.contains_key("segment size") && court.broken.is_empty(), "{:#?}", court.broken);
}

#[test]
fn a_name_that_does_not_exist_is_an_error() {
    let message = Factory::parse("cubik").unwrap_err();
    assert!(message.contains("\"cubik\"") && message.contains("cubic"), "{message}");
}
