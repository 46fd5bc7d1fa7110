//! The C parts as a program of user space.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use ackclock_core::cc::Window;

use crate::recorder::{Event, State};

/// The quantities of the C parts by their places in a record: four of each axis.
pub(crate) type Placed = [Option<f64>; 12];

/// The compiled program.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("bpf/replay.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{}", std::process::id()));
    let flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-rdynamic"];
    let status = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&source).arg("-ldl").status().unwrap();
    assert!(status.success(), "{} does not compile", source.display());
    program
});

/// The control after each of the events in a program with these parameters.
pub(crate) fn replay<'a>(arguments: &[String], events: impl Iterator<Item = &'a Event>) -> Vec<State<Placed>> {
    run(arguments, events.map(Event::line)).lines().map(state).collect()
}

/// The values of functions of `bpf/functions.h`; each line has a name and the arguments.
pub(crate) fn values(calls: impl Iterator<Item = String>) -> Vec<i64> {
    run(&[], calls).lines().map(|value| value.parse().unwrap()).collect()
}

/// The output of the program with these parameters and lines of input.
fn run(arguments: &[String], lines: impl Iterator<Item = String>) -> String {
    let input: String = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
    let mut child = Command::new(&*PROGRAM).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the program refuses its input: see its message above");
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The control as a line shows it.
fn state(line: &str) -> State<Placed> {
    let numbers: Vec<i64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    let [cwnd, ssthresh, ref quantities @ ..] = numbers[..] else { panic!("{line}") };
    let ssthresh = if ssthresh == 0x7fff_ffff { f64::INFINITY } else { ssthresh as f64 };
    // QUANTITY_NONE and QUANTITY_BITS.
    let known = |&quantity: &i64| (quantity != i64::MIN).then(|| quantity as f64 / 2_f64.powi(20));
    let quantities: Vec<Option<f64>> = quantities.iter().map(known).collect();
    State { window: Window { cwnd: cwnd as f64, ssthresh }, quantities: quantities.try_into().unwrap() }
}
