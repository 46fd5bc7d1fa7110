//! BBRv3: sends at the measured bandwidth and keeps in flight the data that the path needs for it.
//! ## What it does
//! Models the path by its largest delivery rate and its smallest round-trip time. Pacing rate and window are multiples of both that depend
//! on the state. BBR paces itself, and its own rules replace the host's in loss recovery.
//!
//! - Startup doubles the rate each round until the bandwidth stops growing for three rounds, or losses are heavy.
//! - Drain empties the queue that Startup built.
//! - ProbeBW cruises, and every two to three seconds probes for more bandwidth until a flight loses more than 2 %. The size of that flight
//!   bounds the data in flight from then on (`inflight_longterm`). Losses while cruising reduce short-term bounds by a factor of 0.7.
//! - ProbeRTT halves the data in flight for 200 ms every five seconds, to measure the round-trip time of the empty path.
//! ## References
//! draft-ietf-ccwg-bbr (August 2026, after -06). Cardwell, Cheng, Gunn, Yeganeh & Jacobson, *BBR: congestion-based congestion control*, ACM
//! Queue 14(5), 2016. Constants of Linux: google/bbr, branch v3.
//! ## Differs from the document
//! The draft's pseudocode cannot be meant as printed in these points:
//! - The number of rounds in which Reno would reclaim its flight is the volume divided by SMSS, at most 63.
//! - The draft calls `Inflight()` and `BDPMultiple()` both with and without the bandwidth; here they use `bw`, the bandwidth in force.
//! - The gains depend on the state, as in the draft's table; the `Start…()` functions do not set them.
//! - The pacing rate uses the state's gain; the text names a gain of the connection.
//! - The loss rate of a round in Startup is that of the flight of the packet whose ACK ends the round, application-limited or not.
//! - The headroom while cruising is 0.15 of `inflight_longterm`, as in the text; -02 printed 0.85.
//!
//! Other differences:
//! - The window limits the sender (`C.is_cwnd_limited`) only if the host says so and less than a send quantum of the window was free before
//!   the ACK. A host alone would also count the wait for the pacer as use of the window.
//! - A precautionary stop compares `inflight_longterm` with the flight before the ACK plus one segment, because a flight consists of whole
//!   segments.
//! - `InflightAtLoss` is at least the flight before the packet, even if losses from before the probe already exceed the threshold.
//! - A probing cycle without any sample does not advance the bandwidth filter.
//! - A sample with too short an interval counts in no full-pipe test.
//! - Round-trip times are compared to the nanosecond.
//! - Rates count data without headers. The pacing rate that the host reads is larger by the share of the headers.
//! - As in Linux, `ssthresh` becomes the bandwidth-delay product at the end of Startup, for traces only.
//! - A mark has no effect, because the draft has no response to ECN. A BBR flow should not negotiate ECN.
//!
//! With `constants = "linux"`:
//! - Startup paces at 2.77 + 1/256, Drain at 1/2.885, and `ProbeBW_DOWN` at 0.91.
//! - In Startup the window also grows while it is below two initial windows.
//! - The bandwidth-delay product is rounded up to segments.
//! - The excess of ACKs is stored in two buckets of five rounds, and is at most the data delivered in 100 ms.
//! - The send quantum is rate/1024 plus 64 kB, the latter halved for every 512 µs of the smallest round-trip time.
//!
//! Not modelled from Linux:
//! - the response to ECN, which needs a host that counts marks exactly (AccECN) instead of repeating an echo for a round trip;
//! - the fixed-point rounding of rates;
//! - the repair by a tail loss probe, which is a congestion event of the host here, not a loss of the probe.
//! ## Parameters
//! `constants`: draft; linux as above. `initial_window`: RFC 6928's. `loss_thresh`: 2 %, `beta`: 0.7, `headroom`: 0.15,
//! `startup_full_loss_cnt`: 6, and `probe_rtt_interval`: 5 s, all as in the draft and in Linux. Other stacks use other values.

mod losses;
mod model;
mod phases;
mod settings;
#[cfg(test)]
mod tests;

use crate::cc::contract::{CongestionControl, InitialWindow, Phase, Window};
use crate::cc::initial_window::rfc6928::Rfc6928;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Established, Lost, Sent};
use crate::params::Params;
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

use losses::{Recovery, Undo};
use model::{Acked, Bounds, ExtraAcked, FullPipe, MaxBandwidth, MinRtt, Rounds, Signals};
use phases::{Cycle, State};
use settings::{PARAMS, Settings};

/// This control in the registry.
pub static ENTRY: Entry<dyn CongestionControl> = Entry {
    name: "bbr",
    summary: "BBRv3: paces at the measured bandwidth, and probes for more until a flight loses more than 2 %",
    reference: "draft-ietf-ccwg-bbr",
    params: PARAMS,
    quantities: &[
        quantity("state", "", "0: Startup, 1: Drain, 2: DOWN, 3: CRUISE, 4: REFILL, 5: UP, 6: ProbeRTT"),
        quantity("max_bw", "bit/s", "largest delivery rate in this and the last cycle").on("rate"),
        quantity("bw", "bit/s", "bandwidth in force").on("rate"),
        quantity("pacing_rate", "bit/s", "pacing rate of data, without headers").on("rate"),
        quantity("round_count", "", "round trips counted by deliveries"),
        quantity("extra_acked", "segments", "largest amount acknowledged beyond the bandwidth").on("inflight"),
        quantity("min_rtt", "s", "smallest round-trip time of the last ten seconds"),
        quantity("bw_shortterm", "bit/s", "short-term bound after recent losses, if any").on("rate"),
        quantity("inflight_shortterm", "segments", "short-term bound after recent losses, if any").on("inflight"),
        quantity("inflight_longterm", "segments", "long-term bound: largest flight that lost at most 2 %, once known").on("inflight"),
    ],
    build: |params| Ok(Box::new(Bbr::new(params))),
};

/// Smallest window in segments (draft: `MinPipeCwnd`).
const MIN_PIPE: Segments = 4.0;
/// Share by which the pacing rate stays below the bandwidth (draft: `PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.01;
/// Largest send quantum in bytes.
const MAX_QUANTUM: f64 = 65_536.0;
/// Round-trip time before the first sample (draft, `BBRInitPacingRate`).
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The delivery rate sample of an ACK, in bytes and bytes per second.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Whether the ACK has a sample.
    present: bool,
    /// Zero if the interval was too short.
    rate: f64,
    /// Bytes delivered since the packet was sent.
    delivered: f64,
    prior_delivered: u64,
    /// Bytes in flight when the packet was sent, and bytes lost since then.
    tx_in_flight: f64,
    lost: f64,
    app_limited: bool,
}

impl Sample {
    const NONE: Self =
        Self { present: false, rate: 0.0, delivered: 0.0, prior_delivered: 0, tx_in_flight: 0.0, lost: 0.0, app_limited: false };

    fn of(ack: &Ack) -> Self {
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

/// BBRv3. Amounts are in bytes, rates in bytes per second.
#[derive(Clone, Debug)]
pub struct Bbr {
    settings: Settings,
    random: Generator,
    smss: f64,
    header: f64,
    selective: bool,
    initial_cwnd: f64,
    /// Bytes delivered and the next new position, as of the last event.
    delivered: u64,
    snd_nxt: u64,
    state: State,
    rounds: Rounds,
    max_bw: MaxBandwidth,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    full: FullPipe,
    bounds: Bounds,
    signals: Signals,
    cycle: Cycle,
    /// The round in which Drain began.
    drain_start: u64,
    /// Earliest end of ProbeRTT, set once few packets are in flight.
    probe_rtt_until: Option<Instant>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    recovery: Recovery,
    undo: Option<Undo>,
    cwnd: f64,
    /// The window to which recovery and ProbeRTT return.
    prior_cwnd: f64,
    ssthresh: f64,
    pacing_rate: f64,
}

impl Bbr {
    fn new(params: &Params) -> Self {
        Self {
            settings: Settings::new(params),
            random: Generator::derived(0, "bbr"),
            smss: 1.0,
            header: 0.0,
            selective: true,
            initial_cwnd: 1.0,
            delivered: 0,
            snd_nxt: 0,
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: MaxBandwidth::default(),
            min_rtt: MinRtt::default(),
            extra_acked: ExtraAcked::default(),
            full: FullPipe::default(),
            bounds: Bounds::NONE,
            signals: Signals::default(),
            cycle: Cycle::new(),
            drain_start: 0,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            recovery: Recovery::None,
            undo: None,
            cwnd: 1.0,
            prior_cwnd: 0.0,
            ssthresh: f64::INFINITY,
            pacing_rate: 0.0,
        }
    }

    /// Draft, `BBRUpdateModelAndState`.
    fn update_model(&mut self, ack: &Ack, sample: &Sample) {
        self.rounds.start = false;
        self.signals.round_start = false;
        if sample.present {
            self.signals.update(sample.prior_delivered, self.delivered, sample.rate, sample.delivered);
            self.rounds.update(sample.prior_delivered, self.delivered);
            self.cycle.rounds_since_probe += u64::from(self.rounds.start);
            if sample.rate > 0.0 && (sample.rate >= self.max_bw.get() || !sample.app_limited) {
                self.max_bw.update(sample.rate);
            }
        }
        self.adapt_lower_bounds();
        self.update_extra_acked(ack);
        if self.rounds.start && !sample.app_limited && sample.rate > 0.0 {
            self.full.check(sample.rate);
        }
        self.check_startup_done(sample);
        self.check_drain_done(ack);
        self.update_cycle(ack, sample);
        self.min_rtt.update(ack.now, ack.rtt, self.settings.probe_rtt_interval);
        self.check_probe_rtt(ack);
        self.signals.advance(sample.rate, sample.delivered);
    }

    fn update_extra_acked(&mut self, ack: &Ack) {
        let bw = self.bw();
        // Linux: at most the data delivered in 100 ms.
        let cap = if self.settings.linux { self.cwnd.min(0.1 * bw) } else { self.cwnd };
        let window = self.settings.aggregation(self.full.reached);
        self.extra_acked.update((ack.now, self.rounds.count), Acked { bytes: ack.delivered as f64, bw, cap }, window);
    }

    /// The bandwidth in force (draft, `BBRBoundBWForModel`).
    fn bw(&self) -> f64 {
        self.max_bw.get().min(self.bounds.bw_shortterm)
    }

    fn bdp(&self) -> f64 {
        self.min_rtt.min.map_or(0.0, |rtt| self.bw() * rtt.as_secs_f64())
    }

    /// Draft, `BBRBDPMultiple`.
    fn bdp_multiple(&self, gain: f64) -> f64 {
        if self.min_rtt.min.is_none() {
            return self.initial_cwnd;
        }
        let volume = gain * self.bdp();
        // Linux computes in segments.
        if self.settings.linux { libm::ceil(volume / self.smss) * self.smss } else { volume }
    }

    /// Draft, `BBRQuantizationBudget`: the data needed to keep the sender's and the receiver's batches busy.
    fn quantise(&self, inflight: f64) -> f64 {
        let least = inflight.max(3.0 * self.send_quantum()).max(self.min_pipe());
        if self.state == State::Up { least + 2.0 * self.smss } else { least }
    }

    /// Draft, `BBRInflight`.
    fn inflight(&self, gain: f64) -> f64 {
        self.quantise(self.bdp_multiple(gain))
    }

    /// Draft, `BBRTargetInflight`.
    fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm.is_infinite() { longterm } else { (longterm - self.smss.max(self.settings.headroom * longterm)).max(self.min_pipe()) }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(State::ProbeRtt.cwnd_gain()).max(self.min_pipe())
    }

    fn min_pipe(&self) -> f64 {
        MIN_PIPE * self.smss
    }

    /// Whether the window limits the sender, rather than the pacing rate.
    fn is_cwnd_limited(&self, ack: &Ack) -> bool {
        ack.cwnd_limited && ack.inflight_before as f64 + self.send_quantum() > self.cwnd
    }

    /// Draft, `BBRSetPacingRateWithGain`.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * (1.0 - PACING_MARGIN);
        if self.full.reached && rate > 0.0 || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Draft, `BBRSetSendQuantum`.
    fn send_quantum(&self) -> f64 {
        let quantum = if self.settings.linux {
            let halvings = self.min_rtt.min.map_or(0.0, |rtt| libm::floor(rtt.as_secs_f64() / 512e-6));
            self.pacing_rate / 1024.0 + libm::ldexp(MAX_QUANTUM, -(halvings.min(64.0) as i32))
        } else {
            self.pacing_rate * 1e-3
        };
        quantum.min(MAX_QUANTUM).max(2.0 * self.smss)
    }

    /// Draft, `BBRSetCwnd`.
    fn set_cwnd(&mut self, ack: &Ack) {
        let target = self.quantise(self.bdp_multiple(self.state.cwnd_gain()) + self.extra_acked.max);
        let acked = ack.delivered as f64;
        let starts = (self.delivered as f64) < self.initial_cwnd || self.settings.linux && self.cwnd < 2.0 * self.initial_cwnd;
        if self.full.reached {
            self.cwnd = (self.cwnd + acked).min(target);
        } else if self.cwnd < target || starts {
            self.cwnd += acked;
        }
        self.cwnd = self.cwnd.max(self.min_pipe());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd();
    }

    /// Draft, `BBRBoundCwndForModel`.
    fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.bounds.inflight_shortterm).max(self.min_pipe()));
    }
}

impl CongestionControl for Bbr {
    fn on_established(&mut self, event: &Established) {
        self.random = Generator::derived(event.seed, "bbr");
        (self.smss, self.header) = (event.smss.0 as f64, event.header.0 as f64);
        self.selective = event.selective;
        self.initial_cwnd = self.settings.initial_window.unwrap_or_else(|| Rfc6928.segments(event)) * self.smss;
        self.cwnd = self.initial_cwnd;
        self.min_rtt = MinRtt::new(event.now, event.rtt);
        self.extra_acked.restart(event.now);
        let rtt = event.rtt.unwrap_or(NOMINAL_RTT).max(Duration::NANOSECOND);
        self.pacing_rate = self.settings.pacing_gain(State::Startup) * self.initial_cwnd / rtt.as_secs_f64();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.snd_nxt = sent.snd_nxt;
        // Draft, `BBRHandleRestartFromIdle`.
        if sent.inflight > sent.size || !sent.app_limited {
            return;
        }
        self.idle_restart = true;
        self.extra_acked.restart(sent.now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(sent.now);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.delivered = ack.total.delivered;
        self.snd_nxt = ack.snd_nxt;
        if self.recovery.ends_at(ack.snd_una) {
            self.end_recovery();
        }
        self.update_model(ack, &Sample::of(ack));
        self.set_pacing_rate(self.settings.pacing_gain(self.state));
        self.set_cwnd(ack);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.handle_lost(lost);
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.begin_recovery(event);
    }

    fn on_restart(&mut self) {
        self.save_cwnd();
        self.recovery = Recovery::Timeout(self.snd_nxt);
        self.cwnd = self.smss;
    }

    fn on_recovery_end(&mut self, _now: Instant) {
        self.end_recovery();
    }

    fn on_spurious(&mut self, _now: Instant) {
        self.undo_losses();
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
        Bytes(self.send_quantum() as u64)
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn phase(&self) -> Phase {
        if self.state == State::Startup { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let segments = |bytes: f64| bytes / self.smss;
        out("state", f64::from(self.state as u8));
        out("max_bw", 8.0 * self.max_bw.get());
        out("bw", 8.0 * self.bw());
        out("pacing_rate", 8.0 * self.pacing_rate);
        out("round_count", self.rounds.count as f64);
        out("extra_acked", segments(self.extra_acked.max));
        if let Some(rtt) = self.min_rtt.min {
            out("min_rtt", rtt.as_secs_f64());
        }
        let Bounds { bw_shortterm, inflight_shortterm, inflight_longterm } = self.bounds;
        let bounds = [
            ("bw_shortterm", 8.0 * bw_shortterm),
            ("inflight_shortterm", segments(inflight_shortterm)),
            ("inflight_longterm", segments(inflight_longterm)),
        ];
        for (name, bound) in bounds.into_iter().filter(|(_, bound)| bound.is_finite()) {
            out(name, bound);
        }
    }
}
