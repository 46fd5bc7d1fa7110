//! Makes the sockets of a run in the namespaces of its ends, before time zero.

use std::ffi::c_int;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use ackclock_host::Side;
use ackclock_kernel::{FlowPlan, address};
use ackclock_linux::{libc, socket};

use super::socket::{Socket, discard_on_close};
use crate::space::{Node, Space, missing};

/// Port of the end that waits for the connection. Every flow has addresses of its own.
const PORT: u16 = 5001;
/// Most data that waits in the send buffer of a flow that stops, in bytes. The writing thread wakes up while the kernel sends this.
const UNSENT: u32 = 32 << 10;
/// `TCP_NOTSENT_LOWAT` (include/uapi/linux/tcp.h).
const TCP_NOTSENT_LOWAT: c_int = 25;
/// A pacing rate that never limits, in bytes per second; setting one makes the kernel pace at its own.
const ANY_RATE: u64 = 1 << 40;

/// The sockets of flow `index`: sender and receiver. The end that has a bulk transfer connects; otherwise the receiver does.
///
/// # Errors
/// If the kernel refuses a socket or its control: says which.
pub(super) fn open(space: &Space, index: usize, plan: &FlowPlan, control: &str) -> Result<[Socket; 2], String> {
    let opener = if plan.bulk.is_some() { Side::Sender } else { Side::Receiver };
    let [sender, receiver] = Side::ALL.map(|side| -> Result<Socket, String> {
        let node = space.node(index, side).ok_or_else(|| missing(format_args!("flow {index} has no namespace")))?;
        let made = node.inside(|| make(index, side, plan, control)).map_err(|error| missing(format_args!("no socket: {error}")))?;
        let made = made.map_err(|(what, error)| missing(format_args!("{what}: {error}")))?;
        let peer = SocketAddr::from((address(index, side.peer()), PORT));
        Ok(if side == opener { Socket::Opens(Arc::new(made), peer) } else { Socket::Listens(made) })
    });
    let sockets: [Socket; 2] = [sender?, receiver?];
    for (side, socket) in Side::ALL.into_iter().zip(&sockets) {
        if let (Socket::Listens(listener), Some(node)) = (socket, space.node(index, side)) {
            let listen = || socket::listen(listener.as_fd(), 8);
            let listening = node.inside(listen).and_then(|result| result);
            listening.map_err(|error| missing(format_args!("no listening socket: {error}")))?;
        }
    }
    Ok(sockets)
}

/// A socket for one end, in the namespace of the calling thread. An error says which call failed.
fn make(index: usize, side: Side, plan: &FlowPlan, control: &str) -> Result<OwnedFd, (String, io::Error)> {
    let made = socket::socket(true).map_err(|error| ("no socket".to_owned(), error))?;
    let fd = made.as_fd();
    let set = |name: c_int, value: &[u8], what: &str| {
        socket::set_option(fd, libc::IPPROTO_TCP, name, value).map_err(|error| (format!("the kernel does not take {what}"), error))
    };
    discard_on_close(fd).map_err(|error| ("the kernel does not take SO_LINGER".to_owned(), error))?;
    // An accepted socket inherits the control of its listener. The machine's default may be any control, so both ends get one.
    set(
        libc::TCP_CONGESTION,
        if side == Side::Sender { control } else { plan.control.at_receiver() }.as_bytes(),
        &format!("the control {control}"),
    )?;
    if plan.no_delay {
        set(libc::TCP_NODELAY, &1_i32.to_ne_bytes(), "TCP_NODELAY")?;
    }
    if let Some(window) = plan.window.filter(|_| side == Side::Receiver) {
        set(libc::TCP_WINDOW_CLAMP, &window.to_ne_bytes(), &format!("a receive window of {window} B"))?;
    }
    if plan.bulk.is_some_and(|bulk| bulk.stop.is_some()) {
        // Data in the send buffer is sent even after the application has stopped.
        set(TCP_NOTSENT_LOWAT, &UNSENT.to_ne_bytes(), "TCP_NOTSENT_LOWAT")?;
    }
    if plan.paced {
        let paced = socket::set_option(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &ANY_RATE.to_ne_bytes());
        paced.map_err(|error| ("the kernel does not pace".to_owned(), error))?;
    }
    socket::bind(fd, SocketAddr::from((address(index, side), PORT))).map_err(|error| ("no address".to_owned(), error))?;
    Ok(made)
}

/// Opens and uses a connection inside a namespace, over its loopback device: the first one takes milliseconds longer than later ones.
///
/// # Errors
/// If a connection over the loopback device fails.
pub(super) fn warm_up(node: &Node) -> Result<(), String> {
    let exchange = || -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut client = TcpStream::connect(listener.local_addr()?)?;
        let (mut server, _) = listener.accept()?;
        // The machine's default could pace.
        socket::set_option(client.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, b"reno")?;
        let mut received = [0; 1 << 14];
        for _ in 0..16 {
            client.write_all(&received)?;
            server.read_exact(&mut received)?;
        }
        Ok(())
    };
    let exchanged = node.inside(exchange).and_then(|result| result);
    exchanged.map_err(|error| missing(format_args!("no connection over the loopback device: {error}")))
}
