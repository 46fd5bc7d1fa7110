//! Frames of live video over TCP, at a rate that adapts to the sender's backlog.
//!
//! ## What it does
//! The source makes `fps` frames a second. Their mean size follows the target rate; every `key_interval`-th is a key frame, `key_factor` times
//! as large as the others, and each size deviates by a Laplacian distribution of scale `variation`, cut off at four scales and at the whole
//! size. A frame is written at once. Data travels in whole packets: what a frame's last packet holds beyond it belongs to the next frames, and
//! a frame that is already covered is skipped, so that the rate is exact.
//!
//! At most once in `reaction` the target rate changes. The source looks at the age of its oldest incomplete frame, less the smallest delay of
//! a frame so far. Above `backlog` the target becomes `decrease` times the rate at which data arrived since the last look, or times the
//! target if that is lower. Up to half of `backlog` it grows by `increase`.
//!
//! ## References
//! RFC 8593 (video traffic models): frame rate, range of rates, reaction latency of the encoder, Laplacian sizes.
//!
//! ## Differs from the document
//! RFC 8593 leaves the target rate to the congestion control of RTP; over TCP the source finds it from its backlog, by a rule of this project.
//! It knows at once what has arrived, without the delay of the way back. Intervals between frames do not vary, and the burst after a change
//! of the rate is left out; key frames take its place. The document's numbers below are from knowledge; they were not compared with its text.
//!
//! ## Parameters
//! `fps` 30, `min_rate` 150 kbit/s, `max_rate` 1.5 Mbit/s, `reaction` 200 ms and `variation` 0.15 are the examples of RFC 8593. `rate`, the
//! first target, is `min_rate`. `key_interval` 60 frames, `key_factor` 3, `backlog` 100 ms, `decrease` 0.85, `increase` 0.05 and `deadline`
//! 150 ms are choices of this project.

use ackclock_core::rng::Generator;
use ackclock_core::units::{Duration, Instant};

use super::event::{Action, Event};
use super::rows::{Media, Transfer};
use crate::completion::Times;
use crate::scenario::{ApplicationSpec, FramesSpec};

/// Deviations end at this many scales.
const SCALES: f64 = 4.0;

/// The state of a source of frames.
#[derive(Debug)]
pub(crate) struct Frames {
    rules: FramesSpec,
    generator: Generator,
    began: Instant,
    stop: Option<Instant>,
    next: Option<Instant>,
    /// Frames made so far, with those skipped.
    made: u64,
    /// Bytes of frames that no packet carries yet; negative if the last packet has room.
    owed: f64,
    /// Target rate in bit/s, the time of the last look at the backlog, and the bytes that had arrived then.
    target: f64,
    looked: Instant,
    arrived_then: u64,
    switches: u64,
    /// Bytes that have arrived, the first frame that is incomplete, and the bytes of all frames before it.
    arrived: u64,
    oldest: usize,
    before: u64,
    /// Smallest delay of a frame.
    least: Option<Duration>,
    transfers: Vec<Transfer>,
}

impl Frames {
    pub(super) fn new(spec: &ApplicationSpec, rules: &FramesSpec, seed: u64) -> Self {
        Self {
            rules: rules.clone(),
            generator: Generator::derived(seed, &format!("flow/{}/frame", spec.name)),
            began: spec.start,
            stop: spec.stop,
            next: Some(spec.start).filter(|start| spec.stop.is_none_or(|stop| *start < stop)),
            made: 0,
            owed: 0.0,
            target: rules.rate.as_bits_per_sec() as f64,
            looked: spec.start,
            arrived_then: 0,
            switches: 0,
            arrived: 0,
            oldest: 0,
            before: 0,
            least: None,
            transfers: Vec::new(),
        }
    }

    pub(super) fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        match event {
            Event::Delivered { total, .. } => self.deliver(now, total),
            Event::Wake if self.next.take_if(|next| *next <= now).is_some() => {
                if now.since(self.looked) + Duration::NANOSECOND >= self.rules.reaction {
                    self.adapt(now);
                }
                self.send(now, actions);
                self.made += 1;
                let next = self.began + Duration::from_secs_f64(self.made as f64 / self.rules.fps);
                self.next = Some(next).filter(|next| self.stop.is_none_or(|stop| *next < stop));
            }
            Event::Wake => {}
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }

    /// The frames, and the measures of a run that ends at `end`.
    pub(super) fn into_results(self, end: Instant) -> (Vec<Transfer>, Media) {
        let deadline = self.rules.deadline;
        // A frame whose deadline lies beyond the end, and that has not arrived, is neither late nor in time.
        let late = |frame: &&Transfer| frame.completion_time().unwrap_or_else(|| end.since(frame.queued)) > deadline;
        let complete = &self.transfers[..self.oldest];
        let judged = self.transfers.len() - self.transfers[self.oldest..].iter().filter(|frame| !late(frame)).count();
        let late = self.transfers.iter().filter(late).count();
        let delays = Times::of(complete.iter().map(|frame| frame.completion_time().map(Duration::as_secs_f64))).statistics;
        let bytes = complete.iter().map(|frame| frame.bytes).sum();
        let lasted = self.stop.unwrap_or(Instant::MAX).min(end).since(self.began).as_secs_f64();
        let media = Media {
            parts: self.transfers.len() as u64,
            parts_complete: complete.len() as u64,
            bytes,
            bitrate_bps: (lasted > 0.0 && !complete.is_empty()).then(|| 8.0 * bytes as f64 / lasted),
            switches: self.switches,
            startup_time: None,
            stalls: None,
            stall_time: None,
            played_time: None,
            late_share: (judged > 0).then(|| late as f64 / judged as f64),
            frame_delay_median: delays.map(|delays| Duration::from_secs_f64(delays.median)),
            frame_delay_p95: delays.map(|delays| Duration::from_secs_f64(delays.p95)),
            frame_delay_p99: delays.map(|delays| Duration::from_secs_f64(delays.p99)),
        };
        (self.transfers, media)
    }

    /// Adds a frame to what is to be sent, and offers the packets that it needs.
    fn send(&mut self, now: Instant, actions: &mut Vec<Action>) {
        let FramesSpec { fps, key_interval, key_factor, packet, .. } = self.rules;
        let packet = packet.0 as f64;
        // A key frame and the others until the next one have the target rate together.
        let interval = f64::from(key_interval);
        let other = self.target / 8.0 / fps * interval / (key_factor + interval - 1.0);
        let factor = if self.made.is_multiple_of(u64::from(key_interval)) { key_factor } else { 1.0 };
        self.owed += other * factor * (1.0 + self.deviation());
        let packets = (self.owed / packet).ceil().clamp(0.0, 1e9);
        if packets == 0.0 {
            return;
        }
        self.owed -= packets * packet;
        let packets = packets as u64;
        self.transfers.push(Transfer {
            page: self.transfers.len() as u32,
            object: 0,
            connection: Some(0),
            bytes: packets * self.rules.packet.0,
            queued: now,
            requested: Some(now),
            first_byte: None,
            completed: None,
        });
        actions.push(Action::Offer(packets));
    }

    /// A number of the Laplacian distribution within its limits, which are symmetric, so that its mean is 0.
    fn deviation(&mut self) -> f64 {
        let (scale, uniform) = (self.rules.variation, self.generator.uniform());
        if scale == 0.0 {
            return 0.0;
        }
        let limit = (SCALES * scale).min(1.0);
        let (side, share) = if uniform < 0.5 { (-1.0, 1.0 - 2.0 * uniform) } else { (1.0, 2.0 * uniform - 1.0) };
        // The exponential distribution of the size of the deviation, given that it is within the limit.
        side * (-scale * libm::log(1.0 - share * (1.0 - libm::exp(-limit / scale)))).min(limit)
    }

    /// `total` bytes have arrived.
    fn deliver(&mut self, now: Instant, total: u64) {
        self.arrived = total;
        while let Some(frame) = self.transfers.get_mut(self.oldest) {
            if total > self.before {
                frame.first_byte.get_or_insert(now);
            }
            if total < self.before + frame.bytes {
                return;
            }
            frame.completed = Some(now);
            let delay = now.since(frame.queued);
            self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
            self.before += frame.bytes;
            self.oldest += 1;
        }
    }

    /// Changes the target rate by the backlog.
    fn adapt(&mut self, now: Instant) {
        let age = self.transfers.get(self.oldest).map_or(Duration::ZERO, |frame| now.since(frame.queued));
        let queueing = age - self.least.unwrap_or(Duration::ZERO);
        let rules = &self.rules;
        let target = if queueing > rules.backlog {
            let rate = 8.0 * (self.arrived - self.arrived_then) as f64 / now.since(self.looked).as_secs_f64();
            rules.decrease * rate.min(self.target)
        } else if queueing + queueing <= rules.backlog {
            self.target * (1.0 + rules.increase)
        } else {
            self.target
        };
        let [least, most] = [rules.min_rate, rules.max_rate].map(|rate| rate.as_bits_per_sec() as f64);
        let target = target.clamp(least, most);
        self.switches += u64::from(target.total_cmp(&self.target).is_ne());
        self.target = target;
        (self.looked, self.arrived_then) = (now, self.arrived);
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
