//! Kernel parameters as settings of the host; names as in [`crate::settings`].

use ackclock_core::units::Duration;
use ackclock_tcp::modern::{Config, Pacing, ReceiveBuffer, Recovery};

use crate::errno::Errno;
use crate::error::suggestion;
use crate::stack::{Answer, Refusal};

/// A parameter's effect on the settings; `None`: the value is not valid.
type Apply = fn(&mut Config, &str) -> Option<Effect>;

/// What a parameter changes.
enum Effect {
    /// Done.
    Applied,
    /// The parameter has this effect only, and this value is not modelled.
    NotModelled(&'static str),
}

/// The prefixes of parameters that the congestion control reads when a connection begins.
pub(super) const OF_CONTROL: [&str; 3] = ["tcp_congestion_control", "tcp_cubic.", "route.initcwnd"];

/// The parameters that settings of `modern` express.
const PARAMETERS: &[(&str, Apply)] = &[
    ("tcp_timestamps", |config, value| flag(value, &mut config.timestamps)),
    ("tcp_window_scaling", |config, value| flag(value, &mut config.window_scaling)),
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
    ("tcp_recovery", |config, value| {
        let rack = number(value)? & 1 != 0;
        if config.recovery != Recovery::NewReno {
            config.recovery = if rack { Recovery::Rack } else { Recovery::Sack };
        }
        Some(Effect::Applied)
    }),
    // 3 and 4 enable tail loss probes; 1 and 2 are early retransmit, which RACK replaced.
    ("tcp_early_retrans", |config, value| {
        config.tlp = number(value)? >= 3;
        Some(Effect::Applied)
    }),
    // 1 offers ECN, 2 accepts it, 0 does neither.
    ("tcp_ecn", |config, value| match number(value)? {
        0 | 2 => {
            config.ecn = false;
            Some(Effect::Applied)
        }
        1 => {
            config.ecn = true;
            Some(Effect::Applied)
        }
        _ => Some(Effect::NotModelled("AccECN is not modelled")),
    }),
    ("tcp_rmem", |config, value| {
        let [_, initial, max] = numbers(value)?;
        config.buffer = match config.buffer {
            ReceiveBuffer::Memory { first_window, .. } => ReceiveBuffer::Memory { initial, max, first_window },
            // Half of the buffer is window; the other half is the kernel's overhead.
            _ => ReceiveBuffer::Autotuned { initial: initial / 2, max: max / 2 },
        };
        Some(Effect::Applied)
    }),
    // `fq` paces every flow at the rate that Linux derives from the window.
    ("qdisc", |config, value| {
        config.pacing = if value == "fq" { Pacing::Window { slow_start: 2.0, avoidance: 1.2 } } else { Pacing::Control };
        Some(Effect::Applied)
    }),
    ("tcp_min_tso_segs", |config, value| {
        let segments = number(value)? as u32;
        if let Some(offload) = &mut config.offload {
            offload.min_segments = segments;
        }
        Some(Effect::Applied)
    }),
    ("tcp_tso_win_divisor", |config, value| {
        let divisor = number(value)? as u32;
        if let Some(offload) = &mut config.offload {
            offload.window_divisor = divisor;
        }
        Some(Effect::Applied)
    }),
    ("tcp_rto_min_us", |config, value| {
        config.rto.min = Duration::from_nanos(number(value)? * 1000);
        Some(Effect::Applied)
    }),
    ("tcp_rto_max_ms", |config, value| {
        config.rto.max = Duration::from_millis(number(value)?);
        Some(Effect::Applied)
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
    ("tcp_ecn_fallback", &[]),
    ("tcp_ecn_option", &[]),
    ("tcp_fack", &[]),
    ("tcp_limit_output_bytes", &[]),
    ("tcp_linear_timeouts", &["0"]),
    ("tcp_max_reordering", &["300"]),
    ("tcp_min_rtt_wlen", &["300"]),
    ("tcp_moderate_rcvbuf", &["1"]),
    ("tcp_mtu_probing", &["0"]),
    ("tcp_notsent_lowat", &["4294967295", "-1", "0xffffffff"]),
    ("tcp_pacing_ca_ratio", &[]),
    ("tcp_pacing_ss_ratio", &[]),
    ("tcp_reordering", &["3"]),
    ("tcp_retries1", &[]),
    ("tcp_retries2", &[]),
    ("tcp_syn_linear_timeouts", &["4"]),
    ("tcp_syn_retries", &[]),
    ("tcp_synack_retries", &[]),
    ("tcp_wmem", &[]),
];

/// Applies the parameter `name` to the settings.
pub(super) fn apply(config: &mut Config, name: &str, value: &str) -> Answer<()> {
    if let Some((_, apply)) = PARAMETERS.iter().find(|(known, _)| *known == name) {
        return match apply(config, value) {
            Some(Effect::Applied) => Ok(()),
            Some(Effect::NotModelled(why)) => Err(Refusal::Unsupported(format!("{name} = {value}: {why}"))),
            None => Err(Errno::EINVAL.into()),
        };
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

fn flag(value: &str, setting: &mut bool) -> Option<Effect> {
    *setting = number(value)? != 0;
    Some(Effect::Applied)
}
