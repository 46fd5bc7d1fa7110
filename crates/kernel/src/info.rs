//! The state of a connection, as the socket option `TCP_INFO` gives it.

use ackclock_host::RecoveryPhase;

/// Threshold of a connection that has none yet (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// Smallest round-trip time before the first measurement.
const UNMEASURED: u32 = u32::MAX;

/// The fields by which a flow follows its sender. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Info {
    /// Whether the handshake is over.
    pub established: bool,
    /// State of loss recovery.
    pub recovery: RecoveryPhase,
    /// Congestion window in segments.
    pub cwnd: f64,
    /// Threshold in segments; infinite before the first reduction.
    pub ssthresh: f64,
    /// Smoothed round-trip time; 0 before the first measurement.
    pub srtt: u32,
    /// Retransmission timeout.
    pub rto: u32,
    /// Smallest round-trip time.
    pub min_rtt: Option<u32>,
    /// Bytes of data in a segment.
    pub mss: u32,
    /// Segments in flight: outstanding or retransmitted, and neither SACKed nor lost.
    pub flight: u32,
    /// Pacing rate in bytes per second; `u64::MAX`: without limit.
    pub pacing: u64,
    /// Retransmission timeouts so far (kernels from 6.7 on).
    pub timeouts: u64,
    /// Time with data to send.
    pub busy: u64,
    /// The part of that time in which the receiver's window was full.
    pub rwnd_limited: u64,
    /// The part in which the send buffer was full.
    pub sndbuf_limited: u64,
}

impl Info {
    /// Bytes of `struct tcp_info` that are read (include/uapi/linux/tcp.h); older kernels return fewer, and the rest is zero.
    pub const SIZE: usize = 248;

    /// The state in these bytes of `struct tcp_info`.
    pub fn read(bytes: &[u8; Self::SIZE]) -> Self {
        fn field<const N: usize>(bytes: &[u8; Info::SIZE], at: usize) -> [u8; N] {
            std::array::from_fn(|index| bytes[at + index])
        }
        let short = |at| u32::from_ne_bytes(field(bytes, at));
        let long = |at| u64::from_ne_bytes(field(bytes, at));
        let ssthresh = short(76);
        // `tcpi_unacked`, `tcpi_retrans`, `tcpi_sacked` and `tcpi_lost`: what `tcp_packets_in_flight` counts.
        let flight = short(24).saturating_add(short(36)).saturating_sub(short(28)).saturating_sub(short(32));
        Self {
            // `TCP_ESTABLISHED`, `TCP_SYN_SENT`, `TCP_SYN_RECV`, `TCP_CLOSE`, `TCP_LISTEN`, `TCP_NEW_SYN_RECV`.
            established: !matches!(bytes[0], 2 | 3 | 7 | 10 | 12),
            recovery: match bytes[1] {
                2 => RecoveryPhase::Reduction,
                3 => RecoveryPhase::Fast,
                4 => RecoveryPhase::Timeout,
                _ => RecoveryPhase::Open,
            },
            cwnd: f64::from(short(80)),
            ssthresh: if ssthresh >= NO_THRESHOLD { f64::INFINITY } else { f64::from(ssthresh) },
            srtt: short(68),
            rto: short(8),
            min_rtt: Some(short(148)).filter(|rtt| *rtt != UNMEASURED && *rtt != 0),
            mss: short(16),
            flight,
            pacing: long(104),
            timeouts: u64::from(u16::from_ne_bytes(field(bytes, 240))),
            busy: long(168),
            rwnd_limited: long(176),
            sndbuf_limited: long(184),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_at_their_places() {
        let mut bytes = [0; Info::SIZE];
        (bytes[0], bytes[1]) = (1, 3);
        for (at, value) in
            [(8, 204_000_u32), (16, 1448), (24, 20), (28, 6), (32, 3), (36, 2), (68, 40_123), (76, NO_THRESHOLD), (80, 17), (148, 39_900)]
        {
            bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        for (at, value) in [(104, 125_000_u64), (168, 1_000_000), (176, 20_000), (184, 3_000)] {
            bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        bytes[240] = 2;
        let expected = Info {
            established: true,
            recovery: RecoveryPhase::Fast,
            cwnd: 17.0,
            ssthresh: f64::INFINITY,
            srtt: 40_123,
            rto: 204_000,
            min_rtt: Some(39_900),
            mss: 1448,
            flight: 13,
            pacing: 125_000,
            timeouts: 2,
            busy: 1_000_000,
            rwnd_limited: 20_000,
            sndbuf_limited: 3_000,
        };
        assert_eq!(Info::read(&bytes), expected);
        bytes[76..80].copy_from_slice(&12_u32.to_ne_bytes());
        assert!(Info::read(&bytes).ssthresh.eq(&12.0));
        assert!(!Info::read(&[0; Info::SIZE]).established || Info::read(&[0; Info::SIZE]).cwnd.eq(&0.0));
    }
}
