//! Descriptors that watch sockets, each call as a safe function.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use crate::result::check;

/// `epoll_create1`.
///
/// # Errors
/// Those of the call.
pub fn create() -> io::Result<OwnedFd> {
    // SAFETY: without pointers; the new descriptor belongs to the result alone.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?)) }
}

/// `epoll_ctl` with events and the data that [`wait`] reports.
///
/// # Errors
/// Those of the call.
pub fn control(epoll: BorrowedFd<'_>, operation: c_int, socket: BorrowedFd<'_>, (events, data): (u32, i32)) -> io::Result<()> {
    let mut event = libc::epoll_event { events, u64: u64::from(data.cast_unsigned()) };
    // SAFETY: the structure outlives the call.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, socket.as_raw_fd(), &raw mut event) }).map(drop)
}

/// `epoll_wait` for at most `most` sockets without waiting: their data and events.
///
/// # Errors
/// Those of the call.
pub fn wait(epoll: BorrowedFd<'_>, most: usize) -> io::Result<Vec<(i32, u32)>> {
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; most.min(1024)];
    // SAFETY: pointer and length are those of the vector.
    let ready = check(unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), events.len() as c_int, 0) })?;
    events.truncate(ready.unsigned_abs() as usize);
    Ok(events.iter().map(|event| ((event.u64 as u32).cast_signed(), event.events)).collect())
}
