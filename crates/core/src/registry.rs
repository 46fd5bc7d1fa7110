//! The registry of parts: all axes with their parts. It supplies the names in scenarios, the JSON Schema, `ackclock list`, the reference
//! pages and the tests that every part runs automatically.
//!
//! Each axis declares its parts in the `mod.rs` of its folder.

use crate::cc::{avoidance, initial_window, loss_response, slow_start, whole};
use crate::entry::Description;
use crate::{loss, qdisc};

/// Every axis by its name in a scenario, with the descriptions of its parts.
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
