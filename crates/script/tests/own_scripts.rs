//! The scripts in `scripts/`: each names its host in the comment at its head, and passes there.

mod common;

use std::path::Path;

use ackclock_script::{Options, Verdict};
use common::play;

/// Scripts that Linux 6.18 passes and the host `linux` does not, with the reason.
const OPEN: [(&str, &str); 4] = [
    ("rfc2018-8-reneging", "reneging is repaired by the retransmission timer, not by a timer of its own"),
    ("rfc3042-2-receive-window", "no PSH on the segment that fills the peer's window"),
    ("rfc6298-5.5-backoff", "the ACK of a retransmission ends the backoff"),
    ("rfc6298-5.7-lost-syns", "the first timeouts of a SYN double"),
];

#[test]
fn own_scripts_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 60, "{} scripts", paths.len());
    let mut wrong = String::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy();
        assert!(text.contains("\n// Host: linux.\n"), "{name} does not name its host");
        let outcome = play(&text, &Options { file: name.to_string(), ..Options::default() });
        let open = OPEN.iter().any(|(script, _)| *script == name);
        match outcome.verdict {
            Verdict::Passed if open => wrong.extend([&*name, " passes: it is not open any more\n"]),
            Verdict::Failed(_) if open => {}
            Verdict::Passed => {}
            _ => wrong.push_str(&outcome.describe(&name, &text)),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_last_command_does_not_matter() {
    let script = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n`./unknown.sh | sh`\n";
    assert_eq!(play(script, &Options::default()).verdict, Verdict::Passed);
}
