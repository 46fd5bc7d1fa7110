//! The parts of the BPF program against the Rust parts: the same C in user space replays the events of simulations.
//!
//! Each case runs a flow of a host with whole segments through a random path, with the Rust control, and records the events that a kernel's
//! hooks would report. The C then processes the recorded events. Its windows must be those of the Rust control at every event, or within
//! the bound that a row of the table states and explains.
#![cfg(target_os = "linux")]

mod functions;
mod program;
mod recorder;

use std::sync::{Arc, Mutex};

use ackclock_core::cc::{self, Composed, CongestionControl, Window};
use ackclock_core::entry::{Entry, Parts};
use ackclock_core::events::{Ack, Cause, CongestionEvent, Established};
use ackclock_core::params::{Params, Value};
use ackclock_core::units::{Bytes, Instant};
use ackclock_emu::controls::parameters;
use ackclock_sim::engine::run;
use ackclock_sim::scenario::{ComposedSpec, ControlSpec, Document, PartSpec, SlowStartSpec};
use proptest::prelude::*;

use program::{Placed, replay};
use recorder::{Event, Log, Named, Recorder, State};

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

/// Bounds of the difference of a quantity. A record rounds down to 20 fraction bits, that is by up to 1e-6.
const RELATIVE: f64 = 1e-6;
const ABSOLUTE: f64 = 2e-5;

/// A real number becomes whole segments. Where it is almost whole, rounding decides: the windows are a segment apart until the next ACK
/// (growth) or the next reduction.
const ROUNDED: Bound = Bound { segments: 1.0, share: 1.0 };

/// The parts compute in whole segments, or with fractions whose error cannot change a whole segment.
const EXACT: Bound = Bound { segments: 0.0, share: 0.0 };

impl Case {
    const fn rounded(self) -> Self {
        Self { bound: ROUNDED, ..self }
    }
}

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

const fn start(slow_start: Chosen) -> Case {
    case(slow_start, None)
}

const fn exponential(settings: &'static [(&'static str, Setting)]) -> Case {
    Case { avoidance: ("exponential", settings), ..start(STANDARD) }.rounded()
}

/// Westwood+'s filter.
const PLUS: (&str, Setting) = ("filter", Setting::Word("plus"));

/// The compositions of the papers, the newer slow starts, and other values of the parameters.
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
    start(("hystart_pp", &[])),
    start((
        "hystart_pp",
        &[("n_rtt_sample", Setting::Number(4.0)), ("css_growth_divisor", Setting::Number(3.0)), ("l", Setting::Number(1.0))],
    )),
    start((
        "hystart_pp",
        &[
            ("css_baseline", Setting::Word("entry_threshold")),
            ("reset_samples", Setting::Flag(true)),
            ("late_samples", Setting::Flag(false)),
        ],
    )),
    start(("search", &[("exit", Setting::Word("keep"))])),
    start((
        "search",
        &[("signal", Setting::Word("twice_delivered")), ("exit", Setting::Word("roll_back")), ("threshold", Setting::Number(0.35))],
    ))
    .rounded(),
    start(("search", &[("exit", Setting::Word("drain")), ("bins", Setting::Number(20.0)), ("extra_bins", Setting::Number(40.0))]))
        .rounded(),
    case(STANDARD, Some(("westwood", &[]))).rounded(),
    case(STANDARD, Some(("westwood", &[PLUS, ("rule", Setting::Word("listing"))]))).rounded(),
    Case { avoidance: ("bandwidth_ratio", &[]), ..start(("queue_aware", &[])) }.rounded(),
    Case { avoidance: ("bandwidth_ratio", &[PLUS]), ..start(("queue_aware", &[PLUS])) }.rounded(),
    exponential(&[]),
    exponential(&[("growth", Setting::Word("per_rtt")), ("alpha", Setting::Number(22_026.465_8)), ("halves", Setting::Word("slow_start"))]),
    exponential(&[
        ("k", Setting::Number(0.05)),
        ("l", Setting::Number(0.02)),
        ("beta", Setting::Number(0.5)),
        ("halves", Setting::Word("never")),
    ]),
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
        build(&cc::initial_window::PARTS, ("rfc6928", &[])),
        build(&cc::slow_start::PARTS, case.slow_start),
        build(&cc::avoidance::PARTS, case.avoidance),
        case.loss_response.map(|chosen| build(&cc::loss_response::PARTS, chosen)),
        ssthresh.map_or(f64::INFINITY, f64::from),
    )
}

/// The events of a simulation with the Rust control, and its state after each.
fn simulate(case: &Case, path: &Path) -> Vec<(Event, State<Named>)> {
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

fn find<P: ?Sized>(parts: &Parts<P>, name: &str) -> &'static Entry<P> {
    parts.find(name).unwrap()
}

fn build<P: ?Sized>(parts: &Parts<P>, (name, set): Chosen) -> Box<P> {
    let entry = find(parts, name);
    (entry.build)(&params(entry, set)).unwrap()
}

fn part<P: ?Sized>(parts: &Parts<P>, (name, set): Chosen) -> PartSpec {
    PartSpec::new(name, params(find(parts, name), set))
}

/// The arguments of the program for a case: what the loader would set before it loads the object.
fn arguments(case: &Case, ssthresh: Option<u32>) -> Vec<String> {
    let mut spec = ComposedSpec::new(
        part(&cc::initial_window::PARTS, ("rfc6928", &[])),
        SlowStartSpec::Part(part(&cc::slow_start::PARTS, case.slow_start)),
        part(&cc::avoidance::PARTS, case.avoidance),
    );
    spec.loss_response = case.loss_response.map(|chosen| part(&cc::loss_response::PARTS, chosen));
    let variables = parameters(&spec, ssthresh.map_or(f64::INFINITY, f64::from)).unwrap();
    let argument = |(name, values): (String, Vec<u64>)| {
        let values: Vec<String> = values.iter().map(|value| format!("{value:x}")).collect();
        format!("{name}={}", values.join(","))
    };
    // Only the program of the kernel writes records.
    variables.into_iter().map(argument).collect()
}

/// The largest difference of windows and thresholds in segments.
fn apart(rust: &Window, c: &Window) -> f64 {
    // The difference of two infinite thresholds is not a number, which `max` ignores.
    (rust.cwnd - c.cwnd).abs().max((rust.ssthresh - c.ssthresh).abs())
}

/// The first quantity that differs by more than `ABSOLUTE`, and `RELATIVE` of it and of the window, if any. The bandwidth ratio `delta` divides
/// the errors of two estimates by the difference of their maximum and mean.
fn wrong_quantity(case: &Case, rust: &State<Named>, c: &State<Placed>) -> Option<String> {
    let of = |wanted: &str| rust.quantities.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
    let tolerance = |value: f64| RELATIVE * (value.abs() + rust.window.cwnd) + ABSOLUTE;
    let (slow_start, avoidance) = (find(&cc::slow_start::PARTS, case.slow_start.0), find(&cc::avoidance::PARTS, case.avoidance.0));
    let response = case.loss_response.map_or(&[][..], |(name, _)| find(&cc::loss_response::PARTS, name).quantities);
    let mut reported = Vec::new();
    for (axis, quantities) in [slow_start.quantities, avoidance.quantities, response].into_iter().enumerate() {
        for (place, name) in quantities.iter().map(|quantity| quantity.name).enumerate() {
            // Parts may share a quantity; the Rust control reports that of the first.
            if reported.contains(&name) {
                continue;
            }
            reported.push(name);
            let (value, c) = (of(name), c.quantities[4 * axis + place]);
            let propagated = match (of("bwe_max"), of("bwe_avg")) {
                (Some(max), Some(mean)) if name == "delta" => 2.0 * tolerance(max) / (max - mean).abs(),
                _ => 0.0,
            };
            let agree = match (value, c) {
                (Some(rust), Some(c)) => (rust - c).abs() <= tolerance(rust).max(propagated),
                (rust, c) => rust.is_none() == c.is_none(),
            };
            if !agree {
                return Some(format!("{name} is {value:?} in Rust, {c:?} in C"));
            }
        }
    }
    None
}

/// Compares the windows of a case on a path; returns the number of events and of different windows.
fn compare(case: &Case, path: &Path) -> Result<(usize, usize), TestCaseError> {
    let recorded = simulate(case, path);
    // With very many losses no connection opens.
    prop_assume!(recorded.len() > 3);
    let replayed = replay(&arguments(case, path.ssthresh), recorded.iter().map(|(event, _)| event));
    prop_assert_eq!(replayed.len(), recorded.len());
    let (mut different, mut again) = (0, false);
    for (index, ((event, rust), c)) in recorded.iter().zip(&replayed).enumerate() {
        let difference = apart(&rust.window, &c.window);
        let before = index.checked_sub(1).map(|index| (&recorded[index].1, &replayed[index]));
        prop_assert!(difference <= case.bound.segments, "{case:?}\nevent {index} {event:?}: Rust {rust:?}, C {c:?}; before it {before:?}");
        different += usize::from(difference > 0.0);
        // The kernel's rounds see neither data above a gap nor data sent again, and averages forget such a difference slowly. Some quantities
        // depend on the window before the ACK.
        again |= matches!(event, Event::Timeout { .. });
        if event.is_in_order()
            && !again
            && before.is_none_or(|(rust, c)| rust.window == c.window && wrong_quantity(case, rust, c).is_none())
            && let Some(error) = wrong_quantity(case, rust, c)
        {
            prop_assert!(false, "{case:?}\nevent {index} {event:?}: {error}\nRust {rust:?}, C {c:?}; before it {before:?}");
        }
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
    let established = Established::new(Instant::ZERO, Bytes(1000)).with(|event| event.whole_segments = true);
    for case in CASES {
        let log = Log::default();
        let mut control = Recorder::new(Box::new(compose(case, Some(40))), log.clone());
        control.on_established(&established);
        for (index, cause) in [Cause::DupAck, Cause::Timeout, Cause::DupAck].into_iter().enumerate() {
            for _ in 0..30 {
                control.on_ack(&Ack::new(Instant::ZERO, 2, Bytes(1000)));
            }
            let window = control.window().cwnd;
            let event = CongestionEvent::new(Instant::ZERO, cause, window).with(|event| {
                event.least = 2.0;
                event.loss_window = 3.0;
            });
            control.on_congestion(&event);
            for _ in 0..index {
                control.on_ack(&Ack::new(Instant::ZERO, 1, Bytes(1000)));
            }
            control.on_spurious(Instant::ZERO);
            assert!(control.window().cwnd >= window);
        }
        let recorded = std::mem::take(&mut *log.lock().unwrap());
        let replayed = replay(&arguments(case, Some(40)), recorded.iter().map(|(event, _)| event));
        let rust: Vec<Window> = recorded.iter().map(|(_, state)| state.window).collect();
        let replayed: Vec<Window> = replayed.iter().map(|state| state.window).collect();
        assert_eq!(replayed, rust, "{case:?}");
    }
}

#[test]
fn a_wrong_parameter_makes_the_windows_differ() {
    // A part, and a variable with a value that differs a little from that of the case.
    for (part, variable, value) in [
        ("limited", "slow_start_limited_max_ssthresh", 60_u64 << 32),
        ("hystart_pp", "slow_start_hystart_pp_css_growth_divisor", 5 << 32),
        ("search", "slow_start_search_threshold", 1_202_590_843),
        ("westwood", "loss_response_westwood_tau", 550_000_000),
        ("queue_aware", "slow_start_queue_aware_beta", 60 << 32),
        ("bandwidth_ratio", "avoidance_bandwidth_ratio_tau", 550_000_000),
        ("exponential", "avoidance_exponential_k", 1_288_490_189),
        ("exponential", "avoidance_exponential_l", 429_496_730),
    ] {
        let has = |case: &&Case| [case.slow_start.0, case.avoidance.0, case.loss_response.map_or("", |part| part.0)].contains(&part);
        let case = CASES.iter().find(has).unwrap();
        let differs = |(rate, queue, loss)| {
            let recorded = simulate(case, &Path { rate, delay: 20, queue, loss, ssthresh: None, seed: 1 });
            let mut wrong = arguments(case, None);
            wrong.push(format!("{variable}={value:x}"));
            let replayed = replay(&wrong, recorded.iter().map(|(event, _)| event));
            recorded.iter().zip(replayed).any(|((_, rust), c)| apart(&rust.window, &c.window) > case.bound.segments)
        };
        assert!([(10_000, 150, 0), (10_000, 150, 5), (20_000, 300, 0)].into_iter().any(differs), "{variable}");
    }
}
