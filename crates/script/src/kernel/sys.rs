//! The system calls of the kernel's world, each as a safe function. The only unsafe code of this crate.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_ulong};
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The result of a call: −1 is an error.
fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The length of a structure, as system calls want it.
fn length<T>() -> libc::socklen_t {
    mem::size_of::<T>() as libc::socklen_t
}

/// Moves the calling thread into a new network namespace.
pub(super) fn new_network() -> io::Result<()> {
    // SAFETY: without pointers; changes only the namespace of the calling thread.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Moves the calling thread into the network namespace that `fd` denotes.
pub(super) fn enter_network(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: without pointers; the descriptor is open.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// Gives the calling thread the real-time priority `priority` (0: the ordinary policy), and timers without slack.
pub(super) fn priority(priority: c_int) -> io::Result<()> {
    let policy = if priority > 0 { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure outlives the call; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) })?;
    // SAFETY: without pointers.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as c_ulong) }).map(drop)
}

/// Nanoseconds of the monotonic clock.
pub(super) fn clock() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call, which cannot fail with this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Turns the file `tun` into the interface `name`. It accepts blocks of segments, as packetdrill's does: each packet has a header of
/// [`BLOCK_HEADER`] bytes before it.
pub(super) fn open_interface(tun: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
    // SAFETY: a structure of integers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: the structure is the one that this request reads and writes.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    let offload = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    // SAFETY: this request takes a number.
    check(unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETOFFLOAD, c_ulong::from(offload)) }).map(drop)
}

/// Bytes before each packet of the interface (`struct virtio_net_hdr`).
pub(super) const BLOCK_HEADER: usize = 10;

/// Waits until a descriptor has one of its events, at most `nanos`; without end if `None`. Returns the events.
pub(super) fn poll(fds: &mut [libc::pollfd], nanos: Option<u64>) -> io::Result<()> {
    let time = nanos
        .map(|nanos| libc::timespec { tv_sec: (nanos / 1_000_000_000) as libc::time_t, tv_nsec: (nanos % 1_000_000_000) as libc::c_long });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: array and time outlive the call, and the length is the array's.
    let result = check(unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, time, std::ptr::null()) });
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other.map(drop),
    }
}

/// A TCP socket that never blocks.
pub(super) fn socket(v4: bool) -> io::Result<OwnedFd> {
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
pub(super) fn bind(fd: BorrowedFd<'_>, address: SocketAddr) -> io::Result<()> {
    // SAFETY: pointer and length denote a whole address.
    with_address(address, |address, length| unsafe { libc::bind(fd.as_raw_fd(), address, length) })
}

/// `connect`.
pub(super) fn connect(fd: BorrowedFd<'_>, address: SocketAddr) -> io::Result<()> {
    // SAFETY: pointer and length denote a whole address.
    with_address(address, |address, length| unsafe { libc::connect(fd.as_raw_fd(), address, length) })
}

/// `listen`.
pub(super) fn listen(fd: BorrowedFd<'_>, backlog: i64) -> io::Result<()> {
    // SAFETY: without pointers.
    check(unsafe { libc::listen(fd.as_raw_fd(), c_int::try_from(backlog).unwrap_or(c_int::MAX)) }).map(drop)
}

/// `accept`: a socket that never blocks.
pub(super) fn accept(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let (address, length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: no address is asked for; the new descriptor belongs to the result alone.
    unsafe { Ok(OwnedFd::from_raw_fd(check(libc::accept4(fd.as_raw_fd(), address, length, libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC))?)) }
}

/// `send`.
pub(super) fn send(fd: BorrowedFd<'_>, data: &[u8], flags: c_int) -> io::Result<usize> {
    // SAFETY: pointer and length are those of the slice.
    let sent = unsafe { libc::send(fd.as_raw_fd(), data.as_ptr().cast(), data.len(), flags | libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// `recv`.
pub(super) fn receive(fd: BorrowedFd<'_>, data: &mut [u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of the slice.
    let read = unsafe { libc::recv(fd.as_raw_fd(), data.as_mut_ptr().cast(), data.len(), 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// `shutdown`.
pub(super) fn shutdown(fd: BorrowedFd<'_>, how: c_int) -> io::Result<()> {
    // SAFETY: without pointers.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), how) }).map(drop)
}

/// `setsockopt` with the bytes of the value.
pub(super) fn set_option(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    // SAFETY: pointer and length are those of the slice.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.as_ptr().cast(), value.len() as libc::socklen_t) }).map(drop)
}

/// `getsockopt`: fills `value`, and returns the number of bytes.
pub(super) fn option(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: &mut [u8]) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    // SAFETY: pointer and length are those of the slice.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &raw mut length) })?;
    Ok(length as usize)
}

/// `ioctl` with a number as result, such as `SIOCINQ`.
pub(super) fn count(fd: BorrowedFd<'_>, request: c_ulong) -> io::Result<i64> {
    let mut value: c_int = 0;
    // SAFETY: these requests write an integer.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), request as _, &raw mut value) })?;
    Ok(i64::from(value))
}
