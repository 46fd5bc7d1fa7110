//! Delay models: the propagation delay of a link.

mod model;

pub use model::DelayModel;

use crate::entry::{Entry, entries};

entries! { Entry<dyn DelayModel>:
    constant,
    jitter,
}
