//! Growth and response shared by the nonlinear avoidances (binomial, polynomial, exponential).

use crate::cc::contract::Window;
use crate::events::CongestionEvent;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// Largest window to which growth leads. RFC 7323 §2.3 allows a receiver's window of 2³⁰ bytes, so no transport can use more segments.
const LARGEST: Segments = 1_073_741_824.0;

/// The window `cwnd` after an ACK that counts as `counted` segments, by a rule that adds `per_segment` for each.
pub(crate) fn grown(cwnd: Segments, per_segment: Segments, counted: Segments) -> Segments {
    // A steep rule may exceed the range of a double.
    (cwnd + counted * per_segment.min(LARGEST)).min(cwnd.max(LARGEST))
}

/// The parameter of [`Cut`].
pub(crate) const fn halves(default: &'static str) -> Param {
    Param {
        name: "halves",
        kind: Kind::Word(&["first", "slow_start", "never"]),
        default: Default::Word(default),
        doc: "which congestion halves the window instead: the connection's first; the first and any in slow start; none",
    }
}

/// Which congestion halves the window in place of the rule's cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Halves {
    First,
    SlowStart,
    Never,
}

/// Responds to congestion with a rule's cut; after an overshoot of slow start it may halve instead.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    halves: Halves,
    /// Whether the connection has met congestion.
    congested: bool,
}

impl Cut {
    /// Reads the parameter [`halves`].
    pub(crate) fn new(params: &Params) -> Self {
        let halves = match params.word("halves") {
            "first" => Halves::First,
            "slow_start" => Halves::SlowStart,
            _ => Halves::Never,
        };
        Self { halves, congested: false }
    }

    /// The window after congestion; `rule` gives the cut in segments for the window in force. A timeout has the same cut: its `ssthresh`
    /// applies, and the host restarts from one segment.
    pub(crate) fn respond(&mut self, event: &CongestionEvent, window: &Window, rule: impl Fn(Segments) -> Segments) -> Window {
        let first = !std::mem::replace(&mut self.congested, true);
        let halves = match self.halves {
            Halves::First => first,
            // Slow start doubles the window in a round trip: whatever the rule, the path has held half of it.
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

    /// The windows after congestion in avoidance, in slow start, and in avoidance again, with a cut of 3 segments.
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
    fn a_cut_leaves_at_least_one_segment() {
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
