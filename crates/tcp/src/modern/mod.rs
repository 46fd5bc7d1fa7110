//! The host profile `modern`: a byte-stream TCP endpoint as today's systems behave.
//!
//! | file | what it does |
//! |---|---|
//! | `connection` | both ends of a flow, as the engine drives them |
//! | `endpoint` | one end of a connection: wiring, states, closing |
//! | `handshake` | opening, and what is agreed on |
//! | `segment`, `paws` | the wire: numbers, flags, options; timestamps |
//! | `sender`, `acks`, `recovery`, `timers` | the sending half: what goes next; ACKs; loss recovery; timers |
//! | `scoreboard`, `ranges` | what is outstanding, and what is known about it |
//! | `rack`, `tlp`, `prr`, `undo` | RFC 8985; RFC 9937; was it a loss at all? |
//! | `notices` | what a queue tells of a drop |
//! | `rtt`, `rate`, `pacing` | timing |
//! | `receiver`, `window` | the receiving half: order, ACKs; the window |

mod acks;
mod config;
mod connection;
pub mod endpoint;
mod handshake;
mod notices;
mod paws;
mod prr;
mod rack;
mod ranges;
mod receiver;
mod recovery;
mod rtt;
mod scoreboard;
pub mod segment;
mod sender;
#[cfg(test)]
mod tests;
mod timers;
mod tlp;
mod undo;
mod window;

pub use config::{Config, Pacing, ReceiveBuffer, Recovery, RtoBounds, TIMESTAMPS};
pub use connection::Connection;
pub use endpoint::Endpoint;
