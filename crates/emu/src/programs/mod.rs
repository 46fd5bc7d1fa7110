//! Any program behind the path of a scenario.
//!
//! The program runs at one end of the path in a network namespace without any other way out, and a second program may run at the other end.
//! Both live in PID namespaces, so that nothing of them remains after the run, not even after SIGKILL.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::thread;

use ackclock_core::units::Duration;
use ackclock_host::Side;
use ackclock_kernel::behind::{Programs, SPREAD, VARIABLES, behind, ended_early, values};
use ackclock_kernel::{Route, Terminal};
use ackclock_linux::{confined, scheduling};
use ackclock_sim::engine::{FrameConnection, Live, Passage, RunResult};
use ackclock_sim::scenario::Scenario;

use crate::emulator::{Emulator, Lateness, Outcome, Ports};
use crate::kernel::memory;
use crate::space::{Node, Space};

/// The path exists as long as the command: longer than any.
const FOREVER: Duration = Duration::from_millis(365 * 24 * 3600 * 1000);
/// Time for the peer to open its first socket, in nanoseconds.
const READY: u64 = 5_000_000_000;
/// Time between two looks at the peer's sockets.
const LOOK: std::time::Duration = std::time::Duration::from_millis(10);
/// Time for the command to end after the caller interrupts, in nanoseconds.
const GRACE: u64 = 2_000_000_000;

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, or 128 plus the number of the signal that ended it.
    pub code: i32,
    /// Whether it was ended because the caller interrupted.
    pub interrupted: bool,
    /// The scenario with the program's flows first.
    pub scenario: Scenario,
    /// What links and simulated flows did.
    pub result: RunResult,
    /// How late packets were released.
    pub lateness: Lateness,
    /// Processor time of the emulator.
    pub cpu: Duration,
    /// Time from the start of the command to its end.
    pub elapsed: Duration,
    /// Why the run should not count, if so.
    pub taint: Option<String>,
    /// The control of new connections at the flow's sender and at its receiver, as `sysctl` shows it at the end; empty if unknown.
    pub controls: [String; 2],
}

/// Runs a command behind the path of `scenario`, which exists as long as the command runs. Packets are captured at the links
/// and hosts called `captured`. `interrupted` is called from time to time; if it returns true, the command has 2 s to end by itself.
///
/// # Errors
/// If the machine cannot run it, the flow or the command does not exist, or the peer ends at once.
pub fn run(scenario: Scenario, programs: &Programs, captured: &[String], interrupted: &mut dyn FnMut() -> bool) -> Result<Ended, String> {
    let mut scenario = behind(scenario, programs.flow.as_deref())?;
    scenario.duration = FOREVER;
    let flow = &scenario.flows[0];
    let terminal = |side, node| Terminal { node, flow: 0, side, route: Route::default() };
    let space = Space::new(&[terminal(Side::Sender, flow.from), terminal(Side::Receiver, flow.to)])?;
    let v6 = space.add_v6()?;
    let ports = Ports::spread(&space, SPREAD).map_err(|error| format!("the TUN devices cannot be shared: {error}"))?;
    let mut connection = |flow: usize, spec: &ackclock_sim::scenario::FlowSpec| {
        let [sender, receiver] = Side::ALL.map(|side| ports.port(flow, side));
        Some(Box::new(Passage::new([sender?, receiver?], spec.start)) as FrameConnection)
    };
    let live = Live::new(scenario.clone(), captured, &mut connection).map_err(|error| error.to_string())?;
    let emulator = Emulator::new(live, ports).map_err(|error| format!("the emulator does not start: {error}"))?;
    let end = |side| space.node(0, side).ok_or("an end of the flow has no namespace");

    let mut peer = None;
    if let Some(line) = &programs.peer {
        let node = end(programs.at.peer())?;
        let peer = peer.insert(Running(start_peer(line, node, (programs.at.peer(), v6))?));
        if !ready(&mut peer.0, node, interrupted)? {
            return Err("interrupted before the peer opened a socket".to_owned());
        }
    }
    let mut command = Running(start(&programs.command, end(programs.at)?, (programs.at, v6))?);
    let (process, stopper, began) = (command.0.id(), emulator.stopper(), scheduling::clock());
    let watch = thread::Builder::new().spawn(move || {
        confined::wait_for_end(process).ok();
        stopper.stop();
        scheduling::clock()
    });
    let watch = watch.map_err(|error| format!("the command cannot be watched: {error}"))?;
    let mut since = None;
    let outcome = emulator.run(&mut || {
        if since.is_none() && interrupted() {
            since = Some(scheduling::clock());
        }
        since.is_some_and(|since| scheduling::clock() > since + GRACE)
    })?;
    let code = command.end(outcome.interrupted)?;
    let ended = watch.join().unwrap_or_else(|_| scheduling::clock());
    let controls = [Side::Sender, Side::Receiver].map(|side| end(side).map_or_else(|_| String::new(), control));
    drop(peer);
    let elapsed = Duration::from_nanos(ended.saturating_sub(began));
    let Outcome { lateness, cpu, interrupted, .. } = outcome;
    let taint = outcome.taint().or_else(memory::pressure);
    Ok(Ended { code, interrupted, scenario, result: outcome.live.finish(), lateness, cpu, elapsed, taint, controls })
}

/// The control of connections that choose none, at an end.
fn control(node: &Node) -> String {
    let read = || fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    node.inside(read).ok().and_then(Result::ok).map_or_else(String::new, |name| name.trim().to_owned())
}

/// A program that ends when this is dropped.
#[derive(Debug)]
struct Running(Child);

impl Running {
    /// Waits for the exit code; `now` ends the program first.
    fn end(&mut self, now: bool) -> Result<i32, String> {
        if now {
            self.0.kill().ok();
        }
        let status = self.0.wait().map_err(|error| format!("the command's end is unknown: {error}"))?;
        // Only SIGKILL leaves no code.
        Ok(status.code().unwrap_or(137))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// `program` at an end, with the addresses of both ends in its environment, those of IPv6 if they exist.
fn prepared(program: &OsString, (side, v6): (Side, bool)) -> Command {
    let mut command = Command::new(program);
    for (name, value) in VARIABLES.into_iter().zip(values(side)) {
        if v6 || !value.contains(':') {
            command.env(name, value);
        } else {
            command.env_remove(name);
        }
    }
    command
}

fn start(words: &[OsString], node: &Node, end: (Side, bool)) -> Result<Child, String> {
    let (program, arguments) = words.split_first().ok_or("the command is missing")?;
    let mut command = prepared(program, end);
    command.args(arguments);
    confined::spawn(&mut command, node.namespace()).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{}: there is no such program", program.display()),
        _ => format!("{} does not start: {error}", program.display()),
    })
}

fn start_peer(line: &str, node: &Node, end: (Side, bool)) -> Result<Child, String> {
    let mut command = prepared(&"sh".into(), end);
    // Standard output is the command's.
    let output = io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
    let output = output.map_err(|error| format!("standard error cannot be shared: {error}"))?;
    command.args(["-c", line]).stdin(Stdio::null()).stdout(output);
    confined::spawn(&mut command, node.namespace()).map_err(|error| format!("--peer {line:?} does not start: {error}"))
}

/// Waits until the peer has opened a socket, at most [`READY`]: a peer may do without. False if the caller interrupts.
fn ready(peer: &mut Child, node: &Node, interrupted: &mut dyn FnMut() -> bool) -> Result<bool, String> {
    let until = scheduling::clock() + READY;
    while scheduling::clock() < until {
        if node.inside(listening).map_err(|error| format!("the peer's sockets are unknown: {error}"))? {
            break;
        }
        if let Ok(Some(status)) = peer.try_wait() {
            let code = status.code().unwrap_or(137);
            return Err(ended_early(code));
        }
        if interrupted() {
            return Ok(false);
        }
        thread::sleep(LOOK);
    }
    Ok(true)
}

/// Whether the namespace of the calling thread has a TCP socket that listens, or a UDP socket.
fn listening() -> bool {
    let rows = |file: &str| fs::read_to_string(format!("/proc/thread-self/net/{file}")).unwrap_or_default();
    // The fourth column is the state.
    let state = |row: &str| row.split_whitespace().nth(3).map(str::to_owned);
    let has = |file: &str, wanted: &str| rows(file).lines().skip(1).any(|row| state(row).as_deref() == Some(wanted));
    ["tcp", "tcp6"].iter().any(|file| has(file, "0A")) || ["udp", "udp6"].iter().any(|file| has(file, "07"))
}

#[cfg(test)]
mod tests;
