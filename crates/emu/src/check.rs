//! What this machine can run, found by trying it. Every trial vanishes at its end.

use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::thread;

use ackclock_kernel::ACCURATE_ECN;
use ackclock_linux::command::run;
use ackclock_linux::scheduling::{self, LockedMemory};
use ackclock_linux::tun::{self, Frames};
use ackclock_linux::{Namespace, libc, socket};

use crate::controls::OFFER;
use crate::ebpf;

/// What something is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Every run.
    All,
    /// Runs with this congestion control of the kernel.
    Control,
    /// Runs with accurate feedback of ECN.
    AccurateEcn,
    /// Runs with this project's controls (eBPF).
    Ebpf,
    /// Runs without late packets.
    Precision,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// What was tried.
    pub name: String,
    /// What it is needed for.
    pub needed_for: Use,
    /// What was found, or what is missing and how to get it.
    pub result: Result<String, String>,
}

/// The kernel's release, such as `6.18.0`.
pub fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// The kernel's description of its types, which eBPF programs are adapted to.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Tries everything.
pub fn check() -> Vec<Probe> {
    let mut probes = Vec::new();
    let mut add = |name: &str, needed_for, result| probes.push(Probe { name: name.to_owned(), needed_for, result });
    let space = Namespace::new();
    let why = |error: &io::Error| format!("{error}; run as root, or as `unshare -Ur ackclock …`");
    add("network namespaces", Use::All, space.as_ref().map(|_| "a new one was made".to_owned()).map_err(why));
    let within = |work: &(dyn Fn() -> Result<String, String> + Sync)| match &space {
        Ok(space) => space.run(work).map_err(|error| why(&error)).and_then(|result| result),
        Err(_) => Err("not tried, because there is no network namespace".to_owned()),
    };
    add(tun::DEVICE, Use::All, within(&device));
    for program in ["ip", "tc"] {
        let hint = |error| format!("{error}; install iproute2");
        let found = || run(program, &["-Version"], "").map(|()| "runs".to_owned()).map_err(hint);
        add(&format!("command `{program}`"), Use::All, found());
    }
    for control in OFFER.names {
        add(&format!("control `{control}`"), Use::Control, within(&|| offered(control)));
    }
    add("accurate ECN (RFC 9768)", Use::AccurateEcn, within(&accurate_ecn));
    let types = if Path::new(BTF).exists() { Ok(BTF.to_owned()) } else { Err(format!("{BTF} is missing: CONFIG_DEBUG_INFO_BTF")) };
    add("types of the kernel (BTF)", Use::Ebpf, types);
    add("eBPF program as a control", Use::Ebpf, ebpf::probe().map(|()| "one was registered and removed".to_owned()));
    add("real-time priority", Use::Precision, in_thread(real_time));
    add("locked memory", Use::Precision, in_thread(locked));
    probes
}

/// A TUN device in the namespace of the calling thread.
fn device() -> Result<String, String> {
    tun::open(c"tun0", Frames::Packets).map(|_| "an interface was made".to_owned()).map_err(|error| error.to_string())
}

/// Whether a socket takes this control. The kernel may load its module.
fn offered(control: &str) -> Result<String, String> {
    let socket = socket::socket(true).map_err(|error| error.to_string())?;
    match socket::set_option(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, control.as_bytes()) {
        Ok(()) => Ok("available".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!("this kernel does not have it (module tcp_{control})")),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether the namespace of the calling thread can negotiate accurate feedback of ECN.
fn accurate_ecn() -> Result<String, String> {
    let refused = |error| format!("this kernel does not negotiate it (tcp_ecn = {ACCURATE_ECN}: {error})");
    fs::write("/proc/sys/net/ipv4/tcp_ecn", ACCURATE_ECN).map(|()| "available".to_owned()).map_err(refused)
}

fn real_time() -> Result<String, String> {
    let advice = |error| format!("{error}; packets will be late more often (needed: root or `ulimit -r`)");
    scheduling::priority(1).map(|()| "SCHED_FIFO".to_owned()).map_err(advice)
}

fn locked() -> Result<String, String> {
    let advice = |error| format!("{error}; packets will be late more often (needed: root or `ulimit -l`)");
    LockedMemory::new().map(|_| "mlockall".to_owned()).map_err(advice)
}

/// Runs `work` in a thread of its own, whose priority ends with it.
fn in_thread(work: fn() -> Result<String, String>) -> Result<String, String> {
    thread::spawn(work).join().unwrap_or_else(|_| Err("the trial failed".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trial_has_a_result() {
        let probes = check();
        let names: Vec<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
        assert_eq!(names[..4], ["network namespaces", "/dev/net/tun", "command `ip`", "command `tc`"]);
        for probe in &probes {
            let (Ok(text) | Err(text)) = &probe.result;
            assert!(!text.is_empty(), "{probe:?}");
        }
        // Reno is in every kernel: it is missing only if nothing could be tried.
        let found = |name: &str| probes.iter().find(|probe| probe.name == name).unwrap().result.is_ok();
        assert_eq!(found("control `reno`"), found("network namespaces"));
        assert!(release().starts_with(|letter: char| letter.is_ascii_digit()), "{}", release());
    }

    #[test]
    fn a_control_of_no_kernel_is_missing() {
        let refused = offered("nothing").unwrap_err();
        assert!(refused == "this kernel does not have it (module tcp_nothing)" || refused.contains("ermi"), "{refused}");
    }
}
