use std::collections::BTreeSet;

use ackclock_tcp::modern::SETTINGS;

use super::*;
use crate::engine::run;
use crate::scenario::{ControlSpec, Document, FlowSpec, ReceiveBuffer, Scenario};

const NETWORK: &str = "duration = \"60 s\"\n[topology.bottleneck]\nrate = \"1.5 Mbit/s\"\ndelay = \"20 ms\"\n";

fn read(text: &str) -> Result<Scenario, String> {
    Document::from_toml(text, "t.toml").and_then(|document| document.scenario()).map_err(|error| error.to_string())
}

fn flow(keys: &str) -> FlowSpec {
    read(&format!("{NETWORK}[[flow]]\n{keys}\n")).unwrap_or_else(|error| panic!("{error}")).flows.remove(0)
}

fn settings(name: &str) -> Vec<[String; 3]> {
    let Json::Array(hosts) = hosts_json() else { panic!("a list") };
    let host = hosts.iter().find(|host| host["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let text = |entry: &Json, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let settings = host["settings"].as_array().unwrap_or_else(|| panic!("{name} has settings"));
    settings.iter().map(|entry| ["name", "value", "source"].map(|key| text(entry, key))).collect()
}

/// The changes of the preset `name`, from the newest version to the oldest.
fn changes(name: &str) -> Vec<Vec<[String; 3]>> {
    let Json::Array(hosts) = hosts_json() else { panic!("a list") };
    let host = hosts.iter().find(|host| host["name"] == name).unwrap_or_else(|| panic!("{name}"));
    let text = |entry: &Json, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let of = |change: &Json| {
        let settings = change["settings"].as_array().unwrap_or_else(|| panic!("{name} has settings"));
        settings.iter().map(|entry| ["name", "value", "source"].map(|key| text(entry, key))).collect()
    };
    host["changes"].as_array().into_iter().flatten().map(of).collect()
}

/// Settings of `modern` that only the presets of Linux change, also those that depend on its `acks` and `receive_buffer_unit`; the other
/// presets keep the profile's value.
const LINUX_ONLY: [&str; 37] = [
    "whole_segments",
    "growth",
    "timer_tick",
    "nagle",
    "tso_segments",
    "tso_window_divisor",
    "ecn_option",
    "gradual_marks",
    "recover_again",
    "reduce_once",
    "late_undo",
    "frto_at_once",
    "probe_margin",
    "probe_margin_single",
    "reordering_margin",
    "rto_per_round",
    "rtt_of_sacked",
    "lost_syns_tolerated",
    "syn_linear_timeouts",
    "backoff_until_measured",
    "fin",
    "pacing_slow_start",
    "pacing_avoidance",
    "receive_buffer_unit",
    "receive_window_first",
    "acks",
    "delayed_ack_max",
    "ack_on_growth",
    "ack_on_read",
    "ack_with_data",
    "sack_compression",
    "sack_compression_max",
    "sack_compression_rtt",
    "sack_compression_slack",
    "gradual_restart",
    "send_buffer",
    "send_buffer_max",
];
/// Settings of a network card and of a single run, which no preset has.
const OF_NO_PRESET: [&str; 2] = ["packet_memory", "timer_phase"];

/// The keys that a preset must set.
fn expected(name: &str) -> BTreeSet<String> {
    let keys = SETTINGS
        .iter()
        .map(|setting| setting.key)
        .filter(|key| !OF_NO_PRESET.contains(key) && (name.starts_with("linux") || !LINUX_ONLY.contains(key)));
    keys.map(|key| format!("modern.{key}")).chain(["initial_window", "slow_start", "avoidance"].map(str::to_owned)).collect()
}

#[test]
fn every_value_has_a_source_and_no_setting_is_left_to_the_profile() {
    for (name, text) in HOSTS.names.iter().zip(HOSTS.texts) {
        let settings = settings(name);
        let keys: BTreeSet<String> = settings.iter().map(|[key, ..]| key.clone()).collect();
        let is_version = keys.contains("host");
        assert!(
            is_version || keys == expected(name),
            "{name} has or lacks {:?}",
            keys.symmetric_difference(&expected(name)).collect::<Vec<_>>()
        );
        for [key, value, source] in settings.iter().chain(&changes(name).concat()) {
            assert!(source.len() > 10 && !value.contains('#'), "{name}: {key} has no source");
            let year = source.as_bytes().windows(4).any(|word| word.starts_with(b"19") || word.starts_with(b"20"));
            let assumed = source.split_once("assumed: ").is_some_and(|(_, reason)| reason.len() > 10);
            let manual = ["ip-sysctl", "KB ", "(7)", "(8)", "Linux tcp_input", "sysctl", "netsh", "documentation", "RFC "];
            assert!(year || assumed || manual.iter().any(|name| source.contains(name)), "{name}: {key}: {source}");
        }
        assert!(text.starts_with("# ") && text.lines().nth(1) == Some("#") && text.contains("\n# Not expressed: "), "{name}: its header");
    }
}

#[test]
fn every_preset_resolves_to_its_values() {
    for name in HOSTS.names {
        let frozen = Document::from_toml(&format!("{NETWORK}[[flow]]\nhost = {name:?}\n"), "t.toml").unwrap().frozen().unwrap();
        assert!(!frozen.contains("\nhost = "), "the values stand in a frozen scenario, not the name");
        let again = Document::from_toml(&frozen, "t.toml").unwrap();
        assert_eq!(again.frozen().unwrap(), frozen, "{name}");
        // A flow with the preset's values written out has the same hosts.
        let (top, modern): (Vec<_>, Vec<_>) = settings(name).into_iter().partition(|[key, ..]| !key.contains('.'));
        let lines: Vec<String> = top.iter().chain(&modern).map(|[key, value, _]| format!("{key} = {value}")).collect();
        let by_hand = format!("{NETWORK}[[flow]]\nprofile = \"modern\"\n{}\n", lines.join("\n"));
        assert_eq!(Document::from_toml(&by_hand, "t.toml").unwrap().frozen().unwrap(), frozen, "{name}");
    }
}

#[test]
fn values_land_in_the_host() {
    let xp = flow("host = \"windows_xp\"").host.as_modern().cloned().unwrap();
    assert_eq!(xp.buffer, ReceiveBuffer::Fixed(17_520));
    assert_eq!((xp.timestamps, xp.window_scaling, xp.delayed_ack.as_nanos()), (false, false, 200_000_000));
    let linux = flow("host = \"linux\"");
    let ControlSpec::Composed(control) = &linux.control else { panic!("composed") };
    assert_eq!((control.initial_window.name, control.avoidance.name), ("rfc6928", "cubic_linux"));
    assert_eq!(linux.host.as_modern().unwrap().rto.max.as_nanos(), 120_000_000_000);
}

#[test]
fn keys_of_the_flow_override_the_preset() {
    let keys = "host = \"windows_xp\"\ninitial_window = \"10 segments\"\nmodern = { timestamps = true }";
    let flow = flow(keys);
    let host = flow.host.as_modern().cloned().unwrap();
    assert!(host.timestamps && !host.window_scaling, "one key is overridden, the others are the preset's");
    let ControlSpec::Composed(control) = &flow.control else { panic!("composed") };
    assert_eq!((control.initial_window.name, control.avoidance.name), ("fixed", "reno"));
}

#[test]
fn every_preset_downloads_in_both_directions() {
    for name in HOSTS.names {
        let ends = |from: &str, to: &str| format!("[[flow]]\nhost = {name:?}\nsize = \"60 kB\"\nfrom = {from:?}\nto = {to:?}\n");
        let text = format!("{NETWORK}{}{}", ends("n0", "n3"), ends("n3", "n0"));
        let result = run(&read(&text).unwrap(), &mut || false).unwrap();
        for flow in &result.flows {
            assert_eq!(flow.delivered_bytes, 60_000, "{name}");
        }
    }
}

/// A flow of the version `version` of Linux.
fn linux(version: &str) -> FlowSpec {
    flow(&format!("host = {{ kind = \"linux\", version = {version:?} }}"))
}

#[test]
fn a_version_has_the_values_before_every_later_change() {
    let hystart = |version| {
        let ControlSpec::Composed(control) = linux(version).control else { panic!("composed") };
        assert_eq!((control.slow_start.name(), control.avoidance.name), ("hystart", "cubic_linux"));
        let params = control.slow_start.part().unwrap().params.clone();
        (params.word("round_reset").to_owned(), params.word("train_halved").to_owned(), params.number("delay_divisor"))
    };
    let row = |reset: &str, halved: &str, divisor| (reset.to_owned(), halved.to_owned(), divisor);
    assert_eq!(["7.2", "6.18.44", "6.12"].map(hystart), [(); 3].map(|()| row("always", "unless_paced", 8.0)));
    assert_eq!(["6.11.9", "6.11", "5.16"].map(hystart), [(); 3].map(|()| row("above_low_window", "unless_paced", 8.0)));
    assert_eq!(["5.15", "5.6", "5.5"].map(hystart), ["unless_paced", "unless_paced", "always"].map(|halved| row("always", halved, 8.0)));
    assert_eq!(["3.19", "3.18", "2.6.39"].map(hystart), [8.0, 16.0, 16.0].map(|divisor| row("always", "always", divisor)));
    let host = |version| linux(version).host.as_modern().cloned().unwrap();
    assert_eq!(["3.1", "3.0"].map(|version| host(version).rto.initial.as_nanos()), [1_000_000_000, 3_000_000_000]);
    assert_eq!(
        ["3.10", "3.9", "3.2", "3.1"].map(|version| (host(version).tlp, host(version).prr)),
        [(true, true), (false, true), (false, true), (false, false)]
    );
    let initial = |version| {
        let ControlSpec::Composed(control) = linux(version).control else { panic!("composed") };
        control.initial_window.name
    };
    assert_eq!(["2.6.39", "2.6.38", "2.6.32"].map(initial), ["rfc6928", "rfc3390", "rfc3390"]);
}

#[test]
fn the_newest_version_is_the_default_and_the_changes_are_in_order() {
    let frozen = |host: &str| Document::from_toml(&format!("{NETWORK}[[flow]]\nhost = {host}\n"), "t.toml").unwrap().frozen().unwrap();
    assert_eq!(frozen("\"linux\""), frozen("{ kind = \"linux\", version = \"7.2\" }"));
    assert_eq!(frozen("\"linux\""), frozen("{ kind = \"linux\" }"));
    assert_eq!(frozen("\"macos\""), frozen("{ kind = \"macos\" }"));
    assert_eq!(frozen("\"linux_mint_18_3\""), frozen("{ kind = \"linux\", version = \"4.10\" }"));
    assert_ne!(frozen("\"linux\""), frozen("\"linux_mint_18_3\""));
    let Json::Array(hosts) = hosts_json() else { panic!("a list") };
    for host in &hosts {
        let ends: Vec<Vec<u32>> =
            host["versions"].as_array().into_iter().flatten().map(|end| numbers(end.as_str().unwrap()).unwrap()).collect();
        let before: Vec<Vec<u32>> =
            host["changes"].as_array().unwrap().iter().map(|change| numbers(change["before"].as_str().unwrap()).unwrap()).collect();
        let all: Vec<_> = ends.iter().rev().take(1).chain(&before).chain(ends.iter().take(1)).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]), "{}: {all:?}", host["name"]);
        // Each change leads to a valid scenario that differs from the one before.
        for version in host["changes"].as_array().unwrap().iter().map(|change| change["before"].as_str().unwrap()) {
            linux(version);
        }
    }
}

#[test]
fn wrong_versions() {
    let message = |host: &str| read(&format!("{NETWORK}[[flow]]\nhost = {host}\n")).unwrap_err();
    for (host, expected) in [
        ("{ kind = \"linux\", version = \"7.3\" }", "version: there is no host \"linux\" \"7.3\"; the newest version is \"7.2\""),
        ("{ kind = \"linux\", version = \"2.4\" }", "version: there is no host \"linux\" \"2.4\"; the oldest version is \"2.6.32\""),
        (
            "{ kind = \"linux\", version = \"v5.4-rc1\" }",
            "version: must be the numbers of a version, but is \"v5.4-rc1\"; did you mean \"5.4\"?",
        ),
        (
            "{ kind = \"linux\", version = \"latest\" }",
            "version: must be the numbers of a version, but is \"latest\"; did you mean \"7.2\"?",
        ),
        ("{ kind = \"linux\", version = 6.18 }", "version: must be a text such as \"6.18\", but is the number 6.18"),
        ("{ kind = \"macos\", version = \"11\" }", "version: the host \"macos\" has no versions; hosts that have: linux"),
        ("{ kind = \"linus\", version = \"6.18\" }", "kind: there is no host \"linus\"; did you mean \"linux\"? (known: "),
        ("{ kind = \"linux\", vesion = \"6.18\" }", "vesion: there is no key \"vesion\"; did you mean \"version\"? (known: kind, version)"),
        ("{ version = \"6.18\" }", "kind: is missing; example: \"linux\""),
        ("{ kind = 7 }", "kind: must be a text, but is the number 7"),
    ] {
        let message = message(host);
        assert!(message.starts_with(&format!("t.toml:6: flow.0.host.{expected}")), "{host}: {message}");
    }
}

#[test]
fn wrong_names_and_profiles() {
    let message = read(&format!("{NETWORK}[[flow]]\nhost = \"windows_9\"\n")).unwrap_err();
    assert!(message.starts_with("t.toml:6: flow.0.host: there is no host \"windows_9\"; did you mean \"windows_"), "{message}");
    let message = read(&format!("{NETWORK}[[flow]]\nhost = \"linux\"\nprofile = \"ns2\"\n")).unwrap_err();
    assert!(message.contains("t.toml:6: flow.0.host: requires profile = \"modern\""), "{message}");
    let message = read(&format!("{NETWORK}[[flow]]\nhost = 7\n")).unwrap_err();
    assert!(message.contains("flow.0.host: must be a text, or a table with kind and version, but is the number 7"), "{message}");
}
