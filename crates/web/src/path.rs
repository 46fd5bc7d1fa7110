//! The path of a run over time, from the models of its links and without flows.

use ackclock_sim::engine::{BUSY_PARTS, BusyPart, both_ways, busy_link};
use ackclock_sim::scenario::Scenario;
use serde_json::{Value as Json, json};

use crate::error::Refusal;
use crate::frame::{Columns, with};

/// A quantity: its name, whether it varies, and where it is.
type Quantity = (&'static str, bool, fn(&BusyPart) -> f64);

/// Answers with the path of the run `number`, as the [documentation of this crate](crate) describes.
pub(crate) fn path(number: u32, scenario: &Scenario, columns: &mut Columns) -> Result<Json, Refusal> {
    // Flows that cross no link have no path.
    let links = both_ways(scenario).unwrap_or_default();
    let rate = links.iter().any(|link| !link.rate.models().is_empty());
    let delay = links.iter().any(|link| !link.delay.models().is_empty());
    let loss = links.iter().any(|link| !link.losses.is_empty());
    let mut rows: Vec<(u32, f64, BusyPart)> = Vec::new();
    if rate || delay || loss {
        let width = scenario.duration.as_secs_f64() / BUSY_PARTS as f64;
        for (index, link) in scenario.links.iter().enumerate().filter(|(_, link)| links.iter().any(|known| known.name == link.name)) {
            let parts = busy_link(scenario, &link.name, BUSY_PARTS)?;
            rows.extend(parts.into_iter().enumerate().map(|(place, part)| (index as u32, place as f64 * width, part)));
        }
    }
    let mut described = vec![
        columns.doubles("time", rows.iter().map(|row| row.1)),
        with(columns.wholes("link", rows.iter().map(|row| row.0)), "names", json!("links")),
    ];
    let quantities: [Quantity; 5] = [
        ("rate", rate, |part| part.rate),
        ("delay", delay, |part| part.delay),
        ("least", delay, |part| part.least),
        ("largest", delay, |part| part.largest),
        ("loss", loss, |part| part.loss),
    ];
    for (name, _, of) in quantities.into_iter().filter(|(_, varies, _)| *varies) {
        described.push(columns.doubles(name, rows.iter().map(|row| of(&row.2))));
    }
    Ok(json!({ "run": number, "tables": { "path": { "rows": rows.len(), "columns": described } } }))
}
