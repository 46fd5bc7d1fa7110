//! Initial windows, end to end: number of segments in the first flight, their times, and learning between connections.

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;
use ackclock_sim::trace::SequenceKind;

fn simulate(text: &str) -> RunResult {
    let scenario = Document::from_toml(text, "windows.toml").and_then(|document| document.scenario());
    run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap()
}

/// Flows over one link of `rate` with a round-trip delay of 20 ms and a queue of `queue` packets.
fn one_link(rate: &str, queue: &str, seconds: u32, flow: &str) -> RunResult {
    simulate(&format!(
        "duration = \"{seconds} s\"
        record = [\"sequence\"]
        [topology]
        kind = \"chain\"
        links = [{{ rate = \"{rate}\", delay = \"20 ms\", queue = \"{queue}\" }}]
        [[flow]]
        {flow}"
    ))
}

/// Flow settings of each profile, with segments of 1000 and 1448 bytes.
const PROFILES: [&str; 2] = ["profile = \"ns2\"", "profile = \"modern\"\npacket_size = \"1448 B\""];

/// Times in nanoseconds at which `flow` first sent the segments from `first` on, before the arrival of an ACK for any of them.
fn first_flight(result: &RunResult, flow: usize, first: u32) -> Vec<u64> {
    let trace = result.traces.sequence.as_ref().unwrap();
    let rows = (0..trace.time.len()).filter(|&row| trace.flow[row] as usize == flow && trace.seq[row] >= first);
    let before = rows.take_while(|&row| trace.kind[row] != SequenceKind::Ack || trace.seq[row] == first);
    before.filter(|&row| trace.kind[row] == SequenceKind::Send).map(|row| trace.time[row]).collect()
}

/// Checks that `times` begin at `open` and are evenly spread over `rtt`, to the nanosecond.
#[track_caller]
fn assert_spread(times: &[u64], open: u64, rtt: u64, case: &str) {
    let expected = (0..).map(|index| open + index * rtt / times.len() as u64);
    assert!(times.iter().zip(expected).all(|(time, expected)| time.abs_diff(expected) <= 1), "{case}: {times:?}");
}

/// Arrival time of the ACK that expects segment `seq` of the first flow.
fn acknowledged(result: &RunResult, seq: u32) -> u64 {
    let trace = result.traces.sequence.as_ref().unwrap();
    let row = (0..trace.time.len()).find(|&row| trace.kind[row] == SequenceKind::Ack && trace.seq[row] == seq);
    trace.time[row.unwrap()]
}

#[test]
fn the_first_flight_is_the_initial_window() {
    // With segments of 1000 and of 1448 bytes; RFC 3390 §1: 4380 bytes are three segments of 1448.
    let cases = [
        ("\"rfc2001\"", [1, 1]),
        ("\"rfc3390\"", [4, 3]),
        ("\"rfc6928\"", [10, 10]),
        ("{ kind = \"yearly\", year = 2011 }", [6, 6]),
        ("{ kind = \"yearly\", year = 2019 }", [15, 15]),
        ("{ kind = \"negotiated\", sender = \"16 segments\", receiver = \"12 segments\" }", [12, 12]),
        ("{ kind = \"adaptive\", first = \"7 segments\" }", [7, 7]),
        ("\"unlimited\"", [30, 30]),
        ("{ kind = \"unlimited\", pace_above = \"40 segments\" }", [30, 30]),
        ("{ kind = \"unlimited\", most = \"20 segments\" }", [20, 20]),
    ];
    for (window, expected) in cases {
        for (profile, expected) in PROFILES.into_iter().zip(expected) {
            for pacing in ["none", "rtt"] {
                let flow = format!("{profile}\nsize = \"30 packets\"\ninitial_window = {window}\ninitial_pacing = \"{pacing}\"");
                let result = one_link("1.5 Mbit/s", "unlimited", 10, &flow);
                assert_eq!(first_flight(&result, 0, 1).len(), expected, "{window}, {profile}, {pacing}");
                assert_eq!(result.flows[0].delivered_packets, 30, "{window}, {profile}, {pacing}");
            }
        }
    }
}

#[test]
fn the_receiver_bounds_an_unlimited_window() {
    // 20,000 bytes hold 13 segments of 1448 bytes.
    let bounds = [("rwnd = \"12 packets\"", 12), ("modern.receive_buffer = \"20 kB\"\nmodern.receive_buffer_max = \"20 kB\"", 13)];
    for (profile, (bound, expected)) in PROFILES.into_iter().zip(bounds) {
        let flow = format!("{profile}\n{bound}\ninitial_window = \"unlimited\"");
        assert_eq!(first_flight(&one_link("1.5 Mbit/s", "unlimited", 10, &flow), 0, 1).len(), expected, "{profile}");
    }
}

#[test]
fn a_paced_first_flight_is_spread_evenly_over_the_round_trip_of_the_handshake() {
    let recoveries = ["tahoe", "reno", "newreno", "sack"].map(|name| format!("recovery = \"{name}\""));
    let modern = [PROFILES[1].to_owned(), format!("{}\nmodern.pacing = \"window\"", PROFILES[1])];
    for host in recoveries.into_iter().chain(modern) {
        let flow = format!("{host}\nsize = \"40 packets\"\ninitial_window = \"8 segments\"\ninitial_pacing = \"rtt\"");
        let result = one_link("1.5 Mbit/s", "unlimited", 10, &flow);
        // The SYN leaves at 0; its ACK opens the window.
        let rtt = acknowledged(&result, 1);
        let times = first_flight(&result, 0, 1);
        assert_eq!(times.len(), 8, "{host}");
        assert_spread(&times, rtt, rtt, &host);
        assert_eq!(result.flows[0].delivered_packets, 40, "{host}");
    }
}

#[test]
fn vegas_opens_its_window_a_round_trip_later() {
    let flow = "recovery = \"vegas\"\nsize = \"40 packets\"\ninitial_window = \"8 segments\"\ninitial_pacing = \"rtt\"";
    let result = one_link("1.5 Mbit/s", "unlimited", 10, flow);
    // The first segment's ACK opens the window. The round-trip time is that of the SYN.
    let (rtt, open) = (acknowledged(&result, 1), acknowledged(&result, 2));
    assert_spread(&first_flight(&result, 0, 2)[..8], open, rtt, "vegas");
}

#[test]
fn an_unlimited_window_is_paced_if_it_exceeds_ten_segments() {
    for profile in PROFILES {
        let sent = |packets: u64| {
            let flow = format!("{profile}\nsize = \"{packets} packets\"\ninitial_window = \"unlimited\"");
            let result = one_link("1.5 Mbit/s", "unlimited", 10, &flow);
            (acknowledged(&result, 1), first_flight(&result, 0, 1))
        };
        let (open, burst) = sent(10);
        assert_eq!(burst, vec![open; 10], "{profile}");
        let (rtt, paced) = sent(11);
        assert_eq!(paced.len(), 11, "{profile}");
        assert_spread(&paced, rtt, rtt, profile);
    }
}

#[test]
fn pacing_saves_a_short_queue_from_the_first_flight() {
    for profile in PROFILES {
        let losses = |pacing: &str| {
            let window = "initial_window = \"20 segments\"\nsize = \"20 packets\"";
            let flow = format!("{profile}\n{window}\ninitial_pacing = \"{pacing}\"");
            let result = one_link("10 Mbit/s", "5 packets", 20, &flow);
            (result.flows[0].first_overshoot_losses, result.flows[0].delivered_packets)
        };
        // A queue of 5 packets holds one in transmission and four waiting, so a burst of 20 loses 15. Twenty packets in 40 ms arrive 2 ms
        // apart, and transmission takes at most 1.2 ms.
        assert_eq!([losses("none"), losses("rtt")], [(15, 20), (0, 20)], "{profile}");
    }
}

#[test]
fn an_adaptive_window_rises_until_it_loses_and_falls_by_half() {
    for profile in PROFILES {
        let flow = format!(
            "{profile}\ncount = 12\nstart_spread = \"60 s\"\nsize = \"20 packets\"
            initial_window = {{ kind = \"adaptive\", first = \"8 segments\" }}"
        );
        let result = one_link("1.5 Mbit/s", "10 packets", 70, &flow);
        let flights: Vec<usize> = (0..12).map(|flow| first_flight(&result, flow, 1).len()).collect();
        // A queue of 10 packets holds ten of a burst: one in transmission and nine waiting. So 8, 9 and 10 segments pass, and 11 lose one.
        // Half of 11 is 5.5. From there the window grows to 6.5, … 10.5, at which ten segments are sent. At 11.5 eleven are sent, and the
        // window falls to 5.75.
        assert_eq!(flights, [8, 9, 10, 11, 5, 6, 7, 8, 9, 10, 11, 5], "{profile}");
        assert!(result.flows.iter().all(|flow| flow.delivered_packets == 20), "{profile}");
    }
}

#[test]
fn connections_learn_nothing_from_an_unfilled_window() {
    for profile in PROFILES {
        let window = "initial_window = { kind = \"adaptive\", first = \"8 segments\" }";
        let short = format!("{profile}\n{window}\ncount = 4\nstart_spread = \"20 s\"\nsize = \"9 packets\"");
        let long = format!("{profile}\n{window}\nstart = \"25 s\"\nsize = \"30 packets\"");
        let result = one_link("1.5 Mbit/s", "50 packets", 30, &format!("{short}\n[[flow]]\n{long}"));
        let flights: Vec<usize> = (0..5).map(|flow| first_flight(&result, flow, 1).len()).collect();
        // Nine packets fill windows of 8 and 9. The third and fourth flows find 10, do not fill it, and leave it to the fifth.
        assert_eq!(flights, [8, 9, 9, 9, 10], "{profile}");
    }
}

#[test]
fn other_end_hosts_learn_nothing() {
    for profile in PROFILES {
        let result = simulate(&format!(
            "duration = \"20 s\"
            record = [\"sequence\"]
            [topology]
            kind = \"dumbbell\"
            [flow]
            {profile}
            count = 3
            start_spread = \"15 s\"
            size = \"20 packets\"
            initial_window = {{ kind = \"adaptive\", first = \"8 segments\" }}"
        ));
        let flights: Vec<usize> = (0..3).map(|flow| first_flight(&result, flow, 1).len()).collect();
        assert_eq!(flights, [8, 8, 8], "{profile}");
    }
}

#[test]
fn a_marked_first_window_counts_as_a_lost_one() {
    for profile in PROFILES {
        let result = simulate(&format!(
            "duration = \"20 s\"
            record = [\"sequence\"]
            [topology]
            kind = \"chain\"
            links = [{{ rate = \"1.5 Mbit/s\", delay = \"20 ms\", queue = {{ kind = \"codel\", limit = \"100 packets\", target = \"1 ms\", interval = \"10 ms\" }} }}]
            [flow]
            {profile}
            ecn = true
            count = 2
            start_spread = \"20 s\"
            size = \"20 packets\"
            initial_window = {{ kind = \"adaptive\", first = \"16 segments\" }}"
        ));
        let flights: Vec<usize> = (0..2).map(|flow| first_flight(&result, flow, 1).len()).collect();
        // Sixteen segments at once wait up to 80 ms. CoDel marks after they have exceeded its target for an interval of 10 ms.
        assert_eq!(flights, [16, 8], "{profile}");
        assert_eq!(result.flows[0].dropped_packets, 0, "{profile}");
    }
}

#[test]
fn the_key_is_part_of_the_frozen_scenario() {
    for profile in PROFILES {
        let text = format!("duration = \"5 s\"\n[flow]\n{profile}\ninitial_pacing = \"rtt\"");
        let document = Document::from_toml(&text, "t.toml").unwrap();
        let frozen = document.frozen().unwrap();
        let again = Document::from_toml(&frozen, "frozen.toml").unwrap();
        assert_eq!(again.frozen().unwrap(), frozen);
        let flows = [&document, &again].map(|document| document.scenario().unwrap().flows.remove(0));
        for flow in flows {
            let paced = flow.host.as_ns2().map_or_else(|| flow.host.as_modern().unwrap().initial_pacing, |host| host.initial_pacing);
            assert!(paced, "{profile}");
        }
    }
}
