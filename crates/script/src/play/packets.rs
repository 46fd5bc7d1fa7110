//! Packets of the script: injected ones, and those that the stack must send.

use super::compare::{Difference, Stamp, compare, join};
use super::mapping;
use super::{End, Failure, Player, SAME, Sent, Step, Window, failed, seconds};
use crate::packet::{Packet, decode_options};
use crate::script::{self, Direction, Nanos, Options, Payload, Tcp, TcpOption};
use crate::world::World;

impl<W: World> Player<'_, W> {
    /// Delivers a packet to the stack.
    pub(super) fn inject(&mut self, line: &script::Packet, at: u32) -> Step {
        self.check_count(at)?;
        if let Payload::Icmp(icmp) = &line.payload
            && line.encapsulations.is_empty()
            && self.world.reads_icmp()
        {
            let message = self.mapping.answer(icmp).map_err(|why| End::Unsupported(at, why))?;
            let bytes = message.encode().map_err(|why| End::Error(at, why))?;
            let now = self.world.now();
            self.world.inject_icmp(&message).map_err(|why| End::Unsupported(at, why))?;
            self.record(now, Direction::In, line.to_string(), bytes);
            return Ok(());
        }
        let tcp = segment(line, at)?;
        if self.block.is_some_and(|most| tcp.length > most) {
            self.doubt.get_or_insert((at, "--mss: a packet larger than a segment arrives whole, not as a block"));
        }
        let packet = self.mapping.inject(line, tcp).map_err(|why| End::Error(at, why))?;
        let bytes = packet.encode().map_err(|why| End::Error(at, why))?;
        let now = self.world.now();
        self.world.inject(&bytes).map_err(|why| End::Error(at, why))?;
        self.record(now, Direction::In, line.to_string(), bytes);
        Ok(())
    }

    /// Takes the next packet of the stack, and compares it with a line.
    pub(super) fn expect(&mut self, line: &script::Packet, window: Option<Window>, at: u32) -> Step {
        let tcp = segment(line, at)?;
        let latest = window
            .map_or_else(|| self.ended.saturating_add(self.world.patience().as_nanos()), |window| window.last + window.allowed + SAME);
        let Some(first) = self.next(latest, tcp, at)? else {
            let by = window.map_or_else(String::new, |_| format!(" by {} s", seconds(latest - SAME)));
            let message = format!("the stack sent no packet{by}");
            return Err(End::Failed(Failure { line: at, message, expected: Some(line.to_string()), came: None }));
        };
        let (began, mut last, mut packet) = (first.at, first.at, first.packet);
        let size = packet.payload.len();
        let mut pushed = packet.has(script::Flags::PSH);
        while !self.strict_segments && size > 0 && packet.payload.len() < tcp.length as usize {
            let Some(next) = self.next(latest, tcp, at)? else { break };
            last = next.at;
            join(&mut packet, &next.packet, size).map_err(|difference| failure(at, line, &next.packet, &difference))?;
            pushed = next.packet.has(script::Flags::PSH);
        }
        // In a block of segments, the flag PSH of one before the last depends on how the stack has cut the block.
        if !pushed && !tcp.flags.has(script::Flags::PSH) {
            packet.flags &= !script::Flags::PSH;
        }
        if let Some((local, remote)) = tcp.ports {
            if !self.mapping.is_named((local, remote)) {
                return Err(failed(at, format!("the packet belongs to another connection than {local} > {remote}")));
            }
            self.mapping.name((local, remote));
        }
        if tcp.flags.has(script::Flags::SYN) && packet.has(script::Flags::SYN) {
            self.mapping.name_syn(&mut packet, tcp.start);
        }
        let stamps = stamps(tcp, &packet);
        let micros = window.map_or(0, |window| window.allowed) / 1000;
        let allowed = |tick: u64| u32::try_from(micros / tick).unwrap_or(u32::MAX);
        let stamp = self.tick.zip(self.clock).map(|(tick, apart)| Stamp { apart, allowed: allowed(tick) });
        compare(line, tcp, &packet, stamp).map_err(|difference| failure(at, line, &packet, &difference))?;
        if let Some((script, live)) = stamps {
            self.mapping.note_stamp(script, live);
            self.clock.get_or_insert(live.wrapping_sub(script));
        }
        if let Some(Window { first, last, allowed }) = window
            && (began + allowed + SAME < first || began > last + allowed + SAME)
        {
            let expected = if first == last { seconds(first) } else { format!("{} to {}", seconds(first), seconds(last)) };
            let tolerance = if allowed > 0 { format!(" ± {}", seconds(allowed)) } else { String::new() };
            return Err(End::Failed(Failure {
                line: at,
                message: "the packet came at another time".to_owned(),
                expected: Some(format!("{expected}{tolerance} s")),
                came: Some(format!("{} s: {}", seconds(began), mapping::line(&packet, Direction::Out))),
            }));
        }
        self.ended = last.max(self.ended);
        Ok(())
    }

    /// The next packet of the stack for a line with `tcp`, if it sends one by `latest`. As in packetdrill, packets of connections that are
    /// not under test any more are none of the script's business, unless it names ports or is strict.
    fn next(&mut self, latest: Nanos, tcp: &Tcp, line: u32) -> Result<Option<Sent>, End> {
        loop {
            while self.queue.is_empty() {
                if self.pass_once(latest, line)? {
                    break;
                }
            }
            let Some(sent) = self.queue.pop_front() else { return Ok(None) };
            if tcp.ports.is_some() || self.options.strict || self.mapping.is_current(sent.connection) {
                self.mapping.choose(sent.connection);
                return Ok(Some(sent));
            }
        }
    }
}

/// The TCP segment of a line.
fn segment(line: &script::Packet, at: u32) -> Result<&Tcp, End> {
    if let Some(outer) = line.encapsulations.first() {
        return Err(End::Unsupported(at, format!("the encapsulation {} is not supported", outer.name)));
    }
    match &line.payload {
        Payload::Tcp(tcp) => Ok(tcp),
        Payload::Udp { .. } => Err(End::Unsupported(at, "UDP packets are not supported".to_owned())),
        Payload::Icmp(_) => Err(End::Unsupported(at, "ICMP packets need a kernel under test, and are not expected of it".to_owned())),
    }
}

/// The timestamps that the line expects and that came.
fn stamps(tcp: &Tcp, packet: &Packet) -> Option<(u32, u32)> {
    let value = |list: &[TcpOption]| {
        list.iter().find_map(|option| if let TcpOption::Timestamps { value, .. } = option { Some(*value) } else { None })
    };
    let Options::Listed(list) = &tcp.options else { return None };
    Some((value(list)?, value(&decode_options(&packet.options).ok()?)?))
}

fn failure(at: u32, line: &script::Packet, came: &Packet, difference: &Difference) -> End {
    let Difference { field, expected, came: value } = difference;
    End::Failed(Failure {
        line: at,
        message: format!("{field}: expected {expected}, came {value}"),
        expected: Some(line.to_string()),
        came: Some(mapping::line(came, Direction::Out).to_string()),
    })
}
