//! The C parts as a program of user space.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use ackclock_core::cc::Window;

use crate::recorder::Event;

/// The compiled program.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf/replay.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("replay-{}", std::process::id()));
    let flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-rdynamic"];
    let status = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&source).arg("-ldl").status().unwrap();
    assert!(status.success(), "{} does not compile", source.display());
    program
});

/// The windows after each of the events in a program with these parameters.
pub(crate) fn replay<'a>(arguments: &[String], events: impl Iterator<Item = &'a Event>) -> Vec<Window> {
    let input: String = events.flat_map(|event| [event.line(), "\n".to_owned()]).collect();
    let mut child = Command::new(&*PROGRAM).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "the program refuses its input: see its message above");
    writer.join().unwrap().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(window).collect()
}

/// Window and threshold of a line.
fn window(line: &str) -> Window {
    let numbers: Vec<u32> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    let [cwnd, ssthresh] = numbers[..] else { panic!("{line}") };
    let ssthresh = if ssthresh == 0x7fff_ffff { f64::INFINITY } else { f64::from(ssthresh) };
    Window { cwnd: f64::from(cwnd), ssthresh }
}
