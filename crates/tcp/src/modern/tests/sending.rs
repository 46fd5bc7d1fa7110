//! The congestion window, pacing, idle times.

use super::super::config::Pacing;
use super::super::settings::Config;
use super::script::{Script, plain};

#[test]
fn slow_start_counts_bytes() {
    let mut script = Script::established(&plain());
    script.play(
        "0 write 100000
         0 > data 1:10001
         100 < ack 2001
         100 cwnd 12
         100 > data 10001:14001
         101 < ack 4001
         101 > data 14001:18001
         102 < ack 5001
         102 cwnd 15
         102 > data 18001:20001
         # RFC 3465 §2.2: an ACK of five segments counts two.
         103 < ack 10001
         103 cwnd 17
         103 > data 20001:27001",
    );
}

#[test]
fn an_unused_window_does_not_grow() {
    let mut script = Script::established(&plain());
    script.play(
        "0 write 3000
         0 > data 1:3001
         100 < ack 3001
         100 cwnd 10
         200 write 9000
         200 > data 3001:12001
         300 < ack 12001
         300 cwnd 10
         # The window is full although no data waits: the flight size equals the window.
         400 write 10000
         400 > data 12001:22001
         500 < ack 22001
         500 cwnd 12",
    );
}

#[test]
fn pacing_spreads_a_window() {
    let pacing = Pacing::Window { slow_start: 2.0, avoidance: 1.2 };
    let mut script = Script::established(&Config { pacing, ..plain() });
    // 2 · 10 segments in 100 ms are 200 000 B/s: 5.2 ms for 1040 bytes.
    script.play(
        "0 write 4000
         0 > data 1:1001
         5.2 > data 1001:2001
         10.4 > data 2001:3001
         15.6 > data 3001:4001",
    );
}

#[test]
fn the_peers_window_limits_outstanding_data() {
    let mut script = Script::established(&Config { window_scaling: false, ..plain() });
    script.window = 4000;
    script.play(
        "0 < ack 1
         0 write 20000
         0 > data 1:4001
         100 < ack 2001
         100 > data 4001:6001
         # The peer's window is the limit, so the congestion window does not grow.
         100 cwnd 10",
    );
}
