//! The guest as a host of the engine that has a clock of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_core::qdisc::Packet;
use ackclock_host::Side;
use ackclock_sim::engine::{Departure, OutsideHost, Passed};

use crate::guest::{Guest, GuestError};
use crate::joint::Said;
use crate::queues::Queues;

/// Longest time that the kernel runs in one go, in nanoseconds: a program that asks for the time again and again makes little way in it, and is
/// no loop without an end.
const STRETCH: u64 = 100_000_000;

/// Which interface of the guest and which of its sockets the ends of each flow use.
pub type Places = Vec<[(u32, u32); 2]>;

/// A guest that runs in lock-step, and the flows whose ends it has.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) guest: Guest,
    /// The kernel's time at the start of the run.
    origin: u64,
    /// Interface and socket of each end of each flow.
    places: Places,
    /// Whose packets have this source address.
    owner: fn(&[u8]) -> Option<(usize, Side)>,
    leaving: VecDeque<Departure>,
    queues: Queues,
    /// When the first program has ended, in the kernel's time, and its exit code.
    ended: Option<(u64, i32)>,
    /// When something waits for the kernel, in its time.
    input: Option<u64>,
    pub(crate) failure: Option<GuestError>,
    /// What the first process has refused.
    refusal: Option<String>,
}

/// A guest that the engine and the connections of a run share.
#[derive(Clone, Debug)]
pub struct Host(Arc<Mutex<Running>>);

impl Host {
    /// The guest at `origin`, its time at the start of the run. `places` has the ends of all flows; `owner` tells whose packet this is.
    pub(crate) fn new(guest: Guest, origin: u64, places: Places, owner: fn(&[u8]) -> Option<(usize, Side)>, queues: Queues) -> Self {
        Self(Arc::new(Mutex::new(Running {
            guest,
            origin,
            places,
            owner,
            leaving: VecDeque::new(),
            queues,
            ended: None,
            input: None,
            failure: None,
            refusal: None,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the guest cannot go on.
    pub fn error(&self) -> Option<GuestError> {
        self.lock().failure.clone()
    }

    /// What the first process has answered, if it could not do something.
    pub fn refusal(&self) -> Option<String> {
        self.lock().refusal.clone()
    }

    /// When the first program has ended, in nanoseconds since the start of the run, and its exit code.
    pub fn program(&self) -> Option<(u64, i32)> {
        let running = self.lock();
        running.ended.map(|(at, code)| (at.saturating_sub(running.origin), code))
    }

    /// Ends all programs, and writes their files.
    ///
    /// # Errors
    /// If the guest fails.
    pub fn finish(&self) -> Result<(), GuestError> {
        let mut running = self.lock();
        if running.failure.is_none() { running.guest.set_up("finish") } else { Ok(()) }
    }

    /// Tells the first process to do what `commands` say at `now`, in nanoseconds since the start of the run.
    pub fn tell(&self, now: u64, commands: &str) {
        let mut running = self.lock();
        running.guest.joint.line(commands);
        running.note_input(now);
    }
}

impl Running {
    /// Something waits for the kernel at `now`, in the time of the run.
    pub(crate) fn note_input(&mut self, now: u64) {
        self.input = Some(self.origin + now);
    }

    /// When the kernel takes what waits for it, or does something by itself; in its time.
    fn due(&self) -> Option<u64> {
        let next = self.guest.joint.next();
        match self.input {
            // A process waits for the clock, with interrupts off.
            Some(_) if self.guest.joint.is_deaf() => next,
            Some(at) => Some(at.max(self.guest.joint.now())),
            None => next,
        }
    }

    /// Lets the kernel run at `now` and until `until`, this nanosecond included.
    fn run(&mut self, now: u64, until: u64) {
        self.input = None;
        if let Err(error) = self.guest.run(now, until + 1) {
            self.failure = Some(error);
            return;
        }
        for said in std::mem::take(&mut self.guest.said) {
            match said {
                Said::Packet { device, number, frame, .. } if self.queues.leave(device, number, &frame) => {}
                Said::Dropped { device, number } => self.queues.drop(device, number),
                Said::Packet { at, frame, .. } => {
                    // Anything else is no flow's.
                    if let Some((flow, side)) = (self.owner)(&frame) {
                        self.leaving.push_back(Departure { at: at.saturating_sub(self.origin), flow, side, frame });
                    }
                }
                Said::Line(text) if text == "ok" => {}
                Said::Line(text) => {
                    self.failure = Some(self.guest.failure(format!("the kernel refuses: {text}")));
                    self.refusal = Some(text);
                }
                Said::Ended { program: 0, code } => self.ended = Some((self.guest.now(), code)),
                // The peer may end.
                Said::Ended { .. } => {}
            }
        }
    }
}

impl OutsideHost for Host {
    fn next(&self) -> Option<u64> {
        let running = self.lock();
        if running.failure.is_some() {
            return None;
        }
        let leaving = running.leaving.front().map(|departure| departure.at);
        leaving.or_else(|| running.due().filter(|_| running.ended.is_none()).map(|due| due.saturating_sub(running.origin)))
    }

    fn advance(&mut self, until: u64) -> Option<Departure> {
        let mut running = self.lock();
        let last = running.origin + until;
        loop {
            if running.leaving.front().is_some_and(|departure| departure.at <= until) {
                return running.leaving.pop_front();
            }
            if running.failure.is_some() || running.ended.is_some() {
                return None;
            }
            let due = running.due().filter(|due| *due <= last)?;
            running.run(due, last.min(due + STRETCH));
        }
    }

    fn receive(&mut self, now: u64, flow: usize, side: Side, frame: &[u8]) {
        let mut running = self.lock();
        let (device, socket) = running.places[flow][side.index()];
        running.guest.joint.packet(device, socket, frame);
        running.note_input(now);
    }

    fn enqueue(&mut self, now: u64, link: usize, packet: &Packet) {
        let running = &mut *self.lock();
        running.queues.enqueue(&mut running.guest.joint, link, packet);
        running.note_input(now);
    }

    fn dequeue(&mut self, now: u64, link: usize) {
        let running = &mut *self.lock();
        running.queues.dequeue(&mut running.guest.joint, link);
        running.note_input(now);
    }

    fn passed(&mut self, link: usize) -> Option<Passed> {
        self.lock().queues.passed(link)
    }

    fn ended(&self) -> Option<u64> {
        self.program().map(|(at, _)| at)
    }

    fn failure(&self) -> Option<String> {
        self.lock().failure.as_ref().map(ToString::to_string)
    }
}
