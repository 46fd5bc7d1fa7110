//! TCP end hosts, sans-IO: packets, timeouts and an application's calls go in, packets come out. No clock, no I/O, no threads.
//!
//! A host profile is a type that implements [`Connection`](ackclock_host::Connection): both ends of a flow. Its driver carries the packets between them.
#![forbid(unsafe_code)]

pub mod modern;
pub mod ns2;
pub mod profile;
mod ranges;

pub use ackclock_wire::segment::HEADER;

use ackclock_core::params::Axis;

/// Every axis of this crate, in the order of listings.
pub static AXES: &[&Axis] = &[&ns2::RECOVERY];
