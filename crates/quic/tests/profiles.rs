//! QUIC stacks in the simulator.

use ackclock_core::cc::Phase;
use ackclock_sim::engine::{FlowResult, RunResult, run};
use ackclock_sim::scenario::{Document, PROFILES, Scenario, ScenarioError, TraceKind};
use proptest::prelude::*;

/// Every congestion control of the stacks, and some of the contract.
const CONTROLS: [&str; 10] = [
    "profile = 'quinn'",
    "profile = { kind = 'quinn', control = 'newreno' }",
    "profile = { kind = 'quic', control = 'cubic' }",
    "profile = { kind = 'quic', control = 'newreno' }",
    "profile = 'quic'\navoidance = 'reno'",
    "profile = 'quic'\navoidance = 'cubic'",
    "profile = 'quic'\navoidance = 'cubic'\nslow_start = 'hystart_pp'",
    "profile = 'quic'\navoidance = 'cubic'\nslow_start = 'search'",
    "profile = 'quic'\ncongestion_control = 'bbr'",
    "profile = { kind = 'quinn', control = 'flow' }\navoidance = 'cubic'\nslow_start = 'hystart_pp'",
];

const APPLICATIONS: [&str; 5] = [
    "size = '200 packets'",
    "application = { kind = 'on-off', burst = '50 kB', pause = '300 ms' }",
    "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '100 ms' }",
    "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', pages = 2 }",
    "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', pages = 2, multiplexed = true }",
];

/// A bottleneck of 10 Mbit/s and 40 ms with these further keys.
fn document(flow: &str, bottleneck: &str) -> Result<Document, ScenarioError> {
    PROFILES.join(ackclock_quic::PROFILES).unwrap();
    let text = format!(
        "duration = '20 s'\n[topology]\nkind = 'dumbbell'\naccess = {{ rate = '10 Gbit/s', delay = '0 s' }}\n\
         bottleneck = {{ rate = '10 Mbit/s', delay = '20 ms', {bottleneck} }}\n[[flow]]\n{flow}\n"
    );
    Document::from_toml(&text, "t.toml")
}

fn read(flow: &str, bottleneck: &str) -> Result<Scenario, ScenarioError> {
    document(flow, bottleneck)?.scenario()
}

fn simulate(flow: &str, bottleneck: &str) -> RunResult {
    let scenario = read(flow, bottleneck).unwrap_or_else(|error| panic!("{error}\n{flow}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{flow}"))
}

const DROPTAIL: &str = "queue = '50 packets'";

#[test]
fn ten_megabytes_take_the_time_of_the_link() {
    // Datagrams of 1228 bytes: 28 of IPv4 and UDP, 11 of the short header, 6 of the frame, 16 of the tag, 1167 of data. Besides, one and a half
    // round trips.
    let least = 10e6 / 1167.0 * 1228.0 * 8.0 / 10e6 + 0.06;
    for control in CONTROLS {
        let result = simulate(&format!("{control}\nsize = '10 MB'"), DROPTAIL);
        let flow: &FlowResult = &result.flows[0];
        let time = flow.completion_time.unwrap_or_else(|| panic!("{control}")).as_secs_f64();
        assert!((least..least * 1.05).contains(&time), "{control}: {time} of {least}");
        assert_eq!(flow.cwnd_initial, Some(10.0), "{control}");
        assert!(flow.min_rtt.is_some_and(|rtt| (0.040..0.043).contains(&rtt.as_secs_f64())), "{control}: {:?}", flow.min_rtt);
        assert_eq!(flow.delivered_packets, 8334, "{control}");
        let exit = flow.slow_start_exit.unwrap_or_else(|| panic!("{control}"));
        assert!(exit.1.as_secs_f64() < 1.0 && exit.2 > 10.0, "{control}: {exit:?}");
        // Each lost packet's data is sent again, and little else.
        let (dropped, again) = (flow.dropped_packets, flow.retransmitted_packets);
        assert!(again >= dropped && again <= dropped + dropped / 2 + 4, "{control}: {again} retransmissions of {dropped} drops");
    }
}

#[test]
fn traces_have_what_is_in_flight() {
    for control in CONTROLS {
        let mut scenario = read(&format!("{control}\nsize = '1 MB'"), DROPTAIL).unwrap();
        scenario.record = vec![TraceKind::Flight];
        let result = run(&scenario, &mut || false).unwrap();
        let (flow, flight) = (&result.flows[0], result.traces.flight.as_ref().unwrap());
        let smss = *flight.smss.last().unwrap();
        assert!((1200..=1472).contains(&smss), "{control}: {smss}");
        let most = *flight.bytes.iter().max().unwrap() as f64 / smss as f64;
        // The window is used, and exceeded by at most one datagram.
        assert!((0.5 * flow.cwnd_max..=flow.cwnd_max + 1.0).contains(&most), "{control}: {most} of {}", flow.cwnd_max);
        assert!(*flight.bytes.last().unwrap() < 2 * smss, "{control}: all is acknowledged, except what closes the connection");
        assert!(flow.dropped_packets == 0 || flight.phase.contains(&Some(Phase::Avoidance)), "{control}");
    }
}

#[test]
fn every_application_runs() {
    for profile in ["profile = 'quinn'", "profile = 'quic'", "profile = { kind = 'quic', control = 'newreno', gso = 10 }"] {
        for application in APPLICATIONS {
            let flow = format!("{profile}\n{application}");
            let result = simulate(&flow, "queue = '20 packets', loss = '1 %'");
            assert!(result.flows.iter().any(|flow| flow.delivered_bytes > 0), "{flow}");
            if application.contains("size") {
                assert_eq!((result.flows[0].delivered_packets, result.flows[0].completion_time.is_some()), (200, true), "{flow}");
            } else {
                let done = result.applications[0].transfers.iter().filter(|transfer| transfer.completed.is_some()).count();
                assert!(done >= 10, "{flow}: {done}");
            }
        }
    }
}

#[test]
fn a_page_may_have_more_objects_than_the_peer_allows_streams() {
    for profile in ["quinn", "quic"] {
        let application = "application = { kind = 'web', root = '20 kB', objects = 250, object = '2 kB', pages = 1, multiplexed = true }";
        let result = simulate(&format!("profile = '{profile}'\n{application}"), DROPTAIL);
        let done = result.applications[0].transfers.iter().filter(|transfer| transfer.completed.is_some()).count();
        assert_eq!(done, 251, "{profile}");
    }
}

#[test]
fn time_goes_on_between_the_packets_of_a_fast_link() {
    for control in CONTROLS {
        PROFILES.join(ackclock_quic::PROFILES).unwrap();
        let text = format!(
            "duration = '4 ms'\n[topology]\nkind = 'dumbbell'\naccess = {{ delay = '0 ms', rate = '1 Tbit/s' }}\n\
             bottleneck = {{ rate = '10 Gbit/s', delay = '8 us', queue = {{ kind = 'red', limit = '500 packets', min_threshold = '65 packets', \
             max_threshold = '66 packets', max_p = '100 %', weight = 1, gentle = false }} }}\n[[flow]]\ncount = 4\necn = true\n{control}\n"
        );
        let scenario = Document::from_toml(&text, "t.toml").unwrap().scenario().unwrap_or_else(|error| panic!("{error}"));
        let result = run(&scenario, &mut || false).unwrap();
        assert!(result.flows.iter().map(|flow| flow.delivered_packets).sum::<u64>() > 100, "{control}");
    }
}

#[test]
fn marks_reduce_the_window_like_losses() {
    for control in CONTROLS {
        let flow = |ecn| {
            simulate(&format!("{control}\necn = {ecn}\nsize = '10 MB'"), "queue = { kind = 'codel', limit = '1000 packets', ecn = true }")
        };
        let (marked, dropped) = (flow(true), flow(false));
        let queue = |result: &RunResult| result.links.iter().map(|link| (link.marks, link.drops)).max().unwrap();
        assert!(queue(&marked).0 > 0 && queue(&marked).1 == 0, "{control}: {:?}", queue(&marked));
        assert_eq!(queue(&dropped).0, 0, "{control}");
        assert!(marked.flows[0].window_reductions > 0 || control.contains("bbr"), "{control}");
        assert_eq!(marked.flows[0].retransmitted_packets, 0, "{control}");
    }
}

#[test]
fn a_sender_asks_for_fewer_acks() {
    let acks = |every: &str| {
        let result = simulate(&format!("profile = {{ kind = 'quic'{every} }}\nsize = '2 MB'"), DROPTAIL);
        // The reverse path is the one that carries little.
        result.links.iter().map(|link| link.arrivals).min().unwrap() as f64 / result.flows[0].delivered_packets as f64
    };
    let (usual, ten) = (acks(""), acks(", ack_every = 10"));
    assert!((0.48..0.6).contains(&usual), "{usual}");
    assert!((0.09..0.2).contains(&ten), "{ten}");
}

#[test]
fn datagrams_grow_if_the_path_is_probed() {
    let sent = |discovery: &str| {
        let result = simulate(&format!("profile = {{ kind = 'quinn', mtu_discovery = {discovery} }}\nsize = '2 MB'"), DROPTAIL);
        result.flows[0].sent_packets
    };
    let (fixed, found) = (sent("false") as f64, sent("true") as f64);
    // 1409 bytes of data in 1452 against 1157 in 1200.
    assert!((0.80..0.88).contains(&(found / fixed)), "{found} of {fixed}");
}

#[test]
fn persistent_congestion_is_a_timeout() {
    let outage = "queue = '100 packets', loss = { kind = 'outage', start = '500 ms', length = '2 s' }";
    for control in CONTROLS {
        let result = simulate(&format!("{control}\nsize = '2 MB'"), outage);
        assert_eq!(result.flows[0].timeouts, 1, "{control}");
        assert!(result.flows[0].completion_time.is_some(), "{control}");
    }
}

#[test]
fn wrong_keys_are_named() {
    let cases = [
        ("profile = 'quinn'\npacket_size = '1000 B'", "packet_size: must be 1200 to 6000 B with profile quinn"),
        (
            "profile = 'quinn'\navoidance = 'cubic'",
            "avoidance: cannot be combined with this profile quinn, whose hosts have a congestion control of their own, cubic of quinn",
        ),
        (
            "profile = { kind = 'quic', control = 'cubic' }\ncongestion_control = 'bbr'",
            "congestion_control: cannot be combined with this profile quic, whose hosts have a congestion control of their own, cubic of noq",
        ),
        ("profile = { kind = 'quinn', control = 'bbr' }", "there is no control \"bbr\" (known: cubic, newreno, flow)"),
        ("profile = 'quic'\nrecovery = 'sack'", "requires profile = \"ns2\", but the profile is quic"),
        ("profile = 'quic'\ninitial_pacing = 'rtt'", "initial_pacing: hosts of profile quic pace the initial window like any other"),
        ("profile = 'quic'\necn = 'accurate'", "accurate requires profile = \"modern\"; quic hosts have classic feedback only"),
    ];
    for (flow, message) in cases {
        let error = read(flow, DROPTAIL).unwrap_err().to_string();
        assert!(error.contains(message), "{flow}\n{error}");
    }
}

#[test]
fn a_frozen_scenario_is_read_again() {
    for control in CONTROLS {
        let frozen = document(&format!("{control}\nsize = '1 MB'"), DROPTAIL).unwrap().frozen().unwrap();
        let again = Document::from_toml(&frozen, "frozen.toml").unwrap().frozen().unwrap_or_else(|error| panic!("{error}\n{frozen}"));
        assert_eq!(again, frozen, "{control}");
    }
}

/// Any flow of a stack on any path.
fn any_case() -> impl Strategy<Value = (String, String)> {
    let control = prop::sample::select(CONTROLS.to_vec());
    let application = prop::sample::select(APPLICATIONS.to_vec());
    let packet = prop::sample::select(vec![1200, 1252, 1472, 6000]);
    (control, application, packet, 3_u32..100, 0_u32..20, any::<bool>()).prop_map(|(control, application, packet, queue, loss, ecn)| {
        (
            format!("{control}\n{application}\npacket_size = '{packet} B'\necn = {ecn}"),
            format!("queue = {{ kind = 'codel', limit = '{queue} packets', ecn = true }}, loss = '{loss} %'"),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn data_arrives_whatever_the_path_does((flow, bottleneck) in any_case()) {
        let result = simulate(&flow, &bottleneck);
        for flow_result in &result.flows {
            prop_assert!(flow_result.retransmitted_packets <= flow_result.sent_packets);
            prop_assert!(flow_result.payload <= flow_result.sent_packets * 6000);
            prop_assert!(flow_result.cwnd_max >= 1.0 || flow_result.started.is_none());
        }
        prop_assert_eq!(result.digest(), simulate(&flow, &bottleneck).digest());
    }
}
