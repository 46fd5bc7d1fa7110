//! BBR's model of the path: samples, rounds, bandwidth, round-trip time, aggregation of ACKs, and bounds. The controls `bbr` and `bbr1`
//! and the slow start `bbr_startup` share it.

use crate::events::Ack;
use crate::units::{Duration, Instant, Segments};

/// Memory of the filter for the excess of ACKs: a number of slots, each of a number of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aggregation {
    pub(crate) slots: usize,
    pub(crate) rounds: u64,
}

/// Rounds counted by deliveries (draft, `BBR.round_count`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// Rounds so far.
    pub(crate) count: u64,
    /// Whether the present ACK starts a round.
    pub(crate) start: bool,
    /// A packet sent after this many bytes had been delivered belongs to the next round.
    next_delivered: u64,
}

impl Rounds {
    /// Applies the sample of a packet sent after `prior` bytes had been delivered.
    pub(crate) fn update(&mut self, prior: u64, delivered: u64) {
        self.start = prior >= self.next_delivered;
        if self.start {
            self.next_delivered = delivered;
            self.count += 1;
        }
    }

    /// Starts a round here without counting it, so that the next round is a full one.
    pub(crate) fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

/// The largest bandwidth of this probing cycle and of the previous one, in bytes per second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaxBandwidth {
    previous: f64,
    now: f64,
}

impl MaxBandwidth {
    /// The larger of both cycles' maxima.
    pub(crate) fn get(&self) -> f64 {
        self.previous.max(self.now)
    }

    /// Applies a sample.
    pub(crate) fn update(&mut self, rate: f64) {
        self.now = self.now.max(rate);
    }

    /// Ends the cycle. A cycle without samples continues, because no maximum would remain.
    pub(crate) fn advance(&mut self) {
        if self.now > 0.0 {
            (self.previous, self.now) = (self.now, 0.0);
        }
    }
}

/// The smallest round-trip times (draft, `BBRUpdateMinRTT`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MinRtt {
    /// The smallest of the last ten seconds.
    pub(crate) min: Option<Duration>,
    stamp: Instant,
    /// The smallest since the last ProbeRTT, or a sample taken after the next one was due.
    probed: Option<Duration>,
    probed_at: Instant,
    /// Whether a ProbeRTT is due.
    pub(crate) expired: bool,
}

/// Time for which `MinRtt::min` is valid (draft: `MinRTTFilterLen`).
const MIN_RTT_FILTER: Duration = Duration::from_millis(10_000);

impl MinRtt {
    /// Starts with the round-trip time of the handshake.
    pub(crate) fn new(now: Instant, rtt: Option<Duration>) -> Self {
        Self { min: rtt, stamp: now, probed: rtt, probed_at: now, expired: false }
    }

    /// Applies the round-trip time of an ACK, if it has one.
    pub(crate) fn update(&mut self, now: Instant, rtt: Option<Duration>, interval: Duration) {
        self.expired = now > self.probed_at + interval;
        // Round-trip times are differences of sums, so equal ones may differ by rounding.
        let below = |rtt: Duration, least: Duration| rtt + Duration::NANOSECOND < least;
        if let Some(rtt) = rtt
            && (self.expired || self.probed.is_none_or(|least| below(rtt, least)))
        {
            (self.probed, self.probed_at) = (Some(rtt), now);
        }
        let stale = now > self.stamp + MIN_RTT_FILTER;
        if let Some(probed) = self.probed
            && (stale || self.min.is_none_or(|least| below(probed, least)))
        {
            (self.min, self.stamp) = (Some(probed), self.probed_at);
        }
    }

    /// Ends a ProbeRTT: the next is due one interval from now.
    pub(crate) fn restart_interval(&mut self, now: Instant) {
        self.probed_at = now;
    }
}

/// Largest number of slots in the filter of [`ExtraAcked`].
const SLOTS: usize = 10;

/// The input of an ACK to [`ExtraAcked`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// Bytes that the ACK delivers.
    pub(crate) bytes: f64,
    /// The bandwidth in bytes per second.
    pub(crate) bw: f64,
    /// The largest excess that counts, in bytes.
    pub(crate) cap: f64,
}

/// Data acknowledged beyond the amount that the bandwidth explains (draft, `BBRUpdateACKAggregation`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExtraAcked {
    /// The largest excess of the last rounds, in bytes.
    pub(crate) max: f64,
    since: Instant,
    delivered: f64,
    /// Maxima of the last spans of rounds.
    slots: [f64; SLOTS],
    current: usize,
    began: u64,
}

impl ExtraAcked {
    /// Restarts the measurement of arrivals.
    pub(crate) fn restart(&mut self, now: Instant) {
        (self.since, self.delivered) = (now, 0.0);
    }

    /// Applies an ACK in round `round`.
    pub(crate) fn update(&mut self, (now, round): (Instant, u64), acked: Acked, window: Aggregation) {
        let mut expected = acked.bw * now.since(self.since).as_secs_f64();
        if self.delivered <= expected {
            self.restart(now);
            expected = 0.0;
        }
        self.delivered += acked.bytes;
        let extra = (self.delivered - expected).min(acked.cap);
        while round >= self.began + window.rounds {
            self.began += window.rounds;
            if round >= self.began + window.rounds * SLOTS as u64 {
                // All slots lie further back than the filter reaches.
                self.began = round;
                self.slots = [0.0; SLOTS];
            }
            self.current = (self.current + 1) % window.slots;
            self.slots[self.current] = 0.0;
        }
        self.slots[self.current] = self.slots[self.current].max(extra);
        self.max = self.slots[..window.slots].iter().fold(0.0, |most, slot| most.max(*slot));
    }
}

/// The full-pipe test: whether the bandwidth has failed to grow by a quarter in three rounds (draft, `BBRCheckFullBWReached`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    /// Whether the pipe has been full since Startup began.
    pub(crate) reached: bool,
    /// Whether the pipe has been full in this phase.
    pub(crate) now: bool,
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Restarts the test for growth beyond `baseline`.
    pub(crate) fn restart(&mut self, baseline: f64) {
        *self = Self { reached: self.reached, baseline, ..Self::default() };
    }

    /// Applies the bandwidth of a round.
    pub(crate) fn check(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= 1.25 * self.baseline {
            self.restart(rate);
            return;
        }
        self.rounds += 1;
        self.now = self.rounds >= 3;
        self.reached |= self.now;
    }
}

/// Bounds of the model: short-term ones after losses, and the long-term one, the data in flight known to be safe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    /// In bytes per second.
    pub(crate) bw_shortterm: f64,
    /// In bytes.
    pub(crate) inflight_shortterm: f64,
    /// In bytes.
    pub(crate) inflight_longterm: f64,
}

impl Bounds {
    /// No bounds.
    /// No sample.
    pub(crate) const NONE: Self = Self { bw_shortterm: f64::INFINITY, inflight_shortterm: f64::INFINITY, inflight_longterm: f64::INFINITY };

    /// Removes the short-term bounds.
    pub(crate) fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// The larger of each pair of bounds.
    pub(crate) fn loosest(&self, other: &Self) -> Self {
        Self {
            bw_shortterm: self.bw_shortterm.max(other.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm.max(other.inflight_shortterm),
            inflight_longterm: self.inflight_longterm.max(other.inflight_longterm),
        }
    }
}

/// Deliveries and losses in the present loss round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signals {
    /// The largest bandwidth, in bytes per second.
    pub(crate) bw_latest: f64,
    /// The largest amount delivered in a flight, in bytes.
    pub(crate) inflight_latest: f64,
    /// Whether a loss occurred.
    pub(crate) loss: bool,
    /// Whether the present ACK ends the round.
    pub(crate) round_start: bool,
    round_delivered: u64,
    /// Number of discontiguous lost ranges, and the end of the last one.
    pub(crate) ranges: u32,
    range_end: u64,
}

impl Signals {
    /// Applies the sample of a packet sent after `prior` bytes had been delivered.
    pub(crate) fn update(&mut self, prior: u64, total: u64, rate: f64, delivered: f64) {
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(delivered);
        self.round_start = prior >= self.round_delivered;
        if self.round_start {
            self.round_delivered = total;
        }
    }

    /// At the end of a round, keeps only the newest sample.
    pub(crate) fn advance(&mut self, rate: f64, delivered: f64) {
        if self.round_start {
            (self.bw_latest, self.inflight_latest) = (rate, delivered);
        }
    }

    /// Discards all signals.
    pub(crate) fn reset(&mut self) {
        (self.loss, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
    }

    /// Records the loss of the positions from `start` to `end`. Returns whether it is the first of its round, which then restarts.
    pub(crate) fn record_loss(&mut self, start: u64, end: u64, total: u64) -> bool {
        let first = !self.loss;
        if first {
            self.round_delivered = total;
        }
        self.ranges += u32::from(self.ranges == 0 || start != self.range_end);
        self.range_end = end;
        self.loss = true;
        first
    }
}

/// Smallest window in segments (draft: `MinPipeCwnd`).
pub(crate) const MIN_PIPE: Segments = 4.0;
/// Share by which the pacing rate stays below the bandwidth (draft: `PacingMarginPercent`).
pub(crate) const PACING_MARGIN: f64 = 0.01;
/// Largest send quantum in bytes.
pub(crate) const MAX_QUANTUM: f64 = 65_536.0;

/// The delivery rate sample of an ACK, in bytes and bytes per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Whether the ACK has a sample.
    pub(crate) present: bool,
    /// Zero if the interval was too short.
    pub(crate) rate: f64,
    /// Bytes delivered since the packet was sent.
    pub(crate) delivered: f64,
    pub(crate) prior_delivered: u64,
    /// Bytes in flight when the packet was sent, and bytes lost since then.
    pub(crate) tx_in_flight: f64,
    pub(crate) lost: f64,
    pub(crate) app_limited: bool,
}

impl Sample {
    /// No sample.
    pub(crate) const NONE: Self =
        Self { present: false, rate: 0.0, delivered: 0.0, prior_delivered: 0, tx_in_flight: 0.0, lost: 0.0, app_limited: false };

    /// The sample of an ACK.
    pub(crate) fn of(ack: &Ack) -> Self {
        ack.sample.map_or(Self::NONE, |sample| Self {
            present: true,
            rate: sample.rate.map_or(0.0, |rate| rate.as_bits_per_sec() as f64 / 8.0),
            delivered: sample.delivered as f64,
            prior_delivered: sample.packet.delivered,
            tx_in_flight: sample.packet.inflight as f64,
            lost: ack.total.lost.saturating_sub(sample.packet.lost) as f64,
            app_limited: sample.packet.app_limited,
        })
    }
}

/// Round-trip time before the first sample (draft, `BBRInitPacingRate`).
pub(crate) const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The data that Linux sends at once: what the pacing rate of `rate` bytes per second sends in about a millisecond, and 64 kB, halved for every
/// 512 µs of the smallest round-trip time.
pub(crate) fn linux_quantum(rate: f64, min_rtt: Option<Duration>) -> f64 {
    let halvings = min_rtt.map_or(0.0, |rtt| libm::floor(rtt.as_secs_f64() / 512e-6));
    rate / 1024.0 + libm::ldexp(MAX_QUANTUM, -(halvings.min(64.0) as i32))
}

/// The host's loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// No recovery.
    None,
    /// After duplicate ACKs, until all data below this position is acknowledged.
    Fast(u64),
    /// After a timeout, likewise.
    Timeout(u64),
}

impl Recovery {
    pub(crate) fn is_fast(self) -> bool {
        matches!(self, Self::Fast(_))
    }

    /// Whether an ACK up to `snd_una` ends the recovery.
    pub(crate) fn ends_at(self, snd_una: u64) -> bool {
        matches!(self, Self::Fast(end) | Self::Timeout(end) if snd_una >= end)
    }
}
