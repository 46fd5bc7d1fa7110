//! The stack in the simulator.

use std::process::Command;

use ackclock_sim::engine::RunResult;
use ackclock_sim::scenario::TraceKind;
use stack::{read, simulate};

const CONTROLS: [&str; 5] = [
    "profile = { kind = 'toy', control = 'own' }",
    "profile = 'toy'\navoidance = 'reno'",
    "profile = 'toy'\navoidance = 'cubic'",
    "profile = 'toy'\nslow_start = 'hystart_pp'",
    "profile = 'toy'\ncongestion_control = 'bbr'",
];

/// A bottleneck of 10 Mbit/s and 40 ms with these losses.
fn text(flow: &str, loss: &str) -> String {
    format!(
        "duration = '30 s'\n[topology]\nkind = 'dumbbell'\naccess = {{ rate = '10 Gbit/s', delay = '0 s' }}\n\
         bottleneck = {{ rate = '10 Mbit/s', delay = '20 ms', queue = '50 packets', loss = {loss} }}\n[[flow]]\nname = 'file'\n{flow}\n"
    )
}

fn result(flow: &str, loss: &str) -> RunResult {
    let scenario = read(&text(flow, loss), "t.toml").unwrap_or_else(|error| panic!("{error}\n{flow}"));
    simulate(&scenario).unwrap_or_else(|error| panic!("{error}\n{flow}"))
}

#[test]
fn a_transfer_takes_the_time_of_the_link() {
    // 10,000 packets of 1045 bytes with all headers, and one and a half round trips.
    let least = 1e4 * 1045.0 * 8.0 / 10e6 + 0.06;
    for control in CONTROLS {
        let flow = &result(&format!("{control}\nsize = '10 MB'"), "'none'").flows[0];
        let time = flow.completion_time.unwrap_or_else(|| panic!("{control}")).as_secs_f64();
        assert!((least..least * 1.06).contains(&time), "{control}: {time} of {least}");
        assert_eq!((flow.delivered_packets, flow.payload, flow.cwnd_initial), (10_000, 10_000_000, Some(10.0)), "{control}");
        assert!(flow.min_rtt.is_some_and(|rtt| (0.040..0.043).contains(&rtt.as_secs_f64())), "{control}: {:?}", flow.min_rtt);
        assert!(flow.slow_start_exit.is_some_and(|(_, at, cwnd)| at.as_secs_f64() < 1.0 && cwnd > 10.0), "{control}");
        assert_eq!((flow.retransmitted_packets, flow.timeouts), (flow.dropped_packets, 0), "{control}: only what was lost is sent again");
    }
}

#[test]
fn losses_of_data_and_of_acks_are_repaired() {
    for control in CONTROLS {
        let flow = &result(&format!("{control}\nsize = '500 packets'"), "'2 %'").flows[0];
        assert!(flow.delivered_packets == 500 && flow.completion_time.is_some() && flow.dropped_packets > 0, "{control}");
        assert!(flow.window_reductions > 0 || control.contains("bbr"), "{control}");
    }
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    for control in CONTROLS {
        let mut scenario = read(&text(&format!("{control}\nsize = '1 MB'"), "'none'"), "t.toml").unwrap();
        scenario.record = vec![TraceKind::Flight];
        let result = simulate(&scenario).unwrap();
        let flight = result.traces.flight.as_ref().unwrap();
        let most = *flight.bytes.iter().max().unwrap() as f64 / 1017.0;
        let window = result.flows[0].cwnd_max;
        assert!((0.5 * window..=window).contains(&most), "{control}: {most} of {window}");
    }
}

#[test]
fn applications_run() {
    for application in [
        "application = { kind = 'on-off', burst = '50 kB', pause = '300 ms' }",
        "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '100 ms' }",
        "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', pages = 2 }",
    ] {
        for control in CONTROLS {
            let result = result(&format!("{control}\n{application}"), "'1 %'");
            let done = result.applications[0].transfers.iter().filter(|transfer| transfer.completed.is_some()).count();
            assert!(done >= 10, "{control}\n{application}: {done}");
        }
    }
}

#[test]
fn runs_repeat_themselves_on_threads() {
    for control in CONTROLS {
        let flow = format!("{control}\nsize = '1 MB'");
        let work = || result(&flow, "'1 %'").digest();
        let digests = std::thread::scope(|scope| [(); 4].map(|()| scope.spawn(work)).map(|thread| thread.join().unwrap()));
        assert!(digests.iter().all(|digest| *digest == work()), "{control}: {digests:?}");
        let mut other = read(&text(&flow, "'1 %'"), "t.toml").unwrap();
        other.seed += 1;
        assert_ne!(simulate(&other).unwrap().digest(), digests[0], "{control}: another seed loses other packets");
    }
}

#[test]
fn a_lost_connection_gives_one_message() {
    // The path breaks after 300 packets.
    let numbers: Vec<String> = (300..2000).map(|number| number.to_string()).collect();
    let broken = format!("{{ kind = 'listed', packets = [{}] }}", numbers.join(", "));
    for control in CONTROLS {
        let scenario = read(&text(&format!("{control}\nsize = '1 MB'"), &broken), "t.toml").unwrap();
        let result = simulate(&scenario).unwrap();
        let flow = &result.flows[0];
        assert!(flow.completion_time.is_none() && flow.delivered_packets < 300, "{control}");
        let lost: Vec<String> =
            result.warnings(&scenario).into_iter().filter(|it| it.name == "connection_lost").map(|it| it.text).collect();
        assert_eq!(lost.len(), 1, "{control}: {lost:?}");
        assert!(lost[0].contains("file: an end gave up the connection, at ") && lost[0].contains(" s: no answer for "), "{lost:?}");
    }
}

#[test]
fn a_wrong_key_gives_one_message() {
    let cases = [
        (
            "profile = { kind = 'toy', pateince = '1 s' }",
            "the host profile \"toy\" has no parameter \"pateince\"; did you mean \"patience\"?",
        ),
        ("profile = { kind = 'toy', patience = '1 ms' }", "patience"),
        ("profile = { kind = 'toy', control = 'cubic' }", "there is no control \"cubic\" (known: flow, own)"),
        ("profile = { kind = 'toy', control = 'own' }\navoidance = 'cubic'", "whose hosts have a congestion control of their own, toy"),
        ("profile = 'toy'\ninitial_pacing = 'rtt'", "initial_pacing"),
        ("profile = 'tyo'", "toy"),
    ];
    for (flow, message) in cases {
        let error = read(&text(flow, "'none'"), "t.toml").unwrap_err();
        assert!(error.contains(message) && error.starts_with("t.toml:") && error.lines().count() == 1, "{flow}\n{error}");
    }
}

#[test]
fn the_program_reports_a_scenario() {
    let program = |path: &str| Command::new(env!("CARGO_BIN_EXE_stack")).arg(path).output().unwrap();
    let output = program("scenario.toml");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(output.status.success() && lines.len() == 3, "{text}");
    for (line, name) in lines.iter().zip(["own: ", "cubic: "]) {
        assert!(line.starts_with(name) && line.contains(" Mbit/s, ") && line.contains("complete after "), "{text}");
    }
    assert!(lines[2].starts_with("two runs have the same digest, "), "{text}");
    let output = program("missing.toml");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.starts_with("missing.toml: ") && message.lines().count() == 1, "{message}");
}
