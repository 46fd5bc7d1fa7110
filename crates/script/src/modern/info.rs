//! The state of an endpoint in the fields of `struct tcp_info`.

use ackclock_core::units::{Duration, Instant};
use ackclock_tcp::modern::{AgreedOptions, State};

use super::connection::Connection;
use crate::stack::Info;

/// `TCP_INFINITE_SSTHRESH`.
const INFINITE: i64 = 0x7FFF_FFFF;

/// The fields that the endpoint knows; times in microseconds, as in Linux.
pub(super) fn fields(now: Instant, connection: &Connection) -> Info {
    let info = connection.endpoint.info(now);
    let [busy, window, buffer] = connection.limits(now);
    let micros = |time: Duration| (time.as_secs_f64() * 1e6).round() as i64;
    let millis = |time: Duration| (time.as_secs_f64() * 1e3).floor() as i64;
    vec![
        ("tcpi_ca_state", info.ca_state as i64),
        ("tcpi_backoff", i64::from(info.backoff)),
        ("tcpi_rto", micros(info.rto)),
        ("tcpi_snd_mss", i64::from(info.snd_mss)),
        ("tcpi_unacked", i64::from(info.unacked)),
        ("tcpi_sacked", i64::from(info.sacked)),
        ("tcpi_lost", i64::from(info.lost)),
        ("tcpi_retrans", i64::from(info.retrans)),
        ("tcpi_last_data_sent", millis(info.last_data_sent)),
        ("tcpi_rtt", micros(info.rtt)),
        ("tcpi_rttvar", micros(info.rttvar)),
        ("tcpi_min_rtt", micros(info.min_rtt)),
        ("tcpi_snd_ssthresh", info.snd_ssthresh.map_or(INFINITE, i64::from)),
        ("tcpi_snd_cwnd", i64::from(info.snd_cwnd)),
        ("tcpi_reordering", i64::from(info.reordering)),
        ("tcpi_reord_seen", i64::from(info.reord_seen)),
        ("tcpi_total_retrans", i64::from(info.total_retrans)),
        // Linux shows an unlimited rate as the largest number.
        ("tcpi_pacing_rate", info.pacing_rate.map_or(-1, u64::cast_signed)),
        ("tcpi_delivery_rate", info.delivery_rate.cast_signed()),
        ("tcpi_delivery_rate_app_limited", i64::from(info.delivery_rate_app_limited)),
        ("tcpi_delivered", i64::from(info.delivered)),
        ("tcpi_delivered_ce", i64::from(info.delivered_ce)),
        ("tcpi_bytes_acked", info.bytes_acked.cast_signed()),
        ("tcpi_bytes_sent", info.bytes_sent.cast_signed()),
        ("tcpi_bytes_retrans", info.bytes_retrans.cast_signed()),
        ("tcpi_bytes_received", info.bytes_received.cast_signed()),
        ("tcpi_data_segs_out", i64::from(info.data_segs_out)),
        ("tcpi_notsent_bytes", i64::from(info.notsent_bytes)),
        ("tcpi_snd_wnd", i64::from(info.snd_wnd)),
        ("tcpi_dsack_dups", i64::from(info.dsack_dups)),
        ("tcpi_snd_wscale", i64::from(info.snd_wscale)),
        ("tcpi_rcv_wscale", i64::from(info.rcv_wscale)),
        ("tcpi_total_rto", i64::from(info.total_rto)),
        ("tcpi_state", number(connection.endpoint.state())),
        ("tcpi_options", options(info.agreed)),
        ("tcpi_rcv_mss", i64::from(info.rcv_mss)),
        ("tcpi_advmss", i64::from(info.advmss)),
        ("tcpi_probes", i64::from(info.probes)),
        ("tcpi_retransmits", i64::from(info.backoff)),
        ("tcpi_last_data_recv", millis(connection.silence(now))),
        ("tcpi_received_ce", i64::from(info.received_ce)),
        ("tcpi_delivered_e1_bytes", info.delivered_bytes.ect1.cast_signed()),
        ("tcpi_delivered_e0_bytes", info.delivered_bytes.ect0.cast_signed()),
        ("tcpi_delivered_ce_bytes", info.delivered_bytes.ce.cast_signed()),
        ("tcpi_received_e1_bytes", info.received_bytes.ect1.cast_signed()),
        ("tcpi_received_e0_bytes", info.received_bytes.ect0.cast_signed()),
        ("tcpi_received_ce_bytes", info.received_bytes.ce.cast_signed()),
        ("tcpi_busy_time", micros(busy)),
        ("tcpi_rwnd_limited", micros(window)),
        ("tcpi_sndbuf_limited", micros(buffer)),
    ]
}

/// The fields of a socket without connection.
pub(super) fn unconnected(state: State) -> Info {
    vec![("tcpi_state", number(state)), ("tcpi_options", 0)]
}

/// The bits of `tcpi_options`.
fn options(agreed: AgreedOptions) -> i64 {
    let AgreedOptions { timestamps, sack, scaling, ecn, syn_data } = agreed;
    [timestamps, sack, scaling, ecn, false, syn_data].into_iter().rev().fold(0, |bits, bit| bits << 1 | i64::from(bit))
}

/// The number of a state in `tcpi_state`.
fn number(state: State) -> i64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}
