//! Programs in a network namespace and a PID namespace of their own, which end with the process that started them.
//!
//! The child of this process is a *guard*, which waits for the first process of the PID namespace. That *init* starts the program and
//! collects processes that lost their parent. If the caller dies, also by SIGKILL, the kernel kills the guard, then init, and with it
//! every process in the namespace.

use std::ffi::{c_int, c_uint};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};
use std::process::{Child, Command};

use crate::forking;
use crate::namespace::Namespace;
use crate::result::check;

/// Starts `command` in the network namespace. Its processes end with it, with the child that is returned, and with the calling thread.
/// The child's exit code is the program's, or 128 plus the number of the signal that ended it.
///
/// # Errors
/// Those of the kernel; `NotFound` also if the program does not exist.
pub fn spawn(command: &mut Command, network: &Namespace) -> io::Result<Child> {
    let network = network.as_fd().as_raw_fd();
    // SAFETY: without pointers.
    let caller = unsafe { libc::getpid() };
    forking::spawn(command, move || confine(network, caller))
}

/// Waits until the child `process` has ended, without collecting it.
///
/// # Errors
/// Those of `waitid`.
pub fn wait_for_end(process: u32) -> io::Result<()> {
    loop {
        // SAFETY: a structure of integers and pointers, for which zero is valid.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the structure outlives the call.
        let result = check(unsafe { libc::waitid(libc::P_PID, process, &raw mut info, libc::WEXITED | libc::WNOWAIT) });
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(drop),
        }
    }
}

/// Turns the calling process into the guard. Returns in the process that becomes the program.
fn confine(network: RawFd, caller: libc::pid_t) -> io::Result<()> {
    let mut pipe = [0; 2];
    // SAFETY: all calls are without pointers, but `pipe2`, which fills the array.
    unsafe {
        check(libc::setns(network, libc::CLONE_NEWNET))?;
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() != caller {
            libc::_exit(1);
        }
        check(libc::unshare(libc::CLONE_NEWPID | libc::CLONE_NEWNS))?;
        check(libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC))?;
    }
    let [read, write] = pipe;
    match forking::fork()? {
        0 => become_init(read, write)?,
        init => wait(init, write),
    }
    match forking::fork()? {
        0 => Ok(()),
        program => wait(program, -1),
    }
}

/// Prepares the first process of the PID namespace. `read`: a pipe whose other end only the guard keeps.
fn become_init(read: c_int, write: c_int) -> io::Result<()> {
    // SAFETY: the structure and the constant strings outlive the calls.
    unsafe {
        libc::close(write);
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        // The guard may have died before.
        let mut poll = libc::pollfd { fd: read, events: 0, revents: 0 };
        if libc::poll(&raw mut poll, 1, 0) == 1 {
            libc::_exit(1);
        }
        // Programs find their own processes in /proc. Where it may not be mounted, they find those of the machine.
        let (root, proc, none) = (c"/".as_ptr(), c"proc".as_ptr(), std::ptr::null());
        if libc::mount(none, root, none, libc::MS_REC | libc::MS_PRIVATE, none.cast()) == 0 {
            libc::mount(proc, c"/proc".as_ptr(), proc, libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC, none.cast());
        }
    }
    Ok(())
}

/// Waits for the process `main`, collects every other, and ends with its exit code. Keeps no descriptor but `kept`.
fn wait(main: libc::pid_t, kept: c_int) -> ! {
    // SAFETY: all calls are without pointers, but `waitpid`, which fills the integer.
    unsafe {
        // Ctrl-C is for the program.
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        libc::signal(libc::SIGQUIT, libc::SIG_IGN);
        if kept > 0 {
            libc::syscall(libc::SYS_close_range, 0, kept - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, kept + 1, c_uint::MAX, 0);
        let mut status = 0;
        loop {
            let ended = libc::waitpid(-1, &raw mut status, 0);
            if ended == main {
                libc::_exit(if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) });
            }
            if ended < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                libc::_exit(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _};
    use std::process::Stdio;

    use super::*;

    /// Starts a script of the shell; `None`: this machine or user cannot.
    fn shell(script: &str) -> Option<Child> {
        let network = Namespace::new().map_err(|error| eprintln!("skipped: {error}")).ok()?;
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped()).stdin(Stdio::null());
        Some(spawn(&mut command, &network).unwrap())
    }

    fn output(script: &str) -> Option<(Option<i32>, String)> {
        let output = shell(script)?.wait_with_output().unwrap();
        Some((output.status.code(), String::from_utf8(output.stdout).unwrap()))
    }

    #[test]
    fn exit_codes_are_those_of_the_program() {
        let Some(ended) = output("exit 7") else { return };
        assert_eq!(ended, (Some(7), String::new()));
        assert_eq!(output("kill -TERM $$").unwrap(), (Some(128 + 15), String::new()));
        // An orphan that ends before is not mistaken for the program.
        assert_eq!(output("(sh -c 'exit 3' &); sleep 0.1; echo here; exit 5").unwrap(), (Some(5), "here\n".to_owned()));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let Ok(network) = Namespace::new() else { return };
        let refused = spawn(&mut Command::new("/no/such/program"), &network).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_network_is_empty() {
        let Some((_, interfaces)) = output("tail -n +3 /proc/net/dev") else { return };
        assert_eq!(interfaces.split_whitespace().next(), Some("lo:"));
        assert_eq!(interfaces.lines().count(), 1, "{interfaces}");
    }

    #[test]
    fn everything_ends_with_the_guard() {
        let Some(mut guard) = shell("sleep 1000 & setsid sleep 1000 & echo started; wait") else { return };
        let mut pipe = BufReader::new(guard.stdout.take().unwrap());
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        guard.kill().unwrap();
        guard.wait().unwrap();
        // The pipe ends when the last process that holds it has ended.
        assert_eq!(pipe.read(&mut [0]).unwrap(), 0);
    }
}
