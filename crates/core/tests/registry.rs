//! The obligations of every part in the registry: proper names, documented parameters, and sound behaviour with every other part.
#![expect(clippy::float_cmp, reason = "equal events must give equal bits")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ackclock_core::cc::{CongestionControl, Window, avoidance, initial_window, loss_response, slow_start};
use ackclock_core::entry::{Entry, Quantity};
use ackclock_core::events::{Established, FirstWindow};
use ackclock_core::params::{Axis, Description, Params};
use ackclock_core::path::loss::{self, Arrival};
use ackclock_core::path::{delay, medium, rate};
use ackclock_core::registry::AXES;
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Rate};
use common::{Op, Part, Parts, SMSS, Transport, buildable, obligations};
use proptest::prelude::*;

/// The folder below `src` with the files of an axis.
fn folder(axis: &Axis) -> String {
    axis.module.split("::").skip(1).collect::<Vec<_>>().join("/")
}

/// Every part, with the folder of its file.
fn parts() -> impl Iterator<Item = (String, &'static Description)> {
    AXES.iter().flat_map(|axis| axis.parts().iter().map(|part| (folder(axis), part)))
}

#[test]
fn every_description_is_sound() {
    for axis in AXES {
        obligations::assert_names(axis.name, axis.parts());
    }
    let all: Vec<_> = parts().collect();
    obligations::assert_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &all);
    for (folder, part) in &all {
        obligations::assert_header(folder, part);
        obligations::assert_parameters(folder, part);
        obligations::assert_defaults(folder, part);
        obligations::assert_quantities(folder, part);
    }
}

#[test]
fn a_quantity_has_one_meaning_in_all_parts_of_a_control() {
    let mut known: BTreeMap<&str, Quantity> = BTreeMap::new();
    // The parts of one control report a shared quantity once.
    for (folder, part) in parts().filter(|(folder, _)| folder.starts_with("cc/")) {
        for quantity in part.quantities {
            let first = known.entry(quantity.name).or_insert(*quantity);
            let same = (first.unit, first.axis) == (quantity.unit, quantity.axis);
            assert!(same, "{folder}/{}: {} has a different unit or axis in another part", part.name, quantity.name);
        }
    }
}

#[test]
fn every_part_builds_or_gives_a_reason() {
    for axis in AXES {
        for part in axis.parts() {
            for (number, params) in common::settings(part.params).iter().enumerate() {
                let Err(reason) = (axis.build)(part.name, params) else { continue };
                assert!(number > 0, "{} refuses its defaults: {reason}", part.name);
                assert!(!reason.is_empty(), "{} refuses {params:?} without a reason", part.name);
            }
        }
    }
}

#[test]
fn every_axis_is_sound() {
    let keys: BTreeSet<&str> = AXES.iter().map(|axis| axis.name).collect();
    assert_eq!(keys.len(), AXES.len(), "two axes have the same key");
    for axis in AXES {
        assert!(obligations::is_snake_case(axis.name) && !axis.noun.is_empty(), "{axis:?}");
        assert!(axis.part(axis.usual).is_some(), "{}: the usual part {:?} is not registered", axis.name, axis.usual);
        let words = axis.words();
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{}: two words are the same: {words:?}", axis.name);
        if let Some((part, param)) = axis.shorthand {
            let part = axis.part(part).unwrap_or_else(|| panic!("{}: the shorthand's part is not registered", axis.name));
            assert!(part.params.iter().any(|known| known.name == param), "{}: the shorthand's parameter is not declared", axis.name);
        }
    }
}

/// Asserts that a part reports the quantities that it declares, and no others, for all its parameters. `compose` combines it with parts
/// that report nothing.
fn assert_declared<P: ?Sized + std::fmt::Debug>(entries: &'static [&'static Entry<P>], compose: impl Fn(Part<P>) -> Parts) {
    let ops = journey();
    for entry in entries {
        let (mut reported, mut declared) = (BTreeSet::new(), BTreeSet::new());
        for (_, params) in buildable(entries).into_iter().filter(|(found, _)| found.name == entry.name) {
            declared.extend(common::declared(entry.quantities, entry.params, &params));
            let mut transport = Transport::new(compose((entry, params)).compose());
            for op in &ops {
                transport.apply(op);
                transport.control.internals(&mut |name, _| {
                    reported.insert(name);
                });
            }
        }
        assert_eq!(reported, declared, "{}: reported and declared quantities differ", entry.name);
    }
}

#[test]
fn every_part_reports_exactly_the_quantities_it_declares() {
    let silent = first_parts();
    assert!(silent.slow_start.0.quantities.is_empty() && silent.avoidance.0.quantities.is_empty());
    assert_declared(slow_start::ENTRIES, |slow_start| Parts { slow_start, ..first_parts() });
    assert_declared(avoidance::ENTRIES, |avoidance| Parts { avoidance, ..first_parts() });
    assert_declared(loss_response::ENTRIES, |part| Parts { loss_response: Some(part), ..first_parts() });
    assert_declared(initial_window::ENTRIES, |initial_window| Parts { initial_window, ..first_parts() });
    // Models of a link cannot report quantities.
    let links = [rate::DESCRIPTIONS, delay::DESCRIPTIONS, loss::DESCRIPTIONS, medium::DESCRIPTIONS].concat();
    assert!(links.iter().all(|model| model.quantities.is_empty()));
}

/// Whether the window is that of a train of Paced Start, which lowers it between two of them, or the one that trains have found, which leaves in
/// a round trip.
fn begins_train(transport: &Transport, window: Window) -> bool {
    let mut length = None;
    transport.control.internals(&mut |name, value| {
        if name == "train_length" {
            length = Some(value);
        }
    });
    let in_a_round_trip = |rate: Rate| {
        let seconds = window.cwnd * SMSS as f64 * 8.0 / rate.as_bits_per_sec() as f64;
        transport.min_rtt.is_some_and(|rtt| (seconds / rtt.as_secs_f64() - 1.0).abs() < 1e-3)
    };
    length.is_some_and(|length| window.cwnd == length || transport.control.pacing_rate().is_some_and(in_a_round_trip))
}

/// Drives two controls of the same parts through the same events, and checks the invariants after each. `usual` says whether all parameters
/// are defaults, for which growth is bounded.
fn check(parts: &Parts, ops: &[Op], usual: bool) {
    let mut transport = Transport::new(parts.compose());
    let mut twin = Transport::new(parts.compose());
    assert_window(parts, None, transport.control.window());
    // RBT is the only response that does not restart from one segment.
    let restarts = !parts.has_response("return_to_threshold");
    for op in ops {
        let before = transport.control.window();
        let (force, counted) = transport.apply(op);
        twin.apply(op);
        let after = transport.control.window();
        let context = format!("{parts:?}: {op:?} changed {before:?} to {after:?}");
        assert_window(parts, Some(op), after);
        let bits = |window: Window| (window.cwnd.to_bits(), window.ssthresh.to_bits());
        assert_eq!(bits(after), bits(twin.control.window()), "{context}, but the twin differs");
        let grown = after.cwnd - before.cwnd;
        match op {
            // HyStart may end slow start, and these set a window of their own at any ACK, such as to drain the queue.
            Op::Ack { limited: false, .. } => {
                let names =
                    ["bbr_startup", "careful_resume", "halfback", "jump_start", "paced_start", "quick_start", "rapid_start", "suss"];
                let sets = names.iter().any(|name| parts.has_slow_start(name));
                assert!(grown == 0.0 || grown < 0.0 && sets || begins_train(&transport, after), "{context}");
                assert!(after.ssthresh == before.ssthresh || after.ssthresh == after.cwnd.max(2.0), "{context}");
            }
            Op::Ack { .. } if usual && !parts.grow_by_time() => {
                assert!(grown <= counted * before.cwnd.max(4.0) || begins_train(&transport, after), "{context}");
            }
            Op::AckInRecovery { .. } => assert!(grown <= 0.0, "{context}"),
            Op::Congestion { timeout: true, .. } if restarts => assert_eq!(after.cwnd, 1.0, "{context}"),
            Op::Congestion { .. } => {
                // The listing of Westwood RB's paper raises the window to the estimate.
                let raises = parts.responds_by("rule", "listing");
                assert!(raises || after.cwnd <= force.max(1.0), "{context}: exceeds the {force} in force");
                // BBR's Startup goes on despite losses.
                assert!(after.ssthresh.is_finite() || transport.control.owns_recovery(), "{context}");
            }
            Op::Deflate(by) => assert_eq!(after.cwnd, (before.cwnd - by).max(1.0), "{context}"),
            Op::Spurious => assert!(grown >= 0.0, "{context}"),
            Op::Ack { .. } => {}
        }
    }
}

fn assert_window(parts: &Parts, op: Option<&Op>, window: Window) {
    // RFC 3168: a mark may leave less than one segment.
    let sound = window.cwnd.is_finite() && window.cwnd > 0.0 && window.ssthresh >= 2.0;
    assert!(sound, "{parts:?}: {op:?} gave {window:?}");
}

/// A fixed sequence of events that includes all kinds.
fn journey() -> Vec<Op> {
    let mut random = Generator::derived(1, "journey");
    let mut up_to = |limit: f64| random.uniform() * limit;
    // A slow start of many round trips without disturbance.
    let mut ops = vec![Op::Ack { acked: 1, limited: true, rtt: Some(10) }; 200];
    for _ in 0..40 {
        let (acks, rtt) = (up_to(200.0) as usize, 20 + up_to(100.0) as u64);
        ops.extend((0..acks).map(|index| Op::Ack { acked: 1 + (index as u32 % 2), limited: true, rtt: Some(rtt) }));
        ops.push(Op::Congestion { timeout: up_to(1.0) < 0.2, restart: up_to(1.0) < 0.2, echo: up_to(1.0) < 0.2, inflation: 3 });
        ops.extend([Op::AckInRecovery { rtt: Some(rtt) }, Op::Deflate(up_to(3.0)), Op::Ack { acked: 1, limited: false, rtt: None }]);
        if up_to(1.0) < 0.2 {
            ops.push(Op::Spurious);
        }
    }
    ops
}

/// The first part of every axis, without a loss response.
fn first_parts() -> Parts {
    Parts {
        initial_window: usual(initial_window::ENTRIES[0]),
        slow_start: usual(slow_start::ENTRIES[0]),
        avoidance: usual(avoidance::ENTRIES[0]),
        loss_response: None,
        initial_ssthresh: f64::INFINITY,
    }
}

/// A part with its defaults.
fn usual<P: ?Sized>(entry: &'static Entry<P>) -> Part<P> {
    (entry, Params::defaults(entry.params))
}

/// Checks a journey with every slow start and every avoidance: with every loss response, or with one of them in turn.
fn compose(with_every_response: bool) {
    let ops = journey();
    let responses: Vec<_> = loss_response::ENTRIES.iter().map(|entry| Some(usual(entry))).chain([None]).collect();
    for (one, slow_start) in slow_start::ENTRIES.iter().map(|entry| usual(entry)).enumerate() {
        for (other, avoidance) in avoidance::ENTRIES.iter().map(|entry| usual(entry)).enumerate() {
            let turn = (one + other) % responses.len();
            let chosen = if with_every_response { &responses[..] } else { &responses[turn..=turn] };
            for loss_response in chosen {
                let (slow_start, avoidance, loss_response) = (slow_start.clone(), avoidance.clone(), loss_response.clone());
                check(&Parts { slow_start, avoidance, loss_response, ..first_parts() }, &ops, true);
            }
        }
    }
}

#[test]
fn every_pair_of_parts_composes() {
    assert!(slow_start::ENTRIES.len().min(avoidance::ENTRIES.len()) > loss_response::ENTRIES.len(), "the turns reach every pair");
    compose(false);
}

#[test]
#[ignore = "make test-long"]
fn every_combination_of_parts_composes() {
    compose(true);
}

/// The initial window is queried once, before the other parts observe any event, so one combination of the other parts suffices.
#[test]
fn every_initial_window_composes() {
    let ops = journey();
    for initial_window in initial_window::ENTRIES.iter().map(|entry| usual(entry)) {
        check(&Parts { initial_window, ..first_parts() }, &ops, true);
    }
}

#[test]
fn every_initial_window_is_sound_for_any_knowledge_of_the_peer() {
    for (entry, params) in buildable(initial_window::ENTRIES) {
        let part = (entry.build)(&params).unwrap();
        // Each bit states whether one of the facts is known.
        for known in 0..16_u8 {
            let fact = |bit: u8, value: f64| (known >> bit & 1 == 1).then_some(value);
            let (rwnd, available, learned) = (fact(0, 3.5), fact(1, 0.1), fact(2, 7.0));
            let rtt = fact(3, 40.0).map(|millis| Duration::from_millis(millis as u64));
            let event = Established::new(Instant::ZERO, Bytes(1000)).with(|event| {
                event.rtt = rtt;
                event.rwnd = rwnd;
                event.available = available;
                event.learned = learned;
            });
            let window = part.segments(&event);
            assert!(window.is_finite() && window > 0.0, "{} {params:?}: {event:?} gives {window}", entry.name);
            for (filled, congested) in [(false, false), (true, false), (true, true)] {
                let learned = part.on_first_window(&FirstWindow::new(window).with(|first| {
                    first.filled = filled;
                    first.congested = congested;
                    first.learned = learned;
                }));
                assert!(learned.is_none_or(|next| next.is_finite() && next > 0.0), "{} {params:?}: {learned:?}", entry.name);
            }
        }
    }
}

fn any_op() -> impl Strategy<Value = Op> {
    let rtt = || prop::option::weighted(0.8, 0..2000_u64);
    prop_oneof![
        20 => (1..4_u32, prop::bool::weighted(0.9), rtt()).prop_map(|(acked, limited, rtt)| Op::Ack { acked, limited, rtt }),
        3 => rtt().prop_map(|rtt| Op::AckInRecovery { rtt }),
        2 => (any::<bool>(), any::<bool>(), any::<bool>(), 0..2000_u32)
            .prop_map(|(timeout, restart, echo, inflation)| Op::Congestion { timeout, restart, echo, inflation }),
        1 => Just(Op::Spurious),
        1 => (0.0..100.0_f64).prop_map(Op::Deflate),
    ]
}

fn any_parts() -> impl Strategy<Value = Parts> {
    let responses = buildable(loss_response::ENTRIES).into_iter().map(Some).chain([None]).collect::<Vec<_>>();
    (
        prop::sample::select(buildable(initial_window::ENTRIES)),
        prop::sample::select(buildable(slow_start::ENTRIES)),
        prop::sample::select(buildable(avoidance::ENTRIES)),
        prop::sample::select(responses),
        prop_oneof![Just(f64::INFINITY), 2.0..1000.0_f64],
    )
        .prop_map(|(initial_window, slow_start, avoidance, loss_response, initial_ssthresh)| Parts {
            initial_window,
            slow_start,
            avoidance,
            loss_response,
            initial_ssthresh,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_parts_survive_any_events(parts in any_parts(), ops in prop::collection::vec(any_op(), 0..300)) {
        check(&parts, &ops, false);
    }

    #[test]
    fn every_loss_model_is_reproducible((entry, params) in prop::sample::select(buildable(loss::ENTRIES)), seed in any::<u64>()) {
        let fates = || {
            let (mut model, mut random) = ((entry.build)(&params).unwrap(), Generator::derived(seed, "loss"));
            let arrival = |number| Arrival { now: at(number as f64), size: Bytes(1000), flow: 0, number };
            (1..=100).map(|number| model.fate(&arrival(number), &mut random)).collect::<Vec<_>>()
        };
        prop_assert_eq!(fates(), fates());
    }

    #[test]
    fn every_rate_model_transmits_in_order(
        (entry, params) in prop::sample::select(buildable(rate::ENTRIES)),
        packets in prop::collection::vec((0.0..100.0_f64, 1..1500_u64), 1..30),
        seed in any::<u64>(),
    ) {
        let ends = || {
            let (mut model, mut random) = ((entry.build)(&params).unwrap(), Generator::derived(seed, "rate"));
            let (mut free, mut ends, mut carried) = (Instant::ZERO, Vec::new(), 0.0);
            for &(gap, size) in &packets {
                let start = free + Duration::from_secs_f64(gap);
                free = model.finish(start, Bytes(size), &mut random);
                assert!(free >= start, "{model:?}: {free:?} is before {start:?}");
                // A model keeps what it has drawn, and a slow one draws much for a packet.
                if free > at(10_000.0) {
                    break;
                }
                let capacity = model.capacity(free);
                assert!(capacity >= carried && capacity.is_finite(), "{model:?}: {capacity} after {carried}");
                carried = capacity;
                ends.push(free);
            }
            ends
        };
        prop_assert_eq!(ends(), ends());
    }

    #[test]
    fn every_delay_model_is_reproducible((entry, params) in prop::sample::select(buildable(delay::ENTRIES)), seed in any::<u64>()) {
        let delays = || {
            let (mut model, mut random) = ((entry.build)(&params).unwrap(), Generator::derived(seed, "delay"));
            assert!(model.mean().as_secs_f64().is_finite());
            (0..100).map(|number| model.delay(at(f64::from(number)), Bytes(1000), &mut random)).collect::<Vec<_>>()
        };
        prop_assert_eq!(delays(), delays());
        prop_assert!(delays().iter().all(|delay| delay.as_secs_f64().is_finite()));
    }
}

/// The time this many seconds into the run.
fn at(secs: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(secs)
}
