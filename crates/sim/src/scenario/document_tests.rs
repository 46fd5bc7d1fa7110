//! Values that are set in documents.

use std::sync::Arc;

use ackclock_core::units::Limit;

use super::{Document, MAX_SETTINGS};
use crate::scenario::SweepData;
use crate::scenario::tests::{ONE, composed, document, limit};

#[test]
fn settings_reach_every_depth() {
    let mut document = document("duration = \"1 s\"\ntopology.bottleneck.queue = \"50 packets\"\n[[flow]]\n[[flow]]\n");
    for (key, value) in [
        ("flow.rwnd", "20 packets"),
        ("flow.1.rwnd", "\"30 packets\""),
        ("topology.bottleneck.queue.limit", "5 packets"),
        ("topology.access.loss.rate", "1 %"),
        ("flow.0.slow_start", "{ kind = 'limited' }"),
        ("flow.0.slow_start.max_ssthresh", "60 segments"),
        ("flow.1.initial_window", "4 segments"),
        ("flow.1.initial_window.segments", "5 segments"),
        ("seed", "9"),
        ("topology.bottleneck.reverse.rate", "1 Mbit/s"),
    ] {
        document.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    let scenario = document.scenario().unwrap_or_else(|error| panic!("{error}"));
    let rwnd = |flow: usize| scenario.flows[flow].host.as_ns2().unwrap().rwnd;
    assert_eq!((rwnd(0), rwnd(1), scenario.seed), (20, 30, 9));
    assert_eq!(limit(&scenario.links[2]), Limit::Packets(5));
    assert!(!scenario.links[0].losses.is_empty());
    assert!((composed(&scenario.flows[0]).slow_start.part().unwrap().params.number("max_ssthresh") - 60.0).abs() < 1e-9);
    assert!((composed(&scenario.flows[1]).initial_window.params.number("segments") - 5.0).abs() < 1e-9);
    assert_eq!(scenario.links[3].rate.mean().as_bits_per_sec(), 1_000_000);
}

#[test]
fn wrong_settings_are_named() {
    let set = |key: &str, value: &str| {
        let mut document = document(ONE);
        document.set(key, value).and_then(|()| document.scenario()).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(set("flow.rwnd", "20"), "--set flow.rwnd=20: flow.0.rwnd: a number of packets needs a unit; did you mean \"20 packets\"?");
    assert_eq!(set("flow.3.rwnd", "20"), "--set flow.3.rwnd=20: flow.3.rwnd: there is no 3 in flow");
    assert_eq!(set("duration.x", "1"), "--set duration.x=1: duration.x: duration is the text \"10 s\", so it has no key \"x\"");
    assert!(set("a..b", "1").contains("this is not the path of a key"));
    assert!(set("topology.botleneck.rate", "1 Mbit/s").contains("did you mean \"bottleneck\"?"));
    assert_eq!(set("flow.0.recovery", "reno"), "");
}

#[test]
fn a_wrong_setting_among_several_changes_nothing() {
    let (mut several, mut single) = (document(ONE), document(ONE));
    let before = several.frozen().unwrap();
    let error = several.set_all([("seed", "9"), ("duration.x", "1"), ("seed.x", "1")]).unwrap_err().to_string();
    assert_eq!(error, "--set duration.x=1: duration.x: duration is the text \"10 s\", so it has no key \"x\"");
    assert_eq!(several.frozen().unwrap(), before);
    several.set_all([("flow.rwnd", "20 packets"), ("flow.0.rwnd", "30 packets"), ("seed", "9")]).unwrap();
    for (key, value) in [("flow.rwnd", "20 packets"), ("flow.0.rwnd", "30 packets"), ("seed", "9")] {
        single.set(key, value).unwrap();
    }
    assert_eq!(several.frozen(), single.frozen());
    assert_ne!(several.frozen().unwrap(), before);
}

#[test]
fn scenarios_that_differ_in_values_share_a_tree() {
    let base = Document::from_toml("duration = \"9 s\"\n[flow]\n[sweep]\n\"flow.rwnd\" = [\"9 packets\"]\n", "t.toml").unwrap();
    let set = |settings: &[(&str, String)]| {
        let mut document = base.clone();
        for (key, value) in settings {
            document.set(key, value).unwrap();
        }
        document
    };
    let values: Vec<(&str, String)> = (1..40).map(|value| ("seed", value.to_string())).collect();
    for count in 0..values.len() {
        let (one, all) = (set(&values[..count]), &values[..count]);
        let mut together = base.clone();
        together.set_all(all.iter().map(|(key, value)| (*key, value.as_str()))).unwrap();
        assert_eq!(one.state(), together.state());
        assert_eq!(one.frozen().unwrap(), together.frozen().unwrap());
        assert_eq!(one.scenario().unwrap().seed, count.max(1) as u64);
        assert_eq!(Arc::ptr_eq(&base.tree, &one.tree), count <= MAX_SETTINGS, "{count}");
    }
    let swept = set(&[("seed", "2".to_owned()), ("sweep.other", "{ a = { seed = 3 } }".to_owned())]);
    assert!(swept.sweep().contains("other") && !base.sweep().contains("other"));
    assert_eq!(swept.points(&SweepData::default()).map(|points| points.len()).map_err(|error| error.to_string()), Ok(1));
}
