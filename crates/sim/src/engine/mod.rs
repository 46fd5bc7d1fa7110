//! The engine: runs a scenario packet by packet.

mod applications;
mod events;
mod flow;
mod learning;
mod modern;
mod notices;
mod result;
mod simulation;
mod stream;

pub use crate::app::{Page, Transfer};
pub use result::{ApplicationResult, FlowResult, LinkResult, RunResult, digest};
pub use simulation::{Prepared, RunError, bottleneck, run};
