//! Growth below `ssthresh`: axis `slow_start`.

use crate::cc::contract::SlowStart;
use crate::entry::{Entry, entries};

entries! { Entry<dyn SlowStart>:
    standard,
    limited,
    limited_ns2,
    staged,
    queue_aware,
    hystart,
    hystart_pp,
    vegas,
    search,
    paced,
}
