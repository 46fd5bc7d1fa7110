//! Scalable TCP: the window grows by a fixed share per round trip, so that it recovers from a loss in the same time at any rate.
//! ## What it does
//! Adds `a` segments for each acknowledged segment, 1 % per round trip, and loses an eighth at congestion. Up to `legacy_window` segments
//! it is Reno.
//! ## References
//! Kelly, *Scalable TCP: improving performance in highspeed wide area networks*, ACM CCR 33(2), 2003, §3.
//! ## Differs from the document
//! - The paper's text was not available: `legacy_window` is what the literature about it reports.
//! - As elsewhere, congestion reduces the window in force.
//!
//! `variant = "linux"` has no legacy window. It adds one segment for min(cwnd, 1/a) acknowledged ones, so that growth is Reno's up to 100
//! segments, and rounds the eighth that is lost down to whole segments.
//! ## Parameters
//! `a`: 0.01 and `b`: 1/8, from the paper. `legacy_window`: 16 segments. `variant`: "published" or "linux".

use super::reno::Count;
use crate::cc::contract::{Avoidance, Window};
use crate::entry::Entry;
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "scalable",
    summary: "Scalable TCP: 1 % per round trip, × 7/8 at congestion",
    reference: "Kelly, ACM CCR 33(2), 2003",
    params: &[
        Param {
            name: "a",
            kind: Kind::Number { min: 1e-4, max: 1.0 },
            default: Default::Number(0.01),
            doc: "segments by which the window grows for each acknowledged segment (Kelly: 0.01)",
        },
        Param {
            name: "b",
            kind: Kind::Number { min: 0.001, max: 0.9 },
            default: Default::Number(0.125),
            doc: "share of the window that congestion removes (Kelly: 1/8)",
        },
        Param {
            name: "legacy_window",
            kind: Kind::Segments { min: 0.0, max: 1e9 },
            default: Default::Number(16.0),
            doc: "largest window with Reno's rules; not in Linux",
        },
        Param {
            name: "variant",
            kind: Kind::Word(&["published", "linux"]),
            default: Default::Word("published"),
            doc: "the rules of the paper or those of Linux",
        },
    ],
    quantities: &[],
    build: |params| {
        Ok(Box::new(Scalable {
            a: params.number("a"),
            b: params.number("b"),
            legacy_window: params.number("legacy_window"),
            linux: (params.word("variant") == "linux").then(Count::default),
        }))
    },
};

/// Scalable TCP.
#[derive(Clone, Debug)]
pub struct Scalable {
    a: Segments,
    b: f64,
    legacy_window: Segments,
    /// The acknowledged segments, if the rules are those of Linux.
    linux: Option<Count>,
}

impl Avoidance for Scalable {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd;
        match &mut self.linux {
            Some(count) => cwnd + count.add(ack.counted, cwnd.min(libm::round(1.0 / self.a))),
            None if cwnd <= self.legacy_window => cwnd + ack.counted / cwnd,
            None => cwnd + self.a * ack.counted,
        }
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let cwnd = event.window;
        match self.linux {
            Some(_) => Window::reduced_to(cwnd - libm::floor(self.b * cwnd)),
            None if cwnd <= self.legacy_window => Window::halved(cwnd),
            None => Window::reduced_to(cwnd * (1.0 - self.b)),
        }
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.on_restart();
    }

    fn on_restart(&mut self) {
        self.linux = self.linux.map(|_| Count::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, sawtooth, window};
    use proptest::prelude::*;

    fn scalable(variant: &str) -> Box<dyn Avoidance> {
        build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap()
    }

    /// The window after so many round trips with an ACK for each segment.
    fn after(part: &mut dyn Avoidance, mut cwnd: Segments, round_trips: u32) -> Segments {
        for _ in 0..round_trips {
            for _ in 0..cwnd as u64 {
                cwnd = part.on_ack(&ACK, &window(cwnd));
            }
        }
        cwnd
    }

    #[test]
    fn the_window_doubles_in_70_round_trips_from_any_size() {
        // 1.01⁷⁰ = 2.007.
        for cwnd in [200.0, 20_000.0] {
            assert_close(after(&mut *scalable("published"), cwnd, 70) / cwnd, 2.0, 0.02);
            assert_close(after(&mut *scalable("linux"), cwnd, 70) / cwnd, 2.0, 0.02);
        }
    }

    #[test]
    fn small_windows_are_renos() {
        // A segment per round trip: up to 16 segments in the paper, up to 100 in Linux.
        assert_eq!(after(&mut *scalable("linux"), 50.0, 10), 60.0);
        assert_close(after(&mut *scalable("published"), 8.0, 4), 12.0, 0.5);
        assert_close(scalable("published").on_ack(&ACK, &window(50.0)), 50.01, 1e-12);
        let left = |variant, cwnd| scalable(variant).respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd;
        assert_eq!([16.0, 17.0, 80.0].map(|cwnd| left("published", cwnd)), [8.0, 14.875, 70.0]);
        assert_eq!([3.0, 16.0, 17.0, 800.0].map(|cwnd| left("linux", cwnd)), [3.0, 14.0, 15.0, 700.0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 16, ..ProptestConfig::default() })]

        #[test]
        fn the_mean_window_is_0_075_over_p(acks in 5_000_u32..100_000) {
            // Growth by a for each of 1/p ACKs makes up for b of the peak; the cycle takes ln(8/7)/a round trips.
            let cycle = sawtooth(&mut *scalable("published"), acks, 1000.0);
            let acks = f64::from(acks);
            prop_assert!((acks / cycle.rtts / (0.01 / libm::log(8.0 / 7.0) * acks) - 1.0).abs() < 1e-3);
            prop_assert!((acks / cycle.rtts / (0.075 * acks) - 1.0).abs() < 0.01);
            prop_assert!((cycle.trough / cycle.peak - 0.875).abs() < 1e-9);
        }
    }
}
