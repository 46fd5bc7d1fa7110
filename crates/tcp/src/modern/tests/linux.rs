//! The sender with Linux's rules. Numbers are those of Linux 6.18 in the same exchange: Reno, segments of 1000 bytes, a round trip of 100 ms,
//! 250 ticks per second.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ackclock_core::cc::{CongestionControl, Phase, Wants, Window};
use ackclock_core::events::{Ack, CongestionEvent, Established};
use ackclock_core::units::{Duration, Instant};

use super::super::config::{Feedback, Growth, Offload, ProbeMargins, Recovery, RtoBounds};
use super::super::info::CaState;
use super::super::settings::Config;
use super::script::{Script, plain};

pub(super) fn linux() -> Config {
    let millis = Duration::from_millis;
    Config {
        whole_segments: true,
        growth: Growth::Flight,
        gradual_marks: true,
        recover_again: true,
        reduce_once: true,
        late_undo: true,
        frto_at_once: true,
        rtt_of_sacked: true,
        nagle: true,
        timer_tick: millis(4),
        reordering_margin: millis(2),
        probe_margins: ProbeMargins { several: millis(2), single: millis(200) },
        rto: RtoBounds { per_round: true, ..Config::default().rto },
        abc_limit: 1e6,
        ..plain()
    }
}

/// `cwnd`, `ssthresh`, `lost`, `retrans` and the state.
fn marks(script: &Script) -> (u32, Option<u32>, u32, u32, CaState) {
    let info = script.info();
    (info.snd_cwnd, info.snd_ssthresh, info.lost, info.retrans, info.ca_state)
}

#[test]
fn a_recovery_counts_segments() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 20000
         0 > data 1:10001
         100 < ack 2001
         100 > data 10001:14001
         110 < ack 2001 sack 4001:5001
         110 > data 14001:15001
         112 < ack 2001 sack 4001:7001
         112 > data 2001:3001",
    );
    assert_eq!(marks(&script), (9, Some(6), 2, 1, CaState::Recovery));
    script.play("130 < ack 2001 sack 4001:10001");
    assert_eq!(marks(&script), (6, Some(6), 2, 1, CaState::Recovery));
    script.play(
        "230 < ack 3001 sack 4001:12001
         230 > data 3001:4001
         230 > data 12001:15001
         230 > data 15001:17001",
    );
    assert_eq!(marks(&script), (6, Some(6), 4, 4, CaState::Recovery));
    script.play(
        "240 < ack 15001
         240 > data 17001:20001",
    );
    assert_eq!(marks(&script), (6, Some(6), 0, 0, CaState::Open));
}

#[test]
fn marks_reduce_the_window_by_every_second_ack() {
    let mut script = Script::established(&Config { ecn: Some(Feedback::Classic), ..linux() });
    script.play(
        "0 write 40000
         0 > data 1:10001 ect
         100 < ack 1001
         100 > data 10001:12001 ect
         110 < ack 2001
         110 > data 12001:14001 ect
         120 < ack 3001 ece
         120 > data 14001:15001 cwr ect",
    );
    let mut windows = vec![script.info().snd_cwnd];
    for (at, ack, sends) in [(130, 4001, None), (140, 5001, Some(15_001)), (150, 6001, None), (160, 7001, Some(16_001)), (170, 8001, None)]
    {
        let sent = sends.map_or_else(String::new, |start| format!("{at} > data {start}:{} ect", start + 1000));
        script.play(&format!("{at} < ack {ack}\n{sent}"));
        windows.push(script.info().snd_cwnd);
    }
    assert_eq!(windows, [12, 11, 11, 10, 10, 9]);
    assert_eq!(marks(&script), (9, Some(6), 0, 0, CaState::Cwr));
}

/// Lowers its window from 10 to 6 segments at the first ACK, by steps if it wants that.
#[derive(Clone, Debug)]
struct Lowering {
    cwnd: f64,
    gradual: bool,
    ended: Arc<AtomicU32>,
}

impl CongestionControl for Lowering {
    fn on_established(&mut self, _event: &Established) {}
    fn on_ack(&mut self, _ack: &Ack) {
        self.cwnd = 6.0;
    }
    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.cwnd = 3.0;
    }
    fn on_recovery_end(&mut self, _now: Instant) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
    fn window(&self) -> Window {
        Window { cwnd: self.cwnd, ssthresh: 6.0 }
    }
    fn wants(&self) -> Wants {
        Wants::NOTHING.with(|wants| wants.gradual = self.gradual)
    }
    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}

#[test]
fn a_control_reduces_the_window_over_a_round_trip_if_it_wants_to() {
    let ended = Arc::new(AtomicU32::new(0));
    let windows = |gradual| {
        let mut script = Script::established_with(&linux(), Box::new(Lowering { cwnd: 10.0, gradual, ended: Arc::clone(&ended) }));
        script.play("0 write 40000\n0 > data 1:10001");
        let sent: &[Option<u32>] =
            if gradual { &[Some(10), None, Some(11), None, Some(12), None] } else { &[None, None, None, None, Some(10), Some(11)] };
        let mut windows = Vec::new();
        for (number, sent) in (1..).zip(sent) {
            let sends =
                sent.map_or_else(String::new, |first| format!("{} > data {}:{}", 100 + number, first * 1000 + 1, first * 1000 + 1001));
            script.play(&format!("{} < ack {}\n{sends}", 100 + number, number * 1000 + 1));
            windows.push(script.info().snd_cwnd);
        }
        (script, windows)
    };
    assert_eq!(windows(false).1, [6; 6]);
    let (mut script, found) = windows(true);
    assert_eq!(found, [10, 9, 9, 8, 8, 7]);
    assert_eq!(script.info().ca_state, CaState::Cwr);
    // The ACK of a segment that was sent after the first ACK ends it, and the control hears of that.
    script.play("120 < ack 11001\n120 > data 13001:17001");
    assert_eq!((script.info().ca_state, script.info().snd_cwnd, ended.load(Ordering::Relaxed)), (CaState::Open, 6, 1));
    // A loss in this round trip does not reduce the window again, and recovery continues the reduction.
    let (mut script, _) = windows(true);
    script.play("110 < ack 6001 sack 7001:9001\n110 > data 13001:14001\n140 > data 6001:7001");
    assert_eq!((script.info().ca_state, script.info().snd_ssthresh), (CaState::Recovery, Some(6)));
    assert_eq!(script.endpoint.counters().reductions, 0);
}

#[test]
fn the_window_grows_while_half_of_it_is_used() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 3000
         0 > data 1:3001
         100 < ack 3001
         100 cwnd 10
         200 write 6000
         200 > data 3001:9001
         300 < ack 6001
         # Six segments were outstanding: up to 12.
         300 cwnd 13",
    );
}

#[test]
fn timers_expire_at_ticks() {
    let mut script = Script::established(&linux());
    // Twice srtt and 2 ms are 202 ms; the timer expires at the tick after.
    script.play(
        "0 write 5000
         0 > data 1:5001
         208 > data 4001:5001",
    );
    // One segment: 2 srtt + 200 ms exceed the timeout of 300 ms, a timer of 75 ticks, which expires at a multiple of 8 ticks.
    let mut single = Script::established(&linux());
    single.play(
        "0 write 1000
         0 > data 1:1001
         320 > data 1:1001",
    );
    // A quarter of the round trip and 2 ms.
    let mut reordered = Script::established(&linux());
    reordered.play(
        "0 write 5000
         0 > data 1:5001
         100 < ack 1001 sack 2001:4001
         132 > data 1001:2001",
    );
}

#[test]
fn a_fin_alone_is_a_segment() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 1000
         0 > data 1:1001
         0.1 close
         0.1 > fin seq 1001
         # Two segments are outstanding: 2 srtt + 2 ms.
         208 > fin seq 1001",
    );
}

#[test]
fn d_sacks_after_recovery_restore_the_window() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 10000
         0 > data 1:10001
         100 < ack 1 sack 1001:4001
         100 > data 1:1001
         110 < ack 10001",
    );
    assert_eq!(script.info().snd_ssthresh, Some(5));
    script.play("210 < ack 10001 sack 1:1001");
    assert_eq!(marks(&script), (10, None, 0, 0, CaState::Open));
    assert_eq!(script.endpoint.sender.rack().reo_wnd_mult(), 1, "no segment was out of order");
}

#[test]
fn a_timeout_is_spurious_if_the_first_ack_covers_more_than_the_retransmission() {
    let mut script = Script::established(&Config { tlp: false, ..linux() });
    script.play(
        "0 write 20000
         0 > data 1:10001
         320 > data 1:1001
         500 < ack 2001
         500 > data 10001:14001",
    );
    assert_eq!(marks(&script), (12, None, 0, 0, CaState::Open));
}

#[test]
fn a_timer_that_expires_in_recovery_leaves_the_threshold() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 10000
         0 > data 1:10001
         100 < ack 1 sack 1001:4001
         100 > data 1:1001",
    );
    assert_eq!(script.info().snd_ssthresh, Some(5));
    script.play("416 > data 1:1001");
    assert_eq!((script.info().ca_state, script.info().snd_ssthresh), (CaState::Loss, Some(5)));
}

#[test]
fn blocks_of_two_segments_carry_psh() {
    let offload = Some(Offload { min_segments: 2, window_divisor: 3 });
    let mut script = Script::established(&Config { offload, ..linux() });
    assert_eq!(script.pushes_of(5000), [false, true, false, true, true]);
}

#[test]
fn a_small_segment_waits_for_another() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 100
         0 > data 1:101
         1 write 100
         100 < ack 101
         100 > data 101:201",
    );
    let mut undelayed = Script::established(&Config { nagle: false, ..linux() });
    undelayed.play(
        "0 write 100
         0 > data 1:101
         1 write 100
         1 > data 101:201",
    );
}

#[test]
fn the_first_timeouts_of_a_syn_are_equal() {
    let mut script = Script::new(&Config { syn_linear_timeouts: 4, ..plain() }, true);
    script.play(
        "0 > syn
         1000 > syn
         2000 > syn
         3000 > syn
         4000 > syn
         5000 > syn
         7000 > syn",
    );
}

#[test]
fn the_timeout_stays_doubled_until_a_segment_sent_once_is_acknowledged() {
    let config = Config { tlp: false, backoff_until_measured: true, ..linux() };
    let mut script = Script::established(&config);
    script.play(
        "0 write 1000
         0 > data 1:1001
         320 > data 1:1001
         400 < ack 1001",
    );
    assert_eq!(script.info().backoff, 1);
    script.play(
        "400 write 1000
         400 > data 1001:2001
         500 < ack 2001",
    );
    assert_eq!(script.info().backoff, 0);
}

#[test]
fn a_receiver_that_discards_sacked_data_receives_everything_again() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 10000
         0 > data 1:10001
         100 < ack 1 sack 1001:3001
         101 < ack 1001
         156 > data 1001:2001",
    );
    // Linux 6.18: 47 to 63 ms after the ACK; nine segments are lost and none SACKed.
    let info = script.info();
    assert_eq!((info.ca_state, info.lost, info.sacked, info.retrans), (CaState::Loss, 9, 0, 1));
}

#[test]
fn the_ack_of_a_segment_retransmitted_twice_releases_new_data() {
    let mut script = Script::established(&Config { tlp: false, ..linux() });
    script.play(
        "0 write 20000
         0 > data 1:10001
         320 > data 1:1001
         928 > data 1:1001
         1060 < ack 1001
         1060 > data 10001:12001",
    );
    assert_eq!(script.info().ca_state, CaState::Loss);
}

#[test]
fn the_loss_of_a_retransmission_after_a_timeout_begins_recovery() {
    let mut script = Script::established(&Config { tlp: false, ..linux() });
    script.play(
        "0 write 10000
         0 > data 1:10001
         320 > data 1:1001
         420 < ack 1001
         420 > data 1001:3001
         422 < ack 2001
         422 > data 3001:5001
         600 < ack 2001 sack 4001:5001
         600 > data 2001:3001",
    );
    // Linux 6.18: another reduction, and one segment by PRR.
    assert_eq!(marks(&script), (1, Some(2), 7, 1, CaState::Recovery));
}

#[test]
fn a_part_of_a_segment_fills_the_window_of_the_peer() {
    let offload = Some(Offload { min_segments: 2, window_divisor: 3 });
    let mut script = Script::established(&Config { offload, ..linux() });
    script.play(
        "0 write 2000
         0 > data 1:2001
         100 < ack 2001 win 40
         100 write 8000
         100 > data 2001:7001
         100 > data 7001:7121",
    );
}

#[test]
fn the_window_of_the_peer_does_not_bound_the_threshold() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 10000
         0 > data 1:10001
         100 < ack 10001 win 47
         100 write 20000
         100 > data 10001:16001
         200 < ack 10001 sack 11001:15001 win 47
         200 > data 10001:11001",
    );
    assert_eq!(script.info().snd_ssthresh, Some(10));
}

#[test]
fn one_lost_syn_leaves_the_initial_window() {
    for (tolerated, cwnd) in [(1, 10), (0, 1)] {
        let mut script = Script::new(&Config { lost_syns_tolerated: tolerated, ..plain() }, true);
        script.play(
            "0 > syn
             1000 > syn
             1100 < syn ack 1 mss 1000 sackok wscale 7 win 65535
             1100 > ack 1",
        );
        assert_eq!(script.info().snd_cwnd, cwnd);
    }
}

/// In recovery since the third duplicate ACK, without SACK.
fn without_sack() -> Script {
    let mut script = Script::established(&Config { recovery: Recovery::NewReno, ..linux() });
    script.play(
        "0 write 25000
         0 > data 1:10001
         100.6 < ack 1001
         100.6 > data 10001:12001
         102.6 < ack 2001
         102.6 > data 12001:14001
         104.6 < ack 2001
         104.6 > data 14001:15001
         114.6 < ack 2001
         114.6 > data 15001:16001
         119.6 < ack 2001
         119.6 > data 2001:3001",
    );
    script
}

#[test]
fn without_sack_duplicate_acks_reduce_the_window_one_by_one() {
    let mut script = without_sack();
    assert_eq!(marks(&script), (11, Some(6), 1, 1, CaState::Recovery));
    let acks = [
        ("121.6 < ack 2001", 10),
        ("131.6 < ack 2001\n 131.6 > data 16001:17001", 10),
        ("241.9 < ack 2001", 9),
        ("251.9 < ack 2001\n 251.9 > data 17001:18001", 9),
        ("252.2 < ack 2001", 8),
        ("254.2 < ack 2001\n 254.2 > data 18001:19001", 8),
    ];
    for ((lines, cwnd), sacked) in acks.into_iter().zip(4..) {
        script.play(lines);
        assert_eq!((script.info().snd_cwnd, script.info().sacked), (cwnd, sacked), "{lines}");
    }
}

#[test]
fn without_sack_a_partial_ack_marks_the_next_segment() {
    let mut script = without_sack();
    script.play(
        "121.6 < ack 2001
         131.6 < ack 2001
         131.6 > data 16001:17001
         241.9 < ack 2001
         251.9 < ack 2001
         251.9 > data 17001:18001
         252.2 < ack 2001
         254.2 < ack 2001
         254.2 > data 18001:19001
         259.2 < ack 15001
         259.2 > data 15001:16001
         259.2 > data 19001:21001",
    );
    assert_eq!(marks(&script), (6, Some(6), 1, 1, CaState::Recovery));
    script.play("261.2 < ack 15001\n 261.2 > data 21001:22001");
    assert_eq!((script.info().sacked, script.info().snd_cwnd), (1, 6));
    script.play("263.2 < ack 19001\n 263.2 > data 22001:25001");
    assert_eq!(marks(&script), (6, Some(6), 0, 0, CaState::Open));
    script.play("263.5 < ack 21001\n 273.5 < ack 22001");
    assert_eq!(marks(&script), (7, Some(6), 0, 0, CaState::Open), "as after any recovery");
}

#[test]
fn without_sack_recovery_lasts_until_later_data_is_acknowledged() {
    // Segment 3 alone is lost: the ACK of all data sent before recovery does not end it. The kernel did the same in other windows.
    let mut script = without_sack();
    script.play("222 < ack 16001\n 222 > data 16001:22001");
    assert_eq!(marks(&script).4, CaState::Recovery);
    script.play("322 < ack 17001\n 322 > data 22001:23001");
    assert_eq!(marks(&script), (6, Some(6), 0, 0, CaState::Open));
}

#[test]
fn accurate_feedback_is_on_every_packet() {
    let config = Config { ecn: Some(Feedback::Accurate), ..linux() };
    let mut script = Script::new(&config, true);
    script.play(
        "0 > syn ae cwr ece notect
         100 < syn cwr ack 1 seq 0 mss 1000 sackok counts 1,0,1
         100 > ack 1 cwr ect counts1 1,0,1
         200 write 2000
         # The option leaves 12 bytes less for data.
         200 > data 1:1977 ae ece ect counts1 1,0,1
         200 > data 1977:2001 ae ece ect counts1 1,0,1
         300 < ack 989 ae cwr counts 1,988,1
         # The change of the codepoint has an ACK at once.
         310 < data 1:1001 ack 2001 ae cwr counts 1013,988,1 ce
         310 > ack 1001 ae cwr ect counts1 1,1000,1",
    );
    let info = script.info();
    assert_eq!((info.delivered_ce, info.delivered_bytes.ce, info.delivered_bytes.ect0), (1, 988, 1012));
    assert_eq!((info.received_ce, info.received_bytes.ce), (1, 1000));
    script.endpoint.configure_ecn_option(&Config { ecn_option: false, ..config });
    script.play(
        "400 write 1000
         400 > data 2001:3001 ae cwr ect",
    );
}

#[test]
fn dctcp_makes_every_packet_capable() {
    let mut script = Script::new(&Config { ecn: Some(Feedback::Dctcp), ..linux() }, true);
    script.play(
        "0 > syn cwr ece ect
         100 < syn ece ack 1 seq 0 mss 1000 sackok
         100 > ack 1 ect
         200 write 1000
         200 > data 1:1001 ect
         # RFC 8257 §3.2: first the data before the mark, then the mark.
         300 < data 1:1001 ack 1001 ect
         310 < data 1001:2001 ack 1001 ce
         310 > ack 1001 ect
         310 > ack 2001 ece ect",
    );
    let mut peer = Script::new(&Config { ecn: Some(Feedback::Dctcp), ..linux() }, false);
    peer.play(
        "0 < syn cwr ece seq 0 mss 1000 sackok
         0 > syn ece ack 1 ect",
    );
}

#[test]
fn a_field_that_may_have_gone_round_counts_as_marked_unless_acks_are_merged() {
    let marked = |acks: &str| {
        let mut script = Script::new(&Config { ecn: Some(Feedback::Accurate), ..linux() }, true);
        script.play(
            "0 > syn ae cwr ece notect
             100 < syn cwr ack 1 seq 0 mss 1000 sackok
             100 > ack 1 cwr ect
             200 write 10000
             200 > data 1:10001 ae ece ect",
        );
        script.play(acks);
        script.info().delivered_ce
    };
    assert_eq!(marked("300 < ack 10001 ae ece"), 0, "an ACK of ten packets is usual");
    assert_eq!(marked("300 < ack 10001 ae cwr"), 1);
    assert_eq!(marked("300 < ack 1001 ae ece\n310 < ack 10001 ae ece"), 8);
}

/// The numbers of this test and of those below are those of Linux 7.2 in virtual time.
#[test]
fn an_ack_that_another_has_overtaken() {
    let mut script = Script::established(&Config { timestamps: true, ..linux() });
    script.play(
        "0 write 5928
         0 > data 1:5929
         100 < ack 1977 ts 120/100000 win 500
         # Older by two ticks: an answer, and none to the next in half a second.
         101 < ack 1 ts 118/100000
         101 > seq 5929
         102 < ack 989 ts 118/100000
         # Older by one tick, which is new enough.
         103 < ack 989 ts 119/100000
         # It repeats the last ACK, so that its block counts, and its smaller window does not.
         104 < ack 1977 sack 2965:3953 ts 110/100000 win 400",
    );
    assert_eq!((script.info().sacked, script.endpoint.sender.window().offered()), (1, 500 << 7));
    script.play(
        "110 < ack 5929 ts 130/100000
         602 < ack 1 ts 118/100000
         602 > seq 5929",
    );
    let mut silent = Script::established(&Config { timestamps: true, ..plain() });
    silent.play(
        "0 write 1980
         0 > data 1:1981
         100 < ack 1981 ts 120/100000
         101 < ack 1 ts 118/100000",
    );
}

#[test]
fn a_probe_after_a_transmission_comes_no_later_than_the_first_timeout() {
    let mut script = Script::established(&linux());
    script.play(
        "0 write 2000
         0 > data 1:2001
         # Twice srtt and 2 ms would be 202 ms more; the first segment's timeout is over after 300 ms.
         190 write 1000
         190 > data 2001:3001
         304 > data 2001:3001",
    );
}

#[test]
fn a_late_part_counts_as_reordering() {
    let mut script = Script::established(&Config { timestamps: true, ..linux() });
    script.play(
        "0 write 9880
         0 > data 1:9881
         100 < ack 1 sack 1977:5929 ts 120/100000
         100 > data 1:989
         # The echo is older than the retransmission: the first segment was late, and so may be the second.
         110 < ack 989 sack 1977:5929 ts 130/100000",
    );
    assert_eq!((script.info().ca_state, script.endpoint.sender.rack().reordering_seen()), (CaState::Disorder, 1));
}
