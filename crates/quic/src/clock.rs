//! The clocks of a stack and of a run.

use std::sync::LazyLock;
use std::time;

use ackclock_core::units::{Duration, Instant};
use ackclock_host::Epoch;

/// A stack's clock at the start of a run. Its clock cannot be set to a number, but only differences matter.
#[expect(clippy::disallowed_methods, reason = "the origin of a stack's clock, whose value reaches no result")]
pub(crate) static ORIGIN: LazyLock<Epoch> = LazyLock::new(|| Epoch(time::Instant::now()));

/// A time on the clock of a stack.
pub(crate) fn clock(now: Instant) -> time::Instant {
    ORIGIN.0 + time::Duration::from_nanos(now.as_nanos())
}

/// A time on the clock of a run.
pub(crate) fn simulated(time: time::Instant) -> Instant {
    ORIGIN.instant(time)
}

/// A span of time of a stack.
pub(crate) fn span(time: time::Duration) -> Duration {
    Duration::from_nanos(time.as_nanos() as u64)
}
