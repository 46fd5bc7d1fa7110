//! Growth from `ssthresh` on: axis `avoidance`.

use crate::cc::contract::Avoidance;
use crate::entry::{Entry, entries};

entries! { Entry<dyn Avoidance>:
    reno,
    binomial,
    polynomial,
    exponential,
    bandwidth_ratio,
    cubic,
    cubic_linux,
    veno,
    vegas,
    dctcp,
}
