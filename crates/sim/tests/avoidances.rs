//! What the avoidances promise: more than Reno where Reno gains too little, and less where others need the path.

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;

/// Flows over a bottleneck, in TOML, behind access links of 1 ms.
fn result(duration: u32, bottleneck: &str, flows: &[&str]) -> RunResult {
    let flows: Vec<String> = flows.iter().map(|flow| format!("[[flow]]\nhost = 'freebsd'\n{flow}\n")).collect();
    let text = format!(
        "duration = '{duration} s'\nseed = 3\nrecord = ['queue', 'internals']\n[topology]\nkind = 'dumbbell'\n\
         access = {{ rate = '10 Gbit/s', delay = '1 ms' }}\nbottleneck = {{ {bottleneck} }}\n{}",
        flows.concat()
    );
    let scenario = Document::from_toml(&text, "avoidances.toml").and_then(|document| document.scenario());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn delivered(result: &RunResult) -> Vec<f64> {
    result.flows.iter().map(|flow| flow.delivered_packets as f64).collect()
}

/// The mean queue at the bottleneck in packets and in bytes, between two times in seconds.
fn mean_queue(result: &RunResult, from: u64, to: u64) -> (f64, f64) {
    let (trace, link) = (result.traces.queue.as_ref().unwrap(), result.bottleneck.unwrap() as u32);
    let within = |row: &usize| trace.link[*row] == link && (from..to).contains(&(trace.time[*row] / 1_000_000_000));
    let rows: Vec<usize> = (0..trace.time.len()).filter(within).collect();
    let (mut packets, mut bytes, mut time) = (0.0, 0.0, 0.0);
    for pair in rows.windows(2) {
        let lasted = (trace.time[pair[1]] - trace.time[pair[0]]) as f64;
        packets += lasted * trace.packets[pair[0]] as f64;
        bytes += lasted * trace.bytes[pair[0]] as f64;
        time += lasted;
    }
    (packets / time, bytes / time)
}

/// Smallest and largest value of the first flow's quantity `name`.
fn range(result: &RunResult, name: &str) -> (f64, f64) {
    let trace = result.traces.internals.as_ref().unwrap();
    let values = (0..trace.time.len()).filter(|at| trace.name[*at] == name).map(|at| trace.value[at]);
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
}

/// Room for 100 Mbit/s over 100 ms.
const BUFFERS: &str =
    "modern = { receive_buffer = '20 MB', receive_buffer_max = '20 MB', send_buffer = '20 MB', send_buffer_max = '20 MB' }";
/// 100 Mbit/s over 104 ms with a queue of a BDP: 870 packets.
const LONG: &str = "rate = '100 Mbit/s', delay = '50 ms', queue = '870 packets'";
/// 10 Mbit/s over 44 ms, with a queue of almost a second.
const DEEP: &str = "rate = '10 Mbit/s', delay = '20 ms', queue = '800 packets'";

#[test]
fn illinois_and_compound_gain_more_than_reno_on_a_long_path_with_random_losses() {
    let lossy = format!("{LONG}, loss = '0.01 %'");
    let alone = |avoidance: &str| result(60, &lossy, &[&format!("avoidance = '{avoidance}'\n{BUFFERS}")]);
    let reno = delivered(&alone("reno"))[0];
    for (avoidance, factor) in [("illinois", 1.5), ("compound", 1.2), ("yeah", 1.5), ("westwood_plus", 1.2)] {
        let ratio = delivered(&alone(avoidance))[0] / reno;
        println!("{avoidance}: {ratio:.2} of Reno's");
        assert!(ratio > factor, "{avoidance}: {ratio}");
    }
}

#[test]
fn illinois_slows_down_and_cuts_more_as_the_queue_fills() {
    let result = result(60, LONG, &[&format!("avoidance = 'illinois'\n{BUFFERS}")]);
    let (increase, decrease) = (range(&result, "increase"), range(&result, "decrease"));
    println!("increase {increase:?}, decrease {decrease:?}");
    assert!(increase.0 < 0.5 && increase.1 > 9.99, "{increase:?}");
    assert!(decrease.0 < 0.2 && decrease.1 > 0.4, "{decrease:?}");
}

#[test]
fn yeah_keeps_its_queue_below_eighty_segments() {
    let queue = |avoidance: &str| {
        let result = result(60, LONG, &[&format!("avoidance = '{avoidance}'\n{BUFFERS}")]);
        (mean_queue(&result, 20, 60).0, delivered(&result)[0])
    };
    let (yeah, reno) = (queue("yeah"), queue("reno"));
    println!("yeah {yeah:?}, reno {reno:?}");
    assert!(yeah.0 < 80.0 && reno.0 > 2.0 * yeah.0, "{yeah:?}, {reno:?}");
    assert!(yeah.1 > 0.95 * reno.1, "{yeah:?}, {reno:?}");
}

#[test]
fn lp_uses_an_idle_path_and_yields_to_reno() {
    let capacity = delivered(&result(60, DEEP, &["avoidance = 'reno'"]))[0];
    let lp = "avoidance = 'lp'";
    let alone = delivered(&result(60, DEEP, &[lp]))[0];
    // Once Reno has begun to fill the queue.
    let until = |duration| delivered(&result(duration, DEEP, &[lp, "avoidance = 'reno'"]));
    let (begin, both) = (until(60), until(120));
    let got = [both[0] - begin[0], both[1] - begin[1]];
    let share = got[0] / (got[0] + got[1]);
    println!("{:.1} % of Reno's alone, {:.1} % beside Reno", 100.0 * alone / capacity, 100.0 * share);
    assert!(alone > 0.9 * capacity, "{alone} of {capacity}");
    assert!(share < 0.1, "{got:?}");
}

#[test]
fn westwood_plus_leaves_recovery_with_the_pipe() {
    let lossy = "rate = '10 Mbit/s', delay = '20 ms', queue = '100 packets', loss = '0.5 %'";
    let alone = |avoidance: &str| delivered(&result(60, lossy, &[&format!("avoidance = '{avoidance}'")]))[0];
    let (westwood, reno) = (alone("westwood_plus"), alone("reno"));
    println!("westwood_plus {westwood}, reno {reno}");
    assert!(westwood > 1.2 * reno, "{westwood}, {reno}");
}

#[test]
fn abe_fills_a_link_whose_queue_marks_early() {
    let marking = "rate = '50 Mbit/s', delay = '50 ms', queue = { kind = 'codel', ecn = true }";
    let alone = |keys: &str| {
        let flow = format!("avoidance = 'reno'\necn = 'classic'\n{keys}\n{BUFFERS}");
        let result = result(60, marking, &[&flow]);
        (delivered(&result)[0], result.flows[0].window_reductions)
    };
    let (abe, reno) = (alone("loss_response = 'abe'"), alone(""));
    println!("abe {abe:?}, reno {reno:?}");
    assert!(abe.0 > 1.05 * reno.0, "{abe:?}, {reno:?}");
}

const LEDBAT_PP: &str = "initial_window = '2 segments'\nslow_start = 'ledbat_pp'\navoidance = 'ledbat_pp'";

#[test]
fn ledbat_pp_keeps_sixty_milliseconds_of_queue_between_slowdowns() {
    let steady =
        LEDBAT_PP.replace("'ledbat_pp'\navoidance = 'ledbat_pp'", "'ledbat_pp'\navoidance = { kind = 'ledbat_pp', interval = 0.0 }");
    let (steady, whole) = (result(60, DEEP, &[&steady]), result(60, DEEP, &[LEDBAT_PP]));
    // Milliseconds at 10 Mbit/s.
    let delay = |result: &RunResult| mean_queue(result, 30, 60).1 * 8.0 / 10e3;
    println!("without slowdowns {:.1} ms, with {:.1} ms; {:?} packets", delay(&steady), delay(&whole), delivered(&whole));
    assert!((54.0..=66.0).contains(&delay(&steady)), "{}", delay(&steady));
    assert!((40.0..=62.0).contains(&delay(&whole)), "{}", delay(&whole));
    let share = delivered(&whole)[0] / delivered(&result(60, DEEP, &["avoidance = 'reno'"]))[0];
    assert!(share > 0.9, "a tenth of the time is for slowdowns: {share}");
}

#[test]
fn a_latecomer_gains_nothing_over_ledbat_pp() {
    let share = |flow: &str| {
        let late = format!("start = '20 s'\n{flow}");
        let until = |duration| delivered(&result(duration, DEEP, &[flow, &late]));
        let (begin, end) = (until(100), until(200));
        let got = [end[0] - begin[0], end[1] - begin[1]];
        got[1] / (got[0] + got[1])
    };
    let (ledbat, plus) = (share("initial_ssthresh = '2 packets'\navoidance = 'ledbat'"), share(LEDBAT_PP));
    println!("the latecomer's share: LEDBAT {ledbat:.3}, LEDBAT++ {plus:.3}");
    assert!(ledbat > 0.8, "LEDBAT's error: {ledbat}");
    assert!((0.4..=0.6).contains(&plus), "{plus}");
}

#[test]
fn ledbat_pp_yields_to_reno() {
    let both = delivered(&result(60, DEEP, &[LEDBAT_PP, "start = '1 s'\navoidance = 'reno'"]));
    println!("{both:?}");
    assert!(both[0] < 0.1 * both[1], "{both:?}");
}

#[test]
fn nv_and_cdg_keep_a_short_queue() {
    let alone = |avoidance: &str| {
        let result = result(60, DEEP, &[&format!("avoidance = {avoidance}")]);
        (mean_queue(&result, 20, 60).0, delivered(&result)[0])
    };
    let reno = alone("'reno'");
    for avoidance in ["'nv'", "'cdg'", "{ kind = 'cdg', variant = 'linux' }"] {
        let found = alone(avoidance);
        println!("{avoidance} {found:?}, reno {reno:?}");
        assert!(found.0 < 0.2 * reno.0, "{avoidance} {found:?}, {reno:?}");
        assert!(found.1 > 0.8 * reno.1, "{avoidance} {found:?}, {reno:?}");
    }
}

#[test]
fn cdg_holds_a_share_beside_reno() {
    // A queue of a BDP.
    let shallow = "rate = '10 Mbit/s', delay = '20 ms', queue = '50 packets'";
    for variant in ["document", "linux"] {
        let cdg = format!("avoidance = {{ kind = 'cdg', variant = '{variant}' }}");
        let both = delivered(&result(120, shallow, &[&cdg, "avoidance = 'reno'"]));
        let share = both[0] / (both[0] + both[1]);
        println!("{variant}: {share:.3}");
        assert!((0.1..=0.7).contains(&share), "{variant}: {both:?}");
    }
}
