//! The scenario reader and the engine must not panic on any text.
//!
//! Under libFuzzer this is guided by coverage. A plain build mutates the given files itself: `scenario SECONDS FILE…`.
#![cfg_attr(fuzzing, no_main)]

use ackclock_core::units::Duration;
use ackclock_sim::engine::run;
use ackclock_sim::scenario::{Document, HostSpec};

/// Largest number of flows, and of nodes in a shorthand topology.
const MAX_FLOWS: i64 = 50;
const MAX_LINKS: usize = 1000;
/// Largest window; packets in flight take memory.
const MAX_RWND: u32 = 1000;
const MAX_DURATION: Duration = Duration::from_millis(100);
/// Number of checks, one per 65 536 events, after which a run is stopped. With zero delay and enormous rates, a nanosecond has many events.
const MAX_CHECKS: u32 = 3;

/// Whether all numbers of flows, pairs and hops in `value` are small; large ones only take time.
fn is_small(value: &toml::Value) -> bool {
    match value {
        toml::Value::Table(table) => table.iter().all(|(key, value)| match value {
            toml::Value::Integer(number) => !["count", "pairs", "hops"].contains(&key.as_str()) || *number <= MAX_FLOWS,
            other => is_small(other),
        }),
        toml::Value::Array(values) => values.iter().all(is_small),
        _ => true,
    }
}

/// Reads `data` as a scenario, and runs it if it is small.
fn exercise(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(document) = Document::from_toml(text, "fuzz.toml") else { return };
    if !toml::from_str(text).is_ok_and(|table| is_small(&toml::Value::Table(table))) {
        return;
    }
    let Ok(mut scenario) = document.scenario() else { return };
    if scenario.flows.len() > MAX_FLOWS as usize || scenario.links.len() > MAX_LINKS {
        return;
    }
    scenario.duration = scenario.duration.min(MAX_DURATION);
    for flow in &mut scenario.flows {
        if let HostSpec::Ns2(host) = &mut flow.host {
            host.rwnd = host.rwnd.min(MAX_RWND);
        }
    }
    let mut checks = 0;
    let _ = run(&scenario, &mut || {
        checks += 1;
        checks > MAX_CHECKS
    });
}

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| exercise(data));

#[cfg(not(fuzzing))]
mod mutation;

#[cfg(not(fuzzing))]
fn main() {
    mutation::main();
}
