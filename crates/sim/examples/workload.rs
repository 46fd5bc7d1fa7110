//! Runs one scenario file and prints, as JSON, the figures for a comparison of speeds.

use std::process::ExitCode;
use std::time::Instant;

use ackclock_sim::engine::Prepared;
use ackclock_sim::scenario::Document;

fn main() -> ExitCode {
    match measure() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures the wall clock")]
fn measure() -> Result<serde_json::Value, String> {
    let path = std::env::args().nth(1).ok_or("usage: workload FILE")?;
    let begin = Instant::now();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Document::from_toml(&text, &path).and_then(|document| document.scenario()).map_err(|error| error.to_string())?;
    let prepared = Prepared::new(&scenario).map_err(|error| error.to_string())?;
    let setup_s = begin.elapsed().as_secs_f64();
    let result = prepared.run(&mut || false).map_err(|error| error.to_string())?;
    let packets: u64 = result.flows.iter().map(|flow| flow.delivered_packets).sum();
    let (events, hash) = (result.events, result.digest());
    Ok(serde_json::json!({ "packets": packets, "events": events, "hash": hash, "setup_s": setup_s, "peak_kb": peak_memory() }))
}

/// Peak resident memory in kB, if the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
