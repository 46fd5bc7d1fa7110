//! The engine of Ackclock: scenarios, a deterministic packet-level simulator, TCP endpoints, traces.
#![forbid(unsafe_code)]

pub mod analytic;
mod app;
pub mod columns;
pub mod completion;
pub mod engine;
mod net;
pub mod scenario;
pub mod trace;

pub use ackclock_host::{ExitReason, SlowStartExit};
