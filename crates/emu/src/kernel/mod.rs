//! The flows of a scenario as connections of Linux.
//!
//! [`run`] gives every TCP flow a pair of sockets in the namespaces of its ends. The simulation's links, queues, losses and applications
//! stay as they are: a flow's [`Connection`](ackclock_host::Connection) passes the frames of the kernel to them and back.
//!
//! Everything that has to happen at a packet's time happens in the emulator's thread: writing the frame to the device, in which the kernel
//! processes it; reading the delivered data; reading the state of the sender. Only writing (`writer`) has a thread of its own.

mod connection;
mod hystart;
mod info;
pub(crate) mod memory;
mod plan;
mod run;
mod sender;
mod settings;
mod sockets;
mod stream;
mod writer;

pub use run::{Facts, KernelError, Options, Run, refusal, run};

use std::io;
use std::sync::{Arc, OnceLock};

/// The first failure of a run's sockets.
#[derive(Clone, Debug, Default)]
struct Failure(Arc<OnceLock<(usize, String)>>);

impl Failure {
    /// Notes that a call failed at an end; `stream` is its number, twice the flow and one more at the receiver.
    fn note(&self, stream: usize, what: &str, error: &io::Error) {
        self.0.set((stream, format!("{what}: {error}"))).ok();
    }

    /// The number of the end, and what failed there.
    fn get(&self) -> Option<&(usize, String)> {
        self.0.get()
    }
}
