//! The printer: `Display` of scripts and their nodes, one event a line. Reading the text of a script gives the same script.

#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter, Write};

use crate::script::{
    Action, Call, Direction, Echo, EcnField, Event, Expression, Field, Flags, Icmp, IpInfo, Kind, Nanos, Operator, Options, Packet,
    Payload, Script, Setting, Tcp, Time,
};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for option in &self.options {
            writeln!(f, "{option}")?;
        }
        if let Some(before) = &self.before {
            writeln!(f, "`{}`", before.text)?;
        }
        for event in &self.events {
            writeln!(f, "{event}")?;
        }
        if let Some(after) = &self.after {
            writeln!(f, "`{}`", after.text)?;
        }
        Ok(())
    }
}

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "--{}", self.name)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, "={value}"))
    }
}

impl Display for Event {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.time)?;
        match &self.action {
            Action::Packet(packet) => write!(f, " {packet}"),
            Action::Call(call) => {
                if let Some(end) = call.end {
                    write!(f, "...{}", Seconds(end))?;
                }
                write!(f, " {call}")
            }
            Action::Command(command) => write!(f, " `{}`", command.text),
            Action::Code(code) => write!(f, " %{{{}}}%", code.text),
        }
    }
}

/// A time in seconds.
struct Seconds(Nanos);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        write!(f, "{whole}")?;
        if part == 0 { Ok(()) } else { write!(f, ".{}", format!("{part:09}").trim_end_matches('0')) }
    }
}

impl Display for Time {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Absolute(at) => write!(f, "{}", Seconds(at)),
            Self::Relative(after) => write!(f, "+{}", Seconds(after)),
            Self::AbsoluteRange(from, to) => write!(f, "{}~{}", Seconds(from), Seconds(to)),
            Self::RelativeRange(from, to) => write!(f, "+{}~+{}", Seconds(from), Seconds(to)),
            Self::Any => f.write_char('*'),
        }
    }
}

impl Display for Packet {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char(if self.direction == Direction::In { '<' } else { '>' })?;
        for outer in &self.encapsulations {
            write!(f, " {} {}:", outer.name, outer.text)?;
        }
        write!(f, "{}", self.ip)?;
        match &self.payload {
            Payload::Tcp(tcp) => write!(f, "{tcp}"),
            Payload::Udp { ports, length } => {
                write_ports(f, *ports)?;
                write!(f, " udp ({length})")
            }
            Payload::Icmp(icmp) => write!(f, "{icmp}"),
        }
    }
}

impl Display for IpInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ecn = self.ecn.map(|ecn| match ecn {
            EcnField::NotCapable => "noecn".to_owned(),
            EcnField::Ect0 => "ect0".to_owned(),
            EcnField::Ect1 => "ect1".to_owned(),
            EcnField::Ce => "ce".to_owned(),
            EcnField::Ect01 => "ect01".to_owned(),
        });
        let words = [
            ecn,
            self.tos.map(|tos| format!("tos {tos:#x}")),
            self.ttl.map(|ttl| format!("ttl {ttl}")),
            self.flow_label.map(|label| format!("flowlabel {label:#x}")),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        if words.is_empty() { Ok(()) } else { write!(f, " [{}]", words.join(", ")) }
    }
}

fn write_ports(f: &mut Formatter<'_>, ports: Option<(u16, u16)>) -> fmt::Result {
    ports.map_or(Ok(()), |(source, target)| write!(f, " {source} > {target}"))
}

impl Display for Tcp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_ports(f, self.ports)?;
        write!(f, " {} {}:{}({})", self.flags, self.start, self.end, self.length)?;
        for (name, value) in [("ack", self.ack), ("win", self.window.map(u32::from)), ("urg", self.urgent.map(u32::from))] {
            if let Some(value) = value {
                write!(f, " {name} {value}")?;
            }
        }
        match &self.options {
            Options::Any => f.write_str(" <...>"),
            Options::Listed(options) if options.is_empty() => Ok(()),
            Options::Listed(options) => write!(f, " <{}>", joined(options, ",")),
        }
    }
}

impl Display for Flags {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (letter, bit) in Self::LETTERS {
            if let ('.', Some(ace)) = (letter, self.ace) {
                write!(f, "{ace}")?;
            }
            if self.has(bit) {
                f.write_char(letter)?;
            }
        }
        if self.bits == 0 && self.ace.is_none() { f.write_char('-') } else { Ok(()) }
    }
}

/// Values with a separator between them.
fn joined<T: Display>(values: &[T], separator: &str) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(separator)
}

impl Display for Icmp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, " {} {}", if self.v6 { "icmpv6" } else { "icmp" }, self.kind)?;
        if let Some(code) = &self.code {
            write!(f, " {code}")?;
        }
        if let Some(mtu) = self.mtu {
            write!(f, " mtu {mtu}")?;
        }
        match self.echo {
            None => Ok(()),
            Some(Echo::Tcp { start, end, length }) => write!(f, " [{start}:{end}({length})]"),
            Some(Echo::Udp { length }) => write!(f, " [udp ({length})]"),
        }
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}) = {}", self.name, joined(&self.arguments, ", "), self.result)?;
        if let Some(errno) = &self.errno {
            write!(f, " {errno}")?;
        }
        self.note.as_ref().map_or(Ok(()), |note| write!(f, " ({note})"))
    }
}

impl Expression {
    /// Writes the value, in parentheses if it binds less tightly than `least`.
    fn write(&self, f: &mut Formatter<'_>, least: u8) -> fmt::Result {
        match &self.kind {
            Kind::Any => f.write_str("..."),
            Kind::Integer(number) => write!(f, "{number}"),
            Kind::Name(name) => f.write_str(name),
            Kind::Text(text) => {
                f.write_char('"')?;
                for letter in text.chars() {
                    match letter {
                        '"' | '\\' => write!(f, "\\{letter}")?,
                        '\n' => f.write_str("\\n")?,
                        _ => f.write_char(letter)?,
                    }
                }
                f.write_char('"')
            }
            Kind::List(items) => write!(f, "[{}]", joined(items, ", ")),
            Kind::Struct(fields) => write!(f, "{{{}}}", joined(fields, ", ")),
            Kind::Function(name, arguments) => write!(f, "{name}({})", joined(arguments, ", ")),
            Kind::Negative(inner) | Kind::Complement(inner) => {
                f.write_char(if matches!(self.kind, Kind::Negative(_)) { '-' } else { '~' })?;
                inner.write(f, u8::MAX)
            }
            Kind::Binary(operator, left, right) => {
                let entry = Operator::ALL.iter().find(|(_, known, _)| known == operator);
                let (sign, _, tightness) = entry.copied().unwrap_or(Operator::ALL[0]);
                if tightness < least {
                    f.write_char('(')?;
                }
                left.write(f, tightness)?;
                f.write_str(sign)?;
                right.write(f, tightness + 1)?;
                if tightness < least { f.write_char(')') } else { Ok(()) }
            }
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            f.write_str(name)?;
            if let Some(size) = &self.size {
                write!(f, "({size})")?;
            }
            f.write_char('=')?;
        }
        write!(f, "{}", self.value)
    }
}
