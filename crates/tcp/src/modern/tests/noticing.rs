//! Drop notices.

use super::super::config::Recovery;
use super::super::settings::Config;
use super::script::{Script, plain};

fn with(recovery: Recovery) -> Config {
    Config { recovery, tlp: false, ..plain() }
}

/// Ten segments are sent. Notices report the drop of number 5 and, a little later, of number 7.
const TOLD_OF_TWO: &str = "
    0 write 30000
    0 > data 1:10001
    0 rto 300
    50 notice 4001 0
    # RFC 5681 §3.1 and RFC 6298 §5.5: half of ten in flight, one segment, twice the timeout. Only the dropped segment leaves.
    50 > data 4001:5001
    50 cwnd 1
    50 ssthresh 5
    50 rto 600
    50 pipe 10000
    # The same congestion episode: retransmitted when the window allows it.
    55 notice 6001 0
    55 cwnd 1
    55 ssthresh 5
    55 pipe 9000
    # The segment has been retransmitted since.
    60 notice 4001 0
    60 cwnd 1";

#[test]
fn a_notice_is_a_timeout_of_one_segment() {
    for recovery in [Recovery::Rack, Recovery::Sack] {
        let mut script = Script::established(&with(recovery));
        script.play(TOLD_OF_TWO);
        script.play(
            "# Slow start; each ACK removes a segment from the pipe.
             100 < ack 1001
             101 < ack 2001
             102 < ack 3001
             103 < ack 4001
             103 cwnd 5
             103 pipe 5000
             104 < ack 4001 sack 5001:6001
             104 > data 6001:7001
             104 pipe 5000
             105 < ack 4001 sack 5001:6001,7001:8001
             105 > data 10001:11001
             106 < ack 4001 sack 5001:6001,7001:9001
             106 > data 11001:12001
             107 < ack 4001 sack 5001:6001,7001:10001
             107 > data 12001:13001
             # Congestion avoidance: two segments of five. The pipe holds number 7 and three new segments.
             150 < ack 6001 sack 7001:10001
             150 > data 13001:14001
             150 cwnd 5.4
             # A delivered segment is not retransmitted.
             151 notice 5001 0
             151 cwnd 5.4
             # A dropped retransmission: the window is one segment, the threshold stays (RFC 5681 §3.1).
             155 notice 6001 104
             155 > data 6001:7001
             155 cwnd 1
             155 ssthresh 5",
        );
        let counters = script.endpoint.counters();
        assert_eq!((counters.reductions, counters.timeouts, counters.retransmitted), (1, 0, 3), "{recovery:?}");
    }
}

#[test]
fn a_drop_after_the_notice_reduces_the_window_again() {
    let mut script = Script::established(&with(Recovery::Rack));
    script.play(TOLD_OF_TWO);
    script.play(
        "100 < ack 4001
         100 cwnd 2
         # Only the retransmission is in the pipe: there is room for number 7.
         104 < ack 4001 sack 5001:6001,7001:10001
         104 > data 6001:7001
         # Recovery is over, and in slow start an ACK counts two segments (RFC 3465 §2.2).
         154 < ack 10001
         154 > data 10001:14001
         154 cwnd 4
         # Half of four in flight.
         204 notice 11001 154
         204 > data 11001:12001
         204 cwnd 1
         204 ssthresh 2",
    );
    assert_eq!(script.endpoint.counters().reductions, 2);
}

#[test]
fn a_reduction_by_a_notice_is_not_undone() {
    // By RFC 3522 the ACKs of earlier segments would prove the retransmission spurious.
    let config = Config { timestamps: true, mss: 1012, ..with(Recovery::Rack) };
    let mut script = Script::established(&config);
    script.play(
        "0 write 30000
         0 > data 1:10001 ts 100000/7
         50 notice 4001 0
         50 > data 4001:5001 ts 100050/7
         100 < ack 1001 ts 107/100000
         100 cwnd 2
         101 < ack 2001 ts 108/100000
         101 cwnd 3
         101 ssthresh 5",
    );
    assert_eq!(script.endpoint.counters().undone, 0);
}

#[test]
fn the_connection_timer_retransmits_the_first_segment_and_is_undone() {
    // RFC 6298 §5.4: the first unacknowledged segment. Its original arrives, and RFC 3522 detects the spurious timeout. The window of ten
    // grows by one segment to eleven and releases two.
    let config = Config { timestamps: true, mss: 1012, ..with(Recovery::Rack) };
    let mut script = Script::established(&config);
    script.play(
        "0 write 30000
         0 > data 1:10001 ts 100000/7
         50 notice 4001 0 connection
         50 > data 1:1001 ts 100050/7
         50 cwnd 1
         50 ssthresh 5
         60 notice 6001 0 connection
         60 cwnd 1
         100 < ack 1001 ts 107/100000
         100 cwnd 11
         100 ssthresh inf
         100 > data 10001:12001",
    );
    let counters = script.endpoint.counters();
    assert_eq!((counters.undone, counters.timeouts), (1, 0));
}

#[test]
fn a_dropped_syn_is_retransmitted_at_once() {
    let mut script = Script::new(&plain(), true);
    script.play(
        "0 > syn
         0 rto 1000
         30 notice 0 0
         30 > syn
         30 rto 2000
         # The latest SYN was not dropped.
         31 notice 0 0",
    );
    assert_eq!(script.endpoint.counters().retransmitted, 1);
}
