//! The buffer of data written and not yet acknowledged.
//!
//! A write fills packets. It takes another one while the memory of the packets is below the size of the buffer, and the data not yet sent is
//! below `TCP_NOTSENT_LOWAT`. A socket that had no room wakes its application once a third of the buffer is free.
//!
//! ## References
//! tcp(7), socket(7): `SO_SNDBUF`, `TCP_NOTSENT_LOWAT`. Linux, Documentation/networking/ip-sysctl: `tcp_wmem`.

use std::collections::VecDeque;

use ackclock_tcp::modern::Endpoint;

/// Memory of a packet beside its data, in bytes.
const OVERHEAD: u64 = 896;
/// Memory of a segment beside its data, when the buffer follows the window.
const SEGMENT_OVERHEAD: u64 = 640;
/// Memory of the header of a packet in the buffer.
const HEADER: u64 = 256;
/// Smallest size of a buffer that an application sets.
const LEAST: u64 = 4608;

/// A packet of the buffer.
#[derive(Clone, Copy, Debug)]
struct Packet {
    start: u64,
    end: u64,
    /// Whether later data begins another packet.
    complete: bool,
}

/// The buffer.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    size: u64,
    /// Largest size that the window gives it.
    max: u64,
    /// Whether the application has set the size.
    fixed: bool,
    /// `TCP_NOTSENT_LOWAT`; `None`: as much as the buffer holds.
    lowat: Option<u64>,
    packets: VecDeque<Packet>,
    /// One past the last byte written, from 1.
    written: u64,
    /// Whether the application has found no room since it was woken.
    lacks_room: bool,
}

impl SendBuffer {
    /// A buffer of `size` bytes that grows up to `max`.
    pub(super) fn new((size, max): (u64, u64), lowat: Option<u64>) -> Self {
        Self { size, max, fixed: false, lowat, packets: VecDeque::new(), written: 1, lacks_room: false }
    }

    /// The application sets the size; Linux doubles it.
    pub(super) fn fix(&mut self, bytes: u64) {
        (self.size, self.fixed) = ((2 * bytes).max(LEAST), true);
    }

    /// Sets how much data may wait to be sent.
    pub(super) fn set_lowat(&mut self, lowat: Option<u64>) {
        self.lowat = lowat;
    }

    /// The size, as `SO_SNDBUF` reports it.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Memory of the packets of which a part is not acknowledged.
    fn memory(&self) -> u64 {
        self.packets.iter().map(|packet| packet.end - packet.start + OVERHEAD).sum()
    }

    /// Whether a packet may be added; `unsent`: bytes that wait.
    fn has_room(&self, unsent: u64) -> bool {
        self.memory() < self.size && self.lowat.is_none_or(|lowat| unsent < lowat)
    }

    /// Takes up to `bytes` of a write; returns how many. `record`: they end a record.
    pub(super) fn write(&mut self, endpoint: &Endpoint, bytes: u64, record: bool) -> u64 {
        let (largest, leaving) = endpoint.room();
        let before = endpoint.unsent();
        let sent = self.written - before;
        let start = self.written;
        let mut gone = 0;
        if !self.has_room(before) {
            self.lacks_room = true;
            return 0;
        }
        while self.written < start + bytes {
            let left = start + bytes - self.written;
            let unsent = before + self.written - start - gone;
            let has_room = self.has_room(unsent);
            // What is sent of a packet does not count.
            let size = |packet: &Packet| packet.end - packet.start.max(sent);
            let last = self.packets.back_mut().filter(|last| last.end > sent && !last.complete && size(last) < largest);
            if let Some(last) = last {
                let part = left.min(largest - size(last));
                last.end += part;
                self.written += part;
            } else if has_room {
                let end = self.written + left.min(largest);
                self.packets.push_back(Packet { start: self.written, end, complete: false });
                self.written = end;
            } else {
                break;
            }
            // A full first packet leaves as far as the windows allow, and makes room in itself for as much.
            let full = self.packets.back().is_some_and(|last| last.end - last.start == largest && last.start == sent);
            if before == 0 && full && gone == 0 && leaving > 0 && leaving < largest && self.written < start + bytes {
                gone = leaving;
                let end = self.written;
                if let Some(last) = self.packets.pop_back() {
                    self.packets.push_back(Packet { end: last.start + gone, ..last });
                    self.packets.push_back(Packet { start: last.start + gone, end, complete: false });
                }
            }
        }
        let taken = self.written - start;
        self.lacks_room |= taken < bytes;
        if record && let Some(last) = self.packets.back_mut() {
            last.complete = true;
        }
        taken
    }

    /// Data below `una` is acknowledged; a buffer of free size follows the congestion window of `cwnd` segments of `mss` bytes.
    pub(super) fn acknowledge(&mut self, una: u64, (cwnd, mss): (u64, u64), full: bool) {
        while self.packets.front().is_some_and(|packet| packet.end <= una) {
            self.packets.pop_front();
        }
        if let Some(first) = self.packets.front_mut() {
            first.start = first.start.max(una);
        }
        if !self.fixed && !full {
            let segment = (mss + SEGMENT_OVERHEAD).next_power_of_two() + HEADER;
            self.size = self.size.max((2 * cwnd.max(10) * segment).min(self.max));
        }
    }

    /// Whether the socket counts as writable; `unsent`: bytes that wait.
    pub(super) fn is_writable(&self, unsent: u64) -> bool {
        let memory = self.memory();
        self.size.saturating_sub(memory) >= memory / 2 && self.size > memory && self.lowat.is_none_or(|lowat| 2 * unsent < lowat)
    }

    /// Whether the application has found the buffer full since it was last woken.
    pub(super) fn lacks_room(&self) -> bool {
        self.lacks_room
    }

    /// Whether to wake an application that waits for room.
    pub(super) fn wakes(&mut self, unsent: u64) -> bool {
        let wakes = self.lacks_room && self.is_writable(unsent);
        self.lacks_room &= !wakes;
        wakes
    }
}
