//! Programs that may write nowhere, or only beneath some folders, and that end with the thread that keeps them, and so with this process, however it ends.
//!
//! The kernel kills the program with that thread. Children of the program end with it only if they have asked for that themselves, and one that
//! has just been made, or stands still under its parent's trace, has not. So each program has a *guard*, its first child, which ends the whole
//! process group when the program has ended.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope};

use crate::forking;
use crate::result::check;

/// The descriptor by which the program finds the file that it is given.
pub const GIVEN: RawFd = 3;
/// Lines of the program's output that are kept: the last ones.
const LINES: usize = 40;

/// The rights that this module takes away, in the newest version of Landlock that it knows. Older kernels have some of them.
const VERSION: ABI = ABI::V6;

/// What is known of a program.
#[derive(Debug, Default)]
struct Known {
    lines: VecDeque<String>,
    ended: Option<ExitStatus>,
}

/// A running program. Dropping it ends it.
#[derive(Debug)]
pub struct Kept {
    process: u32,
    confined: bool,
    known: Arc<Mutex<Known>>,
    keeper: Option<JoinHandle<()>>,
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// Starts `command` with the descriptor `given` as [`GIVEN`], at fixed addresses, and for at most `time` of processor time. If the kernel
    /// has Landlock, the program and its children cannot write to files, except beneath the folders `writable`, use TCP of this machine, or send
    /// signals to other programs. Its output is read.
    ///
    /// # Errors
    /// Those of the kernel; `NotFound` also if the program does not exist.
    pub fn spawn(mut command: Command, given: BorrowedFd<'_>, writable: &[PathBuf], time: Duration) -> io::Result<Self> {
        let writable = writable.to_vec();
        let given = given.as_raw_fd();
        // SAFETY: without pointers.
        let caller = unsafe { libc::getpid() };
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let prepared = move || prepare(given, caller, time);
        let known = Arc::<Mutex<Known>>::default();
        let (tell, told) = mpsc::sync_channel(1);
        let noted = known.clone();
        // Landlock confines a thread and what it starts, and a child can end with the thread that started it: so each program has a thread.
        let keeper = thread::Builder::new().name("keeper".to_owned()).spawn(move || keep(command, prepared, &writable, &noted, &tell))?;
        let (process, confined) = told.recv().map_err(|_| io::Error::other("the thread of the program has ended"))??;
        Ok(Self { process, confined, known, keeper: Some(keeper) })
    }

    /// Whether Landlock confines the program.
    pub fn is_confined(&self) -> bool {
        self.confined
    }

    /// The program's process.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// How the program has ended, if it has.
    pub fn ended(&self) -> Option<ExitStatus> {
        lock(&self.known).ended
    }

    /// The last lines of its output.
    pub fn lines(&self) -> Vec<String> {
        lock(&self.known).lines.iter().cloned().collect()
    }

    /// Ends the program and waits for its end.
    pub fn end(&mut self) {
        // The keeper collects the process under the lock, so the number is still the program's.
        if let Some(keeper) = self.keeper.take() {
            let known = lock(&self.known);
            if known.ended.is_none() {
                // SAFETY: without pointers; the process is this one's child.
                unsafe { libc::kill(self.process.cast_signed(), libc::SIGKILL) };
            }
            drop(known);
            keeper.join().ok();
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.end();
    }
}

/// Says how a program has ended.
pub fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (_, Some(libc::SIGXCPU)) => "it used all the processor time that it may have".to_owned(),
        (_, Some(signal)) => format!("signal {signal} ended it"),
        (Some(code), _) => format!("it ended with exit code {code}"),
        _ => "it ended".to_owned(),
    }
}

/// Processor time that the process and its children that have ended used so far; zero if it has ended itself.
pub fn processor_time(process: u32) -> Duration {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    // In nanoseconds (Documentation/scheduler/sched-stats.rst).
    let own = read("schedstat").split_whitespace().next().and_then(|used| used.parse().ok()).unwrap_or_default();
    // proc_pid_stat(5): cutime and cstime, in hundredths of a second; fields are counted after the name, which can hold anything.
    let stat = read("stat");
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let children: u64 = fields.split_whitespace().skip(13).take(2).filter_map(|used| used.parse::<u64>().ok()).sum();
    Duration::from_nanos(own) + Duration::from_millis(10 * children)
}

type Started = io::Result<(u32, bool)>;

/// The thread of a program: confines itself, starts the program, reads its output, and waits for its end.
fn keep(
    mut command: Command,
    prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    writable: &[PathBuf],
    known: &Mutex<Known>,
    tell: &SyncSender<Started>,
) {
    let started = confine(writable).and_then(|confined| Ok((forking::spawn(&mut command, prepare)?, confined)));
    let mut child = match started {
        Ok((child, confined)) => {
            tell.send(Ok((child.id(), confined))).ok();
            child
        }
        Err(error) => {
            tell.send(Err(error)).ok();
            return;
        }
    };
    read(&mut child, known);
    // The output has ended, but the process may go on without it.
    wait(&mut child, known);
}

/// Reads both outputs until they end.
fn read(child: &mut Child, known: &Mutex<Known>) {
    fn note(known: &Mutex<Known>, output: impl io::Read) {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let mut known = lock(known);
            if known.lines.len() == LINES {
                known.lines.pop_front();
            }
            known.lines.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
    }
    let errors = child.stderr.take();
    thread::scope(|scope| {
        if let Some(errors) = errors {
            scope.spawn(|| note(known, errors));
        }
        if let Some(output) = child.stdout.take() {
            note(known, output);
        }
    });
}

fn wait(child: &mut Child, known: &Mutex<Known>) {
    if crate::confined::wait_for_end(child.id()).is_ok() {
        // Locked while the process number may become another's.
        let mut known = lock(known);
        known.ended = child.wait().ok();
    }
}

/// Takes rights from the calling thread and from what it starts, except to write beneath the folders `writable`. Returns whether the kernel can.
fn confine(writable: &[PathBuf]) -> io::Result<bool> {
    let confined = || -> Result<bool, landlock::RulesetError> {
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_write(VERSION))?
            .handle_access(AccessNet::from_all(VERSION))?
            .scope(Scope::from_all(VERSION))?
            .create()?
            .add_rules(landlock::path_beneath_rules(["/dev/null"], AccessFs::WriteFile))?
            .add_rules(landlock::path_beneath_rules(writable, AccessFs::from_write(VERSION)))?
            .restrict_self()?;
        Ok(ruleset.ruleset != RulesetStatus::NotEnforced)
    };
    confined().map_err(io::Error::other)
}

/// Prepares the process that becomes the program.
fn prepare(given: RawFd, caller: libc::pid_t, time: Duration) -> io::Result<()> {
    let seconds = time.as_secs().max(1);
    let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds + 1 };
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structures outlive the calls; the others are without pointers.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() != caller {
            libc::_exit(1);
        }
        // Ctrl-C is for the caller.
        check(libc::setsid())?;
        start_guard()?;
        // Addresses are part of what a kernel's random numbers come from.
        check(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong))?;
        check(libc::setrlimit(libc::RLIMIT_CPU, &raw const limit))?;
        check(libc::setrlimit(libc::RLIMIT_CORE, &raw const none))?;
        if given == GIVEN {
            check(libc::fcntl(given, libc::F_SETFD, 0))?;
        } else {
            check(libc::dup2(given, GIVEN))?;
        }
        // Nothing else of this process is the program's business.
        libc::syscall(libc::SYS_close_range, GIVEN + 1, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    Ok(())
}

/// Starts the guard of the calling process, which leads its process group.
fn start_guard() -> io::Result<()> {
    // SAFETY: without pointers.
    let program = check(unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) } as libc::c_int)?;
    if forking::fork()? == 0 {
        guard(program);
    }
    // SAFETY: the descriptor is this function's own.
    unsafe { libc::close(program) };
    Ok(())
}

/// Waits for the end of the process that `program` denotes, and ends all that is left of its group, to which the caller belongs.
fn guard(program: libc::c_int) -> ! {
    let mut poll = libc::pollfd { fd: program, events: libc::POLLIN, revents: 0 };
    // SAFETY: the structure outlives the calls; the others are without pointers.
    unsafe {
        // The end of the program's outputs is for the keeper to see.
        libc::syscall(libc::SYS_close_range, 0, program - 1, 0);
        libc::syscall(libc::SYS_close_range, program + 1, libc::c_uint::MAX, 0);
        while libc::poll(&raw mut poll, 1, -1) < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {}
        libc::kill(0, libc::SIGKILL);
        libc::_exit(1)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::shared::Shared;

    fn shell(script: &str) -> Kept {
        let given = Shared::new(c"given", 4096).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Kept::spawn(command, given.as_fd(), &[], Duration::from_secs(20)).unwrap()
    }

    fn finished(kept: &Kept) -> String {
        let mut waits = 4000;
        while kept.ended().is_none() && waits > 0 {
            thread::sleep(Duration::from_millis(5));
            waits -= 1;
        }
        describe(kept.ended().unwrap())
    }

    #[test]
    fn output_and_end_are_known() {
        let kept = shell("echo one; echo two >&2; exit 3");
        assert_eq!(finished(&kept), "it ended with exit code 3");
        let mut lines = kept.lines();
        lines.sort();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(finished(&shell("kill -TERM $$")), "signal 15 ended it");
    }

    #[test]
    fn the_given_file_is_open() {
        assert_eq!(finished(&shell("test -e /proc/self/fd/3 && test ! -e /proc/self/fd/9")), "it ended with exit code 0");
    }

    #[test]
    fn nothing_can_be_written() {
        let folder = std::env::temp_dir().join(format!("ackclock-kept-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let kept = shell(&format!("echo > /dev/null || exit 7; touch {}/file", folder.display()));
        let (ended, confined) = (finished(&kept), kept.is_confined());
        let written = folder.join("file").exists();
        std::fs::remove_dir_all(&folder).unwrap();
        if confined {
            assert!(!written && ended != "it ended with exit code 0" && ended != "it ended with exit code 7", "{ended}");
        } else {
            eprintln!("skipped: this kernel has no Landlock");
        }
    }

    #[test]
    fn only_beneath_the_given_folders_can_be_written() {
        let folder = std::env::temp_dir().join(format!("ackclock-kept-given-{}", std::process::id()));
        let (inside, outside) = (folder.join("in"), folder.join("out"));
        for each in [&inside, &outside] {
            std::fs::create_dir_all(each).unwrap();
        }
        let given = Shared::new(c"given", 4096).unwrap();
        let mut command = Command::new("sh");
        let script = format!("mkdir {0}/a && echo > {0}/a/b || exit 7; echo > {1}/c", inside.display(), outside.display());
        command.args(["-c", &script]);
        let kept = Kept::spawn(command, given.as_fd(), std::slice::from_ref(&inside), Duration::from_secs(20)).unwrap();
        let (ended, confined) = (finished(&kept), kept.is_confined());
        let written = [inside.join("a/b").exists(), outside.join("c").exists()];
        std::fs::remove_dir_all(&folder).unwrap();
        assert_ne!(ended, "it ended with exit code 7");
        assert_eq!(written, [true, !confined]);
    }

    #[test]
    fn dropping_ends_the_program() {
        let kept = shell("exec sleep 1000");
        let process = kept.process();
        drop(kept);
        assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
    }

    /// Waits until there is no such process, or it has ended and waits for its parent.
    fn assert_gone(process: &str) {
        let state = || {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next())
        };
        let mut waits = 400;
        while state().is_some_and(|state| state != 'Z') {
            assert!(waits > 0, "process {process} is still there: {:?}", state());
            thread::sleep(Duration::from_millis(5));
            waits -= 1;
        }
    }

    #[test]
    fn a_child_that_is_stopped_ends_with_the_program() {
        let kept = shell("sleep 1000 & kill -STOP $!; echo $!; exec sleep 1000");
        let mut waits = 400;
        while kept.lines().is_empty() && waits > 0 {
            thread::sleep(Duration::from_millis(5));
            waits -= 1;
        }
        let child = kept.lines()[0].clone();
        drop(kept);
        assert_gone(&child);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let given = Shared::new(c"given", 4096).unwrap();
        let refused = Kept::spawn(Command::new("/no/such/program"), given.as_fd(), &[], Duration::from_secs(1)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    }
}
