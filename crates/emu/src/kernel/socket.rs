//! The socket of one end of a flow.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use ackclock_linux::{libc, socket};

/// The socket of one end.
#[derive(Debug)]
pub(super) enum Socket {
    /// It connects to the other end's address.
    Opens(Arc<OwnedFd>, SocketAddr),
    /// It waits for the other end.
    Listens(OwnedFd),
    /// It is connected.
    Accepted(Arc<OwnedFd>),
}

impl Socket {
    /// The socket of the connection, if there is one.
    pub(super) fn connected(&self) -> Option<&Arc<OwnedFd>> {
        match self {
            Self::Opens(socket, _) | Self::Accepted(socket) => Some(socket),
            Self::Listens(_) => None,
        }
    }
}

/// Closing the socket shall discard its data at once. Otherwise the kernel keeps trying to send it for minutes, and the memory of all such
/// sockets holds back every other connection of the machine.
///
/// # Errors
/// Those of `setsockopt`.
pub(super) fn discard_on_close(fd: BorrowedFd<'_>) -> io::Result<()> {
    // `struct linger`: on, for no time.
    let linger = [1_i32, 0].map(i32::to_ne_bytes).concat();
    socket::set_option(fd, libc::SOL_SOCKET, libc::SO_LINGER, &linger)
}
