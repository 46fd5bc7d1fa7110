//! The receive window, and the size of the buffer behind it.
//!
//! A buffer counts data, or the memory of packets (`memory_window`). What follows is about data.
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
use super::memory_window::MemoryWindow;
use super::settings::Config;
use crate::ranges::Range;

/// Largest window scale (RFC 7323 §2.3).
const MAX_SCALE: u8 = 14;
/// Size of an autotuned buffer, in multiples of the data read in one round trip.
const FACTOR: u64 = 4;
/// Additional segments in an autotuned buffer.
const HEADROOM: u64 = 16;

/// The largest buffer that an application can ask for, in bytes of memory (Linux `net.core.rmem_max` of 7.2).
const ASKED: u64 = 4 << 20;

/// The receive window.
#[derive(Debug)]
pub(super) enum ReceiveWindow {
    /// It counts data.
    Data(DataWindow),
    /// It counts the memory of packets.
    Memory(MemoryWindow),
}

impl ReceiveWindow {
    /// The window of a host with these settings.
    pub(super) fn new(config: &Config) -> Self {
        let (initial, max) = match config.buffer {
            ReceiveBuffer::Fixed(bytes) => (bytes, bytes),
            ReceiveBuffer::Autotuned { initial, max } | ReceiveBuffer::Memory { initial, max, .. } => (initial, max),
        };
        // The smallest scale that can express the largest window: what the application has asked for, or still may.
        let most = match config.buffer {
            ReceiveBuffer::Memory { asked, .. } => asked.unwrap_or(max.max(ASKED)),
            _ => max,
        };
        let least = (0..MAX_SCALE).find(|scale| u16::try_from(most >> scale).is_ok()).unwrap_or(MAX_SCALE);
        let (mss, scale) = (u64::from(config.mss), if config.window_scaling { least } else { 0 });
        match config.buffer {
            ReceiveBuffer::Memory { first_window, .. } => {
                Self::Memory(MemoryWindow::new((initial, max), config.packet_memory, first_window, (mss, scale)))
            }
            _ => Self::Data(DataWindow::new(initial, max, mss, scale)),
        }
    }

    /// The options are negotiated: whether windows are scaled, and the bytes of options in every segment.
    pub(super) fn agree(&mut self, scaling: bool, options: u64) {
        match self {
            Self::Data(_) if scaling => {}
            Self::Data(window) => window.scale = 0,
            Self::Memory(window) => window.agree(scaling, options),
        }
    }

    /// The connection is established.
    pub(super) fn establish(&mut self, now: Instant) {
        if let Self::Memory(window) = self {
            window.establish(now);
        }
    }

    /// The window scale.
    pub(super) fn scale(&self) -> u8 {
        match self {
            Self::Data(window) => window.scale,
            Self::Memory(window) => window.scale(),
        }
    }

    /// Whether the packets that wait hold more memory than the buffer can have.
    pub(super) fn is_overfull(&self) -> bool {
        match self {
            Self::Data(_) => false,
            Self::Memory(window) => window.is_overfull(),
        }
    }

    /// Whether a segment is taken as a whole, or not at all.
    pub(super) fn takes_whole_segments(&self) -> bool {
        matches!(self, Self::Memory(_))
    }

    /// One past the last position that may arrive.
    pub(super) fn edge(&self) -> u64 {
        match self {
            Self::Data(window) => window.edge,
            Self::Memory(window) => window.edge(),
        }
    }

    /// Half of the segments of `segment` bytes that fit the window.
    pub(super) fn half(&self, rcv_nxt: u64, segment: u64) -> u64 {
        let offered = match self {
            Self::Data(window) => window.edge.saturating_sub(rcv_nxt),
            Self::Memory(window) => window.offered(),
        };
        offered / (2 * segment)
    }

    /// The window field to send, and whether less than half of the buffer is free; `rcv_nxt`: next expected position; `read`: next position
    /// that the application reads; `segment`: size of the peer's full segments; `syn`: the field of a SYN, which is not scaled.
    pub(super) fn offer(&mut self, rcv_nxt: u64, read: u64, segment: u64, syn: bool) -> (u16, bool) {
        // The window in the first SYN begins after the peer's SYN, which has not arrived.
        let rcv_nxt = rcv_nxt.max(1);
        match self {
            Self::Data(window) => (window.offer(rcv_nxt, read, syn), false),
            Self::Memory(window) if syn => (window.offer_first(rcv_nxt), false),
            Self::Memory(window) => window.offer(rcv_nxt, segment),
        }
    }

    /// Whether the window has opened enough since its last advertisement to send a window update.
    pub(super) fn needs_update(&self, rcv_nxt: u64, read: u64, segment: u64) -> bool {
        match self {
            Self::Data(window) => window.needs_update(rcv_nxt, read),
            Self::Memory(window) => window.needs_update(rcv_nxt, segment),
        }
    }

    /// Whether the next ACK would offer no smaller window than the last, and whether less than half of the buffer is free.
    pub(super) fn outlook(&self, segment: u64) -> (bool, bool) {
        match self {
            Self::Data(_) => (true, false),
            Self::Memory(window) => window.outlook(segment),
        }
    }

    /// Whether a segment that echoes the timestamp `echo` counts for the round-trip time. `expected`: it is an ACK without data or news about
    /// the window, which a kernel's quickest path takes.
    pub(super) fn takes(&self, echo: u32, expected: bool) -> bool {
        match self {
            Self::Data(window) => window.tuning.is_some(),
            Self::Memory(window) => !expected && window.is_new(echo),
        }
    }

    /// A segment echoes the timestamp `echo` of this end, sent `rtt` ago; `full`: it is a full segment.
    pub(super) fn measure(&mut self, echo: u32, rtt: Duration, full: bool) {
        match self {
            Self::Data(window) => window.measure(rtt),
            Self::Memory(window) => window.measure(echo, rtt, full),
        }
    }

    /// The receiver's round-trip time in eighths of a microsecond: zero if it waits for a measurement, the largest number if it makes none.
    pub(super) fn rtt_eighths(&self) -> u64 {
        match self {
            Self::Data(_) => u64::MAX,
            Self::Memory(window) => window.rtt_eighths(),
        }
    }

    /// The peer's full segments have `data` bytes in IP packets of `size` bytes.
    pub(super) fn suit_ratio(&mut self, data: u64, size: u64) {
        if let Self::Memory(window) = self {
            window.suit_ratio(data, size);
        }
    }

    /// `data` bytes arrived in order in an IP packet of `size` bytes. The next expected position is `end` with this segment alone, and
    /// `rcv_nxt` with the data above the hole that it fills. Returns whether the window grows.
    pub(super) fn append(&mut self, now: Instant, (end, rcv_nxt): (u64, u64), (data, size): (u64, u64), segment: u64) -> bool {
        match self {
            Self::Data(window) => {
                window.advance(now, rcv_nxt);
                false
            }
            Self::Memory(window) => {
                window.advance(now, end);
                window.append(data, size, segment)
            }
        }
    }

    /// New data of `range` arrived above a hole, in an IP packet; `bytes`: the new data, and the packet's size; `span`: distance from the next expected position to the end of the
    /// data above the hole. Returns whether the window grows.
    pub(super) fn keep(&mut self, range: Range, bytes: (u64, u64), segment: u64, span: u64) -> bool {
        match self {
            Self::Data(_) => false,
            Self::Memory(window) => window.keep(range, bytes, segment, span),
        }
    }

    /// A hole is filled up to `position`: the data from above it up to `rcv_nxt` can be read now.
    pub(super) fn release(&mut self, position: u64, rcv_nxt: u64) {
        if let Self::Memory(window) = self {
            window.release(position, rcv_nxt);
        }
    }

    /// Size and clamp of a buffer of memory.
    #[cfg(test)]
    pub(super) fn memory(&self) -> Option<(u64, u64)> {
        if let Self::Memory(window) = self { Some(window.size_and_clamp()) } else { None }
    }

    /// Data read in the largest round trip, with a buffer of memory.
    #[cfg(test)]
    pub(super) fn read_per_round(&self) -> u64 {
        if let Self::Memory(window) = self { window.read_per_round() } else { 0 }
    }

    /// The application has read `range`. The next expected position is `rcv_nxt`, and data above a hole ends at `highest`.
    pub(super) fn read(&mut self, now: Instant, range: Range, (rcv_nxt, highest): (u64, u64)) {
        match self {
            Self::Data(window) => window.read(now, range.1),
            Self::Memory(window) => window.read(now, range, (rcv_nxt, highest)),
        }
    }
}

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

/// A receive window that counts data.
#[derive(Debug)]
pub(super) struct DataWindow {
    buffer: u64,
    /// One past the last advertised position.
    edge: u64,
    scale: u8,
    /// Largest expected segment.
    mss: u64,
    tuning: Option<Tuning>,
}

impl DataWindow {
    fn new(initial: u64, max: u64, mss: u64, scale: u8) -> Self {
        let buffer = initial.min(max);
        let tuning = (max > buffer).then_some(Tuning { max, rtt: None, began: (Instant::ZERO, 0), filling: (Instant::ZERO, 0) });
        Self { buffer, edge: 0, scale, mss, tuning }
    }

    /// The window field to send; `rcv_nxt`: next expected position; `read`: next position that the application reads; `syn`: the field of a
    /// SYN, which is not scaled.
    fn offer(&mut self, rcv_nxt: u64, read: u64, syn: bool) -> u16 {
        let scale = if syn { 0 } else { self.scale };
        let candidate = self.candidate(rcv_nxt, read);
        // RFC 9293 §3.8.6.2.2: the edge moves by a segment or half the buffer, or stays.
        let target = if candidate >= self.edge + self.step() { candidate } else { self.edge };
        let field = (target.saturating_sub(rcv_nxt) >> scale).min(u64::from(u16::MAX));
        self.edge = self.edge.max(rcv_nxt + (field << scale));
        field as u16
    }

    /// Whether the window has opened enough since its last advertisement to send a window update.
    fn needs_update(&self, rcv_nxt: u64, read: u64) -> bool {
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
    fn measure(&mut self, rtt: Duration) {
        if let Some(tuning) = &mut self.tuning {
            let smooth = |srtt: Duration| (srtt * 7.0 + rtt) / 8.0;
            tuning.rtt = Some(tuning.rtt.map_or(rtt, smooth));
        }
    }

    /// Data has arrived in order up to `rcv_nxt`.
    fn advance(&mut self, now: Instant, rcv_nxt: u64) {
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
    fn read(&mut self, now: Instant, read: u64) {
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
        let mut window = DataWindow::new(10_000, 10_000, 1000, 0);
        assert_eq!(window.offer(1, 1, false), 10_000);
        assert_eq!(window.offer(4001, 1, false), 6000);
        assert_eq!(window.offer(10_001, 1, false), 0);
        assert_eq!(window.offer(10_001, 500, false), 0, "a window below one segment is not advertised");
        assert!(!window.needs_update(10_001, 1000));
        assert!(window.needs_update(10_001, 1001));
        assert_eq!(window.offer(10_001, 1001, false), 1000);
        assert_eq!(window.edge, 11_001);
    }

    #[test]
    fn the_scale_is_the_smallest_that_suffices() {
        let sized = |bytes| ReceiveWindow::new(&Config { buffer: ReceiveBuffer::Fixed(bytes), ..Config::default() });
        let scale = |bytes| sized(bytes).scale();
        assert_eq!([65_535, 65_536, 6 << 20, 1 << 40].map(scale), [0, 1, 7, 14]);
        let mut window = sized(1 << 20);
        assert_eq!(window.offer(1, 1, 1460, true).0, u16::MAX, "RFC 7323 §2.2: not scaled on a SYN");
        assert_eq!(window.offer(1, 1, 1460, false).0, (1_u32 << 20 >> window.scale()) as u16);
    }

    #[test]
    fn the_buffer_grows_with_the_data_read_per_round_trip() {
        let mut window = DataWindow::new(65_536, 1 << 20, 1000, 5);
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
        let mut window = DataWindow::new(10_000, 1 << 20, 1000, 5);
        window.offer(1, 1, false);
        window.advance(at(50), 1001);
        window.advance(at(60), 5001);
        assert_eq!(window.tuning.as_ref().unwrap().rtt, None);
        window.advance(at(90), 10_001);
        assert_eq!(window.tuning.as_ref().unwrap().rtt.map(Duration::as_nanos), Some(40_000_000));
    }
}
