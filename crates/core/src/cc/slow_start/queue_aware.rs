//! Westwood RB's slow start: standard until a queue is seen, then half as fast.
//! ## What it does
//! Estimates from the window and the connection's bandwidth how many of its segments wait in queues: diff = cwnd − bwe·RTTmin. Below `beta`
//! segments every ACK adds one; from there on every other ACK does.
//! ## References
//! Hong, Wu & Ding, *An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013, equation 1 and steps 1–3; Mascolo
//! et al., *TCP Westwood*, 2001, for the estimate.
//! ## Differs from the document
//! Before the first round-trip time diff is unknown, and every ACK adds one. The original filter starts from zero and needs several times
//! `tau` to find the bandwidth, so in the first slow start diff is large from a window of `beta` on, and slow start is half as fast where
//! there is no queue at all: a consequence of the paper's choice, kept.
//! ## Parameters
//! `beta`: 3 segments, the paper's. The others are those of the estimate: `filter`: `original` or `plus`; `tau`: 0.5 s, `m`: 2, `pole`: 0.9; see
//! loss response `westwood`.

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
    doc: "segments in queues from which on growth is slower (Hong et al.: 3)",
};

/// This part in the registry.
pub static ENTRY: Entry<dyn SlowStart> = Entry {
    name: "queue_aware",
    summary: "Westwood RB: one segment per ACK, per other ACK once a queue is seen",
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
    /// Segments in queues, after the last ACK.
    diff: Option<Segments>,
    /// Whether the next ACK adds a segment while there is a queue.
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

    /// A part that knows of 20 segments a second, and the growth at the next ACKs with this window and a smallest round trip of 0.5 s.
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
        assert_eq!(growth(12.0, 3.0), [one, one, one, one], "two in the queue");
        assert_eq!(growth(13.0, 3.0), [one, none, one, none], "three");
        assert_eq!(growth(13.0, 4.0), [one, one, one, one]);
    }

    #[test]
    fn before_a_round_trip_is_known_it_is_standard() {
        let mut part = build(&ENTRY, &[]).unwrap();
        part.observe(&ACK, &window(90.0));
        assert_eq!([0, 1].map(|_| part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(90.0))), [Step::Grow(2.0); 2]);
    }
}
