//! Vegas as Linux has it.

use crate::cc::avoidance::reno::Count;
use crate::cc::contract::{Avoidance, Window};
use crate::cc::vegas::MIN_WINDOW;
use crate::cc::vegas_linux::{MICROS, Rounds};
use crate::events::{Ack, CongestionEvent, Sent};
use crate::units::Segments;

/// Backlog above which slow start ends.
const GAMMA: Segments = 1.0;

/// What an ACK asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plan {
    /// Growth as Reno's.
    Reno,
    /// No growth in avoidance.
    Hold,
    /// The decision of a round in slow start: go on.
    Go,
    /// The decision of a round in slow start: avoidance, with this window at most.
    Exit(Segments),
    /// The decision of a round in avoidance: this many segments more.
    Step(Segments),
}

/// Linux' Vegas.
#[derive(Clone, Debug)]
pub(super) struct Vegas {
    alpha: Segments,
    beta: Segments,
    rounds: Rounds,
    count: Count,
    /// The time and the backlog of the last round.
    rtt: f64,
    diff: Segments,
    /// The window before the ACK.
    before: Segments,
    plan: Plan,
}

impl Vegas {
    pub(super) fn new(alpha: Segments, beta: Segments) -> Self {
        let rounds = Rounds::new(true);
        Self { alpha, beta, rounds, count: Count::default(), rtt: 0.0, diff: 0.0, before: 0.0, plan: Plan::Reno }
    }

    /// Decides after a round.
    fn decide(&mut self, window: &Window) -> Plan {
        let Rounds { base, least, .. } = self.rounds;
        let cwnd = window.cwnd;
        (self.rtt, self.diff) = (least, libm::floor(cwnd * (least - base) / base));
        if window.cwnd < window.ssthresh {
            return if self.diff > GAMMA { Plan::Exit(libm::floor(cwnd * base / least) + 1.0) } else { Plan::Go };
        }
        Plan::Step(if self.diff > self.beta {
            -1.0
        } else if self.diff < self.alpha {
            1.0
        } else {
            0.0
        })
    }
}

impl Avoidance for Vegas {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.rounds.observe(ack);
        (self.before, self.plan) = (window.cwnd, Plan::Reno);
        if !ack.may_grow || !self.rounds.active {
            return;
        }
        if !self.rounds.ends(ack) {
            self.plan = Plan::Hold;
            return;
        }
        if self.rounds.decides() {
            self.plan = self.decide(window);
        }
        self.rounds.begin(ack.snd_nxt);
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        match self.plan {
            Plan::Reno => window.cwnd + self.count.add(ack.counted, window.cwnd),
            Plan::Step(by) => window.cwnd + by,
            Plan::Hold | Plan::Go | Plan::Exit(_) => window.cwnd,
        }
    }

    fn steer(&mut self, _ack: &Ack, window: &Window) -> Option<Window> {
        let Window { mut cwnd, mut ssthresh } = *window;
        match self.plan {
            Plan::Reno | Plan::Hold => return None,
            Plan::Exit(most) => {
                cwnd = self.before.min(most);
                ssthresh = ssthresh.min(cwnd);
            }
            Plan::Step(by) if by < 0.0 => ssthresh = ssthresh.min(cwnd),
            Plan::Go | Plan::Step(_) => {}
        }
        let cwnd = cwnd.max(MIN_WINDOW);
        // Linux remembers at least three quarters of the window.
        Some(Window { cwnd, ssthresh: ssthresh.max(libm::floor(cwnd / 2.0) + libm::floor(cwnd / 4.0)) })
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.rounds.on_reduction();
        self.count = Count::default();
    }

    fn on_restart(&mut self) {
        self.count = Count::default();
    }

    fn on_recovery_end(&mut self, window: &Window) -> Window {
        self.rounds.on_recovery_end();
        *window
    }

    fn on_spurious(&mut self, _window: &Window) {
        self.rounds.on_spurious();
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.rounds.on_sent(sent);
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("diff", self.diff);
        out("base_rtt", if self.rounds.base.is_finite() { self.rounds.base / MICROS } else { 0.0 });
        out("round_rtt", if self.rtt.is_finite() { self.rtt / MICROS } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::super::ENTRY;
    use super::*;
    use crate::events::{Cause, Totals};
    use crate::params::Value;
    use crate::testing::{ACK, build, congestion, internal};
    use crate::units::Duration;

    fn part() -> Box<dyn Avoidance> {
        build(&ENTRY, &[("rule", Value::Word("linux".to_owned())), ("alpha", Value::Number(2.0)), ("beta", Value::Number(4.0))]).unwrap()
    }

    /// The window after a round of four ACKs with this round-trip time; the first ACK ends the round before.
    fn round(part: &mut dyn Avoidance, number: u64, millis: u64, mut window: Window) -> Window {
        for index in 1..=4 {
            let (snd_una, snd_nxt) = (4 * (number - 1) + index, 4 * number);
            let total = Totals::new(snd_nxt, snd_una, 0);
            let ack = Ack { rtt: Some(Duration::from_millis(millis)), snd_una, snd_nxt, total, ..ACK };
            part.observe(&ack, &window);
            if window.cwnd >= window.ssthresh {
                window.cwnd = part.on_ack(&ack, &window);
            } else {
                window.cwnd += 1.0;
            }
            window = part.steer(&ack, &window).unwrap_or(window);
        }
        window
    }

    #[test]
    fn a_backlog_ends_slow_start_at_the_measured_rate() {
        let mut part = part();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        window = round(&mut *part, 1, 100, window);
        assert_eq!(window, Window { cwnd: 14.0, ssthresh: f64::INFINITY });
        window = round(&mut *part, 2, 120, window);
        assert_eq!(window.cwnd, 18.0, "the round of 100 ms had no backlog");
        // 18 · 100/120 = 15 segments, and one; the backlog is 3.
        window = round(&mut *part, 3, 120, window);
        assert_eq!(window, Window { cwnd: 16.0, ssthresh: 16.0 });
        assert_eq!(internal(|out| part.internals(out), "diff"), 3.0);
    }

    #[test]
    fn avoidance_keeps_two_to_four_segments_in_queues() {
        let after = |millis| {
            let mut part = part();
            let mut window = Window { cwnd: 30.0, ssthresh: 20.0 };
            window = round(&mut *part, 1, 100, window);
            window = round(&mut *part, 2, millis, Window { cwnd: 30.0, ..window });
            // The ACK that ends the round belongs to it.
            round(&mut *part, 3, millis, Window { cwnd: 30.0, ..window }).cwnd
        };
        // Backlogs of 0, 1, 2, 4 and 5 segments.
        assert_eq!([100, 106, 107, 114, 118].map(after), [31.0, 31.0, 30.0, 30.0, 29.0]);
    }

    #[test]
    fn congestion_halves_and_forgets_the_round() {
        let mut part = part();
        let window = Window { cwnd: 30.0, ssthresh: 20.0 };
        round(&mut *part, 1, 100, window);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 30.0), &window).cwnd, 15.0);
        part.on_reduction(&congestion(Cause::DupAck, 30.0), &window);
        assert_eq!(round(&mut *part, 2, 200, window).cwnd, 30.0, "Reno's growth");
    }
}
