//! Packets as bytes, and files of packets. No I/O.
//!
//! | module | content |
//! |---|---|
//! | [`segment`] | a TCP segment without its data, as endpoints exchange it |
//! | [`frame`] | headers of simulated packets; the fields of a kernel's IPv4 packet |
//! | [`packet`], [`options`] | a whole TCP packet of IPv4 or IPv6, and its options |
//! | [`icmp`] | messages that answer a TCP segment |
//! | [`pcapng`] | captures |
//! | [`qlog`] | logs of what a sender does |
//!
//! All of them write and read headers by `internet`, `tcp` and `checksum`.
#![forbid(unsafe_code)]

mod checksum;
pub mod frame;
pub mod icmp;
mod internet;
pub mod options;
pub mod packet;
pub mod pcapng;
pub mod qlog;
pub mod segment;
mod tcp;
