//! The interpreter itself: times, bursts, fields, strictness, against a stack that sends packets at given times.

use std::collections::VecDeque;

use ackclock_core::units::Instant;
use ackclock_script::packet::{Packet, encode_options};
use ackclock_script::script::{Flags, TcpOption};
use ackclock_script::stack::Stack;
use ackclock_script::{Network, Options, Outcome, Simulated, Tolerance, Verdict, run};

/// A stack that sends what it was told, whatever arrives.
struct Canned(VecDeque<(Instant, Packet)>);

impl Stack for Canned {
    fn handle(&mut self, _now: Instant, _packet: &[u8]) {}

    fn poll_transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (at, _) = self.0.front()?;
        (*at <= now).then(|| self.0.pop_front()).flatten().map(|(_, packet)| packet.encode().unwrap())
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.front().map(|(at, _)| *at)
    }
}

/// Changes a packet.
type Change = fn(&mut Packet);

/// Number of the stack's SYN on the wire.
const INITIAL: u32 = u32::MAX - 1500;

fn segment(seq: u32, length: usize, flags: u16) -> Packet {
    Packet {
        source: "192.168.0.1:8080".parse().unwrap(),
        target: "192.0.2.1:44444".parse().unwrap(),
        tos: 0,
        ttl: 64,
        flow_label: 0,
        seq: INITIAL.wrapping_add(seq),
        ack: 1,
        flags,
        reserved: 0,
        window: 1000,
        urgent: 0,
        options: Vec::new(),
        payload: vec![0; length],
    }
}

/// Plays lines after a SYN/ACK at 0 s, against a stack that sends these packets at milliseconds.
fn play_with(lines: &str, packets: &[(u64, Packet)], options: &Options) -> Outcome {
    let synack = (Instant::ZERO, segment(0, 0, Flags::SYN | Flags::ACK));
    let sent = packets.iter().map(|(millis, packet)| (Instant::from_nanos(millis * 1_000_000), packet.clone()));
    let canned = Canned([synack].into_iter().chain(sent).collect());
    let script = format!("0 < S 0:0(0) win 1000\n+0 > S. 0:0(0) ack 1 win 1000\n{lines}\n");
    run(&script, options, |network: &Network| Ok(Simulated::new(canned, network)))
}

fn play(lines: &str, packets: &[(u64, Packet)]) -> Verdict {
    play_with(lines, packets, &Options::default()).verdict
}

#[track_caller]
fn passes(lines: &str, packets: &[(u64, Packet)]) {
    assert_eq!(play(lines, packets), Verdict::Passed);
}

#[track_caller]
fn fails(lines: &str, packets: &[(u64, Packet)], line: u32, message: &str) {
    match play(lines, packets) {
        Verdict::Failed(failure) => {
            assert_eq!(failure.line, line);
            assert!(failure.message.contains(message), "{}", failure.message);
        }
        other => panic!("{other:?}"),
    }
}

const DATA: u16 = Flags::ACK;
const PUSH: u16 = Flags::ACK | Flags::PSH;

/// Ten full segments at one time, the last with PSH.
fn burst(millis: u64) -> Vec<(u64, Packet)> {
    (0..10).map(|index| (millis, segment(1 + 1000 * index, 1000, if index == 9 { PUSH } else { DATA }))).collect()
}

#[test]
fn numbers_count_from_the_stacks_syn_and_wrap() {
    passes("0.1 > P. 1:10001(10000) ack 1", &burst(100));
}

#[test]
fn a_line_takes_as_many_segments_as_it_needs() {
    passes("0.1 > . 1:4001(4000) ack 1\n+0 > P. 4001:10001(6000) ack 1", &burst(100));
    // A single block may carry all of it.
    passes("0.1 > P. 1:10001(10000) ack 1", &[(100, segment(1, 10_000, PUSH))]);
    fails("0.1 > . 1:501(500) ack 1", &burst(100), 3, "length of the payload: expected 500, came 1000");
    fails("0.1 > P. 1:20001(20000) ack 1", &burst(100), 3, "length of the payload: expected 20000, came 10000");
}

#[test]
fn joined_segments_must_continue_each_other() {
    let with = |index: usize, change: fn(&mut Packet)| {
        let mut packets = burst(100);
        change(&mut packets[index].1);
        packets
    };
    let line = "0.1 > P. 1:10001(10000) ack 1";
    fails(line, &with(4, |packet| packet.seq += 1), 3, "burst: expected the segment after 4001");
    fails(line, &with(4, |packet| packet.window = 7), 3, "other flags, acknowledgment, window or options");
    fails(line, &with(4, |packet| packet.payload.truncate(500)), 3, "burst");
    fails(line, &with(4, |packet| packet.flags |= Flags::ECE), 3, "other flags");
    passes(line, &with(4, |packet| packet.flags |= Flags::PSH));
    let options = Options { strict_segments: true, ..Options::default() };
    let outcome = play_with(line, &burst(100), &options);
    assert!(outcome.verdict.reason().contains("flags: expected P., came ."), "{:?}", outcome.verdict);
}

#[test]
fn every_field_is_compared() {
    let sent = |change: fn(&mut Packet)| {
        let mut packet = segment(1, 100, PUSH);
        packet.options = encode_options(&[TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamps { value: 5, echo: 7 }]).unwrap();
        change(&mut packet);
        [(100, packet)]
    };
    let line = "0.1 > [noecn, ttl 64] P. 1:101(100) ack 1 win 1000 <nop,nop,TS val 99 ecr 7>";
    passes(line, &sent(|_| ()));
    let cases: [(Change, &str); 11] = [
        (|packet| packet.tos = 2, "ECN field: expected noecn, came ect0"),
        (|packet| packet.ttl = 63, "time to live: expected 64, came 63"),
        (|packet| packet.flags = DATA, "flags: expected P., came ."),
        (|packet| packet.flags |= Flags::CWR, "flags: expected P., came PW."),
        (|packet| packet.reserved = 1, "reserved bits: expected 0, came 1"),
        (|packet| packet.seq += 4, "sequence number: expected 1, came 5"),
        (|packet| packet.ack = 3, "acknowledgment number: expected 1, came 3"),
        (|packet| packet.window = 9, "window: expected 1000, came 9"),
        (|packet| packet.urgent = 9, "urgent pointer: expected 0, came 9"),
        (|packet| packet.options.clear(), "options: expected <nop,nop,TS val 99 ecr 7>, came <>"),
        (|packet| packet.payload[3] = 1, "payload: expected zeros, came 0x01 at byte 3"),
    ];
    for (change, message) in cases {
        fails(line, &sent(change), 3, message);
    }
    fails(&line.replace("ecr 7", "ecr 8"), &sent(|_| ()), 3, "options");
    fails(&line.replace(",nop,TS", ",TS"), &sent(|_| ()), 3, "options");
    passes("0.1 > P. 1:101(100) ack 1 <...>", &sent(|packet| packet.window = 9));
}

#[test]
fn times() {
    let at = |millis| [(millis, segment(1, 100, PUSH))];
    let line = "> P. 1:101(100) ack 1";
    for time in ["0.1", "+.1", "+0.1", "0.05~0.15", "+.05~+.15", "*"] {
        passes(&format!("{time} {line}"), &at(100));
    }
    for time in ["0.09", "+.09", "0.05~0.09", "+.05~+.09"] {
        fails(&format!("{time} {line}"), &at(100), 3, "the stack sent no packet by 0.09 s");
    }
    fails(&format!("0.11 {line}"), &at(100), 3, "the packet came at another time");
    fails(&format!("0.11~0.12 {line}"), &at(100), 3, "the packet came at another time");
    // A relative time counts from the end of the event before, which was late within its range.
    passes(
        &format!("0.05~0.15 {line}\n+.02 < . 1:1(0) ack 101 win 9\n*  > . 101:201(100) ack 1"),
        &[at(100)[0].clone(), (120, segment(101, 100, DATA))],
    );
    let outcome = play_with(&format!("0.097 {line}"), &at(100), &Options { tolerance: Some(Tolerance::PACKETDRILL), ..Options::default() });
    assert_eq!(outcome.verdict, Verdict::Passed);
    let backwards = play(&format!("0.1 {line}\n0.05 < . 1:1(0) ack 101 win 9"), &at(100));
    assert!(matches!(&backwards, Verdict::Error { line: 4, reason } if reason.contains("goes back")), "{backwards:?}");
}

#[test]
fn a_packet_that_nobody_expects_spoils_the_next_line() {
    let packets = [(100, segment(1, 100, PUSH)), (200, segment(101, 100, PUSH))];
    let lines = "0.15 < . 1:1(0) ack 101 win 9";
    passes(lines, &packets);
    fails(&format!("{lines}\n0.2 > P. 101:201(100) ack 1"), &packets, 4, "sequence number: expected 101, came 1");
    let strict = Options { strict: true, ..Options::default() };
    let before = play_with(lines, &packets, &strict).verdict;
    assert!(before.line() == 3 && before.reason().contains("no line expects, at 0.1 s"), "{before:?}");
    let after = play_with("0.1 > P. 1:101(100) ack 1\n0.2 < . 1:1(0) ack 101 win 9", &packets, &strict).verdict;
    assert!(after.line() == 4 && after.reason().contains("after the last event"), "{after:?}");
}

#[test]
fn what_is_not_supported_never_passes() {
    for (lines, reason) in [
        ("0.1 splice(3, NULL, 4, NULL, 1, 0) = 1", "splice"),
        ("0.1 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 3", "only TCP sockets"),
        ("0.1 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", "does not implement socket"),
        ("0.1 < icmp unreachable frag_needed mtu 1400 [1:1001(1000)]", "ICMP"),
        ("0.1 `reboot`", "reboot"),
        ("0.1 %{ import os }%", ""),
    ] {
        let verdict = play(lines, &[]);
        assert!(matches!(&verdict, Verdict::Unsupported { line: 3, reason: why } if why.contains(reason)), "{lines}: {verdict:?}");
    }
}

#[test]
fn numbers_count_from_the_syn_of_their_side() {
    // On the wire, the stack acknowledges 124; its own SYN, which has another number there, is the script's 1234.
    let packet = |seq, length, flags, ack| Packet { ack, ..segment(seq, length, flags) };
    let sack = encode_options(&[TcpOption::Nop, TcpOption::Nop, TcpOption::Sack(vec![(624, 724)])]).unwrap();
    let sent = [
        (0, packet(0, 0, Flags::SYN | Flags::ACK, 124)),
        (100, packet(1, 100, Flags::ACK, 124)),
        (200, Packet { options: sack, ..packet(101, 0, Flags::ACK, 224) }),
    ];
    let canned = || Canned(sent.iter().map(|(millis, packet)| (Instant::from_nanos(millis * 1_000_000), packet.clone())).collect());
    let lines = "0 < S 123:123(0) win 1000\n+0 > S. 1234:1234(0) ack 124\n0.1 > . 1:101(100) ack 1\n0.2 > . 101:101(0) ack 101 <nop,nop,sack 501:601>\n";
    let outcome = run(lines, &Options::default(), |network: &Network| Ok(Simulated::new(canned(), network)));
    assert_eq!(outcome.verdict, Verdict::Passed);
    let wrong = lines.replace("S. 1234:1234(0) ack 124", "S. 1234:1234(0) ack 1");
    let outcome = run(&wrong, &Options::default(), |network: &Network| Ok(Simulated::new(canned(), network)));
    assert_eq!(outcome.verdict.reason(), "acknowledgment number: expected 1, came 124");
}

#[test]
fn the_push_flag_of_a_block() {
    let block = |last: u16| [(100, segment(1, 100, Flags::ACK | Flags::PSH)), (100, segment(101, 100, Flags::ACK | last))];
    // One before the last depends on how the block was cut; that of the last one counts.
    passes("0.1 > . 1:201(200) ack 1", &block(0));
    passes("0.1 > P. 1:201(200) ack 1", &block(0));
    passes("0.1 > P. 1:201(200) ack 1", &block(Flags::PSH));
    fails("0.1 > . 1:201(200) ack 1", &block(Flags::PSH), 3, "flags: expected ., came P.");
    fails("0.1 > P. 1:101(100) ack 1", &[(100, segment(1, 100, Flags::ACK))], 3, "flags: expected P., came .");
}

#[test]
fn packets_of_a_former_connection_are_passed_over() {
    let former = Packet { target: "192.0.2.1:44445".parse().unwrap(), ..segment(1, 0, Flags::ACK | Flags::FIN) };
    let packets = [(100, former), (100, segment(1, 100, Flags::ACK))];
    // The script opens another connection, and goes on with the first one.
    let unnamed = "0.05 < 44445 > 8080 S 0:0(0) win 9\n0.06 < 44444 > 8080 . 1:1(0) ack 1 win 9\n0.1 > . 1:101(100) ack 1";
    passes(unnamed, &packets);
    let strict = Options { strict: true, ..Options::default() };
    assert!(matches!(play_with(unnamed, &packets, &strict).verdict, Verdict::Failed(_)));
}

#[test]
fn a_failure_after_a_block_that_arrived_whole_says_nothing() {
    let script = |ack: u32| {
        format!("--mss=100\n0 < S 0:0(0) win 1000\n+0 > S. 0:0(0) ack 1\n0.1 < . 1:201(200) ack 1 win 9\n0.1 > . 1:1(0) ack {ack}\n")
    };
    let verdict = |ack: u32| {
        let packets = [(0, segment(0, 0, Flags::SYN | Flags::ACK)), (100, Packet { ack: 201, ..segment(1, 0, Flags::ACK) })];
        let canned = Canned(packets.into_iter().map(|(millis, packet)| (Instant::from_nanos(millis * 1_000_000), packet)).collect());
        run(&script(ack), &Options::default(), |network: &Network| Ok(Simulated::new(canned, network))).verdict
    };
    assert_eq!(verdict(201), Verdict::Passed);
    assert!(matches!(verdict(101), Verdict::Unsupported { line: 4, ref reason } if reason.contains("not as a block; then acknowledgment")));
}

#[test]
fn timestamps_may_be_late_by_the_tolerance() {
    let stamped = |seq: u32, value: u32, flags| {
        let options = encode_options(&[TcpOption::Nop, TcpOption::Nop, TcpOption::Timestamps { value, echo: 1 }]).unwrap();
        Packet { options, ..segment(seq, if seq == 0 { 0 } else { 100 }, flags) }
    };
    let packets = [(100, stamped(1, 7100, Flags::ACK)), (100, stamped(101, 7103, Flags::ACK))];
    let lines = "0.1 > . 1:101(100) ack 1 <nop,nop,TS val 100 ecr 1>\n0.1 > . 101:201(100) ack 1 <nop,nop,TS val 101 ecr 1>";
    let verdict = |tolerance: &str| {
        let canned = Canned(
            [(0, segment(0, 0, Flags::SYN | Flags::ACK))]
                .into_iter()
                .chain(packets.clone())
                .map(|(millis, packet)| (Instant::from_nanos(millis * 1_000_000), packet))
                .collect(),
        );
        let script = format!("--tcp_ts_tick_usecs=1000\n0 < S 0:0(0) win 1000\n+0 > S. 0:0(0) ack 1\n{lines}\n");
        let options = Options { tolerance: Some(Tolerance::read(tolerance).unwrap()), ..Options::default() };
        run(&script, &options, |network: &Network| Ok(Simulated::new(canned, network))).verdict
    };
    assert_eq!(verdict("2 ms"), Verdict::Passed);
    assert!(verdict("1 ms").reason().contains("TS val"), "{:?}", verdict("1 ms"));
}
