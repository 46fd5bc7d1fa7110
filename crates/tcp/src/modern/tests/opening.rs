//! Opening and closing, the peer's window, delayed ACKs.

use ackclock_core::units::Duration;

use super::super::config::{AckRules, AdaptiveAcks, Feedback, ReceiveBuffer, Recovery};
use super::super::settings::Config;
use super::script::{Script, plain};

#[test]
fn three_way_handshake() {
    let config = Config { timestamps: true, buffer: ReceiveBuffer::Fixed(1 << 20), ..plain() };
    let mut script = Script::new(&config, true);
    script.play(
        "0 > syn mss 1000 wscale 5 sackok ts 100000/0 win 65535
         0 state SynSent
         80 < syn ack 1 seq 0 mss 1460 wscale 7 sackok ts 500/100000 win 1000
         80 > ack 1 ts 100080/500 win 32768
         80 state Established
         80 cwnd 10
         # 988 bytes of data and 12 of timestamps; the window of the SYN-ACK, 1000 bytes, is not scaled.
         90 write 5000
         90 > data 1:989 ack 1 ts 100090/500
         170 < ack 989 ts 590/100090 win 100
         170 > data 989:1977
         170 > data 1977:2965
         170 > data 2965:3953
         170 > data 3953:4941
         170 > data 4941:5001 psh",
    );
}

#[test]
fn passive_opening() {
    let mut script = Script::new(&plain(), false);
    script.play(
        "0 state Listen
         0 < syn seq 0 mss 700
         0 > syn ack 1 mss 1000
         0 state SynReceived
         90 < ack 1
         90 state Established
         90 write 1400
         90 > data 1:701 ack 1
         90 > data 701:1401 psh ack 1",
    );
    assert_eq!(script.endpoint.sender.repair().method(), Recovery::NewReno, "the peer does not support SACK");
}

#[test]
fn a_lost_syn_is_retransmitted_after_one_second_and_three() {
    let mut script = Script::new(&plain(), true);
    script.play(
        "0 > syn
         1000 > syn
         3000 > syn
         3100 < syn ack 1 seq 0 mss 1000 sackok
         3100 > ack 1
         # RFC 5681 §3.1: one segment; RFC 6298 §5.7: 3 s without a round-trip sample.
         3100 cwnd 1
         3100 rto 3000
         3100 write 3000
         3100 > data 1:1001",
    );
}

#[test]
fn a_lost_syn_ack_is_retransmitted() {
    let mut script = Script::new(&plain(), false);
    script.play(
        "0 < syn seq 0 mss 1000 sackok
         0 > syn ack 1 mss 1000 sackok
         500 < syn seq 0 mss 1000 sackok
         500 > syn ack 1
         1500 > syn ack 1
         1600 < data 1:501 ack 1
         1600 readable 500
         1600 state Established
         1600 cwnd 1
         1640 > ack 501",
    );
}

#[test]
fn a_window_of_more_than_65535_bytes() {
    let config = Config { buffer: ReceiveBuffer::Fixed(1 << 20), ..plain() };
    let mut script = Script::new(&config, true);
    script.play(
        "0 > syn wscale 5 win 65535
         100 < syn ack 1 seq 0 mss 1000 sackok wscale 10 win 65535
         100 > ack 1 win 32768
         100 write 200000
         100 > data 1:10001
         # 100 · 1024 bytes.
         200 < ack 10001 win 100
         200 > data 10001:22001",
    );
    assert_eq!(script.endpoint.sender.window().edge(), 10_001 + 100 * 1024);
}

#[test]
fn delayed_acks() {
    let config = Config { quick_acks: 2, ..plain() };
    let mut script = Script::established(&config);
    script.play(
        "0 < data 1:1001 ack 1
         0 > ack 1001
         1 < data 1001:2001 ack 1
         1 > ack 2001
         # After the quick ACKs: every second segment, or after 40 ms.
         10 < data 2001:3001 ack 1
         11 < data 3001:4001 ack 1
         11 > ack 4001
         20 < data 4001:5001 ack 1
         60 > ack 5001
         # At once: a segment out of order, and one that fills the gap.
         70 < data 6001:7001 ack 1
         70 > ack 5001 sack 6001:7001
         71 < data 5001:6001 ack 1
         71 > ack 7001
         # Small segments: bytes count.
         80 < data 7001:7501 ack 1
         81 < data 7501:8001 ack 1
         82 < data 8001:9001 ack 1
         82 > ack 9001",
    );
}

#[test]
fn an_ack_travels_with_data() {
    let mut script = Script::established(&plain());
    script.play(
        "0 < data 1:1001 ack 1
         10 write 500
         10 > data 1:501 ack 1001 psh
         100 < ack 501",
    );
}

#[test]
fn a_closed_window_is_probed() {
    let mut script = Script::established(&Config { window_scaling: false, ..plain() });
    script.window = 2000;
    script.play(
        "0 < ack 1 win 2000
         0 write 5000
         0 > data 1:2001
         100 < ack 2001 win 0
         # The persist timer starts with the retransmission timeout and doubles (RFC 9293 §3.8.6.1).
         100 rto 300
         400 > seq 2000
         500 < ack 2001 win 0
         1000 > seq 2000
         1100 < ack 2001 win 0
         2200 > seq 2000
         # Less than half of the largest window is not sent (RFC 9293 §3.8.6.2.1).
         2300 < ack 2001 win 400
         2300 cwnd 10
         # The persist timer overrides that rule.
         4600 > data 2001:2401
         4700 < ack 2401 win 1000
         4700 > data 2401:3401
         4800 < ack 3401 win 2000
         4800 > data 3401:5001",
    );
    assert_eq!(script.endpoint.counters().reductions, 0);
}

#[test]
fn a_full_buffer_closes_the_window_and_reading_opens_it() {
    let config = Config { buffer: ReceiveBuffer::Fixed(3000), ..plain() };
    let mut script = Script::established(&config);
    script.play(
        "0 < data 1:1001 ack 1
         1 < data 1001:2001 ack 1
         1 > ack 2001 win 1000
         2 < data 2001:3001 ack 1
         42 > ack 3001 win 0
         # A probe is answered.
         300 < seq 0 ack 1
         300 > ack 3001 win 0
         # No update for less than a segment (RFC 9293 §3.8.6.2.2).
         400 read 500
         410 read 500
         410 > ack 3001 win 1000
         # Data beyond the window is discarded.
         500 < data 3001:5001 ack 1
         500 > ack 4001 win 0
         500 readable 3000",
    );
}

#[test]
fn ecn_is_negotiated_and_echoed_and_reduces_the_window_once() {
    let config = Config { ecn: Some(Feedback::Classic), ..plain() };
    let mut script = Script::new(&config, true);
    script.play(
        "0 > syn ece cwr notect
         100 < syn ece ack 1 seq 0 mss 1000 sackok
         100 > ack 1 notect
         100 write 100000
         100 > data 1:10001 ect
         # A mark halves the window, once per window of data; the next new segment carries CWR.
         200 < ack 2001 ece
         200 cwnd 5
         210 < ack 4001 ece
         210 cwnd 5
         220 < ack 6001 ece
         220 > data 10001:11001 ect cwr
         230 < ack 8001
         230 > data 11001:13001 ect
         230 cwnd 5.4
         # The receiving side: every ACK echoes the mark until CWR.
         240 < data 1:1001 ack 8001 ce
         250 < data 1001:2001 ack 8001 ect
         250 > ack 2001 ece
         260 < data 2001:3001 ack 8001 ect cwr
         300 > ack 3001",
    );
    let mut refused = Script::new(&config, true);
    refused.play(
        "0 > syn ece cwr
         100 < syn ack 1 seq 0 mss 1000 sackok
         100 > ack 1
         100 write 1000
         100 > data 1:1001 notect",
    );
}

#[test]
fn the_ack_that_ends_the_marked_window_reports_no_new_mark() {
    // RFC 3168 §6.1.3: the receiver echoes until CWR arrives, in the segment after the marked window.
    let mut script = Script::new(&Config { ecn: Some(Feedback::Classic), ..plain() }, true);
    script.play(
        "0 > syn ece cwr notect
         100 < syn ece ack 1 seq 0 mss 1000 sackok
         100 > ack 1 notect
         100 write 100000
         100 > data 1:10001 ect
         200 < ack 2001 ece
         200 cwnd 5
         220 < ack 6001 ece
         220 > data 10001:11001 ect cwr
         240 < ack 10001 ece
         240 cwnd 5
         240 > data 11001:15001 ect",
    );
    assert_eq!(script.endpoint.counters().reductions, 1);
}

#[test]
fn with_adaptive_acks_the_answer_to_a_syn_ack_leaves_before_the_data() {
    let rules = AdaptiveAcks {
        delay_max: Duration::from_millis(196),
        on_growth: true,
        on_read: true,
        interactive: true,
        compression: Duration::ZERO,
        compressed_max: 0,
        compression_percent: 33,
        compression_slack: Duration::from_nanos(10_000),
    };
    let mut script = Script::new(&Config { acks: AckRules::Adaptive(rules), ..plain() }, true);
    script.play(
        "0 > syn mss 1000
         1 write 2000
         80 < syn ack 1 seq 0 mss 1000
         80 > ack 1
         80 > data 1:1001
         80 > data 1001:2001",
    );
}
