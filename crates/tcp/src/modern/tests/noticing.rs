//! Notices of drops.

use super::super::config::{Config, Recovery};
use super::script::{Script, plain};

fn with(recovery: Recovery) -> Config {
    Config { recovery, tlp: false, ..plain() }
}

/// Ten segments are sent, of which number 5 and, a little later, number 7 are told to be dropped.
const TOLD_OF_TWO: &str = "
    0 write 30000
    0 > data 1:10001
    0 rto 300
    50 notice 4001 0
    # RFC 5681 §3.1 and RFC 6298 §5.5: half of ten in flight, one segment, twice the timeout. That segment alone goes.
    50 > data 4001:5001
    50 cwnd 1
    50 ssthresh 5
    50 rto 600
    50 pipe 10000
    # The same congestion: repaired when the window lets it.
    55 notice 6001 0
    55 cwnd 1
    55 ssthresh 5
    55 pipe 9000
    # It was sent again since.
    60 notice 4001 0
    60 cwnd 1";

#[test]
fn a_notice_is_a_timeout_of_one_segment() {
    for recovery in [Recovery::Rack, Recovery::Sack] {
        let mut script = Script::established(&with(recovery));
        script.play(TOLD_OF_TWO);
        script.play(
            "# Slow start; each ACK takes a segment out of the pipe.
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
             # Congestion avoidance: two segments of five. In the pipe are number 7 and three new ones.
             150 < ack 6001 sack 7001:10001
             150 > data 13001:14001
             150 cwnd 5.4
             # Of what has arrived nothing is sent again.
             151 notice 5001 0
             151 cwnd 5.4
             # A dropped retransmission: the window starts over, the threshold is held (RFC 5681 §3.1).
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
fn congestion_after_the_notice_is_answered_again() {
    let mut script = Script::established(&with(Recovery::Rack));
    script.play(TOLD_OF_TWO);
    script.play(
        "100 < ack 4001
         100 cwnd 2
         # What was sent again is alone in the pipe: there is room for number 7.
         104 < ack 4001 sack 5001:6001,7001:10001
         104 > data 6001:7001
         # The recovery is over, and in slow start an ACK counts for two segments (RFC 3465 §2.2).
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
fn what_the_router_says_is_not_undone() {
    // RFC 3522 would take the ACK of what was sent before for a proof that the retransmission was superfluous.
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
fn the_connections_timer_repeats_what_waits_in_the_queue_and_is_undone() {
    // RFC 6298 §5.4: the first unacknowledged segment. Its original arrives, and RFC 3522 tells that the timeout was spurious. The window of
    // ten grows by the ACK's segment, and lets what is missing to eleven go.
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
fn a_dropped_syn_is_sent_again_at_once() {
    let mut script = Script::new(&plain(), true);
    script.play(
        "0 > syn
         0 rto 1000
         30 notice 0 0
         30 > syn
         30 rto 2000
         # That one was not dropped.
         31 notice 0 0",
    );
    assert_eq!(script.endpoint.counters().retransmitted, 1);
}
