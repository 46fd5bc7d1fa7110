//! The engine: runs a scenario packet by packet.

mod applications;
mod attempt;
mod copying;
mod crossings;
mod driven;
mod end_host;
mod error;
mod events;
mod flow;
mod hash;
mod hosts;
mod learning;
mod live;
#[cfg(test)]
mod live_tests;
mod lockstep;
#[cfg(test)]
mod lockstep_tests;
mod notices;
mod notifying;
mod outside;
#[cfg(test)]
mod outside_queue_tests;
mod passage;
mod prepared;
mod replay;
mod result;
mod routing;
mod sharing;
mod simulation;
mod stream;
mod summary;
mod tables;
mod warnings;
mod wires;

pub use crate::app::{Media, Page, Transfer};
pub use crate::net::busy::BusyPart;
pub use attempt::{Attempt, Measures, RunRow};
pub use crossings::crossings;
pub use end_host::EndHost;
pub use error::RunError;
pub use flow::control;
pub use live::{FrameConnection, Live};
pub use lockstep::{Connect, Lockstep, Outside};
pub use outside::{Departure, OutsideHost, OutsideInterface, Passed};
pub use passage::{Interface, Passage};
pub use prepared::{BUSY_PARTS, Prepared, both_ways, bottleneck, busy_link, run};
pub use replay::{Arrival, Replayed, replay, replays};
pub use result::{ApplicationResult, FlowResult, LinkResult, RunResult, digest};
pub use summary::{Summary, summary_schema};
pub use tables::tables_json;
pub use warnings::{Warning, foreign};
