//! Return Back to Threshold (RBT): the closed forms of its paper and their predicted gain.
//! ## What it does
//! The period between two losses lasts 1/p round trips. In the paper's SSCCM (slow start congestion control method), the window rises
//! linearly from one segment to `ssthresh` by M per round trip, then by M²/S per round trip to P. With RBT the first line starts just below
//! `ssthresh`. The gain is the ratio of the mean windows (areas over times). The model also computes delay, buffer and throughputs of
//! equations 3 to 6.
//! ## References
//! Preveze, *A novel method for performance improvement of slow start congestion control method in packet switched networks*, 2019,
//! equations 3 to 11, tables 1 and 2.
//! ## Differs from the document
//! Equation 3 says 0.02 s per mile. Table 2 divides by 1609 m per mile, which agrees with 0.02 s per mile and not with "1000 km = 1000
//! miles". Table 2 uses the MTU of 1540 B as the segment. Equation 6 is missing from our copy; the model uses the window over RTT.
//!
//! Equation 9 prints SSCCM over RBT, 0.794 with the numbers of table 2, as the improvement; the improvement is its inverse, 1.260. Equation
//! 10 prints the factor t after the sum. In the window functions of equations 7 and 8, t multiplies only one term. The readings, inverted:
//!
//! | output | integrands | table 2's numbers |
//! |---|---|---|
//! | `gain` | equations 7 and 8, the windows: the correct reading | 1.260 |
//! | `gain_printed` | equation 10 exactly as printed, (…)·t in both | 1.423 |
//! | `gain_weighted` | the windows times t | 1.503 |
//! | `gain_first_printed` | (…)·t in the first line, the window in the second | 1.267 |
//!
//! Equation 11 says 1.264. No reading gives this value, nor does a segment of 1500 B (1.269 with the correct reading), a mixture of both,
//! or rounding to the printed digits. The correct reading is nearest, 0.4 percentage points below.
//!
//! The lines require a loss after the window has reached `ssthresh`: p < 1/(S/M − 1), 2.4 % with table 1. At higher loss the paper's P is
//! below S, and the gains are undefined. In addition, only the first period begins with S. In later periods ssthresh is half of P, which
//! the formulas ignore but the model `rounds` includes.
//! ## Parameters
//! `loss`: 1 %, as in the paper's gain. `distance_km`: 1000, `segment`: 1540 B, `mss`: 1500 B (equation 5), `ssthresh`: 65536 B, `rwnd`:
//! 65536 B, `rate`: 45 Mbit/s, all from table 1.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};

use crate::{Model, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "rbt",
    summary: "closed forms of Return Back to Threshold: table 2, and the gain in every reading",
    reference: "Preveze, A novel method for performance improvement of slow start congestion control method, 2019, equations 3 to 11",
    params: &[
        params::LOSS,
        params::plain("distance_km", 1000.0, (1e-3, 1e9), "path length in kilometres"),
        params::size("segment", 1540.0, "M of table 2: growth of the window per round trip in slow start"),
        params::size("mss", 1500.0, "MSS of equation 5"),
        params::size("ssthresh", 65_536.0, "S: threshold at which slow start ends"),
        params::size("rwnd", 65_536.0, "receiver's window"),
        Param {
            name: "rate",
            kind: Kind::Rate { min: 1.0, max: 1e15 },
            default: Default::Number(45e6),
            doc: "link rate, for the required buffer",
        },
    ],
    outputs: OUTPUTS,
    axis: "loss",
    simulated: false,
    slow: false,
    paper: Some("rbt"),
    evaluate: |params| Ok(evaluate(params)),
    trace: None,
};

const OUTPUTS: &[Quantity] = &[
    quantity("rtt", "s", "round-trip time, RTD (equation 3)"),
    quantity("required_buffer", "B", "RBS (equation 4)"),
    quantity("throughput_loss", "bit/s", "THR with losses (equation 5)"),
    quantity("throughput_window", "bit/s", "THR without losses (equation 6)"),
    quantity("throughput", "bit/s", "the smaller of throughput_loss and throughput_window"),
    quantity("st", "s", "time at which the window reaches ssthresh"),
    quantity("pt", "s", "time of the loss"),
    quantity("peak", "B", "window at the loss, P"),
    quantity("ste", "s", "time at which RBT starts on the slow start line"),
    quantity("window_standard", "B", "mean window of SSCCM over a period"),
    quantity("window_rbt", "B", "mean window of RBT over a period"),
    quantity("gain", "", "RBT over SSCCM, integrals of the windows"),
    quantity("gain_printed", "", "RBT over SSCCM, equation 10 exactly as printed"),
    quantity("gain_weighted", "", "RBT over SSCCM, integrals of the windows times t"),
    quantity("gain_first_printed", "", "RBT over SSCCM, only the first integrand as printed"),
];

/// Metres per mile, from table 2.
const MILE: f64 = 1609.0;
/// Delay per mile in seconds, from table 1.
const DELAY_PER_MILE: f64 = 0.02;

fn evaluate(params: &Params) -> Vec<f64> {
    let number = |name| params.number(name);
    let [loss, segment, ssthresh] = ["loss", "segment", "ssthresh"].map(number);
    // Preveze eq. 3 with the units of table 2.
    let rtt = 2.0 * number("distance_km") / MILE * DELAY_PER_MILE;
    let with_losses = 8.0 * number("mss") / (rtt * libm::sqrt(loss));
    let without = 8.0 * number("rwnd") / rtt;
    let period = Period::new(loss, rtt, segment, ssthresh);
    let Period { st, pt, peak, ste, .. } = period;
    let windows = period.means(Line::area);
    let mut outputs = vec![rtt, number("rate") * rtt / 8.0, with_losses, without, with_losses.min(without), st, pt, peak, ste];
    outputs.extend([windows[0], windows[1]]);
    let readings = [period.means(Line::area), period.means(Line::printed), period.means(Line::moment), period.mixed()];
    outputs.extend(readings.map(|[standard, rbt]| rbt / standard));
    outputs
}

/// A linear window function: `offset` + `slope` · t.
#[derive(Clone, Copy)]
struct Line {
    offset: f64,
    slope: f64,
}

impl Line {
    /// ∫ (offset + slope·t) dt.
    fn area(self, from: f64, to: f64) -> f64 {
        self.offset * (to - from) + self.slope * (to * to - from * from) / 2.0
    }

    /// ∫ (offset + slope)·t dt, with the factor t after the sum, as printed.
    fn printed(self, from: f64, to: f64) -> f64 {
        (self.offset + self.slope) * (to * to - from * from) / 2.0
    }

    /// ∫ (offset + slope·t)·t dt.
    fn moment(self, from: f64, to: f64) -> f64 {
        self.offset * (to * to - from * from) / 2.0 + self.slope * (to * to * to - from * from * from) / 3.0
    }
}

/// The period of figure 7, with the numbers of table 2.
struct Period {
    st: f64,
    pt: f64,
    peak: f64,
    ste: f64,
    slow_start: Line,
    avoidance: Line,
}

impl Period {
    fn new(loss: f64, rtt: f64, segment: f64, ssthresh: f64) -> Self {
        let st = (ssthresh - segment) / segment * rtt;
        let pt = rtt / loss;
        let step = segment * segment / ssthresh;
        let peak = ssthresh + (pt - st) / rtt * step;
        let ste = st - step / segment * rtt;
        // Preveze eq. 7 and 8.
        let slow_start = Line { offset: segment, slope: (ssthresh - segment) / st };
        let avoidance = Line { offset: (ssthresh * pt - peak * st) / (pt - st), slope: (peak - ssthresh) / (pt - st) };
        Self { st, pt, peak, ste, slow_start, avoidance }
    }

    /// Preveze eq. 9: the integrals of SSCCM and RBT over their durations; NaN if the loss precedes `st`.
    fn means(&self, integral: fn(Line, f64, f64) -> f64) -> [f64; 2] {
        self.over(integral, integral)
    }

    fn mixed(&self) -> [f64; 2] {
        self.over(Line::printed, Line::area)
    }

    fn over(&self, first: fn(Line, f64, f64) -> f64, second: fn(Line, f64, f64) -> f64) -> [f64; 2] {
        let Self { st, pt, ste, .. } = *self;
        if pt <= st || !pt.is_finite() || st <= 0.0 {
            return [f64::NAN; 2];
        }
        let common = second(self.avoidance, st, pt);
        [(first(self.slow_start, 0.0, st) + common) / pt, (first(self.slow_start, ste, st) + common) / (pt - ste)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, compute};

    fn at(name: &str) -> f64 {
        compute(&ENTRY, &[], name)
    }

    #[test]
    fn table_2_to_the_printed_digits() {
        let printed = |value: f64, digits: usize| format!("{value:.digits$}");
        assert_eq!(printed(at("rtt"), 4), "0.0249");
        assert_eq!(printed(at("st"), 4), "1.0331");
        assert_eq!(printed(at("pt"), 3), "2.486");
        assert_eq!(printed(at("peak"), 0), "67651");
        assert_eq!(printed(at("ste"), 4), "1.0325");
    }

    #[test]
    fn equations_3_to_6_by_hand() {
        // 45·10⁶/8 · 0.0248602 = 139 838.4; 1500/(0.0248602·0.1) = 603 374.5; 65536/0.0248602 = 2 636 184.
        assert_close(at("required_buffer"), 139_838.4, 0.1);
        assert_close(at("throughput_loss") / 8.0, 603_375.0, 1.0);
        assert_close(at("throughput_window") / 8.0, 2_636_186.0, 10.0);
        assert_eq!(at("throughput"), at("throughput_loss"));
        assert_eq!(compute(&ENTRY, &[("loss", 1e-6)], "throughput"), at("throughput_window"));
    }

    #[test]
    fn the_means_by_trapezoids() {
        // Areas of figure 7 with the numbers of table 2: (1540 + 65536)/2 · 1.03309 + (65536 + 67651)/2 · (2.48602 − 1.03309).
        let slow_start = f64::midpoint(1540.0, 65_536.0) * 1.033_094;
        let avoidance = f64::midpoint(65_536.0, 67_651.0) * (2.486_016 - 1.033_094);
        assert_close(at("window_standard"), (slow_start + avoidance) / 2.486_016, 1.0);
        let start = (65_536.0 - 36.2 / 2.0) * 0.000_584;
        assert_close(at("window_rbt"), (start + avoidance) / (2.486_016 - 1.032_510), 1.0);
    }

    #[test]
    fn no_reading_gives_the_printed_gain() {
        assert_close(at("gain"), 1.259_9, 5e-5);
        assert_close(at("gain_printed"), 1.422_8, 5e-5);
        assert_close(at("gain_weighted"), 1.503_0, 5e-5);
        assert_close(at("gain_first_printed"), 1.267_3, 5e-5);
        assert_close(1.0 / at("gain"), 0.793_7, 5e-5);
        assert_close(compute(&ENTRY, &[("segment", 1500.0)], "gain"), 1.268_7, 5e-5);
    }

    #[test]
    fn a_loss_before_the_threshold_has_no_period() {
        assert!(compute(&ENTRY, &[("loss", 0.023)], "gain").is_finite());
        assert!(compute(&ENTRY, &[("loss", 0.025)], "gain").is_nan());
        assert!(compute(&ENTRY, &[("loss", 0.0)], "gain").is_nan());
        assert!(compute(&ENTRY, &[("ssthresh", 1540.0)], "gain").is_nan());
    }

    #[test]
    fn the_gain_does_not_depend_on_units() {
        let far = compute(&ENTRY, &[("distance_km", 7000.0)], "gain");
        assert_close(far, at("gain"), 1e-12);
        let large = [("segment", 15_400.0), ("ssthresh", 655_360.0)];
        assert_close(compute(&ENTRY, &large, "gain"), at("gain"), 1e-12);
    }
}
