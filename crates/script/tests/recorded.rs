//! Scripts that were recorded on Linux 6.18, twenty in each of twelve areas: a random plan of writes and of packets of the peer was played
//! against the kernel, which gave the expected packets and the values of `tcp_info`. The host `linux` passes them in virtual time, but for
//! those listed as open.

mod common;

use std::io::Read;

use ackclock_script::{Options, Tolerance, Verdict};
use common::play;
use flate2::read::GzDecoder;

/// A line with this mark and a name precedes each script.
const MARK: &str = "==== ";

/// Scripts on which the host `linux` differs from the kernel: docs/concepts/host-modern.md, "What differs from Linux", gives the reasons.
const OPEN: [(&str, &[u32]); 8] = [
    ("hystart", &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 19]),
    ("idle", &[1]),
    ("loss", &[12]),
    ("nosack", &[3, 6]),
    ("reorder", &[6, 11, 12, 17, 19]),
    ("sack", &[3, 18]),
    ("slow_start", &[16]),
    ("tail", &[0]),
];

#[test]
fn recorded_scripts_pass() {
    let mut text = String::new();
    GzDecoder::new(&include_bytes!("data/recorded.txt.gz")[..]).read_to_string(&mut text).unwrap();
    let scripts: Vec<(&str, &str)> = text.split(MARK).skip(1).map(|entry| entry.split_once('\n').unwrap()).collect();
    assert_eq!(scripts.len(), 240);
    let mut wrong = String::new();
    for (name, script) in scripts {
        let (area, number) = name.rsplit_once('-').unwrap();
        let open = OPEN.iter().any(|(known, numbers)| *known == area && numbers.contains(&number.parse().unwrap()));
        let outcome = play(script, &Options { file: name.to_owned(), tolerance: Some(Tolerance::PACKETDRILL), ..Options::default() });
        match outcome.verdict {
            Verdict::Passed if open => wrong.extend([name, " passes: it is not open any more\n"]),
            Verdict::Passed => {}
            Verdict::Failed(_) if open => {}
            _ => wrong.extend([name, " ", outcome.verdict.word(), ": ", outcome.verdict.reason(), "\n"]),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
