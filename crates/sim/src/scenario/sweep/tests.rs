use std::path::PathBuf;
use std::sync::Arc;

use ackclock_core::units::Limit;
use proptest::prelude::*;

use super::*;
use crate::scenario::{ControlSpec, Document, Scenario, Variant};

const ONE: &str = "duration = \"10 s\"\n[flow]\n";

fn document(text: &str) -> Document {
    Document::from_toml(text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn points(text: &str) -> Points {
    document(text).points(&SweepData::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn variants(text: &str) -> Vec<Variant> {
    points(text).iter().collect()
}

/// The message about the lines `sweep` below `[sweep]`, which is line 3.
fn sweep(lines: &str) -> String {
    let points = document(&format!("{ONE}[sweep]\n{lines}\n")).points(&SweepData::default());
    points.map_or_else(|error| error.to_string(), |_| String::new())
}

/// The labels of every run, joined by slashes.
fn labels(points: &Points) -> Vec<String> {
    points.iter().map(|variant| variant.labels.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>().join("/")).collect()
}

fn checked(points: &Points, index: usize) -> Scenario {
    points.get(index).unwrap().document.scenario().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_sweep_is_a_grid_in_the_order_of_the_file() {
    let text = "duration = \"1 s\"\nflow = {}\n[sweep]\n\"topology.bottleneck.queue.limit\" = [\"5 packets\", \"9 packets\"]\nseed = { from = 1, to = 3 }\n[sweep.algorithm]\n\"1\" = { \"flow.slow_start\" = \"limited\", \"flow.loss_response\" = \"halve\" }\n";
    let found = variants(text);
    assert_eq!(
        labels(&points(text)),
        ["5 packets/1/1", "5 packets/2/1", "5 packets/3/1", "9 packets/1/1", "9 packets/2/1", "9 packets/3/1"]
    );
    let axes: Vec<&str> = found[0].labels.iter().map(|(axis, _)| axis.as_str()).collect();
    assert_eq!(axes, ["topology.bottleneck.queue.limit", "seed", "algorithm"]);
    let last = checked(&points(text), 5);
    let limit = last.links[2].queue.as_ref().unwrap().discipline.params.limit("limit");
    let ControlSpec::Composed(composed) = &last.flows[0].control else { panic!("not composed") };
    assert_eq!((limit, last.seed, composed.slow_start.name()), (Limit::Packets(9), 3, "limited"));
    assert_eq!(variants(ONE).len(), 1);
    // TOML reads a path without quotes as nested tables.
    let found = variants(&format!("{ONE}[sweep]\ntopology.bottleneck.rate = [\"1 Mbit/s\"]\nflow.rwnd = [\"1 packet\", \"2 packets\"]\n"));
    assert_eq!(
        found[1].labels,
        [("topology.bottleneck.rate".to_owned(), "1 Mbit/s".to_owned()), ("flow.rwnd".to_owned(), "2 packets".to_owned())]
    );
}

#[test]
fn wrong_sweeps_are_named() {
    assert_eq!(sweep("seed = []"), "t.toml:4: sweep.seed: has no values");
    assert_eq!(sweep("seed = [1, 1]"), "t.toml:4: sweep.seed: has \"1\" twice");
    assert_eq!(sweep("seed = { from = 3, to = 1 }"), "t.toml:4: sweep.seed: a range must increase: from ≤ to, step ≥ 1");
    assert_eq!(sweep("seed = { from = 1 }"), "t.toml:4: sweep.seed: a range needs whole numbers: { from = 1, to = 30 }");
    assert_eq!(sweep("seed = { from = 1, to = 9000000000000000000 }"), "t.toml:4: sweep.seed: has more than 1000000 values");
    assert_eq!(sweep("seed = 3"), "t.toml:4: sweep.seed: must be a list of values or a range { from = 1, to = 30 }, but is the number 3");
    assert_eq!(sweep("\"duration.x\" = [1]"), "t.toml:4: sweep.duration.x: duration is the text \"10 s\", so it has no key \"x\"");
    assert_eq!(
        sweep("seed = { from = 1, to = 1000 }\n\"flow.rwnd\" = { from = 1, to = 1000 }\nname = [\"a\", \"b\"]"),
        "t.toml:3: sweep: makes more than 1000000 variants"
    );
    let found = variants(&format!("{ONE}[sweep]\n\"flow.rwnd\" = [\"1 packet\", 2]\n"));
    let error = found[1].document.scenario().map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(error, "t.toml:4: flow.0.rwnd: a number of packets needs a unit; did you mean \"2 packets\"?");
}

#[test]
fn a_setting_that_the_sweep_would_override_is_rejected() {
    let text = "duration = \"1 s\"\nflow = {}\n[sweep]\n\"topology.bottleneck.queue\" = [\"5 packets\", \"red\"]\n[sweep.host]\na = { \"flow.rwnd\" = \"9 packets\" }\n";
    for (key, value, axis) in [
        ("topology.bottleneck.queue", "codel", "topology.bottleneck.queue"),
        ("topology.bottleneck.queue.limit", "9 packets", "topology.bottleneck.queue"),
        ("flow.rwnd", "7 packets", "host"),
    ] {
        let error = document(text).set(key, value).unwrap_err().to_string();
        let expected = format!("--set {key}={value}: {key}: is set by the axis \"{axis}\" of [sweep], which would override this value");
        assert_eq!(error, expected);
    }
    document(text).set("topology.bottleneck.rate", "1 Mbit/s").unwrap();
    document(text).set("topology.bottleneck", "{ rate = \"1 Mbit/s\" }").unwrap();
}

#[test]
fn ranges_are_exact_at_both_ends_and_keep_one_unit() {
    let of = |lines: &str| labels(&points(&format!("{ONE}[sweep]\n{lines}\n")));
    assert_eq!(
        of("\"topology.bottleneck.rate\" = { from = \"1 Mbit/s\", to = \"1 Gbit/s\", count = 7, scale = \"log\" }"),
        ["1 Mbit/s", "3.16228 Mbit/s", "10 Mbit/s", "31.6228 Mbit/s", "100 Mbit/s", "316.228 Mbit/s", "1000 Mbit/s"]
    );
    assert_eq!(of("\"flow.start\" = { from = \"0 ms\", to = \"0.1 s\", count = 3 }"), ["0 ms", "50 ms", "100 ms"]);
    assert_eq!(
        of("\"topology.bottleneck.loss\" = { from = \"0.001 %\", to = \"10 %\", count = 5, scale = \"log\" }"),
        ["0.001 %", "0.01 %", "0.1 %", "1 %", "10 %"]
    );
    // Whole numbers of packets and bytes.
    assert_eq!(
        of("\"flow.rwnd\" = { from = \"1 packet\", to = \"100 packets\", count = 4, scale = \"log\" }"),
        ["1 packet", "5 packets", "22 packets", "100 packets"]
    );
    assert_eq!(of("\"flow.packet_size\" = { from = \"500 B\", to = \"1.5 kB\", count = 4 }"), ["500 B", "833 B", "1167 B", "1500 B"]);
    assert_eq!(of("\"flow.packet_size\" = { from = \"1.001 kB\", to = \"1.003 kB\", count = 3 }"), ["1.001 kB", "1.002 kB", "1.003 kB"]);
    assert_eq!(of("seed = { from = 1, to = 1000, count = 4, scale = \"log\" }"), ["1", "10", "100", "1000"]);
    assert_eq!(
        of("\"topology.bottleneck.queue.limit\" = { from = \"0.25 BDP\", to = \"4 BDP\", count = 5, scale = \"log\" }"),
        ["0.25 BDP", "0.5 BDP", "1 BDP", "2 BDP", "4 BDP"]
    );
    // 100 s is no decimal number of minutes.
    assert_eq!(of("duration = { from = \"1 min\", to = \"100 s\", count = 2 }"), ["1 min", "100 s"]);
    assert_eq!(of("\"flow.slow_start.x\" = { from = -0.5, to = 1, count = 4 }"), ["-0.5", "0", "0.5", "1"]);
    let narrow = points(&format!("{ONE}[sweep]\n\"flow.start\" = {{ from = \"10 s\", to = \"10.0001 s\", count = 100001 }}\n"));
    assert_eq!(narrow.get(99_999).unwrap().labels[0].1, "10.000099999 s");
    let scenario = checked(&points(&format!("{ONE}[sweep]\n\"flow.start\" = {{ from = \"0.1 s\", to = \"1 s\", count = 4 }}\n")), 3);
    assert_eq!(scenario.flows[0].start.as_nanos(), 1_000_000_000);
}

#[test]
fn wrong_ranges_are_named() {
    let range = |entries: &str| sweep(&format!("\"flow.start\" = {{ {entries} }}")).replace("t.toml:4: sweep.flow.start: ", "");
    assert!(range("from = \"1 ms\", to = \"1 s\"").starts_with("this range needs count"));
    assert!(range("from = \"1 ms\", too = \"1 s\", count = 3").starts_with("there is no key \"too\"; did you mean \"to\"?"));
    assert_eq!(
        range("from = \"1 ms\", to = \"1 s\", count = 3, scale = \"logg\""),
        "there is no scale \"logg\"; did you mean \"log\"? (known: linear, log)"
    );
    assert_eq!(range("from = \"1 ms\", to = \"1 s\", count = 1"), "count must be from 2 to 1000000, but is 1");
    assert_eq!(range("from = 1, to = 9, count = 2, step = 2"), "count and step exclude each other");
    assert!(range("from = \"1 msec\", to = \"1 s\", count = 3").starts_with("from: unknown unit \"msec\"; did you mean \"ms\"?"));
    assert_eq!(
        range("from = \"1 ms\", to = \"1 Mbit/s\", count = 3"),
        "from and to must have units of one kind, but from has the unit \"ms\" and to has the unit \"Mbit/s\""
    );
    assert_eq!(range("from = \"0 ms\", to = \"1 s\", count = 3, scale = \"log\""), "a logarithmic range must begin above 0");
    assert_eq!(range("from = \"1 s\", to = \"1 ms\", count = 3"), "a range must increase: from < to");
    assert_eq!(sweep("seed = { from = 1, to = 3, count = 9 }"), "t.toml:4: sweep.seed: has \"1\" twice");
}

#[test]
fn zipped_keys_advance_together() {
    let text = format!(
        "{ONE}[sweep]\nseed = [1, 2]\n[sweep.zip.path]\ntopology.bottleneck.rate = [\"1 Mbit/s\", \"8 Mbit/s\"]\n\
         \"topology.bottleneck.delay\" = {{ from = \"10 ms\", to = \"20 ms\", count = 2 }}\n"
    );
    let zipped = points(&text);
    assert_eq!(labels(&zipped), ["1/1 Mbit/s/10 ms", "1/8 Mbit/s/20 ms", "2/1 Mbit/s/10 ms", "2/8 Mbit/s/20 ms"]);
    assert_eq!(zipped.get(0).unwrap().labels[1].0, "topology.bottleneck.rate");
    assert_eq!(checked(&zipped, 3).links[2].rate.mean().as_bits_per_sec(), 8_000_000);
    assert_eq!(
        sweep("[sweep.zip.path]\n\"flow.rwnd\" = [\"1 packet\"]\nseed = [1, 2]"),
        "t.toml:6: sweep.zip.path.seed: has 2 values, but flow.rwnd (line 5) has 1: zipped keys advance together"
    );
    assert_eq!(sweep("[sweep.zip.path]\nseed = [1, 1]\nname = [\"a\", \"a\"]"), "t.toml:4: sweep.zip.path: has \"1, a\" twice");
    assert_eq!(sweep("[sweep.zip.path]"), "t.toml:4: sweep.zip.path: has no values");
    assert!(sweep("zip = [1]").starts_with("t.toml:4: sweep.zip: must be a table of tables"));
    assert_eq!(
        sweep("seed = [1, 2]\n[sweep.zip.path]\nseed = [3, 4]"),
        "t.toml:5: sweep.zip.path: sets seed, which sweep.seed (line 4) sets already"
    );
    // A named value may override a value of an earlier axis.
    let named = points(&format!("{ONE}[sweep]\nseed = [1, 2]\n[sweep.a]\nx = {{}}\ny = {{ seed = 3 }}\n"));
    let seeds: Vec<u64> = (0..4).map(|index| checked(&named, index).seed).collect();
    assert_eq!(seeds, [1, 3, 2, 3]);
    let error = document(&text).set("topology.bottleneck.delay", "1 ms").unwrap_err().to_string();
    assert!(error.contains("is set by the axis \"zip.path\" of [sweep]"), "{error}");
}

const SAMPLE: &str = "[sweep.sample]\nmethod = \"sobol\"\ncount = 4\n[sweep.sample.keys]\n\
                      \"topology.bottleneck.rate\" = { from = \"1 Mbit/s\", to = \"100 Mbit/s\", scale = \"log\" }\n\
                      flow.rwnd = { from = \"1 packet\", to = \"4 packets\" }\n\"flow.slow_start\" = [\"standard\", \"limited\"]\n";

#[test]
fn samples_map_points_of_the_cube_to_values() {
    let document = document(&format!("{ONE}{SAMPLE}"));
    let request = SampleRequest { method: "sobol", count: 4, seed: 1, dimensions: 3 };
    assert_eq!(document.sweep_needs().unwrap().sample, Some(request));
    // The first points of the Sobol sequence, and the corner that it never reaches.
    let cube = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [1.0, 1.0, 1.0]].concat();
    let points = |cube: &[f64]| document.points(&SweepData { sample: Some(cube.into()), table: None });
    let found = points(&cube).unwrap();
    assert_eq!(
        labels(&found),
        ["1 Mbit/s/1 packet/standard", "10 Mbit/s/3 packets/limited", "31.6228 Mbit/s/2 packets/standard", "100 Mbit/s/4 packets/limited"]
    );
    assert_eq!(checked(&found, 2).links[2].rate.mean().as_bits_per_sec(), 31_622_800);
    for wrong in [&cube[..11], &[f64::NAN; 12], &[1.5; 12]] {
        assert!(points(wrong).unwrap_err().to_string().contains("needs 4 points of the unit cube with 3 coordinates each"));
    }
    let error = document.points(&SweepData::default()).unwrap_err().to_string();
    assert!(error.starts_with("t.toml:3: sweep.sample: needs random points, which the Python package draws"), "{error}");
    assert!(document.scenario().is_ok());
}

#[test]
fn whole_numbers_are_drawn_with_equal_probability() {
    let text = format!("{ONE}[sweep.sample]\nmethod = \"random\"\ncount = 600\nkeys.seed = {{ from = 1, to = 6 }}\n");
    let sample = (0..600).map(|index| (f64::from(index) + 0.5) / 600.0).collect();
    let points = document(&text).points(&SweepData { sample: Some(sample), table: None }).unwrap();
    let labels = labels(&points);
    for number in 1..=6 {
        assert_eq!(labels.iter().filter(|label| **label == number.to_string()).count(), 100, "{number}");
    }
}

#[test]
fn wrong_samples_are_named() {
    let wrong = |old: &str, new: &str| {
        let error =
            document(&format!("{ONE}{}", SAMPLE.replace(old, new))).scenario().map_or_else(|error| error.to_string(), |_| String::new());
        assert!(!error.is_empty(), "{new}");
        error
    };
    assert_eq!(
        wrong("sobol", "sobl"),
        "t.toml:4: sweep.sample.method: there is no method \"sobl\"; did you mean \"sobol\"? (known: random, latin-hypercube, sobol)"
    );
    assert_eq!(wrong("= 4\n", "= 100\n"), "t.toml:5: sweep.sample.count: must be a power of two for sobol, but is 100; did you mean 128?");
    assert_eq!(wrong("= 4\n", "= 0\n"), "t.toml:5: sweep.sample.count: must be a whole number from 1 to 1000000, but is the number 0");
    assert!(wrong("count", "coutn").contains("t.toml:5: sweep.sample.coutn: there is no key \"coutn\"; did you mean \"count\"?"));
    assert_eq!(
        wrong("\"4 packets\"", "\"4 segments\", count = 3"),
        "t.toml:8: sweep.sample.keys.flow.rwnd: there is no key \"count\" (known: from, to, scale)"
    );
    assert_eq!(wrong("[\"standard\", \"limited\"]", "[]"), "t.toml:9: sweep.sample.keys.flow.slow_start: has no values");
    assert!(wrong("flow.rwnd", "duration.x").contains("t.toml:8: sweep.duration.x: duration is the text \"10 s\", so it has no key \"x\""));
}

fn column(header: &str, cells: &[&str]) -> Arc<TableColumn> {
    Arc::new(TableColumn::new(header.to_owned(), cells.concat(), cells.iter().map(|cell| cell.len() as u32)).unwrap())
}

fn population(columns: &[Arc<TableColumn>]) -> Result<Points, String> {
    let document = Document::from_toml(&format!("{ONE}[sweep]\nseed = [1, 2]\npaths.file = \"p.csv\"\n"), "dir/t.toml").unwrap();
    assert_eq!(document.sweep_needs().unwrap().table, Some(TableRequest::File(PathBuf::from("dir/p.csv"))));
    assert_eq!(document.files(), [PathBuf::from("dir/p.csv")]);
    let data = SweepData { sample: None, table: Some(columns.to_vec()) };
    document.points(&data).map_err(|error| error.to_string())
}

#[test]
fn lengths_of_cells_are_those_of_texts() {
    let column = |text: &str, lengths: &[u32]| TableColumn::new("seed".to_owned(), text.to_owned(), lengths.iter().copied());
    let fine = column("1µ", &[1, 0, 2]).unwrap();
    assert_eq!((fine.text(), fine.header(), fine.lengths().collect()), ("1µ", "seed", vec![1, 0, 2]));
    for (text, lengths) in [("1µ", &[2, 1][..]), ("12", &[1]), ("12", &[3]), ("12", &[u32::MAX, 3]), ("1", &[])] {
        assert_eq!(column(text, lengths), None, "{text} {lengths:?}");
    }
}

#[test]
fn rows_of_a_table_are_values() {
    let points = population(&[
        column("topology.bottleneck.rate (Mbit/s)", &["2.5", "100", "1e1"]),
        column("topology.bottleneck.delay", &["10 ms", "0.2 s", "3 ms"]),
        column("flow.delayed_ack", &["true", "false", "true"]),
        column("label", &["DSL", "cable", "fibre"]),
    ])
    .unwrap();
    assert_eq!(labels(&points)[..2], ["1/2.5 Mbit/s/10 ms/true/DSL", "1/100 Mbit/s/0.2 s/false/cable"]);
    assert_eq!((points.len(), &*points.get(0).unwrap().labels[4].0), (6, "paths"));
    let last = checked(&points, 5);
    assert_eq!((last.seed, last.links[2].rate.mean().as_bits_per_sec()), (2, 10_000_000));
}

#[test]
fn errors_of_a_table_name_file_row_and_column() {
    let rate = "topology.bottleneck.rate (Mbit/s)";
    let wrong = |columns: &[Arc<TableColumn>]| population(columns).map_or_else(|error| error, |_| String::new());
    assert_eq!(
        wrong(&[column(rate, &["1", "2 Mbit/s"])]),
        format!("dir/p.csv: row 2, column {rate:?}: must be a number, because the header has the unit Mbit/s, but is \"2 Mbit/s\"")
    );
    assert_eq!(wrong(&[column(rate, &["1", ""])]), format!("dir/p.csv: row 2, column {rate:?}: is empty; every row needs a value"));
    assert_eq!(wrong(&[column(rate, &[])]), "dir/p.csv: has no rows");
    assert_eq!(wrong(&[column("name", &["a"]), column("flow.name", &[])]), "dir/p.csv: has columns of different lengths");
    assert_eq!(wrong(&[column("label", &["a"])]), "dir/p.csv: has no column with the path of a key");
    assert!(
        wrong(&[column("topology.bottleneck.rate (Mbps)", &["1"])]).contains("(Mbps)\": unknown unit \"Mbps\"; did you mean \"Mbit/s\"?")
    );
    assert!(wrong(&[column("topolgy.bottleneck.rate", &["1"])]).contains("there is no key \"topolgy\"; did you mean \"topology\"?"));
    assert_eq!(wrong(&[column("seed", &["1"])]), "dir/t.toml:5: sweep.paths: sets seed, which sweep.seed (line 4) sets already");
    assert_eq!(wrong(&[column("name", &["a"]), column("name", &["b"])]), "dir/p.csv: column \"name\": stands twice in the table");
    assert_eq!(
        wrong(&[column("label", &["a", "b", "a"]), column(rate, &["1", "2", "3"])]),
        "dir/p.csv: row 3, column \"label\": the label \"a\" is that of row 1 already; every row needs its own"
    );
    let points = population(&[column(rate, &["1", "0"])]).unwrap();
    let error = points.get(1).unwrap().document.scenario().unwrap_err().to_string();
    assert_eq!(
        error,
        format!("dir/p.csv: row 2, column {rate:?}: topology.bottleneck.rate: must be from 1 to 1e15 bit/s, but is \"0 Mbit/s\"")
    );
    let nearest = population(&[column("topology.botleneck.rate", &["1 Mbit/s"])]).unwrap().get(0).unwrap().document.scenario();
    assert!(nearest.unwrap_err().to_string().contains("did you mean \"bottleneck\"?"));
    assert!(sweep("paths.file = \"p.xlsx\"").contains("must be the name of a .csv or .parquet file"));
    assert!(sweep("paths.file = \"p.csv\"").contains("needs a table, which the Python package reads"));
}

#[test]
fn populations_are_drawn_by_name() {
    let needs = |paths: &str| {
        let text = format!("{ONE}[sweep]\npaths = {paths}\n");
        let document = Document::from_toml(&text, "dir/t.toml").map_err(|error| error.to_string())?;
        document.sweep_needs().map(|needs| needs.table.unwrap()).map_err(|error| error.to_string())
    };
    let drawn = |name: &str, count, seed| Ok(TableRequest::Population { name: name.to_owned(), count, seed });
    assert_eq!(needs("{ population = \"us\", count = 500 }"), drawn("us", 500, 1));
    assert_eq!(needs("{ population = \"own.toml\", count = 7, seed = 3 }"), drawn("dir/own.toml", 7, 3));
    for (paths, message) in [
        ("{ population = \"us\" }", ".count: is missing; example: count = 256"),
        ("{ population = \"us\", count = 0 }", ".count: must be a whole number from 1 to 1000000, but is the number 0"),
        ("{ population = 5, count = 1 }", ".population: must be the name of a population or of its .toml file, but is the number 5"),
        ("{ population = \"us\", n = 1, count = 1 }", ": there is no key \"n\" (known: population, count, seed)"),
    ] {
        assert_eq!(needs(paths).unwrap_err(), format!("dir/t.toml:4: sweep.paths{message}"));
    }
}

#[test]
fn a_setting_that_a_table_would_override_is_rejected() {
    let mut document = document(&format!("{ONE}[sweep]\npaths.file = \"p.csv\"\n"));
    document.set("flow.rwnd", "9 packets").unwrap();
    let data = SweepData { sample: None, table: Some(vec![column("flow.rwnd", &["3 packets"])]) };
    let error = document.points(&data).unwrap_err().to_string();
    assert!(error.starts_with("--set flow.rwnd=9 packets: flow.rwnd: is set by the table of [sweep.paths]"), "{error}");
}

/// Every combination of the axes' values, all at once; the last axis changes fastest.
fn grid(axes: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut rows = vec![Vec::new()];
    for axis in axes {
        rows = rows.iter().flat_map(|row| axis.iter().map(|value| [&row[..], std::slice::from_ref(value)].concat())).collect();
    }
    rows
}

proptest! {
    #[test]
    fn runs_made_on_demand_are_the_grid(sizes in proptest::collection::vec((1_usize..5, 0_usize..3), 0..5)) {
        let keys = ["seed", "flow.rwnd", "topology.bottleneck.delay", "name", "flow.start"];
        let mut text = format!("{ONE}[sweep]\n");
        let mut axes = Vec::new();
        for ((size, form), key) in sizes.iter().zip(keys) {
            let values: Vec<String> = match (form, key) {
                (0, "seed") => (1..=*size).map(|value| value.to_string()).collect(),
                _ => (1..=*size).map(|value| format!("{value} ms")).collect(),
            };
            let line = match (form, key) {
                (0, "seed") => format!("seed = {{ from = 1, to = {size} }}"),
                (1, _) if *size > 1 => format!("{key:?} = {{ from = \"1 ms\", to = \"{size} ms\", count = {size} }}"),
                (2, _) => {
                    let named = values.iter().map(|value| format!("{value:?} = {{ {key:?} = {value:?} }}"));
                    format!("axis{} = {{ {} }}", axes.len(), named.collect::<Vec<_>>().join(", "))
                }
                _ => format!("{key:?} = {values:?}"),
            };
            text.extend([line.as_str(), "\n"]);
            axes.push(values);
        }
        let points = points(&text);
        let expected = grid(&axes);
        prop_assert_eq!(points.len(), expected.len());
        // Backwards: no run depends on an earlier one.
        for (index, row) in expected.iter().enumerate().rev() {
            let variant = points.get(index).unwrap();
            let labels: Vec<&String> = variant.labels.iter().map(|(_, label)| label).collect();
            prop_assert_eq!(labels, row.iter().collect::<Vec<_>>());
            let settings: Vec<String> = variant.document.settings.iter().map(|setting| setting.value.label()).collect();
            prop_assert_eq!(&settings, row);
        }
        prop_assert!(points.get(expected.len()).is_none());
    }
}
