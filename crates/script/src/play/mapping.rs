//! Between the numbers of a script and those on the wire.
//!
//! As in packetdrill, numbers in a packet with SYN are absolute, and others count from the SYN of their side, which has number 0. On the
//! wire, the script's own side has the numbers of its SYN, and the stack's side those that it chose. An injected echo of a timestamp that
//! the script has expected becomes the timestamp that the stack has sent instead.

use std::net::SocketAddr;

use ackclock_wire::icmp::{self, Message};

use crate::network::Network;
use crate::packet::{Packet, decode_options, encode_options};
use crate::script::{self, Direction, Echo, Flags, Icmp, Options, Payload, Tcp, TcpOption};
use crate::stack::Ends;

/// Default time to live of injected packets.
const TTL: u8 = 255;

/// A connection as the script and the wire name it.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Its ends on the wire.
    ends: Ends,
    /// The ports by which the script names it, the stack's first.
    ports: Option<(u16, u16)>,
    /// Initial sequence number that the stack chose.
    local: Option<u32>,
    /// What the script calls it: the number of the SYN that it expects.
    named: u32,
    /// Initial sequence number of the script's side.
    remote: Option<u32>,
    /// Timestamps of the stack: in the script, on the wire.
    stamps: Vec<(u32, u32)>,
    /// Window scales that the stack and the script have offered.
    scales: (Option<u8>, Option<u8>),
    /// Latest windows in bytes that the stack and the script have advertised.
    windows: (u32, u32),
}

impl Connection {
    fn new(ends: Ends, ports: Option<(u16, u16)>) -> Self {
        Self { ends, ports, local: None, named: 0, remote: None, stamps: Vec::new(), scales: (None, None), windows: (0, 0) }
    }

    /// What to add to the script's numbers of the stack's side, in a packet with `syn` or without.
    fn local_offset(&self, syn: bool) -> u32 {
        self.local.unwrap_or(0).wrapping_sub(if syn { self.named } else { 0 })
    }

    /// What to add to the script's numbers of its own side.
    fn remote_offset(&self, syn: bool) -> u32 {
        if syn { 0 } else { self.remote.unwrap_or(0) }
    }

    /// The window in bytes of the field in a packet of one side.
    fn note_window(&mut self, packet: &Packet, from_stack: bool) {
        let (own, other) = if from_stack { (self.scales.0, self.scales.1) } else { (self.scales.1, self.scales.0) };
        let shift = if packet.has(Flags::SYN) { 0 } else { own.filter(|_| other.is_some()).unwrap_or(0) };
        let bytes = u32::from(packet.window) << shift.min(14);
        if packet.has(Flags::RST) {
            return;
        }
        *(if from_stack { &mut self.windows.0 } else { &mut self.windows.1 }) = bytes;
    }

    fn note_scale(&mut self, options: &[TcpOption], from_stack: bool) {
        let scale = options.iter().find_map(|option| if let TcpOption::WindowScale(shift) = option { Some(*shift) } else { None });
        *(if from_stack { &mut self.scales.0 } else { &mut self.scales.1 }) = scale;
    }

    /// Latest windows in bytes: that of the stack, and that of the script.
    pub(crate) const fn windows(&self) -> (u32, u32) {
        self.windows
    }
}

/// The connections of a script.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    network: Network,
    /// Whether an echo of a timestamp that the stack never sent is moved too.
    scaled_echo: bool,
    connections: Vec<Connection>,
    /// The connection under test, which packets without ports belong to: that of the latest line, or that which the stack has opened since.
    current: Option<usize>,
    /// Whether the next SYN that the script injects opens a connection, since the stack listens anew.
    listens: bool,
    /// Whether the next connection of the stack that is new is under test, and none before.
    connects: bool,
    /// The port from which the script opens its next connection.
    next_port: u16,
}

impl Mapping {
    /// Without connections.
    pub(crate) const fn new(network: Network, scaled_echo: bool) -> Self {
        Self {
            network,
            scaled_echo,
            connections: Vec::new(),
            current: None,
            listens: false,
            connects: false,
            next_port: network.client_port,
        }
    }

    /// The stack listens.
    pub(crate) const fn listen(&mut self) {
        self.listens = true;
    }

    /// The stack opens a connection, which is under test from its SYN on.
    pub(crate) const fn connect(&mut self) {
        (self.current, self.connects) = (None, true);
    }

    /// The connection under test.
    pub(crate) fn current(&self) -> Option<&Connection> {
        self.connections.get(self.current?)
    }

    /// The packet to inject for a line of the script.
    pub(crate) fn inject(&mut self, line: &script::Packet, tcp: &Tcp) -> Result<Packet, String> {
        let index = self.find_for(tcp);
        (self.current, self.connects) = (Some(index), false);
        let connection = &mut self.connections[index];
        let list = match &tcp.options {
            Options::Listed(list) => list.as_slice(),
            Options::Any => return Err("an injected packet needs its options: <...> is for expected packets".to_owned()),
        };
        let syn = tcp.flags.bits & Flags::SYN != 0;
        if syn {
            connection.note_scale(list, false);
            connection.remote.get_or_insert(tcp.start);
        }
        let offset = connection.local_offset(syn);
        // The first echo tells how far the clocks are apart.
        let apart = connection.stamps.first().filter(|_| self.scaled_echo).map_or(0, |(script, live)| live.wrapping_sub(*script));
        let options: Vec<TcpOption> = list
            .iter()
            .map(|option| match option {
                TcpOption::Sack(blocks) => {
                    TcpOption::Sack(blocks.iter().map(|(left, right)| (left.wrapping_add(offset), right.wrapping_add(offset))).collect())
                }
                TcpOption::Timestamps { value, echo } => {
                    let live = connection.stamps.iter().rev().find(|(script, _)| script == echo);
                    TcpOption::Timestamps { value: *value, echo: live.map_or(echo.wrapping_add(apart), |(_, live)| *live) }
                }
                other => other.clone(),
            })
            .collect();
        let ace = tcp.flags.ace.map_or(0, ace_bits);
        let ends = connection.ends;
        let packet = Packet {
            source: ends.remote,
            target: ends.local,
            tos: line.ip.tos.unwrap_or(0) & !3 | ecn_bits(line.ip.ecn).unwrap_or(line.ip.tos.unwrap_or(0) & 3),
            ttl: line.ip.ttl.unwrap_or(TTL),
            flow_label: line.ip.flow_label.unwrap_or(0),
            seq: tcp.start.wrapping_add(connection.remote_offset(syn)),
            ack: tcp.ack.map_or(0, |ack| ack.wrapping_add(offset)),
            flags: tcp.flags.bits | ace,
            reserved: 0,
            window: tcp.window.unwrap_or(0),
            urgent: tcp.urgent.unwrap_or(0),
            options: encode_options(&options)?,
            payload: vec![0; tcp.length as usize],
        };
        connection.note_window(&packet, false);
        Ok(packet)
    }

    /// The message of ICMP that answers a segment of the connection under test.
    pub(crate) fn answer(&self, icmp: &Icmp) -> Result<Message, String> {
        let connection = self.current().ok_or("an ICMP message needs a connection that it is about")?;
        let (source, target) = (connection.ends.local, connection.ends.remote);
        let found = icmp::find(source.is_ipv4(), &icmp.kind, icmp.code.as_deref());
        let code = icmp.code.as_deref().unwrap_or_default();
        let (kind, code) = found.ok_or_else(|| format!("the ICMP message {} {code} is unknown", icmp.kind))?;
        let (start, length) = match icmp.echo {
            None => (0, 0),
            Some(Echo::Tcp { start, length, .. }) => (start, length),
            Some(Echo::Udp { .. }) => return Err("UDP packets are not supported".to_owned()),
        };
        let seq = start.wrapping_add(connection.local_offset(false));
        let length = u16::try_from(length + 20).map_err(|_| "the segment that an ICMP message quotes is too long".to_owned())?;
        Ok(Message { kind, code, mtu: icmp.mtu.unwrap_or(0), source, target, seq, length })
    }

    /// The connection that an injected packet belongs to; a new one, if there is none.
    fn find_for(&mut self, tcp: &Tcp) -> usize {
        // The script writes source and destination; the stack is the destination.
        let ports = tcp.ports.map(|(remote, local)| (local, remote));
        let fresh = tcp.flags.bits & (Flags::SYN | Flags::ACK) == Flags::SYN;
        let opens = fresh && std::mem::take(&mut self.listens);
        let known = match ports {
            None if opens => None,
            Some(ports) => {
                let matches = |it: &Connection| it.ports == Some(ports) || (it.ends.local.port(), it.ends.remote.port()) == ports;
                self.connections.iter().rposition(matches)
            }
            None => self.current,
        };
        // A SYN may repeat one, or open the connection from both ends; without ports it belongs to the only connection.
        if let Some(known) = known {
            if opens {
                self.connections[known].remote = None;
            }
            return known;
        }
        let (local, remote) = ports.unwrap_or((self.network.local_port, self.next_port));
        self.next_port = self.next_port.wrapping_add(u16::from(ports.is_none()));
        let ends = Ends { local: SocketAddr::new(self.network.local, local), remote: SocketAddr::new(self.network.remote, remote) };
        self.add(ends, ports)
    }

    fn add(&mut self, ends: Ends, ports: Option<(u16, u16)>) -> usize {
        self.connections.push(Connection::new(ends, ports));
        self.connections.len() - 1
    }

    /// Whether packets without ports are those of the connection `index`.
    pub(crate) fn is_current(&self, index: usize) -> bool {
        self.current == Some(index)
    }

    /// The connection `index` is under test.
    pub(crate) const fn choose(&mut self, index: usize) {
        self.current = Some(index);
    }

    /// A packet of the stack in the numbers of the script, and its connection.
    pub(crate) fn observe(&mut self, live: &Packet) -> (usize, Packet) {
        let ends = Ends { local: live.source, remote: live.target };
        let known = self.connections.iter().rposition(|connection| connection.ends == ends);
        let index = known.unwrap_or_else(|| self.add(ends, None));
        if known.is_none() || self.current.is_none() && !self.connects {
            (self.current, self.connects) = (Some(index), false);
        }
        let connection = &mut self.connections[index];
        let options = decode_options(&live.options);
        let syn = live.has(Flags::SYN);
        if syn {
            // The first SYN fixes the numbers; a later one of another connection over the same ports fixes them anew.
            connection.local = Some(live.seq);
            if let Ok(options) = &options {
                connection.note_scale(options, true);
            }
        }
        connection.note_window(live, true);
        // A reset that answers a packet of no connection takes its number from that packet.
        let unmapped = live.has(Flags::RST) && live.has(Flags::ACK) && live.seq == 0;
        let seq = if unmapped { 0 } else { live.seq.wrapping_sub(connection.local_offset(syn)) };
        let offset = connection.remote_offset(syn);
        let ack = if live.has(Flags::ACK) { live.ack.wrapping_sub(offset) } else { live.ack };
        let mut options = options.unwrap_or_default();
        let mut sacks = false;
        for option in &mut options {
            if let TcpOption::Sack(blocks) = option {
                sacks = offset != 0;
                *blocks = blocks.iter().map(|(left, right)| (left.wrapping_sub(offset), right.wrapping_sub(offset))).collect();
            }
        }
        let options = if sacks { encode_options(&options).unwrap_or_default() } else { live.options.clone() };
        (index, Packet { seq, ack, options, ..live.clone() })
    }

    /// The script expects a SYN of the stack with this number.
    pub(crate) fn name_syn(&mut self, packet: &mut Packet, number: u32) {
        if let Some(connection) = self.current.and_then(|index| self.connections.get_mut(index)) {
            packet.seq = packet.seq.wrapping_add(number).wrapping_sub(connection.named);
            connection.named = number;
        }
    }

    /// The script names the current connection by these ports, the stack's first.
    pub(crate) fn name(&mut self, ports: (u16, u16)) {
        if let Some(connection) = self.current.and_then(|index| self.connections.get_mut(index)) {
            connection.ports.get_or_insert(ports);
        }
    }

    /// Whether the current connection may be the one that the script calls by these ports.
    pub(crate) fn is_named(&self, ports: (u16, u16)) -> bool {
        self.current().is_none_or(|it| it.ports.is_none_or(|named| named == ports))
    }

    /// The script expected the timestamp `script`, and the stack sent `live`.
    pub(crate) fn note_stamp(&mut self, script: u32, live: u32) {
        if let Some(connection) = self.current.and_then(|index| self.connections.get_mut(index)) {
            connection.stamps.retain(|(known, _)| *known != script);
            connection.stamps.push((script, live));
        }
    }
}

/// Bits of the ACE field as flags.
pub(crate) fn ace_bits(number: u8) -> u16 {
    let bits = [(4, Flags::AE), (2, Flags::CWR), (1, Flags::ECE)];
    bits.iter().filter(|(bit, _)| number & bit != 0).fold(0, |flags, (_, flag)| flags | flag)
}

/// The ECN field of an injected packet.
pub(crate) const fn ecn_bits(ecn: Option<script::EcnField>) -> Option<u8> {
    Some(match ecn {
        None => return None,
        Some(script::EcnField::NotCapable) => 0,
        Some(script::EcnField::Ect1) => 1,
        Some(script::EcnField::Ect0 | script::EcnField::Ect01) => 2,
        Some(script::EcnField::Ce) => 3,
    })
}

/// A packet in the words of a script.
pub(crate) fn line(packet: &Packet, direction: Direction) -> script::Packet {
    let length = packet.payload.len() as u32;
    let options = match decode_options(&packet.options) {
        Ok(list) => Options::Listed(list),
        Err(_) => Options::Any,
    };
    let tcp = Tcp {
        ports: None,
        flags: script::Flags { bits: packet.flags & !crate::packet::URG, ace: None },
        start: packet.seq,
        end: packet.seq.wrapping_add(length),
        length,
        ack: packet.has(Flags::ACK).then_some(packet.ack),
        window: Some(packet.window),
        urgent: (packet.urgent != 0).then_some(packet.urgent),
        options,
    };
    let ecn = match packet.tos & 3 {
        0 => None,
        1 => Some(script::EcnField::Ect1),
        2 => Some(script::EcnField::Ect0),
        _ => Some(script::EcnField::Ce),
    };
    let ip = script::IpInfo { ecn, ..script::IpInfo::default() };
    script::Packet { at: script::Position::default(), direction, encapsulations: Vec::new(), ip, payload: Payload::Tcp(tcp) }
}
