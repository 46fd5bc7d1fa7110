#![doc = include_str!("../README.md")]
//!
//! # What noq tells a control
//!
//! noq tells each packet that is sent, acknowledged or lost, with its number, that the window was full, marks as an event without a count, and
//! that all losses were spurious. It takes the window, the pacing rate and the size of a burst. From that the adapter makes all events of
//! [`CongestionControl`]: delivery rates, rounds and round-trip times for BBR, one reduction in a recovery period, its end and its undo. What an
//! ACK causes comes in the contract's order, because the adapter waits for the rest of an ACK until noq asks for the window.
//!
//! # What it does not tell
//!
//! - **Marks have no count**: each ACK with a new mark counts as marked whole, so that DCTCP and Prague react to one mark as to a full window
//!   of them.
//! - **No timers**: a control's timer expires with the connection's next event, or when a driver calls [`Handle::handle_timeout`].
//! - **No round-trip time**: noq updates its own after it has reported an ACK. The adapter measures by the newest packet of each ACK, and
//!   cannot subtract the receiver's delay.
//! - **No handshake**: it is over for the control when its first packet is acknowledged. Until then the window is that of RFC 9002 §7.2.
//! - **Probe timeouts** stay with noq. Persistent congestion is a timeout for the control (RFC 9002 §7.6).
//! - **The first flight** is paced as all others: a control that spreads its initial window over a round trip gets noq's pacing at 1.25 windows
//!   per round trip, in bursts of ten packets or more.
//! - **Packets that it drops**: noq discards packets of the handshake with their keys (RFC 9002 §6.4), and lost probes of path MTU discovery,
//!   without a word. When its bytes in flight show it, the former count as delivered with the next ACK, the latter as lost without congestion.
//! - **The codepoint** is always ECT(0).
//!
//! An observer, such as a simulator or a program that prints statistics, holds the same seat as the connection: [`Controls::watch`].
#![forbid(unsafe_code)]

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

pub use ackclock_core::cc::CongestionControl;
pub use ackclock_host::{Controls, Epoch, SharedSeat as Handle};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Controls for the connections of a [`TransportConfig`](noq_proto::TransportConfig).
#[derive(Debug)]
pub struct Factory(Controls);

impl Factory {
    /// The controls that `make` returns.
    pub fn new(make: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static) -> Self {
        Self(Controls::new(make))
    }

    /// The control of a [`Recipe`](ackclock_core::cc::Recipe): a name, or settings.
    ///
    /// # Errors
    /// If a name is not that of a part or of a parameter; the message lists the names that are.
    pub fn parse(text: &str) -> Result<Self, String> {
        Controls::parse(text).map(Self)
    }
}

impl From<Controls> for Factory {
    fn from(controls: Controls) -> Self {
        Self(controls)
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let (seat, epoch) = self.0.make(now, current_mtu);
        Box::new(Adapter::new(seat, epoch))
    }
}

/// A control of Ackclock in a connection of noq.
#[derive(Debug)]
pub struct Adapter {
    seat: Handle,
    epoch: Epoch,
}

impl Adapter {
    /// The control in `seat`, which an observer may hold too. `epoch`: the origin of its times.
    pub fn new(seat: Handle, epoch: Epoch) -> Self {
        Self { seat, epoch }
    }

    /// The seat.
    pub fn handle(&self) -> &Handle {
        &self.seat
    }
}

impl Controller for Adapter {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.seat.lock().on_sent(self.epoch.instant(now), bytes.into(), pn);
    }

    fn on_cwnd_limited(&mut self) {
        self.seat.lock().on_window_limited();
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, _app_limited: bool, _rtt: &RttEstimator) {
        let Self { seat, epoch } = self;
        seat.lock().on_acked(epoch.instant(now), epoch.instant(sent), bytes, Some(pn));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest_packet_num_acked: Option<u64>) {
        self.seat.lock().on_acks_end(self.epoch.instant(now), Some(in_flight), app_limited, None);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.seat.lock().on_packet_lost(self.epoch.instant(now), lost_bytes.into(), pn);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        let (now, mut seat) = (self.epoch.instant(now), self.seat.lock());
        if is_ecn { seat.on_marks(now) } else { seat.on_congestion(now, is_persistent_congestion) }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.seat.lock().on_spurious();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.seat.lock().on_mtu(new_mtu.into());
    }

    fn window(&self) -> u64 {
        self.seat.lock().window()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut seat = self.seat.lock();
        let pacing = seat.pacing();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = seat.window();
        metrics.ssthresh = seat.ssthresh();
        metrics.pacing_rate = pacing.map(|(rate, _)| rate);
        metrics.send_quantum = pacing.map(|(_, burst)| burst);
        metrics.bandwidth_estimate = seat.bandwidth().map(ackclock_core::units::Rate::as_bits_per_sec);
        metrics
    }

    /// A copy for another path, where nothing is in flight. Observers stay with the original.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { seat: self.seat.fork(), epoch: self.epoch })
    }

    fn initial_window(&self) -> u64 {
        self.seat.lock().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the clock has no other points")]
    fn now() -> Instant {
        Instant::now()
    }

    #[test]
    fn each_connection_has_a_seat_that_an_observer_sees() {
        let begin = now();
        let seen: Arc<Mutex<Vec<Handle>>> = Arc::default();
        let keep = Arc::clone(&seen);
        let controls = Controls::parse("slow_start = suss, avoidance = reno").unwrap().since(begin);
        let factory = Arc::new(Factory::from(controls.watch(move |seat| keep.lock().unwrap().push(seat))));
        let made = [1200, 1400].map(|mtu| Arc::clone(&factory).build(begin + Duration::from_secs(1), mtu));
        assert_eq!(made.each_ref().map(|control| control.window()), [12_000, 14_000]);
        assert_eq!(seen.lock().unwrap().iter().map(|seat| seat.lock().window()).collect::<Vec<_>>(), [12_000, 14_000]);
        let [first, _] = made;
        let adapter = first.into_any().downcast::<Adapter>().expect("an adapter");
        assert_eq!(adapter.epoch, Epoch(begin));
        assert_eq!(adapter.handle().with(|seat| seat.smss()), 1200);
    }

    #[test]
    fn a_copy_is_a_control_of_its_own() {
        let mut original = Arc::new(Factory::parse("bbr").unwrap()).build(now(), 1200);
        let mut copy = original.clone_box();
        copy.on_mtu_update(1300);
        assert_eq!([original.window(), copy.window()], [12_000, 13_000]);
        original.on_mtu_update(1400);
        assert_eq!([original.window(), copy.window()], [14_000, 13_000]);
    }

    #[test]
    fn a_name_that_does_not_exist_is_an_error() {
        let message = Factory::parse("cubik").unwrap_err();
        assert!(message.contains("\"cubik\"") && message.contains("cubic"), "{message}");
    }
}
