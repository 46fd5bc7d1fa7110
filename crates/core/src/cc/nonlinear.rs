//! What the nonlinear avoidances share (binomial, polynomial, exponential): growth that stays finite, and a cut by so many segments.

use crate::cc::contract::Window;
use crate::events::CongestionEvent;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// Growth stops here: RFC 7323 §2.3 allows a receiver's window of 2³⁰ bytes, so no transport can use more segments.
const LARGEST: Segments = 1_073_741_824.0;

/// The window `cwnd` after an ACK that counts `counted` segments, by a rule that adds `per_segment` for each.
pub(crate) fn grown(cwnd: Segments, per_segment: Segments, counted: Segments) -> Segments {
    // A steep rule may ask for more than a number can hold.
    (cwnd + counted * per_segment.min(LARGEST)).min(cwnd.max(LARGEST))
}

/// The parameter of [`Cut`].
pub(crate) const fn halves(default: &'static str) -> Param {
    Param {
        name: "halves",
        kind: Kind::Word(&["first", "slow_start", "never"]),
        default: Default::Word(default),
        doc: "when congestion halves instead: the connection's first, that and any found in slow start, never",
    }
}

/// Which congestion halves the window instead of cutting it by the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halves {
    First,
    SlowStart,
    Never,
}

/// Answers congestion with a rule's cut, except where slow start has overshot, which halving undoes.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    halves: Halves,
    /// Whether the connection has met congestion.
    congested: bool,
}

impl Cut {
    /// As the parameter [`halves`] says.
    pub(crate) fn new(params: &Params) -> Self {
        let halves = match params.word("halves") {
            "first" => Halves::First,
            "slow_start" => Halves::SlowStart,
            _ => Halves::Never,
        };
        Self { halves, congested: false }
    }

    /// The window after congestion, by a `rule` that takes so many segments from the window in force. A timeout is answered alike: its
    /// `ssthresh` counts, and the host starts over from one segment.
    pub(crate) fn respond(&mut self, event: &CongestionEvent, window: &Window, rule: impl Fn(Segments) -> Segments) -> Window {
        let first = !std::mem::replace(&mut self.congested, true);
        let halves = match self.halves {
            Halves::First => first,
            // Slow start doubles the window in a round trip: half of it is what the path has held, whatever the rule.
            Halves::SlowStart => first || window.cwnd < window.ssthresh,
            Halves::Never => false,
        };
        if halves { Window::halved(event.window) } else { Window::reduced_to((event.window - rule(event.window)).max(1.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::congestion;

    const SLOW_START: Window = Window { cwnd: 20.0, ssthresh: 64.0 };
    const AVOIDANCE: Window = Window { cwnd: 20.0, ssthresh: 20.0 };

    /// The windows after congestion in avoidance, in slow start, and in avoidance again, by a rule that takes 3 segments.
    fn responses(word: &str) -> [Segments; 3] {
        let mut cut = Cut::new(&Params(vec![("halves", Value::Word(word.to_owned()))]));
        [AVOIDANCE, SLOW_START, AVOIDANCE].map(|window| cut.respond(&congestion(Cause::DupAck, 20.0), &window, |_| 3.0).cwnd)
    }

    #[test]
    fn which_congestion_halves() {
        assert_eq!(responses("first"), [10.0, 17.0, 17.0]);
        assert_eq!(responses("slow_start"), [10.0, 10.0, 17.0]);
        assert_eq!(responses("never"), [17.0, 17.0, 17.0]);
    }

    #[test]
    fn a_cut_has_floors() {
        let mut cut = Cut { halves: Halves::Never, congested: false };
        let mut after = |by: Segments| cut.respond(&congestion(Cause::EcnCe, 20.0), &AVOIDANCE, |_| by);
        assert_eq!(after(7.5), Window { cwnd: 12.5, ssthresh: 12.0 });
        assert_eq!(after(18.5), Window { cwnd: 1.5, ssthresh: 2.0 });
        for by in [19.0, 20.0, 1e300, f64::INFINITY] {
            assert_eq!(after(by), Window { cwnd: 1.0, ssthresh: 2.0 }, "a cut by {by}");
        }
    }

    #[test]
    fn growth_counts_segments_and_stays_finite() {
        assert_eq!(grown(10.0, 0.25, 2.0), 10.5);
        assert_eq!(grown(10.0, f64::INFINITY, 0.0), 10.0);
        assert_eq!(grown(10.0, f64::INFINITY, 2.0), LARGEST);
        assert_eq!(grown(2.0 * LARGEST, 1.0, 1.0), 2.0 * LARGEST, "growth never shrinks");
    }
}
