//! Packet-for-packet agreement with ns-2.35 where two things happen at almost the same time, and the rounding of its clock decides.

use ackclock_sim::engine::run;
use ackclock_sim::scenario::Document;

/// What ns-2.35 counts of a flow: bytes, packets sent, retransmitted, timeouts, reductions, and the window at the end. Not the window of a
/// flow that has sent all it had: its timer goes on expiring there.
type Flow = (u64, u64, u64, u64, u64, Option<f64>);

/// Compares a run with what ns-2 counted of its flows, and with arrivals and drops at the link `bottleneck`.
#[track_caller]
fn compare(text: &str, flows: &[Flow], bottleneck: &str, link: (u64, u64)) {
    let scenario = Document::from_toml(text, "").and_then(|document| document.scenario()).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&scenario, &mut || false).unwrap();
    assert_eq!(result.flows.len(), flows.len());
    for (index, (ours, theirs)) in result.flows.iter().zip(flows).enumerate() {
        let (bytes, sent, retransmitted, timeouts, reductions, cwnd) = *theirs;
        let counts = (ours.delivered_bytes, ours.sent_packets, ours.retransmitted_packets, ours.timeouts, ours.window_reductions);
        assert_eq!(counts, (bytes, sent, retransmitted, timeouts, reductions), "flow {index}");
        // ns-2 prints six digits.
        let same = cwnd.is_none_or(|cwnd| (ours.cwnd_final / cwnd - 1.0).abs() < 1e-5);
        assert!(same, "flow {index}: {} instead of {cwnd:?}", ours.cwnd_final);
    }
    let index = scenario.links.iter().position(|link| link.name == bottleneck).unwrap();
    assert_eq!((result.links[index].arrivals, result.links[index].drops), link);
}

#[test]
fn a_delayed_acks_timer_expires_when_its_packet_arrives() {
    let text = include_str!("data/coincidences/delayed_ack_timer_tie.toml");
    compare(text, &[(455_560, 451, 6, 0, 6, Some(9.424_22))], "n1>n2", (451, 0));
}

#[test]
fn packets_arrive_a_quarter_of_a_nanosecond_apart() {
    let text = include_str!("data/coincidences/packets_a_quarter_nanosecond_apart.toml");
    let flows = [(5240, 6, 0, 0, 0, None), (5_420_520, 5220, 0, 0, 0, Some(106.504)), (1_883_000, 1895, 0, 0, 0, Some(14.0511))];
    compare(text, &flows, "n0>n1", (7107, 0));
}
