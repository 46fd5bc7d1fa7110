//! Random scenarios give the same runs, to the byte, in other processes and on threads.

mod anything;

use std::process::Command;
use std::thread;

use ackclock_sim::engine::run;
use ackclock_sim::scenario::{Document, PROFILES};
use anything::any_scenario;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// The variable in which a process learns the seed of its scenarios.
const SEED: &str = "ACKCLOCK_SCENARIOS";

/// Controls of the contract, and those of both stacks.
const CONTROLS: &[(&str, &str)] = &[
    ("flow", "avoidance = 'reno'"),
    ("flow", "avoidance = 'cubic'\nslow_start = 'hystart_pp'"),
    ("flow", "avoidance = 'prague'\nslow_start = 'paced_start'"),
    ("flow", "congestion_control = 'bbr'"),
    ("flow", "congestion_control = 'vivace'"),
    ("cubic", ""),
    ("newreno", ""),
];

/// The hashes of runs of equally many random scenarios for each stack, from a seed.
fn digests(seed: u64) -> Vec<String> {
    PROFILES.join(ackclock_quic::PROFILES).unwrap();
    let config = ProptestConfig::default();
    let cases = (config.cases / 32).max(4);
    let bytes = seed.to_be_bytes().repeat(4);
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let cases = (0..cases).flat_map(|_| ["quic", "quinn"]);
    let texts = cases.map(|profile| any_scenario(profile, CONTROLS).new_tree(&mut runner).unwrap().current());
    let texts: Vec<String> = texts.collect();
    texts.iter().map(|text| digest(&format!("record = ['cwnd', 'sequence', 'lost', 'flight', 'internals', 'queue']\n{text}"))).collect()
}

fn digest(text: &str) -> String {
    let document = Document::from_toml(text, "random.toml");
    let scenario = document.and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}")).digest()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1))]

    #[test]
    fn random_runs_are_the_same_in_four_processes_and_on_four_threads(seed in any::<u64>()) {
        let expected = digests(seed);
        let distinct = expected.iter().collect::<std::collections::BTreeSet<_>>().len();
        prop_assert_eq!(distinct, expected.len(), "scenarios differ");
        let threads = [(); 4].map(|()| thread::spawn(move || digests(seed)));
        for found in threads.map(|thread| thread.join().unwrap()) {
            prop_assert_eq!(&found, &expected, "on a thread");
        }
        let this = std::env::current_exe().unwrap();
        let processes = [(); 4].map(|()| {
            let mut command = Command::new(&this);
            command.args(["--exact", "a_process", "--include-ignored", "--nocapture", "--test-threads=1"]).env(SEED, seed.to_string());
            thread::spawn(move || command.output().unwrap())
        });
        for output in processes.map(|thread| thread.join().unwrap()) {
            let text = String::from_utf8(output.stdout).unwrap();
            let found: Vec<&str> = text.lines().filter_map(|line| line.split_once("digest ").map(|(_, digest)| digest)).collect();
            prop_assert!(output.status.success(), "{}\n{}", text, String::from_utf8_lossy(&output.stderr));
            prop_assert_eq!(&found, &expected, "in a process");
        }
    }
}

/// One of the other processes.
#[test]
#[ignore = "the other test runs it"]
fn a_process() {
    let seed = std::env::var(SEED).map_or(0, |seed| seed.parse().unwrap());
    for digest in digests(seed) {
        println!("digest {digest}");
    }
}
