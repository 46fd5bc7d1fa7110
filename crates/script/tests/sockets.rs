//! System calls of scripts against `modern` with the settings of Linux.

mod common;

use ackclock_script::{Options, Verdict};
use common::play;

/// A server whose connection is fd 4, with windows and segments of 1000 bytes.
const SERVER: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
";

/// Asserts that lines after those of `SERVER` pass.
#[track_caller]
fn serves(lines: &str) {
    passes(&format!("{SERVER}{lines}\n"));
}

#[track_caller]
fn passes(script: &str) {
    let outcome = play(script, &Options { strict: true, ..Options::default() });
    assert!(outcome.verdict == Verdict::Passed, "{}", outcome.describe("script", script));
}

#[track_caller]
fn fails(script: &str, line: u32, message: &str) {
    let verdict = play(script, &Options::default()).verdict;
    assert!(matches!(verdict, Verdict::Failed(_)) && verdict.line() == line && verdict.reason().contains(message), "{verdict:?}");
}

#[test]
fn a_blocking_connect_returns_with_the_handshake() {
    let script = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.020 connect(3, ..., ...) = 0
+0 > S 0:0(0) <...>
+.020 < S. 0:0(0) ack 1 win 65535 <mss 1000>
+0 > . 1:1(0) ack 1
+0 connect(3, ..., ...) = -1 EISCONN (Transport endpoint is already connected)
";
    passes(script);
    fails(&script.replace("0...0.020", "0...0.030"), 2, "connect returned at another time");
    let refused = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.020 connect(3, ..., ...) = -1 ECONNREFUSED (Connection refused)
+0 > S 0:0(0) <...>
+.020 < R. 0:0(0) ack 1 win 0
";
    passes(refused);
    fails(&refused.replace("ECONNREFUSED", "ETIMEDOUT"), 2, "connect failed with another error");
}

#[test]
fn a_non_blocking_connect() {
    passes(
        "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
+0 connect(3, ..., ...) = -1 EALREADY (Operation already in progress)
+0 poll([{fd=3, events=POLLOUT, revents=0}], 1, 0) = 0
+.020 < S. 0:0(0) ack 1 win 65535 <mss 1000>
+0 > . 1:1(0) ack 1
+0 poll([{fd=3, events=POLLOUT, revents=POLLOUT}], 1, 0) = 1
+0 getsockopt(3, SOL_SOCKET, SO_ERROR, [0], [4]) = 0
+0 read(3, ..., 1000) = -1 EAGAIN (Resource temporarily unavailable)
+0 fcntl(3, F_GETFL) = 0x802
",
    );
}

#[test]
fn reading_blocks_until_data_and_ends_with_the_fin() {
    serves(
        "\
+0...0.1 read(4, ..., 1000) = 500
+.1 < P. 1:501(500) ack 1 win 1000
+0 > . 1:1(0) ack 501
+0 ioctl(4, SIOCINQ, [0]) = 0
+.1 < P. 501:1501(1000) ack 1 win 1000
+0 > . 1:1(0) ack 1501
+0 ioctl(4, SIOCINQ, [1000]) = 0
+0 recv(4, ..., 400, MSG_DONTWAIT) = 400
+0 readv(4, [{..., 300}, {..., 400}], 2) = 600
+0 recv(4, ..., 400, MSG_DONTWAIT) = -1 EAGAIN (Resource temporarily unavailable)
+.1 < F. 1501:1501(0) ack 1 win 1000
*  > . 1:1(0) ack 1502
+0 poll([{fd=4, events=POLLIN, revents=POLLIN}], 1, 0) = 1
+0 read(4, ..., 1000) = 0",
    );
}

#[test]
fn every_way_to_write() {
    serves(
        "\
+0 write(4, ..., 1000) = 1000
+0 > P. 1:1001(1000) ack 1
+0 send(4, ..., 1000, MSG_NOSIGNAL) = 1000
+0 > P. 1001:2001(1000) ack 1
+0 sendto(4, ..., 1000, 0, ..., ...) = 1000
+0 > P. 2001:3001(1000) ack 1
+0 writev(4, [{..., 400}, {..., 600}], 2) = 1000
+0 > P. 3001:4001(1000) ack 1
+0 sendmsg(4, {msg_name(...)=..., msg_iov(1)=[{..., 1000}], msg_flags=0}, 0) = 1000
+0 > P. 4001:5001(1000) ack 1
+0 ioctl(4, SIOCOUTQ, [5000]) = 0
+.1 < . 1:1(0) ack 5001 win 1000
+0 ioctl(4, SIOCOUTQ, [0]) = 0",
    );
}

#[test]
fn closing() {
    // In order, and the peer's FIN afterwards.
    serves(
        "\
+0 shutdown(4, SHUT_WR) = 0
+0 > F. 1:1(0) ack 1
+0 write(4, ..., 10) = -1 EPIPE (Broken pipe)
+.1 < F. 1:1(0) ack 2 win 1000
+0 > . 2:2(0) ack 2
+0 close(4) = 0
+0 close(4) = -1 EBADF (Bad file descriptor)",
    );
    // With unread data, or without lingering, the connection is reset.
    serves(
        "\
+0 < P. 1:101(100) ack 1 win 1000
+0 > . 1:1(0) ack 101
+0 close(4) = 0
+0 > R. 1:1(0) ack 101",
    );
    serves(
        "\
+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0
+0 close(4) = 0
+0 > R. 1:1(0) ack 1",
    );
}

#[test]
fn a_reset_is_an_error_once() {
    serves(
        "\
+0 < R. 1:1(0) ack 1 win 1000
+0 poll([{fd=4, events=POLLIN, revents=POLLIN|POLLERR|POLLHUP}], 1, 0) = 1
+0 write(4, ..., 10) = -1 ECONNRESET (Connection reset by peer)
+0 write(4, ..., 10) = -1 EPIPE (Broken pipe)
+0 read(4, ..., 10) = 0",
    );
}

#[test]
fn a_packet_of_no_connection_is_answered_by_a_reset() {
    passes(
        "\
0 < S 7:7(0) win 1000 <mss 1000>
+0 > R. 0:0(0) ack 1 win 0
+0 < . 8:8(0) ack 5 win 1000
+0 > R 5:5(0) win 0
",
    );
}

#[test]
fn socket_options() {
    serves(
        "\
+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [100000], 4) = 0
+0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [200000], [4]) = 0
+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
+0 getsockopt(4, SOL_TCP, TCP_NODELAY, [1], [4]) = 0
+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1000], [4]) = 0
+0 setsockopt(4, IPPROTO_IP, IP_TOS, [4], 4) = 0
+0 write(4, ..., 100) = 100
+0 > [tos 0x04] P. 1:101(100) ack 1",
    );
    fails(&format!("{SERVER}+0 getsockopt(4, SOL_TCP, TCP_NODELAY, [1], [4]) = 0\n"), 9, "getsockopt wrote something else");
    let verdict = play(&format!("{SERVER}+0 setsockopt(4, SOL_TCP, TCP_SAVE_SYN, [1], 4) = 0\n"), &Options::default()).verdict;
    assert!(matches!(&verdict, Verdict::Unsupported { line: 9, reason } if reason.contains("TCP_SAVE_SYN")), "{verdict:?}");
}

#[test]
fn kernel_parameters_change_the_host() {
    let script = |command: &str, options: &str| {
        format!(
            "`sysctl -q {command}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0...0.1 connect(3, ..., ...) = 0\n+0 > {options}\n\
             +.1 < S. 0:0(0) ack 1 win 1000 <mss 1000>\n+0 > . 1:1(0) ack 1\n"
        )
    };
    passes(&script("net.ipv4.tcp_timestamps=0", "S 0:0(0) <mss 1460,nop,nop,sackOK,nop,wscale 8>"));
    passes(&script("net.ipv4.tcp_sack=0", "S 0:0(0) <mss 1460,nop,nop,TS val 1 ecr 0,nop,wscale 8>"));
    passes(&script("net.ipv4.tcp_window_scaling=0", "S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0>"));
    passes(&script("net.ipv4.tcp_rmem=\"4096 131072 6291456\"", "S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7>"));
    passes(&script("net.ipv4.tcp_ecn=1", "SEW 0:0(0) <...>"));
    passes(&script("net.ipv4.tcp_ecn=3", "SEWA 0:0(0) <...>"));
    passes(&script("net.ipv4.tcp_ecn=4", "SEW 0:0(0) <...>"));
    passes(&script("net.ipv4.tcp_ecn=5", "S 0:0(0) <...>"));
    for (command, reason) in [("net.ipv4.tcp_congestion_control=reno2", "reno"), ("net.ipv4.tcp_dsack=0", "tcp_dsack")] {
        let verdict = play(&script(command, "S 0:0(0) <...>"), &Options::default()).verdict;
        assert!(matches!(&verdict, Verdict::Unsupported { line: 1, reason: why } if why.contains(reason)), "{verdict:?}");
    }
}

#[test]
fn ip_version_six() {
    passes(
        "--ip_version=ipv6\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0...0.1 connect(3, ..., ...) = 0\n\
         +0 > S 0:0(0) <mss 1440,sackOK,TS val 1 ecr 0,nop,wscale 8>\n+.1 < S. 0:0(0) ack 1 win 1000 <mss 1000>\n+0 > . 1:1(0) ack 1\n",
    );
}

#[test]
fn open_descriptors_are_limited_as_on_linux() {
    let socket = |fd: u32| format!("+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = {fd}\n");
    let sockets: String = (3..1024).map(socket).collect();
    let full = "+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = -1 EMFILE (Too many open files)\n";
    let free = format!("+0 close(700) = 0\n+0 close(500) = 0\n{}{}{full}", socket(500), socket(700));
    let waiting = "+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n+0 accept(3, ..., ...) = -1 EMFILE (Too many open files)\n";
    passes(&format!("{sockets}{full}{free}{waiting}"));
    fails(&format!("{sockets}{}", socket(1024)), 1022, "socket returned something else");
}

#[test]
fn data_sent_without_a_copy_is_reported_once_it_is_acknowledged() {
    let report = |first: u32, last: u32| {
        format!(
            "+0 recvmsg(4, {{msg_name(...)=..., msg_iov(1)=[{{...,0}}], msg_flags=MSG_ERRQUEUE, msg_control=[{{cmsg_level=SOL_IP, \
             cmsg_type=IP_RECVERR, cmsg_data={{ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY, ee_type=0, ee_code=1, ee_info={first}, \
             ee_data={last}}}}}]}}, MSG_ERRQUEUE) = 0\n"
        )
    };
    let none = "+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=0, msg_control=[]}, MSG_ERRQUEUE) = -1 EAGAIN (again)\n";
    let start = "\
+0 setsockopt(4, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0
+0 send(4, ..., 1000, MSG_ZEROCOPY) = 1000
+0 send(4, ..., 2000, MSG_ZEROCOPY) = 2000
+0 send(4, ..., 3000, MSG_ZEROCOPY) = 3000
+0 > P. 1:1001(1000) ack 1
+0 > P. 1001:3001(2000) ack 1
+0 > P. 3001:6001(3000) ack 1
";
    serves(&format!(
        "{start}{none}+.1 < . 1:1(0) ack 3001 win 1000\n{}{none}+.1 < . 1:1(0) ack 6001 win 1000\n{}{none}",
        report(0, 1),
        report(2, 2)
    ));
    fails(&format!("{SERVER}{start}+.1 < . 1:1(0) ack 3001 win 1000\n{}", report(0, 0)), 17, "recvmsg wrote something else");
}

#[test]
fn epoll_reports_edges_levels_and_one_shots() {
    serves(
        "\
+0 epoll_create(1) = 5
+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLET, fd=4}) = 0
+0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0
+.1 < P. 1:101(100) ack 1 win 1000
+0 > . 1:1(0) ack 101
+0 epoll_wait(5, {events=EPOLLIN, fd=4}, 1, 0) = 1
+0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0
+0 epoll_ctl(5, EPOLL_CTL_MOD, 4, {events=EPOLLIN|EPOLLONESHOT, fd=4}) = 0
+0 epoll_wait(5, {events=EPOLLIN, fd=4}, 1, 0) = 1
+0 epoll_wait(5, {events=0, ptr=0}, 1, 0) = 0
+0 epoll_ctl(5, EPOLL_CTL_MOD, 4, {events=EPOLLOUT, fd=4}) = 0
+0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1
+0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1
+0 epoll_ctl(5, EPOLL_CTL_DEL, 4, {events=0, fd=4}) = 0
+0...0.05 epoll_wait(5, {events=0, ptr=0}, 1, 50) = 0",
    );
}

#[test]
fn a_full_send_buffer_blocks_until_a_third_of_it_is_free() {
    // The peer's window of 128,000 bytes allows packets of 64,000 bytes: 10,000 leave at once, and 64,000 wait for room with them.
    let script = "\
+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [10000], 4) = 0
+0...0.3 write(4, ..., 80000) = 80000
+0 > P. 1:10001(10000) ack 1
+.1 < . 1:1(0) ack 10001 win 1000
+0 > P. 10001:30001(20000) ack 1
+.1 < . 1:1(0) ack 30001 win 1000
+0 > P. 30001:70001(40000) ack 1
+.1 < . 1:1(0) ack 70001 win 1000
+0 > P. 70001:80001(10000) ack 1
";
    serves(script.trim_end());
    fails(
        &format!("{SERVER}{}", script.replace("70001 win", "50001 win").replace("+0 > P. 70001:80001(10000) ack 1\n", "")),
        10,
        "write still blocks",
    );
}

#[test]
fn little_may_wait_to_be_sent() {
    // The last packet, of which 2000 bytes wait, takes 62,000 more, as on Linux 6.18. The socket is not ready for another one.
    serves(
        "\
+0 setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [1000], 4) = 0
+0 getsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [1000], [4]) = 0
+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 write(4, ..., 12000) = 12000
+0 > P. 1:10001(10000) ack 1
+0 poll([{fd=4, events=POLLOUT, revents=0}], 1, 0) = 0
+0 write(4, ..., 80000) = 62000
+0 write(4, ..., 100) = -1 EAGAIN (Resource temporarily unavailable)",
    );
}

#[test]
fn records_keep_to_segments_of_their_own() {
    serves(
        "\
+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
+0 send(4, ..., 300, MSG_EOR) = 300
+0 write(4, ..., 400) = 400
+0 > P. 1:301(300) ack 1
+0 > P. 301:701(400) ack 1",
    );
}

#[test]
fn a_connection_gives_up_after_the_users_timeout() {
    serves(
        "\
+0 setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [1500], 4) = 0
+0 write(4, ..., 100) = 100
+0 > P. 1:101(100) ack 1
+.2~+.4 > P. 1:101(100) ack 1
+.2~+.4 > P. 1:101(100) ack 1
+.5~+.8 > P. 1:101(100) ack 1
+1.5 write(4, ..., 100) = -1 ETIMEDOUT (Connection timed out)",
    );
}

#[test]
fn bytes_that_wait_are_told_with_the_read() {
    let read = |most: u64, left: u64| {
        format!(
            "+0 recvmsg(4, {{msg_name(...)=..., msg_iov(1)=[{{..., {most}}}], msg_flags=0, msg_control=[{{cmsg_level=SOL_TCP, \
             cmsg_type=TCP_CM_INQ, cmsg_data={left}}}]}}, 0) = {most}\n"
        )
    };
    serves(&format!(
        "+0 setsockopt(4, SOL_TCP, TCP_INQ, [1], 4) = 0\n+0 < FP. 1:1001(1000) ack 1 win 1000\n+.04~+.05 > . 1:1(0) ack 1002\n{}{}",
        read(400, 600),
        read(600, 1)
    ));
}

#[test]
fn an_unreachable_peer_ends_an_attempt() {
    let script = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.1 connect(3, ..., ...) = -1 EHOSTUNREACH (No route to host)
+0 > S 0:0(0) <...>
+.05 < icmp unreachable host_unreachable [7000:7000(0)]
+.05 < icmp unreachable host_unreachable [0:0(0)]
";
    passes(script);
    fails(&script.replace("EHOSTUNREACH", "ENETUNREACH"), 2, "connect failed with another error");
}

#[test]
fn a_cookie_rounds_the_segment_size_down() {
    let script = "\
`ip link set dev tun0 mtu 9000
sysctl -q net.ipv4.tcp_syncookies=2`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1450>
+0 > S. 0:0(0) ack 1 <mss 8960>
+.1 < . 1:1(0) ack 1 win 10000
+0 accept(3, ..., ...) = 4
+0 %{ assert tcpi_snd_mss == 1440, tcpi_snd_mss }%
";
    passes(script);
    passes(&script.replace("1440", "1450").replace("syncookies=2", "syncookies=1"));
}
