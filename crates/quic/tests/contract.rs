//! The profiles keep the contract with the control, sentence by sentence: a witness runs on random paths with losses in both directions,
//! reordering, marks, idle times and applications.

mod anything;
#[path = "../../sim/tests/witnessed/mod.rs"]
mod witnessed;

use std::collections::BTreeMap;

use ackclock_core::cc::{Testimony, Wants};
use ackclock_sim::scenario::PROFILES;
use anything::any_scenario;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use witnessed::{control, witnessed};

/// The flow's control, which a witness replaces.
const FLOW: &[(&str, &str)] = &[("flow", "")];

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
    #[test]
    fn quic_keeps_the_contract(text in any_scenario("quic", FLOW), (name, wants) in any_control()) {
        let testimony = testimony(&text, name, wants);
        prop_assert!(testimony.broken.is_empty(), "{name}, {wants:?}\n{text}\n{:#?}", testimony.broken);
    }

    #[test]
    fn quinn_keeps_the_contract(text in any_scenario("quinn", FLOW), (name, wants) in any_control()) {
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
        for _ in 0..200 {
            let (text, (name, wants)) = (any_scenario(profile, FLOW), any_control()).new_tree(&mut runner).unwrap().current();
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
