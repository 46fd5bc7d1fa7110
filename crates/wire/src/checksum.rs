//! The checksum of IP, TCP and UDP: the complement of the one's complement sum of 16-bit words.
//!
//! ## References
//! RFC 1071 §1 (sum); RFC 9293 §3.1 and RFC 8200 §8.1 (pseudo headers of IPv4 and IPv6).

/// Sum of the 16-bit words of `bytes`; a last odd byte is the upper half of a word.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]))).sum()
}

/// The checksum of a sum.
pub(crate) const fn checksum(mut sum: u32) -> u16 {
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

/// The checksum of a segment or datagram with its pseudo header: `addresses`, the protocol and the length. `begin` is its beginning; the
/// rest of the `length` bytes is zero. The result is zero if `begin` contains the right checksum.
pub(crate) fn transport(addresses: &[u8], protocol: u8, length: u32, begin: &[u8]) -> u16 {
    checksum(sum(addresses) + u32::from(protocol) + (length >> 16) + (length & 0xFFFF) + sum(begin))
}
