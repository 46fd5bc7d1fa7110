//! The profiles keep the contract with the control, sentence by sentence: a witness runs on random paths with losses in both directions,
//! reordering, marks, idle times and applications.

#[path = "../../sim/tests/witnessed/mod.rs"]
mod witnessed;

use std::collections::BTreeMap;

use ackclock_core::cc::{Testimony, Wants};
use ackclock_sim::scenario::PROFILES;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use witnessed::{control, witnessed};

fn any_scenario(profile: &'static str) -> impl Strategy<Value = String> {
    let queue = prop::sample::select(vec!["'4 packets'", "'30 packets'", "'unlimited'", "'codel'", "'red'"]);
    let loss = prop_oneof![2 => Just(0.0), 2 => 0.0..3.0_f64, 1 => 3.0..50.0_f64];
    let delay = (1..60_u32, prop::option::weighted(0.3, (0.0..10.0_f64, 1..30_u32))).prop_map(|(delay, late)| match late {
        None => format!("'{delay} ms'"),
        Some((share, extra)) => {
            format!("{{ kind = 'reordering', delay = '{delay} ms', share = '{share} %', chosen = 'late', extra = '{extra} ms' }}")
        }
    });
    let application = prop::sample::select(vec![
        "",
        "size = '20 packets'",
        "application = { kind = 'on-off', burst = '100 kB', pause = '700 ms' }",
        "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '500 ms' }",
    ]);
    let settings = prop::sample::select(vec!["", ", ack_every = 10", ", gso = 8", ", mtu_discovery = true"]);
    ((1..40_u32, delay), queue, (loss.clone(), loss), application, settings, any::<bool>(), 0..1000_u32).prop_map(
        move |((rate, delay), queue, (loss, back), application, settings, ecn, seed)| {
            format!(
                "duration = '8 s'\nseed = {seed}\n[topology]\nkind = 'dumbbell'\naccess = {{ delay = '1 ms' }}\n\
                 bottleneck = {{ rate = '{rate} Mbit/s', delay = {delay}, queue = {queue}, loss = '{loss} %', reverse = {{ loss = '{back} %' }} }}\n\
                 [[flow]]\necn = {ecn}\nprofile = {{ kind = '{profile}', control = 'flow'{settings} }}\n{application}\n[[flow]]\nstart = '1 s'\n"
            )
        },
    )
}

fn any_control() -> impl Strategy<Value = (&'static str, Wants)> {
    let wants = any::<[bool; 3]>().prop_map(|[samples, deliveries, timing]| {
        Wants::NOTHING.with(|wants| (wants.samples, wants.deliveries, wants.timing) = (samples, deliveries, timing))
    });
    (prop::sample::select(vec!["reno", "bbr", "vegas", "cubic_linux", "ledbat", "steady"]), wants)
}

/// What a witness before the control `name` says of the first flow.
fn testimony(text: &str, name: &'static str, wants: Wants) -> Testimony {
    PROFILES.join(ackclock_quic::PROFILES).unwrap();
    witnessed(text, move || control(name), wants, true).1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn quic_keeps_the_contract(text in any_scenario("quic"), (name, wants) in any_control()) {
        let testimony = testimony(&text, name, wants);
        prop_assert!(testimony.broken.is_empty(), "{name}, {wants:?}\n{text}\n{:#?}", testimony.broken);
    }

    #[test]
    fn quinn_keeps_the_contract(text in any_scenario("quinn"), (name, wants) in any_control()) {
        let testimony = testimony(&text, name, wants);
        prop_assert!(testimony.broken.is_empty(), "{name}, {wants:?}\n{text}\n{:#?}", testimony.broken);
    }
}

/// The events of all profiles. QUIC sends no packet again.
const EVENTS: [&str; 15] = [
    "established",
    "first window",
    "transmission",
    "ack",
    "duplicate",
    "delivery",
    "loss",
    "fast retransmit",
    "timeout",
    "end of recovery",
    "echo",
    "mark",
    "timer",
    "idle",
    "segment size",
];

#[test]
fn the_paths_reach_every_event() {
    for profile in ["quic", "quinn"] {
        let mut runner = TestRunner::deterministic();
        let mut events: BTreeMap<&str, u64> = BTreeMap::new();
        for _ in 0..100 {
            let (text, (name, wants)) = (any_scenario(profile), any_control()).new_tree(&mut runner).unwrap().current();
            for (event, count) in testimony(&text, name, wants).events {
                *events.entry(event).or_default() += count;
            }
        }
        for event in EVENTS {
            assert!(events.get(event).is_some_and(|count| *count > 0), "{profile}, {event}: {events:?}");
        }
        assert_eq!(events.contains_key("undo"), profile == "quic", "quinn does not tell that losses were spurious");
    }
}
