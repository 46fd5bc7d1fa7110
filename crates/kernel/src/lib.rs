//! Flows of a scenario as connections of a Linux kernel, whichever kernel that is: this machine's in real time, or another one in virtual
//! time.
//!
//! A [`Plan`] says what each flow is on a kernel, and what the kernel does not follow. A [`KernelConnection`] is a flow of the simulation
//! whose packets a kernel sends and receives. It reaches the kernel by the trait [`Ends`], which has one implementation for each way to run
//! a kernel. This crate makes no system call.
//!
//! | item | content |
//! |---|---|
//! | [`Plan`], [`FlowPlan`] | routes, parameters and options of the flows; warnings |
//! | [`KernelControl`], [`choose`], [`Offer`] | the kernel's congestion control that runs a scenario's, from those that the kernel offers |
//! | [`Terminal`], [`Route`], [`address`] | the ends of the flows with their addresses and routes |
//! | [`Ends`], [`KernelConnection`] | a flow on a kernel, as a [`Connection`](ackclock_host::Connection) |
//! | [`Info`] | the state of a socket |
//! | [`behind`](mod@behind) | programs in the place of a flow |
//! | [`frames`] | the flow to which a packet belongs |
//! | [`KernelError`] | why a run fails |
#![forbid(unsafe_code)]

pub mod behind;
mod connection;
mod controls;
mod ends;
mod error;
mod flow;
pub mod frames;
mod info;
mod plan;
mod program;
mod route;
mod sender;
mod stream;

pub use connection::KernelConnection;
pub use controls::{Check, KernelControl, Offer, Seats, choose};
pub use ends::{Ends, Order};
pub use error::KernelError;
pub use flow::{ACCURATE_ECN, FlowPlan, Parameters, is_old};
pub use info::Info;
pub use plan::{Chosen, Plan, refused};
pub use program::{Part, Program};
pub use route::{MOST_FLOWS, Route, Terminal, address, address_v6, owner};
