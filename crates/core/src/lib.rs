//! The parts of Ackclock: congestion controls, queue disciplines, and models of rate, delay and loss.
//!
//! This crate has no clock, no I/O and no threads. The simulator, runs on a real kernel and other stacks drive the same parts through the
//! traits in [`cc`], [`qdisc`] and [`path`]. They get the list of parts from [`registry`].
#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::float_cmp, reason = "the documents' numbers are exact, so the tests compare exactly"))]

pub mod cc;
pub mod distribution;
pub mod entry;
pub mod events;
pub mod limits;
pub mod params;
pub mod path;
pub mod qdisc;
pub mod registry;
pub mod rng;
#[cfg(test)]
mod testing;
pub mod units;
mod values;
