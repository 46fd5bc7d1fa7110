//! BBR's Startup and Drain as a slow start, which any avoidance can follow.
//! ## What it does
//! Paces at 2.77 times the measured bandwidth, so that data in flight doubles per round trip, within a window of twice the bandwidth-delay
//! product. Startup ends when the bandwidth has not grown by a quarter in three rounds, or when a round in loss recovery loses more than 2 %
//! in at least six places. Fewer losses do not reduce the window. Drain then halves the rate until no more is in flight than the
//! bandwidth-delay product, which becomes window and threshold.
//! ## References
//! draft-ietf-ccwg-bbr (August 2026, after -06), as in the control `bbr`, which shares the model of the path.
//! ## Differs from the document
//! - After Drain the avoidance decides, without BBR's pacing rate and bounds.
//! - Where BBR's own rules would leave `ssthresh` alone, the end of Startup sets it.
//! - The window grows as the host counts ACKs, and not in loss recovery.
//! - A sign of congestion that does not end Startup is no reduction for the host's recovery either; a mark ends Startup as the loss response
//!   has it, because BBR has no response to ECN.
//! - A timeout, a loss in Drain, and a loss without SACK are left to the loss response. Startup then begins again in the next slow start,
//!   from the bandwidth known so far.
//! ## Parameters
//! `pacing_gain`: 2.77, `cwnd_gain`: 2, `drain_gain`: 0.5, `loss_thresh`: 2 %, `full_loss_cnt`: 6, from the draft. `exit`: `drain`; `keep`
//! leaves with the window as it is.

use crate::cc::bbr_model::{Acked, Aggregation, ExtraAcked, FullPipe, MAX_QUANTUM, MIN_PIPE, PACING_MARGIN, Rounds, Sample, Signals};
use crate::cc::contract::{SlowStart, Step, Wants, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Lost};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Rate};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "bbr_startup",
    summary: "BBR's Startup and Drain: paces by the bandwidth, ends when that stops growing or losses are heavy",
    reference: "draft-ietf-ccwg-bbr",
    params: &[
        number("pacing_gain", 1.0, 10.0, 2.77, "pacing rate in Startup, as a multiple of the bandwidth"),
        number("cwnd_gain", 1.0, 10.0, 2.0, "window, as a multiple of the bandwidth-delay product"),
        number("drain_gain", 0.01, 1.0, 0.5, "pacing rate in Drain, as a multiple of the bandwidth"),
        number("loss_thresh", 0.0, 1.0, 0.02, "share of lost data above which a round ends Startup"),
        Param {
            name: "full_loss_cnt",
            kind: Kind::Integer { min: 1.0, max: 1e6 },
            default: Default::Number(6.0),
            doc: "places in which a round must have lost data to end Startup",
        },
        Param {
            name: "exit",
            kind: Kind::Word(&["drain", "keep"]),
            default: Default::Word("drain"),
            doc: "end of Startup: empty the queue first, or keep the window",
        },
    ],
    quantities: &[
        quantity("startup", "", "0: Startup, 1: Drain, 2: over"),
        quantity("startup_bw", "bit/s", "largest delivery rate so far").on("rate"),
        quantity("startup_rate", "bit/s", "pacing rate of data, without headers").on("rate"),
    ],
    build: |params| Ok(Box::new(BbrStartup::new(params))),
};

const fn number(name: &'static str, min: f64, max: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min, max }, default: Default::Number(default), doc }
}

/// Round-trip time before the first sample (draft, `BBRInitPacingRate`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);
/// Rounds after which Drain ends at the latest.
const DRAIN_ROUNDS: u64 = 3;
/// The filter for the excess of ACKs in Startup.
const LAST_ROUND: Aggregation = Aggregation { slots: 1, rounds: 1 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    /// With the round in which it began.
    Drain(u64),
    Over,
}

/// BBR's Startup. Amounts are in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
pub struct BbrStartup {
    pacing_gain: f64,
    cwnd_gain: f64,
    drain_gain: f64,
    loss_thresh: f64,
    full_loss_cnt: u32,
    drains: bool,
    smss: f64,
    header: f64,
    selective: bool,
    initial: f64,
    state: State,
    rounds: Rounds,
    full: FullPipe,
    signals: Signals,
    extra: ExtraAcked,
    bw: f64,
    min_rtt: Option<Duration>,
    pacing_rate: f64,
    delivered: u64,
    snd_nxt: u64,
    /// In loss recovery until later data is acknowledged.
    recovery: Option<u64>,
    /// The window when Startup has ended.
    exit: Option<Window>,
}

impl BbrStartup {
    fn new(params: &Params) -> Self {
        Self {
            pacing_gain: params.number("pacing_gain"),
            cwnd_gain: params.number("cwnd_gain"),
            drain_gain: params.number("drain_gain"),
            loss_thresh: params.number("loss_thresh"),
            full_loss_cnt: params.number("full_loss_cnt") as u32,
            drains: params.word("exit") == "drain",
            smss: 1.0,
            header: 0.0,
            selective: false,
            initial: 0.0,
            state: State::Startup,
            rounds: Rounds::default(),
            full: FullPipe::default(),
            signals: Signals::default(),
            extra: ExtraAcked::default(),
            bw: 0.0,
            min_rtt: None,
            pacing_rate: 0.0,
            delivered: 0,
            snd_nxt: 0,
            recovery: None,
            exit: None,
        }
    }

    /// The bandwidth-delay product; `None` before the first sample.
    fn bdp(&self) -> Option<f64> {
        self.min_rtt.map(|rtt| self.bw * rtt.as_secs_f64()).filter(|bdp| *bdp > 0.0)
    }

    fn send_quantum(&self) -> f64 {
        (self.pacing_rate * 1e-3).min(MAX_QUANTUM).max(2.0 * self.smss)
    }

    /// Draft, `BBRUpdateMaxInflight` in Startup.
    fn target(&self) -> f64 {
        let least = (3.0 * self.send_quantum()).max(MIN_PIPE * self.smss);
        self.bdp().map_or(f64::INFINITY, |bdp| (self.cwnd_gain * bdp + self.extra.max).max(least))
    }

    /// Begins Startup again, from the bandwidth known so far.
    fn restart(&mut self) {
        (self.state, self.full, self.exit, self.recovery) = (State::Startup, FullPipe::default(), None, None);
    }

    /// Draft, `BBRCheckStartupHighLoss`.
    fn is_loss_heavy(&mut self, sample: &Sample) -> bool {
        let ranges = self.signals.ranges;
        if self.signals.round_start {
            self.signals.ranges = 0;
        }
        // The first loss has restarted the round, so that its end is a full round later.
        let heavy = ranges >= self.full_loss_cnt && sample.lost > self.loss_thresh * sample.tx_in_flight;
        self.recovery.is_some() && self.signals.round_start && heavy
    }

    /// Updates the model in Startup.
    fn update(&mut self, ack: &Ack, cwnd: f64) {
        let sample = Sample::of(ack);
        (self.rounds.start, self.signals.round_start) = (false, false);
        if sample.present {
            self.signals.update(sample.prior_delivered, ack.total.delivered, sample.rate, sample.delivered);
            self.rounds.update(sample.prior_delivered, ack.total.delivered);
            if sample.rate >= self.bw || !sample.app_limited {
                self.bw = self.bw.max(sample.rate);
            }
        }
        let acked = Acked { bytes: ack.delivered as f64, bw: self.bw, cap: cwnd };
        self.extra.update((ack.now, self.rounds.count), acked, LAST_ROUND);
        if self.rounds.start && !sample.app_limited && sample.rate > 0.0 {
            self.full.check(sample.rate);
        }
        let heavy = sample.present && self.is_loss_heavy(&sample);
        if self.signals.round_start {
            self.signals.loss = false;
        }
        if self.full.reached || heavy {
            self.state = if self.drains { State::Drain(self.rounds.count) } else { State::Over };
        }
    }

    fn set_rate(&mut self) {
        let bw = self.bw * (1.0 - PACING_MARGIN);
        match self.state {
            // Until the pipe is full, the rate only rises.
            State::Startup => self.pacing_rate = self.pacing_rate.max(self.pacing_gain * bw),
            State::Drain(_) if bw > 0.0 => self.pacing_rate = self.drain_gain * bw,
            State::Drain(_) | State::Over => {}
        }
    }
}

impl SlowStart for BbrStartup {
    fn wants(&self) -> Wants {
        Wants::SAMPLES
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.header) = (event.smss.0.max(1) as f64, event.header.0 as f64);
        (self.selective, self.min_rtt) = (event.selective, event.rtt);
        self.initial = window.cwnd * self.smss;
        self.extra.restart(event.now);
        let rtt = event.rtt.unwrap_or(NOMINAL_RTT).max(Duration::NANOSECOND);
        self.pacing_rate = self.pacing_gain * self.initial / rtt.as_secs_f64();
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        (self.delivered, self.snd_nxt) = (ack.total.delivered, ack.snd_nxt);
        self.min_rtt = ack.min_rtt.or(self.min_rtt);
        if self.recovery.is_some_and(|until| ack.snd_una >= until) {
            self.recovery = None;
        }
        if window.cwnd >= window.ssthresh {
            return;
        }
        match self.state {
            State::Startup => {
                self.update(ack, window.cwnd * self.smss);
                if self.state == State::Over {
                    self.exit = Some(Window { cwnd: window.cwnd, ssthresh: window.cwnd });
                }
            }
            State::Drain(begun) => {
                let sample = Sample::of(ack);
                if sample.present {
                    self.rounds.update(sample.prior_delivered, ack.total.delivered);
                }
                let bdp = self.bdp().unwrap_or(0.0).max(MIN_PIPE * self.smss);
                if ack.inflight as f64 <= bdp || self.rounds.count > begun + DRAIN_ROUNDS {
                    let cwnd = (bdp / self.smss).min(window.cwnd);
                    (self.state, self.exit) = (State::Over, Some(Window { cwnd, ssthresh: cwnd }));
                }
            }
            // A later slow start.
            State::Over => self.restart(),
        }
        self.set_rate();
    }

    fn set_window(&mut self, _ack: &Ack, _window: &Window) -> Option<Window> {
        self.exit.take()
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        let starts = (ack.total.delivered as f64) < self.initial;
        let grows = self.state == State::Startup && (starts || window.cwnd * self.smss < self.target());
        Step::Grow(if grows { ack.counted } else { 0.0 })
    }

    fn on_lost(&mut self, lost: &Lost, _window: &Window) {
        self.signals.record_loss(lost.start, lost.end, self.delivered);
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, _usual: &Window) -> Option<Window> {
        let searches = self.state == State::Startup && window.cwnd < window.ssthresh;
        if !searches || !self.selective || event.restart || event.cause != Cause::DupAck {
            self.restart();
            return None;
        }
        self.recovery = Some(self.snd_nxt);
        Some(Window { cwnd: window.cwnd.min(event.window), ssthresh: window.ssthresh })
    }

    fn on_spurious(&mut self) {
        self.recovery = None;
    }

    fn owns_recovery(&self) -> bool {
        self.recovery.is_some()
    }

    fn on_mss(&mut self, smss: Bytes) {
        // Amounts are in bytes, so they do not change.
        self.smss = (smss.0 as f64).max(1.0);
    }

    fn on_restart(&mut self) {
        self.restart();
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        Rate::from_bits_per_sec(libm::ceil(8.0 * self.pacing_rate * (self.smss + self.header) / self.smss) as u64)
    }

    fn burst(&self) -> Bytes {
        Bytes(self.send_quantum() as u64)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let state = match self.state {
            State::Startup => 0.0,
            State::Drain(_) => 1.0,
            State::Over => 2.0,
        };
        out("startup", state);
        out("startup_bw", 8.0 * self.bw);
        out("startup_rate", 8.0 * self.pacing_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{RateSample, Snapshot, Totals};
    use crate::params::Value;
    use crate::testing::{ACK, build, congestion, established, internal, window};
    use crate::units::Instant;

    fn startup(set: &[(&str, Value)]) -> Box<dyn SlowStart> {
        let mut part = build(&ENTRY, set).unwrap();
        let event = established(1000).with(|event| (event.rtt, event.selective) = (Some(Duration::from_millis(100)), true));
        part.on_established(&event, &window(10.0));
        part
    }

    /// An ACK that begins round `round` with a sample of `rate` Mbit/s; each round has delivered 100 segments. Of the packet's flight of 100
    /// segments, `lost` were lost.
    fn sampled(round: u64, rate: u64, inflight: u64, lost: u64) -> Ack {
        let packet = Snapshot { delivered: 100_000 * round, inflight: 100_000, ..Snapshot::new(Instant::ZERO) };
        let sample =
            RateSample { rate: Rate::from_bits_per_sec(rate * 1_000_000), ..RateSample::new(packet, 1000, Duration::from_millis(100)) };
        let total = Totals::new(0, 100_000 * (round + 1), 1000 * lost);
        let rtt = Some(Duration::from_millis(100));
        Ack { total, inflight: 1000 * inflight, sample: Some(sample), rtt, min_rtt: rtt, snd_nxt: 10_000_000, ..ACK }
    }

    fn state(part: &dyn SlowStart) -> f64 {
        internal(|out| part.internals(out), "startup")
    }

    #[test]
    fn it_paces_at_the_gain_from_the_first_packet_on() {
        let mut part = startup(&[]);
        // 2.77 · 10 kB in 0.1 s.
        assert_eq!(part.pacing_rate(&window(10.0)).map(Rate::as_bits_per_sec), Some(2_216_000));
        assert_eq!(part.burst(), Bytes(2000));
        part.observe(&sampled(0, 8, 50, 0), &window(20.0));
        assert_eq!(internal(|out| part.internals(out), "startup_rate"), 2.77 * 0.99 * 8e6);
        part.observe(&sampled(1, 4, 50, 0), &window(20.0));
        assert_eq!(internal(|out| part.internals(out), "startup_rate"), 2.77 * 0.99 * 8e6, "it only rises");
    }

    #[test]
    fn three_rounds_without_a_quarter_more_end_it_and_drain_leaves_the_product() {
        let mut part = startup(&[]);
        for (round, rate, expected) in [(0, 8, 0.0), (1, 10, 0.0), (2, 12, 0.0), (3, 12, 0.0), (4, 12, 1.0)] {
            part.observe(&sampled(round, rate, 400, 0), &window(400.0));
            assert_eq!(state(&*part), expected, "round {round}");
        }
        // 12 Mbit/s for 100 ms are 150 segments.
        assert_eq!(internal(|out| part.internals(out), "startup_rate"), 0.5 * 0.99 * 12e6);
        assert_eq!((part.on_ack(&ACK, &window(400.0)), part.set_window(&ACK, &window(400.0))), (Step::Grow(0.0), None));
        part.observe(&sampled(4, 12, 151, 0), &window(400.0));
        assert_eq!(part.set_window(&ACK, &window(400.0)), None);
        part.observe(&sampled(4, 12, 150, 0), &window(400.0));
        assert_eq!(part.set_window(&ACK, &window(400.0)), Some(Window { cwnd: 150.0, ssthresh: 150.0 }));
        assert_eq!((state(&*part), part.set_window(&ACK, &window(150.0))), (2.0, None));
    }

    #[test]
    fn the_window_grows_to_twice_the_product() {
        let mut part = startup(&[]);
        part.observe(&sampled(0, 8, 50, 0), &window(20.0));
        // 8 Mbit/s for 100 ms are 100 segments; the last ACK brought one more than the rate explains.
        let grows = |part: &mut dyn SlowStart, cwnd: f64| part.on_ack(&sampled(0, 8, 50, 0), &window(cwnd)) == Step::Grow(1.0);
        assert!(grows(&mut *part, 200.0) && !grows(&mut *part, 202.0));
        let mut keep = startup(&[("exit", Value::Word("keep".to_owned()))]);
        for round in 0..4 {
            keep.observe(&sampled(round, 8, 400, 0), &window(300.0));
        }
        assert_eq!(keep.set_window(&ACK, &window(300.0)), Some(Window { cwnd: 300.0, ssthresh: 300.0 }));
    }

    /// Loses six segments that are `apart` from each other, and `lost` of 100 in the flight of a later packet. Returns the state.
    fn lossy(apart: u64, lost: u64) -> f64 {
        let mut part = startup(&[]);
        let window = window(100.0);
        part.observe(&sampled(0, 8, 100, 0), &window);
        let answer = part.respond(&congestion(Cause::DupAck, 100.0), &window, &Window::halved(100.0));
        assert_eq!((answer, part.owns_recovery()), (Some(window), true), "a loss does not reduce the window");
        for segment in 0..6 {
            part.on_lost(&Lost::new(Instant::ZERO, 1000 * apart * segment, 1000 * apart * segment + 1000), &window);
        }
        part.observe(&sampled(1, 16, 400, lost), &window);
        part.observe(&sampled(2, 32, 400, lost), &window);
        state(&*part)
    }

    #[test]
    fn heavy_losses_in_six_places_end_it() {
        assert_eq!([lossy(2, 3), lossy(2, 2), lossy(1, 3)], [1.0, 0.0, 0.0]);
    }

    #[test]
    fn timeouts_and_marks_are_answered_as_usual() {
        for cause in [Cause::Timeout, Cause::EcnCe] {
            let mut part = startup(&[]);
            assert!(part.respond(&congestion(cause, 100.0), &window(100.0), &Window::halved(100.0)).is_none() && !part.owns_recovery());
        }
        let mut part = build(&ENTRY, &[]).unwrap();
        part.on_established(&established(1000), &window(10.0));
        assert!(part.respond(&congestion(Cause::DupAck, 100.0), &window(100.0), &Window::halved(100.0)).is_none(), "without SACK");
    }
}
