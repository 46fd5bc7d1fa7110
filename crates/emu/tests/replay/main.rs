//! The parts of the BPF program against the Rust parts: the same C in user space replays the events of simulations.
//!
//! Each case runs a flow of a host with whole segments through a random path, with the Rust control, and records the events that a kernel's
//! hooks would report. The C then processes the recorded events. Its windows must be those of the Rust control at every event, or within
//! the bound that a row of the table states and explains.
#![cfg(target_os = "linux")]

mod program;
mod recorder;

use std::sync::{Arc, Mutex};

use ackclock_core::cc::{self, Composed, CongestionControl, Window};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established};
use ackclock_core::params::{Kind, Params, Value};
use ackclock_core::units::{Bytes, Instant};
use ackclock_sim::engine::run;
use ackclock_sim::scenario::{ControlSpec, Document};
use proptest::prelude::*;

use program::replay;
use recorder::{Event, Log, Recorder};

/// A part of the registry with values in place of its defaults.
type Chosen = (&'static str, &'static [(&'static str, Setting)]);

/// A value of a parameter, as a constant.
#[derive(Clone, Copy, Debug)]
enum Setting {
    Number(f64),
    Numbers(&'static [f64]),
    Word(&'static str),
    Flag(bool),
}

/// A composition to compare.
#[derive(Clone, Copy, Debug)]
struct Case {
    slow_start: Chosen,
    avoidance: Chosen,
    loss_response: Option<Chosen>,
    bound: Bound,
}

/// By how much the windows may differ.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// Largest difference in segments at any event.
    segments: f64,
    /// Largest share of events with a difference.
    share: f64,
}

/// The parts compute in whole segments, or with fractions whose error cannot change a whole segment.
const EXACT: Bound = Bound { segments: 0.0, share: 0.0 };

const STANDARD: Chosen = ("standard", &[]);
const RENO: Chosen = ("reno", &[]);

const fn case(slow_start: Chosen, loss_response: Option<Chosen>) -> Case {
    Case { slow_start, avoidance: RENO, loss_response, bound: EXACT }
}

const fn ass(algorithm: &'static [(&'static str, Setting)]) -> Case {
    case(("staged", algorithm), Some(("staged", algorithm)))
}

const fn rbt(settings: &'static [(&'static str, Setting)]) -> Case {
    case(STANDARD, Some(("return_to_threshold", settings)))
}

/// The compositions of the papers, and custom zones.
const CASES: &[Case] = &[
    case(STANDARD, None),
    case(STANDARD, Some(("halve", &[]))),
    case(("limited", &[]), None),
    case(("limited", &[("max_ssthresh", Setting::Number(33.0))]), None),
    ass(&[("algorithm", Setting::Word("1"))]),
    ass(&[]),
    ass(&[("algorithm", Setting::Word("3"))]),
    ass(&[("algorithm", Setting::Word("4"))]),
    case(
        ("staged", &[("increments", Setting::Numbers(&[2.5, 0.3])), ("boundaries", Setting::Numbers(&[20.0, 60.0]))]),
        Some(("staged", &[("divisors", Setting::Numbers(&[1.25, 3.3])), ("boundaries", Setting::Numbers(&[30.0]))])),
    ),
    rbt(&[]),
    rbt(&[("restart", Setting::Word("one"))]),
    rbt(&[("reading", Setting::Word("figure"))]),
    rbt(&[("halves", Setting::Flag(false))]),
];

/// A path; rates in kbit/s, delay in milliseconds, loss in per mille.
#[derive(Clone, Debug)]
struct Path {
    rate: u32,
    delay: u32,
    queue: u32,
    loss: u32,
    ssthresh: Option<u32>,
    seed: u32,
}

fn paths() -> impl Strategy<Value = Path> {
    let ssthresh = prop_oneof![2 => Just(None), 1 => (2_u32..200).prop_map(Some)];
    let loss = prop_oneof![1 => Just(0), 2 => 1_u32..50, 1 => 50_u32..400];
    (500_u32..30_000, 2_u32..60, 2_u32..150, loss, ssthresh, any::<u32>()).prop_map(|(rate, delay, queue, loss, ssthresh, seed)| Path {
        rate,
        delay,
        queue,
        loss,
        ssthresh,
        seed,
    })
}

impl Path {
    /// A scenario of one flow with this path. The receiver's window never limits it: Linux reduces its own window, not the smaller of both.
    fn scenario(&self) -> String {
        let Self { rate, delay, queue, loss, seed, .. } = self;
        let loss = f64::from(*loss) / 10.0;
        format!(
            "duration = \"5 s\"
            seed = {seed}
            [topology]
            kind = \"chain\"
            access = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}
            bottleneck = {{ rate = \"{rate} kbit/s\", delay = \"{delay} ms\", queue = \"{queue} packets\", loss = \"{loss} %\" }}
            [[flow]]
            host = \"linux\"
            modern = {{ receive_buffer = \"16 MB\", receive_buffer_max = \"16 MB\" }}"
        )
    }
}

/// The Rust control of a case.
fn compose(case: &Case, ssthresh: Option<u32>) -> Composed {
    Composed::new(
        build(cc::initial_window::ENTRIES, ("rfc6928", &[])),
        build(cc::slow_start::ENTRIES, case.slow_start),
        build(cc::avoidance::ENTRIES, case.avoidance),
        case.loss_response.map(|chosen| build(cc::loss_response::ENTRIES, chosen)),
        ssthresh.map_or(f64::INFINITY, f64::from),
    )
}

/// The events of a simulation with the Rust control, and its window after each.
fn simulate(case: &Case, path: &Path) -> Vec<(Event, Window)> {
    let document = Document::from_toml(&path.scenario(), "replay.toml");
    let mut scenario = document.and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}"));
    let log = Arc::new(Mutex::new(Vec::new()));
    let (case, ssthresh, shared) = (*case, path.ssthresh, log.clone());
    scenario.flows[0].control =
        ControlSpec::Custom(Arc::new(move || Box::new(Recorder::new(Box::new(compose(&case, ssthresh)), shared.clone()))));
    run(&scenario, &mut || false).unwrap();
    // The scenario keeps the recorder alive.
    std::mem::take(&mut *log.lock().unwrap())
}

fn params<P: ?Sized>(entry: &Entry<P>, set: &[(&str, Setting)]) -> Params {
    let mut params = Params::defaults(entry.params);
    for (name, setting) in set {
        params.set(
            name,
            match setting {
                Setting::Number(number) => Value::Number(*number),
                Setting::Numbers(numbers) => Value::Numbers(numbers.to_vec()),
                Setting::Word(word) => Value::Word((*word).to_owned()),
                Setting::Flag(flag) => Value::Bool(*flag),
            },
        );
    }
    params
}

fn find<P: ?Sized>(entries: &'static [&'static Entry<P>], name: &str) -> &'static Entry<P> {
    ackclock_core::entry::find(entries, name).unwrap()
}

fn build<P: ?Sized>(entries: &'static [&'static Entry<P>], (name, set): Chosen) -> Box<P> {
    let entry = find(entries, name);
    (entry.build)(&params(entry, set)).unwrap()
}

/// The variables of the C that choose a part and its parameters, as `bpf/record.h` describes them.
fn variables<P: ?Sized>(axis: &str, entries: &'static [&'static Entry<P>], (name, set): Chosen) -> Vec<String> {
    let own = format!("{axis}_{name}");
    let entry = find(entries, name);
    let mut all = vec![format!("{own}=1")];
    for (param, (_, value)) in entry.params.iter().zip(params(entry, set).0) {
        let variable = format!("{own}_{}", param.name);
        match value {
            Value::Number(number) => {
                let unit = match param.kind {
                    Kind::Duration { .. } => 1e9,
                    Kind::Integer { .. } | Kind::Size { .. } | Kind::WireSize { .. } | Kind::Rate { .. } => 1.0,
                    _ => 2_f64.powi(32),
                };
                all.push(format!("{variable}={:x}", (number * unit).round() as u64));
            }
            Value::Numbers(numbers) => {
                all.push(format!("{variable}_count={:x}", numbers.len()));
                let list: Vec<String> = numbers.iter().map(|number| format!("{:x}", (number * 2_f64.powi(32)).round() as u64)).collect();
                if !list.is_empty() {
                    all.push(format!("{variable}={}", list.join(",")));
                }
            }
            Value::Bool(flag) => all.push(format!("{variable}={:x}", u8::from(flag))),
            Value::Word(word) => {
                let Kind::Word(words) = param.kind else { panic!("{variable}") };
                all.push(format!("{variable}={:x}", words.iter().position(|known| *known == word).unwrap()));
            }
            Value::Auto => all.push(format!("{variable}={:x}", u64::MAX)),
            Value::Limit(_) => panic!("no part has a limit: {variable}"),
        }
    }
    all
}

/// The arguments of the program for a case.
fn arguments(case: &Case, ssthresh: Option<u32>) -> Vec<String> {
    let mut all = variables("slow_start", cc::slow_start::ENTRIES, case.slow_start);
    all.extend(variables("avoidance", cc::avoidance::ENTRIES, case.avoidance));
    if let Some(chosen) = case.loss_response {
        all.extend(variables("loss_response", cc::loss_response::ENTRIES, chosen));
    }
    all.push(format!("initial_ssthresh={:x}", ssthresh.unwrap_or(0)));
    all
}

/// Compares the windows of a case on a path; returns the number of events and of different windows.
fn compare(case: &Case, path: &Path) -> Result<(usize, usize), TestCaseError> {
    let recorded = simulate(case, path);
    prop_assert!(recorded.len() > 3, "only {} events", recorded.len());
    let replayed = replay(&arguments(case, path.ssthresh), recorded.iter().map(|(event, _)| event));
    prop_assert_eq!(replayed.len(), recorded.len());
    let mut different = 0;
    for (index, ((event, rust), c)) in recorded.iter().zip(&replayed).enumerate() {
        let difference = (rust.cwnd - c.cwnd).abs().max(if rust.ssthresh == c.ssthresh { 0.0 } else { (rust.ssthresh - c.ssthresh).abs() });
        let before = index.checked_sub(1).map(|index| (recorded[index].1, replayed[index]));
        prop_assert!(difference <= case.bound.segments, "{case:?}\nevent {index} {event:?}: Rust {rust:?}, C {c:?}; before it {before:?}");
        different += usize::from(difference > 0.0);
    }
    let share = different as f64 / recorded.len() as f64;
    prop_assert!(share <= case.bound.share, "{case:?}\n{different} of {} windows differ", recorded.len());
    Ok((recorded.len(), different))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_program_has_the_windows_of_the_rust_parts(path in paths()) {
        for case in CASES {
            compare(case, &path)?;
        }
    }
}

#[test]
fn the_simulations_have_every_kind_of_event() {
    let mut counts = [0; 5];
    for seed in 0..20 {
        let path = Path { rate: 2000, delay: 20, queue: 10, loss: 20 * seed, ssthresh: None, seed };
        for (event, _) in simulate(&CASES[0], &path) {
            counts[match event {
                Event::Start { .. } => continue,
                Event::Ack(_) => 0,
                Event::Recovery { .. } => 1,
                Event::Timeout { .. } => 2,
                Event::Undo { .. } => 3,
                Event::Window { .. } => 4,
            }] += 1;
        }
    }
    let [acks, recoveries, timeouts, _, windows] = counts;
    assert!(acks > 1000 && recoveries > 100 && timeouts > 0 && windows > 0, "{counts:?}");
}

#[test]
fn spurious_reductions_are_undone() {
    let established = Established { whole_segments: true, ..Established::new(Instant::ZERO, Bytes(1000)) };
    for case in CASES {
        let log = Log::default();
        let mut control = Recorder::new(Box::new(compose(case, Some(40))), log.clone());
        control.on_established(&established);
        for (index, cause) in [Cause::DupAck, Cause::Timeout, Cause::DupAck].into_iter().enumerate() {
            for _ in 0..30 {
                control.on_ack(&Ack::new(Instant::ZERO, 2, Bytes(1000)));
            }
            let window = control.window().cwnd;
            let event = CongestionEvent { least: 2.0, loss_window: 3.0, ..CongestionEvent::new(Instant::ZERO, cause, window) };
            control.on_congestion(&event);
            for _ in 0..index {
                control.on_ack(&Ack::new(Instant::ZERO, 1, Bytes(1000)));
            }
            control.on_spurious(Instant::ZERO);
            assert!(control.window().cwnd >= window);
        }
        let recorded = std::mem::take(&mut *log.lock().unwrap());
        let replayed = replay(&arguments(case, Some(40)), recorded.iter().map(|(event, _)| event));
        let rust: Vec<Window> = recorded.iter().map(|(_, window)| *window).collect();
        assert_eq!(replayed, rust, "{case:?}");
    }
}

#[test]
fn a_wrong_parameter_makes_the_windows_differ() {
    let path = Path { rate: 10_000, delay: 20, queue: 150, loss: 0, ssthresh: None, seed: 1 };
    let recorded = simulate(&CASES[2], &path);
    let mut wrong = arguments(&CASES[2], path.ssthresh);
    wrong.push(format!("slow_start_limited_max_ssthresh={:x}", 60_u64 << 32));
    let replayed = replay(&wrong, recorded.iter().map(|(event, _)| event));
    assert!(recorded.iter().zip(replayed).any(|((_, rust), c)| rust.cwnd != c.cwnd));
}
