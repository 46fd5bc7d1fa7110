//! What travels through the network.

use std::num::NonZeroU32;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Instant};
use ackclock_tcp::modern::segment::Segment;
use ackclock_tcp::{Datagram, Side, ns2};

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
    /// Where [`Kept`] has what the profile put into it.
    pub(crate) kept: Option<NonZeroU32>,
    /// Size in bytes with headers.
    size: u16,
    /// How many links it has crossed.
    pub(crate) hop: u16,
}

impl Packet {
    /// The packet that one end of `flow` sends; what the profile adds to it is kept in `kept`.
    pub(crate) fn new<P: Payload>((flow, from): (u32, Side), datagram: Datagram<P>, kept: &mut Kept) -> Self {
        let Datagram { number: seq, size, sent, ecn, echo, payload } = datagram;
        let tag = (2 * flow + from as u32) << FLAG_BITS | ecn as u32 | if echo { ECHO } else { 0 };
        Self { sent, tag, seq, kept: payload.and_then(|payload| P::store(kept).keep(payload)), size, hop: 0 }
    }

    /// Index of its route.
    pub(crate) const fn route(&self) -> usize {
        (self.tag >> FLAG_BITS) as usize
    }

    /// Index of its flow.
    pub(crate) const fn flow(&self) -> usize {
        self.route() / 2
    }

    /// The end that sent it.
    pub(crate) const fn from(&self) -> Side {
        if self.route().is_multiple_of(2) { Side::Sender } else { Side::Receiver }
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
}

/// What profiles put into packets, while these travel.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// SACK blocks of `ns2` hosts.
    pub(crate) blocks: Store<ns2::SackBlocks>,
    /// Segments of `modern` hosts.
    pub(crate) segments: Store<Segment>,
    /// Nothing: datagrams.
    nothing: Store<()>,
    /// Bytes of any other profile.
    bytes: Store<Vec<u8>>,
}

/// What a profile puts into packets.
pub(crate) trait Payload: Sized {
    /// Where it is kept.
    fn store(kept: &mut Kept) -> &mut Store<Self>;
    /// Takes it out of its slot, which may be left as it is.
    fn take(slot: &mut Self) -> Self;
}

impl Payload for ns2::SackBlocks {
    fn store(kept: &mut Kept) -> &mut Store<Self> {
        &mut kept.blocks
    }
    fn take(slot: &mut Self) -> Self {
        *slot
    }
}

impl Payload for Segment {
    fn store(kept: &mut Kept) -> &mut Store<Self> {
        &mut kept.segments
    }
    fn take(slot: &mut Self) -> Self {
        *slot
    }
}

impl Payload for () {
    fn store(kept: &mut Kept) -> &mut Store<Self> {
        &mut kept.nothing
    }
    fn take(_slot: &mut Self) -> Self {}
}

impl Payload for Vec<u8> {
    fn store(kept: &mut Kept) -> &mut Store<Self> {
        &mut kept.bytes
    }
    fn take(slot: &mut Self) -> Self {
        std::mem::take(slot)
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

impl<T: Payload> Store<T> {
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
        Some(T::take(&mut self.slots[handle.get() as usize - 1]))
    }
}
