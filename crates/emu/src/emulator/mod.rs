//! The emulator: a simulation driven by the wall clock, whose packets the kernel sends and receives at TUN devices.
//!
//! Links run in virtual time. The wall clock only stamps arrivals, when a frame is read from its device, and releases deliveries, when the
//! virtual time of an arrival has come. A late wake-up therefore delays the packets that were due, but changes neither the rate of a link
//! nor the order of packets.
//!
//! One thread does all of this. It sleeps until the next event or frame (`ppoll`); it never spins, because the kernel's TCP needs the
//! processor. With the rights for it, the thread has a real-time priority, exact timers and locked memory.

mod lateness;
mod port;
mod taint;

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, mpsc::Receiver};
use std::thread;

use ackclock_core::units::{Duration, Instant};
use ackclock_linux::libc;
use ackclock_linux::scheduling::{LockedMemory, exact_timers, poll, priority, thread_time};
use ackclock_sim::engine::Live;

pub use lateness::Lateness;
pub use port::{Clock, Port, Ports};

use port::Read;

/// Real-time priority of the emulator. Threads with sockets have a lower one.
const PRIORITY: i32 = 30;
/// Frames read from a device before the next device has its turn.
const BATCH: usize = 64;
/// Shortest time between two wake-ups, in nanoseconds. At rates above 100 Mbit/s the emulator then moves several packets at once. Without
/// it, a packet every 24 µs keeps one processor busy to 85 %, and the scheduler takes 50 ms away from real-time threads.
const REST: u64 = 100_000;
/// Time between two questions whether the caller interrupts the run.
const ASK: std::time::Duration = std::time::Duration::from_millis(50);

/// A run on the emulator.
#[derive(Debug)]
pub struct Emulator {
    live: Live,
    ports: Ports,
    stop: (PipeReader, Arc<PipeWriter>),
}

/// Ends a run early, from any thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<PipeWriter>);

impl Stopper {
    /// Ends the run as soon as the emulator wakes up, which is at once.
    pub fn stop(&self) {
        // The pipe is full only if the run has long been told to end.
        (&*self.0).write_all(&[0]).ok();
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct Outcome {
    /// The simulation: its `finish` gives the result.
    pub live: Live,
    /// How late packets were released.
    pub lateness: Lateness,
    /// Processor time of the emulator.
    pub cpu: Duration,
    /// How long the run took: the scenario's duration, or less if it was stopped.
    pub elapsed: Duration,
    /// Frames from the devices that belonged to no flow; the emulator discards them.
    pub strays: u64,
    /// Whether the thread had a real-time priority.
    pub real_time: bool,
    /// Whether the caller interrupted the run.
    pub interrupted: bool,
}

impl Outcome {
    /// Why the result must not be used: packets were released too late. `None` if it can be used.
    pub fn taint(&self) -> Option<String> {
        taint::reason(&self.lateness)
    }
}

impl Emulator {
    /// A run of `live`, whose connections use `ports`.
    ///
    /// # Errors
    /// If the process has too many open files.
    pub fn new(live: Live, ports: Ports) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self { live, ports, stop: (reader, Arc::new(writer)) })
    }

    /// Ends the run early.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.stop.1))
    }

    /// Runs to the end of the scenario, or until it is stopped. Time zero is shortly after this call. `interrupted` is called from time to
    /// time; if it returns true, the run stops.
    ///
    /// # Errors
    /// If a device fails, or the engine.
    pub fn run(self, interrupted: &mut dyn FnMut() -> bool) -> Result<Outcome, String> {
        // Without the rights, pages can be swapped out; the lateness shows it.
        let _memory = LockedMemory::new().ok();
        let stopper = self.stopper();
        let (done, ended) = mpsc::sync_channel(1);
        let drive = move || done.send(self.drive()).ok();
        let thread = thread::Builder::new().name("emulator".to_owned()).spawn(drive);
        let thread = thread.map_err(|error| format!("the emulator does not start: {error}"))?;
        let (outcome, asked) = wait(&ended, &stopper, interrupted);
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
        let outcome = outcome.ok_or("the emulator ended without a result")??;
        Ok(Outcome { interrupted: asked, ..outcome })
    }

    fn drive(mut self) -> Result<Outcome, String> {
        // Exact timers need no rights.
        exact_timers().ok();
        let real_time = priority(PRIORITY).is_ok();
        let devices = self.ports.devices().iter().map(AsRawFd::as_raw_fd);
        let watched = devices.chain([self.stop.0.as_raw_fd()]);
        let mut watched: Vec<libc::pollfd> = watched.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        let mut buffer = Ports::buffer();
        let (clock, end, mut strays) = (self.ports.clock().clone(), self.live.end(), 0);
        let began = thread_time();
        clock.start();
        let stop = watched.len() - 1;
        let elapsed = loop {
            let now = clock.now();
            self.live.advance(now).map_err(|error| error.to_string())?;
            if let Some(failure) = self.ports.failure() {
                return Err(failure);
            }
            if now >= end {
                break end;
            }
            // The kernel has answered the deliveries already.
            strays += self.read_ready(&mut watched, 0, &mut buffer)?;
            let rest = REST.saturating_sub(clock.past(now).0);
            if rest > 0 {
                wait_for(&mut watched[stop..], rest)?;
            }
            let (_, sleep) = clock.past(self.live.next().min(end));
            strays += self.read_ready(&mut watched, sleep, &mut buffer)?;
            if watched[stop].revents != 0 {
                let now = clock.now().min(end);
                self.live.advance(now).map_err(|error| error.to_string())?;
                self.live.cut(now);
                break now;
            }
        };
        let cpu = Duration::from_nanos(thread_time() - began);
        let (lateness, elapsed) = (self.ports.lateness(), elapsed.since(Instant::ZERO));
        Ok(Outcome { live: self.live, lateness, cpu, elapsed, strays, real_time, interrupted: false })
    }

    /// Waits at most `nanos` for frames, and passes them to the network. Returns the number of frames without flow.
    fn read_ready(&mut self, watched: &mut [libc::pollfd], nanos: u64, buffer: &mut [u8]) -> Result<u64, String> {
        wait_for(watched, nanos)?;
        let mut strays = 0;
        for device in (0..watched.len() - 1).filter(|&device| watched[device].revents != 0) {
            strays += self.read(device, buffer)?;
        }
        Ok(strays)
    }

    /// Passes frames of a device to the network. Returns the number of frames without flow.
    fn read(&mut self, device: usize, buffer: &mut [u8]) -> Result<u64, String> {
        let mut strays = 0;
        for _ in 0..BATCH {
            match self.ports.read(device, buffer).map_err(|error| format!("a TUN device cannot be read: {error}"))? {
                Read::Nothing => break,
                Read::Stray => strays += 1,
                Read::Frame(flow, side) => {
                    let now = self.ports.clock().now();
                    self.live.transmit(now, flow, side).map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(strays)
    }
}

/// Waits for an event of a descriptor, at most `nanos`.
fn wait_for(watched: &mut [libc::pollfd], nanos: u64) -> Result<(), String> {
    poll(watched, Some(nanos)).map_err(|error| format!("the TUN devices cannot be watched: {error}"))
}

/// Waits for the emulator, and stops it if the caller wishes. Returns its outcome, `None` if it has none, and whether the caller wished.
fn wait<T>(ended: &Receiver<T>, stopper: &Stopper, interrupted: &mut dyn FnMut() -> bool) -> (Option<T>, bool) {
    let mut asked = false;
    loop {
        match ended.recv_timeout(ASK) {
            Ok(outcome) => return (Some(outcome), asked),
            Err(RecvTimeoutError::Disconnected) => return (None, asked),
            Err(RecvTimeoutError::Timeout) if !asked && interrupted() => {
                asked = true;
                stopper.stop();
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests;
