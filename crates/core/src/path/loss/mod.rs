//! Loss models: packet losses and copies of a link, apart from queue drops.

mod model;

pub use model::{Arrival, Fate, LossModel};

use crate::entry::{Entry, entries};

entries! { Entry<dyn LossModel>:
    bernoulli,
    listed,
    gilbert_elliott,
    duplicate,
}
