//! SYN cookies: a listening socket that keeps nothing of a SYN reads the peer's MSS from two bits of the ACK.
//!
//! ## References
//! RFC 4987 §3.6 (cookies with a table of segment sizes). The tables are those of Linux 7.2, checked by its packets.

/// Segment sizes that a cookie can express, in order.
const SIZES_V4: [u16; 4] = [536, 1300, 1440, 1460];
const SIZES_V6: [u16; 4] = [1220, 1420, 1440, 8940];

/// The segment size that a cookie gives for the peer's `mss`.
pub(super) fn segment(v4: bool, mss: u16) -> u16 {
    let sizes = if v4 { SIZES_V4 } else { SIZES_V6 };
    sizes.into_iter().rev().find(|size| *size <= mss).unwrap_or(sizes[0])
}
