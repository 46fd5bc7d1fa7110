//! TCP end hosts, sans-IO: packets, timeouts and an application's calls go in, packets come out. No clock, no I/O, no threads.
//!
//! A host profile is a type that implements [`Connection`](ackclock_host::Connection): both ends of a flow. Its driver carries the packets between them.
#![forbid(unsafe_code)]

pub mod modern;
pub mod ns2;
pub mod profile;

use ackclock_core::params::Axis;

/// Every axis of this crate, in the order of listings.
pub static AXES: &[&Axis] = &[&profile::AXIS, &ns2::RECOVERY];

/// Bytes of IP and TCP headers without options: the size of a plain ACK (ns-2: `tcpip_base_hdr_size_`).
pub const HEADER: u16 = 40;
