//! PCC Vivace: tries rates a little above and below the present one, and moves along the gradient of a utility.
//! ## What it does
//! Sends at a rate x for monitor intervals of about a round trip, and computes the utility of each from the packets that it sent. A higher rate
//! adds to it, growing round-trip times and losses take from it: u = xᵗ − b·x·max(0, dRTT/dt) − c·x·L. The rate x is in Mbit/s, dRTT/dt is the slope
//! of the packets' round-trip times, and L the share of them that was lost.
//!
//! - At the start the rate doubles in each interval as long as utilities grow. Then it returns to the last that made them grow.
//! - From then on, two intervals in random order send at x·(1 + ε) and x·(1 − ε). Their utilities give the gradient γ, and the rate moves by
//!   m·θ·γ. The confidence amplifier m is the number of moves in the same direction up to 3, and grows by 2 from there.
//! - A move is at most ω·x, with ω = ω₀ + k·δ. The count k grows by one with each move in the same direction that would have been larger, falls to
//!   the least that permits a smaller move, and is 0 after a change of direction.
//! - Between two tries the control sends at x, until all packets of the tries are acknowledged or lost.
//! ## References
//! Dong, Meng, Zarchy, Arslan, Gilad, Godfrey & Schapira, *PCC Vivace: online-learning congestion control*, NSDI 2018, §3 and §4.
//! ## Differs from the document
//! - The paper's text could not be opened. Utility and exponents are confirmed by public implementations; the amplifier, the boundary, ε, ω₀, δ, θ
//!   and the threshold for slopes are as known, and not confirmed.
//! - Slopes are those of a linear regression over the interval's round-trip times. Slopes within `slope_tolerance` count as 0.
//! - An interval lasts a smoothed round-trip time, and long enough for ten segments.
//! - x is the rate at which the interval's packets left, so that an application's pauses do not count as a rate.
//! - The window is twice the rate times the smoothed round-trip time, at least ten segments: a bound that does not limit the sender in general.
//! - A timeout halves the rate and ends the tries. Tries whose rates an application has made equal are repeated.
//! ## Parameters
//! `exponent`: 0.9 (t), `latency`: 900 (b), `loss`: 11.35 (c), `epsilon`: 0.05 (ε), `step`: 1 Mbit/s per unit of gradient (θ), `boundary`: 0.05
//! (ω₀), `boundary_step`: 0.1 (δ), `slope_tolerance`: 0.01.

#[cfg(test)]
mod tests;

use crate::cc::contract::{CongestionControl, InitialWindow, Phase, Wants, Window};
use crate::cc::initial_window::rfc6928::Rfc6928;
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Delivered, Established, Lost, Sent};
use crate::params::{Default, Kind, Param, Params};
use crate::rng::Generator;
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// This control in the registry.
pub static ENTRY: Entry<dyn CongestionControl> = Entry {
    name: "vivace",
    summary: "PCC Vivace: moves its rate along the gradient of a utility of rate, delay and loss",
    reference: "Dong et al. 2018",
    params: PARAMS,
    quantities: &[
        quantity("rate", "bit/s", "rate x around which the control tries others").on("rate"),
        quantity("utility", "", "utility of the last interval"),
        quantity("slope", "", "slope of its round-trip times"),
        quantity("loss_rate", "", "share of its packets that was lost"),
        quantity("amplifier", "", "confidence amplifier m"),
        quantity("bound", "", "largest change ω of the rate, as a share of it"),
    ],
    build: |params| Ok(Box::new(Vivace::new(params))),
};

const fn number(name: &'static str, max: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min: 0.0, max }, default: Default::Number(default), doc }
}

const PARAMS: &[Param] = &[
    Param {
        name: "exponent",
        kind: Kind::Number { min: 0.01, max: 0.99 },
        default: Default::Number(0.9),
        doc: "exponent t of the rate in the utility",
    },
    number("latency", 1e6, 900.0, "weight b of the slope of round-trip times"),
    number("loss", 1e6, 11.35, "weight c of losses"),
    Param {
        name: "epsilon",
        kind: Kind::Number { min: 1e-3, max: 0.5 },
        default: Default::Number(0.05),
        doc: "share ε by which the rates of the tries differ from the present one",
    },
    number("step", 1e3, 1.0, "step θ in Mbit/s per unit of gradient"),
    number("boundary", 1.0, 0.05, "largest change ω₀ of the rate in a first move, as a share of it"),
    number("boundary_step", 1.0, 0.1, "growth δ of that share"),
    number("slope_tolerance", 1.0, 0.01, "slopes of round-trip times up to this count as 0"),
];

/// Least number of segments in an interval.
const LEAST: f64 = 10.0;
/// Intervals whose packets may be outstanding.
const KEPT: usize = 8;
const MEGA: f64 = 1e6;

/// What an interval is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Doubling at the start.
    Start,
    /// The rate above and the one below the present.
    Above,
    Below,
    /// The present rate, while results are outstanding.
    Wait,
}

/// A monitor interval. Times in seconds.
#[derive(Clone, Copy, Debug)]
struct Interval {
    purpose: Purpose,
    begin: f64,
    end: f64,
    /// The rate asked for, in bit/s.
    rate: f64,
    /// Bytes sent in the interval, delivered, and lost.
    sent: u64,
    arrived: u64,
    lost: u64,
    /// Sums for the regression of round-trip times over times of transmission since `begin`.
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Interval {
    fn new(purpose: Purpose, begin: f64, end: f64, rate: f64) -> Self {
        Self { purpose, begin, end, rate, sent: 0, arrived: 0, lost: 0, count: 0.0, x: 0.0, y: 0.0, xx: 0.0, xy: 0.0 }
    }

    fn holds(&self, at: f64) -> bool {
        (self.begin..self.end).contains(&at)
    }

    fn measure(&mut self, at: f64, rtt: f64) {
        let x = at - self.begin;
        self.count += 1.0;
        (self.x, self.y, self.xx, self.xy) = (self.x + x, self.y + rtt, self.xx + x * x, self.xy + x * rtt);
    }

    fn is_complete(&self) -> bool {
        self.arrived + self.lost >= self.sent
    }

    fn slope(&self) -> f64 {
        let spread = self.count * self.xx - self.x * self.x;
        if spread > 0.0 { (self.count * self.xy - self.x * self.y) / spread } else { 0.0 }
    }

    fn loss_rate(&self) -> f64 {
        if self.sent > 0 { self.lost as f64 / self.sent as f64 } else { 0.0 }
    }

    /// The rate at which packets left, in Mbit/s.
    fn throughput(&self) -> f64 {
        8.0 * self.sent as f64 / (self.end - self.begin) / MEGA
    }
}

/// The utility's parameters.
#[derive(Clone, Copy, Debug)]
struct Utility {
    exponent: f64,
    latency: f64,
    loss: f64,
    slope_tolerance: f64,
}

impl Utility {
    /// The utility of `x` Mbit/s.
    fn of(&self, x: f64, slope: f64, loss: f64) -> f64 {
        let slope = if slope.abs() <= self.slope_tolerance { 0.0 } else { slope.max(0.0) };
        libm::pow(x, self.exponent) - self.latency * x * slope - self.loss * x * loss
    }
}

/// The moves of the rate.
#[derive(Clone, Copy, Debug)]
struct Moves {
    step: f64,
    boundary: f64,
    boundary_step: f64,
    /// Moves in the same direction, and the direction.
    count: u32,
    up: bool,
    /// The count k of the boundary.
    bounded: f64,
}

impl Moves {
    fn amplifier(&self) -> f64 {
        let count = f64::from(self.count);
        if count <= 3.0 { count } else { 2.0 * count - 3.0 }
    }

    fn bound(&self) -> f64 {
        self.boundary + self.bounded * self.boundary_step
    }

    /// The rate after a move along `gradient` from `x`, both in Mbit/s.
    fn apply(&mut self, x: f64, gradient: f64) -> f64 {
        let up = gradient > 0.0;
        let same = self.count > 0 && up == self.up;
        self.count = if same { self.count + 1 } else { 1 };
        self.up = up;
        if !same {
            self.bounded = 0.0;
        }
        let wanted = self.amplifier() * self.step * gradient;
        let share = wanted.abs() / x;
        let moved = if share > self.bound() {
            let moved = self.bound() * x;
            self.bounded += 1.0;
            moved
        } else {
            if self.boundary_step > 0.0 {
                self.bounded = libm::ceil((share - self.boundary) / self.boundary_step).max(0.0);
            }
            wanted.abs()
        };
        if up { x + moved } else { x - moved }
    }
}

/// PCC Vivace.
#[derive(Clone, Debug)]
pub struct Vivace {
    utility: Utility,
    moves: Moves,
    epsilon: f64,
    random: Generator,
    smss: f64,
    header: f64,
    srtt: f64,
    /// The present rate x, in bit/s.
    rate: f64,
    starting: bool,
    /// The utility of the last interval of the start.
    last: Option<f64>,
    /// Intervals whose packets may be outstanding; the newest is the last of them.
    intervals: [Option<Interval>; KEPT],
    current: usize,
    /// The second interval of a try, and the result of its first.
    second: Option<Purpose>,
    results: [Option<(f64, f64)>; 2],
    shown: (f64, f64, f64),
}

impl Vivace {
    fn new(params: &Params) -> Self {
        let number = |name| params.number(name);
        Self {
            utility: Utility {
                exponent: number("exponent"),
                latency: number("latency"),
                loss: number("loss"),
                slope_tolerance: number("slope_tolerance"),
            },
            moves: Moves {
                step: number("step"),
                boundary: number("boundary"),
                boundary_step: number("boundary_step"),
                count: 0,
                up: true,
                bounded: 0.0,
            },
            epsilon: number("epsilon"),
            random: Generator::derived(0, "vivace"),
            smss: 1.0,
            header: 0.0,
            srtt: 0.0,
            rate: 1.0,
            starting: true,
            last: None,
            intervals: [None; KEPT],
            current: 0,
            second: None,
            results: [None; 2],
            shown: (0.0, 0.0, 0.0),
        }
    }

    fn least_rate(&self) -> f64 {
        // Two segments per round trip.
        16.0 * self.smss / self.srtt.max(1e-6)
    }

    /// The rate in force.
    fn rate_now(&self) -> f64 {
        self.intervals[self.current].map_or(self.rate, |interval| interval.rate)
    }

    fn begin(&mut self, now: f64, purpose: Purpose) {
        let rate = match purpose {
            Purpose::Above => self.rate * (1.0 + self.epsilon),
            Purpose::Below => self.rate * (1.0 - self.epsilon),
            Purpose::Start | Purpose::Wait => self.rate,
        };
        let length = self.srtt.max(LEAST * 8.0 * self.smss / rate).max(1e-6);
        let current = &mut self.intervals[self.current];
        if let Some(over) = current {
            over.end = over.end.min(now);
        }
        // Nobody asks for the packets of a wait.
        if current.is_some_and(|over| over.purpose != Purpose::Wait) {
            self.current = (self.current + 1) % KEPT;
        }
        self.intervals[self.current] = Some(Interval::new(purpose, now, now + length, rate));
    }

    fn begin_try(&mut self, now: f64) {
        let (first, second) = if self.random.uniform() < 0.5 { (Purpose::Above, Purpose::Below) } else { (Purpose::Below, Purpose::Above) };
        (self.second, self.results) = (Some(second), [None; 2]);
        self.begin(now, first);
    }

    /// The interval is over: the next begins.
    fn advance(&mut self, now: f64) {
        // A SYN belongs to no interval.
        let Some(over) = self.intervals[self.current] else { return };
        if now < over.end {
            return;
        }
        if let Some(second) = self.second.take() {
            self.begin(now, second);
        } else if over.purpose == Purpose::Start && self.starting {
            // An application that sends less does not show what the path carries.
            self.rate = if over.throughput() * MEGA >= over.rate / 2.0 { 2.0 * over.rate } else { over.rate };
            self.begin(now, Purpose::Start);
        } else {
            self.begin(now, Purpose::Wait);
        }
    }

    /// Evaluates the intervals whose packets have all arrived or been lost.
    fn evaluate(&mut self, now: f64) {
        // From the oldest to the newest.
        let newest = self.current;
        for index in (newest + 1..=newest + KEPT).map(|index| index % KEPT) {
            let complete = |interval: &Interval| interval.purpose != Purpose::Wait && now >= interval.end && interval.is_complete();
            if let Some(interval) = self.intervals[index].filter(complete) {
                self.intervals[index] = None;
                self.judge(&interval, now);
            }
        }
    }

    fn judge(&mut self, interval: &Interval, now: f64) {
        let x = interval.throughput();
        let (slope, loss) = (interval.slope(), interval.loss_rate());
        let utility = self.utility.of(x, slope, loss);
        self.shown = (utility, slope, loss);
        match interval.purpose {
            Purpose::Start if self.starting && interval.count >= 2.0 => {
                if self.last.is_some_and(|last| utility <= last) {
                    // The rate before is the last at which the utility grew.
                    (self.starting, self.rate) = (false, (interval.rate / 2.0).max(self.least_rate()));
                    self.begin_try(now);
                } else {
                    self.last = Some(utility);
                }
            }
            Purpose::Above | Purpose::Below => {
                self.results[usize::from(interval.purpose == Purpose::Below)] = Some((x, utility));
                if let [Some(above), Some(below)] = self.results {
                    self.results = [None; 2];
                    self.decide(above, below);
                    self.begin_try(now);
                }
            }
            Purpose::Start | Purpose::Wait => {}
        }
    }

    fn decide(&mut self, above: (f64, f64), below: (f64, f64)) {
        let apart = above.0 - below.0;
        let gradient = (above.1 - below.1) / apart;
        // Without a difference of rates, such as one that the application limits, there is no gradient.
        if apart > 0.0 && gradient.is_finite() && gradient != 0.0 {
            self.rate = (self.moves.apply(self.rate / MEGA, gradient) * MEGA).max(self.least_rate());
        }
    }

    fn of(&mut self, at: f64) -> Option<&mut Interval> {
        self.intervals.iter_mut().flatten().find(|interval| interval.holds(at))
    }
}

impl CongestionControl for Vivace {
    fn on_established(&mut self, event: &Established) {
        self.random = Generator::derived(event.seed, "vivace");
        (self.smss, self.header) = (event.smss.0.max(1) as f64, event.header.0 as f64);
        self.srtt = event.rtt.unwrap_or(Duration::from_millis(100)).max(Duration::NANOSECOND).as_secs_f64();
        self.rate = Rfc6928.segments(event) * 8.0 * self.smss / self.srtt;
        self.begin(event.now.as_secs_f64(), Purpose::Start);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.advance(sent.now.as_secs_f64());
        let current = self.current;
        if let Some(interval) = &mut self.intervals[current] {
            interval.sent += sent.size;
        }
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        let (at, now) = (delivered.packet.sent_at.as_secs_f64(), delivered.now.as_secs_f64());
        let size = delivered.size();
        if let Some(interval) = self.of(at) {
            interval.arrived += size;
            interval.measure(at, now - at);
        }
    }

    fn on_lost(&mut self, lost: &Lost) {
        let Some(packet) = lost.packet else { return };
        if let Some(interval) = self.of(packet.sent_at.as_secs_f64()) {
            interval.lost += lost.end - lost.start;
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.srtt = ack.srtt.map_or(self.srtt, |srtt| srtt.max(Duration::NANOSECOND).as_secs_f64());
        let now = ack.now.as_secs_f64();
        self.advance(now);
        self.evaluate(now);
    }

    fn on_timer(&mut self, now: Instant) {
        let now = now.as_secs_f64();
        self.advance(now);
        self.evaluate(now);
    }

    fn timer(&self) -> Option<Instant> {
        // The next segment ends an interval that has none.
        let busy = self.intervals[self.current].filter(|interval| interval.sent > 0);
        busy.map(|interval| Instant::ZERO + Duration::from_secs_f64(interval.end))
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        if event.cause == Cause::Timeout {
            self.on_restart();
        }
    }

    fn on_restart(&mut self) {
        if self.intervals[self.current].is_none() {
            // A SYN was lost.
            return;
        }
        self.rate = (self.rate / 2.0).max(self.least_rate());
        let now = self.intervals[self.current].map_or(0.0, |interval| interval.begin);
        (self.starting, self.second, self.results, self.intervals) = (false, None, [None; 2], [None; KEPT]);
        self.begin_try(now);
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.smss = (smss.0 as f64).max(1.0);
    }

    fn window(&self) -> Window {
        let cwnd: Segments = 2.0 * self.rate_now() * self.srtt / (8.0 * self.smss);
        Window { cwnd: cwnd.max(LEAST), ssthresh: Segments::INFINITY }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.intervals[self.current]?;
        Rate::from_bits_per_sec(libm::ceil(self.rate_now() * (self.smss + self.header) / self.smss) as u64)
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn wants(&self) -> Wants {
        Wants::SAMPLES.with(|wants| wants.deliveries = true)
    }

    fn phase(&self) -> Phase {
        if self.starting { Phase::SlowStart } else { Phase::Avoidance }
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let (utility, slope, loss) = self.shown;
        out("rate", self.rate);
        out("utility", utility);
        out("slope", slope);
        out("loss_rate", loss);
        out("amplifier", self.moves.amplifier());
        out("bound", self.moves.bound());
    }
}
