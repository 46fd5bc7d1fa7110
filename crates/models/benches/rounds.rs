//! The cost of a round of the model `rounds`, for each response to a loss.

use std::hint::black_box;
use std::time::Duration;

use ackclock_core::params::{Params, Value};
use ackclock_models::rounds::ENTRY;
use criterion::{Criterion, Throughput};

const ROUNDS: u32 = 100_000;

fn main() {
    let mut criterion =
        Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1)).configure_from_args();
    let mut group = criterion.benchmark_group("rounds");
    group.throughput(Throughput::Elements(u64::from(ROUNDS)));
    for response in ["restart", "threshold", "window"] {
        let mut params = Params::defaults(ENTRY.params);
        params.set("rounds", Value::Number(f64::from(ROUNDS)));
        params.set("response", Value::Word(response.to_owned()));
        group.bench_function(response, |bencher| bencher.iter(|| (ENTRY.evaluate)(black_box(&params))));
    }
    group.finish();
    criterion.final_summary();
}
