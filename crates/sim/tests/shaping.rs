//! A token bucket before a link, end to end.

use ackclock_core::qdisc::Reason;
use ackclock_sim::engine::{LinkResult, RunResult, run};
use ackclock_sim::scenario::Document;

/// Index of the first link of a chain, in the data's direction.
const SHAPED: usize = 0;

fn document(text: &str) -> Document {
    Document::from_toml(text, "shaping.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn result(text: &str) -> RunResult {
    let scenario = document(text).scenario().unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap()
}

/// A chain of two links of 100 Mbit/s and 15 ms in total. The first link has `queue`; `flow` gives the flow's keys.
fn chain(queue: &str, flow: &str) -> RunResult {
    result(&format!(
        "duration = '20 s'\nrecord = ['delivered', 'sojourn', 'drops']\n[topology]\nkind = 'chain'\n\
         links = [{{ rate = '100 Mbit/s', delay = '10 ms', queue = {queue} }}, {{ rate = '100 Mbit/s', delay = '5 ms' }}]\n\
         [[flow]]\n{flow}\n"
    ))
}

#[test]
fn datagrams_pass_in_a_burst_and_then_at_the_rate() {
    // A datagram of 1000 B on the wire every millisecond, for 40 ms. Tokens for one datagram arrive every 4 ms, and for ten are present at
    // the start.
    let queue = "{ kind = 'tbf', rate = '2 Mbit/s', burst = '10 kB', limit = '50 kB' }";
    let result = chain(queue, "packet_size = '972 B'\nstop = '39.5 ms'\napplication = { kind = 'cbr', rate = '8 Mbit/s' }");
    let times = &result.traces.delivered.as_ref().unwrap().time;
    let expected: Vec<u64> = (0..40_u64)
        .map(|number| {
            // Packet n needs the tokens for n + 1 datagrams, of which 10 are present. The links add 2 · 80 µs and their delays.
            let (arrives, ready) = (1_000_000 * number, 4_000_000 * (number + 1).saturating_sub(10));
            arrives.max(ready) + 15_160_000
        })
        .collect();
    assert_eq!(*times, expected);
    // A datagram is sent, served and delivered. Each wait, for the transmission or for tokens, costs one event.
    assert!(result.events <= 5 * 40, "{} events", result.events);
    // When the last datagram arrives, at 39 ms, 19 have left; packet 18 left at 36 ms.
    assert_eq!(result.links[SHAPED].queue_max, 21);
}

#[test]
fn tokens_that_arrive_with_the_packets_delay_none() {
    // Tokens for one packet arrive in the gap between two packets. Only rounding, below 1 ns, decides which comes first.
    let queue = "{ kind = 'tbf', rate = '3 Mbit/s', burst = '1000 B', limit = '50 kB' }";
    let result = chain(queue, "packet_size = '972 B'\nstop = '15 s'\napplication = { kind = 'cbr', rate = '3 Mbit/s' }");
    let times = &result.traces.delivered.as_ref().unwrap().time;
    let expected: Vec<u64> = (0..5625_u64).map(|number| (8e12 * number as f64 / 3e6).round() as u64 + 15_160_000).collect();
    assert_eq!(*times, expected);
}

#[test]
fn a_tcp_flow_gets_the_rate_of_the_tokens_whatever_the_link_has() {
    for (flow, rate, header) in [("", 2e6, 40.0), ("profile = 'modern'", 5e6, 52.0)] {
        let limit = 30_000;
        let queue = format!("{{ kind = 'tbf', rate = '{rate} bit/s', burst = '6 kB', limit = '{limit} B' }}");
        let result = chain(&queue, &format!("packet_size = '1000 B'\n{flow}"));
        let (flow, link) = (&result.flows[0], &result.links[SHAPED]);
        // The sender has too little data only until the first packets are acknowledged.
        let most = rate * 1000.0 / (1000.0 + header);
        let goodput = flow.goodput_bps;
        assert!(goodput <= most * 1.001 && goodput >= 0.97 * most, "{goodput} bit/s of {most}: {flow:?}");
        assert!(flow.dropped_packets > 0, "{flow:?}");
        // The longest wait is limit/rate. A full queue can lack up to one packet, and tokens for up to one packet can be present.
        let (longest, packet) = (8.0 * f64::from(limit) / rate, 8.0 * (1000.0 + header) / rate);
        let waited = link.sojourn_max.as_secs_f64();
        assert!(waited <= longest + 1e-9 && waited >= longest - 2.0 * packet, "{waited} s of {longest}");
    }
}

#[test]
fn a_frozen_shaper_reads_as_itself() {
    let text = "duration = '1 s'\n[topology]\nkind = 'chain'\nlinks = [{ queue = { kind = 'tbf', burst = '9 kB', latency = '20 ms', \
                peakrate = '2 Mbit/s' } }, { queue = { kind = 'tbf', limit = '1 BDP' } }]\n[flow]\n";
    let frozen = document(text).frozen().unwrap();
    assert!(frozen.contains("peakrate = \"2 Mbit/s\"") && frozen.contains("latency = \"20 ms\""), "{frozen}");
    assert_eq!(document(&frozen).frozen().unwrap(), frozen);
}

#[test]
fn a_shaper_with_limit_and_latency_is_refused() {
    let text = "duration = '1 s'\ntopology.bottleneck.queue = { kind = 'tbf', limit = '9 kB', latency = '20 ms' }\n[flow]\n";
    let error = document(text).scenario().unwrap_err().to_string();
    assert!(error.contains("shaping.toml:2: topology.bottleneck.queue: limit and latency exclude each other"), "{error}");
}

#[test]
fn codel_inside_a_shaper_keeps_its_queue_short() {
    let shaped = |queue: &str| {
        let queue = format!("{{ kind = 'tbf', rate = '2 Mbit/s', burst = '3 kB', {queue} }}");
        chain(&queue, "").links.swap_remove(SHAPED)
    };
    let (plain, codel) = (shaped("limit = '100 kB'"), shaped("queue = { kind = 'codel' }"));
    let drops = |link: &LinkResult| (link.dropped(Reason::Overflow) > 0, link.dropped(Reason::Sojourn) > 0);
    assert_eq!([drops(&plain), drops(&codel)], [(true, false), (false, true)]);
    let mean = |link: &LinkResult| link.sojourn_mean.as_secs_f64();
    assert!(mean(&codel) < 0.25 * mean(&plain), "{} s beside {} s", mean(&codel), mean(&plain));
}
