//! Return Back to Threshold (RBT): after any loss the window continues just below `ssthresh`.
//! ## What it does
//! At congestion `ssthresh` becomes half the window in force w, in whole segments and at least two. `cwnd` becomes ssthresh − 1/w, its
//! value just before it crossed the threshold. A timeout has the same effect, and so have the duplicate ACKs at which Tahoe restarts.
//! ## References
//! Preveze, *A novel method for performance improvement of slow start congestion control method in packet switched networks*, 2019, §4 and
//! figure 7.
//! ## Differs from the document
//! - The paper counts bytes: ssthresh − MSS²/cwnd. Here windows are in segments, so MSS is 1, and `ssthresh` is a whole number.
//! - The caption of figure 7 has cwnd − MSS²/cwnd instead, which hardly reduces the window; `reading` selects it.
//! - The paper has one kind of loss, a missing ACK, after which its standard method restarts from one segment. Today's TCP restarts only
//!   after a timeout; with `restart = "one"` such restarts remain.
//! - Figure 7 halves ssthresh at a loss, but equation 10 has the same S in every period. With `halves = false` a loss leaves `ssthresh`
//!   unchanged; only an infinite `ssthresh` is set, to half the window, by the first loss.
//! ## Parameters
//! `reading`: `text` (§4), or `figure` (caption of figure 7). `restart`: `threshold`, as in the paper: no loss restarts from one segment;
//! with `one`, a host that restarts does so from its loss window. `halves`: true, as in figure 7; false, as in equation 10.

use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::entry::Entry;
use crate::events::CongestionEvent;
use crate::params::{Default, Kind, Param, Params};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "return_to_threshold",
    summary: "RBT: half the window w, less 1/w, also after a timeout",
    reference: "Preveze, A novel method for performance improvement of slow start congestion control method, §4",
    params: &[
        Param {
            name: "reading",
            kind: Kind::Word(&["text", "figure"]),
            default: Default::Word("text"),
            doc: "cwnd after a loss: ssthresh − 1/w (§4), or w − 1/w (caption of figure 7)",
        },
        Param {
            name: "restart",
            kind: Kind::Word(&["threshold", "one"]),
            default: Default::Word("threshold"),
            doc: "window after a timeout or a Tahoe restart: just below the threshold (§4), or one segment",
        },
        Param {
            name: "halves",
            kind: Kind::Bool,
            default: Default::Bool(true),
            doc: "whether a loss halves ssthresh (figure 7) or leaves it unchanged (equation 10)",
        },
    ],
    quantities: &[],
    build: |params| Ok(Box::new(ReturnToThreshold::new(params))),
};

/// RBT.
#[derive(Clone, Debug)]
pub struct ReturnToThreshold {
    /// Whether the response follows the caption of figure 7, which hardly reduces the window.
    to_window: bool,
    /// Whether a host that restarts does so from its loss window.
    from_one: bool,
    /// Whether a loss halves the threshold.
    halves: bool,
}

impl ReturnToThreshold {
    fn new(params: &Params) -> Self {
        let (to_window, from_one) = (params.word("reading") == "figure", params.word("restart") == "one");
        Self { to_window, from_one, halves: params.flag("halves") }
    }
}

impl LossResponse for ReturnToThreshold {
    fn respond(&mut self, event: &CongestionEvent, window: &Window, _own: &mut dyn Avoidance) -> Window {
        // Preveze eq. 10: the same S in every period. An infinite threshold is set first.
        let fixed = !self.halves && window.ssthresh.is_finite();
        let ssthresh = if fixed { window.ssthresh } else { Window::halved(event.window).ssthresh };
        let base = if self.to_window { event.window } else { ssthresh.min(event.window) };
        // Preveze §4: MSS²/cwnd is one step of avoidance.
        Window { cwnd: (base - 1.0 / event.window).max(1.0), ssthresh }
    }

    fn restart(&self, event: &CongestionEvent, reduced: &Window) -> Segments {
        if self.from_one { event.loss_window } else { reduced.cwnd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{build, congestion, own, window};

    fn respond(reading: &str, force: Segments) -> Window {
        let mut part = build(&ENTRY, &[("reading", Value::Word(reading.to_owned()))]).unwrap();
        part.respond(&congestion(Cause::DupAck, force), &window(force), &mut *own())
    }

    #[test]
    fn both_readings() {
        assert_eq!(respond("text", 40.0), Window { cwnd: 20.0 - 1.0 / 40.0, ssthresh: 20.0 });
        assert_eq!(respond("text", 41.0), Window { cwnd: 20.0 - 1.0 / 41.0, ssthresh: 20.0 });
        assert_eq!(respond("figure", 40.0), Window { cwnd: 40.0 - 1.0 / 40.0, ssthresh: 20.0 });
    }

    #[test]
    fn without_halving_the_threshold_stays() {
        let mut part = build(&ENTRY, &[("halves", Value::Bool(false))]).unwrap();
        let mut respond = |force, ssthresh| part.respond(&congestion(Cause::DupAck, force), &Window { cwnd: force, ssthresh }, &mut *own());
        // From above the threshold the window returns to just below it; from below, it loses one avoidance step.
        assert_eq!(respond(60.0, 43.0), Window { cwnd: 43.0 - 1.0 / 60.0, ssthresh: 43.0 });
        assert_eq!(respond(10.0, 43.0), Window { cwnd: 10.0 - 0.1, ssthresh: 43.0 });
        assert_eq!(respond(40.0, f64::INFINITY), Window { cwnd: 20.0 - 1.0 / 40.0, ssthresh: 20.0 }, "the first loss sets the threshold");
    }

    #[test]
    fn small_windows_keep_a_segment_and_never_grow() {
        assert_eq!(respond("text", 3.0), Window { cwnd: 2.0 - 1.0 / 3.0, ssthresh: 2.0 });
        assert_eq!(respond("text", 1.5), Window { cwnd: 1.0, ssthresh: 2.0 });
        for reading in ["text", "figure"] {
            assert_eq!(respond(reading, 1.0), Window { cwnd: 1.0, ssthresh: 2.0 });
        }
    }

    #[test]
    fn a_restart_returns_to_the_threshold_unless_configured_otherwise() {
        let restart = |word: &str| {
            let mut part = build(&ENTRY, &[("restart", Value::Word(word.to_owned()))]).unwrap();
            let event = congestion(Cause::Timeout, 40.0);
            let reduced = part.respond(&event, &window(40.0), &mut *own());
            part.restart(&event, &reduced)
        };
        assert_eq!([restart("threshold"), restart("one")], [19.975, 1.0]);
    }
}
