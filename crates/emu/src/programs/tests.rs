//! Programs of this machine. The tests pass without having run where the rights for them are missing.

use std::path::Path;

use ackclock_sim::scenario::Document;

use super::*;

/// Runs a script of the shell behind a path with 2 · 20 ms; `None`: this machine or user cannot.
fn shell(script: &str, peer: Option<&str>) -> Option<Result<Ended, String>> {
    let text = "duration = \"1 s\"\n[topology]\nkind = \"chain\"\nbottleneck = { rate = \"10 Mbit/s\", delay = \"20 ms\" }\n[[flow]]\n";
    let scenario = Document::from_toml(text, "test.toml").and_then(|document| document.scenario()).unwrap();
    let command = ["sh", "-c", script].map(OsString::from).to_vec();
    let programs = Programs { command, at: Side::Receiver, peer: peer.map(str::to_owned), flow: None };
    match run(scenario, &programs, &[], &mut || false) {
        Err(reason) if reason.starts_with("cannot run on the kernel") => {
            eprintln!("skipped: {reason}");
            None
        }
        other => Some(other),
    }
}

#[test]
fn the_exit_code_is_the_command_s() {
    let Some(ended) = shell("exit 7", None) else { return };
    let ended = ended.unwrap();
    assert_eq!((ended.code, ended.interrupted), (7, false));
}

#[test]
fn packets_of_ipv6_cross_the_path() {
    let fetch = "test -z \"$ACKCLOCK_PEER6\" || exec bash -c 'cat </dev/tcp/$ACKCLOCK_PEER6/7000'";
    let serve = "exec python3 -c \"
import os, socket
server = socket.create_server((os.environ['ACKCLOCK_ADDRESS6'], 7000), family=socket.AF_INET6)
while True:
    server.accept()[0].sendall(bytes(100000))
\"";
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !(has("bash") && has("python3") && Path::new("/proc/sys/net/ipv6").exists()) {
        eprintln!("skipped: no bash, no python3, or no IPv6");
        return;
    }
    let Some(ended) = shell(&format!("test \"$({fetch} | wc -c)\" = 100000"), Some(serve)) else { return };
    let ended = ended.unwrap();
    assert_eq!(ended.code, 0);
    let bytes: u64 = ended.result.flows.iter().map(|flow| flow.delivered_bytes).sum();
    assert!((100_000..110_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_peer_that_ends_at_once_is_an_error() {
    let Some(refused) = shell("exit 7", Some("exit 3")) else { return };
    assert_eq!(refused.unwrap_err(), "--peer ended with exit code 3 before it opened a socket");
}
