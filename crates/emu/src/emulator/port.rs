//! Ports: the ends of flows at TUN devices, with the frames that wait between device and network.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::Side;
use ackclock_kernel::frames::{flow, hashed};
use ackclock_linux::scheduling::clock;
use ackclock_sim::engine::Interface;
use ackclock_wire::frame::{Addressed, arriving};

use super::lateness::{Histogram, Lateness};
use crate::space::Space;

/// Largest frame.
const LARGEST: usize = 65_535;

/// Virtual time by the wall clock: seconds of the monotonic clock since the run's time zero.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    /// The time now. Before the run begins, the time is zero.
    pub fn now(&self) -> Instant {
        self.at(clock())
    }

    /// The virtual time at `nanos` of the monotonic clock, such as a time stamp of the kernel.
    pub fn at(&self, nanos: u64) -> Instant {
        match self.0.load(Ordering::Relaxed) {
            0 => Instant::ZERO,
            zero => Instant::from_nanos(nanos.saturating_sub(zero)),
        }
    }

    /// Time zero is now.
    pub(super) fn start(&self) {
        self.0.store(clock(), Ordering::Relaxed);
    }

    /// Nanoseconds by which `due` has passed, and nanoseconds until `due`; one of them is zero.
    pub(super) fn past(&self, due: Instant) -> (u64, u64) {
        let (now, due) = (clock(), self.0.load(Ordering::Relaxed).saturating_add(due.as_nanos()));
        (now.saturating_sub(due), due.saturating_sub(now))
    }
}

/// What all ports of a run share.
#[derive(Debug)]
struct Shared {
    clock: Clock,
    lateness: Mutex<Histogram>,
    /// The first error of a device.
    failure: Mutex<Option<String>>,
}

/// A panic of another thread ends the run anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An end of a flow at its TUN device. Clones are the same port.
#[derive(Clone, Debug)]
pub struct Port {
    device: Arc<File>,
    waiting: Arc<Mutex<VecDeque<Vec<u8>>>>,
    shared: Arc<Shared>,
}

impl Interface for Port {
    /// The next frame that the kernel has sent at this end.
    fn receive(&mut self) -> Option<Vec<u8>> {
        lock(&self.waiting).pop_front()
    }

    /// Releases a frame to the kernel at this end. It arrives there at `due` in virtual time, and the wall clock shows how late that is. The
    /// kernel has processed the frame when this returns, unless another thread uses the socket.
    fn deliver(&mut self, due: Instant, frame: &[u8], ecn: Ecn) {
        lock(&self.shared.lateness).add(self.shared.clock.past(due).0);
        let written = (&*self.device).write(&arriving(frame, ecn));
        if let Err(error) = written {
            lock(&self.shared.failure).get_or_insert_with(|| format!("a packet cannot be written into a TUN device: {error}"));
        }
    }
}

impl Port {
    /// The clock of the run.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }
}

/// How frames are assigned to flows.
#[derive(Clone, Copy, Debug)]
enum Assignment {
    /// Each flow has its own addresses.
    Addresses,
    /// All have the addresses of the first; a hash spreads the connections.
    Hash(usize),
}

/// All ports of a run.
#[derive(Debug)]
pub struct Ports {
    devices: Vec<Arc<File>>,
    /// For each flow, the ports of sender and receiver with their devices.
    flows: Vec<[Option<(usize, Port)>; 2]>,
    assignment: Assignment,
    shared: Arc<Shared>,
}

impl Ports {
    /// The ports of all flows of `space`. A frame belongs to the flow with its addresses.
    ///
    /// # Errors
    /// If the devices' descriptors cannot be duplicated.
    pub fn new(space: &Space) -> io::Result<Self> {
        let mut ports = Self::open(space, Assignment::Addresses)?;
        for (device, node) in space.nodes.iter().enumerate() {
            for &(flow, side) in &node.terminals {
                ports.add(flow, side, device);
            }
        }
        Ok(ports)
    }

    /// Ports of `flows` flows that share the devices and addresses of the first flow of `space`. A hash of addresses, ports and protocol
    /// assigns each connection to a flow, so that queues that serve flows in turn tell connections apart.
    ///
    /// # Errors
    /// As [`Ports::new`].
    pub fn spread(space: &Space, flows: usize) -> io::Result<Self> {
        let mut ports = Self::open(space, Assignment::Hash(flows))?;
        for (device, node) in space.nodes.iter().enumerate() {
            for &(_, side) in node.terminals.iter().filter(|(flow, _)| *flow == 0) {
                (0..flows).for_each(|flow| ports.add(flow, side, device));
            }
        }
        Ok(ports)
    }

    fn open(space: &Space, assignment: Assignment) -> io::Result<Self> {
        let devices = space.nodes.iter().map(|node| Ok(Arc::new(node.tun.try_clone()?))).collect::<io::Result<_>>()?;
        let shared = Shared { clock: Clock::default(), lateness: Mutex::new(Histogram::new()), failure: Mutex::new(None) };
        Ok(Self { devices, flows: Vec::new(), assignment, shared: Arc::new(shared) })
    }

    fn add(&mut self, flow: usize, side: Side, device: usize) {
        if self.flows.len() <= flow {
            self.flows.resize_with(flow + 1, || [None, None]);
        }
        let (waiting, shared) = (Arc::default(), Arc::clone(&self.shared));
        let port = Port { device: Arc::clone(&self.devices[device]), waiting, shared };
        self.flows[flow][side.index()] = Some((device, port));
    }

    /// The port of an end of a flow.
    pub fn port(&self, flow: usize, side: Side) -> Option<Port> {
        self.at(flow, side).map(|(_, port)| port.clone())
    }

    fn at(&self, flow: usize, side: Side) -> Option<&(usize, Port)> {
        self.flows.get(flow)?[side.index()].as_ref()
    }

    /// The clock of the run.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// How late packets have been released so far.
    pub fn lateness(&self) -> Lateness {
        lock(&self.shared.lateness).lateness()
    }

    pub(super) fn devices(&self) -> &[Arc<File>] {
        &self.devices
    }

    /// The first error of a device.
    pub(super) fn failure(&self) -> Option<String> {
        lock(&self.shared.failure).clone()
    }

    /// Reads the next frame of a device into the port of its flow. `buffer` has the size of the largest frame.
    pub(super) fn read(&self, device: usize, buffer: &mut [u8]) -> io::Result<Read> {
        let length = match (&*self.devices[device]).read(buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Read::Nothing),
            Err(error) => return Err(error),
        };
        let frame = &buffer[..length];
        let Some((flow, side)) = self.flow(device, frame) else { return Ok(Read::Stray) };
        let Some((_, port)) = self.at(flow, side).filter(|(own, _)| *own == device) else { return Ok(Read::Stray) };
        lock(&port.waiting).push_back(frame.to_vec());
        Ok(Read::Frame(flow, side))
    }

    /// The flow of a frame from a device, and the end that sent it.
    fn flow(&self, device: usize, frame: &[u8]) -> Option<(usize, Side)> {
        let addressed = Addressed::read(frame)?;
        let (flow, side) = flow(&addressed)?;
        match self.assignment {
            Assignment::Addresses => Some((flow, side)),
            Assignment::Hash(flows) => {
                self.at(0, side).filter(|(own, _)| *own == device && flow == 0)?;
                Some((hashed(&addressed, side, flows), side))
            }
        }
    }

    pub(super) fn buffer() -> Vec<u8> {
        vec![0; LARGEST]
    }
}

/// What a device had to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// No frame.
    Nothing,
    /// A frame of no flow.
    Stray,
    /// A frame of this flow and end.
    Frame(usize, Side),
}
