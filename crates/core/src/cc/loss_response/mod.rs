//! Responses to congestion: axis `loss_response`.

use crate::cc::contract::LossResponse;
use crate::entry::{Entry, entries};

entries! { Entry<dyn LossResponse>:
    halve,
    staged,
    westwood,
    return_to_threshold,
}
