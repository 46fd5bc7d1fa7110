//! The process of a kernel, and what it is told.

use std::fmt;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ackclock_kernel::KernelError;
use ackclock_linux::kept::{GIVEN, Kept, describe};

use crate::joint::{Joint, Said, Stream};

/// What a guest may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Its memory in megabytes (10⁶ bytes).
    pub memory_mb: u32,
    /// Processor time.
    pub cpu: Duration,
    /// Longest real time in which it does not hand over: a loop without system calls stops virtual time.
    pub silence: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory_mb: 512, cpu: Duration::from_secs(3600), silence: Duration::from_secs(60) }
    }
}

/// A guest has failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestError {
    what: String,
    /// The last lines of its console.
    lines: Vec<String>,
}

impl fmt::Display for GuestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

impl std::error::Error for GuestError {}

impl From<GuestError> for KernelError {
    fn from(error: GuestError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<io::Error> for GuestError {
    fn from(error: io::Error) -> Self {
        Self { what: format!("the kernel does not start: {error}"), lines: Vec::new() }
    }
}

/// What hears a program's output.
pub type Hear = fn(Stream, &[u8]) -> io::Result<()>;

/// What a guest with programs needs.
#[derive(Clone, Debug)]
pub struct Access {
    /// Folders beneath which the programs may write.
    pub writable: Vec<PathBuf>,
    /// Hears their output.
    pub hear: Hear,
}

/// A kernel that runs in virtual time.
#[derive(Debug)]
pub struct Guest {
    pub(crate) joint: Joint,
    process: Kept,
    silence: Duration,
    hear: Option<Hear>,
    /// What the kernel has said and nobody has heard yet.
    pub(crate) said: Vec<Said>,
}

impl Guest {
    /// Boots the kernel in the folder `kernel`, which `ackclock kernel build` made. Its random numbers come from `seed`. `programs`: what it
    /// needs if programs will run in it.
    ///
    /// # Errors
    /// If it does not boot.
    pub fn boot(kernel: &Path, seed: u64, limits: Limits, programs: Option<&Access>) -> Result<Self, GuestError> {
        let joint = Joint::new(seed)?;
        let mut command = Command::new(kernel.join("linux"));
        // The command line enters the kernel's random numbers, so that it names nothing of this machine.
        command
            .args([
                &format!("mem={}M", limits.memory_mb),
                "root=/dev/root",
                "rootfstype=hostfs",
                "rootflags=/proc/self/cwd/root",
                "ro",
                "init=/init",
                "time-travel=inf-cpu",
                "time-travel-start=1767225600000000000",
                &format!("ackclock={GIVEN}"),
                "con=null",
                "con0=null,fd:1",
                "quiet",
            ])
            // Halves the cost of a program's system calls, where the kernel knows it.
            .args(programs.map(|_| "seccomp=auto"))
            .current_dir(kernel)
            .env_clear();
        let writable = programs.map(|programs| programs.writable.as_slice()).unwrap_or_default();
        let process = Kept::spawn(command, joint.as_fd(), writable, limits.cpu)?;
        let hear = programs.map(|programs| programs.hear);
        let mut guest = Self { joint, process, silence: limits.silence, hear, said: Vec::new() };
        let alive = watch(&guest.process, guest.silence, guest.hear);
        guest.joint.wait(&mut guest.said, alive)?;
        match guest.answer()?.as_str() {
            "ok" => Ok(guest),
            other => Err(guest.failure(format!("the first process of the kernel says {other}"))),
        }
    }

    /// Whether the kernel's process is confined: it can write no file.
    pub fn is_confined(&self) -> bool {
        self.process.is_confined()
    }

    /// The kernel's process.
    pub fn process(&self) -> u32 {
        self.process.process()
    }

    /// The kernel's time in nanoseconds.
    pub fn now(&self) -> u64 {
        self.joint.now()
    }

    /// Lets the kernel do what it does by itself before `until`.
    ///
    /// # Errors
    /// As [`Guest::run`].
    pub fn idle(&mut self, until: u64) -> Result<(), GuestError> {
        while let Some(next) = self.joint.next().filter(|next| *next < until) {
            self.run(next, until)?;
        }
        self.drop_packets();
        Ok(())
    }

    /// Lets the kernel run; see [`Joint::run`].
    ///
    /// # Errors
    /// If it has ended, or does not hand over.
    pub fn run(&mut self, now: u64, until: u64) -> Result<(), GuestError> {
        let mut alive = watch(&self.process, self.silence, self.hear);
        self.joint.run(now, until, &mut self.said, &mut alive)?;
        take_output(&mut self.said, self.hear).map_err(|error| self.failure(error))
    }

    /// Lets the first process do what `commands` say (see `init.c`), before a run or between runs. The kernel's clock goes on as it needs.
    ///
    /// # Errors
    /// As [`Guest::run`]; if the kernel refuses a command: what it says.
    pub fn set_up(&mut self, commands: &str) -> Result<(), GuestError> {
        match self.ask(self.joint.now(), commands)?.as_str() {
            "ok" => Ok(()),
            text => Err(self.failure(format!("the kernel refuses: {text}"))),
        }
    }

    /// Lets the first process do what `commands` say at `now`, and returns its answer: `ok`, or what went wrong. Packets before it are lost.
    ///
    /// # Errors
    /// As [`Guest::run`].
    pub fn ask(&mut self, now: u64, commands: &str) -> Result<String, GuestError> {
        self.joint.line(commands);
        self.run(now.max(self.joint.now()), u64::MAX)?;
        self.answer()
    }

    /// Hears the answer of the first process.
    fn answer(&mut self) -> Result<String, GuestError> {
        loop {
            self.drop_packets();
            if let Some(place) = self.said.iter().position(|said| matches!(said, Said::Line(_)))
                && let Said::Line(text) = self.said.remove(place)
            {
                return Ok(text);
            }
            let Some(next) = self.joint.next() else {
                return Err(self.failure("the first process of the kernel gives no answer".to_owned()));
            };
            self.run(next, u64::MAX)?;
        }
    }

    /// Forgets packets that nobody carries.
    fn drop_packets(&mut self) {
        self.said.retain(|said| !matches!(said, Said::Packet { .. }));
    }

    /// The exit code of a program that has ended; asks once.
    pub fn ended(&mut self, number: u32) -> Option<i32> {
        let place = self.said.iter().position(|said| matches!(said, Said::Ended { program, .. } if *program == number))?;
        if let Said::Ended { code, .. } = self.said.remove(place) { Some(code) } else { None }
    }

    /// An error with the last lines of the console.
    pub(crate) fn failure(&self, what: String) -> GuestError {
        GuestError { what, lines: self.process.lines() }
    }
}

/// Whether a process runs that has `silence` to hand over. Passes on what programs write.
fn watch(process: &Kept, silence: Duration, hear: Option<Hear>) -> impl FnMut(&mut Vec<Said>) -> Result<(), GuestError> {
    let start = Instant::now();
    move |said| {
        let failed = |what: String| Err(GuestError { what, lines: process.lines() });
        if let Some(status) = process.ended() {
            return failed(format!("the kernel has ended: {}", describe(status)));
        }
        if start.elapsed() > silence {
            return failed(format!("the kernel has computed for {} s without an end; it may be in a loop", silence.as_secs()));
        }
        take_output(said, hear).or_else(failed)
    }
}

/// Passes on what programs write, in its order.
fn take_output(said: &mut Vec<Said>, hear: Option<Hear>) -> Result<(), String> {
    let mut result = Ok(());
    said.retain(|said| match said {
        Said::Output(stream, bytes) => {
            if let Some(hear) = hear.filter(|_| result.is_ok()) {
                result = hear(*stream, bytes);
            }
            false
        }
        _ => true,
    });
    result.map_err(|error| format!("the output of a program cannot be passed on: {error}"))
}
