//! The settings of an `ns2` host. Each stands here once: scenario files, frozen scenarios, schema and reference pages follow from it.

use std::fmt;
use std::sync::LazyLock;

use ackclock_core::entry::{Entry, find};
use ackclock_core::params::Params;
use ackclock_core::units::{Bytes, Duration};
use ackclock_host::settings;

use super::recovery::{ENTRIES, Policy, sack};

settings! {
    /// Loss recovery.
    field recovery: Recovery = Recovery::default();
    /// Data in a packet, without headers.
    field packet_size: Bytes = Bytes(1000);
    /// Whether sender and receiver use Explicit Congestion Notification (RFC 3168).
    field ecn: bool = false;
    /// Whether the first flight is paced over the first round trip with any initial window.
    field initial_pacing: bool = false;
    /// Headers of a data packet; an ACK always has 40 bytes of headers.
    field header: Bytes = Bytes(40);
    setting header: Kind::Bytes("0 B", "40 B"), Default::Quantity("40 B"), Kernel::Own,
        "Headers of a data packet. The SYN consists of headers alone; if this is 0 B, it is as large as a data packet. ns-2's Vegas uses \
         0 B.",
        Place {
            get: |config| Some(Value::Whole(config.header.0)),
            set: |config, value| if let Value::Whole(bytes) = value { config.header = Bytes(bytes) },
        };
    /// Receiver's window in packets.
    field rwnd: u32 = 1000;
    setting rwnd: Kind::Packets("1 packet", "1e9 packets"), Default::Quantity("1000 packets"), Kernel::Otherwise,
        "Receiver's window. The default of ns-2 is 20 packets.",
        Place {
            get: |config| Some(Value::Whole(config.rwnd.into())),
            set: |config, value| if let Value::Whole(packets) = value { config.rwnd = packets as u32 },
        };
    flag delayed_ack = false, Kernel::Own,
        "Whether the receiver delays ACKs: it acknowledges every second packet, or after the timeout.";
    time delayed_ack_timeout = Duration::from_millis(100), Kernel::Own,
        "Longest delay of an ACK.";
    flag limited_transmit = true, Kernel::Own,
        "Whether each of the first two duplicate ACKs releases a new packet (RFC 3042).";
    time clock_granularity = Duration::from_millis(10), Kernel::Own,
        "Tick of the clock that measures round-trip times.";
    delay clock_phase = Duration::ZERO, Kernel::Own,
        "Phase of the clock, below clock_granularity. The clock ticks at multiples of the granularity minus the phase.";
    delay min_rto = Duration::from_millis(200), Kernel::Own,
        "Smallest retransmission timeout.";
    time initial_rto = Duration::from_millis(3_000), Kernel::Own,
        "Retransmission timeout before the first measurement.";
    time max_rto = Duration::from_millis(60_000), Kernel::Own,
        "Largest retransmission timeout.";
}

/// A loss recovery of the registry: a file in `recovery/`.
#[derive(Clone, Copy)]
pub struct Recovery(&'static Entry<dyn Policy>);

impl Recovery {
    /// The recovery `name`.
    pub fn find(name: &str) -> Option<Self> {
        find(ENTRIES, name).map(Self)
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
        Self(&sack::ENTRY)
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

impl Config {
    /// Size of a data packet in bytes, with headers.
    pub const fn wire_size(&self) -> u16 {
        (self.packet_size.0 + self.header.0) as u16
    }

    /// Size of the SYN in bytes: the headers alone, or a whole data packet if `header` is zero.
    pub const fn syn_size(&self) -> u16 {
        if self.header.0 == 0 { self.wire_size() } else { self.header.0 as u16 }
    }
}
