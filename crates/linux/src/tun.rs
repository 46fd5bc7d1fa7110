//! TUN devices: interfaces of a namespace whose packets this process reads and writes.

use std::ffi::{CStr, c_ulong};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use crate::result::check;

/// The file behind every TUN device.
pub const DEVICE: &str = "/dev/net/tun";
/// Bytes before each packet of a device with [`Frames::Blocks`] (`struct virtio_net_hdr`).
pub const BLOCK_HEADER: usize = 10;

/// What a device passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frames {
    /// Single IP packets with whole checksums.
    Packets,
    /// Blocks of segments, each after a header of [`BLOCK_HEADER`] bytes.
    Blocks,
}

/// Makes the interface `name` in the namespace of the calling thread. Its file never blocks, and closing it removes the interface.
///
/// # Errors
/// Those of the kernel, with the step that failed.
pub fn open(name: &CStr, frames: Frames) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(DEVICE)
        .map_err(|error| io::Error::new(error.kind(), format!("{DEVICE} cannot be opened: {error}")))?;
    set_up(&file, name, frames).map_err(|error| io::Error::new(error.kind(), format!("no TUN interface: {error}")))?;
    Ok(file)
}

fn set_up(file: &File, name: &CStr, frames: Frames) -> io::Result<()> {
    let mut request = request(name);
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | if frames == Frames::Blocks { libc::IFF_VNET_HDR } else { 0 };
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: the structure is the one that this request reads and writes.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    if frames == Frames::Packets {
        return no_offloads(name);
    }
    let offload = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    // SAFETY: this request takes a number.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, c_ulong::from(offload)) }).map(drop)
}

/// A request about the interface `name`.
fn request(name: &CStr) -> libc::ifreq {
    // SAFETY: a structure of integers and pointers, for which zero is valid.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.to_bytes()) {
        *to = *from as libc::c_char;
    }
    request
}

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// `ETHTOOL_STSO`, `ETHTOOL_SGSO`, `ETHTOOL_SGRO`.
const OFFLOADS: [u32; 3] = [0x1f, 0x24, 0x2c];
/// `SIOCETHTOOL`.
const ETHTOOL: c_ulong = 0x8946;

/// Ends the joining of segments to larger packets, of which a link would serve each as one.
fn no_offloads(name: &CStr) -> io::Result<()> {
    // SAFETY: without pointers; the new descriptor belongs to the result alone.
    let socket = unsafe { OwnedFd::from_raw_fd(check(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?) };
    for command in OFFLOADS {
        let mut value = EthtoolValue { command, data: 0 };
        let mut request = request(name);
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: both structures outlive the call and are those of this request.
        check(unsafe { libc::ioctl(socket.as_raw_fd(), ETHTOOL as _, &raw mut request) })?;
    }
    Ok(())
}
