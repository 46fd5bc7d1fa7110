//! Any program of this machine behind the path of a scenario, in virtual time.
//!
//! The programs run in a guest that sees the files of this machine. What they write stays in its memory, except beneath the folders that they
//! are given. Their clock, their packets and their random numbers come from the engine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ackclock_core::units::{Duration, Instant};
use ackclock_host::Side;
use ackclock_kernel::behind::{Programs, SPREAD, VARIABLES, behind, ended_early, values};
use ackclock_kernel::frames::{flow, hashed};
use ackclock_kernel::{address, address_v6};
use ackclock_linux::kept::processor_time;
use ackclock_linux::scheduling::Pinned;
use ackclock_sim::engine::{FrameConnection, Lockstep, Outside, Passage, RunResult};
use ackclock_sim::scenario::{Scenario, TraceKind};
use ackclock_wire::frame::Addressed;

use crate::execute::{LOOK, LOOKS, encoded};
use crate::guest::{Access, Guest, GuestError, Limits, Stop};
use crate::host::{Host, Places};
use crate::queues::Queues;
use crate::setup::{Commands, GLOBAL, Kernel, LINE, start};

/// Memory of the guest, in megabytes: the programs' own, and the files that they write.
const MEMORY: u32 = 2048;
/// Buffers of TCP as on a machine with much memory: the kernel's defaults depend on the guest's.
const PARAMETERS: [(&str, &str); 2] = [("ipv4/tcp_rmem", "4096 131072 6291456"), ("ipv4/tcp_wmem", "4096 16384 4194304")];
/// Number of the packet's socket if the kernel's thread has none for it.
const NO_SOCKET: u32 = u32::MAX;
/// Time between two questions whether the caller interrupts.
const ASK: Duration = Duration::from_millis(100);

/// What a kernel lacks whose first process cannot start programs, or gives them no IPv6.
const OLD: &str = "this kernel was built before programs could run in it as they do now; build it again with: ackclock kernel build";

/// How to run programs.
#[derive(Debug)]
pub struct Options<'a> {
    /// Links and hosts at which packets are captured.
    pub captured: &'a [String],
    /// What is recorded of links, and of simulated flows.
    pub record: Vec<TraceKind>,
    /// What the programs need.
    pub access: Access,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, or 128 plus the number of the signal that ended it; `None`: it did not end within the duration of the scenario.
    pub code: Option<i32>,
    /// Whether it was ended because the caller interrupted.
    pub interrupted: bool,
    /// The scenario with the program's flows first.
    pub scenario: Scenario,
    /// What links and simulated flows did.
    pub result: RunResult,
    /// Processor time of the guest, its boot and the programs included.
    pub cpu: Duration,
    /// Virtual time from the start of the command to its end.
    pub elapsed: Duration,
    /// Whether the kernel of this machine keeps the guest from writing elsewhere, even if a program tries.
    pub confined: bool,
}

/// Runs a command on `kernel` behind the path of `scenario`, until it ends or the scenario's duration is over. If it is to stop,
/// the command ends with it.
///
/// # Errors
/// If the flow or the command does not exist, the peer ends at once, or the guest fails.
pub fn run(kernel: Kernel<'_>, scenario: Scenario, programs: &Programs, options: Options<'_>, stop: &Stop) -> Result<Ended, String> {
    // What fails then, fails because of it.
    attempt(kernel, scenario, programs, options, stop).map_err(|error| if stop.is_asked() { "interrupted".to_owned() } else { error })
}

fn attempt(kernel: Kernel<'_>, scenario: Scenario, programs: &Programs, options: Options<'_>, stop: &Stop) -> Result<Ended, String> {
    let mut scenario = behind(scenario, programs.flow.as_deref())?;
    scenario.record = options.record;
    let folder = std::env::current_dir().map_err(|error| format!("the working folder is unknown: {error}"))?;
    let limits = Limits { memory_mb: MEMORY, ..Limits::default() };
    // Without the right to choose a processor, the run only costs more.
    let _pinned = Pinned::new().ok();
    let writable = options.access.writable.clone();
    let text = |error: GuestError| error.to_string();
    let mut guest = Guest::boot(kernel.folder, scenario.seed, limits, stop.clone(), Some(options.access)).map_err(text)?;
    match guest.ask("files").map_err(text)?.as_str() {
        "ok" => {}
        "files: Invalid argument" => return Err(OLD.to_owned()),
        other => return Err(format!("the files of this machine cannot be seen from the kernel: {other}")),
    }
    set_up(&mut guest, &writable).map_err(text)?;
    add_v6(&mut guest)?;
    if let Some(line) = &programs.peer {
        start_peer(&mut guest, line, programs.at.peer(), &folder)?;
    }
    load(&mut guest, &programs.command, programs.at)?;
    let origin = start(kernel.hz, scenario.seed, None, guest.now());
    guest.idle(origin).map_err(|error| error.to_string())?;
    let (confined, process) = (guest.is_confined(), guest.process());

    let places: Places = vec![Side::ALL.map(|side| (device(side), NO_SOCKET)); SPREAD];
    let host = Host::new(guest, origin, places, owner, Queues::default());
    let ends = [scenario.flows[0].from, scenario.flows[0].to];
    let outside =
        vec![Outside { nodes: ends.map(|node| scenario.nodes[node].clone()).to_vec(), queues: Vec::new(), host: Box::new(host.clone()) }];
    let lockstep = Lockstep::between(scenario.clone(), options.captured, outside, &mut |index, spec, interfaces| {
        (index < SPREAD).then(|| Box::new(Passage::new(interfaces, spec.start)) as FrameConnection)
    });
    let mut lockstep = lockstep.map_err(|error| error.to_string())?;
    // What the command sends at once is already the network's.
    host.tell(0, &format!("enter {};start 0 1 {}", device(programs.at), encoded(folder.as_os_str())));
    let end = Instant::ZERO + scenario.duration;
    let mut now = Instant::ZERO;
    while now < end && host.program().is_none() && !stop.is_asked() {
        now = end.min(now + ASK);
        if let Err(error) = lockstep.advance(now, &mut || stop.is_asked())
            && !stop.is_asked()
        {
            return Err(refused(&programs.command, host.refusal()).unwrap_or_else(|| error.to_string()));
        }
    }
    let ended = host.program();
    let elapsed = match ended {
        Some((at, _)) => Duration::from_nanos(at),
        None => now.since(Instant::ZERO),
    };
    lockstep.cut(Instant::ZERO + elapsed);
    let finished = host.finish().map_err(|error| error.to_string());
    let interrupted = ended.is_none() && stop.is_asked();
    if !interrupted {
        finished?;
    }
    let cpu = Duration::from_secs_f64(processor_time(process).as_secs_f64());
    let code = ended.map(|(_, code)| code);
    Ok(Ended { code, interrupted, scenario, result: lockstep.finish(), cpu, elapsed, confined })
}

/// Number of the interface of an end.
fn device(side: Side) -> u32 {
    side.index() as u32
}

/// The flow of a packet among those of the programs, and the end that sent it.
fn owner(frame: &[u8]) -> Option<(usize, Side)> {
    let addressed = Addressed::read(frame)?;
    let (_, side) = flow(&addressed).filter(|(flow, _)| *flow == 0)?;
    Some((hashed(&addressed, side, SPREAD), side))
}

/// Makes the file system and the network of both ends.
fn set_up(guest: &mut Guest, writable: &[PathBuf]) -> Result<(), GuestError> {
    let mut commands = Commands::new(guest);
    commands.add(GLOBAL)?;
    for side in Side::ALL {
        commands.add(&format!("node {} 1500", device(side)))?;
        for (name, value) in PARAMETERS {
            commands.add(&format!("set {name} {value}"))?;
        }
        commands.add(&format!("route {} {} 1500 0 0 0", address(0, side), address(0, side.peer())))?;
    }
    for folder in writable {
        commands.add(&format!("writable {}", encoded(folder.as_os_str())))?;
    }
    commands.finish()
}

/// Gives both ends their IPv6 addresses.
fn add_v6(guest: &mut Guest) -> Result<(), String> {
    for side in Side::ALL {
        let (own, peer) = (address_v6(0, side), address_v6(0, side.peer()));
        let answer = guest.ask(&format!("enter {};route {own} {peer} 1500 0 0 0", device(side))).map_err(|error| error.to_string())?;
        match answer.as_str() {
            "ok" => {}
            other if other.ends_with("is no address: Invalid argument") => return Err(OLD.to_owned()),
            other => return Err(format!("the kernel gives no IPv6 to programs: {other}")),
        }
    }
    Ok(())
}

/// Gives the next program its words and its environment.
fn load(guest: &mut Guest, words: &[OsString], side: Side) -> Result<(), String> {
    let text = |error: GuestError| error.to_string();
    let mut commands = Commands::new(guest);
    let mut add = |kind: &str, text: &OsStr| {
        let command = format!("{kind} {}", encoded(text));
        if command.len() > LINE {
            return Err(format!("{kind} of the command: {} B are too long for a guest", text.len()));
        }
        commands.add(&command).map_err(|error| error.to_string())
    };
    for word in words {
        add("word", word)?;
    }
    let own = VARIABLES.map(OsStr::new);
    let mut inherited: Vec<(OsString, OsString)> = std::env::vars_os().filter(|(name, _)| !own.contains(&name.as_os_str())).collect();
    // The order is no matter of chance.
    inherited.sort_unstable();
    let addresses = VARIABLES.into_iter().zip(values(side)).map(|(name, value)| (name.into(), value.into()));
    for (name, value) in inherited.into_iter().chain(addresses) {
        let mut variable: OsString = name;
        variable.push("=");
        variable.push(value);
        add("variable", &variable)?;
    }
    commands.finish().map_err(text)
}

/// Starts the peer, and waits until it has opened a socket, at most for a while: a peer may do without.
fn start_peer(guest: &mut Guest, line: &str, side: Side, folder: &Path) -> Result<(), String> {
    let text = |error: GuestError| error.to_string();
    load(guest, &["sh", "-c", line].map(OsString::from), side)?;
    // Standard output is the command's.
    let command = format!("enter {};start 1 2 {}", device(side), encoded(folder.as_os_str()));
    let answer = guest.ask(&command).map_err(text)?;
    if answer != "ok" {
        return Err(format!("--peer {line:?} does not start: {answer}"));
    }
    let began = guest.now();
    for look in 1..=LOOKS {
        if guest.ask(&format!("enter {};listens", device(side))).map_err(text)? == "ok" {
            break;
        }
        if let Some(code) = guest.ended(1) {
            return Err(ended_early(code));
        }
        guest.idle(began + look * LOOK).map_err(text)?;
    }
    Ok(())
}

/// Why the command did not start.
fn refused(words: &[OsString], refusal: Option<String>) -> Option<String> {
    let name = words.first()?.display();
    let why = refusal?.strip_prefix("program: ")?.to_owned();
    Some(if why == "No such file or directory" {
        format!("{name}: there is no such program")
    } else {
        format!("{name} does not start: {why}")
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn words_hold_any_bytes() {
        assert_eq!(encoded(OsStr::new("-o/tmp/a=b:1,2+@.x")), "-o/tmp/a=b:1,2+@.x");
        assert_eq!(encoded(OsStr::from_bytes(b"a b;c%\n\xff")), "a%20b%3Bc%25%0A%FF");
        assert_eq!(encoded(OsStr::new("")), "");
    }

    #[test]
    fn a_refusal_names_the_program() {
        let words = [OsString::from("curll")];
        let refusal = |text: &str| refused(&words, Some(text.to_owned()));
        assert_eq!(refusal("program: No such file or directory").unwrap(), "curll: there is no such program");
        assert_eq!(refusal("program: Permission denied").unwrap(), "curll does not start: Permission denied");
        assert_eq!(refusal("no node 7: Invalid argument"), None);
    }
}
