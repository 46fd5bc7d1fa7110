//! Controls that do not decompose into the four parts and have windows, rates and recovery of their own: axis `congestion_control`.

use crate::cc::contract::CongestionControl;
use crate::entry::{Entry, entries};

entries! { Entry<dyn CongestionControl>:
    bbr,
}
