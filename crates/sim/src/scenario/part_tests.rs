#![allow(clippy::float_cmp, reason = "the numbers are those of the file")]

use ackclock_core::units::Limit;

use crate::scenario::{Document, PartSpec, SweepData, Variant, registry_json, relations_json, schema};

/// The problems of a scenario; empty for a sound one.
fn errors(text: &str) -> String {
    let result = Document::from_toml(text, "t.toml").and_then(|document| document.scenario());
    result.map_or_else(|error| error.to_string(), |_| String::new())
}

#[test]
fn every_axis_has_a_key_of_its_own() {
    let mut keys: Vec<&str> = super::axes().map(|axis| axis.name).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
}

#[test]
fn the_relations_are_those_of_the_checks() {
    let relations = relations_json();
    for (axis, relation) in relations["axes"].as_object().unwrap() {
        let parts = &registry_json()[axis];
        let known = |name: &serde_json::Value| parts.as_array().unwrap().iter().find(|part| part["name"] == *name).cloned();
        assert!(known(&relation["usual"]).is_some(), "{axis}");
        if let Some(short) = relation["shorthand"].as_object() {
            let part = known(&short["part"]).unwrap();
            assert!(part["params"].as_array().unwrap().iter().any(|param| param["name"] == short["parameter"]), "{axis}");
        }
    }
    let flow = schema()["properties"]["flow"]["oneOf"][1]["properties"].clone();
    for (profile, other) in [("ns2", "modern"), ("modern", "ns2")] {
        for key in relations["profiles"][profile].as_array().unwrap() {
            let key = key.as_str().unwrap();
            let value = match &flow[key] {
                key if key["oneOf"][0]["enum"].is_array() => key["oneOf"][0]["enum"][0].to_string(),
                key if key["type"] == "object" => "{}".to_owned(),
                key => key["default"].to_string(),
            };
            let wrong = format!("duration = \"1 s\"\n[flow]\nprofile = \"{other}\"\n{key} = {value}");
            let right = wrong.replace(&format!("\"{other}\"\n"), &format!("\"{profile}\"\n"));
            let message = errors(&wrong);
            assert!(message.contains(&format!("{key}: requires profile")), "{message}");
            assert_eq!(errors(&right), "", "{right}");
        }
    }
    for axis in relations["replaced"].as_array().unwrap() {
        let axis = axis.as_str().unwrap();
        let usual = relations["axes"][axis]["usual"].as_str().unwrap();
        let text = format!("duration = \"1 s\"\n[flow]\ncongestion_control = \"bbr\"\n{axis} = \"{usual}\"");
        assert!(errors(&text).contains("congestion_control, which replaces it"), "{text}");
    }
    for key in relations["listed"].as_array().unwrap() {
        let key = key.as_str().unwrap();
        let value = if key == "path" { "\"geo\"" } else { "{}" };
        let text = format!("duration = \"1 s\"\nflow = {{}}\n[topology]\nlinks = [{{}}]\n{key} = {value}");
        assert!(errors(&text).contains("cannot be combined with links"), "{text}");
    }
}

/// A file whose bottleneck has this queue.
fn with_queue(queue: &str) -> String {
    format!("duration = '1 s'\ntopology.bottleneck.queue = {queue}\n[flow]\n")
}

/// The queue's discipline of the bottleneck.
fn queue(document: &Document) -> PartSpec {
    let scenario = document.scenario().unwrap_or_else(|error| panic!("{error}"));
    scenario.links.iter().find(|link| link.name == "n1>n2").unwrap().queue.clone().unwrap().discipline
}

fn document(text: &str) -> Document {
    Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_part_inside_is_a_name_a_table_or_a_shorthand() {
    let inner = |text: &str| queue(&document(&with_queue(text))).params.part("queue").cloned();
    assert_eq!(inner("'tbf'"), None);
    assert_eq!(inner("{ kind = 'tbf', queue = 'auto' }"), None);
    assert_eq!(inner("{ kind = 'tbf', queue = 'codel' }").unwrap().name, "codel");
    let short = inner("{ kind = 'tbf', queue = '7 packets' }").unwrap();
    assert_eq!((short.name, short.params.limit("limit")), ("droptail", Limit::Packets(7)));
    let deep = inner("{ kind = 'tbf', queue = { kind = 'tbf', queue = { kind = 'codel', target = '9 ms' } } }").unwrap();
    assert_eq!(deep.params.part("queue").unwrap().params.number("target"), 0.009);
}

#[test]
fn problems_inside_a_part_name_the_whole_path_and_the_nearest_word() {
    for (text, message) in [
        (
            "{ kind = 'tbf', queue = { kind = 'codel', taget = '5 ms' } }",
            "topology.bottleneck.queue.queue.taget: the queue \"codel\" has no parameter \"taget\"; did you mean \"target\"?",
        ),
        ("{ kind = 'tbf', queue = { kind = 'codel', target = '1e9 s' } }", "topology.bottleneck.queue.queue.target: must be from "),
        ("{ kind = 'tbf', queue = 'coddel' }", "topology.bottleneck.queue.queue: there is no queue \"coddel\"; did you mean \"codel\"?"),
        ("{ kind = 'tbf', queue = 'unlimited' }", "topology.bottleneck.queue.queue: there is no queue \"unlimited\""),
        ("{ kind = 'tbf', queue = 5 }", "topology.bottleneck.queue.queue: a queue limit needs a unit; did you mean \"5 packets\"?"),
        ("{ kind = 'tbf', queue = { kind = 'codel', seed = 2 } }", "queue.queue.seed: the queue \"codel\" has no parameter \"seed\""),
        (
            "{ kind = 'tbf', queue = { kind = 'tbf', limit = '5 packets', latency = '1 ms' } }",
            "topology.bottleneck.queue.queue: limit and latency exclude each other",
        ),
        ("{ kind = 'tbf', queue = 'codel', latency = '1 ms' }", "the inner queue has a limit of its own"),
    ] {
        let found = errors(&with_queue(text));
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn parts_inside_are_a_list_or_one_alone() {
    let classes = |text: &str| queue(&document(&with_queue(text))).params.parts("class").to_vec();
    assert_eq!(classes("'prio'").len(), 1);
    let two = classes("{ kind = 'prio', class = [{ flows = [3, 1], queue = '7 packets' }, { kind = 'class', ecn = 'ect1' }] }");
    assert_eq!(two[0].params.part("queue").unwrap().params.limit("limit"), Limit::Packets(7));
    assert_eq!((two[0].params.numbers("flows"), two[1].params.word("ecn")), (&[3.0, 1.0][..], "ect1"));
    let nested = classes("{ kind = 'htb', class = { rate = '2 Mbit/s', class = [{ rate = '500 kbit/s', ceil = '2 Mbit/s' }, {}] } }");
    assert_eq!((nested.len(), nested[0].params.parts("class").len()), (1, 2));
    assert_eq!(nested[0].params.parts("class")[0].params.number("rate"), 5e5);
    // Multiples of the bandwidth-delay product are resolved inside, too.
    let plain = queue(&document(&with_queue("'2 BDP'"))).params.limit("limit");
    let inside = classes("{ kind = 'wrr', class = [{}, { queue = '2 BDP' }] }");
    assert_eq!(inside[1].params.part("queue").unwrap().params.limit("limit"), plain);
}

#[test]
fn problems_in_a_list_of_parts_name_the_place() {
    for (text, message) in [
        (
            "{ kind = 'prio', class = [{}, { flws = [1] }] }",
            "topology.bottleneck.queue.class.1.flws: the class \"class\" has no parameter \"flws\"; did you mean \"flows\"?",
        ),
        ("{ kind = 'htb', class = { rate = '5' } }", "topology.bottleneck.queue.class.rate: "),
        ("{ kind = 'prio', class = [] }", "topology.bottleneck.queue: there must be at least one class"),
        ("{ kind = 'prio', class = [{ rate = '1 Mbit/s' }] }", "topology.bottleneck.queue: its classes have no rate"),
        ("{ kind = 'prio', class = [{ queue = 'coddel' }] }", "topology.bottleneck.queue.class.0.queue: there is no queue \"coddel\""),
        ("{ kind = 'prio', class = 5 }", "topology.bottleneck.queue.class: "),
    ] {
        let found = errors(&with_queue(text));
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn a_frozen_list_of_parts_reads_as_itself() {
    let text = with_queue("{ kind = 'htb', class = { rate = '2 Mbit/s', class = [{ flows = [0], queue = 'codel' }, { priority = 3 }] } }");
    let frozen = document(&text).frozen().unwrap();
    assert!(frozen.contains("priority = 3") && frozen.contains("kind = \"codel\""), "{frozen}");
    assert_eq!(document(&frozen).frozen().unwrap(), frozen);
    assert_eq!(queue(&document(&text)), queue(&document(&frozen)));
}

#[test]
fn settings_and_sweeps_reach_a_part_inside() {
    let mut plain = document(&with_queue("'tbf'"));
    plain.set("topology.bottleneck.queue.queue.kind", "codel").unwrap();
    plain.set("topology.bottleneck.queue.queue.target", "7 ms").unwrap();
    assert_eq!(queue(&plain).params.part("queue").unwrap().params.number("target"), 0.007);
    let mut short = document(&with_queue("{ kind = 'tbf', queue = 'codel' }"));
    short.set("topology.bottleneck.queue.queue.target", "8 ms").unwrap();
    assert_eq!(queue(&short).params.part("queue").unwrap().params.number("target"), 0.008);
    let swept = with_queue("{ kind = 'tbf', queue = 'codel' }")
        + "[sweep]\n'topology.bottleneck.queue.queue.target' = ['1 ms', '2 ms']\n'flow.loss_response.loss_response.kind' = ['halve', 'staged']\n\
           'flow.loss_response.kind' = ['first_loss_factor']\n";
    let variants = document(&swept).points(&SweepData::default()).unwrap();
    let target = |variant: &Variant| queue(&variant.document).params.part("queue").unwrap().params.number("target");
    assert_eq!(variants.iter().map(|variant| target(&variant)).collect::<Vec<_>>(), [0.001, 0.001, 0.002, 0.002]);
}

#[test]
fn a_multiple_of_the_bandwidth_delay_product_inside_a_part_is_resolved() {
    let inner = |limit: &str| queue(&document(&with_queue(limit))).params.clone();
    let plain = inner("{ kind = 'droptail', limit = '2 BDP' }").limit("limit");
    let nested = inner("{ kind = 'tbf', queue = { kind = 'tbf', queue = '2 BDP' } }");
    assert_eq!(nested.part("queue").unwrap().params.part("queue").unwrap().params.limit("limit"), plain);
}

#[test]
fn a_frozen_part_has_the_parts_inside_and_reads_as_itself() {
    let text = with_queue("{ kind = 'tbf', queue = { kind = 'tbf', queue = { kind = 'codel', target = '9 ms' } } }")
        + "loss_response = { kind = 'first_loss_factor', factor = 0.7, loss_response = 'westwood' }\n";
    let frozen = document(&text).frozen().unwrap();
    assert!(frozen.contains("target = \"9 ms\"") && frozen.contains("kind = \"westwood\""), "{frozen}");
    assert_eq!(document(&frozen).frozen().unwrap(), frozen);
    assert_eq!(queue(&document(&text)), queue(&document(&frozen)));
    let plain = document(&with_queue("'tbf'")).frozen().unwrap();
    assert!(!plain.contains("queue = \"auto\""), "without an inner part there is nothing to write: {plain}");
}

#[test]
fn the_schema_and_the_listing_have_the_parts_inside() {
    let schema = schema();
    let names = |axis: &str| schema["$defs"][axis]["oneOf"][0]["enum"].as_array().unwrap().clone();
    assert!(names("queue").contains(&"codel".into()) && !names("queue").contains(&"unlimited".into()));
    assert!(names("loss_response").contains(&"first_loss_factor".into()));
    let registry = registry_json();
    let tbf = registry["queue"].as_array().unwrap().iter().find(|part| part["name"] == "tbf").unwrap().clone();
    let param = tbf["params"].as_array().unwrap().iter().find(|param| param["name"] == "queue").unwrap();
    assert_eq!((param["kind"].as_str(), param["axis"].as_str(), param["default"].as_str()), (Some("part"), Some("queue"), Some("auto")));
}
