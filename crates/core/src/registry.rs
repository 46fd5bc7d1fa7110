//! The registry of parts: all axes with their parts. It supplies the names in scenarios, the JSON Schema, `ackclock list`, the reference
//! pages and the tests that every part runs automatically.
//!
//! Each axis is declared in the `mod.rs` of its folder, beside its parts.

use crate::cc::{avoidance, initial_window, loss_response, slow_start, whole};
use crate::params::Axis;
use crate::path::{delay, loss, medium, rate};
use crate::qdisc;

/// Every axis of this crate, in the order of listings.
pub static AXES: &[&Axis] = &[
    // Of a control.
    &initial_window::AXIS,
    &slow_start::AXIS,
    &avoidance::AXIS,
    &loss_response::AXIS,
    &whole::AXIS,
    // Of a link.
    &qdisc::AXIS,
    &qdisc::class::AXIS,
    &rate::AXIS,
    &delay::AXIS,
    &loss::AXIS,
    &medium::AXIS,
];
