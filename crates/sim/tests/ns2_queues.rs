//! Packet-for-packet agreement with ns-2.35 of queue disciplines and of ECN.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write;

use ackclock_core::rng::Mrg32k3a;
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;
use common::{Row, rows};

/// Numbers that ns-2's default generator gives to the agents of `flows` flows before anything else draws: one when an agent is created,
/// and one, which counts, when the run begins.
const fn drawn_by_agents(flows: u32) -> u32 {
    2 * flows
}

/// Six flows over one bottleneck, as ns-2's script sets them up: the nodes in the order in which they are created there, so that hashes of
/// addresses agree.
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
        // ns-2 starts its flows at the first numbers of this seed, with seven digits: for small ones that is finer than a nanosecond.
        let mut starts = Mrg32k3a::new(self.seed, 0);
        for flow in &mut scenario.flows {
            flow.start_tiebreak = format!("{:.6e}", starts.uniform()).parse().unwrap();
        }
        run(&scenario, &mut || false).unwrap()
    }
}

/// The set-ups of the reference data: the queue, and what its flows have besides.
fn set_up(name: &str) -> Option<(&'static str, &'static str)> {
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
        _ => return None,
    };
    Some((queue, if name == "GK_ecn" { "ecn = true" } else { "" }))
}

#[test]
fn every_flow_of_every_queue() {
    let flows: Vec<Row<'_>> = rows(include_str!("data/ns2_aqm_flows.csv")).collect();
    let mut runs: BTreeMap<(&str, u32), Vec<&Row<'_>>> = BTreeMap::new();
    for row in &flows {
        runs.entry((row.get("queue"), row.get("seed").parse().unwrap())).or_default().push(row);
    }
    let mut failures = Vec::new();
    for ((name, seed), rows) in &runs {
        let Some((queue, flow)) = set_up(name) else { continue };
        let flows = rows.iter().map(|row| (row.get("agent"), row.get("start"))).collect();
        let result = Dumbbell { seed: *seed, queue, flow, flows }.run();
        for (row, flow) in rows.iter().zip(&result.flows) {
            let checks = [
                ("bytes", flow.delivered_bytes),
                ("pkts", flow.delivered_packets),
                ("sent", flow.sent_packets),
                ("rexmit", flow.retransmitted_packets),
                ("timeouts", flow.timeouts),
                ("drops", flow.dropped_packets),
            ];
            let differs = |(column, ours): &(&str, u64)| row.get(column).parse::<u64>().unwrap() != *ours;
            let wrong: Vec<String> =
                checks.into_iter().filter(differs).map(|(column, ours)| format!("{column} {} not {ours}", row.get(column))).collect();
            if !wrong.is_empty() {
                failures.push(format!("{name} seed {seed} flow {}: {}", row.get("flow"), wrong.join(", ")));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} flows differ:\n{}", failures.len(), flows.len(), failures.join("\n"));
}
