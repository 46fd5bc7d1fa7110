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

use super::config::PacketMemory;
use crate::ranges::Range;

/// Denominator of the ratio.
const WHOLE: u64 = 256;
/// The ratio before the first full segment.
const FIRST_RATIO: u64 = WHOLE / 2;
/// Segments that a sender sends in the first round trip (RFC 6928); growth begins beyond them.
const FIRST_FLIGHT: u64 = 10;
/// Round-trip times below this number of microseconds enlarge the buffer less (`tcp_rcvbuf_low_rtt`).
const NEAR_MICROS: u64 = 1000;
/// Segments with less data do not enlarge the window.
const SMALL: u64 = 128;
/// Memory of a packet's description, in bytes.
const DESCRIPTION: u64 = 256;
/// Memory that a packet's buffer needs before and behind the IP packet, in bytes.
const BESIDE: [u64; 2] = [64, 320];
/// Size of the buffer of a small packet.
const SMALL_BUFFER: u64 = 576;
/// Size of a buffer that is a power of two: from here on.
const SECOND_BUFFER: u64 = 1024;
/// A buffer that fits its packet takes whole lines of the processor's cache, and lies within a page.
const LINE: u64 = 64;
const PAGE: u64 = 4096;

/// The memory of an IP packet of `size` bytes.
pub(super) fn memory(kind: PacketMemory, size: u64) -> u64 {
    let [before, behind] = BESIDE;
    let needed = size + before + behind;
    let buffer = if needed <= SMALL_BUFFER {
        SMALL_BUFFER
    } else if kind == PacketMemory::Fitted && needed <= PAGE {
        (size + before).next_multiple_of(LINE) + behind
    } else {
        needed.max(SECOND_BUFFER).next_power_of_two()
    };
    DESCRIPTION + buffer
}

/// Fragments that a packet can take over from packets behind it.
const MOST_FRAGMENTS: u32 = 17;

/// A packet in the queue, with the data of those behind it that it took over.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    data: u64,
    memory: u64,
    /// Fragments taken over.
    fragments: u32,
    /// Free bytes behind the data in the buffer.
    free: u64,
    /// Whether its buffer can become a fragment of another packet.
    movable: bool,
}

impl Packet {
    /// A packet whose IP packet has `size` bytes, `data` of them new; `memory`: what it takes.
    fn new(kind: PacketMemory, data: u64, size: u64, memory: u64) -> Self {
        let buffer = memory - DESCRIPTION;
        let [before, behind] = BESIDE;
        // Packets of TUN were measured as if they never joined.
        let fitted = kind == PacketMemory::Fitted;
        let free = if fitted { buffer.saturating_sub(size + before + behind) } else { 0 };
        Self { data, memory, fragments: 0, free, movable: fitted && buffer > SMALL_BUFFER && buffer <= PAGE }
    }

    /// Takes over the packet behind; returns the memory that this adds, or `None` if both stay packets of their own.
    fn join(&mut self, next: &Self) -> Option<u64> {
        if next.fragments == 0 && next.data <= self.free {
            (self.data, self.free) = (self.data + next.data, self.free - next.data);
            return Some(0);
        }
        if !next.movable || self.fragments + next.fragments >= MOST_FRAGMENTS {
            return None;
        }
        let added = next.memory - DESCRIPTION;
        (self.data, self.memory) = (self.data + next.data, self.memory + added);
        (self.fragments, self.free) = (self.fragments + next.fragments + 1, 0);
        Some(added)
    }
}

/// The window.
#[derive(Debug)]
pub(super) struct MemoryWindow {
    /// Size of the buffer, in bytes of memory.
    buffer: u64,
    max: u64,
    packets: PacketMemory,
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
    /// Packets above a hole with their ranges, in order, and the memory of all.
    above: Vec<(Range, Packet)>,
    above_memory: u64,
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
    pub(super) fn new((initial, max): (u64, u64), packets: PacketMemory, first: u64, (mss, scale): (u64, u8)) -> Self {
        Self {
            buffer: initial.min(max),
            max,
            packets,
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
            last_size: (0, memory(packets, 0)),
            above: Vec::new(),
            above_memory: 0,
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
        self.unread_memory + self.above_memory > self.max
    }

    /// Data that fits `memory` bytes.
    fn data_in(&self, memory: u64) -> u64 {
        memory * self.ratio / WHOLE
    }

    fn free(&self) -> u64 {
        self.data_in(self.buffer.saturating_sub(self.unread_memory + self.above_memory))
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
        let ratio = (data * WHOLE / memory(self.packets, size)).max(1);
        if ratio != self.ratio {
            self.ratio = ratio;
            self.resize(self.buffer);
            self.clamp = self.capacity;
            self.per_round = self.per_round.min(self.clamp);
        }
    }

    /// `data` bytes arrived in order in an IP packet of `size` bytes. Returns whether the window grows.
    pub(super) fn append(&mut self, data: u64, size: u64, segment: u64) -> bool {
        let memory = self.memory(size);
        self.make_room();
        self.push(Packet::new(self.packets, data, size, memory));
        data >= SMALL && self.grow(data, memory, segment)
    }

    /// `data` bytes arrived above a hole, in an IP packet of `size` bytes. The buffer grows so that the window can hold the `span` from the
    /// next expected position. Returns whether the window grows.
    pub(super) fn keep(&mut self, range: Range, (data, size): (u64, u64), segment: u64, span: u64) -> bool {
        let memory = self.memory(size);
        self.make_room();
        let packet = Packet::new(self.packets, data, size, memory);
        let place = self.above.partition_point(|&((start, _), _)| start < range.0);
        let joined = place.checked_sub(1).and_then(|last| {
            let (reach, before) = &mut self.above[last];
            let added = if reach.1 == range.0 { before.join(&packet) } else { None }?;
            reach.1 = range.1;
            Some(added)
        });
        // A packet that joins another counts before the window grows.
        self.above_memory += joined.unwrap_or(0);
        let grows = self.grow(data, memory, segment);
        if joined.is_none() {
            self.above.insert(place, (range, packet));
            self.above_memory += memory;
        }
        self.tune_to(self.per_round, span);
        grows
    }

    /// The memory of an IP packet of `size` bytes, most often that of the last one.
    fn memory(&mut self, size: u64) -> u64 {
        if size != self.last_size.0 {
            self.last_size = (size, memory(self.packets, size));
        }
        self.last_size.1
    }

    /// The application can read another packet, which may join the one before.
    fn push(&mut self, packet: Packet) {
        if self.latest.data > 0 {
            if let Some(added) = self.latest.join(&packet) {
                self.unread_memory += added;
                return;
            }
            self.unread.push_back(self.latest);
        }
        self.unread_memory += packet.memory;
        self.latest = packet;
    }

    /// An overfull buffer grows to what it holds; the clamp stays.
    fn make_room(&mut self) {
        let held = self.unread_memory + self.above_memory;
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

    /// A hole is filled: the packets from above it up to `rcv_nxt` can be read now.
    pub(super) fn release(&mut self, mut position: u64, rcv_nxt: u64) {
        let count = self.above.partition_point(|&((start, _), _)| start < rcv_nxt);
        let mut released = std::mem::take(&mut self.above);
        for (range, packet) in released.drain(..count) {
            self.above_memory -= packet.memory;
            let data = range.1.saturating_sub(range.0.max(position));
            if data > 0 {
                self.push(Packet { data: data.min(packet.data), ..packet });
                position = range.1;
            }
        }
        self.above = released;
    }

    /// Whether an echo differs from the last one.
    pub(super) fn is_new(&self, echo: u32) -> bool {
        self.last_echo != Some(echo)
    }

    /// A segment echoes a timestamp that this end sent `rtt` ago. Only a full one gives a sample, but the first that echoes it decides.
    pub(super) fn measure(&mut self, echo: u32, rtt: Duration, full: bool) {
        if self.is_new(echo) {
            self.last_echo = Some(echo);
            if full {
                self.smooth(micros(rtt), true);
            }
        }
    }

    fn smooth(&mut self, micros: u64, upwards: bool) {
        if self.rtt == 0 || 8 * micros < self.rtt {
            self.rtt = 8 * micros;
        } else if upwards {
            self.rtt = self.rtt - self.rtt / 8 + micros;
        }
        self.round = if self.rtt == 0 { f64::INFINITY } else { (self.rtt / 8) as f64 };
    }

    /// The receiver's round-trip time in eighths of a microsecond; zero if unknown.
    pub(super) fn rtt_eighths(&self) -> u64 {
        self.rtt
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
            self.tune_to(copied, highest.saturating_sub(rcv_nxt));
        }
        self.began = (now, read);
    }

    /// Enlarges the buffer for an application that reads `copied` bytes in a round trip; `span`: distance to the end of the data above a hole.
    fn tune_to(&mut self, copied: u64, span: u64) {
        let (window, rtt) = (2 * copied, self.rtt / 8);
        let growth =
            if rtt < NEAR_MICROS { window * rtt / NEAR_MICROS } else { 2 * window * (copied - self.per_round) / self.per_round.max(1) };
        self.per_round = copied;
        self.enlarge(window + growth + span);
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
        // SO_MEMINFO, with 52 bytes of headers. Linux 6.18 over TUN: the steps lie at 140 and 588 bytes of data.
        let memories = |kind, sizes: [u64; 6]| sizes.map(|data| memory(kind, 52 + data));
        assert_eq!(memories(PacketMemory::PowerOfTwo, [1, 140, 141, 588, 589, 1448]), [832, 832, 1280, 1280, 2304, 2304]);
        // Linux 7.2 in virtual time, whose driver takes the kernel's usual buffers.
        assert_eq!(memories(PacketMemory::Fitted, [140, 141, 536, 588, 589, 1448]), [832, 896, 1280, 1280, 1344, 2176]);
    }

    #[test]
    fn a_smaller_round_trip_counts_at_once_and_a_larger_one_by_an_eighth() {
        let mut window = MemoryWindow::new((131_072, 1 << 25), PacketMemory::PowerOfTwo, 65_535, (1460, 10));
        let mut measure = |echo, micros: u64| {
            window.measure(echo, Duration::from_nanos(1000 * micros), true);
            window.rtt_eighths() / 8
        };
        assert_eq!([measure(1, 41_000), measure(2, 40_000), measure(3, 41_000), measure(4, 41_000)], [41_000, 40_000, 40_125, 40_234]);
        assert_eq!(measure(4, 10_000), 40_234, "an echo counts once");
        window.measure(5, Duration::from_millis(10), false);
        window.measure(5, Duration::from_millis(10), true);
        assert_eq!(window.rtt_eighths() / 8, 40_234, "a small segment has used up the echo");
    }
}
