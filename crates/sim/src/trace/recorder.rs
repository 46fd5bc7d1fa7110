//! What a recorder hears of a run.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::{Backlog, Reason};
use ackclock_core::units::{Bytes, Duration, Instant};
use ackclock_host::{Flight, RecoveryPhase};

use crate::columns::traces::SequenceKind;
use crate::net::entering::Entering;
use crate::net::packet::{Packet, Payloads};

/// Position of a packet when it can be captured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Point {
    /// At the entrance of the link with this index.
    Link(u32),
    /// At its sender, when sent.
    Sent,
    /// At its receiver.
    Received,
}

/// Receives the events of a run. Times of one link, and of one flow, never decrease; times of different ones can.
pub(crate) trait Recorder {
    /// Whether anything is recorded at all.
    const ON: bool;
    /// A packet is at `point`.
    fn passed(&mut self, _at: Instant, _point: Point, _packet: &Packet, _payloads: &Payloads) {}
    /// A packet was lost on `link`.
    fn dropped(&mut self, at: Instant, link: u32, packet: &Entering, reason: Reason);
    /// The queue of `link` marked a packet.
    fn marked(&mut self, at: Instant, link: u32, packet: &Entering, reason: Reason);
    /// A packet leaves the queue of `link`, and arrives at the other end at `arrival` unless the loss model drops it.
    fn departed(&mut self, at: Instant, link: u32, packet: &Entering, arrival: Instant);
    /// The discipline of `link` after a packet; `pull` gives its own quantities.
    fn discipline(&mut self, at: Instant, link: u32, pull: impl Fn(&mut dyn FnMut(&'static str, f64)));
    /// The backlog of `link` has changed.
    fn queue(&mut self, at: Instant, link: u32, backlog: Backlog);
    /// The window of `flow` after an event, and its phase of loss recovery if the sender tells.
    fn window(&mut self, at: Instant, flow: u32, window: Window, recovery: Option<RecoveryPhase>);
    /// The round-trip time that an ACK of `flow` shows, with the timer's smoothed round-trip time and timeout.
    fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, timing: (Option<Duration>, Duration));
    /// The sender of `flow` sent or received a packet: the number of its segment, and its size.
    fn segment(&mut self, at: Instant, flow: u32, packet: (u32, Bytes), kind: SequenceKind);
    /// The sender of `flow` deems segment `seq` lost.
    fn lost(&mut self, at: Instant, flow: u32, seq: u32);
    /// What the sender of `flow` has in flight after an event.
    fn flight(&mut self, at: Instant, flow: u32, flight: Flight);
    /// In-order delivery to the receiver of `flow` has reached `bytes`.
    fn delivered(&mut self, at: Instant, flow: u32, bytes: u64);
    /// The control of `flow` after an ACK.
    fn internals(&mut self, at: Instant, flow: u32, control: &dyn CongestionControl);
}

/// Records nothing.
#[derive(Debug, Default)]
pub(crate) struct Off;

impl Recorder for Off {
    const ON: bool = false;
    fn dropped(&mut self, _: Instant, _: u32, _: &Entering, _: Reason) {}
    fn marked(&mut self, _: Instant, _: u32, _: &Entering, _: Reason) {}
    fn departed(&mut self, _: Instant, _: u32, _: &Entering, _: Instant) {}
    fn discipline(&mut self, _: Instant, _: u32, _: impl Fn(&mut dyn FnMut(&'static str, f64))) {}
    fn queue(&mut self, _: Instant, _: u32, _: Backlog) {}
    fn window(&mut self, _: Instant, _: u32, _: Window, _: Option<RecoveryPhase>) {}
    fn rtt(&mut self, _: Instant, _: u32, _: Duration, _: (Option<Duration>, Duration)) {}
    fn segment(&mut self, _: Instant, _: u32, _: (u32, Bytes), _: SequenceKind) {}
    fn lost(&mut self, _: Instant, _: u32, _: u32) {}
    fn flight(&mut self, _: Instant, _: u32, _: Flight) {}
    fn delivered(&mut self, _: Instant, _: u32, _: u64) {}
    fn internals(&mut self, _: Instant, _: u32, _: &dyn CongestionControl) {}
}
