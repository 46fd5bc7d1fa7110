//! Packet-for-packet agreement with ns-2.35 for queue disciplines and ECN.

mod common;

use std::fmt::Write;

use ackclock_core::rng::Mrg32k3a;
use ackclock_core::units::{Duration, Instant};
use ackclock_sim::engine::{FlowResult, RunResult, run};
use ackclock_sim::scenario::Document;
use common::{Row, rows};

/// Numbers that the agents of `flows` flows draw from ns-2's default generator before any other component. An agent draws one when it is
/// created, and one, which it uses, when the run begins.
const fn drawn_by_agents(flows: u32) -> u32 {
    2 * flows
}

/// Number of flows in a run.
const FLOWS: usize = 6;
/// Index of the bottleneck among the links.
const BOTTLENECK: usize = 0;

/// Six flows over one bottleneck, as in ns-2's script. The nodes are in the script's order of creation, so that hashes of addresses agree.
struct Dumbbell<'a> {
    seed: u32,
    queue: &'a str,
    flow: &'a str,
    flows: Vec<(&'a str, &'a str)>,
}

impl Dumbbell<'_> {
    fn text(&self) -> String {
        let count = self.flows.len() as u32;
        let (seed, skip) = (self.seed, drawn_by_agents(count));
        let mut nodes = vec!["'r1'".to_owned(), "'r2'".to_owned()];
        let mut links = format!(
            "[[topology.link]]\nfrom = 'r1'\nto = 'r2'\nrate = '1.5 Mbit/s'\ndelay = '40 ms'\n\
             queue = {{ {}, generator = 'mrg32k3a', seed = {seed}, stream = 0, skip = {skip} }}\nreverse.queue = 'unlimited'\n",
            self.queue
        );
        let mut generator = Mrg32k3a::new(seed, 0);
        (0..count).for_each(|_| {
            generator.uniform();
        });
        let mut flows = String::new();
        for (index, (agent, start)) in self.flows.iter().enumerate() {
            nodes.extend([format!("'s{index}'"), format!("'d{index}'")]);
            for (from, to) in [(format!("s{index}"), "r1".to_owned()), ("r2".to_owned(), format!("d{index}"))] {
                let _ = write!(
                    links,
                    "[[topology.link]]\nfrom = '{from}'\nto = '{to}'\nrate = '10 Mbit/s'\ndelay = '10 ms'\nqueue = 'unlimited'\n"
                );
            }
            let phase = 0.01 * generator.uniform();
            let recovery = if *agent == "Sack1" { "sack".to_owned() } else { agent.to_lowercase() };
            let _ = write!(
                flows,
                "[[flow]]\nfrom = 's{index}'\nto = 'd{index}'\nstart = '{start} s'\nrecovery = '{recovery}'\nrwnd = '1000 packets'\n\
                 initial_window = '1 segment'\nclock_phase = '{phase:.9} s'\n{}\n",
                self.flow
            );
        }
        let nodes = nodes.join(", ");
        format!("duration = '100 s'\n[topology]\nkind = 'explicit'\nnode = [{nodes}]\n{links}{flows}")
    }

    fn run(&self) -> RunResult {
        let text = self.text();
        let scenario = Document::from_toml(&text, "dumbbell.toml").and_then(|document| document.scenario());
        let mut scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
        // ns-2 takes the starts from the first numbers of this seed, with seven digits. For small numbers, this is finer than a nanosecond.
        let mut starts = Mrg32k3a::new(self.seed, 0);
        for flow in &mut scenario.flows {
            let seconds = format!("{:.6e}", starts.uniform()).parse().unwrap();
            flow.start = Instant::ZERO + Duration::from_secs_f64(seconds);
        }
        run(&scenario, &mut || false).unwrap()
    }
}

/// The set-ups of the reference data: the queue, and further settings of the flows.
fn set_up(name: &str) -> (&'static str, &'static str) {
    let queue = match name {
        "DropTail" => "kind = 'droptail'",
        "RED" => "kind = 'red'",
        "RED_pkt" => "kind = 'red', mode = 'packets', weight = 0.002",
        "PI" => "kind = 'pi'",
        "PI_qref20" => "kind = 'pi', reference = '20 packets'",
        "Vq" => "kind = 'vq'",
        "Vq_pkt" => "kind = 'vq', mode = 'packets'",
        "REM" => "kind = 'rem'",
        "FQ" => "kind = 'fq'",
        "FQ_lim8" => "kind = 'fq', flow_limit = '8 packets'",
        "SFQ" => "kind = 'sfq', limit = '50 packets'",
        "DRR" => "kind = 'drr', limit = '52000 B', buckets = 14",
        "SRR" => "kind = 'srr'",
        "SRR_lim8" => "kind = 'srr', flow_limit = '8 packets'",
        "GK" | "GK_ecn" => "kind = 'gk'",
        other => panic!("no set-up {other}"),
    };
    (queue, if name == "GK_ecn" { "ecn = true" } else { "" })
}

/// The set-ups of our own runs.
fn own_set_up(name: &str) -> (&'static str, &'static str) {
    match name {
        "red_ecn" => ("kind = 'red'", "ecn = true"),
        "red_packets_ecn" => ("kind = 'red', mode = 'packets', weight = 0.002", "ecn = true"),
        "red_adaptive" => ("kind = 'red', adaptive = true", ""),
        // Thresholds are in packets of 500 bytes.
        "red_steep" => ("kind = 'red', gentle = false, wait = false, min_threshold = '8 packets', max_threshold = '24 packets'", ""),
        "pi_ecn" => ("kind = 'pi', reference = '20 packets'", "ecn = true"),
        "rem_ecn" => ("kind = 'rem', ecn = true", "ecn = true"),
        "vq_ecn" => ("kind = 'vq', drop_incapable = false", "ecn = true"),
        "vq_packets_ecn" => ("kind = 'vq', mode = 'packets', drop_incapable = false", "ecn = true"),
        other => panic!("no set-up {other}"),
    }
}

/// A column of the reference data, and the function that computes it from a run.
type Column = (&'static str, fn(&FlowResult) -> u64);

/// The differences between a run of the flows of `rows` and the columns of these rows.
fn differences(rows: &[&Row<'_>], result: &RunResult, columns: &[Column]) -> Vec<String> {
    let mut failures = Vec::new();
    for (row, flow) in rows.iter().zip(&result.flows) {
        let wrong: Vec<String> = columns
            .iter()
            .map(|(column, read)| (column, read(flow)))
            .filter(|(column, ours)| row.get(column).parse::<u64>().unwrap() != *ours)
            .map(|(column, ours)| format!("{column} {} not {ours}", row.get(column)))
            .collect();
        if !wrong.is_empty() {
            failures.push(format!("{} seed {} flow {}: {}", row.get("queue"), row.get("seed"), row.get("flow"), wrong.join(", ")));
        }
    }
    failures
}

/// The rows of a table, grouped by run.
fn by_run<'a>(table: &'a [Row<'a>]) -> Vec<Vec<&'a Row<'a>>> {
    let run = |row: &&Row<'_>| (row.get("queue").to_owned(), row.get("seed").to_owned());
    let rows: Vec<&Row<'_>> = table.iter().collect();
    let mut runs: Vec<Vec<&Row<'_>>> = Vec::new();
    for row in rows {
        match runs.last_mut() {
            Some(last) if run(&last[0]) == run(&row) && last.len() < FLOWS => last.push(row),
            _ => runs.push(vec![row]),
        }
    }
    runs
}

fn dumbbell<'a>(rows: &[&'a Row<'a>], (queue, flow): (&'a str, &'a str)) -> Dumbbell<'a> {
    let flows = rows.iter().map(|row| (row.get("agent"), row.get("start"))).collect();
    Dumbbell { seed: rows[0].get("seed").parse().unwrap(), queue, flow, flows }
}

#[test]
fn sixteen_queues_with_ten_seeds() {
    let table: Vec<Row<'_>> = rows(include_str!("data/ns2_aqm_flows.csv")).collect();
    let totals: Vec<Row<'_>> = rows(include_str!("data/ns2_aqm_totals.csv")).collect();
    let columns: [Column; 6] = [
        ("bytes", |flow| flow.delivered_bytes),
        ("pkts", |flow| flow.delivered_packets),
        ("sent", |flow| flow.sent_packets),
        ("rexmit", |flow| flow.retransmitted_packets),
        ("timeouts", |flow| flow.timeouts),
        ("drops", |flow| flow.dropped_packets),
    ];
    let mut failures = Vec::new();
    let runs = by_run(&table);
    assert_eq!(runs.len(), 160);
    for (rows, total) in runs.iter().zip(&totals) {
        assert_eq!((rows[0].get("queue"), rows[0].get("seed")), (total.get("queue"), total.get("seed")));
        let result = dumbbell(rows, set_up(total.get("queue"))).run();
        failures.extend(differences(rows, &result, &columns));
        let link = &result.links[BOTTLENECK];
        let held = u64::from(link.arrivals > link.delivered + link.drops);
        assert_eq!(held, 0, "every packet is delivered or dropped, those that wait at the end counted as delivered");
        let (arrivals, drops) = (total.get("qarr").parse().unwrap(), total.get("qdrops").parse().unwrap());
        if (link.arrivals, link.drops) != (arrivals, drops) {
            let ours = (link.arrivals, link.drops);
            failures.push(format!(
                "{} seed {}: arrivals and drops ({arrivals}, {drops}) not {ours:?}",
                total.get("queue"),
                total.get("seed")
            ));
        }
    }
    assert!(failures.is_empty(), "{} of {} flows differ:\n{}", failures.len(), table.len(), failures.join("\n"));
}

#[test]
fn further_queues_and_ecn() {
    let table: Vec<Row<'_>> = rows(include_str!("data/ns2_queues.csv")).collect();
    let columns: [Column; 5] = [
        ("bytes", |flow| flow.delivered_bytes),
        ("sent", |flow| flow.sent_packets),
        ("retransmitted", |flow| flow.retransmitted_packets),
        ("timeouts", |flow| flow.timeouts),
        ("reductions", |flow| flow.window_reductions),
    ];
    let mut failures = Vec::new();
    let runs = by_run(&table);
    assert_eq!(runs.len(), 48);
    let mut marks = 0;
    for rows in runs {
        let result = dumbbell(&rows, own_set_up(rows[0].get("queue"))).run();
        failures.extend(differences(&rows, &result, &columns));
        let drops = result.links[BOTTLENECK].drops;
        if rows[0].get("drops").parse() != Ok(drops) {
            failures.push(format!("{} seed {}: {} drops, not {drops}", rows[0].get("queue"), rows[0].get("seed"), rows[0].get("drops")));
        }
        marks += result.links[BOTTLENECK].marks;
    }
    assert!(failures.is_empty(), "{} of {} flows differ:\n{}", failures.len(), table.len(), failures.join("\n"));
    assert!(marks > 1000, "the flows use ECN");
}
