//! The receive window, and the size of the buffer behind it.
//!
//! An autotuned buffer follows the application (dynamic right-sizing). Once per round trip the buffer grows to at least four times the data
//! that the application has read in it, plus 16 segments. The factor is four because a sender in slow start can double its rate twice
//! before it receives the next window. The buffer never shrinks. The receiver smooths its round-trip time (RFC 6298's gain) from
//! timestamps, or without them from the times in which a window of data arrives. The minimum would not do: while a queue grows, a window
//! sized for the empty path would limit the sender.
//!
//! ## References
//! RFC 9293 §3.8.6.2.2 (silly windows), §3.8.6 (a window does not shrink); RFC 7323 §2.3 (scaling); Fisk & Feng, *Dynamic right-sizing in
//! TCP*, 2001 (with a factor of two).

use ackclock_core::units::{Duration, Instant};

use super::config::ReceiveBuffer;

/// Largest window scale (RFC 7323 §2.3).
const MAX_SCALE: u8 = 14;
/// Size of an autotuned buffer, in multiples of the data read in one round trip.
const FACTOR: u64 = 4;
/// Additional segments in an autotuned buffer.
const HEADROOM: u64 = 16;

/// Measures the application's rate.
#[derive(Debug)]
struct Tuning {
    max: u64,
    rtt: Option<Duration>,
    /// When the current round trip began, and the position read by then.
    began: (Instant, u64),
    /// When a window of data began to arrive, and the position at its end.
    filling: (Instant, u64),
}

/// The receive window.
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    buffer: u64,
    /// One past the last advertised position.
    edge: u64,
    scale: u8,
    /// Largest expected segment.
    mss: u64,
    tuning: Option<Tuning>,
}

impl ReceiveWindow {
    /// A receive window; `scaling`: whether windows above 65535 bytes may be advertised.
    pub(super) fn new(buffer: ReceiveBuffer, mss: u64, scaling: bool) -> Self {
        let (buffer, max) = match buffer {
            ReceiveBuffer::Fixed(bytes) => (bytes, bytes),
            ReceiveBuffer::Autotuned { initial, max } => (initial.min(max), max),
        };
        // The smallest scale that can express the largest window.
        let least = (0..MAX_SCALE).find(|scale| u16::try_from(max >> scale).is_ok()).unwrap_or(MAX_SCALE);
        let tuning = (max > buffer).then_some(Tuning { max, rtt: None, began: (Instant::ZERO, 0), filling: (Instant::ZERO, 0) });
        Self { buffer, edge: 0, scale: if scaling { least } else { 0 }, mss, tuning }
    }

    /// The window scale.
    pub(super) fn scale(&self) -> u8 {
        self.scale
    }

    /// Turns scaling off, because the peer does not scale windows.
    pub(super) fn disable_scaling(&mut self) {
        self.scale = 0;
    }

    /// One past the last position that may arrive.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// The window field to send; `rcv_nxt`: next expected position; `read`: next position that the application reads; `syn`: the field of a
    /// SYN, which is not scaled.
    pub(super) fn offer(&mut self, rcv_nxt: u64, read: u64, syn: bool) -> u16 {
        let scale = if syn { 0 } else { self.scale };
        // The window in the first SYN begins after the peer's SYN, which has not arrived.
        let rcv_nxt = rcv_nxt.max(1);
        let candidate = self.candidate(rcv_nxt, read);
        // RFC 9293 §3.8.6.2.2: the edge moves by a segment or half the buffer, or stays.
        let target = if candidate >= self.edge + self.step() { candidate } else { self.edge };
        let field = (target.saturating_sub(rcv_nxt) >> scale).min(u64::from(u16::MAX));
        self.edge = self.edge.max(rcv_nxt + (field << scale));
        field as u16
    }

    /// Whether the window has opened enough since its last advertisement to send a window update.
    pub(super) fn needs_update(&self, rcv_nxt: u64, read: u64) -> bool {
        let offered = self.edge.saturating_sub(rcv_nxt);
        let candidate = self.candidate(rcv_nxt, read);
        // A sender with room for two segments continues without an update.
        offered < 2 * self.mss && candidate >= self.edge + self.step()
    }

    fn candidate(&self, rcv_nxt: u64, read: u64) -> u64 {
        rcv_nxt + self.buffer.saturating_sub(rcv_nxt.saturating_sub(read))
    }

    fn step(&self) -> u64 {
        (self.buffer / 2).min(self.mss).max(1)
    }

    /// A round trip took `rtt`.
    pub(super) fn measure(&mut self, rtt: Duration) {
        if let Some(tuning) = &mut self.tuning {
            let smooth = |srtt: Duration| (srtt * 7.0 + rtt) / 8.0;
            tuning.rtt = Some(tuning.rtt.map_or(rtt, smooth));
        }
    }

    /// Data has arrived in order up to `rcv_nxt`.
    pub(super) fn advance(&mut self, now: Instant, rcv_nxt: u64) {
        let edge = self.edge;
        let Some(tuning) = &mut self.tuning else { return };
        let (began, end) = tuning.filling;
        if rcv_nxt < end {
            return;
        }
        tuning.filling = (now, edge);
        if end > 0 {
            self.measure(now.since(began));
        }
    }

    /// The application has read up to `read`.
    pub(super) fn read(&mut self, now: Instant, read: u64) {
        let Some(tuning) = &mut self.tuning else { return };
        let (began, before) = tuning.began;
        if tuning.rtt.is_none_or(|rtt| now.since(began) < rtt) {
            return;
        }
        let wanted = FACTOR * (read - before) + HEADROOM * self.mss;
        self.buffer = self.buffer.max(wanted.min(tuning.max));
        tuning.began = (now, read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn unread_data_shrinks_the_window_but_never_moves_its_edge_back() {
        let mut window = ReceiveWindow::new(ReceiveBuffer::Fixed(10_000), 1000, true);
        assert_eq!(window.offer(1, 1, false), 10_000);
        assert_eq!(window.offer(4001, 1, false), 6000);
        assert_eq!(window.offer(10_001, 1, false), 0);
        assert_eq!(window.offer(10_001, 500, false), 0, "a window below one segment is not advertised");
        assert!(!window.needs_update(10_001, 1000));
        assert!(window.needs_update(10_001, 1001));
        assert_eq!(window.offer(10_001, 1001, false), 1000);
        assert_eq!(window.edge(), 11_001);
    }

    #[test]
    fn the_scale_is_the_smallest_that_suffices() {
        let scale = |bytes| ReceiveWindow::new(ReceiveBuffer::Fixed(bytes), 1460, true).scale();
        assert_eq!([65_535, 65_536, 6 << 20, 1 << 40].map(scale), [0, 1, 7, 14]);
        let mut window = ReceiveWindow::new(ReceiveBuffer::Fixed(1 << 20), 1460, true);
        assert_eq!(window.offer(1, 1, true), u16::MAX, "RFC 7323 §2.2: not scaled on a SYN");
        assert_eq!(window.offer(1, 1, false), (1_u32 << 20 >> window.scale()) as u16);
    }

    #[test]
    fn the_buffer_grows_with_the_data_read_per_round_trip() {
        let buffer = ReceiveBuffer::Autotuned { initial: 65_536, max: 1 << 20 };
        let mut window = ReceiveWindow::new(buffer, 1000, true);
        window.measure(Duration::from_millis(108));
        window.measure(Duration::from_millis(44));
        window.read(at(100), 100_001);
        assert_eq!(window.buffer, 4 * 100_001 + 16_000);
        window.read(at(150), 900_001);
        assert_eq!(window.buffer, 4 * 100_001 + 16_000, "the round trip is not over");
        window.read(at(200), 1_000_001);
        assert_eq!(window.buffer, 1 << 20, "the maximum");
        window.read(at(300), 1_000_002);
        assert_eq!(window.buffer, 1 << 20, "it never shrinks");
    }

    #[test]
    fn without_timestamps_a_window_of_data_is_a_round_trip() {
        let mut window = ReceiveWindow::new(ReceiveBuffer::Autotuned { initial: 10_000, max: 1 << 20 }, 1000, true);
        window.offer(1, 1, false);
        window.advance(at(50), 1001);
        window.advance(at(60), 5001);
        assert_eq!(window.tuning.as_ref().unwrap().rtt, None);
        window.advance(at(90), 10_001);
        assert_eq!(window.tuning.as_ref().unwrap().rtt.map(Duration::as_nanos), Some(40_000_000));
    }
}
