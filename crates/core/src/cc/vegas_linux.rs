//! The round-trip times of rounds, as Linux' Vegas measures them and its Veno and `YeAH` too.
//!
//! ## References
//! Brakmo & Peterson, *TCP Vegas: end to end congestion avoidance on a global Internet*, 1995, §3.2. The rules of Linux are from knowledge of it,
//! and agree with Linux 6.12 in virtual time.
//! ## Differs from the document
//! The rules of Linux:
//!
//! - The time of a round is the smallest one, of the ACKs for data that was sent once. Times are whole microseconds plus one.
//! - Congestion, and an ACK above a hole, end the measurement; a new round begins once neither is left.
//! - A transmission with nothing in flight, which may be the one after a timeout, forgets all times.

use crate::cc::recovery::Recovery;
use crate::events::{Ack, Sent};

/// Times of a round that must be known for a decision.
pub(crate) const ENOUGH: u32 = 3;
/// Microseconds per second.
pub(crate) const MICROS: f64 = 1e6;

/// The round-trip times of one flow, in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// Whether the rules are those of Linux; otherwise times are exact, and nothing ends or forgets a measurement.
    linux: bool,
    /// Smallest time so far, and of this round; infinite while unknown.
    pub(crate) base: f64,
    pub(crate) least: f64,
    /// Times in this round.
    pub(crate) samples: u32,
    /// Whether the times tell anything: outside recovery.
    pub(crate) active: bool,
    /// The round ends when an ACK exceeds this position.
    end: u64,
    recovery: Recovery,
    /// Whether there was neither a recovery nor a hole after the last ACK.
    open: bool,
}

impl Rounds {
    /// No time is known.
    pub(crate) const fn new(linux: bool) -> Self {
        let unknown = f64::INFINITY;
        Self { linux, base: unknown, least: unknown, samples: 0, active: true, end: 0, recovery: Recovery::Open, open: true }
    }

    /// Observes an ACK, also a duplicate.
    pub(crate) fn observe(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_secs_f64() * MICROS;
            // Linux adds one, so that no time is zero.
            let rtt = if self.linux { libm::floor(rtt) + 1.0 } else { rtt };
            (self.base, self.least) = (self.base.min(rtt), self.least.min(rtt));
            self.samples += 1;
        }
        if !self.linux {
            return;
        }
        let open = self.recovery.at_ack() != Recovery::Inside && ack.total.delivered <= ack.snd_una;
        if open && !self.open {
            self.active = true;
            self.begin(ack.snd_nxt);
        }
        self.active &= open;
        self.open = open;
    }

    /// Whether the ACK ends the round.
    pub(crate) const fn ends(&self, ack: &Ack) -> bool {
        ack.snd_una > self.end
    }

    /// Whether the round has enough times for a decision.
    pub(crate) const fn decides(&self) -> bool {
        self.samples >= ENOUGH
    }

    /// Begins a round that ends when an ACK exceeds this position.
    pub(crate) const fn begin(&mut self, end: u64) {
        (self.end, self.least, self.samples) = (end, f64::INFINITY, 0);
    }

    /// A segment was sent.
    pub(crate) const fn on_sent(&mut self, sent: &Sent) {
        if self.linux && sent.inflight <= sent.size {
            (self.base, self.active) = (f64::INFINITY, true);
            self.begin(if sent.retransmission { sent.snd_nxt } else { sent.snd_nxt.saturating_sub(sent.size) });
        }
    }

    /// The window was reduced.
    pub(crate) const fn on_reduction(&mut self) {
        (self.recovery, self.open, self.active) = (Recovery::Inside, false, false);
    }

    /// The next ACK is the one that ends recovery.
    pub(crate) const fn on_recovery_end(&mut self) {
        self.recovery = Recovery::Ending;
    }

    /// The reduction was undone.
    pub(crate) const fn on_spurious(&mut self) {
        self.recovery = Recovery::Open;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Totals;
    use crate::testing::{ACK, SENT};
    use crate::units::Duration;

    /// An ACK of everything up to `una`, with this round-trip time in milliseconds.
    fn ack(una: u64, rtt: u64) -> Ack {
        let total = Totals::new(una + 5, una, 0);
        Ack { rtt: Some(Duration::from_millis(rtt)), snd_una: una, snd_nxt: una + 5, total, ..ACK }
    }

    #[test]
    fn a_round_has_its_smallest_time_plus_a_microsecond() {
        let mut rounds = Rounds::new(true);
        for (una, rtt) in [(1, 30), (2, 20), (3, 40)] {
            rounds.observe(&ack(una, rtt));
        }
        assert!(rounds.ends(&ack(3, 40)) && rounds.decides());
        assert_eq!((rounds.base, rounds.least), (20_001.0, 20_001.0));
        rounds.begin(8);
        assert!(!rounds.ends(&ack(8, 40)) && rounds.ends(&ack(9, 40)) && !rounds.decides());
        rounds.observe(&ack(8, 50));
        assert_eq!((rounds.base, rounds.least), (20_001.0, 50_001.0));
    }

    #[test]
    fn holes_and_recovery_end_the_measurement_and_their_end_begins_a_round() {
        let mut rounds = Rounds::new(true);
        rounds.observe(&ack(1, 30));
        rounds.observe(&Ack { total: Totals::new(6, 2, 0), ..ack(1, 30) });
        assert!(!rounds.active);
        rounds.on_reduction();
        rounds.observe(&ack(3, 30));
        assert!(!rounds.active, "no hole, but recovery");
        rounds.on_recovery_end();
        rounds.observe(&ack(4, 30));
        assert!(rounds.active && !rounds.decides() && !rounds.ends(&ack(9, 30)) && rounds.ends(&ack(10, 30)));
        rounds.on_reduction();
        rounds.on_spurious();
        rounds.observe(&ack(5, 30));
        assert!(rounds.active);
    }

    #[test]
    fn a_transmission_from_idle_forgets_the_times() {
        let mut rounds = Rounds::new(true);
        rounds.observe(&ack(1, 30));
        rounds.on_reduction();
        rounds.on_sent(&Sent { size: 5, inflight: 10, ..SENT });
        assert!(rounds.base.is_finite() && !rounds.active);
        rounds.on_sent(&Sent { size: 5, inflight: 5, snd_nxt: 100, ..SENT });
        assert!(rounds.base.is_infinite() && rounds.active && rounds.ends(&ack(96, 1)) && !rounds.ends(&ack(95, 1)));
    }
}
