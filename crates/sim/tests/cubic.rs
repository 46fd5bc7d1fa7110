//! CUBIC and `hystart_pp` on long paths: the window curve, its mean under random loss, the first overshoot, and two flows.

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;
use ackclock_sim::trace::CwndTrace;

/// SACK flows over 100 Mbit/s with a round-trip delay of 100 ms, a queue of `queue` packets at the bottleneck, and `loss` behind it.
fn long_path(duration: u32, queue: u32, loss: &str, flows: &[&str]) -> RunResult {
    let flows: Vec<String> = flows.iter().map(|flow| format!("[[flow]]\nrecovery = 'sack'\nrwnd = '1000000 packets'\n{flow}\n")).collect();
    let text = format!(
        "duration = '{duration} s'\nrecord = ['cwnd', 'internals']\n\
         [topology]\nkind = 'dumbbell'\naccess = {{ rate = '10 Gbit/s' }}\n\
         bottleneck = {{ rate = '100 Mbit/s', delay = '30 ms', queue = '{queue} packets', loss = '{loss}' }}\n{}",
        flows.concat()
    );
    let scenario = Document::from_toml(&text, "cubic.toml").and_then(|document| document.scenario());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Number of packets on the path, in both directions, and in a queue of the same size.
const BDP: u32 = 1200;

const CUBIC: &str = "avoidance = { kind = 'cubic', fast_convergence = false }\nslow_start = 'hystart_pp'";

/// Values of the only flow's quantity `name`, with their times in nanoseconds.
fn internal<'a>(result: &'a RunResult, name: &'a str) -> impl Iterator<Item = (u64, f64)> + 'a {
    let trace = result.traces.internals.as_ref().unwrap();
    (0..trace.time.len()).filter(move |at| trace.name[*at] == name).map(|at| (trace.time[at], trace.value[at]))
}

fn windows(result: &RunResult) -> &CwndTrace {
    result.traces.cwnd.as_ref().unwrap()
}

#[test]
fn the_window_follows_the_cubic_function() {
    let result = long_path(60, BDP, "0 %", &[CUBIC]);
    let cwnd = windows(&result);
    let w_max: Vec<(u64, f64)> = internal(&result, "W_max").collect();
    let mut stage = (0, 0.0_f64);
    let mut stages = 0;
    for (now, k) in internal(&result, "K") {
        if stage.1.to_bits() != k.to_bits() {
            stage = (now, k);
            stages += 1;
        }
        let at = |list: &[u64]| list.partition_point(|time| *time <= now) - 1;
        let plateau = w_max[w_max.partition_point(|(time, _)| *time <= now) - 1].1;
        let t = (now - stage.0) as f64 / 1e9;
        // RFC 9438 §4.2 figure 1.
        let expected = 0.4 * (t - k).powi(3) + plateau;
        let window = cwnd.cwnd[at(&cwnd.time)];
        assert!((window / expected - 1.0).abs() < 0.01, "{window} at {now} ns, {t} s into its stage, instead of {expected}");
    }
    assert!(stages >= 4, "{stages} stages");
}

#[test]
fn random_losses_give_the_mean_window_of_the_rfc_and_a_little_more() {
    // RFC 9438 §5 assumes regular losses. With random losses the mean is larger, because growth accelerates after a long gap.
    for (loss, p) in [("0.1 %", 1e-3_f64), ("0.02 %", 2e-4)] {
        let result = long_path(600, 100_000, loss, &[CUBIC]);
        let cwnd = windows(&result);
        let area: f64 = (1..cwnd.time.len()).map(|at| cwnd.cwnd[at - 1] * (cwnd.time[at] - cwnd.time[at - 1]) as f64).sum();
        let mean = area / (cwnd.time.last().unwrap() - cwnd.time[0]) as f64;
        let expected = 1.054 * (0.1 / p).powf(0.75).max((1.5 / p).sqrt() / 1.054);
        assert!((1.05..1.4).contains(&(mean / expected)), "{loss}: {mean}, where regular losses give {expected}");
    }
}

#[test]
fn hystart_pp_overshoots_less() {
    let drops = |slow_start| {
        let result = long_path(10, 2 * BDP, "0 %", &[&format!("slow_start = '{slow_start}'")]);
        result.links.iter().map(|link| link.drops).sum::<u64>()
    };
    let (standard, hystart_pp) = (drops("standard"), drops("hystart_pp"));
    assert!(2 * hystart_pp < standard, "{hystart_pp} of {standard}");
}

#[test]
fn fast_convergence_gives_a_later_flow_its_share() {
    let share = |fast_convergence: bool| {
        let cubic = format!("avoidance = {{ kind = 'cubic', fast_convergence = {fast_convergence} }}\nslow_start = 'hystart_pp'");
        let result = long_path(120, BDP, "0 %", &[&cubic, &format!("{cubic}\nstart = '20 s'")]);
        let delivered = [0, 1].map(|flow: usize| result.flows[flow].delivered_bytes as f64);
        delivered[1] / delivered[0]
    };
    let (with, without) = (share(true), share(false));
    assert!(with > 1.5 * without && with < 1.0, "{with} {without}");
}
