//! Copa: keeps 1/δ packets in the queue, and more against flows that fill it.
//! ## What it does
//! Compares its rate, `cwnd` over the standing round-trip time, with the target 1/(δ·dq). Here dq is the queueing delay: the standing
//! round-trip time, the smallest of the last half round trip, less the smallest of ten seconds. Each ACK moves the window towards the target by
//! v/(δ·cwnd). The velocity v is 1, and doubles each round once the window has moved in one direction for three rounds.
//!
//! - Slow start doubles the window each round until its rate exceeds the target.
//! - In the default mode, δ is 0.5: a flow has two packets in the queue on average, and the queue empties about every five round trips.
//! - If the queue has not been nearly empty for five round trips, another flow fills it. In this competitive mode 1/δ grows by one each round, and
//!   halves when a packet is lost.
//! - Segments are paced at two windows per standing round-trip time.
//! ## References
//! Arun & Balakrishnan, *Copa: practical delay-based congestion control for the Internet*, NSDI 2018, §2 and §3. Its authors' genericCC
//! (`markoviancc.cc`); mvfst (`Copa.cpp`).
//! ## Differs from the document
//! The paper leaves these points open, as far as descriptions of it tell; its text was not compared:
//! - The window has at least two segments, as in genericCC and mvfst.
//! - The velocity is at most δ·`cwnd`, as in genericCC, so that the window changes by itself at most in a round trip. It returns to 1 as soon as
//!   an ACK moves the window in the other direction, as in mvfst. Without both, a flow alone can swing between half and all of what path and
//!   queue hold, because a velocity of one direction acts in the other for up to a round trip.
//! - The queue counts as empty when slow start ends, whose overshoot would otherwise look like that of another flow.
//! - A window that does not limit the sender does not grow.
//! - In the default mode, losses do not change the window. A timeout leaves the host's loss window, and slow start begins again.
//! - A queue that has never held a packet counts as nearly empty.
//! - Minima and maxima of round-trip times are kept in filters of three values: those of old ones may be forgotten early.
//!
//! The test for a nearly empty queue is on the edge if several Copa flows share a queue. Their swings may cancel out and leave a packet or two
//! in it, so that each takes the others for a flow that fills it. `competitive = false` shows what they do without that.
//!
//! With `variant = "genericcc"`:
//! - The smallest round-trip time is that of 20 of itself, if these are longer than ten seconds. The mode changes after four round trips.
//! - The velocity grows by 0.005 after the first round in one direction, and doubles after each other.
//! - A loss multiplies the window by 0.7, once per recovery. genericCC's filter, which ignores rare losses, is not modelled, nor is the random
//!   part of its pauses between packets.
//!
//! With `variant = "mvfst"`:
//! - δ is 0.05, and there is no competitive mode.
//! - The velocity doubles for the first time after four rounds in one direction.
//! - Slow start doubles the window at once, every smoothed round-trip time. Pacing uses the smoothed round-trip time, too.
//!
//! The variants follow descriptions of the two implementations; no run of either was compared.
//! ## Parameters
//! `variant`: paper; genericcc or mvfst as above. `delta`: 0.5 (mvfst: 0.05). `competitive`: true; mvfst has no
//! competitive mode. `initial_window`: RFC 6928's. `min_rtt_filter`: 10 s.

#[cfg(test)]
mod tests;

use crate::cc::contract::{CongestionControl, InitialWindow, Phase, Window};
use crate::cc::initial_window::rfc6928::Rfc6928;
use crate::cc::whole::INITIAL_WINDOW;
use crate::cc::windowed::Windowed;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Rate, Segments};

/// This control in the registry.
pub static ENTRY: Entry<dyn CongestionControl> = Entry {
    name: "copa",
    summary: "Copa: keeps 1/δ packets in the queue, and more against flows that fill it",
    reference: "Arun & Balakrishnan 2018",
    params: PARAMS,
    quantities: &[
        quantity("standing_rtt", "s", "smallest round-trip time of the last half round trip"),
        quantity("min_rtt", "s", "smallest round-trip time of the last ten seconds"),
        quantity("velocity", "", "velocity v"),
        quantity("delta", "", "δ in force: a flow aims for 1/δ packets in the queue"),
        quantity("target", "segments", "target rate times the standing round-trip time, if the queue has a delay").on("window"),
        quantity("mode", "", "0: default, 1: competitive"),
    ],
    build: |params| Ok(Box::new(Copa::new(params))),
};

const PARAMS: &[Param] = &[
    Param {
        name: "variant",
        kind: Kind::Word(&["paper", "genericcc", "mvfst"]),
        default: Default::Word("paper"),
        doc: "rules of the paper, of its authors' genericCC, or of Meta's mvfst",
    },
    Param {
        name: "delta",
        kind: Kind::Number { min: 1e-3, max: 1.0 },
        default: Default::Auto,
        doc: "δ of the default mode, and largest δ of the competitive mode; auto is 0.5, and 0.05 in mvfst",
    },
    Param {
        name: "competitive",
        kind: Kind::Bool,
        default: Default::Bool(true),
        doc: "whether δ adapts to flows that fill the queue; mvfst's never does",
    },
    INITIAL_WINDOW,
    Param {
        name: "min_rtt_filter",
        kind: Kind::Duration { min: 0.1, max: 1e6 },
        default: Default::Number(10.0),
        doc: "age after which a smallest round-trip time is forgotten (10 s)",
    },
];

/// Smallest window in segments.
const LEAST: Segments = 2.0;
/// Share of the range of round-trip times below which the queue is nearly empty.
const NEARLY_EMPTY: f64 = 0.1;
/// Round trips whose largest round-trip time counts.
const MAX_RTTS: f64 = 4.0;
/// Windows per round-trip time at which segments are paced.
const PACING: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Paper,
    GenericCc,
    Mvfst,
}

/// Copa. Windows are in segments, times in seconds.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub struct Copa {
    variant: Variant,
    competes: bool,
    initial_window: Option<Segments>,
    min_rtt_filter: f64,
    /// δ of the default mode, and the one in force.
    default_delta: f64,
    delta: f64,
    smss: f64,
    header: f64,
    cwnd: Segments,
    ssthresh: Segments,
    slow_start: bool,
    times: Option<Times>,
    velocity: f64,
    /// Whether the window grew in the last round, and the rounds for which it has moved in that direction.
    up: bool,
    alike: u32,
    /// The window at the start of the round, and the position whose acknowledgement ends it.
    began_with: Segments,
    round_end: u64,
    /// Whether a loss was detected in the round.
    lost: bool,
    /// When the queue was last nearly empty.
    emptied: f64,
    competing: bool,
    /// When slow start last doubled the window (mvfst).
    doubled: Option<f64>,
}

/// Round-trip times in seconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    smoothed: f64,
    /// Of negative round-trip times, whose largest is the smallest.
    standing: Windowed,
    least: Windowed,
    most: Windowed,
}

impl Times {
    fn new(now: f64, rtt: f64) -> Self {
        Self { smoothed: rtt, standing: Windowed::new(now, -rtt), least: Windowed::new(now, -rtt), most: Windowed::new(now, rtt) }
    }

    fn update(&mut self, now: f64, rtt: f64, smoothed: f64, filter: f64) {
        self.smoothed = smoothed;
        self.standing.update(smoothed / 2.0, now, -rtt);
        self.least.update(filter, now, -rtt);
        self.most.update(MAX_RTTS * smoothed, now, rtt);
    }

    fn standing(&self) -> f64 {
        -self.standing.get()
    }

    fn least(&self) -> f64 {
        -self.least.get()
    }

    /// The queueing delay. Round-trip times are differences of sums, so equal ones may differ by rounding.
    fn queueing(&self) -> f64 {
        let delay = self.standing() - self.least();
        if delay < 1e-9 { 0.0 } else { delay }
    }

    fn is_nearly_empty(&self) -> bool {
        self.queueing() <= NEARLY_EMPTY * (self.most.get() - self.least()).max(0.0)
    }
}

impl Copa {
    fn new(params: &Params) -> Self {
        let variant = match params.word("variant") {
            "genericcc" => Variant::GenericCc,
            "mvfst" => Variant::Mvfst,
            _ => Variant::Paper,
        };
        let mvfst = variant == Variant::Mvfst;
        let delta = params.number_or_auto("delta").unwrap_or(if mvfst { 0.05 } else { 0.5 });
        Self {
            variant,
            competes: params.flag("competitive") && !mvfst,
            initial_window: params.number_or_auto("initial_window"),
            min_rtt_filter: params.number("min_rtt_filter"),
            default_delta: delta,
            delta,
            smss: 1.0,
            header: 0.0,
            cwnd: LEAST,
            ssthresh: Segments::INFINITY,
            slow_start: true,
            times: None,
            velocity: 1.0,
            up: true,
            alike: 0,
            began_with: LEAST,
            round_end: 0,
            lost: false,
            emptied: 0.0,
            competing: false,
            doubled: None,
        }
    }

    /// The window at which the rate is the target; infinite without a queue.
    fn target(&self, times: &Times) -> Segments {
        let delay = times.queueing();
        if delay > 0.0 { times.standing() / (self.delta * delay) } else { Segments::INFINITY }
    }

    fn update_times(&mut self, ack: &Ack, now: f64) {
        let Some(rtt) = ack.rtt.map(Duration::as_secs_f64) else { return };
        let smoothed = ack.srtt.map_or(rtt, Duration::as_secs_f64);
        let Some(times) = &mut self.times else {
            (self.times, self.emptied) = (Some(Times::new(now, rtt)), now);
            return;
        };
        let filter = match self.variant {
            Variant::GenericCc => self.min_rtt_filter.max(20.0 * times.least()),
            Variant::Paper | Variant::Mvfst => self.min_rtt_filter,
        };
        times.update(now, rtt, smoothed, filter);
    }

    /// Chooses the mode.
    fn update_mode(&mut self, times: &Times, now: f64) {
        if times.is_nearly_empty() {
            self.emptied = now;
        }
        let rounds = if self.variant == Variant::GenericCc { 4.0 } else { 5.0 };
        self.competing = self.competes && !self.slow_start && now - self.emptied > rounds * times.smoothed;
        if !self.competing {
            self.delta = self.default_delta;
        }
    }

    /// A round is over: updates δ and the velocity.
    fn end_round(&mut self) {
        if self.competing {
            self.delta = if self.lost { 2.0 * self.delta } else { 1.0 / (1.0 / self.delta + 1.0) }.min(self.default_delta);
        }
        self.lost = false;
        let up = self.cwnd > self.began_with;
        if !self.slow_start {
            let alike = up == self.up;
            self.alike = if alike { self.alike + 1 } else { 0 };
            self.velocity = match self.variant {
                _ if !alike => 1.0,
                Variant::Paper if self.alike >= 3 => 2.0 * self.velocity,
                Variant::Mvfst if self.alike >= if self.velocity > 1.0 { 3 } else { 4 } => 2.0 * self.velocity,
                Variant::GenericCc if self.alike <= 1 => self.velocity + 0.005,
                Variant::GenericCc => 2.0 * self.velocity,
                Variant::Paper | Variant::Mvfst => self.velocity,
            };
        }
        (self.up, self.began_with) = (up, self.cwnd);
    }

    fn grow_in_slow_start(&mut self, acked: Segments, now: f64, smoothed: f64) {
        if self.variant != Variant::Mvfst {
            self.cwnd += acked;
        } else if self.doubled.is_none_or(|last| now - last > smoothed) {
            if self.doubled.is_some() {
                self.cwnd *= 2.0;
            }
            self.doubled = Some(now);
        }
    }

    fn move_window(&mut self, acked: Segments, grow: bool, limited: bool) {
        // The window changes by itself at most in a round trip.
        while self.velocity > (self.cwnd * self.delta).max(1.0) {
            self.velocity = (self.velocity / 2.0).max(1.0);
        }
        if grow != self.up && self.velocity > 1.0 {
            (self.velocity, self.alike, self.up, self.began_with) = (1.0, 0, grow, self.cwnd);
        }
        let step = acked * self.velocity / (self.delta * self.cwnd);
        if !grow {
            self.cwnd = (self.cwnd - step).max(LEAST);
        } else if limited {
            self.cwnd += step;
        }
    }

    fn restart(&mut self, cwnd: Segments) {
        self.cwnd = cwnd.max(1.0);
        self.slow_start = true;
        (self.velocity, self.alike, self.doubled) = (1.0, 0, None);
    }
}

impl CongestionControl for Copa {
    fn on_established(&mut self, event: &Established) {
        (self.smss, self.header) = (event.smss.0 as f64, event.header.0 as f64);
        self.cwnd = self.initial_window.unwrap_or_else(|| Rfc6928.segments(event));
        self.began_with = self.cwnd;
        let now = event.now.as_secs_f64();
        self.emptied = now;
        self.times = event.rtt.map(|rtt| Times::new(now, rtt.as_secs_f64()));
    }

    fn on_ack(&mut self, ack: &Ack) {
        let now = ack.now.as_secs_f64();
        self.update_times(ack, now);
        let Some(times) = self.times else { return };
        self.update_mode(&times, now);
        let acked = ack.delivered as f64 / self.smss;
        let grow = self.cwnd <= self.target(&times);
        if self.slow_start && !grow {
            self.slow_start = false;
            self.ssthresh = self.cwnd.max(LEAST);
            self.emptied = now;
            (self.up, self.alike, self.began_with) = (false, 0, self.cwnd);
        }
        if self.slow_start {
            if ack.cwnd_limited {
                self.grow_in_slow_start(acked, now, times.smoothed);
            }
        } else {
            self.move_window(acked, grow, ack.cwnd_limited);
        }
        if ack.snd_una > self.round_end {
            self.round_end = ack.snd_nxt;
            self.end_round();
        }
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        match event.cause {
            Cause::EcnCe => {}
            Cause::DupAck => {
                self.lost = true;
                if self.variant == Variant::GenericCc {
                    self.cwnd = (0.7 * self.cwnd).max(LEAST);
                }
            }
            Cause::Timeout => {
                self.lost = true;
                self.restart(event.loss_window);
            }
        }
    }

    fn on_restart(&mut self) {
        self.restart(1.0);
    }

    fn on_mss(&mut self, smss: Bytes) {
        let smss = (smss.0 as f64).max(1.0);
        let of = self.smss / smss;
        self.smss = smss;
        (self.cwnd, self.began_with) = ((self.cwnd * of).max(1.0), self.began_with * of);
        self.ssthresh = (self.ssthresh * of).max(LEAST);
    }

    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: self.ssthresh }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let times = self.times?;
        let rtt = if self.variant == Variant::Mvfst { times.smoothed } else { times.standing() };
        (rtt > 0.0).then(|| Rate::from_bits_per_sec(libm::ceil(8.0 * PACING * self.cwnd * (self.smss + self.header) / rtt) as u64))?
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn phase(&self) -> Phase {
        if self.slow_start { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(times) = &self.times {
            out("standing_rtt", times.standing());
            out("min_rtt", times.least());
            let target = self.target(times);
            if target.is_finite() {
                out("target", target);
            }
        }
        out("velocity", self.velocity);
        out("delta", self.delta);
        out("mode", f64::from(u8::from(self.competing)));
    }
}
