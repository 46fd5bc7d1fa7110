//! The congestion controls of connections of noq, watched.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

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

/// A control of noq, or one of the contract.
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

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.inner.on_cwnd_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, number, app_limited, rtt);
        self.watch.with(|seen| seen.note_acked(simulated(now), simulated(sent)));
        self.note(now, None);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
        self.watch.with(|seen| seen.in_flight = in_flight);
        self.note(now, None);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, marked: bool, lost: u64, largest: u64) {
        self.inner.on_congestion_event(now, sent, persistent, marked, lost, largest);
        self.watch.with(|seen| seen.note_lost(lost, persistent));
        let congestion = match (persistent, marked) {
            (true, _) => Congestion::Persistent,
            (false, true) => Congestion::Mark,
            (false, false) => Congestion::Loss,
        };
        self.note(now, Some(congestion));
    }

    fn on_packet_lost(&mut self, bytes: u16, number: u64, now: Instant) {
        self.inner.on_packet_lost(bytes, number, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_ack_frequency_update(&mut self, threshold: u64, delay: Duration) {
        self.inner.on_ack_frequency_update(threshold, delay);
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
