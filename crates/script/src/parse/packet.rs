//! Packets: IP information, ports, TCP segments, UDP, ICMP and outer headers.

use super::cursor::{Cursor, Read, is_word};
use crate::script::{Direction, Echo, EcnCounter, EcnField, Encapsulation, Flags, Icmp, IpInfo, Options, Packet, Payload, Tcp, TcpOption};

const U32: u64 = u32::MAX as u64;
const U16: u64 = u16::MAX as u64;
/// Names of outer headers.
const OUTER: [&str; 4] = ["ipv4", "ipv6", "gre", "mpls"];
/// Words of IP information.
const IP_WORDS: [&str; 8] = ["noecn", "ect0", "ect1", "ce", "ect01", "tos", "ttl", "flowlabel"];
/// Words of TCP options.
const OPTION_WORDS: [&str; 11] = ["mss", "wscale", "sackOK", "sack", "nop", "eol", "TS", "FO", "FOEXP", "md5", "ECN"];

/// Reads a packet.
pub(super) fn packet(cursor: &mut Cursor) -> Read<Packet> {
    let at = cursor.at();
    let direction = if cursor.take("<")? { Direction::In } else { Direction::Out };
    if direction == Direction::Out {
        cursor.need(">")?;
    }
    let mut encapsulations = Vec::new();
    while let Some(outer) = encapsulation(cursor)? {
        encapsulations.push(outer);
    }
    let ip = ip_info(cursor)?;
    let ports = ports(cursor)?;
    cursor.space()?;
    let payload = match cursor.peek_word() {
        "udp" => {
            cursor.take_word("udp")?;
            let length = length(cursor)?;
            Payload::Udp { ports, length }
        }
        word @ ("icmp" | "icmpv6") => {
            cursor.take_word(word)?;
            Payload::Icmp(icmp(cursor, word == "icmpv6")?)
        }
        _ => Payload::Tcp(segment(cursor, ports)?),
    };
    Ok(Packet { at, direction, encapsulations, ip, payload })
}

/// Reads an outer header, if there is one.
fn encapsulation(cursor: &mut Cursor) -> Read<Option<Encapsulation>> {
    cursor.space()?;
    let at = cursor.at();
    let name = cursor.peek_word();
    if !OUTER.contains(&name) {
        return Ok(None);
    }
    cursor.skip(name.len());
    // An IPv6 address has colons too; the last one of the header ends a word.
    let line = cursor.rest().split('\n').next().unwrap_or_default();
    let ends = |(index, _): &(usize, &str)| line[index + 1..].chars().next().is_none_or(char::is_whitespace);
    let Some((end, _)) = line.match_indices(':').find(ends) else {
        return Err(cursor.error(format!("expected `:` at the end of the header {name}")));
    };
    let text = cursor.skip(end).trim().to_owned();
    cursor.skip(1);
    Ok(Some(Encapsulation { at, name: name.to_owned(), text }))
}

/// Reads what brackets say about the IP header.
fn ip_info(cursor: &mut Cursor) -> Read<IpInfo> {
    let mut info = IpInfo::default();
    let end = match () {
        () if cursor.take("[")? => "]",
        () if cursor.take("(")? => ")",
        () => return Ok(info),
    };
    loop {
        cursor.space()?;
        let word = cursor.peek_word();
        if !IP_WORDS.contains(&word) {
            return Err(cursor.expected_word("noecn, ect0, ect1, ce, ect01, tos, ttl or flowlabel", IP_WORDS));
        }
        cursor.skip(word.len());
        match word {
            "tos" => info.tos = Some(cursor.number("a byte after `tos`", 255)? as u8),
            "ttl" => info.ttl = Some(cursor.number("a byte after `ttl`", 255)? as u8),
            "flowlabel" => info.flow_label = Some(cursor.number("20 bits after `flowlabel`", 0xf_ffff)? as u32),
            "noecn" => info.ecn = Some(EcnField::NotCapable),
            "ect0" => info.ecn = Some(EcnField::Ect0),
            "ect1" => info.ecn = Some(EcnField::Ect1),
            "ce" => info.ecn = Some(EcnField::Ce),
            _ => info.ecn = Some(EcnField::Ect01),
        }
        if cursor.take(end)? {
            return Ok(info);
        }
        if !cursor.take(",")? {
            return Err(cursor.expected(&format!("`,` or `{end}`")));
        }
    }
}

/// Reads `p > q`, if it is here: a number alone may be the ACE field.
fn ports(cursor: &mut Cursor) -> Read<Option<(u16, u16)>> {
    cursor.space()?;
    let mut ahead = cursor.clone();
    let digits = ahead.run(|digit| digit.is_ascii_digit());
    if digits.is_empty() || !ahead.take(">")? {
        return Ok(None);
    }
    let source = cursor.number("a port", U16)? as u16;
    cursor.need(">")?;
    Ok(Some((source, cursor.number("a port", U16)? as u16)))
}

/// Reads `(LENGTH)`.
fn length(cursor: &mut Cursor) -> Read<u32> {
    cursor.need("(")?;
    let length = cursor.number("the number of bytes", U32)? as u32;
    cursor.need(")")?;
    Ok(length)
}

/// Reads `start:end(length)`.
fn range(cursor: &mut Cursor) -> Read<(u32, u32, u32)> {
    cursor.space()?;
    let at = cursor.at();
    let start = cursor.number("the sequence numbers `START:END(LENGTH)`", U32)? as u32;
    cursor.need(":")?;
    let end = cursor.number("the end of the sequence numbers", U32)? as u32;
    let length = length(cursor)?;
    if start.wrapping_add(length) != end {
        let message = format!("{start}:{end} has {} bytes, not {length}; SYN and FIN do not count", end.wrapping_sub(start));
        return Err(cursor.error_at(at, message));
    }
    Ok((start, end, length))
}

/// Reads a TCP segment after its ports.
fn segment(cursor: &mut Cursor, ports: Option<(u16, u16)>) -> Read<Tcp> {
    let flags = flags(cursor)?;
    let (start, end, length) = range(cursor)?;
    let mut tcp = Tcp { ports, flags, start, end, length, ack: None, window: None, urgent: None, options: Options::Listed(Vec::new()) };
    if cursor.take_word("ack")? {
        tcp.ack = Some(cursor.number("a number after `ack`", U32)? as u32);
    }
    if cursor.take_word("win")? {
        tcp.window = Some(cursor.number("a number of 16 bits after `win`", U16)? as u16);
    }
    if cursor.take_word("urg")? {
        tcp.urgent = Some(cursor.number("a number of 16 bits after `urg`", U16)? as u16);
    }
    if cursor.take("<")? {
        tcp.options = options(cursor)?;
    }
    // A word here is no event's start: a field that is misspelled or in the wrong order.
    cursor.space()?;
    if cursor.peek().is_some_and(|letter| letter.is_alphabetic() || letter == '<') {
        return Err(
            cursor.expected_word("`ack N`, `win N`, `urg N` and `<options>`, in this order, or the next event", ["ack", "win", "urg"])
        );
    }
    Ok(tcp)
}

/// Reads the flags.
fn flags(cursor: &mut Cursor) -> Read<Flags> {
    const FLAGS: &str = "flags (S F R P E W A, `.` for ACK, a digit for the ACE field, or `-` for none)";
    cursor.space()?;
    let at = cursor.at();
    let word = cursor.run(|letter| !letter.is_whitespace());
    let mut flags = Flags::default();
    for letter in word.chars() {
        let bit = Flags::LETTERS.iter().find(|(name, _)| *name == letter);
        match (bit, letter) {
            (Some((_, bit)), _) => flags.bits |= bit,
            (None, '0'..='7') if flags.ace.is_none() => flags.ace = Some(letter as u8 - b'0'),
            (None, '-') if word == "-" => {}
            _ => return Err(cursor.error_at(at, format!("expected {FLAGS}, found `{word}`"))),
        }
    }
    if word.is_empty() {
        return Err(cursor.expected(FLAGS));
    }
    if flags.ace.is_some() && flags.bits & (Flags::ECE | Flags::CWR | Flags::AE) != 0 {
        return Err(cursor.error_at(at, format!("`{word}`: a digit sets E, W and A, so they cannot be named")));
    }
    Ok(flags)
}

/// Reads options after `<`.
fn options(cursor: &mut Cursor) -> Read<Options> {
    let mut options = Vec::new();
    if cursor.take("...")? {
        cursor.need(">")?;
        return Ok(Options::Any);
    }
    if cursor.take(">")? {
        return Ok(Options::Listed(options));
    }
    loop {
        options.push(option(cursor)?);
        if cursor.take(">")? {
            return Ok(Options::Listed(options));
        }
        if !cursor.take(",")? {
            return Err(cursor.expected("`,` or `>` after an option"));
        }
    }
}

/// Reads an option.
fn option(cursor: &mut Cursor) -> Read<TcpOption> {
    cursor.space()?;
    let word = cursor.peek_word();
    if !OPTION_WORDS.contains(&word) {
        let what = "an option (mss, wscale, sackOK, sack, nop, eol, TS, FO, FOEXP, md5 or ECN)";
        return Err(cursor.expected_word(what, OPTION_WORDS));
    }
    cursor.skip(word.len());
    Ok(match word {
        "nop" => TcpOption::Nop,
        "eol" => TcpOption::End,
        "sackOK" => TcpOption::SackPermitted,
        "mss" => TcpOption::Mss(cursor.number("a number of 16 bits after `mss`", U16)? as u16),
        "wscale" => TcpOption::WindowScale(cursor.number("a byte after `wscale`", 255)? as u8),
        "sack" => TcpOption::Sack(blocks(cursor)?),
        "TS" => {
            if !cursor.take_word("val")? {
                return Err(cursor.expected("`val` after `TS`"));
            }
            let value = cursor.number("a number after `val`", U32)? as u32;
            if !cursor.take_word("ecr")? {
                return Err(cursor.expected("`ecr` after the value of `TS`"));
            }
            TcpOption::Timestamps { value, echo: cursor.number("a number after `ecr`", U32)? as u32 }
        }
        "ECN" => TcpOption::AccurateEcn(counters(cursor)?),
        "md5" => TcpOption::Md5(bytes(cursor)?),
        _ => TcpOption::FastOpen { cookie: bytes(cursor)?, experimental: word == "FOEXP" },
    })
}

/// Reads the blocks of a SACK option.
fn blocks(cursor: &mut Cursor) -> Read<Vec<(u32, u32)>> {
    let mut blocks = Vec::new();
    loop {
        cursor.space()?;
        if !blocks.is_empty() && !cursor.peek().is_some_and(|digit| digit.is_ascii_digit()) {
            return Ok(blocks);
        }
        let start = cursor.number("a block `START:END` after `sack`", U32)? as u32;
        cursor.need(":")?;
        blocks.push((start, cursor.number("the end of the block", U32)? as u32));
    }
}

/// Reads the counters of accurate ECN.
fn counters(cursor: &mut Cursor) -> Read<Vec<(EcnCounter, u32)>> {
    let mut counters = Vec::new();
    loop {
        cursor.space()?;
        let counter = match cursor.peek_word() {
            "e0b" => EcnCounter::Ect0,
            "e1b" => EcnCounter::Ect1,
            "ceb" => EcnCounter::Ce,
            _ if cursor.sees(",") || cursor.sees(">") => return Ok(counters),
            _ => return Err(cursor.expected_word("e0b, e1b or ceb", ["e0b", "e1b", "ceb"])),
        };
        cursor.skip(3);
        counters.push((counter, cursor.number("a number of 24 bits after the counter", 0xff_ffff)? as u32));
    }
}

/// Reads hexadecimal digits in pairs, if there are any.
fn bytes(cursor: &mut Cursor) -> Read<Vec<u8>> {
    cursor.space()?;
    let word = cursor.peek_word();
    let digits = word.strip_prefix("0x").unwrap_or(word).as_bytes();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2));
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| {
            pair.filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit())).and_then(|pair| u8::from_str_radix(pair, 16).ok())
        })
        .collect();
    let bytes = bytes.ok_or_else(|| cursor.expected("hexadecimal digits in pairs"))?;
    cursor.skip(word.len());
    Ok(bytes)
}

/// Reads an ICMP message after its name.
fn icmp(cursor: &mut Cursor, v6: bool) -> Read<Icmp> {
    cursor.space()?;
    let kind = cursor.run(is_word).to_owned();
    if kind.is_empty() {
        return Err(cursor.expected("the type of the ICMP message"));
    }
    cursor.blanks();
    let named = cursor.peek_word() != "mtu" && cursor.peek().is_some_and(is_word);
    let code = named.then(|| cursor.run(is_word).to_owned());
    let mtu = if cursor.take_word("mtu")? { Some(cursor.number("a number after `mtu`", U32)? as u32) } else { None };
    let mut echo = None;
    if cursor.take("[")? {
        echo = Some(if cursor.take_word("udp")? {
            Echo::Udp { length: length(cursor)? }
        } else {
            let (start, end, length) = range(cursor)?;
            Echo::Tcp { start, end, length }
        });
        cursor.need("]")?;
    }
    Ok(Icmp { v6, kind, code, mtu, echo })
}
