//! The parts of Ackclock: congestion controls, queue disciplines, loss models.
//!
//! This crate has no clock, no I/O and no threads. The simulator, runs on a real kernel and other stacks drive the same parts through
//! the traits in [`cc`], [`qdisc`] and [`loss`], and learn which parts exist from [`registry`].
#![forbid(unsafe_code)]

pub mod cc;
pub mod events;
pub mod loss;
pub mod qdisc;
pub mod registry;
pub mod rng;
pub mod units;
