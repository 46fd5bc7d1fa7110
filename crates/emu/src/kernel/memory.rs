//! The memory of all TCP sockets of the machine. Near its limit the kernel closes the receive windows of every connection.

use std::fs;

/// Why a run does not count: the machine's TCP lacks memory. `None` if it does not, or if this cannot be read.
pub(crate) fn pressure() -> Option<String> {
    let used = pages_used(&fs::read_to_string("/proc/net/sockstat").ok()?)?;
    // The three limits: below the first the kernel does nothing, above the second it saves memory until it is below the first again.
    let limits = fs::read_to_string("/proc/sys/net/ipv4/tcp_mem").ok()?;
    let low = limits.split_whitespace().next()?.parse().ok()?;
    reason(used, low)
}

fn reason(used: u64, low: u64) -> Option<String> {
    let text = || {
        format!(
            "the sockets of this machine use {used} pages of memory, more than the {low} up to which the kernel leaves windows alone \
             (net.ipv4.tcp_mem); wait until other connections have ended"
        )
    };
    (used > low).then(text)
}

/// Pages in the line of TCP.
fn pages_used(statistics: &str) -> Option<u64> {
    let line = statistics.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    line.split_once(" mem ")?.1.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_those_of_tcp() {
        let text = "sockets: used 16\nTCP: inuse 1 orphan 106 tw 0 alloc 109 mem 412267\nUDP: inuse 0 mem 7\n";
        assert_eq!(pages_used(text), Some(412_267));
        assert_eq!(pages_used("UDP: inuse 0 mem 7\n"), None);
    }

    #[test]
    fn only_much_memory_is_a_reason() {
        assert_eq!(reason(287_901, 287_901), None);
        assert!(reason(287_902, 287_901).unwrap().contains("287902 pages"));
    }
}
