//! Locks of files (`flock`): they belong to an open file, and end when its last descriptor closes, also in processes that inherited it.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use crate::result::check;

/// Keeps others from [`exclude`], unless one holds `file` so already; returns whether it does.
///
/// # Errors
/// Those of the kernel.
pub fn share(file: &File) -> io::Result<bool> {
    flock(file, libc::LOCK_SH | libc::LOCK_NB)
}

/// Keeps `file` alone, unless others hold it; returns whether it does.
///
/// # Errors
/// Those of the kernel.
pub fn exclude(file: &File) -> io::Result<bool> {
    flock(file, libc::LOCK_EX | libc::LOCK_NB)
}

/// Ends the lock of `file`.
///
/// # Errors
/// Those of the kernel.
pub fn release(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_UN).map(drop)
}

fn flock(file: &File, operation: c_int) -> io::Result<bool> {
    // SAFETY: without pointers; the descriptor is open.
    match check(unsafe { libc::flock(file.as_raw_fd(), operation) }) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}
