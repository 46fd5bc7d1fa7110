//! Runs a scenario file that may name the parts of this crate: `cargo run -- scenario.toml`.

use std::process::ExitCode;

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "scenario.toml".to_owned());
    match table(&path) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

/// A line with the goodput of each flow of the scenario at `path`.
fn table(path: &str) -> Result<String, String> {
    outside::join()?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Document::from_toml(&text, path).and_then(|document| document.scenario()).map_err(|error| error.to_string())?;
    let result = run(&scenario, &mut || false).map_err(|error| error.to_string())?;
    let flows = scenario.flows.iter().zip(&result.flows);
    Ok(flows.map(|(flow, measured)| format!("{}: {:.2} Mbit/s\n", flow.name, measured.goodput_bps / 1e6)).collect())
}
