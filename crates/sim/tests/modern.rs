//! Flows with hosts of profile `modern` through the engine, compared with arithmetic for simple networks.

use ackclock_sim::engine::{FlowResult, RunResult, run};
use ackclock_sim::scenario::Document;

fn simulate(text: &str) -> RunResult {
    let scenario = Document::from_toml(text, "modern.toml").and_then(|document| document.scenario());
    run(&scenario.unwrap_or_else(|error| panic!("{error}")), &mut || false).unwrap()
}

/// One flow through a chain with a bottleneck of 10 Mbit/s and a round trip of 60 ms.
fn chain(queue: &str, seconds: u32, flow: &str) -> RunResult {
    simulate(&format!(
        "duration = \"{seconds} s\"
        [topology]
        kind = \"chain\"
        access = {{ rate = \"100 Mbit/s\", delay = \"5 ms\" }}
        bottleneck = {{ rate = \"10 Mbit/s\", delay = \"20 ms\", queue = {queue} }}
        [flow]
        profile = \"modern\"
        packet_size = \"1448 B\"
        {flow}"
    ))
}

fn assert_near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() <= share, "{value} is not within {share} of {expected}");
}

#[test]
fn a_bulk_flow_fills_the_bottleneck() {
    // Without SACK, only one segment is repaired per round trip, so slow start must not overshoot by a hundred.
    let cases = [("rack", "unlimited"), ("sack", "unlimited"), ("newreno", "100 segments")];
    for (recovery, threshold) in cases {
        let settings = format!("modern.recovery = \"{recovery}\"\ninitial_ssthresh = \"{threshold}\"");
        let result = chain("\"100 packets\"", 60, &settings);
        let flow = &result.flows[0];
        // Of 1500 bytes on the wire, 1448 are data. A queue of more than a bandwidth-delay product never becomes empty.
        assert_near(flow.goodput_bps, 10e6 * 1448.0 / 1500.0, 0.06);
        assert_eq!(flow.timeouts, 0, "{recovery}: {flow:?}");
        assert!(flow.window_reductions >= 1 && flow.retransmitted_packets >= 1, "{flow:?}");
    }
}

#[test]
fn a_window_with_a_rest_below_a_segment_is_full() {
    let window = |growth: &str, whole: bool| {
        let settings = format!(
            "avoidance = \"reno\"\ninitial_ssthresh = \"4 segments\"\nmodern.growth = \"{growth}\"\nmodern.whole_segments = {whole}"
        );
        chain("\"1000 packets\"", 5, &settings).flows[0].cwnd_final
    };
    let expected = window("full", true);
    assert!(expected > 70.0, "a segment per round trip, which the queue lengthens: {expected}");
    for (growth, whole) in [("flight", true), ("full", false), ("flight", false)] {
        assert_near(window(growth, whole), expected, 0.04);
    }
}

#[test]
fn a_short_flow_takes_the_round_trips_it_must() {
    let result = chain("\"1000 packets\"", 10, "size = \"40 packets\"");
    let flow = &result.flows[0];
    assert_eq!((flow.delivered_bytes, flow.delivered_packets, flow.retransmitted_packets), (40 * 1448, 40, 0));
    // The handshake, windows of 10 and 20 with a round trip of 60 ms each, and half a round trip for the last ten.
    let seconds = flow.completion_time.unwrap().as_secs_f64();
    assert!((0.21..0.26).contains(&seconds), "{seconds}");
    // The SYN and 40 segments. The last segment carries the FIN.
    assert_eq!(flow.sent_packets, 41);
}

#[test]
fn a_fin_can_follow_alone_the_data_of_the_first_flight() {
    let sent = |packets: u32, fin: &str| {
        let result = chain("\"1000 packets\"", 10, &format!("size = \"{packets} packets\"\nmodern.fin = \"{fin}\""));
        let flow = &result.flows[0];
        assert_eq!(flow.delivered_packets, u64::from(packets));
        flow.sent_packets
    };
    // The SYN and the segments; a fourth packet for the FIN if three segments leave at once.
    assert_eq!([sent(3, "with_data"), sent(3, "alone")], [4, 5]);
    assert_eq!([sent(40, "with_data"), sent(40, "alone")], [41, 41]);
}

#[test]
fn the_receive_window_bounds_the_rate() {
    let window = "modern.receive_buffer = \"20000 B\"\nmodern.receive_buffer_max = \"20000 B\"";
    let flow = &chain("\"1000 packets\"", 20, window).flows[0];
    // A window of 13 full segments in a round trip of about 62 ms, minus the remainder below a whole segment.
    assert_near(flow.goodput_bps, 8.0 * 13.0 * 1448.0 / 0.0625, 0.08);
    assert!(flow.cwnd_max < 30.0, "a window that is not used does not grow: {}", flow.cwnd_max);
}

#[test]
fn with_an_odd_window_one_segment_of_it_always_waits() {
    // 8192 B hold five segments of 1448 B. The remaining 952 B are neither a segment nor half of the window (RFC 9293 §3.8.6.2.1). Every
    // second segment is acknowledged. The fifth therefore waits for the first of the next round trip, and two ACKs release four segments.
    let in_100_seconds = |window: u32| {
        let settings =
            format!("host = \"windows_95\"\nmodern = {{ receive_buffer = \"{window} B\", receive_buffer_max = \"{window} B\" }}");
        let delivered = |seconds| chain("\"1000 packets\"", seconds, &settings).flows[0].delivered_bytes as f64;
        (delivered(110) - delivered(10)) / 1448.0
    };
    // A segment of 1488 B and its ACK of 40 B cross links of 100, 10 and 100 Mbit/s, and 60 ms of delay.
    let bottleneck = 1488.0 * 8.0 / 10e6;
    let round_trip = 0.06 + (1488.0 + 40.0) * 8.0 * (1.0 / 100e6 + 1.0 / 10e6 + 1.0 / 100e6);
    // 100 s contain 1627 round trips; the ends can add or remove one.
    assert_near(in_100_seconds(8192), 4.0 * 100.0 / round_trip, 1.0 / 1600.0);
    assert_near(in_100_seconds(7 * 1448), 6.0 * 100.0 / round_trip, 1.0 / 1600.0);
    // With an even number of segments, none waits. The first ACK is then that of the second segment, which the bottleneck sends later.
    assert_near(in_100_seconds(6 * 1448), 6.0 * 100.0 / (round_trip + bottleneck), 1.0 / 1600.0);
}

#[test]
fn only_lost_segments_are_retransmitted() {
    // FreeBSD retransmits more than Linux after its slow start, which ignores round-trip times. No retransmission is unnecessary: no ACK is
    // lost, no packets are reordered, and no timer expires.
    for (host, queue) in ["linux", "freebsd", "windows_7"].into_iter().flat_map(|host| [20, 50, 100].map(|queue| (host, queue))) {
        let flow = chain(&format!("\"{queue} packets\""), 10, &format!("host = \"{host}\"\nsize = \"8 MB\"")).flows.remove(0);
        assert!(flow.timeouts == 0 && flow.dropped_packets > 0, "{host}, {queue} packets: {flow:?}");
        assert_eq!(flow.retransmitted_packets, flow.dropped_packets, "{host}, {queue} packets");
    }
}

#[test]
fn the_autotuned_window_does_not_bound_the_rate() {
    let result = simulate(
        "duration = \"20 s\"
        [topology]
        kind = \"chain\"
        access = { rate = \"1 Gbit/s\", delay = \"10 ms\" }
        bottleneck = { rate = \"100 Mbit/s\", delay = \"30 ms\", queue = \"1 BDP\" }
        [flow]
        profile = \"modern\"
        packet_size = \"1448 B\"",
    );
    // The bandwidth-delay product is 1.25 MB. The buffer begins with 64 KiB.
    assert!(result.flows[0].goodput_bps > 80e6, "{:?}", result.flows[0]);
}

#[test]
fn a_marking_queue_needs_no_losses() {
    let result = chain("{ kind = \"codel\", limit = \"1000 packets\" }", 30, "ecn = true");
    let flow = &result.flows[0];
    assert!(result.links.iter().map(|link| link.marks).sum::<u64>() > 0);
    assert_eq!((flow.dropped_packets, flow.retransmitted_packets, flow.timeouts), (0, 0, 0), "{flow:?}");
    assert!(flow.goodput_bps > 7.5e6);
}

#[test]
fn random_loss_is_repaired_without_timeouts() {
    let result = simulate(
        "duration = \"60 s\"
        seed = 3
        [topology]
        kind = \"chain\"
        bottleneck = { rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"200 packets\", loss = { kind = \"bernoulli\", rate = \"0.5 %\" } }
        [flow]
        profile = \"modern\"
        packet_size = \"1448 B\"",
    );
    let flow = &result.flows[0];
    assert!(flow.dropped_packets > 20 && flow.retransmitted_packets >= flow.dropped_packets / 2, "{flow:?}");
    assert!(flow.timeouts <= 1, "{flow:?}");
}

#[test]
fn both_profiles_share_a_bottleneck() {
    let result = simulate(
        "duration = \"60 s\"
        [topology]
        kind = \"dumbbell\"
        bottleneck = { rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"60 packets\" }
        [[flow]]
        name = \"old\"
        packet_size = \"1448 B\"
        [[flow]]
        name = \"new\"
        profile = \"modern\"
        packet_size = \"1448 B\"",
    );
    let [old, new]: [&FlowResult; 2] = [&result.flows[0], &result.flows[1]];
    assert_near(old.goodput_bps + new.goodput_bps, 10e6 * 1448.0 / 1500.0, 0.06);
    assert!(old.goodput_bps.min(new.goodput_bps) > 1.5e6, "{} and {}", old.goodput_bps, new.goodput_bps);
}

#[test]
fn every_part_works_with_modern_hosts() {
    use ackclock_core::cc::{avoidance, initial_window, loss_response, slow_start};
    let names = [
        ("initial_window", initial_window::ENTRIES.iter().map(|entry| entry.name).collect::<Vec<_>>()),
        ("slow_start", slow_start::ENTRIES.iter().map(|entry| entry.name).collect()),
        ("avoidance", avoidance::ENTRIES.iter().map(|entry| entry.name).collect()),
        ("loss_response", loss_response::ENTRIES.iter().map(|entry| entry.name).collect()),
    ];
    for (axis, name) in names.iter().flat_map(|(axis, names)| names.iter().map(move |name| (axis, name))) {
        let flow = &chain("\"40 packets\"", 10, &format!("{axis} = \"{name}\"")).flows[0];
        // A segment alone waits for the timer of delayed ACKs, and LP takes that delay for a queue.
        let least = if *name == "lp" { 0.5e6 } else { 1e6 };
        assert!(flow.goodput_bps > least && flow.cwnd_final >= 1.0, "{axis} {name}: {flow:?}");
    }
}

#[test]
fn the_same_scenario_gives_the_same_run() {
    let digest = || chain("\"30 packets\"", 20, "modern.pacing = \"window\"").digest();
    assert_eq!(digest(), digest());
}

#[test]
fn a_frozen_scenario_is_the_same_scenario() {
    let text = "duration = \"5 s\"
        [flow]
        profile = \"modern\"
        ecn = true
        size = \"100 packets\"
        [flow.modern]
        recovery = \"sack\"
        receive_buffer = \"30 kB\"
        receive_buffer_max = \"30 kB\"
        delayed_ack = \"25 ms\"
        pacing = \"window\"
        tlp = false
        ";
    let document = Document::from_toml(text, "modern.toml").unwrap();
    let frozen = document.frozen().unwrap();
    let again = Document::from_toml(&frozen, "frozen.toml").unwrap();
    assert_eq!(again.frozen().unwrap(), frozen);
    let hosts = [&document, &again].map(|document| document.scenario().unwrap().flows[0].host.clone());
    assert_eq!(hosts[0], hosts[1]);
}

#[test]
fn settings_of_the_other_profile_are_refused() {
    let message = |flow: &str| {
        let text = format!("duration = \"5 s\"\n[flow]\n{flow}");
        Document::from_toml(&text, "t.toml").and_then(|document| document.scenario()).unwrap_err().to_string()
    };
    assert_eq!(
        message("profile = \"modern\"\nrwnd = \"20 packets\""),
        "t.toml:4: flow.0.rwnd: requires profile = \"ns2\"; a modern host has its settings in [flow.modern]"
    );
    assert_eq!(message("modern.tlp = false"), "t.toml:3: flow.0.modern: requires profile = \"modern\"");
}
