//! Loss recovery: decides what to send when segments are missing. Congestion control is separate and decides only the window.
//!
//! A recovery does not send: it sets a [`Permit`], which the sender uses up.

use std::fmt::{self, Debug};
use std::sync::LazyLock;

use ackclock_core::entries;
use ackclock_core::entry::{Entry, List, Parts};
use ackclock_core::params::{Axis, Params};
use ackclock_core::units::{Instant, Segments};

use super::packets::Ack;
use super::sender::{Permit, State};

entries! { Entry<dyn Policy>:
    tahoe,
    reno,
    newreno,
    sack,
    vegas,
}

/// The parts of the axis.
static PARTS: Parts<dyn Policy> = Parts::new(List { entries: ENTRIES, descriptions: DESCRIPTIONS });

/// The axis.
pub static AXIS: Axis = Axis {
    name: "recovery",
    noun: "recovery",
    shorthand: None,
    none: None,
    objects: &[],
    usual: "sack",
    module: module_path!(),
    list: || PARTS.list().descriptions,
    build: |name, params| PARTS.try_build(name, params),
};

/// A loss recovery of the registry: a file in this folder.
#[derive(Clone, Copy)]
pub struct Recovery(&'static Entry<dyn Policy>);

impl Recovery {
    /// The recovery `name`.
    pub fn find(name: &str) -> Option<Self> {
        PARTS.find(name).map(Self)
    }

    /// The names of all recoveries, in the registry's order.
    pub fn names() -> &'static [&'static str] {
        static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| ENTRIES.iter().map(|entry| entry.name).collect());
        &NAMES
    }

    /// The recovery's name.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether the recovery needs selective acknowledgements.
    pub fn uses_sack(self) -> bool {
        self.build().uses_sack()
    }

    pub(super) fn build(self) -> Box<dyn Policy> {
        (self.0.build)(&Params::defaults(self.0.params))
            .unwrap_or_else(|reason| unreachable!("{} refuses its defaults: {reason}", self.name()))
    }
}

impl Default for Recovery {
    /// SACK, as in today's systems.
    fn default() -> Self {
        Self::find(AXIS.usual).unwrap_or_else(|| unreachable!("{} is in the list", AXIS.usual))
    }
}

impl PartialEq for Recovery {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A recovery and its state.
pub(crate) trait Policy: Debug + Send + Sync {
    /// Receives the receiver's window in packets, once before the first event.
    fn begin(&mut self, _rwnd: u32) {}

    /// Processes an ACK.
    fn handle_ack(&mut self, state: &mut State, now: Instant, ack: &Ack<'_>);

    /// The retransmission timer has expired, which ends recovery.
    fn on_timeout(&mut self, state: &mut State, now: Instant);

    /// Segment `seq` is about to be sent.
    fn on_sent(&mut self, _now: Instant, _seq: u32) {}

    /// The permit when the application supplies more data or a pacing timer expires.
    fn permit(&self) -> Permit {
        Permit::Window(u32::MAX)
    }

    /// The next segment that the pipe allows, while [`Policy::permit`] is [`Permit::Pipe`].
    fn next_by_pipe(&mut self, _state: &mut State, _now: Instant) -> Option<u32> {
        None
    }

    /// Whether the receiver sends SACK blocks.
    fn uses_sack(&self) -> bool {
        false
    }

    /// The window after a timeout.
    fn loss_window(&self) -> Segments {
        1.0
    }

    /// Whether a timer that expires with no segment outstanding also counts as a timeout.
    fn expires_when_idle(&self) -> bool {
        false
    }
}
