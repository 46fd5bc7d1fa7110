//! Rounds: a window that grows and shrinks packet by packet, one packet per round trip.
//! ## What it does
//! Simulates one packet per round, which succeeds with probability 1 − p. After a success the window grows by MSS below `ssthresh`,
//! otherwise by MSS²/cwnd. A loss sets `ssthresh` to half of the window, and the window to MSS (the paper's "SSCCM") or to `ssthresh` −
//! MSS²/cwnd (RBT). A run is one random sample; its outputs are means over its rounds, with several readings of "throughput".
//! ## References
//! Preveze, *A novel method for performance improvement of slow start congestion control method in packet switched networks*, 2019, §3 and
//! §4, figures 3 to 10, table 1, equations 1 and 2.
//! ## Differs from the document
//! The flow chart of figure 3 is lost; the model follows the text. The text states no floor; here the window is at least MSS, since RBT
//! would make a small window negative. `rwnd` limits the window only with `capped`: table 2 has a window of 67651 B above the `rwnd` of
//! 65536 B. The caption of figure 7 gives the window after a loss as cwnd − MSS²/cwnd, almost no reduction: `response = "window"`. Without
//! a cap, that window grows without bound.
//!
//! The paper does not define "THR" exactly. "Number of bytes successfully transmitted in a second" with one packet per round trip would be
//! `packet_rate`, which does not depend on the window. The difference between SSCCM and RBT can only lie in the windows: `window_rate` is
//! the window in bytes per round trip, and `acked_window_rate` counts only the windows of successful rounds. Equation 1's capacity is the
//! link's over the duration of the run; in the paper it has the units of a rate instead of an amount.
//!
//! The text halves `ssthresh` at each loss, but equation 10 has the same S in every period: `halves = false` leaves `ssthresh` unchanged
//! for both rules. With `losses = "periodic"` too, every 1/p-th round is lost without randomness, which gives the two sawteeth of figure 7.
//!
//! The generator is derived from `seed` and `loss` alone, so all responses have the same losses.
//! ## Parameters
//! `loss`: 1 %; the paper has 1 % to 10 %. `seed`: 1. `rounds`: 1000, as in figures 5, 6, 9 and 10. `response`: `restart`. `packet_size`:
//! 1500 B, the MSS, `ssthresh` and `rwnd`: 65536 B, `rate`: 45 Mbit/s and `ack_size`: 40 B, from table 1. `rtt`: 24.9 ms, from table 2.
//! `capped`: false. `warmup`: 0 rounds, as in the paper; a few hundred exclude the first slow start. `halves`: true, as in the text.
//! `losses`: `random`.

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};
use ackclock_core::rng::Generator;

use crate::{Model, Numbers, Trace, column, columns, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "rounds",
    summary: "one packet per round trip: SSCCM and Return Back to Threshold as a Markov chain, by simulation",
    reference: "Preveze, A novel method for performance improvement of slow start congestion control method, 2019, §3 and §4",
    params: PARAMS,
    outputs: OUTPUTS,
    axis: "loss",
    simulated: true,
    slow: true,
    paper: Some("rbt"),
    evaluate: |params| Ok(evaluate(params)),
    trace: Some(TRACE),
};

const PARAMS: &[Param] = &[
    params::LOSS,
    params::whole("seed", 1.0, (0.0, 9_007_199_254_740_992.0), "seed of the run"),
    params::whole("rounds", 1000.0, (1.0, 1e9), "rounds that count, after the warm-up"),
    params::whole("warmup", 0.0, (0.0, 1e9), "rounds of the warm-up"),
    Param {
        name: "response",
        kind: Kind::Word(&["restart", "threshold", "window"]),
        default: Default::Word("restart"),
        doc: "window after a loss: MSS; ssthresh − MSS²/cwnd (RBT); cwnd − MSS²/cwnd (figure 7)",
    },
    params::size("packet_size", 1500.0, "MSS"),
    params::size("ssthresh", 65_536.0, "initial ssthresh"),
    params::size("rwnd", 65_536.0, "receiver's window"),
    Param { name: "capped", kind: Kind::Bool, default: Default::Bool(false), doc: "limits the window to rwnd" },
    Param { default: Default::Number(0.0249), doc: "round-trip time, the duration of a round", ..params::RTT },
    Param { name: "rate", kind: Kind::Rate { min: 1.0, max: 1e15 }, default: Default::Number(45e6), doc: "link rate" },
    params::size("ack_size", 40.0, "size of an ACK"),
    Param {
        name: "halves",
        kind: Kind::Bool,
        default: Default::Bool(true),
        doc: "halves ssthresh at a loss (§4) instead of leaving it unchanged (equation 10)",
    },
    Param {
        name: "losses",
        kind: Kind::Word(&["random", "periodic"]),
        default: Default::Word("random"),
        doc: "losses: each round with probability loss, or every 1/loss-th round (figure 7)",
    },
];

const OUTPUTS: &[Quantity] = &[
    quantity("window", "B", "mean of cwnd over rounds"),
    quantity("window_rate", "bit/s", "mean of cwnd per round-trip time"),
    quantity("acked_window_rate", "bit/s", "mean of cwnd per round-trip time, with zero for lost rounds"),
    quantity("packet_rate", "bit/s", "packets acknowledged times MSS per second"),
    quantity("net_rate", "bit/s", "numerator of equation 1 per second: delivered packets minus their ACKs"),
    quantity("utilisation", "", "equation 1, relative to the link's capacity over the run"),
    quantity("equation_2", "bit/s", "equation 2"),
    quantity("acked", "packets", "rounds without loss"),
    quantity("lost", "packets", "rounds with loss"),
];

/// The window after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Response {
    Restart,
    Threshold,
    Window,
}

/// The state of the chain, in bytes.
#[derive(Clone, Debug)]
struct Chain {
    response: Response,
    halves: bool,
    mss: f64,
    cap: f64,
    cwnd: f64,
    ssthresh: f64,
}

impl Chain {
    fn new(params: &Params) -> Self {
        let response = match params.word("response") {
            "threshold" => Response::Threshold,
            "window" => Response::Window,
            _ => Response::Restart,
        };
        let mss = params.number("packet_size");
        let cap = if params.flag("capped") { params.number("rwnd").max(mss) } else { f64::INFINITY };
        Self { response, halves: params.flag("halves"), mss, cap, cwnd: mss, ssthresh: params.number("ssthresh") }
    }

    /// Advances to the next round's window.
    fn step(&mut self, acked: bool) {
        let per_packet = self.mss * self.mss / self.cwnd;
        if acked {
            self.cwnd += if self.cwnd < self.ssthresh { self.mss } else { per_packet };
            self.cwnd = self.cwnd.min(self.cap);
            return;
        }
        if self.halves {
            self.ssthresh = self.cwnd / 2.0;
        }
        self.cwnd = match self.response {
            Response::Restart => self.mss,
            // The window never jumps up to a threshold that is not halved.
            Response::Threshold => (self.ssthresh.min(self.cwnd) - per_packet).max(self.mss),
            Response::Window => (self.cwnd - per_packet).max(self.mss),
        };
    }
}

/// Losses of a run.
struct Losses {
    rate: f64,
    random: Generator,
    /// Accumulated losses that are due, if losses are periodic.
    due: Option<f64>,
}

impl Losses {
    fn new(params: &Params) -> Self {
        let rate = params.number("loss");
        let random = Generator::derived(params.number("seed") as u64, &format!("rounds/loss/{:016x}", rate.to_bits()));
        let due = (params.word("losses") == "periodic").then_some(0.0);
        Self { rate, random, due }
    }

    fn acked(&mut self) -> bool {
        let Some(due) = &mut self.due else { return self.random.uniform() >= self.rate };
        *due += self.rate;
        // Sums of a rate such as 1 % end just below whole numbers.
        let acked = *due < 1.0 - 1e-9;
        if !acked {
            *due -= 1.0;
        }
        acked
    }
}

/// Sums over rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Totals {
    rounds: f64,
    acked: f64,
    window: f64,
    acked_window: f64,
}

impl Totals {
    fn add(&mut self, cwnd: f64, acked: bool) {
        let counts = f64::from(u8::from(acked));
        self.rounds += 1.0;
        self.acked += counts;
        self.window += cwnd;
        self.acked_window += counts * cwnd;
    }

    /// The model's outputs.
    fn outputs(&self, params: &Params) -> Vec<f64> {
        let [mss, rtt, rate, ack] = ["packet_size", "rtt", "rate", "ack_size"].map(|name| params.number(name));
        let time = self.rounds * rtt;
        let lost = self.rounds - self.acked;
        // Preveze eq. 1: each round sends one packet, and no packet arrives twice.
        let net = (self.rounds - lost) * mss - self.acked * ack;
        let utilisation = net / (rate / 8.0 * time);
        let per_second = |bytes: f64| 8.0 * bytes / time;
        vec![
            self.window / self.rounds,
            per_second(self.window),
            per_second(self.acked_window),
            per_second(self.acked * mss),
            per_second(net),
            utilisation,
            // Preveze eq. 2.
            per_second(self.rounds * mss * utilisation),
            self.acked,
            lost,
        ]
    }
}

fn evaluate(params: &Params) -> Vec<f64> {
    let (mut chain, mut losses, mut totals) = (Chain::new(params), Losses::new(params), Totals::default());
    for _ in 0..params.number("warmup") as u64 {
        chain.step(losses.acked());
    }
    for _ in 0..params.number("rounds") as u64 {
        let acked = losses.acked();
        totals.add(chain.cwnd, acked);
        chain.step(acked);
    }
    totals.outputs(params)
}

/// The rounds of a run, without the warm-up; [`ENTRY`] gives their means.
const TRACE: Trace = Trace {
    summary: "every round of one run of `rounds`; the last row has the run's means",
    columns: &[
        column("round", "", "number of the round, from 1").of(Numbers::Whole),
        column("time", "s", "end of the round"),
        column("cwnd", "B", "window at the start of the round"),
        column("ssthresh", "B", "threshold at the start of the round"),
        column("acked", "", "whether the round's packet was acknowledged").of(Numbers::Bool),
        column("window_rate", "bit/s", "output `window_rate` if the run ended here"),
        column("acked_window_rate", "bit/s", "output `acked_window_rate` if the run ended here"),
        column("packet_rate", "bit/s", "output `packet_rate` if the run ended here"),
    ],
    evaluate: |params| {
        let rounds = params.number("rounds");
        if rounds > LONGEST_TRACE {
            return Err(format!("rounds: a trace has at most {LONGEST_TRACE} rounds, not {rounds}"));
        }
        Ok(columns(trace(params).zip(1_u32..).map(|(round, number)| {
            let Round { time, cwnd, ssthresh, acked, window_rate, acked_window_rate, packet_rate } = round;
            [f64::from(number), time, cwnd, ssthresh, f64::from(u8::from(acked)), window_rate, acked_window_rate, packet_rate]
        })))
    },
};

/// Most rounds of a trace, about two thirds of a gigabyte.
const LONGEST_TRACE: f64 = 1e7;

/// One row of a trace.
#[derive(Debug)]
struct Round {
    time: f64,
    cwnd: f64,
    ssthresh: f64,
    acked: bool,
    window_rate: f64,
    acked_window_rate: f64,
    packet_rate: f64,
}

fn trace(params: &Params) -> impl Iterator<Item = Round> {
    let (mut chain, mut losses, mut totals) = (Chain::new(params), Losses::new(params), Totals::default());
    for _ in 0..params.number("warmup") as u64 {
        chain.step(losses.acked());
    }
    let (mss, rtt) = (params.number("packet_size"), params.number("rtt"));
    (0..params.number("rounds") as u32).map(move |_| {
        let (acked, cwnd, ssthresh) = (losses.acked(), chain.cwnd, chain.ssthresh);
        totals.add(cwnd, acked);
        chain.step(acked);
        let time = totals.rounds * rtt;
        let [window_rate, acked_window_rate, packet_rate] =
            [totals.window, totals.acked_window, totals.acked * mss].map(|bytes| 8.0 * bytes / time);
        Round { time, cwnd, ssthresh, acked, window_rate, acked_window_rate, packet_rate }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, pick, with};
    use ackclock_core::params::Value;
    use proptest::prelude::*;

    /// A chain in segments, for small numbers.
    fn chain(response: &str, ssthresh: f64) -> Chain {
        Chain::new(&params(response, &[("ssthresh", ssthresh)]))
    }

    fn params(response: &str, settings: &[(&str, f64)]) -> Params {
        let mut params = with(&ENTRY, &[&[("packet_size", 1.0), ("ssthresh", 40.0)], settings].concat());
        params.set("response", Value::Word(response.to_owned()));
        params
    }

    #[test]
    fn steps_by_hand() {
        // Slow start: 1, 2, 3; then 3 + 1/3 above the threshold. A loss makes ssthresh 5/3, and each rule sets its own window.
        for (response, expected) in [("restart", 1.0), ("threshold", 5.0 / 3.0 - 0.3), ("window", 10.0 / 3.0 - 0.3)] {
            let mut chain = chain(response, 3.0);
            for window in [1.0, 2.0, 3.0, 10.0 / 3.0] {
                assert_close(chain.cwnd, window, 1e-12);
                chain.step(window < 3.2);
            }
            assert_close(chain.ssthresh, 5.0 / 3.0, 1e-12);
            assert_close(chain.cwnd, expected, 1e-12);
        }
    }

    #[test]
    fn a_threshold_that_is_not_halved_stays() {
        for (response, expected) in [("restart", 1.0), ("threshold", 3.0 - 0.3), ("window", 10.0 / 3.0 - 0.3)] {
            let mut params = params(response, &[("ssthresh", 3.0)]);
            params.set("halves", Value::Bool(false));
            let mut chain = Chain::new(&params);
            for window in [1.0, 2.0, 3.0, 10.0 / 3.0] {
                assert_close(chain.cwnd, window, 1e-12);
                chain.step(window < 3.2);
            }
            assert_eq!(chain.ssthresh, 3.0);
            assert_close(chain.cwnd, expected, 1e-12);
        }
    }

    #[test]
    fn periodic_losses_draw_figure_7() {
        let mut params = params("threshold", &[("loss", 0.01), ("rounds", 1000.0), ("ssthresh", 40.0)]);
        params.set("losses", Value::Word("periodic".to_owned()));
        params.set("halves", Value::Bool(false));
        let rounds: Vec<Round> = trace(&params).collect();
        let lost: Vec<usize> = (0..1000).filter(|at| !rounds[*at].acked).collect();
        assert_eq!(lost, (0..10).map(|period| 100 * period + 99).collect::<Vec<_>>());
        // Each later period begins just below the threshold and ends at the same window.
        for at in &lost[1..9] {
            let peak = rounds[*at].cwnd;
            assert_close(rounds[at + 1].cwnd, 40.0 - 1.0 / peak, 1e-12);
            assert_close(peak, rounds[lost[1]].cwnd, 1e-3);
        }
    }

    #[test]
    fn rbt_returns_just_below_the_threshold() {
        let mut chain = chain("threshold", 100.0);
        chain.cwnd = 10.0;
        chain.step(false);
        // 5 − 0.1 is below 5: one more whole segment, then avoidance.
        assert_close(chain.cwnd, 4.9, 1e-12);
        chain.step(true);
        assert_close(chain.cwnd, 5.9, 1e-12);
        chain.step(true);
        assert_close(chain.cwnd, 5.9 + 1.0 / 5.9, 1e-12);
    }

    #[test]
    fn a_window_of_one_segment_stays() {
        for response in ["restart", "threshold", "window"] {
            let mut chain = chain(response, 3.0);
            chain.step(false);
            assert_eq!((chain.cwnd, chain.ssthresh), (1.0, 0.5), "{response}");
        }
    }

    #[test]
    fn means_of_the_certain_runs() {
        // Without loss: 1, 2, 3, 4 and then 4 + 1/4. With every round lost: always 1.
        let none = params("restart", &[("loss", 0.0), ("rounds", 5.0), ("ssthresh", 4.0), ("rtt", 0.5), ("ack_size", 0.25)]);
        let at = |name| pick(&ENTRY, &none, name);
        assert_close(at("window"), 14.25 / 5.0, 1e-12);
        assert_close(at("window_rate"), 8.0 * 14.25 / 2.5, 1e-12);
        assert_close(at("packet_rate"), 16.0, 1e-12);
        assert_close(at("net_rate"), 12.0, 1e-12);
        // 45 Mbit/s for 2.5 s; 5 bytes times the utilisation, per second.
        assert_close(at("utilisation"), 30.0 / (45e6 * 2.5), 1e-18);
        assert_close(at("equation_2"), 16.0 * 30.0 / (45e6 * 2.5), 1e-15);
        let all = params("threshold", &[("loss", 1.0), ("rounds", 5.0)]);
        assert_eq!(["window", "packet_rate", "acked_window_rate", "lost"].map(|name| pick(&ENTRY, &all, name)), [1.0, 0.0, 0.0, 5.0]);
    }

    #[test]
    fn a_cap_holds() {
        let mut capped = params("restart", &[("loss", 0.0), ("rounds", 100.0), ("rwnd", 10.0)]);
        capped.set("capped", Value::Bool(true));
        assert_eq!(trace(&capped).last().map(|round| round.cwnd), Some(10.0));
    }

    /// Mean and standard error of an output over `seeds` runs.
    fn sample(response: &str, settings: &[(&str, f64)], name: &str, seeds: u32) -> (f64, f64) {
        let one = |seed| pick(&ENTRY, &params(response, &[settings, &[("seed", f64::from(seed))]].concat()), name);
        let values: Vec<f64> = (1..=seeds).map(one).collect();
        let count = f64::from(seeds);
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, (variance / count).sqrt())
    }

    /// The stationary mean of the window, from the chain of windows at losses on a grid of `cells` per segment up to `top` segments.
    ///
    /// The window L at the last loss determines the rounds until the next. That loss occurs in round k with probability q^k·p, at the
    /// window of that round. A window between two grid points counts at both in proportion, which preserves means.
    fn stationary(response: &str, loss: f64, top: u32, cells: u32) -> f64 {
        let (keep, count) = (1.0 - loss, (top - 1) * cells);
        let rounds = (-32.0 / keep.ln()) as usize;
        let mut rows = Vec::new();
        for index in 0..=count {
            let mut chain = chain(response, f64::INFINITY);
            chain.cwnd = 1.0 + f64::from(index) / f64::from(cells);
            chain.step(false);
            let (mut weight, mut row, mut sum) = (loss, vec![0.0; count as usize + 2], 0.0);
            for _ in 0..rounds {
                let place = ((chain.cwnd - 1.0) * f64::from(cells)).min(f64::from(count));
                let (low, share) = (place.floor(), place.fract());
                row[low as usize] += weight * (1.0 - share);
                row[low as usize + 1] += weight * share;
                sum += weight * chain.cwnd; // p·q^k·c, the mean over a cycle of 1/p rounds
                weight *= keep;
                chain.step(true);
            }
            rows.push((row, sum));
        }
        let mut at = vec![1.0 / rows.len() as f64; rows.len()];
        for _ in 0..60 {
            let mut next = vec![0.0; rows.len() + 1];
            for (mass, (row, _)) in at.iter().zip(&rows) {
                next.iter_mut().zip(row).for_each(|(to, share)| *to += mass * share);
            }
            at = next[..rows.len()].to_vec();
        }
        at.iter().zip(&rows).map(|(mass, (_, sum))| mass * sum).sum()
    }

    #[test]
    fn means_are_those_of_the_markov_chain() {
        for (response, loss, top) in [("restart", 0.1, 25), ("restart", 0.03, 40), ("threshold", 0.1, 25), ("threshold", 0.03, 40)] {
            let exact = stationary(response, loss, top, 12);
            let coarse = stationary(response, loss, top, 6);
            assert!((exact / coarse - 1.0).abs() < 2e-3, "the grid is too coarse: {coarse}, then {exact}");
            let settings = [("loss", loss), ("rounds", 100_000.0), ("warmup", 1000.0)];
            let (mean, error) = sample(response, &settings, "window", 20);
            assert!(error < 3e-3 * mean, "{error}");
            assert!((mean - exact).abs() < 4.5 * error + 1e-3 * exact, "{response}, p = {loss}: {mean} ± {error}, exact {exact}");
        }
    }

    #[test]
    fn without_slow_start_it_is_the_square_root_law() {
        // For small p, W²/2 grows by 1 per packet and a loss divides it by four. It is Σ 4^−k·E_k/p with exponential E_k of mean 1. The terms
        // have rates 4^k, so E[(Σ 4^−k·E_k)^s] = Γ(1+s)·Σ c_k·4^(−ks) with c_k = Π 1/(1 − 4^(k−j)) over j ≠ k. The mean of W over packets is
        // 1.5269/√p. (Over time, in which large windows last no longer than small ones, the mean is the 1.3098/√p of Ott, Kemperman & Mathis
        // 1996. Here each packet takes a round trip.)
        let c = |k: i32| (0..60).filter(|j| *j != k).map(|j| 1.0 / (1.0 - 4.0_f64.powi(k - j))).product::<f64>();
        let gamma = std::f64::consts::PI.sqrt() / 2.0;
        let constant = 2.0_f64.sqrt() * gamma * (0..20).map(|k| c(k) * 0.5_f64.powi(k)).sum::<f64>();
        assert_close(constant, 1.526_9, 1e-3);
        let loss = 1e-4_f64;
        let settings = [("loss", loss), ("rounds", 4e6), ("warmup", 1e5)];
        let (mean, error) = sample("threshold", &settings, "window", 24);
        // The whole segment added after a loss and the finite steps account for about one segment.
        assert!((mean - constant / loss.sqrt()).abs() < 4.5 * error + 1.0, "{mean} ± {error}");
        assert!(4.5 * error + 1.0 < 0.04 * mean, "{error}");
    }

    #[test]
    fn each_seed_and_loss_rate_has_its_own_random_numbers() {
        let acks = |seed: f64, loss: f64, response: &str| -> Vec<bool> {
            let rounds: Vec<Round> = trace(&params(response, &[("seed", seed), ("loss", loss), ("rounds", 200.0)])).collect();
            rounds.iter().map(|round| round.acked).collect()
        };
        assert_eq!(acks(1.0, 0.5, "restart"), acks(1.0, 0.5, "threshold"), "all responses have the same losses");
        assert_ne!(acks(1.0, 0.5, "restart"), acks(2.0, 0.5, "restart"));
        let (half, nearly) = (acks(1.0, 0.5, "restart"), acks(1.0, 0.500_001, "restart"));
        assert!(half.iter().zip(&nearly).filter(|(a, b)| a != b).count() > 50, "independent");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_trace_ends_at_the_means(seed in 0..1000_u32, loss in 0.0..1.0_f64, warmup in 0..50_u32, response in 0..3_usize) {
            let response = ["restart", "threshold", "window"][response];
            let settings = [("seed", f64::from(seed)), ("loss", loss), ("warmup", f64::from(warmup)), ("rounds", 300.0)];
            let params = params(response, &settings);
            let rounds: Vec<Round> = trace(&params).collect();
            let last = rounds.last().unwrap();
            prop_assert_eq!(rounds.len(), 300);
            prop_assert_eq!(last.window_rate, pick(&ENTRY, &params, "window_rate"));
            prop_assert_eq!(last.acked_window_rate, pick(&ENTRY, &params, "acked_window_rate"));
            prop_assert_eq!(last.packet_rate, pick(&ENTRY, &params, "packet_rate"));
            prop_assert!(rounds.iter().all(|round| round.cwnd >= 1.0 && round.cwnd.is_finite()));
        }
    }
}
