//! The settings of an `ns2` host. Each stands here once: scenario files, frozen scenarios, schema and reference pages follow from it.

use ackclock_core::units::{Bytes, Duration};
use ackclock_host::settings;

use super::recovery::Recovery;

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
