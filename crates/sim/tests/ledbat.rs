//! LEDBAT's goals (RFC 6817 §1.2): it uses an idle path with a queuing delay of `target`, and yields to a flow that fills the queue.

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;

/// Flows over 10 Mbit/s and 22 ms one way, with a queue of almost a second.
fn result(duration: u32, flows: &str) -> RunResult {
    let text = format!(
        "duration = '{duration} s'\nrecord = ['queue']\n[topology]\nkind = 'dumbbell'\naccess = {{ delay = '1 ms' }}\n\
         bottleneck = {{ rate = '10 Mbit/s', delay = '20 ms', queue = '1000 packets' }}\n{flows}"
    );
    let scenario = Document::from_toml(&text, "ledbat.toml").unwrap().scenario().unwrap();
    run(&scenario, &mut || false).unwrap()
}

/// The mean delay of the queue in seconds, from the given time to the last change.
fn queuing_delay(result: &RunResult, from: u64) -> f64 {
    let (trace, link) = (result.traces.queue.as_ref().unwrap(), result.bottleneck.unwrap() as u32);
    let rows: Vec<usize> =
        (0..trace.time.len()).filter(|&row| trace.link[row] == link && trace.time[row] >= from * 1_000_000_000).collect();
    let bits = |row: usize| 8.0 * trace.bytes[row] as f64;
    let spans: Vec<(f64, f64)> = rows.windows(2).map(|pair| ((trace.time[pair[1]] - trace.time[pair[0]]) as f64, bits(pair[0]))).collect();
    spans.iter().map(|(time, bits)| time * bits).sum::<f64>() / spans.iter().map(|(time, _)| time).sum::<f64>() / 10e6
}

const HOSTS: [&str; 2] = ["rwnd = '3000 packets'", "host = 'freebsd'"];

#[test]
fn the_queuing_delay_converges_to_the_target() {
    for host in HOSTS {
        for (target, expected) in [("100 ms", 0.1), ("25 ms", 0.025)] {
            let flow =
                format!("[[flow]]\n{host}\ninitial_ssthresh = '2 packets'\navoidance = {{ kind = 'ledbat', target = '{target}' }}\n");
            let result = result(150, &flow);
            let delay = queuing_delay(&result, 110);
            println!("{host}, target {target}: {:.1} ms", 1e3 * delay);
            assert!((0.9 * expected..1.1 * expected).contains(&delay), "{host}, {target}: {delay}");
            assert_eq!(result.flows[0].window_reductions, 0, "{host}");
        }
    }
}

#[test]
fn it_yields_to_reno() {
    for host in HOSTS {
        let ledbat = format!("[[flow]]\n{host}\ninitial_ssthresh = '2 packets'\navoidance = 'ledbat'\n");
        let flows = format!("{ledbat}[[flow]]\n{host}\nstart = '30 s'\navoidance = 'reno'\n");
        let alone = result(30, &ledbat).flows[0].delivered_packets;
        let both = result(130, &flows);
        let shares = [both.flows[0].delivered_packets - alone, both.flows[1].delivered_packets];
        let share = shares[0] as f64 / (shares[0] + shares[1]) as f64;
        println!("{host}: {:.1} % for LEDBAT", 100.0 * share);
        assert!(share < 0.1, "{host}: {shares:?}");
        // Reno fills the queue, so LEDBAT falls to its smallest window.
        assert!(queuing_delay(&both, 60) > 0.3, "{host}");
    }
}
