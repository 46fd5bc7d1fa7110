//! Every request, and what is wrong with wrong ones.

mod common;

use ackclock_sim::columns::seconds;
use ackclock_sim::engine::{digest, run};
use ackclock_sim::scenario::{Document, TraceKind, registry_json};
use ackclock_web::{Laboratory, MOST_RUNS};
use common::{SCENARIO, ask, open, read};
use serde_json::{Value as Json, json};

fn problems(header: &Json) -> &[Json] {
    header["error"]["problems"].as_array().unwrap()
}

#[test]
fn describes_schema_parts_hosts_and_columns() {
    let answer = ask(&mut Laboratory::new(), &json!({ "do": "describe" })).good().header;
    assert_eq!(answer["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(answer["schema"]["properties"]["duration"]["type"], "string");
    let names = |parts: &Json| parts["queue"].as_array().unwrap().iter().map(|part| part["name"].clone()).collect::<Vec<_>>();
    let (offered, mut all) = (names(&answer["parts"]), names(&registry_json()));
    assert!(all.contains(&json!("qdisc")), "a kernel's, which no page has");
    all.retain(|name| name != "qdisc");
    assert_eq!(offered, all);
    assert!(!answer["hosts"].as_array().unwrap().is_empty());
    let traces: Vec<&String> = answer["traces"].as_object().unwrap().keys().collect();
    assert_eq!(traces, TraceKind::ALL.map(|(name, _)| name));
    assert_eq!(answer["traces"]["cwnd"]["columns"][2]["unit"], "segments");
    assert!(answer["tables"]["flows"]["columns"].as_array().unwrap().len() > 10);
}

#[test]
fn a_byte_holds_the_code_of_every_word() {
    // Each axis gives one part to a flow or queue, and a trace has the words of all flows.
    let parts = registry_json();
    let quantities = parts
        .as_object()
        .unwrap()
        .values()
        .flat_map(|axis| axis.as_array().unwrap())
        .flat_map(|part| part["quantities"].as_array().unwrap().iter().map(|quantity| quantity["name"].to_string()));
    let names: std::collections::BTreeSet<String> = quantities.collect();
    assert!((1..256).contains(&names.len()), "{}", names.len());
}

#[test]
fn checks_a_scenario() {
    let request = json!({ "do": "check", "text": SCENARIO, "name": "two.toml", "settings": [["seed", "5"]] });
    let answer = ask(&mut Laboratory::new(), &request).good().header;
    let scenario = &answer["scenario"];
    assert_eq!([&scenario["name"], &scenario["seed"], &scenario["duration"]], [&json!("two"), &json!(5), &json!(2.0)]);
    assert_eq!(scenario["flows"], json!(["a", "b"]));
    let slowest = scenario["links"].as_array().unwrap().iter().find(|link| link["name"] == scenario["bottleneck"]).unwrap();
    assert_eq!([&slowest["rate"], &slowest["delay"], &slowest["queue"]], [&json!(5_000_000), &json!(0.01), &json!("codel")]);
    assert_eq!(scenario["record"].as_array().unwrap().len(), TraceKind::ALL.len());
    assert_eq!([&answer["values"]["seed"], &answer["values"]["flow"][1]["avoidance"]], [&json!(5), &json!("veno")]);
    let frozen = answer["frozen"].as_str().unwrap();
    assert_eq!(answer["hash"], digest(frozen));
    assert_eq!(Document::from_toml(frozen, "x.toml").unwrap().frozen().unwrap(), frozen);
}

#[test]
fn problems_have_places() {
    let mut laboratory = Laboratory::new();
    let mut check = |text: &str, settings: Json| ask(&mut laboratory, &json!({ "do": "check", "text": text, "settings": settings }));
    let wrong = check("duration = \"1 s\"\n[flow]\nslow_start = \"limitd\"\nrwndd = 3\n", json!([]));
    let lines: Vec<&Json> = problems(&wrong.header).iter().map(|problem| &problem["line"]).collect();
    assert_eq!(lines, [3, 4]);
    assert_eq!(problems(&wrong.header)[0]["key"], "flow.0.slow_start");
    assert!(wrong.error().starts_with("scenario.toml:3: flow.0.slow_start: "), "{}", wrong.error());
    assert!(wrong.error().contains("did you mean \"limited\"?"), "{}", wrong.error());
    let broken = check("duration = \"1 s\"\na = = 1\n", json!([]));
    assert_eq!([&problems(&broken.header)[0]["line"], &problems(&broken.header)[0]["column"]], [2, 5]);
    let setting = check("duration = \"1 s\"\n[flow]\n", json!([["seed", "x"]]));
    assert_eq!([&problems(&setting.header)[0]["line"], &problems(&setting.header)[0]["setting"]], [&Json::Null, &json!("--set seed=x")]);
}

#[test]
fn no_file_is_read() {
    let text = "duration = \"1 s\"\n[flow]\nprofile = \"modern\"\n[flow.application]\nkind = \"web\"\nhar = \"/etc/passwd\"\n";
    for request in ["check", "open"] {
        let answer = ask(&mut Laboratory::new(), &json!({ "do": request, "text": text }));
        assert_eq!(problems(&answer.header)[0]["line"], 6);
        assert!(answer.error().contains("files cannot be read here"), "{}", answer.error());
    }
}

#[test]
fn a_run_gives_the_rows_and_the_summary_of_the_native_run() {
    let mut laboratory = Laboratory::new();
    let opened = ask(&mut laboratory, &json!({ "do": "open", "text": SCENARIO, "settings": [["seed", "3"]], "record": ["cwnd", "marks"] }));
    assert_eq!(opened.good().header["scenario"]["record"], json!(["cwnd", "marks"]));
    let half = ask(&mut laboratory, &json!({ "do": "advance", "run": 1, "until": 1.0 })).good();
    assert_eq!([&half.header["time"], &half.header["done"], &half.header["duration"]], [&json!(1.0), &json!(false), &json!(2.0)]);
    let rest = ask(&mut laboratory, &json!({ "do": "advance", "run": 1 })).good();
    assert_eq!([&rest.header["time"], &rest.header["done"]], [&json!(2.0), &json!(true)]);
    let finished = ask(&mut laboratory, &json!({ "do": "finish", "run": 1 })).good().header;

    let mut document = Document::from_toml(SCENARIO, "scenario.toml").unwrap();
    document.set("seed", "3").unwrap();
    let mut scenario = document.scenario().unwrap();
    scenario.record = vec![TraceKind::Cwnd, TraceKind::Marks];
    let result = run(&scenario, &mut || false).unwrap();
    assert_eq!(finished["digest"], result.digest());
    assert_eq!(finished["summary"]["hash"], digest(&document.frozen().unwrap()));
    assert_eq!(finished["summary"]["events"], result.events);
    assert_eq!(finished["summary"]["flows"][1]["delivered_bytes"], result.flows[1].delivered_bytes);
    let windows = result.traces.cwnd.unwrap().cwnd;
    // Two flows, whose rows the run sorts by time.
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for frame in [&half, &rest] {
        rows.extend(frame.doubles("cwnd", "time").into_iter().zip(frame.doubles("cwnd", "cwnd")));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(rows.into_iter().map(|(_, window)| window).collect::<Vec<_>>(), windows);
}

#[test]
fn the_last_rows_are_those_of_the_native_run() {
    // Two seconds end while packets wait, whose transmissions would only be written by the next arrivals.
    let text = "duration = '2 s'\ntopology = { kind = 'dumbbell', bottleneck = { rate = '1 Mbit/s', delay = '20 ms' } }\n[[flow]]\nstart = '1.9 s'\n";
    let mut laboratory = Laboratory::new();
    ask(&mut laboratory, &json!({ "do": "open", "text": text, "record": ["queue"] })).good();
    let rows = ask(&mut laboratory, &json!({ "do": "advance", "run": 1 })).good();
    let mut scenario = Document::from_toml(text, "scenario.toml").unwrap().scenario().unwrap();
    scenario.record = vec![TraceKind::Queue];
    let mut times = rows.doubles("queue", "time");
    times.sort_by(f64::total_cmp);
    let native = run(&scenario, &mut || false).unwrap().traces.queue.unwrap().time;
    assert_eq!(times, native.into_iter().map(seconds).collect::<Vec<_>>());
}

#[test]
fn finish_runs_what_is_left() {
    let mut laboratory = Laboratory::new();
    let digests = [None, Some(0.0), Some(0.7)].map(|until| {
        let run = open(&mut laboratory, SCENARIO);
        if until.is_some() {
            ask(&mut laboratory, &json!({ "do": "advance", "run": run, "until": until, "events": 10 })).good();
        }
        ask(&mut laboratory, &json!({ "do": "finish", "run": run })).good().header["digest"].to_string()
    });
    assert!(digests.iter().all(|digest| digest == &digests[0]), "{digests:?}");
}

#[test]
fn words_and_indices_are_described() {
    let mut laboratory = Laboratory::new();
    let run = open(&mut laboratory, SCENARIO);
    let first = ask(&mut laboratory, &json!({ "do": "advance", "run": run, "until": 0.2 })).good();
    let second = ask(&mut laboratory, &json!({ "do": "advance", "run": run })).good();
    let words = |frame: &common::Frame| frame.header["tables"]["internals"]["columns"][2]["words"].as_array().unwrap().clone();
    let (before, after) = (words(&first), words(&second));
    assert!(before.len() < after.len(), "flow b starts after the first answer");
    assert_eq!(before, after[..before.len()]);
    assert!(second.column("internals", "name").iter().all(|code| usize::from(*code) < after.len()));
    assert_eq!(second.header["tables"]["queue"]["columns"][1]["names"], "links");
    assert_eq!(second.header["tables"]["drops"]["columns"][2]["names"], "flows");
    // A sender without a sample of the round-trip time has no smoothed one.
    assert!(first.doubles("rtt", "rto").iter().all(|rto| *rto > 0.0));
}

#[test]
fn wrong_requests_are_answered() {
    let mut laboratory = Laboratory::new();
    let wrong = [
        ("", "this is not a request: EOF"),
        ("[1]", "this is not a request: "),
        ("{\"do\": \"describ\"}", "unknown variant `describ`, expected one of `describe`"),
        ("{\"text\": \"\"}", "missing field `do`"),
        ("{\"do\": \"check\"}", "missing field `text`"),
        ("{\"do\": \"check\", \"text\": \"\", \"file\": 1}", "unknown field `file`, expected one of `text`"),
        ("{\"do\": \"advance\", \"run\": 4}", "run: there is no run 4 (no run is open)"),
        ("{\"do\": \"advance\", \"run\": -1}", "invalid value: integer `-1`"),
        ("{\"do\": \"finish\", \"run\": 1}", "run: there is no run 1"),
        ("{\"do\": \"close\", \"run\": 1}", "run: there is no run 1"),
        (
            "{\"do\": \"open\", \"text\": \"duration = '1 s'\\n[flow]\", \"record\": [\"cwn\"]}",
            "record: there is no trace \"cwn\"; did you mean \"cwnd\"?",
        ),
    ];
    for (request, message) in wrong {
        let answer = read(&laboratory.handle(request));
        assert!(answer.error().contains(message), "{request}: {}", answer.error());
    }
}

#[test]
fn open_runs_are_limited() {
    let mut laboratory = Laboratory::new();
    let runs: Vec<u64> = (0..MOST_RUNS).map(|_| open(&mut laboratory, "duration = \"1 s\"\n[flow]\n")).collect();
    let again = json!({ "do": "open", "text": "duration = \"1 s\"\n[flow]\n" });
    assert!(ask(&mut laboratory, &again).error().contains("64 runs are open; finish or close one of them"));
    ask(&mut laboratory, &json!({ "do": "close", "run": runs[7] })).good();
    let next = ask(&mut laboratory, &again).good().header["run"].as_u64().unwrap();
    assert!(!runs.contains(&next), "numbers are not used again");
    let gone = ask(&mut laboratory, &json!({ "do": "advance", "run": runs[7] }));
    assert!(gone.error().starts_with("run: there is no run 8 (open: 1, 2, "), "{}", gone.error());
}

#[test]
fn a_part_made_in_python_cannot_run() {
    let answer =
        ask(&mut Laboratory::new(), &json!({ "do": "open", "text": "duration = \"1 s\"\n[flow]\ncongestion_control = \"python\"\n" }));
    assert!(answer.error().contains("Python"), "{}", answer.error());
}

/// A link that varies in one direction, over 10 s.
fn varying(keys: &str) -> String {
    format!("duration = \"10 s\"\n[topology.bottleneck]\nreverse = {{ rate = \"4 Mbit/s\", delay = \"7 ms\" }}\n{keys}\n[flow]\n")
}

#[test]
fn the_path_over_time_has_what_varies_in_either_direction() {
    let laboratory = &mut Laboratory::new();
    let steps = "rate = { kind = \"schedule\", steps = [[\"0 s\", \"20 Mbit/s\"], [\"5 s\", \"0 bit/s\"], [\"6 s\", \"4 Mbit/s\"]] }";
    for (keys, wanted) in [
        ("", vec![]),
        (steps, vec!["rate"]),
        ("delay = { kind = \"jitter\", delay = \"30 ms\", jitter = \"10 ms\" }", vec!["delay", "least", "largest"]),
        ("loss = \"5 %\"", vec!["loss"]),
    ] {
        let run = open(laboratory, &varying(keys));
        let answer = ask(laboratory, &json!({ "do": "path", "run": run })).good();
        let table = &answer.header["tables"]["path"];
        let names: Vec<&str> = table["columns"].as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
        assert_eq!(names, [vec!["time", "link"], wanted.clone()].concat());
        assert_eq!(table["rows"], if wanted.is_empty() { 0 } else { 600 });
        if wanted == ["rate"] {
            let (times, rates) = (answer.doubles("path", "time"), answer.doubles("path", "rate"));
            let at = |link: usize, second: f64| rates[300 * link + (30.0 * second) as usize];
            // One packet of 12 kbit in a thirtieth of a second can be on either side of a step.
            for (second, rate) in [(1.0, 20e6), (5.5, 0.0), (8.0, 4e6)] {
                assert!((at(0, second) - rate).abs() <= 30.0 * 12e3, "{second} s: {}", at(0, second));
            }
            assert!((0..10).all(|second| (at(1, f64::from(second)) / 4e6 - 1.0).abs() < 1e-9));
            assert!(times[..300].is_sorted() && times[300] < times[299]);
        }
        // The run goes on.
        assert_eq!(ask(laboratory, &json!({ "do": "advance", "run": run })).good().header["done"], true);
        ask(laboratory, &json!({ "do": "close", "run": run })).good();
    }
}
