//! The comparison of an expected packet with the one that came, field by field in packetdrill's order.

use super::mapping::ace_bits;
use crate::packet::{Packet, URG, decode_options, encode_options};
use crate::script::{self, EcnField, Flags, Options, Tcp, TcpOption};

/// A field in which two packets differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Name of the field.
    pub(crate) field: &'static str,
    /// Its expected value.
    pub(crate) expected: String,
    /// The value that came.
    pub(crate) came: String,
}

/// How timestamps are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// Difference between the stack's clock and the script's.
    pub(crate) apart: u32,
    /// Ticks by which a timestamp may differ.
    pub(crate) allowed: u32,
}

/// Compares a line of the script with a packet in the script's numbers. `stamp`: how timestamps are compared, if they are.
pub(crate) fn compare(line: &script::Packet, tcp: &Tcp, came: &Packet, stamp: Option<Stamp>) -> Result<(), Difference> {
    compare_ip(line, came)?;
    compare_flags(tcp, came)?;
    let number = |field, expected: u32, came: u32| same(field, expected, came, |number| number.to_string());
    number("reserved bits", 0, u32::from(came.reserved))?;
    number("sequence number", tcp.start, came.seq)?;
    number("acknowledgment number", tcp.ack.unwrap_or(0), came.ack)?;
    if let Some(window) = tcp.window {
        number("window", u32::from(window), u32::from(came.window))?;
    }
    number("urgent pointer", u32::from(tcp.urgent.unwrap_or(0)), u32::from(came.urgent))?;
    if let Options::Listed(list) = &tcp.options {
        compare_options(list, came, stamp)?;
    }
    number("length of the payload", tcp.length, came.payload.len() as u32)?;
    match came.payload.iter().position(|byte| *byte != 0) {
        Some(at) => {
            Err(Difference { field: "payload", expected: "zeros".to_owned(), came: format!("{:#04x} at byte {at}", came.payload[at]) })
        }
        None => Ok(()),
    }
}

fn same<T: PartialEq>(field: &'static str, expected: T, came: T, show: impl Fn(T) -> String) -> Result<(), Difference> {
    if expected == came { Ok(()) } else { Err(Difference { field, expected: show(expected), came: show(came) }) }
}

fn compare_ip(line: &script::Packet, came: &Packet) -> Result<(), Difference> {
    let ecn = came.tos & 3;
    let name = |bits: u8| ["noecn", "ect1", "ect0", "ce"][usize::from(bits & 3)].to_owned();
    let allowed: &[u8] = match line.ip.ecn {
        None => &[0, 1, 2, 3],
        Some(EcnField::NotCapable) => &[0],
        Some(EcnField::Ect0) => &[2],
        Some(EcnField::Ect1) => &[1],
        Some(EcnField::Ect01) => &[1, 2],
        Some(EcnField::Ce) => &[3],
    };
    if !allowed.contains(&ecn) {
        let expected = allowed.iter().map(|bits| name(*bits)).collect::<Vec<_>>().join(" or ");
        return Err(Difference { field: "ECN field", expected, came: name(ecn) });
    }
    if let Some(tos) = line.ip.tos {
        same("type of service", tos, came.tos, |tos| format!("{tos:#04x}"))?;
    }
    if let Some(ttl) = line.ip.ttl {
        same("time to live", ttl, came.ttl, |ttl| ttl.to_string())?;
    }
    match line.ip.flow_label {
        Some(label) => same("flow label", label, came.flow_label, |label| format!("{label:#x}")),
        None => Ok(()),
    }
}

fn compare_flags(tcp: &Tcp, came: &Packet) -> Result<(), Difference> {
    let ace = Flags::AE | Flags::CWR | Flags::ECE;
    let expected = tcp.flags.bits & !ace | tcp.flags.ace.map_or(tcp.flags.bits & ace, ace_bits);
    let show = |flags: u16| {
        let letters: String = Flags::LETTERS.iter().filter(|(_, bit)| flags & bit != 0).map(|(letter, _)| *letter).collect();
        if letters.is_empty() { "-".to_owned() } else { letters }
    };
    same("flags", expected, came.flags & !URG, show)
}

fn compare_options(expected: &[TcpOption], came: &Packet, stamp: Option<Stamp>) -> Result<(), Difference> {
    let shown = |list: &[TcpOption]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let size = |list: &[TcpOption]| encode_options(list).map_or(0, |bytes| bytes.len());
    let list = match decode_options(&came.options) {
        Ok(list) => list,
        Err(why) => return Err(Difference { field: "options", expected: shown(expected), came: why }),
    };
    // packetdrill compares the data offset, and therefore the size of the options, before their content.
    let alike = |pair: (&TcpOption, &TcpOption)| match pair {
        (TcpOption::Timestamps { value, echo }, TcpOption::Timestamps { value: live, echo: echoed }) => {
            echo == echoed
                && stamp
                    .is_none_or(|stamp| value.wrapping_add(stamp.apart).wrapping_sub(*live).cast_signed().unsigned_abs() <= stamp.allowed)
        }
        (expected, came) => expected == came,
    };
    if size(expected) == came.options.len() && expected.len() == list.len() && expected.iter().zip(&list).all(alike) {
        return Ok(());
    }
    Err(Difference { field: "options", expected: format!("<{}>", shown(expected)), came: format!("<{}>", shown(&list)) })
}

/// Appends `next` to a packet that is shorter than the script expects.
///
/// # Errors
/// If it does not continue the packet.
pub(crate) fn join(packet: &mut Packet, next: &Packet, first: usize) -> Result<(), Difference> {
    let free = Flags::FIN | Flags::PSH | Flags::CWR;
    let ends = format!("the segment after {}", packet.seq.wrapping_add(packet.payload.len() as u32));
    let differs = |came: String| Err(Difference { field: "burst", expected: ends.clone(), came });
    if next.seq != packet.seq.wrapping_add(packet.payload.len() as u32) {
        return differs(format!("sequence number {}", next.seq));
    }
    if (next.source, next.target, next.tos, next.ttl) != (packet.source, packet.target, packet.tos, packet.ttl) {
        return differs("another IP header".to_owned());
    }
    if (next.flags | free, next.ack, next.window, &next.options) != (packet.flags | free, packet.ack, packet.window, &packet.options) {
        return differs("other flags, acknowledgment, window or options".to_owned());
    }
    if !packet.payload.len().is_multiple_of(first) {
        return differs("a segment after one that was not full".to_owned());
    }
    if next.payload.is_empty() || next.payload.len() > first {
        return differs(format!("{} bytes after segments of {first}", next.payload.len()));
    }
    packet.flags |= next.flags & free;
    packet.payload.extend(&next.payload);
    Ok(())
}
