//! The engine: runs a scenario packet by packet.

mod events;
mod flow;
mod modern;
mod notices;
mod result;
mod simulation;

pub use result::{FlowResult, LinkResult, RunResult, digest};
pub use simulation::{Prepared, RunError, bottleneck, run};
