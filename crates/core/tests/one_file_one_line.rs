//! "One file and one line": follows CONTRIBUTING.md in a copy of this crate, with its printed examples.

mod example;

use example::Copied;

/// Test of the copy: finds the new parts by name, and runs them.
const DRIVER: &str = r#"
use ackclock_core::cc::{Composed, CongestionControl, Phase, avoidance, initial_window, slow_start, whole};
use ackclock_core::events::{Ack, Established};
use ackclock_core::entry::Entry;
use ackclock_core::{host_delay, registry};
use ackclock_core::params::Params;
use ackclock_core::qdisc::{self, Dequeued, Ecn, Packet};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Moment};

fn build<P: ?Sized>(entry: &Entry<P>) -> Box<P> {
    (entry.build)(&Params::defaults(entry.params)).unwrap()
}

#[test]
fn the_new_slow_start_composes_and_grows() {
    let entry = slow_start::PARTS.find("halfway").expect("registered");
    assert!(slow_start::DESCRIPTIONS.iter().any(|part| part.name == "halfway" && part.header.contains("CONTRIBUTING")));
    let (initial, avoidance) = (build(&initial_window::fixed::ENTRY), build(&avoidance::reno::ENTRY));
    let mut control = Composed::new(initial, build(entry), avoidance, None, f64::INFINITY);
    control.on_established(&Established::new(Instant::ZERO, Bytes(1000)));
    let ack = Ack::new(Instant::ZERO, 1, Bytes(1000));
    let mut windows = Vec::new();
    while control.phase() == Phase::SlowStart {
        control.on_ack(&ack);
        windows.push(control.window().cwnd);
    }
    // 31 ACKs from 1 to 32, 64 from 32 to 64, and the one that ends slow start.
    assert_eq!(windows.len(), 31 + 64 + 1);
    assert_eq!(windows[95], 64.0);
}

#[test]
fn the_new_control_paces_and_owns_recovery() {
    let entry = whole::PARTS.find("steady").expect("registered");
    let mut control = build(entry);
    control.on_established(&Established::new(Instant::ZERO, Bytes(1000)));
    assert!(control.owns_recovery() && control.paces() && control.clone().pacing_rate().is_some());
}

#[test]
fn the_new_queue_holds_packets_back() {
    let entry = qdisc::PARTS.find("metronome").expect("registered");
    let mut queue = build(entry).into_scheduler();
    let (mut random, mut outcomes) = (Generator::derived(1, ""), Vec::new());
    for handle in 0..3 {
        let packet = Packet { handle, flow: 0, ends: (0, 1), size: Bytes(1000), ecn: Ecn::NotEct, arrived: Instant::ZERO };
        queue.enqueue(Moment::now(Instant::ZERO), packet, &mut random, &mut outcomes);
    }
    let (mut now, mut sent) = (Instant::ZERO, Vec::new());
    loop {
        match queue.dequeue(Moment::now(now), &mut random, &mut outcomes) {
            Dequeued::Send(_) => sent.push(now),
            Dequeued::NotBefore(at) => now = at,
            Dequeued::Empty => break,
        }
    }
    assert_eq!(sent, [0, 10, 20].map(|millis| Instant::ZERO + Duration::from_millis(millis)));
}

#[test]
fn the_new_axis_is_listed_with_its_part() {
    let axis = registry::AXES.iter().find(|axis| axis.name == "host_delay").expect("listed");
    assert_eq!(axis.words(), ["per_packet", "none"]);
    let spec = axis.spec(axis.usual);
    assert_eq!((axis.build)(spec.name, &spec.params), Ok(()));
    let part = host_delay::PARTS.build(&spec).unwrap();
    assert_eq!(part.delay(Bytes(1000)), Duration::from_secs_f64(1e-5));
}
"#;

#[test]
fn the_examples_of_contributing_work() {
    let copied = Copied::new("one_file_one_line", &["core"]);
    copied.write("crates/core/src/cc/slow_start/halfway.rs", copied.example("slow start"));
    copied.insert_line("registry line", "crates/core/src/cc/slow_start/mod.rs", "entries! { Entry<dyn SlowStart>:\n");
    copied.write("crates/core/src/cc/whole/steady.rs", copied.example("whole control"));
    copied.insert_line("whole control line", "crates/core/src/cc/whole/mod.rs", "entries! { Entry<dyn CongestionControl>:\n");
    copied.write("crates/core/src/qdisc/metronome.rs", copied.example("shaper"));
    copied.insert_line("shaper line", "crates/core/src/qdisc/mod.rs", "entries! { Entry<Discipline>:\n");
    for (example, file, model) in [("rate", "halving", "RateModel"), ("delay", "handover", "DelayModel"), ("loss", "every", "LossModel")] {
        let folder = format!("crates/core/src/path/{example}");
        copied.write(&format!("{folder}/{file}.rs"), copied.example(example));
        copied.insert_line(&format!("{example} line"), &format!("{folder}/mod.rs"), &format!("entries! {{ Entry<dyn {model}>:\n"));
    }
    copied.write("crates/core/src/host_delay/mod.rs", copied.example("axis"));
    copied.write("crates/core/src/host_delay/per_packet.rs", copied.example("axis part"));
    copied.insert_line("axis module", "crates/core/src/lib.rs", "pub mod events;\n");
    copied.insert_line("axis line", "crates/core/src/registry.rs", "pub static AXES: &[&Axis] = &[\n");
    copied.write("crates/core/tests/driver.rs", DRIVER);
    copied.test(
        &["--lib", "--test", "driver", "--test", "registry", "--test", "queues", "--test", "whole"],
        &[
            "slows_down_and_leaves",
            "the_new_slow_start_composes_and_grows",
            "any_parts_survive_any_events",
            "every_part_reports_exactly_the_quantities_it_declares",
            "any_whole_control_survives_any_events",
            "holds_two_round_trips",
            "the_new_control_paces_and_owns_recovery",
            "keeps_the_beat",
            "the_new_queue_holds_packets_back",
            "every_queue_accounts_for_every_packet",
            "the_second_half_takes_twice_the_time",
            "satellites_take_turns",
            "one_in_a_hundred_is_lost",
            "every_rate_model_transmits_in_order",
            "every_delay_model_is_reproducible",
            "every_loss_model_is_reproducible",
            "the_new_axis_is_listed_with_its_part",
            "every_axis_is_sound",
            "every_description_is_sound",
        ],
    );
}
