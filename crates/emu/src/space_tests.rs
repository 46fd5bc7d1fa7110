//! Namespaces of this machine. The tests pass without having run where the rights for them are missing.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, OwnedFd};

use ackclock_linux::{libc, scheduling, socket};

use super::*;

/// One flow from node 0 to node 1 with these routes; `None`: this machine or user cannot.
fn space(routes: [Route; 2]) -> Option<Space> {
    let terminals = [Side::Sender, Side::Receiver].map(|side| Terminal { node: side.index(), flow: 0, side, route: routes[side.index()] });
    Space::new(&terminals).map_err(|reason| eprintln!("skipped: {reason}")).ok()
}

/// Opens a connection from node 0 to node 1. Returns the sender's socket and every packet.
fn connect(space: &Space) -> (OwnedFd, Vec<Vec<u8>>) {
    let to = SocketAddr::from((address(0, Side::Receiver), 80));
    let listen = || {
        let listener = socket::socket(true).unwrap();
        socket::bind(listener.as_fd(), to).unwrap();
        socket::listen(listener.as_fd(), 1).unwrap();
        listener
    };
    let listener = space.nodes[1].inside(listen).unwrap();
    let sender = space.nodes[0].inside(|| socket::socket(true).unwrap()).unwrap();
    socket::connect(sender.as_fd(), to).unwrap_err();
    let (mut packets, mut bytes) = (Vec::new(), [0; 16_384]);
    let until = scheduling::clock() + 5_000_000_000;
    while socket::accept(listener.as_fd()).is_err() {
        assert!(scheduling::clock() < until, "no connection after {} packets", packets.len());
        for (from, to) in [(0, 1), (1, 0)] {
            while let Ok(length) = (&space.nodes[from].tun).read(&mut bytes) {
                (&space.nodes[to].tun).write_all(&bytes[..length]).unwrap();
                packets.push(bytes[..length].to_vec());
            }
        }
    }
    (sender, packets)
}

fn number(fd: &OwnedFd, option: i32) -> i32 {
    let mut bytes = [0; 4];
    socket::option(fd.as_fd(), libc::IPPROTO_TCP, option, &mut bytes).unwrap();
    i32::from_ne_bytes(bytes)
}

#[test]
fn routes_set_segment_size_window_and_ecn() {
    let route = Route { mtu: 1052, initial_window: Some(23), ecn: true, ..Route::default() };
    let Some(space) = space([route, Route { mtu: 1052, ..Route::default() }]) else { return };
    let (sender, packets) = connect(&space);
    let syn = &packets[0];
    assert_eq!((&syn[12..16], &syn[16..20]), (&[10, 0, 1, 1][..], &[10, 0, 1, 2][..]));
    assert_eq!(syn[33] & 0xC2, 0xC2, "a SYN with ECE and CWR");
    assert_eq!(u16::from_be_bytes([syn[42], syn[43]]), 1012, "the announced segment size");
    // 12 bytes of every segment are timestamps.
    assert_eq!(number(&sender, libc::TCP_MAXSEG), 1000);
    let mut info = [0; 232];
    socket::option(sender.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut info).unwrap();
    assert_eq!(u32::from_ne_bytes(info[80..84].try_into().unwrap()), 23, "tcpi_snd_cwnd");
    assert_eq!(info[5] & 8, 8, "TCPI_OPT_ECN");
}

#[test]
fn segments_stay_apart() {
    let Some(space) = space([Route::default(); 2]) else { return };
    let (sender, packets) = connect(&space);
    assert_eq!(packets[0][33] & 0xC2, 0x02, "a SYN without ECN");
    socket::send(sender.as_fd(), &[7; 10_000], 0).unwrap();
    let mut bytes = [0; 16_384];
    let mut largest = 0;
    while let Ok(length) = (&space.nodes[0].tun).read(&mut bytes) {
        largest = largest.max(length);
    }
    assert_eq!(largest, 1500);
}

#[test]
fn parameters_stay_in_the_namespace() {
    let Some(space) = space([Route::default(); 2]) else { return };
    let file = "/proc/sys/net/ipv4/tcp_reordering";
    let before = fs::read_to_string(file).unwrap();
    space.nodes[0].set(&[("ipv4/tcp_reordering", "17")]).unwrap();
    assert_eq!(space.nodes[0].inside(|| fs::read_to_string(file).unwrap()).unwrap(), "17\n");
    assert_eq!(space.nodes[1].inside(|| fs::read_to_string(file).unwrap()).unwrap(), before);
    assert_eq!(fs::read_to_string(file).unwrap(), before);
    let refused = space.nodes[0].set(&[("ipv4/tcp_nothing", "1")]).unwrap_err();
    assert!(refused.contains("/proc/sys/net/ipv4/tcp_nothing does not take \"1\""), "{refused}");
}

#[test]
fn nothing_else_is_reachable() {
    let Some(space) = space([Route::default(); 2]) else { return };
    let outside = SocketAddr::from(([192, 0, 2, 1], 80));
    let refused = space.nodes[0].inside(|| socket::connect(socket::socket(true).unwrap().as_fd(), outside).unwrap_err()).unwrap();
    assert_eq!(refused.raw_os_error(), Some(libc::ENETUNREACH));
}
