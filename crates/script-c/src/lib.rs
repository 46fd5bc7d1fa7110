//! Runs packetdrill scripts against a TCP stack written in C; `include/ackclock_script.h` documents the interface.
//!
//! Every function of the stack gets the context that the caller gave; the runner calls them from one thread only, one after the other.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::net::{IpAddr, SocketAddr};

use ackclock_core::units::Instant;
use ackclock_script::stack::{Answer, Ends, INFO_FIELDS, Info, Refusal, Socket, Stack, Status, Value, Writing};
use ackclock_script::{Errno, Options, Outcome, Simulated, Tolerance, Verdict, run};

/// No timer is set.
const NEVER: u64 = u64::MAX;
/// Result of a call that the stack does not implement.
const UNSUPPORTED: i64 = i64::MIN;
/// Largest packet.
const MOST_BYTES: usize = 65_600;

/// An address with a port.
#[repr(C)]
pub struct Address {
    bytes: [u8; 16],
    version: u8,
    port: u16,
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let mut bytes = [0; 16];
        let version = match address.ip() {
            IpAddr::V4(ip) => {
                bytes[..4].copy_from_slice(&ip.octets());
                4
            }
            IpAddr::V6(ip) => {
                bytes = ip.octets();
                6
            }
        };
        Self { bytes, version, port: address.port() }
    }
}

/// The functions of a stack, in the order of the header.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header documents them")]
pub struct Functions {
    pub context: *mut c_void,
    pub handle: Option<unsafe extern "C" fn(*mut c_void, u64, *const u8, usize)>,
    pub poll_transmit: Option<unsafe extern "C" fn(*mut c_void, u64, *mut u8, usize) -> usize>,
    pub poll_timeout: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    pub handle_timeout: Option<unsafe extern "C" fn(*mut c_void, u64)>,
    pub socket: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub listen: Option<unsafe extern "C" fn(*mut c_void, u32, *const Address) -> i64>,
    pub accept: Option<unsafe extern "C" fn(*mut c_void, u64, u32) -> i64>,
    pub connect: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *const Address, *const Address) -> i64>,
    pub write: Option<unsafe extern "C" fn(*mut c_void, u64, u32, u64, c_int) -> i64>,
    pub read: Option<unsafe extern "C" fn(*mut c_void, u64, u32, u64) -> i64>,
    pub shutdown: Option<unsafe extern "C" fn(*mut c_void, u64, u32, c_int, c_int) -> i64>,
    pub close: Option<unsafe extern "C" fn(*mut c_void, u64, u32) -> i64>,
    pub set_option: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *const c_char, i64) -> i64>,
    pub get_option: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *const c_char, *mut i64) -> i64>,
    pub status: Option<unsafe extern "C" fn(*mut c_void, u32, *mut i32) -> u32>,
    pub info: Option<unsafe extern "C" fn(*mut c_void, u64, u32, *const c_char, *mut i64) -> i64>,
    pub configure: Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> i64>,
}

/// A stack written in C.
struct Foreign(Functions);

fn missing<T>(what: &str) -> Answer<T> {
    Err(Refusal::Unsupported(format!("the stack under test does not implement {what}")))
}

/// The answer in a result of the stack.
fn answer(result: i64, what: &str) -> Answer<i64> {
    match result {
        UNSUPPORTED => missing(what),
        0.. => Ok(result),
        _ => Err(Errno(i32::try_from(result.saturating_neg()).unwrap_or(Errno::EINVAL.0)).into()),
    }
}

/// Calls a function of the stack, and reads its answer. The stack promises that its functions accept the context and such arguments.
macro_rules! call {
    ($stack:expr, $name:ident $(, $argument:expr)*) => {
        match $stack.0.$name {
            // SAFETY: the header requires a valid function; its pointers are valid for the call.
            Some(function) => answer(unsafe { function($stack.0.context $(, $argument)*) }, stringify!($name)),
            None => missing(stringify!($name)),
        }
    };
}

fn text(value: &str) -> Answer<CString> {
    CString::new(value).map_err(|_| Errno::EINVAL.into())
}

impl Stack for Foreign {
    fn handle(&mut self, now: Instant, packet: &[u8]) {
        if let Some(function) = self.0.handle {
            // SAFETY: as in `call`; the packet has this length.
            unsafe { function(self.0.context, now.as_nanos(), packet.as_ptr(), packet.len()) }
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        let function = self.0.poll_transmit?;
        let mut packet = vec![0; MOST_BYTES];
        // SAFETY: as in `call`; the buffer has this room.
        let length = unsafe { function(self.0.context, now.as_nanos(), packet.as_mut_ptr(), packet.len()) };
        packet.truncate(length);
        (length > 0).then_some(packet)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        // SAFETY: as in `call`.
        let due = unsafe { self.0.poll_timeout?(self.0.context) };
        (due != NEVER).then(|| Instant::from_nanos(due))
    }

    fn handle_timeout(&mut self, now: Instant) {
        if let Some(function) = self.0.handle_timeout {
            // SAFETY: as in `call`.
            unsafe { function(self.0.context, now.as_nanos()) }
        }
    }

    fn socket(&mut self) -> Answer<Socket> {
        call!(self, socket).map(|socket| socket as Socket)
    }

    fn listen(&mut self, socket: Socket, local: SocketAddr, _backlog: i64) -> Answer<()> {
        call!(self, listen, socket, &Address::from(local)).map(drop)
    }

    fn accept(&mut self, now: Instant, listener: Socket) -> Answer<Option<Socket>> {
        match call!(self, accept, now.as_nanos(), listener) {
            Ok(socket) => Ok(Some(socket as Socket)),
            Err(Refusal::Error(Errno::EAGAIN)) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    fn connect(&mut self, now: Instant, socket: Socket, ends: Ends) -> Answer<()> {
        call!(self, connect, now.as_nanos(), socket, &Address::from(ends.local), &Address::from(ends.remote)).map(drop)
    }

    fn write(&mut self, now: Instant, socket: Socket, bytes: u64, how: Writing) -> Answer<u64> {
        if how.ends_record || how.zero_copy {
            return Err(Refusal::Unsupported("the stack under test has neither MSG_EOR nor MSG_ZEROCOPY".to_owned()));
        }
        call!(self, write, now.as_nanos(), socket, bytes, c_int::from(how.more)).map(i64::unsigned_abs)
    }

    fn read(&mut self, now: Instant, socket: Socket, most: u64) -> Answer<Option<u64>> {
        match call!(self, read, now.as_nanos(), socket, most) {
            Ok(bytes) => Ok(Some(bytes.unsigned_abs())),
            Err(Refusal::Error(Errno::EAGAIN)) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    fn shutdown(&mut self, now: Instant, socket: Socket, read: bool, write: bool) -> Answer<()> {
        call!(self, shutdown, now.as_nanos(), socket, c_int::from(read), c_int::from(write)).map(drop)
    }

    fn close(&mut self, now: Instant, socket: Socket) -> Answer<()> {
        call!(self, close, now.as_nanos(), socket).map(drop)
    }

    fn set_option(&mut self, now: Instant, socket: Socket, name: &str, value: &Value) -> Answer<()> {
        let Value::Integer(number) = value else { return missing(&format!("{name} with a value that is no number")) };
        call!(self, set_option, now.as_nanos(), socket, text(name)?.as_ptr(), *number).map(drop)
    }

    fn option(&mut self, now: Instant, socket: Socket, name: &str) -> Answer<Value> {
        let mut value = 0;
        call!(self, get_option, now.as_nanos(), socket, text(name)?.as_ptr(), &raw mut value)?;
        Ok(Value::Integer(value))
    }

    fn status(&self, socket: Socket) -> Status {
        let Some(function) = self.0.status else {
            // Without this function, accept and read decide what waits.
            return Status { writable: true, ..Status::default() };
        };
        let mut error = 0;
        // SAFETY: as in `call`.
        let bits = unsafe { function(self.0.context, socket, &raw mut error) };
        Status {
            connecting: bits & 1 != 0,
            readable: bits & 2 != 0,
            writable: bits & 4 != 0,
            peer_closed: bits & 8 != 0,
            hung_up: bits & 16 != 0,
            error: (error != 0).then_some(Errno(error)),
            ..Status::default()
        }
    }

    fn info(&self, now: Instant, socket: Socket) -> Info {
        let field = |name: &&'static str| {
            let mut value = 0;
            call!(self, info, now.as_nanos(), socket, text(name).ok()?.as_ptr(), &raw mut value).ok()?;
            Some((*name, value))
        };
        INFO_FIELDS.iter().filter_map(field).collect()
    }

    fn configure(&mut self, name: &str, value: &str) -> Answer<()> {
        call!(self, configure, text(name)?.as_ptr(), text(value)?.as_ptr())
            .map(drop)
            .map_err(|why| if let Refusal::Unsupported(_) = why { Refusal::Unsupported(format!("the setting {name}")) } else { why })
    }
}

/// Runs a script; the header documents it.
///
/// # Safety
/// The texts end with a zero, `tolerance` may be null, `stack` points to functions that keep the header's promises, and `message` has
/// `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ackclock_script_run(
    script: *const c_char,
    file: *const c_char,
    tolerance: *const c_char,
    stack: *const Functions,
    message: *mut c_char,
    room: usize,
) -> c_int {
    let read = |pointer: *const c_char| {
        // SAFETY: the caller passes null or a text that ends with a zero.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    };
    let (script, file) = (read(script).unwrap_or_default(), read(file).unwrap_or_default());
    // SAFETY: the caller passes null or a valid struct.
    let functions = unsafe { stack.as_ref() };
    let outcome = match (read(tolerance).map(|text| Tolerance::read(&text)).transpose(), functions) {
        (Err(reason), _) => Err(reason),
        (_, None) => Err("no stack was given".to_owned()),
        (Ok(tolerance), Some(functions)) => {
            let options = Options { file: file.clone(), tolerance, ..Options::default() };
            Ok(run(&script, &options, |network| Ok(Simulated::new(Foreign(*functions), network))))
        }
    };
    let (verdict, text) = match outcome {
        Ok(outcome) => (number(&outcome), outcome.describe(&file, &script)),
        Err(reason) => (3, reason),
    };
    if room > 0 && !message.is_null() {
        let length = text.len().min(room - 1);
        // SAFETY: the caller's buffer has `room` bytes, and the text is shorter.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), message, length);
            *message.add(length) = 0;
        }
    }
    verdict
}

/// The number of a verdict.
fn number(outcome: &Outcome) -> c_int {
    match outcome.verdict {
        Verdict::Passed => 0,
        Verdict::Failed(_) => 1,
        Verdict::Unsupported { .. } => 2,
        Verdict::Error { .. } => 3,
    }
}
