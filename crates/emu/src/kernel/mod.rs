//! The flows of a scenario as connections of Linux.
//!
//! [`run`] gives every TCP flow a pair of sockets in the namespaces of its ends. The simulation's links, queues, losses and applications
//! stay as they are: a flow's [`KernelConnection`](ackclock_kernel::KernelConnection) passes the frames of the kernel to them and back.
//!
//! Everything that has to happen at a packet's time happens in the emulator's thread: writing the frame to the device, in which the kernel
//! processes it; reading the delivered data; reading the state of the sender. Only writing (`writer`) has a thread of its own.

mod controls;
mod ends;
mod error;
mod hystart;
pub(crate) mod memory;
mod plan;
mod run;
mod socket;
mod sockets;
mod writer;

pub use ackclock_kernel::KernelError;
pub use run::{Facts, Options, Run, refusal, run};
