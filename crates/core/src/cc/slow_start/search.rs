//! SEARCH: ends slow start when deliveries fall behind the data sent a round trip earlier.
//! ## What it does
//! Grows like standard slow start, and counts sent and delivered bytes in bins of time. It compares the bytes delivered in the last `bins`
//! bins with the bytes sent in as many bins one round trip earlier. If the missing share reaches `threshold`, slow start ends.
//!
//! Below the path's capacity both amounts are equal; beyond it deliveries fall behind. The round trip is the latest one, which a queue
//! lengthens. With a long queue slow start therefore ends at a window of 5.3 to 6 bandwidth-delay products; a shorter queue overflows
//! first.
//! ## References
//! draft-chung-ccwg-search (version 3.0: `signal` `twice_delivered`, `threshold` 0.35, `exit` `roll_back`; draft-09: the defaults); Chung
//! et al., *SEARCH*.
//! ## Differs from the document
//! - Between two bins, values are interpolated towards the older bin. The draft's pseudocode interpolates towards the newer one, which its
//!   authors call a mistake.
//! - Shares of a bin are real numbers.
//! - `drain` sets the window at once to the bytes delivered in one initial round trip, so that nothing leaves until the queue is empty.
//! - `roll_back` interpolates; the draft rolls back whole bins.
//! - The bins restart after congestion.
//! ## Parameters
//! `window_factor`: 3.5 initial round trips, `bins`: 10, `extra_bins`: 15, `threshold`: 0.26, `signal`: `sent`, `exit`: `drain`, all from
//! draft-09. `missed_bins`: 10, from the QUIC stack neqo; draft-09 leaves it open. With `exit = "keep"` neqo leaves the window unchanged,
//! because the drain took it below CUBIC's range.
//!
//! Traces show `bin_duration` in seconds, and `norm`, the missing share at the last check, which keeps its value after slow start.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Established};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "search",
    summary: "SEARCH: ends when deliveries fall behind the data sent a round trip earlier",
    reference: "draft-chung-ccwg-search",
    params: &[
        param("window_factor", Kind::Number { min: 0.1, max: 1e3 }, 3.5, "length of the window of bins, in initial round-trip times"),
        param("bins", Kind::Integer { min: 1.0, max: 1e3 }, 10.0, "bins in the window"),
        param(
            "extra_bins",
            Kind::Integer { min: 1.0, max: 1e3 },
            15.0,
            "bins stored in addition to the window; no check if the round trip is longer",
        ),
        param(
            "missed_bins",
            Kind::Integer { min: 1.0, max: 1e9 },
            10.0,
            "largest number of bins without an ACK; beyond it the bins restart",
        ),
        param("threshold", Kind::Number { min: 0.0, max: 1.0 }, 0.26, "missing share of the sent bytes at which slow start ends"),
        Param {
            name: "signal",
            kind: Kind::Word(&["sent", "twice_delivered"]),
            default: Default::Word("sent"),
            doc: "reference for deliveries: bytes sent a round trip earlier, or twice the bytes delivered then",
        },
        Param {
            name: "exit",
            kind: Kind::Word(&["keep", "roll_back", "drain"]),
            default: Default::Word("drain"),
            doc: "window after slow start: unchanged, less the bytes delivered in two initial round trips, or the bytes delivered in one",
        },
    ],
    quantities: &[
        quantity("bin_duration", "s", "length of a bin"),
        quantity("norm", "", "missing share: deliveries below the data sent a round trip earlier"),
    ],
    build: |params| Ok(Box::new(Search::new(params))),
};

const fn param(name: &'static str, kind: Kind, default: f64, doc: &'static str) -> Param {
    Param { name, kind, default: Default::Number(default), doc }
}

/// The window at the end of slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    Keep,
    RollBack,
    Drain,
}

/// Cumulative counters of the connection at the end of a bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    sent: u64,
    delivered: u64,
}

/// Slow start that compares deliveries with sent data.
#[derive(Clone, Debug)]
pub struct Search {
    window_factor: f64,
    bins: u64,
    extra_bins: u64,
    missed_bins: u64,
    threshold: f64,
    twice_delivered: bool,
    exit: Exit,
    smss: Bytes,
    initial_window: Segments,
    clock: Option<Clock>,
    /// The last bins; bin `n` is at index `n` modulo their number.
    ring: Vec<Bin>,
    /// The missing share at the last check.
    norm: Option<f64>,
    /// Whether that check ends slow start.
    exit_due: bool,
}

/// The current position in the bins. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Length of a bin.
    duration: u64,
    /// End of the present bin.
    end: u64,
    /// The last bin that has ended; 0 holds the counters before the first bin.
    index: u64,
}

impl Search {
    fn new(params: &Params) -> Self {
        let count = |name| params.number(name) as u64;
        let (bins, extra_bins) = (count("bins"), count("extra_bins"));
        Self {
            window_factor: params.number("window_factor"),
            bins,
            extra_bins,
            missed_bins: count("missed_bins"),
            threshold: params.number("threshold"),
            twice_delivered: params.word("signal") == "twice_delivered",
            exit: match params.word("exit") {
                "roll_back" => Exit::RollBack,
                "drain" => Exit::Drain,
                _ => Exit::Keep,
            },
            smss: Bytes(1),
            initial_window: 1.0,
            clock: None,
            ring: vec![Bin::default(); (bins + extra_bins + 1) as usize],
            norm: None,
            exit_due: false,
        }
    }

    /// Discards the bins; the next ACK starts new ones.
    fn reset(&mut self) {
        (self.clock, self.exit_due) = (None, false);
    }

    /// Starts the first bin; `rtt` is the initial round-trip time in nanoseconds.
    fn start(&mut self, now: u64, rtt: u64, bin: Bin) {
        let duration = ((rtt as f64 * self.window_factor / self.bins as f64) as u64).max(1);
        self.clock = Some(Clock { duration, end: now + duration, index: 0 });
        self.ring[0] = bin;
    }

    fn slot(&self, index: u64) -> usize {
        (index % self.ring.len() as u64) as usize
    }

    /// The counter `of` at the end of a bin, `back` bins before bin `index`. A fraction interpolates between two bins.
    fn at(&self, index: u64, back: f64, of: fn(&Bin) -> u64) -> f64 {
        let whole = libm::floor(back);
        let share = back - whole;
        let newer = index.saturating_sub(whole as u64);
        let older = newer.saturating_sub(1);
        (1.0 - share) * of(&self.ring[self.slot(newer)]) as f64 + share * of(&self.ring[self.slot(older)]) as f64
    }

    /// Ends the bins that are over, and checks for the end of slow start. A bin ends at the first ACK strictly later than its end.
    fn update(&mut self, now: u64, rtt: u64, bin: Bin) {
        let Some(clock) = self.clock else { return self.start(now, rtt, bin) };
        if now <= clock.end {
            return;
        }
        let passed = (now - clock.end) / clock.duration + 1;
        if passed > self.missed_bins {
            return self.reset();
        }
        let last = self.ring[self.slot(clock.index)];
        let index = clock.index + passed;
        for missed in (clock.index + 1).max(index.saturating_sub(self.ring.len() as u64))..index {
            let slot = self.slot(missed);
            self.ring[slot] = last;
        }
        let slot = self.slot(index);
        self.ring[slot] = bin;
        self.clock = Some(Clock { end: clock.end + passed * clock.duration, index, ..clock });
        if let Some(norm) = self.check(index, rtt as f64 / clock.duration as f64) {
            (self.norm, self.exit_due) = (Some(norm), norm >= self.threshold);
        }
    }

    /// The missing share: of the bytes sent one round trip (`back` bins) earlier, the share not delivered. `None` if the bins do not reach
    /// that far back.
    fn check(&self, index: u64, back: f64) -> Option<f64> {
        if back >= self.extra_bins as f64 || index <= self.bins + libm::floor(back) as u64 {
            return None;
        }
        let window = self.bins as f64;
        let over = |back: f64, of: fn(&Bin) -> u64| self.at(index, back, of) - self.at(index, back + window, of);
        let delivered = over(0.0, |bin| bin.delivered);
        let sent = if self.twice_delivered { 2.0 * over(back, |bin| bin.delivered) } else { over(back, |bin| bin.sent) };
        (sent > 0.0).then(|| (sent - delivered) / sent)
    }

    /// Segments delivered in the last `round_trips` initial round trips.
    fn delivered_in(&self, round_trips: f64) -> Segments {
        let Some(clock) = self.clock else { return 0.0 };
        let back = (round_trips * self.bins as f64 / self.window_factor).min((self.bins + self.extra_bins) as f64 - 1.0);
        (self.at(clock.index, 0.0, |bin| bin.delivered) - self.at(clock.index, back, |bin| bin.delivered)) / self.smss.0 as f64
    }
}

impl SlowStart for Search {
    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.initial_window) = (Bytes(event.smss.0.max(1)), window.cwnd);
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        let Some(rtt) = ack.rtt.or(ack.srtt) else { return };
        if window.cwnd < window.ssthresh {
            let bin = Bin { sent: ack.total.sent, delivered: ack.total.delivered };
            self.update(ack.now.as_nanos(), rtt.as_nanos(), bin);
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        if !self.exit_due {
            return Step::Grow(ack.counted);
        }
        let ssthresh = match self.exit {
            Exit::Keep => window.cwnd,
            // draft-chung-ccwg-search 3.0: removes the data sent beyond the capacity before SEARCH could detect it.
            Exit::RollBack => (window.cwnd - self.delivered_in(2.0)).max(self.initial_window),
            // draft-09: the bandwidth-delay product of the path with an empty queue.
            Exit::Drain => self.delivered_in(1.0).max(self.initial_window),
        };
        self.reset();
        Step::Exit { ssthresh }
    }

    fn on_congestion(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.reset();
    }

    fn on_mss(&mut self, smss: Bytes) {
        let factor = self.smss.0 as f64 / smss.0.max(1) as f64;
        (self.smss, self.initial_window) = (Bytes(smss.0.max(1)), self.initial_window * factor);
    }

    fn on_restart(&mut self) {
        self.reset();
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(clock) = self.clock {
            out("bin_duration", Duration::from_nanos(clock.duration).as_secs_f64());
        }
        if let Some(norm) = self.norm {
            out("norm", norm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Cause, Totals};
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, established, internal, window};
    use crate::units::Instant;

    const MS: u64 = 1_000_000;

    fn search(set: &[(&str, Value)]) -> Search {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in set {
            params.set(name, value.clone());
        }
        let mut part = Search::new(&params);
        part.on_established(&established(1000), &window(10.0));
        part
    }

    fn number(value: f64) -> Value {
        Value::Number(value)
    }

    fn word(value: &str) -> Value {
        Value::Word(value.to_owned())
    }

    /// Lets `part` observe an ACK at `now` nanoseconds, after `sent` and `delivered` bytes, with a round trip of `rtt` nanoseconds.
    fn acknowledge(part: &mut Search, now: u64, rtt: u64, (sent, delivered): (u64, u64)) -> Step {
        let total = Totals { sent, delivered, lost: 0 };
        let ack = Ack { now: Instant::from_nanos(now), rtt: Some(Duration::from_nanos(rtt)), total, ..ACK };
        part.observe(&ack, &window(100.0));
        part.on_ack(&ack, &window(100.0))
    }

    fn index(part: &Search) -> u64 {
        part.clock.unwrap().index
    }

    /// A sender after `bins` bins of 35 ms, each with 100 kB sent and delivered; the last ACK has a round trip of `rtt` ms.
    fn steady(bins: u64, rtt: u64) -> Search {
        let mut part = search(&[]);
        for bin in 0..=bins {
            let rtt = if bin == bins { rtt } else { 100 };
            acknowledge(&mut part, 35 * bin * MS + bin.min(1), rtt * MS, (100_000 * (bin + 3), 100_000 * bin));
        }
        part
    }

    #[test]
    fn a_round_trip_of_100_ms_makes_bins_of_35_ms_and_the_first_check_is_at_the_thirteenth() {
        assert_close(internal(|out| steady(0, 100).internals(out), "bin_duration"), 0.035, 1e-12);
        assert_eq!((index(&steady(12, 100)), steady(12, 100).norm), (12, None), "still warming up");
        assert_eq!(index(&steady(13, 100)), 13);
        assert_eq!(steady(13, 100).norm, Some(0.0), "all sent data is delivered");
    }

    #[test]
    fn a_fractional_bin_is_interpolated() {
        // 100 ms are 2.857 bins: 14 % of the bin two before the last and 86 % of the bin three before.
        let mut part = search(&[]);
        let sent = |bin: u64| if bin < 11 { 0 } else { 1000 };
        for bin in 0..=13 {
            acknowledge(&mut part, 35 * bin * MS + bin.min(1), 100 * MS, (sent(bin), 0));
        }
        assert_close(part.at(13, 100.0 / 35.0, |bin| bin.sent), (1.0 - 6.0 / 7.0) * 1000.0, 1e-9);
        assert_eq!(part.norm, Some(1.0), "all sent data is missing");
    }

    #[test]
    fn no_check_beyond_the_stored_bins() {
        // 600 ms are 17 bins, more than 15; 520 ms are 14.9.
        assert_eq!(steady(40, 600).norm, steady(39, 100).norm, "the last check stands");
        let (near, far) = (steady(40, 520), steady(40, 600));
        assert!(near.check(40, 520.0 / 35.0).is_some() && far.check(40, 600.0 / 35.0).is_none());
    }

    #[test]
    fn a_bin_ends_strictly_after_its_end() {
        let mut part = search(&[]);
        let mut at = |now| {
            acknowledge(&mut part, now, 100 * MS, (0, 0));
            index(&part)
        };
        assert_eq!([at(0), at(35 * MS), at(35 * MS + 1), at(70 * MS), at(70 * MS + 1)], [0, 0, 1, 1, 2]);
    }

    #[test]
    fn ten_missed_bins_are_filled_and_eleven_restart_the_bins() {
        let mut part = search(&[]);
        acknowledge(&mut part, 0, 100 * MS, (5000, 4000));
        acknowledge(&mut part, 350 * MS, 100 * MS, (8000, 7000));
        assert_eq!(index(&part), 10);
        let ring: Vec<u64> = (0..=10).map(|bin| part.ring[bin].delivered).collect();
        assert_eq!(ring, [vec![4000; 10], vec![7000]].concat(), "bins without an ACK repeat the last bin");
        let mut part = search(&[]);
        acknowledge(&mut part, 0, 100 * MS, (0, 0));
        acknowledge(&mut part, 386 * MS, 100 * MS, (0, 0));
        assert!(part.clock.is_none(), "eleven bins without an ACK");
        acknowledge(&mut part, 400 * MS, 200 * MS, (0, 0));
        assert_eq!(part.clock.unwrap().duration, 70 * MS, "the next round trip counts as the initial one");
        let mut part = search(&[("missed_bins", number(1e9))]);
        acknowledge(&mut part, 0, 100 * MS, (0, 0));
        acknowledge(&mut part, 35_000_000 * MS, 100 * MS, (0, 0));
        assert_eq!(index(&part), 1_000_000);
    }

    #[test]
    fn no_share_is_missing_if_nothing_was_sent() {
        let mut part = search(&[]);
        for bin in 0..=20 {
            assert_eq!(acknowledge(&mut part, 35 * bin * MS + bin.min(1), 100 * MS, (500, 500)), Step::Grow(1.0));
        }
        assert_eq!((index(&part), part.norm), (20, None));
    }

    /// The draft's example: 1, 2, 4, 8, 16 and 16 packets delivered in bins of one round trip, with a window of four bins.
    fn example(threshold: f64) -> Step {
        let bins = [("bins", number(4.0)), ("window_factor", number(4.0)), ("threshold", number(threshold))];
        let mut part = search(&[&bins[..], &[("signal", word("twice_delivered"))]].concat());
        let (mut delivered, mut step) = (0, acknowledge(&mut search(&[]), 0, 1, (0, 0)));
        acknowledge(&mut part, 0, 100 * MS, (0, 0));
        for (bin, packets) in (1..).zip([1, 2, 4, 8, 16, 16]) {
            delivered += 1000 * packets;
            step = acknowledge(&mut part, 100 * bin * MS + 1, 100 * MS, (0, delivered));
        }
        step
    }

    #[test]
    fn the_drafts_example_misses_16_of_60() {
        assert!(matches!(example(16.0 / 60.0), Step::Exit { .. }), "(60 − 44)/60 = 0.27");
        assert_eq!(example(0.2667), Step::Grow(1.0));
    }

    /// Bytes delivered up to `t` round trips after slow start has reached the capacity of 10⁹ bytes per round trip; before that it doubles.
    fn fluid(t: f64) -> f64 {
        1e9 * if t < 0.0 { libm::exp2(t) / std::f64::consts::LN_2 } else { 1.0 / std::f64::consts::LN_2 + t }
    }

    /// The missing share at each check, with the time in round trips since the capacity was reached, up to `until`.
    fn norms(set: &[(&str, Value)], until: f64) -> Vec<(f64, f64)> {
        let mut part = search(&[set, &[("threshold", number(1.0))]].concat());
        let mut norms = Vec::new();
        for step in 0..=((until + 12.0) * 2000.0) as u64 {
            let t = step as f64 / 2000.0 - 12.0;
            let before = part.clock.map(|clock| clock.index);
            // A sender in slow start sends two segments for each delivered one.
            acknowledge(&mut part, step * MS / 20, 100 * MS, ((2.0 * fluid(t)) as u64, fluid(t) as u64));
            if before != part.clock.map(|clock| clock.index) {
                norms.extend(part.norm.map(|norm| (t, norm)));
            }
        }
        norms
    }

    #[test]
    fn the_closed_form_of_the_fluid_model() {
        let fine = [("bins", number(700.0)), ("extra_bins", number(300.0))];
        for signal in ["sent", "twice_delivered"] {
            let norms = norms(&[&fine[..], &[("signal", word(signal))]].concat(), 5.0);
            for (at, expected) in [(1.0, 0.168), (1.5, 0.268), (2.0, 0.330), (2.5, 0.376), (3.5, 0.457), (4.8, 0.5)] {
                let (_, norm) = norms.iter().find(|(t, _)| *t >= at).unwrap();
                assert_close(*norm, expected, 2e-3);
            }
            for (threshold, fires) in [(0.26, 1.45), (0.35, 2.20)] {
                let (t, _) = norms.iter().find(|(_, norm)| *norm >= threshold).unwrap();
                assert_close(*t, fires, 0.02);
            }
        }
        // Ten bins detect it at the next end of a bin, at most 0.35 round trips later.
        let (t, _) = *norms(&[], 5.0).iter().find(|(_, norm)| *norm >= 0.26).unwrap();
        assert!((1.45..1.81).contains(&t), "{t}");
    }

    #[test]
    fn the_three_exits() {
        // 100 kB per bin of 35 ms: two initial round trips of 100 ms deliver 571.4 segments, one delivers 285.7.
        let exit_window = |exit: &str, cwnd: f64| {
            let mut part = Search { exit: search(&[("exit", word(exit))]).exit, exit_due: true, ..steady(20, 100) };
            let step = part.on_ack(&ACK, &window(cwnd));
            assert!(part.clock.is_none() && !part.exit_due, "a later slow start has new bins");
            let Step::Exit { ssthresh } = step else { panic!("{step:?}") };
            ssthresh
        };
        assert_eq!(exit_window("keep", 900.0), 900.0);
        assert_close(exit_window("roll_back", 900.0), 900.0 - 4000.0 / 7.0, 1e-9);
        assert_eq!(exit_window("roll_back", 500.0), 10.0, "at least the initial window");
        assert_close(exit_window("drain", 900.0), 2000.0 / 7.0, 1e-9);
    }

    #[test]
    fn congestion_and_avoidance_do_not_count() {
        let mut part = steady(20, 100);
        part.on_congestion(&congestion(Cause::Timeout, 100.0), &window(100.0));
        assert!(part.clock.is_none());
        let ack = Ack { rtt: Some(Duration::from_millis(100)), ..ACK };
        part.observe(&ack, &Window { cwnd: 100.0, ssthresh: 100.0 });
        assert!(part.clock.is_none(), "in avoidance");
        part.observe(&Ack { rtt: None, ..ack }, &window(100.0));
        assert!(part.clock.is_none(), "without a round-trip time");
    }

    #[test]
    fn it_grows_like_standard_slow_start() {
        let mut part = build(&ENTRY, &[]).unwrap();
        assert_eq!(part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(1e6)), Step::Grow(2.0));
    }
}
