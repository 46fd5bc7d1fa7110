//! The host profile `modern`: a byte-stream TCP endpoint as today's systems behave.
//!
//! | file | what it does |
//! |---|---|
//! | `connection` | both ends of a flow, as the engine drives them |
//! | `endpoint` | one end of a connection: wiring, states, closing |
//! | `handshake` | opening, and what is agreed on |
//! | `segment`, `paws` | the wire: numbers, flags, options; timestamps |
//! | `sender` | the sending half: what happens at an event, and which of its owners is asked and told |
//! | `stream`, `send_window` | owners: what the application has written; what is sent and acknowledged, and how far the peer lets go |
//! | `scoreboard`, `ranges` | owner: what is outstanding, and what is known about it |
//! | `repair`, `prr` | owner: whether losses are being repaired, and what goes next for it (RFC 6675, RFC 6582, RFC 9937) |
//! | `rack`, `tlp`, `undo` | owners: losses by time and probes (RFC 8985); was it a loss at all? |
//! | `marks` | owner: ECN, and which data a reduction answers for |
//! | `governor` | owner: the congestion control and its outputs, the first flight, the end of slow start |
//! | `timers`, `rtt` and the crate's `rate`, `pacing` | owners: timing |
//! | `ack` | an acknowledgement in positions |
//! | `receiver`, `window` | the receiving half: order, ACKs; the window |

mod ack;
mod config;
mod connection;
pub mod endpoint;
mod governor;
mod handshake;
mod marks;
mod paws;
mod prr;
mod rack;
mod ranges;
mod receiver;
mod repair;
mod rtt;
mod scoreboard;
pub mod segment;
mod send_window;
mod sender;
mod stream;
#[cfg(test)]
mod tests;
mod timers;
mod tlp;
mod undo;
mod window;

pub use config::{Config, Pacing, ReceiveBuffer, Recovery, RtoBounds, TIMESTAMPS};
pub use connection::Connection;
pub use endpoint::Endpoint;
