//! The keys of flows whose hosts are a Linux kernel.

use crate::scenario::keys::{Fallback, Key, Kind, key};

/// The keys of `[flow.kernel]`.
pub(crate) static KERNEL: &[Key] = &[
    key(
        "version",
        Kind::Text,
        Fallback::Absent("the newest kernel that was built"),
        "Version of the kernel, such as \"6.12\": the newest build whose version begins so. All flows on a kernel share one.",
    ),
    key(
        "control",
        Kind::Text,
        Fallback::Absent("what the flow's own keys mean"),
        "Congestion control of the kernel, by the kernel's name for it, such as \"bbr\".",
    ),
    key(
        "sysctl",
        Kind::Names(check_sysctl),
        Fallback::Table,
        "Parameters below net., such as \"net.ipv4.tcp_sack\" = 0. The kernel's flows at a node share them.",
    ),
    key(
        "module",
        Kind::Names(check_module),
        Fallback::Table,
        "Parameters of modules, such as \"tcp_cubic.hystart_detect\" = 2. All flows on a kernel share them.",
    ),
];

/// Checks the name of a parameter below `net.`.
fn check_sysctl(name: &str) -> Result<(), String> {
    let dotted = name.replace('/', ".");
    let dotted = dotted.trim_matches('.');
    let right = match dotted.strip_prefix("proc.sys.").unwrap_or(dotted) {
        name if name.starts_with("net.") => name.to_owned(),
        name if name.starts_with("tcp_") => format!("net.ipv4.{name}"),
        name if ["core.", "ipv4.", "ipv6."].iter().any(|family| name.starts_with(family)) => format!("net.{name}"),
        _ => return Err("must be the name of a parameter below net., such as net.ipv4.tcp_sack".to_owned()),
    };
    if right == name && is_name(name, 3..) {
        Ok(())
    } else {
        Err(format!("must be a name such as net.ipv4.tcp_sack; did you mean {right:?}?"))
    }
}

/// Checks the name of a parameter of a module.
fn check_module(name: &str) -> Result<(), String> {
    if is_name(name, 2..=2) { Ok(()) } else { Err("must be MODULE.PARAMETER, such as tcp_cubic.hystart_detect".to_owned()) }
}

/// Whether a name has so many steps of letters, digits, `_` and `-`.
fn is_name(name: &str, steps: impl std::ops::RangeBounds<usize>) -> bool {
    let is_step = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    name.len() <= 100 && steps.contains(&name.split('.').count()) && name.split('.').all(is_step)
}
