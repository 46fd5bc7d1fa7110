//! Scripts against the kernel of this machine. They pass without having run where the rights for it are missing.

use super::Kernel;
use crate::{IpVersion, Options, Outcome, Tolerance, Verdict, run};

/// Plays `script` against the kernel; `None`: this machine or user cannot.
fn play(script: &str) -> Option<Outcome> {
    play_over(script, None)
}

/// Plays `script` over a version of IP.
fn play_over(script: &str, ip_version: Option<IpVersion>) -> Option<Outcome> {
    // Other work on the machine may delay a packet by far more than packetdrill's tolerance.
    let tolerance = Some(Tolerance { absolute: 500_000_000, percent: 0.0 });
    let options = Options { ip_version, tolerance, ..Options::default() };
    let outcome = run(script, &options, Kernel::new);
    match &outcome.verdict {
        Verdict::Error { reason, .. } if reason.starts_with("cannot run on the kernel") => {
            eprintln!("skipped: {reason}");
            None
        }
        _ => Some(outcome),
    }
}

const OPENING: &str = "
    `sysctl -q net.ipv4.tcp_rmem=\"4096 131072 6291456\"`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
    +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
    +0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"reno\", 4) = 0
    +0 bind(3, ..., ...) = 0
    +0 listen(3, 1) = 0
    +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
    +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
    +.01 < . 1:1(0) ack 1 win 257
    +0 accept(3, ..., ...) = 4
";

#[test]
fn a_connection_with_data_both_ways() {
    let script = format!(
        "{OPENING}
        +0 write(4, ..., 3000) = 3000
        +0 > P. 1:3001(3000) ack 1
        +0 %{{ assert tcpi_unacked == 3 }}%
        +.01 < . 1:1(0) ack 3001 win 257
        +0 %{{ assert tcpi_unacked == 0 and tcpi_snd_cwnd == 10 and tcpi_ca_state == 0, tcpi_snd_cwnd }}%
        +0 < P. 1:501(500) ack 3001 win 257
        +0 > . 3001:3001(0) ack 501
        +0 read(4, ..., 1000) = 500
        +0 close(4) = 0
        +0 > F. 3001:3001(0) ack 501
        +.01 < F. 501:501(0) ack 3002 win 257
        +0 > . 3002:3002(0) ack 502
        "
    );
    if let Some(outcome) = play(&script) {
        assert_eq!(outcome.verdict, Verdict::Passed, "{}", outcome.describe("script", &script));
    }
}

#[test]
fn blocking_calls_wait() {
    let script = "
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0...0.020 connect(3, ..., ...) = 0
        +0 > S 0:0(0) <...>
        +.02 < S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK>
        +0 > . 1:1(0) ack 1
        +0...0.020 read(3, ..., 1000) = 100
        +.02 < P. 1:101(100) ack 1 win 65535
        +0 > . 1:1(0) ack 101
    ";
    if let Some(outcome) = play(script) {
        assert_eq!(outcome.verdict, Verdict::Passed, "{}", outcome.describe("script", script));
    }
}

#[test]
fn a_difference_is_a_failure() {
    let script = format!("{OPENING} +0 write(4, ..., 3000) = 3000\n +0 > P. 1:2001(2000) ack 1\n +0 > . 2001:2501(500) ack 1\n");
    if let Some(outcome) = play(&script) {
        assert!(matches!(outcome.verdict, Verdict::Failed(_)), "{:?}", outcome.verdict);
    }
}

#[test]
fn settings_stay_in_the_namespace() {
    let file = "/proc/sys/net/ipv4/tcp_reordering";
    let before = std::fs::read_to_string(file).ok();
    play(&format!("`sysctl -q net.ipv4.tcp_reordering=17`\n{OPENING}"));
    assert_eq!(std::fs::read_to_string(file).ok(), before, "the thread is not back in its namespace");
}

#[test]
fn parameters_of_the_machine_are_refused() {
    use crate::World as _;
    let Ok(mut kernel) = Kernel::new(&crate::Network::new(crate::IpVersion::V4)) else { return };
    assert!(kernel.configure("net.ipv4.tcp_sack", "1").is_ok());
    assert!(kernel.configure("../../kernel/hostname", "x").is_err());
    assert!(kernel.configure("tcp_nothing_of_this_name", "1").is_ok(), "a kernel without the parameter");
}

#[test]
fn fast_open_zero_copy_and_epoll_over_every_version_of_ip() {
    let script = "
        `sysctl -q net.ipv4.tcp_timestamps=0
        sysctl -q net.ipv4.tcp_fastopen=5
        sysctl -q net.ipv4.tcp_rmem=\"4096 131072 6291456\"`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 setsockopt(3, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0
        +0...0.020 sendto(3, ..., 500, MSG_FASTOPEN|MSG_ZEROCOPY, ..., ...) = 500
        +0 > S 0:500(500) <...>
        +.02 < S. 123:123(0) ack 501 win 65535 <mss 1000,nop,nop,sackOK>
        +0 > . 501:501(0) ack 1
        +0 %{ assert tcpi_state == TCP_ESTABLISHED and tcpi_options & TCPI_OPT_SYN_DATA }%
        +0 recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE, msg_control=[{cmsg_level=CMSG_LEVEL_IP,
            cmsg_type=CMSG_TYPE_RECVERR, cmsg_data={ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY, ee_info=0, ee_data=0}}]},
            MSG_ERRQUEUE) = 0
        +0 epoll_create(1) = 4
        +0 epoll_ctl(4, EPOLL_CTL_ADD, 3, {events=EPOLLIN|EPOLLET, fd=3}) = 0
        +0 epoll_wait(4, {events=0, ptr=0}, 1, 0) = 0
        +0 < P. 1:101(100) ack 501 win 65535
        +0 > . 501:501(0) ack 101
        +0 epoll_wait(4, {events=EPOLLIN, fd=3}, 1, 0) = 1
        +0 read(3, NULL, 10) = -1 EFAULT (Bad address)
        +0 read(3, ..., 200) = 100
        +0 connect(3, AF_UNSPEC, ...) = 0
        +0 > R. 501:501(0) ack 101
    ";
    for version in [IpVersion::V4, IpVersion::V6, IpVersion::Mapped] {
        if let Some(outcome) = play_over(script, Some(version)) {
            assert_eq!(outcome.verdict, Verdict::Passed, "{version:?}: {}", outcome.describe("script", script));
        }
    }
}

#[test]
fn a_message_of_icmp_reaches_the_connection_that_it_is_about() {
    let script = "
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0...0.020 connect(3, ..., ...) = -1 ERROR
        +0 > S 0:0(0) <...>
        +.02 < icmp unreachable CODE [0:0(0)]
    ";
    for (version, code, error) in [(IpVersion::V4, "host_unreachable", "EHOSTUNREACH"), (IpVersion::V6, "port_unreachable", "ECONNREFUSED")]
    {
        let script = script.replace("CODE", code).replace("ERROR", error);
        if let Some(outcome) = play_over(&script, Some(version)) {
            assert_eq!(outcome.verdict, Verdict::Passed, "{version:?}: {}", outcome.describe("script", &script));
        }
    }
}
