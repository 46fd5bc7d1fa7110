//! Westwood RB's slow start: standard growth until it detects a queue, then half as fast.
//! ## What it does
//! Estimates the flow's backlog, its segments in queues, from the window and the connection's bandwidth: diff = cwnd − bwe·RTTmin. With a
//! backlog below `beta` segments every ACK adds one segment. From `beta` on, only every other ACK does.
//! ## References
//! Hong, Wu & Ding, *An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013, equation 1 and steps 1–3;
//! Mascolo et al., *TCP Westwood*, 2001, for the estimate.
//! ## Differs from the document
//! - Before the first round-trip time diff is unknown, and every ACK adds one segment.
//! - A consequence of the paper's filter is kept: the original filter starts from zero and converges within several times `tau`. In the
//!   first slow start diff is therefore large from a window of `beta` on, and growth is halved even without a queue.
//! ## Parameters
//! `beta`: 3 segments, from the paper. The other parameters are those of the estimate, as in the loss response `westwood`: `filter`:
//! `original` or `plus`; `tau`: 0.5 s, `m`: 2, `pole`: 0.9.

use crate::cc::bandwidth::{BWE, BWE_AVG, BWE_MAX, Bandwidth, PARAMS};
use crate::cc::contract::{SlowStart, Step, Window};
use crate::cc::vegas::DIFF;
use crate::entry::Entry;
use crate::events::Ack;
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

const BETA: Param = Param {
    name: "beta",
    kind: Kind::Segments { min: 0.0, max: 1e9 },
    default: Default::Number(3.0),
    doc: "backlog from which growth is halved (Hong et al.: 3)",
};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "queue_aware",
    summary: "Westwood RB: one segment per ACK, or per two ACKs once a queue is detected",
    reference: "Hong, Wu & Ding, An improved slow-start and congestion avoidance algorithm based on TCP Westwood, eq. 1",
    params: &[BETA, PARAMS[0], PARAMS[1], PARAMS[2], PARAMS[3]],
    quantities: &[BWE, BWE_AVG, BWE_MAX, DIFF],
    build: |params| Ok(Box::new(QueueAware { beta: params.number("beta"), bandwidth: Bandwidth::new(params), diff: None, ack_flag: true })),
};

/// Westwood RB's slow start.
#[derive(Clone, Debug)]
pub struct QueueAware {
    beta: Segments,
    bandwidth: Bandwidth,
    /// The backlog after the last ACK.
    diff: Option<Segments>,
    /// Whether the next ACK adds a segment if there is a queue.
    ack_flag: bool,
}

impl SlowStart for QueueAware {
    fn observe(&mut self, ack: &Ack, window: &Window) {
        self.bandwidth.observe(ack);
        // Hong et al. eq. 1: (cwnd/RTTmin − bwe)·RTTmin.
        self.diff = self.bandwidth.pipe(ack.min_rtt).map(|pipe| window.cwnd - pipe);
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        let queued = self.diff.is_some_and(|diff| diff >= self.beta);
        if !queued {
            return Step::Grow(ack.counted);
        }
        // Hong et al. step 3 ii.
        let grown = if self.ack_flag { ack.counted } else { 0.0 };
        self.ack_flag = !self.ack_flag;
        Step::Grow(grown)
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.bandwidth.internals(out);
        if let Some(diff) = self.diff {
            out("diff", diff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Value;
    use crate::testing::{ACK, build, internal, window};
    use crate::units::{Duration, Instant};

    /// The growth at four ACKs with this window, an estimate of 20 segments per second and a smallest round-trip time of 0.5 s.
    fn growth(cwnd: Segments, beta: Segments) -> Vec<Step> {
        let filter = Value::Word("plus".to_owned());
        let mut part = build(&ENTRY, &[("filter", filter), ("beta", Value::Number(beta))]).unwrap();
        let rtt = Some(Duration::from_millis(1000));
        let mut ack = Ack { rtt, min_rtt: Some(Duration::from_millis(500)), ..ACK };
        part.observe(&ack, &window(cwnd));
        (ack.now, ack.acked) = (Instant::from_nanos(1_000_000_000), 20);
        part.observe(&ack, &window(cwnd));
        assert_eq!(internal(|out| part.internals(out), "diff"), cwnd - 10.0);
        (0..4).map(|_| part.on_ack(&ack, &window(cwnd))).collect()
    }

    #[test]
    fn half_as_fast_once_there_is_a_queue() {
        let (one, none) = (Step::Grow(1.0), Step::Grow(0.0));
        assert_eq!(growth(12.0, 3.0), [one, one, one, one], "a backlog of two");
        assert_eq!(growth(13.0, 3.0), [one, none, one, none], "a backlog of three");
        assert_eq!(growth(13.0, 4.0), [one, one, one, one]);
    }

    #[test]
    fn growth_is_standard_before_the_first_round_trip_time() {
        let mut part = build(&ENTRY, &[]).unwrap();
        part.observe(&ACK, &window(90.0));
        assert_eq!([0, 1].map(|_| part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(90.0))), [Step::Grow(2.0); 2]);
    }
}
