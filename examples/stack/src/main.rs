//! Runs a scenario file twice: `cargo run -- scenario.toml`. Exits with 1 if the runs differ, and with 2 for a file that is no scenario.

use std::process::ExitCode;

use stack::{read, simulate};

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "scenario.toml".to_owned());
    match report(&path) {
        Ok((text, repeats)) => {
            print!("{text}");
            ExitCode::from(u8::from(!repeats))
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// A line for each flow, the warnings of the run, and whether it repeats itself.
fn report(path: &str) -> Result<(String, bool), String> {
    let scenario = read(&std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?, path)?;
    let (result, again) = (simulate(&scenario)?, simulate(&scenario)?);
    let flows = scenario.flows.iter().zip(&result.flows).map(|(spec, flow)| {
        let done = flow.completion_time.map_or("not complete".to_owned(), |time| format!("complete after {:.3} s", time.as_secs_f64()));
        let (rate, lost, resent) = (flow.goodput_bps / 1e6, flow.dropped_packets, flow.retransmitted_packets);
        format!("{}: {rate:.2} Mbit/s, {lost} packets dropped, {resent} sent again, {done}\n", spec.name)
    });
    let warnings = result.warnings(&scenario).into_iter().map(|warning| format!("{}\n", warning.text));
    let repeats = result.digest() == again.digest();
    let verdict = if repeats { "two runs have the same digest" } else { "two runs have different digests" };
    Ok((flows.chain(warnings).chain([format!("{verdict}, {}\n", result.digest())]).collect(), repeats))
}
