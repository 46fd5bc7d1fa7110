//! Loads the object, registers it with the kernel, and reads its ring buffer.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use ackclock_core::cc::{avoidance, slow_start};
use ackclock_core::params::Params;
use ackclock_kernel::{Part, Program};
use ackclock_sim::scenario::PartSpec;
use libbpf_rs::btf::types::{DataSec, MemberAttr, Struct};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{ErrorKind, Link, MapCore as _, MapFlags, Object, ObjectBuilder, OpenObject, PrintLevel};

use super::parameters::{self, Assignment};
use super::reader::Reader;
use super::record::Record;
use super::variables::{self, Variable, Variables};

/// The object in memory; libbpf reads its tables as words.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);

static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!("control.bpf.o"));

/// The map with the operations of the control, and the type of these operations.
const CONTROL: &str = "control";
const OPERATIONS: &str = "tcp_congestion_ops";
/// The ring buffer.
const RECORDS: &str = "acks";
/// The counter of records that found it full.
const LOST: &str = "lost_records";
/// Length of the kernel's longest name of a congestion control.
const NAME_LENGTH: usize = 15;
/// Names that are tried, in case that another process has the same ones.
const ATTEMPTS: u32 = 100;

/// A program that the kernel has registered. Dropping it, or the end of this process, removes it; connections that use it keep it until
/// they end.
#[derive(Debug)]
pub struct Loaded {
    // Fields are dropped in this order: the kernel forgets the name first.
    _link: Link,
    reader: Reader,
    object: Object,
    name: String,
}

impl Loaded {
    /// The name for `TCP_CONGESTION`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Records since the last call, of all sockets that use the program, in the order of their events.
    ///
    /// # Errors
    /// If the ring buffer cannot be read, or has something else.
    pub fn records(&mut self) -> Result<Vec<Record>, String> {
        self.reader.records().map_err(|reason| format!("{}: {reason}", self.name))
    }

    /// Number of records that found the ring buffer full.
    pub fn lost(&self) -> u64 {
        let read = || {
            let variable = object_variables().as_ref().ok()?.get(LOST)?;
            let map = self.object.maps().find(|map| belongs(map.name(), &variable.section))?;
            let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok()??;
            Some(variables::read(&value, variable.offset, 8))
        };
        read().unwrap_or(0)
    }
}

/// Whether this machine can run programs: registers one and removes it.
///
/// # Errors
/// What is missing.
pub fn probe() -> Result<(), String> {
    let part = |axis, name| Part { axis, spec: PartSpec::new(name, Params(Vec::new())) };
    let parts = vec![part(&slow_start::AXIS, "standard"), part(&avoidance::AXIS, "reno")];
    load(&Program::new(parts, f64::INFINITY), false).map(drop)
}

/// Whether the object has the parts of a program.
///
/// # Errors
/// As [`variables::accepted`].
pub(crate) fn check(program: &Program) -> Result<(), String> {
    variables::accepted(program.parts(), object_variables().as_ref().map_err(Clone::clone)?).map(drop)
}

/// Registers a program with the kernel under a name of its own. With `recording` it reports every ACK ([`Loaded::records`]).
///
/// # Errors
/// If this build has no loader, or the machine lacks rights or a feature of the kernel: the message says which.
pub fn load(program: &Program, recording: bool) -> Result<Loaded, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let variables = object_variables().as_ref().map_err(Clone::clone)?;
    let mut assignments = vec![parameters::threshold(program), Assignment::one("recording", u64::from(recording))];
    assignments.extend(variables::accepted(program.parts(), variables)?);
    for _ in 0..ATTEMPTS {
        let name = unique_name(process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        match attempt(&name, &assignments, variables) {
            Err(Failure::NameTaken) => {}
            Err(Failure::Other(reason)) => return Err(reason),
            Ok(loaded) => return Ok(loaded),
        }
    }
    Err(format!(
        "the kernel has congestion controls under {ATTEMPTS} names that this process would use; `bpftool struct_ops list` shows them"
    ))
}

/// Why a program was not registered.
enum Failure {
    NameTaken,
    Other(String),
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

fn attempt(name: &str, assignments: &[Assignment], variables: &Variables) -> Result<Loaded, Failure> {
    let opened = open()?;
    let loaded = prepare(opened, name, assignments, variables)?.load();
    let mut object = loaded.map_err(|error| explain(&error))?;
    let Some(mut control) = object.maps_mut().find(|map| map.name() == CONTROL) else {
        return Err(format!("the object has no map `{CONTROL}`").into());
    };
    let link = control.attach_struct_ops().map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::NameTaken,
        _ => explain(&error).into(),
    })?;
    let map = object.maps().find(|map| map.name() == RECORDS).ok_or_else(|| format!("the object has no ring buffer `{RECORDS}`"))?;
    let reader = Reader::new(&map)?;
    Ok(Loaded { _link: link, reader, object, name: name.to_owned() })
}

/// Opens the object without loading it.
fn open() -> Result<OpenObject, String> {
    libbpf_rs::set_print(Some((PrintLevel::Warn, log)));
    ObjectBuilder::default().open_memory(&OBJECT.0).map_err(|error| format!("the eBPF object is unusable: {error}"))
}

/// Sets the variables and the name.
fn prepare(mut object: OpenObject, name: &str, assignments: &[Assignment], variables: &Variables) -> Result<OpenObject, String> {
    for Assignment { name: variable, values, .. } in assignments {
        let place = variables.get(variable).ok_or_else(|| format!("the object has no variable {variable}"))?;
        let mut map = object.maps_mut().find(|map| belongs(map.name(), &place.section));
        let section = map.as_mut().and_then(|map| map.initial_value_mut());
        let section = section.ok_or_else(|| format!("the object has no section {}", place.section))?;
        variables::write(section, place, values).map_err(|reason| format!("{variable}: {reason}"))?;
    }
    let at = name_offset()?;
    let mut control = object.maps_mut().find(|map| map.name() == CONTROL);
    let operations = control.as_mut().and_then(|map| map.initial_value_mut());
    let place = operations.and_then(|operations| operations.get_mut(at..=at + NAME_LENGTH));
    let place = place.ok_or_else(|| format!("the object has no map `{CONTROL}`"))?;
    place.fill(0);
    place[..name.len()].copy_from_slice(name.as_bytes());
    Ok(object)
}

/// Whether a map is that of a section: libbpf puts the object's name, or part of it, before the section's.
fn belongs(map: &OsStr, section: &str) -> bool {
    map.to_str().is_some_and(|name| name.ends_with(section))
}

/// A name that no other process on this machine has, unless its process number is from another namespace.
fn unique_name(process: u32, number: u32) -> String {
    // At most 5 digits for 2^22 processes, and 6 for the number.
    let mut name = format!("ack{}_{}", base36(process % (1 << 25)), base36(number));
    name.truncate(NAME_LENGTH);
    name
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The variables of the object.
fn object_variables() -> &'static Result<Variables, String> {
    static VARIABLES: OnceLock<Result<Variables, String>> = OnceLock::new();
    VARIABLES.get_or_init(|| {
        let (btf, object) = (types()?, open()?);
        let mut all = Variables::new();
        for section in btf.type_by_kind::<DataSec<'_>>() {
            let Some(name) = section.name().and_then(OsStr::to_str) else { continue };
            let map = object.maps().find(|map| belongs(map.name(), name));
            let values = map.as_ref().and_then(|map| map.initial_value()).unwrap_or_default();
            for member in section.iter() {
                let variable = btf.type_by_id::<BtfType<'_>>(member.ty).and_then(|variable| variable.name()?.to_str());
                let Some(variable) = variable else { continue };
                let (offset, size) = (member.offset as usize, member.size);
                let value = variables::read(values, offset, size.min(8));
                all.insert(variable.to_owned(), Variable { section: name.to_owned(), offset, size, value });
            }
        }
        Ok(all)
    })
}

/// Offset of the name among the operations.
fn name_offset() -> Result<usize, String> {
    let btf = types()?;
    let operations = btf.type_by_name::<Struct<'_>>(OPERATIONS).ok_or_else(|| format!("the object has no type {OPERATIONS}"))?;
    for member in operations.iter() {
        if let (Some("name"), MemberAttr::Normal { offset }) = (member.name.and_then(OsStr::to_str), member.attr) {
            return Ok(offset as usize / 8);
        }
    }
    Err(format!("{OPERATIONS} of the object has no name"))
}

fn types() -> Result<Btf<'static>, String> {
    libbpf_rs::set_print(Some((PrintLevel::Warn, log)));
    let types = Btf::from_raw("control", &OBJECT.0).map_err(|error| format!("the eBPF object is unusable: {error}"))?;
    types.ok_or_else(|| "the eBPF object has no types".to_owned())
}

/// What libbpf said last.
static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn log(_level: PrintLevel, message: String) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    if log.len() > 20 {
        log.remove(0);
    }
    log.push(message);
}

/// Why the kernel refused a program.
fn explain(error: &libbpf_rs::Error) -> String {
    let said = std::mem::take(&mut *LOG.lock().unwrap_or_else(PoisonError::into_inner));
    if matches!(error.kind(), ErrorKind::PermissionDenied) {
        return "the kernel refused an eBPF program: it needs root, or the capabilities CAP_BPF and CAP_NET_ADMIN outside of user namespaces".to_owned();
    }
    if let Err(missing) = std::fs::metadata("/sys/kernel/btf/vmlinux") {
        let missing = if missing.kind() == io::ErrorKind::NotFound { "does not exist".to_owned() } else { missing.to_string() };
        return format!(
            "the kernel has no description of its types (BTF): /sys/kernel/btf/vmlinux {missing}; it needs CONFIG_DEBUG_INFO_BTF"
        );
    }
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut text = format!("the kernel (Linux {}) refused the eBPF program, which needs version 6.4 or later: {error}", release.trim());
    for line in said.iter().flat_map(|message| message.lines()).filter(|line| !line.trim().is_empty()) {
        let _ = write!(text, "\n  {}", line.trim_end());
    }
    text
}
