//! No division changes a run, and no request ends the laboratory.

mod common;

use ackclock_web::Laboratory;
use common::{SCENARIO, ask, open, read};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// The bytes of each column, and the digest, of a run in these pieces, and then the rest.
fn run(pieces: &[(Option<f64>, Option<u64>)]) -> (Vec<(String, Vec<u8>)>, String) {
    let mut laboratory = Laboratory::new();
    let run = open(&mut laboratory, SCENARIO);
    let mut columns: Vec<(String, Vec<u8>)> = Vec::new();
    let mut time = 0.0;
    for (until, events) in pieces.iter().copied().chain([(None, None)]) {
        let before = time;
        let answer = ask(&mut laboratory, &json!({ "do": "advance", "run": run, "until": until, "events": events })).good();
        time = answer.header["time"].as_f64().unwrap();
        // The last digit of a number in JSON is not exact.
        assert!(time >= before && until.is_none_or(|until| time <= until.max(before) + 1e-12), "{time} {until:?}");
        if columns.is_empty() {
            columns = answer.all();
        } else {
            columns.iter_mut().zip(answer.all()).for_each(|((_, all), (_, new))| all.extend(new));
        }
    }
    let digest = ask(&mut laboratory, &json!({ "do": "finish", "run": run })).good().header["digest"].to_string();
    (columns, digest)
}

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (0u32..4).prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        ".{0,12}".prop_map(Json::from),
        prop_oneof!["flow.0.rwnd", "topology.bottleneck.queue", "seed", "flow.slow_start.kind"].prop_map(Json::from),
        Just(Json::from(SCENARIO)),
        "[a-z. ]{1,6} = [0-9\"{}\\[\\]a-z= ]{0,8}\n(\\[\\[?flow\\]?\\]\n)?".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Json::from))
}

fn request() -> impl Strategy<Value = Json> {
    let name = prop_oneof!["describe", "check", "edit", "open", "advance", "finish", "close", "[a-z]{3}"];
    let key = prop_oneof!["text", "name", "settings", "set", "run", "until", "events", "record"];
    (name, prop::collection::btree_map(key, value(), 0..5)).prop_map(|(name, members)| {
        let mut request = json!({ "do": name });
        for (key, value) in members {
            request[key] = value;
        }
        request
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_division_changes_the_rows(pieces in prop::collection::vec((prop::option::of(-0.5..2.5f64), prop::option::of(0..900u64)), 0..12)) {
        // Without bounds a piece is the whole run.
        let pieces: Vec<_> = pieces.into_iter().filter(|piece| piece != &(None, None)).collect();
        prop_assert!(run(&pieces) == run(&[]), "{pieces:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_has_an_answer(requests in prop::collection::vec(request(), 1..8), junk in ".{0,40}") {
        let mut laboratory = Laboratory::new();
        open(&mut laboratory, "duration = \"10 ms\"\n[flow]\n");
        for request in requests {
            let answer = ask(&mut laboratory, &request);
            if answer.header.get("error").is_some() {
                prop_assert!(!answer.error().contains("internal error"), "{request}: {}", answer.error());
            }
        }
        read(&laboratory.handle(&junk));
        ask(&mut laboratory, &json!({ "do": "check", "text": SCENARIO })).good();
    }
}
