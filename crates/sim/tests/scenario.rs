//! Scenarios through the public interface: the examples, freezing, and robustness against any text.

use ackclock_sim::scenario::{Document, SweepData};
use proptest::prelude::*;

fn document(text: &str) -> Document {
    Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

const ONE: &str = "duration = \"10 s\"\n[flow]\n";

/// The root of the repository.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The examples of the repository.
fn examples() -> Vec<(String, String)> {
    files(&format!("{ROOT}/scenarios"))
}

/// The TOML files in a folder.
fn files(folder: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files.into_iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
}

/// The scenarios of all papers: every TOML file with a duration, and settings for paths where a file leaves them open.
fn papers() -> Vec<(String, String)> {
    let mut folders: Vec<_> = std::fs::read_dir(format!("{ROOT}/papers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let scenarios = folders.iter().filter(|path| path.is_dir()).flat_map(|folder| files(&folder.display().to_string()));
    scenarios.filter(|(_, text)| text.lines().any(|line| line.starts_with("duration"))).collect()
}

#[test]
fn every_example_is_sound_in_every_variant() {
    assert!(examples().len() >= 6);
    for (name, text) in examples() {
        let document = Document::from_toml(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        for variant in document.points(&SweepData::default()).unwrap_or_else(|error| panic!("{error}")).iter() {
            variant.document.scenario().unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn a_frozen_scenario_is_the_same_scenario() {
    for (name, text) in examples() {
        assert_frozen_is_same(&Document::from_toml(&text, &name).unwrap());
    }
    assert_frozen_is_same(&document(&format!(
        "name = 'quote \" and \\\\ and \u{e9}\\u007f'\n{ONE}name = \"\\u007f\\n\"\ninitial_ssthresh = \"unlimited\""
    )));
}

#[test]
fn freezing_a_run_of_a_paper_twice_changes_nothing() {
    let mut count = 0;
    for (name, text) in papers() {
        let document = Document::from_toml(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        let points = document.points(&SweepData::default()).unwrap_or_else(|error| panic!("{error}"));
        // Runs of one axis differ in one key: a few of each sweep suffice.
        for variant in points.iter().step_by(points.len().div_ceil(40)) {
            assert_frozen_is_same(&variant.document);
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

fn assert_frozen_is_same(document: &Document) {
    let frozen = document.frozen().unwrap_or_else(|error| panic!("{error}"));
    let again = Document::from_toml(&frozen, "frozen.toml").unwrap_or_else(|error| panic!("{error}\n{frozen}"));
    let scenarios =
        [document, &again].map(|document| format!("{:?}", document.scenario().unwrap_or_else(|error| panic!("{error}\n{frozen}"))));
    assert_eq!(scenarios[0], scenarios[1]);
    assert_eq!(again.frozen(), Ok(frozen));
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("[{}]", vec!["a"; 70].join(".")),
        format!("a = {}1{}", format!("{{ {} = ", vec!["b"; 70].join(".")).repeat(70), "}".repeat(70)),
    ] {
        assert!(Document::from_toml(&text, "t.toml").is_err());
        let mut document = document(ONE);
        let _ = document.set(&text, &text);
        let _ = document.set("flow", &text);
    }
    let json = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert!(Document::from_json(&json, "t").is_err());
}

/// Words for mutated scenarios.
const WORDS: [&str; 45] = [
    "duration",
    "flow",
    "[flow]",
    "[[flow]]",
    "topology",
    "[topology]",
    "kind",
    "=",
    "\"1 s\"",
    "\"dumbbell\"",
    "\"explicit\"",
    "node",
    "link",
    "[[topology.link]]",
    "from",
    "to",
    "\"a\"",
    "\"b\"",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "\n",
    "1",
    "-1",
    "1e400",
    "nan",
    "\"1 BDP\"",
    "queue",
    "bottleneck",
    "loss",
    "\"9999999999999999999 %\"",
    "sweep",
    "[sweep]",
    "[sweep.sample]",
    "[sweep.zip.a]",
    "[sweep.paths]",
    "from",
    "scale",
    "count",
    "\"é\"",
    "\"-0 Gbit/s\"",
    "access_delays",
];

/// Reads, validates, freezes and expands. No input may cause a panic.
fn exercise(text: &str) {
    for document in [Document::from_toml(text, "t.toml"), Document::from_json(text, "t.json")] {
        let Ok(document) = document else { continue };
        let needs = document.sweep_needs().ok().and_then(|needs| needs.sample);
        let sample = needs.map(|sample| vec![0.5; sample.count.min(1 << 16) * sample.dimensions].into());
        let _ = document.points(&SweepData { sample, table: None }).map(|points| points.get(points.len() / 2));
        if let Ok(frozen) = document.frozen() {
            let _ = Document::from_toml(&frozen, "frozen.toml")
                .unwrap_or_else(|error| panic!("{error}"))
                .scenario()
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in ".{0,200}") {
        exercise(&text);
    }

    #[test]
    fn no_words_make_it_panic(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        exercise(&words.join(" "));
    }

    #[test]
    fn no_mutation_makes_it_panic(example in 0..6_usize, at in any::<prop::sample::Index>(), length in 0..12_usize, word in prop::sample::select(&WORDS[..])) {
        let (_, text) = examples().swap_remove(example);
        let characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        let rest = characters[(at + length).min(characters.len())..].iter();
        let mutated: String = characters[..at].iter().copied().chain(word.chars()).chain(rest.copied()).collect();
        exercise(&mutated);
    }

    #[test]
    fn no_setting_makes_it_panic(path in "[a-z_.0-9]{0,30}", value in ".{0,20}", known in prop::sample::select(vec!["flow.", "topology.bottleneck.", "topology.", "flow.0.slow_start.", ""])) {
        let mut document = document(ONE);
        let _ = document.set(&format!("{known}{path}"), &value);
        let _ = document.scenario();
    }

    #[test]
    fn frozen_is_the_same_for_any_quantities(
        (duration, start, jitter) in (1..1_000_000_000_000_000_000_u64, 0..1_000_000_000_000_000_000_u64, 0..1_000_000_000_u64),
        (rate, delay) in (1..1_000_000_000_000_000_u64, 0..1_000_000_000_000_000_u64),
        loss in 0.0..=1.0_f64,
        (window, seed, count) in (1.0..1e6_f64, any::<u64>(), 1..5_u64),
    ) {
        let text = format!(
            "duration = \"{duration} ns\"\nseed = {seed}\ntopology.kind = \"dumbbell\"\n\
             topology.bottleneck = {{ rate = \"{rate} bit/s\", delay = \"{delay} ns\", queue = \"1 BDP\", loss = \"{} %\" }}\n\
             flow = {{ count = {count}, start = \"{start} ns\", start_jitter = \"{jitter} ns\", initial_window = \"{window} segments\" }}",
            loss * 100.0,
        );
        // Near 1, the percentage can round to just above 100 %.
        if let Ok(document) = Document::from_toml(&text, "t.toml") && document.scenario().is_ok() {
            assert_frozen_is_same(&document);
        }
    }
}
