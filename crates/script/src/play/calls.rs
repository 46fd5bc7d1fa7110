//! System calls of a script as calls of the world.

use std::collections::BTreeMap;

use super::constants::{self, CLOSE_ON_EXEC, NONBLOCK};
use crate::error::suggestion;
use crate::script::{self, Expression, Field, Kind, Nanos, Operator};
use crate::stack::{Control, Value};
use crate::world::{Call, Fd, Output};

/// The system calls that are executed.
const CALLS: [&str; 27] = [
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
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
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
    /// One socket with these events, of `epoll_wait`; `None`: any.
    Ready(Option<Fd>, Option<u32>),
    /// These flags and control messages of `recvmsg`; `None`: any.
    Message(Option<i64>, Option<Vec<Control>>),
}

impl Written {
    /// Compares with what the call wrote; the error says what was expected and what came.
    /// Times may differ by `allowed` nanoseconds.
    pub(crate) fn compare(&self, output: &Output, allowed: Nanos) -> Result<(), (String, String)> {
        match (self, output) {
            (Self::Message(flags, control), Output::Message(live, came)) => {
                if let Some(flags) = flags.filter(|flags| flags != live) {
                    return Err((format!("msg_flags {flags:#x}"), format!("msg_flags {live:#x}")));
                }
                let alike = |expected: &Vec<Control>| {
                    expected.len() == came.len() && expected.iter().zip(came).all(|(expected, came)| same(expected, came, allowed))
                };
                match control {
                    Some(expected) if !alike(expected) => Err((show_control(expected), show_control(came))),
                    _ => Ok(()),
                }
            }
            (Self::Ready(fd, events), Output::Ready(came)) => match came.first() {
                Some(&(live, bits)) if fd.is_some_and(|fd| fd != live) || events.is_some_and(|events| events != bits) => {
                    Err((format!("events {:#x}", events.unwrap_or(bits)), format!("events {bits:#x} of descriptor {live}")))
                }
                _ => Ok(()),
            },
            // An option of 32 bits may be written with or without a sign.
            (Self::Value(Value::Integer(expected)), Output::Value(Value::Integer(came))) if *expected as i32 == *came as i32 => Ok(()),
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

/// Whether a control message has the fields of another one; times may differ by `allowed` nanoseconds.
fn same(expected: &Control, came: &Control, allowed: Nanos) -> bool {
    let field = |(name, value): &(String, i64)| {
        let live = came.fields.iter().find(|(known, _)| known == name).map(|(_, live)| *live);
        live.is_some_and(|live| if name == Control::TIME { live.abs_diff(*value) <= allowed } else { live == *value })
    };
    (expected.level, expected.kind) == (came.level, came.kind) && expected.fields.iter().all(field)
}

/// Control messages for a failure.
fn show_control(messages: &[Control]) -> String {
    let message = |Control { level, kind, fields }: &Control| {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{{level {level}, type {kind}: {}}}", fields.join(", "))
    };
    format!("msg_control [{}]", messages.iter().map(message).collect::<Vec<_>>().join(", "))
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
        "connect" => nothing(Call::Connect { fd: arguments.fd(0)?, port: arguments.port(1)?, ends: arguments.is_named(1, "AF_UNSPEC") }),
        "write" | "send" | "sendto" => arguments.write(arguments.integer(2)?, if call.name == "write" { None } else { Some(3) }),
        "writev" => arguments.write(arguments.vector_size(1)?, None),
        "sendmsg" => {
            if arguments.control()?.is_some_and(|control| !control.is_empty()) {
                return Err("sendmsg with msg_control is not supported".to_owned());
            }
            arguments.write(arguments.message_size()?, Some(2))
        }
        "read" | "recv" | "recvfrom" => arguments.read(arguments.integer(2)?, if call.name == "read" { None } else { Some(3) }, false),
        "readv" => arguments.read(arguments.vector_size(1)?, None, false),
        "recvmsg" => {
            let control = arguments.control()?;
            let flags = arguments.message_part("msg_flags")?.map(integer).transpose()?;
            let asks = control.as_ref().is_some_and(|control| !control.is_empty());
            let (call, _) = arguments.read(arguments.message_size()?, Some(2), asks)?;
            Ok((call, Written::Message(flags, control)))
        }
        "epoll_create" | "epoll_create1" => nothing(Call::EpollCreate),
        "epoll_ctl" => {
            let events = match &arguments.at(3)?.kind {
                Kind::Struct(fields) => field(fields, &["events"]).map_or(Ok(0), integer)? as u32,
                _ => 0,
            };
            nothing(Call::EpollControl { epoll: arguments.fd(0)?, operation: arguments.integer(1)?, fd: arguments.fd(2)?, events })
        }
        "epoll_wait" => {
            let Kind::Struct(fields) = &arguments.at(1)?.kind else { return Err("epoll_wait needs a struct epoll_event".to_owned()) };
            let part = |name: &str| field(fields, &[name]).filter(|value| value.kind != Kind::Any).map(integer).transpose();
            let fd = part("fd")?.map(|fd| arguments.live(fd));
            let written = Written::Ready(fd, part("events")?.map(|events| events as u32));
            Ok((Call::EpollWait { epoll: arguments.fd(0)?, most: arguments.integer(2)?, timeout: arguments.integer(3)? }, written))
        }
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

/// Whether the call sends several buffers without copying them: a kernel limits their number in a segment.
pub(crate) fn scatters(call: &script::Call) -> bool {
    let arguments = Arguments { call, sockets: &Sockets::new() };
    let flags = arguments.integer_or(2, 0).unwrap_or(0);
    let vector = arguments.message_part("msg_iov").ok().flatten();
    let several = vector.is_some_and(|vector| matches!(&vector.kind, Kind::List(items) if items.len() > 1));
    call.name == "sendmsg" && several && flags & constants::ZERO_COPY != 0
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

    /// Whether an argument is the constant `name`.
    fn is_named(&self, index: usize, name: &str) -> bool {
        matches!(self.call.arguments.get(index), Some(Expression { kind: Kind::Name(known), .. }) if known == name)
    }

    fn write(&self, bytes: i64, flags: Option<usize>) -> Result<(Call, Written), Unsupported> {
        let flags = flags.map_or(Ok(0), |index| self.integer_or(index, 0))?;
        let connects = match self.call.name.as_str() {
            "sendto" if self.is_named(4, "AF_UNSPEC") => return Err("sendto with AF_UNSPEC is not supported".to_owned()),
            "sendto" => !self.is_named(4, "NULL"),
            "sendmsg" => true,
            _ => false,
        };
        Ok((
            Call::Write { fd: self.fd(0)?, bytes: bytes.max(0).unsigned_abs(), flags, connects, null: self.is_named(1, "NULL") },
            Written::Any,
        ))
    }

    fn read(&self, most: i64, flags: Option<usize>, control: bool) -> Result<(Call, Written), Unsupported> {
        let flags = flags.map_or(Ok(0), |index| self.integer_or(index, 0))?;
        Ok((Call::Read { fd: self.fd(0)?, most: most.max(0).unsigned_abs(), flags, control, null: self.is_named(1, "NULL") }, Written::Any))
    }

    /// Total size of an array of buffers `{..., SIZE}`.
    fn vector_size(&self, index: usize) -> Result<i64, Unsupported> {
        buffers(self.at(index)?)
    }

    /// A field of a `struct msghdr`; `None`: it is missing or `...`.
    fn message_part(&self, name: &str) -> Result<Option<&Expression>, Unsupported> {
        let Kind::Struct(fields) = &self.at(1)?.kind else { return Err(format!("{} needs a struct msghdr", self.call.name)) };
        Ok(field(fields, &[name]).filter(|value| value.kind != Kind::Any))
    }

    /// Total size of the buffers of a `struct msghdr`.
    fn message_size(&self) -> Result<i64, Unsupported> {
        buffers(self.message_part("msg_iov")?.ok_or_else(|| format!("{} needs msg_iov", self.call.name))?)
    }

    /// The control messages of a `struct msghdr`; `None`: any.
    fn control(&self) -> Result<Option<Vec<Control>>, Unsupported> {
        let Some(list) = self.message_part("msg_control")? else { return Ok(None) };
        let Kind::List(items) = &list.kind else { return Err("msg_control must be an array of struct cmsghdr".to_owned()) };
        let message = |item: &Expression| {
            let Kind::Struct(parts) = &item.kind else { return Err("msg_control must be an array of struct cmsghdr".to_owned()) };
            let part = |name: &str| field(parts, &[name]).ok_or_else(|| format!("struct cmsghdr needs {name}"));
            let fields = match &part("cmsg_data")?.kind {
                Kind::Any => Vec::new(),
                Kind::Struct(fields) => {
                    let mut read = Vec::new();
                    for Field { name, value, .. } in fields {
                        let (name, value) = (name.clone().unwrap_or_default(), integer(value)?);
                        // Seconds and nanoseconds are one time.
                        match name.as_str() {
                            "scm_sec" => read.push((Control::TIME.to_owned(), value.saturating_mul(1_000_000_000))),
                            "scm_nsec" => match read.last_mut() {
                                Some((last, seconds)) if last == Control::TIME => *seconds += value,
                                _ => read.push((Control::TIME.to_owned(), value)),
                            },
                            _ => read.push((name, value)),
                        }
                    }
                    read
                }
                _ => vec![(String::new(), integer(part("cmsg_data")?)?)],
            };
            Ok(Control { level: integer(part("cmsg_level")?)?, kind: integer(part("cmsg_type")?)?, fields })
        };
        items.iter().map(message).collect::<Result<_, _>>().map(Some)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Call, Written), Unsupported> {
        let script = crate::parse(&format!("0 {text}\n"), "script", &[]).expect("a script");
        let script::Action::Call(call) = &script.events[0].action else { panic!("a call") };
        translate(call, &Sockets::from([(3, 7)]))
    }

    #[test]
    fn control_messages_are_compared_field_by_field() {
        let text = "recvmsg(3, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE, msg_control=[{cmsg_level=SOL_SOCKET, \
                    cmsg_type=SCM_TIMESTAMPING, cmsg_data={scm_sec=2,scm_nsec=20}}, {cmsg_level=SOL_TCP, cmsg_type=TCP_CM_INQ, \
                    cmsg_data=9}]}, MSG_ERRQUEUE) = 0";
        let (call, written) = read(text).unwrap();
        assert_eq!(call, Call::Read { fd: 7, most: 0, flags: 0x2000, control: true, null: false });
        let live = |nanos: i64, bytes: i64| {
            let message =
                |level, kind, name: &str, value| Control { level, kind, fields: vec![(name.to_owned(), value), ("more".to_owned(), 1)] };
            Output::Message(0x2000, vec![message(1, 37, Control::TIME, 2_000_000_020 + nanos), message(6, 36, "", bytes)])
        };
        assert_eq!(written.compare(&live(5, 9), 5), Ok(()));
        assert!(written.compare(&live(6, 9), 5).is_err() && written.compare(&live(0, 8), 5).is_err());
        assert!(written.compare(&Output::Message(0, Vec::new()), 5).unwrap_err().0.contains("msg_flags"));
    }

    #[test]
    fn flags_and_peers_of_messages() {
        let write = |text: &str| match read(text) {
            Ok((Call::Write { flags, connects, null, .. }, _)) => (flags, connects, null),
            other => panic!("{other:?}"),
        };
        assert_eq!(write("sendto(3, ..., 9, MSG_FASTOPEN|MSG_ZEROCOPY, ..., ...) = 9"), (0x2400_0000, true, false));
        assert_eq!(write("sendto(3, ..., 9, MSG_EOR, NULL, 0) = 9"), (0x80, false, false));
        assert_eq!(write("send(3, NULL, 9, 0) = -1 EFAULT"), (0, false, true));
        let scattered = |flags: &str| {
            let text = format!("0 sendmsg(3, {{msg_name(...)=..., msg_iov(2)=[{{..., 1}}, {{..., 2}}], msg_flags=0}}, {flags}) = 3\n");
            let script = crate::parse(&text, "script", &[]).expect("a script");
            matches!(&script.events[0].action, script::Action::Call(call) if scatters(call))
        };
        assert!(scattered("MSG_ZEROCOPY") && !scattered("MSG_EOR"));
        assert!(read("sendto(3, ..., 9, 0, AF_UNSPEC, ...) = 9").unwrap_err().contains("AF_UNSPEC"));
        assert_eq!(read("connect(3, AF_UNSPEC, ...) = 0").unwrap().0, Call::Connect { fd: 7, port: None, ends: true });
    }

    #[test]
    fn events_of_epoll() {
        let (call, written) = read("epoll_wait(3, {events=EPOLLERR|EPOLLOUT, fd=3}, 1, 0) = 1").unwrap();
        assert_eq!(call, Call::EpollWait { epoll: 7, most: 1, timeout: 0 });
        assert_eq!(written.compare(&Output::Ready(vec![(7, 12)]), 0), Ok(()));
        assert!(written.compare(&Output::Ready(vec![(7, 4)]), 0).is_err());
        assert_eq!(written.compare(&Output::Ready(Vec::new()), 0), Ok(()), "the result shows that there is none");
    }
}
