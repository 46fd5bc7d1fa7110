//! Congestion control: the contract with the transport, and the four axes that compose a control.
//!
//! A control is usually [`Composed`] of an initial window, a slow start, an avoidance and a loss response. An algorithm that does not
//! decompose implements [`CongestionControl`] directly ([`whole`]). Windows are real numbers of segments.

pub mod avoidance;
pub(crate) mod bandwidth;
pub(crate) mod bbr_model;
mod composed;
mod contract;
pub(crate) mod hybla;
pub mod initial_window;
pub(crate) mod ledbat;
pub mod loss_response;
pub(crate) mod nonlinear;
pub(crate) mod opening;
mod recipe;
pub(crate) mod recovery;
pub mod slow_start;
pub(crate) mod ticks;
pub(crate) mod vegas;
pub(crate) mod vegas_linux;
pub mod whole;
pub(crate) mod windowed;
mod witness;

pub use composed::Composed;
pub use contract::{
    Avoidance, CloneAvoidance, CloneControl, CloneInitialWindow, CloneLossResponse, CloneSlowStart, CongestionControl, InitialWindow,
    LossResponse, Phase, SlowStart, Step, Wants, Window,
};
pub use recipe::Recipe;
pub use witness::{Court, Testimony, Witness};
