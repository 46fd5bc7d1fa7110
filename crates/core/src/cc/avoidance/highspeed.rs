//! HighSpeed TCP: Reno for small windows; the larger the window, the faster it grows and the less of it congestion takes.
//! ## What it does
//! Above 38 segments, adds a(w)/w segments for each acknowledged segment and loses the share b(w) at congestion. b falls from 0.5 at 38
//! segments to 0.1 at 83,000, in proportion to the logarithm of the window. a follows from it so that the mean window is 0.12/p^0.835 at a
//! loss rate of p.
//! ## References
//! RFC 3649 §5 (functions and constants) and appendix B (table).
//! ## Differs from the document
//! - The text of the RFC was not available. The functions are those that reproduce rows of its table: p(w) is 1/(12.8 w^1.2), which the RFC
//!   rounds to 0.078/w^1.2, and each of the 73 rows has the first window at which a is more than 1 above that of the last row.
//! - b stays at 0.1 above 83,000 segments.
//! - As elsewhere, congestion reduces the window in force.
//!
//! `variant = "linux"` takes a and b from the table: a is the number of the first row whose window is not exceeded, and b is in units of
//! 1/256. Each ACK counts as a segments, however many it acknowledges, and the window grows by at most one of them. Congestion takes the b
//! of the last growth in avoidance: half of the window in the first slow start.
//! ## Parameters
//! `variant`: "published" or "linux".

use crate::cc::contract::{Avoidance, Window};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent};
use crate::params::{Default, Kind, Param};
use crate::units::Segments;

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "highspeed",
    summary: "HighSpeed TCP: the larger the window, the faster it grows and the less congestion takes of it",
    reference: "RFC 3649",
    params: &[Param {
        name: "variant",
        kind: Kind::Word(&["published", "linux"]),
        default: Default::Word("published"),
        doc: "the functions of the RFC, or the table and the count of Linux",
    }],
    quantities: &[
        quantity("increase", "segments", "growth per round trip"),
        quantity("decrease", "", "share of the window that congestion takes"),
    ],
    build: |params| Ok(Box::new(HighSpeed { table: (params.word("variant") == "linux").then(table), row: 0, count: 0.0, latest: None })),
};

/// Window up to which the control is Reno, and window at which congestion takes the share [`HIGH_DECREASE`].
const LOW_WINDOW: Segments = 38.0;
const HIGH_WINDOW: Segments = 83_000.0;
const LOW_DECREASE: f64 = 0.5;
const HIGH_DECREASE: f64 = 0.1;
/// Rows of the table.
const ROWS: usize = 73;
/// Units of b in Linux.
const UNIT: f64 = 256.0;

/// The share that congestion takes of the window `w`.
fn b(w: Segments) -> f64 {
    let share = libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    LOW_DECREASE + (HIGH_DECREASE - LOW_DECREASE) * share
}

/// The growth per round trip at the window `w`, at which congestion takes `b`.
fn a(w: Segments, b: f64) -> Segments {
    // w²·p(w)·2b/(2 − b).
    libm::pow(w, 0.8) / 12.8 * 2.0 * b / (2.0 - b)
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// Largest window with this row.
    w: Segments,
    /// Share that congestion takes, in units of 1/256.
    b: f64,
}

/// The table of RFC 3649 appendix B; the number of a row, counted from 1, is its a.
fn table() -> Box<[Row; ROWS]> {
    let row = |w| Row { w, b: libm::floor(UNIT * b(w)) };
    let mut rows = Box::new([row(LOW_WINDOW); ROWS]);
    let (mut w, mut last) = (LOW_WINDOW, 1.0);
    for place in &mut rows[1..] {
        // a grows with w: bisect between the last row and one far beyond it.
        let (mut low, mut high) = (w, 4.0 * w);
        while high - low > 1.0 {
            let middle = libm::floor(f64::midpoint(low, high));
            if a(middle, b(middle)) > last + 1.0 { high = middle } else { low = middle }
        }
        (w, last) = (high, a(high, b(high)));
        *place = row(w);
    }
    rows
}

/// HighSpeed TCP.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    /// The table, if the rules are those of Linux.
    table: Option<Box<[Row; ROWS]>>,
    /// Place of the row in use, and what ACKs have counted since the window has grown (Linux).
    row: usize,
    count: Segments,
    /// Growth and share at the last window.
    latest: Option<(Segments, f64)>,
}

impl HighSpeed {
    /// a and b at the window `w`.
    fn at(&mut self, w: Segments) -> (Segments, f64) {
        let Some(table) = &self.table else {
            let b = b(w.clamp(LOW_WINDOW, HIGH_WINDOW));
            return if w <= LOW_WINDOW { (1.0, LOW_DECREASE) } else { (a(w, b), b) };
        };
        while self.row + 1 < ROWS && w > table[self.row].w {
            self.row += 1;
        }
        while self.row > 0 && w <= table[self.row - 1].w {
            self.row -= 1;
        }
        ((self.row + 1) as Segments, table[self.row].b / UNIT)
    }
}

impl Avoidance for HighSpeed {
    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let cwnd = window.cwnd;
        let (a, b) = self.at(cwnd);
        self.latest = Some((a, b));
        if self.table.is_none() {
            return cwnd + a * ack.counted / cwnd;
        }
        self.count += a;
        if self.count < cwnd {
            return cwnd;
        }
        self.count -= cwnd;
        cwnd + 1.0
    }

    fn respond(&mut self, event: &CongestionEvent, _window: &Window) -> Window {
        let cwnd = event.window;
        match &self.table {
            Some(table) => Window::reduced_to(cwnd - libm::floor(cwnd * table[self.row].b / UNIT)),
            None => Window::reduced_to(cwnd * (1.0 - self.at(cwnd).1)),
        }
    }

    fn on_reduction(&mut self, _event: &CongestionEvent, _window: &Window) {
        self.on_restart();
    }

    fn on_restart(&mut self) {
        self.count = 0.0;
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some((a, b)) = self.latest {
            out("increase", a);
            out("decrease", b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Cause;
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, internal, sawtooth, window};
    use proptest::prelude::*;

    fn highspeed(variant: &str) -> Box<dyn Avoidance> {
        build(&ENTRY, &[("variant", Value::Word(variant.to_owned()))]).unwrap()
    }

    #[test]
    fn the_functions_are_those_of_rfc_3649() {
        for (w, growth, share) in [
            (118.0, 2.01, 0.441),
            (221.0, 3.01, 0.408),
            (1058.0, 8.01, 0.327),
            (10_661.0, 30.0, 0.207),
            (53_677.0, 62.0, 0.123),
            (83_000.0, 70.7, 0.1),
        ] {
            // The rounded 0.078 of the RFC gives 0.16 % less than 1/12.8.
            assert_close(a(w, b(w)) * 0.078 * 12.8, growth, 0.05);
            assert_close(b(w), share, 0.0005);
        }
    }

    #[test]
    fn the_table_is_that_of_rfc_3649() {
        let table = table();
        // Windows and shares from appendix B, where shares have two digits.
        for (number, w, share) in
            [(1, 38.0, 0.5), (2, 118.0, 0.44), (3, 221.0, 0.41), (8, 1058.0, 0.33), (30, 10_661.0, 0.21), (62, 53_677.0, 0.12)]
        {
            assert_eq!(table[number - 1].w, w);
            assert_close(table[number - 1].b / UNIT, share, 0.01);
        }
        assert!(table.windows(2).all(|pair| pair[0].w < pair[1].w && pair[0].b >= pair[1].b));
    }

    #[test]
    fn small_windows_are_renos() {
        for variant in ["published", "linux"] {
            let mut part = highspeed(variant);
            let mut cwnd = 20.0;
            for _ in 0..41 {
                cwnd = part.on_ack(&ACK, &window(cwnd));
            }
            assert_close(cwnd, 22.0, 0.05);
            assert_eq!(part.respond(&congestion(Cause::DupAck, 30.0), &window(30.0)).cwnd, 15.0);
        }
    }

    #[test]
    fn linux_grows_by_the_number_of_the_row_and_takes_its_share() {
        let mut part = highspeed("linux");
        // The first slow start has no row but the first: half of the window.
        assert_eq!(part.respond(&congestion(Cause::DupAck, 500.0), &window(500.0)).cwnd, 250.0);
        let mut cwnd = 300.0;
        for _ in 0..300 {
            cwnd = part.on_ack(&Ack { counted: 2.0, ..ACK }, &window(cwnd));
        }
        // 221 < 300 <= 347: four segments per 300 ACKs, however much they acknowledge.
        assert_eq!(cwnd, 303.0);
        assert_eq!(internal(|out| part.internals(out), "increase"), 4.0);
        assert_eq!(part.respond(&congestion(Cause::DupAck, 303.0), &window(303.0)).cwnd, 303.0 - libm::floor(303.0 * 98.0 / 256.0));
        part.on_ack(&ACK, &window(118.0));
        assert_eq!(internal(|out| part.internals(out), "increase"), 2.0, "a row ends at its window");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

        #[test]
        fn the_mean_window_is_0_12_over_p_to_the_0_835(exponent in 3.5..5.5_f64) {
            let acks = libm::pow(10.0, exponent) as u32;
            let cycle = sawtooth(&mut *highspeed("published"), acks, 200.0);
            let law = 0.12 * libm::pow(f64::from(acks), 0.835);
            // The law takes a and b as those of the mean window.
            let mean = f64::from(acks) / cycle.rtts;
            prop_assert!((mean / law - 1.0).abs() < 0.08, "{mean} {law}");
        }
    }
}
