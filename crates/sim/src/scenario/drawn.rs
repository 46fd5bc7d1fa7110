//! Distributions in scenario files: reading and writing.

use ackclock_core::distribution::{Distribution, Empirical};
use ackclock_core::units::Duration;
use serde_json::{Value as Json, json};

use crate::scenario::check::{Checked, Record};
use crate::scenario::error::Problems;
use crate::scenario::unit::{Measure, Quantity, write_time};

/// Largest size in bytes.
const LARGEST: f64 = 1e15;

/// Checks constraints between the keys of a distribution of sizes.
pub(super) fn check_sizes(size: &Record, problems: &mut Problems) {
    if size.kind != "empirical" {
        return;
    }
    let mut refuse = |name: &str, message: &str| problems.add(&size.field(name).origin, size.key(name), message);
    let count = size.list("sizes").len();
    if count == 0 {
        refuse("sizes", "at least one size is needed");
    } else if size.field("weights").given && Empirical::new(vec![0.0; count], &numbers(size, "weights")).is_none() {
        refuse("weights", "must have as many entries as sizes, at least one of them above 0");
    }
}

/// A distribution of sizes in bytes; `packet` is the data in a packet.
pub(super) fn sizes(size: &Record, packet: u64) -> Option<Distribution> {
    let bytes = |quantity| match quantity {
        Quantity::Whole(Measure::Bytes, bytes) => Some(bytes as f64),
        // The bound of the keys, so that the size can be written in bytes.
        Quantity::Whole(_, packets) => Some((packets as f64 * packet as f64).min(LARGEST)),
        Quantity::Real(..) | Quantity::Word(_) => None,
    };
    if size.kind != "empirical" {
        return distribution(size, size.quantity("mean").and_then(bytes)?);
    }
    let sizes = size.list("sizes").iter().filter_map(|item| match item.value {
        Checked::Quantity(quantity) => bytes(quantity),
        _ => None,
    });
    let sizes: Vec<f64> = sizes.collect();
    let weights = if size.field("weights").given { numbers(size, "weights") } else { vec![1.0; sizes.len()] };
    Some(Distribution::Empirical(Empirical::new(sizes, &weights)?))
}

/// A distribution of times, in seconds.
pub(super) fn times(time: &Record) -> Option<Distribution> {
    distribution(time, Duration::from_nanos(time.whole("mean")?).as_secs_f64())
}

fn distribution(table: &Record, mean: f64) -> Option<Distribution> {
    Some(match table.kind {
        "fixed" => Distribution::Fixed { mean },
        "pareto" => Distribution::Pareto { mean, shape: table.number("shape")? },
        "lognormal" => Distribution::Lognormal { mean, sigma: table.number("sigma")? },
        _ => Distribution::Exponential { mean },
    })
}

fn numbers(table: &Record, name: &str) -> Vec<f64> {
    let number = |value: &Checked| if let Checked::Number(number) = value { Some(*number) } else { None };
    table.list(name).iter().filter_map(|item| number(&item.value)).collect()
}

/// `bytes` as a number of packets with `packet` bytes each; at least one.
pub(crate) fn whole_packets(bytes: f64, packet: u64) -> f64 {
    (bytes / packet as f64).ceil().clamp(1.0, 1e15)
}

/// A distribution of sizes in the form of a scenario file.
pub(super) fn write_sizes(distribution: &Distribution) -> Json {
    write(distribution, |bytes| format!("{bytes} B"))
}

/// A distribution of times in the form of a scenario file.
pub(super) fn write_times(distribution: &Distribution) -> Json {
    write(distribution, |seconds| write_time(Duration::from_secs_f64(seconds)))
}

fn write(distribution: &Distribution, quantity: impl Fn(f64) -> String) -> Json {
    match distribution {
        Distribution::Fixed { mean } => json!(quantity(*mean)),
        Distribution::Exponential { mean } => json!({ "kind": "exponential", "mean": quantity(*mean) }),
        Distribution::Pareto { mean, shape } => json!({ "kind": "pareto", "mean": quantity(*mean), "shape": shape }),
        Distribution::Lognormal { mean, sigma } => json!({ "kind": "lognormal", "mean": quantity(*mean), "sigma": sigma }),
        Distribution::Empirical(empirical) => {
            let (sizes, weights): (Vec<String>, Vec<f64>) = empirical.weighted().map(|(size, weight)| (quantity(size), weight)).unzip();
            json!({ "kind": "empirical", "sizes": sizes, "weights": weights })
        }
    }
}
