//! Sockets of TCP, each call as a safe function.

use std::ffi::{c_int, c_ulong};
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use crate::result::check;

/// The length of a structure, as system calls want it.
fn length<T>() -> libc::socklen_t {
    mem::size_of::<T>() as libc::socklen_t
}

/// A TCP socket that never blocks.
///
/// # Errors
/// Those of the call.
pub fn socket(v4: bool) -> io::Result<OwnedFd> {
    let family = if v4 { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: without pointers; the new descriptor belongs to the result alone.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::socket(family, libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, 0))?)) }
}

/// Calls `call` with `address` as a structure of the kernel.
fn with_address(address: SocketAddr, call: impl FnOnce(*const libc::sockaddr, libc::socklen_t) -> c_int) -> io::Result<()> {
    match address.ip() {
        IpAddr::V4(ip) => {
            // SAFETY: a structure of integers, for which zero is valid.
            let mut raw: libc::sockaddr_in = unsafe { mem::zeroed() };
            (raw.sin_family, raw.sin_port) = (libc::AF_INET as libc::sa_family_t, address.port().to_be());
            raw.sin_addr.s_addr = u32::from_ne_bytes(ip.octets());
            check(call((&raw const raw).cast(), length::<libc::sockaddr_in>())).map(drop)
        }
        IpAddr::V6(ip) => {
            // SAFETY: a structure of integers, for which zero is valid.
            let mut raw: libc::sockaddr_in6 = unsafe { mem::zeroed() };
            (raw.sin6_family, raw.sin6_port) = (libc::AF_INET6 as libc::sa_family_t, address.port().to_be());
            raw.sin6_addr.s6_addr = ip.octets();
            check(call((&raw const raw).cast(), length::<libc::sockaddr_in6>())).map(drop)
        }
    }
}

/// `bind`.
///
/// # Errors
/// Those of the call.
pub fn bind(fd: BorrowedFd<'_>, address: SocketAddr) -> io::Result<()> {
    // SAFETY: pointer and length denote a whole address.
    with_address(address, |address, length| unsafe { libc::bind(fd.as_raw_fd(), address, length) })
}

/// `connect`.
///
/// # Errors
/// Those of the call.
pub fn connect(fd: BorrowedFd<'_>, address: SocketAddr) -> io::Result<()> {
    // SAFETY: pointer and length denote a whole address.
    with_address(address, |address, length| unsafe { libc::connect(fd.as_raw_fd(), address, length) })
}

/// `connect` to an address of `AF_UNSPEC`, which ends the connection.
///
/// # Errors
/// Those of the call.
pub fn disconnect(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a structure of integers, for which zero is valid, and AF_UNSPEC is zero.
    let raw: libc::sockaddr = unsafe { mem::zeroed() };
    // SAFETY: pointer and length denote a whole address.
    check(unsafe { libc::connect(fd.as_raw_fd(), &raw const raw, length::<libc::sockaddr>()) }).map(drop)
}

/// `listen`.
///
/// # Errors
/// Those of the call.
pub fn listen(fd: BorrowedFd<'_>, backlog: i64) -> io::Result<()> {
    // SAFETY: without pointers.
    check(unsafe { libc::listen(fd.as_raw_fd(), c_int::try_from(backlog).unwrap_or(c_int::MAX)) }).map(drop)
}

/// `accept`: a socket that never blocks.
///
/// # Errors
/// Those of the call.
pub fn accept(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: no address is asked for; the new descriptor belongs to the result alone.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::accept4(fd.as_raw_fd(), address, length, libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC))?)) }
}

/// `send`.
///
/// # Errors
/// Those of the call.
pub fn send(fd: BorrowedFd<'_>, data: &[u8], flags: c_int) -> io::Result<usize> {
    // SAFETY: pointer and length are those of the slice.
    let sent = unsafe { libc::send(fd.as_raw_fd(), data.as_ptr().cast(), data.len(), flags | libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// `sendto`; `None`: a buffer at `NULL` of `length` bytes.
///
/// # Errors
/// Those of the call.
pub fn send_to(fd: BorrowedFd<'_>, data: Option<&[u8]>, length: usize, flags: c_int, to: Option<SocketAddr>) -> io::Result<usize> {
    let (start, length) = data.map_or((std::ptr::null(), length), |data| (data.as_ptr(), data.len()));
    let (flags, mut sent) = (flags | libc::MSG_NOSIGNAL, 0);
    // SAFETY: pointer and length are those of a slice, or the kernel finds nothing at `NULL` and refuses.
    let mut call = |address, size| unsafe {
        sent = libc::sendto(fd.as_raw_fd(), start.cast(), length, flags, address, size);
        c_int::from(sent >= 0) - 1
    };
    match to {
        Some(to) => with_address(to, call)?,
        None => check(call(std::ptr::null(), 0)).map(drop)?,
    }
    Ok(sent.unsigned_abs())
}

/// `recvmsg` into `data`, or into a buffer at `NULL` of `length` bytes: numbers of bytes, flags, and bytes of control messages.
///
/// # Errors
/// Those of the call.
pub fn receive_message(
    fd: BorrowedFd<'_>,
    data: Option<&mut [u8]>,
    length: usize,
    flags: c_int,
    control: &mut [u8],
) -> io::Result<(usize, c_int, usize)> {
    let (start, length) = data.map_or((std::ptr::null_mut(), length), |data| (data.as_mut_ptr(), data.len()));
    let mut part = libc::iovec { iov_base: start.cast(), iov_len: length };
    // SAFETY: a structure of integers and pointers, for which zero is valid.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), control.len() as _);
    // SAFETY: pointers and lengths are those of slices that outlive the call, or the kernel finds nothing at `NULL` and refuses.
    let read = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut message, flags) };
    let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
    Ok((read, message.msg_flags, message.msg_controllen as usize))
}

/// `shutdown`.
///
/// # Errors
/// Those of the call.
pub fn shutdown(fd: BorrowedFd<'_>, how: c_int) -> io::Result<()> {
    // SAFETY: without pointers.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), how) }).map(drop)
}

/// `setsockopt` with the bytes of the value.
///
/// # Errors
/// Those of the call.
pub fn set_option(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    // SAFETY: pointer and length are those of the slice.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), value.len() as libc::socklen_t) }).map(drop)
}

/// `getsockopt`: fills `value`, and returns the number of bytes.
///
/// # Errors
/// Those of the call.
pub fn option(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &mut [u8]) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of the slice.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &raw mut length) })?;
    Ok(length as usize)
}

/// `ioctl` with a number as result, such as `SIOCINQ`.
///
/// # Errors
/// Those of the call.
pub fn count(fd: BorrowedFd<'_>, request: c_ulong) -> io::Result<i64> {
    let mut value: c_int = 0;
    // SAFETY: these requests write an integer.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, &raw mut value) })?;
    Ok(i64::from(value))
}

/// Receives at most `most` bytes of a TCP stream without copying them (`MSG_TRUNC`).
///
/// # Errors
/// Those of the call.
pub fn discard(fd: BorrowedFd<'_>, most: usize) -> io::Result<usize> {
    // SAFETY: with this flag TCP writes nothing to the pointer.
    let read = unsafe { libc::recv(fd.as_raw_fd(), std::ptr::null_mut(), most, libc::MSG_TRUNC) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}
