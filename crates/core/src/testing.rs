//! Events and parts for the unit tests.

use crate::cc::{Avoidance, Window};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::qdisc::{Arrival, Ecn};
use crate::registry::{Entry, Params, Value};
use crate::units::{Bytes, Instant, Segments};

/// An ACK of one segment at which the window may grow.
pub(crate) const ACK: Ack = Ack {
    now: Instant::ZERO,
    acked: 1,
    counted: 1.0,
    flight_size: 1,
    rtt: None,
    srtt: None,
    min_rtt: None,
    delivery_rate: None,
    round: 0,
    cwnd_limited: true,
    ecn_echo: false,
};

/// Congestion with `window` in force.
pub(crate) fn congestion(cause: Cause, window: Segments) -> CongestionEvent {
    let restart = cause == Cause::Timeout;
    CongestionEvent { now: Instant::ZERO, cause, window, flight_size: window as u32, restart, min_rtt: None }
}

/// A handshake for segments of `smss` bytes.
pub(crate) fn established(smss: u64) -> Established {
    Established { now: Instant::ZERO, smss: Bytes(smss), syn_lost: false }
}

/// A window without a threshold.
pub(crate) fn window(cwnd: Segments) -> Window {
    Window { cwnd, ssthresh: Segments::INFINITY }
}

/// Builds a part with its defaults but for `set`.
pub(crate) fn build<P: ?Sized>(entry: &Entry<P>, set: &[(&str, Value)]) -> Result<Box<P>, String> {
    let mut params = Params::defaults(entry.params);
    for (name, value) in set {
        params.set(name, value.clone());
    }
    (entry.build)(&params)
}

/// A packet of `size` bytes that arrives at a busy link, `millis` into the run.
pub(crate) fn arrival(millis: u64, size: u64) -> Arrival {
    let now = Instant::from_nanos(millis * 1_000_000);
    Arrival { now, clock: now.as_secs_f64(), size: Bytes(size), flow: 0, ecn: Ecn::Incapable, idle_since: None }
}

/// Checks that `actual` is within `tolerance` of `expected`.
#[track_caller]
pub(crate) fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not within {tolerance} of {expected}");
}

/// A cycle between two congestion events.
pub(crate) struct Sawtooth {
    pub(crate) trough: Segments,
    pub(crate) peak: Segments,
    /// How long it takes: an ACK takes the share of a round trip that it has of the window.
    pub(crate) rtts: f64,
}

/// The cycle into which `part` settles when congestion follows every `acks` ACKs, from a first peak of `start`.
///
/// # Panics
/// If it has not settled after many cycles.
pub(crate) fn sawtooth(part: &mut dyn Avoidance, acks: u32, start: Segments) -> Sawtooth {
    let mut peak = start;
    for _ in 0..10_000 {
        let trough = part.respond(&congestion(Cause::DupAck, peak), &window(peak)).cwnd;
        let (mut cwnd, mut rtts) = (trough, 0.0);
        for _ in 0..acks {
            rtts += 1.0 / cwnd;
            cwnd = part.on_ack(&ACK, &window(cwnd));
        }
        let settled = (cwnd - peak).abs() <= 1e-10 * peak;
        peak = cwnd;
        if settled {
            return Sawtooth { trough, peak, rtts };
        }
    }
    panic!("{part:?} does not settle with a congestion event every {acks} ACKs");
}
