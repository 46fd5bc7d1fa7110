//! A profile of another crate, whose packets are bytes, runs every application and every control.

mod selective;

use ackclock_core::cc;
use ackclock_core::units::Instant;
use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::{ApplicationKind, Document, PROFILES, Scenario, ScenarioError, profiles};

const APPLICATIONS: [&str; 5] = [
    "size = '200 packets'",
    "application = { kind = 'on-off', burst = '50 kB', pause = '300 ms' }",
    "application = { kind = 'request-response', request = '300 B', response = '30 kB', think = '100 ms' }",
    "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', pages = 2 }",
    "application = { kind = 'web', root = '20 kB', objects = 8, object = '10 kB', pages = 2, multiplexed = true }",
];

fn read(flow: &str, loss: &str) -> Result<Scenario, ScenarioError> {
    let bottleneck = format!("{{ rate = '5 Mbit/s', queue = '20 packets', loss = {loss} }}");
    let text = format!("duration = '20 s'\n[topology]\nkind = 'dumbbell'\nbottleneck = {bottleneck}\n[[flow]]\n{flow}\n");
    Document::from_toml(&text, "t.toml")?.scenario()
}

fn simulate(flow: &str, loss: &str) -> RunResult {
    PROFILES.join(selective::PROFILES).unwrap();
    let flow = format!("profile = 'selective'\n{flow}");
    let scenario = read(&flow, loss).unwrap_or_else(|error| panic!("{error}\n{flow}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{flow}"))
}

#[test]
fn every_application_runs_with_every_control() {
    let names = |axis: &str, names: Vec<&str>| names.into_iter().map(|name| format!("{axis} = '{name}'")).collect::<Vec<_>>();
    let controls = [
        names("initial_window", cc::initial_window::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("slow_start", cc::slow_start::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("avoidance", cc::avoidance::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("loss_response", cc::loss_response::ENTRIES.iter().map(|entry| entry.name).collect()),
        names("congestion_control", cc::whole::ENTRIES.iter().map(|entry| entry.name).collect()),
    ];
    for control in controls.concat() {
        for application in APPLICATIONS {
            let flow = format!("{control}\n{application}");
            let result = simulate(&flow, "'1 %'");
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
fn a_run_repeats_itself() {
    for application in [APPLICATIONS[3], APPLICATIONS[4]] {
        let [one, other] = [(); 2].map(|()| simulate(application, "'1 %'").digest());
        assert_eq!(one, other);
    }
}

#[test]
fn a_profile_fills_the_path() {
    let goodput = simulate("", "'none'").flows[0].goodput_bps;
    assert!((3.5e6..5e6).contains(&goodput), "{goodput}");
}

/// When the objects of a page of a root and four objects of two packets each have arrived, if the packets `lost` of the server are lost.
fn arrivals(keys: &str, lost: u32) -> Vec<Option<Instant>> {
    let page = "kind = 'web', root = '1 kB', objects = 4, object = '2 packets', parse = '300 ms'";
    let flow = format!("initial_window = '30 segments'\napplication = {{ {page}, {keys} }}");
    let result = simulate(&flow, &format!("{{ kind = 'listed', packets = [{lost}] }}"));
    result.applications[0].transfers.iter().map(|transfer| transfer.completed).collect()
}

#[test]
fn a_loss_on_one_stream_delays_no_other() {
    // For each lost packet, the objects that arrive later than without it; not those of packets that the root needs.
    let late = |keys: &str| {
        let whole = arrivals(keys, 1_000_000);
        let losses = (1..40).map(|lost| arrivals(keys, lost)).filter(|lossy| lossy[0] == whole[0]);
        let late = |lossy: Vec<Option<Instant>>| (1..5).filter(|&object| lossy[object] > whole[object]).collect::<Vec<_>>();
        losses.map(late).filter(|late| !late.is_empty()).collect::<Vec<_>>()
    };
    // The packets of the objects come last. A lost ACK of the server can delay several requests.
    let multiplexed = late("multiplexed = true");
    assert!(multiplexed.ends_with(&[1, 1, 2, 2, 3, 3, 4, 4].map(|object| vec![object])), "{multiplexed:?}");
    let ordered = late("connections = 1");
    assert!(ordered.contains(&vec![1, 2, 3, 4]), "one after the other, all wait for the first: {ordered:?}");
}

#[test]
fn streams_of_a_connection_share_its_path() {
    let page = "kind = 'web', root = '1 kB', objects = 6, object = '60 kB'";
    let [multiplexed, ordered] = ["multiplexed = true", "connections = 1"].map(|keys| {
        let result = simulate(&format!("initial_window = 'ns2_table'\napplication = {{ {page}, {keys} }}"), "'none'");
        assert_eq!(result.flows.len(), 1, "one connection");
        result.applications[0].transfers[1..].iter().map(|transfer| transfer.completed.unwrap().as_secs_f64()).collect::<Vec<_>>()
    });
    let spread = |times: &[f64]| times[5] - times[0];
    // Objects that take turns end together; the page is complete sooner, because no request waits for a response.
    assert!(spread(&multiplexed) < 0.05 && spread(&ordered) > 0.4, "{multiplexed:?} {ordered:?}");
    assert!(multiplexed[5] < ordered[5], "{multiplexed:?} {ordered:?}");
}

#[test]
fn streams_are_a_need_and_another_way_to_use_connections() {
    PROFILES.join(selective::PROFILES).unwrap();
    let text = format!("duration = '1 s'\n[[flow]]\nprofile = 'selective'\n{}\n", APPLICATIONS[4]);
    let frozen = Document::from_toml(&text, "t.toml").unwrap().frozen().unwrap();
    assert_eq!(Document::from_toml(&frozen, "frozen.toml").unwrap().frozen().unwrap(), frozen);
    assert!(frozen.contains("multiplexed = true"), "{frozen}");
    for (key, value) in [("connections", "2"), ("persistent", "false")] {
        let flow = format!("profile = 'selective'\n{}", APPLICATIONS[4].replace(" }", &format!(", {key} = {value} }}")));
        let message = read(&flow, "'none'").unwrap_err().to_string();
        let expected =
            format!("flow.0.application.{key}: cannot be combined with multiplexed, which has one persistent connection to each host");
        assert!(message.contains(&expected), "{message}");
    }
    // A scenario that was not read is checked by the engine.
    let mut scenario = read(&format!("profile = 'modern'\n{}", APPLICATIONS[3]), "'none'").unwrap();
    let ApplicationKind::Client(client) = &mut scenario.applications[0].kind else { panic!("a page") };
    client.multiplexed = true;
    let message = run(&scenario, &mut || false).unwrap_err().to_string();
    assert!(message.contains("needs a profile that carries several streams in a connection, but modern does not"), "{message}");
}

#[test]
fn a_message_names_the_capability_that_is_missing() {
    PROFILES.join(selective::PROFILES).unwrap();
    PROFILES.join(selective::PROFILES).unwrap();
    assert_eq!(profiles(), ["ns2", "modern", "selective"], "a list is joined once");
    let message = read(APPLICATIONS[2], "'none'").unwrap_err().to_string();
    let expected = "flow.0.application: needs a profile that carries data both ways, but ns2 does not; profiles that do: modern, selective";
    assert!(message.contains(expected), "{message}");
    let message = read(&format!("profile = 'modern'\n{}", APPLICATIONS[4]), "'none'").unwrap_err().to_string();
    let expected = "flow.0.application.multiplexed: needs a profile that carries several streams in a connection, but modern does not; \
                    profiles that do: selective";
    assert!(message.contains(expected), "{message}");
    let message = read("profile = 'selectiv'", "'none'").unwrap_err().to_string();
    assert!(message.contains("selective"), "{message}");
}
