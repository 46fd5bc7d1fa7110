//! Network namespaces, TUN devices, sockets and the scheduler of Linux: the only unsafe code of the crates that run on a kernel.
#![cfg(target_os = "linux")]
//!
//! | module | content |
//! |---|---|
//! | [`namespace`] | network namespaces, which vanish with their last descriptor and thread |
//! | [`tun`] | TUN devices, whose packets this process reads and writes |
//! | [`socket`] | sockets of TCP |
//! | [`epoll`] | descriptors that watch sockets |
//! | [`scheduling`] | real-time priority, locked memory, clock, waiting |
//! | [`confined`] | programs in namespaces, which end with this process |
//! | [`kept`] | programs that may write nowhere, and end with this process |
//! | [`shared`] | memory that another process shares |
//! | [`command`] | the commands `ip` and `tc` |
//! | [`lock`] | locks of files |
//!
//! Nothing here writes to a place that outlives the process: namespaces and devices are file descriptors.
#![allow(unsafe_code)]
#![expect(clippy::cast_possible_wrap, reason = "sizes, counts and times of a socket are far below 2^63")]

pub mod command;
pub mod confined;
pub mod epoll;
mod forking;
pub mod kept;
pub mod lock;
pub mod namespace;
mod result;
pub mod scheduling;
pub mod shared;
pub mod socket;
pub mod tun;

pub use libc;
pub use namespace::Namespace;
