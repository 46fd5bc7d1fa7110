//! Packet-for-packet agreement with ns-2.35.

mod common;

use ackclock_sim::engine::run;
use common::{BOTTLENECK, chain, fixed, host, ns2_control, ns2_table, part, rate, recovery, rows};

#[test]
fn every_row_of_the_chain_table() {
    let mut failures = Vec::new();
    let mut compared = 0;
    for row in rows(include_str!("data/ns2_chain.csv")) {
        if row.get("agent") == "Vegas" {
            continue;
        }
        let initial_window = if row.get("iw") == "rfc3390" { ns2_table() } else { fixed(1.0) };
        let control = ns2_control(initial_window, part("standard"));
        let queue = row.get("ifq").parse().unwrap();
        let scenario = chain(rate(row.get("bw")), rate(row.get("access")), queue, host(recovery(row.get("agent"))), control);
        let result = run(&scenario, &mut || false).unwrap();
        let (flow, link) = (&result.flows[0], &result.links[BOTTLENECK]);
        let drops = result.traces.drops.as_ref().unwrap();
        let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
        let first = link.first_drop.map_or(String::new(), |at| rounded(at.as_secs_f64()).to_string());
        let early: Vec<String> = flow.delivered_after.iter().map(|bytes| bytes.unwrap().to_string()).collect();
        let checks = [
            ("sink_bytes_250", flow.delivered_bytes.to_string()),
            ("pkts_in_order", flow.delivered_packets.to_string()),
            ("sent", flow.sent_packets.to_string()),
            ("drops", link.drops.to_string()),
            ("rexmit", flow.retransmitted_packets.to_string()),
            ("timeouts", flow.timeouts.to_string()),
            ("cwndcuts", flow.window_reductions.to_string()),
            ("t_first_drop", first),
            ("first_drop_seq", drops.seq.first().map_or(String::new(), u32::to_string)),
            ("bytes_1s", early[0].clone()),
            ("bytes_2s", early[1].clone()),
            ("bytes_5s", early[2].clone()),
            ("bytes_10s", early[3].clone()),
        ];
        let wrong: Vec<String> = checks.iter().filter(|(name, ours)| row.get(name) != ours).map(|(name, ours)| format!("{name} {} not {ours}", row.get(name))).collect();
        if !wrong.is_empty() {
            failures.push(format!("{} ifq {} {} iw {}: {}", row.get("bw"), row.get("ifq"), row.get("agent"), row.get("iw"), wrong.join(", ")));
        }
        compared += 1;
    }
    assert_eq!(compared, 96);
    assert!(failures.is_empty(), "{} of {compared} rows differ:\n{}", failures.len(), failures.join("\n"));
}
