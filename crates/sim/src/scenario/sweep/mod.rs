//! `[sweep]`: all combinations of the axes' values, made on demand.

mod axis;
mod points;
mod sample;
mod series;
mod span;
mod table;

pub(crate) use axis::{axis_over, check};
pub use points::{Points, SweepData, SweepNeeds};
pub(crate) use sample::METHODS;
pub use sample::SampleRequest;
pub(crate) use series::MAX_VARIANTS;
pub use table::{TableColumn, TableRequest};

#[cfg(test)]
mod tests;
