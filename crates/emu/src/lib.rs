//! Scenarios on the TCP of Linux: an emulator of the path in real time, and connections of the kernel.
//!
//! | module | content |
//! |---|---|
//! | [`check`](mod@check) | what this machine can run |
//! | [`space`] | namespaces and TUN devices of a scenario's end nodes |
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod check;
pub mod space;
