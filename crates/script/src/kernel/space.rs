//! A network namespace with one interface, whose other end is the script.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};

use ackclock_linux::command::run;
use ackclock_linux::namespace::Inside;
use ackclock_linux::tun::{self, BLOCK_HEADER, Frames};
use ackclock_linux::{Namespace, scheduling};

use crate::network::Network;

/// Real-time priority of the thread that plays a script.
const PRIORITY: i32 = 20;
/// Largest block of segments.
const LARGEST: usize = 1 << 16;

/// A network namespace that the calling thread has entered, and the interface in it. Dropped in the same thread, it brings the thread
/// back, and the kernel removes the namespace with all that is in it.
#[derive(Debug)]
pub(super) struct Space {
    interface: File,
    buffer: Vec<u8>,
    /// Whether packets may be late, since the thread did not get a real-time priority.
    pub(super) ordinary_priority: bool,
    /// Files outside of the namespace that were changed, with their former contents.
    restore: Vec<(String, String)>,
    /// Dropped last.
    _inside: Inside,
}

/// What is missing, in the words of the user.
fn missing(what: impl std::fmt::Display) -> String {
    format!("cannot run on the kernel: {what} (needed: Linux, root, /dev/net/tun, the commands `ip` and `tc`)")
}

impl Space {
    /// Enters a new namespace with an interface for `network`.
    pub(super) fn enter(network: &Network) -> Result<Self, String> {
        let inside =
            Namespace::new().and_then(|space| space.enter()).map_err(|error| missing(format_args!("no new network namespace: {error}")))?;
        let interface = tun::open(c"tun0", Frames::Blocks).map_err(missing)?;
        let space =
            Self { interface, buffer: vec![0; LARGEST + BLOCK_HEADER], ordinary_priority: false, restore: Vec::new(), _inside: inside };
        space.prepare(network)
    }

    /// Sets up the interface. An error leaves the namespace again.
    fn prepare(mut self, network: &Network) -> Result<Self, String> {
        let (local, mtu) = (network.local, network.mtu);
        // Without duplicate address detection an IPv6 address is usable at once.
        let (version, bits, detection) = if local.is_ipv4() { ("-4", 24, "") } else { ("-6", 64, " nodad") };
        if let Err(error) = fs::write("/proc/sys/net/ipv6/conf/all/disable_ipv6", if local.is_ipv4() { "1" } else { "0" }) {
            // Without IPv6 in the kernel there is nothing to disable.
            if !local.is_ipv4() {
                return Err(missing(format_args!("no IPv6: {error}")));
            }
        }
        let commands = format!(
            "link set lo up\nlink set tun0 txqueuelen 10000 mtu {mtu} up\naddr add {local}/{bits} dev tun0{detection}\n\
             route add default dev tun0 src {local}\n"
        );
        run("ip", &[version, "-batch", "-"], &commands).map_err(missing)?;
        // A plain queue, so that nothing paces, as packetdrill's scripts presuppose.
        Self::qdisc("fifo")?;
        self.ordinary_priority = scheduling::priority(PRIORITY).is_err();
        scheduling::exact_timers().map_err(missing)?;
        Ok(self)
    }

    /// The interface, for polling.
    pub(super) fn interface(&self) -> &File {
        &self.interface
    }

    /// The next packet that the kernel has sent, if any.
    pub(super) fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        match (&self.interface).read(&mut self.buffer) {
            Ok(length) => Ok(self.buffer.get(..length).and_then(whole)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a packet to the kernel.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        let mut bytes = vec![0; BLOCK_HEADER];
        bytes.extend(packet);
        (&self.interface).write_all(&bytes)
    }

    /// Replaces the queue of the interface: `fifo` or `fq`.
    pub(super) fn qdisc(name: &str) -> Result<(), String> {
        let discipline: &[&str] = if name == "fq" { &["fq"] } else { &["pfifo", "limit", "10000"] };
        run("tc", &[&["qdisc", "replace", "dev", "tun0", "root"], discipline].concat(), "").map_err(missing)
    }

    /// Gives the interface another size of the largest packet.
    pub(super) fn link_mtu(mtu: u16) -> Result<(), String> {
        run("ip", &["link", "set", "tun0", "mtu", &mtu.to_string()], "").map_err(missing)
    }

    /// Gives the route of `network` attributes such as `initcwnd 4`.
    pub(super) fn route(network: &Network, attributes: &[String]) -> Result<(), String> {
        let version = if network.local.is_ipv4() { "-4" } else { "-6" };
        let command = format!("route replace default dev tun0 src {} {}\n", network.local, attributes.join(" "));
        run("ip", &[version, "-batch", "-"], &command).map_err(missing)
    }

    /// Writes a file below /proc/sys/net, which belongs to the namespace.
    pub(super) fn write(path: &str, value: &str) -> io::Result<()> {
        fs::write(path, value)
    }

    /// Writes a file that all namespaces share; it gets its old contents back at the end.
    pub(super) fn write_shared(&mut self, path: &str, value: &str) -> io::Result<()> {
        let old = fs::read_to_string(path)?;
        fs::write(path, value)?;
        self.restore.push((path.to_owned(), old));
        Ok(())
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        for (path, old) in self.restore.iter().rev() {
            fs::write(path, old).ok();
        }
        scheduling::priority(0).ok();
    }
}

/// The packet behind a block's header, with the checksum that the kernel has left to the interface (`VIRTIO_NET_HDR_F_NEEDS_CSUM`).
fn whole(bytes: &[u8]) -> Option<Vec<u8>> {
    let (header, packet) = bytes.split_at_checked(BLOCK_HEADER)?;
    let mut packet = packet.to_vec();
    if header[0] & 1 != 0 {
        let number = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let (start, field) = (number(6), number(6) + number(8));
        let mut sum = 0_u64;
        for pair in packet.get(start..)?.chunks(2) {
            sum += u64::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
        }
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        packet.get_mut(field..field + 2)?.copy_from_slice(&(!sum as u16).to_be_bytes());
    }
    Some(packet)
}
