//! Population: the initial windows that survive among flows at a shared bottleneck.
//! ## What it does
//! Each sender of a population has one of N initial windows, its strategy; xᵢ is the share of strategy i. `flows` senders at a time share a
//! bottleneck that carries and buffers K = rate·RTT + buffer segments per round trip. A flow with window Vᵢ among n − 1 others loads it
//! with lᵢ(q) + (n − 1)·Σⱼ xⱼ·lⱼ(q) segments; l is the mean window of the model `initial_window`. The loss q reduces the delivered segments
//! to K. More loss makes l smaller, so exactly one q solves this, and a larger window of the flow gives a larger q.
//!
//! A flow of s segments at loss q takes dᵢ(q) rounds until its first loss. It loses M = s·q/(1−q) segments on average, as in trials until
//! the s-th success. Each loss costs a timeout of τ round trips. Slow start from one segment then delivers the remaining s − `E[S]ₛ`
//! segments in M parts, each in log₂((s − `E[S]ₛ`)/M + 1) rounds. The mean completion time is the cost, and the payoff is its negative.
//!
//! The shares follow the replicator equation ẋᵢ = xᵢ·(fᵢ(x) − Σⱼ xⱼ·fⱼ(x)). A cost of one round below the mean multiplies a share by e per
//! unit of time. The outputs describe the final state. The state is evolutionarily stable if invaders with the share `invasion` have higher
//! costs than the residents, for every strategy that not all residents play.
//! ## References
//! Aniemeka, *Transmission Control Protocol's initial congestion window for web latency reduction and speedy flows*, 2018, §3: strategies,
//! state x(t), d and l (equations 5 and 7). Taylor & Jonker, *Evolutionary stable strategies and game dynamics*, 1978 (dynamics). RFC 6298
//! (timeout of 1 s).
//! ## Differs from the document
//! The paper defines strategies and states only: payoffs, dynamics and all results are ours. A flow meets the mean of the others, not a
//! random sample. A flow's own window counts in the load. Otherwise the loss would be equal for all, and the largest window always best for
//! its sender; that is the limit of many flows at a bottleneck that grows with them. As the paper assumes, all flows have the same loss
//! rate, and timeouts do not back off. l is a mean window for every V, even above the flow's size; `load = "first_window"` instead counts
//! the segments of the first window, min(s, V). As printed, equation 6 does not depend on V and nothing limits it, so the form with V is
//! used. d is the paper's; its logarithm credits large windows with fractions of a round that no flow can save (see `whole_rounds` of
//! `initial_window`).
//!
//! Costs depend on x only through the mean load. An equilibrium therefore mixes at most two windows, except by coincidence. No state costs
//! less than the best mixture of two: `optimum_rounds`.
//! ## Parameters
//! `windows`: 2 to 48 segments, table 1. `flows`: 6, the connections of the paper's browsers. `loss`: 0 %, besides the loss from the load.
//! `mu`: 10 and `theta`: 100 segments, as in `initial_window`. `rtt`: 100 ms. `rate`: 1.5 Mbit/s, a DSL line; the paper's "1.5MB/sec" would
//! be 12 Mbit/s. `packet_size`: 1500 B, the paper's MTU. `buffer`: 50 packets, ns-2's default. `timeout`: 1 s, as in the paper and RFC
//! 6298.
//! `load`: `loss_window`, l. `start`: `uniform`; with the others, a share of 1 − `invasion` begins with one window. `invasion`: 0.01.
//! `step`: 0.1 and `horizon`: 1000, in units of time; the computation ends earlier if the shares come to rest.

mod bottleneck;

use ackclock_core::entry::{Quantity, quantity};
use ackclock_core::params::{Default, Kind, Param, Params};
use bottleneck::Bottleneck;

use crate::flow_sizes::MU;
use crate::replicator::{self, Population};
use crate::{Model, Trace, column, params};

/// This model in the registry.
pub static ENTRY: Model = Model {
    name: "population",
    summary: "initial windows that survive at a shared bottleneck by replicator dynamics, and their costs",
    reference: "Aniemeka, Transmission Control Protocol's initial congestion window for web latency reduction, 2018, §3; Taylor & Jonker 1978",
    params: PARAMS,
    outputs: OUTPUTS,
    axis: "flows",
    simulated: false,
    slow: true,
    paper: Some("icw"),
    evaluate,
    trace: Some(TRACE),
};

const PARAMS: &[Param] = &[
    Param {
        name: "windows",
        kind: Kind::Numbers { min: 1.0, max: 1e6 },
        default: Default::Numbers(&[2.0, 4.0, 8.0, 16.0, 32.0, 40.0, 48.0]),
        doc: "the strategies: initial windows in segments, in ascending order",
    },
    params::whole("flows", 6.0, (1.0, 1e6), "number of flows that share the bottleneck, n"),
    Param {
        name: "loss",
        kind: Kind::Probability { min: 0.0, max: 0.9 },
        default: Default::Number(0.0),
        doc: "probability of a packet loss from causes other than the load",
    },
    MU,
    params::whole("theta", 100.0, (1.0, 1e4), "size of the largest flow in segments, θ"),
    params::RTT,
    Param { name: "rate", kind: Kind::Rate { min: 1.0, max: 1e15 }, default: Default::Number(1.5e6), doc: "rate of the bottleneck" },
    Param { default: Default::Number(1500.0), ..params::WIRE_SIZE },
    Param {
        name: "buffer",
        kind: Kind::Segments { min: 0.0, max: 1e12 },
        default: Default::Number(50.0),
        doc: "buffer of the bottleneck in packets",
    },
    Param {
        name: "timeout",
        kind: Kind::Duration { min: 0.0, max: 1e6 },
        default: Default::Number(1.0),
        doc: "duration of a timeout after a loss, τ",
    },
    Param {
        name: "load",
        kind: Kind::Word(&["loss_window", "first_window"]),
        default: Default::Word("loss_window"),
        doc: "load of a flow per round trip: its mean window at the first loss, l, or its first window",
    },
    Param {
        name: "start",
        kind: Kind::Word(&["uniform", "smallest", "largest"]),
        default: Default::Word("uniform"),
        doc: "initial shares: all equal, or nearly all with the smallest or largest window",
    },
    params::plain("invasion", 0.01, (1e-6, 0.5), "share of the invaders in the test of stability"),
    params::plain("step", 0.1, (0.01, 1.0), "time step"),
    params::plain("horizon", 1000.0, (1.0, 1e5), "longest time for which the shares evolve"),
];

const OUTPUTS: &[Quantity] = &[
    quantity("mean_window", "segments", "mean initial window"),
    quantity("commonest", "segments", "initial window with the largest share"),
    quantity("largest_share", "", "share of that window"),
    quantity("played", "", "number of windows with a share of at least a millionth"),
    quantity("stable", "", "1 if evolutionarily stable, 0 if not"),
    quantity("margin", "rounds", "smallest cost disadvantage of an invader; negative if an invader does better"),
    quantity("drift", "", "largest remaining rate of change of a share"),
    quantity("mean_loss", "", "mean probability that a packet is lost"),
    quantity("rounds", "rounds", "mean cost: round trips until a flow is complete"),
    quantity("time", "s", "mean cost as time"),
    quantity("optimum_rounds", "rounds", "lowest mean cost of any shares"),
    quantity("optimum_window", "segments", "mean initial window at the lowest mean cost"),
    quantity("price_of_anarchy", "", "mean cost over the lowest mean cost"),
];

/// Largest number of strategies.
const MOST_WINDOWS: usize = 32;
/// Shares below this value count as zero.
const VANISHED: f64 = 1e-6;
/// Shares are at rest if their rates of change are below this value.
const AT_REST: f64 = 1e-11;

fn checked(params: &Params) -> Result<Bottleneck, String> {
    let windows = params.numbers("windows");
    let rising = windows.windows(2).all(|pair| pair[0] < pair[1]);
    if windows.is_empty() || windows.len() > MOST_WINDOWS || !rising {
        return Err(format!("windows: must be 1 to {MOST_WINDOWS} numbers in rising order"));
    }
    Ok(Bottleneck::new(params))
}

/// The initial shares of `count` strategies.
fn first(params: &Params, count: usize) -> Vec<f64> {
    let invaders = params.number("invasion");
    let most = match params.word("start") {
        "smallest" => 0,
        "largest" => count - 1,
        _ => return vec![1.0 / count as f64; count],
    };
    let of = |place| if place == most { 1.0 - invaders } else { invaders / (count as f64 - 1.0) };
    if count == 1 { vec![1.0] } else { (0..count).map(of).collect() }
}

fn payoffs(bottleneck: &Bottleneck) -> impl Fn(&[f64]) -> Vec<f64> {
    |shares: &[f64]| bottleneck.costs(shares).into_iter().map(|cost| -cost).collect()
}

/// Number of time steps in a run.
fn steps(params: &Params) -> u64 {
    libm::ceil(params.number("horizon") / params.number("step")) as u64
}

fn evaluate(params: &Params) -> Result<Vec<f64>, String> {
    let bottleneck = checked(params)?;
    let windows = bottleneck.windows();
    let mut population = Population::new(&first(params, windows.len()), payoffs(&bottleneck));
    for _ in 0..steps(params) {
        if population.step(params.number("step")) < AT_REST {
            break;
        }
    }
    let drift = population.drift();
    let shares = remaining(population.shares());
    let mean = |of: &[f64]| replicator::mean(&shares, of);
    let (commonest, largest) =
        windows.iter().zip(&shares).fold((f64::NAN, 0.0), |best, (window, share)| if *share > best.1 { (*window, *share) } else { best });
    let margin = replicator::advantage(&shares, params.number("invasion"), payoffs(&bottleneck));
    let rounds = mean(&bottleneck.costs(&shares));
    let (optimum, optimum_window) = bottleneck.optimum();
    Ok(vec![
        mean(windows),
        commonest,
        largest,
        shares.iter().filter(|share| **share > 0.0).count() as f64,
        f64::from(u8::from(margin > 0.0)),
        margin,
        drift,
        mean(&bottleneck.losses(&shares)),
        rounds,
        rounds * params.number("rtt"),
        optimum,
        optimum_window,
        rounds / optimum,
    ])
}

/// `shares` without the vanished ones.
fn remaining(shares: &[f64]) -> Vec<f64> {
    let kept = |share: &f64| if *share < VANISHED { 0.0 } else { *share };
    let sum: f64 = shares.iter().map(kept).sum();
    shares.iter().map(|share| kept(share) / sum).collect()
}

/// The shares after every step, from the start to the horizon.
const TRACE: Trace = Trace {
    summary: "shares of `population` after every step, from the start to the horizon",
    columns: &[
        column("time", "", "time, in the model's units"),
        column("mean_window", "segments", "mean initial window"),
        column("mean_loss", "", "mean probability that a packet is lost"),
        column("rounds", "rounds", "mean cost: round trips until a flow is complete"),
        column("share", "", "share of the window").for_each("windows"),
    ],
    evaluate: |params| {
        let moments = trace(params)?;
        let column = |read: &dyn Fn(&Moment) -> f64| moments.iter().map(read).collect();
        let means: [fn(&Moment) -> f64; 4] =
            [|moment| moment.time, |moment| moment.mean_window, |moment| moment.mean_loss, |moment| moment.rounds];
        let shares = (0..params.numbers("windows").len()).map(|place| column(&|moment| moment.shares[place]));
        Ok(means.iter().map(|mean| column(mean)).chain(shares).collect())
    },
};

/// One row of a trace.
#[derive(Debug)]
struct Moment {
    time: f64,
    mean_window: f64,
    mean_loss: f64,
    rounds: f64,
    shares: Vec<f64>,
}

fn trace(params: &Params) -> Result<Vec<Moment>, String> {
    let bottleneck = checked(params)?;
    let step = params.number("step");
    let mut population = Population::new(&first(params, bottleneck.windows().len()), payoffs(&bottleneck));
    let moment = |count| {
        let shares = population.shares().to_vec();
        let mean = |of: &[f64]| replicator::mean(&shares, of);
        let (mean_window, mean_loss, rounds) =
            (mean(bottleneck.windows()), mean(&bottleneck.losses(&shares)), mean(&bottleneck.costs(&shares)));
        population.step(step);
        Moment { time: count as f64 * step, mean_window, mean_loss, rounds, shares }
    };
    Ok((0..=steps(params)).map(moment).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, pick, with};
    use ackclock_core::params::Value;

    /// The defaults with some values replaced.
    pub(super) fn params(settings: &[(&str, f64)]) -> Params {
        with(&ENTRY, settings)
    }

    fn word(mut params: Params, name: &str, word: &str) -> Params {
        params.set(name, Value::Word(word.to_owned()));
        params
    }

    fn windows(settings: &[(&str, f64)], windows: &[f64]) -> Params {
        let mut params = params(settings);
        params.set("windows", Value::Numbers(windows.to_vec()));
        params
    }

    fn at(params: &Params, names: &[&str]) -> Vec<f64> {
        names.iter().map(|name| pick(&ENTRY, params, name)).collect()
    }

    #[test]
    fn the_defaults_mix_two_windows() {
        let found = at(&params(&[]), &["commonest", "largest_share", "played", "stable", "rounds"]);
        assert_eq!((found[0], found[2], found[3]), (8.0, 2.0, 1.0));
        // From an independent program: the share at which both windows cost the same, and a grid over all mixtures of two.
        assert_close(found[1], 0.793_943_611_8, 1e-8);
        assert_close(found[4], 1.047_116_887_0, 1e-8);
        let found = at(&params(&[]), &["drift", "margin", "mean_loss", "optimum_rounds", "optimum_window"]);
        assert!(found[0] < 1e-10);
        assert_close(found[1], 0.003_063_607_3, 1e-8);
        assert_close(found[2], 0.000_607_419_2, 1e-9);
        assert!((0.987..0.987_797).contains(&found[3]), "{}", found[3]);
        assert_close(found[4], 9.2, 0.01);
    }

    #[test]
    fn at_rest_played_windows_cost_the_same_and_the_others_more() {
        for settings in [[("flows", 6.0), ("loss", 0.0)], [("flows", 8.0), ("loss", 0.01)], [("flows", 12.0), ("loss", 0.0)]] {
            let params = params(&[&settings[..], &[("horizon", 200.0), ("step", 0.2)]].concat());
            let bottleneck = checked(&params).unwrap();
            let last = trace(&params).unwrap().pop().unwrap();
            let costs = bottleneck.costs(&last.shares);
            for (share, cost) in last.shares.iter().zip(&costs) {
                let more = cost - last.rounds;
                assert!(if *share > VANISHED { more.abs() < 1e-6 } else { more > -1e-9 }, "{settings:?}: {last:?}, {costs:?}");
            }
        }
    }

    #[test]
    fn equilibria_do_not_depend_on_the_step_or_the_start() {
        let names = ["mean_window", "largest_share", "rounds", "mean_loss"];
        for flows in [3.0, 6.0, 8.0] {
            let usual = at(&params(&[("flows", flows)]), &names);
            let fine = at(&params(&[("flows", flows), ("step", 0.04)]), &names);
            let [small, large] = ["smallest", "largest"].map(|start| at(&word(params(&[("flows", flows)]), "start", start), &names));
            for other in [fine, small, large] {
                for (one, another) in usual.iter().zip(&other) {
                    assert_close(*one, *another, 1e-6 * one.abs().max(1e-3));
                }
            }
        }
    }

    #[test]
    fn the_rate_at_which_a_mixture_is_restored_is_that_of_the_jacobian() {
        // Costs depend on the shares only through the mean of V. The Jacobian's eigenvalue is the covariance of V with the slope of the
        // payoffs.
        let usual = windows(&[("horizon", 100.0)], &[8.0, 16.0]);
        let bottleneck = checked(&usual).unwrap();
        let moments = trace(&usual).unwrap();
        let rest = &moments.last().unwrap().shares;
        let costs = |share: f64| bottleneck.costs(&[share, 1.0 - share]);
        let slope = |place: usize| (costs(rest[0] - 1e-5)[place] - costs(rest[0] + 1e-5)[place]) / (2e-5 * (16.0 - 8.0));
        let (means, share) = (rest[0] * slope(0) + rest[1] * slope(1), rest[0]);
        let eigenvalue = -(share * 8.0 * (slope(0) - means) + (1.0 - share) * 16.0 * (slope(1) - means));
        assert!(eigenvalue < 0.0, "{eigenvalue}");
        let near: Vec<(f64, f64)> = moments
            .iter()
            .map(|moment| (moment.time, (moment.shares[0] - rest[0]).abs()))
            .filter(|(_, off)| (1e-7..1e-5).contains(off))
            .collect();
        let ((from, first), (to, last)) = (near[0], *near.last().unwrap());
        let rate = (last / first).ln() / (to - from);
        assert_close(rate / eigenvalue, 1.0, 0.01);
    }

    #[test]
    fn room_for_all_makes_the_largest_window_win_and_best() {
        let found = at(&params(&[("buffer", 1e4)]), &["mean_window", "played", "stable", "mean_loss", "price_of_anarchy"]);
        assert_eq!(found, [48.0, 1.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn if_a_flow_hardly_counts_all_take_the_largest_window_and_all_suffer() {
        // A flow's share of the load falls, while its share of the bottleneck stays constant.
        let crowd = |flows: f64| {
            let settings = [("flows", flows), ("rate", 1.5e6 * flows / 6.0), ("buffer", 50.0 * flows / 6.0)];
            let params = windows(&[&settings[..], &[("horizon", 2e3), ("step", 0.5)]].concat(), &[8.0, 24.0, 48.0]);
            at(&params, &["mean_window", "price_of_anarchy", "stable"])
        };
        let (few, more, many) = (crowd(6.0), crowd(60.0), crowd(100_000.0));
        assert!(few[0] < more[0] && more[0] < many[0], "{few:?}, {more:?}, {many:?}");
        assert!(few[1] < more[1] && more[1] < many[1], "{few:?}, {more:?}, {many:?}");
        assert_eq!((many[0], many[2]), (48.0, 1.0));
        assert!(few[1] < 1.1 && many[1] > 50.0, "{few:?}, {many:?}");
    }

    #[test]
    fn one_window_is_all_there_is() {
        let one = windows(&[], &[10.0]);
        let names = ["mean_window", "largest_share", "played", "stable", "drift", "price_of_anarchy"];
        assert_eq!(at(&one, &names), [10.0, 1.0, 1.0, 1.0, 0.0, 1.0]);
        assert_eq!(at(&one, &["margin"]), [f64::INFINITY], "no strategy left to invade");
    }

    #[test]
    fn traces_begin_and_end_where_the_model_does() {
        let params = word(params(&[("horizon", 200.0)]), "start", "largest");
        let moments = trace(&params).unwrap();
        assert_eq!(moments.len(), 2001);
        assert_eq!((moments[0].time, moments[0].shares[6]), (0.0, 0.99));
        assert_close(moments[2000].time, 200.0, 1e-9);
        for moment in &moments {
            assert_close(moment.shares.iter().sum(), 1.0, 1e-14);
        }
        let found = at(&params, &["mean_window", "rounds", "mean_loss"]);
        let last = &moments[2000];
        for (one, other) in found.into_iter().zip([last.mean_window, last.rounds, last.mean_loss]) {
            assert_close(one, other, 1e-5);
        }
    }

    #[test]
    fn windows_that_do_not_rise_are_refused() {
        for wrong in [&[][..], &[4.0, 2.0], &[2.0, 2.0], &[1.0; 33]] {
            let problem = (ENTRY.evaluate)(&windows(&[], wrong)).unwrap_err();
            assert_eq!(problem, "windows: must be 1 to 32 numbers in rising order");
            assert!(trace(&windows(&[], wrong)).is_err());
        }
    }
}
