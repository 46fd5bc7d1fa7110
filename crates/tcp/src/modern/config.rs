//! The settings of a `modern` host, with the defaults of today's systems.

use ackclock_core::units::{Bytes, Duration, Segments};

/// How losses are found and what is sent to repair them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// By time, with SACK: RACK-TLP (RFC 8985).
    Rack,
    /// By counting what was SACKed: RFC 6675.
    Sack,
    /// By duplicate ACKs, without SACK: RFC 6582.
    NewReno,
}

/// How large a window the receiver offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// Always so many bytes.
    Fixed(u64),
    /// Dynamic right-sizing between these bytes.
    Autotuned {
        /// At the start.
        initial: u64,
        /// At most.
        max: u64,
    },
}

/// Whether sending is spread over the round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// At the rate that the congestion control asks for, if it does.
    Control,
    /// At the control's rate, or else at these multiples of cwnd/srtt.
    Window {
        /// The multiple in slow start.
        slow_start: f64,
        /// The multiple in congestion avoidance.
        avoidance: f64,
    },
}

/// Bounds of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoBounds {
    /// Before the first measurement (RFC 6298 §2.1).
    pub initial: Duration,
    /// Smallest (RFC 6298 §2.4 asks for 1 s; today's systems use less).
    pub min: Duration,
    /// Largest (RFC 6298 §2.5).
    pub max: Duration,
    /// Least distance from `srtt`: the place of the clock granularity G in RFC 6298 §2.3. As large as `min` by default, so that
    /// a delayed ACK on a steady path does not let the timer expire; Linux bounds the variance alike.
    pub margin: Duration,
}

/// Settings of an end host.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Config {
    /// Largest segment it announces, without headers and options (RFC 9293 §3.7.1).
    pub mss: u16,
    /// Loss recovery; without SACK on both sides it is [`Recovery::NewReno`] whatever is set.
    pub recovery: Recovery,
    /// Whether it offers timestamps (RFC 7323 §3).
    pub timestamps: bool,
    /// Whether it offers window scaling (RFC 7323 §2).
    pub window_scaling: bool,
    /// Whether it offers ECN (RFC 3168).
    pub ecn: bool,
    /// The receive window.
    pub buffer: ReceiveBuffer,
    /// Longest delay of an ACK (RFC 5681 §4.2: below 500 ms). It is also the budget for the peer's in the probe timeout (RFC 8985 §7.2).
    pub delayed_ack: Duration,
    /// So many segments at the start are acknowledged at once, for the peer's slow start.
    pub quick_acks: u32,
    /// Whether new data may be sent on the first duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Whether recovery with SACK is paced by Proportional Rate Reduction (RFC 9937); otherwise cwnd is at once what the control says.
    pub prr: bool,
    /// Whether tail loss probes are sent (RFC 8985 §7; needs [`Recovery::Rack`]).
    pub tlp: bool,
    /// Whether timeouts are checked by F-RTO (RFC 5682).
    pub frto: bool,
    /// Whether a recovery that timestamps or D-SACK show to be spurious is undone (RFC 4015).
    pub undo: bool,
    /// Whether the window returns to the restart window after an idle retransmission timeout (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// Most segments for which one ACK counts in slow start (RFC 3465 §2.2, L).
    pub abc_limit: Segments,
    /// Pacing.
    pub pacing: Pacing,
    /// Whether the first window is spread over the first round trip, whatever the initial window.
    pub initial_pacing: bool,
    /// Retransmission timeout.
    pub rto: RtoBounds,
    /// Initial sequence number.
    pub initial_sequence: u32,
    /// The timestamp clock at the start of the run.
    pub initial_timestamp: u32,
}

/// Bytes of the timestamps option in every segment, padding included (RFC 7323 appendix A).
pub const TIMESTAMPS: u16 = 12;

impl Config {
    /// Data in a full segment, in bytes, where both ends have the same settings.
    pub fn packet_size(&self) -> Bytes {
        Bytes(u64::from(self.mss - if self.timestamps { TIMESTAMPS } else { 0 }))
    }
}

impl Default for Config {
    fn default() -> Self {
        let millis = Duration::from_millis;
        Self {
            mss: 1460,
            recovery: Recovery::Rack,
            timestamps: true,
            window_scaling: true,
            ecn: false,
            buffer: ReceiveBuffer::Autotuned { initial: 64 * 1024, max: 6 * 1024 * 1024 },
            delayed_ack: millis(40),
            quick_acks: 16,
            limited_transmit: true,
            prr: true,
            tlp: true,
            frto: true,
            undo: true,
            idle_restart: true,
            abc_limit: 2.0,
            pacing: Pacing::Control,
            initial_pacing: false,
            rto: RtoBounds { initial: millis(1000), min: millis(200), max: millis(60_000), margin: millis(200) },
            initial_sequence: 0,
            initial_timestamp: 0,
        }
    }
}
