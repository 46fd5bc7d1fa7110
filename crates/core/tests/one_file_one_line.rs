//! "A slow start is one file and one line": does what CONTRIBUTING.md says, in a copy of this crate, with the example printed there.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Asks the copy for the new part by name, composes it, and lets it grow.
const DRIVER: &str = r#"
use ackclock_core::cc::{Composed, CongestionControl, Phase, avoidance, initial_window, slow_start};
use ackclock_core::events::{Ack, Established};
use ackclock_core::entry::{Entry, find};
use ackclock_core::params::Params;
use ackclock_core::units::{Bytes, Instant};

fn build<P: ?Sized>(entry: &Entry<P>) -> Box<P> {
    (entry.build)(&Params::defaults(entry.params)).unwrap()
}

#[test]
fn the_new_slow_start_composes_and_grows() {
    let entry = find(slow_start::ENTRIES, "halfway").expect("it is registered");
    assert!(slow_start::describe().iter().any(|part| part.name == "halfway" && part.header.contains("CONTRIBUTING")));
    let (initial, avoidance) = (build(&initial_window::fixed::ENTRY), build(&avoidance::reno::ENTRY));
    let mut control = Composed::new(initial, build(entry), avoidance, None, f64::INFINITY);
    control.on_established(&Established::new(Instant::ZERO, Bytes(1000)));
    let ack = Ack::new(Instant::ZERO, 1, Bytes(1000));
    let mut windows = Vec::new();
    while control.phase() == Phase::SlowStart {
        control.on_ack(&ack);
        windows.push(control.window().cwnd);
    }
    // 31 ACKs from 1 to 32, 64 from 32 to 64, and the one that leaves.
    assert_eq!(windows.len(), 31 + 64 + 1);
    assert_eq!(windows[95], 64.0);
}
"#;

/// The code block after the marker `<!-- example: NAME -->`.
fn example<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("<!-- example: {name} -->\n```rust\n")).unwrap_or_else(|| panic!("no example {name}"));
    rest.split_once("```").unwrap_or_else(|| panic!("example {name} does not end")).0
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn the_example_of_contributing_works() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let (workspace, krate) = (scratch.join("one_file_one_line"), scratch.join("one_file_one_line/crates/core"));
    let _ = fs::remove_dir_all(&workspace);
    copy(&repository.join("crates/core"), &krate);
    // A workspace of the one crate, with the same dependencies and profiles. Its version tells its artifacts from those of the original,
    // which cargo would otherwise take for the same package.
    let manifest = fs::read_to_string(repository.join("Cargo.toml")).unwrap();
    let lines = manifest.lines().map(|line| match line.split_once(" = ") {
        Some(("members", _)) => "members = [\"crates/core\"]",
        Some(("version", _)) => "version = \"0.0.0-example\"",
        _ => line,
    });
    let manifest = lines.collect::<Vec<_>>().join("\n");
    assert!(manifest.contains("[\"crates/core\"]") && manifest.matches("0.0.0-example").count() == 1);
    fs::write(workspace.join("Cargo.toml"), manifest).unwrap();
    fs::copy(repository.join("Cargo.lock"), workspace.join("Cargo.lock")).unwrap();

    let contributing = fs::read_to_string(repository.join("CONTRIBUTING.md")).unwrap();
    fs::write(krate.join("src/cc/slow_start/halfway.rs"), example(&contributing, "slow start")).unwrap();
    let line = example(&contributing, "registry line");
    assert_eq!(line.lines().count(), 1, "one line");
    let list = krate.join("src/cc/slow_start/mod.rs");
    let parts = fs::read_to_string(&list).unwrap();
    let opening = "entries! { Entry<dyn SlowStart>:\n";
    assert_eq!(parts.matches(opening).count(), 1);
    fs::write(list, parts.replace(opening, &format!("{opening}{line}"))).unwrap();
    fs::write(krate.join("tests/driver.rs"), DRIVER).unwrap();

    // In the target folder of this very build, whose dependencies are there already.
    let target = scratch.parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--lib", "--test", "driver", "--test", "registry"])
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{stderr}\n{stdout}");
    for test in ["slows_down_and_leaves", "the_new_slow_start_composes_and_grows", "any_parts_survive_any_events"] {
        assert!(stdout.lines().any(|line| line.contains(test) && line.ends_with("ok")), "{test} did not run:\n{stdout}");
    }
}
