//! Paths: the quantities of a link that can change. Each is a constant or a model.

pub mod delay;
pub mod loss;
pub mod medium;
mod mixing;
pub mod rate;
mod timeline;
