//! A profile of another crate, whose packets are bytes, runs every application and every control.

mod selective;

use ackclock_core::cc;
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{Document, Scenario, ScenarioError, join, profiles};

const APPLICATIONS: [&str; 4] = [
    "size = '200 packets'",
    "application = { kind = 'on-off', burst = '50 kB', pause = '300 ms' }",
    "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '100 ms' }",
    "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', pages = 2 }",
];

fn read(flow: &str, loss: &str) -> Result<Scenario, ScenarioError> {
    let bottleneck = format!("{{ rate = '5 Mbit/s', queue = '20 packets', loss = '{loss}' }}");
    let text = format!("duration = '20 s'\n[topology]\nkind = 'dumbbell'\nbottleneck = {bottleneck}\n[[flow]]\n{flow}\n");
    Document::from_toml(&text, "t.toml")?.scenario()
}

fn simulate(flow: &str, loss: &str) -> RunResult {
    join(&selective::PROFILES);
    let flow = format!("profile = 'selective'\n{flow}");
    let scenario = read(&flow, loss).unwrap_or_else(|error| panic!("{error}\n{flow}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{flow}"))
}

#[test]
fn every_application_runs_with_every_control() {
    let names = |axis: &str, names: Vec<&str>| names.into_iter().map(|name| format!("{axis} = '{name}'")).collect::<Vec<_>>();
    let controls = [
        names("initial_window", cc::initial_window::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("slow_start", cc::slow_start::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("avoidance", cc::avoidance::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("loss_response", cc::loss_response::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("congestion_control", cc::whole::ENTRIES.iter().map(|entry| entry.name).collect()),
    ];
    for control in controls.concat() {
        for application in APPLICATIONS {
            let flow = format!("{control}\n{application}");
            let result = simulate(&flow, "1 %");
            assert!(result.flows.iter().any(|flow| flow.delivered_bytes > 0), "{flow}");
            if application.contains("size") {
                assert_eq!((result.flows[0].delivered_packets, result.flows[0].completion_time.is_some()), (200, true), "{flow}");
            } else {
                let done = result.applications[0].transfers.iter().filter(|transfer| transfer.completed.is_some()).count();
                assert!(done >= 10, "{flow}: {done}");
            }
        }
    }
}

#[test]
fn a_run_repeats_itself() {
    let [one, other] = [(); 2].map(|()| simulate(APPLICATIONS[3], "1 %").digest());
    assert_eq!(one, other);
}

#[test]
fn a_profile_fills_the_path() {
    let goodput = simulate("", "none").flows[0].goodput_bps;
    assert!((3.5e6..5e6).contains(&goodput), "{goodput}");
}

#[test]
fn a_message_names_the_capability_that_is_missing() {
    join(&selective::PROFILES);
    join(&selective::PROFILES);
    assert_eq!(profiles(), ["ns2", "modern", "selective"], "a list is joined once");
    let message = read(APPLICATIONS[2], "none").unwrap_err().to_string();
    let expected = "flow.0.application: needs a profile that carries data both ways, but ns2 does not; profiles that do: modern, selective";
    assert!(message.contains(expected), "{message}");
    let message = read("profile = 'selectiv'", "none").unwrap_err().to_string();
    assert!(message.contains("selective"), "{message}");
}
