//! Finding and repairing losses.

use std::sync::{Arc, Mutex};

use ackclock_core::cc::{SlowStart, Step, Wants, Window};
use ackclock_core::events::{Ack, Timing};
use ackclock_core::units::Segments;

use super::super::config::Recovery;
use super::super::settings::Config;
use super::channel::reno_after;
use super::script::{Script, plain};

fn with(recovery: Recovery, prr: bool) -> Config {
    Config { recovery, prr, tlp: false, ..plain() }
}

/// Ten segments are sent and the first is lost. Two ACKs release new segments; the third reveals the loss.
const FIRST_LOST: &str = "
    0 write 30000
    0 > data 1:10001
    100 < ack 1 sack 1001:2001
    100 > data 10001:11001
    101 < ack 1 sack 1001:3001
    101 > data 11001:12001
    102 < ack 1 sack 1001:4001
    102 > data 1:1001
    102 cwnd 5
    102 ssthresh 5
    102 pipe 9000";

/// The rest of that window arrives and releases new segments as the halved window allows (RFC 6675 §5).
const REST_ARRIVES: &str = "
    103 < ack 1 sack 1001:5001
    104 < ack 1 sack 1001:6001
    105 < ack 1 sack 1001:7001
    106 < ack 1 sack 1001:8001
    106 pipe 5000
    107 < ack 1 sack 1001:9001
    107 > data 12001:13001
    108 < ack 1 sack 1001:10001
    108 > data 13001:14001
    109 < ack 1 sack 1001:11001
    109 > data 14001:15001
    110 < ack 1 sack 1001:12001
    110 > data 15001:16001";

#[test]
fn fast_retransmit_with_sack() {
    // RFC 6675 §5: new data leaves as soon as the pipe is below the halved window.
    let mut script = Script::established(&with(Recovery::Sack, false));
    script.play(FIRST_LOST);
    script.play(REST_ARRIVES);
    script.play(
        "202 < ack 12001
         202 > data 16001:17001
         202 cwnd 5
         # Congestion avoidance: two segments of five acknowledged.
         210 < ack 14001
         210 > data 17001:19001
         210 cwnd 5.4",
    );
    assert_eq!(script.endpoint.counters().reductions, 1);
}

#[test]
fn fast_retransmit_with_prr() {
    // RFC 9937: every two delivered segments release one, until the pipe is at ssthresh.
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut script = Script::established(&with(recovery, true));
        script.play(FIRST_LOST);
        script.play(
            "103 < ack 1 sack 1001:5001
             104 < ack 1 sack 1001:6001
             105 < ack 1 sack 1001:7001
             105 > data 12001:13001
             106 < ack 1 sack 1001:8001
             107 < ack 1 sack 1001:9001
             107 pipe 5000
             108 < ack 1 sack 1001:10001
             108 > data 13001:14001
             109 < ack 1 sack 1001:11001
             109 > data 14001:15001
             110 < ack 1 sack 1001:12001
             110 > data 15001:16001
             110 pipe 5000
             202 < ack 12001
             202 > data 16001:17001
             202 cwnd 5",
        );
    }
}

#[test]
fn two_losses_without_sack() {
    // RFC 6582: segments 1 and 4 of 10 are lost.
    let mut script = Script::established(&with(Recovery::NewReno, true));
    script.play(
        "0 write 30000
         0 > data 1:10001
         100 < ack 1
         100 > data 10001:11001
         101 < ack 1
         101 > data 11001:12001
         102 < ack 1
         102 > data 1:1001
         102 cwnd 5
         103 < ack 1
         104 < ack 1
         105 < ack 1
         106 < ack 1
         # The window of 5 is inflated by 8: the pipe is 12.
         107 < ack 1
         107 > data 12001:13001
         108 < ack 1
         108 > data 13001:14001
         109 < ack 1
         109 > data 14001:15001
         # A partial ACK: 15 − 3 + 1.
         202 < ack 3001
         202 > data 3001:4001
         202 > data 15001:16001
         302 < ack 12001
         302 > data 16001:17001
         302 cwnd 5
         302 ssthresh 5",
    );
    assert_eq!(script.endpoint.counters().reductions, 1);
}

#[test]
fn without_limited_transmit_two_duplicates_release_nothing() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let mut script = Script::established(&Config { limited_transmit: false, ..with(recovery, true) });
        script.play(
            "0 write 30000
             0 > data 1:10001
             100 < ack 1 sack 1001:2001
             101 < ack 1 sack 1001:3001
             102 < ack 1 sack 1001:4001
             102 > data 1:1001",
        );
    }
}

#[test]
fn an_outstanding_retransmission_is_not_repeated_by_the_next_recovery() {
    // A segment first sent in recovery is lost and retransmitted; then recovery ends. RFC 5681 §4.3: it belongs to another window, which is
    // reduced too. The reduction stays when the retransmission arrives.
    let mut script = Script::established(&with(Recovery::Sack, false));
    script.play(FIRST_LOST);
    script.play(REST_ARRIVES);
    script.play(
        "208 < ack 1 sack 13001:14001,1001:12001
         208 > data 16001:17001
         209 < ack 1 sack 13001:15001,1001:12001
         209 > data 17001:18001
         # The third segment above 12001.
         210 < ack 1 sack 13001:16001,1001:12001
         210 > data 12001:13001
         210 > data 18001:19001
         211 < ack 12001 sack 13001:16001
         211 > data 19001:20001
         308 < ack 12001 sack 13001:17001
         308 > data 20001:21001
         309 < ack 12001 sack 13001:18001
         309 > data 21001:22001
         # The third duplicate ACK: half of 5, with four segments in flight.
         310 < ack 12001 sack 13001:19001
         310 pipe 4000
         310 cwnd 2.5
         311 < ack 19001
         410 < ack 22001
         410 cwnd 2.5
         410 > data 22001:24001",
    );
    let counters = script.endpoint.counters();
    assert_eq!((counters.retransmitted, counters.reductions, counters.undone), (2, 2, 0));
}

#[test]
fn a_rescue_retransmission() {
    // RFC 6675 §4, NextSeg rule 4: no other segment is left to send, and the last one is not SACKed.
    let mut script = Script::established(&with(Recovery::Sack, false));
    script.play(
        "0 write 10000
         0 > data 1:10001
         100 < ack 1001
         100 cwnd 11
         101 < ack 1001 sack 2001:3001
         102 < ack 1001 sack 2001:4001
         103 < ack 1001 sack 2001:5001
         103 > data 1001:2001
         # Of nine segments one is lost and three have arrived; one is retransmitted. When two more have left, half of 11 has room for one.
         103 pipe 6000
         104 < ack 1001 sack 2001:6001
         105 < ack 1001 sack 2001:7001
         105 > data 9001:10001
         106 < ack 1001 sack 2001:8001
         107 < ack 1001 sack 2001:9001
         204 < ack 10001
         204 cwnd 5.5",
    );
    assert_eq!(script.endpoint.counters().retransmitted, 2);
}

#[test]
fn without_new_data_a_hole_with_few_segments_above_is_retransmitted() {
    // RFC 6675 §4, NextSeg rule 3: a hole with fewer than DupThresh segments above it.
    let mut script = Script::established(&with(Recovery::Sack, false));
    script.play(
        "0 write 10000
         0 > data 1:10001
         100 < ack 1 sack 1001:2001
         101 < ack 1 sack 1001:3001
         102 < ack 1 sack 1001:4001
         102 > data 1:1001
         103 < ack 1 sack 1001:5001
         104 < ack 1 sack 1001:6001
         104 pipe 5000
         # 7001:8001 has arrived, 6001:7001 has not.
         105 < ack 1 sack 7001:8001,1001:6001
         105 > data 6001:7001",
    );
}

#[test]
fn rack_waits_for_a_quarter_of_the_round_trip() {
    // RFC 8985 §6.2: elapsed time indicates the loss, not a single SACK.
    let mut script = Script::established(&with(Recovery::Rack, true));
    script.play(
        "0 write 30000
         0 > data 1:10001
         100 < ack 1 sack 1001:2001
         100 > data 10001:11001
         100 cwnd 10
         125 > data 1:1001
         125 cwnd 5",
    );
}

#[test]
fn rack_tolerates_reordering() {
    let mut script = Script::established(&with(Recovery::Rack, true));
    script.play(
        "0 write 60000
         0 > data 1:10001
         100 < ack 1 sack 1001:2001
         100 > data 10001:11001
         110 < ack 2001
         110 > data 11001:14001
         110 cwnd 12
         # After reordering, three SACKed segments do not indicate a loss.
         115 < ack 2001 sack 3001:6001
         115 > data 14001:17001
         130 < ack 6001
         130 > data 17001:20001",
    );
    assert!(script.endpoint.sender.rack().reordering_seen() > 0);
    assert_eq!(script.endpoint.counters().retransmitted, 0);
}

#[test]
fn rfc_8985_section_8_1() {
    // The RFC's example: P1, P2 and P3 of four segments are lost, then the retransmission of P1.
    let mut script = Script::established(&Config { tlp: true, ..with(Recovery::Rack, false) });
    script.play(
        "0 write 4000
         0 > data 1:4001
         100 < ack 1001
         # TLP: after two round trips the last segment is retransmitted.
         300 > data 3001:4001
         # RACK: P1 and P2 are lost.
         400 < ack 1001 sack 3001:4001
         400 > data 1001:2001
         400 > data 2001:3001
         # RACK: the retransmission of P1 is lost, because that of P2 has arrived.
         500 < ack 1001 sack 2001:4001
         500 > data 1001:2001
         600 < ack 4001",
    );
    let counters = script.endpoint.counters();
    assert_eq!((counters.timeouts, counters.probes, counters.reductions), (0, 1, 1));
}

#[test]
fn a_probe_reveals_losses_although_its_timestamp_is_not_echoed() {
    // The same with timestamps. While P1 is missing, the receiver echoes the timestamp of P0, the last segment in order (RFC 7323 §4.3).
    // That timestamp is older than the SACKed probe.
    let mut script = Script::established(&Config { timestamps: true, mss: 1012, tlp: true, ..with(Recovery::Rack, false) });
    script.play(
        "0 write 4000
         0 > data 1:4001 ts 100000/7
         100 < ack 1001 ts 107/100000
         300 > data 3001:4001 ts 100300/107
         400 < ack 1001 sack 3001:4001 ts 110/100000
         400 > data 1001:2001
         400 > data 2001:3001
         500 < ack 4001 ts 120/100400",
    );
    assert_eq!((script.endpoint.counters().timeouts, script.endpoint.counters().probes), (0, 1));
}

#[test]
fn a_probe_with_new_data() {
    let mut script = Script::established(&Config { tlp: true, ..with(Recovery::Rack, true) });
    script.play(
        "0 write 12000
         0 > data 1:10001
         # All segments are lost. RFC 8985 §7.3: a new segment leaves regardless of the window.
         200 > data 10001:11001
         300 < ack 1 sack 10001:11001
         300 > data 1:1001
         300 cwnd 5",
    );
}

#[test]
fn a_probe_that_repairs_a_loss_halves_the_window() {
    // RFC 8985 §7.4.
    let mut script = Script::established(&Config { tlp: true, ..with(Recovery::Rack, true) });
    script.play(
        "0 write 2000
         0 > data 1:2001
         100 < ack 1001
         # The peer may delay the ACK of a single segment by 40 ms.
         340 > data 1001:2001
         440 < ack 2001
         440 cwnd 10
         500 write 1000
         500 > data 2001:3001
         600 < ack 3001
         600 cwnd 5",
    );
    let mut redundant = Script::established(&Config { tlp: true, ..with(Recovery::Rack, true) });
    redundant.play(
        "0 write 2000
         0 > data 1:2001
         100 < ack 1001
         340 > data 1001:2001
         350 < ack 2001
         440 < ack 2001 sack 1001:2001
         500 write 1000
         500 > data 2001:3001
         600 < ack 3001
         600 cwnd 10",
    );
}

#[test]
fn the_retransmission_timer_backs_off() {
    for recovery in [Recovery::Rack, Recovery::Sack, Recovery::NewReno] {
        let mut script = Script::established(&Config { frto: false, ..with(recovery, true) });
        script.play(
            "0 write 10000
             0 rto 300
             0 > data 1:10001
             300 > data 1:1001
             300 cwnd 1
             300 ssthresh 5
             900 > data 1:1001
             2100 > data 1:1001
             # RFC 5681 §3.1: the loss of the same data does not reduce ssthresh again.
             2100 ssthresh 5
             2200 < ack 1001
             2200 rto 300
             2200 cwnd 2
             2200 > data 1001:3001
             # RFC 3465 §2.3: after a timeout an ACK counts one segment.
             2300 < ack 3001
             2300 cwnd 3
             2300 > data 3001:6001",
        );
        assert_eq!((script.endpoint.counters().timeouts, script.endpoint.counters().reductions), (3, 1));
    }
}

#[test]
fn a_spurious_timeout_is_undone() {
    // RFC 5682 §3.1: the network has paused; all ACKs arrive late.
    for recovery in [Recovery::Rack, Recovery::Sack] {
        let mut script = Script::established(&with(recovery, true));
        script.play(
            "0 write 30000
             0 > data 1:10001
             300 > data 1:1001
             300 cwnd 1
             310 < ack 1001
             # Step 2b: two new segments.
             310 > data 10001:12001
             310 cwnd 2
             # Step 3b: a segment that was not retransmitted has arrived.
             320 < ack 2001
             320 cwnd 11
             320 ssthresh inf
             320 > data 12001:13001",
        );
        assert_eq!((script.endpoint.counters().undone, script.endpoint.counters().retransmitted), (1, 1));
    }
}

#[test]
fn a_genuine_timeout_is_not_undone() {
    for recovery in [Recovery::Rack, Recovery::Sack] {
        let mut script = Script::established(&with(recovery, true));
        script.play(
            "0 write 30000
             0 > data 1:10001
             300 > data 1:1001
             400 < ack 1001
             400 > data 10001:12001
             # Step 3a: only the new data arrives.
             500 < ack 1001 sack 10001:11001
             500 > data 1001:2001
             500 cwnd 2
             501 < ack 1001 sack 10001:12001
             501 > data 2001:3001
             600 < ack 3001 sack 10001:12001
             600 cwnd 3
             600 > data 3001:6001",
        );
        assert_eq!((script.endpoint.counters().undone, script.endpoint.counters().reductions), (0, 1));
    }
}

/// Standard slow start that notes the window in force, and whether it is below the threshold, at every round-trip time.
#[derive(Clone, Debug, Default)]
struct Noting(Arc<Mutex<Vec<(Segments, bool)>>>);

impl SlowStart for Noting {
    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|wants| wants.timing = true)
    }

    fn on_rtt(&mut self, _timing: &Timing, window: &Window) -> Option<Segments> {
        self.0.lock().unwrap().push((window.cwnd, window.cwnd < window.ssthresh));
        None
    }

    fn on_ack(&mut self, ack: &Ack, _window: &Window) -> Step {
        Step::Grow(ack.counted)
    }
}

#[test]
fn a_control_hears_of_a_round_trip_time_before_the_ack_changes_the_window() {
    let noting = Noting::default();
    let config = Config { timestamps: true, mss: 1012, ..with(Recovery::Rack, true) };
    let mut script = Script::established_with(&config, reno_after(Box::new(noting.clone())));
    script.play(
        "0 write 30000
         0 > data 1:10001 ts 100000/7
         102 < ack 1 sack 1001:4001 ts 107/99999
         102 > data 1:1001 ts 100102/107
         104 < ack 1 sack 1001:6001 ts 107/99999
         110 < ack 6001 ts 110/100000
         110 cwnd 10
         110 > data 10001:16001",
    );
    assert_eq!(*noting.0.lock().unwrap(), [(10.0, true), (7.5, false)], "half of three segments is below the pipe of six");
}

#[test]
fn timestamps_undo_a_spurious_fast_retransmit() {
    // RFC 3522: the ACK echoes the timestamp of the late original.
    let mut script = Script::established(&Config { timestamps: true, mss: 1012, ..with(Recovery::Rack, true) });
    script.play(
        "0 write 30000
         0 > data 1:10001 ts 100000/7
         100 < ack 1 sack 1001:2001 ts 107/99999
         100 > data 10001:11001
         101 < ack 1 sack 1001:3001 ts 107/99999
         101 > data 11001:12001
         102 < ack 1 sack 1001:4001 ts 107/99999
         102 > data 1:1001 ts 100102/107
         102 cwnd 5
         110 < ack 4001 ts 110/100000
         110 cwnd 10
         110 ssthresh inf
         110 > data 12001:14001",
    );
    assert_eq!(script.endpoint.counters().undone, 1);
}

#[test]
fn d_sack_undoes_a_spurious_fast_retransmit() {
    // RFC 3708 §2: both the original and the retransmission have arrived.
    let mut script = Script::established(&with(Recovery::Rack, true));
    script.play(FIRST_LOST);
    script.play(
        "110 < ack 4001
         110 cwnd 5
         111 < ack 4001 sack 1:1001
         111 cwnd 10
         111 ssthresh inf
         111 > data 12001:14001",
    );
    // RFC 8985 §6.2: the D-SACK also widens the reordering window.
    assert_eq!(script.endpoint.sender.rack().reo_wnd_mult(), 2);
}
