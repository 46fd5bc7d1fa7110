//! Kernel parameters as settings of the host; names as in [`crate::settings`].

use ackclock_core::units::Duration;
use ackclock_tcp::modern::{Config, Feedback, Offload, Pacing, ReceiveBuffer, Recovery, SendBufferSize};

use crate::errno::Errno;
use crate::error::suggestion;
use crate::stack::{Answer, Refusal};

/// Applies a value to the settings; `None`: the value is not valid.
type Apply = fn(&mut Config, &str) -> Option<()>;

/// The feedback of ECN of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ecn {
    /// What a connection that this end opens offers.
    pub(super) offers: Option<Feedback>,
    /// What this end accepts of a peer.
    pub(super) accepts: Option<Feedback>,
}

/// The prefixes of parameters that the congestion control reads when a connection begins.
pub(super) const OF_CONTROL: [&str; 3] = ["tcp_congestion_control", "tcp_cubic.", "route.initcwnd"];

/// Segmentation offload as Linux has it by default (Documentation/networking/ip-sysctl).
pub(super) const OFFLOAD: Offload = Offload { min_segments: 2, window_divisor: 3 };

/// The send buffer of Linux, as distributions build it.
pub(super) const SEND_BUFFER: SendBufferSize = SendBufferSize { initial: 16_384, max: 4 << 20, headers: SendBufferSize::MORE_HEADERS };

/// The parameters that settings of `modern` express.
const PARAMETERS: &[(&str, Apply)] = &[
    ("tcp_timestamps", |config, value| flag(value, &mut config.timestamps)),
    ("tcp_window_scaling", |config, value| flag(value, &mut config.window_scaling)),
    // 1 sends the option on demand, 2 wherever it fits; 3 does not stop if the network discards it, which is not modelled.
    ("tcp_ecn_option", |config, value| {
        config.ecn_seldom = number(value)? == 1;
        flag(value, &mut config.ecn_option)
    }),
    ("tcp_ecn_option_beacon", |config, value| {
        config.ecn_beacons = u32::try_from(number(value)?).ok()?;
        Some(())
    }),
    ("tcp_ecn_fallback", |config, value| flag(value, &mut config.ecn_fallback)),
    ("tcp_frto", |config, value| flag(value, &mut config.frto)),
    ("tcp_slow_start_after_idle", |config, value| flag(value, &mut config.idle_restart)),
    ("tcp_sack", |config, value| {
        let mut sack = true;
        let effect = flag(value, &mut sack);
        if !sack {
            config.recovery = Recovery::NewReno;
        } else if config.recovery == Recovery::NewReno {
            config.recovery = Recovery::Rack;
        }
        effect
    }),
    // 3 and 4 enable tail loss probes; 1 and 2 are early retransmit, which RACK replaced.
    ("tcp_early_retrans", |config, value| {
        config.tlp = number(value)? >= 3;
        Some(())
    }),
    // Segments leave in blocks, as the device of packetdrill takes them.
    ("tcp_min_tso_segs", |config, value| {
        config.offload.get_or_insert(OFFLOAD).min_segments = u32::try_from(number(value)?).ok()?;
        Some(())
    }),
    ("tcp_tso_win_divisor", |config, value| {
        config.offload.get_or_insert(OFFLOAD).window_divisor = u32::try_from(number(value)?).ok()?;
        Some(())
    }),
    ("tcp_rmem", |config, value| {
        let [_, initial, max] = numbers(value)?;
        config.buffer = match config.buffer {
            ReceiveBuffer::Memory { first_window, asked, .. } => ReceiveBuffer::Memory { initial, max, first_window, asked },
            // Half of the buffer is window; the other half is the kernel's overhead.
            _ => ReceiveBuffer::Autotuned { initial: initial / 2, max: max / 2 },
        };
        Some(())
    }),
    ("tcp_wmem", |config, value| {
        let [_, initial, max] = numbers(value)?;
        config.send_buffer = Some(SendBufferSize { initial, max, ..SEND_BUFFER });
        Some(())
    }),
    // `fq` paces every flow at the rate that Linux derives from the window.
    ("qdisc", |config, value| {
        config.pacing = if value == "fq" { Pacing::Window { slow_start: 2.0, avoidance: 1.2 } } else { Pacing::Control };
        Some(())
    }),
    ("tcp_rto_min_us", |config, value| {
        config.rto.min = Duration::from_nanos(number(value)? * 1000);
        Some(())
    }),
    ("tcp_rto_max_ms", |config, value| {
        config.rto.max = Duration::from_millis(number(value)?);
        Some(())
    }),
];

/// Parameters that change nothing of what `modern` does if they have one of these values; empty: any.
const WITHOUT_EFFECT: &[(&str, &[&str])] = &[
    ("core.rmem_max", &[]),
    ("core.wmem_max", &[]),
    ("ip_no_pmtu_disc", &[]),
    ("tcp_adv_win_scale", &["1"]),
    ("tcp_app_win", &["31"]),
    ("tcp_autocorking", &[]),
    ("tcp_base_mss", &[]),
    ("tcp_comp_sack_delay_ns", &[]),
    ("tcp_comp_sack_nr", &[]),
    ("tcp_comp_sack_slack_ns", &[]),
    ("tcp_dsack", &["1"]),
    ("tcp_fack", &[]),
    ("tcp_limit_output_bytes", &[]),
    ("tcp_linear_timeouts", &["0"]),
    ("tcp_max_reordering", &["300"]),
    ("tcp_min_rtt_wlen", &["300"]),
    ("tcp_moderate_rcvbuf", &["1"]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_pacing_ca_ratio", &[]),
    ("tcp_pacing_ss_ratio", &[]),
    ("tcp_reordering", &["3"]),
    // Linux 6.18 uses RACK with any value.
    ("tcp_recovery", &[]),
    ("tcp_retries1", &[]),
    ("tcp_retries2", &[]),
    ("tcp_syn_linear_timeouts", &["4"]),
    ("tcp_synack_retries", &[]),
];

/// What limits the sender of a socket, beside its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Send {
    /// Bytes that may wait to be sent; `None`: as many as the buffer holds (`tcp_notsent_lowat`).
    pub(super) lowat: Option<u64>,
    /// Retransmissions of a SYN (`tcp_syn_retries`).
    pub(super) syn_retries: u32,
}

impl Default for Send {
    /// Linux's.
    fn default() -> Self {
        Self { lowat: None, syn_retries: 6 }
    }
}

impl Send {
    /// Applies the parameter `name`; `None`: it is another one.
    pub(super) fn configure(&mut self, name: &str, value: &str) -> Option<Answer<()>> {
        let valid = match name {
            "tcp_notsent_lowat" => {
                let digits = value.trim().strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16).ok());
                let bytes = if value.trim() == "-1" { Some(u64::from(u32::MAX)) } else { digits.unwrap_or_else(|| number(value)) };
                bytes.map(|bytes| self.lowat = Some(bytes).filter(|bytes| *bytes < u64::from(u32::MAX)))
            }
            "tcp_syn_retries" => number(value).and_then(|count| u32::try_from(count).ok()).map(|count| self.syn_retries = count),
            _ => return None,
        };
        Some(valid.ok_or(Refusal::Error(Errno::EINVAL)))
    }
}

/// The use of ECN that `tcp_ecn` sets.
pub(super) fn ecn(value: &str) -> Answer<Ecn> {
    use Feedback::{Accurate, Classic};
    // As in Linux 6.18: first what a connection from here offers, then what one to here accepts.
    let (offers, accepts) = match number(value) {
        Some(0) => (None, None),
        Some(1) => (Some(Classic), Some(Classic)),
        Some(2) => (None, Some(Classic)),
        Some(3) => (Some(Accurate), Some(Accurate)),
        Some(4) => (Some(Classic), Some(Accurate)),
        Some(5) => (None, Some(Accurate)),
        _ => return Err(Errno::EINVAL.into()),
    };
    Ok(Ecn { offers, accepts })
}

/// Applies the parameter `name` to the settings.
pub(super) fn apply(config: &mut Config, name: &str, value: &str) -> Answer<()> {
    if let Some((_, apply)) = PARAMETERS.iter().find(|(known, _)| *known == name) {
        return apply(config, value).ok_or(Refusal::Error(Errno::EINVAL));
    }
    match WITHOUT_EFFECT.iter().find(|(known, _)| *known == name) {
        Some((_, values)) if values.is_empty() || values.contains(&value.trim()) => Ok(()),
        Some(_) => Err(Refusal::Unsupported(format!("{name} = {value} is not modelled"))),
        None => {
            let known = PARAMETERS.iter().map(|(known, _)| *known).chain(WITHOUT_EFFECT.iter().map(|(known, _)| *known));
            Err(Refusal::Unsupported(format!("the kernel parameter {name} is not modelled{}", suggestion(name, known))))
        }
    }
}

fn number(value: &str) -> Option<u64> {
    value.trim().parse().ok()
}

fn numbers<const N: usize>(value: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = value.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

fn flag(value: &str, setting: &mut bool) -> Option<()> {
    *setting = number(value)? != 0;
    Some(())
}
