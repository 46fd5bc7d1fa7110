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

/// Settings of `modern` that only the presets of Linux change; the other presets keep the profile's value.
const LINUX_ONLY: [&str; 14] = [
    "whole_segments",
    "growth",
    "timer_tick",
    "gradual_marks",
    "recover_again",
    "probe_margin",
    "probe_margin_single",
    "reordering_margin",
    "rto_per_round",
    "rtt_of_sacked",
    "lost_syns_tolerated",
    "receive_buffer_unit",
    "acks",
    "fin",
];
/// Settings that depend on `acks` and `receive_buffer_unit`, which the presets of Linux choose.
const DEPENDENT: usize = 7;

#[test]
fn every_value_has_a_source_and_no_setting_is_left_to_the_profile() {
    let frozen = Document::from_toml(&format!("{NETWORK}[[flow]]\nhost = \"linux\"\n"), "t.toml").unwrap().frozen().unwrap();
    let modern = frozen.lines().find(|line| line.starts_with("modern = ")).unwrap();
    let all = modern.matches(" = ").count() - 1 + ["initial_window", "slow_start", "avoidance"].len();
    for (name, text) in NAMES.iter().zip(TEXTS) {
        let settings = settings(name);
        let left = if name.starts_with("linux") { 0 } else { LINUX_ONLY.len() + DEPENDENT };
        assert_eq!(settings.len(), all - left, "{name} sets everything");
        for [key, value, source] in &settings {
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
    for name in NAMES {
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
    assert_eq!((control.initial_window.name, control.avoidance.name), ("rfc6928", "cubic"));
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
    for name in NAMES {
        let ends = |from: &str, to: &str| format!("[[flow]]\nhost = {name:?}\nsize = \"60 kB\"\nfrom = {from:?}\nto = {to:?}\n");
        let text = format!("{NETWORK}{}{}", ends("n0", "n3"), ends("n3", "n0"));
        let result = run(&read(&text).unwrap(), &mut || false).unwrap();
        for flow in &result.flows {
            assert_eq!(flow.delivered_bytes, 60_000, "{name}");
        }
    }
}

#[test]
fn wrong_names_and_profiles() {
    let message = read(&format!("{NETWORK}[[flow]]\nhost = \"windows_9\"\n")).unwrap_err();
    assert!(message.starts_with("t.toml:6: flow.0.host: there is no host \"windows_9\"; did you mean \"windows_"), "{message}");
    let message = read(&format!("{NETWORK}[[flow]]\nhost = \"linux\"\nprofile = \"ns2\"\n")).unwrap_err();
    assert!(message.contains("t.toml:6: flow.0.host: requires profile = \"modern\""), "{message}");
    let message = read(&format!("{NETWORK}[[flow]]\nhost = 7\n")).unwrap_err();
    assert!(message.contains("flow.0.host: must be a text, but is the number 7"), "{message}");
}
