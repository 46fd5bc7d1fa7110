#![doc = include_str!("../README.md")]
//!
//! # What quinn tells a control
//!
//! quinn tells the bytes of each transmission, the size and time of each packet that is acknowledged, the sum of the bytes that are lost with
//! the time of the newest, whether the application had more data, and marks as an event. It takes only the window. From that the adapter makes
//! the events of [`CongestionControl`]: it remembers what was sent, and finds acknowledged and lost packets there by time and size. What an ACK
//! causes comes in the contract's order, because the adapter waits for the rest of an ACK until quinn asks for the window.
//!
//! # What it does not tell, and does not take
//!
//! - **No pacing rate**: quinn paces at 1.25 windows per round trip, in bursts of ten packets or more. A control that sends at a rate, such as
//!   BBR, is heard only through its window.
//! - **No packet numbers of losses**: the oldest packets that quinn waits for count as lost, until their sizes reach the sum.
//! - **No spurious losses**: no reduction is undone.
//! - **ACKs alone look like data** until two round trips have passed without an answer; then they count as delivered. So do the packets of the
//!   handshake that quinn discards with their keys (RFC 9002 §6.4).
//! - **No word on the window**: the window counts as the limit unless the application was.
//! - **Marks have no count**: each ACK with a new mark counts as marked whole, so that DCTCP and Prague react to one mark as to a full window
//!   of them.
//! - **No timers**: a control's timer expires with the connection's next event, or when a driver calls [`Handle::handle_timeout`].
//! - **No round-trip time**: quinn updates its own after it has reported an ACK. The adapter measures by the newest packet of each ACK, and
//!   cannot subtract the receiver's delay.
//! - **No handshake**: it is over for the control when its first packet is acknowledged. Until then the window is that of RFC 9002 §7.2.
//! - **Probe timeouts** stay with quinn. Persistent congestion is a timeout for the control (RFC 9002 §7.6).
//! - **The codepoint** is always ECT(0).
//!
//! An observer, such as a simulator or a program that prints statistics, holds the same seat as the connection: [`Controls::watch`].
#![forbid(unsafe_code)]

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

pub use ackclock_core::cc::CongestionControl;
pub use ackclock_host::{Controls, Epoch, SharedSeat as Handle};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

/// Controls for the connections of a [`TransportConfig`](quinn_proto::TransportConfig).
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
        Box::new(Adapter::new(seat, epoch, current_mtu))
    }
}

/// A control of Ackclock in a connection of quinn.
#[derive(Debug)]
pub struct Adapter {
    seat: Handle,
    epoch: Epoch,
    /// Size of a datagram: a transmission has as many as fit.
    mtu: u64,
}

impl Adapter {
    /// The control in `seat`, which an observer may hold too. `epoch`: the origin of its times.
    pub fn new(seat: Handle, epoch: Epoch, mtu: u16) -> Self {
        Self { seat, epoch, mtu: mtu.into() }
    }

    /// The seat.
    pub fn handle(&self) -> &Handle {
        &self.seat
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        let (now, mut seat) = (self.epoch.instant(now), self.seat.lock());
        let mut rest = bytes;
        while rest > 0 {
            let size = rest.min(self.mtu);
            seat.on_sent(now, size, last_packet_number);
            rest -= size;
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _rtt: &RttEstimator) {
        self.seat.lock().on_acked(self.epoch.instant(now), self.epoch.instant(sent), bytes, None);
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, app_limited: bool, _largest_packet_num_acked: Option<u64>) {
        self.seat.lock().on_acks_end(self.epoch.instant(now), None, app_limited, Some(!app_limited));
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        let (now, mut seat) = (self.epoch.instant(now), self.seat.lock());
        if lost_bytes == 0 {
            seat.on_marks(now);
        } else {
            seat.on_bytes_lost(now, self.epoch.instant(sent), lost_bytes);
            seat.on_congestion(now, is_persistent_congestion);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
        self.seat.lock().on_mtu(new_mtu.into());
    }

    /// quinn sends while the bytes in flight with the next datagram are less than the window; one byte more lets it use the whole.
    fn window(&self) -> u64 {
        self.seat.lock().window() + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut seat = self.seat.lock();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = seat.window();
        metrics.ssthresh = seat.ssthresh();
        // In bit/s here.
        metrics.pacing_rate = seat.pacing().map(|(rate, _)| 8 * rate);
        metrics
    }

    /// A copy for another path, where nothing is in flight. Observers stay with the original.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { seat: self.seat.fork(), ..*self })
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
        assert_eq!(made.each_ref().map(|control| control.window()), [12_000 + 1, 14_000 + 1]);
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
        assert_eq!([original.window(), copy.window()], [12_000 + 1, 13_000 + 1]);
        original.on_mtu_update(1400);
        assert_eq!([original.window(), copy.window()], [14_000 + 1, 13_000 + 1]);
    }

    #[test]
    fn a_name_that_does_not_exist_is_an_error() {
        let message = Factory::parse("cubik").unwrap_err();
        assert!(message.contains("\"cubik\"") && message.contains("cubic"), "{message}");
    }
}
