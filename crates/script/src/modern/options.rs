//! The socket options of the host, and what each changes.

use ackclock_core::units::Duration;
use ackclock_tcp::modern::{Config, Endpoint, ReceiveBuffer};

use super::fast_open::Key;
use super::keep_alive::KeepAlive;
use crate::errno::Errno;
use crate::stack::{Answer, Refusal, Value};

/// Names of options that change nothing here: the addresses are free, and no packet is too large for the path.
const WITHOUT_EFFECT: [&str; 7] =
    ["SO_REUSEADDR", "SO_REUSEPORT", "SO_PRIORITY", "SO_MARK", "IP_FREEBIND", "IP_MTU_DISCOVER", "IPV6_V6ONLY"];
/// Names of options that are on or off, whose effect is that of the sockets themselves.
const SWITCHES: [&str; 5] = ["SO_ZEROCOPY", "TCP_CORK", "TCP_INQ", "TCP_FASTOPEN_CONNECT", "TCP_FASTOPEN_NO_COOKIE"];
/// Largest time that `TCP_USER_TIMEOUT` accepts, in milliseconds.
const LONGEST: i64 = i32::MAX as i64;

/// `TCP_MAXSEG` of a socket without connection (RFC 9293 §3.7.1).
const DEFAULT_MSS: i64 = 536;

/// A time between 1 s and 32,767 s.
fn seconds(number: i64) -> Answer<Duration> {
    let valid = u64::try_from(number).ok().filter(|seconds| (1..=32_767).contains(seconds));
    Ok(valid.map(|seconds| Duration::from_millis(1000 * seconds)).ok_or(Errno::EINVAL)?)
}

/// The options of a socket; a connection inherits those of its listening socket.
#[derive(Clone, Debug, Default)]
pub(super) struct SocketOptions {
    /// Options without effect that were set.
    plain: Vec<(String, i64)>,
    /// `SO_SNDBUF` as it was set.
    send_buffer: Option<u64>,
    /// `SO_RCVBUF` as it was set.
    receive_buffer: Option<u64>,
    /// `TCP_NODELAY`.
    pub(super) nodelay: bool,
    /// `TCP_MAXSEG`.
    max_segment: Option<u16>,
    /// `TCP_CONGESTION`.
    pub(super) control: Option<String>,
    /// `IP_TOS`, `IPV6_TCLASS`.
    pub(super) tos: u8,
    /// `SO_LINGER`: seconds, if it is on.
    pub(super) linger: Option<i64>,
    /// `TCP_NOTSENT_LOWAT`, if it is not zero: bytes that may wait to be sent.
    pub(super) lowat: Option<u64>,
    /// `TCP_USER_TIMEOUT`: milliseconds, if it is not zero.
    pub(super) user_timeout: Option<u64>,
    /// `TCP_SYNCNT`: retransmissions of a SYN.
    pub(super) syn_retries: Option<u32>,
    /// `SO_KEEPALIVE`, `TCP_KEEPIDLE`, `TCP_KEEPINTVL`, `TCP_KEEPCNT`.
    pub(super) keep_alive: KeepAlive,
    /// `TCP_FASTOPEN`: connections with data that wait for the peer's ACK.
    pub(super) fast_open_queue: Option<i64>,
    /// `TCP_FASTOPEN_KEY`.
    pub(super) fast_open_key: Option<Key>,
}

impl SocketOptions {
    /// The settings of an endpoint with these options.
    pub(super) fn applied(&self, config: &Config) -> Config {
        let mut config = config.clone();
        if let Some(bytes) = self.receive_buffer {
            // Linux doubles the value for its overhead, and half of the doubled buffer is the window.
            config.buffer = match config.buffer {
                ReceiveBuffer::Memory { first_window, .. } => {
                    ReceiveBuffer::Memory { initial: 2 * bytes, max: 2 * bytes, first_window, asked: Some(bytes) }
                }
                _ => ReceiveBuffer::Fixed(bytes),
            };
        }
        config.nagle &= !self.nodelay;
        config.mss = self.segment(config.mss);
        config
    }

    /// Whether an option that is on or off is on.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.plain.iter().any(|(known, value)| known == name && *value != 0)
    }

    /// The largest segment that the socket announces, of at most `mss` bytes.
    pub(super) fn segment(&self, mss: u16) -> u16 {
        self.max_segment.map_or(mss, |own| own.min(mss))
    }

    /// Limits the send buffer of a connection; `lowat`: bytes that may wait to be sent unless the socket says otherwise.
    pub(super) fn limit(&self, endpoint: &mut Endpoint, lowat: Option<u64>) {
        endpoint.limit_unsent(self.lowat.or(lowat).unwrap_or(u64::MAX));
        if let Some(bytes) = self.send_buffer {
            endpoint.fix_send_buffer(bytes);
        }
    }

    /// Sets an option.
    pub(super) fn set(&mut self, name: &str, value: &Value) -> Answer<()> {
        let number = match value {
            Value::Integer(number) => Ok(*number),
            _ => Err(Refusal::Error(Errno::EINVAL)),
        };
        match name {
            "SO_SNDBUF" => self.send_buffer = Some(number?.max(0).unsigned_abs()),
            "SO_RCVBUF" => self.receive_buffer = Some(number?.max(0).unsigned_abs()),
            "TCP_NODELAY" => self.nodelay = number? != 0,
            "TCP_NOTSENT_LOWAT" => self.lowat = Some(number?).filter(|bytes| *bytes != 0).map(|bytes| u64::from(bytes as u32)),
            "TCP_USER_TIMEOUT" => match number? {
                millis @ 0..=LONGEST => self.user_timeout = Some(millis.unsigned_abs()).filter(|millis| *millis > 0),
                _ => return Err(Errno::EINVAL.into()),
            },
            "TCP_SYNCNT" => match u32::try_from(number?) {
                Ok(count @ 1..=127) => self.syn_retries = Some(count),
                _ => return Err(Errno::EINVAL.into()),
            },
            "SO_KEEPALIVE" => self.keep_alive.on = number? != 0,
            "TCP_KEEPIDLE" => self.keep_alive.idle = seconds(number?)?,
            "TCP_KEEPINTVL" => self.keep_alive.interval = seconds(number?)?,
            "TCP_KEEPCNT" => match u32::try_from(number?) {
                Ok(count @ 1..=127) => self.keep_alive.count = count,
                _ => return Err(Errno::EINVAL.into()),
            },
            "TCP_FASTOPEN" => self.fast_open_queue = Some(number?),
            "TCP_FASTOPEN_KEY" => {
                let Value::Text(text) = value else { return Err(Errno::EINVAL.into()) };
                let bytes: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
                self.fast_open_key = Some(bytes.try_into().map_err(|_| Refusal::Error(Errno::EINVAL))?);
            }
            "TCP_MAXSEG" => match u16::try_from(number?) {
                Ok(mss @ 88..=32_767) => self.max_segment = Some(mss),
                _ => return Err(Errno::EINVAL.into()),
            },
            "IP_TOS" | "IPV6_TCLASS" => self.tos = u8::try_from(number?).map_err(|_| Refusal::Error(Errno::EINVAL))? & !3,
            "TCP_CONGESTION" => match value {
                Value::Text(control) => self.control = Some(control.clone()),
                _ => return Err(Errno::EINVAL.into()),
            },
            "SO_LINGER" => match value {
                Value::Linger(false, _) => self.linger = None,
                Value::Linger(true, 0) => self.linger = Some(0),
                Value::Linger(true, seconds) => {
                    return Err(Refusal::Unsupported(format!("SO_LINGER with {seconds} s: only 0 s is modelled")));
                }
                _ => return Err(Errno::EINVAL.into()),
            },
            _ if WITHOUT_EFFECT.contains(&name) || SWITCHES.contains(&name) => {
                let number = number?;
                self.plain.retain(|(known, _)| known != name);
                self.plain.push((name.to_owned(), number));
            }
            _ => return Err(Refusal::Unsupported(format!("`modern` does not model the socket option {name}"))),
        }
        Ok(())
    }

    /// The value of an option that does not depend on a connection.
    pub(super) fn get(&self, name: &str) -> Answer<Value> {
        let number = match name {
            // Linux reports the doubled value.
            "SO_SNDBUF" if self.send_buffer.is_some() => 2 * self.send_buffer.unwrap_or(0).cast_signed(),
            "SO_RCVBUF" if self.receive_buffer.is_some() => 2 * self.receive_buffer.unwrap_or(0).cast_signed(),
            "TCP_NODELAY" => i64::from(self.nodelay),
            "TCP_MAXSEG" => self.max_segment.map_or(DEFAULT_MSS, i64::from),
            "TCP_NOTSENT_LOWAT" => self.lowat.unwrap_or(0).cast_signed(),
            "TCP_USER_TIMEOUT" => self.user_timeout.unwrap_or(0).cast_signed(),
            "SO_KEEPALIVE" => i64::from(self.keep_alive.on),
            "TCP_KEEPIDLE" => self.keep_alive.idle.as_secs_f64() as i64,
            "TCP_KEEPINTVL" => self.keep_alive.interval.as_secs_f64() as i64,
            "TCP_KEEPCNT" => i64::from(self.keep_alive.count),
            "TCP_FASTOPEN" => self.fast_open_queue.unwrap_or(0),
            "IP_TOS" | "IPV6_TCLASS" => i64::from(self.tos),
            "SO_LINGER" => return Ok(Value::Linger(self.linger.is_some(), self.linger.unwrap_or(0))),
            "SO_ERROR" => 0,
            _ => match self.plain.iter().find(|(known, _)| known == name) {
                Some((_, number)) => *number,
                None if WITHOUT_EFFECT.contains(&name) || SWITCHES.contains(&name) => 0,
                None => return Err(Refusal::Unsupported(format!("`modern` does not report the socket option {name}"))),
            },
        };
        Ok(Value::Integer(number))
    }
}
