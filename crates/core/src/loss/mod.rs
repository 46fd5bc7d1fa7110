//! Loss models: packet losses of a link, apart from queue drops.

mod model;

pub use model::LossModel;

use crate::entry::{Entry, entries};

entries! { Entry<dyn LossModel>:
    bernoulli,
    listed,
}
