//! TCP/EXP in units of the path: exponential growth and decrease around the measured bandwidth-delay product.
//! ## What it does
//! The reference window W₀ is the largest delivery rate of the last `rounds` round trips, or twice as many, times the smallest round-trip
//! time. Each ACK adds e^(−k·W) segments with k = ln(W₀)/W₀: one segment per round trip at W₀, more below and less above. Congestion
//! subtracts W₀/10·e^(10·l·W/W₀), at most half of W; the first congestion halves it. After a timeout the host restarts from one segment.
//! ## References
//! Ours: the mended rule of `papers/repaired`, after Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion
//! control algorithm*, 2009, §3 and §4; draft-ietf-ccwg-bbr for the samples of the delivery rate.
//! ## Differs from the document
//! - The paper has constants in segments, so that one choice suits one window. Here k follows from W₀ by the condition of the part
//!   `exponential` (Reno's growth at the reference window), and the cut counts in tenths of W₀.
//! - The paper's cut exceeds the window from a certain window on; here it is at most half.
//! - Without a sample W₀ is the window itself. W₀ is at least four segments, since ln(W₀)/W₀ needs e or more.
//! ## Parameters
//! `l`: 0.05, so that a cut is 16 % of the window at W₀ and 14 % at 2·W₀. Larger values cut more at large windows, which the paper's map of
//! constants does not favour. `rounds`: 10, as the filter of BBR. `halves`: `first`, as in §4.

use crate::cc::contract::{Avoidance, Wants, Window};
use crate::cc::nonlinear::{Cut, grown, halves};
use crate::entry::{Entry, quantity};
use crate::events::{Ack, CongestionEvent, Established};
use crate::params::{Default, Kind, Param};
use crate::units::{Bytes, Segments};

/// This part in the registry.
pub static ENTRY: Entry<dyn Avoidance> = Entry {
    name: "exponential_bdp",
    summary: "TCP/EXP scaled to the measured bandwidth-delay product",
    reference: "papers/repaired; after Kalpana & Purusothaman 2009, §4",
    params: &[
        Param {
            name: "l",
            kind: Kind::Number { min: 0.0, max: 0.05 },
            default: Default::Number(0.05),
            doc: "power of the cut, for windows in tenths of the bandwidth-delay product",
        },
        Param {
            name: "rounds",
            kind: Kind::Integer { min: 1.0, max: 1e6 },
            default: Default::Number(10.0),
            doc: "round trips whose largest delivery rate counts, and up to as many before them",
        },
        halves("first"),
    ],
    quantities: &[quantity("bdp", "segments", "reference window: largest recent delivery rate times smallest round-trip time").on("window")],
    build: |params| {
        Ok(Box::new(ExponentialBdp {
            l: params.number("l"),
            rounds: params.number("rounds") as u64,
            smss: Bytes(0),
            rates: [0.0; 2],
            begun: 0,
            bdp: None,
            cut: Cut::new(params),
        }))
    },
};

/// The smallest reference window in segments.
const LEAST: Segments = 4.0;

/// TCP/EXP around the bandwidth-delay product.
#[derive(Clone, Debug)]
pub struct ExponentialBdp {
    l: f64,
    rounds: u64,
    smss: Bytes,
    /// The largest delivery rates since `begun` and in the period before, in bits per second.
    rates: [f64; 2],
    /// Round trip in which the present period began.
    begun: u64,
    bdp: Option<Segments>,
    cut: Cut,
}

impl ExponentialBdp {
    fn reference(&self, window: Segments) -> Segments {
        self.bdp.unwrap_or(window).max(LEAST)
    }
}

impl Avoidance for ExponentialBdp {
    fn on_established(&mut self, event: &Established) {
        self.smss = event.smss;
    }

    fn wants(&self) -> Wants {
        Wants::SAMPLES
    }

    fn observe(&mut self, ack: &Ack, _window: &Window) {
        if ack.round >= self.begun + self.rounds {
            (self.rates, self.begun) = ([0.0, self.rates[0]], ack.round);
        }
        // A sample that the application limited can only be too small, which a maximum ignores.
        if let Some(rate) = ack.sample.and_then(|sample| sample.rate) {
            let rate = rate.as_bits_per_sec() as f64;
            self.rates[0] = self.rates[0].max(rate);
        }
        let rate = self.rates[0].max(self.rates[1]);
        if let Some(rtt) = ack.min_rtt
            && rate > 0.0
            && self.smss.0 > 0
        {
            self.bdp = Some(rate * rtt.as_secs_f64() / (8.0 * self.smss.0 as f64));
        }
    }

    fn on_ack(&mut self, ack: &Ack, window: &Window) -> Segments {
        let reference = self.reference(window.cwnd);
        // Kalpana §4 with alpha = 1: e^(−k·W).
        grown(window.cwnd, libm::exp(-libm::log(reference) * window.cwnd / reference), ack.counted)
    }

    fn respond(&mut self, event: &CongestionEvent, window: &Window) -> Window {
        let (reference, l) = (self.reference(event.window), self.l);
        // Kalpana eq. 2 with beta = 1: e^(l·W), in tenths of the bandwidth-delay product.
        self.cut.respond(event, window, |cwnd| (reference / 10.0 * libm::exp(10.0 * l * cwnd / reference)).min(cwnd / 2.0))
    }

    fn internals(&self, out: &mut dyn FnMut(&'static str, f64)) {
        if let Some(bdp) = self.bdp {
            out("bdp", bdp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Cause, RateSample, Snapshot};
    use crate::params::Value;
    use crate::testing::{ACK, assert_close, build, congestion, established, internal, window};
    use crate::units::{Duration, Rate};

    /// A part that never halves.
    fn part() -> Box<dyn Avoidance> {
        let mut part = build(&ENTRY, &[("halves", Value::Word("never".to_owned()))]).unwrap();
        part.on_established(&established(1250));
        part
    }

    /// Lets `part` observe a delivery rate of 10⁴·`packets` bit/s, which with 1 s and 1250 bytes is a product of `packets` segments.
    fn observe(part: &mut dyn Avoidance, packets: u64, round: u64) {
        let rate = Rate::from_bits_per_sec(10_000 * packets);
        let sample = RateSample { packet: Snapshot::default(), delivered: 0, interval: Duration::from_millis(1000), rate };
        let ack = Ack { sample: Some(sample), min_rtt: Some(Duration::from_millis(1000)), round, ..ACK };
        part.observe(&ack, &window(10.0));
    }

    fn bdp(part: &dyn Avoidance) -> f64 {
        internal(|out| part.internals(out), "bdp")
    }

    #[test]
    fn growth_is_renos_at_the_product_and_vanishes_above() {
        let mut part = part();
        observe(&mut *part, 100, 0);
        let mut growth = |cwnd: f64| cwnd * (part.on_ack(&ACK, &window(cwnd)) - cwnd);
        assert_close(growth(100.0), 1.0, 1e-9);
        // W·W₀^(−W/W₀): 50/10 and 200/10⁴ segments per round trip.
        assert_close(growth(50.0), 5.0, 1e-9);
        assert_close(growth(200.0), 0.02, 1e-9);
    }

    #[test]
    fn a_cut_is_a_sixth_at_the_product_and_never_more_than_half() {
        let mut part = part();
        observe(&mut *part, 100, 0);
        let mut left = |cwnd: f64| part.respond(&congestion(Cause::DupAck, cwnd), &window(cwnd)).cwnd / cwnd;
        assert_close(left(100.0), 1.0 - 0.5_f64.exp() / 10.0, 1e-12);
        assert_close(left(200.0), 1.0 - 1.0_f64.exp() / 20.0, 1e-12);
        assert_eq!([left(10.0), left(2000.0)], [0.5, 0.5]);
    }

    #[test]
    fn the_product_is_that_of_the_largest_rate_of_the_last_rounds() {
        let mut part = part();
        observe(&mut *part, 100, 0);
        observe(&mut *part, 40, 9);
        assert_close(bdp(&*part), 100.0, 1e-9);
        observe(&mut *part, 60, 12);
        assert_close(bdp(&*part), 100.0, 1e-9);
        observe(&mut *part, 50, 22);
        assert_close(bdp(&*part), 60.0, 1e-9);
    }

    #[test]
    fn without_a_sample_it_grows_like_reno() {
        let mut part = part();
        assert_close(part.on_ack(&ACK, &window(20.0)), 20.05, 1e-12);
    }

    #[test]
    fn the_first_congestion_halves() {
        let mut part = build(&ENTRY, &[]).unwrap();
        assert_eq!(part.respond(&congestion(Cause::DupAck, 40.0), &window(40.0)).cwnd, 20.0);
        assert!(part.respond(&congestion(Cause::DupAck, 40.0), &window(40.0)).cwnd > 30.0);
    }
}
