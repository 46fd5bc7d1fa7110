//! Initial windows: axis `initial_window`.

use crate::cc::contract::InitialWindow;
use crate::entry::{Entry, entries};

entries! { Entry<dyn InitialWindow>:
    fixed,
    rfc2001,
    rfc3390,
    rfc6928,
    ns2_table,
    yearly,
    negotiated,
    adaptive,
    unlimited,
}
