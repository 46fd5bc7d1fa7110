//! Constants of system calls, with the numbers of Linux.

/// Names with their values.
const CONSTANTS: &[(&str, i64)] = &[
    ("AF_INET", 2),
    ("AF_INET6", 10),
    ("PF_INET", 2),
    ("PF_INET6", 10),
    ("SOCK_STREAM", 1),
    ("SOCK_DGRAM", 2),
    ("SOCK_NONBLOCK", NONBLOCK),
    ("SOCK_CLOEXEC", CLOSE_ON_EXEC),
    ("IPPROTO_IP", 0),
    ("IPPROTO_TCP", 6),
    ("IPPROTO_UDP", 17),
    ("IPPROTO_IPV6", 41),
    ("IPPROTO_MPTCP", 262),
    ("F_GETFL", 3),
    ("F_SETFL", 4),
    ("O_RDONLY", 0),
    ("O_WRONLY", 1),
    ("O_RDWR", 2),
    ("O_NONBLOCK", NONBLOCK),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("MSG_OOB", 1),
    ("MSG_PEEK", 2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", DONT_WAIT),
    ("MSG_WAITALL", 0x100),
    ("MSG_CTRUNC", 8),
    ("MSG_EOR", RECORD),
    ("MSG_ERRQUEUE", ERROR_QUEUE),
    ("MSG_NOSIGNAL", NO_SIGNAL),
    ("MSG_MORE", MORE),
    ("MSG_ZEROCOPY", ZERO_COPY),
    ("MSG_FASTOPEN", FAST_OPEN),
    ("POLLIN", 1),
    ("POLLPRI", 2),
    ("POLLOUT", 4),
    ("POLLERR", 8),
    ("POLLHUP", 0x10),
    ("POLLNVAL", 0x20),
    ("POLLRDNORM", 0x40),
    ("POLLRDBAND", 0x80),
    ("POLLWRNORM", 0x100),
    ("POLLWRBAND", 0x200),
    ("POLLRDHUP", 0x2000),
    ("EPOLLIN", 1),
    ("EPOLLPRI", 2),
    ("EPOLLOUT", 4),
    ("EPOLLERR", 8),
    ("EPOLLHUP", 0x10),
    ("EPOLLRDHUP", 0x2000),
    ("EPOLLEXCLUSIVE", 1 << 28),
    ("EPOLLONESHOT", 1 << 30),
    ("EPOLLET", 1 << 31),
    ("EPOLL_CTL_ADD", 1),
    ("EPOLL_CTL_DEL", 2),
    ("EPOLL_CTL_MOD", 3),
    ("SOL_IP", 0),
    ("SOL_SOCKET", 1),
    ("SOL_TCP", 6),
    ("SOL_IPV6", 41),
    ("IP_RECVERR", 11),
    ("IPV6_RECVERR", 25),
    ("SCM_TIMESTAMPING", 37),
    ("TCP_CM_INQ", 36),
    ("SCM_TSTAMP_SND", 0),
    ("SCM_TSTAMP_SCHED", 1),
    ("SCM_TSTAMP_ACK", 2),
    ("SO_EE_ORIGIN_TIMESTAMPING", 4),
    ("SO_EE_ORIGIN_ZEROCOPY", 5),
    ("SO_EE_CODE_ZEROCOPY_COPIED", 1),
    ("SOF_TIMESTAMPING_TX_HARDWARE", 1),
    ("SOF_TIMESTAMPING_TX_SOFTWARE", 1 << 1),
    ("SOF_TIMESTAMPING_RX_HARDWARE", 1 << 2),
    ("SOF_TIMESTAMPING_RX_SOFTWARE", 1 << 3),
    ("SOF_TIMESTAMPING_SOFTWARE", 1 << 4),
    ("SOF_TIMESTAMPING_OPT_ID", 1 << 7),
    ("SOF_TIMESTAMPING_TX_SCHED", 1 << 8),
    ("SOF_TIMESTAMPING_TX_ACK", 1 << 9),
    ("SOF_TIMESTAMPING_OPT_CMSG", 1 << 10),
    ("SOF_TIMESTAMPING_OPT_TSONLY", 1 << 11),
    ("SOF_TIMESTAMPING_OPT_STATS", 1 << 12),
    ("SOF_TIMESTAMPING_OPT_ID_TCP", 1 << 16),
    ("ENOMSG", 42),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_PMTUDISC_WANT", 1),
    ("IP_PMTUDISC_DO", 2),
    ("IP_PMTUDISC_PROBE", 3),
    ("INADDR_ANY", 0),
];

/// `O_NONBLOCK` and `SOCK_NONBLOCK`.
pub(crate) const NONBLOCK: i64 = 0o4000;
/// `SOCK_CLOEXEC`.
pub(crate) const CLOSE_ON_EXEC: i64 = 0o2_000_000;
/// `MSG_DONTWAIT`.
pub(crate) const DONT_WAIT: i64 = 0x40;
/// `MSG_NOSIGNAL`.
pub(crate) const NO_SIGNAL: i64 = 0x4000;
/// `MSG_MORE`.
pub(crate) const MORE: i64 = 0x8000;
/// `MSG_EOR`.
pub(crate) const RECORD: i64 = 0x80;
/// `MSG_ERRQUEUE`.
pub(crate) const ERROR_QUEUE: i64 = 0x2000;
/// `MSG_ZEROCOPY`.
pub(crate) const ZERO_COPY: i64 = 0x0400_0000;
/// `MSG_FASTOPEN`.
pub(crate) const FAST_OPEN: i64 = 0x2000_0000;

/// The value of a constant.
pub(crate) fn find(name: &str) -> Option<i64> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The names of flags of messages among `bits`.
pub(crate) fn names_of(bits: i64) -> Vec<&'static str> {
    CONSTANTS.iter().filter(|(name, value)| name.starts_with("MSG_") && value & bits != 0).map(|(name, _)| *name).collect()
}

/// Names of all constants.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CONSTANTS.iter().map(|(name, _)| *name)
}
