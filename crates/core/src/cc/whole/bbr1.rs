//! BBR version 1: sends at the measured bandwidth, whatever is lost.
//! ## What it does
//! Models the path by its largest delivery rate of ten round trips and its smallest round-trip time of ten seconds, and paces at a multiple of
//! that rate. Losses change nothing in the model, except if a policer causes them.
//!
//! - Startup doubles the rate each round until the bandwidth has failed to grow by a quarter for three rounds.
//! - Drain empties the queue that Startup built.
//! - ProbeBW cycles through eight phases of a round trip each: it paces at 1.25 to probe, at 0.75 to drain, and at 1 in six phases.
//! - ProbeRTT leaves four packets in flight for 200 ms when the smallest round-trip time is ten seconds old.
//! - For a round after the beginning of recovery, each delivered packet lets one leave (packet conservation).
//! - The detector of policers compares intervals of at least four rounds that start and end with a loss and lose a fifth. If two in a row deliver
//!   at the same rate, BBR paces at their mean for 48 rounds.
//! - What ACKs deliver beyond the bandwidth within five to ten rounds is added to the window, up to 100 ms of the bandwidth.
//! ## References
//! Cardwell, Cheng, Gunn, Yeganeh & Jacobson, *BBR: congestion-based congestion control*, ACM Queue 14(5), 2016.
//! draft-cardwell-iccrg-bbr-congestion-control-00 (2017); draft-cheng-iccrg-delivery-rate-estimation-00 (2017). Constants of Linux 4.9 to 6.12.
//! ## Differs from the document
//! As in Linux, and not in the draft:
//! - The pacing rate stays 1 % below the bandwidth. Gains are multiples of 1/256: Startup's is 739/256 = 2.887, Drain's 88/256.
//! - The bandwidth-delay product is rounded up to segments. The window is even, and larger by two segments in the phase that probes.
//! - The policer's detector and the excess of ACKs are in no draft of version 1.
//! - The flight that ends a phase or Drain is that at the time at which the pacer sends next, not that at the ACK. While the gain exceeds 1, it
//!   includes the next burst.
//! - A timeout leaves the window that the host leaves, and restarts the full-pipe test, as does an undo.
//!
//! These rules follow descriptions, not the source of Linux; the multiples of 1/256, and that the pacer's own time decides what is in flight when
//! it sends next, are inferred from the behaviour of Linux 6.12. A comparison in virtual time agrees on what is delivered, and on the drops of
//! most paths (docs/concepts/bbr.md).
//!
//! Other differences:
//! - Times are not rounded to ticks of the kernel's clock, and rates not to fixed-point numbers.
//! - A lone segment of less than the maximum size gives a round-trip time like any other, though its ACK may have been delayed.
//! - `ssthresh` becomes the bandwidth-delay product at the end of Startup, for traces only.
//! - A mark has no effect. A BBR flow should not negotiate ECN.
//! ## Parameters
//! `initial_window`: RFC 6928's. `high_gain`: 739/256 (the draft's is 2/ln 2 = 2.885). `cwnd_gain`: 2, `min_rtt_filter`: 10 s.
//! `policer` and `aggregation` switch the two mechanisms that no draft has; both are on.

mod policer;
#[cfg(test)]
mod tests;

use self::policer::{Facts, Policer};
use crate::cc::bbr_model::{Acked, Aggregation, ExtraAcked, FullPipe, MAX_QUANTUM, NOMINAL_RTT, Recovery, Rounds, Sample, linux_quantum};
use crate::cc::contract::{CongestionControl, InitialWindow, Phase, Wants, Window};
use crate::cc::initial_window::rfc6928::Rfc6928;
use crate::cc::whole::INITIAL_WINDOW;
use crate::cc::windowed::Windowed;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, Lost, Sent, Totals};
use crate::params::{Default, Kind, Param, Params};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate};

/// This control in the registry.
pub static ENTRY: Entry<dyn CongestionControl> = Entry {
    name: "bbr1",
    summary: "BBRv1 of Linux: paces at the measured bandwidth, probes in cycles of eight rounds, and ignores losses",
    reference: "Cardwell et al. 2016",
    params: PARAMS,
    quantities: &[
        quantity("state", "", "0: Startup, 1: Drain, 2: ProbeBW, 3: ProbeRTT"),
        quantity("max_bw", "bit/s", "largest delivery rate of ten rounds").on("rate"),
        quantity("bw", "bit/s", "bandwidth in force: the policer's, if one is detected").on("rate"),
        quantity("pacing_rate", "bit/s", "pacing rate of data, without headers").on("rate"),
        quantity("pacing_gain", "", "pacing rate over bandwidth, before the margin of 1 %"),
        quantity("round_count", "", "round trips counted by deliveries"),
        quantity("extra_acked", "segments", "largest amount acknowledged beyond the bandwidth").on("inflight"),
        quantity("min_rtt", "s", "smallest round-trip time of the last ten seconds"),
    ],
    build: |params| Ok(Box::new(Bbr1::new(params))),
};

const PARAMS: &[Param] = &[
    INITIAL_WINDOW,
    Param {
        name: "high_gain",
        kind: Kind::Number { min: 1.1, max: 10.0 },
        default: Default::Number(739.0 / UNIT),
        doc: "gain of pacing rate and window in Startup; Drain paces at its inverse, rounded down to 1/256 (Linux: 739/256)",
    },
    Param {
        name: "cwnd_gain",
        kind: Kind::Number { min: 1.0, max: 10.0 },
        default: Default::Number(2.0),
        doc: "window over the bandwidth-delay product in ProbeBW (2)",
    },
    Param {
        name: "min_rtt_filter",
        kind: Kind::Duration { min: 0.1, max: 1e6 },
        default: Default::Number(10.0),
        doc: "RTpropFilterLen: age of the smallest round-trip time at which ProbeRTT measures it again (10 s)",
    },
    Param { name: "policer", kind: Kind::Bool, default: Default::Bool(true), doc: "detect a policer, and pace at its rate (Linux: true)" },
    Param {
        name: "aggregation",
        kind: Kind::Bool,
        default: Default::Bool(true),
        doc: "add to the window what ACKs deliver beyond the bandwidth (Linux: true, since 5.1)",
    },
];

/// What Linux counts gains in: 1/256.
const UNIT: f64 = 256.0;
/// Smallest window in segments (draft: `BBRMinPipeCwnd`).
const MIN_PIPE: f64 = 4.0;
/// Share by which the pacing rate stays below the bandwidth.
const PACING_MARGIN: f64 = 0.01;
/// Rounds for which a bandwidth is remembered (draft: `BtlBwFilterLen`).
const BW_ROUNDS: f64 = 10.0;
/// Pacing gains of ProbeBW's phases, of which the first probes.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Time with few packets in flight, in which the round-trip time is measured (draft: `ProbeRTTDuration`).
const PROBE_RTT_DURATION: Duration = Duration::from_millis(200);
/// Memory of the filter for the excess of ACKs.
const AGGREGATION: Aggregation = Aggregation { slots: 2, rounds: 5 };
/// Time in seconds whose bandwidth bounds the excess.
const MAX_EXCESS: f64 = 0.1;
/// Rate in bytes per second below which single segments leave: 1.2 Mbit/s.
const SLOW: f64 = 150_000.0;
/// Most segments in a burst.
const MAX_BURST: f64 = 127.0;

/// The states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    /// In segments; `None` for RFC 6928's.
    initial_window: Option<f64>,
    high_gain: f64,
    cwnd_gain: f64,
    min_rtt_filter: Duration,
    policer: bool,
    aggregation: bool,
}

/// BBRv1. Amounts are in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Bbr1 {
    settings: Settings,
    random: Generator,
    smss: f64,
    header: f64,
    initial_cwnd: f64,
    /// Totals and the next new position, as of the last event.
    total: Totals,
    snd_nxt: u64,
    state: State,
    rounds: Rounds,
    max_bw: Windowed,
    min_rtt: Option<Duration>,
    min_rtt_stamp: Instant,
    extra_acked: ExtraAcked,
    full: FullPipe,
    policer: Policer,
    /// The gain in force.
    pacing_gain: f64,
    /// The phase of ProbeBW, and its start.
    phase: usize,
    phase_stamp: Instant,
    /// Earliest end of ProbeRTT, set once few packets are in flight.
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    recovery: Recovery,
    /// Whether recovery has begun since the last ACK.
    enters_recovery: bool,
    /// Whether only as much may leave as was delivered.
    conserves: bool,
    /// Bytes declared lost at this time.
    lost: (Instant, f64),
    cwnd: f64,
    /// The window to which recovery and ProbeRTT return.
    prior_cwnd: f64,
    ssthresh: f64,
    pacing_rate: f64,
}

impl Bbr1 {
    fn new(params: &Params) -> Self {
        let settings = Settings {
            initial_window: params.number_or_auto("initial_window"),
            high_gain: params.number("high_gain"),
            cwnd_gain: params.number("cwnd_gain"),
            min_rtt_filter: Duration::from_secs_f64(params.number("min_rtt_filter")),
            policer: params.flag("policer"),
            aggregation: params.flag("aggregation"),
        };
        Self {
            settings,
            random: Generator::derived(0, "bbr1"),
            smss: 1.0,
            header: 0.0,
            initial_cwnd: 1.0,
            total: Totals::default(),
            snd_nxt: 0,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: Windowed::new(0.0, 0.0),
            min_rtt: None,
            min_rtt_stamp: Instant::ZERO,
            extra_acked: ExtraAcked::default(),
            full: FullPipe::default(),
            policer: Policer::default(),
            pacing_gain: settings.high_gain,
            phase: 0,
            phase_stamp: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            recovery: Recovery::None,
            enters_recovery: false,
            conserves: false,
            lost: (Instant::ZERO, 0.0),
            cwnd: 1.0,
            prior_cwnd: 0.0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
        }
    }

    /// The bandwidth in force.
    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.max_bw.get())
    }

    /// The bandwidth-delay product at bandwidth `bw`, times `gain`, in whole segments.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_cwnd, |rtt| libm::ceil(gain * bw * rtt.as_secs_f64() / self.smss) * self.smss)
    }

    /// Segments in a burst (Linux: `tso_segs_goal`).
    fn burst_goal(&self) -> f64 {
        let least = if self.pacing_rate < SLOW { 1.0 } else { 2.0 };
        libm::floor((self.pacing_rate / 1024.0).min(MAX_QUANTUM) / self.smss).max(least).min(MAX_BURST)
    }

    /// Adds the segments that keep both hosts' batches busy, and rounds up to an even number.
    fn quantise(&self, volume: f64) -> f64 {
        let segments = volume / self.smss + 3.0 * self.burst_goal();
        let even = 2.0 * libm::ceil(segments / 2.0);
        let probing = self.state == State::ProbeBw && self.phase == 0;
        (if probing { even + 2.0 } else { even }) * self.smss
    }

    /// Draft, `BBRInflight`.
    fn inflight(&self, gain: f64) -> f64 {
        self.quantise(self.bdp(self.max_bw.get(), gain))
    }

    /// The flight when the pacer sends next, if it is `inflight` at the ACK.
    fn at_departure(&self, inflight: u64, ack: &Ack) -> f64 {
        let wait = ack.release.since(ack.now).as_secs_f64();
        let burst = if self.pacing_gain > 1.0 { self.burst_goal() * self.smss } else { 0.0 };
        // Whole segments will have been delivered by then.
        let delivered = libm::floor(self.bw() * wait / self.smss) * self.smss;
        (inflight as f64 + burst - delivered).max(0.0)
    }

    /// Updates the model of the path, and the state. `lost`: bytes that the ACK shows to be lost.
    fn update_model(&mut self, ack: &Ack, lost: f64) {
        self.update_bandwidth(ack, lost);
        self.update_extra_acked(ack);
        if self.state == State::ProbeBw && self.is_phase_over(ack, lost) {
            self.next_phase(ack.now);
        }
        if !self.full.reached && self.rounds.start && !ack.app_limited() {
            self.full.check(self.max_bw.get());
        }
        self.check_drain(ack);
        self.update_min_rtt(ack);
        self.pacing_gain = self.gain();
    }

    fn gain(&self) -> f64 {
        match self.state {
            State::Startup => self.settings.high_gain,
            State::Drain => libm::floor(UNIT / self.settings.high_gain) / UNIT,
            State::ProbeBw if self.policer.rate().is_none() => CYCLE[self.phase],
            State::ProbeBw | State::ProbeRtt => 1.0,
        }
    }

    fn update_bandwidth(&mut self, ack: &Ack, lost: f64) {
        self.rounds.start = false;
        let sample = Sample::of(ack);
        if sample.rate <= 0.0 {
            return;
        }
        self.rounds.update(sample.prior_delivered, self.total.delivered);
        self.conserves &= !self.rounds.start;
        self.detect_policer(ack.now, lost > 0.0, sample.app_limited);
        if !sample.app_limited || sample.rate >= self.max_bw.get() {
            self.max_bw.update(BW_ROUNDS, self.rounds.count as f64, sample.rate);
        }
    }

    fn detect_policer(&mut self, now: Instant, lost: bool, app_limited: bool) {
        if !self.settings.policer {
            return;
        }
        let facts = Facts { now, total: self.total, lost, app_limited, round: self.rounds.start, cruises: self.state == State::ProbeBw };
        if self.policer.update(&facts) {
            self.start_probe_bw(now);
        }
    }

    fn update_extra_acked(&mut self, ack: &Ack) {
        if self.settings.aggregation && ack.delivered > 0 && ack.sample.is_some() {
            let acked = Acked { bytes: ack.delivered as f64, bw: self.bw(), cap: self.cwnd };
            self.extra_acked.update((ack.now, self.rounds.count), acked, AGGREGATION);
        }
    }

    /// Draft, `BBRIsNextCyclePhase`.
    fn is_phase_over(&self, ack: &Ack, lost: f64) -> bool {
        let full = self.min_rtt.is_none_or(|rtt| ack.now > self.phase_stamp + rtt);
        let inflight = self.at_departure(ack.inflight_before, ack);
        if self.pacing_gain > 1.0 {
            // Longer than a round trip, if needed, to fill a path with a small bandwidth-delay product.
            full && (lost > 0.0 || inflight >= self.inflight(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            full || inflight <= self.inflight(1.0)
        } else {
            full
        }
    }

    fn next_phase(&mut self, now: Instant) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_stamp = now;
    }

    /// ProbeBW begins with any phase except the one that drains.
    fn start_probe_bw(&mut self, now: Instant) {
        self.state = State::ProbeBw;
        let skipped = (7.0 * self.random.uniform()) as usize;
        self.phase = CYCLE.len() - 1 - skipped.min(6);
        self.next_phase(now);
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.full.reached {
            self.state = State::Drain;
            self.ssthresh = self.inflight(1.0);
        }
        if self.state == State::Drain && self.at_departure(ack.inflight, ack) <= self.inflight(1.0) {
            self.start_probe_bw(ack.now);
        }
    }

    fn update_min_rtt(&mut self, ack: &Ack) {
        let expired = ack.now > self.min_rtt_stamp + self.settings.min_rtt_filter;
        // Round-trip times are differences of sums, so equal ones may differ by rounding.
        if let Some(rtt) = ack.rtt
            && (expired || self.min_rtt.is_none_or(|least| rtt + Duration::NANOSECOND < least))
        {
            (self.min_rtt, self.min_rtt_stamp) = (Some(rtt), ack.now);
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.state == State::ProbeRtt {
            if self.probe_rtt_until.is_none() {
                if ack.inflight as f64 <= MIN_PIPE * self.smss {
                    self.probe_rtt_until = Some(ack.now + PROBE_RTT_DURATION);
                    self.probe_rtt_round_done = false;
                    self.rounds.restart(self.total.delivered);
                }
            } else {
                self.probe_rtt_round_done |= self.rounds.start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(ack.now);
                }
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full.reached {
            self.start_probe_bw(now);
        } else {
            self.state = State::Startup;
        }
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * (1.0 - PACING_MARGIN);
        if self.full.reached && rate > 0.0 || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Draft, `BBRSetCwnd`.
    fn set_cwnd(&mut self, ack: &Ack, lost: f64) {
        let acked = ack.delivered as f64;
        let entered = std::mem::take(&mut self.enters_recovery);
        if acked > 0.0 {
            self.cwnd = (self.cwnd - lost).max(self.smss);
            if entered && self.recovery.is_fast() {
                self.conserves = true;
                self.rounds.restart(self.total.delivered);
                self.cwnd = ack.inflight as f64 + acked;
            }
            if self.conserves {
                self.cwnd = self.cwnd.max(ack.inflight as f64 + acked);
            } else {
                let gain = if matches!(self.state, State::Startup | State::Drain) { self.settings.high_gain } else { self.cwnd_gain() };
                let target = self.quantise(self.bdp(self.bw(), gain) + self.excess());
                if self.full.reached {
                    self.cwnd = (self.cwnd + acked).min(target);
                } else if self.cwnd < target || (self.total.delivered as f64) < self.initial_cwnd {
                    self.cwnd += acked;
                }
                self.cwnd = self.cwnd.max(MIN_PIPE * self.smss);
            }
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE * self.smss);
        }
    }

    fn cwnd_gain(&self) -> f64 {
        if self.state == State::ProbeRtt { 1.0 } else { self.settings.cwnd_gain }
    }

    /// What is added to the window for the excess of ACKs.
    fn excess(&self) -> f64 {
        if !self.full.reached {
            return 0.0;
        }
        libm::floor(self.extra_acked.max.min(MAX_EXCESS * self.bw()) / self.smss) * self.smss
    }

    fn save_cwnd(&mut self) {
        let normal = self.recovery == Recovery::None && self.state != State::ProbeRtt;
        self.prior_cwnd = if normal { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    fn end_recovery(&mut self) {
        if self.recovery != Recovery::None {
            self.recovery = Recovery::None;
            (self.conserves, self.enters_recovery) = (false, false);
            self.cwnd = self.cwnd.max(self.prior_cwnd);
        }
    }

    /// A timer expired: `cwnd` segments remain.
    fn time_out(&mut self, now: Instant, cwnd: f64) {
        self.save_cwnd();
        self.recovery = Recovery::Timeout(self.snd_nxt);
        self.enters_recovery = false;
        self.full.restart(0.0);
        self.rounds.start = true;
        self.detect_policer(now, true, false);
        self.cwnd = cwnd * self.smss;
    }
}

impl CongestionControl for Bbr1 {
    fn on_established(&mut self, event: &Established) {
        self.random = Generator::derived(event.seed, "bbr1");
        (self.smss, self.header) = (event.smss.0 as f64, event.header.0 as f64);
        self.initial_cwnd = self.settings.initial_window.unwrap_or_else(|| Rfc6928.segments(event)) * self.smss;
        self.cwnd = self.initial_cwnd;
        (self.min_rtt, self.min_rtt_stamp) = (event.rtt, event.now);
        self.extra_acked.restart(event.now);
        let rtt = event.rtt.unwrap_or(NOMINAL_RTT).max(Duration::NANOSECOND);
        self.pacing_rate = self.settings.high_gain * self.initial_cwnd / rtt.as_secs_f64() * (1.0 - PACING_MARGIN);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.snd_nxt = sent.snd_nxt;
        // Draft, `BBRHandleRestartFromIdle`.
        if sent.inflight <= sent.size && sent.app_limited {
            self.idle_restart = true;
            self.extra_acked.restart(sent.now);
            if self.state == State::ProbeBw {
                self.set_pacing_rate(1.0);
            } else if self.state == State::ProbeRtt {
                self.check_probe_rtt_done(sent.now);
            }
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        (self.total, self.snd_nxt) = (ack.total, ack.snd_nxt);
        if self.recovery.ends_at(ack.snd_una) {
            self.end_recovery();
        }
        // What a timer found to be lost does not count as news of the ACK.
        let lost = if self.lost.0 == ack.now { self.lost.1 } else { 0.0 };
        self.lost = (ack.now, 0.0);
        self.update_model(ack, lost);
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(ack, lost);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.total = lost.total;
        if self.lost.0 != lost.now {
            self.lost = (lost.now, 0.0);
        }
        self.lost.1 += (lost.end - lost.start) as f64;
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.cause {
            Cause::EcnCe => {}
            Cause::DupAck => {
                self.save_cwnd();
                self.enters_recovery = !self.recovery.is_fast();
                self.recovery = Recovery::Fast(self.snd_nxt);
            }
            Cause::Timeout => self.time_out(event.now, event.loss_window),
        }
    }

    fn on_restart(&mut self) {
        self.save_cwnd();
        self.recovery = Recovery::Timeout(self.snd_nxt);
        self.cwnd = self.smss;
    }

    fn on_recovery_end(&mut self, _now: Instant) {
        self.end_recovery();
    }

    fn on_spurious(&mut self, now: Instant) {
        self.full.restart(0.0);
        self.policer.reset(now, self.total);
        self.end_recovery();
    }

    fn on_mss(&mut self, smss: Bytes) {
        // Amounts are in bytes, so they do not change.
        self.smss = (smss.0 as f64).max(1.0);
    }

    fn window(&self) -> Window {
        Window { cwnd: (self.cwnd / self.smss).max(1.0), ssthresh: (self.ssthresh / self.smss).max(2.0) }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Rate::from_bits_per_sec(libm::ceil(8.0 * self.pacing_rate * (self.smss + self.header) / self.smss) as u64)
    }

    fn burst(&self) -> Bytes {
        let segments = libm::floor(linux_quantum(self.pacing_rate, self.min_rtt).min(MAX_QUANTUM) / self.smss);
        Bytes((segments.max(self.burst_goal()) * (self.smss + self.header)) as u64)
    }

    fn paces_in_blocks(&self) -> bool {
        true
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn owns_marks(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn wants(&self) -> Wants {
        Wants::SAMPLES
    }

    fn phase(&self) -> Phase {
        if self.state == State::Startup { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("state", f64::from(self.state as u8));
        out("max_bw", 8.0 * self.max_bw.get());
        out("bw", 8.0 * self.bw());
        out("pacing_rate", 8.0 * self.pacing_rate);
        out("pacing_gain", self.pacing_gain);
        out("round_count", self.rounds.count as f64);
        out("extra_acked", self.extra_acked.max / self.smss);
        if let Some(rtt) = self.min_rtt {
            out("min_rtt", rtt.as_secs_f64());
        }
    }
}
