//! Notices of drops, end to end: the times of retransmissions, and no notice for any other sender.

use ackclock_sim::engine::{RunResult, run};
use ackclock_sim::scenario::Document;
use ackclock_sim::trace::SequenceKind;

/// Propagation delay from the dropping queue back to the sender: two links.
const BACK: u64 = 12_000_000;
/// Index of the third link of the chain, in the data's direction.
const BOTTLENECK: u32 = 4;

/// One flow for ten seconds over two fast links of 5 and 7 ms and a slow one with `queue`.
fn chain(queue: &str, flow: &str) -> RunResult {
    let text = format!(
        "duration = '10 s'\nrecord = ['drops', 'sequence']\n[topology]\nkind = 'chain'\nlinks = [\
         {{ rate = '100 Mbit/s', delay = '5 ms', queue = 'unlimited' }}, {{ rate = '100 Mbit/s', delay = '7 ms', queue = 'unlimited' }}, \
         {{ rate = '2 Mbit/s', delay = '20 ms', queue = {queue} }}]\n[flow]\n{flow}\n"
    );
    let scenario = Document::from_toml(&text, "notices.toml").and_then(|document| document.scenario());
    run(&scenario.unwrap_or_else(|error| panic!("{error}\n{text}")), &mut || false).unwrap()
}

/// Times and numbers of the packets that the bottleneck dropped.
fn drops(result: &RunResult) -> Vec<(u64, u32)> {
    let drops = result.traces.drops.as_ref().unwrap();
    assert!(drops.link.iter().all(|link| *link == BOTTLENECK));
    drops.time.iter().copied().zip(drops.seq.iter().copied()).collect()
}

fn retransmissions(result: &RunResult) -> Vec<(u64, u32)> {
    let sequence = result.traces.sequence.as_ref().unwrap();
    let rows = sequence.time.iter().copied().zip(sequence.seq.iter().copied()).zip(&sequence.kind);
    rows.filter(|(_, kind)| **kind == SequenceKind::Retransmit).map(|(row, _)| row).collect()
}

const NOTIFY: &str = "{ kind = 'red_notify', mean_packet = '1000 B', limit = '50 packets' }";

#[test]
fn an_ns2_sender_retransmits_each_dropped_segment_one_path_delay_later() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let result = chain(NOTIFY, &format!("recovery = '{recovery}'"));
        let flow = &result.flows[0];
        let dropped = drops(&result);
        let expected: Vec<(u64, u32)> =
            dropped.iter().map(|(time, seq)| (time + BACK, *seq)).filter(|(time, _)| *time < 10_000_000_000).collect();
        assert!(expected.len() >= 10, "{recovery}: {flow:?}");
        let resent = retransmissions(&result);
        let missing: Vec<_> = expected.iter().filter(|row| !resent.contains(row)).collect();
        assert!(missing.is_empty(), "{recovery}: {missing:?} of {expected:?}, {flow:?}");
        assert_eq!(flow.notices, expected.len() as u64, "{recovery}");
    }
}

#[test]
fn a_modern_sender_retransmits_the_first_dropped_segment_one_path_delay_later() {
    for recovery in ["rack", "sack", "newreno"] {
        let result = chain(NOTIFY, &format!("profile = 'modern'\nmodern.recovery = '{recovery}'"));
        let flow = &result.flows[0];
        let (time, seq) = drops(&result)[0];
        assert_eq!(retransmissions(&result)[0], (time + BACK, seq), "{recovery}: {flow:?}");
        assert!(flow.notices >= 10 && flow.timeouts == 0, "{recovery}: {flow:?}");
    }
}

#[test]
fn the_connections_timer_retransmits_the_first_unacknowledged_segment() {
    let result = chain(&NOTIFY.replace("red_notify'", "red_notify', timer = 'connection'"), "");
    let (time, seq) = drops(&result)[0];
    let (when, first) = retransmissions(&result)[0];
    assert_eq!(when, time + BACK);
    assert!(first < seq, "{first} was waiting before {seq}");
}

#[test]
fn other_queues_send_no_notices() {
    for queue in [NOTIFY.replace("red_notify", "red"), "'20 packets'".to_owned(), "{ kind = 'sfq', limit = '20 packets' }".to_owned()] {
        let result = chain(&queue, "");
        assert!(result.flows[0].dropped_packets > 0 && result.flows[0].notices == 0, "{queue}: {:?}", result.flows[0]);
    }
}

#[test]
fn a_notice_avoids_the_wait_for_the_timer() {
    // The last of three packets is dropped, because two fill the queue. No later packet can cause duplicate ACKs. The link sends one packet
    // of 1040 B in 4.16 ms; the second packet waits, and the third finds the only place occupied.
    let completion = |kind: &str| {
        let queue = format!(
            "{{ kind = '{kind}', mode = 'packets', limit = '1 packets', min_threshold = '40 packets', max_threshold = '50 packets' }}"
        );
        let flow = "size = '3 packets'\ninitial_window = { kind = 'fixed', segments = '3 segments' }\nmin_rto = '1 s'";
        let result = chain(&queue, flow);
        assert_eq!(drops(&result).len(), 1, "{kind}");
        result.flows[0].completion_time.unwrap().as_secs_f64()
    };
    let (notified, silent) = (completion("red_notify"), completion("red"));
    // Without a notice, the timer of one second runs from the ACK of the second packet.
    assert!(notified < 0.2 && silent > 1.0, "{notified} {silent}");
}

#[test]
fn a_sender_beside_the_queue_waits_for_a_packet_to_leave() {
    let queue = "{ kind = 'red_notify', mean_packet = '1000 B', limit = '5 packets' }";
    let text = format!(
        "duration = '10 s'\nrecord = ['drops', 'sequence']\n[topology]\nkind = 'chain'\nlinks = [\
         {{ rate = '2 Mbit/s', delay = '20 ms', queue = {queue} }}]\n[flow]\ninitial_window = '30 segments'\n"
    );
    let result = run(&Document::from_toml(&text, "").and_then(|it| it.scenario()).unwrap(), &mut || false).unwrap();
    // 1040 bytes at 2 Mbit/s take 4.16 ms. In ten seconds, no segment can be sent more often than once in this time.
    let drops = result.traces.drops.as_ref().unwrap();
    assert!(retransmissions(&result).contains(&(drops.time[0] + 4_160_000, drops.seq[0])));
    assert!((20..50_000).contains(&result.flows[0].notices), "{}", result.flows[0].notices);
}
