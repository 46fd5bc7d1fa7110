//! End-to-end cost of a data packet: sender, links, queue, receiver, and the ACK's return path.

use std::time::Duration;

use ackclock_sim::engine::run;
use ackclock_sim::scenario::{Document, Scenario};
use criterion::{BenchmarkId, Criterion, Throughput};

/// Number of data packets of all flows together.
const PACKETS: u64 = 10_000;

fn scenario(flows: u64, keys: &str) -> Scenario {
    let size = PACKETS / flows;
    let text = format!(
        "duration = '1000 s'\ntopology = {{ kind = 'dumbbell', bottleneck = {{ rate = '100 Mbit/s', queue = '1 BDP' }} }}\n\
         [flow]\ncount = {flows}\nstart_spread = '100 ms'\nsize = '{size} packets'\n{keys}"
    );
    let document = Document::from_toml(&text, "bench.toml").unwrap_or_else(|error| panic!("{error}"));
    document.scenario().unwrap_or_else(|error| panic!("{error}"))
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args();
    let mut group = criterion.benchmark_group("packet");
    group.throughput(Throughput::Elements(PACKETS));
    let mut measure = |id: BenchmarkId, scenario: &Scenario| {
        let delivered = |scenario: &Scenario| -> u64 {
            let result = run(scenario, &mut || false).unwrap_or_else(|error| panic!("{error}"));
            result.flows.iter().map(|flow| flow.delivered_packets).sum()
        };
        assert_eq!(delivered(scenario), PACKETS);
        group.bench_function(id, |bencher| bencher.iter(|| delivered(scenario)));
    };
    for flows in [1, 10, 100] {
        measure(BenchmarkId::new("flows", flows), &scenario(flows, ""));
    }
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        measure(BenchmarkId::new("recovery", recovery), &scenario(10, &format!("recovery = '{recovery}'")));
    }
    let mut traced = scenario(10, "");
    traced.record = ackclock_sim::scenario::TraceKind::ALL.iter().map(|(_, kind)| *kind).collect();
    measure(BenchmarkId::from_parameter("all_traces"), &traced);
    group.finish();
    criterion.final_summary();
}
