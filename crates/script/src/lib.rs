//! Scripts of packets and system calls in packetdrill's language, run against a TCP endpoint in virtual time.
//!
//! [`run`] reads a script with [`parse`] and plays it in a [`World`]: packets go in and out, and system calls are executed, at the times of
//! the script. [`Simulated`] is a world of virtual time around any [`stack::Stack`]; [`Modern`] is the stack of `modern` endpoints.
//!
//! | module | contents |
//! |---|---|
//! | [`script`], `parse`, `print` | a script as data, its reader and its printer |
//! | [`code`], [`settings`] | blocks of assertions; shell commands as kernel parameters |
//! | `play` | the interpreter: times, packets, calls |
//! | [`world`], [`stack`] | the seams: a world in which time passes, and a stack without I/O |
//! | `simulated`, `modern` | the world of virtual time; the host of `modern` endpoints |
//! | `kernel` | the world of a Linux kernel (feature `kernel`) |
//! | [`packet`], `network` | packets as bytes, from the crate `ackclock-wire`; addresses and ports |
//! | `outcome`, `trace` | verdicts, and how a failure is shown; captures and logs |
#![forbid(unsafe_code)]

mod blocked;
pub mod code;
mod errno;
mod error;
mod host;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod kernel;
mod modern;
mod network;
mod options;
mod outcome;
mod parse;
mod play;
mod print;
pub mod script;
pub mod settings;
mod simulated;
pub mod stack;
mod trace;
pub mod world;

pub use ackclock_wire::packet;
pub use errno::Errno;
pub use error::{SyntaxError, Unsupported, nearest};
pub use host::{ControlParameters, Controls, Host};
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub use kernel::{Handle, Incoming, Kernel, Machine, Outgoing, System};
pub use modern::Modern;
pub use network::{IpVersion, Network};
pub use options::{Options, Tolerance};
pub use outcome::{Crossing, Failure, Outcome, Verdict};
pub use parse::{Define, parse};
pub use play::play;
pub use simulated::Simulated;
pub use world::World;

/// Reads the script `text`, and plays it in the world that `world` makes for its network.
pub fn run<W: World>(text: &str, options: &Options, world: impl FnOnce(&Network) -> Result<W, String>) -> Outcome {
    let error = |line, reason| Outcome::early(Verdict::Error { line, reason });
    let script = match parse::parse_with(text, &options.file, |own| options.all_defines(own)) {
        Ok(script) => script,
        Err(why) => return error(why.at.line, why.message),
    };
    let network = match Network::of(&script, options.ip_version) {
        Ok(network) => network,
        Err(reason) => return Outcome::early(Verdict::Unsupported { line: 0, reason }),
    };
    match world(&network) {
        Ok(mut world) => play(&script, &mut world, &network, options),
        Err(reason) => error(0, reason),
    }
}
