//! Results of system calls.

use std::ffi::c_int;
use std::io;

/// The result of a call: −1 is an error.
pub(crate) fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
