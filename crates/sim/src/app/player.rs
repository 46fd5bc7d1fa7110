//! A player of segments: it requests one after the other, each at a bitrate of a ladder, and plays what has arrived.
//!
//! ## What it does
//! The receiver requests a segment, and the sender answers on the same connection. Playback begins once `start` of media has arrived, or the
//! buffer is full, or nothing more comes. It stalls when the buffer runs empty before the last segment has arrived, and resumes by the same
//! rule. The next request leaves when a segment has arrived and the buffer has room for another one.
//!
//! `abr` chooses the bitrate of each segment. `throughput` takes the highest one up to `safety` times the harmonic mean of the throughputs of
//! the last `samples` segments, from request to last byte; before the first sample, and if all are higher, the lowest. `buffer` is BBA-0: a
//! line from the lowest bitrate at the reservoir to the highest at reservoir plus cushion, and a bitrate that changes only when the line has
//! passed the next step of the ladder.
//!
//! ## References
//! J. Jiang, V. Sekar and H. Zhang, Improving Fairness, Efficiency, and Stability in HTTP-based Adaptive Video Streaming with FESTIVE, `CoNEXT`
//! 2012 (harmonic mean). T.-Y. Huang et al., A Buffer-Based Approach to Rate Adaptation, SIGCOMM 2014, Algorithm 1 (BBA-0).
//!
//! ## Differs from the document
//! Every segment of a bitrate has the same size: bitrate times length. The algorithm of BBA-0 and the numbers of both papers are written from
//! knowledge; they were not compared with the papers' text. FESTIVE's random scheduling and gradual switching are left out.
//!
//! ## Parameters
//! `samples` 20 and `safety` 0.85 are FESTIVE's. `reservoir` 0.375 and `cushion` 0.525 are BBA-0's 90 s and 126 s of a buffer of 240 s.
//! `segment` 4 s, `start` of one segment and `buffer` of ten are choices of this project.

use std::collections::VecDeque;

use ackclock_core::units::{Duration, Instant};
use ackclock_host::{Side, StreamId};

use super::event::{Action, Event};
use super::rows::{Media, Transfer};
use crate::scenario::{Abr, ApplicationSpec, PlayerSpec};

/// What the screen shows.
#[derive(Clone, Copy, Debug)]
enum Playback {
    /// Nothing since `since`, with this much media in the buffer.
    Waits { since: Instant, buffered: Duration },
    /// The video since `since`; the buffer runs empty at `empty` unless more arrives.
    Plays { since: Instant, empty: Instant },
    /// The video is over.
    Ended,
}

/// The state of a player.
#[derive(Debug)]
pub(crate) struct Player {
    rules: PlayerSpec,
    began: Instant,
    stop: Option<Instant>,
    playback: Playback,
    /// Time of the next request; none while a segment is on its way, and after the last one.
    next: Option<Instant>,
    /// Time at which the server answers the request in progress.
    answer: Option<Instant>,
    /// Whether the server has received the request in progress.
    received: bool,
    /// Whether no further segment is requested.
    complete: bool,
    /// Total bytes of requests and of responses, with the segment in progress.
    requested_bytes: u64,
    response_bytes: u64,
    /// The step of the ladder of the segment requested last.
    step: usize,
    /// Seconds that each bit of the last segments took.
    samples: VecDeque<f64>,
    switches: u64,
    /// Sum of the bitrates of complete segments, in bit/s, and their number.
    rates: (f64, u64),
    startup: Option<Duration>,
    stalls: u64,
    stalled: Duration,
    played: Duration,
    transfers: Vec<Transfer>,
}

impl Player {
    pub(super) fn new(spec: &ApplicationSpec, rules: &PlayerSpec) -> Self {
        let samples = if let Abr::Throughput { samples, .. } = rules.abr { samples as usize } else { 0 };
        let mut player = Self {
            rules: rules.clone(),
            began: spec.start,
            stop: spec.stop,
            playback: Playback::Waits { since: spec.start, buffered: Duration::ZERO },
            next: None,
            answer: None,
            received: true,
            complete: false,
            requested_bytes: 0,
            response_bytes: 0,
            step: 0,
            samples: VecDeque::with_capacity(samples),
            switches: 0,
            rates: (0.0, 0),
            startup: None,
            stalls: 0,
            stalled: Duration::ZERO,
            played: Duration::ZERO,
            transfers: Vec::new(),
        };
        player.plan(spec.start);
        player
    }

    pub(super) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Wake => {}
            Event::Delivered { side: Side::Sender, total, .. } => {
                if total >= self.requested_bytes && !std::mem::replace(&mut self.received, true) {
                    self.answer = Some(now + self.rules.server_delay);
                }
            }
            Event::Delivered { side: Side::Receiver, total, .. } => self.receive(now, total, actions),
        }
        if self.answer.take_if(|at| *at <= now).is_some() {
            let bytes = self.transfers.last().map_or(0, |segment| segment.bytes);
            actions.push(Action::Write(0, StreamId::FIRST, Side::Sender, bytes));
        }
        if self.next.take_if(|at| *at <= now).is_some() {
            self.request(now, actions);
        }
        if let Playback::Plays { since, empty } = self.playback
            && empty <= now
        {
            self.played += now.since(since);
            self.playback = if self.complete { Playback::Ended } else { Playback::Waits { since: now, buffered: Duration::ZERO } };
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let empty = if let Playback::Plays { empty, .. } = self.playback { Some(empty) } else { None };
        [self.next, self.answer, empty].into_iter().flatten().min()
    }

    /// The segments, and the measures of a run that ends at `end`.
    pub(super) fn into_results(mut self, end: Instant) -> (Vec<Transfer>, Media) {
        match self.playback {
            Playback::Waits { since, .. } if self.startup.is_some() => self.count_stall(end.since(since)),
            Playback::Plays { since, .. } => self.played += end.since(since),
            Playback::Waits { .. } | Playback::Ended => {}
        }
        let (sum, complete) = self.rates;
        let arrived = self.transfers.iter().filter(|segment| segment.completed.is_some());
        let media = Media {
            parts: self.transfers.len() as u64,
            parts_complete: complete,
            bytes: arrived.map(|segment| segment.bytes).fold(0, u64::saturating_add),
            bitrate_bps: (complete > 0).then(|| sum / complete as f64),
            switches: self.switches,
            startup_time: self.startup,
            stalls: Some(self.stalls),
            stall_time: Some(self.stalled),
            played_time: Some(self.played),
            late_share: None,
            frame_delay_median: None,
            frame_delay_p95: None,
            frame_delay_p99: None,
        };
        (self.transfers, media)
    }

    /// Plans the next request, if there is another segment.
    fn plan(&mut self, at: Instant) {
        let more = self.rules.segments.is_none_or(|segments| self.transfers.len() < segments as usize);
        self.next = Some(at).filter(|at| more && self.stop.is_none_or(|stop| *at < stop));
        self.complete = self.next.is_none();
    }

    /// The media in the buffer.
    fn level(&self, now: Instant) -> Duration {
        match self.playback {
            Playback::Waits { buffered, .. } => buffered,
            Playback::Plays { empty, .. } => empty.since(now),
            Playback::Ended => Duration::ZERO,
        }
    }

    fn request(&mut self, now: Instant, actions: &mut Vec<Action>) {
        let step = self.choose(self.level(now));
        if self.transfers.is_empty() {
            actions.push(Action::Open(0));
        } else {
            self.switches += u64::from(step != self.step);
        }
        self.step = step;
        let bytes = self.rules.bitrates[step].bytes_in(self.rules.segment).ceil().clamp(1.0, 1e15) as u64;
        self.received = false;
        self.requested_bytes = self.requested_bytes.saturating_add(self.rules.request);
        self.response_bytes = self.response_bytes.saturating_add(bytes);
        self.transfers.push(Transfer {
            page: self.transfers.len() as u32,
            object: 0,
            connection: Some(0),
            bytes,
            queued: now,
            requested: Some(now),
            first_byte: None,
            completed: None,
        });
        actions.push(Action::Write(0, StreamId::FIRST, Side::Receiver, self.rules.request));
    }

    /// `total` bytes of segments have reached the player.
    fn receive(&mut self, now: Instant, total: u64, actions: &mut Vec<Action>) {
        let Some(segment) = self.transfers.last_mut().filter(|segment| segment.completed.is_none()) else { return };
        if total > self.response_bytes - segment.bytes {
            segment.first_byte.get_or_insert(now);
        }
        if total < self.response_bytes {
            return;
        }
        segment.completed = Some(now);
        let took = now.since(segment.queued).as_secs_f64() / (8.0 * segment.bytes as f64);
        if let Abr::Throughput { samples, .. } = self.rules.abr {
            if self.samples.len() == samples as usize {
                self.samples.pop_front();
            }
            self.samples.push_back(took);
        }
        self.rates.0 += self.rules.bitrates[self.step].as_bits_per_sec() as f64;
        self.rates.1 += 1;
        self.take(now);
        if self.complete {
            actions.push(Action::Close(0, StreamId::FIRST, Side::Receiver));
        }
    }

    /// Puts a segment into the buffer, plays if that suffices, and plans the next request.
    fn take(&mut self, now: Instant) {
        let rules = &self.rules;
        let (segment, room) = (rules.segment, rules.buffer - rules.segment);
        match &mut self.playback {
            Playback::Plays { empty, .. } => *empty += segment,
            Playback::Waits { buffered, .. } => *buffered += segment,
            Playback::Ended => {}
        }
        // Times that were written as decimals are compared with a tolerance.
        let level = self.level(now);
        let enough = level + Duration::NANOSECOND >= rules.start || level > room + Duration::NANOSECOND;
        self.plan(now + (level - room));
        if let Playback::Waits { since, buffered } = self.playback
            && (enough || self.complete)
        {
            match self.startup {
                None => self.startup = Some(now.since(self.began)),
                Some(_) => self.count_stall(now.since(since)),
            }
            self.playback = Playback::Plays { since: now, empty: now + buffered };
        }
    }

    /// A wait that ends at the moment at which it began is no stall.
    fn count_stall(&mut self, lasted: Duration) {
        self.stalls += u64::from(lasted > Duration::ZERO);
        self.stalled += lasted;
    }

    /// The step of the ladder for the next segment, with this much media in the buffer.
    fn choose(&self, level: Duration) -> usize {
        let rates = &self.rules.bitrates;
        let highest = |holds: &dyn Fn(f64) -> bool| rates.iter().rposition(|rate| holds(rate.as_bits_per_sec() as f64)).unwrap_or(0);
        match self.rules.abr {
            Abr::Throughput { safety, .. } => {
                let most = safety * self.samples.len() as f64 / self.samples.iter().sum::<f64>();
                highest(&|rate| rate <= most)
            }
            Abr::Buffer { reservoir, cushion } => {
                let (share, last) = (level.as_secs_f64() / self.rules.buffer.as_secs_f64(), rates.len() - 1);
                if share <= reservoir {
                    return 0;
                }
                if share >= reservoir + cushion {
                    return last;
                }
                let rate = |step: usize| rates[step].as_bits_per_sec() as f64;
                let line = rate(0) + (rate(last) - rate(0)) * (share - reservoir) / cushion;
                if line >= rate((self.step + 1).min(last)) {
                    highest(&|rate| rate < line)
                } else if line <= rate(self.step.saturating_sub(1)) {
                    rates.iter().position(|rate| rate.as_bits_per_sec() as f64 > line).unwrap_or(last)
                } else {
                    self.step
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "player_tests.rs"]
mod tests;
