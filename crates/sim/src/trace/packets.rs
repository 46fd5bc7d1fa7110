//! The captured packets as a table.

use std::collections::BTreeMap;

use ackclock_core::units::Instant;
use ackclock_host::Side;
use ackclock_wire::pcapng::Direction;
use ackclock_wire::segment::{Flags, Segment};

use super::capture::Capture;
use crate::columns::table;

/// The flags by their letters in scripts, in the order in which these are written.
const LETTERS: [(Flags, char); 8] = [
    (Flags::SYN, 'S'),
    (Flags::FIN, 'F'),
    (Flags::RST, 'R'),
    (Flags::PSH, 'P'),
    (Flags::AE, 'A'),
    (Flags::CWR, 'W'),
    (Flags::ECE, 'E'),
    (Flags::ACK, '.'),
];

table! {
    /// A captured TCP packet.
    #[derive(Clone, Debug, PartialEq)]
    pub struct CapturedPacket of Capture {
        time_s: Instant [at], "s", "time";
        place: String => |capture, _, packet| capture.place(packet.place).to_owned(), "", "link or host at which it was captured";
        direction: &'static str [direction], "", "`sent` or `received` at a host, `entered` at a link";
        flow: String => |capture, index, _| capture.flow(index).to_owned(), "", "name of the flow";
        from: &'static str [from], "", "end of the flow that sent it: `sender` or `receiver`";
        flags: String [flags], "", "flags as in scripts: `S` SYN, `F` FIN, `R` RST, `P` PSH, `A` AE, `W` CWR, `E` ECE, `.` ACK";
        seq: u32 [seq], "", "sequence number of its first byte relative to the SYN of its sender, modulo 2³²";
        bytes: u32 [bytes], "bytes", "data";
        ack: Option<u32> [ack], "", "next sequence number that it expects, relative to the SYN of the peer; null without ACK";
        window: u64 [window], "bytes", "offered window, scaled as the SYNs agreed";
        sack: Option<String> [sack], "", "SACK blocks as `left:right`, the first one first, relative as `ack`; null without any";
        ts_value: Option<u32> [ts_value], "", "clock of the sender in the timestamps option, as on the wire";
        ts_echo: Option<u32> [ts_echo], "", "echoed clock in the timestamps option";
        ecn: &'static str [ecn], "", "ECN field of the IP header";
        size: u32 [size], "bytes", "size of the packet with all headers";
    } besides {
        /// Index of its place.
        place: u16,
    }
}

/// What the SYN of an end has told, if one was captured.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    initial: Option<u32>,
    scale: Option<u8>,
}

impl Capture {
    /// The captured TCP packets of IPv4 in the order of time, each with the index of its flow.
    pub fn packets(&self) -> Vec<(usize, CapturedPacket)> {
        let mut ends: BTreeMap<(u32, usize), End> = BTreeMap::new();
        let mut found = Vec::new();
        for (seen, segment) in self.segments() {
            let [own, peer] = [seen.from, seen.from.peer()].map(|side| (seen.flow, side.index()));
            let own = {
                let end = ends.entry(own).or_default();
                end.learn(&segment);
                *end
            };
            let peer = ends.get(&peer).copied().unwrap_or_default();
            // Without the SYN of the peer, numbers count from the first acknowledgement.
            let [acknowledged, initial] = [peer.initial.unwrap_or(segment.ack.wrapping_sub(1)), own.initial.unwrap_or(segment.seq)];
            let relative = |number: u32| number.wrapping_sub(acknowledged);
            let scaled = !segment.flags.has(Flags::SYN) && peer.scale.is_some();
            let blocks: Vec<String> =
                segment.options.sack.as_slice().iter().map(|&(left, right)| format!("{}:{}", relative(left), relative(right))).collect();
            let packet = CapturedPacket {
                at: Instant::from_nanos(seen.at),
                direction: match seen.direction {
                    Direction::Outbound => "sent",
                    Direction::Inbound => "received",
                    Direction::Unknown => "entered",
                },
                from: if seen.from == Side::Sender { "sender" } else { "receiver" },
                flags: LETTERS.iter().filter(|(flag, _)| segment.flags.has(*flag)).map(|(_, letter)| letter).collect(),
                seq: segment.seq.wrapping_sub(initial),
                bytes: segment.payload,
                ack: segment.flags.has(Flags::ACK).then(|| relative(segment.ack)),
                window: u64::from(segment.window) << if scaled { own.scale.unwrap_or(0) } else { 0 },
                sack: (!blocks.is_empty()).then(|| blocks.join(" ")),
                ts_value: segment.options.timestamps.map(|stamps| stamps.value),
                ts_echo: segment.options.timestamps.map(|stamps| stamps.echo),
                ecn: segment.ecn.name(),
                size: u32::from(seen.length),
                place: seen.place,
            };
            found.push((seen.flow as usize, packet));
        }
        found
    }
}

impl End {
    fn learn(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            *self = Self { initial: Some(segment.seq), scale: segment.options.window_scale };
        }
        self.initial.get_or_insert(segment.seq);
    }
}
