//! Conversion of packets of `ns2` hosts to segments.
//!
//! The `ns2` host counts packets and sends in one direction, so its headers are synthetic. They follow the conventions that readers of
//! captures understand:
//!
//! - Packet n has the sequence number 1 + (n − 1) × payload; both ends begin at 0.
//! - Packet 0 is the SYN, and the ACK of a SYN is a SYN as well.

use ackclock_tcp::HEADER;
use ackclock_tcp::ns2::{Config as Ns2Host, SackBlocks};
use ackclock_wire::segment::{Flags, Options, SackBlocks as WireBlocks, Segment};

use crate::net::packet::Packet;

/// Largest shift of the window (RFC 7323 §2.3).
const LARGEST_SHIFT: u8 = 14;

/// Converts packets of an `ns2` host to segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ns2Wire {
    /// Bytes of data in a packet.
    payload: u32,
    sack: bool,
    /// Receiver's window in bytes.
    window: u64,
    /// Shift of the window field.
    shift: u8,
}

impl Ns2Wire {
    /// The converter for `host`; `None` if its packets are too small for headers and a byte of data.
    pub(super) fn new(host: &Ns2Host) -> Option<Self> {
        let payload = u32::from(host.wire_size()).checked_sub(u32::from(HEADER)).filter(|bytes| *bytes > 0)?;
        let window = u64::from(host.rwnd) * u64::from(payload);
        let shift = (0..LARGEST_SHIFT).find(|shift| u16::try_from(window >> shift).is_ok()).unwrap_or(LARGEST_SHIFT);
        Some(Self { payload, sack: host.recovery.uses_sack(), window, shift })
    }

    /// The sequence number of packet `number`.
    const fn sequence(&self, number: u32) -> u32 {
        if number == 0 { 0 } else { (number - 1).wrapping_mul(self.payload).wrapping_add(1) }
    }

    fn window_field(&self, shift: u8) -> u16 {
        self.window.div_ceil(1 << shift).min(u64::from(u16::MAX)) as u16
    }

    fn syn_options(&self, shift: u8) -> Options {
        Options {
            mss: Some(self.payload as u16),
            // Window scaling applies only if both ends announce a shift (RFC 7323 §2.2).
            window_scale: (self.shift > 0).then_some(shift),
            sack_permitted: self.sack,
            ..Options::default()
        }
    }

    /// A packet of the sender. Its own window is irrelevant; the field holds the largest value that needs no scaling.
    pub(super) fn data(&self, packet: &Packet) -> Segment {
        let syn = packet.seq == 0;
        let flags = if syn {
            // A SYN that asks for ECN sets both bits (RFC 3168 §6.1.1).
            Flags::SYN.with(Flags::ECE | Flags::CWR, packet.echo())
        } else {
            Flags::ACK.with(Flags::CWR, packet.echo())
        };
        Segment {
            seq: self.sequence(packet.seq),
            ack: u32::from(!syn),
            flags,
            window: u16::MAX,
            options: if syn { self.syn_options(0) } else { Options::default() },
            payload: if syn { 0 } else { self.payload },
            ecn: packet.ecn(),
        }
    }

    /// A packet of the receiver. `syn`: it acknowledges the SYN only.
    pub(super) fn ack(&self, packet: &Packet, sack: &SackBlocks, syn: bool) -> Segment {
        let mut blocks = WireBlocks::default();
        for &(start, end) in sack.as_slice() {
            blocks.push((self.sequence(start), self.sequence(end)));
        }
        let options = if syn { self.syn_options(self.shift) } else { Options { sack: blocks, ..Options::default() } };
        Segment {
            seq: u32::from(!syn),
            ack: self.sequence(packet.seq),
            flags: Flags::ACK.with(Flags::SYN, syn).with(Flags::ECE, packet.echo()),
            // The window of a SYN is never scaled (RFC 7323 §2.2).
            window: self.window_field(if syn { 0 } else { self.shift }),
            options,
            payload: 0,
            ecn: packet.ecn(),
        }
    }
}
