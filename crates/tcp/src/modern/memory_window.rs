//! The receive window of a buffer that counts the memory of packets, not their data.
//!
//! The buffer limits the memory of all packets in it: data that the application has not read, and data above a hole. A *ratio* predicts how
//! much data fits: a half at first, then the data of a full segment relative to the packet's memory. The window that is offered is the
//! smallest of three:
//!
//! - the free memory times the ratio;
//! - the *clamp*: the whole buffer times the ratio;
//! - the *limit*, which begins at the first window and grows with every arriving segment by two segments, as long as the segment's memory
//!   suits the ratio.
//!
//! It is rounded up to a multiple of the window scale, and its edge never moves back. Once per round trip, the buffer grows with the data
//! that the application has read in it: to twice that data, and by twice its relative growth. Data above a hole enlarges the buffer too.
//! The receiver's round-trip time comes from echoed timestamps and from windows of data; a smaller value counts at once, a larger one by an
//! eighth.
//!
//! Not modelled: merging of small packets in the queue, and the collapse of a full queue.
//!
//! ## References
//! Linux Documentation/networking/ip-sysctl (`tcp_rmem`, `tcp_moderate_rcvbuf`, `tcp_shrink_window`); tcp(7), Linux man-pages; Fisk & Feng,
//! *Dynamic right-sizing in TCP*, 2001. The formulas were fitted to measurements on Linux 6.18 (`TCP_INFO`, `SO_MEMINFO`,
//! `TCP_WINDOW_CLAMP`; the numbers of the tests below and of `tests/receiving.rs`).

use std::collections::VecDeque;

use ackclock_core::units::{Duration, Instant};

use super::ranges::Range;

/// Denominator of the ratio.
const WHOLE: u64 = 256;
/// The ratio before the first full segment.
const FIRST_RATIO: u64 = WHOLE / 2;
/// Segments that a sender sends in the first round trip (RFC 6928); growth begins beyond them.
const FIRST_FLIGHT: u64 = 10;
/// Segments with less data do not enlarge the window.
const SMALL: u64 = 128;
/// Memory of a packet's description, in bytes.
const DESCRIPTION: u64 = 256;
/// Memory that a packet's buffer needs beside the IP packet, in bytes.
const OVERHEAD: u64 = 384;
/// Sizes of a packet's buffer; larger ones are powers of two.
const SMALLEST_BUFFERS: [u64; 2] = [576, 1024];

/// The memory of an IP packet of `size` bytes.
pub(super) fn memory(size: u64) -> u64 {
    let needed = size + OVERHEAD;
    let [first, second] = SMALLEST_BUFFERS;
    DESCRIPTION + if needed <= first { first } else { needed.max(second).next_power_of_two() }
}

/// A packet in the queue.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    data: u64,
    memory: u64,
}

/// The window.
#[derive(Debug)]
pub(super) struct MemoryWindow {
    /// Size of the buffer, in bytes of memory.
    buffer: u64,
    max: u64,
    /// Upper bound of the first window.
    first: u64,
    ratio: u64,
    /// Data that fits the buffer.
    capacity: u64,
    clamp: u64,
    limit: u64,
    /// Position and size of the last window sent.
    acked: u64,
    offered: u64,
    scale: u8,
    /// Largest segment that this end announces, without the options of every segment.
    mss: u64,
    /// The latest packet that the application has not read; without data if there is none. An application that reads at once leaves no other.
    latest: Packet,
    /// The packets before it, and the memory of all.
    unread: VecDeque<Packet>,
    unread_memory: u64,
    /// Size of the last IP packet, and its memory.
    last_size: (u64, u64),
    /// Data above a hole, and its memory.
    above: Packet,
    /// Round-trip time, in eighths of a microsecond.
    rtt: u64,
    /// Whole microseconds of the round-trip time; infinite while it is unknown.
    round: f64,
    /// The last echo that gave a round-trip time.
    last_echo: Option<u32>,
    /// When the current measurement of the application began, and the position read by then.
    began: (Instant, u64),
    /// Data read in the largest round trip so far.
    per_round: u64,
    /// When a window of data began to arrive, and the position at its end.
    filling: Option<(Instant, u64)>,
}

impl MemoryWindow {
    pub(super) fn new((initial, max): (u64, u64), first: u64, mss: u64, scale: u8) -> Self {
        Self {
            buffer: initial.min(max),
            max,
            first,
            ratio: FIRST_RATIO,
            capacity: initial.min(max) * FIRST_RATIO / WHOLE,
            clamp: u64::MAX,
            limit: 0,
            acked: 0,
            offered: 0,
            scale,
            mss,
            latest: Packet::default(),
            unread: VecDeque::new(),
            unread_memory: 0,
            last_size: (0, memory(0)),
            above: Packet::default(),
            rtt: 0,
            round: f64::INFINITY,
            last_echo: None,
            began: (Instant::ZERO, 1),
            per_round: 0,
            filling: None,
        }
    }

    /// The options are negotiated: every segment carries `options` bytes of them.
    pub(super) fn agree(&mut self, scaling: bool, options: u64) {
        self.mss = self.mss.saturating_sub(options).max(1);
        if !scaling {
            self.scale = 0;
        }
    }

    /// The connection is established.
    pub(super) fn establish(&mut self, now: Instant) {
        let whole = self.capacity;
        // A segment is reserved, unless the buffer holds only two.
        let reserved = whole.saturating_sub(self.mss).max(2 * self.mss);
        self.clamp = if whole > 2 * self.mss { reserved } else { whole };
        self.limit = self.offered.min(self.clamp);
        self.per_round = self.offered.min(FIRST_FLIGHT * self.mss);
        self.began.0 = now;
    }

    pub(super) fn scale(&self) -> u8 {
        self.scale
    }

    pub(super) fn edge(&self) -> u64 {
        self.acked + self.offered
    }

    /// Size of the buffer, and the clamp.
    #[cfg(test)]
    pub(super) fn size_and_clamp(&self) -> (u64, u64) {
        (self.buffer, self.clamp)
    }

    /// Data read in the largest round trip.
    #[cfg(test)]
    pub(super) fn read_per_round(&self) -> u64 {
        self.per_round
    }

    /// Size of the last window sent.
    pub(super) fn offered(&self) -> u64 {
        self.offered
    }

    /// Whether the packets hold more memory than the buffer can have.
    pub(super) fn is_overfull(&self) -> bool {
        self.unread_memory + self.above.memory > self.max
    }

    /// Data that fits `memory` bytes.
    fn data_in(&self, memory: u64) -> u64 {
        memory * self.ratio / WHOLE
    }

    fn free(&self) -> u64 {
        self.data_in(self.buffer.saturating_sub(self.unread_memory + self.above.memory))
    }

    /// `window`, rounded up to what the field can express.
    fn round_up(&self, window: u64) -> u64 {
        let mask = (1 << self.scale) - 1;
        (window + mask) & !mask
    }

    /// The window to offer before its edge is considered, and whether less than half of the buffer is free.
    fn target(&self, segment: u64) -> (u64, bool) {
        let free = self.free();
        let whole = self.clamp.min(self.capacity);
        let segment = segment.min(whole).max(1);
        let scarce = free < whole / 2;
        let free = if scarce { free >> self.scale << self.scale } else { free };
        if scarce && (free < whole / 16 || free < segment) {
            return (0, scarce);
        }
        let free = free.min(self.limit);
        let window = if self.scale > 0 {
            self.round_up(free)
        } else if self.offered + segment <= free || self.offered > free {
            free / segment * segment
        } else if segment == whole && free > self.offered + whole / 2 {
            free
        } else {
            self.offered
        };
        (window, scarce)
    }

    /// Whether the next ACK would offer no smaller window than the last, and whether less than half of the buffer is free.
    pub(super) fn outlook(&self, segment: u64) -> (bool, bool) {
        let (window, scarce) = self.target(segment);
        (window >= self.offered, scarce)
    }

    /// The window field of an ACK, and whether less than half of the buffer is free.
    pub(super) fn offer(&mut self, rcv_nxt: u64, segment: u64) -> (u16, bool) {
        let (mut window, scarce) = self.target(segment);
        let current = self.edge().saturating_sub(rcv_nxt);
        if window < current {
            window = self.round_up(current);
        }
        // What the field cannot express still counts as offered.
        (self.acked, self.offered) = (rcv_nxt, window);
        ((window >> self.scale).min(u64::from(u16::MAX)) as u16, scarce)
    }

    /// The window field of a SYN.
    pub(super) fn offer_first(&mut self, rcv_nxt: u64) -> u16 {
        let whole = self.capacity.min(self.first);
        let window = if whole > self.mss { whole / self.mss * self.mss } else { whole };
        // What the field cannot express still counts as offered.
        (self.acked, self.offered) = (rcv_nxt, window);
        window.min(u64::from(u16::MAX)) as u16
    }

    /// Whether the application has read so much that a window update is due.
    pub(super) fn needs_update(&self, rcv_nxt: u64, segment: u64) -> bool {
        let current = self.edge().saturating_sub(rcv_nxt);
        if 2 * current > self.clamp {
            return false;
        }
        let (window, _) = self.target(segment);
        window > 0 && window >= 2 * current
    }

    /// Sets the ratio to that of a full segment with `data` bytes, in an IP packet of `size` bytes; the clamp follows.
    pub(super) fn suit_ratio(&mut self, data: u64, size: u64) {
        let ratio = (data * WHOLE / memory(size)).max(1);
        if ratio != self.ratio {
            self.ratio = ratio;
            self.resize(self.buffer);
            let clamp = self.capacity;
            self.limit = if clamp < self.clamp { self.limit.min(clamp) } else { self.limit.max(self.offered.min(clamp)) };
            self.clamp = clamp;
        }
    }

    /// `data` bytes arrived in order in an IP packet of `size` bytes. Returns whether the window grows.
    pub(super) fn append(&mut self, data: u64, size: u64, segment: u64) -> bool {
        let memory = self.memory(size);
        self.make_room();
        self.push(Packet { data, memory });
        self.unread_memory += memory;
        data >= SMALL && self.grow(data, memory, segment)
    }

    /// `data` bytes arrived above a hole, in an IP packet of `size` bytes. The buffer grows so that the window can hold the `span` from the
    /// next expected position. Returns whether the window grows.
    pub(super) fn keep(&mut self, data: u64, size: u64, segment: u64, span: u64) -> bool {
        let memory = self.memory(size);
        self.make_room();
        let grows = self.grow(data, memory, segment);
        self.above.data += data;
        self.above.memory += memory;
        self.enlarge(2 * self.per_round + span);
        grows
    }

    /// The memory of an IP packet of `size` bytes, most often that of the last one.
    fn memory(&mut self, size: u64) -> u64 {
        if size != self.last_size.0 {
            self.last_size = (size, memory(size));
        }
        self.last_size.1
    }

    /// The application can read another packet.
    fn push(&mut self, packet: Packet) {
        if self.latest.data > 0 {
            self.unread.push_back(self.latest);
        }
        self.latest = packet;
    }

    /// An overfull buffer grows to what it holds; the clamp stays.
    fn make_room(&mut self) {
        let held = self.unread_memory + self.above.memory;
        if held > self.buffer {
            self.resize(held.min(self.max));
        }
    }

    fn resize(&mut self, buffer: u64) {
        self.buffer = buffer;
        self.capacity = self.data_in(buffer);
    }

    fn grow(&mut self, data: u64, memory: u64, segment: u64) -> bool {
        if self.limit >= self.clamp {
            return false;
        }
        let room = self.clamp.min(self.free()).saturating_sub(self.limit);
        if room == 0 {
            return false;
        }
        let step = if self.data_in(memory) <= data { 2 * self.mss } else { self.step_of_small(data, memory, segment) };
        if step > 0 {
            self.limit += room.min(step.max(2 * data));
        }
        step > 0
    }

    /// Growth with a segment whose memory exceeds the ratio: none if such segments could fill the buffer at its largest.
    fn step_of_small(&self, data: u64, memory: u64, segment: u64) -> u64 {
        let (mut needed, mut window) = (self.data_in(memory) / 2, self.data_in(self.max) / 2);
        while self.limit <= window {
            if needed <= data {
                return 2 * segment;
            }
            (needed, window) = (needed / 2, window / 2);
        }
        0
    }

    /// A hole is filled: `data` bytes from above it can be read now.
    pub(super) fn release(&mut self, mut data: u64, segment: u64) {
        let Packet { data: held, memory } = self.above;
        if held == 0 {
            return;
        }
        let mut moved = if data >= held { memory } else { memory * data / held };
        self.above = Packet { data: held.saturating_sub(data), memory: memory - moved };
        self.unread_memory += moved;
        while data > 0 {
            let part = data.min(segment);
            let share = moved * part / data;
            self.push(Packet { data: part, memory: share });
            (data, moved) = (data - part, moved - share);
        }
    }

    /// Whether the echo of a full segment differs from the last one.
    pub(super) fn is_new(&self, echo: u32) -> bool {
        self.last_echo != Some(echo)
    }

    /// A full segment echoes a timestamp that this end sent `rtt` ago.
    pub(super) fn measure(&mut self, echo: u32, rtt: Duration) {
        if self.is_new(echo) {
            self.last_echo = Some(echo);
            self.smooth(micros(rtt), true);
        }
    }

    fn smooth(&mut self, micros: u64, upwards: bool) {
        if self.rtt == 0 || 8 * micros < self.rtt {
            self.rtt = 8 * micros;
        } else if upwards {
            self.rtt = self.rtt - self.rtt / 8 + micros;
        }
        self.round = if self.rtt == 0 { f64::INFINITY } else { self.rtt_micros() as f64 };
    }

    /// The receiver's round-trip time in microseconds; zero if unknown.
    pub(super) fn rtt_micros(&self) -> u64 {
        self.rtt / 8
    }

    /// Data has arrived in order, up to `rcv_nxt` so far: measures the time in which a window of data arrives.
    pub(super) fn advance(&mut self, now: Instant, rcv_nxt: u64) {
        if let Some((began, end)) = self.filling {
            if rcv_nxt < end {
                return;
            }
            self.smooth(micros(now.since(began)).max(1), false);
        }
        self.filling = Some((now, rcv_nxt + self.offered));
    }

    /// The application has read `range`. The next expected position is `rcv_nxt`, and data above a hole ends at `highest`.
    pub(super) fn read(&mut self, now: Instant, (start, end): Range, (rcv_nxt, highest): (u64, u64)) {
        let mut position = start;
        while position < end {
            let older = self.unread.front_mut();
            let is_older = older.is_some();
            let packet = older.unwrap_or(&mut self.latest);
            if packet.data == 0 {
                break;
            }
            let part = packet.data.min(end - position);
            position += part;
            packet.data -= part;
            if packet.data == 0 {
                self.unread_memory -= packet.memory;
                if is_older {
                    self.unread.pop_front();
                }
            }
            self.tune(now, position, (rcv_nxt, highest));
        }
    }

    /// Once per round trip, enlarges the buffer with the data read in it, less the data that still waits to be read.
    fn tune(&mut self, now: Instant, read: u64, (rcv_nxt, highest): (u64, u64)) {
        let (began, before) = self.began;
        // The comparison of whole microseconds, without the conversion.
        if fraction_of_micros(now.since(began)) < self.round {
            return;
        }
        let copied = (read - before).saturating_sub(rcv_nxt.saturating_sub(read));
        if copied > self.per_round {
            let growth = 2 * copied * (copied - self.per_round) / self.per_round.max(1);
            self.enlarge(2 * copied + 2 * growth + highest.saturating_sub(rcv_nxt));
            self.per_round = copied;
        }
        self.began = (now, read);
    }

    fn enlarge(&mut self, window: u64) {
        let buffer = (window * WHOLE / self.ratio).min(self.max);
        if buffer > self.buffer {
            self.resize(buffer);
            self.clamp = self.capacity;
        }
    }
}

/// Whole microseconds; a decimal time does not fall into the previous one.
fn micros(span: Duration) -> u64 {
    (fraction_of_micros(span) as i64).cast_unsigned()
}

/// Microseconds with their fraction.
fn fraction_of_micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6 + 1e-3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_packets_as_measured() {
        // Linux 6.18, SO_MEMINFO: with 52 bytes of headers the steps lie at 140 and 588 bytes of data.
        let memory = [1, 140, 141, 588, 589, 1448].map(|data| memory(52 + data));
        assert_eq!(memory, [832, 832, 1280, 1280, 2304, 2304]);
    }

    #[test]
    fn a_smaller_round_trip_counts_at_once_and_a_larger_one_by_an_eighth() {
        let mut window = MemoryWindow::new((131_072, 1 << 25), 65_535, 1460, 10);
        let mut measure = |echo, micros: u64| {
            window.measure(echo, Duration::from_nanos(1000 * micros));
            window.rtt_micros()
        };
        assert_eq!([measure(1, 41_000), measure(2, 40_000), measure(3, 41_000), measure(4, 41_000)], [41_000, 40_000, 40_125, 40_234]);
        assert_eq!(measure(4, 10_000), 40_234, "an echo counts once");
    }
}
