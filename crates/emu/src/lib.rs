//! Scenarios on the TCP of Linux: an emulator of the path in real time, and connections of the kernel.
#![cfg(target_os = "linux")]

pub mod controls;
pub mod ebpf;
