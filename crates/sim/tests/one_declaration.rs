//! "A column is one declaration, a trace is in one file": does what CONTRIBUTING.md says, in a copy of the crates, with the examples printed
//! there.

#[path = "../../core/tests/example/mod.rs"]
mod example;

use example::Copied;

/// Runs the copy and looks for the column and the trace in everything that is made from declarations.
const DRIVER: &str = r#"
use ackclock_sim::columns::Cell;
use ackclock_sim::engine::{FlowResult, run, tables_json};
use ackclock_sim::scenario::{Document, TraceKind, schema};
use ackclock_sim::trace::Values;

const TEXT: &str = "duration = '20 s'\nrecord = ['resent', 'sequence']\ntopology = { kind = 'chain', bottleneck = { loss = '2 %' } }\n[flow]\n";

#[test]
fn the_new_column_and_trace_are_everywhere() {
    let scenario = Document::from_toml(TEXT, "t.toml").unwrap().scenario().unwrap();
    let result = run(&scenario, &mut || false).unwrap();
    let flow = &result.flows[0];
    let column = FlowResult::COLUMNS.iter().find(|column| column.name == "dropped_share").expect("it is declared");
    let share = flow.dropped_packets as f64 / flow.sent_packets as f64;
    assert!(share > 0.0);
    assert_eq!(column.cell(&scenario, 0, flow), Cell::Number(share));
    let resent = result.traces.resent.as_ref().expect("it was recorded");
    assert_eq!(resent.seq.len() as u64, flow.retransmitted_packets);
    let columns = result.traces.columns(TraceKind::Resent).unwrap();
    assert_eq!(columns.iter().map(|column| column.name).collect::<Vec<_>>(), ["time", "flow", "seq"]);
    assert!(matches!(columns[2].values, Values::Short(found) if found == resent.seq));
    let listed = tables_json().to_string();
    assert!(listed.contains("dropped_share") && listed.contains("trace resent"));
    assert!(schema().to_string().contains("\"resent\""));
    let mut other = result.clone();
    other.traces.resent.as_mut().unwrap().seq[0] += 1;
    assert_ne!(other.digest(), result.digest());
}
"#;

#[test]
fn the_examples_of_contributing_work() {
    let copied = Copied::new("one_declaration", &["core", "sim"]);
    let traces = "crates/sim/src/columns/traces.rs";
    copied.insert("column", "crates/sim/src/engine/result.rs", "pub struct FlowResult of Scenario {\n");
    copied.insert("trace", traces, "// Every trace, with its table and what it listens to.\n\n");
    copied.insert_line("trace line", traces, "\ntraces! {\n");
    copied.write("crates/sim/tests/driver.rs", DRIVER);
    copied.test(&["-p", "ackclock-sim", "--test", "driver"], &["the_new_column_and_trace_are_everywhere"]);
}
