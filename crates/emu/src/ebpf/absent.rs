//! A build without the loader.

use std::convert::Infallible;

use ackclock_kernel::Program;

use super::record::Record;

const MISSING: &str = "this build of Ackclock cannot load eBPF programs, because libelf and zlib were missing when it was built; \
     the wheels for Linux can (pip install ackclock), and so can a source tree (Debian: libelf-dev zlib1g-dev, then `make core`)";

/// A program that the kernel has registered: none in this build.
#[derive(Debug)]
pub struct Loaded(Infallible);

impl Loaded {
    /// The name for `TCP_CONGESTION`.
    pub const fn name(&self) -> &str {
        match self.0 {}
    }

    /// Records since the last call.
    ///
    /// # Errors
    /// Never.
    pub const fn records(&mut self) -> Result<Vec<Record>, String> {
        match self.0 {}
    }

    /// Number of records that found the ring buffer full.
    pub const fn lost(&self) -> u64 {
        match self.0 {}
    }
}

/// Whether this machine can run programs: it cannot.
///
/// # Errors
/// Always.
pub fn probe() -> Result<(), String> {
    Err(MISSING.to_owned())
}

pub(crate) fn check(program: &Program) -> Result<(), String> {
    Err(format!("{program} needs an eBPF program, and {MISSING}"))
}

/// Registers a program with the kernel under a name of its own. With `recording` it reports every ACK ([`Loaded::records`]).
///
/// # Errors
/// If this build has no loader, or the machine lacks rights or a feature of the kernel: the message says which.
pub fn load(_program: &Program, _recording: bool) -> Result<Loaded, String> {
    Err(MISSING.to_owned())
}
