//! Effects of active queue management on long transfers through a large buffer.

use ackclock_core::qdisc::Reason;
use ackclock_sim::engine::{LinkResult, RunResult, run};
use ackclock_sim::scenario::Document;

/// SACK flows for a minute over 10 Mbit/s with a round-trip delay of 40 ms. Returns the result of the bottleneck.
fn bottleneck(queue: &str, flows: u32, ecn: bool) -> LinkResult {
    let text = format!(
        "duration = '60 s'\n\
         [topology]\nkind = 'chain'\n\
         links = [{{ rate = '100 Mbit/s', delay = '5 ms', queue = 'unlimited' }}, {{ rate = '10 Mbit/s', delay = '15 ms', queue = {queue} }}]\n\
         [flow]\ncount = {flows}\nrecovery = 'sack'\nrwnd = '10000 packets'\necn = {ecn}\n"
    );
    result(&text).links.swap_remove(BOTTLENECK)
}

/// Index of the second link of a chain, in the data's direction.
const BOTTLENECK: usize = 2;

fn result(text: &str) -> RunResult {
    let scenario = Document::from_toml(text, "aqm.toml").and_then(|document| document.scenario());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &mut || false).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn drops(link: &LinkResult, reason: Reason) -> u64 {
    link.drops_by_reason[Reason::ALL.iter().position(|other| *other == reason).unwrap()]
}

/// Each discipline with its target in milliseconds and its reason for drops or marks.
const CONTROLLED: [(&str, f64, Reason); 3] =
    [("codel", 5.0, Reason::Sojourn), ("fq_codel", 5.0, Reason::Sojourn), ("pie", 15.0, Reason::Early)];

/// Link utilisation of a window that is halved whenever packets have waited `delay` seconds. The window grows by one packet, which takes
/// `packet` seconds, in each round trip of `rtt` seconds plus the waiting time.
fn utilisation_when_halved(delay: f64, rtt: f64, packet: f64) -> f64 {
    let peak = (rtt + delay) / packet;
    let (mut sent, mut time) = (0.0, 0.0);
    let mut cwnd = peak / 2.0;
    while cwnd < peak {
        sent += cwnd;
        time += rtt.max(cwnd * packet);
        cwnd += 1.0;
    }
    sent * packet / time
}

#[test]
fn a_tail_of_a_thousand_packets_fills() {
    let link = bottleneck("{ kind = 'droptail', limit = '1000 packets' }", 1, false);
    assert!(link.sojourn_mean.as_secs_f64() > 0.3 && link.utilisation > 0.98, "{link:?}");
}

#[test]
fn controlled_queues_keep_their_delay_and_their_link_busy() {
    for (name, target, reason) in CONTROLLED {
        for (flows, busy) in [(1, 0.82), (4, 0.93)] {
            let link = bottleneck(&format!("{{ kind = '{name}', limit = '1000 packets' }}"), flows, false);
            let mean = 1000.0 * link.sojourn_mean.as_secs_f64();
            assert!(mean < 2.0 * target, "{name}: {flows} flows wait {mean} ms");
            assert!(link.utilisation > busy, "{name}: {flows} flows use {}", link.utilisation);
            assert!(drops(&link, reason) == link.drops && link.drops > 20 && link.marks == 0, "{name}: {link:?}");
        }
    }
}

#[test]
fn one_halving_flow_uses_what_codels_target_allows() {
    // 5 ms is short for a path of 40 ms. After the delay reaches the target, the window grows by a packet per round trip: for an interval,
    // and for the round trip until the loss is detected.
    let (rtt, packet) = (0.040 + 0.000_9, 1040.0 * 8.0 / 10e6);
    let expected = utilisation_when_halved(0.005 + 0.140 / rtt * packet, rtt, packet);
    let link = bottleneck("{ kind = 'codel', limit = '1000 packets' }", 1, false);
    assert!((0.84..0.90).contains(&expected), "{expected}");
    assert!((link.utilisation - expected).abs() < 0.03, "{} instead of {expected}", link.utilisation);
    // With four times the target, halving the window leaves the link idle for a shorter time.
    let relaxed = bottleneck("{ kind = 'codel', limit = '1000 packets', target = '20 ms' }", 1, false);
    assert!(relaxed.utilisation > 0.92, "{}", relaxed.utilisation);
}

#[test]
fn marks_replace_early_drops() {
    for (name, target, _) in CONTROLLED {
        // By default PIE drops ECN packets from a probability of 10 % on, which the end of slow start reaches.
        let marks = if name == "pie" { ", mark_ecnth = '100 %'" } else { "" };
        let link = bottleneck(&format!("{{ kind = '{name}', limit = '1000 packets'{marks} }}"), 1, true);
        assert!(link.drops == 0 && link.marks > 20, "{name}: {link:?}");
        assert!(1000.0 * link.sojourn_mean.as_secs_f64() < 1.5 * target, "{name}: {link:?}");
        let deaf = bottleneck(&format!("{{ kind = '{name}', limit = '1000 packets', ecn = false }}"), 1, true);
        assert!(deaf.drops > 20 && deaf.marks == 0, "{name}: {deaf:?}");
    }
}

#[test]
fn a_complete_flow_is_at_rest_after_a_mark() {
    // A virtual queue without room marks every packet. The ACK of its last segment halves a window of one segment.
    let text = "duration = '1000 s'\n\
                topology.bottleneck = { rate = '1 Mbit/s', queue = { kind = 'gk', share = '1 %' } }\n\
                [flow]\necn = true\nsize = '3 packets'\ninitial_window = '1 segment'";
    let result = result(text);
    let (flow, link) = (&result.flows[0], &result.links[BOTTLENECK]);
    assert_eq!((flow.delivered_packets, link.marks), (3, 3));
    // Three halvings, and a return to one segment after each of the first two.
    assert_eq!(flow.window_reductions, 5);
}
