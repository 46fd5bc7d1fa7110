//! Scripts of packets and system calls in packetdrill's language, run against a TCP endpoint in virtual time.
//!
//! [`parse`] reads a text into a [`script::Script`]. Nothing here touches files, clocks or the network.
#![forbid(unsafe_code)]

pub mod code;
mod error;
mod parse;
mod print;
pub mod script;
pub mod settings;

pub use error::{SyntaxError, Unsupported, nearest};
pub use parse::{Define, parse};
