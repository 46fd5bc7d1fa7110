//! The profiles keep the contract with the control, sentence by sentence: a witness runs on random paths with losses in both directions,
//! reordering, marks, idle times and applications.

use std::collections::BTreeMap;
use std::sync::Arc;

use ackclock_core::cc::{self, Composed, CongestionControl, Court, Phase, Testimony, Wants, Window, Witness};
use ackclock_core::entry::Parts;
use ackclock_core::events::{Ack, CongestionEvent, Established, Sent};
use ackclock_core::params::Params;
use ackclock_core::units::{Duration, Instant, Rate, Segments};
use ackclock_sim::engine::run;
use ackclock_sim::scenario::{self, ControlSpec, Document};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// A window of 40 segments at 20 Mbit/s that is halved at congestion, and a timer every 50 ms after a segment.
#[derive(Clone, Debug)]
struct Steady {
    cwnd: Segments,
    timer: Option<Instant>,
}

impl CongestionControl for Steady {
    fn on_established(&mut self, _event: &Established) {
        self.cwnd = 40.0;
    }
    fn on_sent(&mut self, sent: &Sent) {
        self.timer = self.timer.or(Some(sent.now + Duration::from_millis(50)));
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.cwnd += f64::from(u8::from(ack.may_grow)) / self.cwnd;
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.cwnd = (self.cwnd / 2.0).max(event.least);
    }
    fn on_timer(&mut self, _now: Instant) {
        self.timer = None;
    }
    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: 2.0 }
    }
    fn paces(&self) -> bool {
        true
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_sec(20_000_000)
    }
    fn timer(&self) -> Option<Instant> {
        self.timer
    }
    fn owns_recovery(&self) -> bool {
        true
    }
    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}

/// A control of the registry or of this file.
fn control(name: &str) -> Box<dyn CongestionControl> {
    fn part<P: ?Sized>(parts: &Parts<P>, name: &str) -> Box<P> {
        let entry = parts.find(name).unwrap();
        (entry.build)(&Params::defaults(entry.params)).unwrap()
    }
    if name == "steady" {
        return Box::new(Steady { cwnd: 1.0, timer: None });
    }
    if cc::whole::PARTS.find(name).is_some() {
        return part(&cc::whole::PARTS, name);
    }
    let (initial_window, slow_start) = (part(&cc::initial_window::PARTS, "rfc6928"), part(&cc::slow_start::PARTS, "standard"));
    Box::new(Composed::new(initial_window, slow_start, part(&cc::avoidance::PARTS, name), None, f64::INFINITY))
}

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
fn testimony(text: &str, name: &str, wants: Wants) -> Testimony {
    scenario::PROFILES.join(ackclock_quic::PROFILES).unwrap();
    let mut scenario =
        Document::from_toml(text, "contract.toml").and_then(|it| it.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let court = Court::default();
    let (shared, name) = (Arc::clone(&court), name.to_owned());
    scenario.flows[0].control =
        ControlSpec::Custom(Arc::new(move || Box::new(Witness::new(control(&name), wants, true, &shared)) as Box<dyn CongestionControl>));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"));
    court.lock().unwrap().clone()
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
