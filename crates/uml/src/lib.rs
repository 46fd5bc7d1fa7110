//! Scenarios on a Linux kernel in virtual time.
#![cfg(target_os = "linux")]
//!
//! User-Mode Linux is the kernel's own source, built as an ordinary program. Here it runs as a *guest*: its clock, its network and its random
//! numbers come from the engine, with which it takes turns in shared memory. A run is therefore a function of the kernel, the scenario and
//! the seed. It needs no rights, and the guest has none.
//!
//! | module | content |
//! |---|---|
//! | [`joint`] | the memory that both share, and the turns |
//! | [`guest`] | the process of a kernel, and what it is told |
//! | [`host`] | the guest as a host of the engine that has a clock of its own |
//! | [`programs`] | any program of this machine behind the path of a scenario |
//! | `queues` | queue disciplines of the kernel in front of links |
//! | `setup`, `execute` | what a guest is told before a run: commands of its first process, programs |
//! | [`run`](mod@run) | the flows of a scenario as connections of a guest |
//! | [`script`] | scripts in packetdrill's language on a guest |
//!
//! What is built into the kernel lies in `python/ackclock/data/kernel`, under the GPL; it is a program of its own, which this crate starts.
#![forbid(unsafe_code)]

mod control;
mod ends;
mod execute;
pub mod guest;
pub mod host;
pub mod joint;
pub mod programs;
mod queues;
pub mod run;
pub mod script;
mod setup;
