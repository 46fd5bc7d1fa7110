//! PCC Vivace through the engine, on both hosts.

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

/// Mbit/s that a flow alone delivers over 20 Mbit/s with a round trip of 40 ms.
fn goodput(host: &str, loss: &str) -> f64 {
    let text = format!(
        "duration = '20 s'
        [topology]
        kind = 'dumbbell'
        access = {{ rate = '1 Gbit/s', delay = '0 ms' }}
        bottleneck = {{ rate = '20 Mbit/s', delay = '20 ms', queue = '1 BDP', loss = '{loss}' }}
        [flow]
        congestion_control = 'vivace'
        {host}"
    );
    let scenario = Document::from_toml(&text, "vivace.toml").and_then(|document| document.scenario());
    let result = run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap();
    result.flows[0].goodput_bps / 1e6
}

#[test]
fn a_flow_alone_uses_most_of_the_link_and_bears_random_losses() {
    for host in ["profile = 'modern'", "profile = 'ns2'\nrecovery = 'sack'\nrwnd = '10000 packets'"] {
        let (clean, lossy) = (goodput(host, "none"), goodput(host, "1 %"));
        assert!(clean > 14.0 && lossy > 8.0, "{host}: {clean} {lossy}");
    }
}
