//! What every endpoint needs and offers, whatever its transport: no clock, no I/O, no threads.
//!
//! [`Connection`] is the interface between a host profile, which is both ends of a flow, and its driver, which carries the packets between
//! them. [`ControlSeat`] is the one place between an endpoint and its congestion control, and [`StackSeat`] puts one into a stack that has hooks of
//! its own. The rest are the parts that endpoints share.
#![forbid(unsafe_code)]

mod bulk;
mod capabilities;
mod checkpoints;
mod connection;
mod first_flight;
mod limits;
mod pacing;
mod profile;
mod rate;
mod recovery_phase;
mod rules;
mod seat;
pub mod setting;
mod slow_start_exit;
mod stack;

pub use bulk::Bulk;
pub use capabilities::{Capabilities, Streams};
pub use checkpoints::{CHECKPOINTS, Checkpoints};
pub use connection::{Connection, Counters, Datagram, DropNotice, Flight, Side, StreamId, Tally, Transmission};
pub use first_flight::FirstFlight;
pub use limits::{Limit, LimitedTimes, Limits};
pub use pacing::Pacer;
pub use profile::{Flow, Host, PacketSizes, Profile, Profiles, Traffic};
pub use rate::DeliveryRate;
pub use recovery_phase::RecoveryPhase;
pub use rules::{Growth, Pacing, Restart, SeatRules};
pub use seat::ControlSeat;
pub use slow_start_exit::{ExitReason, SlowStartExit};
pub use stack::{Controls, Epoch, SharedSeat, StackSeat};
