//! Scenarios on the TCP of Linux: an emulator of the path in real time, and connections of the kernel.
#![cfg(target_os = "linux")]
//!
//! | module | content |
//! |---|---|
//! | [`check`](mod@check) | what this machine can run |
//! | [`controls`] | the congestion controls that the kernel runs for scenarios |
//! | [`ebpf`] | congestion controls as programs of the kernel |
//! | [`emulator`] | a simulation driven by the wall clock, between TUN devices |
//! | [`kernel`] | the flows of a scenario as connections of the kernel |
//! | [`programs`] | any program behind the path of a scenario |
//! | [`space`] | namespaces and TUN devices of a scenario's end nodes |
#![forbid(unsafe_code)]

pub mod check;
pub mod controls;
pub mod ebpf;
pub mod emulator;
pub mod kernel;
pub mod programs;
pub mod space;
