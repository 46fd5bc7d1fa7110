//! Segments of `modern` as packets, with the options in the order of Linux.

use ackclock_wire::segment::{self, EcnCounts, Segment, Timestamps};

use crate::packet::{Packet, encode_options};
use crate::script::{EcnCounter, Flags, TcpOption};
use crate::stack::Ends;

/// Initial time to live.
const TTL: u8 = 64;
/// The counters of the AccECN option of kind 172 (RFC 9768 §3.2.3).
const ORDER: [EcnCounter; 3] = [EcnCounter::Ect0, EcnCounter::Ce, EcnCounter::Ect1];

/// The packet that carries `segment`; `tos`: the byte of DSCP and ECN field, whose ECN field the segment sets; `further`: options after its
/// own.
pub(super) fn packet(segment: &Segment, ends: Ends, tos: u8, further: &[TcpOption]) -> Packet {
    let encoded = |options: &segment::Options| {
        let list: Vec<TcpOption> = layout(options).into_iter().chain(further.iter().cloned()).collect();
        encode_options(&list).ok()
    };
    // The counters give way to the further options.
    let without = segment::Options { ecn: None, ..segment.options };
    Packet {
        source: ends.local,
        target: ends.remote,
        tos: tos & !3 | segment.ecn as u8,
        ttl: TTL,
        flow_label: 0,
        seq: segment.seq,
        ack: segment.ack,
        flags: segment.flags.bits(),
        reserved: 0,
        window: segment.window,
        urgent: 0,
        // The layout pads to a multiple of four.
        options: encoded(&segment.options).or_else(|| encoded(&without)).unwrap_or_default(),
        payload: vec![0; segment.payload as usize],
    }
}

/// The MSS in the options of a packet.
pub(super) fn mss(packet: &Packet) -> Option<u16> {
    packet.segment().options.mss
}

/// RFC 9293 §3.10.7.1: the reset that answers a packet for which there is no connection.
pub(super) fn refusal(packet: &Packet) -> Option<Packet> {
    if packet.has(Flags::RST) {
        return None;
    }
    let (flags, seq, ack) = if packet.has(Flags::ACK) {
        (Flags::RST, packet.ack, 0)
    } else {
        (Flags::RST | Flags::ACK, 0, packet.seq.wrapping_add(packet.length()))
    };
    Some(Packet {
        source: packet.target,
        target: packet.source,
        tos: 0,
        ttl: TTL,
        flow_label: packet.flow_label,
        seq,
        ack,
        flags,
        reserved: packet.reserved,
        window: 0,
        urgent: 0,
        options: Vec::new(),
        payload: Vec::new(),
    })
}

/// The options in the order in which Linux sends them, each aligned by no-operations before it.
fn layout(options: &segment::Options) -> Vec<TcpOption> {
    let mut list = Vec::new();
    let mut combined = 0;
    let nops = |list: &mut Vec<TcpOption>, count: u32| list.extend(std::iter::repeat_n(TcpOption::Nop, count as usize));
    list.extend(options.mss.map(TcpOption::Mss));
    // SACK-permitted takes the place of the two no-operations before timestamps; without them, it follows the counters.
    let first = options.sack_permitted && options.timestamps.is_some();
    if first {
        list.push(TcpOption::SackPermitted);
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        nops(&mut list, if options.sack_permitted { 0 } else { 2 });
        list.push(TcpOption::Timestamps { value, echo });
    }
    if let Some(counts) = &options.ecn {
        let order = if counts.kind() == EcnCounts::KINDS[0] { ORDER } else { [ORDER[2], ORDER[1], ORDER[0]] };
        list.push(TcpOption::AccurateEcn(order.into_iter().zip(counts.fields()).collect()));
        // Up to two no-operations before SACK blocks have room beside the counters.
        let followed = !options.sack.as_slice().is_empty();
        let over = counts.size() % 4;
        nops(&mut list, if over == 0 || followed && over <= 2 { 0 } else { 4 - over });
        combined = if followed && over <= 2 { over } else { 0 };
    }
    if options.sack_permitted && !first {
        nops(&mut list, 2);
        list.push(TcpOption::SackPermitted);
    }
    if let Some(shift) = options.window_scale {
        nops(&mut list, 1);
        list.push(TcpOption::WindowScale(shift));
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        nops(&mut list, 2 - combined);
        list.push(TcpOption::Sack(blocks.to_vec()));
    }
    list
}
