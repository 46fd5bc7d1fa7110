//! Socket options and the fields of `struct tcp_info`, by the numbers of Linux.

use std::ffi::c_int;
use std::io;

use ackclock_linux::libc;

use super::system::{Handle, System};
use crate::stack::{Control, Info, Refusal, Value};

/// How an option's value is laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Text,
    /// Bytes, which are letters of a text up to `\xff`.
    Bytes,
    Linger,
}

/// The options that scripts may use.
const OPTIONS: &[(&str, c_int, c_int, Kind)] = &[
    ("SO_REUSEADDR", libc::SOL_SOCKET, libc::SO_REUSEADDR, Kind::Integer),
    ("SO_REUSEPORT", libc::SOL_SOCKET, libc::SO_REUSEPORT, Kind::Integer),
    ("SO_KEEPALIVE", libc::SOL_SOCKET, libc::SO_KEEPALIVE, Kind::Integer),
    ("SO_SNDBUF", libc::SOL_SOCKET, libc::SO_SNDBUF, Kind::Integer),
    ("SO_RCVBUF", libc::SOL_SOCKET, libc::SO_RCVBUF, Kind::Integer),
    ("SO_SNDBUFFORCE", libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, Kind::Integer),
    ("SO_RCVBUFFORCE", libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, Kind::Integer),
    ("SO_RCVLOWAT", libc::SOL_SOCKET, libc::SO_RCVLOWAT, Kind::Integer),
    ("SO_LINGER", libc::SOL_SOCKET, libc::SO_LINGER, Kind::Linger),
    ("SO_ERROR", libc::SOL_SOCKET, libc::SO_ERROR, Kind::Integer),
    ("SO_MAX_PACING_RATE", libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, Kind::Integer),
    ("SO_PRIORITY", libc::SOL_SOCKET, libc::SO_PRIORITY, Kind::Integer),
    ("SO_MARK", libc::SOL_SOCKET, libc::SO_MARK, Kind::Integer),
    ("SO_TIMESTAMPING", libc::SOL_SOCKET, libc::SO_TIMESTAMPING, Kind::Integer),
    ("SO_ZEROCOPY", libc::SOL_SOCKET, libc::SO_ZEROCOPY, Kind::Integer),
    ("TCP_NODELAY", libc::IPPROTO_TCP, libc::TCP_NODELAY, Kind::Integer),
    ("TCP_MAXSEG", libc::IPPROTO_TCP, libc::TCP_MAXSEG, Kind::Integer),
    ("TCP_CORK", libc::IPPROTO_TCP, libc::TCP_CORK, Kind::Integer),
    ("TCP_KEEPIDLE", libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, Kind::Integer),
    ("TCP_KEEPINTVL", libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, Kind::Integer),
    ("TCP_KEEPCNT", libc::IPPROTO_TCP, libc::TCP_KEEPCNT, Kind::Integer),
    ("TCP_SYNCNT", libc::IPPROTO_TCP, libc::TCP_SYNCNT, Kind::Integer),
    ("TCP_LINGER2", libc::IPPROTO_TCP, libc::TCP_LINGER2, Kind::Integer),
    ("TCP_DEFER_ACCEPT", libc::IPPROTO_TCP, libc::TCP_DEFER_ACCEPT, Kind::Integer),
    ("TCP_WINDOW_CLAMP", libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, Kind::Integer),
    ("TCP_QUICKACK", libc::IPPROTO_TCP, libc::TCP_QUICKACK, Kind::Integer),
    ("TCP_CONGESTION", libc::IPPROTO_TCP, libc::TCP_CONGESTION, Kind::Text),
    ("TCP_USER_TIMEOUT", libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, Kind::Integer),
    ("TCP_NOTSENT_LOWAT", libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, Kind::Integer),
    ("TCP_FASTOPEN", libc::IPPROTO_TCP, libc::TCP_FASTOPEN, Kind::Integer),
    ("TCP_FASTOPEN_CONNECT", libc::IPPROTO_TCP, libc::TCP_FASTOPEN_CONNECT, Kind::Integer),
    ("TCP_FASTOPEN_KEY", libc::IPPROTO_TCP, libc::TCP_FASTOPEN_KEY, Kind::Bytes),
    ("TCP_FASTOPEN_NO_COOKIE", libc::IPPROTO_TCP, libc::TCP_FASTOPEN_NO_COOKIE, Kind::Integer),
    ("TCP_INQ", libc::IPPROTO_TCP, libc::TCP_INQ, Kind::Integer),
    ("TCP_SAVE_SYN", libc::IPPROTO_TCP, libc::TCP_SAVE_SYN, Kind::Integer),
    ("IP_TOS", libc::IPPROTO_IP, libc::IP_TOS, Kind::Integer),
    ("IP_TTL", libc::IPPROTO_IP, libc::IP_TTL, Kind::Integer),
    ("IP_FREEBIND", libc::IPPROTO_IP, libc::IP_FREEBIND, Kind::Integer),
    ("IP_RECVERR", libc::IPPROTO_IP, libc::IP_RECVERR, Kind::Integer),
    ("IP_MTU_DISCOVER", libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, Kind::Integer),
    ("IPV6_V6ONLY", libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, Kind::Integer),
    ("IPV6_TCLASS", libc::IPPROTO_IPV6, libc::IPV6_TCLASS, Kind::Integer),
    ("IPV6_MTU_DISCOVER", libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, Kind::Integer),
];

/// The option called `name`.
fn find(name: &str) -> Result<(c_int, c_int, Kind), Refusal> {
    let found = OPTIONS.iter().find(|(known, ..)| *known == name);
    found.map(|&(_, level, number, kind)| (level, number, kind)).ok_or_else(|| Refusal::Unsupported(format!("socket option {name}")))
}

/// Sets an option; the inner error is the kernel's.
pub(super) fn set(system: &mut impl System, socket: Handle, name: &str, value: &Value) -> Result<io::Result<()>, Refusal> {
    let (level, number, kind) = find(name)?;
    let bytes = match value {
        Value::Integer(value) => (*value as c_int).to_ne_bytes().to_vec(),
        Value::Text(text) if kind == Kind::Bytes => text.chars().map(|letter| letter as u8).collect(),
        Value::Text(text) => text.as_bytes().to_vec(),
        Value::Linger(on, seconds) => [c_int::from(*on), *seconds as c_int].map(c_int::to_ne_bytes).concat(),
    };
    Ok(system.set_option(socket, level, number, &bytes))
}

/// The value of an option; the inner error is the kernel's.
pub(super) fn get(system: &mut impl System, socket: Handle, name: &str) -> Result<io::Result<Value>, Refusal> {
    let (level, number, kind) = find(name)?;
    let most = match kind {
        Kind::Integer => 4,
        Kind::Linger => 8,
        Kind::Text | Kind::Bytes => 64,
    };
    let integer = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| i64::from(c_int::from_ne_bytes(*bytes)));
    Ok(system.option(socket, level, number, most).map(|bytes| match kind {
        Kind::Integer => Value::Integer(integer(&bytes)),
        Kind::Linger => Value::Linger(integer(&bytes) != 0, integer(bytes.get(4..).unwrap_or_default())),
        Kind::Bytes => Value::Text(bytes.into_iter().map(char::from).collect()),
        Kind::Text => Value::Text(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()),
    }))
}

/// The control messages in the bytes that `recvmsg` wrote; `day`: the clock of the day at time 0 of the script.
pub(super) fn control(mut bytes: &[u8], day: i64) -> Vec<Control> {
    const HEADER: usize = size_of::<usize>() + 8;
    let number = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 4).map_or(0, |four| i64::from(u32::from_ne_bytes([four[0], four[1], four[2], four[3]])))
    };
    let mut all = Vec::new();
    while let Some(length) =
        bytes.first_chunk().map(|length| usize::from_ne_bytes(*length)).filter(|length| (HEADER..=bytes.len()).contains(length))
    {
        let (level, kind) = (number(bytes, HEADER - 8), number(bytes, HEADER - 4));
        let data = &bytes[HEADER..length];
        let named = |fields: &[(&str, i64)]| fields.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let fields = match (level as c_int, kind as c_int) {
            (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR) if data.len() >= 16 => named(&[
                ("ee_errno", number(data, 0)),
                ("ee_origin", i64::from(data[4])),
                ("ee_type", i64::from(data[5])),
                ("ee_code", i64::from(data[6])),
                ("ee_info", number(data, 8)),
                ("ee_data", number(data, 12)),
            ]),
            // The first of three times, that of the software, in seconds and nanoseconds.
            (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) if data.len() >= 16 => {
                let word = |at: usize| data[at..at + 8].iter().rev().fold(0_i64, |word, byte| word << 8 | i64::from(*byte));
                named(&[(Control::TIME, word(0) * 1_000_000_000 + word(8) - day)])
            }
            _ if data.len() == 4 => named(&[("", number(data, 0))]),
            _ => Vec::new(),
        };
        all.push(Control { level, kind, fields });
        bytes = bytes.get(length.next_multiple_of(size_of::<usize>())..).unwrap_or_default();
    }
    all
}

/// The fields of `struct tcp_info` in order, with their sizes in bytes. `0`: a byte of two fields of four bits.
const FIELDS: &[(&str, usize)] = &[
    ("tcpi_state", 1),
    ("tcpi_ca_state", 1),
    ("tcpi_retransmits", 1),
    ("tcpi_probes", 1),
    ("tcpi_backoff", 1),
    ("tcpi_options", 1),
    ("tcpi_snd_wscale tcpi_rcv_wscale", 0),
    ("tcpi_delivery_rate_app_limited tcpi_fastopen_client_fail", 0),
    ("tcpi_rto", 4),
    ("tcpi_ato", 4),
    ("tcpi_snd_mss", 4),
    ("tcpi_rcv_mss", 4),
    ("tcpi_unacked", 4),
    ("tcpi_sacked", 4),
    ("tcpi_lost", 4),
    ("tcpi_retrans", 4),
    ("tcpi_fackets", 4),
    ("tcpi_last_data_sent", 4),
    ("tcpi_last_ack_sent", 4),
    ("tcpi_last_data_recv", 4),
    ("tcpi_last_ack_recv", 4),
    ("tcpi_pmtu", 4),
    ("tcpi_rcv_ssthresh", 4),
    ("tcpi_rtt", 4),
    ("tcpi_rttvar", 4),
    ("tcpi_snd_ssthresh", 4),
    ("tcpi_snd_cwnd", 4),
    ("tcpi_advmss", 4),
    ("tcpi_reordering", 4),
    ("tcpi_rcv_rtt", 4),
    ("tcpi_rcv_space", 4),
    ("tcpi_total_retrans", 4),
    ("tcpi_pacing_rate", 8),
    ("tcpi_max_pacing_rate", 8),
    ("tcpi_bytes_acked", 8),
    ("tcpi_bytes_received", 8),
    ("tcpi_segs_out", 4),
    ("tcpi_segs_in", 4),
    ("tcpi_notsent_bytes", 4),
    ("tcpi_min_rtt", 4),
    ("tcpi_data_segs_in", 4),
    ("tcpi_data_segs_out", 4),
    ("tcpi_delivery_rate", 8),
    ("tcpi_busy_time", 8),
    ("tcpi_rwnd_limited", 8),
    ("tcpi_sndbuf_limited", 8),
    ("tcpi_delivered", 4),
    ("tcpi_delivered_ce", 4),
    ("tcpi_bytes_sent", 8),
    ("tcpi_bytes_retrans", 8),
    ("tcpi_dsack_dups", 4),
    ("tcpi_reord_seen", 4),
    ("tcpi_rcv_ooopack", 4),
    ("tcpi_snd_wnd", 4),
    ("tcpi_rcv_wnd", 4),
    ("tcpi_rehash", 4),
    ("tcpi_total_rto", 2),
    ("tcpi_total_rto_recoveries", 2),
    ("tcpi_total_rto_time", 4),
    ("tcpi_received_ce", 4),
    ("tcpi_delivered_e1_bytes", 4),
    ("tcpi_delivered_e0_bytes", 4),
    ("tcpi_delivered_ce_bytes", 4),
    ("tcpi_received_e1_bytes", 4),
    ("tcpi_received_e0_bytes", 4),
    ("tcpi_received_ce_bytes", 4),
];

/// `tcp_info` of a socket, as far as this kernel reports it.
pub(super) fn info(system: &mut impl System, socket: Handle) -> io::Result<Info> {
    let bytes = system.option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, 512)?;
    let length = bytes.len();
    let (mut info, mut at) = (Info::new(), 0);
    for &(name, size) in FIELDS {
        let end = at + size.max(1);
        if end > length {
            break;
        }
        // Machines of either byte order: the value is at the start or the end of eight bytes.
        let value = bytes[at..end].iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        let value = if cfg!(target_endian = "big") { value.swap_bytes() >> (64 - 8 * (end - at)) } else { value };
        match name.split_once(' ') {
            Some((low, high)) if low == "tcpi_snd_wscale" => info.extend([(low, (value & 15) as i64), (high, (value >> 4) as i64)]),
            Some((low, high)) => info.extend([(low, (value & 1) as i64), (high, (value >> 1 & 3) as i64)]),
            None => info.push((name, value as i64)),
        }
        at = end;
    }
    Ok(info)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A control message as the kernel lays it out.
    fn message(level: c_int, kind: c_int, data: &[u8]) -> Vec<u8> {
        let mut bytes = (size_of::<usize>() + 8 + data.len()).to_ne_bytes().to_vec();
        bytes.extend([level, kind].into_iter().flat_map(c_int::to_ne_bytes));
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    #[test]
    fn control_messages() {
        let error: Vec<u8> = [42_u32.to_ne_bytes(), [4, 0, 1, 0], 2_u32.to_ne_bytes(), 2963_u32.to_ne_bytes()].concat();
        let time: Vec<u8> = [1700_i64, 30_000_000].into_iter().flat_map(i64::to_ne_bytes).chain([0; 32]).collect();
        let bytes = [
            message(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &time),
            message(libc::IPPROTO_IPV6, libc::IPV6_RECVERR, &error),
            message(libc::IPPROTO_TCP, libc::TCP_INQ, &9000_i32.to_ne_bytes()),
        ]
        .concat();
        let read = control(&bytes, 1_699_990_000_000);
        let fields: Vec<String> = read.iter().flat_map(|message| &message.fields).map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(fields.join(" "), "time=40000000 ee_errno=42 ee_origin=4 ee_type=0 ee_code=1 ee_info=2 ee_data=2963 =9000");
        assert_eq!(read.iter().map(|message| message.level).collect::<Vec<_>>(), [1, 41, 6]);
        for cut in 0..bytes.len() - 4 {
            assert!(control(&bytes[..cut], 0).len() < 3, "a message that is cut off is none, with or without what pads the last one");
        }
    }
}
