//! Changes of the path's segment size.

use super::super::settings::Config;
use super::script::{Script, plain};

#[test]
fn later_segments_have_the_new_size_and_the_window_keeps_its_bytes() {
    let mut script = Script::established(&plain());
    script.play(
        "0 write 30000
         0 > data 1:10001
         50 cwnd 10",
    );
    script.endpoint.change_mss(500);
    script.play(
        "50 cwnd 20
         # Outstanding data keeps its size: no segment leaves, and the pipe stays.
         60 pipe 10000
         # 2000 bytes are now four segments; slow start counts two of them (RFC 3465 §2.2).
         100 < ack 2001
         100 cwnd 22
         100 > data 10001:10501
         100 > data 10501:11001
         100 > data 11001:13001",
    );
    script.endpoint.change_mss(1000);
    script.play(
        "110 cwnd 11
         200 < ack 10001
         200 cwnd 13
         200 > data 13001:14001
         200 > data 14001:23001",
    );
}

#[test]
fn retransmissions_fit_the_new_segment_size() {
    let mut script = Script::established(&Config { tlp: false, ..plain() });
    script.play(
        "0 finish 1000
         0 > data 1:1001 fin",
    );
    script.endpoint.change_mss(400);
    // The timer expires. Slow start then sends the rest, with the FIN in the last piece.
    script.play(
        "300 > data 1:401
         300 pipe 400
         400 < ack 401
         400 > data 401:801
         400 > data 801:1001 fin
         500 < ack 1002
         500 state FinWait2",
    );
}

#[test]
fn a_lost_segment_is_repaired_in_pieces() {
    let mut script = Script::established(&Config { tlp: false, prr: false, ..plain() });
    script.play(
        "0 write 4000
         0 > data 1:4001",
    );
    script.endpoint.change_mss(600);
    script.play(
        "100 < ack 1 sack 1001:2001
         101 < ack 1 sack 1001:3001
         102 < ack 1 sack 1001:4001
         102 > data 1:601
         102 > data 601:1001
         202 < ack 601 sack 1001:4001
         203 < ack 4001
         203 pipe 0",
    );
}

#[test]
fn the_peers_limit_holds() {
    let mut script = Script::established(&plain());
    script.endpoint.change_mss(3000);
    script.play(
        "0 write 2000
         0 > data 1:1001
         0 > data 1001:2001",
    );
}

#[test]
fn timestamps_count_towards_the_segment_size() {
    let mut script = Script::established(&Config { timestamps: true, ..plain() });
    script.endpoint.change_mss(512);
    script.play(
        "0 write 1000
         0 > data 1:501
         0 > data 501:1001",
    );
}
