//! The host profile `ns2`: the packet-counting one-way TCP of ns-2.35.
//!
//! Segment 0 is the SYN, data segments count from 1, and the cumulative ACK is the next expected number. The scenario chooses the loss
//! [`Recovery`] and the congestion control independently.
//!
//! ## References
//! ns-2.35's Tahoe, Reno, Newreno, Sack1 and Vegas agents, inferred from their runs; RFC 5681, RFC 6582, RFC 3517, RFC 3042.

mod blocks;
mod config;
mod connection;
mod packets;
mod receiver;
mod recovery;
mod scoreboard;
mod sender;

pub use blocks::{AckOptions, SackBlocks};
pub use config::{Config, SETTINGS};
pub use connection::Connection;
pub use recovery::{AXIS as RECOVERY, Recovery};
