//! Real-time priority, locked memory, the clock, and waiting for descriptors.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_ulong};
use std::io;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

use crate::result::check;

/// Gives the calling thread the real-time priority `priority` of `SCHED_FIFO` (0: the ordinary policy).
///
/// # Errors
/// Those of the kernel, such as missing rights.
pub fn priority(priority: c_int) -> io::Result<()> {
    let policy = if priority > 0 { libc::SCHED_FIFO } else { libc::SCHED_OTHER };
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the structure outlives the call; 0 is the calling thread.
    check(unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) }).map(drop)
}

/// Lets timers of the calling thread fire without slack (1 ns instead of 50 µs).
///
/// # Errors
/// Those of the kernel.
pub fn exact_timers() -> io::Result<()> {
    // SAFETY: without pointers.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as c_ulong) }).map(drop)
}

/// Keeps the pages of this process in memory while it exists.
#[derive(Debug)]
pub struct LockedMemory(());

impl LockedMemory {
    /// Locks all pages as soon as they are used. Locking them at once would load every reserved page, which took 0.1 s and 170 MB.
    ///
    /// # Errors
    /// Those of the kernel, such as a limit (`ulimit -l`).
    pub fn new() -> io::Result<Self> {
        // SAFETY: without pointers.
        check(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) }).map(|_| Self(()))
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: without pointers; cannot fail for locks of this process.
        unsafe { libc::munlockall() };
    }
}

/// How many threads of this process are pinned to each processor.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Keeps the calling thread, and what it starts meanwhile, on one processor. Two processes that take turns cost three times the processor time
/// on two processors.
#[derive(Debug)]
pub struct Pinned {
    before: libc::cpu_set_t,
    processor: usize,
    /// Belongs to the thread.
    thread: PhantomData<*const ()>,
}

impl Pinned {
    /// Chooses the processor with the fewest pinned threads of this process; among equals, the one on which the thread runs.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn new() -> io::Result<Self> {
        let size = std::mem::size_of::<libc::cpu_set_t>();
        // SAFETY: a structure of integers, for which zero is valid.
        let (mut before, mut one): (libc::cpu_set_t, libc::cpu_set_t) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: the structure outlives the calls, and the size is its own; 0 is the calling thread.
        let here = unsafe {
            check(libc::sched_getaffinity(0, size, &raw mut before))?;
            usize::try_from(libc::sched_getcpu()).unwrap_or(0)
        };
        let mut pinned = PINNED.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the numbers are below the size of the set.
        let allowed = (0..libc::CPU_SETSIZE as usize).filter(|processor| unsafe { libc::CPU_ISSET(*processor, &before) });
        let load = |processor: &usize| (pinned.get(processor).copied().unwrap_or(0), *processor != here);
        let processor = allowed.min_by_key(load).unwrap_or(here);
        // SAFETY: as above.
        unsafe {
            libc::CPU_SET(processor, &mut one);
            check(libc::sched_setaffinity(0, size, &raw const one))?;
        }
        *pinned.entry(processor).or_default() += 1;
        Ok(Self { before, processor, thread: PhantomData })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut pinned = PINNED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = pinned.get_mut(&self.processor) {
            *count -= 1;
        }
        // SAFETY: the structure outlives the call, and the size is its own; an error leaves the thread where it is.
        unsafe { libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &raw const self.before) };
    }
}

/// Nanoseconds of the monotonic clock.
pub fn clock() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of the clock of the day, since 1970.
pub fn day() -> i64 {
    nanoseconds(libc::CLOCK_REALTIME).cast_signed()
}

/// Nanoseconds of processor time of the calling thread.
pub fn thread_time() -> u64 {
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure outlives the call, which cannot fail with these clocks.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Waits until a descriptor has one of its events, at most `nanos`; without end if `None`. Signals end the wait.
///
/// # Errors
/// Those of `ppoll`.
pub fn poll(fds: &mut [libc::pollfd], nanos: Option<u64>) -> io::Result<()> {
    let time = nanos
        .map(|nanos| libc::timespec { tv_sec: (nanos / 1_000_000_000) as libc::time_t, tv_nsec: (nanos % 1_000_000_000) as libc::c_long });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: array and time outlive the call, and the length is the array's.
    let result = check(unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, time, std::ptr::null()) });
    match result {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        other => other.map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_threads_spread_over_the_processors() {
        let allowed = std::thread::available_parallelism().unwrap().get();
        let one = Pinned::new().unwrap();
        let other = std::thread::scope(|scope| scope.spawn(|| Pinned::new().unwrap().processor).join().unwrap());
        // The other thread inherits one processor from this one.
        assert_eq!(other, one.processor);
        drop(one);
        let wait = std::sync::Barrier::new(2);
        let processors: Vec<usize> = std::thread::scope(|scope| {
            let pin = || {
                let pinned = Pinned::new().unwrap();
                wait.wait();
                pinned.processor
            };
            let threads = [scope.spawn(pin), scope.spawn(pin)];
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(allowed == 1 || processors[0] != processors[1], "{processors:?}");
    }
}
