//! Packet-for-packet agreement with ns-2.35 in networks that once diverged, each because of a different rule.

mod common;

use std::path::Path;

use ackclock_sim::engine::{FlowResult, RunResult, run};
use ackclock_sim::scenario::Document;
use common::{Row, rows};

fn result(folder: &Path, network: &str) -> (Vec<String>, RunResult) {
    let path = folder.join(format!("{network}.toml"));
    let text = std::fs::read_to_string(&path).unwrap();
    let scenario = Document::from_toml(&text, network).and_then(|document| document.scenario());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let links = scenario.links.iter().map(|link| link.name.clone()).collect();
    (links, run(&scenario, &mut || false).unwrap())
}

/// Differences between ns-2's counters in `row` and a flow. Counters missing in the row are not compared.
fn differences(row: &Row<'_>, flow: &FlowResult) -> Vec<String> {
    let ours = [
        ("bytes", flow.delivered_bytes),
        ("sent", flow.sent_packets),
        ("retransmitted", flow.retransmitted_packets),
        ("timeouts", flow.timeouts),
        ("reductions", flow.window_reductions),
    ];
    let differs = |(column, ours): &(&str, u64)| row.get(column).parse().is_ok_and(|theirs: u64| theirs != *ours);
    let word = |(column, ours): (&str, u64)| format!("flow {} {column}: {} not {ours}", row.get("flow"), row.get(column));
    ours.into_iter().filter(differs).map(word).collect()
}

#[test]
fn networks_that_once_disagreed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/networks");
    let table: Vec<Row<'_>> = rows(include_str!("data/networks/ns2.csv")).collect();
    let mut failures = Vec::new();
    let mut networks = 0;
    for flows in table.chunk_by(|a, b| a.get("network") == b.get("network")) {
        networks += 1;
        let network = flows[0].get("network");
        let (links, result) = result(&folder, network);
        assert_eq!(flows.len(), result.flows.len(), "{network}");
        let mut wrong: Vec<String> = flows.iter().zip(&result.flows).flat_map(|(row, flow)| differences(row, flow)).collect();
        let link = &result.links[links.iter().position(|name| name == flows[0].get("link")).unwrap()];
        for (column, ours) in [("arrivals", link.arrivals), ("drops", link.drops)] {
            if flows[0].get(column).parse() != Ok(ours) {
                wrong.push(format!("{column}: {} not {ours}", flows[0].get(column)));
            }
        }
        if !wrong.is_empty() {
            failures.push(format!("{network}: {}", wrong.join(", ")));
        }
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(networks + 1, files, "every scenario is compared");
    assert!(failures.is_empty(), "{} of {networks} networks differ:\n{}", failures.len(), failures.join("\n"));
}
