//! Prague: the scalable control of L4S, whose window falls in proportion to the share of marked packets.
//! ## What it does
//! Sends ECT(1), which asks queues for marks at a shallow threshold (RFC 9331). The share of marked bytes has a moving average α. A mark
//! reduces the window by α/2 of itself at once, and at most once in a round trip; unmarked data makes it grow by one segment per round trip
//! all the time, so that the window of a path with a steady share p of marks is 2/p. The control paces its whole window over the round trip
//! in short bursts, 3 % faster in one half of it and 3 % slower in the other, so that the window still limits the sender; far below the
//! threshold it paces at twice that rate.
//!
//! - Flows with round-trip times below `rtt_virt` behave as if they had that one, so that a short path does not starve a long one: growth is
//!   multiplied by (srtt/`rtt_virt`)², and α and reductions have a period of `rtt_virt`. The average always has that period; the rest begins
//!   `transition` round trips after slow start.
//! - A loss halves the window, as in Reno. If marks have just reduced it, both together halve it.
//! - With classic feedback (RFC 3168), which does not count marks, the control sends ECT(0) and is Reno.
//! - `classic_queue = "detect"` falls back towards Reno if the marks seem to come from a classic queue.
//! ## References
//! draft-briscoe-iccrg-prague-congestion-control-04, §2.4.2 (reduction), §2.4.4 (round-trip times), and its sections on pacing and losses;
//! RFC 9331 §4.3 and its appendix A; RFC 9768; RFC 8257 for DCTCP, from which it comes. Briscoe & Ahmed, *TCP Prague fall-back on detection
//! of a classic ECN AQM*, arXiv 1911.00710.
//! ## Differs from the document
//! - The draft's full text could not be opened. Constants and rules are those that implementations which cite it state; its sections on
//!   pacing and losses have not been compared sentence by sentence.
//! - With `transition` below its default and a round-trip time below `rtt_virt`, one reduction per `rtt_virt` applies from the same moment as
//!   the slower growth: otherwise the law of the rate, 2/(p·`rtt_virt`), does not hold.
//! - Detection of classic queues adds lg(v/750 µs)/2 + lg(d/2 ms)/2 to a score in each round trip with marks, where v is the mean deviation
//!   of round-trip times and d their mean above the smallest. The score is kept within −16 and 17; between 0 and 1 it mixes α with 1.
//!   Reference values and mixing are those of version 2 of the paper as far as known; weights and bounds are not confirmed.
//! - Windows below two segments, sub-segment pacing and the resumption of a stored α are not modelled.
//! ## Parameters
//! `g`: weight of the latest round trip in α, 1/16 (draft; RFC 8257 §4.2). `rtt_virt`: 25 ms (draft §2.4.4); 0 turns the adaptation off.
//! `transition`: 500 round trips (draft; Linux' `prague_rtt_transition`). `burst`: 250 µs (draft; the bound of RFC 9331 is looser).
//! `classic_queue`: ignore; Linux' switch is off as well.

use crate::cc::contract::{Avoidance, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, MarkCount};
use crate::params::{Default, Kind, Param};
use crate::qdisc::Ecn;
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// Smallest window after a mark, and smallest burst, in segments.
const LEAST: Segments = 2.0;

/// By how much the pacing rate is above its mean for half of each virtual round-trip time, and below for the other half (Linux).
const RATE_OFFSET: f64 = 4.0 / 128.0;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "prague",
    summary: "Prague: DCTCP for L4S with ECT(1), paced, fair between short and long round trips",
    reference: "draft-briscoe-iccrg-prague-congestion-control-04",
    params: &[
        Param {
            name: "g",
            kind: Kind::Number { min: 1e-6, max: 1.0 },
            default: Default::Number(1.0 / 16.0),
            doc: "weight of the latest round trip in α",
        },
        Param {
            name: "rtt_virt",
            kind: Kind::Duration { min: 0.0, max: 10.0 },
            default: Default::Number(0.025),
            doc: "round-trip time as which shorter ones count",
        },
        Param {
            name: "transition",
            kind: Kind::Number { min: 0.0, max: 1e9 },
            default: Default::Number(500.0),
            doc: "round trips after slow start until short round-trip times count as `rtt_virt`",
        },
        Param {
            name: "burst",
            kind: Kind::Duration { min: 0.0, max: 1.0 },
            default: Default::Number(0.00025),
            doc: "longest burst, as time at the pacing rate; two segments may always leave",
        },
        Param {
            name: "classic_queue",
            kind: Kind::Word(&["ignore", "detect"]),
            default: Default::Word("ignore"),
            doc: "whether signs of a classic ECN queue lead back to Reno's response",
        },
    ],
    quantities: &[
        quantity("alpha", "", "moving average of the share of marked bytes"),
        quantity("pacing_rate", "bit/s", "pacing rate").on("rate"),
        quantity("classic_score", "", "signs of a classic queue: 0 and below none, 1 and above certain"),
    ],
    build: |params| {
        Ok(Box::new(Prague {
            g: params.number("g"),
            rtt_virt: Duration::from_secs_f64(params.number("rtt_virt")),
            transition: params.number("transition") as u64,
            longest_burst: params.number("burst"),
            classic: (params.word("classic_queue") == "detect").then(Classic::default),
            alpha: 1.0,
            marks: None,
            smss: Bytes(0),
            header: Bytes(0),
            whole: false,
            srtt: None,
            round: Round::default(),
            rounds: 0,
            rest: 0.0,
            fast: true,
            reduced: None,
            rate: None,
        }))
    },
};

/// What was delivered since the last update of α.
#[derive(Clone, Copy, Debug, core::default::Default)]
struct Round {
    /// The round trip ends when an ACK exceeds this position.
    end: u64,
    /// Begin of the period of α; `None` before the first mark.
    since: Option<Instant>,
    bytes: u64,
    marked: u64,
    /// Whether the round trip has had marks.
    hit: bool,
}

/// Signs of a classic queue.
#[derive(Clone, Copy, Debug, core::default::Default)]
struct Classic {
    score: f64,
    /// Mean and mean deviation of the round-trip time in seconds, over about a window of ACKs.
    mean: f64,
    deviation: f64,
}

impl Classic {
    fn measure(&mut self, rtt: f64, cwnd: Segments) {
        if self.mean == 0.0 {
            (self.mean, self.deviation) = (rtt, rtt / 2.0);
        }
        let gain = 1.0 / cwnd.max(8.0);
        let error = rtt - self.mean;
        self.mean += gain * error;
        self.deviation += gain * (error.abs() - self.deviation);
    }

    fn judge(&mut self, least: f64) {
        let lg = |value: f64, reference: f64| libm::log2((value / reference).max(1e-3));
        self.score += lg(self.deviation, 750e-6) / 2.0 + lg(self.mean - least, 2e-3) / 2.0;
        self.score = self.score.clamp(-16.0, 17.0);
    }

    /// How certain it is that the queue is a classic one.
    fn share(self) -> f64 {
        self.score.clamp(0.0, 1.0)
    }
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    g: f64,
    rtt_virt: Duration,
    transition: u64,
    /// In seconds.
    longest_burst: f64,
    classic: Option<Classic>,
    /// Moving average of the share of marked bytes; 1 until the first mark.
    alpha: f64,
    /// How the feedback counts marks.
    marks: Option<MarkCount>,
    smss: Bytes,
    header: Bytes,
    /// Whether windows are whole segments.
    whole: bool,
    srtt: Option<Duration>,
    round: Round,
    /// Round trips since slow start.
    rounds: u64,
    /// The part of the window that a host with whole segments cannot use.
    rest: Segments,
    /// Whether the pacing rate is above its mean now, instead of below.
    fast: bool,
    /// Time of the last reduction by a mark, and the window before it.
    reduced: Option<(Instant, Segments)>,
    /// The rate at the last ACK, for bursts and traces.
    rate: Option<Rate>,
}

impl Prague {
    /// Whether the feedback only says that there were marks, not how many.
    fn is_classic(&self) -> bool {
        self.marks == Some(MarkCount::AtMost)
    }

    /// Whether short round-trip times count as `rtt_virt`.
    fn is_adapting(&self) -> bool {
        self.rounds >= self.transition && self.srtt.is_some_and(|srtt| srtt < self.rtt_virt)
    }

    /// Growth per round trip, in segments.
    fn increase(&self) -> Segments {
        match self.srtt {
            Some(srtt) if self.is_adapting() => {
                let share = srtt.as_secs_f64() / self.rtt_virt.as_secs_f64();
                share * share
            }
            _ => 1.0,
        }
    }

    /// The time for which a reduction suppresses others.
    fn suppression(&self) -> Duration {
        let srtt = self.srtt.unwrap_or(Duration::ZERO);
        if self.is_adapting() { srtt.max(self.rtt_virt) } else { srtt }
    }

    /// In each virtual round-trip time the rate is above its mean for one half, and below for the other.
    fn is_fast(&self, now: Instant) -> bool {
        let half = self.srtt.map_or(self.rtt_virt, |srtt| srtt.max(self.rtt_virt)).as_secs_f64() / 2.0;
        half == 0.0 || libm::fmod(now.as_secs_f64() / half, 2.0) < 1.0
    }

    fn end_round(&mut self, ack: &Ack, window: &Window) {
        if ack.snd_una <= self.round.end {
            return;
        }
        self.round.end = ack.snd_nxt;
        self.rounds += u64::from(window.cwnd >= window.ssthresh);
        if std::mem::take(&mut self.round.hit)
            && let (Some(classic), Some(least)) = (&mut self.classic, ack.min_rtt)
        {
            classic.judge(least.as_secs_f64());
        }
        if let Some(since) = self.round.since
            && ack.now.since(since) >= self.rtt_virt
            && self.round.bytes > 0
        {
            // RFC 8257 §3.3. A marked copy of delivered data can make the marks exceed what was delivered.
            let share = (self.round.marked as f64 / self.round.bytes as f64).min(1.0);
            self.alpha += self.g * (share - self.alpha);
            (self.round.since, self.round.bytes, self.round.marked) = (Some(ack.now), 0, 0);
        }
    }

    /// The response to a mark.
    fn reduce(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        let suppressed = self.reduced.is_some_and(|(at, _)| event.now.since(at) < self.suppression());
        if suppressed && self.is_adapting() {
            return Window { cwnd: window.cwnd, ssthresh: window.ssthresh.min(window.cwnd) };
        }
        // As elsewhere, a congestion leaves no window above the one in force, which the receiver may limit.
        let before = window.cwnd.min(event.window) + self.rest;
        let certain = self.classic.map_or(0.0, Classic::share);
        let share = self.alpha + certain * (1.0 - self.alpha);
        let cwnd = (before * (1.0 - share / 2.0)).max(LEAST);
        self.reduced = Some((event.now, before));
        Window::reduced_to(self.usable(cwnd))
    }

    /// The part of a window that the host can use; the rest waits, because small reductions must not cost a whole segment.
    fn usable(&mut self, cwnd: Segments) -> Segments {
        let usable = if self.whole { libm::floor(cwnd) } else { cwnd };
        self.rest = cwnd - usable;
        usable
    }
}

impl Avoidance for Prague {
    fn on_established(&mut self, event: &Established) {
        (self.smss, self.header, self.whole) = (event.smss, event.header, event.whole_segments);
        (self.marks, self.srtt) = (event.marks, event.rtt);
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.srtt = ack.srtt.or(self.srtt);
        self.fast = self.is_fast(ack.now);
        self.rate = self.pacing_rate(window);
        if let (Some(classic), Some(rtt)) = (&mut self.classic, ack.rtt) {
            classic.measure(rtt.as_secs_f64(), window.cwnd);
        }
        if ack.marked > 0 && self.round.since.is_none() {
            (self.round.since, self.round.bytes, self.round.marked) = (Some(ack.now), 0, 0);
        }
        self.round.hit |= ack.marked > 0;
        self.round.bytes += ack.delivered;
        self.round.marked += ack.marked;
        self.end_round(ack, window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd + self.rest;
        self.usable(cwnd + ack.counted * self.increase() / cwnd)
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        if event.cause == Cause::EcnCe && !self.is_classic() {
            return self.reduce(event, window);
        }
        self.rest = 0.0;
        let before = match self.reduced {
            Some((at, before)) if event.now.since(at) < self.srtt.unwrap_or(Duration::ZERO) => before,
            _ => event.window,
        };
        Window::halved(before.min(2.0 * window.cwnd))
    }

    fn on_restart(&mut self) {
        self.rest = 0.0;
    }

    fn owns_marks(&self) -> bool {
        !self.is_classic()
    }

    fn ecn(&self) -> Ecn {
        if self.is_classic() { Ecn::Ect0 } else { Ecn::Ect1 }
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        let seconds = self.srtt?.max(Duration::NANOSECOND).as_secs_f64();
        let windows = match (window.cwnd < window.ssthresh / 2.0, self.fast) {
            (true, _) => 2.0,
            (false, true) => 1.0 + RATE_OFFSET,
            (false, false) => 1.0 - RATE_OFFSET,
        };
        // The host's pacer counts headers too.
        Rate::from_bits_per_sec((windows * window.cwnd * (self.smss.0 + self.header.0) as f64 * 8.0 / seconds) as u64)
    }

    fn burst(&self) -> Bytes {
        let timed = self.rate.map_or(0.0, |rate| rate.as_bits_per_sec() as f64 / 8.0 * self.longest_burst);
        Bytes((LEAST * (self.smss.0 + self.header.0) as f64).max(timed) as u64)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("alpha", self.alpha);
        if let Some(rate) = self.rate {
            out("pacing_rate", rate.as_bits_per_sec() as f64);
        }
        if let Some(classic) = &self.classic {
            out("classic_score", classic.score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, established, internal};

    fn part(set: &[(&str, Value)]) -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&Established { marks: Some(MarkCount::Exact), header: Bytes(40), ..established(1460) });
        part
    }

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    const WINDOW: Window = Window { cwnd: 20.0, ssthresh: 10.0 };

    /// A round trip of `rtt` milliseconds that ends at `millis` and has delivered ten segments, some of them marked.
    fn round(part: &mut dyn Avoidance, millis: u64, rtt: u64, marked: u64) {
        let rtt = Some(Duration::from_millis(rtt));
        let (snd_una, snd_nxt) = (millis * 1000, millis * 1000 + 1);
        let ack = Ack { now: at(millis), delivered: 14_600, marked: 1460 * marked, snd_una, snd_nxt, rtt, srtt: rtt, min_rtt: rtt, ..ACK };
        part.observe(&ack, &WINDOW);
    }

    fn mark(part: &mut dyn Avoidance, millis: u64, window: Window) -> Window {
        part.respond(&CongestionEvent { now: at(millis), ..congestion(Cause::EcnCe, window.cwnd) }, &window)
    }

    fn alpha(part: &dyn Avoidance) -> f64 {
        internal(|out| part.internals(out), "alpha")
    }

    #[test]
    fn the_first_mark_halves_and_later_ones_follow_the_average() {
        let mut part = part(&[]);
        for number in 1..10 {
            round(&mut *part, 50 * number, 50, 0);
        }
        assert_eq!(alpha(&*part), 1.0, "the average begins with the first mark");
        round(&mut *part, 500, 50, 5);
        assert_eq!(mark(&mut *part, 500, WINDOW), Window { cwnd: 10.0, ssthresh: 10.0 });
        // Five of the first twenty segments, and nineteen periods without marks: (1 − g · 3/4) · (15/16)^19.
        for number in 11..=30 {
            round(&mut *part, 50 * number, 50, 0);
        }
        let expected = (1.0 - 0.75 / 16.0) * 0.9375_f64.powi(19);
        assert_close(alpha(&*part), expected, 1e-12);
        assert_close(mark(&mut *part, 1500, WINDOW).cwnd, 20.0 * (1.0 - expected / 2.0), 1e-12);
    }

    #[test]
    fn short_round_trips_count_as_25_ms() {
        let mut part = part(&[("transition", Value::Number(2.0))]);
        round(&mut *part, 10, 5, 1);
        // Five round trips of 5 ms are one period of the average.
        let before = alpha(&*part);
        for number in 1..=4 {
            round(&mut *part, 10 + 5 * number, 5, 0);
        }
        assert_eq!(alpha(&*part), before);
        round(&mut *part, 35, 5, 0);
        assert!(alpha(&*part) < before);
        // (5/25)² of a segment per round trip, and one reduction in 25 ms.
        assert_close(part.on_ack(&ACK, &WINDOW), 20.0 + 0.04 / 20.0, 1e-12);
        let reduced = mark(&mut *part, 40, WINDOW);
        assert!(reduced.cwnd < 20.0);
        let later = Window { cwnd: 15.0, ssthresh: 10.0 };
        assert_eq!(mark(&mut *part, 60, later), later);
        assert!(mark(&mut *part, 65, later).cwnd < 15.0);
    }

    #[test]
    fn a_mark_and_a_loss_together_halve() {
        let mut part = part(&[]);
        round(&mut *part, 100, 50, 5);
        for number in 3..=40 {
            round(&mut *part, 50 * number, 50, 0);
        }
        let reduced = mark(&mut *part, 2000, WINDOW);
        assert!((19.0..20.0).contains(&reduced.cwnd), "{reduced:?}");
        let mut lose = |millis, window: Window| {
            part.respond(&CongestionEvent { now: at(millis), ..congestion(Cause::DupAck, window.cwnd) }, &window).cwnd
        };
        assert_eq!(lose(2030, reduced), 10.0);
        assert_eq!(lose(2200, Window { cwnd: 16.0, ssthresh: 10.0 }), 8.0, "a round trip later the mark has no part in it");
    }

    #[test]
    fn classic_feedback_is_renos() {
        let mut part = part(&[]);
        assert_eq!((part.ecn(), part.owns_marks()), (Ecn::Ect1, true));
        part.on_established(&Established { marks: Some(MarkCount::AtMost), ..established(1460) });
        assert_eq!((part.ecn(), part.owns_marks()), (Ecn::Ect0, false));
        round(&mut *part, 50, 50, 1);
        round(&mut *part, 100, 50, 0);
        assert_eq!(mark(&mut *part, 100, WINDOW).cwnd, 10.0);
    }

    #[test]
    fn whole_segments_lose_no_fraction() {
        let mut part = build(&ENTRY, &[("g", Value::Number(1.0))]).unwrap();
        part.on_established(&Established { whole_segments: true, marks: Some(MarkCount::Exact), ..established(1460) });
        round(&mut *part, 50, 50, 1);
        round(&mut *part, 100, 50, 1);
        assert_close(alpha(&*part), 0.1, 1e-12);
        let reduced = mark(&mut *part, 100, Window { cwnd: 31.0, ssthresh: 10.0 });
        assert_eq!(reduced.cwnd, 29.0, "29.45");
        // 0.45 and eighteen times 1/29.5 are more than a segment.
        let windows: Vec<f64> = (0..18).map(|_| part.on_ack(&ACK, &Window { cwnd: 29.0, ssthresh: 29.0 })).collect();
        assert_eq!((windows[15], windows[16]), (29.0, 30.0));
    }

    #[test]
    fn the_window_is_paced_over_the_round_trip_in_short_bursts() {
        let mut part = part(&[]);
        round(&mut *part, 50, 50, 0);
        let rate = |cwnd, ssthresh| part.pacing_rate(&Window { cwnd, ssthresh }).unwrap().as_bits_per_sec();
        // 20 · 1500 B in 50 ms and 4/128 more, and twice that far below the threshold.
        assert_eq!([rate(20.0, 10.0), rate(20.0, 30.0), rate(20.0, f64::INFINITY)], [4_950_000, 4_950_000, 9_600_000]);
        assert_eq!(part.burst(), Bytes(3000), "155 B in 250 µs");
        round(&mut *part, 80, 50, 0);
        assert_eq!(part.pacing_rate(&WINDOW).unwrap().as_bits_per_sec(), 4_650_000, "in the other half");
    }

    #[test]
    fn a_deep_and_varying_queue_is_a_classic_one() {
        let score = |rtts: [u64; 4]| {
            let mut part = part(&[("classic_queue", Value::Word("detect".to_owned()))]);
            for number in 0..400 {
                let millis = 200 + 50 * number;
                let rtt = Some(Duration::from_millis(rtts[number as usize % 4]));
                let (snd_una, snd_nxt, min_rtt) = (millis * 1000, millis * 1000 + 1, Some(Duration::from_millis(40)));
                let ack = Ack { now: at(millis), delivered: 14_600, marked: 1460, snd_una, snd_nxt, rtt, srtt: rtt, min_rtt, ..ACK };
                part.observe(&ack, &WINDOW);
            }
            (internal(|out| part.internals(out), "classic_score"), mark(&mut *part, 30_000, WINDOW).cwnd)
        };
        assert_eq!(score([45, 60, 75, 60]), (17.0, 10.0), "Reno's response");
        let (shallow, cwnd) = score([40, 41, 41, 40]);
        assert_eq!(shallow, -16.0);
        assert!(cwnd > 17.0, "{cwnd}");
    }
}
