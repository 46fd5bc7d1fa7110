//! LEDBAT: keeps the delay that queues add at a target, and yields to flows that fill queues.
//! ## What it does
//! Takes the smallest one-way delay of the last ten minutes as the delay without queues, and the smallest of the last four samples as the
//! present delay. Their difference is the queuing delay. Below `target` the window grows, by at most `gain` segments per round trip; above it
//! the window shrinks, in proportion to the difference from the target. A loss halves the window.
//! ## References
//! Shalunov, Hazel, Iyengar & Kühlewind, *Low Extra Delay Background Transport (LEDBAT)*, RFC 6817, §2.4.2 and §2.5.
//! ## Differs from the document
//! - The slow start of the flow opens the window. With `initial_ssthresh = "2 packets"` the rule applies from the start.
//! - Without one-way delays (no timestamps), round-trip times take their place, so that queues for ACKs count too.
//! - The host's retransmission timeout and loss window replace the congestion timeout `CTO`.
//! - Each ACK has one sample. A delayed ACK includes its delay, which the two minima remove.
//! - The window does not shrink while the application limits the flow.
//! ## Parameters
//! `target`: 100 ms, the most that RFC 6817 §2.5 allows. `gain`: 1, likewise. `base_history`: 10 minutes. `current_filter`: 4 samples.

use crate::cc::contract::{Avoidance, Wants, Window};
use crate::cc::ledbat::{BASE_DELAY, BASE_HISTORY, CURRENT_FILTER, Delays, QUEUING_DELAY};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param};
use crate::units::{Duration, Segments};

/// Segments by which the window may exceed the flight (`ALLOWED_INCREASE`).
const ALLOWED_INCREASE: Segments = 1.0;
/// Smallest window (`MIN_CWND`).
const MIN_CWND: Segments = 2.0;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "ledbat",
    summary: "LEDBAT: keeps the queuing delay at a target, and yields to other flows",
    reference: "RFC 6817 §2.4.2",
    params: &[
        Param {
            name: "target",
            kind: Kind::Duration { min: 0.001, max: 10.0 },
            default: Default::Number(0.1),
            doc: "queuing delay at which the window stays (RFC 6817 §2.5: at most 100 ms)",
        },
        Param {
            name: "gain",
            kind: Kind::Number { min: 0.001, max: 100.0 },
            default: Default::Number(1.0),
            doc: "growth without queues, in segments per round trip (RFC 6817 §2.5: at most 1)",
        },
        BASE_HISTORY,
        CURRENT_FILTER,
    ],
    quantities: &[BASE_DELAY, QUEUING_DELAY],
    build: |params| {
        Ok(Box::new(Ledbat { target: params.number("target"), gain: params.number("gain"), delays: Delays::new(params), one_way: false }))
    },
};

/// LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    /// In seconds.
    target: f64,
    gain: f64,
    delays: Delays,
    /// Whether samples are one-way delays.
    one_way: bool,
}

impl Ledbat {
    /// The delay that an ACK shows. The first one-way delay replaces all round-trip times.
    fn sample(&mut self, ack: &Ack) -> Option<Duration> {
        if ack.one_way_delay.is_some() && !std::mem::replace(&mut self.one_way, true) {
            self.delays.clear();
        }
        if self.one_way { ack.one_way_delay } else { ack.rtt }
    }
}

impl Avoidance for Ledbat {
    fn wants(&self) -> Wants {
        Wants { one_way_delay: true, ..Wants::NOTHING }
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if let Some(delay) = self.sample(ack) {
            self.delays.add(ack.now, delay);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let Some(queuing_delay) = self.delays.queuing() else { return window.cwnd };
        let off_target = (self.target - queuing_delay) / self.target;
        let cwnd = window.cwnd + self.gain * off_target * ack.counted / window.cwnd;
        let flight_before = f64::from(ack.flight_size + ack.acked);
        cwnd.min(flight_before + ALLOWED_INCREASE).max(MIN_CWND)
    }

    fn lowers_threshold(&self) -> bool {
        true
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        Window::reduced_to((event.window / 2.0).max(MIN_CWND).min(event.window))
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.delays.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::testing::{ACK, assert_close, build, congestion, internal, window};
    use crate::units::Instant;

    fn ack(seconds: u64, millis: u64) -> Ack {
        let now = Instant::from_nanos(seconds * 1_000_000_000);
        Ack {
            now,
            one_way_delay: Some(Duration::from_millis(millis)),
            rtt: Some(Duration::from_millis(9 * millis)),
            flight_size: 99,
            ..ACK
        }
    }

    /// The window of 20 segments after an ACK.
    fn next(part: &mut dyn Avoidance, ack: &Ack) -> Segments {
        part.observe(ack, &window(20.0));
        part.on_ack(ack, &window(20.0))
    }

    #[test]
    fn the_window_follows_the_distance_from_the_target() {
        let mut part = build(&ENTRY, &[("current_filter", crate::params::Value::Number(1.0))]).unwrap();
        assert!(part.wants().one_way_delay);
        // RFC 6817 §2.4.2: cwnd += GAIN · off_target · acked / cwnd. The first delay is the base.
        let grown = [50, 100, 150, 200, 250].map(|delay| next(&mut *part, &ack(1, delay)) - 20.0);
        for (grown, off_target) in grown.into_iter().zip([1.0, 0.5, 0.0, -0.5, -1.0]) {
            assert_close(grown, off_target / 20.0, 1e-12);
        }
        let doubled = next(&mut *part, &Ack { counted: 2.0, ..ack(1, 50) });
        assert_close(doubled, 20.1, 1e-12);
    }

    #[test]
    fn the_present_delay_is_the_least_of_four() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let delays = [30, 130, 130, 130, 130].map(|delay| {
            next(&mut *part, &ack(1, delay));
            internal(|out| part.internals(out), "queuing_delay")
        });
        for (delay, expected) in delays.into_iter().zip([0.0, 0.0, 0.0, 0.0, 0.1]) {
            assert_close(delay, expected, 1e-12);
        }
    }

    #[test]
    fn a_base_delay_lasts_ten_minutes() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let base = |part: &dyn Avoidance| internal(|out| part.internals(out), "base_delay");
        next(&mut *part, &ack(59, 30));
        for minute in 1..10 {
            next(&mut *part, &ack(60 * minute, 50 + minute));
            next(&mut *part, &ack(60 * minute + 59, 90));
            assert_close(base(&*part), 0.03, 1e-12);
        }
        next(&mut *part, &ack(600, 90));
        assert_close(base(&*part), 0.051, 1e-12);
    }

    #[test]
    fn round_trip_times_take_the_place_of_missing_delays() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let delay = |part: &dyn Avoidance| internal(|out| part.internals(out), "base_delay");
        next(&mut *part, &Ack { one_way_delay: None, ..ack(1, 10) });
        assert_close(delay(&*part), 0.09, 1e-12);
        next(&mut *part, &ack(1, 40));
        assert_close(delay(&*part), 0.04, 1e-12);
        next(&mut *part, &Ack { one_way_delay: None, ..ack(1, 1) });
        assert_close(delay(&*part), 0.04, 1e-12);
    }

    #[test]
    fn the_window_is_bounded_by_the_flight_and_by_two_segments() {
        let mut part = build(&ENTRY, &[]).unwrap();
        assert_eq!(next(&mut *part, &Ack { flight_size: 12, ..ack(1, 40) }), 14.0, "13 before the ACK, and one");
        for _ in 0..4 {
            next(&mut *part, &ack(1, 2000));
        }
        assert_eq!(part.on_ack(&ack(1, 2000), &window(2.5)), 2.0);
        let halved = |part: &mut dyn Avoidance, cwnd| part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd;
        assert_eq!([20.0, 3.0, 1.0].map(|cwnd| halved(&mut *part, cwnd)), [10.0, 2.0, 1.0]);
    }
}
