//! A slow start and a control of another crate. After [`join`], scenarios name them like the parts of Ackclock.

pub mod control;
pub mod slow_start;

use ackclock_core::cc;

/// Adds the parts of this crate to those that a scenario can name.
///
/// # Errors
/// If another part has the name of one of them.
pub fn join() -> Result<(), String> {
    cc::slow_start::PARTS.join(slow_start::LIST)?;
    cc::whole::PARTS.join(control::LIST)
}
