//! Prague's laws: the window is 2/p segments if a share p of the packets is marked evenly, and the rate of a short round trip is that of 25 ms.

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

/// Packets per second, from the deliveries between two times, over a round-trip time in milliseconds and with marks of the given percentage.
fn rate(host: &str, flow: &str, percent: f64, rtt: f64, (begin, seconds): (u64, u64)) -> f64 {
    let delay = rtt / 2.0 - 0.2;
    let delivered = |duration: u64| {
        let text = format!(
            "duration = '{duration} s'\n[topology]\nkind = 'dumbbell'\n[topology.access]\nrate = '10 Gbit/s'\ndelay = '0.1 ms'\n\
             [topology.bottleneck]\nrate = '10 Gbit/s'\ndelay = '{delay} ms'\n\
             queue = {{ kind = 'bernoulli', mark_probability = '{percent} %', spacing = 'even', limit = '100000 packets' }}\n\
             [[flow]]\n{host}\necn = 'accurate'\n{flow}\n\
             modern = {{ receive_buffer = '100 MB', receive_buffer_max = '100 MB', delayed_ack = '1 ms' }}\n"
        );
        let scenario = Document::from_toml(&text, "prague.toml").unwrap().scenario().unwrap();
        run(&scenario, &mut || false).unwrap().flows[0].delivered_packets as f64
    };
    (delivered(begin + seconds) - delivered(begin)) / seconds as f64
}

#[test]
fn evenly_marked_packets_give_two_over_p_on_both_hosts() {
    for host in ["profile = 'modern'", "host = 'linux'"] {
        for percent in [1.0, 2.0] {
            let product = rate(host, "avoidance = 'prague'", percent, 100.0, (60, 100)) * 0.1 * percent / 100.0;
            println!("{host} {percent} %: W p = {product:.3}");
            assert!((1.9..=2.1).contains(&product), "{host}, {percent} %: {product}");
        }
    }
}

#[test]
fn a_short_round_trip_has_the_rate_of_25_ms() {
    for rtt in [5.0, 10.0, 25.0] {
        let flow = "avoidance = { kind = 'prague', transition = 0 }";
        let product = rate("profile = 'modern'", flow, 2.0, rtt, (30, 60)) * 0.025 * 0.02;
        println!("{rtt} ms: rate p 25 ms = {product:.3}");
        assert!((1.8..=2.2).contains(&product), "{rtt} ms: {product}");
    }
    let product = rate("profile = 'modern'", "avoidance = { kind = 'prague', rtt_virt = '0 s' }", 2.0, 5.0, (30, 60)) * 0.005 * 0.02;
    assert!((1.8..=2.2).contains(&product), "without adaptation the window is 2/p: {product}");
}
