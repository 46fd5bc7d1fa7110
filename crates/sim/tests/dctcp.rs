//! DCTCP's law: the window is 2/p segments if a share p of the packets is marked evenly.

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

/// The mean window in segments, from the deliveries between two times, with marks of the given percentage.
fn window(feedback: &str, control: &str, percent: f64, spacing: &str, (seconds, seed): (u64, u64)) -> f64 {
    let delivered = |duration: u64| {
        let text = format!(
            "duration = '{duration} s'\nseed = {seed}\n[topology]\nkind = 'dumbbell'\n[topology.access]\nrate = '10 Gbit/s'\ndelay = '1 ms'\n\
             [topology.bottleneck]\nrate = '10 Gbit/s'\ndelay = '48 ms'\n\
             queue = {{ kind = 'bernoulli', mark_probability = '{percent} %', spacing = '{spacing}', limit = '100000 packets' }}\n\
             [[flow]]\nprofile = 'modern'\necn = '{feedback}'\n{control}\n\
             modern = {{ receive_buffer = '100 MB', receive_buffer_max = '100 MB', delayed_ack = '1 ms' }}\n"
        );
        let scenario = Document::from_toml(&text, "dctcp.toml").unwrap().scenario().unwrap();
        run(&scenario, &mut || false).unwrap().flows[0].delivered_packets as f64
    };
    // The window has converged by then. Six crossings of links: 100 ms and the transmission of a packet, which is below a microsecond per link.
    let begin = 120;
    (delivered(begin + seconds) - delivered(begin)) / seconds as f64 * 0.1
}

#[test]
fn evenly_marked_packets_give_two_over_p() {
    for percent in [0.5, 1.0, 2.0] {
        for feedback in ["accurate", "dctcp"] {
            let product = window(feedback, "avoidance = 'dctcp'", percent, "even", (200, 1)) * percent / 100.0;
            println!("even {feedback} {percent} %: W p = {product:.3}");
            assert!((1.9..=2.1).contains(&product), "{feedback}, {percent} %: {product}");
        }
    }
    // Marked packets do not make the window grow, which only a large share shows: 2 (1 − p)/p.
    let product = window("accurate", "avoidance = 'dctcp'", 5.0, "even", (200, 1)) * 0.05 / 0.95;
    println!("even accurate 5 %: W p / (1 - p) = {product:.3}");
    assert!((1.9..=2.1).contains(&product), "{product}");
}

#[test]
fn random_marks_give_two_over_p_if_each_window_counts_alone() {
    for percent in [1.0, 2.0] {
        let product = window("accurate", "avoidance = { kind = 'dctcp', g = 1.0 }", percent, "random", (400, 2)) * percent / 100.0;
        println!("random, g = 1, {percent} %: W p = {product:.3}");
        assert!((1.9..=2.1).contains(&product), "{percent} %: {product}");
    }
}

#[test]
fn random_marks_leave_windows_without_a_reduction() {
    // λ/2 · ((1 − g)(1 − e^−λ) + g) = 1 for g = 1/16: λ = 2.225.
    for percent in [1.0, 2.0] {
        let product = window("accurate", "avoidance = 'dctcp'", percent, "random", (400, 3)) * percent / 100.0;
        println!("random, g = 1/16, {percent} %: W p = {product:.3}");
        assert!((0.95..=1.05).contains(&(product / 2.225)), "{percent} %: {product}");
    }
}
