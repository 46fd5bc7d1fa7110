//! Programs are registered, used by a socket over the loopback device of a namespace, and removed, also when their process is killed.
//!
//! Machines that refuse programs skip these tests and print the reason.
#![cfg(all(target_os = "linux", feature = "ebpf"))]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use ackclock_core::cc;
use ackclock_core::params::Axis;
use ackclock_emu::controls::OFFER;
use ackclock_emu::ebpf::{self, Event, Loaded};
use ackclock_kernel::{KernelControl, choose};
use ackclock_linux::{Namespace, command, libc, socket};
use ackclock_sim::scenario::Document;

/// The kernel's control of a scenario whose flow has these keys.
fn control(keys: &str) -> Result<KernelControl, String> {
    let text = format!("duration = '5 s'\ntopology = {{ kind = 'chain' }}\n[flow]\n{keys}\n");
    let scenario = Document::from_toml(&text, "test.toml").unwrap().scenario().unwrap();
    choose(&scenario.flows[0].control, scenario.flows[0].initial_ssthresh, &OFFER)
}

fn loaded(keys: &str, recording: bool) -> Loaded {
    match control(keys).unwrap() {
        KernelControl::Ebpf(program) => ebpf::load(&program, recording).unwrap(),
        other => panic!("{other:?} is the kernel's own"),
    }
}

/// Whether this machine cannot run programs; prints the reason.
fn skipped() -> bool {
    ebpf::probe().inspect_err(|reason| eprintln!("skipped: {reason}")).is_err()
}

/// Whether the kernel knows the congestion control `name`.
fn is_registered(name: &str) -> bool {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    known.split_whitespace().any(|known| known == name)
}

/// Sends `bytes` over the loopback device of a new namespace under the congestion control `name`.
fn transfer(name: &str, bytes: usize) {
    let space = Namespace::new().unwrap();
    let _inside = space.enter().unwrap();
    command::run("ip", &["link", "set", "lo", "mtu", "1500", "up"], "").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reader = thread::spawn(move || {
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        received.len()
    });
    let mut sender = TcpStream::connect(address).unwrap();
    socket::set_option(sender.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes()).unwrap();
    let mut used = [0; 16];
    let length = socket::option(sender.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut used).unwrap();
    assert_eq!(&used[..name.len()], name.as_bytes(), "{length}");
    sender.write_all(&vec![0; bytes]).unwrap();
    drop(sender);
    assert_eq!(reader.join().unwrap(), bytes);
}

#[test]
fn a_program_is_registered_used_and_removed() {
    if skipped() {
        return;
    }
    let mut program = loaded("slow_start = { kind = 'limited', max_ssthresh = '20 segments' }\navoidance = 'reno'", true);
    let name = program.name().to_owned();
    assert!(name.len() <= 15 && is_registered(&name), "{name}");
    transfer(&name, 3_000_000);
    let records = program.records().unwrap();
    let count = |event| records.iter().filter(|record| record.event == event).count();
    assert!(count(Event::Arrived) >= 10 && count(Event::Grew) >= 2, "{} records", records.len());
    assert!(records.iter().all(|record| record.source.0 == [127, 0, 0, 1] && record.peer.0 == [127, 0, 0, 1]));
    assert!(records.is_sorted_by_key(|record| record.time), "in the order of their events");
    let (first, last) = (records[0], records[records.len() - 1]);
    assert!(last.cwnd > first.cwnd && first.cwnd >= 10, "from {} to {}", first.cwnd, last.cwnd);
    assert_eq!((first.ssthresh, program.lost()), (Some(1000), 0), "the default of the scenario");
    assert!(records.iter().any(|record| record.rtt.is_some_and(|rtt| rtt < 1_000_000)));
    assert_eq!(program.records().unwrap(), [], "each record is returned once");
    drop(program);
    assert!(!is_registered(&name));
}

#[test]
fn the_verifier_accepts_every_part() {
    if skipped() {
        return;
    }
    let names = |axis: &Axis| axis.parts().iter().map(|part| part.name);
    let slow_starts = names(&cc::slow_start::AXIS).map(|name| format!("slow_start = '{name}'\nloss_response = 'staged'"));
    let avoidances = names(&cc::avoidance::AXIS).map(|name| format!("slow_start = 'limited'\navoidance = '{name}'"));
    let responses = names(&cc::loss_response::AXIS).map(|name| format!("slow_start = 'limited'\nloss_response = '{name}'"));
    let mut accepted = Vec::new();
    for keys in slow_starts.chain(avoidances).chain(responses) {
        match control(&keys) {
            Ok(KernelControl::Ebpf(program)) => {
                ebpf::load(&program, true).unwrap_or_else(|reason| panic!("{keys}: {reason}"));
                accepted.push(keys);
            }
            Ok(other) => panic!("{keys} is {other:?}"),
            Err(reason) => assert!(reason.starts_with("the kernel has no program for"), "{reason}"),
        }
    }
    let has = |part: &str| accepted.iter().any(|keys| keys.contains(&format!("'{part}'")));
    assert!(
        ["standard", "limited", "staged", "hystart_pp", "search", "reno", "exponential", "westwood"].into_iter().all(has),
        "{accepted:?}"
    );
}

#[test]
fn programs_of_one_process_have_different_names_and_settings() {
    if skipped() {
        return;
    }
    let keys = "slow_start = 'limited'\navoidance = 'reno'";
    let (mut first, mut second) = (loaded(keys, false), loaded(&format!("{keys}\ninitial_ssthresh = '30 segments'"), true));
    assert_ne!(first.name(), second.name());
    transfer(first.name(), 50_000);
    transfer(second.name(), 50_000);
    assert_eq!(first.records().unwrap(), [], "nothing is recorded unless asked for");
    let records = second.records().unwrap();
    assert_eq!(records[0].ssthresh, Some(30));
}

/// Runs only as a child of the next test: loads a program, prints its name, and waits to be killed.
#[test]
fn child_that_waits() {
    if env::var_os("ACKCLOCK_WAIT_FOR_KILL").is_some() {
        let program = loaded("slow_start = 'limited'\navoidance = 'reno'", false);
        println!("\nname {}", program.name());
        thread::sleep(Duration::from_secs(60));
    }
}

#[test]
fn a_killed_process_leaves_nothing() {
    if skipped() {
        return;
    }
    let this = env::current_exe().unwrap();
    let mut child = Command::new(this)
        .args(["--exact", "child_that_waits", "--nocapture"])
        .env("ACKCLOCK_WAIT_FOR_KILL", "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let name = lines.find_map(|line| line.strip_prefix("name ").map(ToOwned::to_owned));
    let name = name.expect("the child loads a program");
    assert!(is_registered(&name));
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel closes the descriptors of a killed process in its own time.
    for _ in 0..500 {
        if !is_registered(&name) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{name} is still registered");
}
