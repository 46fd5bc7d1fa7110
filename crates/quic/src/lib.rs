//! QUIC stacks as host profiles: real endpoints in a simulated network, in virtual time and with seeds.
//!
//! [`profile::PROFILES`] is the list that a program joins to those of the simulator.
#![forbid(unsafe_code)]

mod clock;
mod control;
mod cryptography;
mod end;
mod frames;
mod hosts;
mod noq;
mod pair;
mod plaintext;
pub mod profile;
mod quinn;
mod settings;
mod stack;
mod streams;
mod watch;

pub use cryptography::Cryptography;
pub use profile::PROFILES;
