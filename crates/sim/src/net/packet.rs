//! What travels through the network.

use std::num::NonZeroU32;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Instant};

/// Bytes of TCP and IP headers in every packet; an ACK is nothing else (ns-2: `tcpip_base_hdr_size_`).
pub(crate) const HEADER: u16 = 40;
/// Bytes that a SACK block adds to an ACK.
pub(crate) const SACK_BLOCK: u16 = 8;

/// Bits of a packet's tag below its route.
const FLAG_BITS: u32 = 4;
/// The ECN field.
const ECN_MASK: u32 = 0b0011;
/// On data CWR, on ACKs ECE (RFC 3168 §6.1).
const ECHO: u32 = 0b0100;
/// It has crossed its last link.
const ARRIVING: u32 = 0b1000;

/// A packet. Small, because a fast network holds many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// When the segment, or the segment that this acknowledges, was sent.
    pub(crate) sent: Instant,
    /// The route, twice the flow, plus one for an ACK; below it the flags.
    tag: u32,
    /// A segment's number; an ACK's next expected number.
    pub(crate) seq: u32,
    /// Where the SACK blocks of an ACK, or the whole segment of a `modern` host, are kept.
    pub(crate) kept: Option<NonZeroU32>,
    /// Size in bytes with headers.
    size: u16,
    /// How many links it has crossed.
    pub(crate) hop: u16,
}

impl Packet {
    /// A data packet of `flow`.
    pub(crate) const fn data(flow: u32, seq: u32, size: u16, sent: Instant) -> Self {
        Self { sent, tag: (2 * flow) << FLAG_BITS, seq, kept: None, size, hop: 0 }
    }

    /// An ACK of `flow`, with `blocks` SACK blocks kept at `sack`.
    pub(crate) const fn ack(flow: u32, seq: u32, blocks: u16, sack: Option<NonZeroU32>, sent: Instant) -> Self {
        Self { sent, tag: (2 * flow + 1) << FLAG_BITS, seq, kept: sack, size: HEADER + blocks * SACK_BLOCK, hop: 0 }
    }

    /// A packet of `size` bytes of a flow with `modern` hosts, from its receiver if `reverse`, whose segment is kept at `kept`.
    pub(crate) const fn segment((flow, reverse): (u32, bool), seq: u32, size: u16, kept: Option<NonZeroU32>, sent: Instant) -> Self {
        Self { sent, tag: (2 * flow + reverse as u32) << FLAG_BITS, seq, kept, size, hop: 0 }
    }

    /// Index of its route.
    pub(crate) const fn route(&self) -> usize {
        (self.tag >> FLAG_BITS) as usize
    }

    /// Index of its flow.
    pub(crate) const fn flow(&self) -> usize {
        self.route() / 2
    }

    /// Whether it is an ACK.
    pub(crate) const fn is_ack(&self) -> bool {
        self.route() % 2 == 1
    }

    /// Its size with headers.
    pub(crate) const fn size(&self) -> Bytes {
        Bytes(self.size as u64)
    }

    /// Its ECN field.
    pub(crate) const fn ecn(&self) -> Ecn {
        match self.tag & ECN_MASK {
            0 => Ecn::Incapable,
            1 => Ecn::Capable,
            _ => Ecn::Marked,
        }
    }

    /// Sets its ECN field.
    pub(crate) const fn set_ecn(&mut self, ecn: Ecn) {
        self.tag = self.tag & !ECN_MASK | ecn as u32;
    }

    /// On data whether the window has been reduced (CWR), on an ACK whether a mark is echoed (ECE).
    pub(crate) const fn echo(&self) -> bool {
        self.tag & ECHO != 0
    }

    /// The packet with this CWR or ECE.
    pub(crate) const fn with_echo(mut self, echo: bool) -> Self {
        self.tag = self.tag & !ECHO | if echo { ECHO } else { 0 };
        self
    }

    /// The packet has crossed a link, its last one if it is `arriving`.
    #[must_use]
    pub(crate) const fn across(mut self, arriving: bool) -> Self {
        self.hop += 1;
        self.tag |= arriving as u32 * ARRIVING;
        self
    }

    /// Whether it has crossed its last link.
    pub(crate) const fn is_arriving(&self) -> bool {
        self.tag & ARRIVING != 0
    }
}

/// Keeps what travels with some packets only, so that packets stay small.
#[derive(Debug)]
pub(crate) struct Store<T> {
    /// The value of handle n is in slot n − 1.
    slots: Vec<T>,
    free: Vec<NonZeroU32>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Store<T> {
    /// Keeps a value; gives its handle.
    pub(crate) fn keep(&mut self, value: T) -> Option<NonZeroU32> {
        if let Some(handle) = self.free.pop() {
            self.slots[handle.get() as usize - 1] = value;
            return Some(handle);
        }
        self.slots.push(value);
        NonZeroU32::new(self.slots.len() as u32)
    }

    /// The value of a packet.
    pub(crate) fn get(&self, handle: Option<NonZeroU32>) -> Option<&T> {
        self.slots.get(handle?.get() as usize - 1)
    }

    /// Gives the value of a packet back and frees its slot.
    pub(crate) fn take(&mut self, handle: Option<NonZeroU32>) -> Option<T> {
        let handle = handle?;
        self.free.push(handle);
        Some(self.slots[handle.get() as usize - 1])
    }
}
