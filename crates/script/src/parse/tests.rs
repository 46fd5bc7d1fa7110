//! The reader against texts: what they mean, and the message for a mistake.

use super::{Define, parse};
use crate::script::{Action, Flags, Kind, Options, Payload, TcpOption, Time};

/// A client script in which every kind of event occurs.
const CLIENT: &str = "\
// A comment, and a command of two lines.
--tolerance_usecs=1000 --strict_segments
--define SIZE=3000
`../common/defaults.sh
sysctl -q net.ipv4.tcp_sack=1`
0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.020 connect(3, ..., ...) = 0
+0~+.01 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 8> /* SYN */
+.020 < [ect0] S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
* > .5 1:1(0) ack 1
+.010 write(3, ..., SIZE) = SIZE
+0 > 8080 > 1234 P. 1:3001(3000) ack 1 <...>
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = -1 EINVAL (flags (none))
+0 < . 1:1(0) ack 1 win 512 <nop,nop,sack 1001:2001 3:4>
0.5 < icmp unreachable frag_needed mtu 1200 [1:1001(1000)]
+0 %{ assert tcpi_snd_cwnd == 10
}%
`rm -f x`
";

#[test]
fn reads_every_kind_of_event() {
    let script = parse(CLIENT, "client.pkt", &[]).expect("a script");
    assert_eq!(script.option("tolerance_usecs"), Some("1000"));
    assert_eq!(script.option("strict_segments"), Some(""));
    assert_eq!(script.option("define"), None);
    assert_eq!(script.before.expect("a command").text.lines().count(), 2);
    assert_eq!(script.after.expect("a command").text, "rm -f x");
    let times: Vec<Time> = script.events.iter().map(|event| event.time).collect();
    assert_eq!(times[..4], [Time::Absolute(0), Time::Relative(0), Time::RelativeRange(0, 10_000_000), Time::Relative(20_000_000)]);
    assert_eq!((times[4], times[9]), (Time::Any, Time::Absolute(500_000_000)));
    let lines: Vec<u32> = script.events.iter().map(|event| event.at.line).collect();
    assert_eq!(lines, [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    let Action::Call(connect) = &script.events[1].action else { panic!("a call") };
    assert_eq!((connect.end, connect.at.column), (Some(20_000_000), 12));
    let Action::Call(write) = &script.events[5].action else { panic!("a call") };
    assert_eq!(write.result.kind, Kind::Integer(3000));
    let Action::Call(fcntl) = &script.events[7].action else { panic!("a call") };
    assert_eq!((fcntl.errno.as_deref(), fcntl.note.as_deref()), (Some("EINVAL"), Some("flags (none)")));
    let segment = |index: usize| match &script.events[index].action {
        Action::Packet(packet) => match &packet.payload {
            Payload::Tcp(tcp) => tcp.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!((segment(4).flags, segment(4).window), (Flags { bits: Flags::ACK, ace: Some(5) }, None));
    assert_eq!((segment(6).ports, segment(6).options), (Some((8080, 1234)), Options::Any));
    let Options::Listed(options) = segment(8).options else { panic!("options") };
    assert_eq!(options[2], TcpOption::Sack(vec![(1001, 2001), (3, 4)]));
}

#[test]
fn definitions_and_blocks_have_limits() {
    let message = |text: &str| parse(text, "x.pkt", &[]).unwrap_err().to_string();
    let value = "1".repeat(1000);
    let text = format!("--define A={value}\n0 a({}1)=0\n", "A,".repeat(1000));
    assert!(message(&text).contains("has more than 1000000 bytes with the values of its definitions"), "{}", message(&text));
    let text = format!("0 %{{ {} }}%\n", "a=1;".repeat(30_000));
    assert!(message(&text).starts_with("x.pkt:1:5: this block has 120002 bytes; the limit is 100000"), "{}", message(&text));
}

#[test]
fn definitions_replace_whole_words() {
    let define = Define::read("N=1000").expect("a definition");
    let script = parse("--define M=N\n+0 write(M, NN, N) = N", "t.pkt", &[define]).expect("a script");
    let Action::Call(call) = &script.events[0].action else { panic!("a call") };
    // The value of a definition is not replaced again.
    let kinds: Vec<Kind> = call.arguments.iter().map(|argument| argument.kind.clone()).collect();
    assert_eq!(kinds, [Kind::Name("N".to_owned()), Kind::Name("NN".to_owned()), Kind::Integer(1000)]);
    assert_eq!(Define::read("3=1000"), None);
}

#[test]
fn messages_say_where_and_what() {
    let cases = [
        ("", "t:1:1: expected an event, found the end of the script"),
        ("+0 > S 0:0(0) <mss 1460>\n/* open", "t:2:1: this comment has no end `*/`"),
        ("hello", "t:1:1: expected a time (`0.5`, `+0.5`, `0.5~0.7`, `+0.5~+0.7` or `*`), found `hello`"),
        ("+0", "t:1:3: expected `<`, `>`, a system call, a command in backquotes or `%{`, found the end of the script"),
        ("+0 > S 0:0", "t:1:11: expected `(`, found the end of the script"),
        ("+0 > S 0:10(1)", "t:1:8: 0:10 has 10 bytes, not 1; SYN and FIN do not count"),
        ("+0 > Q 0:0(0)", "t:1:6: expected flags (S F R P E W A, `.` for ACK, a digit for the ACE field, or `-` for none), found `Q`"),
        ("+0 > E5. 0:0(0)", "t:1:6: `E5.`: a digit sets E, W and A, so they cannot be named"),
        (
            "+0 > . 1:1(0) akc 1",
            "t:1:15: expected `ack N`, `win N`, `urg N` and `<options>`, in this order, or the next event, found `akc`; did you mean `ack`?",
        ),
        (
            "+0 > . 1:1(0) ack 1 <sackok>",
            "t:1:22: expected an option (mss, wscale, sackOK, sack, nop, eol, TS, FO, FOEXP, md5 or ECN), found `sackok`; did you mean `sackOK`?",
        ),
        ("+0 < . 1:1(0) ack 1 win 70000", "t:1:25: expected a number of 16 bits after `win`, at most 65535, found `70000`"),
        ("+0 < [etc0] . 1:1(0)", "t:1:7: expected noecn, ect0, ect1, ce, ect01, tos, ttl or flowlabel, found `etc0`; did you mean `ect0`?"),
        ("+0 close(3", "t:1:11: expected `,` or `)`, found the end of the script"),
        ("+0 close(3) 0", "t:1:13: expected `=`, found `0`"),
        ("+0 close(3) = 0 (a", "t:1:17: this note has no end `)` on its line"),
        ("+0~0.1 close(3) = 0", "t:1:4: both ends of a range must have a `+`, or neither"),
        ("0.2~0.1 close(3) = 0", "t:1:5: the range ends before it starts"),
        ("+0.2...0.1 close(3) = 0", "t:1:8: the call ends before it starts"),
        ("+0...0.1 > . 1:1(0) ack 1", "t:1:10: only a system call can have an end time"),
        ("0.0000000001 close(3) = 0", "t:1:1: the time 0.0000000001 is finer than nanoseconds"),
        ("+0 `ls", "t:1:5: this command has no end ```"),
        ("+0 %{ x = 1", "t:1:6: this block has no end `}%`"),
        ("+0 close(3) = 0\n`a`\n+0 close(3) = 0", "t:3:1: expected the end of the script after its last command, found `+`"),
        ("--define 5\n", "t:1:1: expected `--define NAME=VALUE`"),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text, "t", &[]).expect_err(text).to_string(), message, "{text}");
    }
}

#[test]
fn deep_values_are_an_error() {
    for open in ["[", "{", "-", "f(", "(", "1|"] {
        let text = format!("+0 f({}", open.repeat(100_000));
        parse(&text, "t", &[]).expect_err("too deep");
    }
}
