//! Rapid start: triples the window per round trip while there is no queue, and answers its first congestion by what was delivered.
//! ## What it does
//! Each acknowledged segment adds two to the window while the smallest round-trip time of the last round trip is close to the smallest of
//! the connection, and one if a queue shows. The first flight is spread over a round trip.
//!
//! The congestion that ends slow start reduces the window at once to a share of it (*silence*), so that the queue can drain. In the
//! recovery that follows, each delivered or lost byte reduces it further. At its end the window is what the recovery has delivered, times
//! β: the factor by which the flow's loss response reduces a window. The host's own rules for recovery, such as PRR, do not apply then.
//! ## References
//! Oku, *Rapid startup of congestion control*, draft-kazuho-ccwg-rapid-start (November 2025, and the abstract of -02, March 2026); quicly,
//! the QUIC stack of the draft's author, for `tolerance` `larger`.
//! ## Differs from the document
//! - The round-trip times of the last round trip are stored in four slots of a quarter of the smallest round-trip time, as in quicly. The
//!   last round trip is therefore 0.75 to 1 round trips long.
//! - The first flight is spread evenly over the handshake's round-trip time. Without one it leaves at once.
//! - The recovery counts from the congestion event on, and thus includes the losses that have caused it.
//! - The draft permits to stop reducing at β times the initial window; the reduction goes on here.
//! - After a timeout the loss response decides alone. Congestion in later slow starts is answered as that in the first.
//! - quicly takes the larger of both tolerances, with a factor of 35/32 in place of 1.10, where the draft takes the smaller one.
//! - The draft's reductions depend on a host that reports each loss and delivery soon, as QUIC or TCP with SACK does.
//! ## Parameters
//! `growth`: 3, `rtt_tolerance`: 4 ms, `rtt_factor`: 1.1, `tolerance`: `smaller`, `pace_first_flight`: true, and `k`: 11/18, all from the
//! draft. `beta`: auto, the factor of the loss response at that congestion; `response`: `rapid` as in the draft, or `usual`: the loss
//! response alone.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::opening::Opening;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Sent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "rapid_start",
    summary: "triples the window per round trip until a queue shows, ends with a reduction by what was delivered",
    reference: "draft-kazuho-ccwg-rapid-start",
    params: &[
        param("growth", Kind::Number { min: 1.0, max: 10.0 }, 3.0, "factor per round trip while there is no queue"),
        param("rtt_tolerance", Kind::Duration { min: 0.0, max: 10.0 }, 0.004, "rise of the round-trip time that does not yet show a queue"),
        param("rtt_factor", Kind::Number { min: 1.0, max: 10.0 }, 1.1, "the same as a multiple of the smallest round-trip time"),
        Param {
            name: "tolerance",
            kind: Kind::Word(&["smaller", "larger"]),
            default: Default::Word("smaller"),
            doc: "which of the two rises counts",
        },
        Param {
            name: "pace_first_flight",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether the first flight is spread over a round trip",
        },
        Param {
            name: "response",
            kind: Kind::Word(&["rapid", "usual"]),
            default: Default::Word("rapid"),
            doc: "answer to the congestion that ends slow start: by what recovery delivers, or the loss response",
        },
        param("k", Kind::Number { min: 0.0, max: 1.0 }, 11.0 / 18.0, "share of the reduction that is left to recovery"),
        Param {
            name: "beta",
            kind: Kind::Number { min: 0.01, max: 1.0 },
            default: Default::Auto,
            doc: "share of the delivered data that remains as the window; auto: the factor of the loss response",
        },
    ],
    quantities: &[
        quantity("rtt_floor", "s", "smallest round-trip time of the last round trip").on("time"),
        quantity("growth", "", "segments added per acknowledged one"),
    ],
    build: |params| Ok(Box::new(RapidStart::new(params))),
};

const fn param(name: &'static str, kind: Kind, default: f64, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Number(default), doc }
}

/// Slots of the filter for the smallest round-trip time of the last round trip.
const SLOTS: usize = 4;

/// The smallest round-trip time of the last round trip.
#[derive(Clone, Debug, Default)]
struct Floor {
    slots: [Option<Duration>; SLOTS],
    current: usize,
    /// When the present slot began.
    since: Instant,
}

impl Floor {
    /// Applies a sample; returns the smallest of the last `window`.
    fn update(&mut self, now: Instant, rtt: Duration, window: Duration) -> Duration {
        let slot = (window / SLOTS as f64).max(Duration::NANOSECOND);
        if now >= self.since + window {
            (self.slots, self.since) = ([None; SLOTS], now);
        }
        while now >= self.since + slot {
            self.since += slot;
            self.current = (self.current + 1) % SLOTS;
            self.slots[self.current] = None;
        }
        let least = self.slots[self.current].map_or(rtt, |least| least.min(rtt));
        self.slots[self.current] = Some(least);
        self.slots.iter().flatten().fold(least, |least, slot| least.min(*slot))
    }
}

/// The recovery from the congestion that ended slow start. Windows are in segments.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    cwnd: Segments,
    least: Segments,
    /// Reductions per delivered and per lost segment.
    per_acked: f64,
    per_lost: f64,
    /// It ends when later data is acknowledged.
    until: u64,
}

/// Rapid start.
#[derive(Clone, Debug)]
pub struct RapidStart {
    growth: f64,
    rtt_tolerance: Duration,
    rtt_factor: f64,
    larger: bool,
    pace_first_flight: bool,
    rapid_response: bool,
    k: f64,
    beta: Option<f64>,
    smss: Bytes,
    first_flight: Opening,
    floor: Floor,
    rtt_floor: Option<Duration>,
    /// Segments added per acknowledged one.
    increment: f64,
    snd_nxt: u64,
    recovery: Option<Recovery>,
}

impl RapidStart {
    fn new(params: &Params) -> Self {
        let growth = params.number("growth");
        Self {
            growth,
            rtt_tolerance: Duration::from_secs_f64(params.number("rtt_tolerance")),
            rtt_factor: params.number("rtt_factor"),
            larger: params.word("tolerance") == "larger",
            pace_first_flight: params.flag("pace_first_flight"),
            rapid_response: params.word("response") == "rapid",
            k: params.number("k"),
            beta: params.number_or_auto("beta"),
            smss: Bytes(1),
            first_flight: Opening::default(),
            floor: Floor::default(),
            rtt_floor: None,
            increment: growth - 1.0,
            snd_nxt: 0,
            recovery: None,
        }
    }

    /// The largest round-trip time that does not show a queue.
    fn threshold(&self, min_rtt: Duration) -> Duration {
        let (sum, product) = (min_rtt + self.rtt_tolerance, Duration::from_secs_f64(min_rtt.as_secs_f64() * self.rtt_factor));
        if self.larger { sum.max(product) } else { sum.min(product) }
    }
}

impl SlowStart for RapidStart {
    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.first_flight) = (Bytes(event.smss.0.max(1)), Opening::new(event, window));
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        self.snd_nxt = ack.snd_nxt;
        let (Some(rtt), Some(min_rtt)) = (ack.rtt, ack.min_rtt) else { return };
        let rtt_floor = self.floor.update(ack.now, rtt, min_rtt);
        // Round-trip times are differences of sums, so equal ones may differ by rounding.
        let queued = rtt_floor > self.threshold(min_rtt) + Duration::NANOSECOND;
        self.rtt_floor = Some(rtt_floor);
        self.increment = if queued { 1.0 } else { self.growth - 1.0 };
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(ack.counted * self.increment)
    }

    fn on_sent(&mut self, sent: &Sent, _window: &Window) {
        self.snd_nxt = sent.snd_nxt;
        self.first_flight.sent(sent);
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, usual: &Window) -> Option<Window> {
        let ends = window.cwnd < window.ssthresh && self.rapid_response && event.cause != Cause::Timeout && !event.restart;
        self.recovery = None;
        if !ends || event.window <= 0.0 {
            return None;
        }
        let beta = self.beta.unwrap_or(usual.cwnd / event.window).clamp(0.0, 1.0);
        // Draft: silence_factor, ack_factor, loss_factor.
        let (rest, per_acked) = (beta + self.k * (1.0 - beta), self.k * (1.0 - beta));
        let cwnd = event.window * rest;
        let least = event.window * (rest - per_acked / 3.0 - 2.0 * rest / 3.0);
        self.recovery = Some(Recovery { cwnd, least: least.max(event.least), per_acked, per_lost: rest, until: self.snd_nxt });
        Some(Window { cwnd, ssthresh: cwnd })
    }

    fn on_spurious(&mut self) {
        self.recovery = None;
    }

    fn owns_recovery(&self) -> bool {
        self.recovery.is_some()
    }

    fn set_window(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        let recovery = self.recovery.as_mut()?;
        let segments = |bytes: u64| bytes as f64 / self.smss.0 as f64;
        let reduction = recovery.per_acked * segments(ack.delivered) + recovery.per_lost * segments(ack.lost);
        recovery.cwnd = (recovery.cwnd - reduction).max(recovery.least.min(recovery.cwnd));
        // The host may have deflated the window further.
        let cwnd = recovery.cwnd.min(window.cwnd);
        if ack.snd_una >= recovery.until {
            self.recovery = None;
        }
        Some(Window { cwnd, ssthresh: cwnd })
    }

    fn on_mss(&mut self, smss: Bytes) {
        let factor = self.smss.0 as f64 / smss.0.max(1) as f64;
        self.smss = Bytes(smss.0.max(1));
        if let Some(recovery) = &mut self.recovery {
            (recovery.cwnd, recovery.least) = (recovery.cwnd * factor, recovery.least * factor);
        }
    }

    fn on_restart(&mut self) {
        self.recovery = None;
    }

    fn paces(&self) -> bool {
        self.pace_first_flight
    }

    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        self.first_flight.rate().filter(|_| self.pace_first_flight)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rtt_floor) = self.rtt_floor {
            out("rtt_floor", rtt_floor.as_secs_f64());
        }
        out("growth", self.increment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, assert_close, build, congestion, established, internal, window};
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The growth per segment after ACKs with these times and round-trip times, in milliseconds.
    fn increments(set: &[(&str, Value)], acks: &[(u64, u64)]) -> Vec<Step> {
        let mut part = build(&ENTRY, set).unwrap();
        let mut min_rtt = None;
        let step = |&(now, rtt): &(u64, u64)| {
            let rtt = ms(rtt);
            min_rtt = Some(min_rtt.map_or(rtt, |least: Duration| least.min(rtt)));
            let ack = Ack { now: Instant::from_nanos(now * MS), rtt: Some(rtt), min_rtt, ..ACK };
            part.observe(&ack, &window(100.0));
            part.on_ack(&ack, &window(100.0))
        };
        acks.iter().map(step).collect()
    }

    const FAST: Step = Step::Grow(2.0);
    const SLOW: Step = Step::Grow(1.0);

    #[test]
    fn two_segments_per_segment_until_the_floor_rises_by_the_smaller_tolerance() {
        // 10 % of 30 ms is less than 4 ms; 4 ms are less than 10 % of 100 ms. The old minimum has left the filter after a round trip.
        assert_eq!(increments(&[], &[(0, 30), (40, 33), (80, 34)]), [FAST, FAST, SLOW]);
        assert_eq!(increments(&[], &[(0, 100), (150, 104), (300, 105), (450, 100)]), [FAST, FAST, SLOW, FAST]);
        let larger = [("tolerance", Value::Word("larger".to_owned())), ("rtt_factor", Value::Number(35.0 / 32.0))];
        assert_eq!(increments(&larger, &[(0, 100), (150, 109), (300, 110)]), [FAST, FAST, SLOW]);
        assert_eq!(increments(&[], &[(0, 100), (10, 150), (60, 150), (74, 150)]), [FAST; 4], "a low sample within the last round trip");
    }

    #[test]
    fn the_floor_forgets_what_is_older_than_a_round_trip() {
        let mut floor = Floor::default();
        let mut at = |now: u64, rtt: u64| floor.update(Instant::from_nanos(now * MS), ms(rtt), ms(100)).as_nanos() / MS;
        assert_eq!([at(0, 100), at(74, 130), at(101, 140), at(130, 150)], [100, 100, 130, 130]);
        assert_eq!(at(1000, 160), 160);
    }

    /// A part that has sent data up to `nxt` and answered congestion at `cwnd` segments; a usual response would reduce by `beta`.
    fn answered(set: &[(&str, Value)], cwnd: f64, beta: f64) -> (Box<dyn SlowStart>, Option<Window>) {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&established(1000), &window(10.0));
        part.on_sent(&crate::events::Sent { snd_nxt: 100_000, ..SENT }, &window(cwnd));
        let answer = part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd), &Window::reduced_to(beta * cwnd));
        (part, answer)
    }

    /// The ACK after the last with so many segments delivered and lost.
    fn after(part: &mut dyn SlowStart, delivered: u64, lost: u64, una: u64) -> f64 {
        let ack = Ack { delivered: 1000 * delivered, lost: 1000 * lost, snd_una: 1000 * una, snd_nxt: 100_000, ..ACK };
        part.set_window(&ack, &window(1e6)).unwrap().cwnd
    }

    #[test]
    fn the_drafts_factors() {
        for (beta, silence, acked, least) in [(0.7, 53.0 / 60.0, 11.0 / 60.0, 0.7 / 3.0), (0.5, 29.0 / 36.0, 11.0 / 36.0, 0.5 / 3.0)] {
            let (mut part, answer) = answered(&[], 60.0, beta);
            assert_close(answer.unwrap().cwnd, 60.0 * silence, 1e-9);
            assert!(part.owns_recovery());
            assert_close(after(&mut *part, 1, 0, 1), 60.0 * silence - acked, 1e-9);
            assert_close(after(&mut *part, 0, 1, 1), 60.0 * silence - acked - silence, 1e-9);
            assert_close(after(&mut *part, 0, 60, 1), 60.0 * least, 1e-9);
        }
    }

    #[test]
    fn without_losses_the_window_ends_at_beta_of_what_was_delivered() {
        let (mut part, _) = answered(&[("beta", Value::Number(0.7))], 100.0, 0.5);
        let windows: Vec<f64> = (1..=100).map(|una| after(&mut *part, 1, 0, una)).collect();
        assert_close(windows[99], 70.0, 1e-9);
        assert!(!part.owns_recovery() && part.set_window(&ACK, &window(70.0)).is_none(), "recovery is over");
        // Half of the flight is lost: β of the other half.
        let (mut part, _) = answered(&[], 100.0, 0.5);
        after(&mut *part, 0, 50, 0);
        assert_close(after(&mut *part, 50, 0, 100), 25.0, 1e-9);
    }

    #[test]
    fn timeouts_avoidance_and_the_usual_response_are_left_to_the_loss_response() {
        assert!(answered(&[("response", Value::Word("usual".to_owned()))], 60.0, 0.5).1.is_none());
        let mut part = build(&ENTRY, &[]).unwrap();
        let usual = Window::reduced_to(30.0);
        assert!(part.respond(&congestion(Cause::Timeout, 60.0), &window(60.0), &usual).is_none());
        let avoidance = Window { cwnd: 60.0, ssthresh: 60.0 };
        assert!(part.respond(&congestion(Cause::DupAck, 60.0), &avoidance, &usual).is_none() && !part.owns_recovery());
    }

    #[test]
    fn the_first_flight_is_paced_over_a_round_trip() {
        let mut part = build(&ENTRY, &[]).unwrap();
        part.on_established(&Established { rtt: Some(ms(100)), ..established(1000) }, &window(10.0));
        assert_eq!(part.pacing_rate(&window(10.0)).map(Rate::as_bits_per_sec), Some(800_000));
        for _ in 0..10 {
            part.on_sent(&SENT, &window(10.0));
        }
        assert_eq!(part.pacing_rate(&window(10.0)), None, "ten segments have left");
        let burst = build(&ENTRY, &[("pace_first_flight", Value::Bool(false))]).unwrap();
        assert!(!burst.paces() && part.paces());
        assert_eq!(internal(|out| part.internals(out), "growth"), 2.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn recovery_only_reduces_and_stops_at_the_floor(beta in 0.1..1.0_f64, acks in prop::collection::vec((0..20_u64, 0..20_u64), 1..50)) {
            let (mut part, answer) = answered(&[("beta", Value::Number(beta))], 100.0, 0.5);
            let mut last = answer.unwrap().cwnd;
            for (delivered, lost) in acks {
                let now = after(&mut *part, delivered, lost, 1);
                prop_assert!(now <= last && now >= (100.0 * beta / 3.0).min(last) - 1e-9, "{last} to {now}");
                last = now;
            }
        }
    }
}
