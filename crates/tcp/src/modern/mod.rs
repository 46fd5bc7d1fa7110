//! The host profile `modern`: a byte-stream TCP endpoint that behaves as in today's systems.
//!
//! | file | contents |
//! |---|---|
//! | `connection` | both ends of a flow, with the interface that the engine calls |
//! | `endpoint` | one end of a connection: wiring, states, closing |
//! | `writer` | the application of an end, which waits for room in its send buffer |
//! | `handshake` | opening and negotiated options |
//! | `info` | the state of a connection as Linux shows it |
//! | `segment`, `paws` | the wire: numbers, flags, options; timestamps |
//! | `sender` | the sending half: distributes each event among the owners below |
//! | `stream`, `send_window` | owners: data written by the application; data sent and acknowledged, the peer's window |
//! | `send_buffer` | owner: the memory of the data written and not acknowledged |
//! | `blocks` | owner: packets that the network device splits, PSH |
//! | `scoreboard`, `ranges` | owner: outstanding segments and their state |
//! | `repair`, `prr` | owner: phase of loss recovery, and its next segment (RFC 6675, RFC 6582, RFC 9937) |
//! | `rack`, `tlp`, `undo` | owners: losses by time and probes (RFC 8985); spurious recoveries |
//! | `feedback` | owners: the counters of marks and their feedback |
//! | `marks` | owner: ECN of the sender, and the data that a reduction covers |
//! | `timers`, `ticks`, `rtt` and the crate's `rate`, `pacing` | owners: timing |
//! | `hold` | owner: small segments that wait for more data |
//! | `application` | what an application does and sees |
//! | `fast_open` | data in the SYN |
//! | `ack` | an acknowledgement in positions |
//! | `receiver`, `adaptive_acks`, `peer_segment` | the receiving half: order, ACKs |
//! | `window`, `memory_window` | owners: the receive window, of data or of memory |

mod ack;
mod adaptive_acks;
mod answers;
mod application;
mod blocks;
mod config;
mod connection;
pub mod endpoint;
mod fast_open;
mod feedback;
mod handshake;
mod hold;
mod info;
mod marks;
mod memory_window;
mod paws;
mod peer_segment;
mod prr;
mod rack;
mod receiver;
mod repair;
mod resolution;
mod rtt;
mod rules;
mod scoreboard;
mod send_buffer;
mod send_window;
mod sender;
mod settings;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod ticks;
mod timers;
mod tlp;
mod undo;
mod window;
mod writer;

pub use ackclock_wire::segment;
pub use config::{
    AckRules, AdaptiveAcks, Feedback, Growth, Offload, Pacing, PacketMemory, ProbeMargins, ReceiveBuffer, Recovery, RtoBounds,
    SendBufferSize, TIMESTAMPS,
};
pub use connection::Connection;
pub use endpoint::{Endpoint, State};
pub use info::{AgreedOptions, CaState, EcnBytes, Info};
pub use send_buffer::WriteFlags;
pub use settings::{Config, SETTINGS};
