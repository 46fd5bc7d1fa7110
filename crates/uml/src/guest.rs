//! The process of a kernel, and what it is told.

use std::fmt;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use ackclock_kernel::KernelError;
use ackclock_linux::kept::{GIVEN, Kept, describe};
use ackclock_linux::scheduling::clock;

use crate::control::Controls;
use crate::joint::{Answer, Attendant, Call, Joint, Said, Stream};

/// Says whether a run is to stop. It is asked from time to time, also while the kernel computes.
#[derive(Clone)]
pub struct Stop(Arc<dyn Fn() -> bool + Send + Sync>);

impl Default for Stop {
    /// Never.
    fn default() -> Self {
        Self::new(|| false)
    }
}

impl Stop {
    /// `asked` says it.
    pub fn new(asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(asked))
    }

    /// Whether the run is to stop.
    pub fn is_asked(&self) -> bool {
        self.0()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stop({})", self.is_asked())
    }
}

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

/// So often a kernel may hand over without an advance of its clock. Packets that arrive at one time let it hand over more than once.
const STILL: u32 = 100_000;

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

impl GuestError {
    /// A kernel that does not know the layout of the shared memory says so (see `ackclock_user.c`).
    fn explained(self) -> Self {
        if self.lines.iter().any(|line| line.contains("no shared memory of version")) {
            let what = "the kernel was built by another version of Ackclock; build it again with: ackclock kernel build";
            return Self { what: what.to_owned(), ..self };
        }
        self
    }
}

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

/// What a guest with programs needs.
#[derive(Clone, Debug)]
pub struct Access {
    /// Folders beneath which the programs may write.
    pub writable: Vec<PathBuf>,
    /// Hears their output.
    pub hear: Hear,
}

/// Takes what a program writes, and says whether it could.
type Listener = dyn Fn(Stream, &[u8]) -> io::Result<()> + Send + Sync;

/// Hears what programs write.
#[derive(Clone)]
pub struct Hear(Arc<Listener>);

impl Hear {
    /// `hear` is called for every write.
    pub fn new(hear: impl Fn(Stream, &[u8]) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl fmt::Debug for Hear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hear")
    }
}

/// A kernel that runs in virtual time.
#[derive(Debug)]
pub struct Guest {
    pub(crate) joint: Joint,
    process: Kept,
    silence: Duration,
    stop: Stop,
    /// What it needs for programs; `None`: it runs none.
    programs: Option<Access>,
    /// How often the kernel has handed over at its present time.
    still: u32,
    /// What the kernel has said and nobody has heard yet.
    pub(crate) said: Vec<Said>,
    /// The congestion controls that decide outside the kernel.
    pub(crate) controls: Controls,
}

impl Guest {
    /// Boots the kernel in the folder `kernel`, which `ackclock kernel build` made. Its random numbers come from `seed`. `programs`: what it
    /// needs if programs will run in it.
    ///
    /// # Errors
    /// If it does not boot, or is to stop.
    pub fn boot(kernel: &Path, seed: u64, limits: Limits, stop: Stop, programs: Option<Access>) -> Result<Self, GuestError> {
        let joint = Joint::new(seed)?;
        // The command line enters the kernel's random numbers, so that it names nothing of this machine. Nor does the program's path, which lies
        // on the stack: it counts from the kernel's folder, since the process enters that first.
        let mut command = Command::new("./linux");
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
            .args(programs.as_ref().map(|_| "seccomp=auto"))
            .current_dir(kernel)
            .env_clear()
            // The kernel starts its processes on a stack of one page, on which the loader must not run. Linux 7.2 also takes the last variable
            // for the end of its address space: without any, no process starts.
            .env("LD_BIND_NOW", "1");
        let writable = programs.as_ref().map(|programs| programs.writable.as_slice()).unwrap_or_default();
        let process = Kept::spawn(command, joint.as_fd(), writable, limits.cpu)?;
        let controls = Controls::default();
        let mut guest = Self { joint, process, silence: limits.silence, stop, programs, still: 0, said: Vec::new(), controls };
        let (joint, said, mut watch) = guest.watched();
        joint.wait(said, &mut watch).map_err(GuestError::explained)?;
        let answer = guest.answer()?;
        guest.agreed(&answer)?;
        Ok(guest)
    }

    /// The joint, what is said, and the attendant of both.
    fn watched(&mut self) -> (&mut Joint, &mut Vec<Said>, Watch<'_>) {
        let Self { joint, process, silence, stop, programs, said, controls, .. } = self;
        (joint, said, Watch { process, silence: *silence, stop, programs: programs.as_ref(), start: clock(), controls })
    }

    /// Whether the kernel's process is confined: it can write no file, except beneath the folders that it was given.
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
    /// If it has ended, does not hand over, or is to stop.
    pub fn run(&mut self, now: u64, until: u64) -> Result<(), GuestError> {
        // Every packet that arrives lets the kernel hand over: only turns without one show a clock that stands still.
        if self.joint.has_input() {
            self.still = 0;
        }
        let (before, heard) = (self.joint.now(), self.said.len());
        let (joint, said, mut watch) = self.watched();
        joint.run(now, until, said, &mut watch)?;
        self.check(before, heard, now)
    }

    /// Whether what the kernel has said after the first `heard`, in a run from `now` on, can be; its clock was at `before`.
    fn check(&mut self, before: u64, heard: usize, now: u64) -> Result<(), GuestError> {
        let after = self.joint.now();
        self.still = if after > before { 0 } else { self.still + 1 };
        if after < now {
            return Err(self.failure(format!("the kernel's clock went back, from {now} to {after} ns")));
        }
        if self.still > STILL {
            return Err(self.failure(format!("the kernel's clock stands still, at {after} ns")));
        }
        let odd = self.said[heard..].iter().find_map(|said| match said {
            Said::Packet { at, .. } if !(now..=after).contains(at) => Some(*at),
            _ => None,
        });
        odd.map_or(Ok(()), |at| Err(self.failure(format!("the kernel sends a packet at {at} ns, but it ran from {now} to {after} ns"))))
    }

    /// Lets the first process do what `commands` say (see `init.c`), before a run or between runs. The kernel's clock goes on as it needs.
    ///
    /// # Errors
    /// As [`Guest::run`]; if the kernel refuses a command: what it says.
    pub fn set_up(&mut self, commands: &str) -> Result<(), GuestError> {
        let answer = self.ask(commands)?;
        self.agreed(&answer)
    }

    /// As [`Guest::set_up`], but returns the answer: `ok`, or what went wrong. Packets before it are lost.
    ///
    /// # Errors
    /// As [`Guest::run`].
    pub fn ask(&mut self, commands: &str) -> Result<String, GuestError> {
        self.joint.line(commands);
        self.run(self.joint.now(), u64::MAX)?;
        self.answer()
    }

    /// Whether the first process has done what it was told.
    fn agreed(&self, answer: &str) -> Result<(), GuestError> {
        if answer == "ok" { Ok(()) } else { Err(self.failure(format!("the kernel refuses: {answer}"))) }
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
        self.said.retain(|said| !matches!(said, Said::Packet { .. } | Said::Dropped { .. }));
    }

    /// The exit code of a program that has ended; asks once.
    pub fn ended(&mut self, number: u32) -> Option<i32> {
        let place = self.said.iter().position(|said| matches!(said, Said::Ended { program, .. } if *program == number))?;
        if let Said::Ended { code, .. } = self.said.remove(place) { Some(code) } else { None }
    }

    /// An error with the last lines of the console.
    pub(crate) fn failure(&self, what: String) -> GuestError {
        GuestError { what, lines: console(&self.process) }
    }
}

/// The last lines of the console, without what every boot says: a confined kernel finds no terminals.
fn console(process: &Kept) -> Vec<String> {
    let mut lines = process.lines();
    lines.retain(|line| !line.starts_with("check_one_sigio failed"));
    lines
}

/// Watches a process that has `silence` to hand over, and answers for its congestion controls.
struct Watch<'a> {
    process: &'a Kept,
    silence: Duration,
    stop: &'a Stop,
    programs: Option<&'a Access>,
    /// Nanoseconds of the monotonic clock.
    start: u64,
    controls: &'a mut Controls,
}

impl Attendant for Watch<'_> {
    type Error = GuestError;

    fn check(&mut self) -> Result<(), GuestError> {
        let failed = |what: String| Err(GuestError { what, lines: console(self.process) });
        if let Some(status) = self.process.ended() {
            return failed(format!("the kernel has ended: {}", describe(status)));
        }
        if self.stop.is_asked() {
            return failed("the run was stopped".to_owned());
        }
        if u128::from(clock() - self.start) > self.silence.as_nanos() {
            let (who, looping) = match self.programs {
                Some(_) => ("a program", "it may be in a loop without system calls"),
                None => ("the kernel", "it may be in a loop"),
            };
            return failed(format!("{who} has computed for {} s without an end; {looping}", self.silence.as_secs()));
        }
        Ok(())
    }

    fn control(&mut self, call: &Call) -> Answer {
        self.controls.answer(call)
    }

    fn hear(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), GuestError> {
        let heard = self.programs.map_or(Ok(()), |programs| (programs.hear.0)(stream, bytes));
        // A slow reader is not the kernel's fault.
        self.start = clock();
        heard.map_err(|error| {
            let name = if stream == Stream::Output { "output" } else { "error" };
            GuestError { what: format!("standard {name} cannot be written to: {error}"), lines: Vec::new() }
        })
    }
}
