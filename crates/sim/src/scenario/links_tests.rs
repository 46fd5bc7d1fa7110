use super::*;
use crate::engine::run;
use crate::scenario::{Document, Scenario};

fn document(text: &str) -> Document {
    Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn read(text: &str) -> Result<Scenario, String> {
    document(text).scenario().map_err(|error| error.to_string())
}

/// A scenario with the `topology`.
fn with(topology: &str) -> String {
    format!("duration = \"20 s\"\n[topology]\n{topology}\n[[flow]]\nhost = \"linux\"\nsize = \"50 kB\"\n")
}

fn frozen(topology: &str) -> String {
    document(&with(topology)).frozen().unwrap_or_else(|error| panic!("{topology}: {error}"))
}

/// Names, values and sources of the settings of `preset`.
fn settings(preset: &Json) -> Vec<[&str; 3]> {
    let settings = preset["settings"].as_array().unwrap();
    settings.iter().map(|entry| ["name", "value", "source"].map(|key| entry[key].as_str().unwrap())).collect()
}

#[test]
fn every_value_has_a_source() {
    for (preset, text) in LINKS.describe().zip(LINKS.texts) {
        let name = &preset["name"];
        for [key, value, source] in settings(&preset) {
            assert!(source.len() > 10 && !value.contains('#'), "{name}: {key} has no source");
            let year = source.as_bytes().windows(4).any(|word| word.starts_with(b"20") && word.iter().all(u8::is_ascii_digit));
            let assumed = source.strip_prefix("assumed: ").is_some_and(|reason| reason.len() > 10);
            assert!(year || assumed, "{name}: {key}: {source}");
        }
        let keys: Vec<&str> = settings(&preset).iter().map(|[key, ..]| *key).collect();
        for key in ["rate", "delay", "queue", "reverse.queue"] {
            assert!(keys.contains(&key), "{name} leaves {key} to a default");
        }
        assert!(text.starts_with("# ") && text.lines().nth(1) == Some("#") && text.contains("\n# Not expressed: "), "{name}: its header");
    }
}

#[test]
fn a_preset_is_its_keys_on_every_link_that_can_have_it() {
    for preset in LINKS.describe() {
        let name = preset["name"].as_str().unwrap();
        let list = |part: &str| {
            let of = settings(&preset).into_iter().filter(|[key, ..]| key.contains('.') == (part == "reverse"));
            of.map(|[key, value, _]| format!("{} = {value}", key.trim_start_matches("reverse."))).collect::<Vec<_>>().join(", ")
        };
        let link = format!("{}, reverse = {{ {} }}", list(""), list("reverse"));
        let path = "access = { rate = \"1 Tbit/s\", delay = \"0 s\" }";
        for (short, long) in [
            (format!("bottleneck = {{ preset = {name:?} }}"), format!("bottleneck = {{ {link} }}")),
            (format!("access = {{ preset = {name:?} }}"), format!("access = {{ {link} }}")),
            (format!("links = {{ preset = {name:?} }}"), format!("links = {{ {link} }}")),
            (format!("links = [{{ preset = {name:?} }}, {{}}]"), format!("links = [{{ {link} }}, {{}}]")),
            (format!("path = {name:?}"), format!("bottleneck = {{ {link} }}\n{path}")),
            (format!("kind = \"dumbbell\"\npath = {name:?}"), format!("kind = \"dumbbell\"\nbottleneck = {{ {link} }}\n{path}")),
            (format!("kind = \"parking-lot\"\npath = {name:?}"), format!("kind = \"parking-lot\"\nbottleneck = {{ {link} }}\n{path}")),
            (
                format!("kind = \"explicit\"\nnode = [\"a\", \"b\"]\nlink = {{ from = \"a\", to = \"b\", preset = {name:?} }}"),
                format!("kind = \"explicit\"\nnode = [\"a\", \"b\"]\nlink = {{ from = \"a\", to = \"b\", {link} }}"),
            ),
        ] {
            assert_eq!(frozen(&short), frozen(&long), "{name}: {short}");
            assert!(!frozen(&short).contains("preset"), "the values stand in a frozen scenario, not the name");
        }
    }
}

#[test]
fn every_preset_carries_a_download() {
    for name in LINKS.names {
        let scenario = read(&with(&format!("path = {name:?}"))).unwrap_or_else(|error| panic!("{name}: {error}"));
        let result = run(&scenario, &mut || false).unwrap();
        assert_eq!(result.flows[0].delivered_bytes, 50_000, "{name}");
    }
}

#[test]
fn keys_of_the_scenario_override_the_preset() {
    let own = "access = { delay = \"3 ms\" }\nbottleneck = { delay = \"7 ms\", reverse = { rate = \"2 Mbit/s\" } }\n";
    let long = "access = { rate = \"1 Tbit/s\", delay = \"3 ms\" }\nbottleneck = { rate = \"8 Mbit/s\", delay = \"7 ms\", queue = \"32768 B\", \
                reverse = { rate = \"2 Mbit/s\", queue = \"8192 B\" } }";
    assert_eq!(frozen(&format!("path = \"dsl\"\n{own}")), frozen(long));
    let mut set = document(&with("path = \"geo\""));
    set.set("topology.path", "dsl").unwrap();
    set.set("topology.bottleneck.queue", "16 packets").unwrap();
    assert_eq!(set.frozen().unwrap(), frozen("path = \"dsl\"\nbottleneck = { queue = \"16 packets\" }"));
    assert_eq!(frozen("path = \"geo\"\nbottleneck = { preset = \"dsl\" }"), frozen("path = \"dsl\""), "a link's own preset is nearer");
}

#[test]
fn wrong_presets() {
    for (topology, expected) in [
        ("path = \"dls\"", "t.toml:3: topology.path: there is no preset of links \"dls\"; did you mean \"dsl\"? (known: "),
        ("path = 5", "t.toml:3: topology.path: must be a text, but is the number 5"),
        (
            "bottleneck = { preset = \"goe\" }",
            "t.toml:3: topology.bottleneck.preset: there is no preset of links \"goe\"; did you mean \"geo\"? ",
        ),
        ("path = \"geo\"\nlinks = [{}]", "t.toml:3: topology.path: cannot be combined with links, which lists all links of the chain"),
        (
            "kind = \"explicit\"\npath = \"geo\"\nnode = [\"a\", \"b\"]\nlink = { from = \"a\", to = \"b\" }",
            "t.toml:4: topology.path: a topology of kind \"explicit\" has no \"path\"; kinds that have it: chain, dumbbell, parking-lot",
        ),
    ] {
        let message = read(&with(topology)).unwrap_err();
        assert!(message.starts_with(expected) && !message.contains('\n'), "{topology}: {message}");
    }
}
