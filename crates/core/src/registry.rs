//! Every axis of parts, gathered: from here come the names that a scenario may use, its JSON Schema, `ackclock list`, the reference pages
//! and the tests that every part gets for free.
//!
//! Each axis declares its own parts, in the `mod.rs` of its folder. Analytic models are registered in the same way
//! ([`crate::analytic`]); they are no parts of a scenario.

use crate::cc::{avoidance, initial_window, loss_response, slow_start, whole};
use crate::entry::Description;
use crate::{loss, qdisc};

/// An axis by its name in a scenario, with the description of its parts.
pub fn axes() -> [(&'static str, Vec<Description>); 7] {
    [
        ("initial_window", initial_window::describe()),
        ("slow_start", slow_start::describe()),
        ("avoidance", avoidance::describe()),
        ("loss_response", loss_response::describe()),
        ("congestion_control", whole::describe()),
        ("queue", qdisc::describe()),
        ("loss", loss::describe()),
    ]
}
