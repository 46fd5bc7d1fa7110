//! The detector of policers (long-term sampling): two intervals with heavy losses that deliver at the same rate.

use crate::events::Totals;
use crate::units::{Duration, Instant};

/// Shortest interval in rounds; one of four times as many is too long.
const MIN_ROUNDS: u32 = 4;
/// Share of lost data among the delivered that marks an interval.
const LOSS: f64 = 50.0 / 256.0;
/// Relative and absolute difference, in bytes per second, of two rates that agree: an eighth, or 4 kbit/s.
const RATIO: f64 = 0.125;
const DIFFERENCE: f64 = 500.0;
/// Rounds for which the rate is used.
const USE_ROUNDS: u32 = 48;
/// Shortest interval whose rate is taken.
const SHORTEST: Duration = Duration::from_millis(1);

/// What an ACK shows.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(super) struct Facts {
    pub(super) now: Instant,
    pub(super) total: Totals,
    /// Whether it shows a loss.
    pub(super) lost: bool,
    pub(super) app_limited: bool,
    /// Whether it starts a round.
    pub(super) round: bool,
    /// Whether BBR is in ProbeBW.
    pub(super) cruises: bool,
}

/// The detector.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    /// The rate of the last interval, in bytes per second, if there was one.
    bw: Option<f64>,
    in_use: bool,
    /// Whether an interval has begun, when, at what totals, and the rounds since then.
    sampling: bool,
    since: Instant,
    began: Totals,
    rounds: u32,
}

impl Policer {
    /// The policer's rate, if one is detected.
    pub(super) fn rate(&self) -> Option<f64> {
        self.bw.filter(|_| self.in_use)
    }

    /// Forgets all intervals.
    pub(super) fn reset(&mut self, now: Instant, total: Totals) {
        *self = Self { since: now, began: total, ..Self::default() };
    }

    fn begin(&mut self, facts: &Facts) {
        (self.since, self.began, self.rounds) = (facts.now, facts.total, 0);
    }

    /// Applies an ACK. Returns whether the policer's rate has been used long enough, so that BBR shall probe again.
    pub(super) fn update(&mut self, facts: &Facts) -> bool {
        if self.in_use {
            self.rounds += u32::from(facts.cruises && facts.round);
            let over = self.rounds >= USE_ROUNDS;
            if over {
                self.reset(facts.now, facts.total);
            }
            return over;
        }
        if !self.sampling {
            if !facts.lost {
                return false;
            }
            self.begin(facts);
            self.sampling = true;
        }
        if facts.app_limited {
            self.reset(facts.now, facts.total);
            return false;
        }
        self.rounds += u32::from(facts.round);
        if self.rounds < MIN_ROUNDS {
            return false;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset(facts.now, facts.total);
            return false;
        }
        self.end(facts);
        false
    }

    /// Ends the interval, if it may end with this ACK.
    fn end(&mut self, facts: &Facts) {
        let lost = facts.total.lost.saturating_sub(self.began.lost) as f64;
        let delivered = facts.total.delivered.saturating_sub(self.began.delivered) as f64;
        let time = facts.now.since(self.since);
        if !facts.lost || delivered <= 0.0 || lost < LOSS * delivered || time < SHORTEST {
            return;
        }
        let bw = delivered / time.as_secs_f64();
        match self.bw {
            Some(last) if (bw - last).abs() <= (RATIO * last).max(DIFFERENCE) => {
                self.bw = Some(f64::midpoint(bw, last));
                (self.in_use, self.rounds) = (true, 0);
            }
            _ => {
                self.bw = Some(bw);
                self.begin(facts);
            }
        }
    }
}
