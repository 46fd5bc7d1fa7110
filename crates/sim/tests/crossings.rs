//! Crossings of links agree with the traces and the capture of the same run.

use std::collections::BTreeMap;

use ackclock_core::qdisc::{Ecn, Reason};
use ackclock_core::units::{Duration, Instant};
use ackclock_host::Side;
use ackclock_sim::engine::{Prepared, RunError, RunResult, crossings};
use ackclock_sim::scenario::{Document, Scenario, TraceKind};
use ackclock_sim::trace::{Crossing, Crossings, SequenceKind, Span};

/// Drop-tail, loss before and after the queue, a queue that chooses at departure, marks, both kinds of hosts.
const SCENARIOS: [&str; 4] = [
    r#"
duration = "3 s"
[topology]
kind = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", queue = "20 packets", loss = "1 %" }
[[flow]]
count = 2
delayed_ack = true
"#,
    r#"
duration = "3 s"
[topology]
kind = "chain"
bottleneck = { rate = "5 Mbit/s", delay = "20 ms", queue = "fq_codel", loss = { kind = "bernoulli", rate = "1 %", position = "before" } }
[[flow]]
profile = "modern"
ecn = true
[[flow]]
ecn = true
"#,
    r#"
duration = "3 s"
[topology]
kind = "parking-lot"
bottleneck = { rate = "5 Mbit/s", delay = "5 ms", queue = { kind = "red", limit = "40 packets", mean_packet = "1000 B" } }
[[flow]]
ecn = true
[[flow]]
profile = "modern"
application = { kind = "web", root = "60 kB", objects = 3, object = { mean = "20 kB" } }
[[flow]]
application = { kind = "cbr", rate = "1 Mbit/s" }
"#,
    r#"
duration = "3 s"
[topology]
kind = "chain"
bottleneck = { rate = "1 Mbit/s", delay = "300 ms", queue = "400 packets" }
[[flow]]
rwnd = "300 packets"
"#,
];

fn scenario(text: &str) -> Scenario {
    let mut scenario = Document::from_toml(text, "test").and_then(|document| document.scenario()).expect("a scenario");
    scenario.record = TraceKind::ALL.map(|(_, kind)| kind).to_vec();
    scenario
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn nanos(seconds: f64) -> u64 {
    at(seconds).as_nanos()
}

fn within(scenario: &Scenario, from: f64, to: f64) -> Crossings {
    let span = Span { from: at(from), to: at(to), most: usize::MAX };
    crossings(scenario, span, u64::MAX, &mut || false).expect("a run")
}

fn result(scenario: &Scenario) -> RunResult {
    Prepared::new(scenario).expect("set up").run(&mut || false).expect("a run")
}

/// Rows of a trace as tuples, sorted.
fn sorted<T: Ord>(rows: impl Iterator<Item = T>) -> Vec<T> {
    let mut rows: Vec<T> = rows.collect();
    rows.sort();
    rows
}

/// Fails with the first rows that differ.
#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T]) {
    let place = found.iter().zip(expected).position(|(found, expected)| found != expected);
    assert!(place.is_none(), "row {place:?}: {:?}, not {:?}", place.map(|row| &found[row]), place.map(|row| &expected[row]));
    assert_eq!(found.len(), expected.len());
}

#[test]
fn departures_are_those_of_the_sojourn_trace() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let trace = result(&scenario).traces.sojourn.expect("recorded");
        let rows = within(&scenario, 0.0, 3.0).rows;
        let left = |row: &Crossing| row.left.map(|left| (left, row.link, row.flow));
        let expected = sorted((0..trace.time.len()).map(|row| (trace.time[row], trace.link[row], trace.flow[row])));
        same(&sorted(rows.iter().filter_map(left)), &expected);
        let waits = sorted(rows.iter().filter_map(|row| Some((row.link, row.left? - row.entered))));
        let expected = sorted((0..trace.time.len()).map(|row| (trace.link[row], trace.sojourn[row])));
        // Both are differences of times, rounded to nanoseconds before or after the subtraction.
        assert!(waits.len() == expected.len() && waits.iter().zip(&expected).all(|(found, known)| found.1.abs_diff(known.1) <= 1));
    }
}

#[test]
fn losses_are_those_of_the_trace_of_drops() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let trace = result(&scenario).traces.drops.expect("recorded");
        let key = |row: &Crossing| row.dropped.map(|(reason, at)| (at, row.link, row.flow, row.number, reason.name()));
        let rows =
            (0..trace.time.len()).map(|row| (trace.time[row], trace.link[row], trace.flow[row], trace.seq[row], trace.reason[row].name()));
        assert_eq!(sorted(within(&scenario, 0.0, 3.0).rows.iter().filter_map(key)), sorted(rows));
    }
}

#[test]
fn marks_are_those_of_the_trace_of_marks() {
    let mut marked = 0;
    for text in SCENARIOS {
        let scenario = scenario(text);
        let trace = result(&scenario).traces.marks.expect("recorded");
        let rows = within(&scenario, 0.0, 3.0).rows;
        for row in 0..trace.time.len() {
            let (link, flow, number) = (trace.link[row], trace.flow[row], trace.seq[row]);
            let is = |crossing: &&Crossing| crossing.link == link && crossing.flow == flow && crossing.number == number;
            assert!(rows.iter().filter(is).any(|crossing| crossing.ecn == Ecn::Ce), "{link} {flow} {number}");
        }
        marked += trace.time.len();
    }
    assert!(marked > 0);
}

#[test]
fn retransmissions_and_numbers_are_those_of_the_sequence_trace() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let trace = result(&scenario).traces.sequence.expect("recorded");
        // The first link of each flow's data is the one that it enters at the time of sending.
        let sent = |row: usize| trace.kind[row] != SequenceKind::Ack;
        let expected = sorted(
            (0..trace.time.len())
                .filter(|&row| sent(row))
                .map(|row| (trace.time[row], trace.flow[row], trace.seq[row], trace.kind[row] == SequenceKind::Retransmit)),
        );
        let rows = within(&scenario, 0.0, 3.0).rows;
        let first = |row: &&Crossing| {
            row.data && row.side == Side::Sender && scenario.links[row.link as usize].from == scenario.flows[row.flow as usize].from
        };
        let found = sorted(rows.iter().filter(first).map(|row| (row.entered, row.flow, row.number, row.retransmission)));
        same(&found, &expected);
    }
}

#[test]
fn the_backlog_of_a_link_is_that_of_the_trace_of_queues() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let trace = result(&scenario).traces.queue.expect("recorded");
        let rows = within(&scenario, 0.0, 3.0).rows;
        // At a time at which nothing happens, the queue holds the packets that have entered and neither left nor been lost.
        for time in [0.5137, 1.0371, 1.9113, 2.7531].map(nanos) {
            let mut expected = BTreeMap::new();
            for row in (0..trace.time.len()).filter(|&row| trace.time[row] <= time) {
                expected.insert(trace.link[row], trace.packets[row]);
            }
            let mut found: BTreeMap<u32, u64> = expected.keys().map(|&link| (link, 0)).collect();
            let gone = |row: &Crossing| row.left.or(row.dropped.map(|(_, at)| at)).unwrap_or(u64::MAX);
            for row in rows.iter().filter(|row| row.entered <= time && gone(row) > time) {
                *found.entry(row.link).or_default() += 1;
            }
            assert_eq!(found, expected, "at {time}");
        }
    }
}

#[test]
fn entrances_are_those_of_the_capture() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let names: Vec<String> = scenario.links.iter().map(|link| link.name.clone()).collect();
        let run = Prepared::capturing(&scenario, &names).expect("set up").run(&mut || false).expect("a run");
        let rows = within(&scenario, 0.0, 3.0).rows;
        for (index, name) in names.iter().enumerate() {
            let file = run.capture.as_ref().expect("captured").pcapng("test", Some(std::slice::from_ref(name)), None);
            // The headers of SYN and ACKs of `ns2` hosts are synthetic, with options that the simulated packets do not have.
            let comparable = |&(at, size): &(u64, u32)| (at, if size > 100 { size } else { 0 });
            let expected = sorted(packets(&file).iter().map(comparable));
            let found = sorted(rows.iter().filter(|row| row.link as usize == index).map(|row| comparable(&(row.entered, row.size))));
            same(&found, &expected);
        }
    }
}

/// Time and size of each packet of a pcapng file: the enhanced packet blocks (type 6), with times in nanoseconds.
fn packets(file: &[u8]) -> Vec<(u64, u32)> {
    let word = |place: usize| u32::from_le_bytes(file[place..place + 4].try_into().expect("four bytes"));
    let (mut place, mut found) = (0, Vec::new());
    while place < file.len() {
        if word(place) == 6 {
            found.push((u64::from(word(place + 12)) << 32 | u64::from(word(place + 16)), word(place + 24)));
        }
        place += word(place + 4) as usize;
    }
    found
}

#[test]
fn packets_arrive_where_they_enter_the_next_link() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let rows = within(&scenario, 0.0, 3.0).rows;
        let entered: std::collections::BTreeSet<_> = rows.iter().map(|row| (row.flow, row.side as u32, row.number, row.entered)).collect();
        for row in rows.iter().filter(|row| row.dropped.is_none() && row.arrived.is_some_and(|arrived| arrived < nanos(3.0))) {
            let flow = &scenario.flows[row.flow as usize];
            let end = if row.side == Side::Sender { flow.to } else { flow.from };
            if scenario.links[row.link as usize].to != end {
                assert!(entered.contains(&(row.flow, row.side as u32, row.number, row.arrived.unwrap_or(0))), "{row:?}");
            }
        }
    }
}

#[test]
fn a_span_has_the_packets_that_are_on_links_in_it() {
    for text in SCENARIOS {
        let scenario = scenario(text);
        let all = within(&scenario, 0.0, 3.0).rows;
        let part = within(&scenario, 1.0, 1.2).rows;
        let gone = |row: &Crossing| row.arrived.or(row.dropped.map(|(_, at)| at)).unwrap_or(u64::MAX);
        let expected: Vec<Crossing> = all.into_iter().filter(|row| row.entered < nanos(1.2) && gone(row) >= nanos(1.0)).collect();
        assert!(!expected.is_empty() && expected.iter().any(|row| row.entered < nanos(1.0)));
        same(&part, &expected);
    }
}

#[test]
fn too_many_packets_are_cut_and_the_answer_says_from_which_time() {
    let scenario = scenario(SCENARIOS[0]);
    let all = within(&scenario, 1.0, 2.0);
    assert_eq!(all.missing_from, None);
    let cut = crossings(&scenario, Span { from: at(1.0), to: at(2.0), most: 100 }, u64::MAX, &mut || false).expect("a run");
    assert_eq!(cut.rows.len(), 100);
    let missing = cut.missing_from.expect("cut");
    let complete = |rows: &[Crossing]| rows.iter().filter(|row| row.entered < missing).copied().collect::<Vec<_>>();
    assert!(!complete(&cut.rows).is_empty());
    same(&complete(&cut.rows), &complete(&all.rows));
}

#[test]
fn the_number_of_events_is_limited() {
    let limited = crossings(&scenario(SCENARIOS[0]), Span { from: at(1.0), to: at(2.0), most: 100 }, 100, &mut || false);
    assert!(matches!(limited, Err(RunError::Events { max: 100, .. })), "{limited:?}");
}

#[test]
fn the_loss_model_drops_after_the_link_or_before_the_queue() {
    let [after, before] = [0, 1].map(|index| within(&scenario(SCENARIOS[index]), 0.0, 3.0).rows);
    let random = |row: &&Crossing| matches!(row.dropped, Some((Reason::Random, _)));
    assert!(after.iter().filter(random).count() > 0 && after.iter().filter(random).all(|row| row.left.is_some() && row.arrived.is_none()));
    assert!(before.iter().filter(random).count() > 0 && before.iter().filter(random).all(|row| row.left.is_none()));
}
