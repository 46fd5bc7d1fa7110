//! "One file and one line": does what CONTRIBUTING.md says, in a copy of this crate, with the examples printed there.

use std::fs;
use std::path::Path;
use std::process::Command;

/// An example of CONTRIBUTING.md: the name of its block, of the block with its line, and of its part; where it is registered, and the line
/// after which it is put there.
struct Example {
    file: &'static str,
    line: &'static str,
    part: &'static str,
    folder: &'static str,
    list: &'static str,
}

const EXAMPLES: [Example; 2] = [
    Example {
        file: "slow start",
        line: "registry line",
        part: "halfway",
        folder: "cc/slow_start",
        list: "entries! { Entry<dyn SlowStart>:\n",
    },
    Example { file: "shaper", line: "shaper line", part: "metronome", folder: "qdisc", list: "entries! { Entry<Discipline>:\n" },
];

impl Example {
    /// Does in the crate at `krate` what the text says.
    fn follow(&self, contributing: &str, krate: &Path) {
        let folder = krate.join("src").join(self.folder);
        fs::write(folder.join(format!("{}.rs", self.part)), block(contributing, self.file)).unwrap();
        let line = block(contributing, self.line);
        assert_eq!(line.lines().count(), 1, "one line");
        let list = folder.join("mod.rs");
        let parts = fs::read_to_string(&list).unwrap();
        assert_eq!(parts.matches(self.list).count(), 1);
        fs::write(list, parts.replace(self.list, &format!("{}{line}", self.list))).unwrap();
    }
}

/// Asks the copy for the new parts by name, and lets them work.
const DRIVER: &str = r#"
use ackclock_core::cc::{Composed, CongestionControl, Phase, avoidance, initial_window, slow_start};
use ackclock_core::events::{Ack, Established};
use ackclock_core::entry::{Entry, find};
use ackclock_core::params::Params;
use ackclock_core::qdisc::{self, Dequeued, Ecn, Packet};
use ackclock_core::rng::Generator;
use ackclock_core::units::{Bytes, Duration, Instant, Moment};

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

#[test]
fn the_new_queue_holds_packets_back() {
    let entry = find(qdisc::ENTRIES, "metronome").expect("it is registered");
    let mut queue = build(entry).into_scheduler();
    let (mut random, mut outcomes) = (Generator::derived(1, ""), Vec::new());
    for handle in 0..3 {
        let packet = Packet { handle, flow: 0, ends: (0, 1), size: Bytes(1000), ecn: Ecn::Incapable, arrived: Instant::ZERO };
        queue.enqueue(Moment::now(Instant::ZERO), packet, &mut random, &mut outcomes);
    }
    let (mut now, mut sent) = (Instant::ZERO, Vec::new());
    loop {
        match queue.dequeue(Moment::now(now), &mut random, &mut outcomes) {
            Dequeued::Send(_) => sent.push(now),
            Dequeued::NotBefore(at) => now = at,
            Dequeued::Empty => break,
        }
    }
    assert_eq!(sent, [0, 10, 20].map(|millis| Instant::ZERO + Duration::from_millis(millis)));
}
"#;

/// The code block after the marker `<!-- example: NAME -->`.
fn block<'a>(text: &'a str, name: &str) -> &'a str {
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
fn the_examples_of_contributing_work() {
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
    for example in &EXAMPLES {
        example.follow(&contributing, &krate);
    }
    fs::write(krate.join("tests/driver.rs"), DRIVER).unwrap();

    // In the target folder of this very build, whose dependencies are there already.
    let target = scratch.parent().unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--lib", "--test", "driver", "--test", "registry", "--test", "queues"])
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{stderr}\n{stdout}");
    let own = ["slows_down_and_leaves", "the_new_slow_start_composes_and_grows", "keeps_the_beat", "the_new_queue_holds_packets_back"];
    for test in own.into_iter().chain(["any_parts_survive_any_events", "every_queue_accounts_for_every_packet"]) {
        assert!(stdout.lines().any(|line| line.contains(test) && line.ends_with("ok")), "{test} did not run:\n{stdout}");
    }
}
