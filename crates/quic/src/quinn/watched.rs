//! The congestion controls of connections of quinn, watched.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::clock::simulated;
use crate::watch::{Congestion, Watch};

/// Makes watched controls.
pub(super) struct Factory {
    pub(super) inner: Arc<dyn ControllerFactory + Send + Sync>,
    pub(super) watch: Watch,
    /// Whether the control's seat tells its window, so that only times are to be watched.
    pub(super) seated: bool,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let control = Watched { inner: Arc::clone(&self.inner).build(now, mtu), watch: self.watch.clone(), seated: self.seated };
        control.watch.with(|seen| seen.datagram = u64::from(mtu));
        control.note(now, None);
        Box::new(control)
    }
}

/// A control of quinn, or one of the contract.
struct Watched {
    inner: Box<dyn Controller>,
    watch: Watch,
    seated: bool,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("watch", &self.watch).finish_non_exhaustive()
    }
}

impl Watched {
    fn note(&self, now: Instant, congestion: Option<Congestion>) {
        if self.seated {
            return;
        }
        let metrics = self.inner.metrics();
        self.watch.with(|seen| {
            seen.pacing = metrics.pacing_rate;
            seen.note(simulated(now), metrics.congestion_window, metrics.ssthresh, congestion);
        });
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.inner.on_sent(now, bytes, last);
        self.watch.with(|seen| seen.note_sent(bytes));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        self.watch.with(|seen| seen.note_acked(simulated(now), simulated(sent)));
        self.note(now, None);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.watch.with(|seen| seen.in_flight = in_flight);
        self.note(now, None);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        self.inner.on_congestion_event(now, sent, persistent, lost);
        self.watch.with(|seen| seen.note_lost(lost, persistent));
        let congestion = match (persistent, lost) {
            (true, _) => Congestion::Persistent,
            (false, 0) => Congestion::Mark,
            (false, _) => Congestion::Loss,
        };
        self.note(now, Some(congestion));
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
        self.watch.with(|seen| seen.datagram = u64::from(mtu));
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), watch: self.watch.clone(), seated: self.seated })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
