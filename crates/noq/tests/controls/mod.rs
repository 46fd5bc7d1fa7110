//! The controls that are tested in both stacks.

use ackclock_core::cc::{avoidance, slow_start, whole};

/// The whole controls, the avoidances after standard slow start, and the slow starts before CUBIC.
pub(crate) fn recipes() -> Vec<String> {
    let wholes = whole::ENTRIES.iter().map(|entry| format!("congestion_control = {}", entry.name));
    let avoidances = avoidance::ENTRIES.iter().map(|entry| format!("avoidance = {}", entry.name));
    let starts = slow_start::ENTRIES.iter().map(|entry| format!("slow_start = {}", entry.name));
    wholes.chain(avoidances).chain(starts).collect()
}
