//! The scenario of this crate names its parts, and runs with them.

use ackclock_core::cc::slow_start::PARTS;
use ackclock_core::entry::Entry;
use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;
use outside::slow_start::cautious::ENTRY;

const PATH: &str = "duration = '10 s'\nrecord = ['internals']\n[flow]\nsize = '200 packets'\n";

/// The time that a flow with these keys takes, in seconds.
fn completion(keys: &str) -> f64 {
    let document = Document::from_toml(&format!("{PATH}{keys}\n"), "test.toml").unwrap();
    let flow = &run(&document.scenario().unwrap(), &mut || false).unwrap().flows[0];
    flow.completion_time.expect("the transfer is complete").as_secs_f64()
}

#[test]
fn a_scenario_names_the_parts() {
    outside::join().unwrap();
    outside::join().expect("parts are joined once");
    let standard = completion("slow_start = 'standard'");
    let cautious = completion("slow_start = 'cautious'");
    let slower = completion("slow_start = { kind = 'cautious', gain = 0.1 }");
    assert!(standard < cautious && cautious < slower, "{standard} {cautious} {slower}");
    assert_eq!(completion("slow_start = { kind = 'cautious', gain = 1.0 }").to_bits(), standard.to_bits());
    assert!(completion("congestion_control = 'aimd'") > standard);

    let read = |keys: &str| Document::from_toml(&format!("{PATH}{keys}\n"), "test.toml").unwrap().scenario().unwrap_err().to_string();
    let message = read("slow_start = 'cautios'");
    assert!(message.contains("cautious"), "{message}");
    let message = read("slow_start = { kind = 'cautious', gain = 2 }");
    assert!(message.contains("gain"), "{message}");
}

#[test]
fn a_frozen_scenario_keeps_the_parts() {
    outside::join().unwrap();
    let text = std::fs::read_to_string("scenario.toml").unwrap();
    let frozen = Document::from_toml(&text, "scenario.toml").unwrap().frozen().unwrap();
    assert_eq!(Document::from_toml(&frozen, "frozen.toml").unwrap().frozen().unwrap(), frozen);
    assert!(frozen.contains("gain = 0.25") && frozen.contains("aimd"), "{frozen}");
}

#[test]
fn the_name_of_another_part_and_a_part_without_description_are_refused() {
    let mut list = outside::slow_start::LIST;
    let entry = Box::leak(Box::new(Entry { name: "standard", ..ENTRY }));
    list.entries = Box::leak(Box::new([&*entry]));
    let refused = PARTS.join(list);
    assert_eq!(refused, Err("the name \"standard\" is taken by another part".to_owned()));
    let entry = Box::leak(Box::new(Entry { name: "undescribed", ..ENTRY }));
    list.entries = Box::leak(Box::new([&*entry]));
    let refused = PARTS.join(list);
    assert_eq!(refused, Err("the list describes no part \"undescribed\"".to_owned()));
}

#[test]
fn the_program_prints_both_flows() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_outside")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
    assert_eq!(names, ["cautious", "aimd"], "{text}");
}
