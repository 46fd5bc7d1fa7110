//! Scenarios on the TCP of Linux: an emulator of the path in real time, and connections of the kernel.
//!
//! | module | content |
//! |---|---|
//! | [`emulator`] | a simulation driven by the wall clock, between TUN devices |
//! | [`kernel`] | the flows of a scenario as connections of the kernel |
//! | [`space`] | namespaces and TUN devices of a scenario's end nodes |
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod emulator;
pub mod kernel;
pub mod space;
