//! How processes are made here: prepared by system calls before they execute a program, and one at a time.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

use crate::result::check;

/// What libraries do before a fork cannot happen twice at once: `OpenBLAS`, in the Python process that loads this crate, joins its threads, and
/// waits forever for those that another fork has joined.
static ONE: Mutex<()> = Mutex::new(());

/// Starts `command` after `prepare`, which runs in the new process and only makes system calls.
///
/// # Errors
/// Those of the kernel and of `prepare`; `NotFound` also if the program does not exist.
pub(crate) fn spawn(command: &mut Command, prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static) -> io::Result<Child> {
    // SAFETY: between fork and exec the closure only makes system calls, and allocates nothing.
    unsafe { command.pre_exec(prepare) };
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// Forks a process that [`spawn`] prepares. Nothing that libraries do before a fork happens here, where their threads are not.
///
/// # Errors
/// Those of the kernel.
pub(crate) fn fork() -> io::Result<libc::pid_t> {
    let none: libc::c_ulong = 0;
    // SAFETY: without memory in common; the child only makes system calls until it executes another program or ends.
    check(unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, none, none, none, none) } as libc::c_int)
}
