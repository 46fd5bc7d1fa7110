//! Segments on the wire: 32-bit sequence numbers, flags, a 16-bit window, options, and a number of bytes instead of a payload.
//!
//! ## References
//! RFC 9293 §3.1 (header), §3.2 (MSS); RFC 7323 §2 (window scale), §3 (timestamps); RFC 2018 §2, §3 (SACK); RFC 3168 §6.1 (ECE, CWR);
//! RFC 9768 §3.1 and §3.2.3 (AE, option).

use std::ops::BitOr;

use ackclock_core::qdisc::Ecn;

use crate::options::{EcnCounter, TcpOption};

/// Size of the IPv4 and TCP headers without options, in bytes: the size of a plain ACK (ns-2: `tcpip_base_hdr_size_`).
pub const HEADER: u16 = 40;
/// [`HEADER`], for sums.
pub const BASE_HEADER: u32 = HEADER as u32;
/// Largest size of the options in bytes (RFC 9293 §3.1).
pub const MAX_OPTIONS: u32 = 40;
/// Maximum number of SACK blocks if the segment has no other option (RFC 2018 §3).
pub const MAX_SACK_BLOCKS: usize = 4;

/// Control bits of the TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(1 << 1);
    /// Reset the connection.
    pub const RST: Self = Self(1 << 2);
    /// Push: the sender has no more data at present.
    pub const PSH: Self = Self(1 << 3);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(1 << 4);
    /// ECN echo.
    pub const ECE: Self = Self(1 << 6);
    /// Congestion window reduced.
    pub const CWR: Self = Self(1 << 7);
    /// Accurate ECN (RFC 9768 §3.1).
    pub const AE: Self = Self(1 << 8);

    /// The flags AE, CWR and ECE with this value of the ACE field (RFC 9768 §3.2.2).
    pub const fn of_ace(field: u8) -> Self {
        Self((field as u16 & 0b111) << 6)
    }

    /// The ACE field.
    pub const fn ace(self) -> u8 {
        (self.0 >> 6 & 0b111) as u8
    }

    /// The flags without AE, CWR and ECE.
    #[must_use]
    pub const fn without_ace(self) -> Self {
        Self(self.0 & !(0b111 << 6))
    }

    /// The flags with these header bits.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The flags among these header bits that have a name here.
    pub fn known(bits: u16) -> Self {
        let all = [Self::FIN, Self::SYN, Self::RST, Self::PSH, Self::ACK, Self::ECE, Self::CWR, Self::AE];
        all.into_iter().fold(Self::NONE, |flags, flag| flags.with(flag, bits & flag.0 != 0))
    }

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags as header bits; AE is the lowest bit of the byte with the data offset.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// These flags, plus `other` if `condition` holds.
    #[must_use]
    pub const fn with(self, other: Self, condition: bool) -> Self {
        if condition { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// `TSval`: the sender's clock.
    pub value: u32,
    /// `TSecr`: the echoed clock of the peer.
    pub echo: u32,
}

/// SACK blocks `[left, right)` on the wire (RFC 2018 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MAX_SACK_BLOCKS],
    len: u8,
}

impl SackBlocks {
    /// No block.
    pub const EMPTY: Self = Self { blocks: [(0, 0); MAX_SACK_BLOCKS], len: 0 };

    /// The blocks in order.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Removes the last block.
    pub const fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// Appends a block, if the list has room.
    pub fn push(&mut self, block: (u32, u32)) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }
}

/// The AccECN option (RFC 9768 §3.2.3): counters of 24 bits of the bytes that have arrived with each codepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnCounts {
    /// Bytes that have arrived with ECT(0), CE and ECT(1), of which `present` are in the option.
    counts: [u32; 3],
    /// Whether ECT(1) comes first and ECT(0) last (kind 174), instead of the other way round (kind 172).
    ect1_first: bool,
    /// Number of counters in the option.
    present: u8,
}

impl EcnCounts {
    /// The first values of the counters (RFC 9768 §3.2.1).
    pub const FIRST: Self = Self { counts: [1, 0, 1], ect1_first: false, present: 3 };
    /// The bits of a counter.
    pub const MASK: u32 = 0xFF_FFFF;
    /// The option's kinds, with ECT(0) first and with ECT(1) first.
    pub const KINDS: [u8; 2] = [172, 174];

    /// The option of this kind with these counters, at most three. The others have their first values.
    pub fn new(kind: u8, fields: &[u32]) -> Self {
        let ect1_first = kind == Self::KINDS[1];
        let mut counts = Self::FIRST.counts;
        for (index, field) in fields.iter().take(3).enumerate() {
            counts[if ect1_first { 2 - index } else { index }] = field & Self::MASK;
        }
        Self { counts, ect1_first, present: fields.len().min(3) as u8 }
    }

    /// Counts `bytes` that have arrived with `codepoint`.
    pub const fn add(&mut self, codepoint: Ecn, bytes: u32) {
        let index = match codepoint {
            Ecn::NotEct => return,
            Ecn::Ect0 => 0,
            Ecn::Ce => 1,
            Ecn::Ect1 => 2,
        };
        self.counts[index] = (self.counts[index] + bytes) & Self::MASK;
    }

    /// The option for an ACK with `room` bytes: the counters that have changed, and that of marked bytes always.
    #[must_use]
    pub fn fitting(mut self, room: u32) -> Option<Self> {
        let changed = [0, 2].map(|index| self.counts[index] != Self::FIRST.counts[index]);
        self.ect1_first = changed[1] && !changed[0];
        self.present = if changed == [true, true] && room >= 11 { 3 } else { 2 };
        (room >= 8).then_some(self)
    }

    /// The option with ECT(1) first, as many counters as fit `room` bytes, and at least `least`; `None` if these do not fit. `beside_blocks`:
    /// it takes the place of the two no-operations before SACK blocks.
    #[must_use]
    pub fn most_fitting(self, room: u32, least: u8, beside_blocks: bool) -> Option<Self> {
        let saving = if beside_blocks { 2 } else { 0 };
        (least..=3).rev().map(|present| Self { ect1_first: true, present, ..self }).find(|it| {
            let over = it.size() % 4;
            room >= it.size() - over + if over > saving { 4 } else { 0 }
        })
    }

    /// The option's kind.
    pub fn kind(&self) -> u8 {
        Self::KINDS[usize::from(self.ect1_first)]
    }

    /// The counters in the order of the option.
    pub fn fields(&self) -> impl Iterator<Item = u32> {
        let Self { counts: [e0b, ceb, e1b], ect1_first, present } = *self;
        let order = if ect1_first { [e1b, ceb, e0b] } else { [e0b, ceb, e1b] };
        order.into_iter().take(usize::from(present))
    }

    /// The counters in the order of the option, without their first values, each with its codepoint.
    pub fn counted(&self) -> impl Iterator<Item = (Ecn, u32)> {
        let [first, last] = if self.ect1_first { [(Ecn::Ect1, 1), (Ecn::Ect0, 1)] } else { [(Ecn::Ect0, 1), (Ecn::Ect1, 1)] };
        let order = [first, (Ecn::Ce, 0), last];
        order.into_iter().zip(self.fields()).map(|((codepoint, first), field)| (codepoint, field.wrapping_sub(first) & Self::MASK))
    }

    /// The counter of marked bytes, if the option has it.
    pub const fn ce(&self) -> Option<u32> {
        if self.present >= 2 { Some(self.counts[1]) } else { None }
    }

    /// Whether a counter whose first value is 1 is zero, as if the network had cleared it.
    pub fn is_cleared(&self) -> bool {
        let first = if self.ect1_first { 2 } else { 0 };
        self.present >= 1 && self.counts[first] == 0 || self.present == 3 && self.counts[2 - first] == 0
    }

    /// Size of the option in bytes.
    pub const fn size(&self) -> u32 {
        2 + 3 * self.present as u32
    }
}

/// TCP options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, on a SYN (RFC 9293 §3.2).
    pub mss: Option<u16>,
    /// Window scale, on a SYN (RFC 7323 §2.2).
    pub window_scale: Option<u8>,
    /// SACK permitted, on a SYN (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 §3.2).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018 §3), a D-SACK block first (RFC 2883 §4).
    pub sack: SackBlocks,
    /// Bytes that have arrived with each ECN codepoint (RFC 9768 §3.2.3).
    pub ecn: Option<EcnCounts>,
}

impl Options {
    /// The options of a header that a segment has here; others are ignored.
    pub fn of(found: &[TcpOption]) -> Self {
        let mut options = Self::default();
        for option in found {
            match option {
                TcpOption::Mss(mss) => options.mss = Some(*mss),
                TcpOption::WindowScale(shift) => options.window_scale = Some((*shift).min(14)),
                TcpOption::SackPermitted => options.sack_permitted = true,
                TcpOption::Timestamps { value, echo } => options.timestamps = Some(Timestamps { value: *value, echo: *echo }),
                TcpOption::Sack(blocks) => {
                    options.sack = SackBlocks::EMPTY;
                    for block in blocks {
                        options.sack.push(*block);
                    }
                }
                TcpOption::AccurateEcn(counters) => {
                    let kind = EcnCounts::KINDS[usize::from(counters.first().is_some_and(|(counter, _)| *counter == EcnCounter::Ect1))];
                    let fields: Vec<u32> = counters.iter().map(|(_, count)| *count).collect();
                    options.ecn = Some(EcnCounts::new(kind, &fields));
                }
                _ => {}
            }
        }
        options
    }

    /// Size of the options in bytes: timestamps and SACK blocks begin behind two bytes of padding, as hosts write them (RFC 7323 appendix A,
    /// RFC 2018 §3), and the whole is padded to a multiple of four (RFC 9293 §3.1).
    pub fn size(&self) -> u32 {
        let blocks = self.sack.as_slice().len() as u32;
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 3 } else { 0 };
        let permitted = if self.sack_permitted { 2 } else { 0 };
        let timestamps = match self.timestamps {
            // On a SYN, SACK permitted takes the place of the padding.
            Some(_) if self.sack_permitted => 10,
            Some(_) => 12,
            None => 0,
        };
        let sack = if blocks > 0 { 4 + 8 * blocks } else { 0 };
        let ecn = self.ecn.map_or(0, |counts| counts.size());
        (mss + scale + permitted + timestamps + sack + ecn).next_multiple_of(4)
    }
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of SYN or FIN.
    pub seq: u32,
    /// Next expected sequence number, if [`Flags::ACK`] is set.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// Window field, unscaled.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// Bytes of data.
    pub payload: u32,
    /// ECN field of the IP header (RFC 3168 §5).
    pub ecn: Ecn,
}

impl Segment {
    /// The reset that answers a segment with this acknowledgement number (RFC 9293 §3.10.7.1).
    pub fn reset(number: u32) -> Self {
        Self { seq: number, ack: 0, flags: Flags::RST, window: 0, options: Options::default(), payload: 0, ecn: Ecn::NotEct }
    }

    /// Size on the wire in bytes, with IPv4 and TCP headers.
    pub fn wire_size(&self) -> u32 {
        BASE_HEADER + self.options.size() + self.payload
    }

    /// Number of sequence numbers that the segment occupies: data, SYN and FIN (RFC 9293 §3.4, SEG.LEN).
    pub fn len(&self) -> u32 {
        self.payload + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }

    /// Whether the segment occupies no sequence number: a pure ACK or a window probe.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The sequence number on the wire of a stream position; `initial`: sequence number of the SYN.
pub fn to_wire(position: u64, initial: u32) -> u32 {
    initial.wrapping_add(position as u32)
}

/// The position nearest to `near` with the sequence number `wire` (RFC 9293 §3.4); `None`: it lies before the stream.
pub fn to_position(wire: u32, initial: u32, near: u64) -> Option<u64> {
    let difference = wire.wrapping_sub(to_wire(near, initial)).cast_signed();
    near.checked_add_signed(i64::from(difference))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(options: Options, payload: u32) -> Segment {
        Segment { seq: 0, ack: 0, flags: Flags::ACK, window: 0, options, payload, ecn: Ecn::NotEct }
    }

    #[test]
    fn sizes_with_padded_options() {
        let timestamps = Some(Timestamps { value: 1, echo: 0 });
        let mut sack = SackBlocks::default();
        assert_eq!(segment(Options::default(), 1460).wire_size(), 1500);
        assert_eq!(segment(Options { timestamps, ..Options::default() }, 1448).wire_size(), 1500);
        let syn = Options { mss: Some(1460), window_scale: Some(7), sack_permitted: true, timestamps, sack, ecn: None };
        assert_eq!(syn.size(), 20, "4 + 3 + 2 + 10, padded");
        for _ in 0..3 {
            sack.push((1, 2));
        }
        // RFC 2018 §3: with timestamps three blocks fit into the 40 bytes of options.
        assert_eq!(Options { timestamps, sack, ..Options::default() }.size(), 40);
        sack.push((1, 2));
        sack.push((9, 10));
        assert_eq!(sack.as_slice().len(), 4, "no room for a fifth block");
        assert_eq!(Options { sack, ..Options::default() }.size(), 36);
    }

    #[test]
    fn positions_survive_the_wrap_of_sequence_numbers() {
        let initial = u32::MAX - 10;
        for position in [0, 5, 10, 11, 12, 1 << 32, (1 << 33) + 7] {
            let wire = to_wire(position, initial);
            for near in [position, position + 1000, position.saturating_sub(1000), position + (1 << 30)] {
                assert_eq!(to_position(wire, initial, near), Some(position));
            }
        }
        assert_eq!(to_position(initial.wrapping_sub(1), initial, 0), None, "before the SYN");
    }

    #[test]
    fn syn_and_fin_occupy_a_sequence_number() {
        let with = |flags| Segment { flags, ..segment(Options::default(), 10) }.len();
        assert_eq!([Flags::ACK, Flags::SYN, Flags::FIN | Flags::ACK].map(with), [10, 11, 11]);
    }
}
