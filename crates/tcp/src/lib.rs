//! TCP end hosts, sans-IO: packets, timeouts and an application's calls go in, packets come out. No clock, no I/O, no threads.
//!
//! A host profile is a type that implements [`Connection`]: both ends of a flow. Its driver carries the packets between them.
#![forbid(unsafe_code)]

mod bulk;
mod checkpoints;
mod connection;
mod first_flight;
mod limits;
pub mod modern;
pub mod ns2;
mod pacing;
pub mod pcapng;
pub mod profile;
mod rate;
mod slow_start_exit;
pub mod wire;

use ackclock_core::params::Axis;

pub use bulk::Bulk;
pub use checkpoints::{CHECKPOINTS, Checkpoints};
pub use connection::{Connection, Counters, Datagram, DropNotice, Side, Tally, Transmission};
pub use limits::LimitedTimes;
pub use slow_start_exit::{ExitReason, SlowStartExit};

/// Every axis of this crate, in the order of listings.
pub static AXES: &[&Axis] = &[&profile::AXIS, &ns2::RECOVERY];

/// Bytes of IP and TCP headers without options: the size of a plain ACK (ns-2: `tcpip_base_hdr_size_`).
pub const HEADER: u16 = 40;
