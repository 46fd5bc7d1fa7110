//! TCP-LP as Linux has it.

use super::super::reno::Count;
use crate::cc::contract::{Avoidance, Wants, Window};
use crate::events::{Ack, CongestionEvent, Established};
use crate::rng::Generator;
use crate::units::{Duration, Segments};

/// Ticks of a timestamp's clock per second.
const HZ: u32 = 1000;
const MILLI: u64 = 1_000_000;
/// The threshold in percent, and round trips of inference.
const PERCENT: u32 = 15;
const INFERENCE: u32 = 3;

/// Linux' TCP-LP. Times are in milliseconds; numbers have 32 bits and wrap round as Linux' do.
#[derive(Clone, Debug)]
pub(super) struct Lp {
    /// What the receiver's clock shows when the sender's shows zero; `None` until the connection begins, if it is random.
    start: Option<u32>,
    phase: u64,
    count: Count,
    /// The timestamps of the last ACK.
    stamps: Option<Stamps>,
    /// The receiver's and the sender's time in the last sample, and the rate of the receiver's clock in 1/64.
    reference: Option<(u32, u32)>,
    rate: i64,
    /// The smoothed delay in 1/8, the smallest and the largest one, and the one that replaces the largest.
    smoothed: u32,
    least: u32,
    most: u32,
    reserve: u32,
    inference: u32,
    cut_at: Option<u32>,
    infers: bool,
    /// The window before the ACK, and the one to which it cuts.
    before: Segments,
    cut: Option<Segments>,
}

/// The sender's time at an ACK, and the ACK's timestamp and echo.
#[derive(Clone, Copy, Debug)]
struct Stamps {
    now: u32,
    remote: u32,
    local: u32,
}

impl Lp {
    pub(super) const fn new(start: Option<u32>) -> Self {
        Self {
            start,
            phase: 0,
            count: Count::NONE,
            stamps: None,
            reference: None,
            rate: 0,
            smoothed: 0,
            least: u32::MAX,
            most: 0,
            reserve: 0,
            inference: 0,
            cut_at: None,
            infers: false,
            before: 0.0,
            cut: None,
        }
    }

    /// The timestamps of an ACK, as far as the one-way delay and the round-trip time show them. The echo of a duplicate is that of the ACK before.
    fn stamps(&self, ack: &Ack) -> Option<Stamps> {
        let clock = |nanos: u64| ((nanos + self.phase) / MILLI) as u32;
        let now = clock(ack.now.as_nanos());
        let later = self.stamps.map(|last| last.remote.wrapping_add(now - last.now));
        let delay = ack.one_way_delay.map(|delay| libm::round(delay.as_secs_f64() * f64::from(HZ)) as u32);
        let (remote, local) = match (delay, ack.rtt) {
            (Some(delay), Some(rtt)) => {
                let local = clock(ack.now.as_nanos().saturating_sub(rtt.as_nanos()));
                (self.start.unwrap_or(0).wrapping_add(local).wrapping_add(delay), local)
            }
            (Some(delay), None) => (later?, later?.wrapping_sub(self.start.unwrap_or(0)).wrapping_sub(delay)),
            (None, _) => (later?, self.stamps?.local),
        };
        Some(Stamps { now, remote, local })
    }

    /// The rate of the receiver's clock.
    fn hertz(&mut self, remote: u32, local: u32) -> u32 {
        if let Some((last_remote, last_local)) = self.reference.replace((remote, local))
            && remote != last_remote
            && local != last_local
        {
            let found = i64::from(HZ.wrapping_mul(remote.wrapping_sub(last_remote)) / local.wrapping_sub(last_local));
            self.rate = if self.rate > 0 { self.rate + found - (self.rate >> 6) } else { found << 6 };
        }
        (self.rate >> 6) as u32
    }

    /// Takes the delay of an ACK whose timestamps are these.
    fn sample(&mut self, remote: u32, local: u32) {
        let hertz = self.hertz(remote, local);
        if hertz == 0 {
            return;
        }
        // Linux divides first: a clock that seems to be a little too fast has no ticks at all.
        let delay = remote.wrapping_mul(HZ / hertz).wrapping_sub(local);
        if delay == 0 {
            return;
        }
        self.least = self.least.min(delay);
        if delay > self.most {
            if delay > self.reserve {
                self.most = if self.reserve == 0 { delay } else { self.reserve };
                self.reserve = delay;
            } else {
                self.most = delay;
            }
        }
        self.smoothed = if self.smoothed == 0 { delay << 3 } else { self.smoothed.wrapping_add(delay.wrapping_sub(self.smoothed >> 3)) };
    }

    /// The delay below which the path is free.
    const fn limit(&self) -> u32 {
        self.least.wrapping_add(PERCENT.wrapping_mul(self.most.wrapping_sub(self.least)) / 100)
    }
}

impl Avoidance for Lp {
    fn on_established(&mut self, event: &Established) {
        self.phase = event.clock_phase.as_nanos();
        // Linux hides the time since boot: each pair of addresses has its own start of timestamps.
        self.start.get_or_insert_with(|| (Generator::derived(event.seed, "lp").uniform() * 4_294_967_296.0) as u32);
    }

    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|it| it.one_way_delay = true)
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        (self.before, self.cut) = (window.cwnd, None);
        self.stamps = self.stamps(ack);
        let Some(Stamps { now, remote, local }) = self.stamps else { return };
        if ack.rtt.is_some() {
            self.sample(remote, local);
        }
        if now > local {
            self.inference = INFERENCE * (now - local);
        }
        self.infers = self.cut_at.is_some_and(|at| now.wrapping_sub(at) < self.inference);
        if self.smoothed >> 3 < self.limit() {
            return;
        }
        let smoothed = self.smoothed >> 3;
        (self.least, self.most, self.reserve) = (smoothed, self.smoothed >> 2, self.smoothed >> 2);
        self.cut_at = Some(now);
        self.cut = Some(if self.infers { 1.0 } else { libm::floor(window.cwnd / 2.0).max(1.0) });
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        if self.infers {
            return window.cwnd;
        }
        let cwnd = self.cut.unwrap_or(window.cwnd);
        window.cwnd + self.count.add(ack.counted, cwnd)
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        if !self.infers && self.cut.is_none() {
            return None;
        }
        // The ACK of the first cut still makes the window grow.
        let grown = if self.infers { 0.0 } else { window.cwnd - self.before };
        Some(Window { cwnd: self.cut.unwrap_or(self.before) + grown, ..*window })
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.count = Count::NONE;
    }

    fn on_restart(&mut self) {
        self.count = Count::NONE;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if self.smoothed > 0 {
            // Without the start of the receiver's clock, if it leaves the smoothed delay whole.
            let start = self.start.unwrap_or(0);
            let seconds = |delay: u32| Duration::from_millis(u64::from(delay.wrapping_sub(start))).as_secs_f64();
            out("delay", seconds(self.smoothed >> 3));
            out("delay_limit", seconds(self.limit()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, build, established};
    use crate::units::Instant;

    /// The windows after ACKs for data sent at these times with these one-way delays, in milliseconds; the receiver's clock is ahead by `start`.
    fn windows(start: f64, sent: &[(u64, u64)]) -> Vec<Segments> {
        let set = [("variant", Value::Word("linux".to_owned())), ("clock_start", Value::Number(start))];
        let mut part = build(&ENTRY, &set).unwrap();
        part.on_established(&established(1000));
        let mut window = Window { cwnd: 40.0, ssthresh: 2.0 };
        sent.iter()
            .map(|&(at, delay)| {
                let (now, rtt) = (Instant::ZERO + Duration::from_millis(at + delay), Some(Duration::from_millis(delay)));
                let ack = Ack { now, rtt, one_way_delay: rtt, ..ACK };
                part.observe(&ack, &window);
                window.cwnd = part.on_ack(&ack, &window);
                window = part.steer(&ack, &window).unwrap_or(window);
                window.cwnd
            })
            .collect()
    }

    /// Two segments that show the rate of the receiver's clock, and a burst whose delay rises.
    fn burst() -> Vec<(u64, u64)> {
        let rising = (0..8).map(|index| (1020, 100 + 20 * index));
        [(1000, 100), (1010, 100)].into_iter().chain(rising).collect()
    }

    #[test]
    fn the_first_delay_halves_the_window_and_a_rise_in_inference_leaves_a_segment() {
        let seen = windows(0.0, &burst());
        assert_eq!(seen[..3], [40.0, 20.0, 20.0]);
        assert_eq!(seen[9], 1.0, "{seen:?}");
    }

    #[test]
    fn the_window_does_not_grow_for_three_round_trips() {
        let steady: Vec<(u64, u64)> = (0..100).map(|index| (1000 + 10 * index, 100)).collect();
        let seen = windows(0.0, &steady);
        // Two ACKs count before 300 ms without growth, which are 29 ACKs, and 18 after them.
        assert_eq!((seen[1], seen[47], seen[48]), (20.0, 20.0, 21.0), "{seen:?}");
    }

    #[test]
    fn a_clock_that_is_far_ahead_hides_all_delays() {
        // From 2^29 milliseconds on, the smoothed delay has too few bits.
        assert!(windows(536e6, &burst()).iter().any(|cwnd| *cwnd < 40.0));
        assert!(windows(538e6, &burst()).iter().all(|cwnd| *cwnd >= 40.0));
    }
}
