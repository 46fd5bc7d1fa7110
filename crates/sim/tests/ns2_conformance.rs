//! Packet-for-packet agreement with ns-2.35.

mod common;

use std::fs::File;
use std::io::Read;

use ackclock_core::params::Value;
use ackclock_core::units::{Bytes, Duration, Instant, Rate};
use ackclock_sim::engine::run;
use ackclock_sim::scenario::{
    ControlSpec, FlowSpec, GeneratorSpec, HostSpec, LossPosition, LossSpec, Ns2Host, Scenario, SlowStartSpec, TraceKind, Variable,
};
use common::{
    ACCESS, BOTTLENECK, Row, agent_control, chain, droptail, fixed, host, ns2_control, ns2_table, part, part_with, rate, recovery, rows,
};

#[test]
fn every_row_of_the_chain_table() {
    let mut failures = Vec::new();
    let mut compared = 0;
    for row in rows(include_str!("data/ns2_chain.csv")) {
        let initial_window = if row.get("iw") == "rfc3390" { ns2_table() } else { fixed(1.0) };
        let control = agent_control(recovery(row.get("agent")), initial_window, part("standard"));
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
        let wrong: Vec<String> = checks
            .iter()
            .filter(|(name, ours)| row.get(name) != ours)
            .map(|(name, ours)| format!("{name} {} not {ours}", row.get(name)))
            .collect();
        if !wrong.is_empty() {
            failures.push(format!(
                "{} ifq {} {} iw {}: {}",
                row.get("bw"),
                row.get("ifq"),
                row.get("agent"),
                row.get("iw"),
                wrong.join(", ")
            ));
        }
        compared += 1;
    }
    assert_eq!(compared, 120);
    assert!(failures.is_empty(), "{} of {compared} rows differ:\n{}", failures.len(), failures.join("\n"));
}

/// The scenario of a row of `ns2_runs.csv`.
fn further_run(row: &Row<'_>) -> Scenario {
    let recovery = recovery(row.get("agent"));
    let mut host = host(recovery);
    host.delayed_ack = row.get("delayed_ack") == "1";
    host.rwnd = row.get("window").parse().unwrap();
    let seconds = |text: &str| Duration::from_secs_f64(text.parse().unwrap());
    match row.get("set").split_once(' ') {
        Some(("singledup_", _)) => host.limited_transmit = false,
        Some(("minrto_", value)) => host.min_rto = seconds(value),
        Some(("tcpTick_", value)) => {
            // The phase is in units of a tick.
            let ticks = host.clock_phase.as_secs_f64() / host.clock_granularity.as_secs_f64();
            host.clock_granularity = seconds(value);
            host.clock_phase = Duration::from_secs_f64(ticks * host.clock_granularity.as_secs_f64());
        }
        Some(("rtxcur_init_", value)) => host.initial_rto = seconds(value),
        other => assert_eq!(other, None),
    }
    let initial_window = match row.get("iw") {
        "table" => ns2_table(),
        segments => fixed(segments.parse().unwrap()),
    };
    let slow_start = match row.get("max_ssthresh") {
        "0" => part("standard"),
        segments => part_with("limited_ns2", vec![("max_ssthresh", Value::Number(segments.parse().unwrap()))]),
    };
    let control = agent_control(recovery, initial_window, slow_start);
    let mut scenario = chain(rate(row.get("rate")), rate(row.get("access")), row.get("limit").parse().unwrap(), host, control);
    let access_limit = row.get("access_limit").parse().unwrap();
    if access_limit > 0 {
        scenario.links[ACCESS].queue = Some(droptail(access_limit));
    }
    let loss: f64 = row.get("loss").parse().unwrap();
    if loss > 0.0 {
        let seed = row.get("loss_seed").parse().unwrap();
        // Without a seed, ns-2 uses the stream after the default one. A seed restarts at stream 0.
        let (seed, stream) = if seed == 0 { (1, 1) } else { (seed, 0) };
        let position = if row.get("loss_position") == "after" { LossPosition::AfterLink } else { LossPosition::BeforeQueue };
        let mut losses = LossSpec::new(part_with("bernoulli", vec![("rate", Value::Number(loss))]), position);
        losses.generator = GeneratorSpec::Mrg32k3a { seed, stream, skip: 0 };
        scenario.links[BOTTLENECK].losses.push(losses);
    }
    scenario
}

/// The settings of a flow's ns-2 host.
fn host_of(flow: &mut FlowSpec) -> &mut Ns2Host {
    let HostSpec::Ns2(host) = &mut flow.host else { panic!("{} has no ns2 host", flow.name) };
    host
}

/// The scenario of a row of `ns2_vegas.csv`.
fn vegas_run(row: &Row<'_>) -> Scenario {
    let mut scenario = further_run(row);
    scenario.duration = Duration::from_millis(100_000);
    host_of(&mut scenario.flows[0]).packet_size = Bytes(row.get("size").parse().unwrap());
    let delay = Duration::from_millis(row.get("delay").trim_end_matches("ms").parse().unwrap());
    for link in &mut scenario.links[BOTTLENECK..BOTTLENECK + 2] {
        link.delay = Variable::Constant(delay);
    }
    let ControlSpec::Composed(parts) = &mut scenario.flows[0].control else { panic!("Vegas is composed") };
    let words: Vec<&str> = row.get("vegas").split_whitespace().collect();
    for pair in words.chunks(2) {
        let (name, value) = (pair[0].trim_start_matches("v_").trim_end_matches('_'), pair[1].parse().unwrap());
        let SlowStartSpec::Part(slow_start) = &mut parts.slow_start else { panic!("Vegas' slow start is a part") };
        for part in [slow_start, &mut parts.avoidance] {
            for (_, slot) in part.params.0.iter_mut().filter(|(param, _)| *param == name) {
                *slot = Value::Number(value);
            }
        }
    }
    scenario
}

#[test]
fn vegas_with_losses_and_other_settings() {
    compare(include_str!("data/ns2_vegas.csv"), vegas_run, 95);
}

#[test]
fn vegas_estimates_from_the_syn_on() {
    let row = "agent,window,delayed_ack,set,iw,max_ssthresh,rate,access,limit,access_limit,loss,loss_position,loss_seed\n\
               Vegas,100,0,minrto_ 0.5,table,0,0.848793Mb,1.8Mb,97,0,0.05,after,0";
    let mut scenario = further_run(&rows(row).next().unwrap());
    let links = [(4_403_487, 10_905_786), (848_793, 17_261_757), (1_800_323, 2_121_864)];
    for (pair, (rate, delay)) in scenario.links.chunks_mut(2).zip(links) {
        for link in pair {
            link.rate = Variable::Constant(Rate::from_bits_per_sec(rate).unwrap());
            link.delay = Variable::Constant(Duration::from_nanos(delay));
        }
    }
    scenario.duration = Duration::from_millis(3000);
    let flow = &mut scenario.flows[0];
    flow.start = Instant::from_nanos(1_751_000_000);
    let host = host_of(flow);
    (host.packet_size, host.limited_transmit) = (Bytes(1460), false);
    let flow = &run(&scenario, &mut || false).unwrap().flows[0];
    // The first duplicate ACKs arrive in the second round trip, when an initial deviation of a quarter or of half the SYN's makes a
    // difference.
    let counters = [flow.delivered_bytes, flow.sent_packets, flow.retransmitted_packets, flow.timeouts, flow.window_reductions];
    assert_eq!(counters, [94_900, 73, 4, 0, 0]);
}

#[test]
fn further_runs_with_losses_and_other_settings() {
    compare(include_str!("data/ns2_runs.csv"), further_run, 148);
}

/// Compares every row of a table of single flows over the chain.
fn compare(table: &str, scenario: impl Fn(&Row<'_>) -> Scenario, count: usize) {
    let mut failures = Vec::new();
    let mut compared = 0;
    for row in rows(table) {
        let result = run(&scenario(&row), &mut || false).unwrap();
        let (flow, link) = (&result.flows[0], &result.links[BOTTLENECK]);
        let checks = [
            ("bytes", flow.delivered_bytes),
            ("sent", flow.sent_packets),
            ("retransmitted", flow.retransmitted_packets),
            ("timeouts", flow.timeouts),
            ("reductions", flow.window_reductions),
            ("drops", link.drops + link.losses),
            ("access_drops", result.links[ACCESS].drops),
        ];
        let differs = |(name, ours): &(&str, u64)| row.get(name).parse::<u64>().unwrap() != *ours;
        let wrong: Vec<String> =
            checks.into_iter().filter(differs).map(|(name, ours)| format!("{name} {} not {ours}", row.get(name))).collect();
        if !wrong.is_empty() {
            failures.push(format!("{}: {}", row.all(), wrong.join(", ")));
        }
        compared += 1;
    }
    assert_eq!(compared, count);
    assert!(failures.is_empty(), "{} of {compared} runs:\n{}", failures.len(), failures.join("\n"));
}

/// A reference trace: time in 10 µs, cwnd in 1/1000 segment, ssthresh.
fn reference_trace(name: &str) -> Vec<(i64, i64, Option<i64>)> {
    let path = format!("{}/tests/data/cwnd/{name}.txt.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let mut integrate = || {
        let differences = lines.next().unwrap().split(' ').map(|word| word.parse::<i64>().unwrap());
        differences
            .scan(0, |sum, difference| {
                *sum += difference;
                Some(*sum)
            })
            .collect::<Vec<i64>>()
    };
    let (times, windows) = (integrate(), integrate());
    let mut changes = lines
        .next()
        .unwrap()
        .split(' ')
        .map(|word| {
            let (index, value) = word.split_once(':').unwrap();
            (index.parse::<usize>().unwrap(), value.parse().ok())
        })
        .peekable();
    let mut ssthresh = None;
    let row = |index: usize| {
        if let Some((_, value)) = changes.next_if(|(at, _)| *at == index) {
            ssthresh = value;
        }
        (times[index], windows[index], ssthresh)
    };
    let mut rows: Vec<_> = (0..times.len()).map(row).collect();
    // On the ACK of the SYN, ns-2 opens the window to two and then sets the initial window, which can leave it unchanged.
    rows.dedup_by_key(|(_, window, ssthresh)| (*window, *ssthresh));
    rows
}

/// Our trace: the last value at each time, in the reference's resolution.
fn our_trace(name: &str) -> Vec<(f64, f64, f64)> {
    let words: Vec<&str> = name.split('_').collect();
    let (bandwidth, queue, agent) = (words[1], words[2].trim_start_matches("ifq"), words[3]);
    let initial_window = if words[4] == "iwrfc3390" { ns2_table() } else { fixed(1.0) };
    let access = if bandwidth == "10Mb" { 100_000_000 } else { 10_000_000 };
    let control = ns2_control(initial_window, part("standard"));
    let mut scenario = chain(rate(bandwidth), access, queue.parse().unwrap(), host(recovery(agent)), control);
    scenario.record = vec![TraceKind::Cwnd];
    let cwnd = run(&scenario, &mut || false).unwrap().traces.cwnd.unwrap();
    (0..cwnd.time.len()).map(|row| (cwnd.time[row] as f64 / 1e4, cwnd.cwnd[row] * 1e3, cwnd.ssthresh[row])).collect()
}

#[test]
fn every_change_of_cwnd_and_ssthresh() {
    let names = [
        "chain_0.3Mb_ifq15_Newreno_iw1",
        "chain_0.3Mb_ifq15_Reno_iw1",
        "chain_0.3Mb_ifq15_Sack1_iw1",
        "chain_0.3Mb_ifq15_Tahoe_iw1",
        "chain_0.3Mb_ifq50_Sack1_iw1",
        "chain_0.3Mb_ifq50_Sack1_iwrfc3390",
        "chain_0.3Mb_ifq5_Reno_iw1",
        "chain_10Mb_ifq50_Sack1_iwrfc3390",
    ];
    for name in names {
        let (theirs, ours) = (reference_trace(name), our_trace(name));
        for (row, (their, our)) in theirs.iter().zip(&ours).enumerate() {
            let (time, window) = ((their.0 as f64 - our.0).abs(), (their.1 as f64 - our.1).abs());
            // ns-2 prints times to 10 µs and windows to 10⁻³ or six digits. The tolerance is half a unit for ns-2's rounding and half a
            // unit for ours.
            let same = time <= 1.0 && window <= 1.0 && (their.2.unwrap() as f64).to_bits() == our.2.to_bits();
            assert!(same, "{name} row {row}: ns-2 has {their:?}, we have {our:?}");
        }
        assert_eq!(theirs.len(), ours.len(), "{name}");
    }
}
