//! The recorder of a run with traces or a capture.

use ackclock_core::cc::{CongestionControl, Window};
use ackclock_core::qdisc::{Backlog, Reason};
use ackclock_core::units::{Bytes, Duration, Instant};
use ackclock_host::{Flight, RecoveryPhase};

use super::{Capture, Entering, Point, Recorder, SequenceKind, Traces, Watch};
use crate::columns::traces::{Fate, Listener};
use crate::net::packet::{Packet, Payloads};

/// Tables, an optional capture, and the optional crossings of a span.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The tables of the requested kinds.
    pub(crate) traces: Traces,
    /// The capture.
    pub(crate) capture: Option<Capture>,
    /// The crossings.
    pub(crate) watch: Option<Watch>,
}

/// The fate of a packet that entered a link.
fn fate(entering: &Entering, reason: Reason) -> Fate {
    Fate { flow: entering.packet.flow() as u32, seq: entering.packet.seq, reason }
}

impl Recorder for Recording {
    const ON: bool = true;

    fn passed(&mut self, at: Instant, point: Point, packet: &Packet, payloads: &Payloads) {
        if let Some(capture) = &mut self.capture {
            capture.passed(at, point, packet, payloads);
        }
        if let Some(watch) = &mut self.watch {
            watch.passed(at, point, packet, payloads);
        }
    }

    fn dropped(&mut self, at: Instant, link: u32, entering: &Entering, reason: Reason) {
        self.traces.dropped(at, link, fate(entering, reason));
        if let Some(capture) = &mut self.capture {
            capture.dropped(at, link, entering, reason);
        }
        if let Some(watch) = &mut self.watch {
            watch.dropped(at, link, entering, reason);
        }
    }

    fn marked(&mut self, at: Instant, link: u32, entering: &Entering, reason: Reason) {
        self.traces.marked(at, link, fate(entering, reason));
        if let Some(watch) = &mut self.watch {
            watch.marked(link, entering);
        }
    }

    fn departed(&mut self, at: Instant, link: u32, entering: &Entering, arrival: Instant) {
        self.traces.sojourn(at, link, entering.packet.flow() as u32, at.since(entering.now.at));
        if let Some(watch) = &mut self.watch {
            watch.departed(at, link, entering, arrival);
        }
    }

    fn discipline(&mut self, at: Instant, link: u32, pull: impl Fn(&mut dyn FnMut(&'static str, f64))) {
        self.traces.discipline(at, link, &pull);
    }

    fn queue(&mut self, at: Instant, link: u32, backlog: Backlog) {
        self.traces.queue(at, link, backlog);
    }

    fn window(&mut self, at: Instant, flow: u32, window: Window, recovery: Option<RecoveryPhase>) {
        self.traces.window(at, flow, window);
        if let Some(phase) = recovery {
            self.traces.recovery(at, flow, phase);
        }
    }

    fn rtt(&mut self, at: Instant, flow: u32, rtt: Duration, timing: (Option<Duration>, Duration)) {
        self.traces.rtt(at, flow, rtt, timing);
    }

    fn lost(&mut self, at: Instant, flow: u32, seq: u32) {
        self.traces.lost(at, flow, seq);
    }

    fn flight(&mut self, at: Instant, flow: u32, flight: Flight) {
        self.traces.flight(at, flow, flight);
    }

    fn segment(&mut self, at: Instant, flow: u32, packet: (u32, Bytes), kind: SequenceKind) {
        self.traces.segment(at, flow, packet, kind);
        if let Some(watch) = &mut self.watch {
            watch.segment(kind);
        }
    }

    fn delivered(&mut self, at: Instant, flow: u32, bytes: u64) {
        self.traces.delivered(at, flow, bytes);
    }

    fn internals(&mut self, at: Instant, flow: u32, control: &dyn CongestionControl) {
        self.traces.internals(at, flow, control);
    }
}
