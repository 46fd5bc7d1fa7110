//! Where the connections of a stack get their controls.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant as StdInstant;

use ackclock_core::cc::{CongestionControl, Recipe};
use ackclock_core::events::Established;
use ackclock_core::units::{Bytes, Instant};

use super::epoch::Epoch;
use super::seat::StackSeat;
use super::shared::SharedSeat;

/// IPv4 and UDP.
const HEADER: Bytes = Bytes(28);

type Make = dyn Fn() -> Box<dyn CongestionControl> + Send + Sync;
type Watch = dyn Fn(SharedSeat) + Send + Sync;

/// Makes a control for each connection of a stack, or for each path, if the stack has one for each.
pub struct Controls {
    make: Box<Make>,
    watch: Option<Box<Watch>>,
    epoch: Option<Epoch>,
    known: Established,
    made: AtomicU64,
}

impl fmt::Debug for Controls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoch, known, made, .. } = self;
        formatter.debug_struct("Controls").field("epoch", epoch).field("known", known).field("made", made).finish_non_exhaustive()
    }
}

impl Controls {
    /// The controls that `make` returns.
    pub fn new(make: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Self {
        let known = Established::new(Instant::ZERO, Bytes(0)).with(|known| known.header = HEADER);
        Self { make: Box::new(make), watch: None, epoch: None, known, made: AtomicU64::new(0) }
    }

    /// The control of a [`Recipe`]: a name, such as `bbr` or `hystart_pp`, or settings, such as `slow_start = search, avoidance = reno`.
    ///
    /// # Errors
    /// If a name is not that of a part or of a parameter; the message lists the names that are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let control = text.parse::<Recipe>()?.build()?;
        Ok(Self::new(move || control.clone()))
    }

    /// What is known of a connection before its handshake: the size of headers, the seed of the first connection, from which the others count
    /// on, what the application will send. Size of packets, time and round-trip time come from the stack.
    #[must_use]
    pub fn knowing(mut self, set: impl FnOnce(&mut Established)) -> Self {
        set(&mut self.known);
        self
    }

    /// Times count from `epoch`; otherwise from the beginning of each connection.
    #[must_use]
    pub fn since(mut self, epoch: StdInstant) -> Self {
        self.epoch = Some(Epoch(epoch));
        self
    }

    /// Calls `watch` with each seat when it is made: an observer can read it while the stack drives it.
    #[must_use]
    pub fn watch(mut self, watch: impl Fn(SharedSeat) + Send + Sync + 'static) -> Self {
        self.watch = Some(Box::new(watch));
        self
    }

    /// The seat of a connection that begins at `now` with packets of `size` bytes, and the epoch of its times.
    pub fn make(&self, now: StdInstant, size: u16) -> (SharedSeat, Epoch) {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let known = self.known.with(|known| {
            known.smss = Bytes(u64::from(size));
            known.seed = known.seed.wrapping_add(number);
        });
        let shared = SharedSeat::new(StackSeat::new((self.make)(), &known));
        if let Some(watch) = &self.watch {
            watch(shared.clone());
        }
        (shared, self.epoch.unwrap_or(Epoch(now)))
    }
}
