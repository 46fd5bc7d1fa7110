use ackclock_core::params::Value;
use ackclock_core::units::{Limit, Rate};
use ackclock_tcp::modern::Feedback;

use super::*;

pub(super) fn document(text: &str) -> Document {
    Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn scenario(text: &str) -> Scenario {
    document(text).scenario().unwrap_or_else(|error| panic!("{error}"))
}

fn errors(text: &str) -> String {
    let result = Document::from_toml(text, "t.toml").and_then(|document| document.scenario());
    result.map_or_else(|error| error.to_string(), |_| panic!("this is a sound scenario:\n{text}"))
}

/// All slow starts, in the registry's order.
fn slow_starts() -> Vec<&'static str> {
    ackclock_core::cc::slow_start::ENTRIES.iter().map(|entry| entry.name).collect()
}

pub(super) fn limit(link: &LinkSpec) -> Limit {
    link.queue.as_ref().unwrap().discipline.params.limit("limit")
}

fn link_names(scenario: &Scenario) -> Vec<&str> {
    scenario.links.iter().map(|link| link.name.as_str()).collect()
}

pub(super) fn composed(flow: &FlowSpec) -> &ComposedSpec {
    match &flow.control {
        ControlSpec::Composed(spec) => spec,
        other => panic!("{other:?}"),
    }
}

pub(super) const ONE: &str = "duration = \"10 s\"\n[flow]\n";

/// One scenario with its message for every kind of mistake.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of all messages")]
fn mistakes() {
    let flow = |line: &str| format!("{ONE}{line}");
    let bottleneck = |entries: &str| format!("duration = \"1 s\"\ntopology.bottleneck = {{ {entries} }}\n[flow]\n");
    let cases: Vec<(String, &str)> = vec![
        ("flow = {}".to_owned(), "t.toml: duration: is missing; example: \"30 s\""),
        ("duration = \"1 s\"".to_owned(), "t.toml: flow: is missing; example: [[flow]]"),
        ("duration = 30\nflow = {}".to_owned(), "t.toml:1: duration: a time needs a unit; did you mean \"30 s\"?"),
        ("duration = \"0 s\"\nflow = {}".to_owned(), "t.toml:1: duration: must be above 0 s, but is \"0 s\""),
        ("duration = \"1e10 s\"\nflow = {}".to_owned(), "t.toml:1: duration: must be at most 1e9 s, but is \"1e10 s\""),
        (
            flow("slow_start = \"standart\""),
            "t.toml:3: flow.0.slow_start: there is no slow start \"standart\"; did you mean \"standard\"? (known: {slow_starts})",
        ),
        (
            flow("slow_start = 3"),
            "t.toml:3: flow.0.slow_start: must be the name of a slow start or a table with its kind, but is the number 3",
        ),
        (flow("initial_window = 10"), "t.toml:3: flow.0.initial_window: a number of segments needs a unit; did you mean \"10 segments\"?"),
        (
            flow("initial_window = \"0 segments\""),
            "t.toml:3: flow.0.initial_window: must be from 1 to 1000000 segments, but is \"0 segments\"",
        ),
        (
            flow("slow_start = { kind = \"limited\", max_ssthresh = 50 }"),
            "t.toml:3: flow.0.slow_start.max_ssthresh: a number of segments needs a unit; did you mean \"50 segments\"?",
        ),
        (
            flow("slow_start = { kind = \"limited\", max_sstresh = \"50 segments\" }"),
            "t.toml:3: flow.0.slow_start.max_sstresh: the slow start \"limited\" has no parameter \"max_sstresh\"; did you mean \"max_ssthresh\"? (known: max_ssthresh)",
        ),
        (
            flow("slow_start = { max_ssthresh = \"50 segments\" }"),
            "t.toml:3: flow.0.slow_start.max_ssthresh: the slow start \"standard\" has no parameter \"max_ssthresh\"; kinds that have it: limited, limited_ns2, staged (known: none)",
        ),
        (
            flow("slow_start = { kind = \"staged\", algorithm = 5 }"),
            "t.toml:3: flow.0.slow_start.algorithm: there is no algorithm \"5\" (known: 1, 2, 3, 4)",
        ),
        (
            flow("slow_start = { kind = \"staged\", increments = [1.0, nan] }"),
            "t.toml:3: flow.0.slow_start.increments: must be a finite number, but is NaN",
        ),
        (
            flow("slow_start = { kind = \"staged\", boundaries = [5, 4, 6, 7] }"),
            "t.toml:3: flow.0.slow_start: boundaries must be in ascending order",
        ),
        (flow("rwnd = 20"), "t.toml:3: flow.0.rwnd: a number of packets needs a unit; did you mean \"20 packets\"?"),
        (flow("rwnd = true"), "t.toml:3: flow.0.rwnd: must be a number of packets such as \"10 packets\", but is true"),
        (
            flow("rwmd = \"20 packets\""),
            "t.toml:3: flow.0.rwmd: there is no key \"rwmd\"; did you mean \"rwnd\"? (known: name, count, from, to, start, start_spread, start_jitter, arrivals, application, stop, size, profile, host, recovery, packet_size, initial_ssthresh, ecn, initial_window, initial_pacing, slow_start, avoidance, loss_response, congestion_control, modern, and 11 more)",
        ),
        (flow("delayed_ack = \"yes\""), "t.toml:3: flow.0.delayed_ack: must be true or false, but is the text \"yes\""),
        (
            flow("recovery = \"new_reno\""),
            "t.toml:3: flow.0.recovery: there is no recovery \"new_reno\"; did you mean \"newreno\"? (known: tahoe, reno, newreno, sack, vegas)",
        ),
        (flow("count = 0"), "t.toml:3: flow.0.count: must be a whole number from 1 to 2000000, but is 0"),
        (flow("count = 1.5"), "t.toml:3: flow.0.count: must be a whole number, but is the number 1.5"),
        (flow("name = \" \""), "t.toml:3: flow.0.name: must not be empty"),
        (
            flow("packet_size = \"64 kbit/s\""),
            "t.toml:3: flow.0.packet_size: unknown unit \"kbit/s\" for a size (known: B, kB, MB, GB, TB, KiB, MiB, GiB)",
        ),
        (flow("packet_size = \"70 kB\""), "t.toml:3: flow.0.packet_size: must be at most 65495 B, but is \"70 kB\""),
        (
            flow("start = \"2 s\"\nstop = \"1 s\""),
            "t.toml:4: flow.0.stop: must be later than the sum of start, start_spread, start_jitter and start_offset",
        ),
        (
            format!("start_offset = \"1 s\"\n{}", flow("start = \"1 s\"\nstop = \"2 s\"")),
            "t.toml:5: flow.0.stop: must be later than the sum of start, start_spread, start_jitter and start_offset",
        ),
        (
            format!("start_offset = \"1 s\"\n{}", flow("start = \"1e9 s\"")),
            "t.toml:4: flow.0.start: with start_spread, start_jitter and start_offset, must be at most 1e9 s",
        ),
        (
            format!("start_ofset = \"1 s\"\n{}", flow("")),
            "t.toml:1: start_ofset: there is no key \"start_ofset\"; did you mean \"start_offset\"? (known: name, duration, seed, start_offset, record, topology, flow, sweep)",
        ),
        (format!("start_offset = 5\n{}", flow("")), "t.toml:1: start_offset: a time needs a unit; did you mean \"5 s\"?"),
        (flow("start = \"-2 s\""), "t.toml:3: flow.0.start: a time must not be negative, but is \"-2 s\""),
        (flow("clock_phase = \"10 ms\""), "t.toml:3: flow.0.clock_phase: must be below clock_granularity"),
        (flow("min_rto = \"61 s\""), "t.toml:3: flow.0.min_rto: must not be above max_rto"),
        (flow("from = \"n9\""), "t.toml:3: flow.0.from: there is no node \"n9\" (known: n0, n1, n2, n3)"),
        (flow("from = \"n1\"\nto = \"n1\""), "t.toml:4: flow.0.to: must not be the node of from: a flow connects two nodes"),
        (flow("from = \"n3\""), "t.toml:2: flow.0: starts and ends at \"n3\": a flow connects two nodes"),
        (
            flow("congestion_control = \"python\""),
            "t.toml:3: flow.0.congestion_control: only the Python API can set this value; in a file, name a control or set its parts: initial_window, slow_start, avoidance, loss_response",
        ),
        (
            flow("congestion_control = \"bbrr\""),
            "t.toml:3: flow.0.congestion_control: there is no congestion control \"bbrr\"; did you mean \"bbr\"? (known: bbr, bbr1, copa, vivace, composed, python, python_slow_start)",
        ),
        (
            flow("congestion_control = \"bbr\"\navoidance = \"cubic\""),
            "t.toml:4: flow.0.avoidance: cannot be combined with congestion_control, which replaces it",
        ),
        (bottleneck("rate = \"0 bit/s\""), "t.toml:2: topology.bottleneck.rate: must be from 1 to 1e15 bit/s, but is \"0 bit/s\""),
        (
            bottleneck("rate = \"10 Mb/s\""),
            "t.toml:2: topology.bottleneck.rate: unknown unit \"Mb/s\" for a rate; did you mean \"Mbit/s\"? (known: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s)",
        ),
        (bottleneck("delay = 5"), "t.toml:2: topology.bottleneck.delay: a time needs a unit; did you mean \"5 ms\"?"),
        (bottleneck("delay = \"1e7 s\""), "t.toml:2: topology.bottleneck.delay: must be from 0 to 1e6 s, but is \"1e7 s\""),
        (bottleneck("queue = 50"), "t.toml:2: topology.bottleneck.queue: a queue limit needs a unit; did you mean \"50 packets\"?"),
        (
            bottleneck("queue = \"0 packets\""),
            "t.toml:2: topology.bottleneck.queue: must be from 1 to 1000000000000000, but is \"0 packets\"",
        ),
        (bottleneck("queue = \"0 BDP\""), "t.toml:2: topology.bottleneck.queue: a queue limit must be above 0 BDP and at most 1e9 BDP"),
        (
            bottleneck("queue = \"redd\""),
            "t.toml:2: topology.bottleneck.queue: there is no queue \"redd\"; did you mean \"red\"? (known: droptail, headdrop, red, red_notify, choke, sfb, fq, sfq, pi, vq, rem, gk, drr, srr, codel, cobalt, fq_cobalt, cake, fq_codel, pie, fq_pie, dualpi2, tbf, policer, and 7 more)",
        ),
        (bottleneck("loss = 0.1"), "t.toml:2: topology.bottleneck.loss: a probability needs a unit: is it \"10 %\" or \"0.1 %\"?"),
        (bottleneck("loss = \"101 %\""), "t.toml:2: topology.bottleneck.loss: must be from 0 to 100 %, but is \"101 %\""),
        (
            bottleneck("loss = { rate = \"1 %\", postion = \"after\" }"),
            "t.toml:2: topology.bottleneck.loss.postion: the loss model \"bernoulli\" has no parameter \"postion\"; did you mean \"position\"? (known: rate, position, generator, seed, stream, skip)",
        ),
        (
            "duration = \"1 s\"\nflow = {}\ntopology.kind = \"dumbell\"".to_owned(),
            "t.toml:3: topology.kind: there is no topology \"dumbell\"; did you mean \"dumbbell\"? (known: chain, dumbbell, parking-lot, explicit)",
        ),
        (
            "duration = \"1 s\"\nflow = {}\ntopology.botleneck.rate = \"1 Mbit/s\"".to_owned(),
            "t.toml:3: topology.botleneck: there is no key \"botleneck\"; did you mean \"bottleneck\"? (known: kind, path, access, bottleneck, links)",
        ),
        (
            "duration = \"1 s\"\nflow = {}\ntopology.links = []".to_owned(),
            "t.toml:3: topology.links: needs at least one entry: [[topology.links]]",
        ),
        (
            "duration = \"1 s\"\nflow = {}\ntopology.links = [{}]\ntopology.access.rate = \"1 Mbit/s\"".to_owned(),
            "t.toml:4: topology.access: cannot be combined with links, which lists all links of the chain",
        ),
        (
            "duration = \"1 s\"\ntopology = { kind = \"parking-lot\", hops = 2000000 }\nflow = {}".to_owned(),
            "t.toml:2: topology: has 12000004 links; the limit is 10000000",
        ),
        (
            "duration = \"1 s\"\ntopology = { kind = \"dumbbell\", hops = 3 }\nflow = {}".to_owned(),
            "t.toml:2: topology.hops: a topology of kind \"dumbbell\" has no \"hops\"; kinds that have it: parking-lot (known: kind, pairs, path, access, bottleneck, access_delays)",
        ),
        ("duration = \"1 s\"\nflow = [{ count = 2000000 }, {}]".to_owned(), "t.toml:2: flow: makes 2000001 flows; the limit is 2000000"),
        ("duration = \"1 s\"\nflow = []".to_owned(), "t.toml:2: flow: needs at least one entry: [[flow]]"),
        (
            "duration = \"1 s\"\nflow = [{ name = \"a\" }, { name = \"a\" }]".to_owned(),
            "t.toml:2: flow.1.name: there is already a flow \"a\"",
        ),
        (
            "duration = \"1 s\"\nflow = {}\nrecord = [\"cwdn\"]".to_owned(),
            "t.toml:3: record.0: there is no record \"cwdn\"; did you mean \"cwnd\"? (known: cwnd, delivered, queue, drops, marks, sojourn, discipline, sequence, rtt, recovery, flight, lost, internals)",
        ),
        (
            "duration = \"1 s\"\nflow = {}\nseed = -1".to_owned(),
            "t.toml:3: seed: must be a whole number from 0 to 18446744073709551615, but is -1",
        ),
        ("duration = \"1 s\"\nflow = {}\nsweep = 1".to_owned(), "t.toml:3: sweep: must be a table, but is the number 1"),
        (
            "duration = \"1 s\"\nflow = 1 2\n".to_owned(),
            "t.toml:2:8: this is not TOML: string values must be quoted, expected literal string",
        ),
    ];
    let cases = cases.into_iter().chain([
        (
            flow("ecn = \"acurate\""),
            "t.toml:3: flow.0.ecn: there is no ecn \"acurate\"; did you mean \"accurate\"? (known: classic, accurate, dctcp)",
        ),
        (flow("ecn = 1"), "t.toml:3: flow.0.ecn: must be true, false or a text, but is the number 1"),
        (
            flow("ecn = \"accurate\""),
            "t.toml:3: flow.0.ecn: accurate requires profile = \"modern\"; ns2 hosts have classic feedback only: ecn = true",
        ),
    ]);
    let slow_starts = slow_starts().join(", ");
    for (text, expected) in cases {
        assert_eq!(errors(&text), expected.replace("{slow_starts}", &slow_starts), "\n{text}");
    }
}

#[test]
fn the_feedback_of_ecn_survives_freezing() {
    for (written, feedback) in [
        ("false", None),
        ("true", Some(Feedback::Classic)),
        ("\"classic\"", Some(Feedback::Classic)),
        ("\"accurate\"", Some(Feedback::Accurate)),
        ("\"dctcp\"", Some(Feedback::Dctcp)),
    ] {
        let text = format!("{ONE}profile = \"modern\"\necn = {written}\nmodern = {{ ecn_option = false }}\n");
        let frozen = document(&text).frozen().unwrap();
        let hosts = [&text, &frozen].map(|text| scenario(text).flows[0].host.as_modern().unwrap().clone());
        assert_eq!(hosts.clone().map(|host| host.ecn), [feedback; 2]);
        // Only accurate feedback has the option.
        assert_eq!(hosts.map(|host| host.ecn_option), [false, feedback != Some(Feedback::Accurate)], "{frozen}");
    }
}

#[test]
fn what_a_router_approves_survives_freezing() {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nlinks = [{ quick_start = \"12 Mbit/s\" }]\n[flow]\n";
    let frozen = document(text).frozen().unwrap();
    let approved = [text, &frozen].map(|text| scenario(text).links.into_iter().map(|link| link.quick_start).collect::<Vec<_>>());
    assert_eq!(approved, [[Rate::from_bits_per_sec(12_000_000), None]; 2], "{frozen}");
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_lines() {
    let text = "seed = \"x\"\nduration = 30\n[[flow]]\nrwnd = 1\nto = \"n7\"\n[[flow]]\nname = \"a\"\nslow_stat = \"staged\"\n";
    let messages = errors(text);
    let places: Vec<&str> = messages.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(places, ["seed", "duration", "flow.0.rwnd", "flow.0.to", "flow.1.slow_stat"], "{messages}");
}

#[test]
fn explicit_topologies_are_checked() {
    let text =
        |links: &str| format!("duration = \"1 s\"\nflow = {{}}\n[topology]\nkind = \"explicit\"\nnode = [\"a\", \"b\", \"c\"]\n{links}");
    let link = |from: &str, to: &str, rest: &str| format!("[[topology.link]]\nfrom = \"{from}\"\nto = \"{to}\"\n{rest}");
    let sound = link("a", "b", "") + &link("b", "c", "");
    assert_eq!(link_names(&scenario(&text(&sound))), ["a>b", "b>a", "b>c", "c>b"]);
    assert_eq!(errors(&text(&link("a", "d", ""))), "t.toml:8: topology.link.0.to: there is no node \"d\" (known: a, b, c)");
    assert_eq!(
        errors(&text(&(sound.clone() + &link("b", "a", "reverse = \"none\"\n")))),
        "t.toml:12: topology.link.2: there is already a link between these nodes (line 6); a link has both directions unless its reverse is \"none\""
    );
    assert_eq!(errors(&text(&link("a", "a", ""))), "t.toml:8: topology.link.0.to: must not be the node of from: a link joins two nodes");
    assert_eq!(
        errors(&text(&(link("a", "b", "") + &link("b", "c", "reverse = \"none\"\n")))),
        "t.toml:2: flow.0: there is no route from \"c\" to \"a\": a flow needs a route for data and one for ACKs"
    );
    assert_eq!(
        errors(&text(&link("a", "b", "reverse = \"nome\"\n"))),
        "t.toml:9: topology.link.0.reverse: must be \"none\" or a table, but is the text \"nome\""
    );
    let twice =
        "duration = \"1 s\"\nflow = {}\ntopology = { kind = \"explicit\", node = [\"a\", \"a\"], link = { from = \"a\", to = \"a\" } }";
    assert!(errors(twice).starts_with("t.toml:3: topology.node.1: there is already a node \"a\""));
}

#[test]
fn defaults_make_a_chain_of_three_links() {
    let scenario = scenario(ONE);
    assert_eq!((scenario.name.as_str(), scenario.seed, scenario.duration.as_nanos()), ("t", 1, 10_000_000_000));
    assert_eq!(link_names(&scenario), ["n0>n1", "n1>n0", "n1>n2", "n2>n1", "n2>n3", "n3>n2"]);
    assert_eq!(limit(&scenario.links[2]), Limit::Packets(50));
    assert!([0, 1, 3, 4, 5].iter().all(|index| scenario.links[*index].queue.is_none()));
    assert_eq!(scenario.links[2].rate.mean().as_bits_per_sec(), 10_000_000);
    assert_eq!(scenario.links[0].rate.mean().as_bits_per_sec(), 100_000_000);
    let flow = &scenario.flows[0];
    assert_eq!((flow.name.as_str(), flow.from, flow.to), ("flow0", 0, 3));
    assert_eq!((flow.stop, flow.packets, flow.host.as_ns2().unwrap().rwnd), (None, None, 1000));
    assert!((flow.initial_ssthresh - 1000.0).abs() < 1e-9);
    let control = composed(flow);
    assert_eq!((control.initial_window.name, control.slow_start.name(), control.avoidance.name), ("ns2_table", "standard", "reno"));
    assert_eq!((&control.loss_response, flow.host.recovery()), (&None, "sack"));
}

#[test]
fn a_chain_may_have_any_links() {
    let text = "duration = \"1 s\"\nflow = {}\n[[topology.links]]\nrate = \"1 Mbit/s\"\n[[topology.links]]\ndelay = \"1 ms\"\nreverse = { rate = \"2 Mbit/s\", queue = \"64 kB\" }";
    let scenario = scenario(text);
    assert_eq!(link_names(&scenario), ["n0>n1", "n1>n0", "n1>n2", "n2>n1"]);
    assert_eq!(scenario.links[3].rate.mean().as_bits_per_sec(), 2_000_000);
    assert_eq!((scenario.links[3].delay.mean().as_nanos(), limit(&scenario.links[3])), (1_000_000, Limit::Bytes(64_000)));
    assert_eq!(scenario.flows[0].to, 2);
}

#[test]
fn a_dumbbell_has_a_pair_for_each_flow() {
    let text =
        "duration = \"1 s\"\ntopology = { kind = \"dumbbell\", access_delays = [\"1 ms\", \"2 ms\"] }\nflow = { count = 3, name = \"f\" }";
    let scenario = scenario(text);
    assert_eq!(scenario.nodes, ["r1", "r2", "s0", "s1", "s2", "d0", "d1", "d2"]);
    assert_eq!(link_names(&scenario)[..2], ["s0>r1", "r1>s0"]);
    assert_eq!(link_names(&scenario)[6..9], ["r1>r2", "r2>r1", "r2>d0"]);
    let delays: Vec<u64> = scenario.links.iter().step_by(2).map(|link| link.delay.mean().as_nanos() / 1_000_000).collect();
    assert_eq!(delays, [1, 2, 1, 10, 1, 2, 1]);
    let flows: Vec<_> = scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.from, flow.to)).collect();
    assert_eq!(flows, [("f0", 2, 5), ("f1", 3, 6), ("f2", 4, 7)]);
}

#[test]
fn a_parking_lot_has_a_long_pair_and_one_for_each_hop() {
    let scenario = scenario("duration = \"1 s\"\ntopology.kind = \"parking-lot\"\nflow = { count = 4 }");
    assert_eq!(scenario.nodes, ["r0", "r1", "r2", "s0", "d0", "s1", "d1", "s2", "d2"]);
    let forward: Vec<&str> = link_names(&scenario).into_iter().step_by(2).collect();
    assert_eq!(forward, ["r0>r1", "r1>r2", "s0>r0", "r2>d0", "s1>r0", "r1>d1", "s2>r1", "r2>d2"]);
    let ends: Vec<_> = scenario.flows.iter().map(|flow| (flow.from, flow.to)).collect();
    assert_eq!(ends, [(3, 4), (5, 6), (7, 8), (3, 4)]);
}

#[test]
fn a_bandwidth_delay_product_is_that_of_the_longest_flow_on_the_link() {
    // 10 Mbit/s × 60 ms = 75 000 B: 72.1 packets of 1040 B, 37.5 of 2000 B.
    let limit_of = |queue: &str, flow: &str| {
        let text = format!("duration = \"1 s\"\ntopology.bottleneck.queue = \"{queue}\"\nflow = {{ {flow} }}");
        limit(&scenario(&text).links[2])
    };
    assert_eq!(limit_of("1 BDP", ""), Limit::Packets(73));
    assert_eq!(limit_of("0.5 BDP", ""), Limit::Packets(37));
    assert_eq!(limit_of("1 BDP", "packet_size = \"1960 B\""), Limit::Packets(38));
    assert_eq!(limit_of("1 BDP", "packet_size = \"2960 B\""), Limit::Packets(25));
    assert_eq!(limit_of("0.001 BDP", ""), Limit::Packets(2));
    // On the first hop of a parking lot the long flow counts: 2 · (2 + 2) · 10 ms. On a link without flows all flows count.
    let text = "duration = \"1 s\"\ntopology = { kind = \"parking-lot\", bottleneck.queue = \"1 BDP\" }\nflow = { count = 2 }";
    assert_eq!(
        scenario(text)
            .links
            .iter()
            .filter_map(|link| link.queue.as_ref())
            .map(|queue| queue.discipline.params.limit("limit"))
            .collect::<Vec<_>>(),
        [Limit::Packets(97); 2]
    );
}

#[test]
fn flows_of_a_count_spread_their_starts() {
    let scenario =
        scenario("duration = \"1 s\"\nflow = [{ count = 4, start = \"1 s\", start_spread = \"2 s\" }, { start_jitter = \"1 s\" }]");
    let starts: Vec<u64> = scenario.flows.iter().map(|flow| flow.start.as_nanos() / 1_000_000).collect();
    assert_eq!(starts[..4], [1000, 1500, 2000, 2500]);
    let jitter = ackclock_core::rng::Generator::derived(1, "flow/flow4/start").uniform();
    assert_eq!(scenario.flows[4].start.as_nanos(), (jitter * 1e9) as u64);
}

#[test]
fn an_offset_is_added_to_every_start() {
    let text = |offset: &str, start: &str| {
        let spread = "count = 2, start_spread = '1 s', stop = '9 s'";
        format!(
            "name = 'offset'\nduration = '10 s'\n{offset}\nflow = [{{ start = '{start} ms', {spread} }}, {{ start = '{start} ms', \
             start_jitter = '1 s' }}, {{ start = '{start} ms', application = {{ kind = 'cbr', rate = '1 Mbit/s' }} }}, \
             {{ start = '{start} ms', arrivals = {{ rate = '2 per s', size = {{ mean = '9 kB' }}, until = '5 s' }} }}]"
        )
    };
    let frozen = |text: &str| Document::from_toml(text, "t.toml").and_then(|document| document.frozen()).unwrap();
    let moved = frozen(&text("start_offset = '30 ms'", "200"));
    assert_eq!(moved, frozen(&text("", "230")), "the frozen form has the sum");
    assert_ne!(moved, frozen(&text("", "200")));
    assert!(!moved.contains("offset ="), "{moved}");
    let scenario = scenario(&text("start_offset = '30 ms'", "200"));
    let starts: Vec<u64> = scenario.flows.iter().map(|flow| flow.start.as_nanos() / 1_000_000).collect();
    assert_eq!(starts[..2], [230, 730]);
    assert!(starts[4..].iter().all(|start| (230..5000).contains(start)), "{starts:?}");
    assert_eq!((starts[3], scenario.applications[0].start.as_nanos()), (230, 230_000_000));
    assert_eq!(scenario.flows[0].stop.map(ackclock_core::units::Instant::as_nanos), Some(9_000_000_000), "a stop remains");
}

#[test]
fn an_axis_over_the_offset_gives_runs_with_other_starts() {
    let document = Document::from_toml(
        "duration = '2 s'\nflow = [{ start = '1 s' }, {}]\n[sweep]\nstart_offset = { from = '0 ms', to = '60 ms', count = 3 }",
        "t.toml",
    )
    .unwrap();
    let points = document.points(&SweepData::default()).unwrap();
    let starts = |variant: Variant| -> (Vec<(String, String)>, Vec<u64>) {
        let scenario = variant.document.scenario().unwrap();
        (variant.labels, scenario.flows.iter().map(|flow| flow.start.as_nanos() / 1_000_000).collect())
    };
    let label = |value: &str| vec![("start_offset".to_owned(), value.to_owned())];
    let found: Vec<_> = points.iter().map(starts).collect();
    assert_eq!(found, [(label("0 ms"), vec![1000, 0]), (label("30 ms"), vec![1030, 30]), (label("60 ms"), vec![1060, 60])]);
}

#[test]
fn parts_have_their_parameters() {
    let text = format!(
        "{ONE}slow_start = {{ kind = \"staged\", algorithm = 3 }}\nloss_response = \"halve\"\ninitial_window = \"10 segments\"\nsize = \"1500 B\""
    );
    let scenario = scenario(&text);
    let control = composed(&scenario.flows[0]);
    assert_eq!((control.slow_start.name(), control.slow_start.part().unwrap().params.word("algorithm")), ("staged", "3"));
    assert_eq!(control.loss_response.as_ref().map(|part| part.name), Some("halve"));
    assert_eq!(control.initial_window.params.0, [("segments", Value::Number(10.0))]);
    assert_eq!(scenario.flows[0].packets, Some(2));
    // The registry builds these parts.
    let halve = ackclock_core::cc::loss_response::PARTS.find("halve").unwrap();
    assert!((halve.build)(&control.loss_response.as_ref().unwrap().params).is_ok());
}

#[test]
fn a_whole_control_is_named_or_has_parameters_and_composed_is_none() {
    let whole = |text: &str| match &scenario(&format!("{ONE}{text}")).flows[0].control {
        ControlSpec::Whole(part) => part.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(whole("congestion_control = \"bbr\"").name, "bbr");
    let linux = "host = \"linux\"\ncongestion_control = { kind = \"bbr\", variant = \"linux\" }";
    assert_eq!(whole(linux).params.word("variant"), "linux");
    // A frozen scenario reads as the same again.
    let text = format!("{ONE}{linux}");
    let frozen = document(&text).frozen().unwrap();
    assert_eq!(document(&frozen).frozen().unwrap(), frozen);
    assert_eq!(format!("{:?}", scenario(&frozen).flows[0].control), format!("{:?}", scenario(&text).flows[0].control));
    let plain = scenario(&format!("{ONE}congestion_control = \"composed\"\navoidance = \"cubic\""));
    assert_eq!(composed(&plain.flows[0]).avoidance.name, "cubic");
    // A composed control uses the preset's parts.
    let preset = scenario(&format!("{ONE}host = \"linux\"\ncongestion_control = \"composed\""));
    assert_eq!(composed(&preset.flows[0]), composed(&scenario(&format!("{ONE}host = \"linux\"")).flows[0]));
}

#[test]
fn losses_have_position_and_generator() {
    let text = format!(
        "duration = \"1 s\"\ntopology.bottleneck.loss = {}\nflow = {{}}",
        "{ rate = \"20 %\", position = \"before\", generator = \"mrg32k3a\", stream = 7, skip = 3 }"
    );
    let scenario = scenario(&text);
    let loss = scenario.links[2].losses.first().unwrap();
    assert_eq!((loss.position, loss.generator), (LossPosition::BeforeQueue, GeneratorSpec::Mrg32k3a { seed: 1, stream: 7, skip: 3 }));
    assert_eq!(loss.model.params.0, [("rate", Value::Number(0.2))]);
    assert!(scenario.links[3].losses.is_empty());
}

#[test]
fn json_is_read_like_toml() {
    let json = r#"{"duration": "10 s", "name": "t", "stop": null, "flow": [{"slow_start": {"kind": "staged", "algorithm": 3}}]}"#;
    let toml = "duration = \"10 s\"\n[[flow]]\nslow_start = { kind = \"staged\", algorithm = \"3\" }\n";
    let from_json = Document::from_json(json, "scenario").and_then(|document| document.frozen());
    assert_eq!(from_json, document(toml).frozen());
    let message = |json: &str| {
        Document::from_json(json, "scenario")
            .and_then(|document| document.scenario())
            .map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(message("{\"duration\": 3, \"flow\": {}}"), "scenario: duration: a time needs a unit; did you mean \"3 s\"?");
    assert_eq!(message("[]"), "scenario: a scenario must be a table (a JSON object)");
    assert!(message("{").starts_with("scenario:1:1: this is not JSON: "));
    let python = r#"{"duration": "1 s", "flow": {"congestion_control": "python"}}"#;
    assert_eq!(message(python), "");
    let frozen = Document::from_json(python, "scenario").and_then(|document| document.frozen()).unwrap();
    assert!(errors(&frozen).contains("only the Python API can set this"));
    let both = r#"{"duration": "1 s", "flow": {"congestion_control": "python", "slow_start": "staged"}}"#;
    assert_eq!(message(both), "scenario: flow.0.slow_start: cannot be combined with congestion_control, which replaces it");
    assert_eq!(message(&both.replace("python", "python_slow_start")), message(both));
    let beside = r#"{"duration": "1 s", "flow": {"congestion_control": "python_slow_start", "avoidance": "cubic"}}"#;
    let frozen = Document::from_json(beside, "scenario").and_then(|document| document.frozen()).unwrap();
    assert!(frozen.contains("kind = \"cubic\"") && !frozen.contains("slow_start = {"), "{frozen}");
}

/// The message about the problems of a text.
fn problems(text: &str) -> String {
    let read = Document::from_toml(text, "t.toml").and_then(|document| document.scenario());
    read.map_or_else(|error| error.to_string(), |_| panic!("this is sound"))
}

#[test]
fn a_message_lists_twenty_problems_and_the_number_of_the_others() {
    let text = |count: usize| format!("duration = \"1 s\"\n{}", "[[flow]]\nfoo = 1\n".repeat(count));
    for (count, last) in [(1, None), (20, None), (21, Some("… and 1 more")), (5000, Some("… and 4980 more"))] {
        let said = problems(&text(count));
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), count.min(20) + usize::from(last.is_some()));
        assert!(
            lines
                .iter()
                .take(20)
                .enumerate()
                .all(|(index, line)| line.starts_with(&format!("t.toml:{}: flow.{index}.foo: ", 2 * index + 3)))
        );
        assert!(last.is_none_or(|last| lines[20] == last), "{}", lines[20]);
    }
    let wrong = problems(&format!("duration = \"1 s\"\nflow = {{}}\nrecord = [{}]", "\"x\", ".repeat(5000)));
    assert!(wrong.ends_with("\n… and 4980 more"), "{wrong}");
    // Of a long text, only the first syntax error is reported.
    let said = problems(&"x\n".repeat(600_000));
    assert!(said.starts_with("t.toml:1:2: this is not TOML: ") && said.lines().count() == 1, "{said}");
}

#[test]
fn long_keys_are_cut_in_messages() {
    let long = "x".repeat(100_000);
    for text in [
        format!("duration = \"1 s\"\nflow = {{ {long} = 1 }}"),
        format!("duration = \"1 s\"\nflow = {{}}\n{long} = 1"),
        format!("duration = \"1 s\"\nflow = {{ arrivals = {{ {long} = 1 }} }}"),
        format!("duration = \"1 s\"\nflow = {{ slow_start = {{ kind = \"standard\", {long} = 1 }} }}"),
        format!("duration = \"1 s\"\nflow = {{}}\nsweep.{long} = 1"),
        format!("duration = \"1 s\"\nflow = {{}}\nsweep.zip.{long} = 1"),
        format!("{long} = 1\n{long} = 2"),
    ] {
        let said = problems(&text);
        assert!(said.len() < 3000, "{} bytes: {}", said.len(), &said[..200]);
    }
}

#[test]
fn tables_of_flows_are_limited() {
    let said = problems(&format!("duration = \"1 s\"\n{}", "[[flow]]\n".repeat(100_001)));
    assert_eq!(said, "t.toml: flow: has 100001 tables; the limit is 100000: write equal flows as one, with count");
}

#[test]
fn json_has_the_numbers_of_toml() {
    for number in ["4.3276706790505336e-07", "0.06718212205620061", "9.014274576114835e-07", "1.7976931348623157e308"] {
        let value = |document: Result<Document, ScenarioError>| document.map(|document| document.values()["x"].as_f64());
        let json = value(Document::from_json(&format!("{{\"x\": {number}}}"), "t"));
        let toml = value(Document::from_toml(&format!("x = {number}"), "t"));
        assert_eq!((json, toml), (Ok(number.parse().ok()), Ok(number.parse().ok())));
    }
}

#[test]
fn the_schema_knows_every_key_and_part() {
    let schema = schema();
    let flow = &schema["properties"]["flow"]["oneOf"][0]["items"];
    assert_eq!(flow["additionalProperties"], false);
    assert_eq!(flow["properties"]["rwnd"]["default"], "1000 packets");
    assert_eq!(flow["properties"]["slow_start"]["oneOf"][0]["enum"], serde_json::json!(slow_starts()));
    assert_eq!(schema["required"], serde_json::json!(["duration", "flow"]));
    assert_eq!(schema["properties"]["topology"]["oneOf"].as_array().map(Vec::len), Some(4));
    assert_eq!(schema["properties"]["duration"]["examples"], serde_json::json!(["30 s"]));
    assert!(schema["properties"]["flow"].get("examples").is_none());
    let staged = &flow["properties"]["slow_start"]["oneOf"][4];
    assert_eq!(staged["properties"]["max_ssthresh"]["default"], "100 segments");
    let registry = registry_json();
    assert_eq!(registry["loss"][0]["params"][0]["default"], "0 %");
    assert_eq!(registry["slow_start"][3]["params"][0]["words"], serde_json::json!(["1", "2", "3", "4"]));
    assert!(registry["queue"][0]["header"].as_str().is_some_and(|header| header.starts_with("`DropTail`: ")));
}
