//! What BBR knows of the path: rounds, bandwidth, round-trip time, and how ACKs bunch.

use super::settings::Aggregation;
use crate::units::{Duration, Instant};

/// Rounds counted by deliveries (draft, `BBR.round_count`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    /// Rounds so far.
    pub(super) count: u64,
    /// Whether the ACK under way starts one.
    pub(super) start: bool,
    /// A packet sent after so many bytes had been delivered is of the next round.
    next_delivered: u64,
}

impl Rounds {
    /// Takes the sample of a packet before whose sending `prior` bytes had been delivered.
    pub(super) fn update(&mut self, prior: u64, delivered: u64) {
        self.start = prior >= self.next_delivered;
        if self.start {
            self.next_delivered = delivered;
            self.count += 1;
        }
    }

    /// A round starts here without being counted, so that the next is a full one.
    pub(super) fn restart(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }
}

/// The largest bandwidth of this probing cycle and of the one before, in bytes per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxBandwidth {
    before: f64,
    now: f64,
}

impl MaxBandwidth {
    /// The largest of both cycles.
    pub(super) fn get(&self) -> f64 {
        self.before.max(self.now)
    }

    /// Takes a sample.
    pub(super) fn update(&mut self, rate: f64) {
        self.now = self.now.max(rate);
    }

    /// The cycle is over. One without samples is not: nothing would be left.
    pub(super) fn advance(&mut self) {
        if self.now > 0.0 {
            (self.before, self.now) = (self.now, 0.0);
        }
    }
}

/// The smallest round-trip times (draft, `BBRUpdateMinRTT`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    /// The smallest of the last ten seconds.
    pub(super) min: Option<Duration>,
    stamp: Instant,
    /// The smallest since the last ProbeRTT, or a sample that came after it was due.
    probed: Option<Duration>,
    probed_at: Instant,
    /// Whether it is time for a ProbeRTT.
    pub(super) expired: bool,
}

/// How long `MinRtt::min` is kept (draft: `MinRTTFilterLen`).
const MIN_RTT_FILTER: Duration = Duration::from_millis(10_000);

impl MinRtt {
    /// Starts with the round-trip time of the handshake.
    pub(super) fn new(now: Instant, rtt: Option<Duration>) -> Self {
        Self { min: rtt, stamp: now, probed: rtt, probed_at: now, expired: false }
    }

    /// Takes the round-trip time of an ACK, where it has one.
    pub(super) fn update(&mut self, now: Instant, rtt: Option<Duration>, interval: Duration) {
        self.expired = now > self.probed_at + interval;
        // Measured times are differences of sums, so that equal ones may differ by their rounding.
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

    /// A ProbeRTT is over: the next is due an interval from now.
    pub(super) fn note_probed(&mut self, now: Instant) {
        self.probed_at = now;
    }
}

/// Most slots of the filter of [`ExtraAcked`].
const SLOTS: usize = 10;

/// What an ACK brings to [`ExtraAcked`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    /// Bytes that it delivers.
    pub(super) bytes: f64,
    /// The bandwidth in bytes per second.
    pub(super) bw: f64,
    /// The largest excess that counts, in bytes.
    pub(super) cap: f64,
}

/// Data acknowledged beyond what the bandwidth explains (draft, `BBRUpdateACKAggregation`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtraAcked {
    /// The largest excess of the last rounds, in bytes.
    pub(super) max: f64,
    since: Instant,
    delivered: f64,
    /// Maxima of the last spans of rounds.
    slots: [f64; SLOTS],
    current: usize,
    began: u64,
}

impl ExtraAcked {
    /// The clock of arrivals starts over.
    pub(super) fn restart(&mut self, now: Instant) {
        (self.since, self.delivered) = (now, 0.0);
    }

    /// Takes an ACK in round `round`.
    pub(super) fn update(&mut self, (now, round): (Instant, u64), acked: Acked, window: Aggregation) {
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
                // What lies further back than the filter reaches.
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

/// Whether the pipe is full: the bandwidth has not grown by a quarter in three rounds (draft, `BBRCheckFullBWReached`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// Whether it has been since start-up.
    pub(super) reached: bool,
    /// Whether it is in this phase.
    pub(super) now: bool,
    baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Looks for growth beyond `baseline` again.
    pub(super) fn restart(&mut self, baseline: f64) {
        *self = Self { reached: self.reached, baseline, ..Self::default() };
    }

    /// Takes the bandwidth of a round.
    pub(super) fn check(&mut self, rate: f64) {
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

/// Bounds of what is sent: short-term ones after losses, and the long-term one of what was safe in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// In bytes per second.
    pub(super) bw_shortterm: f64,
    /// In bytes.
    pub(super) inflight_shortterm: f64,
    /// In bytes.
    pub(super) inflight_longterm: f64,
}

impl Bounds {
    /// Without bounds.
    pub(super) const NONE: Self = Self { bw_shortterm: f64::INFINITY, inflight_shortterm: f64::INFINITY, inflight_longterm: f64::INFINITY };

    /// Forgets the short-term ones.
    pub(super) fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// The larger of each.
    pub(super) fn loosest(&self, other: &Self) -> Self {
        Self {
            bw_shortterm: self.bw_shortterm.max(other.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm.max(other.inflight_shortterm),
            inflight_longterm: self.inflight_longterm.max(other.inflight_longterm),
        }
    }
}

/// What was delivered and lost in the present loss round.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// The largest bandwidth, in bytes per second.
    pub(super) bw_latest: f64,
    /// The largest amount delivered in a flight, in bytes.
    pub(super) inflight_latest: f64,
    /// Whether there was a loss.
    pub(super) loss: bool,
    /// Whether the ACK under way ends the round.
    pub(super) round_start: bool,
    round_delivered: u64,
    /// Discontiguous ranges that were lost, and where the last of them ends.
    pub(super) ranges: u32,
    range_end: u64,
}

impl Signals {
    /// Takes the sample of a packet before whose sending `prior` bytes had been delivered.
    pub(super) fn update(&mut self, prior: u64, total: u64, rate: f64, delivered: f64) {
        self.bw_latest = self.bw_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(delivered);
        self.round_start = prior >= self.round_delivered;
        if self.round_start {
            self.round_delivered = total;
        }
    }

    /// At the end of a round only the newest sample is left.
    pub(super) fn advance(&mut self, rate: f64, delivered: f64) {
        if self.round_start {
            (self.bw_latest, self.inflight_latest) = (rate, delivered);
        }
    }

    /// Forgets all.
    pub(super) fn reset(&mut self) {
        (self.loss, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
    }

    /// Notes the loss of the positions from `start` to `end`; tells whether it is the first of its round, which then starts over.
    pub(super) fn lose(&mut self, start: u64, end: u64, total: u64) -> bool {
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
