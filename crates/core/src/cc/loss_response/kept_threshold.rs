//! Kept threshold: a loss returns the window to the threshold, which falls only if the path no longer holds it.
//! ## What it does
//! The end of slow start sets `ssthresh`; if that end is a loss, to half the window. A later loss returns `cwnd` to `ssthresh` and leaves
//! `ssthresh` unchanged, provided that the window had grown beyond it by more than the share `margin`. An earlier loss means that the path
//! no longer holds the threshold: `ssthresh` and `cwnd` become `factor` times the window. After a timeout the host restarts from one
//! segment.
//! ## References
//! Ours: the mended rule of `papers/repaired`, after Preveze, *A novel method for performance improvement of slow start congestion control
//! method in packet switched networks*, 2019, §4 and equation 10, which has the same threshold in every period.
//! ## Differs from the document
//! - The paper's window is ssthresh − 1/w, which whole segments round down by one. Here it is `ssthresh`.
//! - The paper halves the threshold at each loss (figure 7), or never (equation 10), so that a flow would no longer respond to congestion.
//!   Here it falls if a loss comes soon.
//! - The paper has one kind of loss, also for timeouts; here a timeout restarts from one segment.
//! ## Parameters
//! `margin`: 0.1 and `factor`: 0.5, ours; `factor` is that of RFC 5681.

use crate::cc::contract::{Avoidance, LossResponse, Window};
use crate::entry::Entry;
use crate::events::CongestionEvent;
use crate::params::{Default, Kind, Param};

/// This part in the registry.
pub static ENTRY: Entry<dyn LossResponse> = Entry {
    name: "kept_threshold",
    summary: "back to the threshold of slow start's end, which falls only if a loss comes soon",
    reference: "papers/repaired; after Preveze 2019, eq. 10",
    params: &[
        Param {
            name: "margin",
            kind: Kind::Number { min: 0.0, max: 1e3 },
            default: Default::Number(0.1),
            doc: "share by which the window must have grown beyond the threshold for a loss to keep it",
        },
        Param {
            name: "factor",
            kind: Kind::Number { min: 0.01, max: 1.0 },
            default: Default::Number(0.5),
            doc: "what any other loss multiplies the window by",
        },
    ],
    quantities: &[],
    build: |params| Ok(Box::new(KeptThreshold { margin: params.number("margin"), factor: params.number("factor") })),
};

/// Return to a threshold that losses above it keep.
#[derive(Clone, Debug)]
pub struct KeptThreshold {
    margin: f64,
    factor: f64,
}

impl LossResponse for KeptThreshold {
    fn respond(&mut self, event: &CongestionEvent, window: &Window, _own: &mut dyn Avoidance) -> Window {
        // An infinite threshold is no estimate, and neither is that of a slow start in progress.
        if event.window > (1.0 + self.margin) * window.ssthresh {
            return Window { cwnd: window.ssthresh, ssthresh: window.ssthresh };
        }
        Window::reduced_to(self.factor * event.window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{build, congestion, own};

    fn after(margin: f64, cwnd: f64, ssthresh: f64) -> Window {
        let mut part = build(&ENTRY, &[("margin", Value::Number(margin))]).unwrap();
        part.respond(&congestion(Cause::DupAck, cwnd), &Window { cwnd, ssthresh }, &mut *own())
    }

    #[test]
    fn a_loss_well_above_the_threshold_returns_to_it() {
        assert_eq!(after(0.1, 45.0, 40.0), Window { cwnd: 40.0, ssthresh: 40.0 });
        assert_eq!(after(0.1, 400.0, 40.0), Window { cwnd: 40.0, ssthresh: 40.0 });
        assert_eq!(after(0.0, 40.5, 40.0), Window { cwnd: 40.0, ssthresh: 40.0 });
    }

    #[test]
    fn a_loss_soon_after_and_one_in_slow_start_halve() {
        assert_eq!(after(0.1, 44.0, 40.0), Window { cwnd: 22.0, ssthresh: 22.0 });
        assert_eq!(after(0.0, 40.0, 40.0), Window { cwnd: 20.0, ssthresh: 20.0 });
        assert_eq!(after(0.1, 33.0, 40.0), Window { cwnd: 16.5, ssthresh: 16.0 });
        assert_eq!(after(0.1, 200.0, f64::INFINITY), Window { cwnd: 100.0, ssthresh: 100.0 });
    }

    #[test]
    fn a_timeout_restarts_from_the_hosts_loss_window() {
        let part = build(&ENTRY, &[]).unwrap();
        let event = congestion(Cause::Timeout, 50.0);
        assert_eq!(part.restart(&event, &Window { cwnd: 40.0, ssthresh: 40.0 }), event.loss_window);
    }
}
