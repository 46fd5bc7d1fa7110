//! The engine: runs a scenario packet by packet.

mod applications;
mod error;
mod events;
mod flow;
mod hash;
mod hosts;
mod learning;
mod notices;
mod prepared;
mod result;
#[cfg(test)]
mod shaping_tests;
mod simulation;
mod stream;
mod tables;

pub use crate::app::{Page, Transfer};
pub use error::RunError;
pub use prepared::{Prepared, bottleneck, run};
pub use result::{ApplicationResult, FlowResult, LinkResult, RunResult, digest};
pub use tables::tables_json;
