//! Edits keep comments and layout, and set the keys that `--set` sets.

mod common;

use ackclock_sim::scenario::Document;
use ackclock_web::Laboratory;
use common::ask;
use serde_json::json;

const TEXT: &str = "# A scenario.\nduration = \"5 s\"  # five seconds\n\n[topology]\nkind = \"dumbbell\"\nbottleneck = { rate = \"10 Mbit/s\", queue = \"50 packets\" } # slow\n\n\
                    # The first.\n[[flow]]\nname = \"a\"\nslow_start = \"limited\" # RFC 3742\n\n[[flow]]\nname = \"b\"\n";

fn edit(text: &str, set: &[(&str, Option<&str>)]) -> Result<String, String> {
    let answer = ask(&mut Laboratory::new(), &json!({ "do": "edit", "text": text, "set": set }));
    match answer.header["text"].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(answer.error().to_owned()),
    }
}

fn edited(set: &[(&str, Option<&str>)]) -> String {
    edit(TEXT, set).unwrap()
}

#[test]
fn nothing_else_changes() {
    assert_eq!(edited(&[]), TEXT);
    let cases = [
        (("duration", "\"7 s\""), ("duration = \"5 s\"", "duration = \"7 s\"")),
        (("topology.bottleneck.rate", "\"2 Mbit/s\""), ("10 Mbit/s", "2 Mbit/s")),
        (("flow.0.slow_start", "'search'"), ("\"limited\"", "'search'")),
        (("flow.1.name", "\"c\""), ("\"b\"", "\"c\"")),
        (("flow.1.rwnd", "\"9 packets\""), ("\"b\"\n", "\"b\"\nrwnd = \"9 packets\"\n")),
        (("seed", "3"), ("seconds\n", "seconds\nseed = 3\n")),
        // The short form of a part becomes a table.
        (("flow.0.slow_start.max_ssthresh", "\"9 segments\""), ("\"limited\"", "{ kind = \"limited\", max_ssthresh = \"9 segments\" }")),
        (("topology.bottleneck.queue.limit", "\"8 packets\""), ("\"50 packets\"", "{ kind = \"droptail\", limit = \"8 packets\" }")),
    ];
    for ((path, value), (before, after)) in cases {
        assert_eq!(edited(&[(path, Some(value))]), TEXT.replace(before, after), "{path}");
    }
    let removed =
        [("flow.0.slow_start", "slow_start = \"limited\" # RFC 3742\n"), ("topology.bottleneck.queue", ", queue = \"50 packets\"")];
    for (path, gone) in removed {
        assert_eq!(edited(&[(path, None)]), TEXT.replace(gone, ""), "{path}");
    }
    for path in ["seed", "flow.0.rwnd", "path.rate", "flow.0.slow_start.max_ssthresh"] {
        assert_eq!(edited(&[(path, None)]), TEXT, "{path}");
    }
}

#[test]
fn flows_are_added_and_removed() {
    let more = edited(&[("flow.2", Some("{ name = \"c\", start = \"1 s\" }"))]);
    assert_eq!(more, format!("{TEXT}\n[[flow]]\nname = \"c\"\nstart = \"1 s\"\n"));
    let fewer = edited(&[("flow.0", None)]);
    assert_eq!(fewer.matches("[[flow]]").count(), 1);
    assert!(!fewer.contains("limited") && fewer.contains("name = \"b\""));
    let listed = edit("flow = [{ name = \"a\" }]\n", &[("flow.1", Some("{ name = \"b\" }")), ("flow.0.start", Some("\"1 s\""))]).unwrap();
    assert_eq!(listed, "flow = [{ name = \"a\", start = \"1 s\" }, { name = \"b\" }]\n");
    assert_eq!(edit("[flow]\n", &[("flow.0.name", Some("\"x\""))]).unwrap(), "[flow]\nname = \"x\"\n");
    assert_eq!(edited(&[("flow.rwnd", Some("\"5 packets\""))]).matches("rwnd").count(), 2);
}

#[test]
fn new_tables_are_written_as_tables() {
    assert_eq!(
        edit("seed = 2\n", &[("topology.bottleneck.rate", Some("\"1 Mbit/s\""))]).unwrap(),
        "seed = 2\n\n[topology]\nbottleneck = { rate = \"1 Mbit/s\" }\n"
    );
    assert_eq!(edit("", &[("seed", Some("1"))]).unwrap(), "seed = 1\n");
    assert_eq!(
        edit("topology.kind = \"chain\"\n", &[("topology.access", Some("{}"))]).unwrap(),
        "topology.kind = \"chain\"\ntopology.access = {}\n"
    );
}

#[test]
fn a_path_means_the_key_of_a_setting() {
    let settings = [
        ("duration", "\"3 s\""),
        ("flow.rwnd", "\"9 packets\""),
        ("flow.0.slow_start.max_ssthresh", "\"20 segments\""),
        ("flow.1.avoidance", "{ kind = \"cubic\", c = 0.3 }"),
        ("topology.bottleneck.queue.kind", "\"codel\""),
        ("topology.bottleneck.queue", "{ kind = \"fq_codel\" }"),
    ];
    let read = |text: &str| Document::from_toml(text, "t.toml").unwrap();
    for (path, value) in settings {
        let mut set = read(TEXT);
        set.set(path, value).unwrap();
        assert_eq!(read(&edited(&[(path, Some(value))])).values(), set.values(), "{path}");
    }
}

#[test]
fn wrong_edits_say_why() {
    let cases: [(&str, &str, &str); 8] = [
        ("duration", "5 s", "duration: \"5 s\" is not a TOML value"),
        ("duration", "", "is not a TOML value"),
        ("duration", "1\nx = 2", "is not a TOML value"),
        ("duration.x", "1", "duration.x: duration is \"5 s\", so it has no key \"x\""),
        ("flow.5.name", "1", "flow.5.name: there is no flow 5: there are 2, counted from 0"),
        ("flow.2", "1", "flow.2: a flow must be a table"),
        ("a..b", "1", "a..b: this is not the path of a key"),
        ("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q", "1", "this is not the path of a key"),
    ];
    for (path, value, message) in cases {
        let error = edit(TEXT, &[(path, Some(value))]).unwrap_err();
        assert!(error.contains(message), "{path}: {error}");
    }
    let error = edit("a = 1\nb = = 2\n", &[]).unwrap_err();
    assert!(error.starts_with("2:5: this is not TOML: "), "{error}");
    let error = edit("seed = 1\n", &[("flow.0.name", Some("1"))]).unwrap_err();
    assert_eq!(error, "flow.0.name: there is no flow in the scenario");
}
