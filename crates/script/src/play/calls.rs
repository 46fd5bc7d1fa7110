//! System calls of a script as calls of the world.

use std::collections::BTreeMap;

use super::constants::{self, CLOSE_ON_EXEC, DONT_WAIT, MORE, NO_SIGNAL, NONBLOCK};
use crate::error::suggestion;
use crate::script::{self, Expression, Field, Kind, Operator};
use crate::stack::Value;
use crate::world::{Call, Fd, Output};

/// The system calls that are executed.
const CALLS: [&str; 23] = [
    "socket",
    "bind",
    "listen",
    "accept",
    "accept4",
    "connect",
    "read",
    "recv",
    "recvfrom",
    "readv",
    "recvmsg",
    "write",
    "send",
    "sendto",
    "writev",
    "sendmsg",
    "shutdown",
    "close",
    "setsockopt",
    "getsockopt",
    "fcntl",
    "ioctl",
    "poll",
];
/// A file descriptor that does not exist.
const NO_FD: Fd = -1;

/// What a call must have written into its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Anything.
    Any,
    /// This value.
    Value(Value),
    /// These events per socket; `None`: any.
    Events(Vec<Option<i16>>),
}

impl Written {
    /// Compares with what the call wrote; the error says what was expected and what came.
    pub(crate) fn compare(&self, output: &Output) -> Result<(), (String, String)> {
        match (self, output) {
            (Self::Value(expected), Output::Value(came)) if expected != came => Err((show(expected), show(came))),
            (Self::Events(expected), Output::Events(came)) => {
                let differing = expected.iter().zip(came).find(|(expected, came)| expected.is_some_and(|expected| expected != **came));
                match differing {
                    Some((expected, came)) => Err((format!("revents {:#x}", expected.unwrap_or(0)), format!("revents {came:#x}"))),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// A value in the notation of scripts.
fn show(value: &Value) -> String {
    match value {
        Value::Integer(number) => format!("[{number}]"),
        Value::Text(text) => format!("{text:?}"),
        Value::Linger(on, seconds) => format!("{{onoff={}, linger={seconds}}}", u8::from(*on)),
    }
}

/// Why a call cannot be executed.
type Unsupported = String;

/// The sockets of the script, by its own numbers.
pub(crate) type Sockets = BTreeMap<i64, Fd>;

/// The call of the world for a call of the script.
pub(crate) fn translate(call: &script::Call, sockets: &Sockets) -> Result<(Call, Written), Unsupported> {
    let arguments = Arguments { call, sockets };
    let nothing = |call| Ok((call, Written::Any));
    match call.name.as_str() {
        "socket" => {
            let kind = arguments.integer_or(1, 1)?;
            let protocol = arguments.integer_or(2, 6)?;
            let stream = kind & !(NONBLOCK | CLOSE_ON_EXEC) == 1 && (protocol == 6 || protocol == 0);
            if !stream {
                return Err("only TCP sockets are supported: socket(..., SOCK_STREAM, IPPROTO_TCP)".to_owned());
            }
            nothing(Call::Socket { nonblocking: kind & NONBLOCK != 0 })
        }
        "bind" => nothing(Call::Bind { fd: arguments.fd(0)?, port: arguments.port(1)? }),
        "listen" => nothing(Call::Listen { fd: arguments.fd(0)?, backlog: arguments.integer_or(1, 128)? }),
        "accept" => nothing(Call::Accept { fd: arguments.fd(0)?, nonblocking: false }),
        "accept4" => nothing(Call::Accept { fd: arguments.fd(0)?, nonblocking: arguments.integer_or(3, 0)? & NONBLOCK != 0 }),
        "connect" => nothing(Call::Connect { fd: arguments.fd(0)?, port: arguments.port(1)? }),
        "write" | "send" | "sendto" => arguments.write(arguments.integer(2)?, if call.name == "write" { None } else { Some(3) }),
        "writev" => arguments.write(arguments.vector_size(1)?, None),
        "sendmsg" => arguments.write(arguments.message_size()?, Some(2)),
        "read" | "recv" | "recvfrom" => arguments.read(arguments.integer(2)?, if call.name == "read" { None } else { Some(3) }),
        "readv" => arguments.read(arguments.vector_size(1)?, None),
        "recvmsg" => arguments.read(arguments.message_size()?, Some(2)),
        "shutdown" => {
            let how = arguments.integer(1)?;
            nothing(Call::Shutdown { fd: arguments.fd(0)?, read: how != 1, write: how != 0 })
        }
        "close" => nothing(Call::Close { fd: arguments.fd(0)? }),
        "setsockopt" => {
            let (fd, level, name) = (arguments.fd(0)?, arguments.name(1)?, arguments.name(2)?);
            nothing(Call::SetOption { fd, level, name, value: arguments.value(3)? })
        }
        "getsockopt" => {
            let (fd, level, name) = (arguments.fd(0)?, arguments.name(1)?, arguments.name(2)?);
            let written = match arguments.at(3)?.kind {
                Kind::Any => Written::Any,
                _ => Written::Value(arguments.value(3)?),
            };
            Ok((Call::Option { fd, level, name }, written))
        }
        "fcntl" => {
            let fd = arguments.fd(0)?;
            match arguments.name(1)?.as_str() {
                "F_GETFL" => nothing(Call::Flags { fd }),
                "F_SETFL" => nothing(Call::SetNonBlocking { fd, on: arguments.integer(2)? & NONBLOCK != 0 }),
                other => Err(format!("fcntl with {other}: F_GETFL and F_SETFL are supported")),
            }
        }
        "ioctl" => {
            let fd = arguments.fd(0)?;
            let written = match arguments.at(2)?.kind {
                Kind::Any => Written::Any,
                _ => Written::Value(arguments.value(2)?),
            };
            match arguments.name(1)?.as_str() {
                "SIOCINQ" | "FIONREAD" => Ok((Call::Unread { fd }, written)),
                "SIOCOUTQ" | "TIOCOUTQ" => Ok((Call::Unacknowledged { fd }, written)),
                other => Err(format!("ioctl with {other}: SIOCINQ and SIOCOUTQ are supported")),
            }
        }
        "poll" => arguments.poll(),
        other => Err(format!("the system call {other} is not supported{}", suggestion(other, CALLS))),
    }
}

/// The arguments of a call.
struct Arguments<'a> {
    call: &'a script::Call,
    sockets: &'a Sockets,
}

impl Arguments<'_> {
    fn at(&self, index: usize) -> Result<&Expression, Unsupported> {
        self.call.arguments.get(index).ok_or_else(|| format!("{} needs an argument {}", self.call.name, index + 1))
    }

    fn fd(&self, index: usize) -> Result<Fd, Unsupported> {
        Ok(self.live(integer(self.at(index)?)?))
    }

    fn live(&self, fd: i64) -> Fd {
        self.sockets.get(&fd).copied().unwrap_or(NO_FD)
    }

    fn integer(&self, index: usize) -> Result<i64, Unsupported> {
        integer(self.at(index)?)
    }

    /// A number, or `default` if it is missing or `...`.
    fn integer_or(&self, index: usize, default: i64) -> Result<i64, Unsupported> {
        match self.call.arguments.get(index) {
            None | Some(Expression { kind: Kind::Any, .. }) => Ok(default),
            Some(expression) => integer(expression),
        }
    }

    fn name(&self, index: usize) -> Result<String, Unsupported> {
        match &self.at(index)?.kind {
            Kind::Name(name) => Ok(name.clone()),
            Kind::Integer(number) => Err(format!("{} with the number {number}: write its name", self.call.name)),
            _ => Err(format!("argument {} of {} must be a name", index + 1, self.call.name)),
        }
    }

    /// The port of an address; `None`: it is `...`.
    fn port(&self, index: usize) -> Result<Option<u16>, Unsupported> {
        let Kind::Struct(fields) = &self.at(index)?.kind else { return Ok(None) };
        let Some(port) = field(fields, &["sin_port", "sin6_port"]) else { return Ok(None) };
        let number = match &port.kind {
            Kind::Function(name, arguments) if name == "htons" && arguments.len() == 1 => integer(&arguments[0])?,
            Kind::Any => return Ok(None),
            _ => return Err("a port must be written as htons(NUMBER)".to_owned()),
        };
        u16::try_from(number).map(Some).map_err(|_| format!("{number} is not a port"))
    }

    /// Flags of a message; those that change nothing are left out.
    fn flags(&self, index: Option<usize>) -> Result<i64, Unsupported> {
        let flags = index.map_or(Ok(0), |index| self.integer_or(index, 0))?;
        match flags & !(DONT_WAIT | NO_SIGNAL | MORE) {
            0 => Ok(flags),
            other => Err(format!("{} with the flags {other:#x}: MSG_DONTWAIT, MSG_MORE and MSG_NOSIGNAL are supported", self.call.name)),
        }
    }

    fn write(&self, bytes: i64, flags: Option<usize>) -> Result<(Call, Written), Unsupported> {
        let flags = self.flags(flags)?;
        let bytes = bytes.max(0).unsigned_abs();
        Ok((Call::Write { fd: self.fd(0)?, bytes, more: flags & MORE != 0, dont_wait: flags & DONT_WAIT != 0 }, Written::Any))
    }

    fn read(&self, most: i64, flags: Option<usize>) -> Result<(Call, Written), Unsupported> {
        let flags = self.flags(flags)?;
        Ok((Call::Read { fd: self.fd(0)?, most: most.max(0).unsigned_abs(), dont_wait: flags & DONT_WAIT != 0 }, Written::Any))
    }

    /// Total size of an array of buffers `{..., SIZE}`.
    fn vector_size(&self, index: usize) -> Result<i64, Unsupported> {
        buffers(self.at(index)?)
    }

    /// Total size of the buffers of a `struct msghdr`.
    fn message_size(&self) -> Result<i64, Unsupported> {
        let Kind::Struct(fields) = &self.at(1)?.kind else { return Err(format!("{} needs a struct msghdr", self.call.name)) };
        if let Some(control) = field(fields, &["msg_control"])
            && !matches!(&control.kind, Kind::Any)
            && !matches!(&control.kind, Kind::List(items) if items.is_empty())
        {
            return Err(format!("{} with msg_control is not supported", self.call.name));
        }
        buffers(field(fields, &["msg_iov"]).ok_or_else(|| format!("{} needs msg_iov", self.call.name))?)
    }

    /// The value of a socket option.
    fn value(&self, index: usize) -> Result<Value, Unsupported> {
        let expression = self.at(index)?;
        Ok(match &expression.kind {
            Kind::Text(text) => Value::Text(text.clone()),
            Kind::List(items) if items.len() == 1 => match &items[0].kind {
                Kind::Text(text) => Value::Text(text.clone()),
                _ => Value::Integer(integer(&items[0])?),
            },
            Kind::Struct(fields) => {
                let part = |names: &[&str]| field(fields, names).map(integer).transpose();
                let (on, seconds) = (part(&["onoff", "l_onoff"])?, part(&["linger", "l_linger"])?);
                match (on, seconds) {
                    (Some(on), Some(seconds)) => Value::Linger(on != 0, seconds),
                    _ => return Err(format!("{} with this struct is not supported; struct linger is", self.call.name)),
                }
            }
            _ => Value::Integer(integer(expression)?),
        })
    }

    fn poll(&self) -> Result<(Call, Written), Unsupported> {
        let Kind::List(items) = &self.at(0)?.kind else { return Err("poll needs an array of struct pollfd".to_owned()) };
        let (mut fds, mut events) = (Vec::new(), Vec::new());
        for item in items {
            let Kind::Struct(fields) = &item.kind else { return Err("poll needs an array of struct pollfd".to_owned()) };
            let part = |name: &str| field(fields, &[name]).filter(|value| value.kind != Kind::Any).map(integer).transpose();
            let fd = part("fd")?.ok_or("struct pollfd needs fd")?;
            fds.push((self.live(fd), part("events")?.unwrap_or(0) as i16));
            events.push(part("revents")?.map(|events| events as i16));
        }
        Ok((Call::Poll { fds, timeout: self.integer(2)? }, Written::Events(events)))
    }
}

/// The field with one of these names.
fn field<'a>(fields: &'a [Field], names: &[&str]) -> Option<&'a Expression> {
    fields.iter().find(|field| field.name.as_deref().is_some_and(|name| names.contains(&name))).map(|field| &field.value)
}

/// Total size of buffers `[{..., SIZE}, …]`.
fn buffers(expression: &Expression) -> Result<i64, Unsupported> {
    let Kind::List(items) = &expression.kind else { return Err("buffers must be an array [{..., SIZE}]".to_owned()) };
    let size = |item: &Expression| match &item.kind {
        Kind::Struct(fields) if !fields.is_empty() => integer(&fields[fields.len() - 1].value),
        _ => Err("a buffer must be {..., SIZE}".to_owned()),
    };
    items.iter().map(size).sum()
}

/// The value of a number, a constant, or an expression of them.
pub(crate) fn integer(expression: &Expression) -> Result<i64, Unsupported> {
    Ok(match &expression.kind {
        Kind::Integer(number) => *number,
        Kind::Name(name) => {
            constants::find(name).ok_or_else(|| format!("the constant {name} is unknown{}", suggestion(name, constants::names())))?
        }
        Kind::List(items) if items.len() == 1 => integer(&items[0])?,
        Kind::Negative(inner) => integer(inner)?.wrapping_neg(),
        Kind::Complement(inner) => !integer(inner)?,
        Kind::Binary(operator, left, right) => {
            let (left, right) = (integer(left)?, integer(right)?);
            match operator {
                Operator::Or => left | right,
                Operator::Xor => left ^ right,
                Operator::And => left & right,
                Operator::ShiftLeft => left.wrapping_shl(right as u32),
                Operator::ShiftRight => left.wrapping_shr(right as u32),
            }
        }
        Kind::Any => return Err("a number is needed here, not ...".to_owned()),
        Kind::Text(_) | Kind::List(_) | Kind::Struct(_) | Kind::Function(..) => return Err("a number is needed here".to_owned()),
    })
}
