//! What limits a flow, and the warnings of a run: each appears where it should, and nowhere else.

#![expect(clippy::float_cmp, reason = "these shares are exact")]

use ackclock_sim::engine::{FlowResult, Warning, run};
use ackclock_sim::scenario::Document;

/// A link of 8 Mbit/s and 10 ms, this queue (with further keys of the link), duration and flows.
fn simulate(duration: &str, queue: &str, flows: &str) -> (Vec<FlowResult>, Vec<Warning>) {
    let link = format!("{{ rate = \"8 Mbit/s\", delay = \"10 ms\", queue = {queue} }}");
    let text = format!("duration = \"{duration}\"\ntopology = {{ kind = \"chain\", links = [{link}] }}\n{flows}");
    let scenario = Document::from_toml(&text, "t.toml").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, &mut || false).unwrap();
    let warnings = result.warnings(&scenario);
    (result.flows, warnings)
}

fn warnings(duration: &str, queue: &str, flows: &str) -> Vec<Warning> {
    simulate(duration, queue, flows).1
}

/// The only warning, as its name and text.
fn only(duration: &str, queue: &str, flows: &str) -> (&'static str, String) {
    let mut warnings = warnings(duration, queue, flows);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    warnings.pop().map(|warning| (warning.name, warning.text)).unwrap()
}

/// The shares of application, receive window and congestion window.
fn shares(flow: &FlowResult) -> [f64; 3] {
    let limited = flow.limited.unwrap();
    [limited.share(|it| it.application), limited.share(|it| it.receive_window), limited.share(|it| it.congestion_window)]
        .map(Option::unwrap)
}

const HOSTS: [&str; 2] = ["profile = \"ns2\"", "profile = \"modern\""];

#[test]
fn an_exercised_control_causes_no_warning() {
    for host in HOSTS {
        let (flows, warnings) = simulate("10 s", "'20 packets'", &format!("[flow]\n{host}\n"));
        assert_eq!(shares(&flows[0]), [0.0, 0.0, 1.0], "{host}");
        assert_eq!(flows[0].cwnd_initial, Some(if host.contains("ns2") { 4.0 } else { 10.0 }), "{host}");
        assert_eq!(warnings, [], "{host}");
    }
}

#[test]
fn the_windows_and_the_application_share_the_active_time() {
    for host in HOSTS {
        // Two packets and a window for one: the congestion window delays the second packet by a round trip. During the second round trip
        // the window has room. Then the work is over.
        let text = format!("[flow]\n{host}\ninitial_window = \"1.5 segments\"\nsize = \"2 packets\"\n");
        let [application, receive_window, congestion_window] = shares(&simulate("60 s", "'unlimited'", &text).0[0]);
        assert!((application - 0.5).abs() < 0.02 && receive_window == 0.0, "{host}: {application} {receive_window} {congestion_window}");
        assert!((application + congestion_window - 1.0).abs() < 1e-12, "{host}");
    }
}

#[test]
fn drops_that_coincide_with_departures_are_ties() {
    // ACKs release packets at the pace of the bottleneck, so that they reach its queue in step with its departures, unless the delay varies.
    let found = |access: &str| {
        let access = format!("{{ rate = \"100 Mbit/s\", delay = {access}, queue = \"unlimited\" }}");
        let link = "{ rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"3 packets\" }";
        let text =
            format!("duration = \"10 s\"\ntopology = {{ kind = \"chain\", links = [{access}, {link}] }}\n[flow]\nhost = \"linux\"\n");
        let scenario = Document::from_toml(&text, "t.toml").and_then(|document| document.scenario()).unwrap();
        run(&scenario, &mut || false).unwrap().warnings(&scenario)
    };
    let tied = found("\"1 ms\"");
    assert_eq!((tied.len(), tied[0].name, tied[0].flows.as_slice()), (1, "ties", ["flow0".to_owned()].as_slice()));
    assert!(tied[0].text.contains(" drops at n1>n2 came less than 1 µs before"), "{}", tied[0].text);
    assert_eq!(found("{ kind = \"jitter\", delay = \"1 ms\", jitter = \"20 us\" }"), []);
}

#[test]
fn a_queue_behind_links_that_are_no_faster_cannot_fill() {
    let found = |access: &str, bottleneck: &str, topology: &str| {
        let text = format!(
            "duration = \"5 s\"\n[topology]\nkind = \"{topology}\"\naccess = {{ {access} }}\n\
             bottleneck = {{ rate = \"8 Mbit/s\", {bottleneck} }}\n[flow]\ncount = 2\nrwnd = \"100 packets\"\n"
        );
        let scenario = Document::from_toml(&text, "t.toml").and_then(|document| document.scenario()).unwrap();
        let result = run(&scenario, &mut || false).unwrap();
        result.warnings(&scenario).into_iter().filter(|warning| warning.name == "queue_unfilled").collect::<Vec<_>>()
    };
    let warned = found("rate = \"8 Mbit/s\"", "queue = \"50 packets\"", "chain");
    assert_eq!(warned.len(), 1);
    let text = &warned[0].text;
    assert!(text.starts_with("the queue at n1>n2 cannot fill: up to ") && text.contains(" packets wait at n0>n1 instead; let "), "{text}");
    assert_eq!(found("rate = \"10 Mbit/s\"", "queue = \"50 packets\"", "chain"), [], "faster");
    assert_eq!(found("rate = \"8 Mbit/s\"", "queue = \"50 packets\"", "dumbbell"), [], "two links together are faster");
    assert_eq!(found("rate = \"4 Mbit/s\"", "queue = \"50 packets\"", "dumbbell").len(), 1);
    assert_eq!(found("rate = \"8 Mbit/s\", queue = \"50 packets\"", "queue = \"50 packets\"", "chain"), [], "a limit before it");
    assert_eq!(found("rate = \"8 Mbit/s\"", "queue = \"unlimited\"", "chain"), [], "no limit");
    let jitter = "delay = { kind = \"jitter\", delay = \"20 ms\", jitter = \"15 ms\" }";
    assert_eq!(found(&format!("rate = \"8 Mbit/s\", {jitter}"), "queue = \"50 packets\"", "chain"), [], "a delay that changes");
}

#[test]
fn bbr_on_linux_is_another_version_than_that_of_its_kernels() {
    let flow = |host: &str, name: &str| format!("[[flow]]\nhost = \"{host}\"\nname = \"{name}\"\ncongestion_control = \"bbr\"\n");
    let found = warnings("10 s", "'50 packets'", &(flow("linux", "a") + &flow("linux", "b") + &flow("windows_7", "c")));
    let text = "a and b: bbr is version 3 here, but version 1, `bbr1`, in a mainline Linux kernel; no such host sends like this";
    assert_eq!((found.len(), found[0].name, found[0].text.as_str()), (1, "linux_bbr", text));
    assert_eq!(found[0].flows, ["a", "b"]);
    assert_eq!(warnings("10 s", "'50 packets'", "[flow]\nhost = \"linux\"\n"), []);
}

#[test]
fn time_after_the_stop_of_a_transfer_is_not_active() {
    for host in HOSTS {
        let (flows, warnings) = simulate("60 s", "'20 packets'", &format!("[flow]\n{host}\nstop = \"2 s\"\n"));
        // Only the round trip after the stop, of at most 60 ms, has no data.
        assert!(shares(&flows[0])[0] < 0.05, "{host}: {:?}", shares(&flows[0]));
        assert_eq!(warnings, [], "{host}");
    }
}

#[test]
fn a_small_receive_window_is_named_with_its_key() {
    let (flows, found) = simulate("10 s", "'50 packets'", "[flow]\nrwnd = \"5 packets\"\ninitial_window = \"10 segments\"\n");
    assert_eq!(shares(&flows[0]), [0.0, 1.0, 0.0]);
    assert_eq!(found[0].flows, ["flow0"]);
    let text = "flow0 spent 100 % of the active time limited by the receive window: raise flow.rwnd to judge the congestion control";
    assert_eq!((found.len(), found[0].name, found[0].text.as_str()), (1, "rwnd_limited", text));
    let modern = "[flow]\nprofile = \"modern\"\nmodern.receive_buffer = \"10 kB\"\nmodern.receive_buffer_max = \"10 kB\"\n";
    let (name, text) = only("10 s", "'50 packets'", modern);
    assert!(name == "rwnd_limited" && text.ends_with(": raise flow.modern.receive_buffer_max to judge the congestion control"), "{text}");
    let unscaled = "[flow]\nprofile = \"modern\"\nmodern.window_scaling = false\n";
    let (name, text) = only("10 s", "'unlimited'", unscaled);
    assert!(name == "rwnd_limited" && text.contains("flow.modern.window_scaling"), "{text}");
}

#[test]
fn a_receive_window_that_limits_a_minority_of_the_time_is_no_warning() {
    let (flows, warnings) = simulate("60 s", "'50 packets', loss = '2 %'", "[flow]\nrwnd = \"12 packets\"\n");
    let share = shares(&flows[0])[1];
    assert!(share > 0.05 && share < 0.5, "{share}");
    assert_eq!(warnings, []);
}

#[test]
fn an_idle_application_is_named_in_a_quiet_run_only() {
    let bursts = "application = { kind = \"on-off\", burst = \"3 kB\", pause = \"1 s\" }\n";
    for host in HOSTS {
        let idle = format!("[[flow]]\nname = \"idle\"\n{host}\ninitial_window = \"10 segments\"\n{bursts}");
        let (flows, _) = simulate("20 s", "'20 packets'", &idle);
        assert_eq!(shares(&flows[0]), [1.0, 0.0, 0.0], "{host}");
        let (name, text) = only("20 s", "'20 packets'", &idle);
        assert_eq!(name, "application_limited");
        assert!(text.starts_with("idle spent 100 % of the active time without data to send, and no flow met a loss"), "{text}");
        // Beside a long transfer, an idle flow is usual traffic.
        assert_eq!(warnings("20 s", "'20 packets'", &format!("{idle}[[flow]]\n{host}\n")), [], "{host}");
    }
}

#[test]
fn a_window_that_never_grows_is_named() {
    let short = "[flow]\nprofile = \"modern\"\nsize = \"3 packets\"\n";
    let (name, text) = only("5 s", "'unlimited'", short);
    assert_eq!(name, "initial_window");
    assert_eq!(text, "flow0 never grew beyond the initial window of 10 segments: raise flow.size to judge the congestion control");
    // The run ends before the first ACK of data.
    let (name, text) = only("41 ms", "'unlimited'", "[flow]\ninitial_window = \"10 segments\"\n");
    assert_eq!(name, "initial_window");
    assert!(text.ends_with("10 segments: raise duration to judge the congestion control"), "{text}");
    // The handshake takes 20 ms and two headers.
    assert_eq!(warnings("20 ms", "'unlimited'", "[flow]\n"), [], "without a handshake there is no window");
}

#[test]
fn transfers_that_end_in_slow_start_are_one_warning() {
    let short = |size| format!("[[flow]]\nname = \"f{size}_\"\ncount = 2\nsize = \"{size} packets\"\ninitial_window = \"2 segments\"\n");
    let (name, text) = only("20 s", "'unlimited'", &format!("{}{}", short(30), short(60)));
    assert_eq!(name, "slow_start_only");
    let expected = "4 of 4 flows (f30_0, f30_1, f60_0, …) delivered all data (30 to 60 packets) in slow start, without a loss or a mark: \
                    raise flow.size to judge the congestion control";
    assert_eq!(text, expected);
    assert_eq!(warnings("20 s", "'20 packets'", &format!("{}[[flow]]\n", short(30))), [], "one flow leaves slow start");
}

#[test]
fn a_run_shorter_than_slow_start_is_named() {
    let (name, text) = only("300 ms", "'unlimited'", "[flow]\n");
    assert_eq!(name, "slow_start_unfinished");
    assert_eq!(
        text,
        "flow0 stayed in slow start until the end of the run, 0.3 s after the start: raise duration to judge more than the start"
    );
    // Also beside a flow that has left slow start.
    let late = "[[flow]]\nname = \"early\"\n[[flow]]\nname = \"late\"\nstart = \"9.9 s\"\n";
    let (name, text) = only("10 s", "'20 packets'", late);
    assert!(name == "slow_start_unfinished" && text.starts_with("late "), "{name}: {text}");
}

#[test]
fn flows_without_data_are_named() {
    let (name, text) = only("10 s", "'20 packets', loss = '100 %'", "[flow]\nstart = \"2 s\"\n");
    assert_eq!(name, "nothing_delivered");
    let expected =
        "flow0 delivered no data in 8 s from the start to the end of the run: look for a route or a queue that loses every packet";
    assert_eq!(text, expected);
    assert_eq!(warnings("10 s", "'20 packets', loss = '100 %'", "[flow]\nstart = \"6 s\"\n"), [], "4 s may be too short for a lost SYN");
    let (name, text) = only("10 s", "'20 packets'", "[[flow]]\n[[flow]]\nname = \"late\"\nstart = \"20 s\"\n");
    assert_eq!(name, "not_started");
    assert_eq!(text, "late did not start within the run of 10 s: let it start earlier (flow.start) or raise duration");
}

#[test]
fn connections_that_a_client_does_not_need_cause_no_warning() {
    let exchange = "kind = \"request-response\", response = \"300 kB\", exchanges = 1000, persistent = false";
    let page = &format!("[flow]\nprofile = \"modern\"\napplication = {{ {exchange} }}\n");
    let (flows, warnings) = simulate("10 s", "'10 packets'", page);
    assert!(flows.iter().any(|flow| flow.started.is_none()), "{}", flows.len());
    assert_eq!(warnings, []);
}
