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
//! The test for a nearly empty queue is on the edge if several Copa flows share a queue: their swings may cancel out, so that the queue keeps a
//! packet or two, and each takes the others for a flow that fills it. `competitive = false` shows what they do without that.
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

use crate::cc::contract::{CongestionControl, InitialWindow, Phase, Window};
use crate::cc::initial_window::rfc6928::Rfc6928;
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
    Param {
        name: "initial_window",
        kind: Kind::Segments { min: 1.0, max: 1e6 },
        default: Default::Auto,
        doc: "initial window; auto is RFC 6928's",
    },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{assert_close, established, internal};
    use crate::units::Instant;
    use proptest::prelude::*;

    const SMSS: u64 = 1000;

    fn copa(set: &[(&str, Value)]) -> Copa {
        let mut params = Params::defaults(PARAMS);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        let mut control = Copa::new(&params);
        control.on_established(&Established { rtt: Some(Duration::from_millis(100)), ..established(SMSS) });
        control
    }

    fn variant(word: &str) -> (&'static str, Value) {
        ("variant", Value::Word(word.to_owned()))
    }

    /// Flows over a link that sends a segment per millisecond, 100 ms away, with a queue without bound.
    struct Link {
        now: f64,
        /// When the link has sent all that is in the queue.
        busy: f64,
        /// Delay that other flows in the queue cause.
        others: f64,
        flows: Vec<Flow>,
        /// For each segment on its way: when its ACK arrives, when it was sent, and its flow.
        sent: std::collections::VecDeque<(f64, f64, usize)>,
    }

    struct Flow {
        control: Copa,
        srtt: f64,
        una: u64,
        nxt: u64,
        /// When the pacer permits the next segment.
        due: f64,
        queued: Mean,
    }

    /// Mean over time, least and largest of a number.
    struct Mean {
        area: f64,
        since: f64,
        at: f64,
        least: f64,
        most: f64,
    }

    impl Mean {
        fn restart(now: f64) -> Self {
            Self { area: 0.0, since: now, at: now, least: f64::INFINITY, most: 0.0 }
        }

        fn add(&mut self, now: f64, value: f64) {
            self.area += value * (now - self.at);
            (self.at, self.least, self.most) = (now, self.least.min(value), self.most.max(value));
        }

        fn get(&self) -> f64 {
            self.area / (self.at - self.since)
        }
    }

    impl Link {
        fn new(controls: Vec<Copa>) -> Self {
            let flow = |(index, control)| Flow {
                control,
                srtt: 0.1,
                una: 0,
                nxt: 0,
                due: 0.1 + 0.0137 * index as f64,
                queued: Mean::restart(0.0),
            };
            let flows = controls.into_iter().enumerate().map(flow).collect();
            Self { now: 0.1, busy: 0.0, others: 0.0, flows, sent: std::collections::VecDeque::new() }
        }

        fn alone(control: Copa) -> Self {
            Self::new(vec![control])
        }

        fn control(&mut self) -> &mut Copa {
            &mut self.flows[0].control
        }

        /// The next event: a segment leaves, or an ACK arrives.
        fn step(&mut self) {
            let ready = |flow: &Flow| ((flow.nxt - flow.una) as f64 + 1.0 <= flow.control.cwnd).then_some(flow.due);
            let next = (0..self.flows.len()).filter_map(|index| Some((ready(&self.flows[index])?.max(self.now), index)));
            let send = next.min_by(|a, b| a.0.total_cmp(&b.0));
            let arrival = self.sent.front().map_or(f64::INFINITY, |sent| sent.0);
            match send {
                Some((at, index)) if at <= arrival => self.send(at, index),
                _ => self.ack(),
            }
        }

        fn send(&mut self, at: f64, index: usize) {
            self.now = at;
            self.busy = self.busy.max(at) + 0.001;
            self.sent.push_back((self.busy + self.others + 0.1, at, index));
            let flow = &mut self.flows[index];
            flow.nxt += 1;
            flow.due = at + 8.0 * SMSS as f64 / flow.control.pacing_rate().unwrap().as_bits_per_sec() as f64;
        }

        fn ack(&mut self) {
            let (at, sent, index) = self.sent.pop_front().unwrap();
            self.now = at;
            let flow = &mut self.flows[index];
            flow.una += 1;
            let rtt = at - sent;
            flow.srtt += (rtt - flow.srtt) / 8.0;
            flow.control.on_ack(&Ack {
                rtt: Some(Duration::from_secs_f64(rtt)),
                srtt: Some(Duration::from_secs_f64(flow.srtt)),
                snd_una: flow.una * SMSS,
                snd_nxt: flow.nxt * SMSS,
                ..Ack::new(Instant::ZERO + Duration::from_secs_f64(at), 1, Bytes(SMSS))
            });
            // The last that left the queue of a flow did so 100 ms before its ACK.
            let queued = self.sent.iter().filter(|(arrival, _, of)| *of == index && *arrival - 0.1 > at).count();
            flow.queued.add(at, queued as f64);
        }

        fn run(&mut self, seconds: f64) {
            let until = self.now + seconds;
            for flow in &mut self.flows {
                flow.queued = Mean::restart(self.now);
            }
            while self.now < until {
                self.step();
            }
        }
    }

    #[test]
    fn slow_start_doubles_until_the_rate_exceeds_the_target_and_is_paced_at_two_windows() {
        let mut link = Link::alone(copa(&[]));
        let rate = link.control().pacing_rate().unwrap().as_bits_per_sec();
        assert_eq!((link.control().cwnd, rate), (10.0, 1_600_000), "2 · 10 kB in 100 ms");
        for (una, cwnd) in [(10, 20.0), (30, 40.0), (70, 80.0)] {
            while link.flows[0].una < una {
                link.step();
            }
            assert_close(link.control().cwnd, cwnd, 0.0);
        }
        while link.control().slow_start {
            link.step();
        }
        // The target has 2 segments in the queue; the window has grown for up to a round trip since the queue began.
        assert!((102.0..=210.0).contains(&link.control().cwnd), "{}", link.control().cwnd);
    }

    #[test]
    fn flows_keep_1_over_delta_packets_each_in_the_queue_and_empty_it() {
        for (delta, flows) in [(0.5, 1), (0.1, 1), (0.5, 2), (0.5, 4)] {
            let settings = [("delta", Value::Number(delta)), ("competitive", Value::Bool(flows == 1))];
            let mut link = Link::new(vec![copa(&settings); flows]);
            link.run(30.0);
            link.run(30.0);
            for Flow { queued, una, control, .. } in &link.flows {
                let [mean, least, most] = [queued.get(), queued.least, queued.most].map(|packets| packets * delta);
                assert!((0.85..1.4).contains(&mean) && least < 0.05, "δ {delta}, {flows}: a mean of {mean}/δ, at least {least}/δ");
                assert!((2.0..6.6).contains(&most), "δ {delta}, {flows}: at most {most}/δ");
                let share = *una as f64 * flows as f64 / 60_000.0;
                assert!((0.9..1.1).contains(&share) && !control.competing, "δ {delta}, {flows}: {share}");
            }
        }
    }

    #[test]
    fn an_ack_moves_the_window_by_velocity_over_delta_and_window() {
        let mut control = copa(&[]);
        (control.slow_start, control.cwnd, control.velocity, control.up) = (false, 50.0, 4.0, true);
        control.move_window(1.0, true, true);
        assert_close(control.cwnd, 50.0 + 4.0 / (0.5 * 50.0), 1e-12);
        control.move_window(1.0, true, false);
        assert_close(control.cwnd, 50.16, 1e-12);
        control.move_window(1.0, false, false);
        assert_close(control.cwnd, 50.16 - 1.0 / (0.5 * 50.16), 1e-12);
        assert_eq!((control.velocity, control.up), (1.0, false), "the direction has changed");
    }

    /// The velocities after rounds in one direction, and after one in the other.
    fn velocities(word: &str) -> Vec<f64> {
        let mut control = copa(&[variant(word)]);
        (control.slow_start, control.cwnd, control.began_with, control.up) = (false, 1000.0, 1000.0, false);
        let mut found = Vec::new();
        for _ in 0..7 {
            control.cwnd += 1.0;
            control.end_round();
            found.push(control.velocity);
        }
        control.cwnd -= 2.0;
        control.end_round();
        found.push(control.velocity);
        found
    }

    #[test]
    fn the_velocity_doubles_after_three_rounds_in_one_direction() {
        // The first round changes the direction.
        assert_eq!(velocities("paper"), [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 1.0]);
        assert_eq!(velocities("mvfst"), [1.0, 1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 1.0]);
        let generic = velocities("genericcc");
        assert_eq!(generic[..3], [1.0, 1.005, 2.01]);
        assert_eq!(generic[7], 1.0);
        let mut control = copa(&[variant("genericcc")]);
        (control.cwnd, control.velocity) = (20.0, 64.0);
        control.move_window(1.0, true, true);
        assert_close(control.velocity, 8.0, 0.0);
    }

    #[test]
    fn in_the_competitive_mode_1_over_delta_grows_each_round_and_halves_at_a_loss() {
        let mut link = Link::alone(copa(&[]));
        link.run(5.0);
        assert!(!link.control().competing);
        // Another flow keeps 50 segments in the queue.
        link.others = 0.05;
        link.run(1.5);
        let control = link.control();
        assert!(control.competing);
        let inverse = 1.0 / control.delta;
        assert!((4.0..=10.0).contains(&inverse), "{inverse}");
        control.on_congestion(&CongestionEvent::new(Instant::ZERO, Cause::DupAck, 100.0));
        let before = control.delta;
        control.end_round();
        assert_close(control.delta, 2.0 * before, 1e-12);
        control.end_round();
        assert_close(1.0 / control.delta, 0.5 / before + 1.0, 1e-9);
        // The other flow has left.
        link.others = 0.0;
        link.run(5.0);
        assert!(!link.control().competing && link.control().delta == 0.5);
        let mut without = Link::alone(copa(&[("competitive", Value::Bool(false))]));
        without.run(5.0);
        without.others = 0.05;
        without.run(5.0);
        assert!(!without.control().competing);
    }

    #[test]
    fn variants_differ_in_delta_slow_start_and_losses() {
        let mut mvfst = copa(&[variant("mvfst")]);
        assert_close(mvfst.delta, 0.05, 0.0);
        assert!(!mvfst.competes && copa(&[variant("genericcc")]).competes);
        assert_close(copa(&[variant("mvfst"), ("delta", Value::Number(0.2))]).delta, 0.2, 0.0);
        let ack = |millis: u64| Ack {
            rtt: Some(Duration::from_millis(100)),
            srtt: Some(Duration::from_millis(100)),
            ..Ack::new(Instant::ZERO + Duration::from_millis(millis), 1, Bytes(SMSS))
        };
        let seen = [100, 150, 201, 250, 302].map(|millis| {
            mvfst.on_ack(&ack(millis));
            mvfst.cwnd
        });
        assert_eq!(seen, [10.0, 10.0, 20.0, 20.0, 40.0]);
        let after_loss = |word| {
            let mut control = copa(&[variant(word)]);
            control.on_congestion(&CongestionEvent::new(Instant::ZERO, Cause::DupAck, 10.0));
            control.cwnd
        };
        assert_eq!(["paper", "genericcc", "mvfst"].map(after_loss), [10.0, 7.0, 10.0]);
    }

    #[test]
    fn a_timeout_restarts_slow_start_from_the_loss_window() {
        let mut control = copa(&[]);
        control.slow_start = false;
        control.on_congestion(&CongestionEvent::new(Instant::ZERO, Cause::Timeout, 10.0));
        assert!(control.slow_start && control.window().cwnd == 1.0);
    }

    #[test]
    fn the_quantities_are_declared() {
        let mut link = Link::alone(copa(&[]));
        link.run(2.0);
        while link.flows[0].control.times.unwrap().queueing() == 0.0 {
            link.step();
        }
        for declared in ENTRY.quantities {
            assert!(internal(|out| link.control().internals(out), declared.name).is_finite());
        }
    }

    proptest! {
        #[test]
        fn a_flow_alone_uses_the_link_and_never_queues_more_than_after_slow_start(delta in 0.05..0.5_f64, seconds in 10.0..30.0_f64) {
            let mut link = Link::alone(copa(&[("delta", Value::Number(delta)), ("competitive", Value::Bool(false))]));
            link.run(seconds);
            let before = link.flows[0].una;
            link.run(10.0);
            let (most, sent) = (link.flows[0].queued.most, link.flows[0].una - before);
            // A velocity at its bound doubles the window in a round trip, so a queue can be as long as after slow start.
            prop_assert!(most < 300.0 && sent > 7_500, "{most}, {sent}");
        }
    }
}
