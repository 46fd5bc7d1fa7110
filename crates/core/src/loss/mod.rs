//! Loss models: packets that a link loses for reasons other than its queue.

mod model;

pub use model::LossModel;

use crate::entry::{Entry, entries};

entries! { Entry<dyn LossModel>:
    bernoulli,
}
