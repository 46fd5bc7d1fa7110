//! What every run in a guest begins with: the kernel, the commands of the set-up, and the time of the start.

use std::path::Path;

use ackclock_kernel::KernelError;
use ackclock_sim::scenario::Given;

use crate::guest::{Guest, GuestError};

/// What the whole guest has: buffers of all sockets without a limit (in pages), and room for packets that arrive at one time.
pub(crate) const GLOBAL: &str = "set ipv4/tcp_mem 4194304 4194304 4194304;set core/netdev_max_backlog 100000";
/// Most bytes of a line of commands.
pub(crate) const LINE: usize = 32 << 10;
/// The kernel's time at which a run starts, at the earliest, in nanoseconds.
const START: u64 = 1_000_000_000;

/// A kernel that `ackclock kernel build` made.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// Ticks per second.
    pub hz: u32,
}

/// Time between two ticks of the kernel, in nanoseconds.
pub(crate) fn tick(hz: u32) -> u64 {
    1_000_000_000 / u64::from(hz)
}

/// Ticks of the coarsest expiry of a timer that a run of a quarter of an hour meets. A run with a given phase starts at a multiple of them.
const COARSEST: u64 = 4096;

/// The kernel's time at which a run starts that may start at `now`: `phase` nanoseconds after a tick at which also coarse timers expire. By
/// default the seed moves it within a tick, whichever one comes next.
pub(crate) fn start(hz: u32, seed: u64, phase: Option<u64>, now: u64) -> u64 {
    let (now, tick) = (now.max(START), tick(hz));
    // The kernel counts its ticks from 300 s before an overflow on.
    let counted = tick * (COARSEST - 300 * u64::from(hz) % COARSEST);
    match phase {
        Some(phase) => (now + counted).next_multiple_of(tick * COARSEST) - counted + phase,
        None => now.next_multiple_of(tick) + scramble(seed) % tick,
    }
}

/// A number that depends on every bit of another (splitmix64).
fn scramble(seed: u64) -> u64 {
    let mut word = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// Commands for the first process, in lines of many.
pub(crate) struct Commands<'a> {
    guest: &'a mut Guest,
    line: String,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(guest: &'a mut Guest) -> Self {
        Self { guest, line: String::new() }
    }

    pub(crate) fn add(&mut self, command: &str) -> Result<(), GuestError> {
        if self.line.len() + command.len() > LINE {
            self.send()?;
        }
        if !self.line.is_empty() {
            self.line.push(';');
        }
        self.line.push_str(command);
        Ok(())
    }

    /// Does what a value of the scenario asks for.
    pub(crate) fn ask(&mut self, command: &str, given: &Given) -> Result<(), KernelError> {
        self.send()?;
        match self.guest.ask(command)?.as_str() {
            "ok" => Ok(()),
            answer => Err(KernelError::Refused(format!("{}: {answer}", given.place))),
        }
    }

    /// Does what an older kernel does anyway, which lacks the parameter.
    pub(crate) fn attempt(&mut self, command: &str) -> Result<(), GuestError> {
        self.send()?;
        self.guest.ask(command).map(|_| ())
    }

    fn send(&mut self) -> Result<(), GuestError> {
        // The first process waits for a line that says something.
        if self.line.is_empty() {
            return Ok(());
        }
        self.guest.set_up(&std::mem::take(&mut self.line))
    }

    pub(crate) fn finish(mut self) -> Result<(), GuestError> {
        self.send()
    }
}
