//! The rules of an endpoint about windows, in which hosts differ.

use ackclock_core::units::Segments;

/// Pacing of segments over the round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// At the congestion control's rate, if it sets one.
    Control,
    /// At the control's rate, or otherwise at these multiples of cwnd/srtt.
    Window {
        /// The multiple in slow start.
        slow_start: f64,
        /// The multiple in congestion avoidance.
        avoidance: f64,
    },
}

/// Which use of the congestion window lets it grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The acknowledged data was sent while the window had no room for another segment (RFC 9002 §7.8).
    Full,
    /// The window was full at the end of the last transmission, or, in slow start, at least half of it was outstanding at the most in the
    /// last round trip (Linux).
    Flight,
}

/// What remains of the window after an idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// All.
    No,
    /// The restart window (RFC 5681 §4.1).
    Full,
    /// The window, halved so many times, or the restart window if that is more (RFC 2861).
    Halved(u32),
}

/// The endpoint's own rules about windows.
#[derive(Clone, Copy, Debug)]
pub struct SeatRules {
    /// Segment size in bytes, without headers, before both ends have agreed on one.
    pub smss: u64,
    /// Whether the endpoint counts its window in whole segments, and not in bytes.
    pub whole_segments: bool,
    /// Pacing.
    pub pacing: Pacing,
    /// Which use of the window lets it grow.
    pub growth: Growth,
    /// The most segments that an ACK counts as in slow start (RFC 3465's L).
    pub abc_limit: Segments,
    /// Whether the first flight is spread over the first round trip with any initial window.
    pub initial_pacing: bool,
    /// Whether a queue of Linux paces: it spares the first segments, and idle time shortens a pause.
    pub queue_pacing: bool,
}

impl SeatRules {
    /// An endpoint that counts bytes: segments of `smss` bytes, pacing by the control alone, growth of a full window.
    pub const fn new(smss: u64) -> Self {
        Self {
            smss,
            whole_segments: false,
            pacing: Pacing::Control,
            growth: Growth::Full,
            abc_limit: 2.0,
            initial_pacing: false,
            queue_pacing: false,
        }
    }
}
