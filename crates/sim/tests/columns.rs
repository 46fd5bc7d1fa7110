//! Requirements on every column, and on a run's digest.

use std::collections::BTreeSet;

use ackclock_core::units::Duration;
use ackclock_sim::engine::{RunResult, run, tables_json};
use ackclock_sim::scenario::Document;

fn result(flow: &str) -> RunResult {
    let traces = "'cwnd', 'delivered', 'queue', 'drops', 'marks', 'sojourn', 'discipline', 'sequence', 'rtt', 'internals'";
    let text = format!("duration = '5 s'\nrecord = [{traces}]\ntopology = {{ kind = 'chain', bottleneck = {{ queue = 'red' }} }}\n{flow}");
    let scenario = Document::from_toml(&text, "t.toml").and_then(|document| document.scenario());
    run(&scenario.unwrap_or_else(|error| panic!("{error}")), &mut || false).unwrap()
}

#[test]
fn every_column_is_declared_once_with_its_meaning() {
    let tables = tables_json();
    let tables = tables.as_array().unwrap();
    let names: BTreeSet<&str> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), tables.len(), "two tables of one name");
    for table in tables {
        let columns = table["columns"].as_array().unwrap();
        let names: BTreeSet<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), columns.len(), "{} has two columns of one name", table["name"]);
        for column in columns {
            let doc = column["doc"].as_str().unwrap();
            assert!(!doc.is_empty() && !doc.contains('\n') && !doc.ends_with('.'), "{}: {}", table["name"], column["name"]);
            // A name with a unit as its suffix has this unit.
            let (name, unit) = (column["name"].as_str().unwrap(), column["unit"].as_str().unwrap());
            for (ending, wanted) in [("_s", "s"), ("_bps", "bit/s"), ("_packets", "packets"), ("_bytes", "bytes"), ("_rtt", "s")] {
                assert!(!name.ends_with(ending) || unit == wanted, "{}: {name} in {unit}", table["name"]);
            }
            assert!(column["kind"] != "texts" || unit.is_empty(), "{}: {name}", table["name"]);
        }
    }
}

type Change = (&'static str, fn(&mut RunResult));

#[test]
fn a_digest_detects_the_smallest_difference_in_any_table() {
    let flow = "[flow]\nprofile = 'modern'\nslow_start = 'hystart_pp'\napplication = { kind = 'request-response', response = '20 kB' }";
    let same = result(flow);
    assert_eq!(same.digest(), result(flow).digest());
    let changes: &[Change] = &[
        ("a bit of a number", |result| result.flows[0].cwnd_max = f64::from_bits(result.flows[0].cwnd_max.to_bits() + 1)),
        ("a missing time", |result| result.flows[0].min_rtt = None),
        ("a nanosecond", |result| result.links[0].sojourn_max += Duration::from_nanos(1)),
        ("a count", |result| result.links[0].arrivals += 1),
        ("a connection", |result| result.applications[0].transfers[0].connection = None),
        ("rows", |result| result.applications[0].pages.clear()),
        ("an event", |result| result.events += 1),
        ("a trace", |result| result.traces.queue = None),
        ("a time in a trace", |result| result.traces.delivered.as_mut().unwrap().time[0] += 1),
        ("an index in a trace", |result| result.traces.queue.as_mut().unwrap().link[0] += 1),
        ("a word in a trace", |result| result.traces.internals.as_mut().unwrap().name[0] = "K"),
        ("a missing time in a trace", |result| result.traces.rtt.as_mut().unwrap().srtt[0] = None),
        ("the sign of zero", |result| result.traces.internals.as_mut().unwrap().value[0] = -0.0),
    ];
    let digests: BTreeSet<String> = changes
        .iter()
        .map(|(what, change)| {
            let mut other = same.clone();
            change(&mut other);
            assert_ne!(other.digest(), same.digest(), "{what}");
            other.digest()
        })
        .collect();
    assert_eq!(digests.len(), changes.len());
}
