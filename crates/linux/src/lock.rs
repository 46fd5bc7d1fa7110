//! Locks of files (`flock`): they belong to an open file, and end when its last descriptor closes, also in processes that inherited it.

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;

use crate::check;

/// Waits until nobody holds `file` exclusively, and keeps it so.
///
/// # Errors
/// Those of the kernel.
pub fn share(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_SH)
}

/// Waits until nobody else holds `file`, and keeps it so.
///
/// # Errors
/// Those of the kernel.
pub fn exclude(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_EX)
}

/// Whether [`exclude`] would not have to wait. `file` is free afterwards.
///
/// # Errors
/// Those of the kernel.
pub fn is_free(file: &File) -> io::Result<bool> {
    match flock(file, libc::LOCK_EX | libc::LOCK_NB) {
        Ok(()) => release(file).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Ends the lock of `file`.
///
/// # Errors
/// Those of the kernel.
pub fn release(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_UN)
}

fn flock(file: &File, operation: c_int) -> io::Result<()> {
    // SAFETY: without pointers; the descriptor is open.
    check(unsafe { libc::flock(file.as_raw_fd(), operation) }).map(drop)
}
