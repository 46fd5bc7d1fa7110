//! Estimate of the memory that a scenario needs. It is made before anything is built, because the system kills a program that runs out of
//! memory, without a message.

use std::fs;

/// Memory of a link in a run, in bytes. Like the others: measured on dumbbells with 100,000 pairs (64-bit Linux) and rounded up.
pub(crate) const LINK: u64 = 1_500;
/// Memory of a checked table of flows, in bytes.
pub(crate) const TABLE: u64 = 12_000;
/// Needs below this number of bytes are not checked.
const SMALL: u64 = 256_000_000;

/// The message if `bytes` exceed the free memory; `None` if they fit, or if the system does not report free memory.
pub(crate) fn lacking(bytes: u64) -> Option<String> {
    let free = (bytes >= SMALL).then(free).flatten()?;
    (bytes > free).then(|| lack(bytes, free))
}

fn lack(bytes: u64, free: u64) -> String {
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    format!("needs about {} of memory, but {} are free", gigabytes(bytes), gigabytes(free))
}

/// Bytes that this process can still allocate, given the machine, its control group, and its limit on address space (Linux only).
fn free() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let machine = kilobytes(&read("/proc/meminfo"), "MemAvailable:");
    let group = read("/sys/fs/cgroup/memory.max").trim().parse().ok();
    let taken = kilobytes(&read("/proc/self/status"), "VmSize:").unwrap_or(0);
    let limit = address_space(&read("/proc/self/limits")).map(|limit| limit.saturating_sub(taken));
    [machine, group, limit].into_iter().flatten().min()
}

/// The value of a line such as `MemAvailable:   1024 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|number| number.saturating_mul(1024))
}

/// The soft limit on address space in `/proc/self/limits`, in bytes; `None` if there is none.
fn address_space(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("Max address space"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_is_read() {
        assert_eq!(kilobytes("MemTotal:  9 kB\nMemAvailable:   24000 kB\n", "MemAvailable:"), Some(24_576_000));
        assert_eq!(kilobytes("MemTotal:  9 kB\n", "MemAvailable:"), None);
        let limits =
            |soft: &str| format!("Limit   Soft Limit  Hard Limit  Units\nMax address space         {soft}     unlimited    bytes\n");
        assert_eq!(address_space(&limits("8192000000")), Some(8_192_000_000));
        assert_eq!(address_space(&limits("unlimited")), None);
        assert_eq!(address_space(""), None);
    }

    #[test]
    fn a_small_need_always_fits_and_an_absurd_one_never() {
        assert_eq!(lacking(SMALL - 1), None);
        assert_eq!(lack(10_400_000_000, 7_460_000_000), "needs about 10.4 GB of memory, but 7.5 GB are free");
        assert_eq!(lacking(u64::MAX).is_some(), free().is_some());
    }
}
