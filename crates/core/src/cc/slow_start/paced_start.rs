//! Paced Start: sends trains of packets, and finds the available bandwidth by comparing their gaps with those of the ACKs.
//! ## What it does
//! Each round sends one train, evenly paced over a share `spread` of the round-trip time, and waits for its ACKs. If the ACKs' mean gap exceeds
//! that of the packets by more than `tolerance`, the train was faster than the available bandwidth. Until then, each train has twice as many
//! packets as the last in the same time. From then on the gap is bisected, between the largest that was too fast and the smallest that was not;
//! the ACKs' gap itself is one that the path can carry. The first train that agrees with its ACKs ends the search: the window becomes the
//! smallest round-trip time over the gap, leaves at that rate for a round trip, and is the threshold.
//!
//! A loss or a mark ends the search with the usual response. A later slow start is the standard one.
//! ## References
//! Hu & Steenkiste, *Improving TCP startup performance using active measurements: algorithm and evaluation*, 2003; their abstract and idea.
//! ## Differs from the document
//! - The paper's text could not be opened. Gaps of train and ACKs, their bisection and the window at the end are as others report them; the
//!   length of trains, `spread` and `tolerance` are choices of this part.
//! - The gap of a train is measured from the times at which the host has sent it, and that of the ACKs from the bytes that they deliver; of a
//!   host that sends in bursts, both without the first one.
//! - Trains have an even number of packets, so that a receiver that acknowledges every second one does not delay the last ACK. Where a host
//!   sends in bursts it still may: a last ACK that comes more than twice as late as any other does not count.
//! - Without a round-trip time from the handshake, the first train leaves at once.
//! - A train of fewer than two packets shows nothing, such as one that the application limits; the next is like it.
//! ## Parameters
//! `spread`: 0.5 of a round trip. `tolerance`: 5 %.

use crate::cc::contract::{SlowStart, Step, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Established, Sent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "paced_start",
    summary: "Paced Start: trains of packets, whose gaps are compared with those of the ACKs",
    reference: "Hu & Steenkiste 2003",
    params: &[
        Param {
            name: "spread",
            kind: Kind::Number { min: 0.01, max: 1.0 },
            default: Default::Number(0.5),
            doc: "share of the round-trip time in which a train leaves",
        },
        Param {
            name: "tolerance",
            kind: Kind::Number { min: 0.001, max: 1.0 },
            default: Default::Number(0.05),
            doc: "share by which the ACKs' gap may exceed that of the train without being larger",
        },
    ],
    quantities: &[
        quantity("train_length", "segments", "length of the present train").on("inflight"),
        quantity("sent_gap", "s", "mean gap between the packets of the last train").on("gap"),
        quantity("acked_gap", "s", "mean gap between the segments that its ACKs delivered").on("gap"),
    ],
    build: |params| Ok(Box::new(PacedStart::new(params))),
};

/// A train and its ACKs.
#[derive(Clone, Copy, Debug, core::default::Default)]
struct Train {
    /// The position after which its first packet begins.
    start: u64,
    /// Bytes sent, and when the first and the last packet left.
    sent: u64,
    left: Option<(Instant, Instant)>,
    /// Bytes that left at once in the beginning, of which gaps tell nothing.
    burst: u64,
    acked: u64,
    /// When the last ACK but one arrived, how many bytes were acknowledged by then, and the longest time between two ACKs until then.
    previous: Option<(Instant, u64, Duration)>,
    /// When the first and the last ACK arrived, and what the first one delivered.
    arrived: Option<(Instant, Instant)>,
    first_acked: u64,
    /// When the first burst was acknowledged, and how many bytes were by then.
    since: Option<(Instant, u64)>,
    /// The position after its last packet, once the first ACK has arrived: the train has left by then.
    end: u64,
}

impl Train {
    fn sent(&mut self, now: Instant, size: u64) {
        if self.arrived.is_some() {
            // A host that always sends two packets adds one to those that wait for ACKs.
            return;
        }
        self.sent += size;
        let (first, last) = self.left.get_or_insert((now, now));
        *last = now;
        if *first == now {
            self.burst += size;
        }
    }

    fn acked(&mut self, now: Instant, bytes: u64, snd_nxt: u64) {
        if let Some((_, last)) = &mut self.arrived {
            let longest = self.previous.map_or(Duration::ZERO, |(at, _, longest)| longest.max(last.since(at)));
            self.previous = Some((*last, self.acked, longest));
            *last = now;
        } else {
            (self.arrived, self.first_acked, self.end) = (Some((now, now)), bytes, snd_nxt);
        }
        self.acked += bytes;
        if self.acked >= self.burst {
            self.since.get_or_insert((now, self.acked));
        }
    }

    /// The mean gaps of the packets and of the ACKs after the first burst, in seconds per segment of `smss` bytes. The gap of packets that all
    /// left at once is zero. The last ACK does not count if it is so late that it is a delayed one.
    fn gaps(&self, smss: f64) -> Option<(f64, f64)> {
        let gap = |from: Instant, to: Instant, bytes: u64| (bytes > 0).then(|| to.since(from).as_secs_f64() * smss / bytes as f64);
        let ((first, last), (answered, end)) = (self.left?, self.arrived?);
        let unpaced = self.sent == self.burst;
        let (since, before) = if unpaced { (answered, self.first_acked) } else { self.since? };
        let (end, acked) = match self.previous {
            Some((at, acked, longest)) if acked > before && end.since(at).as_secs_f64() > 2.0 * longest.as_secs_f64() => (at, acked),
            _ => (end, self.acked),
        };
        let sent = if unpaced { 0.0 } else { gap(first, last, self.sent - self.burst)? };
        Some((sent, gap(since, end, acked - before)?))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Trains are sent.
    Searching,
    /// The window that was found leaves; it began at this position.
    Found(u64),
    /// A standard slow start.
    Over,
}

/// Paced Start. Gaps are in seconds per segment.
#[derive(Clone, Debug)]
pub struct PacedStart {
    spread: f64,
    tolerance: f64,
    smss: f64,
    header: f64,
    state: State,
    train: Train,
    length: Segments,
    gap: Option<f64>,
    /// The largest gap that was too small, and the smallest that was not.
    fast: Option<f64>,
    slow: Option<f64>,
    /// The gaps of the last train and of its ACKs; zero before.
    measured: (f64, f64),
}

impl PacedStart {
    fn new(params: &Params) -> Self {
        Self {
            spread: params.number("spread"),
            tolerance: params.number("tolerance"),
            smss: 1.0,
            header: 0.0,
            state: State::Searching,
            train: Train::default(),
            length: 2.0,
            gap: None,
            fast: None,
            slow: None,
            measured: (0.0, 0.0),
        }
    }

    /// The gap that the last train has found, if the search is over.
    fn judge(&mut self, (sent, acked): (f64, f64)) -> Option<f64> {
        let too_fast = acked > sent * (1.0 + self.tolerance);
        if too_fast {
            self.fast = Some(sent);
            self.slow = Some(self.slow.map_or(acked, |slow| slow.min(acked)));
        } else if self.fast.is_some() {
            return Some(acked);
        } else {
            self.slow = Some(sent);
        }
        let (fast, slow) = (self.fast?, self.slow?);
        (slow <= fast * (1.0 + self.tolerance)).then_some(slow)
    }

    /// All ACKs of a train have arrived: the window for the next.
    fn next(&mut self, ack: &Ack) -> Segments {
        let measured = self.train.gaps(self.smss);
        self.train = Train { start: ack.snd_nxt, ..Train::default() };
        let (Some(rtt), Some(gaps)) = (ack.min_rtt, measured) else { return self.length };
        let rtt = rtt.as_secs_f64();
        self.measured = gaps;
        if let Some(gap) = self.judge(gaps).filter(|gap| *gap > 0.0) {
            (self.state, self.gap) = (State::Found(ack.snd_nxt), Some(gap));
            return (rtt / gap).max(2.0);
        }
        let gap = match (self.fast, self.slow) {
            (Some(fast), Some(slow)) => f64::midpoint(fast, slow),
            _ => self.spread * rtt / (2.0 * self.length),
        };
        self.gap = Some(gap);
        self.length = even(self.spread * rtt / gap);
        self.length
    }
}

/// An even number of segments, at least two.
fn even(segments: f64) -> Segments {
    (libm::round(segments / 2.0) * 2.0).max(2.0)
}

impl SlowStart for PacedStart {
    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.header) = (event.smss.0.max(1) as f64, event.header.0 as f64);
        // A SYN is no packet of a train.
        (self.length, self.train) = (window.cwnd, Train::default());
        self.gap = event.rtt.map(|rtt| self.spread * rtt.as_secs_f64() / window.cwnd);
    }

    fn on_sent(&mut self, sent: &Sent, _window: &Window) {
        if self.state == State::Searching {
            self.train.sent(sent.now, sent.size);
        }
    }

    fn set_window(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        match self.state {
            // An ACK of what left after the last train, while that was acknowledged.
            State::Searching if ack.snd_una <= self.train.start => None,
            State::Searching => {
                self.train.acked(ack.now, ack.delivered.min(ack.snd_una - self.train.start), ack.snd_nxt);
                let cwnd = if ack.snd_una < self.train.end {
                    // Nothing leaves between two trains.
                    libm::floor(ack.inflight as f64 / self.smss).clamp(1.0, window.cwnd.max(1.0))
                } else {
                    self.next(ack)
                };
                Some(Window { cwnd, ssthresh: window.ssthresh })
            }
            State::Found(start) if ack.snd_una > start => {
                self.state = State::Over;
                Some(Window { cwnd: window.cwnd, ssthresh: window.cwnd })
            }
            State::Found(_) | State::Over => None,
        }
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(if self.state == State::Over { ack.counted } else { 0.0 })
    }

    fn on_congestion(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.state = State::Over;
    }

    fn on_restart(&mut self) {
        self.state = State::Over;
    }

    fn on_mss(&mut self, smss: Bytes) {
        let smss = smss.0.max(1) as f64;
        let factor = smss / self.smss;
        self.smss = smss;
        self.length = (self.length / factor).max(1.0);
        let scaled = |gap: Option<f64>| gap.map(|gap| gap * factor);
        (self.gap, self.fast, self.slow) = (scaled(self.gap), scaled(self.fast), scaled(self.slow));
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, _window: &Window) -> Option<Rate> {
        let gap = self.gap.filter(|gap| self.state != State::Over && *gap > 0.0)?;
        // The host's pacer counts headers too.
        Rate::from_bits_per_sec(((self.smss + self.header) * 8.0 / gap) as u64)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("train_length", self.length);
        let (sent, acked) = self.measured;
        out("sent_gap", sent);
        out("acked_gap", acked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, SENT, assert_close, build, congestion, established, internal, window};
    use proptest::prelude::*;

    const RTT: f64 = 0.1;

    /// Runs the part over a link that sends a segment in each `service` seconds, with a round trip of 100 ms besides. Returns the trains'
    /// lengths, and the window found.
    fn search(set: &[(&str, Value)], service: f64, known: bool) -> (Vec<f64>, f64) {
        let mut part = build(&ENTRY, set).unwrap();
        let event = established(1000).with(|event| event.rtt = known.then(|| Duration::from_secs_f64(RTT)));
        let mut now = RTT;
        let mut at = window(10.0);
        part.on_established(&event, &at);
        let (mut trains, mut nxt) = (Vec::new(), 0_u64);
        for _ in 0..40 {
            let count = at.cwnd as u64;
            trains.push(at.cwnd);
            let gap = part.pacing_rate(&at).map_or(0.0, |rate| 8000.0 / rate.as_bits_per_sec() as f64);
            let (mut busy, mut arrivals, una) = (0.0_f64, Vec::new(), nxt);
            for number in 0..count {
                let left = now + gap * number as f64;
                nxt += 1000;
                part.on_sent(&Sent { now: Instant::ZERO + Duration::from_secs_f64(left), snd_nxt: nxt, ..SENT }, &at);
                busy = busy.max(left) + service;
                arrivals.push(busy - service + RTT);
            }
            for (number, arrival) in arrivals.iter().enumerate() {
                now = *arrival;
                let ack = Ack {
                    now: Instant::ZERO + Duration::from_secs_f64(now),
                    min_rtt: Some(Duration::from_secs_f64(RTT)),
                    inflight: (count - 1 - number as u64) * 1000,
                    snd_una: una + (number as u64 + 1) * 1000,
                    snd_nxt: nxt,
                    ..ACK
                };
                at = part.set_window(&ack, &at).unwrap_or(at);
                if at.ssthresh.is_finite() {
                    assert_eq!(part.pacing_rate(&at), None, "the avoidance goes on");
                    return (trains, at.ssthresh);
                }
            }
        }
        panic!("no end: {trains:?}")
    }

    #[test]
    fn trains_double_until_one_is_too_fast_and_the_gap_is_bisected() {
        let (trains, found) = search(&[], 0.001, true);
        // In 50 ms, 80 packets are too many at one per ms: gaps of 0.625, 0.8125, 0.90625 and 0.953 ms, the last within 5 % of the ACKs' 1 ms.
        let rounded: Vec<f64> = trains.into_iter().map(libm::round).collect();
        assert_eq!(rounded, [10.0, 20.0, 40.0, 80.0, 62.0, 56.0, 52.0, 100.0]);
        assert_close(found, 100.0, 0.5);
    }

    #[test]
    fn without_a_round_trip_time_the_first_train_shows_the_bottleneck() {
        let (trains, found) = search(&[], 0.001, false);
        assert_eq!(trains[..2], [10.0, 100.0], "half of the gap of the ACKs, so twice as fast");
        assert_close(found, 100.0, 0.5);
    }

    #[test]
    fn congestion_ends_the_search() {
        let mut part = build(&ENTRY, &[]).unwrap();
        let event = established(1000).with(|event| event.rtt = Some(Duration::from_millis(100)));
        part.on_established(&event, &window(10.0));
        assert_eq!(part.pacing_rate(&window(10.0)).map(Rate::as_bits_per_sec), Some(1_600_000), "10 kB in 50 ms");
        assert_eq!(part.on_ack(&ACK, &window(10.0)), Step::Grow(0.0));
        let held = part.set_window(&Ack { inflight: 9000, snd_una: 1000, snd_nxt: 10_000, ..ACK }, &window(10.0));
        assert_eq!(held, Some(window(9.0)), "nothing leaves until the last ACK is in");
        assert_close(internal(|out| part.internals(out), "train_length"), 10.0, 0.0);
        part.on_congestion(&congestion(Cause::DupAck, 10.0), &window(10.0));
        assert_eq!((part.pacing_rate(&window(10.0)), part.on_ack(&ACK, &window(5.0))), (None, Step::Grow(1.0)));
        assert_eq!(part.set_window(&ACK, &window(5.0)), None);
    }

    proptest! {
        #[test]
        fn the_window_found_is_the_product_of_the_path(service in 0.000_05..0.01_f64, known in prop::bool::ANY, tolerance in 0.01..0.1_f64) {
            let (_, found) = search(&[("tolerance", Value::Number(tolerance))], service, known);
            let bdp = (RTT / service).max(2.0);
            prop_assert!((found - bdp).abs() <= (1.2 * tolerance * bdp).max(1.0), "{found} {bdp}");
        }
    }
}
