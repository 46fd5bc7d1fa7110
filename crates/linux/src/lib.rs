//! Network namespaces, TUN devices and sockets of Linux: the only unsafe code of the crates that run on the kernel.
#![cfg(target_os = "linux")]
