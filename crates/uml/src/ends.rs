//! The ends of a flow on a guest.

use std::io;

use ackclock_core::qdisc::Ecn;
use ackclock_core::units::Instant;
use ackclock_host::Side;
use ackclock_kernel::{Ends, Info, Order, address};
use ackclock_sim::engine::{Interface as _, OutsideInterface};

use crate::host::Host;
use crate::joint::{Joint, socket};

/// Port of the end that waits for the connection. Every flow has addresses of its own.
pub(crate) const PORT: u16 = 5001;

/// The sockets of a flow in a guest, and its interfaces.
#[derive(Debug)]
pub(crate) struct GuestEnds {
    pub(crate) host: Host,
    pub(crate) flow: usize,
    /// Name of the flow, for messages.
    pub(crate) name: String,
    /// Nodes of sender and receiver.
    pub(crate) nodes: [usize; 2],
    pub(crate) interfaces: [OutsideInterface; 2],
    /// Bytes that the application at each end has read.
    pub(crate) read: [u64; 2],
}

impl GuestEnds {
    /// Tells the guest something at `now`, and lets it do that.
    fn tell(&mut self, now: Instant, side: Side, what: impl FnOnce(&mut Joint)) {
        let mut running = self.host.lock();
        what(&mut running.guest.joint);
        running.note_input(now.as_nanos());
        drop(running);
        self.interfaces[side.index()].wake(now);
    }
}

impl Ends for GuestEnds {
    fn deliver(&mut self, now: Instant, side: Side, frame: &[u8], ecn: Ecn) {
        self.interfaces[side.index()].deliver(now, frame, ecn);
    }

    fn sent(&mut self, side: Side) -> Option<Vec<u8>> {
        self.interfaces[side.index()].receive()
    }

    fn connect(&mut self, now: Instant, side: Side) {
        let (node, socket, peer) = (self.nodes[side.index()], socket(self.flow, side), address(self.flow, side.peer()));
        self.tell(now, side, |joint| joint.line(&format!("enter {node};connect {socket} {peer} {PORT}")));
    }

    fn order(&mut self, now: Instant, side: Side, order: Order) {
        let socket = socket(self.flow, side);
        self.tell(now, side, |joint| joint.order(socket, order));
    }

    fn read(&mut self, _now: Instant, side: Side) -> u64 {
        let mut running = self.host.lock();
        let state = running.guest.joint.socket(socket(self.flow, side) as usize);
        if state.error != 0 && running.failure.is_none() {
            let end = if side == Side::Sender { "sender" } else { "receiver" };
            let error = io::Error::from_raw_os_error(-state.error);
            let what = format!("flow {}, {end}: the kernel's connection failed: {error}", self.name);
            running.failure = Some(running.guest.failure(what));
        }
        // A guest that is broken can say anything.
        let read = state.read.saturating_sub(self.read[side.index()]);
        self.read[side.index()] += read;
        read
    }

    fn info(&mut self, _now: Instant) -> Option<Info> {
        let running = self.host.lock();
        let socket = socket(self.flow, Side::Sender) as usize;
        let bytes = running.guest.joint.info(socket);
        running.guest.joint.socket(socket).connected.then(|| Info::read(bytes.first_chunk().unwrap_or(&[0; Info::SIZE])))
    }
}
