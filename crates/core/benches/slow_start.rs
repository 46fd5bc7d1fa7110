//! The cost of an ACK in a composed congestion control, for each slow start of the registry.

use std::hint::black_box;
use std::time::Duration;

use ackclock_core::cc::{Composed, CongestionControl, avoidance, initial_window, slow_start};
use ackclock_core::entry::Entry;
use ackclock_core::events::{Ack, Established};
use ackclock_core::params::Params;
use ackclock_core::units::{self, Bytes, Instant};
use criterion::{BatchSize, Criterion, Throughput};

const ACKS: u64 = 1000;

fn ack() -> Ack {
    let rtt = Some(units::Duration::from_millis(60));
    Ack::new(Instant::ZERO, 1, Bytes(1460)).with(|ack| (ack.rtt, ack.srtt, ack.min_rtt) = (rtt, rtt, rtt))
}

fn build<P: ?Sized>(entry: &Entry<P>) -> Box<P> {
    (entry.build)(&Params::defaults(entry.params)).unwrap_or_else(|reason| panic!("{}: {reason}", entry.name))
}

fn main() {
    let mut criterion =
        Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1)).configure_from_args();
    let mut group = criterion.benchmark_group("ack");
    group.throughput(Throughput::Elements(ACKS));
    for entry in slow_start::ENTRIES {
        let start = || {
            let (initial, avoidance) = (build(&initial_window::fixed::ENTRY), build(&avoidance::reno::ENTRY));
            let mut control = Composed::new(initial, build(entry), avoidance, None, f64::INFINITY);
            control.on_established(&Established::new(Instant::ZERO, Bytes(1000)));
            control
        };
        let acknowledge = |mut control: Composed| {
            let ack = ack();
            for _ in 0..ACKS {
                control.on_ack(black_box(&ack));
            }
            control.window()
        };
        group.bench_function(entry.name, |bencher| bencher.iter_batched(start, acknowledge, BatchSize::SmallInput));
    }
    group.finish();
    criterion.final_summary();
}
