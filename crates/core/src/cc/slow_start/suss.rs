//! SUSS: quadruples the window in a round trip where growth is predicted to go on, by paced packets between the ACKs.
//! ## What it does
//! A round's *blue* packets are those that standard slow start would send: two per ACK of the last round's blue packets. When all those
//! ACKs are in, SUSS decides whether the path can take more. In the second round it can if the ACKs arrived within a quarter of the smallest
//! round-trip time. From the third round on, the train of the next round must be predicted to last no longer than that time, and round-trip
//! times must not rise. If so, the window quadruples: the *red* packets leave after a guard time at an even rate, and are done before the
//! next round's ACKs arrive.
//!
//! ACKs of red packets do not add to the window. After the first refusal, or after `max_rounds`, growth is standard for good: with
//! an initial window of ten, rounds of 10, 40, 160 and 640 segments, which then double. HyStart ends slow start, its ACK train measured on
//! blue packets and scaled to the whole round.
//! ## References
//! Arghavani, Zhang, Eyers & Arghavani, *SUSS: improving TCP performance by speeding up slow-start*, SIGCOMM 2024, and the patches for Linux
//! 5.19 and 6.8 that its authors published (SUSSdeveloper/SUSS). The rules are those of the patches; they were not compared with the
//! paper's text.
//! ## Differs from the document
//! - The rate of red packets also holds back packets that ACKs of red ones let leave, so that red packets never exceed it.
//! - `HyStart` adds no allowance for ACKs that hosts delay to the threshold of the train, and does not double it if the host paces.
//! - With a loss before the window has reached 40 segments, as with an idle time, growth is standard for good.
//! - A round with ACKs at which the window may not grow is not accelerated.
//! - The slow start after a timeout is standard with `HyStart`.
//! ## Parameters
//! `max_rounds`: 3, the most rounds in which the window quadruples; `min_rtt_floor`: 10 ms, the smallest round-trip time for which it pays;
//! `loss_window`: 40 segments. All three are from the patches.

use crate::cc::contract::{SlowStart, Step, Wants, Window};
use crate::cc::slow_start::hystart::{self, Hystart};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Sent, Timing};
use crate::params::{Default, Kind, Param, Params, Value};
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "suss",
    summary: "SUSS: quadruples the window per round trip by paced packets while growth is predicted to go on",
    reference: "Arghavani, Zhang, Eyers & Arghavani 2024",
    params: &[
        Param {
            name: "max_rounds",
            kind: Kind::Integer { min: 0.0, max: 20.0 },
            default: Default::Number(3.0),
            doc: "most rounds in which the window quadruples",
        },
        Param {
            name: "min_rtt_floor",
            kind: Kind::Duration { min: 0.0, max: 1e3 },
            default: Default::Number(0.01),
            doc: "smallest round-trip time at which the window may quadruple",
        },
        Param {
            name: "loss_window",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(40.0),
            doc: "a loss at a smaller window makes growth standard for good",
        },
    ],
    quantities: &[
        quantity("blue_train", "s", "time between the first and the last ACK of the last round's blue packets").on("time"),
        quantity("jumps", "", "rounds in which the window has quadrupled"),
        quantity("red_rate", "bit/s", "rate of the red packets; 0 while there are none").on("rate"),
    ],
    build: |params| Ok(Box::new(Suss::new(params))),
};

/// Longest pause between two ACKs of a train, as in `HyStart`.
const ACK_DELTA: Duration = Duration::from_millis(2);

/// The red packets of a round.
#[derive(Clone, Copy, Debug)]
struct Red {
    /// The window up to which they may leave.
    limit: Segments,
    rate: Rate,
    /// When the window may grow next.
    next: Instant,
    /// The time in which two packets leave.
    step: Duration,
    started: bool,
}

/// Slow start with SUSS.
#[derive(Clone, Debug)]
pub struct Suss {
    max_rounds: u32,
    min_rtt_floor: Duration,
    loss_window: Segments,
    /// `HyStart` for the rise of round-trip times.
    delay: Hystart,
    smss: Bytes,
    header: Bytes,
    initial_window: Segments,
    /// Whether rounds may still be accelerated.
    on: bool,
    /// The present round, from 1; it began when data above `head` was acknowledged.
    round: u32,
    head: u64,
    started: Instant,
    /// End of the last round's blue packets, whose ACKs are the round's blue ones, and those that have arrived.
    blue_end: u64,
    blue_acked: f64,
    blue: bool,
    /// Whether the present ACK is of red packets.
    red_ack: bool,
    /// The last ACK of the blue train, if no pause has ended it.
    last_ack: Option<Instant>,
    jumps: u32,
    train: Option<Duration>,
    min_rtt: Option<Duration>,
    /// The round in which it last fell, and the smallest of this round.
    min_round: u32,
    round_rtt: Option<Duration>,
    red: Option<Red>,
    /// The window at which the ACK train ends slow start.
    cap: Option<Segments>,
    inflight: u64,
}

impl Suss {
    fn new(params: &Params) -> Self {
        let mut delay = Params::defaults(hystart::ENTRY.params);
        delay.set("detect", Value::Word("delay".to_owned()));
        delay.set("low_window", Value::Number(0.0));
        Self {
            max_rounds: params.number("max_rounds") as u32,
            min_rtt_floor: Duration::from_secs_f64(params.number("min_rtt_floor")),
            loss_window: params.number("loss_window"),
            delay: Hystart::new(&delay),
            smss: Bytes(1),
            header: Bytes(0),
            initial_window: 1.0,
            on: true,
            round: 1,
            head: 0,
            started: Instant::ZERO,
            blue_end: 0,
            blue_acked: 0.0,
            blue: true,
            red_ack: false,
            last_ack: None,
            jumps: 0,
            train: None,
            min_rtt: None,
            min_round: 1,
            round_rtt: None,
            red: None,
            cap: None,
            inflight: 0,
        }
    }

    /// Growth is standard for good.
    fn stop(&mut self) {
        (self.on, self.red, self.red_ack) = (false, None, false);
    }

    /// Data above the head is acknowledged: the next round begins, and ACKs are the clock again.
    fn begin_round(&mut self, ack: &Ack) {
        self.round += 1;
        (self.head, self.started) = (ack.snd_nxt, ack.now);
        (self.blue, self.blue_acked, self.last_ack) = (true, 0.0, Some(ack.now));
        (self.round_rtt, self.red) = (None, None);
    }

    fn measure(&mut self, rtt: Duration) {
        self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
        // Round-trip times are differences of sums, so equal ones may differ by rounding.
        if self.min_rtt.is_none_or(|least| rtt + Duration::NANOSECOND < least) {
            (self.min_rtt, self.min_round) = (Some(rtt), self.round);
        }
    }

    /// The train of blue ACKs, scaled to all packets of the last round: at half a round trip, the window is what the path holds.
    fn check_train(&mut self, ack: &Ack, min_rtt: Duration, cwnd: Segments) {
        let Some(last) = self.last_ack else { return };
        if ack.now > last + ACK_DELTA {
            self.last_ack = None;
            return;
        }
        self.last_ack = Some(ack.now);
        let scale = libm::exp2(f64::from(self.jumps));
        if self.cap.is_none() && ack.now.since(self.started).as_secs_f64() * scale > min_rtt.as_secs_f64() / 2.0 {
            self.cap = Some(cwnd + self.blue_acked * (scale - 1.0));
        }
    }

    /// All blue ACKs of the round are in: decides whether the window quadruples, and schedules the red packets.
    fn decide(&mut self, ack: &Ack, cwnd: Segments) {
        let elapsed = ack.now.since(self.started).as_secs_f64();
        let last_train = self.train.map_or(0.0, Duration::as_secs_f64);
        let double = libm::exp2(f64::from(self.round) - 1.0);
        let blue = self.initial_window * double;
        let train = elapsed * blue / (2.0 * self.blue_acked.max(1.0));
        self.train = Some(Duration::from_secs_f64(train));
        (self.blue, self.blue_end) = (false, self.head.saturating_add((blue * self.smss.0 as f64) as u64));
        let Some(min_rtt) = self.min_rtt else { return self.stop() };
        if !self.goes_on(train, last_train, min_rtt) || !ack.may_grow || !ack.cwnd_limited {
            return self.stop();
        }
        self.jumps += 1;
        let (red, red_acks) = (blue * double - blue, blue / 2.0 * (double / 2.0) - blue / 2.0);
        let base = min_rtt.as_secs_f64();
        let guard = (base / double - train) / 2.0;
        let bits = red * (self.smss.0 + self.header.0) as f64 * 8.0;
        let Some(rate) = Rate::from_bits_per_sec((bits / (base * (1.0 - 1.0 / double))) as u64) else { return };
        self.red = Some(Red {
            limit: cwnd + ack.counted + red - red_acks,
            rate,
            next: ack.now + Duration::from_secs_f64(guard.max(0.0)),
            step: rate.transmission(Bytes(2 * (self.smss.0 + self.header.0))),
            started: false,
        });
    }

    /// Whether growth is predicted to go on in the next round.
    fn goes_on(&self, train: f64, last_train: f64, min_rtt: Duration) -> bool {
        let base = min_rtt.as_secs_f64();
        if !self.on || self.round >= self.max_rounds + 2 || min_rtt <= self.min_rtt_floor {
            return false;
        }
        if self.round == 2 {
            return train < base / 4.0;
        }
        // The trains of all packets, as multiples of those of the blue ones.
        let scale = libm::exp2(f64::from(self.round) - 2.0);
        let (now, before) = (train * scale, last_train * scale / 2.0);
        let since = f64::from(self.round - self.min_round);
        let round_rtt = self.round_rtt.map_or(base, Duration::as_secs_f64);
        now * now <= base * before && (since + 1.0) * round_rtt <= (since + 1.0) * base + since * base / 8.0
    }

    /// The window at the end of slow start: after a jump, the data in flight.
    fn exit_window(&self, cwnd: Segments) -> Segments {
        if self.jumps > 1 { (self.inflight as f64 / self.smss.0 as f64).min(cwnd) } else { cwnd }
    }
}

impl SlowStart for Suss {
    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.header, self.initial_window) = (Bytes(event.smss.0.max(1)), event.header, window.cwnd);
        self.blue_end = (window.cwnd * self.smss.0 as f64) as u64;
        self.min_rtt = event.rtt;
        // Without a round-trip time the first samples decide.
        self.delay.on_established(event, window);
    }

    fn wants(&self) -> Wants {
        self.delay.wants()
    }

    fn on_rtt(&mut self, timing: &Timing, window: &Window) -> Option<Segments> {
        self.measure(timing.rtt);
        self.delay.on_rtt(timing, window).map(|cwnd| self.exit_window(cwnd))
    }

    fn on_sent(&mut self, sent: &Sent, _window: &Window) {
        // After an idle time there is no train of ACKs.
        if sent.app_limited && sent.inflight == sent.size && self.round > 1 {
            self.stop();
        }
        self.inflight = sent.inflight;
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.inflight = ack.inflight;
        if window.cwnd >= window.ssthresh {
            self.red = None;
            return;
        }
        if ack.snd_una > self.head {
            self.begin_round(ack);
        }
        // Red packets follow blue ones only in a round that has jumped. The blue ACK at which SUSS decides still counts.
        self.red_ack = self.on && self.jumps > 0 && !self.blue;
        if !self.blue {
            return;
        }
        self.blue_acked += f64::from(ack.acked);
        if let Some(min_rtt) = self.min_rtt {
            self.check_train(ack, min_rtt, window.cwnd);
        }
        if ack.snd_una >= self.blue_end {
            self.decide(ack, window.cwnd);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        if self.cap.is_some_and(|cap| window.cwnd > cap) {
            self.cap = None;
            return Step::Exit { ssthresh: self.exit_window(window.cwnd) };
        }
        Step::Grow(if self.red_ack { 0.0 } else { ack.counted })
    }

    fn on_congestion(&mut self, event: &CongestionEvent, window: &Window) {
        if window.cwnd < self.loss_window || event.cause == Cause::Timeout {
            self.stop();
        }
        (self.red, self.cap) = (None, None);
        self.delay.on_congestion(event, window);
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, usual: &Window) -> Option<Window> {
        let accelerated = self.jumps > 0 && window.cwnd < window.ssthresh && event.cause != Cause::Timeout;
        // The window may be ahead of what has left: the reduction applies to the packets in flight.
        let share = f64::from(event.flight_size) / event.window;
        (accelerated && share < 1.0).then(|| Window::reduced_to((usual.cwnd * share).max(event.least)))
    }

    fn on_mss(&mut self, smss: Bytes) {
        // Blue packets are counted in segments.
        self.stop();
        self.smss = Bytes(smss.0.max(1));
        self.delay.on_mss(smss);
    }

    fn on_restart(&mut self) {
        self.stop();
        self.delay.on_restart();
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        self.red.filter(|red| red.started).map(|red| red.rate)
    }

    fn timer(&self) -> Option<Instant> {
        self.red.map(|red| red.next)
    }

    fn on_timer(&mut self, now: Instant, window: &Window) -> Step {
        let Some(red) = self.red.as_mut().filter(|red| red.next <= now) else { return Step::Grow(0.0) };
        (red.started, red.next) = (true, now + red.step);
        let left = red.limit - window.cwnd;
        if left <= 0.0 {
            // The rate holds until the next round; the timer has no more to do.
            red.next = Instant::MAX;
            return Step::Grow(0.0);
        }
        let used = self.inflight + self.smss.0 > (window.cwnd * self.smss.0 as f64) as u64;
        Step::Grow(if used { left.min(2.0) } else { 0.0 })
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(train) = self.train {
            out("blue_train", train.as_secs_f64());
        }
        out("jumps", f64::from(self.jumps));
        out("red_rate", self.red.filter(|red| red.started).map_or(0.0, |red| red.rate.as_bits_per_sec() as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ACK, SENT, assert_close, build, congestion, established, window};

    fn suss(set: &[(&str, Value)], rtt: u64) -> Box<dyn SlowStart> {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&Established { rtt: Some(Duration::from_millis(rtt)), ..established(1000) }, &window(10.0));
        part
    }

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(1000 * micros)
    }

    /// Acknowledges segments from `una` on, one every `gap` microseconds from `start` on, while data is sent up to segment `nxt`. Returns the
    /// window after growth from `cwnd`, and the time of the last ACK.
    fn train(part: &mut dyn SlowStart, (una, count, nxt): (u64, u64, u64), (start, gap): (u64, u64), mut cwnd: f64) -> (f64, Instant) {
        for index in 0..count {
            let now = at(start + gap * index);
            let ack = Ack { now, snd_una: 1000 * (una + index + 1), snd_nxt: 1000 * nxt, inflight: (1000.0 * cwnd) as u64, ..ACK };
            part.observe(&ack, &window(cwnd));
            match part.on_ack(&ack, &window(cwnd)) {
                Step::Grow(by) => cwnd += by,
                step => panic!("{step:?}"),
            }
        }
        (cwnd, at(start + gap * (count - 1)))
    }

    /// Lets the window grow by the timer until it stops. Returns the window, and the time from the first to the last growth.
    fn jump(part: &mut dyn SlowStart, mut cwnd: f64) -> (f64, f64) {
        let (mut first, mut last) = (None, Instant::ZERO);
        while let Some(now) = part.timer().filter(|now| *now < Instant::MAX) {
            part.on_sent(&Sent { now, inflight: (1000.0 * cwnd) as u64, ..SENT }, &window(cwnd));
            let Step::Grow(by) = part.on_timer(now, &window(cwnd)) else { panic!("it only grows") };
            cwnd += by;
            if by > 0.0 {
                (first, last) = (first.or(Some(now)), now);
            }
        }
        (cwnd, last.since(first.unwrap()).as_secs_f64())
    }

    #[test]
    fn windows_of_10_40_160_and_640_then_doubling() {
        let mut part = suss(&[], 100);
        // Round 2: ten ACKs in 0.9 ms. The guard time is half of what remains of half a round trip; red packets take the other half.
        let (cwnd, end) = train(&mut *part, (0, 10, 10), (100_000, 100), 10.0);
        assert_eq!(cwnd, 20.0);
        assert_close(part.timer().unwrap().since(end).as_secs_f64(), (0.05 - 0.0009) / 2.0, 1e-6);
        assert_eq!(part.pacing_rate(&window(cwnd)), None, "the ACKs are the clock");
        let (cwnd, took) = jump(&mut *part, cwnd);
        assert_eq!(cwnd, 40.0);
        // Twenty red packets in 50 ms: 3.2 Mbit/s, and two packets every 5 ms.
        assert_eq!(part.pacing_rate(&window(cwnd)).map(Rate::as_bits_per_sec), Some(3_200_000));
        assert_close(took, 0.045, 1e-9);
        // Round 3: twenty blue ACKs; those of the twenty red packets add nothing.
        let (cwnd, _) = train(&mut *part, (10, 20, 50), (200_000, 100), cwnd);
        assert_eq!(cwnd, 60.0);
        let (cwnd, _) = train(&mut *part, (30, 10, 80), (220_000, 100), cwnd);
        assert_eq!(cwnd, 60.0);
        let (cwnd, _) = jump(&mut *part, cwnd);
        let (cwnd, _) = train(&mut *part, (40, 10, 200), (270_000, 100), cwnd);
        assert_eq!(cwnd, 160.0);
        // Round 4, and the last: forty blue ACKs.
        let (cwnd, _) = train(&mut *part, (50, 40, 210), (300_000, 100), cwnd);
        let (cwnd, _) = jump(&mut *part, cwnd);
        let (cwnd, _) = train(&mut *part, (90, 120, 850), (330_000, 100), cwnd);
        assert_eq!(cwnd, 640.0);
        // Round 5: every ACK grows the window again.
        let (cwnd, _) = train(&mut *part, (210, 640, 850), (400_000, 10), cwnd);
        assert_eq!((cwnd, part.timer(), part.pacing_rate(&window(cwnd))), (1280.0, None, None));
    }

    #[test]
    fn a_long_train_a_short_path_or_no_rounds_leave_growth_standard() {
        // Nine gaps of 2.8 ms are 25.2 ms, more than a quarter of the round trip.
        let rounds = |max: f64| [("max_rounds", Value::Number(max))];
        for (set, rtt, gap, jumps) in [
            (&[][..], 100, 2700, true),
            (&[][..], 100, 2800, false),
            (&[][..], 10, 1, false),
            (&[][..], 11, 1, true),
            (&rounds(0.0)[..], 100, 1, false),
            (&rounds(1.0)[..], 100, 1, true),
        ] {
            let mut part = suss(set, rtt);
            let (cwnd, _) = train(&mut *part, (0, 10, 10), (100_000, gap), 10.0);
            assert_eq!((cwnd, part.timer().is_some()), (20.0, jumps), "{set:?} {rtt} {gap}");
        }
    }

    #[test]
    fn a_train_that_would_outgrow_the_round_trip_is_refused() {
        let part = |train: f64, last: f64| {
            let mut part = Suss::new(&Params::defaults(ENTRY.params));
            part.round = 3;
            part.goes_on(train, last, Duration::from_millis(100))
        };
        // Twice 10 ms, after 4 ms: the ratio predicts 5 times as much, 100 ms.
        assert!(part(0.01, 0.004_001) && !part(0.01, 0.003_999));
    }

    #[test]
    fn a_rising_round_trip_time_is_refused() {
        let part = |round_rtt: u64, min_round: u32| {
            let mut part = Suss::new(&Params::defaults(ENTRY.params));
            (part.round, part.min_round, part.round_rtt) = (4, min_round, Some(Duration::from_millis(round_rtt)));
            part.goes_on(0.0, 0.0, Duration::from_millis(160))
        };
        // Two rounds after the minimum: a third of two eighths of it, 13.3 ms; in the round of the minimum, nothing.
        assert_eq!([part(173, 2), part(174, 2), part(160, 4), part(161, 4)], [true, false, true, false]);
    }

    #[test]
    fn an_early_loss_ends_acceleration_and_a_loss_counts_from_what_is_in_flight() {
        let mut part = suss(&[], 100);
        let (cwnd, _) = train(&mut *part, (0, 10, 10), (100_000, 100), 10.0);
        let event = CongestionEvent { flight_size: 15, ..congestion(Cause::DupAck, cwnd) };
        let answer = part.respond(&event, &window(cwnd), &Window::reduced_to(10.0));
        assert_eq!(answer, Some(Window { cwnd: 7.5, ssthresh: 7.0 }));
        part.on_congestion(&event, &window(cwnd));
        assert_eq!(part.timer(), None);
        let (cwnd, _) = train(&mut *part, (10, 20, 50), (200_000, 100), cwnd);
        assert_eq!((cwnd, part.timer()), (40.0, None));
    }
}
