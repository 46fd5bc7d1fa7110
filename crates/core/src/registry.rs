//! The registry of parts: all axes with their parts. It supplies the names in scenarios, the JSON Schema, `ackclock list`, the reference
//! pages and the tests that every part runs automatically.
//!
//! Each axis declares its parts in the `mod.rs` of its folder. Analytic models are registered in the same way ([`crate::analytic`]), but
//! are not parts of a scenario.

use crate::cc::{avoidance, initial_window, loss_response, slow_start, whole};
use crate::entry::Description;
use crate::path::{delay, loss, rate};
use crate::qdisc;

/// An axis by its name in a scenario, with the description of its parts.
pub fn axes() -> [(&'static str, Vec<Description>); 9] {
    [
        ("initial_window", initial_window::describe()),
        ("slow_start", slow_start::describe()),
        ("avoidance", avoidance::describe()),
        ("loss_response", loss_response::describe()),
        ("congestion_control", whole::describe()),
        ("queue", qdisc::describe()),
        ("rate", rate::describe()),
        ("delay", delay::describe()),
        ("loss", loss::describe()),
    ]
}
