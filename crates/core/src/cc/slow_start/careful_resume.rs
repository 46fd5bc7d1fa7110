//! Careful Resume: jumps to half of the window that an earlier connection had, and keeps it only if the path carries it.
//! ## What it does
//! Starts like the slow start inside (*reconnaissance*). Once the initial window is acknowledged without congestion, and the round-trip time
//! is like the saved one, the window becomes `jump` times the saved one, and its packets leave evenly over a round trip (*unvalidated*).
//! When the first of them is acknowledged, the window becomes the data in flight, and grows as the slow start inside decides (*validating*)
//! until the last one is acknowledged; from then on the flow is a usual one.
//!
//! `PipeSize` counts what the path has carried: the flight before the jump, and what is acknowledged since. Congestion while unvalidated
//! packets are outstanding reduces the window to half of it (*safe retreat*). Without growth and PRR it stays there until the last
//! unvalidated packet is acknowledged; then the threshold becomes `beta` times `PipeSize`.
//!
//! What is saved are the bytes delivered in a round trip and the smallest round-trip time, and a later connection between the same hosts
//! finds what the latest of those before it measured. `saved_cwnd` and `saved_rtt` replace that, for stale or wrong knowledge.
//! ## References
//! RFC 9959 (draft-ietf-tsvwg-careful-resume-24).
//! ## Differs from the document
//! - The rules were written from a summary of the draft; the RFC's text was not compared with it.
//! - A jump is for a flow that the window limits: the ACK that permits the window to grow makes it jump.
//! - What is saved is the latest round that the window limited. Less than four initial windows is no reason to jump. A retreat leaves its
//!   own, smaller measurement instead of the saved one, which comes to the same as forgetting it.
//! - Connections that overlap may use the same saved window; the document permits it to one of them.
//! - There is no change of paths.
//! - The receiver's window also limits the jump: a host that raises it step by step, as `modern` does by default, delays it.
//! ## Parameters
//! `jump`: 0.5, `rtt_low`: 0.5, `rtt_high`: 10, and `beta`: 0.5, from the document. `max_jump`: 1000000 segments, in practice no bound, and
//! `lifetime`: auto, no limit; the document leaves both to the operator. `saved_cwnd` and `saved_rtt`: auto, from an earlier connection.
//! `slow_start`: the slow start inside; standard.

use crate::cc::contract::{SlowStart, Step, Wants, Window};
use crate::cc::slow_start::{INNER, inner};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, Cause, CongestionEvent, Established, SavedPath, Sent};
use crate::params::{Default, Kind, Param, Params};
use crate::units::{Bytes, Duration, Instant, Rate, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "careful_resume",
    summary: "Careful Resume: jumps to half of an earlier connection's window, round any slow start",
    reference: "RFC 9959",
    params: &[
        number("jump", 0.01, 1.0, 0.5, "share of the saved window to which the window jumps"),
        Param {
            name: "max_jump",
            kind: Kind::Segments { min: 1.0, max: 1e6 },
            default: Default::Number(1e6),
            doc: "largest window after the jump; the default is in practice no bound",
        },
        number("beta", 0.01, 1.0, 0.5, "share of PipeSize that becomes the threshold after a retreat"),
        number("rtt_low", 0.0, 1.0, 0.5, "no jump at a smallest round-trip time of at most this share of the saved one"),
        number("rtt_high", 1.0, 1e6, 10.0, "no jump at a round-trip time of at least this multiple of the saved one"),
        Param {
            name: "lifetime",
            kind: Kind::Duration { min: 0.0, max: 1e9 },
            default: Default::Auto,
            doc: "age from which saved values do not count; auto: no limit",
        },
        Param {
            name: "saved_cwnd",
            kind: Kind::Segments { min: 1.0, max: 1e9 },
            default: Default::Auto,
            doc: "saved window; auto: what an earlier connection between the same hosts delivered in a round trip",
        },
        Param {
            name: "saved_rtt",
            kind: Kind::Duration { min: 0.0, max: 1e3 },
            default: Default::Auto,
            doc: "saved round-trip time; auto: the smallest of the earlier connection",
        },
        INNER,
    ],
    quantities: &[
        quantity("resume_phase", "", "0: usual, 1: reconnaissance, 2: unvalidated, 3: validating, 4: safe retreat"),
        quantity("pipe_size", "segments", "what the path has carried since the jump, with the flight before it").on("inflight"),
    ],
    build: |params| {
        if params.number_or_auto("saved_cwnd").is_some() != params.number_or_auto("saved_rtt").is_some() {
            return Err("saved_cwnd and saved_rtt belong together: set both, or none".to_owned());
        }
        Ok(Box::new(CarefulResume::new(params, inner(params)?)))
    },
};

const fn number(name: &'static str, min: f64, max: f64, default: f64, doc: &'static str) -> Param {
    Param { name, kind: Kind::Number { min, max }, default: Default::Number(default), doc }
}

/// Initial windows below which a saved window is no reason to jump.
const WORTHWHILE: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Usual,
    Reconnaissance,
    Unvalidated,
    Validating,
    SafeRetreat,
}

/// Careful Resume. Positions and amounts are in bytes.
#[derive(Clone, Debug)]
pub struct CarefulResume {
    jump: f64,
    max_jump: Segments,
    beta: f64,
    rtt_low: f64,
    rtt_high: f64,
    lifetime: Option<Duration>,
    given: Option<(Segments, Duration)>,
    smss: u64,
    header: u64,
    phase: Phase,
    initial: f64,
    /// The window and the round-trip time of an earlier connection.
    known: Option<(f64, Duration)>,
    pipe_size: f64,
    /// The unvalidated packets lie between these positions.
    first: u64,
    last: u64,
    entered: Instant,
    rtt: Duration,
    snd_nxt: u64,
    /// The present round, and what was delivered before it.
    round: u64,
    delivered: u64,
    measured: Option<SavedPath>,
    inner: Box<dyn SlowStart>,
}

impl CarefulResume {
    fn new(params: &Params, inner: Box<dyn SlowStart>) -> Self {
        let seconds = |name| params.number_or_auto(name).map(Duration::from_secs_f64);
        Self {
            jump: params.number("jump"),
            max_jump: params.number("max_jump"),
            beta: params.number("beta"),
            rtt_low: params.number("rtt_low"),
            rtt_high: params.number("rtt_high"),
            lifetime: seconds("lifetime"),
            given: params.number_or_auto("saved_cwnd").zip(seconds("saved_rtt")),
            smss: 1,
            header: 0,
            phase: Phase::Usual,
            initial: 0.0,
            known: None,
            pipe_size: 0.0,
            first: 0,
            last: 0,
            entered: Instant::ZERO,
            rtt: Duration::ZERO,
            snd_nxt: 0,
            round: 0,
            delivered: 0,
            measured: None,
            inner,
        }
    }

    fn segments(&self, bytes: f64) -> Segments {
        bytes / self.smss as f64
    }

    /// What is delivered in each round that the window limits; a shorter round counts if it delivers more.
    fn measure(&mut self, ack: &Ack) {
        if ack.round == self.round {
            return;
        }
        let bytes = ack.total.delivered.saturating_sub(self.delivered) as f64;
        (self.round, self.delivered) = (ack.round, ack.total.delivered);
        let Some(rtt) = ack.min_rtt else { return };
        if ack.cwnd_limited || self.measured.is_none_or(|saved| saved.bytes < bytes) {
            self.measured = Some(SavedPath { bytes, rtt, at: ack.now });
        }
    }

    /// RFC 9959: whether the path is like the one that was saved, and the window after the jump, in segments.
    fn may_jump(&self, ack: &Ack, cwnd: Segments) -> Option<Segments> {
        let ((bytes, saved_rtt), min_rtt) = (self.known?, ack.min_rtt?);
        let rtt = ack.rtt.or(ack.srtt)?;
        let alike = min_rtt > saved_rtt * self.rtt_low && rtt < saved_rtt * self.rtt_high;
        let target = (self.jump * self.segments(bytes)).min(self.max_jump);
        (alike && target > cwnd).then_some(target)
    }

    /// The unvalidated packets have left, or their time is over: the window becomes the data in flight, or the amount that the path has carried.
    fn validate(&mut self, ack: &Ack, window: &Window) -> Window {
        let flight = ack.inflight as f64;
        self.last = ack.snd_nxt;
        let cwnd = if flight < self.initial || flight <= self.pipe_size {
            self.phase = Phase::Usual;
            self.pipe_size.max(self.initial)
        } else {
            self.phase = Phase::Validating;
            flight
        };
        Window { cwnd: self.segments(cwnd).clamp(1.0, window.cwnd.max(1.0)), ssthresh: window.ssthresh }
    }
}

impl SlowStart for CarefulResume {
    fn inner(&self) -> Option<&dyn SlowStart> {
        Some(&*self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn SlowStart> {
        Some(&mut *self.inner)
    }

    fn wants(&self) -> Wants {
        self.inner.wants().with(|wants| wants.saved_path = self.given.is_none())
    }

    fn on_established(&mut self, event: &Established, window: &Window) {
        (self.smss, self.header) = (event.smss.0.max(1), event.header.0);
        self.initial = window.cwnd * self.smss as f64;
        let saved = event.saved.filter(|saved| self.lifetime.is_none_or(|most| event.now.since(saved.at) <= most));
        self.known = match self.given {
            Some((cwnd, rtt)) => Some((cwnd * self.smss as f64, rtt)),
            None => saved.map(|saved| (saved.bytes, saved.rtt)).filter(|(bytes, _)| *bytes >= WORTHWHILE * self.initial),
        };
        self.phase = if self.known.is_some() && !event.syn_lost() { Phase::Reconnaissance } else { Phase::Usual };
        self.inner.on_established(event, window);
    }

    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.measure(ack);
        self.snd_nxt = ack.snd_nxt;
        if matches!(self.phase, Phase::Unvalidated | Phase::Validating | Phase::SafeRetreat) {
            self.pipe_size += ack.delivered as f64;
        }
        self.inner.observe(ack, window);
    }

    fn set_window(&mut self, ack: &Ack, window: &Window) -> Option<Window> {
        let inside = self.inner.set_window(ack, window);
        match self.phase {
            Phase::Unvalidated => {
                let full = ack.inflight as f64 >= window.cwnd * self.smss as f64;
                let over = full || ack.snd_una > self.first || ack.now > self.entered + self.rtt;
                if over { Some(self.validate(ack, window)) } else { inside }
            }
            Phase::Validating if ack.snd_una >= self.last => {
                self.phase = Phase::Usual;
                inside
            }
            Phase::SafeRetreat if ack.snd_una >= self.last => {
                self.phase = Phase::Usual;
                Some(Window { cwnd: window.cwnd, ssthresh: self.segments(self.pipe_size * self.beta).max(2.0) })
            }
            _ => inside,
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Step {
        match self.phase {
            Phase::Reconnaissance if ack.snd_una as f64 >= self.initial => {
                let Some(cwnd) = self.may_jump(ack, window.cwnd) else {
                    self.phase = Phase::Usual;
                    return self.inner.on_ack(ack, window);
                };
                self.phase = Phase::Unvalidated;
                (self.pipe_size, self.first, self.entered) = (ack.inflight as f64, ack.snd_nxt, ack.now);
                self.rtt = ack.rtt.or(ack.srtt).unwrap_or(Duration::ZERO);
                Step::Stay(Window { cwnd, ssthresh: window.ssthresh })
            }
            // The window is what is to be validated.
            Phase::Unvalidated | Phase::SafeRetreat => Step::Grow(0.0),
            // A jump may have passed the threshold.
            _ if window.cwnd >= window.ssthresh => Step::Leave(*window),
            _ => self.inner.on_ack(ack, window),
        }
    }

    fn on_sent(&mut self, sent: &Sent, window: &Window) {
        self.snd_nxt = sent.snd_nxt;
        self.inner.on_sent(sent, window);
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window, usual: &Window) -> Option<Window> {
        let inside = self.inner.respond(event, window, usual);
        let unvalidated = matches!(self.phase, Phase::Unvalidated | Phase::Validating);
        if !unvalidated || event.restart || event.cause == Cause::Timeout {
            self.phase = Phase::Usual;
            return inside;
        }
        if self.phase == Phase::Unvalidated {
            self.last = self.snd_nxt;
        }
        self.phase = Phase::SafeRetreat;
        let cwnd = self.segments((self.pipe_size / 2.0).max(self.initial)).min(event.window);
        // Slow start stays in charge, without growth.
        Some(Window { cwnd, ssthresh: event.window.max(cwnd + 1.0) })
    }

    fn on_spurious(&mut self) {
        // The window is as before the retreat, and there is nothing left to retreat from.
        if self.phase == Phase::SafeRetreat {
            self.phase = Phase::Validating;
        }
        self.inner.on_spurious();
    }

    fn owns_recovery(&self) -> bool {
        self.phase == Phase::SafeRetreat || self.inner.owns_recovery()
    }

    fn saved_path(&self) -> Option<SavedPath> {
        self.measured
    }

    fn on_restart(&mut self) {
        self.phase = Phase::Usual;
        self.inner.on_restart();
    }

    fn on_mss(&mut self, smss: Bytes) {
        self.smss = smss.0.max(1);
        self.inner.on_mss(smss);
    }

    fn paces(&self) -> bool {
        true
    }

    fn pacing_rate(&self, window: &Window) -> Option<Rate> {
        if self.phase != Phase::Unvalidated {
            return self.inner.pacing_rate(window);
        }
        let seconds = self.rtt.max(Duration::NANOSECOND).as_secs_f64();
        // The host's pacer counts headers too.
        Rate::from_bits_per_sec((window.cwnd * (self.smss + self.header) as f64 * 8.0 / seconds) as u64)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("resume_phase", f64::from(self.phase as u8));
        out("pipe_size", self.segments(self.pipe_size));
        self.inner.internals(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::slow_start::AXIS;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, established, internal, window};
    use proptest::prelude::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + ms(millis)
    }

    fn saved(cwnd: f64, rtt: f64) -> [(&'static str, Value); 2] {
        [("saved_cwnd", Value::Number(cwnd)), ("saved_rtt", Value::Number(rtt))]
    }

    fn phase(part: &dyn SlowStart) -> f64 {
        internal(|out| part.internals(out), "resume_phase")
    }

    /// An ACK at `now` milliseconds with a round-trip time of 100 ms, below `una`, with `inflight` segments in flight.
    fn ack(now: u64, una: u64, inflight: u64) -> Ack {
        let rtt = Some(ms(100));
        let (snd_una, snd_nxt, inflight) = (1000 * una, 1000 * (una + inflight), 1000 * inflight);
        Ack { now: at(now), snd_una, snd_nxt, inflight, rtt, min_rtt: rtt, srtt: rtt, ..ACK }
    }

    /// The document's example: an initial window of ten, and 29 segments in flight at the jump. The saved window is 300.
    fn jumped(set: &[(&str, Value)]) -> (Box<dyn SlowStart>, Step) {
        let mut part = build(&ENTRY, set).unwrap();
        part.on_established(&established(1000), &window(10.0));
        let event = ack(100, 10, 29);
        part.observe(&event, &window(29.0));
        let step = part.on_ack(&event, &window(29.0));
        (part, step)
    }

    #[test]
    fn the_documents_example_without_loss() {
        let (mut part, step) = jumped(&saved(300.0, 0.1));
        let jump = window(150.0);
        assert_eq!((step, phase(&*part)), (Step::Stay(jump), 2.0));
        // A round-trip time for 150 segments.
        assert_eq!(part.pacing_rate(&jump).map(Rate::as_bits_per_sec), Some(12_000_000));
        // While ACKs of the 29 arrive, the window stays and PipeSize counts them.
        for una in 11..=39 {
            let event = Ack { snd_una: 1000 * una, snd_nxt: 160_000, inflight: 120_000, ..ack(150, 0, 0) };
            part.observe(&event, &jump);
            assert_eq!((part.set_window(&event, &jump), part.on_ack(&event, &jump)), (None, Step::Grow(0.0)));
        }
        assert_eq!(internal(|out| part.internals(out), "pipe_size"), 58.0);
        // The ACK of the first unvalidated packet: 120 in flight are to be validated.
        let event = Ack { snd_una: 40_000, snd_nxt: 160_000, inflight: 120_000, ..ack(200, 0, 0) };
        part.observe(&event, &jump);
        assert_eq!((part.set_window(&event, &jump), phase(&*part)), (Some(window(120.0)), 3.0));
        assert_eq!(part.on_ack(&event, &window(120.0)), Step::Grow(1.0), "the slow start inside decides");
        let event = Ack { snd_una: 160_000, ..event };
        assert_eq!((part.set_window(&event, &window(200.0)), phase(&*part)), (None, 0.0));
    }

    #[test]
    fn the_documents_example_with_a_loss() {
        // Packet 64 is lost when PipeSize is 63: 29 in flight at the jump, and 34 acknowledged.
        let (mut part, _) = jumped(&saved(300.0, 0.1));
        for una in 11..=44 {
            let event = Ack { snd_una: 1000 * una, snd_nxt: 160_000, inflight: 120_000, ..ack(200, 0, 0) };
            part.observe(&event, &window(150.0));
            part.set_window(&event, &window(150.0));
        }
        assert_eq!(internal(|out| part.internals(out), "pipe_size"), 63.0);
        let answer = part.respond(&congestion(Cause::DupAck, 150.0), &window(150.0), &Window::halved(150.0));
        assert_eq!(answer.map(|window| window.cwnd), Some(31.5));
        assert!(part.owns_recovery() && phase(&*part) == 4.0);
        let retreat = answer.unwrap();
        assert_eq!(part.on_ack(&ack(210, 45, 100), &retreat), Step::Grow(0.0), "no growth");
        // PipeSize goes on counting until the last unvalidated packet: 63 + 116 − 1.
        let event = Ack { snd_una: 160_000, delivered: 115_000, ..ack(300, 0, 0) };
        part.observe(&event, &retreat);
        assert_eq!(part.set_window(&event, &retreat), Some(Window { cwnd: 31.5, ssthresh: 89.0 }));
        assert!(!part.owns_recovery() && phase(&*part) == 0.0);
    }

    #[test]
    fn a_rate_limited_flow_keeps_what_it_uses() {
        // A round trip after the jump, 50 are in flight of the 150 permitted, and PipeSize is 29.
        let (mut part, _) = jumped(&saved(300.0, 0.1));
        let event = Ack { snd_una: 10_500, cwnd_limited: false, ..ack(201, 10, 50) };
        assert_eq!((part.set_window(&event, &window(150.0)), phase(&*part)), (Some(window(50.0)), 3.0));
        // If no more than before is in flight, the window is what the path has carried.
        let (mut part, _) = jumped(&saved(300.0, 0.1));
        assert_eq!(part.set_window(&ack(201, 10, 20), &window(150.0)), Some(window(29.0)));
        assert_eq!(phase(&*part), 0.0);
    }

    #[test]
    fn unlike_paths_and_small_windows_do_not_jump() {
        for (cwnd, rtt, jumps) in
            [(300.0, 0.2, false), (300.0, 0.199, true), (300.0, 0.01, false), (300.0, 0.0101, true), (50.0, 0.1, false), (60.0, 0.1, true)]
        {
            let (part, step) = jumped(&saved(cwnd, rtt));
            assert_eq!((phase(&*part) == 2.0, matches!(step, Step::Stay(_))), (jumps, jumps), "{cwnd} {rtt}");
        }
        let (part, step) = jumped(&[]);
        assert_eq!((phase(&*part), step), (0.0, Step::Grow(1.0)), "nothing is saved");
        let (_, step) = jumped(&[&saved(300.0, 0.1)[..], &[("max_jump", Value::Number(80.0))]].concat());
        assert_eq!(step, Step::Stay(window(80.0)));
        assert!(build(&ENTRY, &saved(300.0, 0.1)[..1]).unwrap_err().contains("belong together"));
    }

    #[test]
    fn congestion_before_the_jump_and_timeouts_end_it() {
        let mut part = build(&ENTRY, &saved(300.0, 0.1)).unwrap();
        part.on_established(&established(1000), &window(10.0));
        assert!(part.respond(&congestion(Cause::DupAck, 10.0), &window(10.0), &Window::halved(10.0)).is_none());
        assert_eq!(phase(&*part), 0.0);
        let (mut part, _) = jumped(&saved(300.0, 0.1));
        assert!(part.respond(&congestion(Cause::Timeout, 150.0), &window(150.0), &Window::halved(150.0)).is_none());
        assert_eq!(phase(&*part), 0.0);
    }

    #[test]
    fn it_saves_a_round_and_the_next_connection_jumps_by_it() {
        let mut part = build(&ENTRY, &[("slow_start", Value::Part(AXIS.spec("hystart")))]).unwrap();
        assert!(part.wants().saved_path && part.wants().timing);
        part.on_established(&established(1000), &window(10.0));
        for (round, delivered, cwnd_limited) in [(1, 10, true), (2, 30, true), (3, 80, true), (4, 90, false)] {
            let total = crate::events::Totals::new(0, 1000 * delivered, 0);
            part.observe(&Ack { cwnd_limited, total, round, ..ack(100 * round, delivered, 50) }, &window(100.0));
        }
        let path = part.saved_path().unwrap();
        assert_eq!((path.bytes, path.rtt, path.at), (50_000.0, ms(100), at(300)), "the last round was short");
        let resumes = |saved: Option<SavedPath>, lifetime: f64, now: u64| {
            let mut part = build(&ENTRY, &[("lifetime", Value::Number(lifetime))]).unwrap();
            part.on_established(&established(1000).with(|event| (event.saved, event.now) = (saved, at(now))), &window(10.0));
            phase(&*part) == 1.0
        };
        let small = SavedPath { bytes: 39_000.0, ..path };
        assert_eq!([resumes(Some(path), 1.0, 1300), resumes(Some(path), 1.0, 1301), resumes(Some(small), 1.0, 400)], [true, false, false]);
        assert!(!resumes(None, 1.0, 400));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_retreat_leaves_at_most_half_of_what_the_path_carried(acked in 0..40_u64, cwnd in 100.0..1e4_f64) {
            let (mut part, _) = jumped(&saved(cwnd, 0.1));
            for una in 11..11 + acked {
                part.observe(&Ack { snd_una: 1000 * una, snd_nxt: 1_000_000, ..ack(150, 0, 0) }, &window(cwnd / 2.0));
            }
            let force = cwnd / 2.0;
            let answer = part.respond(&congestion(Cause::DupAck, force), &window(force), &Window::halved(force)).unwrap();
            assert_close(answer.cwnd, ((29 + acked) as f64 / 2.0).max(10.0).min(force), 1e-9);
            prop_assert!(answer.ssthresh.is_finite() && answer.ssthresh > answer.cwnd);
        }
    }
}
