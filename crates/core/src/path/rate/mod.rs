//! Rate models: the transmission rate of a link.

mod model;

pub use model::RateModel;

use crate::entry::{Entry, entries};

entries! { Entry<dyn RateModel>:
    constant,
    schedule,
}
