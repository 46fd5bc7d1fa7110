//! The state that the endpoint reports, against `TCP_INFO` of Linux 6.18 in the same situation.

use super::super::config::Recovery;
use super::super::info::CaState;
use super::super::settings::Config;
use super::script::{Script, plain};

#[test]
fn marks_and_counters_of_a_recovery() {
    let mut script = Script::established(&Config { limited_transmit: false, ..plain() });
    let info = script.info();
    assert_eq!((info.delivered, info.snd_cwnd, info.snd_ssthresh), (1, 10, None));
    script.play(
        "0 write 20000
         0 > data 1:10001
         100 < ack 2001 sack 4001:5001
         100 > data 10001:14001",
    );
    let info = script.info();
    assert_eq!((info.ca_state, info.unacked, info.sacked, info.lost), (CaState::Disorder, 12, 1, 0));
    assert_eq!((info.bytes_acked, info.delivered, info.notsent_bytes), (2000, 4, 6000));
    script.play(
        "101 < ack 2001 sack 4001:7001
         101 > data 2001:3001",
    );
    let info = script.info();
    assert_eq!((info.ca_state, info.sacked, info.lost, info.retrans), (CaState::Recovery, 3, 2, 1));
    assert_eq!((info.snd_ssthresh, info.total_retrans, info.bytes_retrans, info.bytes_sent), (Some(6), 1, 1000, 15_000));
}

#[test]
fn duplicate_acks_count_as_sacked_without_sack() {
    let mut script = Script::established(&Config { recovery: Recovery::NewReno, ..plain() });
    script.play("0 write 10000\n 0 > data 1:10001");
    let acks = ["100 < ack 1", "101 < ack 1", "102 < ack 1\n 102 > data 1:1001"];
    for ((count, ack), state) in (1..).zip(acks).zip([CaState::Disorder, CaState::Disorder, CaState::Recovery]) {
        script.play(ack);
        let info = script.info();
        assert_eq!((info.sacked, info.ca_state), (count, state), "Linux 6.18");
    }
}
