//! The engine of Ackclock: scenarios, a deterministic packet-level simulator, TCP endpoints, traces.
#![forbid(unsafe_code)]

pub mod scenario;
