//! Applications, from the scenario file to the results.

use ackclock_sim::engine::{Page, RunResult, Transfer, run};
use ackclock_sim::scenario::{Document, Scenario, Traffic};
use ackclock_sim::trace::SequenceKind;
use proptest::prelude::*;

/// A link of 10 ms without queue limit or loss, and these flows.
fn text(rate: &str, flows: &str) -> String {
    format!(
        "duration = \"60 s\"\n\
         topology = {{ kind = \"chain\", links = [{{ rate = \"{rate}\", delay = \"10 ms\", queue = \"unlimited\" }}] }}\n{flows}"
    )
}

fn scenario(text: &str) -> Scenario {
    Document::from_toml(text, "t.toml").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}"))
}

fn simulate(text: &str) -> RunResult {
    run(&scenario(text), &mut || false).unwrap()
}

fn message_of(text: &str) -> String {
    let result = Document::from_toml(text, "t.toml").and_then(|document| document.scenario());
    result.map_or_else(|error| error.to_string(), |_| panic!("this is sound:\n{text}"))
}

fn modern(application: &str) -> String {
    format!("[[flow]]\nname = \"a\"\nprofile = \"modern\"\nmodern.timestamps = false\napplication = {{ {application} }}\n")
}

/// Seconds from the queueing of a transfer to its end.
fn took(transfer: &Transfer) -> f64 {
    transfer.completed.unwrap().since(transfer.queued).as_secs_f64()
}

fn load_times(pages: &[Page]) -> Vec<f64> {
    pages.iter().map(|page| page.completed.unwrap().since(page.started).as_secs_f64()).collect()
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-8, "{value} instead of {expected}");
}

#[test]
fn an_exchange_takes_the_computed_time() {
    // At 8 Mbit/s a byte takes 1 µs. A SYN has 52 bytes (options: 4 for MSS, 3 for window scale, 2 for SACK permitted, padded to words of
    // 4), an ACK 40, a request 440, a full segment 1040.
    let result =
        simulate(&text("8 Mbit/s", &modern("kind = \"request-response\", response = \"5 kB\", exchanges = 3, think = \"100 ms\"")));
    let transfers = &result.applications[0].transfers;
    let (us, delay) = (1e-6, 10e-3);
    // SYN and SYN-ACK; the request, which carries the client's ACK; the server's ACK, which is sent at once at the start of a connection;
    // and five consecutive segments.
    let handshake = 2.0 * (52.0 * us + delay);
    let exchange = (440.0 + 40.0 + 5.0 * 1040.0) * us + 2.0 * delay;
    near(took(&transfers[0]), handshake + exchange);
    // On an open connection there is no handshake. The request carries the ACK of the last response, whose delay has passed.
    near(took(&transfers[1]), exchange);
    near(transfers[1].queued.as_secs_f64(), transfers[0].completed.unwrap().as_secs_f64() + 0.1);
    assert_eq!(transfers.len(), 3);
    // When the first byte arrives, the other four segments are still to come.
    let first = transfers[2].completed.unwrap().since(transfers[2].first_byte.unwrap()).as_secs_f64();
    near(first, 4.0 * 1040.0 * us);
}

#[test]
fn a_response_waits_for_the_server() {
    let exchange = |delay: &str| {
        let keys = format!("kind = \"request-response\", response = \"1 kB\", exchanges = 1, server_delay = \"{delay}\"");
        took(&simulate(&text("8 Mbit/s", &modern(&keys))).applications[0].transfers[0])
    };
    // The ACK of the request, 40 µs long, is sent while the server is busy.
    near(exchange("70 ms") - exchange("0 s"), 0.07 - 40e-6);
}

#[test]
fn without_persistent_connections_every_exchange_opens_one() {
    let keys = "kind = \"request-response\", response = \"5 kB\", exchanges = 3, persistent = false";
    let result = simulate(&text("8 Mbit/s", &modern(keys)));
    let times = load_times(&result.applications[0].pages);
    let handshake = 2.0 * (52e-6 + 10e-3);
    near(times[0], handshake + (440.0 + 40.0 + 5.0 * 1040.0) * 1e-6 + 20e-3);
    // The last ACK and FIN of a connection precede the SYN of the next: 2 · 40 bytes at the client.
    assert!(times[1..].iter().all(|time| (time - times[0]).abs() < 2.0 * 40e-6 + 1e-9), "{times:?}");
    assert_eq!(result.flows.len(), 3);
    assert!(result.flows.iter().all(|flow| flow.delivered_bytes == 5000 && flow.started.is_some()));
}

#[test]
fn a_page_needs_a_round_trip_for_the_root_and_one_for_the_objects() {
    // The link is so fast that only delays count, and responses fit in the initial window. Handshake and root take two round trips of 20
    // ms. Of six objects on six connections, one uses the open connection. Five wait for a handshake, which makes two more round trips.
    let keys = "kind = \"web\", root = \"2 kB\", objects = 6, object = \"3 kB\"";
    let result = simulate(&text("100 Gbit/s", &modern(keys)));
    let page = &result.applications[0].pages[0];
    assert_eq!((page.objects, page.bytes, result.flows.len()), (7, 20_000, 6));
    assert!((load_times(&result.applications[0].pages)[0] - 0.08).abs() < 1e-4);
    // With one connection, the objects follow each other, one round trip each.
    let single = simulate(&text("100 Gbit/s", &modern(&format!("{keys}, connections = 1"))));
    assert!((load_times(&single.applications[0].pages)[0] - 0.16).abs() < 1e-4);
    assert_eq!(single.flows.len(), 1);
    // Without persistence, each object needs a handshake.
    let closing = simulate(&text("100 Gbit/s", &modern(&format!("{keys}, connections = 1, persistent = false"))));
    assert!((load_times(&closing.applications[0].pages)[0] - 0.28).abs() < 1e-4);
    assert_eq!(closing.flows.len(), 7);
    // The time to parse the root is added.
    let slow = simulate(&text("100 Gbit/s", &modern(&format!("{keys}, parse = \"30 ms\""))));
    assert!((load_times(&slow.applications[0].pages)[0] - 0.11).abs() < 1e-4);
}

#[test]
fn pages_are_drawn_anew_and_arrive_whole() {
    let keys = "kind = \"web\", root = { kind = \"lognormal\", mean = \"20 kB\" }, objects = 5, object = { mean = \"8 kB\" }, pages = 9, \
                think = { kind = \"exponential\", mean = \"500 ms\" }, hosts = 2, connections = 2";
    let lossy = text("2 Mbit/s", &modern(keys)).replace("queue = \"unlimited\"", "queue = \"8 packets\", loss = \"1 %\"");
    let result = simulate(&lossy);
    let application = &result.applications[0];
    assert!(application.pages.len() == 9 && application.pages.iter().all(|page| page.completed.is_some()));
    assert!(result.flows.iter().map(|flow| flow.dropped_packets).sum::<u64>() > 0, "there are losses");
    let transferred: u64 = application.transfers.iter().map(|transfer| transfer.bytes).sum();
    assert_eq!(transferred, application.pages.iter().map(|page| page.bytes).sum::<u64>());
    assert_eq!(transferred, result.flows.iter().map(|flow| flow.delivered_bytes).sum::<u64>());
    let sizes: std::collections::BTreeSet<u64> = application.pages.iter().map(|page| page.bytes).collect();
    assert_eq!(sizes.len(), 9);
    // Every page requests its objects in order, and each object only after it is known.
    for page in &application.pages {
        let of_page: Vec<&Transfer> = application.transfers.iter().filter(|transfer| transfer.page == page.page).collect();
        assert_eq!(of_page.iter().map(|transfer| transfer.object).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert!(of_page[1..].iter().all(|transfer| transfer.queued == of_page[0].completed.unwrap()));
    }
    assert_eq!(simulate(&lossy).digest(), result.digest());
    assert_ne!(simulate(&lossy.replace("duration", "seed = 2\nduration")).digest(), result.digest());
}

#[test]
fn bursts_take_turns_with_pauses() {
    for profile in ["ns2", "modern"] {
        let flow = format!(
            "[[flow]]\nprofile = \"{profile}\"\nstart = \"1 s\"\nstop = \"30 s\"\n\
             application = {{ kind = \"on-off\", burst = {{ mean = \"40 kB\" }}, pause = {{ mean = \"1 s\" }} }}"
        );
        let result = simulate(&text("2 Mbit/s", &flow).replace("queue = \"unlimited\"", "queue = \"8 packets\""));
        let bursts = &result.applications[0].transfers;
        assert!(bursts.len() > 10 && bursts.iter().all(|burst| burst.completed.is_some()), "{profile}: {}", bursts.len());
        assert!(bursts.windows(2).all(|pair| pair[0].completed < Some(pair[1].queued)));
        assert_eq!(bursts[0].queued.as_nanos(), 1_000_000_000);
        assert!(bursts.last().unwrap().queued.as_secs_f64() < 30.0);
        let packets: u64 = bursts.iter().map(|burst| burst.bytes / 1000).sum();
        assert_eq!(result.flows[0].delivered_packets, packets, "{profile}");
        assert!(result.flows[0].retransmitted_packets > 0, "{profile}: the queue is short");
    }
}

#[test]
fn datagrams_take_their_share() {
    let flows =
        "[[flow]]\nstart = \"2 s\"\nstop = \"12 s\"\npacket_size = \"972 B\"\napplication = { kind = \"cbr\", rate = \"1 Mbit/s\" }";
    let result = simulate(&text("8 Mbit/s", flows));
    // 1000 bytes on the wire each: 125 datagrams a second, of 1 ms each, or ten seconds of sixty at an eighth of the rate.
    let flow = &result.flows[0];
    assert_eq!((flow.sent_packets, flow.delivered_packets, flow.delivered_bytes), (1250, 1250, 1250 * 972));
    near(result.links[0].utilisation, 10.0 / 60.0 / 8.0);
    assert!(flow.cwnd_max.is_nan());
    // Packets beyond the link's capacity are lost, and no sender slows down.
    let flood = simulate(&text("500 kbit/s", flows).replace("queue = \"unlimited\"", "queue = \"5 packets\""));
    let (sent, lost) = (flood.flows[0].sent_packets, flood.flows[0].dropped_packets);
    assert_eq!(sent, 1250);
    // Ten seconds carry 625 datagrams of 16 ms. At the end five more wait, and one is in transmission.
    assert!((sent - lost).abs_diff(625 + 5) <= 1, "{lost} of {sent} lost");
}

#[test]
fn a_window_that_is_filled_grows() {
    // Ten segments of 1000 bytes fill the initial window of RFC 6928, nine do not. RFC 9002 §7.8; RFC 7661 §4.4.2.
    let window = |response: &str| {
        let keys = format!("kind = \"request-response\", response = \"{response}\", exchanges = 5");
        simulate(&text("8 Mbit/s", &modern(&keys))).flows[0].cwnd_max
    };
    near(window("9 kB"), 10.0);
    // The window grows by one for each of the ten segments acknowledged, and then ten segments no longer fill it.
    near(window("10 kB"), 20.0);
}

#[test]
fn a_first_response_is_spread_over_the_round_trip() {
    // Ten segments are spread over the handshake's round trip, for any window. At the server this is the round trip of the SYN-ACK (52
    // bytes) and of the request that carries its ACK (440 bytes). At an ns2 sender it is that of the SYN and its ACK, 40 bytes each.
    let keys = modern("kind = \"request-response\", response = \"10 kB\", exchanges = 1");
    for flow in [
        format!("{keys}initial_window = \"64 segments\"\ninitial_pacing = \"rtt\""),
        "[[flow]]\ninitial_window = \"64 segments\"\ninitial_pacing = \"rtt\"\nstop = \"1 s\"\n\
         application = { kind = \"on-off\", burst = \"10 kB\", pause = \"9 s\" }"
            .to_owned(),
    ] {
        let result = simulate(&format!("record = [\"sequence\"]\n{}", text("8 Mbit/s", &flow)));
        let sequence = result.traces.sequence.as_ref().unwrap();
        let rows = sequence.time.iter().zip(&sequence.seq).zip(&sequence.kind);
        let sent: Vec<u64> =
            rows.filter(|((_, seq), kind)| **kind == SequenceKind::Send && **seq > 0).map(|((time, _), _)| *time).collect();
        // Then the connection can close, with a segment for the FIN.
        let sent = &sent[..10];
        let round_trip = if result.applications[0].pages.is_empty() { 20_080_000 } else { 20_492_000 };
        assert!(sent.windows(2).all(|pair| pair[1] - pair[0] == round_trip / 10), "{sent:?}");
    }
}

#[test]
fn later_responses_are_not_spread() {
    // The second of two responses comes after the first round trip and leaves at the line's rate.
    let keys = modern("kind = \"request-response\", response = \"10 kB\", exchanges = 2");
    let took = |pacing: &str| {
        let flow = format!("{keys}initial_window = \"64 segments\"\ninitial_pacing = \"{pacing}\"");
        load_times(&simulate(&text("8 Mbit/s", &flow)).applications[0].pages)
    };
    let (paced, plain) = (took("rtt"), took("none"));
    near(paced[1], plain[1]);
    // Nine gaps of a tenth of 20.492 ms replace nine segments of 1.04 ms. The ACK of the request (40 µs) no longer delays the last segment.
    near(paced[0] - plain[0], 9.0 * (2.0492e-3 - 1.04e-3) - 40e-6);
}

#[test]
fn frozen_applications_are_the_same() {
    let web = "kind = \"web\", root = { kind = \"pareto\", mean = \"9 kB\" }, objects = 3, object = \"4 packets\", hosts = 2, pages = 2, \
               think = { kind = \"lognormal\", mean = \"10 ms\" }, parse = \"1 ms\", persistent = false";
    let listed = "kind = \"web\", contents = [{ response = \"3 kB\" }, { response = \"1 kB\", host = 1, request = \"90 B\" }]";
    let endless = "kind = \"request-response\", response = { kind = \"empirical\", sizes = [\"1 kB\", \"9 kB\"], weights = [2, 0.1] }";
    let single = "[[flow]]\nname = \"b\"\nstop = \"9 s\"\napplication = { kind = \"on-off\", burst = \"9 kB\", pause = \"10 ms\" }\n\
                  [[flow]]\nname = \"c\"\ncount = 2\nstart_jitter = \"1 s\"\n\
                  application = { kind = \"cbr\", rate = \"30 kbit/s\", on = \"1 s\", off = { mean = \"2 s\" } }";
    for flows in [modern(web), modern(listed), modern(endless), single.to_owned()] {
        let document = Document::from_toml(&text("2 Mbit/s", &flows), "t.toml").unwrap();
        let frozen = document.frozen().unwrap();
        let again = Document::from_toml(&frozen, "t.toml").unwrap();
        assert_eq!(again.frozen().unwrap(), frozen);
        let digest = |document: &Document| run(&document.scenario().unwrap(), &mut || false).unwrap().digest();
        assert_eq!(digest(&document), digest(&again), "{frozen}");
    }
}

#[test]
fn mistakes() {
    let flow = |keys: &str| text("1 Mbit/s", &format!("[[flow]]\n{keys}"));
    let web = |keys: &str| flow(&format!("profile = \"modern\"\napplication = {{ kind = \"web\", {keys} }}"));
    let cases = [
        (
            flow("application = { kind = \"web\", root = \"1 kB\" }"),
            "t.toml:4: flow.0.application: needs a profile that carries data both ways, but ns2 does not; profiles that do: modern",
        ),
        (
            flow("size = \"1 kB\"\napplication = { kind = \"on-off\", burst = \"1 kB\", pause = \"1 s\" }"),
            "t.toml:4: flow.0.size: applies to bulk transfers only, but the application is on-off",
        ),
        (flow("application = { kind = \"on-off\", burst = \"1 kB\" }"), "t.toml:4: flow.0.application.pause: is missing; example: \"1 s\""),
        (
            flow("application = { kind = \"on-off\", burst = 5, pause = \"1 s\" }"),
            "t.toml:4: flow.0.application.burst: an amount of data needs a unit; did you mean \"5 packets\"?",
        ),
        (
            flow("application = { kind = \"on-off\", burst = \"1 kB\", pause = \"1 kB\" }"),
            "t.toml:4: flow.0.application.pause: unknown unit \"kB\" for a time (known: ns, us, ms, s, min, h)",
        ),
        (
            flow("application = { kind = \"on-off\", burst = [], pause = \"1 s\" }"),
            "t.toml:4: flow.0.application.burst: must be a quantity, or a table with its kind, but is a list",
        ),
        (
            flow("application = { kind = \"wev\" }"),
            "t.toml:4: flow.0.application.kind: there is no application \"wev\"; did you mean \"web\"? (known: bulk, on-off, request-response, web, player, frames, cbr)",
        ),
        (
            flow("recovery = \"reno\"\napplication = { kind = \"cbr\", rate = \"1 Mbit/s\" }"),
            "t.toml:4: flow.0.recovery: applies to TCP only, but the application sends datagrams",
        ),
        (
            flow("application = { kind = \"cbr\", rate = \"1 Mbit/s\", on = \"1 s\" }"),
            "t.toml:4: flow.0.application.off: is missing: on and off must be given together",
        ),
        (
            flow("profile = \"modern\"\napplication = { kind = \"request-response\", response = \"1 kB\", persistent = false }"),
            "t.toml:5: flow.0.application.exchanges: is missing: without persistent connections each exchange opens one, so their number must be known",
        ),
        (web("pages = 2"), "t.toml:5: flow.0.application.root: is missing: give root = \"30 kB\", or the page's contents, or a har file"),
        (web("root = \"1 kB\", objects = 3"), "t.toml:5: flow.0.application.object: is missing: give the size of the objects"),
        (
            web("root = \"1 kB\", multiplexed = true"),
            "t.toml:5: flow.0.application.multiplexed: needs a profile that carries several streams in a connection, but modern does not; no profile here does",
        ),
        (
            web("root = \"1 kB\", contents = [{ response = \"1 kB\" }]"),
            "t.toml:5: flow.0.application.contents: cannot be combined with root, which already describes the page",
        ),
        (
            web("contents = [{ response = \"1 kB\" }], hosts = 3"),
            "t.toml:5: flow.0.application.hosts: cannot be combined with contents, which defines it",
        ),
        (
            web("root = \"1 kB\", persistent = false, objects = 999999, object = \"1 B\", pages = 3"),
            "t.toml:5: flow.0.application: makes 3000000 connections; a scenario can have at most 2000000 flows",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(message_of(&text), message);
    }
    let twice = |first: &str, second: &str| message_of(&text("1 Mbit/s", &format!("{}{}", modern(first), modern(second))));
    assert_eq!(
        twice("kind = \"web\", root = \"1 kB\", objects = 2, object = \"1 kB\"", "kind = \"request-response\", response = \"1 kB\""),
        "t.toml:9: flow.1.name: there is already a flow \"a\""
    );
    assert_eq!(message_of(&web("root = \"0 B\"")), "t.toml:5: flow.0.application.root: must be at least 1 B, but is \"0 B\"");
    let missing = message_of(&web("har = \"no/such.har\""));
    assert!(missing.starts_with("t.toml:5: flow.0.application.har: cannot read no/such.har: "), "{missing}");
}

fn any_sizes() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec!["fixed", "exponential", "pareto", "lognormal"]);
    (kind, 1..40_000_u32).prop_map(|(kind, mean)| format!("{{ kind = '{kind}', mean = '{mean} B' }}"))
}

fn any_application() -> impl Strategy<Value = String> {
    let think = prop::sample::select(vec!["'0 s'", "'70 ms'", "{ mean = '50 ms' }"]);
    let web = (any_sizes(), any_sizes(), (0..12_u32, 1..4_u32, 1..7_u32, 1..4_u32), any::<bool>(), think.clone(), 0..30_u32);
    let web = web.prop_map(|(root, object, (objects, hosts, connections, pages), persistent, think, delay)| {
        let object = if objects > 0 { format!("objects = {objects}, object = {object}, ") } else { String::new() };
        format!(
            "profile = 'modern'\napplication = {{ kind = 'web', root = {root}, {object}hosts = {hosts}, connections = {connections}, \
             pages = {pages}, persistent = {persistent}, think = {think}, parse = '{delay} ms', server_delay = '{delay} ms' }}"
        )
    });
    let exchanges = (any_sizes(), 1..9_u32, any::<bool>(), think.clone(), 1..9000_u32);
    let exchanges = exchanges.prop_map(|(response, count, persistent, think, request)| {
        format!(
            "profile = 'modern'\napplication = {{ kind = 'request-response', response = {response}, request = '{request} B', \
             exchanges = {count}, persistent = {persistent}, think = {think} }}"
        )
    });
    let profile = prop::sample::select(vec!["modern", "ns2"]);
    let bursts = (profile, any_sizes(), think).prop_map(|(profile, burst, pause)| {
        format!("profile = '{profile}'\nstop = '2 s'\napplication = {{ kind = 'on-off', burst = {burst}, pause = {pause} }}")
    });
    let datagrams = (1..3000_u32, 1..900_u32, 0..3_usize).prop_map(|(rate, stop, periods)| {
        let periods = ["", ", on = { mean = '50 ms' }, off = '30 ms'", ", on = '0 s', off = '0 s'"][periods];
        format!("stop = '{stop} ms'\napplication = {{ kind = 'cbr', rate = '{rate} kbit/s'{periods} }}")
    });
    prop_oneof![4 => web, 2 => exchanges, 2 => bursts, 1 => datagrams]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_application_gets_the_data_it_requests(
        applications in prop::collection::vec((any_application(), 1..3_u32), 1..4), queue in 2..40_u32, loss in 0..20_u32, seed in 1..1000_u32
    ) {
        let flows = applications.iter().map(|(application, count)| format!("[[flow]]\ncount = {count}\n{application}\n"));
        let text = format!(
            "duration = '100000 s'\nseed = {seed}\n\
             topology.bottleneck = {{ rate = '2 Mbit/s', delay = '5 ms', queue = '{queue} packets', loss = '{loss} %' }}\n{}",
            flows.collect::<String>()
        );
        let document = Document::from_toml(&text, "t.toml").unwrap();
        let scenario = document.scenario().unwrap();
        let result = run(&scenario, &mut || false).unwrap();
        // There are losses, and only the applications' requests limit the data. Every byte requested arrives, and no other byte.
        for (spec, application) in scenario.applications.iter().zip(&result.applications) {
            let flows = &result.flows[spec.flows.clone()];
            prop_assert!(application.transfers.iter().all(|transfer| transfer.completed.is_some()), "{}", text);
            prop_assert!(application.pages.iter().all(|page| page.completed.is_some()), "{}", text);
            for transfer in &application.transfers {
                prop_assert!(Some(transfer.queued) <= transfer.requested && transfer.requested < transfer.first_byte);
                prop_assert!(transfer.first_byte <= transfer.completed);
            }
            let Traffic::Connection(_) = scenario.flows[spec.flows.start].traffic else { continue };
            for (number, flow) in flows.iter().enumerate() {
                let carried = application.transfers.iter().filter(|transfer| transfer.connection == Some(number as u32));
                prop_assert_eq!(carried.map(|transfer| transfer.bytes).sum::<u64>(), flow.delivered_bytes, "{}", text);
            }
        }
        let again = Document::from_toml(&document.frozen().unwrap(), "t.toml").unwrap();
        prop_assert_eq!(run(&again.scenario().unwrap(), &mut || false).unwrap().digest(), result.digest(), "{}", text);
    }
}
