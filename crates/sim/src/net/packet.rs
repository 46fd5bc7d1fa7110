//! Packets, and the store of their payloads.

use std::num::NonZeroU32;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::{Bytes, Instant};
use ackclock_host::{Datagram, Side};
use ackclock_tcp::ns2;
use ackclock_wire::segment::Segment;

/// Bits of a packet's tag below its route.
const FLAG_BITS: u32 = 4;
/// The ECN field.
const ECN_MASK: u32 = 0b0011;
/// CWR on data, ECE on ACKs (RFC 3168 §6.1).
const ECHO: u32 = 0b0100;
/// The packet has crossed its last link.
const ARRIVING: u32 = 0b1000;

/// A packet. It is small, because a fast network holds many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Send time of the segment, or of the segment that this ACK acknowledges.
    pub(crate) sent: Instant,
    /// The route in the upper bits (twice the flow, plus one for an ACK), the flags below it.
    tag: u32,
    /// A segment's number; an ACK's next expected number.
    pub(crate) seq: u32,
    /// Handle of the profile's payload in [`Payloads`].
    pub(crate) payload: Option<NonZeroU32>,
    /// Size in bytes with headers.
    size: u16,
    /// Number of links crossed.
    pub(crate) hop: u16,
}

impl Packet {
    /// The packet that one end of `flow` sends. The profile's payload is stored in `payloads`.
    pub(crate) fn new<P: Payload>((flow, from): (u32, Side), datagram: Datagram<P>, payloads: &mut Payloads) -> Self {
        let Datagram { number: seq, size, sent, ecn, echo, payload } = datagram;
        let tag = (2 * flow + from as u32) << FLAG_BITS | ecn as u32 | if echo { ECHO } else { 0 };
        Self { sent, tag, seq, payload: payload.and_then(|payload| P::store(payloads).insert(payload)), size, hop: 0 }
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

    /// The packet after it has crossed a link; `arriving` marks its last link.
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
        Ecn::of(self.tag as u8)
    }

    /// Sets its ECN field.
    pub(crate) const fn set_ecn(&mut self, ecn: Ecn) {
        self.tag = self.tag & !ECN_MASK | ecn as u32;
    }

    /// On data: whether the window has been reduced (CWR). On an ACK: whether a mark is echoed (ECE).
    pub(crate) const fn echo(&self) -> bool {
        self.tag & ECHO != 0
    }
}

/// Payloads of the packets in flight, by profile.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    /// Options of the ACKs of `ns2` hosts.
    pub(crate) ack_options: Store<ns2::AckOptions>,
    /// Segments of `modern` hosts.
    pub(crate) segments: Store<Segment>,
    /// Bytes of other profiles.
    pub(crate) bytes: Store<Vec<u8>>,
}

impl Payloads {
    /// Number of packets with a payload.
    pub(crate) fn len(&self) -> usize {
        self.ack_options.len() + self.segments.len() + self.bytes.len()
    }
}

/// The payload that a profile adds to packets.
pub(crate) trait Payload: Clone {
    /// Its store.
    fn store(payloads: &mut Payloads) -> &mut Store<Self>;
    /// Moves the payload out of its slot. The slot can keep any value.
    fn take(slot: &mut Self) -> Self;
}

impl Payload for ns2::AckOptions {
    fn store(payloads: &mut Payloads) -> &mut Store<Self> {
        &mut payloads.ack_options
    }
    fn take(slot: &mut Self) -> Self {
        *slot
    }
}

impl Payload for Segment {
    fn store(payloads: &mut Payloads) -> &mut Store<Self> {
        &mut payloads.segments
    }
    fn take(slot: &mut Self) -> Self {
        *slot
    }
}

impl Payload for Vec<u8> {
    fn store(payloads: &mut Payloads) -> &mut Store<Self> {
        &mut payloads.bytes
    }
    fn take(slot: &mut Self) -> Self {
        std::mem::take(slot)
    }
}

/// A store of payloads that only some packets have, so that packets stay small.
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
    /// Stores a value and returns its handle.
    pub(crate) fn insert(&mut self, value: T) -> Option<NonZeroU32> {
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

    /// Stores a copy of a packet's value and returns its handle.
    pub(crate) fn copy(&mut self, handle: Option<NonZeroU32>) -> Option<NonZeroU32> {
        let value = self.get(handle)?.clone();
        self.insert(value)
    }

    /// Number of stored values.
    fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns a packet's value and frees its slot.
    pub(crate) fn remove(&mut self, handle: Option<NonZeroU32>) -> Option<T> {
        let handle = handle?;
        self.free.push(handle);
        Some(T::take(&mut self.slots[handle.get() as usize - 1]))
    }
}
