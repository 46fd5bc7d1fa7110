//! Copa through the engine: its share beside flows that fill the queue.

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;

fn simulate(text: &str) -> RunResult {
    let scenario = Document::from_toml(text, "copa.toml").and_then(|document| document.scenario());
    run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap()
}

/// Copa's share of what it and one flow of `rival` deliver over 24 Mbit/s with a round trip of 50 ms, and a queue of `queue`.
fn share(copa: &str, rival: &str, queue: &str) -> f64 {
    let result = simulate(&format!(
        "duration = '60 s'
        [topology]
        kind = 'dumbbell'
        access = {{ rate = '1 Gbit/s', delay = '0 ms' }}
        bottleneck = {{ rate = '24 Mbit/s', delay = '25 ms', queue = '{queue}' }}
        [[flow]]
        profile = 'modern'
        congestion_control = {{ kind = 'copa'{copa} }}
        [[flow]]
        profile = 'modern'
        avoidance = '{rival}'"
    ));
    let delivered: Vec<f64> = result.flows.iter().map(|flow| flow.delivered_bytes as f64).collect();
    delivered[0] / (delivered[0] + delivered[1])
}

#[test]
fn the_competitive_mode_gets_a_share_beside_flows_that_fill_the_queue() {
    for rival in ["reno", "cubic"] {
        let (with, without) = (share("", rival, "1 BDP"), share(", competitive = false", rival, "1 BDP"));
        assert!((0.25..0.75).contains(&with), "{rival}: {with}");
        assert!(without < 0.5 * with, "{rival}: {without}, {with}");
    }
}
